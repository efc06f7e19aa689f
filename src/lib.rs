//! `compactor` replays real agent logs through context compaction and scores what survives.
pub mod diagnostic;
pub mod fileops;
pub mod paths;
pub mod strategy;
pub mod summarize;
pub mod tokens;
pub mod transcript;
