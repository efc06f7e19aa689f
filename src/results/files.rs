//! A result directory on disk: written whole, file by file under a temporary name, and read back.
//!
//! Separate from the schema because it is the only part that touches the disk. `run.json` goes first when an older run
//! is replaced and comes last when the new one is written, so a directory with a `run.json` is complete. Bytes depend
//! on the rows alone: `\n` line ends, `.` decimals, at most 6 of them, empty fields for missing values. Text cells that
//! a spreadsheet would run as a formula get a leading `'`, which reading takes away again; control characters in them (raw
//! escapes from a log) are replaced for good.
#![expect(clippy::disallowed_methods, reason = "the boundary to the disk for result directories")]

use super::journal::JOURNAL;
use super::probes::RECORD;
use super::{
    AuditRow, ClassRow, CycleRow, EventRow, FactRow, Manifest, RunOutput, SCHEMA_VERSION, SessionRow,
    SpellRow,
};
use crate::aggregate::audit::AfterRow;
use crate::aggregate::curves::CurveRow;
use crate::aggregate::kept::KeptRow;
use crate::aggregate::{Aggregate, DifferenceRow, DistributionRow, SummaryRow};
use serde::Serialize;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// What was run on what.
pub const MANIFEST: &str = "run.json";
/// Cycle rows.
pub const CYCLES: &str = "cycles.csv";
/// Class rows.
pub const CLASSES: &str = "classes.csv";
/// Session rows.
pub const SESSIONS: &str = "sessions.csv";
/// Spell rows.
pub const SPELLS: &str = "spells.csv";
/// Curve rows.
pub const CURVES: &str = "curves.csv";
/// Summary rows.
pub const SUMMARY: &str = "summary.csv";
/// Distribution rows.
pub const DISTRIBUTIONS: &str = "distributions.csv";
/// Difference rows.
pub const DIFFERENCES: &str = "differences.csv";
/// Fact rows; only there with `--log-facts`.
pub const FACTS: &str = "facts.csv";
/// Kept rows.
pub const KEPT: &str = "kept.csv";
/// A row per recorded compaction; only there after an audit, like the next.
pub const AUDIT: &str = "audit.csv";
/// What agents did afterwards.
pub const AFTERWARDS: &str = "afterwards.csv";

/// Event rows; only there with `--events`.
pub const EVENTS: &str = "events.csv";

/// Combinations of settings and what came of them; written by `tune`, like the next two.
pub const TUNING: &str = "tuning.csv";
/// The same with the search and its verdict; it comes last.
pub const TUNING_RECORD: &str = "tuning.json";
/// The profile that is recommended.
pub const RECOMMENDED: &str = "recommended.toml";

/// The names that `tune` writes, with what each begins with.
const TUNED: [(&str, &str); 3] =
    [(TUNING, "combination,split,"), (TUNING_RECORD, "{"), (RECOMMENDED, RECOMMENDED_BEGINS)];

/// What a recommended profile begins with.
pub const RECOMMENDED_BEGINS: &str = "# Recommended by compactor tune";

const ALL: [&str; 15] = [
    JOURNAL,
    MANIFEST,
    CYCLES,
    CLASSES,
    SESSIONS,
    SPELLS,
    CURVES,
    SUMMARY,
    DISTRIBUTIONS,
    DIFFERENCES,
    FACTS,
    KEPT,
    AUDIT,
    AFTERWARDS,
    EVENTS,
];

/// A result directory that cannot be written or read: where, why, and what to do.
#[derive(Debug)]
pub struct FilesError {
    /// File or directory.
    pub path: PathBuf,
    /// 1-based line, where one is known.
    pub line: Option<u64>,
    /// Cause, one line.
    pub cause: String,
    /// What to do.
    pub hint: String,
    /// It was written by a newer version, and is to stay as it is.
    pub newer: bool,
    source: Option<io::Error>,
}

impl fmt::Display for FilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.cause)
    }
}

