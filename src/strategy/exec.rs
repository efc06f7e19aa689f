//! The user's own compactor, in any language: a program that reads requests and writes replies, a JSON line each.
//!
//! What is asked and what may come back stands in the README. A program runs as long as the run does, one for each thread that
//! needs one at a time; whatever it does, it costs the session that asked it, and no other.

use crate::transcript::{Message, Outcome, Part, Role};
use arcstr::ArcStr;
use process::Process;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

mod process;
#[cfg(test)]
mod tests;

/// In front of a command where a strategy is named.
pub const EXEC: &str = "exec:";

/// Version of what is asked.
const PROTOCOL: u32 = 1;

/// The programs of a run.
#[derive(Debug)]
pub struct Programs {
    timeout: Duration,
    /// Those that wait for a request, by their commands.
    idle: Mutex<FxHashMap<String, Vec<Process>>>,
    next: AtomicU64,
}

/// One compaction, as a program is asked for it.
#[derive(Debug, Serialize)]
pub struct Ask<'a> {
    /// Id of the session.
    pub session: &'a str,
    /// Name of the policy.
    pub profile: &'a str,
    /// The window in tokens.
    pub window: u64,
    /// Tokens that everything generated may have.
    pub budget: u64,
    /// How they are counted.
    pub tokenizer: &'a str,
    /// The summary that stands in the context, without what the policy puts around it.
    pub previous: Option<&'a str>,
    /// First message of the turn that is cut in two, by its index.
    pub turn_start: Option<usize>,
    /// What leaves the context.
    pub messages: Vec<Told<'a>>,
    /// Files after this compaction.
    pub files: Files<'a>,
}

/// Lists of files, least recently touched first.
#[derive(Debug, Serialize)]
pub struct Files<'a> {
    /// Read and never modified.
    pub read: &'a [ArcStr],
    /// Written, edited, created.
    pub modified: &'a [ArcStr],
    /// Deleted or renamed away.
    pub deleted: &'a [ArcStr],
}

/// A message.
#[derive(Debug, Serialize)]
pub struct Told<'a> {
    /// Its number in the session; none for a text that the program wrote earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Its role.
    pub role: &'a str,
    /// Its text.
    pub content: String,
    /// Reasoning.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Its calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call<'a>>,
    /// Its results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Answered<'a>>,
}

/// A call.
#[derive(Debug, Serialize)]
pub struct Call<'a> {
    /// Its id.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// Arguments as they stand in the log.
    pub arguments: &'a str,
}

/// A result.
#[derive(Debug, Serialize)]
pub struct Answered<'a> {
    /// Id of its call.
    pub call_id: &'a str,
    /// Its text.
    pub content: &'a str,
    /// It is known to have failed.
    pub failed: bool,
}

impl<'a> Told<'a> {
    /// A message of the session.
    pub fn of(index: usize, message: &'a Message) -> Self {
        let mut told = Self {
            index: Some(index),
            role: message.role.name(),
            content: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
        };
        let join = |to: &mut String, text: &str| {
            if !to.is_empty() {
                to.push('\n');
            }
            to.push_str(text);
        };
        for part in &message.parts {
            match part {
                Part::Text(text) => join(&mut told.content, &text.text),
                Part::Thinking(text) => join(&mut told.thinking, text),
                Part::Call(call) => {
                    told.calls.push(Call { id: &call.id, name: &call.name, arguments: &call.arguments });
                }
                Part::Result(result) => told.results.push(Answered {
                    call_id: &result.call_id,
                    content: &result.text,
                    failed: result.outcome == Outcome::Failed,
                }),
                Part::Image { .. } | Part::Opaque { .. } => {}
            }
        }
        told
    }

    /// A text that was generated earlier.
    pub fn text(role: Role, content: &str) -> Self {
        Self {
            index: None,
            role: role.name(),
            content: content.to_owned(),
            thinking: String::new(),
            calls: Vec::new(),
            results: Vec::new(),
        }
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A summary takes the place of what leaves.
    Summary(String),
    /// These messages do.
    Messages(Vec<Item>),
    /// This compaction is not to happen, for this reason.
    Cancel(String),
}

/// A message of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// One of the session stays as it is.
    Kept(usize),
    /// A text.
    Text(Role, String),
}

