//! Finds input files and reads them: with the result writer, and what opens databases, the only place that touches the disk.
//!
//! Inputs are files, directories (searched to the bottom), glob patterns the shell left alone, `-` for standard input, and lists
//! of these in files. In directories nothing is left out for where it lies: hidden ones are searched, since agents keep their logs
//! there, and `.git` and `node_modules` like any other; which names are taken is told in [`names`]. Nothing is skipped silently:
//! what cannot be used is a problem with its cause and what to do. A file that is reached twice, through links or under two names,
//! is read once. The order is that of the inputs, sorted by path inside each.
//!
//! What is packed ([`packed`]) is read like what is in it, and each log in a zip archive ([`zipped`]) like a file in a directory of
//! the archive's name. Files in a directory that form one log together are one source, whose label
//! is the path of the file that stands for it. [`log`] reads a source and finds its sessions, whichever it is; [`homes`] knows
//! where the agents keep their logs.

pub mod homes;
mod log;
mod names;
mod packed;
mod zipped;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, IsTerminal, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use rustc_hash::FxHashSet;
use walkdir::WalkDir;

use crate::ingest::{Tree, group, is_utf16, unmarked};
pub use log::{Log, Unread, is_database, read_log};
pub use packed::unpacked_name;
use zipped::Member;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// One log to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path as shown to the user.
    pub label: String,
    /// Path to read; `-` is standard input. Of several files the one that stands for them.
    pub path: PathBuf,
    /// Size in bytes when it was found, packed; 0 for standard input.
    pub bytes: u64,
    /// All its files, in the order in which they are read: one, save where `tree` is given.
    pub files: Vec<Place>,
    /// How the log lies in its files, where it lies in several.
    pub tree: Option<Tree>,
}

impl Source {
    /// Bytes that it comes to unpacked, as far as its archive tells.
    pub fn told_bytes(&self) -> Option<u64> {
        self.files.iter().map(|file| Some(file.member.as_ref()?.bytes)).sum()
    }
}

/// Where a log, or one of its files, stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or the archive that holds it.
    pub path: PathBuf,
    /// The member of an archive that it is.
    member: Option<Arc<Member>>,
}

impl Place {
    /// The path as shown to the user: that of a member goes on behind its archive's.
    fn label(&self) -> String {
        let path = self.path.display();
        self.member.as_ref().map_or_else(|| path.to_string(), |member| format!("{path}/{}", member.name))
    }

    fn open(&self) -> Result<Box<dyn Read>, String> {
        match &self.member {
            Some(member) => packed::open_member(file(&self.path).map_err(|error| explain(&error))?, member),
            None => open_path(&self.path),
        }
    }
}

/// What the inputs came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// Logs to read, each once.
    pub sources: Vec<Source>,
    /// Inputs that could not be used: path, and cause with what to do.
    pub problems: Vec<(String, String)>,
    /// What else whoever named the inputs should know: logs that lie in a directory in a form that is not read.
    pub notes: Vec<String>,
}

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// The bytes, unpacked.
    pub bytes: Vec<u8>,
    /// Why they are not all, where an archive is damaged.
    pub damage: Option<String>,
}

/// Resolves the inputs to files.
pub fn discover(inputs: &[PathBuf]) -> Discovered {
    discover_listed(inputs, None)
}

/// The same, with more inputs in a list: one on a line, or each followed by a NUL byte. `-` reads the list from standard input.
pub fn discover_listed(inputs: &[PathBuf], list: Option<&Path>) -> Discovered {
    let mut search = Search::default();
    for input in inputs {
        search.input(input);
    }
    if let Some(list) = list {
        search.list(list);
    }
    search.found
}

/// Reads one source to the end. Of a source of several files it is the one that stands for them.
pub fn read(source: &Source) -> Result<Contents, String> {
    read_telling(source, |_| {})
}

/// The same; `seen` is told the bytes piece by piece, each as soon as it was read, while it is at hand.
fn read_telling(source: &Source, seen: impl FnMut(&[u8])) -> Result<Contents, String> {
    read_to_end(open(source)?, source.bytes, seen)
}

/// Every file of a source: its path with `/` between directories, and what was read of it.
pub fn read_all(source: &Source) -> Result<Vec<(String, Contents)>, String> {
    let mut all = Vec::with_capacity(source.files.len());
    for file in &source.files {
        let contents = file.open().and_then(|reader| read_to_end(reader, 0, |_| {}));
        let contents = contents.map_err(|cause| format!("{}: {cause}", file.label()))?;
        all.push((unpacked_name(&slashed(&file.label())).to_owned(), contents));
    }
    Ok(all)
}

/// Opens a source for reading from its beginning; archives are unpacked on the way. Damage to an archive is an error of kind
/// `InvalidData` behind the last bytes that can be read.
pub fn open(source: &Source) -> Result<Box<dyn Read>, String> {
    source.files.first().map_or_else(|| open_path(&source.path), Place::open)
}

