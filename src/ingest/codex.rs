//! Codex CLI rollouts.

use super::lines::Record;
use super::sink::Sink;

/// Reads the records of one Codex file.
pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let _ = (records, name, out);
}
