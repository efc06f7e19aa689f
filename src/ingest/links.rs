//! From loose messages to a [`Transcript`]: calls and results linked by occurrence, and the rules of
//! [`Transcript::check`] made true.
//!
//! Ids alone link nothing: some servers give every call the same id. A result belongs to the oldest unanswered call
//! with its id in the newest batch that has one, where a batch is what the model asked for before the conversation went
//! on. A result without an id belongs to the oldest unanswered call of the newest such batch.
//!
//! What changes on the way, each named by a diagnostic:
//!
//! * `orphan-result`: a result whose call is not in the log becomes injected text of a user message;
//! * `starts-compacted`: not changed, but said of every log that begins with a summary;
//! * `duplicate-result`: of two results for one call the first completed one stays, the other is removed;
//! * `empty-reply`: a reply that cost something and says nothing is left out;
//!
//! and silently: empty text and thinking parts go, other messages left without parts go (an empty tool result stays), and
//! results inside a user message move into a tool message of their own in front of it, as APIs require.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use thin_vec::ThinVec;

use super::growing::Growing;
use super::outcome;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{
    Link, Message, MessageIdx, Origin, Outcome, Part, PartRef, Parts, Recorded, Refusal, Role, Text,
    ToolResult, Transcript,
};

/// Code of the remark on a log that begins with a summary.
const STARTS_COMPACTED: &str = "starts-compacted";

/// A session as a reader found it: messages in order, nothing linked, anything allowed in them.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    /// Session id.
    pub(super) id: String,
    /// Where it belongs.
    pub(super) origin: Origin,
    /// Messages in order of the conversation.
    pub(super) messages: Growing<Message>,
    /// Recorded compactions; positions are indices into `messages` of the draft.
    pub(super) recorded: Vec<Recorded>,
    /// Requests that failed; positions as in `recorded`.
    pub(super) refusals: Vec<Refusal>,
    /// See [`Transcript::continues`].
    pub(super) continues: Option<String>,
    /// See [`Transcript::format`]; what read the log is filled in where this is missing.
    pub(super) format: Option<String>,
    /// See [`Transcript::model`].
    pub(super) model: Option<String>,
    /// See [`Transcript::context_window`].
    pub(super) context_window: Option<u64>,
    /// See [`Transcript::tool_schema`].
    pub(super) tool_schema: Option<String>,
    /// See [`Transcript::starts_compacted`].
    pub(super) starts_compacted: bool,
    /// See [`Transcript::starts_midway`].
    pub(super) starts_midway: bool,
}

impl Draft {
    /// An empty session with the user.
    pub(super) fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            origin: Origin::Main,
            messages: Growing::default(),
            recorded: Vec::new(),
            refusals: Vec::new(),
            continues: None,
            format: None,
            model: None,
            context_window: None,
            tool_schema: None,
            starts_compacted: false,
            starts_midway: false,
        }
    }

    /// An empty session that will probably hold so many messages.
    pub(super) fn holding(id: impl Into<String>, messages: usize) -> Self {
        let mut draft = Self::new(id);
        draft.messages.reserve_exact(messages);
        draft
    }
}

/// Links a draft; `None` when no message is left of it.
pub(super) fn finish(draft: Draft, out: &mut Sink) -> Option<Transcript> {
    let (messages, moved) = tidy(draft.messages.into_vec(), out);
    let pairing = pair(&messages, out);
    let (messages, links, moved_again) = settle(messages, pairing);
    if messages.is_empty() {
        return None;
    }
    if draft.starts_compacted {
        note_starts_compacted(&messages, out);
    }
    let end = messages.len();
    let position = |at: MessageIdx| {
        let first = moved.get(at.get()).and_then(|first| moved_again.get(first));
        MessageIdx::new(first.unwrap_or(end))
    };
    let mut recorded: Vec<Recorded> = Vec::with_capacity(draft.recorded.len());
    for mut compaction in draft.recorded {
        let kept = std::mem::take(&mut compaction.kept);
        compaction.before = position(compaction.before);
        let stays = |at: &MessageIdx| *at < compaction.before;
        // A message may have become two.
        let moved = |kept: Range<MessageIdx>| position(kept.start)..position(kept.end).min(compaction.before);
        compaction.kept = kept.stretches().map(moved).collect();
        compaction.clipped.iter_mut().for_each(|(at, _)| *at = position(*at));
        compaction.clipped.retain(|(at, _)| stays(at));
        // Two in a row with nothing said between them: the newer one is what the agent went on with.
        match recorded.last_mut().filter(|last| last.before == compaction.before) {
            Some(last) => {
                let text = format!("recorded again at line {}; the newer one counts", compaction.line);
                out.note(last.line, "recorded-twice", Severity::Note, text);
                if last.summary.is_none() || compaction.summary.is_some() {
                    compaction.tokens_before = compaction.tokens_before.or(last.tokens_before);
                    *last = compaction;
                }
            }
            None => recorded.push(compaction),
        }
    }
    let refusals = draft.refusals.into_iter();
    let refusals = refusals.map(|one| Refusal { before: position(one.before), ..one }).collect();
    Some(Transcript {
        id: draft.id,
        origin: draft.origin,
        messages,
        links,
        recorded,
        refusals,
        continues: draft.continues,
        format: draft.format,
        model: draft.model,
        context_window: draft.context_window,
        tool_schema: draft.tool_schema,
        starts_compacted: draft.starts_compacted,
        starts_midway: draft.starts_midway,
    })
}

