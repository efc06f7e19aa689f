//! Rows of a run -> one row per contender, and one per pair of contenders.
//!
//! Pure, and the only place where sessions are pooled. The unit is the session: a headline is the mean over exercised
//! sessions (macro) and stands beside the ratio of summed counts (micro), which large sessions dominate. Sessions that
//! were not exercised or failed are counted, never averaged: they can neither raise nor lower a score.

use crate::results::{ClassRow, CycleRow, RunOutput, SessionRow, SpellRow, ratio};
use crate::stats::{Estimate, SEED, estimate, mean, paired, quantile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub mod across;
pub mod audit;
pub mod curves;
pub mod kept;
pub mod probes;
pub mod scores;

use audit::AfterRow;
use curves::CurveRow;
use kept::KeptRow;

/// One contender: profile x strategy x window.
///
/// Survival columns come in groups: macro mean over exercised sessions, both ends of its 95 % interval (empty below 10
/// sessions), sessions with a value, micro ratio, and the counts behind the micro ratio.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SummaryRow {
    /// Profile name.
    pub profile: String,
    /// Strategy that was asked for.
    pub strategy: String,
    /// Window in tokens, `auto`, or `cycles` when it was searched for per session.
    pub window: String,
    /// Sessions in all.
    pub n_sessions: u64,
    /// Of those, compacted at least once with a reduction of 1 % or more.
    pub n_exercised: u64,
    /// Of those, too short to compact.
    pub n_not_exercised: u64,
    /// Of those, failed.
    pub n_failed: u64,
    /// Cycles of all sessions that did not fail.
    pub n_cycles: u64,
    /// Modified files kept in text or metadata, 0 to 1: macro mean.
    pub files_modified: Option<f64>,
    /// Lower end of its interval.
    pub files_modified_low: Option<f64>,
    /// Upper end of its interval.
    pub files_modified_high: Option<f64>,
    /// Sessions with a value.
    pub files_modified_n: u64,
    /// `files_modified_kept / files_modified_total`.
    pub files_modified_micro: Option<f64>,
    /// Modified files kept, over all exercised cycles.
    pub files_modified_kept: u64,
    /// Modified files at risk, over all exercised cycles.
    pub files_modified_total: u64,
    /// Files only read kept in text or metadata, 0 to 1: macro mean.
    pub files_read: Option<f64>,
    /// Lower end of its interval.
    pub files_read_low: Option<f64>,
    /// Upper end of its interval.
    pub files_read_high: Option<f64>,
    /// Sessions with a value.
    pub files_read_n: u64,
    /// `files_read_kept / files_read_total`.
    pub files_read_micro: Option<f64>,
    /// Read files kept, over all exercised cycles.
    pub files_read_kept: u64,
    /// Read files at risk, over all exercised cycles.
    pub files_read_total: u64,
    /// At-risk structural facts present in the summary, 0 to 1: macro mean.
    pub structural_survival: Option<f64>,
    /// Lower end of its interval.
    pub structural_survival_low: Option<f64>,
    /// Upper end of its interval.
    pub structural_survival_high: Option<f64>,
    /// Sessions with a value.
    pub structural_survival_n: u64,
    /// `structural_in_summary / structural_at_risk`.
    pub structural_survival_micro: Option<f64>,
    /// Structural facts in summaries, over all exercised cycles.
    pub structural_in_summary: u64,
    /// Structural facts at risk, over all exercised cycles.
    pub structural_at_risk: u64,
    /// At-risk lexical facts present in the summary, 0 to 1: macro mean.
    pub lexical_survival: Option<f64>,
    /// Lower end of its interval.
    pub lexical_survival_low: Option<f64>,
    /// Upper end of its interval.
    pub lexical_survival_high: Option<f64>,
    /// Sessions with a value.
    pub lexical_survival_n: u64,
    /// `lexical_in_summary / lexical_at_risk`.
    pub lexical_survival_micro: Option<f64>,
    /// Lexical facts in summaries, over all exercised cycles.
    pub lexical_in_summary: u64,
    /// Lexical facts at risk, over all exercised cycles.
    pub lexical_at_risk: u64,
    /// At-risk facts present in the summary, 0 to 1: macro mean.
    pub summary_survival: Option<f64>,
    /// Lower end of its interval.
    pub summary_survival_low: Option<f64>,
    /// Upper end of its interval.
    pub summary_survival_high: Option<f64>,
    /// Sessions with a value.
    pub summary_survival_n: u64,
    /// `facts_in_summary / facts_at_risk`.
    pub summary_survival_micro: Option<f64>,
    /// Facts in summaries, over all exercised cycles.
    pub facts_in_summary: u64,
    /// Facts at risk, over all exercised cycles.
    pub facts_at_risk: u64,
    /// Needed at-risk facts present in the summary, 0 to 1: macro mean, biased cycles left out.
    pub needed_survival: Option<f64>,
    /// Lower end of its interval.
    pub needed_survival_low: Option<f64>,
    /// Upper end of its interval.
    pub needed_survival_high: Option<f64>,
    /// Sessions with a value.
    pub needed_survival_n: u64,
    /// `facts_needed_in_summary / facts_needed`.
    pub needed_survival_micro: Option<f64>,
    /// Needed facts in summaries, over all exercised cycles that are not biased.
    pub facts_needed_in_summary: u64,
    /// Needed facts at risk, over the same.
    pub facts_needed: u64,
    /// Exercised cycles whose needed facts are biased.
    pub needed_biased: u64,
    /// Predicted re-reads, over all exercised cycles that are not biased.
    pub predicted_rereads: u64,
    /// Their tokens.
    pub predicted_reread_tokens: u64,
    /// Facts present anywhere in the context, 0 to 1: macro mean.
    pub context_survival: Option<f64>,
    /// Lower end of its interval.
    pub context_survival_low: Option<f64>,
    /// Upper end of its interval.
    pub context_survival_high: Option<f64>,
    /// Sessions with a value.
    pub context_survival_n: u64,
    /// `facts_in_context / facts_total`.
    pub context_survival_micro: Option<f64>,
    /// Facts in contexts, over all exercised cycles.
    pub facts_in_context: u64,
    /// Facts, over all exercised cycles.
    pub facts_total: u64,
    /// Mean tokens of a summary, macro.
    pub tokens_summary: Option<f64>,
    /// Mean of `1 - after / before`, macro.
    pub reduction: Option<f64>,
    /// `1000 * structural_survival / tokens_summary`.
    pub structural_per_1000: Option<f64>,
    /// `1000 * lexical_survival / tokens_summary`.
    pub lexical_per_1000: Option<f64>,
    /// Generated tokens over all exercised cycles.
    pub tokens_summary_total: u64,
    /// Invented items in generated text, over all exercised cycles.
    pub invented: u64,
    /// `1000 * invented / tokens_summary_total`.
    pub invented_per_1000: Option<f64>,
    /// At-risk facts that the summary before held, over all exercised cycles.
    pub facts_held: u64,
    /// Of those, still in the summary.
    pub facts_held_still: u64,
    /// `facts_held_still / facts_held`.
    pub held_survival_micro: Option<f64>,
    /// Cycles whose text is that of the summary before, over all exercised cycles.
    pub summaries_unchanged: u64,
    /// User lines quoted in generated text, over all exercised cycles.
    pub quotes: u64,
    /// Of those, said by no user.
    pub quotes_fabricated: u64,
    /// Files under the wrong heading of generated lists, over all exercised cycles.
    pub misclassified: u64,
    /// Superseded values without their successors, over all exercised cycles.
    pub stale: u64,
    /// Hard invariants broken, over all cycles: the sum of the kinds that follow.
    pub violations: u64,
    /// Tool results without their call.
    pub orphan_results: u64,
    /// Calls without the result they had.
    pub orphan_calls: u64,
    /// Second results of one call.
    pub duplicate_results: u64,
    /// Empty messages, texts or results.
    pub empty_blocks: u64,
    /// Cycles without a user message.
    pub no_user_message: u64,
    /// Cycles without the newest user request.
    pub request_absent: u64,
    /// Cycles with the summary after the tail.
    pub summary_after_tail: u64,
    /// Cycles with more generated text than the budget.
    pub over_budget: u64,
    /// Cycles whose context did not become smaller.
    pub no_gain: u64,
    /// Replays stopped for lack of progress.
    pub stuck: u64,
    /// Facts of kept messages that are not in the context.
    pub tail_lost: u64,
    /// Cycles in which what stays of the log is larger than the window, over all cycles.
    pub unfit: u64,
    /// Cycles in which nothing could leave, over all cycles.
    pub uncut: u64,
    /// Cycles in which another text, or nothing, took the place of the summary asked for, over all cycles.
    pub summary_degraded: u64,
    /// Cycles in which a program of the user cancelled the compaction, over all cycles.
    pub cancelled: u64,
    /// Cycles whose trigger fired too late, over all cycles.
    pub late_triggers: u64,
    /// Facts that only a stored summary outside the context holds, over all cycles; lost.
    pub facts_archived: u64,
    /// Mean over sessions of the context's size by the policy's own measure over the counted one, at its triggers.
    pub estimator_error: Option<f64>,
    /// Prompt tokens over all cycles.
    pub prompt_tokens: u64,
    /// Of those, read from cache.
    pub cached_tokens: u64,
    /// The rest, written to the cache.
    pub written_tokens: u64,
    /// Price of the prompt tokens in input-token equivalents.
    pub cost_units: f64,
}

