//! Claude Code session files.
//!
//! A file is a forest of records tied by `parentUuid`; [`tree`] finds the active path of each conversation in it. This
//! module says what the records mean:
//!
//! * the lines of one reply (same `message.id`, often one line per block, sometimes with results in between) become one
//!   message at the place of the first, with the usage of the last;
//! * compaction boundaries and their summaries are recorded, never messages, except where the log begins with one;
//! * attachments are in the model's context: injected user text, save commands the user queued while the agent worked;
//! * of what the user queued, [`queue`] finds the messages that stand nowhere else;
//! * sub-agent records (`isSidechain`) become sessions of their own, one per agent;
//! * progress, hooks, titles, snapshots and the like are not in the context and say nothing here.

mod preserved;
mod queue;
#[cfg(test)]
mod tests;
mod tree;

use arcstr::ArcStr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::{self, Speaker};
use super::build::{self, Parent};
use super::formats::Format;
use super::injected;
use super::json::{self, flag, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::shapes::{Shape, Split};
use super::sink::Sink;
use super::value::{Map, Value, shared};
use crate::diagnostic::Severity;
use crate::transcript::{Message, MessageIdx, Origin, Outcome, Part, Recorded, Refusal, Role, Text, Usage};
use preserved::Preserved;
use queue::Queue;

/// The top-level fields this reader and the sniffers look at; all others are skipped while parsing.
const FIELDS: [&str; 26] = [
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "isSidechain",
    "sessionId",
    "session_id",
    "agentId",
    "parent_tool_use_id",
    "message",
    "isMeta",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "isApiErrorMessage",
    "attachment",
    "compactMetadata",
    "compact_metadata",
    "cwd",
    "loglines",
    "requestId",
    // Of queue records.
    "operation",
    "content",
    // What gives records of other formats away.
    "payload",
    "parentId",
    "role",
];

/// Record types that hold nothing of the conversation.
const SILENT: [&str; 25] = [
    "progress",
    "summary",
    "file-history-snapshot",
    "file-history-delta",
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
    /// A message from the queue: the line and the position of the record that holds what was typed.
    Queued {
        said: u32,
        since: u32,
    },
    /// Only a link in the chain.
    Chain,
}

/// One record of the forest.
#[derive(Debug)]
struct Node {
    line: u32,
    /// Its position among the records of the file: several may stand on one line.
    at: u32,
    uuid: ArcStr,
    parent: Parent,
    session: ArcStr,
    kind: Kind,
    /// What the kind is about: the message, the attachment, or the metadata of a compaction.
    body: Value,
    cwd: Option<ArcStr>,
    /// Id of the request a reply came from, where the log has it.
    request: Option<ArcStr>,
    /// The harness wrote it in the user's place.
    meta: bool,
    /// The client wrote it in the model's place.
    made_here: bool,
}

impl Node {
    /// True when the record is, or may hold, something of the context.
    fn is_content(&self) -> bool {
        self.kind != Kind::Chain
    }

    /// True when a record of this kind and body, with the id of this one, is a copy of it.
    fn says(&self, kind: Kind, body: &Value) -> bool {
        let of_user = |kind| matches!(kind, Kind::User | Kind::Summary);
        match kind {
            Kind::Attachment => self.kind == kind && self.body == *body,
            Kind::User | Kind::Assistant | Kind::Summary => {
                let alike = self.kind == kind || of_user(self.kind) && of_user(kind);
                alike && self.body.get("content") == body.get("content")
            }
            Kind::Boundary | Kind::Queued { .. } | Kind::Chain => self.kind == kind,
        }
    }

    /// Id of the reply an assistant record is a piece of; empty when it has none.
    fn reply(&self) -> &str {
        text(&self.body, "id").unwrap_or_default()
    }

    /// Ids of the calls an assistant record holds.
    fn call_ids(&self) -> impl Iterator<Item = &str> {
        block_ids(&self.body, "tool_use", "id")
    }

    /// Ids of the results a user record holds.
    fn result_ids(&self) -> impl Iterator<Item = &str> {
        block_ids(&self.body, "tool_result", "tool_use_id")
    }
}

/// The ids at `key` of the content blocks of one type.
fn block_ids<'a>(message: &'a Value, kind: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let blocks = items(message, "content").iter();
    blocks.filter(move |block| text(block, "type") == Some(kind)).filter_map(move |block| text(block, key))
}

