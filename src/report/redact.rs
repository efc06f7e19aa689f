//! Runs without what their logs say, for a report that leaves the house.
//!
//! Texts, paths, sessions, files, models, and profiles and directories of one's own become placeholders: `path-12.rs`, `session-3`.
//! A placeholder is a number in the order of the rows, and no hash. A hash of a path or a command, keyed with anything that the
//! report itself shows, is undone with a list of likely paths and commands; a number says nothing of the text. The same text has
//! the same placeholder all over a report, equal runs give equal bytes, and there is no key to keep. Placeholders of two
//! reports have nothing to do with each other.
//!
//! The rows are changed before anything is rendered, so that no view can show what another one hides. What stays: numbers,
//! places (message, line, cycle), classes, fates, embedded profiles, formats, file extensions that are common. Hashes go: whoever has the same
//! logs or settings could tell by them. Token counts stay, and who has a log can tell by them that it was among these.

use super::runs::Run;
use crate::ingest::Format;
use crate::profile::Profile;
use crate::results::{Name, RunOutput};
use crate::strategy::Strategy;
use std::collections::HashMap;

/// Extensions that tell nothing of whose file it is.
const EXTENSIONS: [&str; 44] = [
    "bash", "c", "cc", "cfg", "cpp", "cs", "css", "csv", "db", "go", "gz", "h", "hpp", "html", "ini", "java",
    "js", "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md", "mjs", "php", "png", "py", "rb", "rs",
    "sh", "sql", "svg", "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zip",
];

/// Ways to count tokens that everybody has.
const TOKENIZERS: [&str; 3] = ["o200k", "cl100k", "heuristic"];

/// Placeholders given so far.
#[derive(Debug, Default)]
pub struct Redactor {
    given: HashMap<(Kind, String), String>,
    next: HashMap<String, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Session,
    Source,
    Profile,
    Model,
    Label,
    Value,
    Other,
}

impl Redactor {
    /// Takes all text out of runs, in place.
    pub fn redact(runs: &mut [Run]) {
        let mut redactor = Self::default();
        for run in runs.iter_mut() {
            run.label = redactor.place(Kind::Label, "run", &run.label);
            redactor.output(&mut run.output);
            let pooled = &mut run.aggregate;
            pooled.summary.iter_mut().for_each(|row| redactor.profile(&mut row.profile));
            pooled.differences.iter_mut().for_each(|row| redactor.profile(&mut row.profile));
            pooled.curves.iter_mut().for_each(|row| redactor.profile(&mut row.profile));
            pooled.distributions.iter_mut().for_each(|row| redactor.profile(&mut row.profile));
            pooled.kept.iter_mut().for_each(|row| redactor.profile(&mut row.profile));
            pooled.afterwards.iter_mut().for_each(|row| redactor.profile(&mut row.profile));
        }
    }