/// Two strategies on the same sessions: `strategy_a` minus `strategy_b`, over sessions in which both have a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceRow {
    /// Profile name.
    pub profile: String,
    /// Window, as in [`SummaryRow::window`].
    pub window: String,
    /// Column of [`SummaryRow`] and [`SessionRow`], or `survival.` and a class of facts.
    pub metric: String,
    /// First strategy.
    pub strategy_a: String,
    /// Second strategy.
    pub strategy_b: String,
    /// Mean of the per-session differences, -1 to 1.
    pub mean: Option<f64>,
    /// Lower end of its 95 % interval by Student's t; empty below 10 sessions.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Sessions in which both have a value.
    pub n: u64,
    /// Of those, the first is better in this many.
    pub n_a: u64,
    /// The second is better in this many.
    pub n_b: u64,
    /// Neither is.
    pub ties: u64,
    /// Two-sided p of the sign test; empty where all sessions tie.
    pub sign_p: Option<f64>,
    /// Two-sided p of the test that decides: Student's t from 10 sessions on, the sign test below. Not corrected for
    /// the number of comparisons.
    pub p: Option<f64>,
    /// The same, corrected by Holm over the classes of facts; empty for the other metrics.
    pub p_holm: Option<f64>,
}

/// How a share is spread over sessions, which its mean does not tell: loss is often all or nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DistributionRow {
    /// Profile name.
    pub profile: String,
    /// Strategy that was asked for.
    pub strategy: String,
    /// Window in tokens, `auto`, or `cycles` when it was searched for per session.
    pub window: String,
    /// Name of the metric, as in `summary.csv`.
    pub metric: String,
    /// Sessions with a value.
    pub n: u64,
    /// Of those, with the value 0.
    pub none: u64,
    /// Of those, with the value 1.
    pub all: u64,
    /// Mean over sessions.
    pub mean: Option<f64>,
    /// The lowest value.
    pub lowest: Option<f64>,
    /// A tenth of the sessions lies below.
    pub p10: Option<f64>,
    /// A quarter lies below.
    pub p25: Option<f64>,
    /// Half lie below.
    pub median: Option<f64>,
    /// Three quarters lie below.
    pub p75: Option<f64>,
    /// Nine tenths lie below.
    pub p90: Option<f64>,
    /// The highest value.
    pub highest: Option<f64>,
}

