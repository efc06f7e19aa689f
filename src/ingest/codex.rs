//! Codex CLI rollouts, all eras: one document `{session, items}`, bare items, and envelopes `{type, payload}`.
//!
//! What the model saw are the response items, and only they become messages. Events repeat them for the screen; they
//! serve for outcomes, exit statuses, token usage and the context window. Only where no item says what an event says does
//! the event stand in for it ([`channels`]).
//!
//! Items of one response (reasoning, text, calls) become one assistant message, consecutive outputs one tool message;
//! token counts close a response too.
//!
//! Recorded compactions are set aside and the walk goes on across them: their replacement history never becomes
//! messages, nor do exact copies of earlier messages that are sent again between a compaction and the next reply,
//! nor the summary where it was logged as a reply or prompt as well. Where nothing was said before the first
//! compaction, the log begins with it: then its readable parts are the first messages, the summary in front.
//!
//! The first `session_meta` names the session; later ones come from resuming and from forks, whose copied history is
//! read as it is. Its base instructions are the system prompt of every request: a system message in front.

mod channels;
mod outputs;
mod prompts;
mod resent;
mod survey;

#[cfg(test)]
mod tests;

use arcstr::ArcStr;

use super::value::{Value, shared};

use super::blocks::{self, Speaker};
use super::build;
use super::formats::Format;
use super::json::{self, argument_text, brief, number, take, take_text, text, weight};
use super::lines::Record;
use super::links::Draft;
use super::openai_responses;
use super::shapes::Shape;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{
    Message, MessageIdx, MessageSet, Origin, Outcome, Part, Recorded, Refusal, Role, Text, ToolCall,
    ToolResult, Usage,
};
use prompts::{directory, push_prompt, user_parts};
use resent::{Pieces, Resent};
use rustc_hash::FxHashSet;
use survey::{Placement, Survey};

/// Rollouts of all eras. The bare era has items without an envelope, and messages without a type.
pub(super) static SHAPE: Shape = Shape {
    owns: |value| {
        let blocks = value.get("content").is_some_and(Value::is_array);
        value.get("type").is_none() && value.get("role").is_some() && blocks
            || openai_responses::is_item(value).is_some()
    },
    ..Shape::new(Format::Codex, sniff, read)
};

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    match text(value, "type") {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted")
            if has("payload") =>
        {
            Some("has a rollout type with a payload")
        }
        Some(_) => None,
        None if has("record_type") || has("instructions") && has("id") && has("timestamp") => {
            Some("is a bare rollout header")
        }
        None if value.get("session").is_some_and(Value::is_object) && has("items") => {
            Some("is one document with session and items")
        }
        None => None,
    }
}

/// Reads the records of one Codex file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let entries = entries(records);
    let survey = Survey::of(&entries);
    let alone = channels::only_told(&entries);
    let items = entries.iter().filter(|entry| entry.kind == Kind::Item).count();
    let mut reader = Reader::new(Draft::holding(name, items), survey);
    let mut entries = entries.into_iter().enumerate().peekable();
    while let Some((at, entry)) = entries.next() {
        // A prompt that a person typed is followed by its event; a copy sent again is not.
        let echoed = entries.peek().is_some_and(|(_, next)| {
            next.kind == Kind::Event && text(&next.payload, "type") == Some("user_message")
        });
        reader.entry(entry, echoed, alone.contains(&at), out);
    }
    out.finish_draft(reader.draft);
}

/// One record without its envelope.
#[derive(Debug)]
struct Entry {
    line: u32,
    /// It stands in the list of a document, where messages have no type.
    listed: bool,
    kind: Kind,
    payload: Value,
}

/// What a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Who and where: the header of the session.
    Meta,
    /// Working directory and model from here on.
    TurnContext,
    /// Part of what the model saw.
    Item,
    /// A copy for the screen.
    Event,
    /// A recorded compaction.
    Compacted,
    /// Known, of no use here.
    Ignored,
    /// Not known; the text names its type.
    Unknown(Box<str>),
}

