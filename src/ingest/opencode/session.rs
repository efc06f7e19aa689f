//! One session of opencode, however it was stored: the messages of the conversation.
//!
//! A message of the model holds all steps of a reply, with the results inside their calls; each step becomes a
//! message and its results another. Usage is told per step, and where it is not, for the last step by the message. Text
//! marked synthetic is the harness's: contents of attached files, reminders, the request to go on after a compaction.
//!
//! A compaction is a request of the user's role that holds nothing else, and the reply with the summary behind it. Only where
//! that reply came to its end the context begins anew, with the messages from `tail_start_id` on where the request names one.
//! Outputs that were later cleared from the context are still in the log and stay.
//!
//! What the user took back (`revert`) is no longer part of the conversation and left out.

use arcstr::ArcStr;

use crate::ingest::value::{Map, Value, shared};
use rustc_hash::FxHashMap;

use super::build;
use super::{items, text};
use crate::diagnostic::Severity;
use crate::ingest::injected;
use crate::ingest::json::{self, argument_text, counts, flag, take, take_text, tokens, weight};
use crate::ingest::links::Draft;
use crate::ingest::outcome;
use crate::ingest::sink::Sink;
use crate::transcript::{
    Message, MessageIdx, Origin, Outcome, Part, Refusal, Role, ToolCall, ToolResult, Usage,
};

/// Errors of a reply that are no refusals of the provider.
const NO_REFUSALS: [&str; 3] = ["MessageAbortedError", "AbortedError", "MessageOutputLengthError"];

/// A message as the log tells it.
pub(super) struct Told {
    /// Its 1-based place.
    pub(super) line: u32,
    /// What is said of it.
    pub(super) info: Value,
    /// Its parts, in order.
    pub(super) parts: Vec<Value>,
}

/// Puts messages and parts in order and reads the session.
pub(super) fn assemble(
    info: &Value,
    mut messages: Vec<Value>,
    mut parts: FxHashMap<String, Vec<Value>>,
    name: &str,
    out: &mut Sink,
) {
    let id = |value: &Value| text(value, "id").unwrap_or_default().to_owned();
    messages.sort_by_cached_key(|message| (created(message), id(message)));
    let mut told = Vec::with_capacity(messages.len());
    for (line, message) in (1u32..).zip(messages) {
        let mut own = parts.remove(text(&message, "id").unwrap_or_default()).unwrap_or_default();
        own.sort_by_cached_key(id);
        told.push(Told { line, info: message, parts: own });
    }
    let own = text(info, "id").or_else(|| told.iter().find_map(|message| text(&message.info, "sessionID")));
    // Parts of another session of the tree may have come here: nothing tells whose they are but themselves.
    let stated = |(id, parts): (String, Vec<Value>)| {
        let other = parts.iter().find_map(|part| text(part, "sessionID")).filter(|id| Some(*id) != own);
        (id, other.map(|id| format!(" of session {id}")).unwrap_or_default(), parts.len())
    };
    let mut lost: Vec<(String, String, usize)> = parts.into_iter().map(stated).collect();
    lost.sort_unstable();
    for (id, of, parts) in lost {
        let text = format!(
            "what was said in message {id}{of} is lost ({parts} parts): its own file is not there or not to be read"
        );
        out.damage(0, "lost-parts", text);
    }
    read(info, told, name, out);
}

/// When a record says it was made.
fn created(value: &Value) -> Option<i64> {
    json::time_at(value.get("time")?, "created")
}

