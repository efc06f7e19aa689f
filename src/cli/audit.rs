//! `compactor audit`: the compactions that logs already hold, scored.

use super::args::{AuditArgs, Output};
use super::exit::{Exit, Failure};
use super::model::Scribe;
use super::ui::Ui;
use super::work::{Way, ended, perform};
use crate::ingest::READS;
use crate::report::audit;
use crate::run::RunSettings;
use crate::strategy::exec::Programs;
use std::time::Duration;

/// Runs the verb.
pub fn run(args: &AuditArgs, ui: &Ui) -> Result<Exit, Failure> {
    let jobs = args.work.threads();
    let settings = RunSettings::audit(args.work.tokenizer, jobs, args.log_facts);
    let scribe = Scribe::Embedded;
    let programs = Programs::new(Duration::ZERO);
    let way =
        Way { scribe: &scribe, programs: &programs, model: None, out: args.out.as_deref(), resume: false };
    let done = perform(&args.paths, &args.list, &settings, way, ui)?;
    let any = !done.output.audits.is_empty();
    if any || args.format != Output::Table {
        let text = audit::render(args.format.into(), &done.output, &done.aggregate, done.look(ui))
            .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
        ui.product(&text)?;
    }
    if any {
        return Ok(ended(&done.output, ui));
    }
    let sessions = done.output.manifest.sessions;
    Err(if sessions == 0 {
        Failure::new("no session could be read: nothing was audited", READS)
    } else {
        let hint = "compactor replay compacts logs itself and scores that";
        listed(&audit::uncompacted(&done.output), ui);
        let none = match sessions {
            1 => "the session holds no compaction with messages before it".to_owned(),
            _ => format!("none of {sessions} sessions holds a compaction with messages before it"),
        };
        Failure::new(format!("{none}: nothing was audited"), hint)
    })
}

/// Files listed one by one.
const LISTED: usize = 20;

/// Names the files whose sessions hold no compaction, where nothing else is shown.
fn listed(files: &[String], ui: &Ui) {
    for file in files.iter().take(LISTED) {
        ui.complain(&format!("no compaction recorded: {file}"));
    }
    if LISTED < files.len() {
        ui.complain(&format!("no compaction recorded: {} more files", files.len() - LISTED));
    }
}
