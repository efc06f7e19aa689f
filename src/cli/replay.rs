//! `compactor replay`: arguments to settings, the run, the files, the report, the exit code.

use super::args::{PlanArgs, ReplayArgs};
use super::exit::{Exit, Failure};
use super::model::{LATER, Scribe, plan};
use super::ui::Ui;
use super::work::{Way, ended, perform, problems, with_progress};
use crate::ingest::READS;
use crate::models::assumed;
use crate::profile::{Profile, known};
use crate::report::text::{sanitize, thousands};
use crate::report::{events, render};
use crate::results::RunOutput;
use crate::results::files::MANIFEST;
use crate::run::{Job, RunSettings, WindowChoice, Windows, run as run_all};
use crate::strategy::Strategy;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Runs the verb.
pub fn run(args: &ReplayArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut settings = settings(&args.plan)?;
    (settings.log_facts, settings.events) = (args.log_facts, args.events);
    let profiles: Vec<&Profile> = settings.profiles.iter().collect();
    let scribe = Scribe::of(&args.model, &profiles, ui)?;
    settings.writer = scribe.told(&args.model);
    settings.jobs = scribe.threads(&args.model, settings.jobs);
    if let Scribe::Dry(model, rules) = &scribe {
        let found = args.list.find(&args.paths, ui);
        // Programs of the user cost nothing that a plan could tell.
        settings.strategies.retain(|strategy| strategy.command().is_none());
        let output =
            with_progress(&found, ui, |progress| run_all(&found, &settings, model.as_ref(), progress))?;
        problems(&output.manifest, MANIFEST, ui);
        ui.product(&plan(model, rules, LATER))?;
        return Ok(ended(&output, ui));
    }
    let programs = args.plan.programs.programs();
    let way = Way {
        programs: &programs,
        scribe: &scribe,
        model: Some(&args.model),
        out: args.out.as_deref(),
        resume: args.resume,
    };
    let done = perform(&args.paths, &args.list, &settings, way, ui)?;
    let exit = |output: &RunOutput| {
        let exit = exit(output, ui)?;
        Ok(if scribe.is_troubled() { Exit::Partial } else { exit })
    };
    if args.events {
        ui.product(&events::render(&done.output.events))?;
        return exit(&done.output);
    }
    let text = render(args.format.into(), &done.output, &done.aggregate, done.look(ui))
        .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
    if done.output.manifest.sessions_exercised > 0 || args.format != super::args::Output::Table {
        ui.product(&text)?;
    }
    exit(&done.output)
}

/// What is replayed; rows of facts and events are not asked for.
pub(super) fn settings(args: &PlanArgs) -> Result<RunSettings, Failure> {
    let profiles = args.profile.iter().map(|name| profile(name)).collect::<Result<Vec<_>, _>>()?;
    let profiles = distinct(&profiles);
    let named: Vec<Strategy> = args.strategy.iter().flat_map(|some| some.0.iter().copied()).collect();
    let strategies = distinct(&named);
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    if let Some(name) =
        names.iter().enumerate().find_map(|(at, name)| names.get(at + 1..)?.contains(name).then_some(name))
    {
        let cause = format!("two different profiles are called `{name}`: their rows could not be told apart");
        return Err(Failure::new(cause, "give each profile file a `name` of its own"));
    }
    let windows = match args.steps.windows(distinct(&args.window), args.cycles) {
        Windows::Cycles(cycles) if args.same_window => Windows::Shared(cycles),
        windows => windows,
    };
    Ok(RunSettings {
        asked: args.steps.asked(&windows)?,
        job: Job::Replay,
        profiles,
        strategies,
        summary_tokens: budget(args.summary_tokens, &windows)?,
        windows,
        schedule: args.schedule.into(),
        mode: args.mode.into(),
        tokenizer: args.work.tokenizer,
        jobs: args.work.threads(),
        log_facts: false,
        events: false,
        writer: None,
    })
}

/// The budget of a summary, refused where it is larger than a window.
pub(super) fn budget(tokens: Option<u64>, windows: &Windows) -> Result<Option<u64>, Failure> {
    let Windows::Given(choices) = windows else { return Ok(tokens) };
    let least = choices.iter().filter_map(|choice| match choice {
        WindowChoice::Tokens(window) => Some(*window),
        WindowChoice::Auto => None,
    });
    match (tokens, least.min()) {
        (Some(tokens), Some(window)) if tokens > window => {
            let cause = format!("--summary-tokens {tokens} is larger than a window of {window} tokens");
            Err(Failure::new(cause, "a summary takes a quarter of its window at the most"))
        }
        _ => Ok(tokens),
    }
}

/// Each value once, in order: a plan that ran twice would count each of its sessions twice.
fn distinct<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

/// What names no embedded profile and is a path: by its ending, or because it is there.
pub(super) fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml")) || path.exists()
}

