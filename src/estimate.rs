//! How large a context is to the system that holds it, and when it compacts: rules as data, functions over entries.
//!
//! - [`size`]: the size of one entry as a system estimates it.
//! - [`usage`]: the size of a context from what providers reported, with estimates for the rest.
//! - [`budget`]: the room for a prompt, what a request carries beside messages, a factor learnt from reported usage.
//! - [`trigger`]: at which size, and at which moment, a context is compacted.
//!
//! Sizes are tokens, unless a name says otherwise. Nothing here counts for scores: those use [`crate::tokens`] alone.

pub mod budget;
pub mod size;
pub mod trigger;
pub mod usage;

pub use budget::{Accounts, BudgetRules, Calibration, CalibrationRules, Room, Schema};
pub use size::{EstimateError, EstimateRules, entries_tokens, entry_tokens, texts_tokens};
pub use trigger::{Action, Check, InputShare, Limit, Measure, Moment, PruneRules, State, TriggerRules};
pub use usage::{ContextSize, Marker, Tally, UsageRules, context_size, from_marker, hybrid, last_usage};

#[cfg(test)]
mod tests;
