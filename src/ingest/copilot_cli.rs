//! Event logs of the GitHub Copilot CLI (`events.jsonl`).
//!
//! Calls stand in the log twice, in the reply that asks for them (`toolRequests`) and where they begin (`tool.execution_start`): the
//! reply is read, and of the starts only those that no reply asked for. Reasoning stands in the reply, or in an event of its own in front
//! of it. Of a user message the typed text is the user's; what the client put around it is injected.
//!
//! Events of a sub-agent carry its id: they are a session of their own. `session.compaction_complete` holds the summary; what was said
//! since its `session.compaction_start` is not in the summary, and stayed. A truncation does not say which messages it removed.
//! Replies tell the tokens of their output alone; usage is known where `assistant.usage` events were kept.

#[cfg(test)]
mod tests;

use crate::ingest::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks;
use super::build::{self, injected, unknown_record};
use super::formats::Format;
use super::json::{self, argument_text, counts, flag, items, take, take_name, take_text, text};
use super::lines::Record;
use super::outcome;
use super::sessions;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::talk::Talk;
use crate::transcript::{Origin, Outcome, Part, Recorded, Role, ToolCall, ToolResult, Usage};

/// How the types of events begin that are nothing of the conversation.
const SILENT: [&str; 12] = [
    "session.",
    "hook.",
    "permission.",
    "subagent.",
    "skill.",
    "assistant.turn_",
    "assistant.intent",
    "assistant.message_",
    "assistant.reasoning_",
    "assistant.streaming_",
    "tool.execution_p",
    "abort",
];

/// Event logs.
pub(super) static SHAPE: Shape =
    Shape { split: Split::Before(begins), ..Shape::new(Format::CopilotCli, sniff, read) };

fn sniff(value: &Value) -> Option<&'static str> {
    let kind = text(value, "type")?;
    let ours = ["session.", "user.message", "assistant.", "tool.execution_", "system.message"];
    let event = value.get("data").is_some_and(Value::is_object) && value.get("id").is_some();
    (event && ours.iter().any(|start| kind.starts_with(start)))
        .then_some("is an event with data of the Copilot CLI")
}

/// A conversation: the main one, or that of a sub-agent.
struct Track {
    talk: Talk,
    reasoning: Option<(String, u32)>,
    /// How many messages there were when a compaction began.
    started: Option<usize>,
}

struct Reader {
    main: Track,
    agents: Vec<(String, Track)>,
    names: FxHashMap<String, String>,
    requested: FxHashSet<String>,
}

/// The id of the session that begins.
fn begins(value: &Value) -> Option<&str> {
    let data = value.get("data")?;
    let start = text(value, "type") == Some("session.start") && agent(value, data).is_none();
    start.then(|| text(data, "sessionId").unwrap_or_default())
}

/// Reads the events of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    for (id, records) in sessions::by_header(records, begins, name, out) {
        session(records, &id, out);
    }
}

fn session(records: Vec<Record>, name: &str, out: &mut Sink) {
    let track = |id: &str| Track { talk: Talk::new(id), reasoning: None, started: None };
    let mut reader = Reader {
        main: track(name),
        agents: Vec::new(),
        names: FxHashMap::default(),
        requested: FxHashSet::default(),
    };
    for record in &records {
        reader.survey(&record.value, out);
    }
    for Record { line, mut value } in records {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        let data = take(&mut value, "data");
        reader.event(&kind, &value, data, line, out);
    }
    let Reader { main, agents, names, .. } = reader;
    let id = main.talk.draft.id.clone();
    out.finish_draft(main.talk.draft);
    for (agent, track) in agents {
        let mut draft = track.talk.draft;
        let known = names.get(&agent).filter(|name| !name.is_empty());
        draft.origin = Origin::Sidechain(known.unwrap_or(&agent).clone());
        draft.id = format!("{id}/{agent}");
        out.finish_draft(draft);
    }
}

/// The sub-agent whose event it is.
fn agent<'a>(event: &'a Value, data: &'a Value) -> Option<&'a str> {
    text(data, "parentToolCallId").or_else(|| text(event, "agentId")).filter(|id| !id.is_empty())
}

impl Reader {
    /// Counts an event, and notes what is needed before the events are read in order.
    fn survey(&mut self, value: &Value, out: &mut Sink) {
        let Some(data) = value.get("data") else { return };
        match text(value, "type").unwrap_or_default() {
            "user.message" => out.raw.messages += 1,
            "assistant.message" => {
                out.raw.messages += 1;
                let ids =
                    items(data, "toolRequests").iter().filter_map(|request| text(request, "toolCallId"));
                self.requested.extend(ids.map(str::to_owned));
            }
            "tool.execution_start" => out.raw.tool_calls += 1,
            "session.compaction_complete" | "session.truncation" => out.raw.compactions += 1,
            "subagent.started" => {
                let name = text(data, "agentName").unwrap_or_default().to_owned();
                let ids = [text(data, "toolCallId"), text(value, "agentId")];
                for id in ids.into_iter().flatten() {
                    self.names.insert(id.to_owned(), name.clone());
                }
            }
            _ => {}
        }
    }