/// Reads one session; `name` is its id where it has none.
pub(super) fn read(info: &Value, messages: Vec<Told>, name: &str, out: &mut Sink) {
    let of_messages = || messages.iter().find_map(|message| text(&message.info, "sessionID"));
    let id = text(info, "id").or_else(of_messages).filter(|id| !id.is_empty()).unwrap_or(name).to_owned();
    let mut draft = Draft::new(id);
    if let Some(parent) = text(info, "parentID").filter(|parent| !parent.is_empty()) {
        let title = text(info, "title").filter(|title| !title.is_empty());
        draft.origin = Origin::Sidechain(title.unwrap_or(parent).to_owned());
    }
    let reverted = info.get("revert").and_then(|revert| {
        Some((text(revert, "messageID")?.to_owned(), text(revert, "partID").map(str::to_owned)))
    });
    let cwd = build::directory(info, "directory");
    let mut reader = Reader { draft, cwd, asked: None, places: FxHashMap::default() };
    let mut taken_back = false;
    for mut message in messages {
        out.raw.messages += 1;
        let count =
            |kind: &str| message.parts.iter().filter(|part| text(part, "type") == Some(kind)).count() as u64;
        out.raw.tool_calls += count("tool");
        out.raw.compactions += count("compaction");
        if let Some((_, part)) = reverted.as_ref().filter(|(id, _)| text(&message.info, "id") == Some(id)) {
            taken_back = true;
            let stays = part.as_ref().and_then(|part| {
                message.parts.iter().position(|one| text(one, "id") == Some(part)).filter(|at| *at > 0)
            });
            let note = "messages that the user took back, left out";
            out.note(message.line, "reverted", Severity::Note, note);
            if let Some(stays) = stays {
                message.parts.truncate(stays);
                reader.message(message, out);
            }
        } else if !taken_back {
            reader.message(message, out);
        }
    }
    if let Some(asked) = reader.asked.take() {
        asked.unfinished(out);
    }
    out.finish_draft(reader.draft);
}

/// A compaction that was asked for and has no summary yet.
struct Asked {
    line: u32,
    auto: Option<bool>,
    tail: Option<String>,
}

impl Asked {
    fn unfinished(&self, out: &mut Sink) {
        let text = "a compaction that came to no summary; the conversation goes on as it was";
        out.note(self.line, "unfinished-compaction", Severity::Note, text);
    }
}

/// Builds the session message by message.
struct Reader {
    draft: Draft,
    cwd: Option<ArcStr>,
    asked: Option<Asked>,
    /// How many messages there were before the message with an id.
    places: FxHashMap<String, usize>,
}