/// Says that a log begins with a summary, its first message.
pub(super) fn note_starts_compacted(messages: &[Message], out: &mut Sink) {
    let line = messages.first().map_or(0, |summary| summary.line);
    let text = "the log begins with the summary of a compaction; what it summarises is not in it";
    out.note(line, STARTS_COMPACTED, Severity::Note, text);
}

/// For each message the index of the first one made from it or from a later one.
struct Moved {
    /// So many messages there were.
    count: usize,
    /// `None` where all are where they were: so it is in nearly all logs.
    places: Option<Vec<u32>>,
}

impl Moved {
    fn get(&self, at: usize) -> Option<usize> {
        match &self.places {
            None => (at < self.count).then_some(at),
            Some(places) => places.get(at).map(|place| *place as usize),
        }
    }

    /// Notes where the next message is.
    fn push(&mut self, place: usize) {
        let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        if self.places.is_none() && place != self.count {
            self.places = Some((0..short(self.count)).collect());
        }
        self.places.iter_mut().for_each(|places| places.push(short(place)));
        self.count += 1;
    }
}

/// Makes each message anew, as one, several or none, in the memory that they have: `make` is given a message and its index, and puts
/// what becomes of it at the end of the queue.
fn remake(
    messages: Vec<Message>,
    mut make: impl FnMut(usize, Message, &mut VecDeque<Message>),
) -> (Vec<Message>, Moved) {
    let mut waiting = messages.len();
    let mut moved = Moved { count: 0, places: None };
    let mut queue = VecDeque::from(messages);
    while let Some(next) = waiting.checked_sub(1) {
        let Some(message) = queue.pop_front() else { break };
        waiting = next;
        moved.push(queue.len() - waiting);
        make(moved.count - 1, message, &mut queue);
    }
    (queue.into(), moved)
}

/// Drops what is empty and gives results messages of their own.
fn tidy(messages: Vec<Message>, out: &mut Sink) -> (Vec<Message>, Moved) {
    remake(messages, |_, mut message, tidied| {
        keep(&mut message, |part| match part {
            Part::Text(text) => !text.text.is_empty(),
            Part::Thinking(text) => !text.is_empty(),
            _ => true,
        });
        if message.role != Role::Assistant {
            message.usage = None;
        } else if message.parts.is_empty() && message.usage.is_some() {
            let text = "a reply without content, left out; its usage is not counted";
            out.note(message.line, "empty-reply", Severity::Note, text);
        }
        if matches!(message.role, Role::User | Role::Tool) {
            let is_result = |part: &Part| matches!(part, Part::Result(_));
            let results = message.parts.iter().filter(|part| is_result(part)).count();
            let asked = message.role == Role::User;
            if results == message.parts.len() {
                message.role = Role::Tool;
            } else if results == 0 {
                message.role = Role::User;
            } else {
                let mut answers = Message { role: Role::Tool, ..message.clone() };
                keep(&mut answers, is_result);
                tidied.push_back(answers);
                message.role = Role::User;
                keep(&mut message, |part| !is_result(part));
            }
            if message.role == Role::User && !asked {
                inject(&mut message.parts);
            }
        }
        if !message.parts.is_empty() {
            message.parts.shrink_to_fit();
            tidied.push_back(message);
        }
    })
}

/// Keeps the parts that `wanted` says, with their lines.
fn keep(message: &mut Message, wanted: impl Fn(&Part) -> bool) {
    let mut at = 0;
    let kept: Vec<bool> = message.parts.iter().map(&wanted).collect();
    message.lines.retain(|_| {
        at += 1;
        kept.get(at - 1).copied().unwrap_or(true)
    });
    message.parts.retain(|part| wanted(part));
}