#[expect(clippy::disallowed_methods, reason = "this module is the boundary that reads input files")]
fn file(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

fn open_path(path: &Path) -> Result<Box<dyn Read>, String> {
    if is_stdin(path) {
        if io::stdin().is_terminal() {
            return Err("standard input is the terminal; pipe a log into it".to_owned());
        }
        return packed::unpack(Box::new(io::stdin()), "");
    }
    let mut file = file(path).map_err(|error| explain(&error))?;
    let head = packed::peek(&mut file).map_err(|error| explain(&error))?;
    let name = path.to_string_lossy();
    file.rewind().map_err(|error| explain(&error))?;
    packed::open(&head, Box::new(file), &name)
}

fn read_to_end(
    mut reader: Box<dyn Read>,
    expected: u64,
    mut seen: impl FnMut(&[u8]),
) -> Result<Contents, String> {
    /// Bytes of a piece: fewer than a core has of its own memory.
    const PIECE: u64 = 256 << 10;
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    loop {
        let before = bytes.len();
        let read = reader.by_ref().take(PIECE).read_to_end(&mut bytes);
        seen(bytes.get(before..).unwrap_or_default());
        match read {
            Ok(0) => return Ok(Contents { bytes, damage: None }),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidData && !bytes.is_empty() => {
                return Ok(Contents { bytes, damage: Some(error.to_string()) });
            }
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::FileTooLarge) =>
            {
                return Err(error.to_string());
            }
            Err(error) => return Err(explain(&error)),
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// The path with `/` between directories.
fn slashed(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}

/// What makes two paths one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and number of a file.
    #[cfg(unix)]
    Numbers(u64, u64),
    /// The path without links, where files have no numbers, and that of standard input.
    Path(PathBuf),
}

#[cfg(unix)]
fn identity(_: &Path, metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Identity::Numbers(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &fs::Metadata) -> Identity {
    Identity::Path(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
}

/// Whether somebody named a file, or it only lies in a directory that was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    Named,
    Lying,
}

/// A file that can be read.
struct Found {
    place: Place,
    bytes: u64,
}

impl Found {
    fn source(self) -> Source {
        Source {
            label: self.place.label(),
            path: self.place.path.clone(),
            files: vec![self.place],
            bytes: self.bytes,
            tree: None,
        }
    }
}

/// The files found so far.
#[derive(Debug, Default)]
struct Search {
    found: Discovered,
    seen: FxHashSet<Identity>,
}

impl Search {
    fn input(&mut self, input: &Path) {
        if is_stdin(input) {
            if self.seen.insert(Identity::Path(input.to_owned())) {
                let place = Place { path: input.to_owned(), member: None };
                let source = Found { place, bytes: 0 }.source();
                self.found.sources.push(Source { label: "<stdin>".to_owned(), ..source });
            }
            return;
        }
        match fs::metadata(input) {
            Ok(metadata) if metadata.is_dir() => self.directory(input),
            Ok(metadata) => {
                let files = self.file(input, &metadata, Sought::Named);
                self.take(files.unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_pattern(input) => self.pattern(input),
            Err(error) => self.problem(input, missing(input, &error)),
        }
    }

    /// The inputs that a list names.
    fn list(&mut self, list: &Path) {
        let named = Path::new("--files-from").join(list);
        let taken = is_stdin(list) && self.seen.contains(&Identity::Path(list.to_owned()));
        if taken {
            return self.problem(&named, "standard input cannot be a log and a list; put one into a file");
        }
        let read = open_path(list).and_then(|reader| read_to_end(reader, 0, |_| {}));
        let bytes = match read {
            Ok(contents) => contents.bytes,
            Err(cause) => return self.problem(list, cause),
        };
        if is_utf16(&bytes) {
            let cause = "the list is UTF-16; save it as UTF-8 (`iconv -f UTF-16 -t UTF-8`, in PowerShell `Out-File -Encoding utf8`)";
            return self.problem(list, cause);
        }
        let bytes = unmarked(&bytes);
        let end = if bytes.contains(&0) { 0 } else { b'\n' };
        let mut empty = true;
        for line in bytes.split(|byte| *byte == end) {
            let line = if end == 0 { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
            if line.is_empty() {
                continue;
            }
            empty = false;
            let path = path_of(line);
            if is_stdin(&path) && is_stdin(list) {
                self.problem(&named, "standard input cannot be a log and a list; put one into a file");
            } else {
                self.input(&path);
            }
        }
        if empty {
            self.problem(list, "no path in this list; write one on each line");
        }
    }

    fn directory(&mut self, root: &Path) {
        let before = self.found.problems.len();
        let (mut left, mut first) = (0_u64, None);
        let wanted = |path: &Path| {
            let taken = names::is_log(path);
            if !taken && names::is_other_form(path) && path.is_file() {
                left += 1;
                first.get_or_insert_with(|| path.to_owned());
            }
            taken
        };
        let (files, matched) = self.walk(root, Sought::Lying, wanted, |_, _| true);
        if let Some(first) = first {
            self.found.notes.push(left_out(root, left, &first));
        }
        if matched == 0 && before == self.found.problems.len() {
            let cause = format!(
                "no log in this directory (looked for {}); name a directory of logs, or the files",
                names::TAKEN
            );
            return self.problem(root, cause);
        }
        self.gather(files);
    }

    /// Takes files that are named: each alone, save those of an archive.
    fn take(&mut self, files: Vec<Found>) {
        let mut archive: Vec<Found> = Vec::new();
        for file in files {
            if archive.last().is_some_and(|last| last.place.path != file.place.path) {
                self.gather(std::mem::take(&mut archive));
            }
            match file.place.member {
                Some(_) => archive.push(file),
                None => self.found.sources.push(file.source()),
            }
        }
        self.gather(archive);
    }

    /// Takes files of a directory: those of one log as one source, in the place of the first of them.
    fn gather(&mut self, files: Vec<Found>) {
        let paths: Vec<String> =
            files.iter().map(|file| unpacked_name(&slashed(&file.place.label())).to_owned()).collect();
        let groups = group(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        let mut files: Vec<Option<Found>> = files.into_iter().map(Some).collect();
        let mut sources: Vec<(usize, Source)> = Vec::with_capacity(files.len());
        for (tree, members) in groups {
            let first = members.iter().min().copied().unwrap_or_default();
            let mut members = members.into_iter().filter_map(|at| files.get_mut(at)?.take());
            let Some(mut source) = members.next().map(Found::source) else { continue };
            for member in members {
                source.bytes += member.bytes;
                source.files.push(member.place);
            }
            source.tree = Some(tree);
            sources.push((first, source));
        }
        let alone = files.into_iter().enumerate();
        sources.extend(alone.filter_map(|(at, file)| Some((at, file?.source()))));
        sources.sort_by_key(|(at, _)| *at);
        self.found.sources.extend(sources.into_iter().map(|(_, source)| source));
    }

    fn pattern(&mut self, pattern: &Path) {
        let (base, matcher) = match matcher(pattern) {
            Ok(found) => found,
            Err(error) => return self.problem(pattern, format!("not a valid pattern: {error}; quote it")),
        };
        let wanted = |path: &Path| matcher.is_match(path.strip_prefix(".").unwrap_or(path));
        // What else lies there is nobody's business, save a directory in which files could match.
        let way = way(pattern);
        let concerns =
            |path: &Path, error: &walkdir::Error| wanted(path) || is_on_way(way.as_deref(), path, error);
        let (files, matched) = self.walk(&base, Sought::Named, wanted, concerns);
        if matched == 0 {
            self.problem(pattern, "no file matches this pattern; check its spelling");
        }
        self.take(files);
    }

    /// All files under `root` that are wanted and new; how many there were, known ones and those with problems included. Of
    /// the problems on the way those are told that concern the search.
    fn walk(
        &mut self,
        root: &Path,
        sought: Sought,
        mut wanted: impl FnMut(&Path) -> bool,
        concerns: impl Fn(&Path, &walkdir::Error) -> bool,
    ) -> (Vec<Found>, usize) {
        let (mut files, mut matched) = (Vec::new(), 0);
        for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if !wanted(entry.path()) => {}
                Ok(entry) => {
                    let found = match entry.metadata() {
                        Ok(metadata) => self.file(entry.path(), &metadata, sought),
                        Err(error) => {
                            self.walk_problem(root, &error);
                            Some(Vec::new())
                        }
                    };
                    matched += usize::from(found.is_some());
                    files.extend(found.unwrap_or_default());
                }
                Err(error) => {
                    let path = error.path().unwrap_or(root);
                    if concerns(path, &error) {
                        matched += usize::from(wanted(path));
                        self.walk_problem(root, &error);
                    }
                }
            }
        }
        (files, matched)
    }

    fn walk_problem(&mut self, root: &Path, error: &walkdir::Error) {
        let path = error.path().unwrap_or(root);
        self.problem(path, walk_cause(path, error));
    }

    /// A file, or the logs of an archive, if it can be read and was not found before; `None` for an archive without logs that only
    /// lies there.
    fn file(&mut self, path: &Path, metadata: &fs::Metadata, sought: Sought) -> Option<Vec<Found>> {
        if !metadata.is_file() {
            let cause = "a pipe, socket or device, not a file; pipe it to standard input and give `-`";
            self.problem(path, cause);
            return Some(Vec::new());
        }
        if !self.seen.insert(identity(path, metadata)) {
            return Some(Vec::new());
        }
        let head = match file(path) {
            // What cannot be read is told when it is read.
            Ok(mut file) => packed::peek(&mut file).unwrap_or_default(),
            Err(error) => {
                self.problem(path, explain(&error));
                return Some(Vec::new());
            }
        };
        if zipped::is_zip(&head) {
            return self.archive(path, sought);
        }
        Some(vec![Found { place: Place { path: path.to_owned(), member: None }, bytes: metadata.len() }])
    }

    /// The logs of an archive.
    fn archive(&mut self, path: &Path, sought: Sought) -> Option<Vec<Found>> {
        let listed = match zipped::list(path) {
            Ok(listed) => listed,
            Err(cause) => {
                self.problem(path, cause);
                return Some(Vec::new());
            }
        };
        if listed.logs.is_empty() && listed.problems.is_empty() {
            if sought == Sought::Lying && names::is_any_archive(path) {
                return None;
            }
            let cause = format!("no log in this zip archive (looked for {})", names::TAKEN);
            self.problem(path, cause);
        }
        for (name, cause) in listed.problems {
            self.found.problems.push((format!("{}/{name}", path.display()), cause));
        }
        let found = |member: Member| Found {
            bytes: member.packed,
            place: Place { path: path.to_owned(), member: Some(Arc::new(member)) },
        };
        Some(listed.logs.into_iter().map(found).collect())
    }

    fn problem(&mut self, path: &Path, cause: impl Into<String>) {
        self.found.problems.push((path.display().to_string(), cause.into()));
    }
}

/// The path that these bytes of a list are.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The path that these bytes of a list are.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// What is said of logs in a directory that are not read there.
fn left_out(root: &Path, count: u64, first: &Path) -> String {
    let (root, first) = (root.display(), first.display());
    if count == 1 {
        return format!(
            "{root}: a packed or renamed log is left out: {first}; unpack it, or give it the name of a log"
        );
    }
    format!(
        "{root}: {count} packed or renamed logs are left out, {first} the first; unpack them, or give them names of logs"
    )
}

/// Why a search did not go on at a path.
fn walk_cause(path: &Path, error: &walkdir::Error) -> String {
    if error.loop_ancestor().is_some() {
        return "a symbolic link that leads back to a directory above it; not followed".to_owned();
    }
    error.io_error().map_or_else(|| error.to_string(), |error| missing(path, error))
}

/// Why a path leads nowhere: of a link that is there, its target is not.
fn missing(path: &Path, error: &io::Error) -> String {
    match fs::read_link(path) {
        Ok(target) if error.kind() == io::ErrorKind::NotFound => {
            format!("a link to {}, which is not there; restore it, or remove the link", target.display())
        }
        Ok(_) if !matches!(error.kind(), io::ErrorKind::PermissionDenied) => {
            format!("a link that leads to no file ({error}); remove the link, or name the file")
        }
        _ => explain(error),
    }
}

/// The cause, and what to do about it.
fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory; check the path".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied; check who may read it".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory; name its files".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[', '{'])
}

/// What the directories match that files of a pattern lie in, each part of it a step; `None` where it has no such parts.
fn way(pattern: &Path) -> Option<Vec<GlobMatcher>> {
    let text = pattern.strip_prefix(".").unwrap_or(pattern).to_string_lossy();
    let ends = text.match_indices(std::path::is_separator).map(|(end, _)| end).filter(|end| *end > 0);
    let steps = ends.map(|end| GlobBuilder::new(text.get(..end)?).literal_separator(true).build().ok());
    steps.map(|step| Some(step?.compile_matcher())).collect()
}

/// True for a directory that could not be looked into, where files of the pattern may lie in it.
fn is_on_way(way: Option<&[GlobMatcher]>, path: &Path, error: &walkdir::Error) -> bool {
    let denied = error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    if error.loop_ancestor().is_some() || !denied && !path.is_dir() {
        return false;
    }
    let path = path.strip_prefix(".").unwrap_or(path);
    let here = path.as_os_str().is_empty();
    here || way.is_none_or(|steps| steps.iter().any(|step| step.is_match(path)))
}

/// The directory to search and what to match in it. `*` does not cross directories, `**` does.
fn matcher(pattern: &Path) -> Result<(PathBuf, GlobMatcher), globset::Error> {
    let plain = |component: &Component<'_>| !is_pattern(Path::new(component.as_os_str()));
    let base: PathBuf = pattern.components().take_while(plain).collect();
    let text = pattern.strip_prefix(".").unwrap_or(pattern).to_string_lossy();
    let matcher = GlobBuilder::new(&text).literal_separator(true).build()?.compile_matcher();
    let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    Ok((base, matcher))
}
