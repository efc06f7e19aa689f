//! Events of version 1, which name their kind, and the state beside them.

use crate::ingest::value::Value;

use super::super::blocks::{self, Speaker};
use super::super::build;
use super::super::json::{argument_text, flag, items, take, take_text, text};
use super::super::links::Draft;
use super::super::sink::Sink;
use super::{Reader, span};
use crate::diagnostic::Severity;
use crate::transcript::{Outcome, Part, Role};

pub(super) fn is_event(value: &Value) -> bool {
    text(value, "kind").is_some_and(|kind| {
        kind.ends_with("Event") || matches!(kind, "Condensation" | "CondensationRequest" | "AgentErrorEvent")
    }) && text(value, "source").is_some_and(|it| matches!(it, "agent" | "user" | "environment" | "hook"))
}

/// True for `base_state.json`.
pub(super) fn is_state(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    value.get("agent").is_some_and(Value::is_object)
        && (has("execution_status") || has("agent_status") || has("persistence_dir") || has("max_iterations"))
        && (has("workspace") || has("id"))
}

pub(super) fn describe(draft: &mut Draft, state: &Value) {
    if let Some(id) = text(state, "id").filter(|id| !id.is_empty()) {
        id.clone_into(&mut draft.id);
    }
    let model = state.pointer("/agent/llm/model").and_then(Value::as_str);
    draft.model = draft.model.take().or(model.map(str::to_owned));
}

/// The ids of the events that a condensation forgot.
pub(super) fn forgotten(args: &Value) -> Option<Vec<String>> {
    let listed = ["forgotten_event_ids", "pruned_event_ids"].iter().find_map(|key| args.get(key)?.as_array());
    match listed {
        Some(list) => Some(list.iter().cloned().map(argument_text).collect()),
        None => span(args, "forgotten_events_start_id", "forgotten_events_end_id"),
    }
}

pub(super) fn event(reader: &mut Reader, mut event: Value, line: u32, out: &mut Sink) {
    let kind = text(&event, "kind").unwrap_or_default().to_owned();
    match kind.as_str() {
        "SystemPromptEvent" => {
            let parts = blocks::parts(take(&mut event, "system_prompt"), Speaker::Other, Outcome::Unknown);
            let schema = argument_text(take(&mut event, "tools"));
            reader.draft.tool_schema =
                reader.draft.tool_schema.take().or(Some(schema).filter(|it| it.len() > 2));
            reader.push(Role::System, parts, line, &event);
        }
        "MessageEvent" => message(reader, event, line),
        "ActionEvent" => action(reader, event, line, out),
        "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" | "ObservationBaseEvent" => {
            observation(reader, event, &kind, line);
        }
        "Condensation" | "CondensationEvent" => {
            let summary = Some(take_text(&mut event, "summary"));
            reader.condensed(forgotten(&event), summary, line, out);
        }
        "CondensationSummaryEvent"
        | "CondensationRequest"
        | "ConversationStateUpdateEvent"
        | "PauseEvent"
        | "TokenEvent"
        | "LLMCompletionLogEvent"
        | "ConversationErrorEvent"
        | "HookExecutionEvent" => {}
        _ => {
            let text = format!("event of unknown kind {kind:?}, left out");
            out.note(line, "unknown-record", Severity::Note, text);
        }
    }
}

fn message(reader: &mut Reader, mut event: Value, line: u32) {
    let mut inner = take(&mut event, "llm_message");
    let by_agent = text(&event, "source") == Some("agent") || text(&inner, "role") == Some("assistant");
    let content = take(&mut inner, "content");
    if by_agent {
        let mut parts = thinking(&mut inner);
        parts.extend(blocks::parts(content, Speaker::Other, Outcome::Unknown));
        let response = super::response_of(&event);
        reader.say(parts, response.as_deref(), line, &event);
        return;
    }
    let meta = text(&event, "source") != Some("user");
    let mut parts = blocks::parts(content, Speaker::User { meta }, Outcome::Unknown);
    let extended = take(&mut event, "extended_content");
    parts.extend(blocks::parts(extended, Speaker::User { meta: true }, Outcome::Unknown));
    reader.push(Role::User, parts, line, &event);
}

fn thinking(value: &mut Value) -> Vec<Part> {
    let clear = take_text(value, "reasoning_content");
    let mut blocks = blocks::parts(take(value, "thinking_blocks"), Speaker::Other, Outcome::Unknown);
    if blocks.is_empty() && !clear.trim().is_empty() {
        blocks.push(Part::Thinking(clear));
    }
    blocks
}

fn action(reader: &mut Reader, mut event: Value, line: u32, out: &mut Sink) {
    out.raw.tool_calls += 1;
    let mut parts = thinking(&mut event);
    parts.extend(blocks::parts(take(&mut event, "thought"), Speaker::Other, Outcome::Unknown));
    let sent = event.pointer_mut("/tool_call/arguments").map(Value::take).filter(|it| !it.is_null());
    let sent = sent.or_else(|| event.pointer_mut("/tool_call/function/arguments").map(Value::take));
    let mut action = take(&mut event, "action");
    if let Some(fields) = action.as_object_mut() {
        fields.remove("kind");
    }
    let arguments = sent.filter(|it| !it.is_null()).unwrap_or(action);
    let id = take_text(&mut event, "tool_call_id");
    reader.calls.insert(super::id_text(&event), id.clone());
    parts.push(build::call(id, take_text(&mut event, "tool_name"), arguments));
    let response = super::response_of(&event);
    reader.say(parts, response.as_deref(), line, &event);
}

fn observation(reader: &mut Reader, mut event: Value, kind: &str, line: u32) {
    let mut observation = take(&mut event, "observation");
    let cause = text(&event, "action_id").and_then(|id| reader.calls.get(id)).cloned();
    let call_id = text(&event, "tool_call_id").map(str::to_owned).or(cause).unwrap_or_default();
    let directory = observation.pointer("/metadata/working_dir").and_then(Value::as_str);
    if let Some(cwd) = directory.filter(|it| !it.is_empty()) {
        reader.cwd = Some(arcstr::ArcStr::from(cwd));
    }
    let mut content = ["content", "output", "error"]
        .iter()
        .map(|key| take(&mut observation, key))
        .find(|it| !it.is_null() && it.as_array().is_none_or(|list| !list.is_empty()))
        .unwrap_or_default();
    if content.is_null() {
        let said = ["error", "rejection_reason"].iter().map(|key| take(&mut event, key));
        content = said.into_iter().find(|it| !it.is_null()).unwrap_or_default();
    }
    if content.is_null() && observation.is_object() {
        if let Some(fields) = observation.as_object_mut() {
            fields.remove("kind");
        }
        content = Value::from(observation.to_string());
    }
    let mut answer = build::answer(call_id, content, &observation);
    if let Part::Result(result) = &mut answer
        && (kind != "ObservationEvent" || flag(&observation, "is_error"))
    {
        result.outcome = Outcome::Failed;
    }
    let images = items(&observation, "screenshot_data").len();
    if let Part::Result(result) = &mut answer {
        result.images += u32::try_from(images).unwrap_or(0);
    }
    reader.push(Role::Tool, vec![answer], line, &event);
}
