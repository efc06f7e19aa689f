//! Cline and Roo tasks: the history of the API, the messages of the interface, and both of one task.
//!
//! The history is the conversation. Calls stand in it as blocks or as markup in the text of a reply ([`markup`]); results as blocks
//! or as text that opens with the name of the tool. Where a task's directory is read whole, the messages of the interface
//! add what the history does not say: which messages were cut from the context and when, usage, times. The messages of the
//! interface alone are read as a conversation that shows calls without most results ([`interface`]).
//!
//! Compactions: Cline cuts a range of messages out of the context (`conversationHistoryDeletedRange`); Roo marks the messages
//! that a summary or a cut stands for, and leaves them in the history. Where it did not, the history begins with the summary.

mod interface;
mod markup;
#[cfg(test)]
mod tests;

use arcstr::ArcStr;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

use crate::ingest::value::Value;

use super::blocks::{self, Speaker};
use super::build;
use super::detect::is_chat;
use super::formats::Format;
use super::json::{self, counts, flag, items, take, take_text, text};
use super::lines::Record;
use super::links::Draft;
use super::outcome;
use super::shapes::{Lists, Piece, Shape, Split, TreeShape};
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::paths;
use crate::transcript::{Message, MessageIdx, MessageSet, Outcome, Part, Role, ToolResult, Usage};

/// Histories of the API.
pub(super) static HISTORY: Shape = Shape {
    owns: is_chat,
    split: Split::One(tells_of_compaction),
    lists: Lists::Sessions,
    ..Shape::new(Format::Cline, sniff_history, read_history)
};

/// Messages of the interface.
pub(super) static INTERFACE: Shape = Shape::new(Format::Cline, sniff_interface, read_interface);

/// Lists of tasks, and what is noted beside a task.
pub(super) static SIDECAR: Shape = Shape::new(Format::Cline, sniff_sidecar, read_sidecar);

/// Directories of tasks.
pub(super) static TREE: TreeShape = TreeShape { format: Format::Cline, group, read: read_tree };

/// The files of a task, the history first.
const FILES: [&str; 4] =
    ["api_conversation_history.json", "ui_messages.json", "task_metadata.json", "context_history.json"];

/// The block at the end of what the harness sends, by how it opens.
const ENVIRONMENT: &str = "<environment_details>";

fn sniff_history(value: &Value) -> Option<&'static str> {
    if value.get("type").is_some() || !matches!(text(value, "role"), Some("user" | "assistant")) {
        return None;
    }
    if value.get("modelInfo").is_some_and(|model| text(model, "modelId").is_some()) {
        return Some("has role and modelInfo.modelId");
    }
    if value.get("metrics").is_some_and(|metrics| metrics.get("tokens").is_some()) {
        return Some("has role and metrics.tokens");
    }
    if text(value, "condenseId").or(text(value, "condenseParent")).is_some() {
        return Some("has role and condenseId or condenseParent");
    }
    let opens = |block: &Value| text(block, "text").is_some_and(|text| text.starts_with(ENVIRONMENT));
    items(value, "content").iter().any(opens).then_some("has a block of environment_details")
}

/// True for what belongs to a compaction: whether the log tags what was cut all of it tells.
fn tells_of_compaction(value: &Value) -> bool {
    ["isSummary", "isTruncationMarker"].iter().any(|key| flag(value, key))
        || text(value, "condenseParent").or(text(value, "truncationParent")).is_some()
}

fn sniff_interface(value: &Value) -> Option<&'static str> {
    let kind = text(value, "type").filter(|kind| matches!(*kind, "say" | "ask"))?;
    (value.get("ts").is_some() && text(value, kind).is_some()).then_some("has ts and say or ask")
}

fn sniff_sidecar(value: &Value) -> Option<&'static str> {
    if text(value, "task").is_some() && value.get("ts").is_some() && value.get("tokensIn").is_some() {
        return Some("has task and tokensIn");
    }
    (value.get("files_in_context").is_some() && value.get("model_usage").is_some())
        .then_some("has files_in_context and model_usage")
}

fn read_sidecar(records: Vec<Record>, _: &str, out: &mut Sink) {
    for _ in records {
        out.raw.messages += 1;
    }
    out.part_of_log(
        "Cline's list of tasks, or what it notes beside one: name the directory of the task to read its conversation",
    );
}

