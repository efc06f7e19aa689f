//! What every verb that reads logs does: find them, run with a progress bar, save, name what was lost.

use super::args::{ListArgs, ModelArgs};
use super::exit::{Exit, Failure};
use super::model::Scribe;
use super::ui::Ui;
use crate::aggregate::{Aggregate, aggregate};
use crate::discover::Discovered;
use crate::report::Look;
use crate::report::page::problem_line;
use crate::report::text::count;
use crate::results::files::{MANIFEST, prepare, write_run};
use crate::results::journal::Journal;
use crate::results::{Manifest, Problem, RunOutput};
use crate::run::{Kept, Progress, RunSettings, run_kept};
use crate::strategy::exec::Programs;
use crate::summarize::Beside;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A finished run.
#[derive(Debug)]
pub struct Done {
    /// Its rows.
    pub output: RunOutput,
    /// The rows pooled.
    pub aggregate: Aggregate,
    /// Where they were written.
    saved: Option<String>,
}

impl Done {
    /// How its report looks here.
    pub fn look(&self, ui: &Ui) -> Look<'_> {
        Look { width: ui.width(), color: ui.color(), saved: self.saved.as_deref() }
    }
}

/// Who writes, and what becomes of the rows.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// The summarizer.
    pub scribe: &'a Scribe,
    /// Programs that stand for strategies.
    pub programs: &'a Programs,
    /// What was said of it.
    pub model: Option<&'a ModelArgs>,
    /// Where rows are written.
    pub out: Option<&'a Path>,
    /// Finished sessions that are kept there are not worked on again.
    pub resume: bool,
}

/// Runs the settings on the logs that are named, and writes the rows where they are wanted, which is checked first.
/// Until all is written, and as long as not all of it worked, finished sessions are kept there.
pub fn perform(
    paths: &[PathBuf],
    list: &ListArgs,
    settings: &RunSettings,
    way: Way<'_>,
    ui: &Ui,
) -> Result<Done, Failure> {
    let Way { scribe, programs, model, out, resume } = way;
    let writer = Beside { writer: scribe.summarizer(), programs };
    let tapes = model.and_then(|model| model.ask.cassettes.as_deref());
    if let (Some(dir), Some(tapes)) = (out, tapes)
        && tapes.starts_with(dir)
    {
        let cause = format!("--cassettes {} lies in the directory of the results", tapes.display());
        return Err(Failure::new(cause, "give one beside it: results are replaced, cassettes stay"));
    }
    let journal = match out {
        Some(dir) => {
            prepare(dir)?;
            Some(Journal::open(dir, resume)?)
        }
        None => None,
    };
    let kept = journal.as_ref().map(|journal| Kept::new(journal, settings, &writer));
    if let Some(journal) = journal.as_ref().filter(|journal| !journal.is_empty()) {
        ui.say(&format!("{} of an earlier run are kept", count(journal.len() as u64, "finished session")));
    }
    if let Some(journal) = journal.as_ref().filter(|journal| journal.given_up() > 0) {
        let sessions = count(journal.given_up() as u64, "finished session");
        ui.complain(&format!(
            "{sessions} of a run that was stopped are given up: --resume would have kept them"
        ));
    }
    let found = list.find(paths, ui);
    let mut output =
        with_progress(&found, ui, |progress| run_kept(&found, settings, &writer, progress, kept.as_ref()))?;
    problems(&output.manifest, MANIFEST, ui);
    let earlier = kept.as_ref().map(Kept::replies).unwrap_or_default();
    output.manifest.cassettes = model.map(|args| scribe.cassettes(args, earlier)).unwrap_or_default();
    scribe.report(ui);
    let aggregate = aggregate(&output);
    if let Some(dir) = out {
        write_run(dir, &output, &aggregate)?;
    }
    if let Some(failure) = kept.as_ref().and_then(Kept::failure) {
        ui.complain(&format!("finished sessions could not be kept for --resume: {failure}"));
    }
    let whole = !scribe.is_troubled() && output.sessions.iter().all(|row| row.error.is_empty());
    if let Some(journal) = journal.filter(|_| whole && !resume) {
        journal.remove()?;
    }
    Ok(Done { output, aggregate, saved: out.map(|dir| dir.display().to_string()) })
}

/// Works on all that was found, with a progress bar.
pub fn with_progress<T, E: Into<Failure>>(
    found: &Discovered,
    ui: &Ui,
    work: impl FnOnce(Progress<'_>) -> Result<T, E>,
) -> Result<T, Failure> {
    let bar = ui.progress(found.sources.iter().map(|source| source.bytes).sum());
    let sessions = AtomicU64::new(0);
    let progress = |bytes: u64, more: u64| {
        let count = sessions.fetch_add(more, Ordering::Relaxed) + more;
        bar.set_message(format!("{count} sessions"));
        bar.inc(bytes);
    };
    let done = work(&progress).map_err(Into::into)?;
    bar.finish_and_clear();
    Ok(done)
}

/// Names every lost and damaged input on stderr, once: its first problem, and how many more there are. `record` is the file that
/// --out writes them all to.
pub fn problems(manifest: &Manifest, record: &str, ui: &Ui) {
    let mut files: Vec<(&Problem, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for problem in manifest.problems.iter().filter(|problem| problem.severity != "note") {
        let place = *places.entry(problem.source.as_str()).or_insert(files.len());
        match files.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => files.push((problem, 1)),
        }
    }
    for (problem, count) in files {
        ui.complain(&problem_line(problem));
        // Where the file as a whole was refused, its lines tell nothing more.
        if count > 1 && !(problem.line == 0 && problem.severity == "lost") {
            ui.complain(&format!("  and {} more of this file; {record} has them all (--out DIR)", count - 1));
        }
    }
}

/// 3 when something was lost on the way, else 0.
pub fn ended(output: &RunOutput, ui: &Ui) -> Exit {
    let manifest = &output.manifest;
    let lost = manifest.files_failed > 0
        || manifest.sessions_failed > 0
        || manifest.problems.iter().any(|problem| problem.severity == "lost")
        || output.cycles.iter().any(|row| !row.error.is_empty())
        || output.sessions.iter().any(|row| !row.error.is_empty());
    if lost {
        ui.say("some inputs could not be measured; the rest is above (exit code 3)");
        return Exit::Partial;
    }
    Exit::Done
}