    /// The conversation that an event belongs to.
    fn track(&mut self, agent: Option<&str>) -> &mut Track {
        let Some(agent) = agent else { return &mut self.main };
        let at = self.agents.iter().position(|(known, _)| known == agent);
        let at = at.unwrap_or_else(|| {
            let mut talk = Talk::new(agent);
            talk.cwd.clone_from(&self.main.talk.cwd);
            self.agents.push((agent.to_owned(), Track { talk, reasoning: None, started: None }));
            self.agents.len() - 1
        });
        match self.agents.get_mut(at) {
            Some((_, track)) => track,
            None => &mut self.main,
        }
    }

    fn event(&mut self, kind: &str, event: &Value, mut data: Value, line: u32, out: &mut Sink) {
        let owner = agent(event, &data).map(str::to_owned);
        let requested = text(&data, "toolCallId").is_some_and(|id| self.requested.contains(id));
        let outside = owner.is_none();
        let track = match kind {
            "user.message"
            | "assistant.message"
            | "assistant.reasoning"
            | "assistant.usage"
            | "system.message"
            | "system.notification"
            | "tool.execution_start"
            | "tool.execution_complete" => self.track(owner.as_deref()),
            _ => &mut self.main,
        };
        let talk = &mut track.talk;
        match kind {
            "session.start" | "session.resume" | "session.context_changed" => {
                if talk.draft.messages.is_empty() {
                    talk.call(text(&data, "sessionId"));
                }
                let place = data.get("context").unwrap_or(&data);
                talk.enter(text(place, "cwd"));
                talk.model(text(&data, "selectedModel"));
            }
            "session.model_change" => talk.model(text(&data, "newModel")),
            "session.error" => talk.refused(text(&data, "message").unwrap_or_default(), line),
            "session.compaction_start" => track.started = Some(talk.draft.messages.len()),
            "session.compaction_complete" => track.compacted(data, line, out),
            "session.truncation" => truncated(talk, &data, line, out),
            "system.message" => talk.prompt(take_text(&mut data, "content"), line, None, out),
            "system.notification" => {
                let said = vec![injected(take_text(&mut data, "content"))];
                talk.push(Role::User, said, line, None);
            }
            "user.message" => talk.push(Role::User, user_parts(data, outside), line, None),
            "assistant.reasoning" => track.reasoning = Some((take_text(&mut data, "content"), line)),
            "assistant.message" => track.reply(data, line),
            "assistant.usage" => talk.used(out.told(line, usage(&data)).flatten()),
            "tool.execution_start" if !requested => {
                let call = call(data, "toolName");
                talk.join(vec![call], line, None);
            }
            "tool.execution_start" => {}
            "tool.execution_complete" => talk.push(Role::Tool, vec![Part::result(result(data))], line, None),
            _ if SILENT.iter().any(|start| kind.starts_with(start)) => {}
            _ => unknown_record(kind, line, out),
        }
    }
}

impl Track {
    fn reply(&mut self, mut data: Value, line: u32) {
        let mut parts = Vec::new();
        let clear = take_text(&mut data, "reasoningText");
        let before = self.reasoning.take();
        if !clear.trim().is_empty() {
            parts.push(Part::Thinking(clear));
        } else if let Some((clear, _)) = before.filter(|(clear, _)| !clear.trim().is_empty()) {
            parts.push(Part::Thinking(clear));
        } else if let Some(opaque) = text(&data, "reasoningOpaque").filter(|opaque| !opaque.is_empty()) {
            parts.push(Part::Opaque { kind: "reasoning".into(), bytes: opaque.len() as u64 });
        }
        let said = take_text(&mut data, "content");
        if !said.is_empty() {
            parts.push(build::said(said));
        }
        if let Value::Array(requests) = take(&mut data, "toolRequests") {
            let requests = requests.into_iter().filter(Value::is_object);
            parts.extend(requests.map(|request| call(request, "name")));
        }
        self.talk.model(text(&data, "model"));
        self.talk.push(Role::Assistant, parts, line, None);
    }