/// The fields of one record, taken apart in one walk.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent flags of the log's own record")]
struct Fields {
    kind: Option<String>,
    subtype: Option<String>,
    uuid: ArcStr,
    parent: Option<Value>,
    logical_parent: Option<Value>,
    session: ArcStr,
    agent: Option<String>,
    cwd: Option<String>,
    request: Option<ArcStr>,
    message: Value,
    attachment: Value,
    metadata: Value,
    loglines: Value,
    operation: Option<String>,
    content: Value,
    sidechain: bool,
    meta: bool,
    summary: bool,
    api_error: bool,
}

impl Fields {
    fn new(map: Map) -> Self {
        let mut fields = Self::default();
        for (key, value) in map {
            let key = key.as_str();
            match (key, value) {
                ("type", Value::String(text)) => fields.kind = Some(text.into()),
                ("subtype", Value::String(text)) => fields.subtype = Some(text.into()),
                ("uuid", Value::String(text)) => fields.uuid = text.as_str().into(),
                ("parentUuid", value) => fields.parent = Some(value),
                ("logicalParentUuid", value) => fields.logical_parent = Some(value),
                ("sessionId", Value::String(text)) if !text.is_empty() => fields.session = shared(&text),
                ("session_id", Value::String(text)) if fields.session.is_empty() => {
                    fields.session = shared(&text);
                }
                ("agentId", Value::String(text)) => fields.agent = Some(text.into()),
                ("parent_tool_use_id", Value::String(text)) => {
                    fields.sidechain = true;
                    fields.agent.get_or_insert(text.into());
                }
                ("cwd", Value::String(text)) => fields.cwd = Some(text.into()),
                ("requestId", Value::String(text)) => fields.request = Some(text.as_str().into()),
                ("message", value) => fields.message = value,
                ("attachment", value) => fields.attachment = value,
                ("compactMetadata" | "compact_metadata", value) => fields.metadata = value,
                ("loglines", value) => fields.loglines = value,
                ("operation", Value::String(text)) => fields.operation = Some(text.into()),
                ("content", value) => fields.content = value,
                ("isSidechain", Value::Bool(true)) => fields.sidechain = true,
                ("isMeta" | "isVisibleInTranscriptOnly", Value::Bool(true)) => fields.meta = true,
                ("isCompactSummary", Value::Bool(true)) => fields.summary = true,
                ("isApiErrorMessage", Value::Bool(true)) => fields.api_error = true,
                _ => {}
            }
        }
        fields
    }
}

/// Session files, streams and web sessions.
pub(super) static SHAPE: Shape = Shape {
    owns: |value| value.get("sessionId").is_some() || value.get("uuid").is_some(),
    fields: Some(&FIELDS),
    split: Split::Tied(&["sessionId", "session_id", "uuid", "parentUuid", "logicalParentUuid"], 2),
    ..Shape::new(Format::ClaudeCode, sniff, read)
};

fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    let own = match text(value, "type") {
        Some("summary") => has("leafUuid"),
        Some("file-history-snapshot") => has("messageId") && has("snapshot"),
        Some("user" | "assistant") => {
            let message = value.get("message");
            let qwen = message.is_some_and(|message| message.get("parts").is_some());
            let tied =
                ["uuid", "sessionId", "parentUuid", "session_id", "isSidechain"].iter().any(|key| has(key));
            // In the prompts that Gemini CLI keeps beside its sessions it is text.
            message.is_some_and(|message| !message.is_string()) && tied && !qwen
        }
        Some("system" | "attachment" | "progress") => has("uuid") && (has("sessionId") || has("parentUuid")),
        Some(_) => false,
        None => return has("loglines").then_some("has loglines"),
    };
    own.then_some("has a session record with uuid, sessionId or leafUuid")
}

/// Reads the records of one file.
fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut forest = Forest::default();
    forest.main.reserve_exact(records.len());
    for record in records {
        forest.add(record.line, record.value, out);
    }
    let Forest { main, side, uuids, .. } = forest.finish(out);
    let mut drafts = Vec::new();
    for conversation in tree::conversations(main, out) {
        let session = conversation.last().map(|node| node.session.to_string()).unwrap_or_default();
        let id = if session.is_empty() { name.to_owned() } else { session };
        drafts.push((conversation[0].at, build(Draft::new(id), conversation, &uuids, out)));
    }
    for (agent, nodes) in tree::sidechains(side) {
        let session = nodes[0].session.as_str();
        let mut draft = Draft::new(format!("{}/{agent}", if session.is_empty() { name } else { session }));
        draft.origin = Origin::Sidechain(agent);
        drafts.push((nodes[0].at, build(draft, nodes, &uuids, out)));
    }
    drafts.sort_by_key(|(at, draft)| (draft.origin != Origin::Main, *at));
    for (_, draft) in drafts {
        out.finish_draft(draft);
    }
}