/// Takes the envelopes off.
fn entries(records: Vec<Record>) -> Vec<Entry> {
    let mut found = Vec::with_capacity(records.len());
    for record in records {
        let Record { line, mut value, .. } = record;
        if value.get("session").is_some_and(Value::is_object)
            && value.get("items").is_some_and(Value::is_array)
        {
            let payload = take(&mut value, "session");
            found.push(Entry { line, listed: false, kind: Kind::Meta, payload });
            if let Value::Array(list) = take(&mut value, "items") {
                let lines = (1u32..).map(|position| position.saturating_add(line - 1));
                found.reserve_exact(list.len());
                for (line, payload) in lines.zip(list) {
                    found.push(Entry { line, listed: true, kind: Kind::Item, payload });
                }
            }
            continue;
        }
        let kind = kind_of(&value);
        let enveloped = value.get("payload").is_some();
        let payload = if enveloped { take(&mut value, "payload") } else { value };
        found.push(Entry { line, listed: false, kind, payload });
    }
    found
}

fn kind_of(value: &Value) -> Kind {
    let kind = text(value, "type");
    if value.get("payload").is_some() {
        return match kind.unwrap_or_default() {
            "session_meta" => Kind::Meta,
            "turn_context" => Kind::TurnContext,
            "response_item" => Kind::Item,
            "event_msg" => Kind::Event,
            "compacted" => Kind::Compacted,
            "world_state" | "inter_agent_communication" | "inter_agent_communication_metadata" => {
                Kind::Ignored
            }
            other => Kind::Unknown(other.into()),
        };
    }
    match kind {
        Some(_) => Kind::Item,
        None if value.get("record_type").is_some() => Kind::Ignored,
        None if value.get("role").is_some() => Kind::Item,
        None if value.get("id").is_some() && value.get("timestamp").is_some() => Kind::Meta,
        None => Kind::Unknown("no type".into()),
    }
}

/// The kind of a response item; a message may lack its type.
fn item_type(payload: &Value) -> &str {
    match text(payload, "type") {
        Some(kind) => kind,
        None if payload.get("role").is_some() => "message",
        None => "",
    }
}

/// Builds the session record by record.
struct Reader {
    draft: Draft,
    survey: Survey,
    cwd: Option<ArcStr>,
    model: Option<String>,
    /// Index of the assistant message that takes further items.
    reply: Option<usize>,
    /// Index of the tool message that takes further outputs.
    outputs: Option<usize>,
    /// Index of the newest assistant message.
    newest_reply: Option<usize>,
    usage: UsageState,
    named: bool,
    /// A `turn_context` was seen: prompts are not searched for the directory.
    has_context: bool,
    /// Set between a compaction and the next reply: copies of earlier messages are dropped.
    resent: Resent,
}

/// Usage that waits for its reply, and what was reported last.
#[derive(Default)]
struct UsageState {
    waiting: Option<Usage>,
    last_total: Option<Value>,
    last_context: Option<u64>,
}

impl Reader {
    fn new(draft: Draft, survey: Survey) -> Self {
        let resent = Resent::new(survey.has_echoes);
        Self {
            draft,
            survey,
            cwd: None,
            model: None,
            reply: None,
            outputs: None,
            newest_reply: None,
            usage: UsageState::default(),
            named: false,
            has_context: false,
            resent,
        }
    }

    /// A record; `echoed` where the event of a prompt follows it, `alone` where no item says what an event says.
    fn entry(&mut self, entry: Entry, echoed: bool, alone: bool, out: &mut Sink) {
        let Entry { line, listed, kind, payload } = entry;
        match kind {
            Kind::Meta => self.meta(payload, line),
            Kind::TurnContext => {
                self.has_context = true;
                self.set_cwd(text(&payload, "cwd"));
                if let Some(model) = text(&payload, "model").filter(|model| !model.is_empty()) {
                    self.model = Some(model.to_owned());
                }
            }
            Kind::Item => {
                if listed && payload.get("type").is_none() {
                    out.raw.messages += u64::from(payload.get("role").is_some());
                } else {
                    count(&payload, out);
                }
                self.item(payload, line, echoed, out);
            }
            Kind::Compacted => {
                out.raw.compactions += 1;
                self.compacted(payload, line, out);
            }
            Kind::Event => self.event(payload, line, alone, out),
            Kind::Ignored => {}
            Kind::Unknown(kind) => {
                let text = format!("record of unknown type {kind:?}, left out");
                out.note(line, "unknown-record", Severity::Note, text);
            }
        }
    }

