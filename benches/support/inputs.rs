//! The logs of a benchmark.

use std::path::PathBuf;

/// The logs that the command line names; without any, the fixtures.
pub(crate) fn logs() -> Vec<PathBuf> {
    let named = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let named: Vec<PathBuf> = named.map(PathBuf::from).collect();
    if named.is_empty() { vec![PathBuf::from("fixtures")] } else { named }
}
