//! What a single tool call does to files: the vocabulary that the answer key and the compaction side share.
//!
//! A call is judged by its name and arguments alone; whether it worked is for its result to say. Rules that hold for
//! every input:
//!
//! * a path that is not certain is not reported: globs, unknown variables, command output, relative paths after a
//!   `cd` to somewhere unknown;
//! * devices, file descriptors and URLs are no files;
//! * nothing here fails or panics, and the work is proportional to the arguments.
//!
//! The parts: `tools` knows the tools' names, `arguments` the shapes of arguments, `todo` the todo tools,
//! `patch` patches, `shell` the shell grammar and `shell::programs` what programs do, `powershell` the other
//! shell, `inline` the scripts that shells hand to interpreters.

use crate::paths;
use arcstr::ArcStr;
use serde::Deserialize;

mod arguments;
mod inline;
mod patch;
mod powershell;
mod shell;
#[cfg(test)]
mod tests;
mod todo;
mod tools;

pub use arguments::{decoded, has_field_twice};

/// What kind of tool it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolKind {
    /// Reads one or more files.
    Read,
    /// Writes, edits, patches, deletes or moves files.
    Write,
    /// Searches or lists; its `path` argument is a root, not a file that was read.
    Search,
    /// Runs a shell command.
    Shell,
    /// Keeps the agent's own todo list or plan.
    Todo,
    /// Anything else, unknown tools included.
    Other,
}

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Content was read.
    Read,
    /// Whole content written by a tool that creates or overwrites (which of both the call alone does not tell).
    Write,
    /// A file that did not exist before was made (`*** Add File`, `touch`).
    Create,
    /// Existing content changed (edit, patch, append, `sed -i`).
    Edit,
    /// Removed.
    Delete,
    /// Moved; the new path as given.
    Rename {
        /// New path, resolved like [`FileOp::path`].
        to: String,
    },
}

/// How the operation is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Confidence {
    /// A file tool or patch named the path.
    Tool,
    /// Worked out from a shell command.
    Shell,
}

/// One operation on one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileOp {
    /// What happened.
    pub kind: OpKind,
    /// Path as resolved by [`crate::paths::resolve`] with the working directory of the record and any `cd` or
    /// `workdir` before it.
    pub path: String,
    /// How it is known.
    pub confidence: Confidence,
    /// Position of its simple command in the shell script, from 0; 0 for tools.
    pub step: u16,
    /// First simple command of the `&&` chain that `step` is in: when one of them fails, the later ones do not run.
    pub chain: u16,
    /// What else decides whether it happened.
    pub marks: Marks,
}

/// Circumstances of an operation that matter when its call failed or the file was never seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub struct Marks {
    /// The shell itself does it before the program runs (a redirection), whatever becomes of the program.
    pub redirected: bool,
    /// Adds to a file, or makes it where there is none (`>>`, `tee -a`).
    pub appends: bool,
    /// Says nothing when the file is not there (`rm -f`).
    pub forced: bool,
    /// Not the last part of a pipe: its failure stops nothing.
    pub piped: bool,
}

/// State of a todo item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TodoState {
    /// Not begun.
    Pending,
    /// In progress.
    Active,
    /// Finished.
    Done,
    /// Taken off the list.
    Cancelled,
}

/// One item of a todo tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoItem {
    /// Text of the item; empty when only the id is given (an update).
    pub text: String,
    /// Id within the list, where the tool has one.
    pub id: Option<String>,
    /// Its state after the call.
    pub state: TodoState,
}

/// Everything one call does or says, as far as its arguments tell; whether it worked is for the result to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEffect {
    /// Kind of tool.
    pub kind: ToolKind,
    /// File operations, in order.
    pub ops: Vec<FileOp>,
    /// The shell script, when it runs one (`bash -lc "x"` gives `x`).
    pub command: Option<String>,
    /// Simple commands in the script; ops with `step + 1 == steps` belong to the last one.
    pub steps: u16,
    /// Todo items after the call, for todo tools that give the whole list or updates.
    pub todos: Vec<TodoItem>,
    /// True when `todos` replaces the whole list.
    pub todos_replace: bool,
    /// Directory that the call starts in, where the log tells.
    pub directory: Option<ArcStr>,
}

impl CallEffect {
    fn of_kind(kind: ToolKind) -> Self {
        Self {
            kind,
            ops: Vec::new(),
            command: None,
            steps: 0,
            todos: Vec::new(),
            todos_replace: false,
            directory: None,
        }
    }
}

/// Works out what a call does. `cwd` is the working directory of its record. Never fails: what cannot be understood
/// is an effect of kind [`ToolKind::Other`] without operations.
pub fn of_call(name: &str, arguments: &str, cwd: Option<&str>) -> CallEffect {
    of_call_in(name, arguments, &Directory::of(cwd))
}

