//! Wire logs of Kimi Code (`wire.jsonl`), of the main agent or of a sub-agent. A record of `metadata` begins one: what stands behind it
//! is one context.
//!
//! What enters the context is read: `context.append_message` and `context.append_loop_event`. Turns (`turn.prompt`, `turn.steer`) say the
//! same before, and are left out; so is the usage of a turn. A step is one reply, whatever results come between its pieces.
//!
//! `context.apply_compaction` tells how many messages of the context it put into its summary, and how many of the user's it kept: the
//! newest of them. Whether that many are known is checked.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Value, json};

use super::blocks::{self, Speaker};
use super::build::{unknown_record, unknown_role};
use super::formats::Format;
use super::json::{self, argument_text, counts, take, take_name, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{MessageIdx, Origin, Outcome, Part, Recorded, Role, ToolCall, ToolResult, Usage};

/// How the types of records begin that are nothing of the conversation.
const SILENT: [&str; 16] = [
    "metadata",
    "turn.",
    "tools.",
    "llm.",
    "usage.",
    "permission.",
    "plan_mode.",
    "plugin.",
    "runtime.",
    "token_counting.",
    "full_compaction.",
    "config.",
    "profile.",
    "mcp.",
    "hook.",
    "session.",
];

/// Wire logs.
pub(super) static SHAPE: Shape =
    Shape { split: Split::Before(begins), ..Shape::new(Format::Kimi, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    let kind = text(value, "type")?;
    if kind == "metadata" && value.get("protocol_version").is_some() {
        return Some("has type=metadata and protocol_version");
    }
    kind.starts_with("context.append_").then_some("appends to the context of a wire log")
}

struct Reader {
    talk: Talk,
    /// The context by positions of its messages in the session; `None` for what is no message of it.
    context: Vec<Option<usize>>,
    /// The step that is running, and where its reply stands.
    step: (String, Option<usize>),
    trigger: Option<String>,
}

/// The id of the session that begins; few versions give one.
fn begins(value: &Value) -> Option<&str> {
    (text(value, "type") == Some("metadata")).then(|| text(value, "session_id").unwrap_or_default())
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_header(records, begins, name, out) {
        let mut reader =
            Reader { talk: Talk::new(id), context: Vec::new(), step: (String::new(), None), trigger: None };
        for Record { line, value } in records {
            reader.record(value, line, out);
        }
        out.finish_draft(reader.talk.draft);
    }
}

impl Reader {
    fn record(&mut self, mut value: Value, line: u32, out: &mut Sink) {
        let time = value.get("time").and_then(json::time);
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "config.update" | "profile.bind" => {
                let place = value.get("environmentDisclosure").unwrap_or(&value);
                self.talk.enter(text(place, "cwd").or_else(|| text(&value, "cwd")));
                self.talk.model(text(&value, "modelAlias"));
                let prompt = take_text(&mut value, "systemPrompt");
                if !prompt.is_empty() {
                    self.talk.prompt(prompt, line, time, out);
                }
            }
            "llm.request" => self.talk.model(text(&value, "model")),
            "llm.tools_snapshot" => {
                if value.get("tools").is_some_and(Value::is_array) {
                    self.talk.draft.tool_schema = Some(argument_text(take(&mut value, "tools")));
                }
            }
            "context.append_message" => self.message(take(&mut value, "message"), line, time, out),
            "context.append_loop_event" => self.event(take(&mut value, "event"), line, time, out),
            "full_compaction.begin" => self.trigger = text(&value, "source").map(str::to_owned),
            "context.apply_compaction" => self.compaction(value, line, out),
            _ if SILENT.iter().any(|start| kind.starts_with(start)) => {}
            _ => unknown_record(&kind, line, out),
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32, time: Option<i64>) {
        let at = (!parts.is_empty()).then_some(self.talk.draft.messages.len());
        self.context.push(at);
        self.talk.push(role, parts, line, time);
    }

    fn message(&mut self, mut message: Value, line: u32, time: Option<i64>, out: &mut Sink) {
        out.raw.messages += 1;
        let content = take(&mut message, "content");
        let calls = take(&mut message, "toolCalls");
        let calls = calls.as_array().unwrap_or_default().to_vec();
        out.raw.tool_calls += calls.len() as u64;
        let role = text(&message, "role").unwrap_or_default().to_owned();
        match role.as_str() {
            "user" => {
                let origin = message.get("origin");
                let kind = origin.and_then(|origin| text(origin, "kind"));
                let agent = origin.and_then(|origin| text(origin, "name")) == Some("subagent");
                if agent {
                    self.talk.draft.origin = Origin::Sidechain(self.talk.draft.id.clone());
                }
                let meta = kind.is_some_and(|kind| kind != "user") && !agent;
                let parts = blocks::parts(content, Speaker::User { meta }, Outcome::Unknown);
                self.push(Role::User, parts, line, time);
            }
            "assistant" => {
                let mut parts = match content {
                    Value::Array(list) => list.into_iter().flat_map(reply_part).collect(),
                    other => blocks::parts(other, Speaker::Other, Outcome::Unknown),
                };
                parts.extend(calls.into_iter().map(call));
                self.push(Role::Assistant, parts, line, time);
            }
            "tool" => {
                let id = take_text(&mut message, "toolCallId");
                let result = result(id, content, &message);
                self.push(Role::Tool, vec![Part::result(result)], line, time);
            }
            "system" => {
                let parts = blocks::parts(content, Speaker::Other, Outcome::Unknown);
                self.push(Role::System, parts, line, time);
            }
            other => unknown_role(other, line, out),
        }
    }

    /// An event of the loop that asks the model and runs its calls.
    fn event(&mut self, mut event: Value, line: u32, time: Option<i64>, out: &mut Sink) {
        let kind = text(&event, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "step.begin" => {
                self.step = (take_text(&mut event, "uuid"), None);
                self.context.push(None);
            }
            "content.part" => {
                let parts = reply_part(take(&mut event, "part"));
                self.say(parts, &event, line, time);
            }
            "tool.call" => {
                out.raw.tool_calls += 1;
                if self.talk.cwd.is_none() {
                    let shown = event.get("display").and_then(|display| text(display, "cwd"));
                    self.talk.enter(shown);
                }
                let step = event.get("stepUuid").cloned();
                let parts = vec![call(event)];
                self.say(parts, &json!({ "stepUuid": step }), line, time);
            }
            "tool.result" => {
                let id = take_text(&mut event, "toolCallId");
                let mut held = take(&mut event, "result");
                let output = match take(&mut held, "output") {
                    Value::Null => take(&mut held, "content"),
                    output => output,
                };
                let result = result(id, output, &held);
                self.push(Role::Tool, vec![Part::result(result)], line, time);
            }
            "step.end" => {
                let usage = event.get("usage").and_then(|told| out.told(line, usage(told)).flatten());
                let reply = self.step.1.and_then(|at| self.talk.draft.messages.get_mut(at));
                if let Some(reply) = reply {
                    reply.usage = usage.map(Box::new);
                }
            }
            "step.interrupted" | "step.retry" | "turn.interrupted" => {}
            other => unknown_record(&format!("event {other}"), line, out),
        }
    }

    /// Adds to the reply of a step.
    fn say(&mut self, parts: Vec<Part>, event: &Value, line: u32, time: Option<i64>) {
        if parts.is_empty() {
            return;
        }
        let step = text(event, "stepUuid").unwrap_or_default();
        if step != self.step.0 {
            self.step = (step.to_owned(), None);
            self.context.push(None);
        }
        if let Some(reply) = self.step.1.and_then(|at| self.talk.draft.messages.get_mut(at)) {
            for part in parts {
                reply.push(part, line);
            }
            return;
        }
        let at = self.talk.draft.messages.len();
        self.step.1 = Some(at);
        if let Some(place) = self.context.last_mut().filter(|place| place.is_none()) {
            *place = Some(at);
        } else {
            self.context.push(Some(at));
        }
        self.talk.push(Role::Assistant, parts, line, time);
    }

    fn compaction(&mut self, mut value: Value, line: u32, out: &mut Sink) {
        out.raw.compactions += 1;
        let count = json::number(&value, "compactedCount").map_or(usize::MAX, |count| count as usize);
        let wanted = json::number(&value, "keptUserMessageCount").map_or(0, |count| count as usize);
        let (summarised, tail) = self.context.split_at(count.min(self.context.len()));
        let is_typed = |at: &usize| {
            self.talk.draft.messages.get(*at).is_some_and(crate::transcript::Message::is_user_request)
        };
        let typed: Vec<usize> = summarised.iter().copied().flatten().filter(is_typed).collect();
        let unknown = wanted > typed.len();
        let newest = typed.get(typed.len().saturating_sub(wanted)..).unwrap_or_default();
        let kept: Vec<usize> = newest.iter().copied().chain(tail.iter().copied().flatten()).collect();
        let summary = Some(take_text(&mut value, "summary")).filter(|summary| !summary.trim().is_empty());
        let recorded = Recorded {
            kept: kept.iter().copied().map(MessageIdx::new).collect(),
            line,
            summary,
            trigger: self.trigger.take(),
            tokens_before: out.told(line, json::tokens(&value, "tokensBefore")).flatten(),
            tokens_after: out.told(line, json::tokens(&value, "tokensAfter")).flatten(),
            ..Recorded::default()
        };
        // The context goes on with what stayed and the summary.
        self.context = kept.into_iter().map(Some).chain([None]).collect();
        self.step = (String::new(), None);
        let cause = "more messages of the user are said to be kept than stand before it";
        self.talk.compacted(recorded, unknown.then_some(cause), out);
    }
}

/// A piece of a reply: a thought, or a block.
fn reply_part(mut part: Value) -> Vec<Part> {
    if text(&part, "type") == Some("think") {
        let clear = take_text(&mut part, "think");
        return if clear.is_empty() { Vec::new() } else { vec![Part::Thinking(clear)] };
    }
    blocks::parts(part, Speaker::Other, Outcome::Unknown)
}

/// A call: flat, or with a function inside.
fn call(mut value: Value) -> Part {
    let id = ["toolCallId", "id"].iter().map(|key| take_text(&mut value, key)).find(|id| !id.is_empty());
    let mut inner = match take(&mut value, "function") {
        function if function.is_object() => function,
        _ => value,
    };
    let arguments = ["args", "arguments"].iter().map(|key| take(&mut inner, key)).find(|it| !it.is_null());
    Part::call(ToolCall {
        id: id.unwrap_or_default(),
        name: take_name(&mut inner, "name"),
        arguments: argument_text(arguments.unwrap_or_default()),
    })
}

/// A result and the fields that stand with its output.
fn result(call_id: String, output: Value, held: &Value) -> ToolResult {
    let (text, images) = blocks::result_text(output);
    let judged = outcome::judge(&text, Outcome::Unknown);
    let (outcome, exit_code) = match outcome::flagged(held) {
        Some((Outcome::Failed, None)) => (Outcome::Failed, judged.1),
        Some(told) => told,
        None => judged,
    };
    ToolResult { call_id, text, outcome, exit_code, images }
}

fn usage(told: &Value) -> Result<Option<Usage>, String> {
    let [fresh, output, cache_read, cache_write] =
        counts(told, ["inputOther", "output", "inputCacheRead", "inputCacheCreation"])?;
    let input = fresh + cache_read + cache_write;
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
