//! Questions on disk: prompts for any client, the key that no client needs, answers, and what was run.
//!
//! Lines of JSON. A prompt is named by a hash of its text, so equal prompts are one line, and an answer stays good for every key
//! that names its prompt.
#![expect(clippy::disallowed_methods, reason = "the boundary to the disk for questions and answers")]

use super::Manifest;
use super::files::{FilesError, open, prepare_for, temporary_name, write_file};
use super::growing::Growing;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Prompts, a line each.
pub const PROMPTS: &str = "probes.jsonl";
/// What is right, a line for each question and strategy.
pub const KEY: &str = "key.jsonl";
/// What was replayed and asked.
pub const RECORD: &str = "probes.json";
/// Answers, a line each.
pub const ANSWERS: &str = "answers.jsonl";

/// Version of the lines; grows when a field changes its meaning or goes.
pub const PROBES_VERSION: u32 = 1;

/// What is put to a model: a line of `probes.jsonl`. One question, nothing to be known beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prompted {
    /// Its name: 32 hexadecimal digits of a hash of both texts.
    pub id: String,
    /// System prompt.
    pub system: String,
    /// Message.
    pub user: String,
}

/// What is right: a line of `key.jsonl`, for each question and strategy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Keyed {
    /// The prompt with the context that the compaction left.
    pub id: String,
    /// The same question with the whole conversation up to the compaction.
    pub control: String,
    /// The same question with no conversation.
    pub blind: String,
    /// Session id.
    pub session: String,
    /// Log.
    pub source: String,
    /// Profile.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// Window in tokens.
    pub window: u64,
    /// Cycle, from 1.
    pub cycle: u64,
    /// `recall`, `artifact`, `decision` or `continuation`.
    pub kind: String,
    /// Class of the fact.
    pub class: String,
    /// The fact.
    pub fact: String,
    /// Line of the log that brought it.
    pub birth_line: u64,
    /// What is asked.
    pub question: String,
    /// The options, `A` first.
    pub options: Vec<String>,
    /// Letter of the right one.
    pub want: String,
    /// Letters of what was true before and is no longer.
    pub stale: Vec<String>,
    /// Letter of the option that the conversation does not tell.
    pub untold: String,
    /// Where the fact stands in the context that the compaction left.
    pub location: String,
    /// How it stands in the generated text.
    pub tier: String,
    /// It stands there, as the scores count it.
    pub present: bool,
    /// The work after the cycle needs it.
    pub needed: bool,
}

/// A line of `answers.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// The prompt.
    pub id: String,
    /// The reply as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Facts of a class about which no closed question can be put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unasked {
    /// The class.
    pub class: String,
    /// How many were to be asked about.
    pub facts: u64,
}

/// How many of what was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Questions, whatever contexts they are asked with.
    pub questions: u64,
    /// Prompts, each once.
    pub prompts: u64,
    /// Lines of the key.
    pub keys: u64,
    /// Tokens of all prompts.
    pub tokens: u64,
    /// Tokens of the longest.
    pub longest: u64,
    /// Prompts that are longer than `--longest` and were left out: their names in the key are empty.
    pub left_out: u64,
    /// Facts that were to be asked about and about which no closed question can be put.
    pub unasked: Vec<Unasked>,
}

/// `probes.json`: it comes last, so that a directory with one is complete.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProbesRecord {
    /// See [`PROBES_VERSION`].
    pub probes_version: u32,
    /// Start of everything chosen at random.
    pub seed: u64,
    /// `last`, `all`, or numbers of cycles.
    pub cycles: String,
    /// Most questions for each cycle of a session, profile and window.
    pub questions_each: u64,
    /// How much of everything.
    #[serde(flatten)]
    pub counts: Counts,
    /// Names of the cassettes that hold answers of models; missing where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cassettes: Vec<String>,
    /// What was replayed.
    pub run: Manifest,
}

/// Makes sure that questions can go to `dir`.
///
/// # Errors
///
/// It is a file, or holds files that are none of these.
pub fn prepare(dir: &Path) -> Result<(), FilesError> {
    prepare_for(dir, &[PROMPTS, KEY, RECORD, ANSWERS], |path, name| {
        let Ok(file) = open(path) else { return false };
        let mut reader = BufReader::new(file);
        if name == RECORD {
            return serde_json::from_reader::<_, ProbesRecord>(reader).is_ok();
        }
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line).is_err() || line.is_empty() {
            return line.is_empty();
        }
        match name {
            PROMPTS => serde_json::from_slice::<Prompted>(&line).is_ok(),
            KEY => serde_json::from_slice::<Keyed>(&line).is_ok(),
            _ => serde_json::from_slice::<Answered>(&line).is_ok(),
        }
    })
}

