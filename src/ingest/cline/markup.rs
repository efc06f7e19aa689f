//! What Cline and Roo write as text: calls as markup in replies, results behind the name of their tool, and what the harness says
//! in the user's place.

use crate::ingest::value::{Map, Value, shared};

use crate::ingest::build;
use crate::ingest::injected;
use crate::ingest::outcome;
use crate::transcript::{Outcome, Part, ToolCall};

/// The tools whose calls may stand as markup in a reply.
const TOOLS: [&str; 36] = [
    "access_mcp_resource",
    "act_mode_respond",
    "apply_diff",
    "apply_patch",
    "ask_followup_question",
    "attempt_completion",
    "browser_action",
    "codebase_search",
    "condense",
    "edit_file",
    "execute_command",
    "fetch_instructions",
    "generate_explanation",
    "generate_image",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "load_mcp_documentation",
    "new_rule",
    "new_task",
    "plan_mode_respond",
    "plan_mode_response",
    "read_file",
    "replace_in_file",
    "report_bug",
    "run_slash_command",
    "search_and_replace",
    "search_files",
    "summarize_task",
    "switch_mode",
    "update_todo_list",
    "use_mcp_tool",
    "use_skill",
    "use_subagents",
    "web_fetch",
    "write_to_file",
];

/// Arguments that hold whole files or changes: they end at their last closing tag.
const WHOLE: [&str; 3] = ["content", "diff", "args"];

/// Tags around what the user typed.
const TYPED: [&str; 5] = ["task", "feedback", "user_message", "answer", "new_task"];

/// Openings of texts that the harness writes in the user's place.
const HARNESS: [&str; 9] = [
    "[ERROR]",
    "[TASK RESUMPTION]",
    "[Response interrupted",
    "[User message truncated",
    "[[NOTE]",
    "[NOTE]",
    "# TODO LIST",
    "# task_progress",
    "<explicit_instructions",
];

/// Openings of results that failed.
const FAILED: [&str; 8] = [
    "The user denied this operation",
    "The tool execution failed",
    "The user rejected",
    "Missing value for required parameter",
    "Command failed",
    "Error executing",
    "{\"status\":\"error\"",
    "{\"status\":\"denied\"",
];

/// Adds the text of a reply, its calls told apart.
pub(super) fn push_reply(text: &str, parts: &mut Vec<Part>) {
    let mut rest = text;
    let said = |text: &str, parts: &mut Vec<Part>| {
        if !text.trim().is_empty() {
            parts.push(build::text(text.trim(), false));
        }
    };
    while let Some(found) = next_call(rest) {
        said(rest.get(..found.start).unwrap_or_default(), parts);
        let arguments = Value::Object(found.arguments).to_string();
        parts.push(Part::call(ToolCall { id: String::new(), name: shared(found.name), arguments }));
        rest = rest.get(found.end..).unwrap_or_default();
    }
    if rest.len() == text.len() {
        if !text.is_empty() {
            parts.push(build::text(text, false));
        }
    } else {
        said(rest, parts);
    }
}

/// A call in a text.
struct Found {
    name: &'static str,
    arguments: Map,
    start: usize,
    end: usize,
}

/// The tool whose tag opens at this `<`.
fn tool_at(text: &str) -> Option<&'static str> {
    let inner = text.strip_prefix('<')?;
    TOOLS.iter().copied().find(|tool| inner.strip_prefix(*tool).is_some_and(|rest| rest.starts_with('>')))
}

/// True where a tag inside a line, with `before` in front of it, is a call all the same: the last tag of a tool in the text,
/// closed, with arguments in it, and not quoted.
fn is_call_in_line(before: &str, tag: &str, name: &str) -> bool {
    let inside = tag.get(1..).unwrap_or_default();
    let mut others = memchr::memchr_iter(b'<', inside.as_bytes());
    if before.ends_with(['`', '"', '\'']) || others.any(|at| inside.get(at..).and_then(tool_at).is_some()) {
        return false;
    }
    let body = inside.get(name.len() + 1..).and_then(|body| body.split_once(&format!("</{name}>")));
    body.is_some_and(|(body, _)| !arguments(body).is_empty())
}

