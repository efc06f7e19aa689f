//! Files that hold several sessions: the records of each, told apart as [`Split`](super::shapes::Split) tells them apart while a
//! log is read in batches.
//!
//! A session that the log gives no id is named after the file, with a number where there are several.

use rustc_hash::FxHashMap;

use super::lines::Record;
use super::sink::{Begun, Sink};
use super::value::Value;

/// The records of one session, with its id.
pub(super) type Session = (String, Vec<Record>);

/// Sessions that follow each other, as with `Split::Before`: a header with another id begins one, or one without an id (empty).
/// What stands in front of the first header is a session, too.
pub(super) fn by_header(
    records: Vec<Record>,
    begins: fn(&Value) -> Option<&str>,
    name: &str,
    out: &mut Sink,
) -> Vec<Session> {
    by_header_from(records, begins, None, name, out).0
}

/// The same behind a session that records before these began, which has the id of its header: it is the first one then, with what
/// there is more of it, and without an id. The last header's id, too.
pub(super) fn by_header_from(
    records: Vec<Record>,
    begins: fn(&Value) -> Option<&str>,
    begun: Option<&Begun>,
    name: &str,
    out: &mut Sink,
) -> (Vec<Session>, Option<String>) {
    let mut found: Vec<(Option<String>, Vec<Record>)> = Vec::new();
    let goes_on = begun.is_some();
    found.extend(goes_on.then(|| (Some(String::new()), Vec::new())));
    let mut current = begun.and_then(|begun| begun.id.clone());
    for record in records {
        let header = begins(&record.value);
        let id = header.filter(|id| !id.is_empty());
        let other = header.is_some() && (id.is_none() || id != current.as_deref());
        if other {
            current = id.map(str::to_owned);
        }
        match found.last_mut() {
            Some((_, session)) if !other => session.push(record),
            _ => found.push((current.clone(), vec![record])),
        }
    }
    let several = found.len() > 1 || out.is_in_batches();
    let named = |(at, (id, records)): (usize, (Option<String>, Vec<Record>))| {
        if at == 0 && goes_on {
            return (String::new(), records);
        }
        let number = out.number();
        let name = || if several { format!("{name}#{number}") } else { name.to_owned() };
        (id.unwrap_or_else(name), records)
    };
    (found.into_iter().enumerate().map(named).collect(), current)
}

/// Sessions whose records each name their session, as with `Split::Tied`, in order of their first records. Those that name none go on
/// with the one before them, at the beginning with what comes first.
pub(super) fn by_id(records: Vec<Record>, id: fn(&Value) -> Option<&str>, name: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let (mut nameless, mut at) = (Vec::new(), None);
    for record in records {
        if let Some(id) = id(&record.value).filter(|id| !id.is_empty()) {
            at = Some(places.get(id).copied().unwrap_or_else(|| {
                places.insert(id.to_owned(), sessions.len());
                sessions.push((id.to_owned(), std::mem::take(&mut nameless)));
                sessions.len() - 1
            }));
        }
        match at.and_then(|at| sessions.get_mut(at)) {
            Some((_, session)) => session.push(record),
            None => nameless.push(record),
        }
    }
    if !nameless.is_empty() {
        sessions.push((name.to_owned(), nameless));
    }
    sessions
}