/// Marks all text as the harness's.
fn inject(parts: &mut [Part]) {
    for part in parts {
        if let Part::Text(text) = part {
            text.injected = true;
        }
    }
}

/// What becomes of the results that link to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// No call: demoted to injected text.
    Orphan,
    /// A better result for the same call exists.
    Removed,
}

/// Links found, and results to change.
#[derive(Debug, Default)]
struct Pairing {
    links: Vec<Link>,
    fates: FxHashMap<PartRef, Fate>,
}

/// Unanswered calls of one batch, as numbers of links, oldest first; answered ones are skipped when met.
#[derive(Debug)]
struct Batch {
    number: u32,
    /// So many of its calls are done with.
    done: u32,
    calls: SmallVec<[u32; 2]>,
}

/// Unanswered calls, by batch.
#[derive(Debug, Default)]
struct Batches(Vec<Batch>);

impl Batches {
    fn push(&mut self, batch: u32, link: u32) {
        match self.0.last_mut() {
            Some(newest) if newest.number == batch => newest.calls.push(link),
            _ => self.0.push(Batch { number: batch, done: 0, calls: SmallVec::from_elem(link, 1) }),
        }
    }

    /// The oldest open call of the newest batch that has one.
    fn pop(&mut self, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        while let Some(newest) = self.0.last_mut() {
            while let Some(link) = newest.calls.get(newest.done as usize) {
                newest.done += 1;
                let link = *link as usize;
                if is_open(link) {
                    return Some(link);
                }
            }
            self.0.pop();
        }
        None
    }
}

/// Unanswered calls of one id. Nearly always there is one at most.
#[derive(Debug, Default)]
enum Pending {
    #[default]
    None,
    One {
        batch: u32,
        link: u32,
    },
    Several(Box<Batches>),
}

impl Pending {
    fn push(&mut self, batch: u32, link: u32) {
        match self {
            Self::None => *self = Self::One { batch, link },
            Self::One { batch: older, link: waiting } => {
                let mut batches = Batches::default();
                batches.push(*older, *waiting);
                batches.push(batch, link);
                *self = Self::Several(Box::new(batches));
            }
            Self::Several(batches) => batches.push(batch, link),
        }
    }

    /// The oldest open call of the newest batch that has one.
    fn pop(&mut self, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            Self::None => None,
            Self::One { link, .. } => {
                let link = *link as usize;
                *self = Self::None;
                is_open(link).then_some(link)
            }
            Self::Several(batches) => batches.pop(is_open),
        }
    }
}

/// What is known of an id.
#[derive(Debug, Default)]
struct Known {
    pending: Pending,
    /// The link of its call that was answered last.
    answered: Option<u32>,
}

/// Links calls and results by occurrence.
fn pair(messages: &[Message], out: &mut Sink) -> Pairing {
    let mut pairing = Pairing::default();
    let mut by_id: FxHashMap<&str, Known> = FxHashMap::default();
    let unnamed = |part: &Part| matches!(part, Part::Result(result) if result.call_id.is_empty());
    let any_unnamed = messages.iter().flat_map(|message| &message.parts).any(unnamed);
    let mut any = Batches::default();
    let (mut batch, mut asking) = (0u32, false);
    for (index, message) in messages.iter().enumerate() {
        let model_speaks = message.role == Role::Assistant;
        batch += u32::from(model_speaks && !asking);
        asking = model_speaks;
        for (part_index, part) in message.parts.iter().enumerate() {
            let at = PartRef {
                message: MessageIdx::new(index),
                part: u32::try_from(part_index).unwrap_or(u32::MAX),
            };
            match part {
                Part::Call(call) => {
                    let link = u32::try_from(pairing.links.len()).unwrap_or(u32::MAX);
                    pairing.links.push(Link { call: at, result: None });
                    if !call.id.is_empty() {
                        by_id.entry(call.id.as_str()).or_default().pending.push(batch, link);
                    }
                    if any_unnamed {
                        any.push(batch, link);
                    }
                }
                Part::Result(result) => {
                    let links = &mut pairing.links;
                    let id = result.call_id.as_str();
                    let is_open = |link: usize| links.get(link).is_some_and(|link| link.result.is_none());
                    let mut known = if id.is_empty() { None } else { by_id.get_mut(id) };
                    let call = match &mut known {
                        _ if id.is_empty() => any.pop(is_open),
                        Some(known) => known.pending.pop(is_open),
                        None => None,
                    };
                    if let Some(link) = call {
                        links[link].result = Some(at);
                        if let Some(known) = known {
                            known.answered = u32::try_from(link).ok();
                        }
                    } else if let Some(link) = known.and_then(|known| known.answered) {
                        let link = link as usize;
                        let first = links[link].result.and_then(|first| result_at(messages, first));
                        let better = first.is_some_and(is_placeholder) && !is_placeholder(result);
                        let loser = if better { links[link].result.replace(at) } else { Some(at) };
                        pairing.fates.extend(loser.map(|loser| (loser, Fate::Removed)));
                        let text = "a second result for one call; the first completed one is kept";
                        out.note(message.line, "duplicate-result", Severity::Note, text);
                    } else {
                        pairing.fates.insert(at, Fate::Orphan);
                        let text = "a result whose call is not in the log; kept as injected text";
                        out.note(message.line, "orphan-result", Severity::Note, text);
                    }
                }
                _ => {}
            }
        }
    }
    pairing
}

