//! Claude Code session files.
//!
//! A file is a forest of records tied by `parentUuid`; [`tree`] finds the active path of each conversation in it. This
//! module says what the records mean:
//!
//! * the lines of one reply (same `message.id`, often one line per block, sometimes with results in between) become one
//!   message at the place of the first, with the usage of the last;
//! * compaction boundaries and their summaries are recorded, never messages, except where the log begins with one;
//! * attachments are in the model's context: injected user text, save commands the user queued while the agent worked;
//! * sub-agent records (`isSidechain`) become sessions of their own, one per agent;
//! * progress, hooks, titles, snapshots and the like are not in the context and say nothing here.

mod tree;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::blocks::{self, Speaker};
use super::injected;
use super::json::{flag, items, number, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Message, MessageIdx, Origin, Outcome, Part, Recorded, Role, Text, Usage};

/// Record types that hold nothing of the conversation.
const SILENT: [&str; 26] = [
    "progress",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "pr-link",
    "frame-link",
    "bridge-session",
    "worktree-state",
    "relocated",
    "atis-latch",
    "started",
    "result",
    "tag",
    "task-summary",
    "content-replacement",
    "attribution-snapshot",
    "speculation-accept",
];

/// What a record is, as far as the conversation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Assistant,
    Attachment,
    /// A compaction happened here.
    Boundary,
    /// The user line that holds the summary of a compaction.
    Summary,
    /// Only a link in the chain.
    Chain,
}

/// How a record names its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Parent {
    /// No such field: the file is a plain sequence.
    Unsaid,
    /// Null: the beginning of a conversation.
    Nobody,
    /// A record id.
    Uuid(String),
}

/// One record of the forest.
#[derive(Debug)]
struct Node {
    line: u32,
    uuid: String,
    parent: Parent,
    session: String,
    kind: Kind,
    value: Value,
}

impl Node {
    /// True when the record is, or may hold, something of the context.
    fn is_content(&self) -> bool {
        self.kind != Kind::Chain
    }

    /// Id of the reply an assistant record is a piece of; empty when it has none.
    fn reply(&self) -> &str {
        self.value.get("message").and_then(|message| text(message, "id")).unwrap_or_default()
    }

    /// Ids of the results a user record holds.
    fn result_ids(&self) -> impl Iterator<Item = &str> {
        let blocks = self.value.get("message").map_or(&[][..], |message| items(message, "content"));
        blocks
            .iter()
            .filter(|block| text(block, "type") == Some("tool_result"))
            .filter_map(|block| text(block, "tool_use_id"))
    }
}

/// Reads the records of one file.
pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut forest = Forest::default();
    for record in records {
        forest.add(record, out);
    }
    let Forest { main, side, .. } = forest;
    let mut drafts = Vec::new();
    for conversation in tree::conversations(main, out) {
        let session = conversation.last().map(|node| node.session.clone()).unwrap_or_default();
        let id = if session.is_empty() { name.to_owned() } else { session };
        drafts.push((conversation[0].line, build(Draft::new(id), conversation, out)));
    }
    for (agent, nodes) in tree::sidechains(side) {
        let session = nodes[0].session.as_str();
        let mut draft = Draft::new(format!("{}/{agent}", if session.is_empty() { name } else { session }));
        draft.origin = Origin::Sidechain(agent);
        drafts.push((nodes[0].line, build(draft, nodes, out)));
    }
    drafts.sort_by_key(|(line, draft)| (draft.origin != Origin::Main, *line));
    for (_, draft) in drafts {
        out.finish_draft(draft);
    }
}

/// Records sorted into those of the main conversations and those of sub-agents.
#[derive(Debug, Default)]
struct Forest {
    main: Vec<Node>,
    side: Vec<(Option<String>, Node)>,
    uuids: FxHashSet<String>,
    replies: FxHashSet<String>,
    calls: FxHashSet<String>,
}