/// Where a record is kept: whether among those of sub-agents, and at what index.
type Place = (bool, u32);

/// Records sorted into those of the main conversations and those of sub-agents.
#[derive(Debug, Default)]
struct Forest {
    /// How many records there were so far.
    count: u32,
    main: Vec<Node>,
    side: Vec<(Option<String>, Node)>,
    /// First record of each id.
    uuids: FxHashMap<ArcStr, Place>,
    /// What further records of an id say that say something else.
    again: FxHashSet<(ArcStr, String)>,
    /// Session of the record before.
    session: ArcStr,
    /// Working directory by session.
    cwds: FxHashMap<ArcStr, ArcStr>,
    queue: Queue,
    /// Messages from the queue that the agent got before the next record that is no result.
    handed: Vec<Node>,
}

impl Forest {
    /// Counts one record and keeps it if it is a link of a chain.
    fn add(&mut self, line: u32, value: Value, out: &mut Sink) {
        let Value::Object(map) = value else {
            out.note(line, "unknown-record", Severity::Note, "a JSON value that is no object; ignored");
            return;
        };
        let mut fields = Fields::new(map);
        if let Value::Array(lines) = fields.loglines {
            // A web session export: one document that wraps the records.
            (1..).zip(lines).for_each(|(line, value)| self.add(line, value, out));
            return;
        }
        self.count += 1;
        let goes_on = fields.session.is_empty() && !self.session.is_empty();
        if goes_on {
            // What names no session goes on with the one before it, whatever it says of its parent.
            fields.session.clone_from(&self.session);
        } else if fields.session != self.session {
            self.session.clone_from(&fields.session);
        }
        count(&fields, out);
        if fields.kind.as_deref() == Some("queue-operation") {
            self.queue_operation(fields, line);
            return;
        }
        let Some(kind) = classify(&fields, line, out) else { return };
        let body = match kind {
            Kind::User | Kind::Assistant | Kind::Summary => fields.message,
            Kind::Attachment => fields.attachment,
            Kind::Boundary => fields.metadata,
            Kind::Queued { .. } | Kind::Chain => Value::Null,
        };
        let namesake = self.namesake(&fields.uuid);
        if kind == Kind::Chain && (namesake.is_some() || fields.uuid.is_empty()) {
            return;
        }
        let namesake = namesake.map(|node| (node.parent.clone(), node.says(kind, &body)));
        if let Some((_, same)) = &namesake {
            if *same || !self.again.insert((fields.uuid.clone(), format!("{kind:?} {body}"))) {
                let text = "a record with an id that came before (copied history); the first one is kept";
                out.note(line, "duplicate-record", Severity::Note, text);
                return;
            }
            let text = "a record with the id of one before it that says something else; both are kept";
            out.note(line, "reused-id", Severity::Note, text);
        }
        let mut parent = fields.parent;
        if kind == Kind::Boundary {
            parent = fields.logical_parent.filter(Value::is_string).or(parent);
        }
        let parent = match Parent::of(parent.as_ref()) {
            // Only a request begins a conversation; everything else without a parent follows what is before it.
            Parent::Nobody if goes_on || matches!(kind, Kind::Boundary | Kind::Summary | Kind::Chain) => {
                Parent::Unsaid
            }
            parent => parent,
        };
        // Of two records with one id and one parent the later was said after the earlier.
        let parent = match namesake {
            Some((same, _)) if same == parent && parent != Parent::Unsaid => {
                Parent::Uuid(fields.uuid.clone())
            }
            _ => parent,
        };
        // It is nearly always known by now: then it is there once.
        let parent = match parent {
            Parent::Uuid(uuid) => {
                Parent::Uuid(self.uuids.get_key_value(&uuid).map_or(uuid, |(known, _)| known.clone()))
            }
            other => other,
        };
        let cwd = fields.cwd.map(|cwd| match self.cwds.get(&fields.session) {
            Some(same) if **same == *cwd => same.clone(),
            _ => {
                let fresh: ArcStr = ArcStr::from(cwd);
                self.cwds.insert(fields.session.clone(), fresh.clone());
                fresh
            }
        });
        let id = fields.uuid.clone();
        let node = Node {
            line,
            at: self.count,
            uuid: fields.uuid,
            parent,
            session: fields.session,
            kind,
            body,
            cwd,
            request: fields.request.take(),
            meta: fields.meta,
            made_here: fields.api_error,
        };
        if fields.sidechain {
            self.side.push((fields.agent, node));
        } else {
            let waits = match node.kind {
                Kind::User => node.result_ids().next().is_some(),
                kind => matches!(kind, Kind::Attachment | Kind::Chain),
            };
            if !waits {
                self.hand_over(&node.session, line);
            }
            self.main.push(node);
        }
        if !id.is_empty() {
            let kept = if fields.sidechain { self.side.len() } else { self.main.len() };
            let place = u32::try_from(kept - 1).unwrap_or(u32::MAX);
            self.uuids.entry(id).or_insert((fields.sidechain, place));
        }
    }

