//! The database of newer versions: sessions, and a row for each message with its content as JSON.

use crate::ingest::value::{Value, json};
use rusqlite::{Connection, params};

use crate::ingest::database::rows;
use crate::ingest::formats::Format;
use crate::ingest::json::{take, take_text};
use crate::ingest::shapes::DatabaseShape;
use crate::ingest::sink::Sink;

/// `sessions.db`
pub(in crate::ingest) static SHAPE: DatabaseShape = DatabaseShape {
    format: Format::Goose,
    tables: &["sessions.working_dir", "messages.session_id", "messages.content_json"],
    read,
};

fn read(connection: &Connection, name: &str, out: &mut Sink) -> rusqlite::Result<()> {
    for mut about in rows(connection, "SELECT * FROM sessions ORDER BY rowid", [], out)? {
        let model: Value =
            serde_json::from_str(&take_text(&mut about, "model_config_json")).unwrap_or_default();
        if let Value::Object(about) = &mut about {
            about.insert("model_config", model);
        }
        let sql = "SELECT * FROM messages WHERE session_id = ?1 ORDER BY rowid";
        let found = rows(connection, sql, params![about.get("id").and_then(Value::as_str)], out)?;
        let mut messages = Vec::with_capacity(found.len());
        for (line, mut row) in (1u32..).zip(found) {
            let Ok(content) = serde_json::from_str::<Value>(&take_text(&mut row, "content_json")) else {
                out.damage(line, "bad-row", "a message whose content is no JSON; it is lost");
                continue;
            };
            let metadata: Value =
                serde_json::from_str(&take_text(&mut row, "metadata_json")).unwrap_or_default();
            messages.push(json!({
                "role": take(&mut row, "role"),
                "created": take(&mut row, "created_timestamp"),
                "content": content,
                "metadata": metadata,
            }));
        }
        super::session(&about, messages, name, &crate::ingest::build::place, out);
    }
    Ok(())
}
