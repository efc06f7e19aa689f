//! Transcripts that Entire writes of the sessions of any agent: one record a message, the result of a call inside the call.
//!
//! Records of one reply share its id and become one message; its results become a message behind it. Usage is left out: the input
//! is counted as the agent itself counts it, with or without what came from the cache, and the record does not say which.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;

use super::blocks::{self, Speaker};
use super::build::message;
use super::formats::Format;
use super::json::{self, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::Shape;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Outcome, Part, Role, ToolResult};

/// Files of records.
pub(super) static SHAPE: Shape =
    Shape { owns: |_| false, ..Shape::new(Format::EntireTranscript, sniff, read) };

/// How blocks of a harness open that has its own name for reminders.
const REMINDER: &str = "<system_reminder>";

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| text(value, key).is_some();
    (has("agent") && has("cli_version") && has("type") && value.get("v").is_some())
        .then_some("has agent, cli_version and v")
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut reader = Reader { draft: Draft::new(name), id: String::new(), results: Vec::new(), line: 0 };
    for Record { line, mut value } in records {
        let time = value.get("ts").and_then(json::time);
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "user" => {
                out.raw.messages += 1;
                reader.answer();
                let parts = asked(take(&mut value, "content"));
                let mut made = message(Role::User, parts, line);
                made.time = time;
                reader.draft.messages.push(made);
            }
            "assistant" => {
                out.raw.messages += 1;
                out.raw.tool_calls += blocks::count(&value, "tool_use");
                reader.reply(value, line, time);
            }
            _ => {
                let text = format!("record of unknown type {kind:?}, left out");
                out.note(line, "unknown-record", Severity::Note, text);
            }
        }
    }
    reader.answer();
    out.finish_draft(reader.draft);
}

/// Text of the user; what the harness put in its place is injected.
fn asked(content: Value) -> Vec<Part> {
    let blocks = content.into_blocks();
    let mut parts = Vec::new();
    for block in blocks {
        let said = text(&block, "text").or_else(|| block.as_str()).unwrap_or_default();
        let meta = said.trim_start().starts_with(REMINDER);
        parts.extend(blocks::parts(block, Speaker::User { meta }, Outcome::Unknown));
    }
    parts
}

/// The session so far, and the reply that further records may belong to.
struct Reader {
    draft: Draft,
    /// Id of the last reply.
    id: String,
    /// Results of its calls.
    results: Vec<ToolResult>,
    line: u32,
}

impl Reader {
    /// The results of the last reply, behind it.
    fn answer(&mut self) {
        self.id.clear();
        let results: Vec<Part> = self.results.drain(..).map(Part::result).collect();
        if !results.is_empty() {
            let mut made = message(Role::Tool, results, self.line);
            made.time = self.draft.messages.last().and_then(|reply| reply.time);
            self.draft.messages.push(made);
        }
    }

    fn reply(&mut self, mut value: Value, line: u32, time: Option<i64>) {
        let id = take_text(&mut value, "id");
        let again = !id.is_empty() && id == self.id;
        if !again {
            self.answer();
            self.id = id;
        }
        self.line = line;
        let content = take(&mut value, "content").into_blocks();
        let mut parts = Vec::new();
        for mut block in content {
            if text(&block, "type") == Some("tool_use") {
                let told = take(&mut block, "result");
                if told.is_object() {
                    let call_id = text(&block, "id").unwrap_or_default().to_owned();
                    self.results.push(result(call_id, told));
                }
            }
            parts.extend(blocks::parts(block, Speaker::Other, Outcome::Unknown));
        }
        if let Some(last) = self.draft.messages.last_mut().filter(|_| again) {
            for part in parts {
                last.push(part, line);
            }
        } else {
            let mut made = message(Role::Assistant, parts, line);
            made.time = time;
            self.draft.messages.push(made);
        }
    }
}

fn result(call_id: String, mut told: Value) -> ToolResult {
    let status = take_text(&mut told, "status");
    let flagged = outcome::flagged(&told);
    let (text, images) = blocks::result_text(take(&mut told, "output"));
    let exit = flagged.and_then(|(_, code)| code).or_else(|| shell_exit(&text));
    let (outcome, exit_code) = match (status.as_str(), exit) {
        ("error", exit) => (Outcome::Failed, exit.or_else(|| outcome::exit_code(&text))),
        (_, Some(code)) => (outcome::of_exit(code), Some(code)),
        ("success", None) => (Outcome::Ok, None),
        (_, None) => flagged.unwrap_or_else(|| outcome::judge(&text, Outcome::Unknown)),
    };
    ToolResult { call_id, text, outcome, exit_code, images }
}

/// The exit status on the last line of a shell's output, as the Copilot CLI writes it.
fn shell_exit(text: &str) -> Option<i32> {
    let last = text.trim_end().rsplit('\n').next()?.strip_prefix('<')?;
    let (_, code) = last.rsplit_once("exit code ")?;
    code.trim_end_matches('>').parse().ok()
}