fn read_history(records: Vec<Record>, name: &str, out: &mut Sink) {
    conversation(records, &[], name, out);
}

fn read_interface(records: Vec<Record>, name: &str, out: &mut Sink) {
    interface::read(records, name, out);
}

fn group(paths: &[&str]) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let Some(directory) = path.strip_suffix(FILES[0]) else { continue };
        if !(directory.is_empty() || directory.ends_with('/')) {
            continue;
        }
        let beside = FILES.iter().skip(1);
        let beside = beside.filter_map(|file| {
            paths.iter().position(|path| path.strip_suffix(file).is_some_and(|before| before == directory))
        });
        groups.push(std::iter::once(at).chain(beside).collect());
    }
    groups.retain(|group: &Vec<usize>| group.len() > 1);
    groups
}

fn read_tree(pieces: Vec<Piece>, name: &str, out: &mut Sink) {
    let mut history = Vec::new();
    let mut shown = Vec::new();
    let mut task = name.to_owned();
    for piece in pieces {
        let file = piece.path.rsplit('/').next().unwrap_or_default();
        if file == FILES[0] {
            let directory = piece.path.rsplit('/').nth(1).filter(|directory| !directory.is_empty());
            directory.unwrap_or(name).clone_into(&mut task);
            history = piece.records;
        } else if file == FILES[1] {
            shown = piece.records;
        }
    }
    if history.is_empty() {
        interface::read(shown, &task, out);
    } else {
        let shown: Vec<Value> = shown.into_iter().map(|record| record.value).collect();
        conversation(history, &shown, &task, out);
    }
}

/// What the messages of the interface say of the history.
#[derive(Default)]
struct Shown {
    /// Ranges cut from the context, first and last, by the position in the history before which it happened.
    cuts: BTreeMap<usize, Vec<(usize, usize)>>,
    /// By position in the history: usage and time of a reply.
    replies: FxHashMap<usize, (Option<Usage>, Option<i64>)>,
}

impl Shown {
    fn of(messages: &[Value], replies: &[usize], out: &mut Sink) -> Self {
        let mut shown = Self::default();
        let mut range = None;
        let mut requests = Vec::new();
        for (line, message) in (1u32..).zip(messages) {
            let index = message.get("conversationHistoryIndex").and_then(Value::as_i64);
            let next = index.and_then(|index| usize::try_from(index.saturating_add(1)).ok());
            if let [first, last] = items(message, "conversationHistoryDeletedRange")
                && let (Some(first), Some(last)) = (first.as_u64(), last.as_u64())
                && let (Ok(first), Ok(last)) = (usize::try_from(first), usize::try_from(last))
                && range.replace((first, last)) != Some((first, last))
                && let Some(next) = next
            {
                shown.cuts.entry(next.max(last.saturating_add(1))).or_default().push((first, last));
            }
            if text(message, "say") == Some("api_req_started") {
                let usage = interface::usage(message, line, out);
                requests.push((next.map(|next| next + 1), usage, json::time_at(message, "ts")));
            }
        }
        // Roo names no position: then requests and replies go by order, if there are as many.
        let by_order = requests.len() == replies.len();
        for (at, (position, usage, time)) in requests.into_iter().enumerate() {
            let in_order = replies.get(at).copied().filter(|_| by_order);
            if let Some(position) = position.or(in_order) {
                shown.replies.entry(position).or_insert((usage, time));
            }
        }
        shown
    }
}

