//! The tools of the agents: which argument of which tool names a file, and what happens to it.
//!
//! Names are compared without case and without the namespace some logs put before them, since agents differ in both.
//! Tools of MCP servers are unknown by rule (`mcp__x__read` may read anything), except those of the two servers whose
//! tools are the agent's own file tools by contract.

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::LazyLock;

use super::arguments::{self, Arguments, Fields, Logged};
use super::todo::{self, TodoRule};
use super::{Base, CallEffect, Collector, Confidence, OpKind, ToolKind, inline, patch, powershell, shell};

/// What a tool does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Read,
    /// Moves the window on the file that is open, and shows it.
    Scroll,
    /// Whole content.
    Write,
    Edit,
    Delete,
    Move,
    Copy,
    /// Takes a patch.
    Patch,
    /// One tool, the `command` argument says what.
    Editor,
    Search,
    Shell,
    PowerShell,
    /// Runs Python.
    Python,
    Todo(TodoRule),
    /// Holds other calls.
    Batch,
}

/// One row: names (lower case), the arguments that hold what the rule needs, and the rule.
struct Tool {
    names: &'static [&'static str],
    keys: &'static [&'static str],
    rule: Rule,
}

/// Arguments that name a file. One list for all tools: models trained on one agent use its names in another.
const FILE: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "absolutePath",
    "AbsolutePath",
    "notebook_path",
    "notebookPath",
    "target_file",
    "targetFile",
    "TargetFile",
    "relative_path",
    "relativePath",
    "relativeWorkspacePath",
    "filepath",
    "filename",
    "fileName",
    "file_name",
    "file",
    "uri",
    "paths",
    "files",
    "file_paths",
    "filePaths",
    "replacements",
    "operations",
    "args",
    "include",
];
const FROM: &[&str] =
    &["source", "source_path", "sourcePath", "from", "old_path", "oldPath", "src", "path", "file_path"];
const TO: &[&str] = &[
    "destination",
    "destination_path",
    "destinationPath",
    "to",
    "new_path",
    "newPath",
    "dest",
    "dst",
    "target",
];
const PATCH: &[&str] = &["patch", "input", "patchText", "patch_text", "diff", "content", "text", "command"];
const COMMAND: &[&str] =
    &["command", "cmd", "script", "CommandLine", "command_line", "commands", "argv", "input"];
const CODE: &[&str] = &["code", "script", "command", "input"];
const CALLS: &[&str] = &["tool_uses", "tool_calls", "calls", "invocations"];
const NONE: &[&str] = &[];

/// All that a call that moves the window may hold: tools of browsers have the same names.
const SCROLL: &[&str] = &["line_number", "line", "path", "command"];