impl Reader {
    fn message(&mut self, message: Told, out: &mut Sink) {
        let Told { line, info, parts } = message;
        if let Some(id) = text(&info, "id") {
            self.places.insert(id.to_owned(), self.draft.messages.len());
        }
        match text(&info, "role") {
            Some("user") => self.request(&info, parts, line, out),
            Some("assistant") if flag(&info, "summary") => self.summary(&info, &parts, line, out),
            Some("assistant") => self.reply(&info, parts, line, out),
            Some("system") => {
                let texts =
                    parts.into_iter().map(|mut part| build::text(take_text(&mut part, "text"), false));
                let texts = texts.collect();
                self.push(Role::System, texts, line, created(&info));
            }
            _ if !info.is_object() => {
                out.damage(line, "bad-record", "a message that does not say what it is; its content is lost");
            }
            role => {
                let text = format!("message of unknown role {:?}, left out", role.unwrap_or_default());
                out.note(line, "unknown-role", Severity::Note, text);
            }
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32, time: Option<i64>) {
        if !parts.is_empty() {
            let cwd = self.cwd.clone();
            self.draft.messages.push(Message { cwd, time, ..build::message(role, parts, line) });
        }
    }

    fn request(&mut self, info: &Value, parts: Vec<Value>, line: u32, out: &mut Sink) {
        let mut found = Vec::new();
        for mut part in parts {
            match text(&part, "type").unwrap_or_default() {
                "text" if flag(&part, "ignored") => {
                    let text = "a text that was shown and never sent to the model, left out";
                    out.note(line, "unsent-text", Severity::Note, text);
                }
                "text" => {
                    let synthetic = flag(&part, "synthetic");
                    injected::push_user_text(take_text(&mut part, "text"), synthetic, &mut found);
                }
                "file" => push_file(&part, &mut found),
                "compaction" => {
                    let auto = part.get("auto").and_then(Value::as_bool);
                    let tail = text(&part, "tail_start_id").map(str::to_owned);
                    if let Some(asked) = self.asked.replace(Asked { line, auto, tail }) {
                        asked.unfinished(out);
                    }
                }
                "subtask" => {
                    let agent = text(&part, "agent").unwrap_or_default();
                    let prompt = text(&part, "prompt").unwrap_or_default();
                    found.push(build::text(format!("Task for {agent}: {prompt}"), true));
                }
                // Which agent was named, the state of the files.
                "agent" | "snapshot" | "patch" | "step-start" | "step-finish" => {}
                other => unknown_part(other, line, out),
            }
        }
        self.push(Role::User, found, line, created(info));
    }

    /// Sets a summary aside, or begins the conversation with it.
    fn summary(&mut self, info: &Value, parts: &[Value], line: u32, out: &mut Sink) {
        let asked = self.asked.take();
        let texts = parts.iter().filter(|part| text(part, "type") == Some("text"));
        let texts: Vec<&str> = texts.filter_map(|part| text(part, "text")).collect();
        let summary = texts.join("\n");
        self.refused(info, line);
        let failed = info.get("error").is_some_and(|error| !error.is_null());
        if failed || summary.trim().is_empty() {
            asked.unwrap_or(Asked { line, auto: None, tail: None }).unfinished(out);
            return;
        }
        if build::is_beginning(&self.draft) {
            build::begin_compacted(&mut self.draft, Some(summary), line);
            return;
        }
        let mut recorded = build::compaction(&self.draft, Some(summary), line);
        let mut lost = false;
        if let Some(asked) = asked {
            let word = |auto: bool| if auto { "auto" } else { "manual" };
            recorded.trigger = asked.auto.map(|auto| word(auto).to_owned());
            if let Some(tail) = asked.tail {
                let end = self.draft.messages.len();
                let first = self.places.get(&tail).copied();
                lost = first.is_none();
                recorded.kept = (first.unwrap_or(end)..end).into();
            }
        }
        if lost {
            out.kept_unknown(&mut recorded, "the first message that it kept is not in the log");
        }
        self.draft.recorded.push(recorded);
    }

    /// Notes a request that the provider refused.
    fn refused(&mut self, info: &Value, line: u32) {
        let Some(error) = info.get("error").filter(|error| error.is_object()) else { return };
        if text(error, "name").is_some_and(|name| NO_REFUSALS.contains(&name)) {
            return;
        }
        let said =
            error.get("data").and_then(|data| text(data, "message")).or_else(|| text(error, "message"));
        let said = said.or_else(|| text(error, "name")).unwrap_or_default().to_owned();
        let before = MessageIdx::new(self.draft.messages.len());
        self.draft.refusals.push(Refusal { before, line, text: said });
    }

    fn reply(&mut self, info: &Value, parts: Vec<Value>, line: u32, out: &mut Sink) {
        let path = info.get("path");
        if let Some(cwd) =
            path.and_then(|path| build::directory(path, "cwd")).or(build::directory(info, "path"))
        {
            self.cwd = Some(cwd);
        }
        if let Some(model) = text(info, "modelID").filter(|model| !model.is_empty()) {
            self.draft.model = Some(model.to_owned());
        }
        self.refused(info, line);
        let marked = parts.iter().any(|part| text(part, "type") == Some("step-start"));
        let mut step = Step { time: created(info), ..Step::default() };
        let mut steps = 0;
        for mut part in parts {
            let time = part.get("time").or_else(|| part.get("state")?.get("time"));
            let time = time.and_then(|time| json::time_at(time, "start"));
            let kind = text(&part, "type").unwrap_or_default().to_owned();
            let next = if marked {
                kind == "step-start"
            } else {
                !step.results.is_empty() && matches!(kind.as_str(), "text" | "reasoning")
            };
            if next && !step.parts.is_empty() {
                steps += 1;
                self.step(std::mem::take(&mut step), line);
            }
            if steps > 0 {
                step.time = step.time.or(time);
            }
            match kind.as_str() {
                "text" if flag(&part, "ignored") => {}
                "text" => {
                    let synthetic = flag(&part, "synthetic");
                    step.parts.push(build::text(take_text(&mut part, "text"), synthetic));
                }
                "reasoning" => step.reasoning(&mut part),
                "tool" => step.tool(part),
                "step-finish" => {
                    step.usage = part.get("tokens").and_then(|told| out.told(line, usage(told)).flatten());
                }
                "file" => push_file(&part, &mut step.parts),
                "retry" => self.refused(&part, line),
                "step-start" | "patch" | "snapshot" | "agent" | "subtask" | "compaction" => {}
                other => unknown_part(other, line, out),
            }
        }
        if step.usage.is_none() {
            step.usage = info.get("tokens").and_then(|told| out.told(line, usage(told)).flatten());
        }
        if step.parts.iter().any(|part| !is_empty(part)) || steps > 0 {
            self.step(step, line);
        } else {
            let error = info.get("error").and_then(|error| text(error, "name"));
            let reason = error.or_else(|| text(info, "finish")).unwrap_or("unknown");
            let text = format!("a reply without content ({reason}), left out");
            out.note(line, "empty-reply", Severity::Note, text);
        }
    }

    fn step(&mut self, step: Step, line: u32) {
        let (role, end) = (Role::Assistant, self.draft.messages.len());
        self.push(role, step.parts, line, step.time);
        if let Some(message) = self.draft.messages.get_mut(end) {
            message.usage = step.usage.map(Box::new);
        }
        self.push(Role::Tool, step.results, line, step.done.or(step.time));
    }
}

fn is_empty(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.text.is_empty())
}

