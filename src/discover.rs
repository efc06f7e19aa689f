//! Finds input files and reads them: with the result writer, and what opens databases, the only place that touches the disk.
//!
//! Inputs are files, directories (searched to the bottom, hidden entries included: agents keep their logs there), glob
//! patterns the shell left alone, and `-` for standard input. Nothing is skipped silently: what cannot be used is a
//! problem with its cause and what to do. The order is that of the inputs, sorted by path inside each.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use walkdir::WalkDir;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// One file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path as shown to the user.
    pub label: String,
    /// Path to read; `-` is standard input.
    pub path: PathBuf,
    /// Size in bytes when it was found; 0 for standard input.
    pub bytes: u64,
}

/// What the inputs came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovered {
    /// Files to read, each once.
    pub sources: Vec<Source>,
    /// Inputs that could not be used: path, and cause with what to do.
    pub problems: Vec<(String, String)>,
}

/// Resolves the inputs to files.
pub fn discover(inputs: &[PathBuf]) -> Discovered {
    let mut search = Search::default();
    for input in inputs {
        search.input(input);
    }
    search.found
}

/// Reads one source to the end.
#[expect(clippy::disallowed_methods, reason = "this module is the boundary that reads input files")]
pub fn read(source: &Source) -> Result<Vec<u8>, String> {
    let read = if is_stdin(&source.path) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(&source.path)
    };
    read.map_err(|error| explain(&error))
}

