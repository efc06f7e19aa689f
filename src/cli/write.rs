//! What the verbs that write transcripts share: reading logs one by one, files that must not be lost, how it all ended.

use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::diagnostic::{Diagnostic, Severity};
use crate::discover::{Discovered, Log, Source, Unread, read_log};
use crate::results::files::{free, place};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Names what of the log is damaged or lost: the first of it, and how much more there is.
pub fn problems(diagnostics: &[Diagnostic], label: &str, ui: &Ui) {
    let mut bad = diagnostics.iter().filter(|it| it.severity != Severity::Note);
    if let Some(first) = bad.next() {
        let place = if first.line == 0 { label.to_owned() } else { format!("{label}:{}", first.line) };
        ui.complain(&format!("{place}: {}", first.text));
    }
    let more = bad.count();
    if more > 0 {
        ui.complain(&format!("  and {more} more of this file"));
    }
}

/// What was written and what was not, so far.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Sessions that were written.
    pub done: usize,
    /// Files and sessions that were not.
    pub failed: usize,
    /// What the first one said to do about it.
    hint: String,
    /// Names that were given to a file, with the log it came from.
    names: HashMap<PathBuf, String>,
    /// The logs themselves, which nothing may replace.
    sources: Vec<PathBuf>,
}

impl Ledger {
    /// Names every input that could not be found.
    pub fn new(found: &Discovered, ui: &Ui) -> Self {
        let files = found.sources.iter().flat_map(|source| &source.files);
        let sources = files.filter_map(|file| file.path.canonicalize().ok()).collect();
        let mut ledger = Self { sources, ..Self::default() };
        for (path, cause) in &found.problems {
            ledger.fail(&format!("{path}: {cause}"), "", ui);
        }
        ledger
    }

    /// Something was not written.
    pub fn fail(&mut self, cause: &str, hint: &str, ui: &Ui) {
        self.failed += 1;
        ui.complain(cause);
        if hint.is_empty() {
            return;
        }
        if self.hint != hint {
            ui.complain(&format!("  {hint}"));
        }
        hint.clone_into(&mut self.hint);
    }

    /// Reads a log; `None` when there is no session in it, which is a failure unless it is a result of our own.
    pub fn read(&mut self, source: &Source, ui: &Ui) -> Option<Log> {
        let label = &source.label;
        let log = match read_log(source) {
            Ok(log) => log,
            Err(Unread::Unreadable(cause)) => {
                self.fail(&format!("{label}: {cause}"), "", ui);
                return None;
            }
            Err(Unread::Failed) => {
                self.fail(&format!("{label}: the reader failed on this file"), "please report it", ui);
                return None;
            }
        };
        problems(&log.ingested.diagnostics, label, ui);
        let lost = log.ingested.diagnostics.iter().any(|it| it.severity == Severity::Lost);
        self.failed += usize::from(lost);
        (!log.ingested.sessions.is_empty()).then_some(log)
    }

    /// Writes files that belong together and came from a log: all of them or, where the name of one is taken, none, which
    /// is said then. False when not all of them were written.
    pub fn write(&mut self, files: &[(&Path, &[u8])], label: &str, force: bool, ui: &Ui) -> bool {
        let refused = files.iter().find_map(|(path, _)| self.refusal(path, label, force));
        if let Some((cause, hint)) = refused {
            self.fail(&cause, &hint, ui);
            return false;
        }
        files.iter().all(|(path, bytes)| match place(path, bytes, force) {
            Ok(()) => {
                self.names.insert((*path).to_owned(), label.to_owned());
                true
            }
            Err(error) => {
                self.fail(&error.to_string(), &error.hint, ui);
                false
            }
        })
    }

    /// Why a file may not be written, and what to do.
    fn refusal(&self, path: &Path, label: &str, force: bool) -> Option<(String, String)> {
        if let Some(first) = self.names.get(path) {
            let cause = format!("{label}: {} was written for {first} already", path.display());
            return Some((cause, "write the logs to different directories".to_owned()));
        }
        if path.canonicalize().is_ok_and(|path| self.sources.contains(&path)) {
            let cause = format!("{}: is a log that is read here; it stays as it is", path.display());
            return Some((cause, "give another --out".to_owned()));
        }
        let error = free(path, force).err()?;
        Some((error.to_string(), error.hint))
    }

    /// 2 when nothing was written, 3 when something was not, else 0.
    pub fn end(&self, nothing: &str, ui: &Ui) -> Result<Exit, Failure> {
        if self.done == 0 {
            return Err(Failure::new(nothing, ""));
        }
        if self.failed > 0 {
            ui.say("some inputs could not be written; the rest is (exit code 3)");
            return Ok(Exit::Partial);
        }
        Ok(Exit::Done)
    }
}
