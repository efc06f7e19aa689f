//! `compactor gate`: a run against a policy and a baseline.

use super::args::verdicts::{GateArgs, GateOutput};
use super::compare::comparable;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::aggregate::scores::State;
use crate::gate::compared::{align_profiles, keep_common, mismatches, states};
use crate::gate::policy::Policy;
use crate::gate::self_test::{holds, trials};
use crate::gate::{JudgedBy, Outcome, Side, Verdict, judge, unmeasured};
use crate::report::gate::Replaced;
use crate::report::{Look, gate as report};
use crate::results::files::{append, place_document, read_sound, read_text};
use crate::results::{Manifest, baseline};
use std::path::Path;

/// Where a GitHub workflow wants the summary of a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Runs the verb. A build that reads files gets one also where nothing could be judged.
pub fn run(args: &GateArgs, ui: &Ui) -> Result<Exit, Failure> {
    let result = judged(args, ui);
    if let (Err(failure), false, false) = (&result, args.accept, args.self_test) {
        if args.format == GateOutput::Github {
            ui.product(&report::refused_annotation(&failure.cause))?;
        }
        files(args, &report::refused_junit(&failure.cause), &report::refused_markdown(&failure.cause), ui);
    }
    result
}

/// What a run is to be judged by.
pub(super) struct Asked<'a> {
    pub(super) run: &'a Path,
    pub(super) policy: Option<&'a Path>,
    pub(super) baseline: Option<&'a Path>,
    pub(super) intersection: bool,
}

/// A run, and what it is judged by.
pub(super) struct Case {
    run: Side,
    baseline: Option<Side>,
    policy: Policy,
    left_out: u64,
    judged_by: Option<JudgedBy>,
}

impl Case {
    /// Reads what was asked for and sees to it that it can be compared.
    pub(super) fn read(asked: &Asked<'_>, ui: &Ui) -> Result<Self, Failure> {
        let mut run = side(asked.run)?;
        let policy = policy(asked)?;
        let mut baseline = asked.baseline.map(|dir| read_baseline(dir, asked.run)).transpose()?;
        let (mut left_out, mut judged_by) = (0, None);
        if let Some(before) = &mut baseline {
            let found = mismatches(&before.manifest, &run.manifest, asked.intersection);
            comparable(&found, "accept a new baseline with `compactor gate RUN --baseline DIR --accept`")?;
            judged_by =
                align_profiles(before, &run).map(|(baseline, profile)| JudgedBy { profile, baseline });
            if let Some(judged_by) = &judged_by {
                ui.say(&judged_by.text());
            }
            if asked.intersection {
                left_out = keep_common(before, &mut run);
            }
        }
        Ok(Self { run, baseline, policy, left_out, judged_by })
    }

    /// The verdict.
    pub(super) fn outcome(&self) -> Outcome {
        let outcome = judge(&self.run, self.baseline.as_ref(), &self.policy);
        let identical = outcome.identical && self.left_out == 0;
        Outcome { left_out: self.left_out, identical, judged_by: self.judged_by.clone(), ..outcome }
    }
}

fn side(dir: &Path) -> Result<Side, Failure> {
    Ok(Side::new(&read_sound(dir)?))
}

fn judged(args: &GateArgs, ui: &Ui) -> Result<Exit, Failure> {
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let format = args.format;
    if args.accept && format != GateOutput::Text {
        let cause = "--accept prints text: --format has no part in it";
        return Err(Failure::new(cause, "leave --format out"));
    }
    if args.self_test && !matches!(format, GateOutput::Text | GateOutput::Json) {
        let cause = "--self-test prints text or JSON: it has no other --format";
        return Err(Failure::new(cause, "leave --format out, or give --format json"));
    }
    let asked = Asked {
        run: &args.run,
        policy: args.policy.as_deref(),
        baseline: args.baseline.as_deref(),
        intersection: args.intersection,
    };
    if let (true, Some(dir)) = (args.accept, &args.baseline) {
        return accept(dir, &side(&args.run)?, policy(&asked)?.max_unscored, look, ui);
    }
    let case = Case::read(&asked, ui)?;
    if args.self_test {
        let trials = trials(&case.run, case.baseline.as_ref(), &case.policy);
        let text = match args.format {
            GateOutput::Json => serde_json::to_string_pretty(&trials)
                .map(|text| text + "\n")
                .map_err(|error| Failure::new(error.to_string(), ""))?,
            _ => report::self_test(&trials, look),
        };
        ui.product(&text)?;
        return Ok(if holds(&trials) { Exit::Done } else { Exit::Red });
    }
    let outcome = case.outcome();
    let written = write(args, &outcome, &case.run.manifest, look, ui)?;
    let exit = exit(&outcome, ui);
    Ok(if exit == Exit::Done && !written { Exit::Failed } else { exit })
}