impl std::error::Error for FilesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

impl FilesError {
    pub(super) fn new(path: &Path, cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            cause: cause.into(),
            hint: hint.into(),
            newer: false,
            source: None,
        }
    }

    pub(super) fn io(path: &Path, doing: &str, error: io::Error) -> Self {
        let reads = ["read", "list"].iter().any(|verb| doing.starts_with(verb));
        let hint = match error.kind() {
            io::ErrorKind::NotFound if reads => "check the path",
            _ if reads => "check that you may read it and that it is a file of its kind",
            _ => "check that the path exists, that there is room and that you may write there",
        };
        let cause = format!("cannot {doing}: {error}");
        Self { source: Some(error), ..Self::new(path, cause, hint) }
    }

    /// Reading failed; where the file is missing, that has a cause and a cure of its own.
    pub(super) fn missing(path: &Path, error: io::Error, hint: &str) -> Self {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        let found = Self::io(path, "read the file", error);
        if is_missing { Self { hint: hint.to_owned(), ..found } } else { found }
    }

    /// A newer version wrote it.
    pub(super) fn newer(path: &Path, cause: impl Into<String>) -> Self {
        let hint = "use the version of compactor that wrote it, or a newer one";
        Self { newer: true, ..Self::new(path, cause, hint) }
    }

    pub(super) fn at(self, line: Option<u64>) -> Self {
        Self { line, ..self }
    }
}

/// Makes sure that results can go to `dir`: creates it, and refuses a file or a directory with other files in it. Worth
/// a call before a long run.
pub fn prepare(dir: &Path) -> Result<(), FilesError> {
    prepare_for(dir, &ALL, is_result)
}

/// The same for the results of `tune`.
pub fn prepare_tuning(dir: &Path) -> Result<(), FilesError> {
    prepare_for(dir, &TUNED.map(|(name, _)| name), |path, name| {
        let begins = TUNED.iter().find(|(own, _)| *own == name).map_or("", |(_, begins)| *begins);
        starts_with(path, begins)
    })
}

