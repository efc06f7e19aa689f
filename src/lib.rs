//! `compactor` replays real agent logs through context compaction and scores what survives.
pub mod diagnostic;
pub mod facts;
pub mod fileops;
pub mod matching;
pub mod paths;
pub mod tokens;
pub mod transcript;