fn unknown_part(kind: &str, line: u32, out: &mut Sink) {
    let kind: String = kind.chars().take(60).collect();
    out.note(line, "unknown-part", Severity::Note, format!("part of unknown type {kind:?}, left out"));
}

/// An attached file. The text of a text file stands beside it as a part of its own.
fn push_file(part: &Value, found: &mut Vec<Part>) {
    let mime = text(part, "mime").unwrap_or_default();
    if mime.starts_with("text/") || mime == "application/x-directory" {
        return;
    }
    let bytes = text(part, "url").filter(|url| url.starts_with("data:")).map_or(0, |url| url.len() as u64);
    found.push(if mime.starts_with("image/") {
        Part::Image { bytes }
    } else {
        Part::Opaque { kind: "file".into(), bytes }
    });
}

/// One step of a reply: what the model said, and the results of its calls.
#[derive(Default)]
struct Step {
    parts: Vec<Part>,
    results: Vec<Part>,
    usage: Option<Usage>,
    time: Option<i64>,
    done: Option<i64>,
}

impl Step {
    /// Reasoning; of some providers only an encrypted form is kept, beside an empty text.
    fn reasoning(&mut self, part: &mut Value) {
        let clear = take_text(part, "text");
        let hidden = part.get("metadata").map_or(0, weight);
        if !clear.trim().is_empty() {
            self.parts.push(Part::Thinking(clear));
        } else if hidden > 2 {
            self.parts.push(Part::Opaque { kind: "reasoning".into(), bytes: hidden });
        }
    }

    /// A call, and its result where it has ended.
    fn tool(&mut self, mut part: Value) {
        let id = take_text(&mut part, "callID");
        let name = take_text(&mut part, "tool");
        let mut state = take(&mut part, "state");
        let input = take(&mut state, "input");
        let unparsed = input.as_object().is_none_or(Map::is_empty);
        let raw = text(&state, "raw").filter(|raw| unparsed && !raw.is_empty()).map(str::to_owned);
        let arguments = raw.unwrap_or_else(|| argument_text(input));
        self.parts.push(Part::call(ToolCall { id: id.clone(), name: shared(&name), arguments }));
        let exit = || {
            let code = state.get("metadata")?.get("exit")?.as_i64()?;
            i32::try_from(code).ok()
        };
        let (field, outcome, exit_code) = match text(&state, "status") {
            Some("completed") => {
                let exit = exit();
                ("output", exit.map_or(Outcome::Ok, outcome::of_exit), exit)
            }
            Some("error") => ("error", Outcome::Failed, exit()),
            _ => return,
        };
        let image = |file: &&Value| text(file, "mime").is_some_and(|mime| mime.starts_with("image/"));
        let images = items(&state, "attachments").iter().filter(image).count() as u32;
        self.done = state.get("time").and_then(|time| json::time_at(time, "end")).or(self.done);
        let text = argument_text(take(&mut state, field));
        self.results.push(Part::result(ToolResult { call_id: id, text, outcome, exit_code, images }));
    }
}

/// Usage of a step. The input leaves out what came from or went to the cache. The total tells whether the output has the
/// reasoning in it; where there is none it has, as versions without a total wrote it.
fn usage(told: &Value) -> Result<Option<Usage>, String> {
    let [fresh, said, reasoning] = counts(told, ["input", "output", "reasoning"])?;
    let [cache_read, cache_write] = match told.get("cache") {
        Some(cache) => counts(cache, ["read", "write"])?,
        None => [0, 0],
    };
    let input = fresh.saturating_add(cache_read).saturating_add(cache_write);
    let total = tokens(told, "total")?;
    let apart = total.is_some_and(|total| total >= input.saturating_add(said).saturating_add(reasoning));
    let output = if apart { said.saturating_add(reasoning) } else { said.max(reasoning) };
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output }))
}
