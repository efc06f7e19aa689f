//! Logs kept in SQLite databases: opened strictly for reading, told by their tables, read by the reader of their format.
//!
//! Nothing is ever written beside a database. Where a file with its newest changes lies there (`-wal`, `-journal`), all of it is
//! copied into a temporary directory and read from there; else it is opened as a file that does not change. A database that
//! is given as bytes is read from memory.

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

use std::path::Path;

use super::Ingested;
#[cfg(feature = "sqlite")]
pub(super) use open::rows;

/// How every database begins.
const MAGIC: &[u8] = b"SQLite format 3";

/// True for the first bytes of a database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads the logs in a database file. `name` is its path or label.
#[cfg(feature = "sqlite")]
pub fn database(path: &Path, name: &str) -> Ingested {
    open::file(path, name)
}

/// Says that databases cannot be read.
#[cfg(not(feature = "sqlite"))]
pub fn database(_: &Path, name: &str) -> Ingested {
    memory(&[], name)
}

/// Reads the logs in the bytes of a database.
#[cfg(feature = "sqlite")]
pub(super) fn memory(bytes: &[u8], name: &str) -> Ingested {
    open::memory(bytes, name)
}

/// Says that databases cannot be read.
#[cfg(not(feature = "sqlite"))]
pub(super) fn memory(bytes: &[u8], _: &str) -> Ingested {
    let mut sink = super::sink::Sink::default();
    let text = "the file is an SQLite database, and this program was built without the feature that reads them; build it with `cargo build --release --features sqlite`";
    sink.note(0, "not-a-log", crate::diagnostic::Severity::Lost, text);
    super::concluded(sink, None, String::new(), 0, super::Bytes::skipped(bytes.len()))
}

#[cfg(feature = "sqlite")]
mod open {
    use std::fs;
    use std::path::{Path, PathBuf};

    use crate::ingest::value::{Map, Value};
    use rusqlite::config::DbConfig;
    use rusqlite::types::ValueRef;
    use rusqlite::{Connection, OpenFlags, Params};

    use crate::diagnostic::Severity;
    use crate::ingest::shapes::{self, DatabaseShape};
    use crate::ingest::sink::Sink;
    use crate::ingest::{Bytes, Ingested, concluded, stem};

    /// Files beside a database that hold changes of it.
    const CHANGES: [&str; 2] = ["-wal", "-journal"];

    /// Where the header says how changes are written: 2 twice for a file beside the database.
    const VERSIONS: [usize; 2] = [18, 19];

