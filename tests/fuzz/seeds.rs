//! Small logs to begin with, by family: those in `seeds/`, and pieces of the repository's fixtures.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::check::Input;
use crate::mutate::Stock;

/// Logs that are read by related readers.
#[derive(Debug)]
pub(crate) struct Family {
    /// Name of the directory with its seeds.
    pub(crate) name: &'static str,
    /// Directories of fixtures that belong to it.
    pub(crate) fixtures: &'static [&'static str],
}

/// Every family. The last one is all of them.
pub(crate) const FAMILIES: [Family; 13] = [
    Family { name: "claude-code", fixtures: &["claude-code"] },
    Family { name: "codex", fixtures: &["codex"] },
    Family { name: "pi", fixtures: &["pi"] },
    Family { name: "chat", fixtures: &["openai-chat", "anthropic-messages"] },
    Family { name: "gemini", fixtures: &[] },
    Family { name: "stores", fixtures: &[] },
    Family { name: "events", fixtures: &[] },
    Family { name: "trajectories", fixtures: &[] },
    Family { name: "exports", fixtures: &[] },
    Family { name: "texts", fixtures: &[] },
    Family { name: "databases", fixtures: &[] },
    Family { name: "canonical", fixtures: &[] },
    Family { name: "whole", fixtures: &[] },
];

/// Bytes of a piece of a fixture.
const PIECE: usize = 12_000;

/// The seeds of every family, in order of [`FAMILIES`], and what changes are made with.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// By family.
    pub(crate) of: Vec<Vec<Input>>,
    /// Values and lines of all of them.
    pub(crate) stock: Stock,
}

/// All seeds, read once.
pub(crate) fn seeds() -> &'static Seeds {
    static SEEDS: OnceLock<Seeds> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let mut seeds = Seeds::default();
        for family in &FAMILIES {
            let mut inputs: Vec<Input> = files(&root().join("tests/fuzz/seeds").join(family.name))
                .into_iter()
                .map(|(path, bytes)| {
                    if path.extension().is_some_and(|end| end == "tree") {
                        tree(&bytes)
                    } else {
                        Input::File(bytes)
                    }
                })
                .collect();
            if family.name == "databases" {
                inputs = inputs.into_iter().filter_map(built).collect();
            }
            for input in &inputs {
                match input {
                    Input::File(bytes) => seeds.stock.add(bytes),
                    Input::Tree(files) => files.iter().for_each(|(_, bytes)| seeds.stock.add(bytes)),
                }
            }
            for directory in family.fixtures {
                for (path, bytes) in files(&root().join("fixtures").join(directory)) {
                    if path.extension().is_none_or(|end| end != "toml") {
                        inputs.extend(pieces(&bytes).into_iter().map(Input::File));
                    }
                }
            }
            if family.name == "whole" {
                inputs = seeds.of.iter().flatten().cloned().collect();
            }
            assert!(!inputs.is_empty(), "no seeds of {}", family.name);
            seeds.of.push(inputs);
        }
        seeds.stock.settle();
        seeds
    })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a directory, by name.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<(PathBuf, Vec<u8>)> =
        entries.filter_map(|entry| Some((entry.path(), fs::read(entry.path()).ok()?))).collect();
    files.sort();
    files
}

/// A file that holds several: a line `=== path` in front of each.
fn tree(bytes: &[u8]) -> Input {
    let text = String::from_utf8_lossy(bytes);
    let files = text.split("=== ").skip(1).filter_map(|file| file.split_once('\n'));
    Input::Tree(files.map(|(path, bytes)| (path.to_owned(), bytes.trim_end().as_bytes().to_vec())).collect())
}

/// Pieces of a large log, each behind its first line.
fn pieces(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> =
        bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.len() < PIECE).collect();
    let mut pieces = Vec::new();
    let mut piece: Vec<u8> = Vec::new();
    let first = lines.first().copied().unwrap_or_default();
    for line in &lines {
        if piece.len() + line.len() > PIECE {
            pieces.push(std::mem::replace(&mut piece, first.to_vec()));
        }
        piece.extend_from_slice(line);
    }
    pieces.push(piece);
    pieces
}

/// The bytes of the database that SQL makes.
#[cfg(feature = "sqlite")]
fn built(sql: Input) -> Option<Input> {
    let Input::File(sql) = sql else { return None };
    let mut connection = rusqlite::Connection::open_in_memory().ok()?;
    // Small pages keep the file small.
    connection.execute_batch("PRAGMA page_size = 512").ok()?;
    connection.execute_batch(&String::from_utf8_lossy(&sql)).ok()?;
    Some(Input::File(connection.serialize("main").ok()?.to_vec()))
}

/// Without the reader of databases, the text itself.
#[cfg(not(feature = "sqlite"))]
fn built(sql: Input) -> Option<Input> {
    Some(sql)
}
