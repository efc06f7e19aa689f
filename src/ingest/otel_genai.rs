//! OpenTelemetry spans of generative AI: exports in OTLP's JSON, one or many a file, and spans as they are.
//!
//! The spans of model calls are read, in the order in which they began; each repeats its conversation
//! ([`threads`](super::threads)). Three vocabularies: the conventions of OpenTelemetry (`gen_ai.input.messages`), those of
//! OpenInference (`llm.input_messages.0.…`) and the older numbered ones (`gen_ai.prompt.0.…`). Spans of agents and of tools tell the
//! same once more: of them come only which calls ran as an agent (a sidechain) and the results that no later call repeats.

mod messages;

#[cfg(test)]
mod tests;

use crate::ingest::value::{Map, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::build;
use super::formats::Format;
use super::json::{self, argument_text, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::Shape;
use super::sink::Sink;
use super::threads::Threads;
use crate::diagnostic::Severity;
use crate::transcript::{Message, Origin, Part, Role};

/// Exports and spans.
pub(super) static SHAPE: Shape = Shape::new(Format::OtelGenai, sniff, read);

fn sniff(value: &Value) -> Option<&'static str> {
    if ["resourceSpans", "resource_spans"].iter().any(|key| value.get(key).is_some_and(Value::is_array)) {
        return Some("has resourceSpans");
    }
    let known = |key: &str| {
        key.starts_with("gen_ai.") || key.starts_with("llm.") || key.starts_with("openinference.")
    };
    let named = match value.get("attributes")? {
        Value::Object(map) => map.keys().any(&known),
        Value::Array(list) => list.iter().any(|it| text(it, "key").is_some_and(known)),
        _ => false,
    };
    named.then_some("is a span with attributes of generative AI")
}

/// One span.
#[derive(Debug, Default)]
struct Span {
    id: String,
    parent: String,
    trace: String,
    name: String,
    start: Option<i64>,
    /// When it began, in nanoseconds: calls follow each other within a millisecond.
    order: i128,
    end: Option<i64>,
    attributes: Map,
    line: u32,
}

impl Span {
    fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.attributes.get(key)?.as_str()).filter(|text| !text.is_empty())
    }

    fn kind(&self) -> Kind {
        match self.text(&["gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind"]) {
            Some("chat" | "text_completion" | "generate_content" | "LLM") => Kind::Model,
            Some("execute_tool" | "TOOL" | "tool") => Kind::Tool,
            Some(_) => Kind::Other,
            None if messages::has(&self.attributes) => Kind::Model,
            None => Kind::Other,
        }
    }

    fn agent(&self) -> Option<&str> {
        self.text(&["gen_ai.agent.name", "agent.name", "agent_name"])
    }
}

/// What a span stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Tool,
    Other,
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut spans = Vec::new();
    for Record { line, value } in records {
        collect(value, line, &mut spans, out);
    }
    // Stable: spans without a time stay in the order of the file.
    spans.sort_by_key(|span| span.order);
    let mut threads = Threads::default();
    let mut used: FxHashSet<String> = FxHashSet::default();
    for span in spans.iter().filter(|span| span.kind() == Kind::Model) {
        let read = messages::of_span(&span.attributes, span.line, out);
        let said = timed(read, span);
        let new = || {
            let id = span.text(&["gen_ai.conversation.id", "session.id"]).unwrap_or(&span.trace);
            let id = if id.is_empty() { name } else { id };
            let mut own = id.to_owned();
            let mut number = 1;
            while !used.insert(own.clone()) {
                number += 1;
                own = format!("{id}#{number}");
            }
            Draft { origin: origin(span, &spans), ..Draft::new(own) }
        };
        let at = threads.add(said, new);
        if let Some(draft) = threads.draft(at) {
            let model = span.text(&["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"]);
            draft.model = model.map(str::to_owned).or_else(|| draft.model.take());
            draft.tool_schema = draft.tool_schema.take().or_else(|| messages::tools(&span.attributes));
        }
    }
    let results: FxHashMap<&str, &Span> = spans
        .iter()
        .filter(|span| span.kind() == Kind::Tool)
        .filter_map(|span| Some((span.text(&["gen_ai.tool.call.id", "tool_call.id"])?, span)))
        .collect();
    for draft in threads.drafts() {
        last_results(draft, &results);
        out.raw.messages += draft.messages.len() as u64;
        let parts = draft.messages.iter().flat_map(|message| &message.parts);
        out.raw.tool_calls += parts.filter(|part| matches!(part, Part::Call(_))).count() as u64;
    }
    threads.finish(out);
}

/// Where a span's conversation belongs: inside a call of a tool it is that of an agent used as one.
fn origin(span: &Span, spans: &[Span]) -> Origin {
    const FARTHEST: usize = 64;
    let mut agent = span.agent();
    let mut at = span;
    for _ in 0..FARTHEST {
        let parent = spans
            .iter()
            .find(|other| !at.parent.is_empty() && other.id == at.parent && other.trace == at.trace);
        let Some(parent) = parent else { break };
        at = parent;
        if at.kind() == Kind::Tool {
            return Origin::Sidechain(agent.unwrap_or(&at.name).to_owned());
        }
        agent = agent.or_else(|| at.agent());
    }
    Origin::Main
}

