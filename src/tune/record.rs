//! What a search found as rows: a list of named values per combination and side, from which every report is made.

use super::choose::Bar;
use super::search::Side;
use super::space::{Combination, Space};
use super::{Candidate, TuneSettings, Tuning};
use crate::aggregate::Metric;
use crate::facts::FactClass;
use crate::replay::ScheduleMode;
use crate::run::Windows;
use crate::stats::Estimate;
use serde_json::{Value, json};

/// A finished search with what was searched.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// What was tried.
    pub space: &'a Space,
    /// How.
    pub settings: &'a TuneSettings,
    /// What came of it.
    pub tuning: &'a Tuning,
}

impl<'a> Found<'a> {
    /// A combination with what came of it.
    pub fn candidate(self, number: usize) -> Option<(&'a Combination, &'a Candidate)> {
        Some((self.space.combinations.get(number)?, self.tuning.candidates.get(number)?))
    }

    /// The command that shows the present and the recommended setting beside each other.
    pub fn command(self) -> String {
        let Some((present, _)) = self.candidate(0) else { return String::new() };
        let Some((best, _)) = self.candidate(self.tuning.recommended) else { return String::new() };
        let mut strategies = vec![self.space.strategy(present).name(), self.space.strategy(best).name()];
        strategies.dedup();
        let windows = match &self.space.windows {
            Windows::Given(_) => {
                let mut windows: Vec<String> =
                    [present, best].iter().filter_map(|one| self.space.window_of(one)).collect();
                windows.dedup();
                format!("--window {}", windows.join(","))
            }
            Windows::Shared(cycles) | Windows::Cycles(cycles) => format!("--cycles {cycles} --same-window"),
        };
        let schedule = match self.settings.schedule {
            ScheduleMode::Locked => "",
            ScheduleMode::Free => " --schedule free",
        };
        let mut profiles = vec![self.space.base_of(present).to_owned()];
        if self.tuning.recommended > 0 {
            profiles.push("recommended.toml".to_owned());
        }
        format!(
            "compactor replay LOGS --profile {} --strategy {} {windows}{schedule}",
            profiles.join(","),
            strategies.join(",")
        )
    }

    /// At which windows sessions were replayed.
    pub fn windows(self) -> String {
        match &self.space.windows {
            Windows::Given(_) => "windows as given".to_owned(),
            Windows::Shared(cycles) | Windows::Cycles(cycles) => {
                let times = if *cycles == 1 { "once".to_owned() } else { format!("{cycles} times") };
                format!("each session at a window where the present setting compacts {times}")
            }
        }
    }
}

/// Columns, and a row per combination and side.
pub fn rows(found: Found<'_>) -> (Vec<String>, Vec<Vec<Value>>) {
    let mut columns: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    let all = found.space.combinations.iter().zip(&found.tuning.candidates).enumerate();
    for (number, (combination, candidate)) in all {
        for side in [Side::Dev, Side::HeldOut] {
            let fields = fields(found, number, combination, candidate, side);
            if columns.is_empty() {
                columns = fields.iter().map(|(name, _)| name.clone()).collect();
            }
            rows.push(fields.into_iter().map(|(_, value)| value).collect());
        }
    }
    (columns, rows)
}

fn fields(
    found: Found<'_>,
    number: usize,
    combination: &Combination,
    candidate: &Candidate,
    side: Side,
) -> Vec<(String, Value)> {
    let (pooled, score, paired) = match side {
        Side::Dev => (&candidate.dev, &candidate.score, &candidate.difference),
        Side::HeldOut => (&candidate.held_out, &candidate.score_held_out, &candidate.difference_held_out),
    };
    let mut fields: Vec<(String, Value)> = Vec::new();
    let mut tell = |name: &str, value: Value| fields.push((name.to_owned(), value));
    tell("combination", json!(number));
    tell("split", json!(side.name()));
    for (key, value) in found.space.keys.iter().zip(&combination.values) {
        tell(key, json!(value));
    }
    tell("present", json!(number == 0));
    tell("recommended", json!(number == found.tuning.recommended));
    tell("rank", json!(candidate.rank));
    tell("on_frontier", json!(candidate.on_frontier));
    tell("barred", json!(candidate.bar.map_or("", Bar::name)));
    tell("objective", json!(score.value));
    tell("objective_tokens", json!(score.tokens));
    tell("objective_n", json!(score.n));
    tell("objective_present", json!(score.present));
    tell("objective_tokens_present", json!(score.present_tokens));
    tell("difference", json!(paired.difference.mean));
    tell("difference_low", json!(paired.difference.low));
    tell("difference_high", json!(paired.difference.high));
    tell("difference_p", json!(paired.p));
    tell("n_sessions", json!(pooled.sessions));
    tell("n_exercised", json!(pooled.exercised));
    tell("n_failed", json!(pooled.failed));
    tell("n_cycles", json!(pooled.cycles));
    let mut estimate = |name: &str, value: Estimate| {
        tell(name, json!(value.mean));
        tell(&format!("{name}_low"), json!(value.low));
        tell(&format!("{name}_high"), json!(value.high));
        tell(&format!("{name}_n"), json!(value.n));
    };
    for metric in Metric::ALL {
        estimate(metric.name(), pooled.metric(metric));
    }
    estimate("tokens_per_request", pooled.tokens);
    for (class, value) in FactClass::ALL.iter().zip(&pooled.classes) {
        estimate(&format!("survival.{}", class.name()), *value);
    }
    tell("tokens_summary", json!(pooled.summary));
    tell("reduction", json!(pooled.reduction));
    tell("requests", json!(pooled.requests));
    tell("prompt_tokens", json!(pooled.prompt_tokens));
    tell("cost_units", json!(pooled.cost_units));
    tell("violations", json!(pooled.violations));
    fields
}
