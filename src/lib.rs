//! `compactor` replays real agent logs through context compaction and scores what survives.
//!
//! The code map, in reading order; a module uses its own row and the rows above it (`tests/it/layers.rs` checks that):
//!
//! | row | modules |
//! |---|---|
//! | 0 model | [`transcript`], [`diagnostic`], [`paths`] |
//! | 1 readers | [`fileops`] |
//! | 2 measures | [`tokens`] |
//! | 3 compaction | [`profile`], [`models`], [`context`], [`strategy`], [`summarize`], [`replay`] |

pub mod context;
pub mod diagnostic;
pub mod fileops;
pub mod models;
pub mod paths;
pub mod profile;
pub mod replay;
pub mod strategy;
pub mod summarize;
pub mod tokens;
pub mod transcript;
pub mod score {
    //! tmp
    pub mod invariants;
}
#[cfg(test)]
mod testing;