    /// The first one names the session.
    fn meta(&mut self, mut payload: Value, line: u32) {
        if self.named {
            return;
        }
        self.named = true;
        if let Some(id) = text(&payload, "id").or(text(&payload, "session_id")).filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.draft.id);
        }
        self.draft.continues = text(&payload, "forked_from_id").map(str::to_owned);
        self.set_cwd(text(&payload, "cwd"));
        if let Some(agent) = payload.get("source").and_then(|source| source.get("subagent")) {
            let known = ["agent_nickname", "agent_path", "agent_role", "parent_thread_id"];
            let named = known.iter().find_map(|key| text(&payload, key));
            let name = named.map_or_else(|| argument_text(agent.clone()), str::to_owned);
            self.draft.origin = Origin::Sidechain(name);
        }
        let tools = take(&mut payload, "dynamic_tools");
        if !tools.is_null() {
            self.draft.tool_schema = Some(tools.to_string());
        }
        let mut base = take(&mut payload, "base_instructions");
        let instructions = match base {
            Value::String(text) => text.into(),
            ref mut base => take_text(base, "text"),
        };
        if !instructions.is_empty() {
            let parts = vec![Part::Text(Text { text: instructions, injected: false })];
            self.push(Role::System, parts, line);
        }
    }

    fn set_cwd(&mut self, cwd: Option<&str>) {
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty())
            && self.cwd.as_deref() != Some(cwd)
        {
            self.cwd = Some(ArcStr::from(cwd));
        }
    }

    /// Adds a message; replies and outputs before it are closed.
    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32) -> Option<usize> {
        self.reply = None;
        self.outputs = None;
        if parts.is_empty() {
            return None;
        }
        self.draft.messages.push(Message { cwd: self.cwd.clone(), ..build::message(role, parts, line) });
        Some(self.draft.messages.len() - 1)
    }

    fn item(&mut self, mut payload: Value, line: u32, echoed: bool, out: &mut Sink) {
        let kind = item_type(&payload).to_owned();
        match kind.as_str() {
            "message" => self.message(payload, line, echoed, out),
            "reasoning" => self.say(reasoning(payload), line),
            "function_call" => {
                out.arguments(payload.get("arguments"), line);
                let arguments = argument_text(take(&mut payload, "arguments"));
                let logged = take_name(&mut payload);
                let name = full_name(text(&payload, "namespace"), logged);
                self.call(&mut payload, &name, arguments, line);
            }
            "custom_tool_call" => {
                let arguments = argument_text(take(&mut payload, "input"));
                let logged = take_name(&mut payload);
                let name = full_name(text(&payload, "namespace"), logged);
                self.call(&mut payload, &name, arguments, line);
            }
            "local_shell_call" | "web_search_call" => {
                let arguments = argument_text(take(&mut payload, "action"));
                let name = kind.strip_suffix("_call").unwrap_or(&kind).to_owned();
                self.call(&mut payload, &name, arguments, line);
            }
            "tool_search_call" => {
                let arguments = argument_text(take(&mut payload, "arguments"));
                self.call(&mut payload, "tool_search", arguments, line);
            }
            "image_generation_call" => {
                let bytes = weight(&payload);
                self.say(vec![Part::Opaque { kind: kind.into(), bytes }], line);
            }
            "agent_message" => {
                // Mail from another agent: in the context, and no person wrote it.
                self.resent.close();
                let parts = user_parts(take(&mut payload, "content"), true);
                self.push(Role::User, parts, line);
            }
            "ghost_snapshot" => {}
            "compaction" | "compaction_summary" | "context_compaction" | "compaction_trigger" => {
                let text = format!("response item {kind:?} of a compaction, set aside");
                out.note(line, "compaction-item", Severity::Note, text);
            }
            _ if kind.ends_with("_output") => self.output(payload, line),
            _ if kind.ends_with("_call") && payload.get("call_id").is_some() => {
                let arguments = ["arguments", "input", "action"]
                    .iter()
                    .map(|key| take(&mut payload, key))
                    .find(|found| !found.is_null());
                let logged = take_name(&mut payload);
                let name = if logged.is_empty() { kind.clone() } else { logged };
                self.call(&mut payload, &name, argument_text(arguments.unwrap_or_default()), line);
            }
            _ => {
                let text = format!("response item of unknown type {kind:?}, left out");
                out.note(line, "unknown-record", Severity::Note, text);
            }
        }
    }

    fn message(&mut self, mut payload: Value, line: u32, echoed: bool, out: &mut Sink) {
        let content = take(&mut payload, "content");
        let role = match text(&payload, "role").unwrap_or_default() {
            "assistant" => return self.say(blocks::parts(content, Speaker::Other, Outcome::Unknown), line),
            "system" | "developer" => Role::System,
            "user" => Role::User,
            other => {
                let text = format!("message of unknown role {other:?}, read as text of the harness");
                out.note(line, "unknown-role", Severity::Note, text);
                Role::Tool
            }
        };
        let parts = match role {
            Role::System => blocks::parts(content, Speaker::Other, Outcome::Unknown),
            role => user_parts(content, role == Role::Tool),
        };
        if role == Role::User && !self.has_context {
            self.set_cwd(directory(&parts));
        }
        let role = if role == Role::Tool { Role::User } else { role };
        if self.resent.repeats(role, &parts, echoed) {
            let text = "a copy of an earlier message, sent again by a compaction, left out";
            out.note(line, "resent-message", Severity::Note, text);
            return;
        }
        self.push(role, parts, line);
    }

    /// Adds parts to the open reply, or opens one.
    fn say(&mut self, parts: Vec<Part>, line: u32) {
        if parts.is_empty() {
            return;
        }
        self.resent.close();
        if let Some(open) = self.reply.and_then(|reply| self.draft.messages.get_mut(reply)) {
            for part in parts {
                open.push(part, line);
            }
            return;
        }
        self.reply = self.push(Role::Assistant, parts, line);
        self.newest_reply = self.reply;
        if let Some(message) = self.reply.and_then(|reply| self.draft.messages.get_mut(reply)) {
            message.usage = self.usage.waiting.take().map(Box::new);
        }
        if self.model.is_some() {
            self.draft.model.clone_from(&self.model);
        }
    }

    fn call(&mut self, payload: &mut Value, name: &str, arguments: String, line: u32) {
        let mut id = take_text(payload, "call_id");
        if id.is_empty() {
            id = take_text(payload, "id");
        }
        self.say(vec![Part::call(ToolCall { id, name: shared(name), arguments })], line);
    }

    fn output(&mut self, payload: Value, line: u32) {
        let result = outputs::result(payload, &mut self.survey);
        self.resent.close();
        self.reply = None;
        if let Some(open) = self.outputs.and_then(|outputs| self.draft.messages.get_mut(outputs)) {
            open.push(Part::result(result), line);
        } else {
            self.outputs = self.push(Role::Tool, vec![Part::result(result)], line);
        }
    }

    /// An event; `alone` where no item says the same.
    fn event(&mut self, mut payload: Value, line: u32, alone: bool, out: &mut Sink) {
        let kind = text(&payload, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "token_count" => self.token_count(&payload, line, out),
            "task_started" => {
                let window = json::tokens(&payload, "model_context_window");
                self.window(out.told(line, window).flatten());
            }
            "thread_rolled_back" => {
                self.roll_back(number(&payload, "num_turns").unwrap_or(0), line, out);
            }
            "error" => {
                let before = MessageIdx::new(self.draft.messages.len());
                self.draft.refusals.push(Refusal { before, line, text: take_text(&mut payload, "message") });
            }
            "user_message" if alone => {
                stand_in(line, "user_message", out);
                let mut parts = Vec::new();
                push_prompt(take_text(&mut payload, "message"), false, &mut parts);
                self.push(Role::User, parts, line);
            }
            "agent_message" if alone => {
                stand_in(line, "agent_message", out);
                let text = take_text(&mut payload, "message");
                self.say(vec![Part::Text(Text { text, injected: false })], line);
            }
            "agent_reasoning" if alone => {
                stand_in(line, "agent_reasoning", out);
                self.say(vec![Part::Thinking(take_text(&mut payload, "text"))], line);
            }
            _ => {}
        }
    }

    fn window(&mut self, window: Option<u64>) {
        if window.is_some_and(|window| window > 0) {
            self.draft.context_window = window;
        }
    }

    /// Usage of one response. The same totals again are a repeat for the screen.
    fn token_count(&mut self, payload: &Value, line: u32, out: &mut Sink) {
        let window = payload.get("info").map(|info| json::tokens(info, "model_context_window"));
        self.window(window.and_then(|window| out.told(line, window)).flatten());
        let told = out.told(line, survey::usage(payload, &mut self.usage.last_total));
        let Some((usage, context)) = told.flatten() else { return };
        self.usage.last_context = Some(context);
        self.reply = None;
        match self.survey.placement {
            Placement::Before => self.usage.waiting = Some(usage),
            Placement::After => {
                let newest = self.newest_reply.and_then(|reply| self.draft.messages.get_mut(reply));
                if let Some(message) = newest.filter(|message| message.usage.is_none()) {
                    message.usage = Some(usage.into());
                }
            }
        }
    }

    /// The last turns were taken back: they are no longer on the active path.
    fn roll_back(&mut self, turns: u64, line: u32, out: &mut Sink) {
        let prompts = self.draft.messages.iter().enumerate().rev();
        let mut prompts = prompts.filter(|(_, message)| message.is_user_request()).map(|(index, _)| index);
        let Some(last) = usize::try_from(turns).ok().and_then(|turns| turns.checked_sub(1)) else { return };
        // More turns than the log holds: everything the user asked for.
        let Some(cut) = prompts.by_ref().take(last + 1).last() else { return };
        let dropped = self.draft.messages.len() - cut;
        self.draft.messages.truncate(cut);
        self.draft.recorded.retain(|recorded| recorded.before.get() <= cut);
        self.draft.refusals.retain(|one| one.before.get() <= cut);
        self.reply = None;
        self.outputs = None;
        self.newest_reply = None;
        self.resent.forget();
        let text = format!("{turns} turns rolled back; {dropped} messages are not on the active path");
        out.note(line, "abandoned-branch", Severity::Note, text);
    }

    fn compacted(&mut self, mut payload: Value, line: u32, out: &mut Sink) {
        self.reply = None;
        self.outputs = None;
        let history = take(&mut payload, "replacement_history");
        let odd = odd_metadata(&payload, &history);
        let summary = Some(take_text(&mut payload, "message")).filter(|summary| !summary.trim().is_empty());
        let said = |message: &Message| message.role == Role::Assistant || message.is_user_request();
        if !self.draft.messages.iter().any(said)
            && self.draft.recorded.is_empty()
            && !self.draft.starts_compacted
        {
            if let Some(cause) = odd {
                let text =
                    format!("{cause}: what was left by the compaction that the log begins with is lost");
                out.damage(line, "bad-record", text);
            }
            self.begin_compacted(summary, history, line, out);
            return;
        }
        if let Some(summary) = &summary {
            self.drop_summary_reply(summary, out);
        }
        self.resent.open(&self.draft.messages, summary.clone());
        let (kept, clipped) = self.left_in_place(history);
        let mut recorded = Recorded {
            kept,
            clipped,
            line,
            summary,
            // Of the context that it replaces: the next one is told by the replies behind it.
            tokens_before: self.usage.last_context.take(),
            ..Recorded::at(MessageIdx::new(self.draft.messages.len()))
        };
        if let Some(cause) = odd {
            out.kept_unknown(&mut recorded, &cause);
        }
        self.draft.recorded.push(recorded);
    }

    /// Messages that a replacement history repeats, whole and cut short.
    fn left_in_place(&self, history: Value) -> (MessageSet, Vec<(MessageIdx, String)>) {
        let (mut kept, mut clipped) = (Vec::new(), Vec::new());
        let Value::Array(history) = history else {
            return (MessageSet::default(), clipped);
        };
        let mut used = FxHashSet::default();
        // Replies and outputs come item by item.
        let mut pieces = Pieces::default();
        let mut parts_of: Vec<(MessageIdx, String)> = Vec::new();
        for mut item in history {
            let kind = item_type(&item).to_owned();
            if kind != "message" {
                pieces.note(&call_or_output(&item, &kind), &self.resent);
                continue;
            }
            let content = take(&mut item, "content");
            let (role, parts) = match text(&item, "role").unwrap_or_default() {
                "user" => (Role::User, user_parts(content, false)),
                "assistant" => (Role::Assistant, blocks::parts(content, Speaker::Other, Outcome::Unknown)),
                _ => (Role::System, blocks::parts(content, Speaker::Other, Outcome::Unknown)),
            };
            if role == Role::User && self.resent.is_summary(&parts) {
                continue;
            }
            if role == Role::Assistant && pieces.note(&parts, &self.resent) {
                parts_of.extend(resent::find_cut(&self.draft.messages, role, &parts));
            } else if let Some(at) = self.resent.find(role, &parts, &used) {
                used.insert(at);
                kept.push(MessageIdx::new(at));
            } else if let Some(cut) = resent::find_cut(&self.draft.messages, role, &parts) {
                clipped.push(cut);
            }
        }
        let whole = pieces.whole(&self.draft.messages);
        clipped.extend(parts_of.into_iter().filter(|(at, _)| !whole.contains(&at.get())));
        let stayed = (0..self.draft.messages.len()).filter(|at| whole.contains(at));
        kept.extend(stayed.map(MessageIdx::new));
        (kept.into_iter().collect(), clipped)
    }

    /// The log begins with a compaction: what it left readable are the first messages, the summary in front.
    fn begin_compacted(&mut self, summary: Option<String>, history: Value, line: u32, out: &mut Sink) {
        self.draft.starts_compacted = true;
        let mut front: Vec<Part> = Vec::new();
        if let Some(text) = summary.clone() {
            front.push(Part::Text(Text { text, injected: true }));
        }
        self.resent.open(&[], summary.clone());
        self.resent.close();
        if let Value::Array(history) = history {
            for item in history {
                let kind = item_type(&item);
                if kind.starts_with("compaction") || kind == "context_compaction" {
                    let bytes = text(&item, "encrypted_content").map_or(0, str::len) as u64;
                    front.push(Part::Opaque { kind: kind.into(), bytes });
                    continue;
                }
                let parts = item.get("content").cloned().map(|content| user_parts(content, true));
                if text(&item, "role") == Some("user")
                    && parts.is_some_and(|parts| self.resent.is_summary(&parts))
                {
                    continue;
                }
                self.item(item, line, true, out);
            }
        }
        self.reply = None;
        self.outputs = None;
        if front.is_empty() {
            // Message 0 stands for the summary also where nothing is left of it.
            front.push(Part::Opaque { kind: "compaction".into(), bytes: 0 });
        }
        let message = Message { cwd: self.cwd.clone(), ..build::message(Role::User, front, line) };
        self.draft.messages.insert(0, message);
        self.newest_reply = self.newest_reply.map(|reply| reply + 1);
        self.resent.open(&self.draft.messages, summary);
    }

    /// Takes back the text that wrote the summary of a compaction, where the log has it as a reply too.
    fn drop_summary_reply(&mut self, summary: &str, out: &mut Sink) {
        let Some(last) = self.draft.messages.last_mut().filter(|last| last.role == Role::Assistant) else {
            return;
        };
        let Some(Part::Text(Text { text: written, .. })) = last.parts.last() else { return };
        let written = written.trim();
        // The record puts a fixed preface, shorter than this, in front of the model's words.
        let whole = written.len() + 1000 >= summary.len();
        if written.is_empty() || !whole || !summary.trim().ends_with(written) {
            return;
        }
        let text = "the reply that wrote a recorded summary, set aside with it";
        out.note(last.line, "summary-reply", Severity::Note, text);
        last.pop();
        // The thoughts that led to it go too, unless they led to more.
        if last.parts.iter().all(|part| matches!(part, Part::Thinking(_) | Part::Opaque { .. })) {
            self.draft.messages.pop();
        }
        self.newest_reply = None;
    }
}

