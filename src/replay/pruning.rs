//! Results that requests of a session carry shortened or cleared, at any place of a walk.
//!
//! What a result becomes depends on the result alone, and which of a session's results have come to it is always a run
//! of its entries from the tail's beginning on: so a walk reads both from sums, made once per session and profile.

use super::ground::Ground;
use crate::context::NO_OUTPUT;
use crate::fileops::ToolKind;
use crate::harness::{Entry, Role};
use crate::outputs::{Fate, Measure, OutputRules, PruneRules, Reach, result_fate, shields_all, size_of};
use crate::profile::Amounts;
use crate::tokens::Tokenizer;
use crate::transcript::{Part, PartRef, Transcript};
use std::ops::Range;

/// Pruning of one session under one profile.
#[derive(Debug)]
pub struct Pruning {
    reach: Reach,
    /// Some results are protected by their size.
    protects: bool,
    /// Sizes of result entries before each entry, in the measure of the protection; one more than entries.
    sizes: Vec<u64>,
    /// What the system takes the results for, in tokens, before each entry; one more than entries.
    held: Vec<u64>,
    /// Tokens that results before each entry lose in a request, counted; one more than entries. A short result may be
    /// replaced by a longer text.
    saved: Vec<i64>,
    /// Results that do not stay: their entry, their link, and what stands in their place.
    replaced: Vec<(usize, usize, String)>,
}

/// Makes the sums entry by entry.
pub struct Building<'a> {
    rules: &'a OutputRules,
    pruning: &'a PruneRules,
    tokenizer: Tokenizer,
    /// Links of results, in the order of the log.
    links: std::vec::IntoIter<usize>,
    kinds: &'a [ToolKind],
    out: Pruning,
}

impl<'a> Building<'a> {
    /// `None` where nothing is ever pruned.
    pub fn new(
        transcript: &Transcript,
        kinds: &'a [ToolKind],
        rules: &'a OutputRules,
        tokenizer: Tokenizer,
    ) -> Option<Self> {
        let pruning = rules.prune.as_ref().filter(|pruning| pruning.enabled)?;
        let mut links: Vec<(PartRef, usize)> = transcript
            .links
            .iter()
            .enumerate()
            .filter_map(|(at, link)| Some((link.result?, at)))
            .filter(|(part, _)| matches!(transcript.part(*part), Some(Part::Result(_))))
            .collect();
        links.sort_unstable();
        let links: Vec<usize> = links.into_iter().map(|(_, link)| link).collect();
        let out = Pruning {
            reach: pruning.range,
            protects: pruning.protect.is_some_and(|protect| protect.most > 0),
            sizes: vec![0],
            held: vec![0],
            saved: vec![0],
            replaced: Vec::new(),
        };
        (!shields_all(pruning, rules)).then(|| Self {
            rules,
            pruning,
            tokenizer,
            links: links.into_iter(),
            kinds,
            out,
        })
    }

    /// Takes in the next entry; `estimate` is what the system takes it for, in tokens, where it estimates at all.
    pub fn entry(&mut self, entry: &Entry<'_>, estimate: Option<u64>) {
        let at = self.out.sizes.len() - 1;
        let last = |sums: &[u64]| sums.last().copied().unwrap_or(0);
        let (mut size, mut held) = (last(&self.out.sizes), last(&self.out.held));
        let mut saved = self.out.saved.last().copied().unwrap_or(0);
        if entry.role == Role::Tool {
            let counted = |text: &str| self.tokenizer.count(text);
            let mut tokens = 0;
            for result in entry.results() {
                let own: u64 = result.texts.iter().map(|text| counted(text)).sum();
                tokens += own;
                let Some(link) = self.links.next() else { continue };
                let kind = self.kinds.get(link).copied().unwrap_or(ToolKind::Other);
                if let Fate::Shortened(text) | Fate::Cleared(text) =
                    result_fate(result, kind, self.pruning, self.rules)
                {
                    let text = if text.trim().is_empty() { NO_OUTPUT.to_owned() } else { text };
                    saved += own.cast_signed() - counted(&text).cast_signed();
                    self.out.replaced.push((at, link, text));
                }
            }
            let tokens = estimate.unwrap_or(tokens);
            held += tokens;
            size += match self.pruning.protect.map(|protect| protect.measure) {
                Some(Measure::CodePoints) => size_of(entry),
                Some(Measure::Tokens) | None => tokens,
            };
        }
        self.out.sizes.push(size);
        self.out.held.push(held);
        self.out.saved.push(saved);
    }

