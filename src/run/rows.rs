//! From the replay of one session to its rows: what each cycle kept, by class and by fact, and what it lost that hurts.

use super::spells::{Life, Spells};
use super::{Loss, SessionOutcome, cost_units, writes};
use crate::facts::{FactClass, FactId, FactSet, Match, UseKind};
use crate::replay::{CANCELLED, CycleTrace, Mode, Plan, Planner, Prepared, Replay};
use crate::results::{ClassRow, CycleRow, FactRow, LossRow, SessionRow, SpellRow, ratio};
use crate::score::needed::{Rereads, Return, horizon, returns};
use crate::score::{Cycle, CycleScore, Fate, Scorer};
use crate::strategy::Strategy;
use crate::summarize::{ListForm, Summarizer};
use crate::transcript::{MessageIdx, Transcript};
use rustc_hash::FxHashSet;

/// One plan of one session: what turns a replay into rows.
pub(super) struct Scene<'a> {
    pub(super) transcript: &'a Transcript,
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) facts: &'a FactSet,
    pub(super) scorer: &'a Scorer<'a>,
    /// A row of the session: what the others take over from it is its names.
    pub(super) like: &'a SessionRow,
    pub(super) frame: Frame<'a>,
    pub(super) log_facts: bool,
}

/// What the rows say of how a context came about.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) profile: &'a str,
    pub(super) strategy: Strategy,
    /// Who wrote the text, where it needs somebody.
    pub(super) summarizer: &'a str,
    /// Tokens.
    pub(super) window: u64,
    pub(super) mode: Mode,
    /// Tokens at which the next compaction comes, where that is known.
    pub(super) trigger: Option<u64>,
    /// The newest request has to stay in the context.
    pub(super) pins: bool,
    /// The generated text holds lists of files; `None` where only the text itself can tell.
    pub(super) writes_lists: Option<bool>,
}

impl<'a> Frame<'a> {
    /// The frame of compactions that a log in some format holds.
    pub(super) fn recorded(format: &'a str, window: u64) -> Self {
        Self {
            profile: format,
            strategy: Strategy::Recorded,
            summarizer: "",
            window,
            mode: Mode::Grow,
            trigger: None,
            pins: false,
            writes_lists: None,
        }
    }

    /// The frame of a plan of a replay.
    pub(super) fn of(plan: &Plan<'a>, planner: &Planner<'_>, summarizer: &'a dyn Summarizer) -> Self {
        let (summarizer, writes_lists) = match plan.strategy {
            Strategy::Structured | Strategy::Narrative => {
                (summarizer.name(), plan.profile.text_rules().list_form != ListForm::None)
            }
            Strategy::Truncate => ("", plan.profile.summary.truncate_tags),
            Strategy::Emergency | Strategy::None | Strategy::Recorded | Strategy::Exec(_) => ("", false),
        };
        Self {
            profile: &plan.profile.name,
            strategy: plan.strategy,
            summarizer,
            window: plan.window,
            mode: plan.mode,
            trigger: Some(planner.amounts(plan.window).trigger),
            pins: plan.profile.pin_request,
            writes_lists: Some(writes_lists),
        }
    }
}

/// Lists of files that agents write into a summary.
const LIST_TAGS: [&str; 2] = ["<modified-files>", "<read-files>"];

