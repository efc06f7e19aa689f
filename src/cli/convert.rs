//! `compactor convert`: logs of any format as canonical JSONL.

use super::args::ConvertArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use super::write::Ledger;
use crate::discover::{Discovered, Log};
use crate::export::canonical::document;
use crate::export::output_names;
use crate::report::text::{count, escape_json};
use crate::results::files::make_directory;
use std::path::{Path, PathBuf};

/// Runs the verb.
pub fn run(args: &ConvertArgs, ui: &Ui) -> Result<Exit, Failure> {
    let found = args.list.find(&args.paths, ui);
    let goal = Goal::of(args, &found)?;
    let mut ledger = Ledger::new(&found, ui);
    let labels: Vec<&str> = found.sources.iter().map(|source| source.label.as_str()).collect();
    for (source, name) in found.sources.iter().zip(output_names(&labels)) {
        let Some(Log { ingested, .. }) = ledger.read(source, ui) else { continue };
        // Escaped, for a terminal may read along; the document stays the same.
        let text = escape_json(document(&ingested.sessions));
        let path = match &goal {
            Goal::Stdout => {
                ui.product(&text)?;
                ledger.done += ingested.sessions.len();
                continue;
            }
            Goal::File(path) => path.clone(),
            Goal::Directory(dir) => dir.join(format!("{}.canonical.jsonl", name.stem)),
        };
        if ledger.write(&[(path.as_path(), text.as_bytes())], &source.label, args.force, ui) {
            ledger.done += ingested.sessions.len();
            let sessions = count(ingested.sessions.len() as u64, "session");
            ui.say(&format!("{}: {sessions} of {}", path.display(), source.label));
        }
    }
    ledger.end("nothing was written", ui)
}

/// Where it goes.
enum Goal {
    Stdout,
    File(PathBuf),
    Directory(PathBuf),
}

impl Goal {
    fn of(args: &ConvertArgs, found: &Discovered) -> Result<Self, Failure> {
        let several = found.sources.len() > 1;
        let Some(out) = &args.out else {
            if several {
                let cause = format!("{} files do not go to stdout", found.sources.len());
                return Err(Failure::new(cause, "give a directory with --out"));
            }
            return Ok(Self::Stdout);
        };
        let ends_open = out.to_string_lossy().ends_with(['/', '\\']);
        if !several && !ends_open && !out.is_dir() && !args.paths.iter().any(|path| Path::is_dir(path)) {
            return Ok(Self::File(out.clone()));
        }
        make_directory(out)?;
        Ok(Self::Directory(out.clone()))
    }
}
