//! Which records a compaction of Claude Code kept word for word, as its boundary tells.
//!
//! Newer versions name the first and the last record (`preservedSegment`), all of them (`preservedMessages`), or both; older
//! ones keep none and say nothing. Records that hold no message (progress) may be among them.

use std::ops::Range;

use crate::ingest::value::Value;
use arcstr::ArcStr;
use rustc_hash::FxHashMap;

use super::Place;
use crate::ingest::json::brief;

/// Ids of kept records, in order; at least one.
#[derive(Debug, Default)]
pub(super) struct Preserved {
    ids: Vec<String>,
    /// A last record was named; without one all up to the compaction stayed.
    ends: bool,
}

/// What the metadata of a boundary says; the error tells what cannot be read in it.
pub(super) fn of(metadata: &Value) -> Result<Option<Preserved>, String> {
    if !metadata.is_object() && !metadata.is_null() {
        return Err(format!("the metadata of a compaction is {}, no object", brief(metadata)));
    }
    let (segment, messages) = (part(metadata, "preservedSegment")?, part(metadata, "preservedMessages")?);
    let mut ids = Vec::new();
    let head = segment.map(|segment| id(segment, "headUuid")).transpose()?.flatten();
    let tail = segment.map(|segment| id(segment, "tailUuid")).transpose()?.flatten();
    ids.extend(head);
    let listed = messages.and_then(|messages| messages.get("uuids")).filter(|uuids| !uuids.is_null());
    match listed {
        None => {}
        Some(Value::Array(uuids)) => {
            for uuid in uuids {
                let uuid =
                    uuid.as_str().ok_or_else(|| format!("a kept record is named by {}", brief(uuid)))?;
                ids.push(uuid.to_owned());
            }
        }
        Some(other) => return Err(format!("preservedMessages.uuids is {}, no list", brief(other))),
    }
    let ends = tail.is_some() || listed.is_some();
    ids.extend(tail);
    Ok((!ids.is_empty()).then_some(Preserved { ids, ends }))
}

/// An object inside the metadata, where it is there.
fn part<'a>(metadata: &'a Value, key: &str) -> Result<Option<&'a Value>, String> {
    match metadata.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(found) if found.is_object() => Ok(Some(found)),
        Some(other) => Err(format!("{key} is {}, no object", brief(other))),
    }
}

/// An id inside it, where it is there.
fn id(segment: &Value, key: &str) -> Result<Option<String>, String> {
    match segment.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.to_string())),
        Some(other) => Err(format!("{key} is {}, no id", brief(other))),
    }
}

impl Preserved {
    /// The kept messages, all in front of message `end`; `places` has the message of each record of the conversation,
    /// `known` every record of the file. The error names what is not there.
    pub(super) fn range(
        &self,
        places: &FxHashMap<ArcStr, usize>,
        known: &FxHashMap<ArcStr, Place>,
        end: usize,
    ) -> Result<Range<usize>, String> {
        let placed =
            || self.ids.iter().filter_map(|id| places.get(id.as_str()).copied()).filter(|place| *place < end);
        let (Some(first), Some(last)) = (placed().min(), placed().max()) else {
            // Whether another session of the file has it is no matter here, nor known where sessions are read one by one.
            let named = self.ids.first().map(String::as_str).unwrap_or_default();
            return Err(format!("kept record {named:?} is no message in front of the compaction"));
        };
        if let Some(unknown) = self.ids.iter().find(|id| !known.contains_key(id.as_str())) {
            return Err(format!("kept record {unknown:?} is not in the file"));
        }
        Ok(first..if self.ends { last + 1 } else { end })
    }
}