/// The first call: a tag of a tool that begins a line, or the last one, wherever it is.
fn next_call(text: &str) -> Option<Found> {
    for start in memchr::memchr_iter(b'<', text.as_bytes()) {
        let begins_line = text.get(..start).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
        let (before, tag) = text.split_at_checked(start)?;
        let Some(name) = tool_at(tag) else { continue };
        if !begins_line && !is_call_in_line(before, tag, name) {
            continue;
        }
        let body = start + name.len() + 2;
        let closing = format!("</{name}>");
        let inside = text.get(body..)?;
        // A reply cut off in the middle of a call has no closing tag.
        let (length, end) = match inside.find(&closing) {
            Some(length) => (length, body + length + closing.len()),
            None => (inside.len(), text.len()),
        };
        let arguments = arguments(inside.get(..length)?);
        return Some(Found { name, arguments, start, end });
    }
    None
}

fn arguments(body: &str) -> Map {
    let mut found = Map::new();
    let mut rest = body;
    while let Some(open) = rest.find('<') {
        let Some((name, inside)) = rest.get(open + 1..).and_then(|inner| inner.split_once('>')) else {
            break;
        };
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            rest = rest.get(open + 1..).unwrap_or_default();
            continue;
        }
        let closing = format!("</{name}>");
        let at = if WHOLE.contains(&name) { inside.rfind(&closing) } else { inside.find(&closing) };
        let value = at.map_or(inside, |at| inside.get(..at).unwrap_or_default());
        let value =
            if WHOLE.contains(&name) { value.strip_prefix('\n').unwrap_or(value) } else { value.trim() };
        found.insert(name, Value::from(value));
        let Some(at) = at else { break };
        rest = inside.get(at + closing.len()..).unwrap_or_default();
    }
    found
}

/// What stands behind the header of a result, as in `[read_file for 'a.rs'] Result:`; `None` for any other text.
pub(super) fn result_of(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?;
    let name = inner.split([' ', ']']).next()?;
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    // The header names what the call was about, which may hold brackets and lines.
    let (header, body) = inner.split_once("] Result:")?;
    let plain = header == name
        || header.get(name.len()..)?.starts_with(" for ")
        || header.get(name.len()..)?.starts_with(" to ");
    (is_name && plain && header.len() < 4_000).then_some(body)
}

/// How a result says that its call ended; `None` where it says nothing in Cline's or Roo's words.
pub(super) fn ended(text: &str) -> Option<(Outcome, Option<i32>)> {
    let head = text.trim_start();
    if FAILED.iter().any(|start| head.starts_with(start)) {
        return Some((Outcome::Failed, None));
    }
    let first = head.lines().next().filter(|_| head.starts_with("Command executed"))?;
    let code = first.split_once("Exit code: ")?.1;
    let code: i32 = code.split(|c: char| c != '-' && !c.is_ascii_digit()).next()?.parse().ok()?;
    Some((outcome::of_exit(code), Some(code)))
}

/// Adds a text of the user's role; tags around what the user typed are left out.
pub(super) fn push_request(text: String, parts: &mut Vec<Part>) {
    let head = text.trim_start();
    if HARNESS.iter().any(|start| head.starts_with(start)) {
        parts.push(build::text(text, true));
        return;
    }
    for tag in TYPED {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let Some((before, rest)) = text.split_once(&open) else { continue };
        let Some((typed, after)) = rest.rsplit_once(&close) else { continue };
        // Only where the tag begins a line is it the harness's.
        if !(before.is_empty() || before.ends_with('\n')) {
            continue;
        }
        for (piece, harness) in [(before, true), (typed, false), (after, true)] {
            let piece = piece.trim();
            if piece.is_empty() {
                continue;
            }
            if harness {
                parts.push(build::text(piece, true));
            } else {
                injected::push_user_text(piece.to_owned(), false, parts);
            }
        }
        return;
    }
    injected::push_user_text(text, false, parts);
}
