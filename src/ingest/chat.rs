//! Chat messages.
use super::lines::Record;
use super::sink::Sink;
pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let _ = (records, name, out);
}