impl Scene<'_> {
    /// Makes the rows of one replay; `watch` is told each cycle and its score.
    pub(super) fn rows(
        &self,
        result: &Replay,
        session: &mut SessionRow,
        outcome: &mut SessionOutcome,
        mut watch: impl FnMut(usize, &Cycle<'_>, &CycleScore),
    ) {
        let turns = self.prepared.terrain.requests().max(1) as f64;
        let turn = self.prepared.tokens.total() as f64 / turns;
        let mut previous_summary = None;
        let mut held = Held::default();
        let mut lost: FxHashSet<u32> = FxHashSet::default();
        let mut rows: Vec<CycleRow> = Vec::with_capacity(result.cycles.len());
        let mut spells = Spells::default();
        let mut trigger = MessageIdx(0);
        for (index, trace) in result.cycles.iter().enumerate() {
            let number = index as u32 + 1;
            let last = index + 1 == result.cycles.len();
            let cycle = self.cycle(trace);
            let score = self.scorer.score(&cycle);
            let end = horizon(self.transcript, cycle.prefix_end);
            let returns = returns(self.transcript, self.facts, self.prepared.tokens, &cycle, end);
            let mut row = self.cycle_row(trace, &score, Rereads::of(&returns), number, result.budget);
            watch(index, &cycle, &score);
            self.frame.summarizer.clone_into(&mut row.summarizer);
            row.tokens_overhead = result.overhead;
            let counted = trace.tokens_before + result.overhead;
            row.estimator_error = trace.cut.measured.and_then(|measured| ratio(measured, counted));
            result.overhead_source.name().clone_into(&mut row.overhead_source);
            row.stuck = last && result.stuck;
            row.summary_growth = previous_summary.and_then(|before| ratio(row.tokens_summary, before));
            previous_summary = Some(row.tokens_summary);
            held.next(trace, &score, &mut row);
            let held = (trace.tokens_after + result.overhead) as f64;
            row.headroom =
                self.frame.trigger.filter(|_| turn > 0.0).map(|trigger| (trigger as f64 - held) / turn);
            self.class_rows(&score, number, outcome);
            let before = std::mem::replace(&mut trigger, MessageIdx::new(trace.cut.trigger));
            let lives = spells.cycle(self.facts, &score.fates, number, before, trigger);
            if self.log_facts {
                self.fact_rows(&score, &lives, &returns, trace, number, outcome);
            }
            if self.frame.strategy != Strategy::None {
                self.losses(&score, trace, number, &mut lost, outcome);
            }
            rows.push(row);
        }
        outcome.lost.push(lost);
        self.spell_rows(spells, outcome);
        summarize_session(&rows, session);
        outcome.cycles.append(&mut rows);
    }

    /// What the scorer is told of a cycle.
    pub(super) fn cycle<'t>(&'t self, trace: &'t CycleTrace) -> Cycle<'t> {
        let control = self.frame.strategy == Strategy::None;
        let opaque = self.frame.strategy == Strategy::Recorded && trace.generated.is_empty();
        let has_lists = |text: &str| LIST_TAGS.iter().any(|tag| text.contains(tag));
        let writes_lists = self
            .frame
            .writes_lists
            .unwrap_or_else(|| trace.generated.iter().any(|generated| has_lists(&generated.text)));
        Cycle {
            context: &trace.context,
            held: self.prepared.transcript,
            began: MessageIdx::new(trace.began),
            archive: &trace.archive,
            prefix_end: MessageIdx::new(trace.cut.trigger),
            compacted_end: MessageIdx::new(if control { 0 } else { trace.cut.cut }),
            metadata: trace.generated.iter().find_map(|generated| generated.metadata.as_ref()),
            writes_lists,
            newest_request: self
                .prepared
                .terrain
                .newest_request(trace.cut.trigger)
                .filter(|_| self.frame.pins)
                .map(MessageIdx::new),
            opaque,
        }
    }

    fn cycle_row(
        &self,
        trace: &CycleTrace,
        score: &CycleScore,
        rereads: Rereads,
        number: u32,
        budget: Option<u64>,
    ) -> CycleRow {
        let used = trace.told();
        let summary: u64 = trace.generated.iter().map(|generated| generated.tokens).sum();
        let at_risk = score.structural.at_risk + score.lexical.at_risk;
        let in_summary = score.structural.in_summary + score.lexical.in_summary;
        let total = score.structural.total + score.lexical.total;
        let compacts = self.frame.strategy != Strategy::None && !trace.generated.is_empty();
        // Of a summary that cannot be read neither the tokens nor what it holds are known.
        let opaque = self.frame.strategy == Strategy::Recorded && trace.generated.is_empty();
        let known = |value: Option<f64>| value.filter(|_| !opaque);
        let largest = self.largest_kept(trace);
        let cancelled = trace.failed.as_ref().is_some_and(|why| why.starts_with(CANCELLED));
        CycleRow {
            session: self.like.session.clone(),
            source: self.like.source.clone(),
            format: self.like.format.clone(),
            profile: self.like.profile.clone(),
            strategy: self.frame.strategy.name().into(),
            strategy_used: used.map_or(Strategy::None, |generated| generated.used).name().into(),
            fallback_reason: match used {
                Some(generated) => generated.fallback.clone().unwrap_or_default(),
                None if self.frame.strategy == Strategy::None => String::new(),
                None if let Some(reason) = &trace.failed => {
                    format!("{reason}; the policy leaves the session as it was")
                }
                None if trace.cut.uncut && trace.cut.unfit => {
                    "no message can leave: what has to stay together is larger than the window".to_owned()
                }
                None if trace.cut.uncut => {
                    "no message can leave: by the sizes of the policy all may stay".to_owned()
                }
                None if opaque => {
                    "the log does not show the summary, or not which messages were kept".to_owned()
                }
                None => format!("a budget of {} tokens holds no text", budget.unwrap_or(0)),
            },
            window: self.frame.window,
            cycle: number,
            cause: match self.frame.strategy {
                Strategy::Recorded => "recorded",
                _ => trace.cut.cause.name(),
            }
            .to_owned(),
            tokens_measured: trace.cut.measured,
            trigger_message: trace.cut.trigger as u64,
            cut_message: trace.cut.cut as u64,
            split_turn: trace.cut.turn_start.is_some(),
            starts_compacted: self.transcript.starts_compacted,
            messages_before: trace.messages_before,
            messages_after: trace.messages_after,
            budget,
            tokens_before: trace.tokens_before,
            tokens_after: trace.tokens_after,
            tokens_summary: summary,
            tokens_tail: trace.tokens_after.saturating_sub(summary),
            reduction: known(ratio(trace.tokens_after, trace.tokens_before).map(|kept| 1.0 - kept)),
            opaque,
            facts_opaque: score.opaque,
            facts_archived: score.archived,
            facts_at_risk: at_risk,
            facts_in_summary: in_summary,
            summary_survival: ratio(in_summary, at_risk),
            facts_in_summary_exact: score.exact,
            facts_in_summary_normalised: score.normalised,
            structural_at_risk: score.structural.at_risk,
            structural_in_summary: score.structural.in_summary,
            structural_survival: ratio(score.structural.in_summary, score.structural.at_risk),
            lexical_at_risk: score.lexical.at_risk,
            lexical_in_summary: score.lexical.in_summary,
            lexical_survival: ratio(score.lexical.in_summary, score.lexical.at_risk),
            facts_total: total,
            facts_in_context: score.in_context,
            context_survival: known(ratio(score.in_context, total)),
            tail_facts: score.tail,
            tail_facts_in_context: score.tail_in_context,
            facts_unadjudicable: score.unadjudicable,
            degraded: score.degraded,
            contradicted: score.contradicted,
            mutated: score.mutated,
            label_only: score.label_only,
            ambiguous: score.ambiguous,
            facts_used: score.near.used,
            facts_resupplied: score.near.resupplied,
            facts_refetched: score.near.refetched,
            facts_needed: score.near.needed,
            facts_needed_in_summary: score.near.needed_kept,
            needed_survival: ratio(score.near.needed_kept, score.near.needed),
            needed_biased: score.near.biased,
            facts_used_to_end: score.to_end.used,
            facts_resupplied_to_end: score.to_end.resupplied,
            facts_refetched_to_end: score.to_end.refetched,
            facts_needed_to_end: score.to_end.needed,
            facts_needed_in_summary_to_end: score.to_end.needed_kept,
            needed_survival_to_end: ratio(score.to_end.needed_kept, score.to_end.needed),
            needed_biased_to_end: score.to_end.biased,
            predicted_rereads: rereads.predicted.files,
            predicted_reread_tokens: rereads.predicted.tokens,
            rereads: rereads.actual.files,
            reread_tokens: rereads.actual.tokens,
            files_modified_total: score.modified.total,
            files_modified_kept: score.modified.kept,
            files_modified_text: score.modified.text,
            files_modified_metadata: score.modified.metadata,
            files_read_total: score.read.total,
            files_read_kept: score.read.kept,
            files_read_text: score.read.text,
            files_read_metadata: score.read.metadata,
            list_modified: score.list_modified.listed,
            list_modified_right: score.list_modified.right,
            list_modified_true: score.list_modified.truth,
            list_modified_precision: score.list_modified.precision(),
            list_modified_recall: score.list_modified.recall(),
            list_modified_f1: score.list_modified.f1(),
            list_read: score.list_read.listed,
            list_read_right: score.list_read.right,
            list_read_true: score.list_read.truth,
            list_read_precision: score.list_read.precision(),
            list_read_recall: score.list_read.recall(),
            list_read_f1: score.list_read.f1(),
            invented: score.invented,
            invented_per_1000: (summary > 0).then(|| score.invented as f64 * 1_000.0 / summary as f64),
            quotes: score.quotes.quoted,
            quotes_fabricated: score.quotes.fabricated,
            misclassified: score.misclassified,
            stale: score.stale,
            requests: trace.cost.requests,
            prompt_tokens: trace.cost.prompt,
            cached_tokens: trace.cost.cached,
            written_tokens: trace.cost.prompt - trace.cost.cached,
            cost_units: cost_units(trace.cost.prompt, trace.cost.cached),
            orphan_results: score.broken.orphan_results,
            orphan_calls: score.broken.orphan_calls,
            duplicate_results: score.broken.duplicate_results,
            empty_blocks: score.broken.empty_blocks,
            no_user_message: score.broken.no_user_message,
            request_absent: score.broken.request_absent,
            summary_after_tail: score.broken.summary_after_tail,
            over_budget: budget.is_some_and(|budget| summary > budget),
            // Compacting a finished context again is not meant to gain anything.
            no_gain: compacts
                && trace.tokens_after >= trace.tokens_before
                && (self.frame.mode == Mode::Grow || number == 1),
            unfit: trace.cut.unfit,
            uncut: trace.cut.uncut,
            largest_message: largest.map(|at| at as u64),
            largest_line: largest.and_then(|at| Some(u64::from(self.transcript.messages.get(at)?.line))),
            largest_tokens: largest.map(|at| self.prepared.tokens.range(at..at + 1)),
            cancelled,
            summary_degraded: (trace.failed.is_some() && !cancelled)
                || used.is_some_and(|generated| generated.fallback.is_some()),
            late_trigger: trace.cut.late,
            ..CycleRow::default()
        }
    }

    /// The largest message of the log that stays behind the cut.
    fn largest_kept(&self, trace: &CycleTrace) -> Option<usize> {
        let tokens = |at: &usize| self.prepared.tokens.range(*at..*at + 1);
        // Of several the first: `max_by_key` takes the last.
        (trace.cut.cut..trace.cut.trigger.min(self.prepared.tokens.len())).rev().max_by_key(tokens)
    }

    fn class_rows(&self, score: &CycleScore, number: u32, outcome: &mut SessionOutcome) {
        outcome.classes.extend(score.classes.iter().map(|(class, tally)| ClassRow {
            session: self.like.session.clone(),
            profile: self.like.profile.clone(),
            strategy: self.frame.strategy.name().into(),
            window: self.frame.window,
            cycle: number,
            class: class.name().into(),
            total: tally.total,
            at_risk: tally.at_risk,
            in_summary: tally.in_summary,
            summary_survival: ratio(tally.in_summary, tally.at_risk),
            needed: tally.needed,
            needed_in_summary: tally.needed_kept,
            needed_survival: ratio(tally.needed_kept, tally.needed),
        }));
    }

    fn spell_rows(&self, spells: Spells, outcome: &mut SessionOutcome) {
        outcome.spells.extend(spells.finish().into_iter().map(|((class, age), ends)| SpellRow {
            session: self.like.session.clone(),
            profile: self.like.profile.clone(),
            strategy: self.frame.strategy.name().into(),
            window: self.frame.window,
            kind: if class.structural() { "structural" } else { "lexical" }.into(),
            class: class.name().into(),
            age,
            lost: ends.lost,
            censored: ends.censored,
        }));
    }

    fn fact_rows(
        &self,
        score: &CycleScore,
        lives: &[Option<Life>],
        returns: &[Return],
        trace: &CycleTrace,
        number: u32,
        outcome: &mut SessionOutcome,
    ) {
        outcome.facts.reserve(score.fates.len());
        let read = returns.iter().filter(|back| back.kind == UseKind::Read);
        let again: FxHashSet<FactId> = read.filter_map(|back| back.fact).collect();
        for (fate, life) in score.fates.iter().zip(lives) {
            let Some(fact) = self.facts.facts.get(fate.id.0 as usize) else { continue };
            outcome.facts.push(FactRow {
                session: self.like.session.clone(),
                profile: self.like.profile.clone(),
                strategy: self.frame.strategy.name().into(),
                window: self.frame.window,
                cycle: number,
                fact: u64::from(fate.id.0),
                class: fate.class.name().into(),
                value: fact.value.clone(),
                birth_line: u64::from(fact.line),
                birth_message: u64::from(fact.birth.0),
                author: fact.author.name().into(),
                location: fate.location.name().into(),
                tier: fate.tier.name().into(),
                mentions_later: self.later(*fate, trace),
                need: fate.need.name().into(),
                need_to_end: fate.need_to_end.name().into(),
                needed: fate.needed,
                reread: again.contains(&fate.id),
                age: life.map(|life| life.age),
                first_loss: life.is_some_and(|life| life.first_loss),
            });
        }
    }

    /// Mentions in the log after a cycle.
    fn later(&self, fate: Fate, trace: &CycleTrace) -> u64 {
        let end = MessageIdx::new(trace.cut.trigger);
        let mentions = self.facts.facts.get(fate.id.0 as usize).map_or(&[][..], |fact| &fact.mentions);
        mentions.len() as u64 - mentions.partition_point(|at| *at < end) as u64
    }

    /// First cycle in which each fact is gone, for facts the work came back to later.
    fn losses(
        &self,
        score: &CycleScore,
        trace: &CycleTrace,
        number: u32,
        lost: &mut FxHashSet<u32>,
        outcome: &mut SessionOutcome,
    ) {
        // Only the worst loss of a session can be listed, and one of those that wrote a summary goes first.
        let strategy = self.frame.strategy.name();
        let wrote = writes(strategy);
        let mut slot = outcome.losses.iter().position(|loss| writes(&loss.row.strategy) == wrote);
        for fate in score.fates.iter().filter(|fate| fate.at_risk && !fate.tier.is_present()) {
            if !lost.insert(fate.id.0) {
                continue;
            }
            let Some(fact) = self.facts.facts.get(fate.id.0 as usize) else { continue };
            let later = self.later(*fate, trace);
            let (damage, harm) = damage(fate.tier, score.outdated.contains(&fate.id));
            let weight = harm * class_weight(fate.class);
            let rank = (std::cmp::Reverse(weight * (1 + later.min(20))), number as u8, u64::from(fact.line));
            let known = slot.and_then(|at| outcome.losses.get(at));
            if known.is_some_and(|loss| (loss.rank, loss.row.strategy.as_str()) <= (rank, strategy)) {
                continue;
            }
            let row = LossRow {
                session: self.transcript.id.clone(),
                source: self.like.source.to_string(),
                line: u64::from(fact.line),
                profile: self.frame.profile.to_owned(),
                strategy: strategy.to_owned(),
                cycle: number,
                class: fate.class.name().to_owned(),
                value: fact.value.clone(),
                damage: damage.to_owned(),
                mentions_later: later,
                needed: fate.needed && !score.near.biased,
                also: Vec::new(),
            };
            let loss = Loss { rank, row, fact: fate.id.0, plan: outcome.lost.len() };
            if let Some(known) = slot.and_then(|at| outcome.losses.get_mut(at)) {
                *known = loss;
            } else {
                slot = Some(outcome.losses.len());
                outcome.losses.push(loss);
            }
        }
    }
}