/// Reads a history, with what the interface showed of it.
fn conversation(records: Vec<Record>, shown: &[Value], name: &str, out: &mut Sink) {
    let spoken = |role: &str| {
        let of_role =
            |(at, record): (usize, &Record)| (text(&record.value, "role") == Some(role)).then_some(at);
        records.iter().enumerate().filter_map(of_role).collect::<Vec<usize>>()
    };
    let shown = Shown::of(shown, &spoken("assistant"), out);
    let begun = out.resume().unwrap_or_else(|| Draft::holding(name, records.len()));
    let mut reader = Reader::new(begun);
    let mut cut = Cut::default();
    let any_tag = records.iter().any(|record| parents(&record.value).next().is_some());
    for (at, Record { line, mut value }) in records.into_iter().enumerate() {
        out.raw.messages += 1;
        out.raw.tool_calls += blocks::count(&value, "tool_use");
        let end = reader.draft.messages.len();
        for (first, last) in shown.cuts.get(&at).into_iter().flatten() {
            reader.cut(*first, *last, line, out);
        }
        reader.places.push(end);
        let is_summary = flag(&value, "isSummary");
        if is_summary || flag(&value, "isTruncationMarker") {
            for id in ["condenseId", "truncationId"].iter().filter_map(|key| text(&value, key)) {
                cut.name(id);
            }
            out.raw.compactions += 1;
            let said = is_summary.then(|| text_of(take(&mut value, "content")));
            if !any_tag && is_summary && !reader.has_replied() {
                build::begin_compacted(&mut reader.draft, said, line);
                reader.places.iter_mut().for_each(|place| *place += 1);
                continue;
            }
            let mut recorded = build::compaction(&reader.draft, said, line);
            recorded.kept = cut.gone.others(end);
            if !any_tag {
                out.kept_unknown(&mut recorded, "the messages that were cut are not marked");
            }
            reader.draft.recorded.push(recorded);
            continue;
        }
        let marks: Vec<String> = parents(&value).map(str::to_owned).collect();
        reader.element(value, line, shown.replies.get(&at).copied(), out);
        cut.mark(&marks, MessageIdx::new(end)..MessageIdx::new(reader.draft.messages.len()));
    }
    let count = reader.places.len();
    for (first, last) in shown.cuts.range(count..).flat_map(|(_, cuts)| cuts) {
        reader.cut(*first, *last, 0, out);
    }
    reader.finish(out);
}

/// The ids of the compactions that cut a message.
fn parents(value: &Value) -> impl Iterator<Item = &str> {
    ["condenseParent", "truncationParent"].into_iter().filter_map(|key| text(value, key))
}

/// The messages that compactions cut, as far as the history was read.
#[derive(Default)]
struct Cut {
    gone: MessageSet,
    /// Ids of the compactions so far.
    ids: FxHashSet<String>,
    /// Messages that name a compaction that is to come.
    waiting: FxHashMap<String, MessageSet>,
}

impl Cut {
    /// A compaction with this id takes place.
    fn name(&mut self, id: &str) {
        if let Some(waiting) = self.waiting.remove(id) {
            self.gone.extend(waiting.stretches());
        }
        self.ids.insert(id.to_owned());
    }

    /// The compactions with these ids cut these messages.
    fn mark(&mut self, ids: &[String], messages: Range<MessageIdx>) {
        for id in ids {
            let place = match self.waiting.get_mut(id) {
                _ if self.ids.contains(id) => &mut self.gone,
                Some(place) => place,
                None => self.waiting.entry(id.clone()).or_default(),
            };
            place.extend([messages.clone()]);
        }
    }
}

/// The text of a content, blocks joined.
fn text_of(content: Value) -> String {
    blocks::result_text(content).0
}

/// Builds the session element by element.
struct Reader {
    draft: Draft,
    cwd: Option<ArcStr>,
    /// For each element of the history how many messages there were before it.
    places: Vec<usize>,
}

impl Reader {
    fn new(draft: Draft) -> Self {
        let cwd = draft.messages.last().and_then(|last| last.cwd.clone());
        Self { draft, cwd, places: Vec::new() }
    }

    fn has_replied(&self) -> bool {
        self.draft.messages.iter().any(|message| message.role == Role::Assistant)
    }

    /// Records that a range of the history was cut from the context.
    fn cut(&mut self, first: usize, last: usize, line: u32, out: &mut Sink) {
        out.raw.compactions += 1;
        let end = self.draft.messages.len();
        let place = |at: usize| self.places.get(at).copied().unwrap_or(end);
        let cut = place(first)..place(last.saturating_add(1));
        let mut recorded = build::compaction(&self.draft, None, line);
        recorded.kept = MessageSet::from(cut).others(end);
        self.draft.recorded.push(recorded);
    }

