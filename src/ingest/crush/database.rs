//! The database itself: the rows that dumps have too.

use rusqlite::Connection;

use crate::ingest::database::rows;
use crate::ingest::formats::Format;
use crate::ingest::shapes::DatabaseShape;
use crate::ingest::sink::Sink;

/// `crush.db`
pub(in crate::ingest) static SHAPE: DatabaseShape = DatabaseShape {
    format: Format::Crush,
    tables: &["sessions.parent_session_id", "messages.session_id", "messages.parts"],
    read,
};

fn read(connection: &Connection, name: &str, out: &mut Sink) -> rusqlite::Result<()> {
    let sessions = rows(connection, "SELECT * FROM sessions ORDER BY rowid", [], out)?;
    let messages = rows(connection, "SELECT * FROM messages ORDER BY rowid", [], out)?;
    super::rows(&sessions, (1u32..).zip(messages).collect(), name, out);
    Ok(())
}
