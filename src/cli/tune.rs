//! `compactor tune`: arguments to a space of settings, the search, the files, the report, the exit code.

use super::args::TuneArgs;
use super::exit::{Exit, Failure};
use super::model::{LATER, Scribe, plan};
use super::replay::{is_file, profile};
use super::ui::Ui;
use super::work::{ended, problems, with_progress};
use crate::ingest::READS;
use crate::profile::Profile;
use crate::report::tune as report;
use crate::report::{Format, Look};
use crate::results::RunOutput;
use crate::results::files::{TUNING_RECORD, prepare_tuning, write_tuning};
use crate::summarize::Beside;
use crate::tune::grid::{Grid, GridError, PROFILE};
use crate::tune::record::Found;
use crate::tune::search::Search;
use crate::tune::space::{Base, Space};
use crate::tune::{TuneSettings, Tuning, tune};
use std::path::Path;

impl From<GridError> for Failure {
    fn from(error: GridError) -> Self {
        Self::new(error.cause, error.hint)
    }
}

/// Runs the verb.
pub fn run(args: &TuneArgs, ui: &Ui) -> Result<Exit, Failure> {
    let space = space(args)?;
    let profiles: Vec<&Profile> = space.profiles.iter().collect();
    let scribe = Scribe::of(&args.model, &profiles, ui)?;
    let settings = TuneSettings {
        objective: args.objective,
        max_tokens: args.max_tokens,
        held_out: args.held_out,
        search: args.search.into(),
        schedule: args.schedule.into(),
        tokenizer: args.work.tokenizer,
        jobs: scribe.threads(&args.model, args.work.threads()),
        writer: scribe.told(&args.model),
    };
    if let (Search::Halving, Some(_)) = (settings.search, settings.max_tokens) {
        let cause =
            "--max-tokens is held against all sessions, and --search halving drops settings on a few of them";
        return Err(Failure::new(cause, "use --search grid"));
    }
    if let Some(dir) = &args.out {
        prepare_tuning(dir)?;
    }
    let found = args.list.find(&args.paths, ui);
    if settings.search == Search::Halving && found.sources.iter().any(|source| source.path == Path::new("-"))
    {
        let cause = "--search halving reads logs more than once, which standard input does not allow";
        return Err(Failure::new(cause, "name files, or use --search grid"));
    }
    let programs = args.programs.programs();
    let writer = Beside { writer: scribe.summarizer(), programs: &programs };
    let mut tuning =
        with_progress(&found, ui, |progress| tune(&found, &space, &settings, &writer, progress))?;
    problems(&tuning.manifest, TUNING_RECORD, ui);
    if let Scribe::Dry(model, rules) = &scribe {
        ui.product(&plan(model, rules, LATER))?;
        return Ok(Exit::Done);
    }
    tuning.manifest.cassettes = scribe.cassettes(&args.model, Vec::new());
    scribe.report(ui);
    measured(&tuning, &settings)?;
    let found = Found { space: &space, settings: &settings, tuning: &tuning };
    let written = |error: std::io::Error| Failure::new(format!("cannot write the report: {error}"), "");
    if let Some(dir) = &args.out {
        let (table, record) = (report::csv(found).map_err(written)?, report::json(found).map_err(written)?);
        write_tuning(dir, &table, &record, &report::recommended(found))?;
    }
    let saved = args.out.as_ref().map(|dir| dir.display().to_string());
    let text = match args.format.into() {
        Format::Table => {
            report::table(found, Look { width: ui.width(), color: ui.color(), saved: saved.as_deref() })
        }
        Format::Csv => report::csv(found).map_err(written)?,
        Format::Json => report::json(found).map_err(written)?,
    };
    ui.product(&text)?;
    let ended = ended(&RunOutput { manifest: tuning.manifest, ..RunOutput::default() }, ui);
    Ok(if scribe.is_troubled() { Exit::Partial } else { ended })
}

/// The grid of the file and of the command line, on the profiles that it names.
fn space(args: &TuneArgs) -> Result<Space, Failure> {
    let mut grid = Grid::default();
    if let Some(path) = &args.grid {
        grid = Grid::parse(&path.display().to_string(), &read(path, "grid")?)?;
    }
    grid.set(&args.set)?;
    grid.limited(args.most())?;
    let by_hand = args.set.iter().filter_map(|it| it.split_once('=')).any(|(key, _)| key.trim() == PROFILE);
    // A grid that comes through a pipe lies nowhere.
    let origin = args.grid.as_deref().filter(|path| !by_hand && path.is_file());
    let named: Vec<String> = match grid.values(PROFILE) {
        Some(values) => values.iter().filter_map(|value| Some(beside(origin, value.as_str()?))).collect(),
        None => vec![args.profile.clone()],
    };
    let bases = named.iter().map(|name| base(name, grid.place(PROFILE))).collect::<Result<Vec<_>, _>>()?;
    Ok(Space::new(&grid, bases, usize::from(args.cycles))?)
}

/// The profile that a grid file names: a path begins where the file lies.
fn beside(grid: Option<&Path>, name: &str) -> String {
    let Some(directory) = grid.and_then(Path::parent).filter(|_| Profile::named(name).is_none()) else {
        return name.to_owned();
    };
    let path = directory.join(name);
    if is_file(&path) { path.to_string_lossy().into_owned() } else { name.to_owned() }
}

/// A profile as a table, after it was checked; `place` is that of the grid which names it.
fn base(name: &str, place: Option<&str>) -> Result<Base, Failure> {
    profile(name).map_err(|failure| match place {
        Some(place) => failure.at(place),
        None => failure,
    })?;
    if let Some(table) = Profile::table_of(name) {
        return Ok(Base { name: name.to_owned(), table, embedded: true });
    }
    let table = Profile::table_in(name, &read(Path::new(name), "profile")?)
        .map_err(|error| Failure::new(error.to_string(), ""))?;
    Ok(Base { name: name.to_owned(), table, embedded: false })
}

#[expect(clippy::disallowed_methods, reason = "the command line reads the files that a user names")]
fn read(path: &Path, what: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("{what} {}: {error}", path.display()), "check the path"))
}

/// Refuses to choose where nothing was measured to choose by.
fn measured(tuning: &Tuning, settings: &TuneSettings) -> Result<(), Failure> {
    let [dev, held_out] = tuning.sides;
    if dev.measured > 0 {
        return Ok(());
    }
    let objective = settings.objective.name();
    if tuning.manifest.sessions == 0 {
        return Err(Failure::new("no session could be read: nothing was measured", READS));
    }
    if held_out.measured > 0 {
        let cause = format!(
            "nothing to choose by: all {} sessions with a value of {objective} are held out",
            held_out.measured
        );
        return Err(Failure::new(cause, "give more logs, or a smaller --held-out"));
    }
    let cause = format!(
        "nothing was measured: under the present setting none of {} sessions has a value of {objective}",
        tuning.manifest.sessions
    );
    Err(Failure::new(
        cause,
        "give longer logs, or smaller windows in the grid, or none: they are searched for then",
    ))
}
