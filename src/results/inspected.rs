//! What `inspect` tells of logs.

use super::spool::{Reader, Spool};
use schemars::JsonSchema;
use serde::ser::{self, Serialize, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize as Write};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Everything that was looked into.
#[derive(Debug, Clone, Default, Write, JsonSchema)]
pub struct Inspected {
    /// How tokens were counted.
    pub tokenizer: String,
    /// The files, in order of the inputs; behind them the inputs that could not be used.
    pub files: Vec<FileReport>,
}

/// One file, or one log that lies in several.
#[derive(Debug, Clone, Default, Write, JsonSchema)]
pub struct FileReport {
    /// Path as given.
    pub file: String,
    /// Why it could not be read; empty when it was.
    pub error: String,
    /// Format found; empty when no known one fits.
    pub format: String,
    /// What shows it.
    pub evidence: String,
    /// Size; those read, skipped and between records are together the size.
    pub bytes: u64,
    /// Bytes of records.
    pub bytes_read: u64,
    /// Bytes left out, each named in a remark.
    pub bytes_skipped: u64,
    /// Bytes between records.
    pub bytes_between: u64,
    /// JSON records.
    pub records: u64,
    /// What the file records, branches, copies and sub-agents included.
    pub recorded: Counts,
    /// Its sessions.
    #[schemars(with = "Vec<SessionReport>")]
    pub sessions: SessionList,
    /// What was noticed, by kind, the worst first.
    pub remarks: Vec<Remark>,
}

/// The sessions of a file, in order: written down, since there may be millions of them, and read one by one.
#[derive(Debug, Clone, Default)]
pub struct SessionList {
    spool: Arc<Spool>,
    stretches: Vec<Range<u64>>,
    count: u64,
}

/// Bytes in front of a session: how many follow, and where what replaces them stands, or 0.
const HEAD: usize = 12;

impl SessionList {
    /// None yet; those of all files may share a place.
    pub fn new(spool: Arc<Spool>) -> Self {
        Self { spool, ..Self::default() }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds some; where each of them stands.
    pub fn extend<'a>(
        &mut self,
        sessions: impl IntoIterator<Item = &'a SessionReport>,
    ) -> io::Result<Vec<u64>> {
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for session in sessions {
            places.push(bytes.len() as u64);
            bytes.extend(record(session)?);
        }
        let stretch = self.spool.append(&bytes)?;
        for place in &mut places {
            *place += stretch.start;
        }
        self.count += places.len() as u64;
        match self.stretches.last_mut().filter(|last| last.end == stretch.start) {
            Some(last) => last.end = stretch.end,
            None => self.stretches.push(stretch),
        }
        Ok(places)
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<SessionReport>> + '_ {
        self.stretches.iter().flat_map(move |stretch| {
            let mut reader = Reader::new(&self.spool, stretch.clone());
            std::iter::from_fn(move || (!reader.is_done()).then(|| next(&mut reader, &self.spool)))
        })
    }
}

impl Serialize for SessionList {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut list = out.serialize_seq(usize::try_from(self.count).ok())?;
        for session in self.iter() {
            list.serialize_element(&session.map_err(ser::Error::custom)?)?;
        }
        list.end()
    }
}

/// A session as it is written down.
fn record(session: &SessionReport) -> io::Result<Vec<u8>> {
    let mut bytes = postcard::to_extend(session, vec![0; HEAD]).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - HEAD).map_err(io::Error::other)?;
    if let Some(place) = bytes.first_chunk_mut() {
        *place = length.to_le_bytes();
    }
    Ok(bytes)
}

/// Reads one, or what replaces it.
fn next(reader: &mut Reader<'_>, spool: &Spool) -> io::Result<SessionReport> {
    let head = reader.take(HEAD)?;
    let length = head.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let moved = head.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let bytes = reader.take(length as usize)?;
    if moved > 0 {
        return at(spool, moved);
    }
    postcard::from_bytes(bytes).map_err(io::Error::other)
}

