//! Errors of model providers that mean "this is more than the model takes".
//!
//! Two readings of the same texts. A [`Matcher`] is what one agent system takes for an overflow, as data and with the system's
//! own mistakes. [`classify()`] is what the text says: an overflow, or one of the errors that sound alike (rate limits, billing,
//! sizes in bytes, an output setting), with the limit and the tokens it names.
//!
//! **Error texts only.** What a user, an agent or a tool says is never judged: a person may well write that a prompt is too
//! long, and an agent may quote it. Callers hand over the text of an error record of a provider, or of a reply's stop
//! reason, and nothing else; a rule of words cannot tell the two apart.

mod classify;
mod matcher;
mod numbers;
mod reading;

pub use classify::{Class, Verdict, classify};
pub use matcher::{Fragment, Matcher, Pattern, Recovery, Reply, StatusRule, Usage, UsageRule, name_or_table};