impl Forest {
    /// Counts one record and keeps it if it is a link of a chain.
    fn add(&mut self, mut record: Record, out: &mut Sink) {
        if let Some(Value::Array(lines)) = record.value.get_mut("loglines").map(Value::take) {
            // A web session export: one document that wraps the records.
            for (line, value) in (1..).zip(lines) {
                self.add(Record { line, bytes: record.bytes, value }, out);
            }
            return;
        }
        let (line, mut value) = (record.line, record.value);
        if !value.is_object() {
            out.note(line, "unknown-record", Severity::Note, "a JSON value that is no object; ignored");
            return;
        }
        self.count(&value, out);
        let Some(kind) = classify(&value, line, out) else { return };
        let uuid = take_text(&mut value, "uuid");
        if uuid.is_empty() && kind == Kind::Chain {
            return;
        }
        if !uuid.is_empty() && !self.uuids.insert(uuid.clone()) {
            if kind != Kind::Chain {
                let text = "a record with an id that came before (copied history); the first one is kept";
                out.note(line, "duplicate-record", Severity::Note, text);
            }
            return;
        }
        let parent_key = if kind == Kind::Boundary && text(&value, "logicalParentUuid").is_some() {
            "logicalParentUuid"
        } else {
            "parentUuid"
        };
        let parent = match value.get_mut(parent_key).map(Value::take) {
            Some(Value::String(uuid)) if !uuid.is_empty() => Parent::Uuid(uuid),
            // A boundary without a parent in the file follows what is before it.
            Some(Value::Null) if !matches!(kind, Kind::Boundary | Kind::Summary | Kind::Chain) => {
                Parent::Nobody
            }
            _ => Parent::Unsaid,
        };
        let mut session = take_text(&mut value, "sessionId");
        if session.is_empty() {
            session = take_text(&mut value, "session_id");
        }
        let agent =
            ["agentId", "parent_tool_use_id"].iter().find_map(|key| text(&value, key)).map(str::to_owned);
        let aside = flag(&value, "isSidechain") || text(&value, "parent_tool_use_id").is_some();
        let node = Node { line, uuid, parent, session, kind, value };
        if aside {
            self.side.push((agent, node));
        } else {
            self.main.push(node);
        }
    }

    /// Raw counts: replies by their id, every user line, calls by their id, every mark of a compaction.
    fn count(&mut self, value: &Value, out: &mut Sink) {
        match text(value, "type") {
            Some("assistant") => {
                let message = value.get("message").unwrap_or(&Value::Null);
                let id = text(message, "id").or_else(|| text(value, "uuid"));
                out.raw.messages += u64::from(id.is_none_or(|id| self.replies.insert(id.to_owned())));
                for block in
                    items(message, "content").iter().filter(|block| text(block, "type") == Some("tool_use"))
                {
                    let new = text(block, "id").is_none_or(|id| self.calls.insert(id.to_owned()));
                    out.raw.tool_calls += u64::from(new);
                }
            }
            Some("user") => {
                out.raw.messages += 1;
                out.raw.compactions += u64::from(flag(value, "isCompactSummary"));
            }
            Some("system") => {
                let subtype = text(value, "subtype");
                let marks = matches!(subtype, Some("compact_boundary" | "microcompact_boundary"));
                out.raw.compactions += u64::from(marks);
            }
            _ => {}
        }
    }
}

/// What kind of record it is; `None` when it is to be left out, which is noted unless it is usual.
fn classify(value: &Value, line: u32, out: &mut Sink) -> Option<Kind> {
    let Some(kind) = text(value, "type") else {
        out.note(line, "unknown-record", Severity::Note, "a record without a type; ignored");
        return None;
    };
    match kind {
        "user" | "assistant" if !value.get("message").is_some_and(Value::is_object) => {
            out.damage(line, "bad-record", format!("a {kind} record without a message; its content is lost"));
            Some(Kind::Chain)
        }
        "user" if flag(value, "isCompactSummary") => Some(Kind::Summary),
        "user" => Some(Kind::User),
        "assistant" => Some(Kind::Assistant),
        "attachment" => Some(Kind::Attachment),
        "system" => match text(value, "subtype") {
            Some("compact_boundary") => Some(Kind::Boundary),
            Some("microcompact_boundary") => {
                let text = "old tool results were cleared from the context here; the log still has them";
                out.note(line, "microcompact", Severity::Note, text);
                Some(Kind::Chain)
            }
            _ => Some(Kind::Chain),
        },
        _ if SILENT.contains(&kind) => Some(Kind::Chain),
        _ => {
            let kind: String = kind.chars().take(60).collect();
            out.note(line, "unknown-record", Severity::Note, format!("type {kind:?} is not known; ignored"));
            Some(Kind::Chain)
        }
    }
}

/// Turns the records of one conversation, in order, into a draft.
fn build(draft: Draft, nodes: Vec<Node>, out: &mut Sink) -> Draft {
    let mut builder = Builder {
        draft,
        replies: FxHashMap::default(),
        places: FxHashMap::default(),
        kept: Vec::new(),
        cwd: None,
    };
    for node in nodes {
        builder.node(node, out);
    }
    builder.finish()
}