/// Arguments that name the directory a command runs in.
const WORKDIR: &[&str] = &[
    "workdir",
    "working_directory",
    "workingDirectory",
    "working_dir",
    "cwd",
    "Cwd",
    "dir_path",
    "directory",
];

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    // Claude Code, pi, OpenCode, Crush, Droid, Amp: short names. Gemini, Qwen, Cline, Roo, sven, Opal: long names.
    Tool { names: &["read", "read_file", "readfile", "view", "view_file", "viewfile", "open", "open_file", "openfile",
        "notebookread", "notebook_read", "read_notebook", "view_image", "viewimage", "image_view", "file_read",
        "fileread", "load_file", "cat", "cat_file", "read_text_file", "read_media_file", "read_files",
        "read_many_files", "readmanyfiles", "read_multiple_files", "read_file_v2", "readmediafile"], keys: FILE, rule: Rule::Read },
    // SWE-agent: the file is the one that `open` was called with; only some logs say which.
    Tool { names: &["goto", "scroll_up", "scroll_down"], keys: SCROLL, rule: Rule::Scroll },
    Tool { names: &["write", "write_file", "writefile", "write_to_file", "create", "create_file", "createfile",
        "create_new_file", "new_file", "save_file", "file_write", "filewrite"], keys: FILE, rule: Rule::Write },
    Tool { names: &["edit", "multiedit", "multi_edit", "edit_file", "editfile", "file_edit", "multi_edit_file",
        "replace", "replace_in_file", "apply_diff", "search_replace", "search_and_replace", "str_replace",
        "strreplace", "strreplacefile", "str_replace_file", "insert", "insert_line", "insert_content",
        "insert_edit_into_file", "replace_string_in_file", "multi_replace_string_in_file", "replace_file_content",
        "multi_replace_file_content", "notebookedit", "notebook_edit", "edit_notebook", "edit_notebook_file",
        "append_file", "append_to_file", "undo_edit", "edit_file_v2", "single_find_and_replace", "find_and_replace"], keys: FILE, rule: Rule::Edit },
    Tool { names: &["delete", "delete_file", "deletefile", "remove_file"], keys: FILE, rule: Rule::Delete },
    Tool { names: &["move_file", "movefile", "rename_file", "renamefile", "move_path", "rename_path"], keys: FROM, rule: Rule::Move },
    Tool { names: &["copy_file", "copyfile", "copy_path"], keys: FROM, rule: Rule::Copy },
    Tool { names: &["apply_patch", "applypatch", "patch"], keys: PATCH, rule: Rule::Patch },
    // Anthropic's text editor, Goose, OpenHands, SWE-agent, Cline's SDK, Kiro.
    Tool { names: &["str_replace_editor", "str_replace_based_edit_tool", "text_editor", "file_editor", "editor",
        "fs_write", "fs_read"], keys: FILE, rule: Rule::Editor },
    Tool { names: &["grep", "glob", "ls", "find", "list", "list_files", "listfiles", "list_dir", "list_directory",
        "listdirectory", "list_directory_with_sizes", "search", "search_files", "searchfiles", "search_file",
        "search_dir", "search_code", "search_text", "search_file_content", "grep_search", "multi_grep",
        "file_search", "codebase_search", "codesearch", "code_search", "semantic_search", "find_file", "find_files",
        "find_by_name", "find_path", "directory_tree", "tree", "rg", "list_code_definition_names",
        "list_code_usages", "list_dir_v2", "glob_file_search", "ripgrep_raw_search"], keys: NONE, rule: Rule::Search },
    Tool { names: &["bash", "shell", "sh", "zsh", "exec", "exec_command", "execute", "execute_command",
        "executecommand", "execute_bash", "execute_shell", "run", "run_command", "runcommand", "run_commands",
        "run_bash", "run_shell_command", "run_terminal_command", "run_terminal_cmd", "run_in_terminal",
        "run_terminal", "run_shell", "shell_exec", "shell_command", "local_shell", "local_shell_call", "container.exec", "terminal",
        "bash_tool", "command", "run_terminal_command_v2"], keys: COMMAND, rule: Rule::Shell },
    Tool { names: &["powershell", "pwsh", "run_powershell"], keys: COMMAND, rule: Rule::PowerShell },
    Tool { names: &["run_ipython", "execute_ipython_cell", "ipython", "python", "execute_python", "run_python"], keys: CODE, rule: Rule::Python },
    Tool { names: &["todowrite", "todo_write", "todo", "todos", "todo_list", "update_todo", "update_todos",
        "update_todo_list", "updatetodolist", "manage_todo_list", "managetodolist", "write_todos", "writetodos",
        "set_todo_list", "settodolist", "task_tracker", "update_plan", "updateplan", "plan_write"], keys: NONE, rule: Rule::Todo(TodoRule::List) },
    Tool { names: &["taskcreate", "task_create", "todo_add", "add_todo"], keys: NONE, rule: Rule::Todo(TodoRule::Add) },
    Tool { names: &["taskupdate", "task_update", "todo_update"], keys: NONE, rule: Rule::Todo(TodoRule::Update) },
    Tool { names: &["todoread", "todo_read", "read_todos", "tasklist", "task_list", "taskget", "task_get"], keys: NONE, rule: Rule::Todo(TodoRule::Look) },
    Tool { names: &["multi_tool_use.parallel", "parallel", "batch"], keys: CALLS, rule: Rule::Batch },
];