/// Writes the results of `tune` to `dir`, replacing earlier ones.
pub fn write_tuning(dir: &Path, table: &str, record: &str, profile: &str) -> Result<(), FilesError> {
    prepare_tuning(dir)?;
    remove(dir, TUNING_RECORD)?;
    for (name, text) in [(TUNING, table), (RECOMMENDED, profile), (TUNING_RECORD, record)] {
        write_file(dir, name, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

pub(super) fn prepare_for(
    dir: &Path,
    own: &[&str],
    is_own: fn(&Path, &str) -> bool,
) -> Result<(), FilesError> {
    let hint = "give a new or empty directory, or the directory of an earlier run";
    if dir.exists() && !dir.is_dir() {
        return Err(FilesError::new(dir, "is a file, not a directory", hint));
    }
    fs::create_dir_all(dir).map_err(|error| FilesError::io(dir, "create the directory", error))?;
    let entries = fs::read_dir(dir).map_err(|error| FilesError::io(dir, "list the directory", error))?;
    let mut foreign = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| FilesError::io(dir, "list the directory", error))?.file_name();
        let known = own.iter().find(|own| name == **own);
        let ours = known.map_or_else(
            || own.iter().any(|own| name == temporary_name(own).as_str()),
            |own| is_own(&dir.join(own), own),
        );
        if !ours {
            foreign.push(name.to_string_lossy().into_owned());
        }
    }
    foreign.sort();
    match foreign.as_slice() {
        [] => Ok(()),
        [first, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            let cause = format!("holds files that are not results of compactor: {first}{more}");
            Err(FilesError::new(dir, cause, hint))
        }
    }
}

/// Does a file with the name of a result begin like one? Nothing is lost with an empty one.
fn is_result(path: &Path, name: &str) -> bool {
    let first = match name {
        MANIFEST => "{".to_owned(),
        JOURNAL => "compactor-run-".to_owned(),
        CYCLES => begins::<CycleRow>(),
        CLASSES => begins::<ClassRow>(),
        SESSIONS => begins::<SessionRow>(),
        SPELLS => begins::<SpellRow>(),
        CURVES => begins::<CurveRow>(),
        SUMMARY => begins::<SummaryRow>(),
        DISTRIBUTIONS => begins::<DistributionRow>(),
        DIFFERENCES => begins::<DifferenceRow>(),
        AUDIT => begins::<AuditRow>(),
        KEPT => begins::<KeptRow>(),
        AFTERWARDS => begins::<AfterRow>(),
        EVENTS => begins::<EventRow>(),
        _ => begins::<FactRow>(),
    };
    starts_with(path, &first)
}

fn starts_with(path: &Path, first: &str) -> bool {
    let mut start = Vec::new();
    let read = open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    read.is_ok() && (start.is_empty() || start.starts_with(first.as_bytes()))
}

/// The first columns of a header, which no version changes.
fn begins<T: DeserializeOwned>() -> String {
    columns::<T>().get(..3).unwrap_or_default().join(",")
}

/// Writes a run to `dir`, replacing an earlier one. `facts.csv` is there only when there are fact rows, the files of an
/// audit only after one.
pub fn write_run(dir: &Path, output: &RunOutput, aggregate: &Aggregate) -> Result<(), FilesError> {
    prepare(dir)?;
    remove(dir, MANIFEST)?;
    for optional in [FACTS, AUDIT, AFTERWARDS, EVENTS] {
        remove(dir, optional)?;
    }
    write_file(dir, CYCLES, |out| write_csv(out, &output.cycles))?;
    write_file(dir, CLASSES, |out| write_csv(out, &output.classes))?;
    write_file(dir, SESSIONS, |out| write_csv(out, &output.sessions))?;
    write_file(dir, SPELLS, |out| write_csv(out, &output.spells))?;
    write_file(dir, CURVES, |out| write_csv(out, &aggregate.curves))?;
    write_file(dir, SUMMARY, |out| write_csv(out, &aggregate.summary))?;
    write_file(dir, KEPT, |out| write_csv(out, &aggregate.kept))?;
    write_file(dir, DISTRIBUTIONS, |out| write_csv(out, &aggregate.distributions))?;
    write_file(dir, DIFFERENCES, |out| write_csv(out, &aggregate.differences))?;
    if !output.audits.is_empty() {
        write_file(dir, AUDIT, |out| write_csv(out, &output.audits))?;
        write_file(dir, AFTERWARDS, |out| write_csv(out, &aggregate.afterwards))?;
    }
    if !output.facts.is_empty() {
        write_file(dir, FACTS, |out| write_csv(out, &output.facts))?;
    }
    if !output.events.is_empty() {
        write_file(dir, EVENTS, |out| write_csv(out, &output.events))?;
    }
    write_file(dir, MANIFEST, |out| {
        serde_json::to_writer_pretty(&mut *out, &output.manifest)?;
        out.write_all(b"\n")
    })
}

/// Makes a directory for files of any name; one that is there already is as good.
pub fn make_directory(dir: &Path) -> Result<(), FilesError> {
    let hint = "check the path and that you may write there, or give another directory";
    if dir.exists() && !dir.is_dir() {
        return Err(FilesError::new(dir, "is a file, not a directory", "give a directory"));
    }
    fs::create_dir_all(dir)
        .map_err(|error| FilesError::new(dir, format!("cannot create the directory: {error}"), hint))
}

/// The name of a file that may be written: one that is there already stays, unless `force` says that it may be replaced; a
/// directory always stays.
pub fn free(path: &Path, force: bool) -> Result<String, FilesError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name else {
        return Err(FilesError::new(path, "names no file", "give the name of a file"));
    };
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {
            return Err(FilesError::new(path, "is a directory", "give another name"));
        }
        Ok(_) if !force => {
            let hint = "give another --out, or --force to replace it";
            return Err(FilesError::new(path, "exists already", hint));
        }
        _ => {}
    }
    Ok(name)
}