/// What the rows of a run say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aggregate {
    /// By profile, window, strategy, each in the order of the settings.
    pub summary: Vec<SummaryRow>,
    /// By profile, window, pair, metric.
    pub differences: Vec<DifferenceRow>,
    /// By profile, window, strategy, class, age.
    pub curves: Vec<CurveRow>,
    /// By profile, window, strategy, metric.
    pub distributions: Vec<DistributionRow>,
    /// By profile, window, strategy, class and group of classes, cycle.
    pub kept: Vec<KeptRow>,
    /// What agents did after recorded compactions; only in an audit.
    pub afterwards: Vec<AfterRow>,
}

/// A share between 0 and 1 that every session has and that is better when larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Modified files kept.
    FilesModified,
    /// Read files kept.
    FilesRead,
    /// Structural facts in the summary.
    Structural,
    /// Lexical facts in the summary.
    Lexical,
    /// All facts in the summary.
    Summary,
    /// Needed facts in the summary.
    Needed,
    /// All facts in the context.
    Context,
}

impl Metric {
    /// All of them, in column order.
    pub const ALL: [Self; 7] = [
        Self::FilesModified,
        Self::FilesRead,
        Self::Structural,
        Self::Lexical,
        Self::Summary,
        Self::Needed,
        Self::Context,
    ];