/// Namespaces that say nothing about the tool. The MCP servers here hand the client's own tools back to the agent.
const NAMESPACES: &[&str] = &[
    "functions.",
    "tools.",
    "default_api.",
    "default_api:",
    "developer__",
    "todo__",
    "mcp__acp__",
    "mcp__filesystem__",
];

/// See [`super::of_call`]; `depth` counts calls inside calls.
pub(super) fn of_call(name: &str, arguments: &str, base: &Base, depth: u8) -> CallEffect {
    let Some(tool) = find(name) else { return other(arguments) };
    let logged = Logged::new(arguments);
    let Some(arguments) = logged.read() else { return CallEffect::of_kind(tool.kind()) };
    let mut effect = CallEffect::of_kind(tool.kind());
    let mut out = Collector::default();
    match tool.rule {
        Rule::Shell => return shell_call(&arguments, tool.keys, base),
        Rule::PowerShell => {
            if let Some(script) = text_argument(&arguments, tool.keys) {
                effect.steps = powershell::run(&script, &workdir(&arguments, base), None, &mut out);
                effect.command = Some(script.into_owned());
            }
        }
        Rule::Python => {
            if let Some(code) = text_argument(&arguments, tool.keys) {
                inline::python(&code, base, 0, &mut out);
            }
        }
        Rule::Patch => {
            if let Some(text) = text_argument(&arguments, tool.keys) {
                patch::apply_patch(&text, base, 0, &mut out);
            }
            if let Arguments::Object(fields) = &arguments
                && out.ops.is_empty()
            {
                push_all(&OpKind::Edit, fields, FILE, base, &mut out);
            }
        }
        Rule::Todo(rule) => (effect.todos, effect.todos_replace) = todo::of_call(rule, &arguments),
        Rule::Batch if depth == 0 => {
            if let Arguments::Object(fields) = &arguments {
                batch(fields, tool.keys, base, &mut effect, &mut out);
            }
        }
        Rule::Scroll => match &arguments {
            Arguments::Object(fields) if fields.only(tool.keys) => {
                push_all(&OpKind::Read, fields, FILE, base, &mut out);
            }
            Arguments::Text("") => {}
            _ => effect.kind = ToolKind::Other,
        },
        Rule::Batch | Rule::Search => {}
        Rule::Read | Rule::Write | Rule::Edit | Rule::Delete | Rule::Move | Rule::Copy | Rule::Editor => {
            if let Arguments::Object(fields) = &arguments {
                effect.kind = file_call(tool, fields, base, &mut out);
            }
        }
    }
    if let Arguments::Object(fields) = &arguments
        && !matches!(tool.rule, Rule::Todo(_))
        && let Some((items, replace)) = todo::of_progress(fields)
    {
        (effect.todos, effect.todos_replace) = (items, replace);
    }
    effect.ops = out.ops;
    effect
}

/// A tool nobody knows; Cline puts its checklist into any call.
fn other(arguments: &str) -> CallEffect {
    let mut effect = CallEffect::of_kind(ToolKind::Other);
    if arguments.contains("\"task_progress\"")
        && let logged = Logged::new(arguments)
        && let Some(Arguments::Object(fields)) = logged.read()
        && let Some((items, replace)) = todo::of_progress(&fields)
    {
        (effect.todos, effect.todos_replace) = (items, replace);
    }
    effect
}

fn find(name: &str) -> Option<&'static Tool> {
    /// Longest name looked up, in bytes: the table's longest with its namespace fits.
    const MAX_NAME: usize = 64;
    static BY_NAME: LazyLock<FxHashMap<&str, &Tool>> = LazyLock::new(|| {
        TOOLS.iter().flat_map(|tool| tool.names.iter().map(move |name| (*name, tool))).collect()
    });
    // Some models leave their channel markers in the name.
    let name = name.split('<').next().unwrap_or(name).trim();
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let mut name = CompactString::from(name);
    name.make_ascii_lowercase();
    let named = |name: &str| BY_NAME.get(name).copied();
    if let Some(tool) = named(&name) {
        return Some(tool);
    }
    let name = NAMESPACES.iter().find_map(|space| name.strip_prefix(space)).unwrap_or(&name);
    // Versioned names of Anthropic's tools: `text_editor_20250728`, `bash_20250124`.
    let plain =
        name.rsplit_once('_').filter(|(_, date)| date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()));
    let name = plain.map_or(name, |(plain, _)| plain);
    named(name).or_else(|| named(usual_name(name)?))
}

