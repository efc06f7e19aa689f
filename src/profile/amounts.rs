//! A profile's amounts at one window.

use super::{Keep, Profile};
use crate::estimate::{Limit, Room};

/// The least window in tokens: a smaller one holds a few lines, and compacting these is not worth a summary.
pub const MIN_WINDOW: u64 = 400;

/// A profile's amounts at one window, all in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amounts {
    /// The window.
    pub window: u64,
    /// The window, and the part of it that is the reply's.
    pub room: Room,
    /// Fires at this limit.
    pub limit: Limit,
    /// The least size that fires, in the trigger's own measure.
    pub trigger: u64,
    /// Size of the tail, in entries where these are measured; of a share of the context, what that comes to at the
    /// trigger.
    pub keep: u64,
    /// Everything generated fits into this.
    pub budget: u64,
    /// Results are pruned where they are more than this in all, where size decides.
    pub prune_above: Option<u64>,
    /// Size of the tail where a person asks for a compaction.
    pub manual_keep: Option<u64>,
    /// Size of the tail where a request was refused.
    pub refused_keep: Option<u64>,
    /// Size of the newest results that pruning leaves, in its own measure.
    pub protect: u64,
    /// Results beyond these are pruned only where they come to more than this, in the same measure.
    pub prune_least: u64,
    /// Largest pinned request.
    pub pin: u64,
}

impl Profile {
    /// Its amounts for one window. `budget` overrides the summary budget (`--summary-tokens`).
    pub fn at(&self, window: u64, budget: Option<u64>) -> Amounts {
        let scale = window as f64 / self.window as f64;
        let scaled = |tokens: u64| (tokens as f64 * scale) as u64;
        let own = self.summary.budget_tokens.max((self.summary.budget_fraction * window as f64) as u64);
        let room = Room { window, output: scaled(self.budget.output) };
        let limit = match self.trigger.limit() {
            Limit::Reserve(reserve) => Limit::Reserve(scaled(reserve)),
            limit => limit,
        };
        let trigger = if self.trigger.enabled { limit.least(room) } else { u64::MAX };
        let keep = match self.keep {
            Keep { tokens: Some(tokens), .. } => scaled(tokens),
            Keep { share: Some(share), .. } => (share * window as f64) as u64,
            // What a context comes to that has just reached the trigger.
            Keep { context: Some(share), .. } => (share * trigger.min(window) as f64) as u64,
            Keep { entries, .. } => entries.unwrap_or(0),
        };
        Amounts {
            window,
            room,
            limit,
            trigger,
            keep,
            budget: budget.unwrap_or(own).min(window / 4),
            prune_above: self.trigger.prune.map(|prune| scaled(prune.above)),
            manual_keep: self.manual.keep.map(scaled),
            refused_keep: self.refused.keep_share.map(|share| (share * window as f64) as u64),
            protect: self
                .outputs
                .prune
                .as_ref()
                .and_then(|pruning| pruning.protect)
                .filter(|protect| protect.most > 0)
                .map_or(0, |protect| scaled(protect.most).max(1)),
            prune_least: self.outputs.prune.as_ref().map_or(0, |pruning| scaled(pruning.least)),
            pin: (self.pin_limit * window as f64) as u64,
        }
    }
}