    fn output(&mut self, output: &mut RunOutput) {
        for row in &mut output.sessions {
            self.session(&mut row.session);
            self.source(&mut row.source);
            self.profile(&mut row.profile);
            format(&mut row.format);
            self.named(Kind::Model, "model", &mut row.model);
            error(&mut row.error);
        }
        for row in &mut output.cycles {
            self.session(&mut row.session);
            self.source(&mut row.source);
            self.profile(&mut row.profile);
            format(&mut row.format);
            self.named(Kind::Other, "reason", &mut row.fallback_reason);
            self.summarizer(&mut row.summarizer);
            error(&mut row.error);
        }
        for row in &mut output.classes {
            self.session(&mut row.session);
            self.profile(&mut row.profile);
        }
        for row in &mut output.spells {
            self.session(&mut row.session);
            self.profile(&mut row.profile);
        }
        for row in &mut output.audits {
            self.session(&mut row.session);
            self.source(&mut row.source);
            format(&mut row.format);
            if !["auto", "manual"].contains(&row.trigger.as_str()) {
                row.trigger.clear();
            }
        }
        for row in &mut output.facts {
            self.session(&mut row.session);
            self.profile(&mut row.profile);
            row.value = self.value(&row.class, &row.value);
        }
        // What systems tell of their compactions is nowhere in a report.
        output.events.clear();
        let manifest = &mut output.manifest;
        for row in &mut manifest.worst_losses {
            self.session(&mut row.session);
            self.source(&mut row.source);
            self.profile(&mut row.profile);
            row.value = self.value(&row.class, &row.value);
        }
        for problem in &mut manifest.problems {
            self.source(&mut problem.source);
            problem.text.clear();
        }
        manifest.corpus_hash.clear();
        manifest.settings_hash.clear();
        let settings = &mut manifest.settings;
        if settings.profiles.iter().any(|name| !is_public(name)) {
            settings.profile_hash.clear();
        }
        settings.profiles.iter_mut().for_each(|name| self.profile(name));
        self.summarizer(&mut settings.summarizer);
        if let Some(writer) = &mut settings.writer {
            if !writer.model.is_empty() {
                self.summarizer(&mut writer.model);
            }
            writer.prompt_hash.clear();
        }
        manifest.cassettes.clear();
        if !TOKENIZERS.contains(&settings.tokenizer.as_str()) {
            "other".clone_into(&mut settings.tokenizer);
        }
    }

    fn session(&mut self, id: &mut impl Text) {
        self.named(Kind::Session, "session", id);
    }

    fn source<T: Text>(&mut self, path: &mut T) {
        let end = extension(path);
        let place = self.place(Kind::Source, "log", path);
        *path = T::from(place + &end);
    }

    fn profile(&mut self, name: &mut impl Text) {
        if !is_public(name) {
            self.named(Kind::Profile, "profile", name);
        }
    }

    fn summarizer(&mut self, name: &mut String) {
        if name != "extractive" {
            self.named(Kind::Other, "summarizer", name);
        }
    }

    /// A fact: paths keep a common extension, so that what kind of file was lost can still be seen.
    fn value(&mut self, class: &str, text: &str) -> String {
        if class.starts_with("file.") {
            return self.place(Kind::Value, "path", text) + &extension(text);
        }
        let known =
            ["command", "check", "todo", "error", "identifier", "value", "constraint", "decision", "request"];
        self.place(Kind::Value, if known.contains(&class) { class } else { "text" }, text)
    }

    fn named<T: Text>(&mut self, kind: Kind, noun: &str, text: &mut T) {
        if !text.is_empty() {
            *text = T::from(self.place(kind, noun, text));
        }
    }

    fn place(&mut self, kind: Kind, noun: &str, text: &str) -> String {
        if let Some(known) = self.given.get(&(kind, text.to_owned())) {
            return known.clone();
        }
        let n = self.next.entry(noun.to_owned()).or_default();
        *n += 1;
        let place = format!("{noun}-{n}");
        self.given.insert((kind, text.to_owned()), place.clone());
        place
    }
}

/// A text of a row, its own or shared.
trait Text: std::ops::Deref<Target = str> + From<String> {}

impl<T: std::ops::Deref<Target = str> + From<String>> Text for T {}

/// A profile that everybody has.
fn is_public(name: &str) -> bool {
    let embedded = Profile::names().any(|known| name.strip_suffix("+fixes").unwrap_or(name) == known);
    embedded || name == Strategy::Recorded.name() || is_format(name)
}

fn is_format(name: &str) -> bool {
    Format::ALL.iter().any(|known| known.name() == name)
}

/// A canonical log names the format it was made from, in its own words.
fn format(name: &mut Name) {
    if !name.is_empty() && !is_format(name) {
        *name = "other".into();
    }
}

/// That something failed is told, not in which words.
fn error(text: &mut String) {
    if !text.is_empty() {
        "failed".clone_into(text);
    }
}

/// `.rs`, where the extension of a path is a common one.
fn extension(path: &str) -> String {
    let end = path.rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default();
    if EXTENSIONS.contains(&end.as_str()) { format!(".{end}") } else { String::new() }
}

#[cfg(test)]
mod tests;
