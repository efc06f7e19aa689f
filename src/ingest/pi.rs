//! pi sessions: version 1 (a line of entries), versions 2 and 3 (a tree), and derivatives of them.
//!
//! The conversation is the active path: from the last entry of the file through the parents to the root. Compaction
//! entries are nodes of that tree like any other, with what they keep in front of them, so the path crosses them and
//! nothing comes twice; they are set aside with what they keep: from the entry they name on, or the messages that they
//! hold themselves. An entry without a parent field, or whose
//! parent is not in the file, follows the entry before it; a file without any parents is one line.
//!
//! Text that pi generates (summaries of compactions and of abandoned branches) never becomes a message, except where
//! the path begins with a compaction. Commands that the user ran, messages of extensions and attached files are
//! injected text of the user.
//!
//! A session that was forked or branched holds its own copy of the history and is read as it is.

mod entries;
mod retained;

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use super::value::Value;

use super::blocks::{self, Speaker};
use super::build;
use super::formats::Format;
use super::injected;
use super::json::{self, argument_text, brief, counts, flag, take, take_name, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::paths;
use crate::transcript::{
    Message, MessageIdx, MessageSet, Outcome, Part, Recorded, RecordedLists, Refusal, Role, Text, ToolCall,
    ToolResult, Usage,
};
use entries::Tree;
use retained::Known;

/// Blocks that pi puts in front of what the user typed, by how they open and close.
const LEADING_BLOCKS: [(&str, &str); 2] = [("<file name=", "</file>"), ("<skill name=", "</skill>")];

/// Session files.
pub(super) static SHAPE: Shape =
    Shape { owns: |_| false, split: Split::Before(begins), ..Shape::new(Format::Pi, sniff, read) };

/// The id of a header.
fn begins(value: &Value) -> Option<&str> {
    (text(value, "type") == Some("session")).then(|| text(value, "id").unwrap_or_default())
}

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    match text(value, "type")? {
        "session" if has("cwd") || has("version") => Some("has type=session and cwd or version"),
        "message"
            if has("parentId")
                && value.get("message").is_some_and(|message| text(message, "role").is_some()) =>
        {
            Some("has type=message and parentId")
        }
        _ => None,
    }
}

/// Reads the records of one pi file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for record in &records {
        count(&record.value, out);
    }
    for (id, records) in sessions::by_header(records, begins, name, out) {
        session(records, id, out);
    }
}

/// Counts a record, on the active path or not.
fn count(value: &Value, out: &mut Sink) {
    match text(value, "type") {
        Some("message") => {
            out.raw.messages += 1;
            out.raw.tool_calls +=
                value.get("message").map_or(0, |message| blocks::count(message, "toolCall"));
        }
        Some("compaction") => out.raw.compactions += 1,
        _ => {}
    }
}

fn session(records: Vec<Record>, name: String, out: &mut Sink) {
    let mut tree = Tree::of(records, out);
    let mut reader =
        Reader { draft: Draft::holding(name, tree.len()), cwd: None, model: None, known: Known::default() };
    reader.header(&tree.header);
    let path = tree.active_path(out);
    // How many messages there were before each entry of the path, to find where the kept part of a compaction begins.
    let mut positions: Vec<Option<usize>> = vec![None; tree.len()];
    for index in path {
        let Some((line, value)) = tree.take(index) else { continue };
        if let Some(position) = positions.get_mut(index) {
            *position = Some(reader.draft.messages.len());
        }
        if text(&value, "type") == Some("compaction") {
            let kept = tree.first_kept(&value, index, out).and_then(|entry| {
                let position = positions.get(entry).copied().flatten();
                position.ok_or_else(|| "the first entry that it kept is not on the active path".to_owned())
            });
            reader.compaction(value, line, Some(kept), out);
        } else {
            reader.entry(value, line, out);
        }
    }
    out.finish_draft(reader.draft);
}

/// Where the kept part of a compaction begins, or why that is not known; nothing for a message that only repeats a summary.
type FirstKept = Option<Result<usize, String>>;

/// Builds the session entry by entry.
struct Reader {
    draft: Draft,
    cwd: Option<ArcStr>,
    /// The model chosen, for replies that name none.
    model: Option<String>,
    known: Known,
}