/// What the previous summary held.
#[derive(Default)]
struct Held {
    facts: FxHashSet<u32>,
    texts: Vec<String>,
}

impl Held {
    /// Tells the row of the next cycle what of it is still there.
    fn next(&mut self, trace: &CycleTrace, score: &CycleScore, row: &mut CycleRow) {
        let texts: Vec<String> = trace.generated.iter().map(|generated| generated.text.clone()).collect();
        for fate in score.fates.iter().filter(|fate| fate.at_risk && self.facts.contains(&fate.id.0)) {
            row.facts_held += 1;
            row.facts_held_still += u64::from(fate.tier.is_present());
        }
        row.held_survival = ratio(row.facts_held_still, row.facts_held);
        row.summary_unchanged = !texts.is_empty() && texts == self.texts;
        self.texts = texts;
        self.facts.clear();
        self.facts.extend(score.fates.iter().filter(|fate| fate.tier.is_present()).map(|fate| fate.id.0));
    }
}

/// What became of a lost fact, and how much that misleads: contradicted is worse than mutated, mutated than stale (the old
/// value stands there without the new one), stale than gone.
fn damage(tier: Match, outdated: bool) -> (&'static str, u64) {
    match tier {
        Match::Contradicted => ("contradicted", 8),
        Match::Mutated => ("mutated", 6),
        _ if outdated => ("stale", 5),
        _ => ("lost", 4),
    }
}

