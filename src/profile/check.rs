//! Settings that contradict each other or make no sense: refused before anything runs.

use super::Profile;
use super::file::line_of;
use crate::cut::Measure as CutMeasure;

/// Least budget of a summary: below it stands no line beside the frame.
const LEAST_BUDGET: u64 = 50;

/// Most entries that a tail may hold by their number: more than any session has between two compactions.
const MOST_ENTRIES: u64 = 10_000;

/// Most tokens of a reply that may be asked for, as on the command line.
const MOST_OUTPUT: u64 = 1_000_000;

/// Settings that contradict each other or make no sense.
#[derive(Debug)]
pub(super) struct Fault {
    /// The keys that are to blame, the likeliest first.
    keys: Vec<String>,
    /// Why.
    reason: String,
}

impl Fault {
    pub(super) fn of(keys: &[&str], reason: impl Into<String>) -> Self {
        Self { keys: keys.iter().map(|key| (*key).to_owned()).collect(), reason: reason.into() }
    }

    /// A reason that begins with its key.
    fn told(reason: String) -> Self {
        Self { keys: reason.split(' ').next().map(str::to_owned).into_iter().collect(), reason }
    }

    /// The reason, with the line of the first of its keys that a text holds itself.
    pub(super) fn in_text(self, text: &str) -> String {
        match self.keys.iter().find_map(|key| line_of(text, key)) {
            Some(line) => format!("line {line}: {}", self.reason),
            None => self.reason,
        }
    }
}

impl Profile {
    /// Refuses contradictory and senseless settings before anything runs.
    pub(super) fn validate(&self) -> Result<(), Fault> {
        let share = |value: f64| value.is_finite() && value > 0.0 && value <= 1.0;
        if self.window == 0 {
            return Err(Fault::of(&["window"], "window must be at least 1 token"));
        }
        if self.name.trim().is_empty() {
            return Err(Fault::of(&["name"], "name is empty: results are written under it"));
        }
        if self.faithful && !self.fixes.is_empty() {
            let reason =
                "faithful is true and fixes are named: a faithful profile has all faults of its system";
            return Err(Fault::of(&["fixes", "faithful"], reason));
        }
        self.trigger.validate().map_err(Fault::told)?;
        self.budget.validate().map_err(Fault::told)?;
        if self.budget.output >= self.window {
            let reason = format!(
                "budget.output is {}, which leaves nothing of the window ({})",
                self.budget.output, self.window
            );
            return Err(Fault::of(&["budget.output", "window"], reason));
        }
        if !share(self.pin_limit) {
            let reason = format!("pin_limit is {}, must be above 0 and at most 1", self.pin_limit);
            return Err(Fault::of(&["pin_limit"], reason));
        }
        self.validate_summary()?;
        self.validate_model()?;
        self.validate_estimate()?;
        self.validate_keep()?;
        for (name, value) in [
            ("manual.resume", self.manual.resume),
            ("manual.context_share", self.manual.context_share),
            ("refused.keep_share", self.refused.keep_share),
            ("refused.context_share", self.refused.context_share),
        ] {
            if let Some(value) = value.filter(|value| !share(*value)) {
                return Err(Fault::of(&[name], format!("{name} is {value}, must be above 0 and at most 1")));
            }
        }
        if self.refused.drop && self.emergency.is_none() {
            let reason = "refused.drop needs a table [emergency]: it says what stays";
            return Err(Fault::of(&["refused.drop"], reason));
        }
        if !(1..=2).contains(&self.split.summaries) {
            let reason = format!("split.summaries is {}, must be 1 or 2", self.split.summaries);
            return Err(Fault::of(&["split.summaries"], reason));
        }
        Ok(())
    }

    fn validate_summary(&self) -> Result<(), Fault> {
        let summary = &self.summary;
        let (tokens, fraction) = (summary.budget_tokens, summary.budget_fraction);
        if !(fraction.is_finite() && (0.0..=0.25).contains(&fraction)) {
            let reason = format!("summary.budget_fraction is {fraction}, must be between 0 and 0.25");
            return Err(Fault::of(&["summary.budget_fraction"], reason));
        }
        if tokens > self.window / 4 {
            let reason = format!(
                "summary.budget_tokens is {tokens}, more than a quarter of the window ({})",
                self.window
            );
            return Err(Fault::of(&["summary.budget_tokens", "window"], reason));
        }
        let of_window = (fraction * self.window as f64) as u64;
        if (tokens > 0 || of_window < LEAST_BUDGET) && tokens < LEAST_BUDGET {
            let reason = format!(
                "summary.budget_tokens is {tokens}, too few for a summary: must be at least {LEAST_BUDGET}, or 0 where \
                 summary.budget_fraction alone gives as many"
            );
            return Err(Fault::of(&["summary.budget_tokens", "summary.budget_fraction", "window"], reason));
        }
        Ok(())
    }