fn at(spool: &Spool, place: u64) -> io::Result<SessionReport> {
    let mut length = [0; 4];
    spool.read(place, &mut length)?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    spool.read(place + HEAD as u64, &mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// Changes a session that stands at this place.
pub fn change(spool: &Spool, place: u64, change: impl FnOnce(&mut SessionReport)) -> io::Result<()> {
    let mut session = at(spool, place)?;
    change(&mut session);
    let moved = spool.append(&record(&session)?)?.start;
    spool.overwrite(place + 4, &moved.to_le_bytes())
}

/// Messages, tool calls, compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Write, Deserialize, JsonSchema)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Compactions.
    pub compactions: u64,
}

/// Messages by who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Write, Deserialize, JsonSchema)]
pub struct Roles {
    /// System and developer instructions.
    pub system: u64,
    /// The user, or the harness in the user's place.
    pub user: u64,
    /// The model.
    pub assistant: u64,
    /// Results of tools.
    pub tool: u64,
}

impl Roles {
    /// All of them.
    pub fn total(self) -> u64 {
        self.system + self.user + self.assistant + self.tool
    }
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Write, Deserialize, JsonSchema)]
pub struct Reported {
    /// Replies that report them.
    pub replies: u64,
    /// The largest prompt.
    pub prompt_max: u64,
    /// All prompts.
    pub prompt: u64,
    /// All replies.
    pub output: u64,
}

/// Files by what became of them at the end of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Write, Deserialize, JsonSchema)]
pub struct FileStates {
    /// Changed, and there.
    pub modified: u64,
    /// Read and never changed.
    pub read: u64,
    /// Deleted.
    pub deleted: u64,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Default, Write, Deserialize, JsonSchema)]
pub struct SessionReport {
    /// Its id.
    pub id: String,
    /// `main` or `sidechain`.
    pub origin: String,
    /// The sub-agent of a sidechain.
    pub agent: String,
    /// Format it was first read from.
    pub format: String,
    /// Model of the last reply.
    pub model: String,
    /// Window that the log states, in tokens.
    pub context_window: Option<u64>,
    /// The session whose messages it begins with, where the log says so.
    pub continues: Option<String>,
    /// Requests of the user: turns.
    pub requests: u64,
    /// Messages of the active path.
    pub messages: Roles,
    /// Of these, what it only repeats of a session counted before it.
    pub copied: Counts,
    /// Tokens of what it repeats.
    pub copied_tokens: u64,
    /// Reply tokens, as reported, of what it repeats.
    pub copied_output: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Tool calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Images.
    pub images: u64,
    /// Blocks that are in the context and unreadable here.
    pub opaque: u64,
    /// Tokens counted.
    pub tokens: u64,
    /// Tokens as reported.
    pub reported: Reported,
    /// Files by state.
    pub files: FileStates,
    /// Compactions of the active path.
    pub compactions: u64,
    /// Requests that the provider refused.
    pub refusals: u64,
    /// It begins with a summary of something that is not in the log.
    pub starts_compacted: bool,
    /// The model's context held more than the log.
    pub starts_midway: bool,
}

/// One kind of diagnostic in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Write, Deserialize, JsonSchema)]
pub struct Remark {
    /// The kind.
    pub kind: String,
    /// `note`, `damage` or `lost`.
    pub severity: String,
    /// How many times.
    pub count: u64,
    /// Line of the first, 0 when it is about the whole file.
    pub line: u64,
    /// What the first one says.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_read_as_they_were_written_and_changed() {
        let session = |number: u64| SessionReport {
            id: format!("s{number}"),
            continues: number.is_multiple_of(3).then(|| "p".repeat(number as usize)),
            tools: [("Read".to_owned(), number)].into(),
            tokens: number << 40,
            ..SessionReport::default()
        };
        let spool = Arc::new(Spool::new(1000));
        let mut lists = [SessionList::new(spool.clone()), SessionList::new(spool.clone())];
        let mut expected = [Vec::new(), Vec::new()];
        let mut places = Vec::new();
        for number in 0..200 {
            let batch: Vec<SessionReport> = (0..number % 5).map(|more| session(number * 10 + more)).collect();
            let list = usize::from(number % 7 < 3);
            places.extend(lists[list].extend(&batch).expect("room").into_iter().zip(batch.clone()));
            expected[list].extend(batch);
        }
        for (place, session) in places.iter().step_by(4) {
            change(&spool, *place, |it| it.copied_tokens = 7).expect("room");
            let all = expected.iter_mut().flatten();
            all.filter(|it| it.id == session.id).for_each(|it| it.copied_tokens = 7);
        }
        for (list, expected) in lists.iter().zip(expected) {
            let read: Vec<SessionReport> = list.iter().map(|it| it.expect("a session")).collect();
            assert_eq!(read, expected);
            assert_eq!(list.len(), expected.len() as u64);
            assert_eq!(
                serde_json::to_value(list).expect("a list"),
                serde_json::to_value(expected).expect("a list")
            );
        }
    }
}