fn policy(asked: &Asked<'_>) -> Result<Policy, Failure> {
    let Some(path) = asked.policy else {
        if asked.baseline.is_none() {
            let hint = "give --policy FILE, --baseline DIR, or both; `compactor gate --help` shows a policy";
            return Err(Failure::new("there is nothing to judge the run by", hint));
        }
        return Ok(Policy::standard());
    };
    let text = read_text(path)?;
    let with_headlines = |policy: Policy| {
        if policy.rules.is_empty() && asked.baseline.is_some() {
            Policy { rules: Policy::standard().rules, ..policy }
        } else {
            policy
        }
    };
    let hint = "`compactor gate --help` shows a policy, `compactor columns gate` the metrics";
    Policy::parse(&text)
        .map(with_headlines)
        .map_err(|cause| Failure::new(format!("{}: {cause}", path.display()), hint))
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
    Ok(Side { manifest, scores, ..Side::default() })
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
        let (what, named) = unmeasured(side).unwrap_or_default();
        let named = if named.is_empty() { named } else { format!(" ({named})") };
        let cause = format!("{what} of the run could not be measured: it is no baseline{named}");
        return Err(Failure::new(
            cause,
            "mend or remove them, or allow them with max_unscored in --policy FILE",
        ));
    }
    // One of an older version, or damaged, is replaced; what is no baseline is not, and neither is what a newer version wrote.
    let there = [baseline::ROWS, baseline::HEAD].iter().any(|name| dir.join(name).exists());
    let before = match there.then(|| baseline::read(dir)) {
        None => Replaced::Nothing,
        Some(Ok((_, scores))) => Replaced::Scores(scores),
        Some(Err(error)) if error.newer => return Err(error.into()),
        Some(Err(error)) => Replaced::Unread(error.to_string()),
    };
    baseline::write(dir, &side.manifest, &side.scores)?;
    ui.product(&report::accepted(&before, &side.scores, look))?;
    Ok(Exit::Done)
}

/// Shows the verdict, then writes the files that were asked for; false when one of them could not be written.
fn write(
    args: &GateArgs,
    outcome: &Outcome,
    manifest: &Manifest,
    look: Look<'_>,
    ui: &Ui,
) -> Result<bool, Failure> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot write the verdict: {error}"), "");
    let text = match args.format {
        GateOutput::Text => report::text(outcome, look),
        GateOutput::Json => report::json(outcome).map_err(cannot)?,
        GateOutput::Junit => report::junit(outcome).map_err(cannot)?,
        GateOutput::Github => report::annotations(outcome, &manifest.worst_losses),
        GateOutput::Markdown => report::markdown(outcome),
    };
    ui.product(&text)?;
    Ok(files(args, &report::junit(outcome).map_err(cannot)?, &report::markdown(outcome), ui))
}

fn files(args: &GateArgs, junit: &str, markdown: &str, ui: &Ui) -> bool {
    let junit = args.junit.as_deref().map(|path| place_document(path, junit, "<?xml"));
    let summary = args.step_summary.clone().or_else(|| Ui::file_of(STEP_SUMMARY));
    let summary = summary.as_deref().map(|path| append(path, markdown.as_bytes()));
    let mut all = true;
    for error in [junit, summary].into_iter().flatten().filter_map(Result::err) {
        ui.complain(&format!("error: {error}"));
        ui.complain(&format!("hint: {}", error.hint));
        all = false;
    }
    all
}

/// 0 when all holds, 1 when something does not, 3 when only too many inputs were unreadable, else 2.
pub(super) fn exit(outcome: &Outcome, ui: &Ui) -> Exit {
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
