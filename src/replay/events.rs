//! What a system tells of its compactions, in its own form: the lines that its logs, panes or chats would show.
//!
//! A form is a template of a profile ([`EventRules`]); the numbers in it are those that the system itself would see, its
//! own estimates where it estimates.

use super::asked::{Cause, is_idle};
use super::pruning::Stretch;
use super::{CycleTrace, Planner, Prepared, Replay};
use crate::harness::text::fill;
use crate::profile::Profile;
use crate::strategy::Strategy;
use crate::transcript::{MessageIdx, Part, Role};
use serde::Deserialize;

/// How a system tells of compactions. Values of the templates:
///
/// `{strategy}` that ran; `{cause}`; `{messages_before}` and `{messages_after}`, messages as the system counts them;
/// `{before}` and `{after}`, tokens of the context by its own estimate, and `{counted_before}`, `{counted_after}`, those of
/// the request; of the context after: `{system}`, `{summary}`, `{kept}` (messages without calls and results), `{defs}` (tool
/// schemas), `{calls}` (calls and results), `{tools}` (both), `{total}`, `{window}` and `{percent}`, the one as a share of the
/// other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventRules {
    /// Before a compaction; nothing where it is empty.
    pub start: String,
    /// Behind it.
    pub end: String,
    /// Put behind the end within a turn: `{round}`, batches of results that the turn had so far.
    pub round: String,
    /// Where old results are pruned: `{before}` and `{after}`, tokens of all results, `{less}`, the percentage that went;
    /// `{total}`, `{window}` and `{percent}` of the request.
    pub pruned: String,
    /// What a pruned result is taken for there, in tokens.
    pub pruned_result: u64,
    /// How numbers are written.
    pub numbers: Numbers,
    /// Told of compactions that take nothing away, too.
    pub always: bool,
    /// What is told where a request was refused.
    pub on_overflow: OnOverflow,
}

impl Default for EventRules {
    fn default() -> Self {
        Self {
            start: String::new(),
            end: "compacted ({cause}, {strategy}): {messages_before} -> {messages_after} messages, {counted_before} -> {counted_after} tokens".to_owned(),
            round: String::new(),
            pruned: "pruned tool results: {before} -> {after} tokens".to_owned(),
            pruned_result: 0,
            numbers: Numbers::Plain,
            always: false,
            on_overflow: OnOverflow::All,
        }
    }
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// All digits.
    Plain,
    /// From 1,000 on in thousands with at most one decimal: `12.4k`, `150k`.
    Short,
}

/// What is told where a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnOverflow {
    /// What is told of any compaction.
    All,
    /// Only the end.
    End,
    /// Nothing.
    Nothing,
}

impl Numbers {
    fn write(self, number: u64) -> String {
        match self {
            Self::Short if number >= 1_000 => {
                let tenths = (number + 50) / 100;
                match tenths % 10 {
                    0 => format!("{}k", tenths / 10),
                    tenth => format!("{}.{tenth}k", tenths / 10),
                }
            }
            Self::Plain | Self::Short => number.to_string(),
        }
    }
}

/// One thing that a system tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Before this message.
    pub at: usize,
    /// `start`, `end` or `pruned`.
    pub kind: &'static str,
    /// Number of the cycle, from 1; none for pruning.
    pub cycle: Option<u32>,
    /// The text, which may have several lines.
    pub text: String,
}

/// Names in braces in [`EventRules::start`] and [`EventRules::end`].
pub const COMPACTED: [&str; 17] = [
    "strategy",
    "cause",
    "messages_before",
    "messages_after",
    "before",
    "after",
    "counted_before",
    "counted_after",
    "system",
    "summary",
    "kept",
    "defs",
    "calls",
    "tools",
    "total",
    "window",
    "percent",
];

/// Names in braces in [`EventRules::pruned`].
pub const PRUNED: [&str; 6] = ["before", "after", "less", "total", "window", "percent"];

/// What the system of a profile tells in a replay, in order.
pub fn events(
    prepared: &Prepared<'_>,
    planner: &Planner<'_>,
    profile: &Profile,
    replay: &Replay,
) -> Vec<Event> {
    let rules = &profile.events;
    let teller = Teller { prepared, planner, rules, window: replay.window };
    let mut out = Vec::new();
    let mut stretch = Stretch { tail: 0, since: 0 };
    let mut held: Vec<&str> = Vec::new();
    // A stretch that is looked at again has been told.
    let mut told_at = None;
    let mut pruned = |stretch: Stretch, end: usize| {
        let event = teller.pruned(stretch, end).filter(|event| told_at != Some(event.at))?;
        told_at = Some(event.at);
        Some(event)
    };
    for (at, trace) in replay.cycles.iter().enumerate() {
        if trace.began > stretch.tail {
            stretch = Stretch { tail: trace.began, since: trace.began };
            held.clear();
        }
        let made = trace.cut.cut > trace.cut.from;
        // A compaction comes first: where one is made nothing is marked.
        out.extend(pruned(
            stretch,
            if made { trace.cut.trigger.saturating_sub(1) } else { trace.cut.trigger },
        ));
        let told = (made || rules.always)
            && !(trace.cut.cause == Cause::Overflow && rules.on_overflow == OnOverflow::Nothing);
        if told {
            out.extend(teller.compaction(trace, at as u32 + 1, &held));
        }
        if made {
            stretch = Stretch { tail: trace.cut.cut, since: trace.cut.trigger };
            held = trace.generated.iter().map(|generated| generated.text.as_str()).collect();
        }
    }
    out.extend(pruned(stretch, prepared.transcript.messages.len()));
    out
}

