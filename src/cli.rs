//! The command line: arguments in, library calls, text and an exit code out. Holds no logic of its own.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

pub mod args;
pub mod audit;
pub mod cassettes;
pub mod columns;
pub mod compact;
pub mod compare;
pub mod convert;
pub mod exit;
pub mod gate;
pub mod inspect;
pub mod model;
pub mod overflow;
pub mod probes;
pub mod profiles;
pub mod replay;
pub mod report;
pub mod schema;
pub mod show;
pub mod tune;
pub mod ui;
pub mod work;
pub mod write;

use args::{Cli, REPLAY_ONLY, Verb};
use exit::{Exit, Failure};
use ui::Ui;

/// Parses the process' arguments, runs the verb and gives the exit code.
pub fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let ui = Ui::new(cli.color, cli.quiet);
    let result = match &cli.verb {
        Verb::Replay(args) => replay::run(args, &ui),
        Verb::Report(args) => report::run(args, &ui),
        Verb::Show(args) => show::run(args, &ui),
        Verb::Audit(args) => audit::run(args, &ui),
        Verb::Inspect(args) => inspect::run(args, &ui),
        Verb::Overflow(args) => overflow::run(args, &ui),
        Verb::Profiles(args) => profiles::run(args, &ui),
        Verb::Tune(args) => tune::run(args, &ui),
        Verb::Cassettes(args) => cassettes::run(args, &ui),
        Verb::Probes(args) => probes::run(args, &ui),
        Verb::Compact(args) => compact::run(args, &ui),
        Verb::Convert(args) => convert::run(args, &ui),
        Verb::Compare(args) => compare::run(args, &ui),
        Verb::Gate(args) => gate::run(args, &ui),
        Verb::Columns(args) => columns::run(args, &ui),
        Verb::Schema(args) => schema::run(args, &ui),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            ui.failure(&failure);
            Exit::Failed.into()
        }
    }
}

/// The command line, with what only some values of an argument forbid.
fn parse() -> Result<Cli, clap::Error> {
    let given = Cli::command().try_get_matches()?;
    let cli = Cli::from_arg_matches(&given)?;
    if let (Verb::Show(args), Some((_, given))) = (&cli.verb, given.subcommand()) {
        let typed = |id: &&str| given.value_source(id) == Some(ValueSource::CommandLine);
        if let Some(mistake) = args.mistake(&REPLAY_ONLY.into_iter().filter(typed).collect::<Vec<_>>()) {
            return Err(Cli::command().error(ErrorKind::ArgumentConflict, mistake));
        }
    }
    Ok(cli)
}

/// Help and version go to stdout with success, mistakes to stderr with code 2.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe is no reason to complain about help.
    let _ = error.print();
    if error.use_stderr() { Exit::Failed.into() } else { Exit::Done.into() }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        Self { cause: error.to_string(), hint: String::new() }
    }
}
