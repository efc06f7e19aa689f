//! ATIF trajectories, Harbor's format for interchange: one document, or one trajectory a line.
//!
//! A step of the agent holds calls and their results: it becomes a reply and a message of results. Trajectories of sub-agents, inside a document or
//! beside it in the same file and referred to by a result, are sidechains.

#[cfg(test)]
mod tests;

use crate::ingest::value::{Items, Value};

use super::blocks::{self, Speaker};
use super::build::{self, Names};
use super::formats::Format;
use super::json::{self, argument_text, counts, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{List, Shape, Split};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Origin, Outcome, Part, Role, Usage};

/// Trajectories.
pub(super) static SHAPE: Shape = Shape {
    split: Split::Each { own: |_| true, refers: Some(referred) },
    list: Some(List { field: "steps", read: read_list }),
    dated: false,
    ..Shape::new(Format::Atif, sniff, read)
};

/// Fields that name a trajectory.
const IDS: [&str; 2] = ["trajectory_id", "session_id"];

fn sniff(value: &Value) -> Option<&'static str> {
    (text(value, "schema_version")?.starts_with("ATIF") && value.get("steps").is_some())
        .then_some("has schema_version of ATIF and steps")
}

fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let names = Names::new(&records, |_| true, name, out);
    out.refer(records.iter().flat_map(|record| referred(&record.value)));
    for record in records {
        let ids = if names.several { &IDS[..] } else { &["session_id", "trajectory_id"] };
        let id = names.next(&record.value, ids, out);
        let sub = IDS.iter().any(|key| text(&record.value, key).is_some_and(|id| out.is_referred(id)));
        nested(record.value, &id, sub, &|index| names.place(record.line, index), 0, out);
    }
}

/// Reads a file that is one trajectory: it is nobody's sub-agent.
fn read_list(value: Value, steps: Items<'_>, name: &str, out: &mut Sink) {
    let names = Names::new(&[], |_| true, name, out);
    let id = names.next(&value, &["session_id", "trajectory_id"], out);
    trajectory(value, Some(steps), &id, false, &|index| names.place(1, index), 0, out);
}

/// The ids of the trajectories that results refer to.
fn referred(value: &Value) -> Vec<String> {
    let results =
        items(value, "steps").iter().filter_map(|step| step.pointer("/observation/results")?.as_array());
    let refs = results.flatten().filter_map(|result| result.get("subagent_trajectory_ref"));
    let lists = refs.flat_map(|refs| refs.as_array().unwrap_or(std::slice::from_ref(refs)));
    let own: Vec<&str> = IDS.iter().filter_map(|key| text(value, key)).collect();
    lists
        .flat_map(|reference| IDS.iter().filter_map(|key| text(reference, key)))
        .filter(|id| !own.contains(id))
        .map(str::to_owned)
        .collect()
}

/// A trajectory with its steps inside it.
fn nested(mut value: Value, id: &str, sub: bool, place: &dyn Fn(usize) -> u32, depth: u32, out: &mut Sink) {
    match take(&mut value, "steps") {
        Value::Array(steps) => trajectory(value, Some(&mut steps.into_iter()), id, sub, place, depth, out),
        _ => trajectory(value, None, id, sub, place, depth, out),
    }
}

