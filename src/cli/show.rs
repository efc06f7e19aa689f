//! `compactor show`: one cycle of one session in full.

use super::args::{ShowArgs, ShowFormat};
use super::exit::{Exit, Failure};
use super::replay::{budget, profile};
use super::ui::Ui;
use super::write::problems;
use crate::discover::{Log, read_log};
use crate::ingest::READS;
use crate::models::assumed;
use crate::report::text::sanitize;
use crate::report::{Look, show as report};
use crate::results::files::read_text;
use crate::run::show::{NothingToShow, Pick, show};
use crate::run::{Job, RunSettings};
use crate::strategy::Strategy;
use crate::summarize::Beside;
use crate::summarize::extractive::Extractive;
use crate::summarize::prompt::Template;
use std::path::Path;

/// Runs the verb.
pub fn run(args: &ShowArgs, ui: &Ui) -> Result<Exit, Failure> {
    let settings = settings(args)?;
    if args.prompts && !matches!(args.strategy, Strategy::Structured | Strategy::Narrative) {
        let cause = format!("--prompts: nobody is asked for anything under the strategy {}", args.strategy);
        return Err(Failure::new(cause, "give --strategy structured or narrative"));
    }
    let given: Vec<_> = args.path.iter().cloned().collect();
    let found = args.list.find(&given, ui);
    let named = args.path.as_deref().or(args.list.files_from.as_deref()).unwrap_or(Path::new("-")).display();
    let source = match (found.sources.as_slice(), found.problems.first()) {
        ([source], _) => source,
        ([], Some((path, cause))) => return Err(Failure::new(format!("{path}: {cause}"), "")),
        ([], None) => return Err(Failure::new(format!("{named}: no log"), "give a file")),
        (several, _) => {
            let cause = format!("{named} holds {} files", several.len());
            return Err(Failure::new(cause, "show takes one file; compactor audit and replay take many"));
        }
    };
    let Log { ingested, .. } = read_log(source)
        .map_err(|cause| Failure::new(format!("{}: {cause}", source.label), "check the path"))?;
    problems(&ingested.diagnostics, &source.label, ui);
    let pick = Pick {
        session: args.session.clone(),
        cycle: usize::from(args.cycle),
        prompts: args.prompts,
        template: args.prompt.as_deref().map(template).transpose()?,
    };
    let programs = args.programs.programs();
    let writer = Beside { writer: &Extractive, programs: &programs };
    let shown = show(&ingested, &source.label, &settings, &pick, &writer).map_err(|nothing| {
        let hint = hint(&nothing, args);
        Failure::new(format!("{}: {nothing}", source.label), hint)
    })?;
    if ingested.sessions.len() > 1 && args.session.is_none() {
        ui.say(&format!(
            "{} sessions in the log, shown is {}; --session takes another one",
            ingested.sessions.len(),
            shown.session
        ));
    }
    if shown.window_source == "default" {
        ui.complain(&assumed(&sanitize(&shown.model), 1));
    }
    let text = match args.format {
        ShowFormat::Text => {
            let look = Look { width: ui.width(), color: ui.color(), saved: None };
            report::text(&shown, look, args.all)
        }
        ShowFormat::Json => report::json(&shown)
            .map_err(|error| Failure::new(format!("cannot write the document: {error}"), ""))?,
    };
    ui.product(&text)?;
    Ok(Exit::Done)
}

/// Instructions from a file.
pub(super) fn template(path: &Path) -> Result<Template, Failure> {
    let text = read_text(path)?;
    Template::parse(&text).map_err(|cause| {
        Failure::new(format!("{}: {cause}", path.display()), "mend the file given with --prompt")
    })
}

fn settings(args: &ShowArgs) -> Result<RunSettings, Failure> {
    let recorded = args.strategy == Strategy::Recorded;
    let windows = args.steps.windows(args.window.into_iter().collect(), args.cycles);
    Ok(RunSettings {
        asked: args.steps.asked(&windows)?,
        job: if recorded { Job::Audit } else { Job::Replay },
        profiles: vec![profile(&args.profile)?],
        strategies: vec![args.strategy],
        summary_tokens: budget(args.summary_tokens, &windows)?,
        windows,
        schedule: args.schedule.into(),
        mode: args.mode.into(),
        tokenizer: args.tokenizer,
        jobs: 1,
        log_facts: false,
        events: false,
        writer: None,
    })
}

/// What to do where there is nothing to show.
fn hint(nothing: &NothingToShow, args: &ShowArgs) -> &'static str {
    match nothing {
        NothingToShow::NoSuchSession(known) if known.is_empty() => READS,
        NothingToShow::NoSuchSession(_) => "give one of these, or its beginning, with --session",
        NothingToShow::Stopped(..) => "",
        NothingToShow::NeverCompacted(_) if args.strategy == Strategy::Recorded => {
            "the log holds no compaction: name another --strategy to replay it"
        }
        NothingToShow::NeverCompacted(_) => "give a longer log, or a smaller --window",
        NothingToShow::TooFewCycles(..) if args.strategy == Strategy::Recorded => "give a smaller --cycle",
        NothingToShow::TooFewCycles(..) => {
            "give a smaller --cycle, or more with --cycles or a smaller --window"
        }
    }
}