    /// Its column.
    pub fn name(self) -> &'static str {
        match self {
            Self::FilesModified => "files_modified",
            Self::FilesRead => "files_read",
            Self::Structural => "structural_survival",
            Self::Lexical => "lexical_survival",
            Self::Summary => "summary_survival",
            Self::Needed => "needed_survival",
            Self::Context => "context_survival",
        }
    }

    /// Its value for one session.
    pub fn of_session(self, row: &SessionRow) -> Option<f64> {
        match self {
            Self::FilesModified => row.files_modified,
            Self::FilesRead => row.files_read,
            Self::Structural => row.structural_survival,
            Self::Lexical => row.lexical_survival,
            Self::Summary => row.summary_survival,
            Self::Needed => row.needed_survival,
            Self::Context => row.context_survival,
        }
    }

    /// Its macro mean and interval.
    pub fn of_summary(self, row: &SummaryRow) -> Estimate {
        let (mean, low, high, n) = match self {
            Self::FilesModified => {
                (row.files_modified, row.files_modified_low, row.files_modified_high, row.files_modified_n)
            }
            Self::FilesRead => (row.files_read, row.files_read_low, row.files_read_high, row.files_read_n),
            Self::Structural => (
                row.structural_survival,
                row.structural_survival_low,
                row.structural_survival_high,
                row.structural_survival_n,
            ),
            Self::Lexical => (
                row.lexical_survival,
                row.lexical_survival_low,
                row.lexical_survival_high,
                row.lexical_survival_n,
            ),
            Self::Summary => (
                row.summary_survival,
                row.summary_survival_low,
                row.summary_survival_high,
                row.summary_survival_n,
            ),
            Self::Needed => (
                row.needed_survival,
                row.needed_survival_low,
                row.needed_survival_high,
                row.needed_survival_n,
            ),
            Self::Context => (
                row.context_survival,
                row.context_survival_low,
                row.context_survival_high,
                row.context_survival_n,
            ),
        };
        Estimate { mean, low, high, n }
    }

    fn set(self, row: &mut SummaryRow, value: Estimate) {
        let (mean, low, high, n) = match self {
            Self::FilesModified => (
                &mut row.files_modified,
                &mut row.files_modified_low,
                &mut row.files_modified_high,
                &mut row.files_modified_n,
            ),
            Self::FilesRead => (
                &mut row.files_read,
                &mut row.files_read_low,
                &mut row.files_read_high,
                &mut row.files_read_n,
            ),
            Self::Structural => (
                &mut row.structural_survival,
                &mut row.structural_survival_low,
                &mut row.structural_survival_high,
                &mut row.structural_survival_n,
            ),
            Self::Lexical => (
                &mut row.lexical_survival,
                &mut row.lexical_survival_low,
                &mut row.lexical_survival_high,
                &mut row.lexical_survival_n,
            ),
            Self::Summary => (
                &mut row.summary_survival,
                &mut row.summary_survival_low,
                &mut row.summary_survival_high,
                &mut row.summary_survival_n,
            ),
            Self::Needed => (
                &mut row.needed_survival,
                &mut row.needed_survival_low,
                &mut row.needed_survival_high,
                &mut row.needed_survival_n,
            ),
            Self::Context => (
                &mut row.context_survival,
                &mut row.context_survival_low,
                &mut row.context_survival_high,
                &mut row.context_survival_n,
            ),
        };
        (*mean, *low, *high, *n) = (value.mean, value.low, value.high, value.n);
    }
}

/// Whether a session counts towards the means.
pub fn counts(session: &SessionRow) -> bool {
    session.exercised && session.error.is_empty()
}

/// The window a session row was asked to have, as text: tokens, `auto`, or `cycles` when it was searched for.
pub fn window_label(session: &SessionRow) -> String {
    match session.window_source.as_str() {
        "given" => session.window.to_string(),
        "cycles" => "cycles".to_owned(),
        _ => "auto".to_owned(),
    }
}

