//! `compactor inspect`: what logs hold.

use super::args::InspectArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::discover::discover;
use crate::report::{Look, inspect};
use crate::run;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs the verb.
pub fn run(args: &InspectArgs, ui: &Ui) -> Result<Exit, Failure> {
    let found = discover(&args.paths);
    let bar = ui.progress(found.sources.iter().map(|source| source.bytes).sum());
    let sessions = AtomicU64::new(0);
    let progress = |bytes: u64, more: u64| {
        let count = sessions.fetch_add(more, Ordering::Relaxed) + more;
        bar.set_message(format!("{count} sessions"));
        bar.inc(bytes);
    };
    let jobs = args.jobs.map_or(0, usize::from);
    let inspected = run::inspect::inspect(&found, args.tokenizer, jobs, &progress)
        .map_err(|error| Failure::new(error.to_string(), "use --jobs 1"))?;
    bar.finish_and_clear();
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let page = inspect::render(args.format.into(), &inspected, look)
        .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
    ui.product(&page)?;
    for file in inspected.files.iter().filter(|file| !file.error.is_empty()) {
        ui.complain(&format!("{}: {}", file.file, file.error));
    }
    if inspected.files.iter().all(|file| !file.error.is_empty()) {
        return Err(Failure::new(
            "no file could be read: nothing was inspected",
            "name logs, or directories of logs",
        ));
    }
    let worst = |severity: &str| {
        let mut remarks = inspected.files.iter().flat_map(|file| &file.remarks);
        remarks.any(|remark| remark.severity == severity)
    };
    let unread = inspected.files.iter().any(|file| !file.error.is_empty());
    let remarks = inspected.files.iter().any(|file| !file.remarks.is_empty());
    if unread || worst("lost") || args.strict && remarks {
        ui.say(if unread || worst("lost") {
            "some inputs could not be read; the rest is above (exit code 3)"
        } else {
            "there are remarks (exit code 3 with --strict)"
        });
        return Ok(Exit::Partial);
    }
    Ok(Exit::Done)
}