/// The table's name for a tool that somebody named after what it does (`fs-read-file`, `exec_shell_cmd`). Only names
/// that say both what is done and to what; of MCP servers none.
fn usual_name(name: &str) -> Option<&'static str> {
    // Nor of connectors, which are written with a line in front: theirs are files of a service.
    if name.starts_with("mcp_") || name.contains("__") || name.starts_with('_') {
        return None;
    }
    let words: Vec<&str> = name.split(['_', '-', '.', ':', '/']).collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    if has(&["notes", "memory", "remote", "url", "web", "upload", "download", "output"]) {
        return None;
    }
    if has(&["shell", "bash", "terminal"]) && has(&["run", "exec", "execute", "cmd", "command"]) {
        return Some("bash");
    }
    if !has(&["file", "files"]) {
        return None;
    }
    let usual: &[(&[&str], &str)] = &[
        (&["search", "find", "list", "grep"], "grep"),
        (&["read", "view", "open", "cat", "show"], "read_file"),
        (&["write", "create", "save"], "write_file"),
        (&["edit", "replace", "modify", "change", "insert", "append"], "edit_file"),
        (&["delete", "remove"], "delete_file"),
        (&["move", "rename"], "move_file"),
        (&["copy"], "copy_file"),
    ];
    usual.iter().find(|(verbs, _)| has(verbs)).map(|(_, usual)| *usual)
}

impl Tool {
    fn kind(&self) -> ToolKind {
        match self.rule {
            Rule::Read | Rule::Scroll => ToolKind::Read,
            Rule::Write
            | Rule::Edit
            | Rule::Delete
            | Rule::Move
            | Rule::Copy
            | Rule::Patch
            | Rule::Editor => ToolKind::Write,
            Rule::Search => ToolKind::Search,
            Rule::Shell | Rule::PowerShell | Rule::Python => ToolKind::Shell,
            Rule::Todo(_) => ToolKind::Todo,
            Rule::Batch => ToolKind::Other,
        }
    }
}

fn file_call(tool: &Tool, fields: &Fields<'_>, base: &Base, out: &mut Collector) -> ToolKind {
    let command = fields.text(&["command", "mode"]);
    let kind = match (tool.rule, command.as_deref()) {
        (Rule::Editor, Some("Directory" | "Search")) => return ToolKind::Search,
        (Rule::Editor, Some("rename" | "move")) | (Rule::Move, _) => {
            if let (Some(from), Some(to)) = (fields.text(FROM), fields.text(TO)) {
                out.rename(&from, &to, base, Confidence::Tool, 0);
            }
            return ToolKind::Write;
        }
        (Rule::Copy, _) => {
            if let (Some(from), Some(to)) = (fields.text(FROM), fields.text(TO)) {
                out.push(OpKind::Read, &from, base, Confidence::Tool, 0);
                out.push(OpKind::Write, &to, base, Confidence::Tool, 0);
            }
            return ToolKind::Write;
        }
        (Rule::Read, _)
        | (Rule::Editor | Rule::Edit | Rule::Write, Some("view" | "read" | "Line" | "open")) => OpKind::Read,
        (Rule::Delete, _) | (Rule::Editor, Some("delete" | "remove")) => OpKind::Delete,
        (Rule::Editor, Some("create" | "write" | "overwrite")) | (Rule::Edit, Some("create")) => {
            OpKind::Write
        }
        (Rule::Editor, None) => edited(fields),
        (Rule::Editor | Rule::Edit, _) => OpKind::Edit,
        _ => OpKind::Write,
    };
    push_all(&kind, fields, tool.keys, base, out);
    if kind == OpKind::Read { ToolKind::Read } else { ToolKind::Write }
}