/// Pools the rows of a run.
pub fn aggregate(output: &RunOutput) -> Aggregate {
    let groups = groups(output);
    let summary = groups.iter().map(summarize).collect();
    let mut differences = Vec::new();
    for (idx, first) in groups.iter().enumerate() {
        for second in groups.iter().skip(idx + 1) {
            if (first.profile, &first.window) == (second.profile, &second.window) {
                differences.extend(Metric::ALL.map(|metric| compare(first, second, metric)));
                differences.extend(kept::differences(first, second));
            }
        }
    }
    let curves = groups.iter().flat_map(curves::curves).collect();
    let distributions =
        groups.iter().flat_map(|group| Metric::ALL.map(|metric| distribution(group, metric))).collect();
    let kept = groups.iter().flat_map(kept::kept).collect();
    let afterwards = audit::afterwards(output);
    Aggregate { summary, differences, curves, distributions, kept, afterwards }
}

/// The rows of one contender.
struct Group<'a> {
    profile: &'a str,
    window: String,
    strategy: &'a str,
    sessions: Vec<&'a SessionRow>,
    /// Cycles without an error, each with whether its session counts.
    cycles: Vec<(&'a CycleRow, bool)>,
    /// Spells of sessions that count.
    spells: Vec<&'a SpellRow>,
    /// Classes of the cycles of sessions that count.
    classes: Vec<&'a ClassRow>,
}

fn groups(output: &RunOutput) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut group_of: BTreeMap<(&str, String, &str), usize> = BTreeMap::new();
    // A window that was given and one that `auto` found can be the same number of tokens: then two plans of a session
    // have equal keys, and the first row of a cycle belongs to the first of them.
    let mut plans: BTreeMap<(&str, &str, &str, u64), Vec<(usize, bool)>> = BTreeMap::new();
    for session in &output.sessions {
        let window = window_label(session);
        let idx =
            *group_of.entry((&session.profile, window.clone(), &session.strategy)).or_insert_with(|| {
                groups.push(Group {
                    profile: &session.profile,
                    window,
                    strategy: &session.strategy,
                    sessions: Vec::new(),
                    cycles: Vec::new(),
                    spells: Vec::new(),
                    classes: Vec::new(),
                });
                groups.len() - 1
            });
        if let Some(group) = groups.get_mut(idx) {
            group.sessions.push(session);
        }
        plans
            .entry((&session.session, &session.profile, &session.strategy, session.window))
            .or_default()
            .push((idx, counts(session)));
    }
    let mut seen: BTreeMap<(&str, &str, &str, u64, u32), usize> = BTreeMap::new();
    for cycle in &output.cycles {
        let (session, profile, strategy) = (cycle.session.as_str(), cycle.profile.as_str(), &*cycle.strategy);
        let turn = seen.entry((session, profile, strategy, cycle.window, cycle.cycle)).or_default();
        let plan = plans
            .get(&(session, profile, strategy, cycle.window))
            .and_then(|plans| plans.get(*turn).copied());
        *turn += 1;
        if let Some((idx, counts)) = plan
            && cycle.error.is_empty()
            && let Some(group) = groups.get_mut(idx)
        {
            group.cycles.push((cycle, counts));
        }
    }
    let mut seen: BTreeMap<(&str, &str, &str, u64, &str, u32), usize> = BTreeMap::new();
    for spell in &output.spells {
        let (session, profile, strategy) = (spell.session.as_str(), spell.profile.as_str(), &*spell.strategy);
        let turn =
            seen.entry((session, profile, strategy, spell.window, &spell.class, spell.age)).or_default();
        let plan = plans
            .get(&(session, profile, strategy, spell.window))
            .and_then(|plans| plans.get(*turn).copied());
        *turn += 1;
        if let Some((idx, true)) = plan
            && let Some(group) = groups.get_mut(idx)
        {
            group.spells.push(spell);
        }
    }
    let mut seen: BTreeMap<(&str, &str, &str, u64, &str, u32), usize> = BTreeMap::new();
    for row in &output.classes {
        let (session, profile, strategy) = (row.session.as_str(), row.profile.as_str(), &*row.strategy);
        let turn = seen.entry((session, profile, strategy, row.window, &row.class, row.cycle)).or_default();
        let plan =
            plans.get(&(session, profile, strategy, row.window)).and_then(|plans| plans.get(*turn).copied());
        *turn += 1;
        if let Some((idx, true)) = plan
            && let Some(group) = groups.get_mut(idx)
        {
            group.classes.push(row);
        }
    }
    // Resampling draws sessions by their place: the order of the files must not matter.
    for group in &mut groups {
        group.sessions.sort_by(|a, b| a.session.cmp(&b.session));
    }
    let settings = &output.manifest.settings;
    let place =
        |list: &[String], name: &str| list.iter().position(|entry| entry == name).unwrap_or(list.len());
    let mut windows: Vec<String> = Vec::new();
    for group in &groups {
        if !windows.contains(&group.window) {
            windows.push(group.window.clone());
        }
    }
    // Stable: names that the settings do not have keep the order of their rows.
    groups.sort_by_key(|group| {
        (
            place(&settings.profiles, group.profile),
            place(&windows, &group.window),
            place(&settings.strategies, group.strategy),
        )
    });
    groups
}