/// An embedded profile by name, or one from a file.
#[expect(clippy::disallowed_methods, reason = "the command line reads the profiles that a user names")]
pub(super) fn profile(name: &str) -> Result<Profile, Failure> {
    let hint = "`compactor profiles` lists the embedded ones, `compactor profiles show NAME` prints one";
    if let Some(embedded) = Profile::named(name) {
        return embedded.map_err(|error| Failure::new(error.to_string(), hint));
    }
    let path = Path::new(name);
    if !is_file(path) {
        let cause = format!("unknown profile `{name}`; {}", known(name));
        return Err(Failure::new(cause, "name an embedded profile, or a file that ends in .toml"));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("profile {name}: {error}"), "check the path"))?;
    Profile::parse(name, &text).map_err(|error| Failure::new(error.to_string(), hint))
}

/// Names the files and why none of their sessions counts, where nothing else is shown.
fn not_exercised(output: &RunOutput, ui: &Ui) {
    let idle = output.sessions.iter().filter(|row| row.error.is_empty());
    let mut files: Vec<&str> = idle.map(|row| row.source.as_str()).collect();
    files.dedup();
    for file in files {
        let rows = || output.cycles.iter().filter(|row| row.source == file);
        let why = match rows().find(|row| row.stuck).or(rows().next()) {
            None => "too short to compact".to_owned(),
            Some(row) => format!(
                "no gain: {} tokens stay at a window of {} ({} of kept messages{}, {} of summary) and {} of overhead",
                thousands(row.tokens_after),
                thousands(row.window),
                thousands(row.tokens_tail),
                match (row.largest_tokens, row.largest_line) {
                    (Some(tokens), Some(line)) =>
                        format!(", the largest {} at line {line}", thousands(tokens)),
                    _ => String::new(),
                },
                thousands(row.tokens_summary),
                thousands(row.tokens_overhead)
            ),
        };
        ui.complain(&format!("{file}: {why}"));
    }
}

/// Causes of failures that are named.
const MOST_CAUSES: usize = 10;

/// Names each cause of a failure once, where nothing else is shown.
fn failed(output: &RunOutput, ui: &Ui) {
    let mut causes: Vec<(&str, &str, u64)> = Vec::new();
    for row in output.sessions.iter().filter(|row| !row.error.is_empty()) {
        match causes.iter_mut().find(|(_, cause, _)| *cause == row.error) {
            Some((_, _, rows)) => *rows += 1,
            None => causes.push((&row.source, &row.error, 1)),
        }
    }
    for (source, cause, rows) in causes.iter().take(MOST_CAUSES) {
        let more = if *rows > 1 { format!(" (and {} more replays)", rows - 1) } else { String::new() };
        ui.complain(&format!("{source}: {cause}{more}"));
    }
    if causes.len() > MOST_CAUSES {
        ui.complain(&format!(
            "and {} more causes; sessions.csv has them (--out DIR)",
            causes.len() - MOST_CAUSES
        ));
    }
}

/// Says for which models the default window was taken.
fn unknown_windows(output: &RunOutput, ui: &Ui) {
    let mut models: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in output.sessions.iter().filter(|row| row.window_source == "default") {
        models.entry(&row.model).or_default().insert(&row.session);
    }
    for (model, sessions) in models {
        ui.complain(&assumed(&sanitize(model), sessions.len() as u64));
    }
}

/// What to do when nothing was measured.
fn unmeasured_hint(output: &RunOutput) -> &'static str {
    let settings = &output.manifest.settings;
    let failed = output.sessions.iter().any(|row| !row.error.is_empty());
    let asks = settings.writer.is_some();
    if output.manifest.sessions == 0 {
        READS
    } else if failed || asks && output.cycles.iter().any(|row| row.summary_degraded) {
        // What failed is said with its cause.
        ""
    } else if settings.strategies.iter().all(|name| name == Strategy::None.name()) {
        "the strategy none never compacts: name another one with --strategy"
    } else if settings.windows.is_empty() {
        "give longer logs"
    } else if output.cycles.iter().any(|row| row.unfit) {
        "what has to stay together is larger than the window: give a larger --window, or --cycles in place of it"
    } else if output.cycles.iter().any(|row| row.stuck) {
        "what cannot leave (system messages, overhead, newest messages) fills the window: give a larger --window"
    } else {
        "give longer logs, or a smaller --window, or --cycles in place of it"
    }
}

/// 2 when nothing was measured, 3 when something was lost, else 0.
fn exit(output: &RunOutput, ui: &Ui) -> Result<Exit, Failure> {
    let manifest = &output.manifest;
    unknown_windows(output, ui);
    let longest = output.sessions.iter().map(|row| row.messages).max().unwrap_or(0);
    for place in &manifest.settings.compact_at {
        let at = place.split(':').next().and_then(|at| at.parse::<u64>().ok());
        if at.is_some_and(|at| at > longest) {
            ui.complain(&format!(
                "--compact-at {place}: no session is that long; the longest has {longest} messages"
            ));
        }
    }
    if manifest.sessions_exercised == 0 {
        failed(output, ui);
        not_exercised(output, ui);
        let cause = if manifest.sessions == 0 {
            "no session could be read: nothing was measured".to_owned()
        } else {
            format!(
                "nothing was measured: no compaction of {} sessions gained anything ({} not exercised, {} failed)",
                manifest.sessions, manifest.sessions_not_exercised, manifest.sessions_failed
            )
        };
        return Err(Failure::new(cause, unmeasured_hint(output)));
    }
    Ok(ended(output, ui))
}