/// Writes one file whole, under a temporary name first, if its name is [`free`].
pub fn place(path: &Path, bytes: &[u8], force: bool) -> Result<(), FilesError> {
    let name = free(path, force)?;
    let temporary = path.with_file_name(temporary_name(&name));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    written.map_err(|error| {
        // Best effort: the error that matters is the one that is reported.
        drop(fs::remove_file(&temporary));
        let hint = "check that the directory exists, that there is room and that you may write there";
        let cause = format!("cannot write the file: {error}");
        FilesError { source: Some(error), ..FilesError::new(path, cause, hint) }
    })
}

/// Writes a document, in place of an older one of its kind: one that begins with `mark`. Any other file stays, an empty one does not.
pub fn place_document(path: &Path, text: &str, mark: &str) -> Result<(), FilesError> {
    if let Ok(found) = fs::metadata(path) {
        if found.is_file() {
            let mut start = Vec::new();
            File::open(path)
                .and_then(|file| file.take(mark.len() as u64).read_to_end(&mut start))
                .map_err(|error| FilesError::io(path, "read the file that is there", error))?;
            if !start.is_empty() && start != mark.as_bytes() {
                let cause = "is there already and is no report of this kind; it stays as it is";
                return Err(FilesError::new(path, cause, "give another name, or remove the file"));
            }
        } else if !found.is_dir() {
            return Err(FilesError::new(
                path,
                "is no regular file",
                "give the name of a file, or - for stdout",
            ));
        }
    }
    place(path, text.as_bytes(), true)
}

/// Reads a run back. Refuses results of a newer schema; columns it does not know are ignored.
pub fn read_run(dir: &Path) -> Result<RunOutput, FilesError> {
    let manifest = read_manifest(&dir.join(MANIFEST))?;
    let (facts, audits, events) = (dir.join(FACTS), dir.join(AUDIT), dir.join(EVENTS));
    Ok(RunOutput {
        manifest,
        cycles: read_rows::<CycleRow>(&dir.join(CYCLES))?,
        classes: read_rows(&dir.join(CLASSES))?,
        sessions: read_rows(&dir.join(SESSIONS))?,
        spells: read_rows(&dir.join(SPELLS))?,
        audits: if audits.exists() { read_rows(&audits)? } else { Vec::new() },
        facts: if facts.exists() { read_rows(&facts)? } else { Vec::new() },
        events: if events.exists() { read_rows(&events)? } else { Vec::new() },
    })
}

/// The same, of rows that belong together and hold nothing that no run can have ([`super::sound`]).
pub fn read_sound(dir: &Path) -> Result<RunOutput, FilesError> {
    let run = read_run(dir)?;
    let rerun = "undo changes by hand, or write the results again with `compactor replay --out DIR`";
    match super::sound::fault(&run) {
        Some(cause) => {
            Err(FilesError::new(dir, format!("the results do not belong together: {cause}"), rerun))
        }
        None => Ok(run),
    }
}

/// Rows as CSV with a header, which is there even without rows.
pub fn write_csv<T: Serialize + DeserializeOwned>(out: &mut dyn Write, rows: &[T]) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(out);
    writer.write_record(columns::<T>())?;
    for row in rows {
        let Value::Object(fields) = serde_json::to_value(row)? else {
            return Err(io::Error::other("a row must be a struct"));
        };
        writer.write_record(fields.into_iter().map(|(_, value)| cell(value)))?;
    }
    writer.flush()
}

/// Rows of which the columns are known only when they are made, as CSV.
pub fn write_table(out: &mut dyn Write, columns: &[String], rows: &[Vec<Value>]) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(out);
    writer.write_record(columns.iter().map(|column| text_cell(column)))?;
    for row in rows {
        writer.write_record(row.iter().cloned().map(cell))?;
    }
    writer.flush()
}

