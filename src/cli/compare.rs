//! `compactor compare`: two runs side by side.

use super::args::verdicts::CompareArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::compare::compare;
use crate::gate::compared::mismatches;
use crate::report::{Look, compare as report};
use crate::results::RunOutput;
use crate::results::files::{FACTS, read_sound};
use std::path::Path;

/// Runs the verb.
pub fn run(args: &CompareArgs, ui: &Ui) -> Result<Exit, Failure> {
    let (before, now) = (run_in(&args.before, ui)?, run_in(&args.now, ui)?);
    let found = mismatches(&before.manifest, &now.manifest, args.intersection);
    comparable(&found, "replay both with the same settings and this version of compactor")?;
    let compared = compare(&before, &now);
    if compared.is_empty() {
        let cause = "the two runs measured no session in common: nothing was compared";
        return Err(Failure::new(cause, "check that both replayed the same logs with a strategy in common"));
    }
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let text = match args.format.format() {
        Some(format) => report::render(format, &compared, look)
            .map_err(|error| Failure::new(format!("cannot write the comparison: {error}"), ""))?,
        None => report::markdown(&compared),
    };
    ui.product(&text)?;
    Ok(Exit::Done)
}

/// The run in a directory; says where it no longer knows what became of each fact.
pub(super) fn run_in(dir: &Path, ui: &Ui) -> Result<RunOutput, Failure> {
    let run = read_sound(dir)?;
    if run.lacks_facts() {
        ui.complain(&format!(
            "{}: {FACTS} is missing, though the run was recorded with --log-facts: only the worst losses can be named",
            dir.display()
        ));
    }
    Ok(run)
}

/// Refuses what cannot be compared; `hint` says how to make it so.
pub(super) fn comparable(mismatches: &[String], hint: &str) -> Result<(), Failure> {
    if mismatches.is_empty() {
        return Ok(());
    }
    let only_logs = mismatches.iter().all(|mismatch| mismatch.starts_with("logs"));
    let hint = if only_logs {
        format!("--intersection compares the sessions that both have; or {hint}")
    } else {
        hint.to_owned()
    };
    Err(Failure::new(format!("the runs cannot be compared\n{}", mismatches.join("\n")), hint))
}