impl Reader {
    fn header(&mut self, header: &Value) {
        if let Some(id) = text(header, "id").filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.draft.id);
        }
        // The older versions name the file that it was branched from, the newer ones the same in another field.
        let parent = ["parentSession", "branchedFrom"].iter().find_map(|key| text(header, key));
        self.draft.continues = parent.and_then(session_of_file).map(str::to_owned);
        self.cwd = text(header, "cwd").filter(|cwd| !cwd.is_empty()).map(ArcStr::from);
        self.model = text(header, "modelId").map(str::to_owned);
    }

    fn entry(&mut self, mut value: Value, line: u32, out: &mut Sink) {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "message" => self.message(take(&mut value, "message"), line, out),
            "custom_message" => {
                let parts = user_parts(take(&mut value, "content"), true);
                self.push(Role::User, parts, None, line);
            }
            "branch_summary" => set_aside_branch(line, out),
            "model_change" => self.model = text(&value, "modelId").map(str::to_owned),
            "thinking_level_change" | "label" | "session_info" | "custom" | "session" => {}
            _ => {
                let text = format!("entry of unknown type {kind:?}, left out");
                out.note(line, "unknown-record", Severity::Note, text);
            }
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, usage: Option<Usage>, line: u32) {
        if !parts.is_empty() {
            let cwd = self.cwd.clone();
            self.draft.messages.push(Message {
                cwd,
                usage: usage.map(Box::new),
                ..build::message(role, parts, line)
            });
        }
    }

    fn message(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        let role = text(&message, "role").unwrap_or_default().to_owned();
        match role.as_str() {
            "user" => {
                let parts = user_parts(take(&mut message, "content"), false);
                self.push(Role::User, parts, None, line);
            }
            "assistant" => self.reply(message, line, out),
            "toolResult" => self.push(Role::Tool, vec![Part::result(result(message))], None, line),
            "bashExecution" => {
                if flag(&message, "excludeFromContext") {
                    let text = "a command of the user that is not in the context, left out";
                    out.note(line, "excluded-command", Severity::Note, text);
                } else {
                    let text = command_text(&message);
                    self.push(Role::User, vec![Part::Text(Text { text, injected: true })], None, line);
                }
            }
            // The older name of the same.
            "custom" | "hookMessage" => {
                let parts = user_parts(take(&mut message, "content"), true);
                self.push(Role::User, parts, None, line);
            }
            "branchSummary" => set_aside_branch(line, out),
            "compactionSummary" => self.compaction(message, line, None, out),
            "system" | "developer" => {
                let parts = blocks::parts(take(&mut message, "content"), Speaker::Other, Outcome::Unknown);
                self.push(Role::System, parts, None, line);
            }
            _ => {
                let text = format!("message of unknown role {role:?}, left out");
                out.note(line, "unknown-role", Severity::Note, text);
            }
        }
    }

    fn reply(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        let mut parts = Vec::new();
        if text(&message, "stopReason") == Some("error")
            && let Some(said) = text(&message, "errorMessage")
        {
            let before = MessageIdx::new(self.draft.messages.len());
            self.draft.refusals.push(Refusal { before, line, text: said.to_owned() });
        }
        match take(&mut message, "content") {
            Value::Array(list) => list.into_iter().for_each(|block| push_reply_block(block, &mut parts)),
            other => parts = blocks::parts(other, Speaker::Other, Outcome::Unknown),
        }
        if parts.is_empty() {
            let reason = text(&message, "stopReason").unwrap_or("unknown");
            let text = format!("a reply without content (stop reason {reason}), left out");
            out.note(line, "empty-reply", Severity::Note, text);
            return;
        }
        let model = text(&message, "model").filter(|model| !model.is_empty()).or(self.model.as_deref());
        if let Some(model) = model {
            self.draft.model = Some(model.to_owned());
        }
        let usage = message.get("usage").and_then(|told| out.told(line, usage(told)).flatten());
        self.push(Role::Assistant, parts, usage, line);
    }

    /// The file lists beside a summary.
    fn lists(&self, details: &Value) -> Option<RecordedLists> {
        let list = |key: &str| -> Option<Vec<String>> {
            let Value::Array(paths) = details.get(key)? else { return None };
            let paths = paths.iter().filter_map(Value::as_str);
            Some(paths.map(|path| paths::resolve(path, self.cwd.as_deref())).collect())
        };
        let (read, modified) = (list("readFiles"), list("modifiedFiles"));
        (read.is_some() || modified.is_some())
            .then(|| RecordedLists { read: read.unwrap_or_default(), modified: modified.unwrap_or_default() })
    }

    /// The messages that a compaction entry holds, read like any other; earlier summaries among them are none.
    fn retained(&self, tail: Vec<Value>, line: u32) -> Vec<Message> {
        let (cwd, model) = (self.cwd.clone(), self.model.clone());
        let mut reader = Reader { draft: Draft::new(""), cwd, model, known: Known::default() };
        let summary =
            |message: &Value| matches!(text(message, "role"), Some("compactionSummary" | "branchSummary"));
        // What is odd about a message was said where it stood first.
        let mut said = Sink::default();
        for message in tail.into_iter().filter(|message| !summary(message)) {
            reader.message(message, line, &mut said);
        }
        reader.draft.messages.into_vec()
    }

    /// Sets a summary aside, with the position of the first message that stayed where an entry of the log says one; or begins the conversation with it when it is the first thing.
    fn compaction(&mut self, mut value: Value, line: u32, first_kept: FirstKept, out: &mut Sink) {
        let (retained, odd) = match take(&mut value, "retainedTail") {
            Value::Array(tail) => (Some(self.retained(tail.into_vec(), line)), None),
            Value::Null => (None, None),
            other => (None, Some(format!("retainedTail is {}, no list", brief(&other)))),
        };
        let summary = Some(take_text(&mut value, "summary")).filter(|summary| !summary.trim().is_empty());
        if build::is_beginning(&self.draft) {
            build::begin_compacted(&mut self.draft, summary, line);
            if let Some(summary) = self.draft.messages.first_mut() {
                summary.cwd.clone_from(&self.cwd);
            }
            self.draft.messages.extend(retained.into_iter().flatten());
            return;
        }
        let end = self.draft.messages.len();
        let mut unknown = odd;
        let kept = match (retained, first_kept) {
            (Some(retained), _) => {
                let (kept, strange) = self.known.find(&self.draft.messages, &retained);
                if strange > 0 {
                    let text = "a compaction kept messages that stand nowhere before it, left out";
                    out.note(line, "unknown-retained", Severity::Note, text);
                }
                kept
            }
            (None, Some(Ok(first))) => MessageSet::from(first..end),
            (None, Some(Err(cause))) => {
                unknown.get_or_insert(cause);
                MessageSet::default()
            }
            (None, None) => MessageSet::default(),
        };
        let mut recorded = Recorded {
            kept,
            line,
            summary,
            lists: value.get("details").and_then(|details| self.lists(details)),
            tokens_before: out.told(line, json::tokens(&value, "tokensBefore")).flatten(),
            ..Recorded::at(MessageIdx::new(end))
        };
        if let Some(cause) = unknown {
            out.kept_unknown(&mut recorded, &cause);
        }
        self.draft.recorded.push(recorded);
    }
}

