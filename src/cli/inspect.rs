//! `compactor inspect`: what logs hold.

use super::args::{InspectArgs, InspectOutput};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::work::with_progress;
use crate::discover::homes::{Homes, Surroundings, homes as found_homes};
use crate::report::homes::Place;
use crate::report::{self, Look, inspect};
use crate::run;

/// Runs the verb.
pub fn run(args: &InspectArgs, ui: &Ui) -> Result<Exit, Failure> {
    if args.discover {
        return homes(args, ui);
    }
    let found = args.list.find(&args.paths, ui);
    let jobs = args.work.threads();
    let inspected = with_progress(&found, ui, |progress| {
        run::inspect::inspect(&found, args.work.tokenizer, jobs, progress)
    })?;
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    ui.written(|out| inspect::render(args.format.into(), &inspected, look, out))?;
    for file in inspected.files.iter().filter(|file| !file.error.is_empty()) {
        ui.complain(&format!("{}: {}", file.file, file.error));
    }
    let hint = "name logs, or directories of logs";
    let unread = inspected.files.iter().any(|file| !file.error.is_empty());
    if inspected.files.iter().all(|file| !file.error.is_empty()) {
        return Err(Failure::new("no file could be read: nothing was inspected", hint));
    }
    let worst = |severity: &str| {
        let mut remarks = inspected.files.iter().flat_map(|file| &file.remarks);
        remarks.any(|remark| remark.severity == severity)
    };
    if inspected.files.iter().all(|file| file.sessions.is_empty()) && (unread || worst("lost")) {
        return Err(Failure::new("no file holds a session: nothing was inspected", hint));
    }
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

/// Lists where agents keep their logs.
#[expect(clippy::disallowed_methods, reason = "where the user's agents keep logs is told by the environment")]
fn homes(args: &InspectArgs, ui: &Ui) -> Result<Exit, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let variable = |name: &str| std::env::var_os(name);
    let Homes { places, problems } = found_homes(Surroundings { variable: &variable, here: &here });
    let places: Vec<Place> = places
        .into_iter()
        .map(|home| Place {
            agent: home.agent.to_owned(),
            path: home.path.display().to_string(),
            files: home.files,
            bytes: home.bytes,
            newest: home.newest.and_then(minute).unwrap_or_default(),
        })
        .collect();
    if !places.is_empty() || args.format != InspectOutput::Table {
        let look = Look { width: ui.width(), color: ui.color(), saved: None };
        let page = report::homes::render(args.format.into(), &places, look)
            .map_err(|error| Failure::new(format!("cannot write the list: {error}"), ""))?;
        ui.product(&page)?;
    }
    for (path, cause) in &problems {
        ui.complain(&format!("{path}: {cause}"));
    }
    let hint = "name a directory of logs: compactor inspect DIR";
    match (places.is_empty(), problems.is_empty()) {
        (true, false) => Err(Failure::new("no place of logs could be read: nothing was listed", hint)),
        (true, true) if args.format == InspectOutput::Table => {
            Err(Failure::new("no agent keeps logs in its usual place here", hint))
        }
        (_, true) => Ok(Exit::Done),
        (false, false) => {
            ui.say("some places could not be read; the rest is above (exit code 3)");
            Ok(Exit::Partial)
        }
    }
}

/// A time to the minute, in UTC.
fn minute(milliseconds: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    Some(time.strftime("%Y-%m-%d %H:%M").to_string())
}
