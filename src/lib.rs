//! tmp
pub mod transcript;
pub mod diagnostic;
pub mod paths;
pub mod fileops;
pub mod tokens;
pub mod profile;
pub mod context;
pub mod strategy;
pub mod summarize;
pub mod replay;
#[cfg(test)]
mod testing;