/// Writes prompts and key, which `write` makes, and then the record that it gives; answers that are there stay.
///
/// # Errors
///
/// They cannot be written.
pub fn write(
    dir: &Path,
    write: impl FnOnce(&mut dyn Write, &mut dyn Write) -> io::Result<ProbesRecord>,
) -> Result<ProbesRecord, FilesError> {
    prepare(dir)?;
    let temporary = [PROMPTS, KEY].map(|name| dir.join(temporary_name(name)));
    let [prompts, key] = &temporary;
    let written = || {
        let (mut one, mut two) = (BufWriter::new(File::create(prompts)?), BufWriter::new(File::create(key)?));
        let written = write(&mut one, &mut two)?;
        for out in [one, two] {
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        }
        // From here on there is no whole directory until the record is there.
        match fs::remove_file(dir.join(RECORD)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(prompts, dir.join(PROMPTS))?;
        fs::rename(key, dir.join(KEY))?;
        Ok(written)
    };
    let made: ProbesRecord = written().map_err(|error| {
        // Best effort: the error that matters is the one that is reported.
        for path in &temporary {
            drop(fs::remove_file(path));
        }
        FilesError::io(dir, "write the questions", error)
    })?;
    write_record(dir, &made)?;
    Ok(made)
}

/// Writes the record anew.
///
/// # Errors
///
/// It cannot be written.
pub fn write_record(dir: &Path, record: &ProbesRecord) -> Result<(), FilesError> {
    write_file(dir, RECORD, |out| {
        serde_json::to_writer_pretty(&mut *out, record)?;
        out.write_all(b"\n")
    })
}

/// What to do where there are no questions.
const EMIT: &str = "give the directory that `compactor probes emit --out DIR` wrote";

/// Reads the record of a directory.
///
/// # Errors
///
/// There is none, it is damaged, or a newer version wrote it.
pub fn read_record(dir: &Path) -> Result<ProbesRecord, FilesError> {
    let path = dir.join(RECORD);
    let mut bytes = Vec::new();
    open(&path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| FilesError::missing(&path, error, EMIT))?;
    let version = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
    let version = version.as_ref().and_then(|it| it.get("probes_version")?.as_u64());
    if version.is_some_and(|version| version > u64::from(PROBES_VERSION)) {
        return Err(FilesError::newer(&path, "was written by a newer version of compactor"));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| FilesError::new(&path, format!("is no record of questions: {error}"), EMIT))
}

/// Lines of one of our own files, all of which have to be whole.
fn read_all<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, FilesError> {
    let file = open(path).map_err(|error| FilesError::missing(path, error, EMIT))?;
    let mut out = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line =
            line.map_err(|error| FilesError::io(path, "read the file", error).at(Some(at as u64 + 1)))?;
        let value = serde_json::from_str(&line).map_err(|error| {
            let hint = "write the questions again with `compactor probes emit`; answers stay good";
            FilesError::new(path, format!("the line is damaged: {error}"), hint).at(Some(at as u64 + 1))
        })?;
        out.push(value);
    }
    Ok(out)
}

/// Reads the prompts of a directory.
///
/// # Errors
///
/// They are not there, or damaged.
pub fn read_prompts(dir: &Path) -> Result<Vec<Prompted>, FilesError> {
    read_all(&dir.join(PROMPTS))
}

/// Reads the key of a directory.
///
/// # Errors
///
/// It is not there, or damaged.
pub fn read_key(dir: &Path) -> Result<Vec<Keyed>, FilesError> {
    read_all(&dir.join(KEY))
}

/// What a file of answers holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerFile {
    /// The answers, in order.
    pub lines: Vec<Answered>,
    /// Lines that are none, from 1, and why.
    pub damaged: Vec<(u64, String)>,
    /// The last line is no answer and not ended, as when somebody was stopped while it was written: its length in bytes.
    pub torn: Option<usize>,
    /// The last line has its end, or there is none.
    pub ended: bool,
}

/// Reads the answers of a directory.
///
/// # Errors
///
/// There are none, or they cannot be read.
pub fn read_own_answers(dir: &Path) -> Result<AnswerFile, FilesError> {
    let path = dir.join(ANSWERS);
    if path.exists() {
        open(&path).map_err(|error| FilesError::io(&path, "read the file", error))?;
    }
    read_answers(&path)
}

