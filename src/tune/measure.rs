//! What is kept of a session under one combination, and what sessions say together.

use crate::aggregate::{Metric, counts};
use crate::facts::FactClass;
use crate::results::{ClassRow, ratio};
use crate::run::fold::PlanRows;
use crate::stats::{Estimate, SEED, estimate, mean};

/// One session under one combination: values by session, and sums.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measured {
    /// It was compacted and gained something, without an error: only then it counts.
    pub counts: bool,
    /// A row of it is an error.
    pub failed: bool,
    /// By the order of [`Metric::ALL`].
    pub metrics: [Option<f64>; Metric::ALL.len()],
    /// Survival in the summary by class, in the order of [`FactClass::ALL`].
    pub classes: [Option<f64>; FactClass::ALL.len()],
    /// Prompt tokens per request.
    pub tokens: Option<f64>,
    /// Mean tokens of a summary.
    pub summary: Option<f64>,
    /// Mean of `1 - after / before`.
    pub reduction: Option<f64>,
    /// Requests.
    pub requests: u64,
    /// Their prompt tokens.
    pub prompt_tokens: u64,
    /// Their price in input-token equivalents.
    pub cost_units: f64,
    /// Cycles.
    pub cycles: u64,
    /// Hard invariants broken.
    pub violations: u64,
}

impl Measured {
    /// Folds the rows of a session; `None` where it does not count and nothing is wrong, as with most that are short.
    pub fn of(rows: PlanRows<'_>) -> Option<Box<Self>> {
        let session = rows.session;
        let measured = Self {
            counts: counts(session),
            failed: !session.error.is_empty(),
            metrics: Metric::ALL.map(|metric| metric.of_session(session)),
            classes: FactClass::ALL.map(|class| of_class(rows.classes, class.name())),
            tokens: ratio(session.prompt_tokens, session.requests),
            summary: session.tokens_summary,
            reduction: session.reduction,
            requests: session.requests,
            prompt_tokens: session.prompt_tokens,
            cost_units: session.cost_units,
            cycles: rows.cycles.len() as u64,
            violations: session.violations,
        };
        let tells = measured.counts || measured.failed || measured.violations > 0;
        tells.then(|| Box::new(measured))
    }

    /// A metric, where the session counts.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        let at = Metric::ALL.iter().position(|one| *one == metric)?;
        self.metrics.get(at).copied().flatten().filter(|_| self.counts)
    }
}

/// The mean over the cycles in which something of a class was at risk.
fn of_class(rows: &[ClassRow], class: &str) -> Option<f64> {
    let shares: Vec<f64> =
        rows.iter().filter(|row| row.class == class).filter_map(|row| row.summary_survival).collect();
    mean(&shares)
}

/// One combination over sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pooled {
    /// Sessions that were replayed.
    pub sessions: u64,
    /// Of those, the ones that count: everything else is of them, but for broken invariants.
    pub exercised: u64,
    /// Sessions that failed.
    pub failed: u64,
    /// Means over sessions with their intervals, by the order of [`Metric::ALL`].
    pub metrics: Vec<Estimate>,
    /// The same by class, in the order of [`FactClass::ALL`].
    pub classes: Vec<Estimate>,
    /// Prompt tokens per request.
    pub tokens: Estimate,
    /// Tokens of a summary.
    pub summary: Option<f64>,
    /// Share of the context that a compaction takes away.
    pub reduction: Option<f64>,
    /// Requests.
    pub requests: u64,
    /// Their prompt tokens.
    pub prompt_tokens: u64,
    /// Their price in input-token equivalents.
    pub cost_units: f64,
    /// Cycles.
    pub cycles: u64,
    /// Hard invariants broken, in all sessions.
    pub violations: u64,
}

impl Pooled {
    /// Pools sessions, which come in an order that no file decides.
    pub fn of(sessions: &[&Measured]) -> Self {
        let counted: Vec<&Measured> = sessions.iter().copied().filter(|one| one.counts).collect();
        let over = |value: &dyn Fn(&Measured) -> Option<f64>| -> Vec<f64> {
            counted.iter().filter_map(|one| value(one)).collect()
        };
        let at = |values: &[Option<f64>], place: usize| values.get(place).copied().flatten();
        Self {
            sessions: sessions.len() as u64,
            exercised: counted.len() as u64,
            failed: sessions.iter().filter(|one| one.failed).count() as u64,
            metrics: (0..Metric::ALL.len())
                .map(|place| estimate(&over(&|one| at(&one.metrics, place)), SEED))
                .collect(),
            classes: (0..FactClass::ALL.len())
                .map(|place| estimate(&over(&|one| at(&one.classes, place)), SEED))
                .collect(),
            tokens: estimate(&over(&|one| one.tokens), SEED),
            summary: mean(&over(&|one| one.summary)),
            reduction: mean(&over(&|one| one.reduction)),
            requests: counted.iter().map(|one| one.requests).sum(),
            prompt_tokens: counted.iter().map(|one| one.prompt_tokens).sum(),
            cost_units: counted.iter().map(|one| one.cost_units).sum(),
            cycles: counted.iter().map(|one| one.cycles).sum(),
            violations: sessions.iter().map(|one| one.violations).sum(),
        }
    }

    /// The mean of a metric and its interval.
    pub fn metric(&self, metric: Metric) -> Estimate {
        let at = Metric::ALL.iter().position(|one| *one == metric);
        at.and_then(|at| self.metrics.get(at)).copied().unwrap_or_default()
    }
}