/// What losing a fact of a class costs, relative to each other: binding words first, then what was changed, then
/// what can be found again.
fn class_weight(class: FactClass) -> u64 {
    match class {
        FactClass::Constraint => 8,
        FactClass::Request => 7,
        FactClass::Decision | FactClass::FileModified | FactClass::FileCreated | FactClass::FileRenamed => 5,
        FactClass::Error | FactClass::Value => 3,
        FactClass::Todo | FactClass::Check | FactClass::FileDeleted | FactClass::Identifier => 2,
        FactClass::Command | FactClass::FileRead => 1,
    }
}

/// Fills the per-session means from its cycles.
fn summarize_session(rows: &[CycleRow], session: &mut SessionRow) {
    session.cycles_reached = rows
        .iter()
        .filter(|row| !(row.unfit || row.uncut) || row.reduction.is_some_and(|it| it > 0.0))
        .count() as u64;
    session.exercised = rows.iter().any(|row| row.reduction.is_some_and(|reduction| reduction >= 0.01));
    let mean = |value: fn(&CycleRow) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    session.structural_survival = mean(|row| row.structural_survival);
    session.lexical_survival = mean(|row| row.lexical_survival);
    session.summary_survival = mean(|row| row.summary_survival);
    session.summary_survival_last = rows.last().and_then(|row| row.summary_survival);
    session.context_survival = mean(|row| row.context_survival);
    session.needed_survival = mean(|row| row.needed_survival.filter(|_| !row.needed_biased));
    session.needed_biased = rows.iter().filter(|row| row.needed_biased).count() as u64;
    session.predicted_rereads = rows.iter().map(|row| row.predicted_rereads).sum();
    session.predicted_reread_tokens = rows.iter().map(|row| row.predicted_reread_tokens).sum();
    session.files_modified = mean(CycleRow::files_modified);
    session.files_read = mean(CycleRow::files_read);
    session.tokens_summary = mean(|row| (!row.opaque).then_some(row.tokens_summary as f64));
    session.reduction = mean(|row| row.reduction);
    session.facts_at_risk = rows.iter().map(|row| row.facts_at_risk).sum();
    session.facts_in_summary = rows.iter().map(|row| row.facts_in_summary).sum();
    session.estimator_error = mean(|row| row.estimator_error);
    session.violations = rows.iter().map(CycleRow::violations).sum();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_misleads_weighs_more_than_what_is_gone() {
        let order = [
            damage(Match::Contradicted, false),
            damage(Match::Mutated, false),
            damage(Match::Absent, true),
            damage(Match::Absent, false),
        ];
        assert_eq!(order.map(|it| it.0), ["contradicted", "mutated", "stale", "lost"]);
        assert!(order.is_sorted_by(|worse, better| worse.1 > better.1));
        assert_eq!(
            damage(Match::Contradicted, true).0,
            "contradicted",
            "a reversed rule is worse than an old one"
        );
    }
}
