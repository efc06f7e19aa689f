//! What every verb that reads logs does: find them, run with a progress bar, save, name what was lost.

use super::args::ListArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::aggregate::{Aggregate, aggregate};
use crate::discover::Discovered;
use crate::report::Look;
use crate::report::page::problem_line;
use crate::results::files::{MANIFEST, prepare, write_run};
use crate::results::{Manifest, Problem, RunOutput};
use crate::run::{Progress, RunSettings, run};
use crate::summarize::extractive::Extractive;
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

/// Runs the settings on the logs that are named, and writes the rows to `out`, which is checked first.
pub fn perform(
    paths: &[PathBuf],
    list: &ListArgs,
    settings: &RunSettings,
    out: Option<&Path>,
    ui: &Ui,
) -> Result<Done, Failure> {
    if let Some(dir) = out {
        prepare(dir)?;
    }
    let found = list.find(paths, ui);
    let output = with_progress(&found, ui, |progress| run(&found, settings, &Extractive, progress))?;
    problems(&output.manifest, MANIFEST, ui);
    let aggregate = aggregate(&output);
    if let Some(dir) = out {
        write_run(dir, &output, &aggregate)?;
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
