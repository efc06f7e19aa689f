//! pi sessions.

use super::lines::Record;
use super::sink::Sink;

/// Reads the records of one pi file.
pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let _ = (records, name, out);
}