    fn element(
        &mut self,
        mut value: Value,
        line: u32,
        told: Option<(Option<Usage>, Option<i64>)>,
        out: &mut Sink,
    ) {
        let content = take(&mut value, "content");
        let (role, parts) = match text(&value, "role") {
            Some("user") => (Role::User, request(content)),
            Some("assistant") => (Role::Assistant, reply(content)),
            _ if !value.is_object() => {
                out.damage(line, "bad-record", "an entry that is no object; its content is lost");
                return;
            }
            role => {
                let text = format!("role {:?} is not known, left out", role.unwrap_or_default());
                out.note(line, "unknown-role", Severity::Note, text);
                return;
            }
        };
        let stated = parts.iter().find_map(|part| match part {
            Part::Text(text) if text.injected => paths::stated_directory(&text.text),
            _ => None,
        });
        if let Some(stated) = stated {
            self.cwd = Some(ArcStr::from(stated));
        }
        let model = value.get("modelInfo").and_then(|model| text(model, "modelId"));
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.draft.model = Some(model.to_owned());
        }
        let metered = value.get("metrics").and_then(|metrics| metrics.get("tokens"));
        let metered = metered.and_then(|tokens| out.told(line, usage(tokens)).flatten());
        let (usage, time) = told.unwrap_or_default();
        if !parts.is_empty() {
            self.draft.messages.push(Message {
                cwd: self.cwd.clone(),
                usage: usage.or(metered).map(Box::new),
                time: json::time_at(&value, "ts").or(time),
                ..build::message(role, parts, line)
            });
        }
    }

    /// Gives the messages before the first stated directory that one too.
    fn finish(self, out: &mut Sink) {
        let Some(mut draft) = out.suspend(self.draft) else { return };
        let first = draft.messages.iter().find_map(|message| message.cwd.clone());
        for message in draft.messages.iter_mut().take_while(|message| message.cwd.is_none()) {
            message.cwd.clone_from(&first);
        }
        out.finish_draft(draft);
    }
}

/// Usage as the history has it: cached tokens, read or written, beside the prompt.
fn usage(told: &Value) -> Result<Option<Usage>, String> {
    let [fresh, output, cached] = counts(told, ["prompt", "completion", "cached"])?;
    let input = fresh.saturating_add(cached);
    Ok((input > 0 || output > 0).then_some(Usage { input, cache_read: cached, cache_write: 0, output }))
}

/// The parts of a reply.
fn reply(content: Value) -> Vec<Part> {
    let mut told = blocks::parts(content, Speaker::Other, Outcome::Unknown);
    build::split_thinking(&mut told, "thinking");
    let mut parts = Vec::new();
    for part in told {
        match part {
            Part::Text(text) => markup::push_reply(&text.text, &mut parts),
            other => parts.push(other),
        }
    }
    parts
}

/// The parts of what was sent to the model: results, what the user typed, what the harness added.
fn request(content: Value) -> Vec<Part> {
    let blocks = match content {
        Value::Array(blocks) => blocks.into_vec(),
        Value::Null => Vec::new(),
        other => vec![other],
    };
    let mut parts = Vec::new();
    // A result whose header stands alone in its block is in the next block.
    let mut open: Option<usize> = None;
    for mut block in blocks {
        let told = match &mut block {
            Value::String(text) => Some(std::mem::take(text).into()),
            block
                if text(block, "type") == Some("text")
                    || block.get("type").is_none() && text(block, "text").is_some() =>
            {
                Some(take_text(block, "text"))
            }
            _ => None,
        };
        let Some(told) = told else {
            let image = matches!(text(&block, "type"), Some("image"));
            match open.and_then(|at| parts.get_mut(at)) {
                Some(Part::Result(result)) if image => result.images += 1,
                _ => parts.extend(blocks::parts(block, Speaker::User { meta: false }, Outcome::Ok)),
            }
            continue;
        };
        if let Some(body) = markup::result_of(&told) {
            open = body.trim().is_empty().then_some(parts.len());
            parts.push(result(body.trim_start_matches('\n').to_owned()));
        } else if let Some(at) = open.take().filter(|_| !told.starts_with(ENVIRONMENT)) {
            if let Some(place) = parts.get_mut(at) {
                *place = result(told);
            }
            // Images of the result follow it.
            open = None;
        } else {
            markup::push_request(told, &mut parts);
        }
    }
    parts
}

/// A result told as text; its call is the oldest one without a result.
fn result(text: String) -> Part {
    let (outcome, exit_code) = match markup::ended(&text) {
        Some(found) => found,
        None => outcome::judge(&text, Outcome::Ok),
    };
    Part::result(ToolResult { call_id: String::new(), text, outcome, exit_code, images: 0 })
}