fn summarize(group: &Group<'_>) -> SummaryRow {
    let exercised: Vec<&SessionRow> =
        group.sessions.iter().copied().filter(|session| counts(session)).collect();
    let failed = group.sessions.iter().filter(|session| !session.error.is_empty()).count() as u64;
    let mut row = SummaryRow {
        profile: group.profile.to_owned(),
        strategy: group.strategy.to_owned(),
        window: group.window.clone(),
        n_sessions: group.sessions.len() as u64,
        n_exercised: exercised.len() as u64,
        n_not_exercised: group.sessions.len() as u64 - exercised.len() as u64 - failed,
        n_failed: failed,
        n_cycles: group.cycles.len() as u64,
        ..SummaryRow::default()
    };
    for metric in Metric::ALL {
        metric.set(&mut row, estimate(&values_of(&exercised, |session| metric.of_session(session)), SEED));
    }
    row.tokens_summary = mean(&values_of(&exercised, |session| session.tokens_summary));
    row.reduction = mean(&values_of(&exercised, |session| session.reduction));
    row.estimator_error = mean(&values_of(&exercised, |session| session.estimator_error));
    for (cycle, counts) in &group.cycles {
        add_health(&mut row, cycle);
        if *counts && !cycle.opaque {
            add_survival(&mut row, cycle);
        }
    }
    row.files_modified_micro = ratio(row.files_modified_kept, row.files_modified_total);
    row.files_read_micro = ratio(row.files_read_kept, row.files_read_total);
    row.structural_survival_micro = ratio(row.structural_in_summary, row.structural_at_risk);
    row.lexical_survival_micro = ratio(row.lexical_in_summary, row.lexical_at_risk);
    row.summary_survival_micro = ratio(row.facts_in_summary, row.facts_at_risk);
    row.needed_survival_micro = ratio(row.facts_needed_in_summary, row.facts_needed);
    row.held_survival_micro = ratio(row.facts_held_still, row.facts_held);
    row.context_survival_micro = ratio(row.facts_in_context, row.facts_total);
    row.structural_per_1000 = per_1000(row.structural_survival, row.tokens_summary);
    row.lexical_per_1000 = per_1000(row.lexical_survival, row.tokens_summary);
    row.invented_per_1000 = ratio(row.invented, row.tokens_summary_total).map(|share| share * 1_000.0);
    row
}

fn distribution(group: &Group<'_>, metric: Metric) -> DistributionRow {
    let exercised: Vec<&SessionRow> =
        group.sessions.iter().copied().filter(|session| counts(session)).collect();
    let values = values_of(&exercised, |session| metric.of_session(session));
    let count = |holds: fn(f64) -> bool| values.iter().filter(|value| holds(**value)).count() as u64;
    DistributionRow {
        profile: group.profile.to_owned(),
        strategy: group.strategy.to_owned(),
        window: group.window.clone(),
        metric: metric.name().to_owned(),
        n: values.len() as u64,
        none: count(|value| value <= 0.0),
        all: count(|value| value >= 1.0),
        mean: mean(&values),
        lowest: quantile(&values, 0.0),
        p10: quantile(&values, 0.1),
        p25: quantile(&values, 0.25),
        median: quantile(&values, 0.5),
        p75: quantile(&values, 0.75),
        p90: quantile(&values, 0.9),
        highest: quantile(&values, 1.0),
    }
}

fn values_of<T>(rows: &[&T], of: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
    rows.iter().filter_map(|row| of(row)).collect()
}

fn per_1000(survival: Option<f64>, tokens: Option<f64>) -> Option<f64> {
    match (survival, tokens) {
        (Some(survival), Some(tokens)) if 0.0 < tokens => Some(survival * 1_000.0 / tokens),
        _ => None,
    }
}

