//! `compactor` replays real agent logs through context compaction and scores what survives.
//!
//! The code map, in reading order; a module uses its own row and the rows above it (`tests/it/layers.rs` checks that):
//!
//! | row | modules |
//! |---|---|
//! | 0 model | [`transcript`], [`diagnostic`], [`paths`], `lanes`, `scan` |
//! | 1 readers | [`discover`], [`ingest`], [`fileops`] |
//! | 2 measures | [`tokens`], [`harness`], [`estimate`]; [`matching`], [`facts`]; [`overflow`] |
//! | 3 compaction | [`profile`], [`cut`], [`pairs`], [`ledger`], [`compaction`], [`models`], [`context`], [`strategy`], [`summarize`], [`replay`]; [`prompt`], [`outputs`], [`summary_text`] |
//! | 4 scoring | [`score`] |
//! | 5 results | [`results`], [`stats`], [`aggregate`] |
//! | 6 run | [`run`], [`export`] |
//! | 7 verdicts | [`compare`], [`gate`], [`report`], [`tune`] |
//! | 8 shell | [`cli`] |

pub mod aggregate;
pub mod cli;
pub mod compaction;
pub mod compare;
pub mod context;
pub mod cut;
pub mod diagnostic;
pub mod discover;
pub mod estimate;
pub mod export;
pub mod facts;
pub mod fileops;
pub mod gate;
pub mod harness;
pub mod ingest;
mod lanes;
pub mod ledger;
pub mod matching;
pub mod models;
pub mod outputs;
pub mod overflow;
pub mod pairs;
pub mod paths;
mod patterns;
pub mod profile;
pub mod prompt;
pub mod replay;
pub mod report;
pub mod results;
pub mod run;
mod scan;
pub mod score;
pub mod stats;
pub mod strategy;
pub mod summarize;
pub mod summary_text;
#[cfg(test)]
mod testing;
mod texts;
pub mod tokens;
pub mod transcript;
pub mod tune;
