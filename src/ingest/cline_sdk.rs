//! Sessions of the Cline SDK: one document with all messages, results beside calls in API blocks.
//!
//! A session that was compacted is written anew (`*.compaction.json`), in one of two ways. A summary by a model takes the place of
//! what it summarises: the log begins with it. Without a model, calls and results are taken out and a notice in each request names
//! the files they touched: those messages are read as they are, with a compaction behind the last one that it preserved.

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use crate::ingest::value::{Items, Value};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::formats::Format;
use super::json::{self, counts, items, take, take_text, text, tokens};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{List, Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::paths;
use crate::transcript::{Message, MessageIdx, Outcome, Part, RecordedLists, Role, ToolResult, Usage};

/// Session documents.
pub(super) static SHAPE: Shape = Shape {
    split: Split::each(is_session),
    list: Some(List { field: "messages", read: read_list }),
    dated: false,
    ..Shape::new(Format::ClineSdk, sniff, read)
};

/// What opens a block that the harness adds to a request.
const NOTICE: &str = "<SYSTEM_NOTICE>";

fn sniff(value: &Value) -> Option<&'static str> {
    let fits = value.get("messages").is_some_and(Value::is_array)
        && text(value, "sessionId").is_some()
        && value.get("updated_at").is_some()
        && value.get("version").is_some();
    fits.then_some("has sessionId, updated_at and messages")
}

/// True for a record that is a session.
fn is_session(value: &Value) -> bool {
    value.get("messages").is_some_and(Value::is_array)
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, is_session, name, out);
    for Record { line, mut value } in records {
        let Value::Array(messages) = take(&mut value, "messages") else {
            out.note(line, "unknown-record", Severity::Note, "no session of the Cline SDK, left out");
            continue;
        };
        session(value, &mut messages.into_iter(), &names, out);
    }
}

/// Reads a file that is one session.
fn read_list(value: Value, messages: Items<'_>, name: &str, out: &mut Sink) {
    let names = Names::new(&[], is_session, name, out);
    session(value, messages, &names, out);
}

fn session(mut value: Value, messages: Items<'_>, names: &Names<'_>, out: &mut Sink) {
    let id = names.next(&value, &["sessionId"], out);
    let mut reader = Reader { draft: Draft::new(id), cwd: None, rewritten: None };
    reader.prompt(take_text(&mut value, "system_prompt"));
    for (line, message) in (1u32..).zip(messages) {
        reader.message(message, line, out);
    }
    reader.finish(out);
}

/// A compaction without a model: who asked for it, how many messages it took out.
struct Rewritten {
    line: u32,
    trigger: Option<String>,
    end: usize,
}

/// Builds the session message by message.
struct Reader {
    draft: Draft,
    cwd: Option<ArcStr>,
    rewritten: Option<Rewritten>,
}

