//! `compactor cassettes`: which replies are sound, and which are used.

use super::args::{CassettesArgs, CassettesVerb};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::report::text::count;
use crate::results::files::used_cassettes;
use crate::summarize::cassette::{CassetteError, Cassettes, Inventory, remove};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl From<CassetteError> for Failure {
    fn from(error: CassetteError) -> Self {
        Self::new(error.to_string(), "")
    }
}

/// Runs the verb.
pub fn run(args: &CassettesArgs, ui: &Ui) -> Result<Exit, Failure> {
    match &args.what {
        CassettesVerb::Verify { dir } => verify(dir, ui),
        CassettesVerb::Prune { dir, used_by, dry_run } => prune(dir, used_by, *dry_run, ui),
    }
}

fn verify(dir: &Path, ui: &Ui) -> Result<Exit, Failure> {
    let found = inventory(dir)?;
    for error in &found.damaged {
        ui.complain(&error.to_string());
    }
    for path in &found.left {
        ui.complain(&format!("{}: was left by a run that was stopped; `prune` removes it", path.display()));
    }
    ui.product(&format!(
        "{} sound, {} damaged\n",
        count(found.sound.len() as u64, "cassette"),
        found.damaged.len()
    ))?;
    Ok(if found.damaged.is_empty() { Exit::Done } else { Exit::Partial })
}

fn prune(dir: &Path, used_by: &[PathBuf], dry: bool, ui: &Ui) -> Result<Exit, Failure> {
    let found = inventory(dir)?;
    let mut used: BTreeSet<String> = BTreeSet::new();
    for run in used_by {
        let names = used_cassettes(run)?;
        if names.is_empty() {
            let cause = format!("{}: the run used no cassettes", run.display());
            return Err(Failure::new(cause, "name runs of --cassettes; all would be removed else"));
        }
        used.extend(names);
    }
    let cassettes = Cassettes::new(dir);
    let unused: Vec<&String> = found.sound.iter().filter(|name| !used.contains(*name)).collect();
    for name in &unused {
        ui.product(&format!("{name}.json\n"))?;
        if !dry {
            cassettes.remove(name)?;
        }
    }
    for path in &found.left {
        ui.product(&format!("{}\n", path.file_name().unwrap_or_default().to_string_lossy()))?;
        if !dry {
            remove(path)?;
        }
    }
    // What cannot be read may be what somebody paid for: it stays, and is named.
    for error in &found.damaged {
        ui.complain(&error.to_string());
    }
    let gone = count((unused.len() + found.left.len()) as u64, "file");
    let verb = if dry { "would be removed" } else { "removed" };
    ui.say(&format!("{gone} {verb}, {} stay", found.sound.len() - unused.len() + found.damaged.len()));
    Ok(if found.damaged.is_empty() { Exit::Done } else { Exit::Partial })
}

fn inventory(dir: &Path) -> Result<Inventory, Failure> {
    let found = Cassettes::new(dir).inventory()?;
    if found == Inventory::default() {
        let cause = format!("{}: holds no cassette", dir.display());
        return Err(Failure::new(cause, "give the directory that runs had as --cassettes"));
    }
    Ok(found)
}