    /// The sums.
    pub fn finish(self) -> Pruning {
        self.out
    }
}

/// A stretch between two compactions.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// First message of the tail.
    pub tail: usize,
    /// The compaction before it was made before this message; 0: there was none.
    pub since: usize,
}

impl Pruning {
    /// Place of a text among those that stand for results.
    fn from(&self, entry: usize) -> usize {
        self.replaced.partition_point(|(at, ..)| *at < entry)
    }

    /// Results are pruned up to a place that is marked once, not anew for each request.
    pub fn is_marked(&self) -> bool {
        matches!(self.reach, Reach::Boundary)
    }

    /// Entries of a stretch whose results are pruned in the request before message `end`.
    pub fn run(&self, ground: &Ground, stretch: Stretch, end: usize, amounts: &Amounts) -> Range<usize> {
        let from = ground.entry(stretch.tail);
        let to = match self.reach {
            Reach::All => ground.entry(end),
            Reach::Boundary => match self.boundary(ground, stretch, end, amounts) {
                Some(boundary) => ground.entry(boundary),
                None => from,
            },
        };
        if to <= from {
            return from..from;
        }
        let sum = |entry: usize| self.sizes.get(entry).copied().unwrap_or(0);
        // The oldest entry behind which, it among them, no more stands than is protected.
        let (mut low, mut high) = if self.protects { (from, to) } else { (to, to) };
        while low < high {
            let middle = low + (high - low) / 2;
            if sum(to) - sum(middle) <= amounts.protect { high = middle } else { low = middle + 1 }
        }
        if amounts.prune_least > 0 && sum(low) - sum(from) <= amounts.prune_least {
            return from..from;
        }
        from..low
    }

    /// The message before which the results of a stretch were marked, up to message `end`.
    pub fn boundary(
        &self,
        ground: &Ground,
        stretch: Stretch,
        end: usize,
        amounts: &Amounts,
    ) -> Option<usize> {
        let by_hand = ground.prunings.iter().copied().find(|at| (stretch.since + 1..=end).contains(at));
        let by_size = amounts.prune_above.and_then(|above| self.outgrown(ground, stretch, end, above));
        by_hand.into_iter().chain(by_size).min()
    }

    /// The first place at which the results of a stretch are looked at and are more than so many tokens.
    fn outgrown(&self, ground: &Ground, stretch: Stretch, end: usize, above: u64) -> Option<usize> {
        let held = |message: usize| self.held.get(ground.entry(message)).copied().unwrap_or(0);
        let start = held(stretch.tail);
        let checks = ground.checkpoints_between(stretch.since, end);
        let at = checks.partition_point(|check| held(*check).saturating_sub(start) <= above);
        checks.get(at).copied()
    }

    /// Tokens of the results of a stretch up to message `end`, as the system holds them, and of those that a run prunes.
    pub fn held(&self, ground: &Ground, stretch: Stretch, end: usize, run: &Range<usize>) -> (u64, u64) {
        let sum = |entry: usize| self.held.get(entry).copied().unwrap_or(0);
        let all = sum(ground.entry(end)) - sum(ground.entry(stretch.tail));
        let from = self.replaced.get(self.from(run.start)..self.from(run.end)).unwrap_or_default();
        let mut entries: Vec<usize> = from.iter().map(|(at, ..)| *at).collect();
        entries.dedup();
        (all, entries.into_iter().map(|at| sum(at + 1) - sum(at)).sum())
    }

    /// Tokens that a run of entries loses.
    pub fn saved(&self, run: &Range<usize>) -> i64 {
        let sum = |entry: usize| self.saved.get(entry).copied().unwrap_or(0);
        if run.is_empty() { 0 } else { sum(run.end) - sum(run.start) }
    }

    /// The first entry of a run that has a result which does not stay.
    pub fn first_replaced(&self, run: Range<usize>) -> Option<usize> {
        let first = self.replaced.get(self.from(run.start)).map(|(at, ..)| *at);
        first.filter(|at| *at < run.end)
    }

    /// What stands in place of results of a run: link and text.
    pub fn replaced(&self, run: &Range<usize>) -> impl Iterator<Item = (usize, &str)> {
        let (from, to) = (self.from(run.start), self.from(run.end));
        let texts = self.replaced.get(from..to.max(from)).unwrap_or_default();
        texts.iter().map(|(_, link, text)| (*link, text.as_str()))
    }
}

#[cfg(test)]
mod tests;
