//! `compactor` replays real agent logs through context compaction and scores what survives.
pub mod diagnostic;
pub mod discover;
pub mod fileops;
pub mod ingest;
pub mod paths;
pub mod summarize;
pub mod tokens;
pub mod transcript;
