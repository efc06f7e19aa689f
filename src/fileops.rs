//! What a single tool call does to files: the vocabulary that the answer key and the compaction side share.

/// What kind of tool it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
}

/// Works out what a call does. `cwd` is the working directory of its record. Never fails: what cannot be understood
/// is an effect of kind [`ToolKind::Other`] without operations.
pub fn of_call(_name: &str, _arguments: &str, _cwd: Option<&str>) -> CallEffect {
    CallEffect { kind: ToolKind::Other, ops: Vec::new(), command: None, steps: 0, todos: Vec::new(), todos_replace: false }
}
