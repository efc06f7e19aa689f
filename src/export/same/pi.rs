//! pi: a `compaction` entry under the last one, which names the first entry that stays, by its id or, in version 1, by its
//! position in the file.

use super::{Addition, Log, OTHER_FORM, refused, text};
use crate::export::Unchanged;
use memchr::memmem;
use serde_json::{Map, Value, json};

/// The entry, and the summary in it.
pub(super) fn records(log: &Log<'_>, addition: &Addition<'_>) -> Result<(String, String), Unchanged> {
    let line = addition.tail().next().map_or(0, |message| message.line);
    let first = log.record(line as usize).ok_or_else(|| {
        refused(
            format!("the first entry that stays, at line {line}, is damaged and cannot be named"),
            OTHER_FORM,
        )
    })?;
    let last = log.backwards().find(|record| text(record, "type") != "session");
    let last = last.ok_or_else(|| refused("the log has no entries", OTHER_FORM))?;
    let mut entry = Map::from_iter([("type".to_owned(), "compaction".into())]);
    let mut put = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    let kept = text(&first, "id");
    if !kept.is_empty() {
        put("id", id(log).into());
        put("parentId", last.get("id").cloned().unwrap_or_default());
    }
    put("timestamp", last.get("timestamp").cloned().unwrap_or_default());
    let summary = addition.summary_and_request();
    put("summary", summary.as_str().into());
    if kept.is_empty() {
        // The header is entry 0, on line 1.
        put("firstKeptEntryIndex", line.saturating_sub(1).into());
    } else {
        put("firstKeptEntryId", kept.into());
    }
    put("tokensBefore", addition.tokens_before().into());
    let lists = &addition.compacted.lists;
    put("details", json!({"readFiles": lists.read, "modifiedFiles": lists.modified}));
    put("fromHook", false.into());
    Ok((summary, format!("{}\n", Value::Object(entry))))
}

/// Eight hexadecimal digits that stand nowhere in the log.
fn id(log: &Log<'_>) -> String {
    let made = |more: u32| {
        let number = u128::from_be_bytes(log.made(&format!("entry {more}")));
        format!("{:08x}", number >> 96)
    };
    (0..u32::MAX).map(made).find(|id| memmem::find(log.bytes, id.as_bytes()).is_none()).unwrap_or_default()
}