/// A draft in the making.
struct Builder {
    draft: Draft,
    /// Message of each reply id since the last request.
    replies: FxHashMap<String, usize>,
    /// Message of each record.
    places: FxHashMap<String, usize>,
    /// Recorded compactions with the id of the first record they kept.
    kept: Vec<(usize, String)>,
    cwd: Option<Arc<str>>,
}

impl Builder {
    fn node(&mut self, mut node: Node, out: &mut Sink) {
        if let Some(cwd) = text(&node.value, "cwd") {
            if self.cwd.as_deref() != Some(cwd) {
                self.cwd = Some(Arc::from(cwd));
            }
        }
        match node.kind {
            Kind::User => self.user(node, out),
            Kind::Assistant => self.assistant(node, out),
            Kind::Attachment => {
                let parts = attachment(take(&mut node.value, "attachment"));
                self.push(node, Role::User, parts);
            }
            Kind::Boundary => self.boundary(&node),
            Kind::Summary => self.summary(node),
            Kind::Chain => {}
        }
    }

    fn push(&mut self, node: Node, role: Role, parts: Vec<Part>) {
        self.places.insert(node.uuid, self.draft.messages.len());
        if !parts.is_empty() {
            let message = Message { role, parts, line: node.line, cwd: self.cwd.clone(), usage: None };
            self.draft.messages.push(message);
        }
    }

    fn user(&mut self, mut node: Node, out: &mut Sink) {
        let mut message = take(&mut node.value, "message");
        let meta = flag(&node.value, "isMeta") || flag(&node.value, "isVisibleInTranscriptOnly");
        let content = take(&mut message, "content");
        if content.is_null() {
            out.damage(node.line, "bad-record", "a user record without content; nothing of it is left");
        }
        // Failed results always carry a flag in these logs.
        let parts = blocks::parts(content, Speaker::User { meta }, Outcome::Ok);
        if parts.iter().any(|part| matches!(part, Part::Text(text) if !text.injected)) {
            self.replies.clear();
        }
        self.push(node, Role::User, parts);
    }

    fn assistant(&mut self, mut node: Node, out: &mut Sink) {
        let mut message = take(&mut node.value, "message");
        let made_here =
            text(&message, "model") == Some("<synthetic>") || flag(&node.value, "isApiErrorMessage");
        let usage = message.get("usage").and_then(usage).filter(|_| !made_here);
        if made_here {
            let text = "a reply made by the client, not by the model (an API error); kept without usage";
            out.note(node.line, "synthetic-reply", Severity::Note, text);
        } else if let Some(model) = text(&message, "model").filter(|model| !model.is_empty()) {
            if self.draft.model.as_deref() != Some(model) {
                self.draft.model = Some(model.to_owned());
            }
        }
        let id = take_text(&mut message, "id");
        let parts = blocks::parts(take(&mut message, "content"), Speaker::Other, Outcome::Ok);
        let known = self.replies.get(&id).copied().filter(|_| !id.is_empty());
        if let Some(reply) = known.and_then(|at| self.draft.messages.get_mut(at)) {
            // Some clients log the blocks so far on every line: a block that is there already is not a new one.
            let before = reply.parts.len();
            for part in parts {
                if !reply.parts.get(..before).is_some_and(|before| before.contains(&part)) {
                    reply.parts.push(part);
                }
            }
            reply.usage = usage.or(reply.usage);
            self.places.insert(node.uuid, known.unwrap_or_default());
            return;
        }
        // Kept even when empty: the next line of the reply may have its first block.
        let at = self.draft.messages.len();
        self.places.insert(node.uuid, at);
        self.replies.insert(id, at);
        let message = Message { role: Role::Assistant, parts, line: node.line, cwd: self.cwd.clone(), usage };
        self.draft.messages.push(message);
    }

    fn boundary(&mut self, node: &Node) {
        let none = Value::Null;
        let metadata = ["compactMetadata", "compact_metadata"].iter().find_map(|key| node.value.get(*key));
        let metadata = metadata.unwrap_or(&none);
        let tokens_before = number(metadata, "preTokens").or_else(|| number(metadata, "pre_tokens"));
        let head = metadata
            .get("preservedSegment")
            .and_then(|kept| text(kept, "headUuid"))
            .or_else(|| items(metadata.get("preservedMessages")?, "uuids").first()?.as_str());
        if let Some(head) = head {
            self.kept.push((self.draft.recorded.len(), head.to_owned()));
        }
        self.record(node.line, None, tokens_before.filter(|tokens| *tokens > 0));
    }