/// An editor without a command: what it is given tells what it does.
fn edited(fields: &Fields<'_>) -> OpKind {
    if fields.first(&["old_str", "old_text", "old_string", "oldText", "insert_line"]).is_some() {
        return OpKind::Edit;
    }
    match fields.first(&["new_text", "new_str", "file_text", "content"]) {
        Some(_) => OpKind::Write,
        None => OpKind::Read,
    }
}

/// One operation for each path in the first of these arguments that has any.
fn push_all(kind: &OpKind, fields: &Fields<'_>, keys: &[&str], base: &Base, out: &mut Collector) {
    for key in keys {
        let Some(raw) = fields.raw(key) else { continue };
        let before = out.ops.len();
        match raw.as_bytes().first() {
            Some(b'"') => {
                if let Some(text) = arguments::string(raw) {
                    push_text(kind, &text, base, out);
                }
            }
            Some(b'[' | b'{') => {
                if let Some(value) = arguments::value(raw) {
                    push_value(kind, &value, base, out);
                }
            }
            _ => {}
        }
        if out.ops.len() > before {
            return;
        }
    }
}

/// A path; or what some models put in its place: a JSON list of paths, Roo's `<file><path>..</path></file>`.
fn push_text(kind: &OpKind, text: &str, base: &Base, out: &mut Collector) {
    let text = text.trim();
    if text.starts_with('[')
        && let Some(list @ Value::Array(_)) = arguments::value(text)
    {
        return push_value(kind, &list, base, out);
    }
    if text.contains("<path>") {
        for rest in text.split("<path>").skip(1) {
            if let Some((path, _)) = rest.split_once("</path>") {
                push_path(kind, path, base, out);
            }
        }
        return;
    }
    push_path(kind, text, base, out);
}

fn push_value(kind: &OpKind, value: &Value, base: &Base, out: &mut Collector) {
    match value {
        Value::String(path) => push_path(kind, path, base, out),
        Value::Array(list) => {
            for value in list {
                if let Value::Array(_) = value {
                    continue;
                }
                push_value(kind, value, base, out);
            }
        }
        Value::Object(object) => {
            if object
                .get("mode")
                .and_then(Value::as_str)
                .is_some_and(|mode| mode == "Directory" || mode == "Search")
            {
                return;
            }
            if let Some(path) = FILE.iter().find_map(|key| object.get(*key)?.as_str()) {
                push_path(kind, path, base, out);
            }
        }
        _ => {}
    }
}

fn push_path(kind: &OpKind, path: &str, base: &Base, out: &mut Collector) {
    // Reading `dir/` lists it, and tools that read many files take patterns.
    let is_pattern = path.contains(['*', '?']);
    if *kind == OpKind::Read && (is_pattern || path.ends_with(['/', '\\'])) {
        return;
    }
    out.push(kind.clone(), path, base, Confidence::Tool, 0);
}

fn text_argument<'a>(arguments: &Arguments<'a>, keys: &[&str]) -> Option<Cow<'a, str>> {
    match arguments {
        Arguments::Object(fields) => fields.text(keys),
        Arguments::Text(text) => Some(Cow::Borrowed(text)),
        Arguments::Array(_) => None,
    }
}

fn workdir(arguments: &Arguments<'_>, base: &Base) -> Base {
    match arguments {
        Arguments::Object(fields) => match fields.text(WORKDIR) {
            Some(dir) if !dir.trim().is_empty() => base.enter(&dir),
            _ => base.clone(),
        },
        _ => base.clone(),
    }
}

/// What a shell tool is asked to run.
enum Command {
    Script(String),
    Argv(Vec<String>),
}