/// A number as every result shows it: at most 6 decimals, no trailing zeros, no negative zero.
pub fn decimal(number: f64) -> String {
    let text = format!("{number:.6}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Column names of a row, in order: the names of its fields.
pub fn columns<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The deserializer only takes the field names and then stops with an error.
    drop(T::deserialize(FieldNames(&mut names)));
    names
}

/// A text for a cell of a CSV file, from wherever it comes: nothing in it drives a terminal or is run by a spreadsheet.
pub fn text_cell(text: &str) -> String {
    defuse(plain(text.to_owned()))
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => decimal(float),
            _ => number.to_string(),
        },
        Value::String(text) => defuse(plain(text)),
        nested @ (Value::Array(_) | Value::Object(_)) => nested.to_string(),
    }
}

/// Text without what could drive a terminal: control characters become U+FFFD, save the line ends and tabs that texts are made of.
fn plain(text: String) -> String {
    let drives = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if text.contains(drives) { text.replace(drives, "\u{fffd}") } else { text }
}

/// True for text that a spreadsheet would run, also behind the quotes that make it harmless.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

fn defuse(text: String) -> String {
    if is_formula(&text) { format!("'{text}") } else { text }
}

/// A text from a cell that [`text_cell`] made.
pub(super) fn restore(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) if is_formula(rest) => rest,
        _ => text,
    }
}

pub(super) fn temporary_name(name: &str) -> String {
    format!(".{name}.tmp")
}

fn remove(dir: &Path, name: &str) -> Result<(), FilesError> {
    let path = dir.join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FilesError::io(&path, "replace the file", error))
        }
        _ => Ok(()),
    }
}

pub(super) fn write_file(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FilesError> {
    let (path, temporary) = (dir.join(name), dir.join(temporary_name(name)));
    let written = File::create(&temporary).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&temporary, &path)
    });
    written.map_err(|error| {
        // Best effort: the error that matters is the one that is reported.
        drop(fs::remove_file(&temporary));
        FilesError::io(&path, "write the file", error)
    })
}

/// The manifest of a run.
pub(crate) fn read_manifest(path: &Path) -> Result<Manifest, FilesError> {
    let missing =
        "give the directory that `compactor replay --out DIR` wrote; an interrupted run has no run.json";
    read_head(path, missing, "write the results again with `compactor replay --out DIR`")
}

/// Names of the cassettes that the results in a directory came from, whichever verb wrote them.
///
/// # Errors
///
/// It holds no results, or damaged ones.
pub(crate) fn used_cassettes(dir: &Path) -> Result<BTreeSet<String>, FilesError> {
    fn collect(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::Array(names) if name == "cassettes" => {
                            into.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
                        }
                        member => collect(member, into),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
            _ => {}
        }
    }
    let listed = fs::read_dir(dir).map_err(|error| FilesError::io(dir, "list the directory", error))?;
    let (mut used, mut records) = (BTreeSet::new(), 0);
    for entry in listed {
        let path = entry.map_err(|error| FilesError::io(dir, "list the directory", error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !([MANIFEST, TUNING_RECORD, RECORD].contains(&&*name) || name.ends_with(COMPACTED)) {
            continue;
        }
        records += 1;
        let record: Value = serde_json::from_slice(&read_bytes(&path)?).map_err(|error| {
            FilesError::new(&path, format!("is no record of results: {error}"), "write the results again")
                .at(Some(error.line() as u64))
        })?;
        collect(&record, &mut used);
    }
    if records == 0 {
        let hint =
            "give directories that --out wrote, or those of questions; an interrupted run has no record";
        return Err(FilesError::new(dir, "holds no results", hint));
    }
    Ok(used)
}

/// How the names of reports of compacted transcripts end.
pub const COMPACTED: &str = ".report.json";

/// What was run on what. What to do where there is no such file, and where it is damaged.
pub(super) fn read_head(path: &Path, missing: &str, rerun: &str) -> Result<Manifest, FilesError> {
    let mut text = String::new();
    open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| FilesError::missing(path, error, missing))?;
    let bad_json = |error: &serde_json::Error| {
        FilesError::new(path, format!("is not the record of a run: {error}"), rerun)
            .at(Some(error.line() as u64))
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| bad_json(&error))?;
    let version = value.get("schema_version").and_then(Value::as_u64);
    match version {
        Some(version) if u64::from(SCHEMA_VERSION) < version => {
            let cause =
                format!("has schema version {version}; this program knows versions up to {SCHEMA_VERSION}");
            Err(FilesError::newer(path, cause))
        }
        Some(_) => serde_json::from_str(&text).map_err(|error| bad_json(&error)),
        None => Err(FilesError::new(path, "has no schema_version", rerun)),
    }
}

