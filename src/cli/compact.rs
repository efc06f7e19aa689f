//! `compactor compact`: sessions compacted at their end, and written.

use super::args::CompactArgs;
use super::exit::{Exit, Failure};
use super::model::{LATER, Scribe, plan};
use super::replay::{budget, profile};
use super::ui::Ui;
use super::write::Ledger;
use crate::discover::Log;
use crate::export::{CompactSettings, Target, output_names, write_compacted};
use crate::models::assumed;
use crate::report::Look;
use crate::report::compacted::{json, table};
use crate::report::text::{count, escape_json, sanitize};
use crate::results::compacted::CompactReport;
use crate::results::files::make_directory;
use crate::run::{WindowChoice, Windows};
use crate::summarize::{Beside, Summarizer as _};
use std::path::PathBuf;

/// Runs the verb.
pub fn run(args: &CompactArgs, ui: &Ui) -> Result<Exit, Failure> {
    let settings = settings(args)?;
    let scribe = Scribe::of(&args.model, &[&settings.profile], ui)?;
    let programs = args.programs.programs();
    let writer = Beside { writer: scribe.summarizer(), programs: &programs };
    let found = args.list.find(&args.paths, ui);
    if !matches!(scribe, Scribe::Dry(..)) {
        make_directory(&args.out)?;
    }
    let mut ledger = Ledger::new(&found, ui);
    let mut reports: Vec<CompactReport> = Vec::new();
    let (mut unwanted, mut looked) = (0, 0);
    let bar = ui.progress(found.sources.iter().map(|source| source.bytes).sum());
    let labels: Vec<&str> = found.sources.iter().map(|source| source.label.as_str()).collect();
    for (source, name) in found.sources.iter().zip(output_names(&labels)) {
        let Some(Log { ingested, raw, .. }) = ledger.read(source, ui) else { continue };
        if raw.is_none() && settings.to == Target::Same {
            let cause =
                format!("{}: lies in several files, none of which could hold the record", source.label);
            ledger.fail(&cause, "use --to canonical, openai or anthropic", ui);
            continue;
        }
        let asked = writer.account().answered;
        let mut written = write_compacted(
            raw.as_deref().unwrap_or_default(),
            &source.label,
            &name,
            &ingested,
            &settings,
            &writer,
        );
        looked += 1;
        if matches!(scribe, Scribe::Dry(..)) {
            bar.inc(source.bytes);
            continue;
        }
        if args.model.ask.cassettes.is_some() {
            let names = writer.answered(asked);
            let reports = written.outputs.iter_mut().flat_map(|output| &mut output.reports);
            reports.for_each(|(_, report)| report.cassettes.clone_from(&names));
        }
        unwanted += usize::from(written.no_such_session);
        for (session, why) in &written.unchanged {
            ledger.fail(&format!("{}: session {session}: {why}", source.label), why.hint(), ui);
        }
        for output in written.outputs {
            let path = args.out.join(&output.name);
            // A terminal may read along; the documents stay the same. The bytes of a log are never touched.
            let bytes = match std::str::from_utf8(&output.bytes) {
                Ok(text) if settings.to != Target::Same => escape_json(text.to_owned()).into_bytes(),
                _ => output.bytes,
            };
            let texts: Vec<String> = output
                .reports
                .iter()
                .map(|(_, report)| json(report))
                .collect::<Result<_, _>>()
                .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
            let paths: Vec<PathBuf> = output.reports.iter().map(|(name, _)| args.out.join(name)).collect();
            let beside = paths.iter().map(PathBuf::as_path).zip(texts.iter().map(String::as_bytes));
            let files: Vec<_> = std::iter::once((path.as_path(), bytes.as_slice())).chain(beside).collect();
            if !ledger.write(&files, &source.label, args.force, ui) {
                continue;
            }
            for (_, report) in output.reports {
                ledger.done += 1;
                if report.window_assumed {
                    ui.complain(&format!("{}: {}", source.label, assumed(&sanitize(&report.model), 1)));
                }
                reports.push(report);
            }
        }
        if written.sidechains > 0 {
            let left = count(written.sidechains as u64, "session");
            ui.say(&format!("{}: {left} of sub-agents left out; --session takes one", source.label));
        }
        bar.inc(source.bytes);
    }
    bar.finish_and_clear();
    if let Scribe::Dry(model, rules) = &scribe {
        ui.product(&plan(model, rules, LATER))?;
        return Ok(Exit::Done);
    }
    scribe.report(ui);
    if looked > 0 && unwanted == looked {
        let cause = format!("no session begins with {:?}", args.session.as_deref().unwrap_or_default());
        return Err(Failure::new(cause, "compactor convert LOG shows the ids of a log"));
    }
    if !reports.is_empty() {
        let saved = args.out.display().to_string();
        let look = Look { width: ui.width(), color: ui.color(), saved: Some(&saved) };
        ui.product(&table(&reports, look))?;
    }
    let exit = ledger.end("nothing was compacted", ui)?;
    Ok(if scribe.is_troubled() { Exit::Partial } else { exit })
}

fn settings(args: &CompactArgs) -> Result<CompactSettings, Failure> {
    let windows = match (args.cycles, args.window) {
        (Some(cycles), _) => Windows::Cycles(usize::from(cycles)),
        (None, window) => Windows::Given(vec![window.unwrap_or(WindowChoice::Auto)]),
    };
    Ok(CompactSettings {
        profile: profile(&args.profile)?,
        strategy: args.strategy,
        summary_tokens: budget(args.summary_tokens, &windows)?,
        windows,
        tokenizer: args.tokenizer,
        to: args.to.into(),
        session: args.session.clone(),
    })
}