/// A reply as it stands on a line.
#[derive(Deserialize)]
struct Line {
    id: Value,
    summary: Option<String>,
    messages: Option<Vec<LineItem>>,
    #[serde(default)]
    cancel: bool,
    reason: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct LineItem {
    index: Option<usize>,
    role: Option<String>,
    content: Option<String>,
}

impl Programs {
    /// No program yet; each has so long for a reply.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, idle: Mutex::default(), next: AtomicU64::new(1) }
    }

    /// Asks the program of a command. Where it fails it is ended, and the next request gets a new one.
    ///
    /// # Errors
    ///
    /// What it did wrong, with the last lines that it wrote on stderr.
    pub fn ask(&self, command: &str, ask: &Ask<'_>) -> Result<Answer, String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let line = line(id, ask)?;
        let idle = match self.idle.lock() {
            Ok(mut idle) => idle.get_mut(command).and_then(Vec::pop),
            Err(_) => None,
        };
        let mut program = match idle {
            Some(program) => program,
            None => Process::start(command)?,
        };
        match program.exchange(line, self.timeout).and_then(|reply| read(&reply, id, ask)) {
            Ok(answer) => {
                if let Ok(mut idle) = self.idle.lock() {
                    idle.entry(command.to_owned()).or_default().push(program);
                }
                Ok(answer)
            }
            Err(error) => Err(program.end(&error)),
        }
    }
}

/// A request as it stands on a line.
fn line(id: u64, ask: &Ask<'_>) -> Result<String, String> {
    #[derive(Serialize)]
    struct Numbered<'r, 'a> {
        protocol: u32,
        id: u64,
        #[serde(flatten)]
        ask: &'r Ask<'a>,
    }
    let mut line = serde_json::to_string(&Numbered { protocol: PROTOCOL, id, ask })
        .map_err(|error| format!("the request cannot be written: {error}"))?;
    line.push('\n');
    Ok(line)
}

/// Reads a reply to a request.
fn read(reply: &str, id: u64, ask: &Ask<'_>) -> Result<Answer, String> {
    let line: Line = serde_json::from_str(reply)
        .map_err(|error| format!("its reply is no JSON of the protocol: {error}"))?;
    if line.id.as_u64() != Some(id) {
        return Err(format!("its reply is to request {}, not to {id}", line.id));
    }
    if let Some(error) = line.error {
        return Err(format!("it says: {error}"));
    }
    match (line.summary, line.messages, line.cancel) {
        (Some(summary), None, false) if summary.trim().is_empty() => Err("its summary is empty".to_owned()),
        (Some(summary), None, false) => Ok(Answer::Summary(summary)),
        (None, Some(items), false) => items
            .into_iter()
            .map(|item| self::item(item, ask))
            .collect::<Result<_, _>>()
            .map(Answer::Messages),
        (None, None, true) => Ok(Answer::Cancel(line.reason.unwrap_or_default())),
        (None, None, false) => Err("its reply holds neither summary nor messages nor cancel".to_owned()),
        _ => Err("its reply holds more than one of summary, messages and cancel".to_owned()),
    }
}

fn item(item: LineItem, ask: &Ask<'_>) -> Result<Item, String> {
    if let Some(index) = item.index {
        let sent = ask.messages.iter().any(|message| message.index == Some(index));
        return if sent {
            Ok(Item::Kept(index))
        } else {
            Err(format!("it keeps message {index}, which was not sent"))
        };
    }
    let role = match item.role.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        role => {
            return Err(format!(
                "a message has the role {}: give user, assistant, system, or the index of one that was sent",
                role.unwrap_or("null")
            ));
        }
    };
    match item.content.filter(|text| !text.trim().is_empty()) {
        Some(text) => Ok(Item::Text(role, text)),
        None => Err("a message is empty".to_owned()),
    }
}
