//! `compactor gate`: a run against a policy and a baseline.

use super::args::verdicts::{GateArgs, GateOutput};
use super::compare::comparable;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::aggregate::scores::{State, scores};
use crate::gate::compared::{align_profiles, keep_common, mismatches, states};
use crate::gate::policy::Policy;
use crate::gate::self_test::{holds, trials};
use crate::gate::{Outcome, Side, Verdict, judge};
use crate::report::{Look, gate as report};
use crate::results::files::{append, read_run, read_text, renew};
use crate::results::{Manifest, baseline};
use std::path::Path;

/// Runs the verb.
pub fn run(args: &GateArgs, ui: &Ui) -> Result<Exit, Failure> {
    let run = read_run(&args.run)?;
    let mut side = Side { scores: scores(&run), manifest: run.manifest };
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let policy = policy(args)?;
    if let (true, Some(dir)) = (args.accept, &args.baseline) {
        return accept(dir, &side, policy.max_unscored, look, ui);
    }
    let mut before = args.baseline.as_deref().map(|dir| read_baseline(dir, &args.run)).transpose()?;
    let mut left_out = 0;
    if let Some(before) = &mut before {
        let found = mismatches(&before.manifest, &side.manifest, args.intersection);
        comparable(&found, "accept a new baseline with `compactor gate RUN --baseline DIR --accept`")?;
        if let Some((old, new)) = align_profiles(before, &side) {
            ui.say(&format!("profile {new} is judged by what {old} was in the baseline"));
        }
        if args.intersection {
            left_out = keep_common(before, &mut side);
        }
    }
    if args.self_test {
        let trials = trials(&side, before.as_ref(), &policy);
        let text = match args.format {
            GateOutput::Json => serde_json::to_string_pretty(&trials)
                .map(|text| text + "\n")
                .map_err(|error| Failure::new(error.to_string(), ""))?,
            _ => report::self_test(&trials, look),
        };
        ui.product(&text)?;
        return Ok(if holds(&trials) { Exit::Done } else { Exit::Red });
    }
    let outcome = Outcome { left_out, ..judge(&side, before.as_ref(), &policy) };
    write(args, &outcome, &side.manifest, look, ui)?;
    Ok(exit(&outcome, ui))
}

fn policy(args: &GateArgs) -> Result<Policy, Failure> {
    let Some(path) = &args.policy else {
        if args.baseline.is_none() {
            let hint = "give --policy FILE, --baseline DIR, or both; `compactor gate --help` shows a policy";
            return Err(Failure::new("there is nothing to judge the run by", hint));
        }
        return Ok(Policy::standard());
    };
    let text = read_text(path)?;
    let hint = "`compactor gate --help` shows a policy, `compactor columns gate` the metrics";
    Policy::parse(&text).map_err(|cause| Failure::new(format!("{}: {cause}", path.display()), hint))
}

fn read_baseline(dir: &Path, run: &Path) -> Result<Side, Failure> {
    if dir.canonicalize().ok().is_some_and(|dir| run.canonicalize().ok() == Some(dir)) {
        let cause = format!("{}: is the run itself: it would always pass", dir.display());
        return Err(Failure::new(cause, "give the baseline of an earlier state"));
    }
    let missing = !dir.exists();
    let (manifest, scores) = baseline::read(dir).map_err(|error| {
        let hint = "make one with `compactor gate RUN --baseline DIR --accept`";
        Failure::new(error.to_string(), if missing { hint } else { &error.hint })
    })?;
    Ok(Side { manifest, scores })
}

/// Writes a baseline, unless nothing could ever be compared with it.
fn accept(dir: &Path, side: &Side, max_unscored: u64, look: Look<'_>, ui: &Ui) -> Result<Exit, Failure> {
    if states(side).get(&State::Scored).copied().unwrap_or(0) == 0 {
        let hint =
            "replay logs that are compacted at least once: more logs, more cycles, or a smaller window";
        return Err(Failure::new("the run measured no session: it is no baseline", hint));
    }
    let unscored = judge(side, None, &Policy { rules: Vec::new(), ..Policy::standard() }).unscored;
    if max_unscored < unscored {
        let cause =
            format!("{unscored} sessions and files of the run could not be measured: it is no baseline");
        return Err(Failure::new(
            cause,
            "mend or remove them, or allow them with max_unscored in --policy FILE",
        ));
    }
    let before = dir.join(baseline::ROWS).exists().then(|| baseline::read(dir)).transpose();
    let before = match before {
        Ok(before) => before,
        Err(error) => {
            ui.complain(&format!("{error}: replaced"));
            None
        }
    };
    baseline::write(dir, &side.manifest, &side.scores)?;
    let before = before.as_ref().map(|(_, scores)| scores.as_slice());
    ui.product(&report::accepted(before, &side.scores, look))?;
    Ok(Exit::Done)
}

fn write(
    args: &GateArgs,
    outcome: &Outcome,
    manifest: &Manifest,
    look: Look<'_>,
    ui: &Ui,
) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot write the verdict: {error}"), "");
    if let Some(path) = &args.junit {
        renew(path, report::junit(outcome).map_err(cannot)?.as_bytes(), "<?xml")?;
    }
    if let Some(path) = &args.step_summary {
        append(path, report::markdown(outcome).as_bytes())?;
    }
    let text = match args.format {
        GateOutput::Text => report::text(outcome, look),
        GateOutput::Json => report::json(outcome).map_err(cannot)?,
        GateOutput::Junit => report::junit(outcome).map_err(cannot)?,
        GateOutput::Github => report::annotations(outcome, &manifest.worst_losses),
        GateOutput::Markdown => report::markdown(outcome),
    };
    ui.product(&text)
}

/// 0 when all holds, 1 when something does not, 3 when only too many inputs were unreadable, else 2.
fn exit(outcome: &Outcome, ui: &Ui) -> Exit {
    let open = outcome.checks.iter().filter(|check| check.verdict != Verdict::Pass);
    let only_unscored = open.clone().count() > 0 && open.clone().all(|check| check.metric == "unscored");
    match outcome.verdict {
        Verdict::Pass => Exit::Done,
        Verdict::Fail => {
            ui.say("the gate failed (exit code 1)");
            Exit::Red
        }
        Verdict::Inconclusive if only_unscored => {
            ui.say("every figure holds, but not all inputs could be measured (exit code 3)");
            Exit::Partial
        }
        Verdict::Inconclusive | Verdict::NotExercised => {
            ui.say("too little was measured for a verdict (exit code 2)");
            Exit::Failed
        }
    }
}