    fn summary(&mut self, mut node: Node) {
        let mut message = take(&mut node.value, "message");
        let (text, _) = blocks::result_text(take(&mut message, "content"));
        let worked = |message: &Message| message.role == Role::Assistant || message.is_user_request();
        let here = self.draft.messages.len();
        let boundary =
            self.draft.recorded.last_mut().filter(|last| last.before.get() == here && last.summary.is_none());
        if text.is_empty() {
            return;
        }
        if !self.draft.messages.iter().any(worked) {
            // What it summarises is not in this file: it is where the conversation begins.
            if boundary.is_some() {
                self.draft.recorded.pop();
                self.kept.retain(|(recorded, _)| *recorded < self.draft.recorded.len());
            }
            let parts = vec![Part::Text(Text { text, injected: true })];
            let message =
                Message { role: Role::User, parts, line: node.line, cwd: self.cwd.clone(), usage: None };
            self.draft.messages.insert(0, message);
            self.places.values_mut().for_each(|place| *place += 1);
            self.draft.starts_compacted = true;
        } else if let Some(boundary) = boundary {
            boundary.summary = Some(text);
        } else {
            self.record(node.line, Some(text), None);
        }
    }

    fn record(&mut self, line: u32, summary: Option<String>, tokens_before: Option<u64>) {
        let before = MessageIdx::new(self.draft.messages.len());
        self.draft.recorded.push(Recorded { before, first_kept: None, line, summary, tokens_before });
    }

    fn finish(mut self) -> Draft {
        for (recorded, uuid) in self.kept {
            if let (Some(recorded), Some(place)) =
                (self.draft.recorded.get_mut(recorded), self.places.get(&uuid))
            {
                recorded.first_kept = Some(MessageIdx::new(*place));
            }
        }
        self.draft
    }
}

/// Usage under the rule of the model: the prompt with cache reads and writes once. All zero is not reported.
fn usage(usage: &Value) -> Option<Usage> {
    let count = |key: &str| number(usage, key).unwrap_or_default();
    let (cache_read, cache_write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let input = count("input_tokens").saturating_add(cache_read).saturating_add(cache_write);
    let output = count("output_tokens");
    (input > 0 || output > 0).then_some(Usage { input, cache_read, cache_write, output })
}

/// The text of an attachment as the model sees it, near enough.
fn attachment(mut attachment: Value) -> Vec<Part> {
    let mut parts = Vec::new();
    match text(&attachment, "type").unwrap_or_default() {
        "queued_command" => {
            let origin = attachment.get("origin").and_then(|origin| text(origin, "kind"));
            let typed = text(&attachment, "commandMode").is_none_or(|mode| mode == "prompt")
                && origin.is_none_or(|origin| origin == "human")
                && !flag(&attachment, "isMeta");
            match take(&mut attachment, "prompt") {
                Value::String(prompt) => injected::push_user_text(prompt, !typed, &mut parts),
                blocks => parts = blocks::parts(blocks, Speaker::User { meta: !typed }, Outcome::Unknown),
            }
        }
        // Shown to the user, not to the model.
        "hook_system_message" | "hook_non_blocking_error" | "hook_cancelled" | "command_permissions" => {}
        "hook_success" => injected::push_user_text(take_text(&mut attachment, "content"), true, &mut parts),
        _ => {
            const SHOWN: [&str; 14] = [
                "displayPath",
                "filename",
                "path",
                "content",
                "snippet",
                "text",
                "banner",
                "addedBlocks",
                "addedLines",
                "blockingError",
                "skills",
                "skillNames",
                "description",
                "newDate",
            ];
            let mut whole = String::new();
            for key in SHOWN {
                gather(attachment.get(key).unwrap_or(&Value::Null), &mut whole);
            }
            injected::push_user_text(whole, true, &mut parts);
        }
    }
    parts
}

/// Adds all strings of a value, a line each.
fn gather(value: &Value, whole: &mut String) {
    match value {
        Value::String(text) if !text.is_empty() => {
            if !whole.is_empty() {
                whole.push('\n');
            }
            whole.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, whole)),
        Value::Object(map) => {
            map.iter().filter(|(key, _)| *key != "type").for_each(|(_, item)| gather(item, whole))
        }
        _ => {}
    }
}