/// A working directory that many calls may start in.
#[derive(Debug)]
pub struct Directory(Base);

impl Directory {
    /// The directory of a record.
    pub fn of(cwd: Option<&str>) -> Self {
        Self(Base::of(cwd))
    }
}

/// What [`of_call`] works out, of a call in a directory.
pub fn of_call_in(name: &str, arguments: &str, Directory(base): &Directory) -> CallEffect {
    let mut effect = tools::of_call(name, arguments, base, 0);
    // Lists grow to four at once, and few calls have as many operations.
    effect.ops.shrink_to_fit();
    effect.directory = match base {
        Base::Dir(dir) => Some(dir.clone()),
        Base::Unstated | Base::Unknown => None,
    };
    effect
}

/// Where relative paths start.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    /// The log does not say: relative paths stay relative.
    Unstated,
    /// This directory, itself relative when the log states no absolute one.
    Dir(ArcStr),
    /// Somewhere that cannot be known (`cd "$DIR"`): relative paths name no file.
    Unknown,
}

impl Base {
    fn of(cwd: Option<&str>) -> Self {
        match cwd.map(|dir| paths::resolve(dir, None)) {
            Some(dir) if !dir.is_empty() => Self::Dir(dir.into()),
            _ => Self::Unstated,
        }
    }

    /// A path as seen from here; `None` when it cannot be known.
    fn resolve(&self, path: &str) -> Option<String> {
        match self {
            Self::Unstated => Some(paths::resolve(path, None)),
            Self::Dir(dir) if paths::is_absolute(dir) => Some(paths::resolve(path, Some(dir))),
            Self::Dir(dir) => {
                let path = paths::resolve(path, None);
                Some(if paths::is_absolute(&path) || path.is_empty() {
                    path
                } else {
                    paths::resolve(&format!("{dir}/{path}"), None)
                })
            }
            Self::Unknown => Some(paths::resolve(path, None)).filter(|path| paths::is_absolute(path)),
        }
    }

    /// The base after `cd path` from here.
    fn enter(&self, path: &str) -> Self {
        match self.resolve(path) {
            Some(dir) if !dir.is_empty() => Self::Dir(dir.into()),
            _ => Self::Unknown,
        }
    }
}

/// Most operations one call can have; beyond it is no work of an agent on files.
const MAX_OPS: usize = 4096;

/// Longest path that is believed, in bytes.
const MAX_PATH: usize = 1024;

/// Gathers operations; the one place where a path is resolved and judged.
#[derive(Debug, Default)]
struct Collector {
    ops: Vec<FileOp>,
    /// [`FileOp::chain`] and [`FileOp::marks`] of what comes next.
    chain: u16,
    marks: Marks,
}

impl Collector {
    fn push(&mut self, kind: OpKind, path: &str, base: &Base, confidence: Confidence, step: u16) {
        if self.ops.len() < MAX_OPS
            && let Some(path) = file(path, base)
        {
            let chain = self.chain.min(step);
            // Most calls have one.
            if self.ops.is_empty() {
                self.ops.reserve_exact(1);
            }
            self.ops.push(FileOp { kind, path, confidence, step, chain, marks: self.marks });
        }
    }

    fn rename(&mut self, from: &str, to: &str, base: &Base, confidence: Confidence, step: u16) {
        if let Some(to) = file(to, base) {
            self.push(OpKind::Rename { to }, from, base, confidence, step);
        }
    }
}

/// The canonical path, if it can name a file.
fn file(path: &str, base: &Base) -> Option<String> {
    let path = path.trim();
    let is_place = matches!(path, "" | "-" | "." | ".." | "/" | "~" | "./" | "../");
    if is_place || path.len() > MAX_PATH || has_control(path) || is_url(path) {
        return None;
    }
    let path = base.resolve(path)?;
    let is_device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/") || path.starts_with("/proc/");
    let is_device = is_device || paths::basename(&path).eq_ignore_ascii_case("nul");
    // A script may have changed to a directory that is none.
    let is_name = !path.is_empty() && !path.contains('\0');
    (!is_device && is_name).then_some(path)
}

fn has_control(path: &str) -> bool {
    // All bytes are looked at, which goes faster than to stop at the first.
    let is_found = |found: bool, byte: u8| found | byte.is_ascii_control();
    path.bytes().fold(false, is_found) || !path.is_ascii() && path.chars().any(char::is_control)
}

fn is_url(path: &str) -> bool {
    path.split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with("//")
            && !scheme.eq_ignore_ascii_case("file")
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}