/// Sums that a success must not hide: every cycle counts, also of sessions that gained nothing.
fn add_health(row: &mut SummaryRow, cycle: &CycleRow) {
    row.violations += cycle.violations();
    row.orphan_results += cycle.orphan_results;
    row.orphan_calls += cycle.orphan_calls;
    row.duplicate_results += cycle.duplicate_results;
    row.empty_blocks += cycle.empty_blocks;
    row.no_user_message += u64::from(cycle.no_user_message);
    row.request_absent += u64::from(cycle.request_absent);
    row.summary_after_tail += u64::from(cycle.summary_after_tail);
    row.over_budget += u64::from(cycle.over_budget);
    row.no_gain += u64::from(cycle.no_gain);
    row.stuck += u64::from(cycle.stuck);
    row.tail_lost += cycle.tail_facts.saturating_sub(cycle.tail_facts_in_context);
    row.unfit += u64::from(cycle.unfit);
    row.uncut += u64::from(cycle.uncut);
    row.summary_degraded += u64::from(cycle.summary_degraded);
    row.cancelled += u64::from(cycle.cancelled);
    row.late_triggers += u64::from(cycle.late_trigger);
    row.facts_archived += cycle.facts_archived;
    row.prompt_tokens += cycle.prompt_tokens;
    row.cached_tokens += cycle.cached_tokens;
    row.written_tokens += cycle.written_tokens;
    row.cost_units += cycle.cost_units;
}

fn add_survival(row: &mut SummaryRow, cycle: &CycleRow) {
    row.files_modified_kept += cycle.files_modified_kept;
    row.files_modified_total += cycle.files_modified_total;
    row.files_read_kept += cycle.files_read_kept;
    row.files_read_total += cycle.files_read_total;
    row.structural_in_summary += cycle.structural_in_summary;
    row.structural_at_risk += cycle.structural_at_risk;
    row.lexical_in_summary += cycle.lexical_in_summary;
    row.lexical_at_risk += cycle.lexical_at_risk;
    row.facts_in_summary += cycle.facts_in_summary;
    row.facts_at_risk += cycle.facts_at_risk;
    row.facts_in_context += cycle.facts_in_context;
    row.facts_total += cycle.facts_total;
    if cycle.needed_biased {
        row.needed_biased += 1;
    } else {
        row.facts_needed_in_summary += cycle.facts_needed_in_summary;
        row.facts_needed += cycle.facts_needed;
        row.predicted_rereads += cycle.predicted_rereads;
        row.predicted_reread_tokens += cycle.predicted_reread_tokens;
    }
    row.tokens_summary_total += cycle.tokens_summary;
    row.invented += cycle.invented;
    row.facts_held += cycle.facts_held;
    row.facts_held_still += cycle.facts_held_still;
    row.summaries_unchanged += u64::from(cycle.summary_unchanged);
    row.quotes += cycle.quotes;
    row.quotes_fabricated += cycle.quotes_fabricated;
    row.misclassified += cycle.misclassified.unwrap_or(0);
    row.stale += cycle.stale;
}

fn compare(first: &Group<'_>, second: &Group<'_>, metric: Metric) -> DifferenceRow {
    let values = |group: &Group<'_>| -> BTreeMap<String, f64> {
        let of = |session: &&SessionRow| {
            let value = if counts(session) { metric.of_session(session) } else { None };
            Some((session.session.to_string(), value?))
        };
        group.sessions.iter().filter_map(of).collect()
    };
    difference_row(first, second, metric.name(), &values(first), &values(second))
}

/// The difference of two contenders in values by session.
fn difference_row(
    first: &Group<'_>,
    second: &Group<'_>,
    metric: &str,
    ours: &BTreeMap<String, f64>,
    theirs: &BTreeMap<String, f64>,
) -> DifferenceRow {
    let differences: Vec<f64> =
        ours.iter().filter_map(|(session, value)| Some(value - theirs.get(session)?)).collect();
    let paired = paired(&differences);
    DifferenceRow {
        profile: first.profile.to_owned(),
        window: first.window.clone(),
        metric: metric.to_owned(),
        strategy_a: first.strategy.to_owned(),
        strategy_b: second.strategy.to_owned(),
        mean: paired.difference.mean,
        low: paired.difference.low,
        high: paired.difference.high,
        n: paired.difference.n,
        n_a: paired.positive,
        n_b: paired.negative,
        ties: paired.ties,
        sign_p: paired.sign_p,
        p: paired.p,
        p_holm: None,
    }
}

#[cfg(test)]
mod tests;