fn shell_call(arguments: &Arguments<'_>, keys: &[&str], base: &Base) -> CallEffect {
    let mut effect = CallEffect::of_kind(ToolKind::Shell);
    if let Arguments::Object(fields) = arguments
        && let Some((items, replace)) = todo::of_progress(fields)
    {
        (effect.todos, effect.todos_replace) = (items, replace);
    }
    let mut base = workdir(arguments, base);
    let mut command = match arguments {
        Arguments::Text(text) => Some(Command::Script((*text).to_owned())),
        Arguments::Array(raw) => arguments::value(raw).and_then(|value| command_of(&value)),
        Arguments::Object(fields) => fields.first(keys).and_then(|raw| {
            if raw.starts_with('"') {
                return arguments::string(raw).map(command_in);
            }
            let value = arguments::value(raw)?;
            // Codex's local shell puts argv and directory one level down.
            if let Value::Object(action) = &value {
                if let Some(dir) = WORKDIR.iter().find_map(|key| action.get(*key)?.as_str()) {
                    base = base.enter(dir);
                }
                return COMMAND.iter().find_map(|key| command_of(action.get(*key)?));
            }
            command_of(&value)
        }),
    };
    if command.is_none()
        && let Arguments::Object(fields) = arguments
        && let Some(Value::Object(action)) = fields.value(&["action"])
    {
        if let Some(dir) = WORKDIR.iter().find_map(|key| action.get(*key)?.as_str()) {
            base = base.enter(dir);
        }
        command = COMMAND.iter().find_map(|key| command_of(action.get(*key)?));
    }
    let mut out = Collector::default();
    let script = match command {
        None => return effect,
        Some(Command::Script(script)) => script,
        Some(Command::Argv(argv)) => {
            if let [program, text] = argv.as_slice()
                && (program.ends_with("apply_patch") || program.ends_with("applypatch"))
            {
                // The harness takes this one itself; no shell ever sees it.
                patch::apply_patch(text, &base, 0, &mut out);
                effect.kind = ToolKind::Write;
                effect.ops = out.ops;
                return effect;
            }
            shell::script_of_argv(&argv)
        }
    };
    if let Some(code) = powershell::unwrapped(&script) {
        effect.steps = powershell::run(&code, &base, None, &mut out);
        effect.command = Some(code);
    } else {
        effect.steps = shell::run(&script, &base, &mut out);
        effect.command = Some(shell::unwrapped(script));
    }
    effect.ops = out.ops;
    effect
}

fn command_of(value: &Value) -> Option<Command> {
    match value {
        Value::String(text) => Some(command_in(Cow::Borrowed(text))),
        Value::Array(list) => {
            let words: Vec<String> = list.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
            if words.is_empty() || words.len() != list.len() {
                return None;
            }
            // A list of scripts (each with blanks in its first word's place) or one command's words?
            if words.first().is_some_and(|first| first.contains(' ')) {
                return Some(Command::Script(words.join("\n")));
            }
            Some(Command::Argv(words))
        }
        _ => None,
    }
}

/// The command that a text is.
fn command_in(text: Cow<'_, str>) -> Command {
    let trimmed = text.trim();
    // A JSON list of words inside of a string, and Antigravity's quoted strings.
    if trimmed.starts_with('[')
        && let Some(list @ Value::Array(_)) = arguments::value(trimmed)
        && let Some(command) = command_of(&list)
    {
        return command;
    }
    let inner = arguments::string(trimmed).map(Cow::into_owned);
    Command::Script(match inner {
        Some(inner) => inner,
        None if trimmed.len() == text.len() => text.into_owned(),
        None => trimmed.to_owned(),
    })
}

fn batch(fields: &Fields<'_>, keys: &[&str], base: &Base, effect: &mut CallEffect, out: &mut Collector) {
    let Some(Value::Array(calls)) = fields.value(keys) else { return };
    for call in &calls {
        let text = |keys: &[&str]| keys.iter().find_map(|key| call.get(*key)?.as_str());
        let Some(name) = text(&["recipient_name", "tool", "name", "tool_name"]) else { continue };
        let Some(arguments) =
            ["parameters", "arguments", "input", "args"].iter().find_map(|key| call.get(*key))
        else {
            continue;
        };
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        let inner = of_call(name, &arguments, base, 1);
        // Commands of a batch run apart: none of them is "the last one" that its result speaks for.
        out.ops.extend(inner.ops.into_iter().map(|op| super::FileOp { step: 0, ..op }));
        if !inner.todos.is_empty() {
            (effect.todos, effect.todos_replace) = (inner.todos, inner.todos_replace);
        }
    }
    effect.steps = 0;
}