/// The session id in the name of a session file: `2026-01-02T03-04-05-678Z_ID.jsonl`.
fn session_of_file(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    Some(name.split_once('_').map_or(name, |(_, id)| id)).filter(|id| !id.is_empty())
}

fn set_aside_branch(line: u32, out: &mut Sink) {
    let text = "a generated summary of an abandoned branch, set aside";
    out.note(line, "branch-summary", Severity::Note, text);
}

/// The parts of a user message; `meta` when an extension wrote it.
fn user_parts(content: Value, meta: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let push = |content: Value, parts: &mut Vec<Part>| {
        if let Value::String(text) = content {
            push_prompt(&text, meta, parts);
        } else if content.get("text").is_some() {
            let mut block = content;
            push_prompt(&take_text(&mut block, "text"), meta, parts);
        } else {
            parts.extend(blocks::parts(content, Speaker::User { meta }, Outcome::Unknown));
        }
    };
    match content {
        Value::Array(list) => list.into_iter().for_each(|block| push(block, &mut parts)),
        other => push(other, &mut parts),
    }
    parts
}

/// Adds the text of a prompt; attached files and skills in front of it are injected.
fn push_prompt(text: &str, meta: bool, parts: &mut Vec<Part>) {
    let mut rest = text;
    while let Some(length) = leading_block(rest) {
        let Some((block, behind)) = rest.split_at_checked(length) else { break };
        parts.push(Part::Text(Text { text: block.trim().to_owned(), injected: true }));
        rest = behind.trim_start_matches('\n');
    }
    injected::push_user_text(rest.to_owned(), meta, parts);
}