    /// The first record that has this id.
    fn namesake(&self, uuid: &str) -> Option<&Node> {
        let (of_agent, at) = *self.uuids.get(uuid)?;
        let at = at as usize;
        if of_agent { self.side.get(at).map(|(_, node)| node) } else { self.main.get(at) }
    }

    /// A record of the queue: what the agent gets by it waits for the results that it gets with it, which may be written later.
    fn queue_operation(&mut self, fields: Fields, line: u32) {
        let operation = fields.operation.unwrap_or_default();
        // Sub-agents have no user.
        if fields.sidechain {
            return;
        }
        if let Some(queued) =
            self.queue.operation(&fields.session, &operation, fields.content, (line, self.count))
        {
            self.handed.push(Node {
                line,
                at: self.count,
                uuid: ArcStr::new(),
                parent: Parent::Unsaid,
                cwd: self.cwds.get(&fields.session).cloned(),
                session: fields.session,
                kind: Kind::Queued { said: queued.line, since: queued.at },
                body: queued.content,
                request: None,
                meta: false,
                made_here: false,
            });
        }
    }

    /// Puts what was handed over in a session in front of its record at `line`.
    fn hand_over(&mut self, session: &str, line: u32) {
        let handed = self.handed.extract_if(.., |node| node.session == session || session.is_empty());
        self.main.extend(handed.map(|node| Node { line, ..node }));
    }

    /// All records, with each message of the queue once.
    fn finish(mut self, out: &mut Sink) -> Self {
        self.main.append(&mut self.handed);
        queue::drop_repeated(&mut self.main);
        std::mem::take(&mut self.queue).finish(&self.main, out);
        self
    }
}

/// Raw counts: replies by their id, every user line, calls by their id, every mark of a compaction.
fn count(fields: &Fields, out: &mut Sink) {
    match fields.kind.as_deref() {
        Some("assistant") => {
            let id = text(&fields.message, "id").unwrap_or(&fields.uuid);
            out.raw.messages += u64::from(id.is_empty() || out.is_first("reply", id));
            let blocks = items(&fields.message, "content").iter();
            for block in blocks.filter(|block| text(block, "type") == Some("tool_use")) {
                let new = text(block, "id").is_none_or(|id| out.is_first("call", id));
                out.raw.tool_calls += u64::from(new);
            }
        }
        Some("user") => {
            out.raw.messages += 1;
            out.raw.compactions += u64::from(fields.summary);
        }
        Some("system") => {
            let marks =
                matches!(fields.subtype.as_deref(), Some("compact_boundary" | "microcompact_boundary"));
            out.raw.compactions += u64::from(marks);
        }
        _ => {}
    }
}