/// Opens one source to be read from its beginning, as often as it is called. Standard input can be read once.
#[expect(clippy::disallowed_methods, reason = "this module is the boundary that reads input files")]
pub fn open(source: &Source) -> Result<Box<dyn Read>, String> {
    if is_stdin(&source.path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = fs::File::open(&source.path).map_err(|error| explain(&error))?;
    Ok(Box::new(file))
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// The files found so far.
#[derive(Debug, Default)]
struct Search {
    found: Discovered,
    seen: BTreeSet<PathBuf>,
}

impl Search {
    fn input(&mut self, input: &Path) {
        if is_stdin(input) {
            if self.seen.insert(input.to_owned()) {
                let source = Source { label: "<stdin>".to_owned(), path: input.to_owned(), bytes: 0 };
                self.found.sources.push(source);
            }
            return;
        }
        match fs::metadata(input) {
            Ok(metadata) if metadata.is_dir() => self.directory(input),
            Ok(metadata) => self.file(input, &metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_pattern(input) => self.pattern(input),
            Err(error) => self.problem(input, explain(&error)),
        }
    }

    fn directory(&mut self, root: &Path) {
        let before = self.found.sources.len() + self.found.problems.len();
        let matched = self.walk(root, is_log_name);
        if matched == 0 && before == self.found.sources.len() + self.found.problems.len() {
            self.problem(
                root,
                "no .jsonl or .json file in this directory; name a directory of logs, or the files",
            );
        }
    }

    fn pattern(&mut self, pattern: &Path) {
        let (base, matcher) = match matcher(pattern) {
            Ok(found) => found,
            Err(error) => return self.problem(pattern, format!("not a valid pattern: {error}; quote it")),
        };
        let before = self.found.problems.len();
        let matched = self.walk(&base, |path| matcher.is_match(path.strip_prefix(".").unwrap_or(path)));
        if matched == 0 && before == self.found.problems.len() {
            self.problem(pattern, "no file matches this pattern; check its spelling");
        }
    }

    /// Takes all files under `root` that are wanted; how many there were, known ones included.
    fn walk(&mut self, root: &Path, wanted: impl Fn(&Path) -> bool) -> usize {
        let mut matched = 0;
        for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_dir() || !wanted(entry.path()) => {}
                Ok(entry) => {
                    matched += 1;
                    match entry.metadata() {
                        Ok(metadata) => self.file(entry.path(), &metadata),
                        Err(error) => self.walk_problem(root, &error),
                    }
                }
                Err(error) => self.walk_problem(root, &error),
            }
        }
        matched
    }

    fn walk_problem(&mut self, root: &Path, error: &walkdir::Error) {
        let path = error.path().unwrap_or(root);
        let cause = if error.loop_ancestor().is_some() {
            "a symbolic link that leads back to a directory above it; not followed".to_owned()
        } else {
            error.io_error().map_or_else(|| error.to_string(), explain)
        };
        self.problem(path, cause);
    }

    #[expect(clippy::disallowed_methods, reason = "this module is the boundary that reads input files")]
    fn file(&mut self, path: &Path, metadata: &fs::Metadata) {
        if !metadata.is_file() {
            let cause = "a pipe, socket or device, not a file; pipe it to standard input and give `-`";
            return self.problem(path, cause);
        }
        let identity = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(identity) {
            return;
        }
        match fs::File::open(path) {
            Ok(_) => self.found.sources.push(Source {
                label: path.display().to_string(),
                path: path.to_owned(),
                bytes: metadata.len(),
            }),
            Err(error) => self.problem(path, explain(&error)),
        }
    }

    fn problem(&mut self, path: &Path, cause: impl Into<String>) {
        self.found.problems.push((path.display().to_string(), cause.into()));
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

/// Names taken in directories: `.jsonl`, `.json` and `.traj`, without the label files that lie beside fixtures.
fn is_log_name(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let extension = Path::new(&name).extension().unwrap_or_default();
    ["jsonl", "json", "traj"].iter().any(|known| extension == *known) && !name.ends_with(".labels.json")
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '[', '{'])
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the files, resolves the inputs (relative to the directory) and compares labels and problems.
    #[expect(clippy::disallowed_methods, reason = "a test makes its inputs")]
    fn check(files: &[&str], inputs: &[&str], found: &[&str], problems: &[(&str, &str)]) {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "{}").unwrap();
        }
        let inputs: Vec<PathBuf> = inputs.iter().map(|input| root.path().join(input)).collect();
        let discovered = discover(&inputs);
        let short = |label: &str| {
            let prefix = format!("{}/", root.path().display());
            label.strip_prefix(&prefix).unwrap_or(label).to_owned()
        };
        let labels: Vec<String> = discovered.sources.iter().map(|source| short(&source.label)).collect();
        assert_eq!(labels, found);
        let shown: Vec<(String, &str)> =
            discovered.problems.iter().map(|(path, cause)| (short(path), cause.as_str())).collect();
        let shown: Vec<(&str, &str)> = shown.iter().map(|(path, cause)| (path.as_str(), *cause)).collect();
        assert_eq!(shown, problems);
        for source in &discovered.sources {
            assert_eq!(read(source), Ok(b"{}".to_vec()));
            assert_eq!(source.bytes, 2);
        }
    }

    #[test]
    fn files_and_directories() {
        let files = [
            "b.jsonl",
            "a.json",
            "a.labels.json",
            "notes.txt",
            ".hidden/c.JSONL",
            "sub/deep/d.jsonl",
            "e.jsonl.bak",
        ];
        check(&files, &["."], &["./.hidden/c.JSONL", "./a.json", "./b.jsonl", "./sub/deep/d.jsonl"], &[]);
        // Named files are taken whatever they are called, each once.
        check(
            &files,
            &["notes.txt", "sub", "sub/deep/d.jsonl", "./sub/../notes.txt"],
            &["notes.txt", "sub/deep/d.jsonl"],
            &[],
        );
    }

    #[test]
    fn patterns() {
        let files = ["a/x1.jsonl", "a/x2.jsonl", "a/b/x3.jsonl", "a/y.txt"];
        check(&files, &["a/x*.jsonl"], &["a/x1.jsonl", "a/x2.jsonl"], &[]);
        check(&files, &["a/**/*.jsonl"], &["a/b/x3.jsonl", "a/x1.jsonl", "a/x2.jsonl"], &[]);
        check(&files, &["a/{y,z}.txt"], &["a/y.txt"], &[]);
        check(&files, &["a/q*"], &[], &[("a/q*", "no file matches this pattern; check its spelling")]);
        // A file whose name looks like a pattern is that file.
        check(&["[x].jsonl", "x.jsonl"], &["[x].jsonl"], &["[x].jsonl"], &[]);
    }

    #[test]
    fn what_cannot_be_used_is_a_problem() {
        check(
            &["d/readme.md", "ok.jsonl"],
            &["gone.jsonl", "d", "ok.jsonl"],
            &["ok.jsonl"],
            &[
                ("gone.jsonl", "no such file or directory; check the path"),
                ("d", "no .jsonl or .json file in this directory; name a directory of logs, or the files"),
            ],
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once_and_pipes_refused() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::os::unix::fs::symlink(root.path(), at("loop")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(at("s.jsonl")).unwrap();
        let found = discover(&[root.path().to_owned()]);
        drop(socket);
        assert_eq!(found.sources, []);
        let causes: Vec<&str> = found.problems.iter().map(|(_, cause)| cause.as_str()).collect();
        assert_eq!(
            causes,
            [
                "a symbolic link that leads back to a directory above it; not followed",
                "a pipe, socket or device, not a file; pipe it to standard input and give `-`",
            ]
        );
    }

    #[test]
    fn standard_input_is_a_source_once() {
        let found = discover(&[PathBuf::from("-"), PathBuf::from("-")]);
        assert_eq!(found.sources.len(), 1);
        assert_eq!(found.sources[0].label, "<stdin>");
    }
}