impl Reader {
    fn prompt(&mut self, prompt: String) {
        self.cwd = paths::stated_directory(&prompt).map(ArcStr::from);
        if !prompt.is_empty() {
            self.push(Role::System, vec![build::text(prompt, false)], 1, None);
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32, time: Option<i64>) {
        if !parts.is_empty() {
            let cwd = self.cwd.clone();
            self.draft.messages.push(Message { cwd, time, ..build::message(role, parts, line) });
        }
    }

    fn message(&mut self, mut message: Value, line: u32, out: &mut Sink) {
        out.raw.messages += 1;
        out.raw.tool_calls += blocks::count(&message, "tool_use");
        let time = json::time_at(&message, "ts");
        let mut metadata = take(&mut message, "metadata");
        let content = take(&mut message, "content");
        match text(&metadata, "kind") {
            Some("compaction_summary") => return self.summary(&mut metadata, content, line, out),
            Some("compaction") => {
                out.raw.compactions += 1;
                let trigger =
                    text(&metadata, "reason").map(|reason| reason.trim_end_matches("_compaction").to_owned());
                let removed = metadata.get("messagesRemoved").and_then(Value::as_u64).unwrap_or_default();
                let text = format!("a compaction took {removed} messages out of the log");
                out.note(line, "removed-messages", Severity::Note, text);
                self.rewritten = Some(Rewritten { line, trigger, end: self.draft.messages.len() + 1 });
            }
            _ => {}
        }
        match text(&message, "role") {
            Some("user") => self.push(Role::User, request(content), line, time),
            Some("assistant") => {
                let usage = message.get("metrics").and_then(|told| out.told(line, usage(told)).flatten());
                let parts = blocks::parts(content, Speaker::Other, Outcome::Unknown);
                let end = self.draft.messages.len();
                self.push(Role::Assistant, parts, line, time);
                if let Some(reply) = self.draft.messages.get_mut(end) {
                    reply.usage = usage.map(Box::new);
                }
                if let Some(model) = message.get("modelInfo").and_then(|model| text(model, "id")) {
                    self.draft.model = Some(model.to_owned());
                }
            }
            _ if !message.is_object() => {
                out.damage(line, "bad-record", "an entry that is no object; its content is lost");
            }
            role => {
                let text = format!("role {:?} is not known, left out", role.unwrap_or_default());
                out.note(line, "unknown-role", Severity::Note, text);
            }
        }
        if text(&metadata, "compaction") == Some("preserved")
            && let Some(rewritten) = &mut self.rewritten
        {
            rewritten.end = self.draft.messages.len();
        }
    }

    fn summary(&mut self, metadata: &mut Value, content: Value, line: u32, out: &mut Sink) {
        out.raw.compactions += 1;
        let (said, _) = blocks::result_text(content);
        if build::is_beginning(&self.draft) {
            let cwd = self.cwd.clone();
            build::begin_compacted(&mut self.draft, Some(said), line);
            if let Some(summary) = self.draft.messages.first_mut() {
                summary.cwd = cwd;
            }
            return;
        }
        let summary = Some(take_text(metadata, "summary")).filter(|summary| !summary.is_empty());
        let mut recorded = build::compaction(&self.draft, summary.or(Some(said)), line);
        recorded.tokens_before = out.told(line, tokens(metadata, "tokensBefore")).flatten();
        recorded.lists = metadata.get("details").map(|details| {
            let list = |key: &str| {
                let paths = items(details, key).iter().filter_map(Value::as_str);
                paths.map(|path| paths::resolve(path, self.cwd.as_deref())).collect()
            };
            RecordedLists { read: list("readFiles"), modified: list("modifiedFiles") }
        });
        self.draft.recorded.push(recorded);
    }

    fn finish(mut self, out: &mut Sink) {
        if let Some(Rewritten { line, trigger, end }) = self.rewritten {
            let end = end.min(self.draft.messages.len());
            let mut recorded = build::compaction(&self.draft, None, line);
            recorded.before = MessageIdx::new(end);
            recorded.kept = (0..end).into();
            recorded.trigger = trigger;
            self.draft.recorded.push(recorded);
        }
        out.finish_draft(self.draft);
    }
}

/// The parts of a request: what the user typed, attached files, results.
fn request(content: Value) -> Vec<Part> {
    let Value::Array(list) = content else {
        return blocks::parts(content, Speaker::User { meta: false }, Outcome::Unknown);
    };
    let mut parts = Vec::new();
    for mut block in list {
        match text(&block, "type") {
            Some("file") => {
                let path = take_text(&mut block, "path");
                let content = take_text(&mut block, "content");
                parts.push(build::text(format!("<file path=\"{path}\">\n{content}\n</file>"), true));
            }
            Some("tool_result") => parts.push(Part::result(result(block))),
            Some("text")
                if text(&block, "text").is_some_and(|text| text.trim_start().starts_with(NOTICE)) =>
            {
                parts.push(build::text(take_text(&mut block, "text"), true));
            }
            _ => parts.extend(blocks::parts(block, Speaker::User { meta: false }, Outcome::Unknown)),
        }
    }
    parts
}

/// A result: one answer or a list of them, each with a flag; an answer may be written out as JSON.
fn result(mut block: Value) -> ToolResult {
    let call_id = take_text(&mut block, "tool_use_id");
    let flagged = outcome::flagged(&block);
    let content = match take(&mut block, "content") {
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(answer) if answer.get("success").is_some() => answer,
            _ => Value::String(text),
        },
        other => other,
    };
    let mut answers = content.into_blocks();
    let mut failed = None;
    let mut images = 0;
    let mut whole: Vec<String> = Vec::new();
    for answer in &mut answers {
        if let Some(success) = answer.get("success").and_then(Value::as_bool) {
            failed = Some(failed.unwrap_or(false) || !success);
            let error = take(answer, "error");
            let told = Some(take(answer, "result")).filter(|told| !told.is_null()).unwrap_or(error);
            let (text, found) = blocks::result_text(told);
            whole.push(text);
            images += found;
        } else {
            let (text, found) = blocks::result_text(Value::from_iter([answer.take()]));
            whole.push(text);
            images += found;
        }
    }
    let text = whole.join("\n");
    let told = failed.map(|failed| if failed { Outcome::Failed } else { Outcome::Ok });
    let (outcome, exit_code) = match (flagged, told) {
        (Some(flagged), _) => flagged,
        (None, Some(told)) => (told, None),
        (None, None) => outcome::judge(&text, Outcome::Unknown),
    };
    ToolResult { call_id, text, outcome, exit_code, images }
}

/// Usage of a reply; the input has in it what came from the cache.
fn usage(told: &Value) -> Result<Option<Usage>, String> {
    let [input, output, cache_read, cache_write] =
        counts(told, ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"])?;
    let input = input.max(cache_read.saturating_add(cache_write));
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