fn result_at(messages: &[Message], at: PartRef) -> Option<&ToolResult> {
    match messages.get(at.message.get())?.parts.get(at.part as usize)? {
        Part::Result(result) => Some(result),
        _ => None,
    }
}

/// True for what stands in for a result that never came.
fn is_placeholder(result: &ToolResult) -> bool {
    result.outcome == Outcome::Failed && outcome::is_abort(&result.text)
}

/// Carries out the fates.
fn settle(messages: Vec<Message>, pairing: Pairing) -> (Vec<Message>, Vec<Link>, Moved) {
    let Pairing { mut links, fates } = pairing;
    if fates.is_empty() {
        let same = Moved { count: messages.len(), places: None };
        return (messages, links, same);
    }
    let mut places: FxHashMap<PartRef, PartRef> = FxHashMap::default();
    let mut made = 0;
    let (settled, moved) = remake(messages, |index, mut message, settled| {
        let mut kept = Parts::with_capacity(message.parts.len());
        let mut orphans = Parts::new();
        let lines = std::mem::take(&mut message.lines);
        for (part_index, part) in message.parts.drain(..).enumerate() {
            let old = PartRef {
                message: MessageIdx::new(index),
                part: u32::try_from(part_index).unwrap_or(u32::MAX),
            };
            match (fates.get(&old), part) {
                (Some(Fate::Removed), _) => {}
                (Some(Fate::Orphan), Part::Result(result)) => {
                    if !result.text.is_empty() {
                        orphans.push(Part::Text(Text { text: result.text, injected: true }));
                    }
                }
                (_, part) => {
                    if matches!(part, Part::Call(_) | Part::Result(_)) {
                        let new = PartRef {
                            message: MessageIdx::new(made),
                            part: u32::try_from(kept.len()).unwrap_or(u32::MAX),
                        };
                        places.insert(old, new);
                    }
                    message.lines.extend(lines.get(part_index).copied());
                    kept.push(part);
                }
            }
        }
        let demoted = Message {
            role: Role::User,
            parts: orphans,
            line: message.line,
            cwd: message.cwd.clone(),
            usage: None,
            lines: ThinVec::new(),
            time: None,
        };
        message.parts = kept;
        for message in [message, demoted].into_iter().filter(|message| !message.parts.is_empty()) {
            made += 1;
            settled.push_back(message);
        }
    });
    for link in &mut links {
        let place = |at: PartRef| places.get(&at).copied().unwrap_or(at);
        *link = Link { call: place(link.call), result: link.result.map(place) };
    }
    (settled, links, moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::ToolCall;

    /// Builds a draft from a sketch: `A:x,y` calls, `T:x` a result, `T:x!` an aborted one, `U` and `A` text.
    fn draft(sketch: &str) -> Draft {
        let mut draft = Draft::new("test");
        for (index, word) in sketch.split_whitespace().enumerate() {
            let (head, ids) = word.split_once(':').unwrap_or((word, ""));
            let ids = ids.split(',').filter(|_| word.contains(':'));
            let text = |text: &str| Part::Text(Text { text: text.to_owned(), injected: false });
            let mut parts: Vec<Part> = Vec::new();
            let role = match head {
                "U" | "UT" => Role::User,
                "A" => Role::Assistant,
                _ => Role::Tool,
            };
            if head != "T" && (head == "UT" || !word.contains(':')) {
                parts.push(text("said"));
            }
            for id in ids {
                parts.push(if head == "A" {
                    Part::call(ToolCall { id: id.to_owned(), name: "t".into(), arguments: String::new() })
                } else {
                    let aborted = id.ends_with('!');
                    Part::result(ToolResult {
                        call_id: id.trim_end_matches('!').to_owned(),
                        text: if aborted { "aborted".to_owned() } else { format!("result {index}") },
                        outcome: if aborted { Outcome::Failed } else { Outcome::Ok },
                        exit_code: None,
                        images: 0,
                    })
                });
            }
            draft.messages.push(Message {
                role,
                parts: parts.into(),
                line: u32::try_from(index).unwrap() + 1,
                cwd: None,
                usage: None,
                lines: ThinVec::new(),
                time: None,
            });
        }
        draft
    }

    /// Links as `call message.part>result message.part`, with the codes of the diagnostics behind them.
    fn check(sketch: &str, roles: &str, expected: &str, codes: &[&str]) {
        let mut out = Sink::default();
        let transcript = finish(draft(sketch), &mut out).unwrap();
        assert_eq!(transcript.check(), Vec::<String>::new(), "{sketch}");
        let at = |at: PartRef| format!("{}.{}", at.message, at.part);
        let links: Vec<String> = transcript
            .links
            .iter()
            .map(|link| format!("{}>{}", at(link.call), link.result.map(at).unwrap_or_default()))
            .collect();
        let found: String =
            transcript.messages.iter().map(|m| m.role.name().chars().next().unwrap()).collect();
        assert_eq!(found, roles, "{sketch}");
        assert_eq!(links.join(" "), expected, "{sketch}");
        let (_, diagnostics, _) = out.into_parts();
        assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), codes, "{sketch}");
    }

    #[test]
    fn pairs_by_occurrence() {
        check("U A:a,b T:a T:b A", "uatta", "1.0>2.0 1.1>3.0", &[]);
        check("U A:a,b T:b U T:a", "uatut", "1.0>4.0 1.1>2.0", &[]);
        check("U A:x T:x A:x T:x", "uatat", "1.0>2.0 3.0>4.0", &[]);
        check("U A:x,x T:x T:x", "uatt", "1.0>2.0 1.1>3.0", &[]);
        // The first call was never answered: the result belongs to the newer one.
        check("U A:x U A:x T:x", "uauat", "1.0> 3.0>4.0", &[]);
        // Two calls in a row are one batch: in order.
        check("U A:x A:x T:x T:x", "uaatt", "1.0>3.0 2.0>4.0", &[]);
        check("U A:a", "ua", "1.0>", &[]);
        // Results without ids.
        check("U A:a,b T: T:", "uatt", "1.0>2.0 1.1>3.0", &[]);
    }

    #[test]
    fn duplicates_and_orphans() {
        check("U A:a T:a T:a!", "uat", "1.0>2.0", &["duplicate-result"]);
        check("U A:a T:a! T:a", "uat", "1.0>2.0", &["duplicate-result"]);
        check("U T:a A:b T:b", "uuat", "2.0>3.0", &["orphan-result"]);
        check("U A:b T:b,zz A", "uatua", "1.0>2.0", &["orphan-result"]);
        // Text and result in one user message: the result goes first.
        check("U A:b UT:b A", "uatua", "1.0>2.0", &[]);
    }

    #[test]
    fn recorded_positions_follow_the_messages() {
        let mut draft = draft("U T:gone A UT:b U");
        draft.messages.remove(2);
        draft.messages.insert(
            2,
            Message {
                role: Role::Assistant,
                parts: smallvec::smallvec![Part::Thinking(String::new())],
                line: 3,
                cwd: None,
                usage: None,
                lines: ThinVec::new(),
                time: None,
            },
        );
        let recorded = |before: u32| Recorded {
            kept: (0..before).map(MessageIdx).collect(),
            line: before,
            ..Recorded::at(MessageIdx(before))
        };
        draft.recorded = (0..=5).map(recorded).collect();
        let mut out = Sink::default();
        let transcript = finish(draft, &mut out).unwrap();
        // U, demoted T, (nothing), demoted b, its text, U.
        let found: Vec<u32> = transcript.recorded.iter().map(|recorded| recorded.before.0).collect();
        assert_eq!(transcript.messages.len(), 5);
        assert_eq!(found, [0, 1, 2, 4, 5]);
        // Of two in one place the newer counts; a message that became two stays as two.
        assert_eq!(transcript.recorded[2].line, 3);
        let kept: Vec<usize> = transcript.recorded.iter().map(|recorded| recorded.kept.len()).collect();
        assert_eq!(kept, [0, 1, 2, 4, 5]);
        let (_, diagnostics, _) = out.into_parts();
        assert!(diagnostics.iter().any(|it| it.code == "recorded-twice"), "{diagnostics:?}");
    }
}
