//! The database of newer versions: the same sessions, messages and parts, each a row with its JSON.

use crate::ingest::value::{Value, json};
use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use super::session;
use crate::ingest::database::rows;
use crate::ingest::formats::Format;
use crate::ingest::json::{take, take_text, text};
use crate::ingest::shapes::DatabaseShape;
use crate::ingest::sink::Sink;

/// `opencode.db`
pub(in crate::ingest) static SHAPE: DatabaseShape = DatabaseShape {
    format: Format::Opencode,
    tables: &["session.directory", "message.data", "message.session_id", "part.data", "part.message_id"],
    read,
};

fn read(connection: &Connection, name: &str, out: &mut Sink) -> rusqlite::Result<()> {
    for mut row in rows(connection, "SELECT * FROM session ORDER BY rowid", [], out)? {
        let id = take_text(&mut row, "id");
        let revert: Value = serde_json::from_str(&take_text(&mut row, "revert")).unwrap_or_default();
        let info = json!({
            "id": &id,
            "parentID": take(&mut row, "parent_id"),
            "title": take(&mut row, "title"),
            "directory": take(&mut row, "directory"),
            "revert": revert,
        });
        let sql = "SELECT * FROM message WHERE session_id = ?1";
        let messages = rows(connection, sql, params![id], out)?;
        let messages = messages.into_iter().filter_map(|row| unpacked(row, out)).collect();
        let sql = "SELECT * FROM part WHERE message_id IN (SELECT id FROM message WHERE session_id = ?1)";
        let mut parts: FxHashMap<String, Vec<Value>> = FxHashMap::default();
        for row in rows(connection, sql, params![id], out)? {
            let Some(message) = text(&row, "message_id").map(str::to_owned) else { continue };
            parts.entry(message).or_default().extend(unpacked(row, out));
        }
        session::assemble(&info, messages, parts, name, out);
    }
    Ok(())
}

/// What a row holds, with the id of the row.
fn unpacked(mut row: Value, out: &mut Sink) -> Option<Value> {
    let created = take(&mut row, "time_created");
    let id = take(&mut row, "id");
    let Ok(Value::Object(mut data)) = serde_json::from_str(&take_text(&mut row, "data")) else {
        out.damage(0, "bad-row", format!("the row {id} holds no JSON object; its content is lost"));
        return None;
    };
    data.insert("id", id);
    data.get_or_insert_with("time", || json!({ "created": created }));
    Some(Value::Object(data))
}