/// Messages with the times of their span: what was sent has its beginning, the reply its end.
fn timed(read: messages::Said, span: &Span) -> Vec<Message> {
    let messages::Said { mut sent, mut reply, usage } = read;
    for message in &mut sent {
        message.time = span.start;
    }
    for message in &mut reply {
        message.time = span.end.or(span.start);
    }
    if let Some(first) = reply.iter_mut().find(|message| message.role == Role::Assistant) {
        first.usage = usage.map(Box::new);
    }
    let mut joined: Vec<Message> = Vec::with_capacity(sent.len() + reply.len());
    let boundary = sent.len();
    for (at, message) in sent.into_iter().chain(reply).enumerate() {
        // What the API gives as several items is one reply.
        let joins = message.role == Role::Assistant && at != boundary;
        match joined.last_mut().filter(|last| joins && last.role == Role::Assistant) {
            Some(last) => last.parts.extend(message.parts),
            None => joined.push(message),
        }
    }
    joined
}

/// Adds the results of the last calls, which stand in the spans of the tools alone.
fn last_results(draft: &mut Draft, results: &FxHashMap<&str, &Span>) {
    let Some(last) = draft.messages.last().filter(|last| last.role == Role::Assistant) else { return };
    let (line, calls) = (last.line, last.parts.iter());
    let answers: Vec<(Option<i64>, Part)> = calls
        .filter_map(|part| match part {
            Part::Call(call) => {
                let span = results.get(call.id.as_str())?;
                let keys = ["gen_ai.tool.call.result", "output.value", "tool_response"];
                let result = keys.iter().find_map(|key| span.attributes.get(key))?;
                Some((span.end, build::answer(call.id.clone(), result.clone(), &Value::Null)))
            }
            _ => None,
        })
        .collect();
    for (time, answer) in answers {
        let mut message = build::message(Role::Tool, vec![answer], line);
        message.time = time;
        draft.messages.push(message);
    }
}

/// Takes the spans out of an export, or the span that a record is.
fn collect(mut value: Value, line: u32, spans: &mut Vec<Span>, out: &mut Sink) {
    let list = |value: &mut Value, keys: [&str; 2]| match keys
        .iter()
        .map(|key| take(value, key))
        .find(Value::is_array)
    {
        Some(Value::Array(list)) => Some(list),
        _ => None,
    };
    match list(&mut value, ["resourceSpans", "resource_spans"]) {
        Some(resources) => {
            for mut resource in resources {
                for mut scope in list(&mut resource, ["scopeSpans", "scope_spans"]).unwrap_or_default() {
                    for span in list(&mut scope, ["spans", "Spans"]).unwrap_or_default() {
                        spans.push(of_value(span, line));
                    }
                }
            }
        }
        None if value.get("attributes").is_some() => spans.push(of_value(value, line)),
        None => out.note(line, "unknown-record", Severity::Note, "neither an export nor a span; ignored"),
    }
}

fn of_value(mut value: Value, line: u32) -> Span {
    let context = take(&mut value, "context");
    let of = |keys: &[&str]| -> String {
        let found = keys.iter().find_map(|key| text(&value, key).or_else(|| text(&context, key)));
        found.unwrap_or_default().to_owned()
    };
    let (id, trace) = (of(&["spanId", "span_id"]), of(&["traceId", "trace_id"]));
    let parent = of(&["parentSpanId", "parent_span_id", "parent_id"]);
    let time = |keys: [&str; 3]| keys.iter().find_map(|key| json::time_at(&value, key));
    let start = time(["startTimeUnixNano", "start_time_unix_nano", "start_time"]);
    let exact = ["startTimeUnixNano", "start_time_unix_nano"].iter().find_map(|key| value.get(key));
    let exact = exact.and_then(|told| argument_text(told.clone()).parse::<i128>().ok());
    let order = exact.or_else(|| Some(i128::from(start?) * 1_000_000)).unwrap_or(i128::MIN);
    let end = time(["endTimeUnixNano", "end_time_unix_nano", "end_time"]);
    let name = take_text(&mut value, "name");
    let attributes = match take(&mut value, "attributes") {
        Value::Object(map) => map,
        Value::Array(list) => list
            .into_iter()
            .filter_map(|mut it| Some((text(&it, "key")?.to_owned(), plain(take(&mut it, "value"), 0))))
            .collect(),
        _ => Map::new(),
    };
    Span { id, parent, trace, name, start, order, end, attributes, line }
}

/// A value of OTLP without its wrapper that names the type.
fn plain(mut value: Value, depth: u32) -> Value {
    const DEEPEST: u32 = 64;
    if depth > DEEPEST || !value.is_object() {
        return value;
    }
    for key in ["stringValue", "string_value", "boolValue", "bool_value", "doubleValue", "double_value"] {
        let inner = take(&mut value, key);
        if !inner.is_null() {
            return inner;
        }
    }
    for key in ["intValue", "int_value"] {
        let inner = take(&mut value, key);
        if !inner.is_null() {
            // Whole numbers of 64 bits are texts in JSON.
            let number = argument_text(inner).parse::<i64>();
            return number.map(Value::from).unwrap_or_default();
        }
    }
    if let Some(list) = value.pointer_mut("/arrayValue/values").map(Value::take) {
        let Value::Array(list) = list else { return Value::Null };
        return Value::Array(list.into_iter().map(|item| plain(item, depth + 1)).collect());
    }
    if value.get("kvlistValue").is_some() {
        let pairs = value.get("kvlistValue").map(|list| items(list, "values")).unwrap_or_default();
        let pairs = pairs.iter().filter_map(|pair| {
            Some((text(pair, "key")?.to_owned(), plain(pair.get("value")?.clone(), depth + 1)))
        });
        return Value::Object(pairs.collect());
    }
    value
}
