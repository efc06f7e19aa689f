//! `compactor` replays real agent logs through context compaction and scores what survives.
pub mod aggregate;

pub mod diagnostic;
pub mod fileops;
pub mod paths;
pub mod report;
pub mod results;
pub mod stats;
pub mod tokens;
pub mod transcript;