/// A text file that a user names; a pipe will do.
pub fn read_text(path: &Path) -> Result<String, FilesError> {
    let bytes = fs::read(path).map_err(|error| FilesError::io(path, "read the file", error))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to())
            .filter(|byte| **byte == b'\n')
            .count();
        FilesError::new(path, "is not UTF-8", "write it again as UTF-8").at(Some(line as u64 + 1))
    })
}

/// Does the text of a file hold all of this, wherever? One that is not there or empty loses nothing.
pub(super) fn holds_all(path: &Path, marks: &[&str]) -> bool {
    match open(path).and_then(|mut file| {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map(|_| bytes)
    }) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            text.is_empty() || marks.iter().all(|mark| text.contains(mark))
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Opens a file of a directory of results. Such files are regular ones: a pipe in the place of one would be waited for without end.
pub(super) fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() { File::open(path) } else { Err(io::Error::other("is no regular file")) }
}

/// Adds to the end of a file, which is made where there is none.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), FilesError> {
    let file = File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(bytes))
        .map_err(|error| FilesError::io(path, "write to the file", error))
}

/// The bytes of a file of a directory of results.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, FilesError> {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| FilesError::io(path, "read the file", error))?;
    Ok(bytes)
}

fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, FilesError> {
    let rerun = "undo changes by hand, or write the results again with `compactor replay --out DIR`";
    let bad = |cause: String, line: Option<u64>| FilesError::new(path, cause, rerun).at(line);
    let incomplete =
        "the directory is not complete: write the results again with `compactor replay --out DIR`";
    let file = open(path).map_err(|error| FilesError::missing(path, error, incomplete))?;
    let mut reader = csv::Reader::from_reader(file);
    let bad_csv = |error: &csv::Error| {
        let line = error.position().map(csv::Position::line);
        bad(format!("is not valid CSV: {}", csv_cause(error)), line)
    };
    let header = reader.headers().map_err(|error| bad_csv(&error))?.clone();
    if let Some(missing) = columns::<T>().iter().find(|name| !header.iter().any(|column| column == **name)) {
        return Err(bad(format!("has no column `{missing}`"), Some(1)));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| bad_csv(&error))?;
        let line = record.position().map(csv::Position::line);
        let fields: csv::StringRecord = record.iter().map(restore).collect();
        let row = fields.deserialize(Some(&header)).map_err(|error| {
            let column = match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => {
                    err.field().and_then(|field| header.get(field as usize))
                }
                _ => None,
            };
            let place = column.map(|column| format!("column `{column}`: ")).unwrap_or_default();
            bad(format!("{place}{}", csv_cause(&error)), line)
        })?;
        rows.push(row);
    }
    Ok(rows)
}

/// The cause without the position, which is reported apart.
fn csv_cause(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("a row has {len} fields, the header {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "a row is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

/// Takes the names of a struct's fields out of its derived `Deserialize`, so that a header needs no row and no list that
/// could drift from the struct.
struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = de::value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(de::Error::custom("field names taken"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("a row must be a struct"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
