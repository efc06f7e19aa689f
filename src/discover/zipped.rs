//! Zip archives: which of their members are logs, and where in the archive those stand.
//!
//! Members are taken by name like the files of a directory ([`super::names`]). Archives of a make that is known ([`KNOWN`]) hold
//! files beside their logs that only tell about them; those are left out. What is a log but cannot be read is a problem.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use rustc_hash::FxHashSet;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::names::{self, Taken};
use super::packed;

/// How a member is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// As it is.
    Stored,
    Deflate,
    Zstd,
}

/// A log in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its path in the archive, with `/` between directories.
    pub(super) name: String,
    /// Where its packed bytes begin.
    pub(super) start: u64,
    /// How many they are.
    pub(super) packed: u64,
    /// Its bytes, unpacked, as the archive tells.
    pub(super) bytes: u64,
    /// Its checksum.
    pub(super) checksum: u32,
    pub(super) method: Method,
}

/// What an archive holds.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Its logs, by name.
    pub(super) logs: Vec<Member>,
    /// Logs that cannot be read: name, and cause with what to do.
    pub(super) problems: Vec<(String, String)>,
}

/// Layouts: files that lie beside each other, and how the paths of the logs go on from there.
const KNOWN: [(&[&str], &str); 5] = [
    // Evaluations of Inspect, finished or not.
    (&["_journal/start.json"], "samples/"),
    (&["header.json", "summaries.json"], "samples/"),
    // Exports of accounts: ChatGPT, in one file or in several, and claude.ai.
    (&["conversations.json", "user.json"], "conversations"),
    (&["conversations-000.json", "user.json"], "conversations"),
    (&["conversations.json", "users.json"], "conversations"),
];

/// What macOS puts beside each file.
const RESOURCES: &str = "__MACOSX/";

/// True for the first bytes of an archive.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// The logs of an archive.
pub(super) fn list(path: &Path) -> Result<Listed, String> {
    let file = super::file(path).map_err(|error| super::explain(&error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| broken(&error))?;
    let mut all = Vec::with_capacity(archive.len());
    for at in 0..archive.len() {
        let entry = archive.by_index_data(at).map_err(|error| broken(&error))?;
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
        };
        if entry.is_file() && !name.starts_with(RESOURCES) {
            all.push((name, at));
        }
    }
    all.sort_unstable();
    let names: FxHashSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let mut listed = Listed::default();
    for (name, at) in all.iter().filter(|(name, _)| !is_beside(name, &names)) {
        let taken = names::taken(name);
        if taken == Taken::Never {
            continue;
        }
        match (member(&mut archive, name, *at), taken) {
            (Ok(log), Taken::Always) => listed.logs.push(log),
            (Ok(log), Taken::Where(words)) => {
                let inside = super::file(path).ok().and_then(|file| packed::open_member(file, &log).ok());
                let looks_like = inside.is_some_and(|inside| names::looks_like(words, inside));
                listed.logs.extend(looks_like.then_some(log));
            }
            (Err(cause), Taken::Always) => listed.problems.push((name.clone(), cause)),
            (Err(_), _) | (_, Taken::Never) => {}
        }
    }
    Ok(listed)
}

/// True for what tells only about the logs beside it.
fn is_beside(name: &str, names: &FxHashSet<&str>) -> bool {
    let directories = name.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(directories).any(|from| {
        let Some((directory, rest)) = name.split_at_checked(from) else { return false };
        let here = |file: &&str| names.contains(format!("{directory}{file}").as_str());
        let mut layouts = KNOWN.iter().filter(|(files, _)| files.iter().all(here)).peekable();
        layouts.peek().is_some() && !layouts.any(|(_, logs)| rest.starts_with(logs))
    })
}

/// Where a member is and how it is packed; else why it cannot be read.
fn member(archive: &mut ZipArchive<BufReader<File>>, name: &str, at: usize) -> Result<Member, String> {
    let entry = archive.by_index_raw(at).map_err(|error| broken(&error))?;
    if entry.encrypted() {
        return Err("encrypted; unpack the archive with its password first".to_owned());
    }
    let method = match entry.compression() {
        CompressionMethod::STORE => Method::Stored,
        CompressionMethod::DEFLATE => Method::Deflate,
        CompressionMethod::ZSTD => Method::Zstd,
        other => {
            return Err(format!("packed in a way that is not read ({other}); unpack the archive first"));
        }
    };
    let start = entry.data_start().ok_or("not found in the zip archive; fetch that again")?;
    Ok(Member {
        name: name.to_owned(),
        start,
        packed: entry.compressed_size(),
        bytes: entry.size(),
        checksum: entry.crc32(),
        method,
    })
}

fn broken(error: &ZipError) -> String {
    format!("a zip archive that is damaged or cut off ({error}); fetch it again, or unpack what can be")
}