/// Reads answers from anywhere, a pipe will do; lines that are damaged are set aside, blank ones passed over.
///
/// # Errors
///
/// The file cannot be read.
pub fn read_answers(path: &Path) -> Result<AnswerFile, FilesError> {
    let hint = "write one with `compactor probes run DIR`, or a line {\"id\": ..., \"answer\": ...} for each prompt by any client";
    let bytes = fs::read(path).map_err(|error| FilesError::missing(path, error, hint))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut out =
        AnswerFile { ended: bytes.last().is_none_or(|byte| *byte == b'\n'), ..AnswerFile::default() };
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((at, raw)) = lines.next() {
        let line = raw.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let is_last = lines.peek().is_none();
        match serde_json::from_slice::<Answered>(line) {
            Ok(answer) => out.lines.push(answer),
            Err(_) if is_last => out.torn = Some(raw.len()),
            Err(error) => out.damaged.push((at as u64 + 1, error.to_string())),
        }
    }
    Ok(out)
}

/// The answers of a directory, as they come.
#[derive(Debug)]
pub struct AnswerLog {
    path: PathBuf,
    written: Mutex<Growing>,
    /// Those that are there already.
    known: FxHashMap<String, Answered>,
}

impl AnswerLog {
    /// Goes on with the answers of a directory, or begins.
    ///
    /// # Errors
    ///
    /// They cannot be read or written, are damaged, or somebody else is writing them.
    pub fn open(dir: &Path) -> Result<Self, FilesError> {
        let path = dir.join(ANSWERS);
        if path.exists() {
            // A pipe would be waited for.
            open(&path).map_err(|error| FilesError::io(&path, "read the file", error))?;
        }
        let failed = |error| FilesError::io(&path, "write the file", error);
        let busy = ("answers are being written there already", "wait for the other run to end");
        let mut written = Growing::open(&path, busy)?;
        let found = read_answers(&path)?;
        if let Some((line, cause)) = found.damaged.first() {
            let hint = "mend or remove the line; `compactor probes score` passes over it";
            return Err(
                FilesError::new(&path, format!("the line is no answer: {cause}"), hint).at(Some(*line))
            );
        }
        let mut known: FxHashMap<String, Answered> = FxHashMap::default();
        for line in found.lines {
            keep(&mut known, line);
        }
        written.cut(written.len() - found.torn.unwrap_or(0) as u64).map_err(failed)?;
        // Clients may leave out the last line end.
        if !found.ended && found.torn.is_none() {
            written.add(b"\n").map_err(failed)?;
        }
        Ok(Self { path, written: Mutex::new(written), known })
    }

    /// The answer that is there already; what failed is none.
    pub fn answer(&self, id: &str) -> Option<&str> {
        self.known.get(id)?.answer.as_deref()
    }

    /// Names of those who answered, each once, sorted.
    pub fn models(&self) -> Vec<&str> {
        let answered = self.known.values().filter(|line| line.answer.is_some());
        let mut names: Vec<&str> = answered.filter_map(|line| line.model.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Adds an answer.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn add(&self, answer: &Answered) -> Result<(), FilesError> {
        let line = line(answer);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.add(&line).map_err(|error| FilesError::io(&self.path, "write the file", error))
    }

    /// All answers, old and new, in the order of the prompts, those to other prompts behind them: whoever answered first or last
    /// leaves no trace. The file is replaced as a whole; gives those to the prompts.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub fn finish(mut self, new: Vec<Answered>, prompts: &[Prompted]) -> Result<Vec<Answered>, FilesError> {
        for answer in new {
            self.known.insert(answer.id.clone(), answer);
        }
        let mut all: Vec<Answered> =
            prompts.iter().filter_map(|prompt| self.known.remove(&prompt.id)).collect();
        let mut others: Vec<Answered> = self.known.drain().map(|(_, answer)| answer).collect();
        others.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let asked = all.len();
        all.extend(others);
        let bytes: Vec<u8> = all.iter().flat_map(line).collect();
        super::files::place(&self.path, &bytes, true)?;
        all.truncate(asked);
        Ok(all)
    }
}

/// Takes up a line: the last answer counts, and an error takes none away.
fn keep(known: &mut FxHashMap<String, Answered>, line: Answered) {
    if line.answer.is_some() || known.get(&line.id).is_none_or(|known| known.answer.is_none()) {
        known.insert(line.id.clone(), line);
    }
}

/// An answer as it is written.
fn line(answer: &Answered) -> Vec<u8> {
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    line
}