    pub(super) fn file(path: &Path, name: &str) -> Ingested {
        let mut sink = Sink::default();
        let size = fs::metadata(path).map_or(0, |found| usize::try_from(found.len()).unwrap_or(usize::MAX));
        let changed = CHANGES
            .iter()
            .any(|end| fs::metadata(beside(path, end)).is_ok_and(|found| found.is_file() && found.len() > 0));
        let uri = path.to_str().filter(|_| !changed).map(immutable);
        // The directory lives until the database was read.
        let mut copied = None;
        let opened = match uri {
            Some(uri) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                    | OpenFlags::SQLITE_OPEN_URI
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(uri, flags).map_err(|error| error.to_string())
            }
            None => copy(path).map_err(|error| error.to_string()).and_then(|(directory, copy)| {
                copied = Some(directory);
                Connection::open(copy).map_err(|error| error.to_string())
            }),
        };
        let read = match opened {
            Ok(connection) => all(&connection, name, size, sink),
            Err(error) => {
                broken(&error, &mut sink);
                concluded(sink, None, String::new(), 0, Bytes::skipped(size))
            }
        };
        drop(copied);
        read
    }

    fn beside(path: &Path, end: &str) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    }

    /// The address of a file that does not change while it is read.
    fn immutable(path: &str) -> String {
        let mut uri = String::from("file:");
        for byte in path.bytes() {
            if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
                uri.push(char::from(byte));
            } else {
                uri.push_str(&format!("%{byte:02X}"));
            }
        }
        uri.push_str("?immutable=1");
        uri
    }

    /// Copies a database with its changes.
    fn copy(path: &Path) -> std::io::Result<(tempfile::TempDir, PathBuf)> {
        let directory = tempfile::tempdir()?;
        let to = directory.path().join("copy.db");
        fs::copy(path, &to)?;
        for end in CHANGES {
            let from = beside(path, end);
            if from.is_file() {
                fs::copy(from, beside(&to, end))?;
            }
        }
        Ok((directory, to))
    }

    pub(super) fn memory(bytes: &[u8], name: &str) -> Ingested {
        let mut sink = Sink::default();
        let size = bytes.len();
        let mut copy = bytes.to_vec();
        for at in VERSIONS {
            // From memory only what is in the file itself can be read.
            if let Some(version) = copy.get_mut(at).filter(|version| **version == 2) {
                *version = 1;
                let text = "the database may have its newest changes in a file beside it (-wal), which cannot be seen from here";
                sink.note(0, "newest-changes", Severity::Note, text);
            }
        }
        let opened = Connection::open_in_memory().and_then(|mut connection| {
            connection.deserialize_read_exact("main", copy.as_slice(), copy.len(), true)?;
            Ok(connection)
        });
        match opened {
            Ok(connection) => all(&connection, name, size, sink),
            Err(error) => {
                broken(&error.to_string(), &mut sink);
                concluded(sink, None, String::new(), 0, Bytes::skipped(size))
            }
        }
    }

    fn broken(error: &str, out: &mut Sink) {
        let text = format!(
            "the SQLite database cannot be read: {error}; try `sqlite3 FILE .recover` on a copy of it"
        );
        out.note(0, "bad-database", Severity::Lost, text);
    }

    /// Reads all logs of an open database.
    fn all(connection: &Connection, name: &str, size: usize, mut sink: Sink) -> Ingested {
        // Definitions in a stranger's file run nothing but what SQLite itself thinks harmless.
        let safe = connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)
            .and_then(|_| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false));
        let columns = match safe.and_then(|_| columns(connection)) {
            Ok(columns) => columns,
            Err(error) => {
                broken(&error.to_string(), &mut sink);
                return concluded(sink, None, String::new(), 0, Bytes::skipped(size));
            }
        };
        let Some(shape) = shapes::DATABASES.iter().find(|shape| fits(shape, &columns)) else {
            let mut tables: Vec<&str> = columns.iter().map(|(table, _)| table.as_str()).collect();
            tables.dedup();
            let tables: String = tables.join(", ").chars().take(120).collect();
            let text = format!("an SQLite database of no known log format (tables: {tables})");
            sink.note(0, "unknown-format", Severity::Lost, text);
            return concluded(sink, None, String::new(), 0, Bytes::skipped(size));
        };
        if let Err(error) = (shape.read)(connection, stem(name), &mut sink) {
            sink.damage(0, "bad-database", format!("not all of the database can be read: {error}"));
        }
        let evidence = format!("the database has {}", shape.tables.join(", "));
        let records = sink.raw.messages;
        concluded(sink, Some(shape.format), evidence, records, Bytes::read(size))
    }

    /// Tables with their columns.
    fn columns(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
        let sql = "SELECT m.name, p.name FROM sqlite_master AS m, pragma_table_info(m.name) AS p WHERE m.type = 'table' ORDER BY m.name";
        let mut statement = connection.prepare(sql)?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.collect()
    }

    fn fits(shape: &DatabaseShape, columns: &[(String, String)]) -> bool {
        shape.tables.iter().all(|wanted| match wanted.split_once('.') {
            Some((table, column)) => columns.iter().any(|(one, two)| one == table && two == column),
            None => columns.iter().any(|(one, _)| one == wanted),
        })
    }

    /// The rows that a query finds, as objects by the names of their columns. Where the file is damaged they end, which is named.
    pub(in crate::ingest) fn rows(
        connection: &Connection,
        sql: &str,
        parameters: impl Params,
        out: &mut Sink,
    ) -> rusqlite::Result<Vec<Value>> {
        let mut statement = connection.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut found = Vec::new();
        let mut query = statement.query(parameters)?;
        loop {
            match query.next() {
                Ok(Some(row)) => {
                    let value =
                        |(at, name): (usize, &String)| Some((name.clone(), value(row.get_ref(at).ok()?)));
                    found.push(Value::Object(names.iter().enumerate().filter_map(value).collect::<Map>()));
                }
                Ok(None) => return Ok(found),
                Err(error) => {
                    let text = format!("the database is damaged ({error}); rows behind the damage are lost");
                    out.damage(0, "bad-database", text);
                    return Ok(found);
                }
            }
        }
    }

    fn value(told: ValueRef<'_>) -> Value {
        match told {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::from(number),
            ValueRef::Real(number) => Value::from(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Value::from(String::from_utf8_lossy(bytes)),
        }
    }
}