    fn validate_model(&self) -> Result<(), Fault> {
        let model = &self.llm;
        if model.model.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(Fault::of(
                &["llm.model"],
                "llm.model is empty: leave it out to name one with --model",
            ));
        }
        match model.max_output_tokens {
            Some(tokens) if !(1..=MOST_OUTPUT).contains(&tokens) => {
                let reason = format!("llm.max_output_tokens is {tokens}, must be 1 to {MOST_OUTPUT}");
                Err(Fault::of(&["llm.max_output_tokens"], reason))
            }
            _ => Ok(()),
        }
    }

    fn validate_estimate(&self) -> Result<(), Fault> {
        let Some(rules) = &self.estimate else {
            if self.cut.measure == CutMeasure::Estimate {
                let reason = "cut.measure is \"estimate\", but there is no table [estimate]";
                return Err(Fault::of(&["cut.measure"], reason));
            }
            if self.trigger.measure != crate::estimate::Measure::Counted {
                let reason = "trigger.measure is not \"counted\", but there is no table [estimate]";
                return Err(Fault::of(&["trigger.measure"], reason));
            }
            return Ok(());
        };
        for (key, tokens) in [
            ("estimate.least", rules.least),
            ("estimate.per_message", rules.per_message),
            ("estimate.per_call", rules.per_call),
        ] {
            if tokens >= self.window {
                let reason =
                    format!("{key} is {tokens}: one message would fill the window ({})", self.window);
                return Err(Fault::of(&[key, "window"], reason));
            }
        }
        Ok(())
    }

    fn validate_keep(&self) -> Result<(), Fault> {
        let keep = self.keep;
        let told = [
            ("keep.tokens", keep.tokens.is_some()),
            ("keep.share", keep.share.is_some()),
            ("keep.context", keep.context.is_some()),
            ("keep.entries", keep.entries.is_some()),
        ];
        let told: Vec<&'static str> =
            told.into_iter().filter(|(_, told)| *told).map(|(key, _)| key).collect();
        let &[key] = told.as_slice() else {
            let reason = "[keep] needs exactly one of tokens, share, context and entries";
            return Err(Fault::of(&["keep"], reason));
        };
        let entries = self.cut.measure == CutMeasure::Entries;
        if entries != keep.entries.is_some() {
            let right = if entries { "entries" } else { "tokens, share or context" };
            let reason =
                format!("[keep] needs {right}: cut.measure is {:?}", self.cut.measure).to_lowercase();
            return Err(Fault::of(&[key, "keep", "cut.measure"], reason));
        }
        if let Some(share) = keep.share.or(keep.context)
            && !(share.is_finite() && (0.0..1.0).contains(&share))
        {
            let reason = format!("{key} is {share}, must be at least 0 and below 1");
            return Err(Fault::of(&[key], reason));
        }
        if let Some(count) = keep.entries
            && !(1..=MOST_ENTRIES).contains(&count)
        {
            let reason = format!("keep.entries is {count}, must be between 1 and {MOST_ENTRIES}");
            return Err(Fault::of(&[key], reason));
        }
        let amounts = self.at(self.window, None);
        if amounts.trigger == u64::MAX && self.trigger.enabled {
            let reason = format!(
                "the trigger never fires at a window of {} tokens: its limit takes all of it",
                self.window
            );
            return Err(Fault::of(&["trigger.limit", "trigger.percent", "window"], reason));
        }
        if amounts.trigger == 0 {
            let reason = format!(
                "the trigger fires on an empty context at a window of {} tokens: its limit leaves nothing of it",
                self.window
            );
            return Err(Fault::of(&["trigger.limit", "window"], reason));
        }
        if !entries && amounts.keep >= amounts.trigger {
            let reason = format!(
                "{key} ({} tokens) reaches the trigger ({} tokens): nothing could ever be compacted",
                amounts.keep, amounts.trigger
            );
            return Err(Fault::of(&[key, "keep", "trigger.limit", "trigger.percent", "window"], reason));
        }
        if self.overhead.tokens >= amounts.trigger.min(self.window) {
            let reason = format!(
                "overhead.tokens is {}, which reaches the trigger ({} tokens) without any message",
                self.overhead.tokens,
                amounts.trigger.min(self.window)
            );
            return Err(Fault::of(&["overhead.tokens", "trigger.limit", "window"], reason));
        }
        let left = amounts.keep + amounts.budget + self.overhead.tokens;
        if !entries && left >= amounts.trigger {
            let reason = format!(
                "a compaction may leave {left} tokens ({key} {}, a summary of {}, overhead of {}), which reaches the trigger \
                 ({} tokens): the next request would compact again",
                amounts.keep, amounts.budget, self.overhead.tokens, amounts.trigger
            );
            let keys = [
                key,
                "keep",
                "summary.budget_tokens",
                "summary.budget_fraction",
                "overhead.tokens",
                "window",
            ];
            return Err(Fault::of(&keys, reason));
        }
        for (key, keep) in
            [("manual.keep", amounts.manual_keep), ("refused.keep_share", amounts.refused_keep)]
        {
            if let Some(keep) = keep.filter(|keep| *keep >= amounts.trigger.min(self.window)) {
                let reason = format!(
                    "{key} ({keep} tokens) reaches the trigger ({} tokens): nothing could leave",
                    amounts.trigger.min(self.window)
                );
                return Err(Fault::of(&[key, "trigger.limit", "window"], reason));
            }
        }
        Ok(())
    }
}