/// What kind of record it is; `None` when it is to be left out, which is noted unless it is usual.
fn classify(fields: &Fields, line: u32, out: &mut Sink) -> Option<Kind> {
    let Some(kind) = fields.kind.as_deref() else {
        // A message of another format in the middle of this one: its content is lost.
        let text =
            "a record without a type, not of this format; its content is lost (split mixed logs into files)";
        out.note(line, "foreign-record", Severity::Damage, text);
        return None;
    };
    match kind {
        "user" | "assistant" if !fields.message.is_object() => {
            out.damage(line, "bad-record", format!("a {kind} record without a message; its content is lost"));
            Some(Kind::Chain)
        }
        "user" if fields.summary => Some(Kind::Summary),
        "user" => Some(Kind::User),
        "assistant" => Some(Kind::Assistant),
        "attachment" => Some(Kind::Attachment),
        "system" => match fields.subtype.as_deref() {
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
fn build(draft: Draft, nodes: Vec<Node>, uuids: &FxHashMap<ArcStr, Place>, out: &mut Sink) -> Draft {
    let mut draft = draft;
    draft.messages.reserve_exact(nodes.len());
    // The root of a conversation that still names a parent names one that is not in the file.
    draft.starts_midway = nodes.first().is_some_and(|root| matches!(root.parent, Parent::Uuid(_)));
    let (replies, places) = (FxHashMap::default(), FxHashMap::default());
    let mut builder = Builder { draft, replies, places, uuids, kept: Vec::new() };
    for node in nodes {
        builder.node(node, out);
    }
    builder.finish(out)
}

/// Blocks of a reply that a further line of it is compared with.
const RECENT_BLOCKS: usize = 64;

/// A draft in the making.
struct Builder<'a> {
    draft: Draft,
    /// Message and request of each reply id since the last request of the user.
    replies: FxHashMap<String, (usize, Option<ArcStr>)>,
    /// Message of each record.
    places: FxHashMap<ArcStr, usize>,
    /// Ids of all records of the file.
    uuids: &'a FxHashMap<ArcStr, Place>,
    /// Recorded compactions with what they say of the records they kept, or why that cannot be read.
    kept: Vec<(usize, Result<Option<Preserved>, String>)>,
}

impl Builder<'_> {
    fn node(&mut self, node: Node, out: &mut Sink) {
        self.places.insert(node.uuid.clone(), self.draft.messages.len());
        match node.kind {
            Kind::User => self.user(node, out),
            Kind::Assistant => self.assistant(node, out),
            Kind::Attachment => {
                let parts = attachment(node.body);
                self.push(Role::User, parts, node.line, node.cwd);
            }
            Kind::Queued { said, .. } => self.push(Role::User, queue::parts(node.body), said, node.cwd),
            Kind::Boundary => self.boundary(&node, out),
            Kind::Summary => self.summary(node),
            Kind::Chain => {}
        }
    }

    fn push(&mut self, role: Role, parts: Vec<Part>, line: u32, cwd: Option<ArcStr>) {
        if !parts.is_empty() {
            self.draft.messages.push(Message { cwd, ..build::message(role, parts, line) });
        }
    }

    fn user(&mut self, mut node: Node, out: &mut Sink) {
        let content = take(&mut node.body, "content");
        if content.is_null() {
            out.damage(node.line, "bad-record", "a user record without content; nothing of it is left");
        }
        // Failed results always carry a flag in these logs.
        let parts = blocks::parts(content, Speaker::User { meta: node.meta }, Outcome::Ok);
        if parts.iter().any(|part| matches!(part, Part::Text(text) if !text.injected)) {
            self.replies.clear();
        }
        self.push(Role::User, parts, node.line, node.cwd);
    }

    fn assistant(&mut self, mut node: Node, out: &mut Sink) {
        let message = &mut node.body;
        let made_here = node.made_here || text(message, "model") == Some("<synthetic>");
        let usage = message.get("usage").and_then(|told| out.told(node.line, usage(told)).flatten());
        let usage = usage.filter(|_| !made_here);
        if made_here {
            let text =
                "a reply made by the client, not by the model (an API error, a resume); kept without usage";
            out.note(node.line, "synthetic-reply", Severity::Note, text);
        } else if let Some(model) = text(message, "model").filter(|model| !model.is_empty()) {
            model.clone_into(self.draft.model.get_or_insert_default());
        }
        let id = take_text(message, "id");
        let parts = blocks::parts(take(message, "content"), Speaker::Other, Outcome::Ok);
        let same = |(_, request): &&(usize, Option<ArcStr>)| {
            request.is_none() || node.request.is_none() || *request == node.request
        };
        let known = self.replies.get(&id).filter(same).map(|(at, _)| *at).filter(|_| !id.is_empty());
        if let Some((at, reply)) = known.and_then(|at| Some((at, self.draft.messages.get_mut(at)?))) {
            // Some clients log the blocks so far on every line: a block that is there already is not a new one.
            let before = reply.parts.len();
            let recent = before.saturating_sub(RECENT_BLOCKS);
            for part in parts {
                if !reply.parts.get(recent..before).is_some_and(|recent| recent.contains(&part)) {
                    reply.push(part, node.line);
                }
            }
            reply.usage = usage.map(Box::new).or(reply.usage.take());
            self.places.insert(node.uuid, at);
            return;
        }
        if node.made_here {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.text.as_str()),
                _ => None,
            });
            self.draft.refusals.push(Refusal {
                before: MessageIdx::new(self.draft.messages.len()),
                line: node.line,
                text: texts.collect::<Vec<_>>().join("\n"),
            });
        }
        // Kept even when empty: the next line of the reply may have its first block.
        self.replies.insert(id, (self.draft.messages.len(), node.request));
        let message = Message {
            cwd: node.cwd,
            usage: usage.map(Box::new),
            ..build::message(Role::Assistant, parts, node.line)
        };
        self.draft.messages.push(message);
    }

    fn boundary(&mut self, node: &Node, out: &mut Sink) {
        let metadata = &node.body;
        let mut told = |keys: [&str; 2]| {
            keys.into_iter().find_map(|key| out.told(node.line, json::tokens(metadata, key)).flatten())
        };
        let tokens_before = told(["preTokens", "pre_tokens"]);
        let tokens_after = told(["postTokens", "post_tokens"]);
        let kept = preserved::of(metadata);
        if !matches!(kept, Ok(None)) {
            self.kept.push((self.draft.recorded.len(), kept));
        }
        self.draft.recorded.push(Recorded {
            line: node.line,
            trigger: text(metadata, "trigger").map(str::to_owned),
            tokens_before,
            tokens_after,
            ..Recorded::at(MessageIdx::new(self.draft.messages.len()))
        });
    }

    fn summary(&mut self, mut node: Node) {
        let (text, _) = blocks::result_text(take(&mut node.body, "content"));
        if text.trim().is_empty() {
            return;
        }
        let worked = |message: &Message| message.role == Role::Assistant || message.is_user_request();
        let here = self.draft.messages.len();
        let boundary =
            self.draft.recorded.last_mut().filter(|last| last.before.get() == here && last.summary.is_none());
        if !self.draft.messages.iter().any(worked) && !self.draft.starts_compacted {
            // What it summarises is not in this file: it is where the conversation begins.
            if boundary.is_some() {
                self.draft.recorded.pop();
                self.kept.retain(|(recorded, ..)| *recorded < self.draft.recorded.len());
            }
            let parts = vec![Part::Text(Text { text, injected: true })];
            let message = Message { cwd: node.cwd, ..build::message(Role::User, parts, node.line) };
            self.draft.messages.insert(0, message);
            self.places.values_mut().for_each(|place| *place += 1);
            self.draft.refusals.iter_mut().for_each(|one| one.before.0 += 1);
            self.draft.starts_compacted = true;
        } else if let Some(boundary) = boundary {
            boundary.summary = Some(text);
        } else {
            let before = MessageIdx::new(here);
            self.draft.recorded.push(Recorded {
                line: node.line,
                summary: Some(text),
                ..Recorded::at(before)
            });
        }
    }

    /// Finds the messages that compactions kept: their records may stand behind the boundary.
    fn finish(mut self, out: &mut Sink) -> Draft {
        for (recorded, told) in self.kept {
            let Some(recorded) = self.draft.recorded.get_mut(recorded) else { continue };
            let end = recorded.before.get();
            let range = told
                .map(Option::unwrap_or_default)
                .and_then(|told| told.range(&self.places, self.uuids, end));
            match range {
                Ok(range) => recorded.kept = range.into(),
                Err(cause) => out.kept_unknown(recorded, &cause),
            }
        }
        self.draft
    }
}

/// Usage under the rule of the model: the prompt with cache reads and writes once. All zero is not reported.
fn usage(usage: &Value) -> Result<Option<Usage>, String> {
    let found = json::beside_cache(usage)?;
    Ok((found.input > 0 || found.output > 0).then_some(found))
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
                Value::String(prompt) => injected::push_user_text(prompt.into(), !typed, &mut parts),
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
            map.iter().filter(|(key, _)| *key != "type").for_each(|(_, item)| gather(item, whole));
        }
        _ => {}
    }
}
