//! `compactor report`: result directories in, documents out.

use super::args::ReportArgs;
use super::compare::run_in;
use super::exit::{Exit, Failure};
use super::gate::{Asked, Case, exit};
use super::ui::Ui;
use crate::gate::Outcome;
use crate::report::redact::Redactor;
use crate::report::runs::{Run, Verdict, View, labels, unlike};
use crate::report::{html, markdown, sheet};
use crate::results::files::place_document;
use crate::results::stray;
use std::path::Path;

/// Runs the verb.
pub fn run(args: &ReportArgs, ui: &Ui) -> Result<Exit, Failure> {
    let outputs = outputs(args)?;
    let mut runs = Vec::new();
    for (path, label) in args.runs.iter().zip(labels(&args.runs)) {
        let output = run_in(path, ui)?;
        if let Some(cause) = stray::fault(&output) {
            let hint =
                "take the files of one run, or write the results again with `compactor replay --out DIR`";
            return Err(Failure::new(format!("{}: {cause}", path.display()), hint));
        }
        runs.push(Run::new(label, output));
    }
    if let Some(why) = unlike(&runs) {
        return Err(Failure::new(
            why,
            "make the runs again with one version of compactor and one --tokenizer",
        ));
    }
    let outcome = outcome(args, ui)?;
    let verdict =
        outcome.as_ref().map(|it| if args.redact { Verdict::without_names(it) } else { Verdict::of(it) });
    if args.redact {
        Redactor::redact(&mut runs);
    }
    let view = View::new(&runs);
    for (kind, path) in outputs {
        let (text, mark) = match kind {
            Kind::Html => (html::render(&view, verdict.as_ref(), args.redact), html::MARK),
            Kind::Markdown => (markdown::render(&view, verdict.as_ref(), args.redact), markdown::MARK),
            Kind::Csv => {
                let text = sheet::render(&view)
                    .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
                (text, sheet::MARK)
            }
        };
        match path {
            None => ui.product(&text)?,
            Some(path) => {
                place_document(path, &text, mark)?;
                ui.say(&format!("written: {}", path.display()));
            }
        }
    }
    if view.exercised() == 0 {
        let cause = "nothing was measured: no session of these runs was compacted";
        return Err(Failure::new(cause, "the report says so; run longer logs, or smaller windows"));
    }
    // A build that makes its report and its verdict in one step must not stay green.
    Ok(outcome.map_or(Exit::Done, |outcome| exit(&outcome, ui)))
}

/// What a policy or a baseline says of the run, where one is given.
fn outcome(args: &ReportArgs, ui: &Ui) -> Result<Option<Outcome>, Failure> {
    if args.policy.is_none() && args.baseline.is_none() {
        return Ok(None);
    }
    let [run] = args.runs.as_slice() else {
        let hint = "make a report of each, or leave --policy and --baseline out";
        return Err(Failure::new("a verdict is about one run, and several are given", hint));
    };
    let (policy, baseline) = (args.policy.as_deref(), args.baseline.as_deref());
    let case = Case::read(&Asked { run, policy, baseline, intersection: false }, ui)?;
    Ok(Some(case.outcome()))
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Markdown,
    Csv,
}

/// The documents that are asked for, each with its file; none is stdout.
fn outputs(args: &ReportArgs) -> Result<Vec<(Kind, Option<&Path>)>, Failure> {
    let asked = [(Kind::Html, &args.html), (Kind::Markdown, &args.markdown), (Kind::Csv, &args.csv)];
    let mut outputs: Vec<(Kind, Option<&Path>)> = Vec::new();
    for (kind, path) in asked {
        let Some(path) = path else { continue };
        let path = Some(path.as_path()).filter(|path| *path != Path::new("-"));
        if outputs.iter().any(|(_, other)| *other == path) {
            let name = path.map_or_else(|| "stdout".to_owned(), |path| path.display().to_string());
            return Err(Failure::new(
                format!("two documents cannot both go to {name}"),
                "give each a file of its own",
            ));
        }
        outputs.push((kind, path));
    }
    if outputs.is_empty() {
        outputs.push((Kind::Markdown, None));
    }
    Ok(outputs)
}