/// The call or output that an item of a replacement history is, by its id alone; nothing for other items.
fn call_or_output(item: &Value, kind: &str) -> Vec<Part> {
    let id = text(item, "call_id").or(text(item, "id")).unwrap_or_default().to_owned();
    if kind.ends_with("_output") {
        let (text, outcome) = (String::new(), Outcome::Unknown);
        return vec![Part::result(ToolResult { call_id: id, text, outcome, exit_code: None, images: 0 })];
    }
    if kind.ends_with("_call") && kind != "image_generation_call" {
        return vec![Part::call(ToolCall { id, name: ArcStr::new(), arguments: String::new() })];
    }
    Vec::new()
}

/// What of a compaction record cannot be what Codex writes. Without a history (older versions) nothing is odd.
fn odd_metadata(payload: &Value, history: &Value) -> Option<String> {
    if !payload.is_object() {
        return Some(format!("the payload of a compaction is {}, no object", brief(payload)));
    }
    if let Some(message) = payload.get("message").filter(|it| !it.is_string() && !it.is_null()) {
        return Some(format!("the summary of a compaction is {}, no text", brief(message)));
    }
    match history {
        Value::Null => None,
        Value::Array(items) => {
            let odd = items.iter().find(|item| !item.is_object())?;
            Some(format!("replacement_history holds {}, no item", brief(odd)))
        }
        other => Some(format!("replacement_history is {}, no list", brief(other))),
    }
}