fn trajectory(
    mut value: Value,
    steps: Option<Items<'_>>,
    id: &str,
    sub: bool,
    place: &dyn Fn(usize) -> u32,
    depth: u32,
    out: &mut Sink,
) {
    const DEEPEST: u32 = 32;
    let mut draft = Draft::holding(id, steps.as_ref().map_or(0, ExactSizeIterator::len));
    let mut agent = take(&mut value, "agent");
    draft.model = text(&agent, "model_name").filter(|model| !model.is_empty()).map(str::to_owned);
    let schema = argument_text(take(&mut agent, "tool_definitions"));
    draft.tool_schema = Some(schema).filter(|schema| schema.len() > 2);
    if sub {
        draft.origin = Origin::Sidechain(text(&agent, "name").unwrap_or(id).to_owned());
    }
    match steps {
        Some(steps) => {
            for (index, value) in steps.enumerate() {
                step(&mut draft, value, place(index), out);
            }
        }
        None => {
            out.damage(place(0), "bad-record", "a trajectory without a list of steps; its content is lost");
        }
    }
    if value.get("continued_trajectory_ref").is_some_and(|it| !it.is_null()) {
        let text = "the trajectory goes on in another file";
        out.note(place(0), "continues-elsewhere", Severity::Note, text);
    }
    out.finish_draft(draft);
    if let Value::Array(inner) = take(&mut value, "subagent_trajectories") {
        for (number, value) in inner.into_iter().enumerate() {
            if depth < DEEPEST {
                let id = build::session_id(&value, &IDS, &format!("{id}#sub"), number + 1, true);
                nested(value, &id, true, place, depth + 1, out);
            }
        }
    }
}

fn step(draft: &mut Draft, mut step: Value, line: u32, out: &mut Sink) {
    out.raw.messages += 1;
    out.raw.tool_calls += items(&step, "tool_calls").len() as u64;
    if !step.is_object() {
        out.damage(line, "bad-record", "a step that is no object; its content is lost");
        return;
    }
    let acts = ["tool_calls", "metrics", "reasoning_content"].iter().any(|key| step.get(key).is_some());
    let source = text(&step, "source").unwrap_or_default().to_owned();
    let message = take(&mut step, "message");
    let of_user = |meta| Speaker::User { meta };
    let (role, speaker) = match source.as_str() {
        "agent" => (Role::Assistant, Speaker::Other),
        "user" => (Role::User, of_user(false)),
        "system" => (Role::System, Speaker::Other),
        _ => {
            let text = format!("source {source:?} of a step is not known; judged by what it holds");
            out.note(line, "unknown-role", Severity::Note, text);
            if acts { (Role::Assistant, Speaker::Other) } else { (Role::User, of_user(true)) }
        }
    };
    let time = json::time_at(&step, "timestamp");
    let mut parts = Vec::new();
    if role == Role::Assistant {
        let clear = take_text(&mut step, "reasoning_content");
        parts.extend(Some(clear).filter(|clear| !clear.trim().is_empty()).map(Part::Thinking));
        if let Some(model) = text(&step, "model_name").filter(|model| !model.is_empty()) {
            draft.model = Some(model.to_owned());
        }
    }
    parts.extend(blocks::parts(message, speaker, Outcome::Unknown));
    if let Value::Array(calls) = take(&mut step, "tool_calls") {
        parts.extend(calls.into_iter().filter(Value::is_object).map(|mut call| {
            let (id, name) = (take_text(&mut call, "tool_call_id"), take_text(&mut call, "function_name"));
            build::call(id, name, take(&mut call, "arguments"))
        }));
    }
    let mut said = build::message(role, parts, line);
    let usage = step.get("metrics").and_then(|told| out.told(line, usage(told)).flatten());
    said.usage = usage.map(Box::new);
    said.time = time;
    draft.messages.push(said);
    let mut observation = take(&mut step, "observation");
    if let Value::Array(results) = take(&mut observation, "results") {
        let answers = results.into_iter().filter(Value::is_object).map(|mut result| {
            let content = take(&mut result, "content");
            build::answer(take_text(&mut result, "source_call_id"), content, &result)
        });
        let mut answers = build::message(Role::Tool, answers.collect(), line);
        answers.time = time;
        draft.messages.push(answers);
    }
}

/// Usage of a step: cached tokens are part of the prompt.
fn usage(metrics: &Value) -> Result<Option<Usage>, String> {
    let [input, output, cache_read] =
        counts(metrics, ["prompt_tokens", "completion_tokens", "cached_tokens"])?;
    let extra = metrics.get("extra").map(|extra| json::tokens(extra, "cache_write_tokens"));
    let cache_write = extra.transpose()?.flatten().unwrap_or_default();
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