struct Teller<'a> {
    prepared: &'a Prepared<'a>,
    planner: &'a Planner<'a>,
    rules: &'a EventRules,
    window: u64,
}

impl Teller<'_> {
    fn percent(&self, tokens: u64) -> String {
        (tokens as f64 * 100.0 / self.window.max(1) as f64).round().to_string()
    }

    /// The start and the end of one compaction; `held` is the summary before it.
    fn compaction(&self, trace: &CycleTrace, cycle: u32, held: &[&str]) -> Vec<Event> {
        let number = |number: u64| self.rules.numbers.write(number);
        let cut = &trace.cut;
        let after: Vec<&str> = trace.generated.iter().map(|generated| generated.text.as_str()).collect();
        let made = cut.cut > cut.from;
        let size = |tail: usize, texts: &[&str]| self.planner.estimated(tail, cut.trigger, texts);
        let before_estimate = size(cut.from, held);
        let after_estimate = if made { size(cut.cut, &after) } else { before_estimate };
        let overhead = self.planner.overhead().0;
        let makeup = Makeup::of(self.prepared, trace);
        let total = trace.tokens_after + overhead;
        let counts = |tail: usize, summaries: usize| {
            (self.planner.entries(tail, cut.trigger) + usize::from(summaries > 0)) as u64
        };
        let before_count = counts(cut.from, held.len());
        let after_count = if made { counts(cut.cut, after.len()) } else { before_count };
        let strategy = trace.told().map_or(Strategy::None, |generated| generated.used);
        let values = [
            ("strategy", strategy.name().to_owned()),
            ("cause", cut.cause.name().to_owned()),
            ("messages_before", before_count.to_string()),
            ("messages_after", after_count.to_string()),
            ("before", number(before_estimate)),
            ("after", number(after_estimate)),
            ("counted_before", number(trace.tokens_before + overhead)),
            ("counted_after", number(total)),
            ("system", number(makeup.system)),
            ("summary", number(makeup.summary)),
            ("kept", number(makeup.kept)),
            ("defs", number(overhead)),
            ("calls", number(makeup.calls)),
            ("tools", number(overhead + makeup.calls)),
            ("total", number(total)),
            ("window", number(self.window)),
            ("percent", self.percent(total)),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let event = |kind, text| Event { at: cut.trigger, kind, cycle: Some(cycle), text };
        let mut out = Vec::new();
        let only_end = cut.cause == Cause::Overflow && self.rules.on_overflow == OnOverflow::End;
        if !self.rules.start.is_empty() && !only_end {
            out.push(event("start", fill(&self.rules.start, &values)));
        }
        if !self.rules.end.is_empty() {
            let round = self.round(cut.trigger);
            let behind = fill(&self.rules.round, &[("round", &round.to_string())]);
            let end = fill(&self.rules.end, &values);
            out.push(event("end", if round > 0 { end + &behind } else { end }));
        }
        out
    }

    /// Batches of results since the person last spoke, where the turn goes on.
    fn round(&self, at: usize) -> usize {
        if is_idle(self.prepared.transcript, at) {
            return 0;
        }
        let start = self.prepared.terrain.newest_request(at).unwrap_or(0);
        let messages = self.prepared.transcript.messages.get(start..at).unwrap_or_default();
        let calls = |message: &&crate::transcript::Message| {
            message.parts.iter().any(|part| matches!(part, Part::Call(_)))
        };
        messages.iter().filter(calls).count()
    }

    /// Old results are pruned in a stretch, at most once.
    fn pruned(&self, stretch: Stretch, end: usize) -> Option<Event> {
        let told = self.planner.marked(stretch, end, self.window)?;
        let cleared = told.pruned_results * self.rules.pruned_result;
        let after = told.results.saturating_sub(told.pruned) + cleared;
        let less = (told.results.saturating_sub(after) * 100).checked_div(told.results)?;
        let number = |number: u64| self.rules.numbers.write(number);
        let total = told.request + self.planner.overhead().0;
        let values = [
            ("before", number(told.results)),
            ("after", number(after)),
            ("less", less.to_string()),
            ("total", number(total)),
            ("window", number(self.window)),
            ("percent", self.percent(total)),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let text = fill(&self.rules.pruned, &values);
        (!text.is_empty()).then_some(Event { at: told.at, kind: "pruned", cycle: None, text })
    }
}

/// What a context is made of, in counted tokens.
struct Makeup {
    system: u64,
    summary: u64,
    kept: u64,
    calls: u64,
}

impl Makeup {
    fn of(prepared: &Prepared<'_>, trace: &CycleTrace) -> Self {
        let summary = trace.generated.iter().map(|generated| generated.tokens).sum();
        let mut makeup = Self { system: 0, summary, kept: 0, calls: 0 };
        for entry in &trace.context.entries {
            let crate::context::Entry::Kept(at) = entry else { continue };
            let Some(message) = prepared.transcript.messages.get(at.get()) else { continue };
            let tools: u64 = message
                .parts
                .iter()
                .enumerate()
                .filter(|(_, part)| matches!(part, Part::Call(_) | Part::Result(_)))
                .map(|(part, _)| {
                    let at = crate::transcript::PartRef { message: *at, part: part as u32 };
                    prepared.tokens.part(at)
                })
                .sum();
            let rest = prepared.tokens.message(MessageIdx::new(at.get())).saturating_sub(tools);
            makeup.calls += tools;
            if message.role == Role::System {
                makeup.system += rest;
            } else {
                makeup.kept += rest;
            }
        }
        makeup
    }
}

#[cfg(test)]
mod tests;