/// Counts a response item.
fn count(payload: &Value, out: &mut Sink) {
    match text(payload, "type").unwrap_or_default() {
        "message" => out.raw.messages += 1,
        "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call"
        | "tool_search_call" => {
            out.raw.tool_calls += 1;
        }
        _ => {}
    }
}

/// The parts of a reasoning item: the clear text (whole if the log has it, else its summary), then what is encrypted.
fn reasoning(mut payload: Value) -> Vec<Part> {
    let mut parts = Vec::new();
    let content = take(&mut payload, "content");
    let summary = take(&mut payload, "summary");
    let (mut clear, _) = blocks::result_text(content);
    if clear.trim().is_empty() {
        clear = blocks::result_text(summary).0;
    }
    if !clear.trim().is_empty() {
        parts.push(Part::Thinking(clear));
    }
    let bytes = text(&payload, "encrypted_content").map_or(0, str::len) as u64;
    if bytes > 0 {
        parts.push(Part::Opaque { kind: "reasoning".into(), bytes });
    }
    parts
}

fn take_name(payload: &mut Value) -> String {
    take_text(payload, "name")
}

/// The name of a tool with its server in front, as in `mcp__server__tool`, where the log keeps them apart.
fn full_name(namespace: Option<&str>, name: String) -> String {
    match namespace.filter(|space| space.starts_with("mcp__") && !name.starts_with(*space)) {
        Some(space) => format!("{space}__{}", name.trim_start_matches('_')),
        None => name,
    }
}

/// Notes that an event is read in place of a missing item.
fn stand_in(line: u32, kind: &str, out: &mut Sink) {
    let text = format!("no response item says what {kind} events say here; they are read instead");
    out.note(line, "events-as-messages", Severity::Note, text);
}