/// Bytes of the block that opens a text.
fn leading_block(text: &str) -> Option<usize> {
    let head = text.trim_start();
    let (_, close) = LEADING_BLOCKS.iter().find(|(open, _)| head.starts_with(open))?;
    text.find(close).map(|at| at + close.len())
}

/// Adds one block of a reply.
pub(super) fn push_reply_block(mut block: Value, parts: &mut Vec<Part>) {
    match text(&block, "type") {
        Some("toolCall") => parts.push(Part::call(ToolCall {
            id: take_text(&mut block, "id"),
            name: take_name(&mut block, "name"),
            arguments: argument_text(take(&mut block, "arguments")),
        })),
        Some("thinking") => {
            let clear = take_text(&mut block, "thinking");
            let signature = text(&block, "thinkingSignature").unwrap_or_default();
            // Of OpenAI reasoning the signature is the item with its encrypted text, which goes back to the model;
            // of others it only signs the clear text.
            let encrypted = signature.starts_with('{') && signature.contains("\"encrypted_content\"");
            let bytes = signature.len() as u64;
            let opaque = encrypted || clear.is_empty();
            if !clear.trim().is_empty() {
                parts.push(Part::Thinking(clear));
            }
            if opaque && bytes > 0 {
                parts.push(Part::Opaque { kind: "thinking".into(), bytes });
            }
        }
        _ => parts.extend(blocks::parts(block, Speaker::Other, Outcome::Unknown)),
    }
}

/// The result that a `toolResult` message holds.
pub(super) fn result(mut message: Value) -> ToolResult {
    let call_id = take_text(&mut message, "toolCallId");
    let (text, images) = blocks::result_text(take(&mut message, "content"));
    let (outcome, exit_code) = match outcome::flagged(&message) {
        // A flag on a failed command leaves its exit status to the text.
        Some((Outcome::Failed, None)) => (Outcome::Failed, outcome::exit_code(&text)),
        Some((Outcome::Ok, Some(code))) => (outcome::of_exit(code), Some(code)),
        Some(flagged) => flagged,
        None => outcome::judge(&text, Outcome::Ok),
    };
    ToolResult { call_id, text, outcome, exit_code, images }
}

/// Usage of a reply; `None` when nothing was reported. The input excludes what came from or went to the cache.
pub(super) fn usage(usage: &Value) -> Result<Option<Usage>, String> {
    let [fresh, cache_read, cache_write, output] =
        counts(usage, ["input", "cacheRead", "cacheWrite", "output"])?;
    let input = fresh.saturating_add(cache_read).saturating_add(cache_write);
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}

/// A command that the user ran and its output, as text for the model.
fn command_text(message: &Value) -> String {
    let command = text(message, "command").unwrap_or_default();
    let output = text(message, "output").unwrap_or_default().trim_end_matches('\n');
    let mut whole = format!("Ran `{command}`\n");
    if output.is_empty() {
        whole.push_str("(no output)");
    } else {
        whole.push_str("```\n");
        whole.push_str(output);
        whole.push_str("\n```");
    }
    let code = message.get("exitCode").and_then(Value::as_i64).filter(|code| *code != 0);
    let ending = match code {
        _ if flag(message, "cancelled") => Some("(command cancelled)".to_owned()),
        Some(code) => Some(format!("Command exited with code {code}")),
        None => None,
    };
    let cut = text(message, "fullOutputPath").filter(|_| flag(message, "truncated"));
    let cut = cut.map(|path| format!("[Output truncated. Full output: {path}]"));
    for remark in ending.into_iter().chain(cut) {
        whole.push_str("\n\n");
        whole.push_str(&remark);
    }
    whole
}