    fn compacted(&mut self, mut data: Value, line: u32, out: &mut Sink) {
        let started = self.started.take();
        if data.get("success").and_then(Value::as_bool) == Some(false) {
            return;
        }
        let end = self.talk.draft.messages.len();
        let summary = Some(take_text(&mut data, "summaryContent")).filter(|text| !text.trim().is_empty());
        let recorded = Recorded {
            kept: (started.unwrap_or(end)..end).into(),
            line,
            summary,
            tokens_before: out.told(line, json::tokens(&data, "preCompactionTokens")).flatten(),
            tokens_after: out.told(line, json::tokens(&data, "postCompactionTokens")).flatten(),
            ..Recorded::default()
        };
        self.talk.compacted(recorded, None, out);
    }
}

/// Messages were removed, without a summary.
fn truncated(talk: &mut Talk, data: &Value, line: u32, out: &mut Sink) {
    if json::number(data, "messagesRemovedDuringTruncation") == Some(0) || build::is_beginning(&talk.draft) {
        return;
    }
    let recorded = Recorded {
        line,
        trigger: Some("truncation".to_owned()),
        tokens_before: out.told(line, json::tokens(data, "preTruncationTokensInMessages")).flatten(),
        tokens_after: out.told(line, json::tokens(data, "postTruncationTokensInMessages")).flatten(),
        ..Recorded::default()
    };
    talk.compacted(recorded, Some("a truncation does not name the messages that it removed"), out);
}

/// What the user typed, and what the client put around it; `main` for the conversation with the user, in which a message with a source
/// is written by the client.
fn user_parts(mut data: Value, main: bool) -> Vec<Part> {
    let meta = main && text(&data, "source").is_some_and(|source| !source.is_empty() && source != "user");
    let typed = take_text(&mut data, "content");
    let whole = take_text(&mut data, "transformedContent");
    let mut parts = Vec::new();
    let around =
        Some(typed.as_str()).filter(|typed| !typed.is_empty()).and_then(|typed| whole.split_once(typed));
    let (before, after) = around.unwrap_or_default();
    let around = |said: &str, parts: &mut Vec<Part>| {
        if !said.trim().is_empty() {
            parts.push(injected(said.trim().to_owned()));
        }
    };
    around(before, &mut parts);
    if typed.is_empty() {
        around(&whole, &mut parts);
    } else {
        super::injected::push_user_text(typed.clone(), meta, &mut parts);
    }
    around(after, &mut parts);
    let images = items(&data, "attachments").iter().filter(|one| {
        text(one, "mimeType").is_some_and(|kind| kind.starts_with("image/"))
            || text(one, "type") == Some("image")
    });
    parts.extend(images.map(|image| Part::Image { bytes: text(image, "data").map_or(0, str::len) as u64 }));
    parts
}

/// A call; arguments are an object, or raw text.
fn call(mut request: Value, name: &str) -> Part {
    Part::call(ToolCall {
        id: take_text(&mut request, "toolCallId"),
        name: take_name(&mut request, name),
        arguments: argument_text(take(&mut request, "arguments")),
    })
}

fn result(mut data: Value) -> ToolResult {
    let call_id = take_text(&mut data, "toolCallId");
    let success = data.get("success").and_then(Value::as_bool);
    let mut held = take(&mut data, "result");
    let content = match take(&mut held, "content") {
        Value::Null if held.is_string() => held,
        content => content,
    };
    let (mut text, images) = blocks::result_text(content);
    let failed = data.get("error").is_some_and(|error| !error.is_null());
    if text.is_empty() && failed {
        let mut error = take(&mut data, "error");
        text = match take(&mut error, "message") {
            Value::Null => argument_text(error),
            message => argument_text(message),
        };
    }
    let exit_code = exit_line(&text);
    let (outcome, judged) = match (success, exit_code) {
        (Some(false), _) => (Outcome::Failed, None),
        (_, Some(code)) => (outcome::of_exit(code), None),
        (Some(true), None) => (Outcome::Ok, None),
        (None, None) if failed => (Outcome::Failed, None),
        (None, None) => outcome::judge(&text, Outcome::Unknown),
    };
    ToolResult { call_id, text, outcome, exit_code: exit_code.or(judged), images }
}

/// The exit status that the last line of a command's output tells.
fn exit_line(text: &str) -> Option<i32> {
    let last = text.trim_end().rsplit('\n').next()?;
    let (_, behind) = last.split_once("exited with exit code ").or_else(|| last.split_once("exit code "))?;
    if !last.starts_with('<') {
        return None;
    }
    behind.trim_end_matches(['>', '.', ' ']).parse().ok()
}

/// Usage of a reply; the input counts what came from and went to the cache.
fn usage(data: &Value) -> Result<Option<Usage>, String> {
    let [input, output, cache_read, cache_write] =
        counts(data, ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"])?;
    Ok((input > 0 && !flag(data, "partial")).then_some(Usage { input, cache_read, cache_write, output }))
}
