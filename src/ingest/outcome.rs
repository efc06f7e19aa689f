//! Did a tool call fail? One rule for all formats, for results whose record does not say so itself.
//!
//! Only the head of a result is judged: file contents and search output that merely mention errors are no failures.

use super::value::Value;

use crate::transcript::Outcome;

/// Texts that open a refused or interrupted result.
const ABORTS: [&str; 10] = [
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "The user declined this",
    "The user rejected this",
    "[Request interrupted by user",
    "Interrupted by user",
    "Operation aborted",
    "Command aborted",
    "Tool execution aborted",
    "aborted by user",
];

/// Texts that open a failed result, whatever follows.
const FAILURES: [&str; 16] = [
    "<tool_use_error>",
    "old_string not found",
    "old_str not found",
    "String to replace not found",
    "String not found in file",
    "Could not find the exact text",
    "Could not find old",
    "No replacement was performed",
    "File does not exist",
    "edit failed",
    "Edit failed",
    "File has not been read yet",
    "ENOENT:",
    "EACCES:",
    "Permission denied and could not request permission",
    "InputValidationError",
];

/// Texts followed by an exit status.
const EXITS: [&str; 8] = [
    "Exit code ",
    "Exit code: ",
    "Process exited with code ",
    "Command exited with code ",
    "Command failed with exit code ",
    "exit status ",
    "exit code: ",
    "exit code ",
];

/// Lines of the head searched for an exit status (Codex puts a short header first).
const HEAD_LINES: usize = 6;

/// How the text of a result says the call ended, and its exit status; `default` where it says nothing.
pub(super) fn judge(text: &str, default: Outcome) -> (Outcome, Option<i32>) {
    let head = text.trim_start();
    if is_abort(head) || FAILURES.iter().any(|start| head.starts_with(start)) {
        return (Outcome::Failed, None);
    }
    if let Some(code) = exit_code(head) {
        return (of_exit(code), Some(code));
    }
    if is_error_form(head) {
        return (Outcome::Failed, None);
    }
    (default, None)
}

/// What the fields of a result record say: an error flag, a success flag or an exit status, beside the text or in its
/// metadata. `None` when there is none.
pub(super) fn flagged(record: &Value) -> Option<(Outcome, Option<i32>)> {
    let exit = exit_field(record)
        .or_else(|| ["metadata", "details"].iter().find_map(|key| exit_field(record.get(key)?)));
    let error = ["is_error", "isError"].iter().find_map(|key| record.get(key)?.as_bool());
    let success = record.get("success").and_then(Value::as_bool);
    match (error.or_else(|| success.map(|success| !success)), exit) {
        (Some(failed), exit) => Some((if failed { Outcome::Failed } else { Outcome::Ok }, exit)),
        (None, Some(code)) => Some((of_exit(code), Some(code))),
        (None, None) => None,
    }
}

fn exit_field(record: &Value) -> Option<i32> {
    let code = ["exit_code", "exitCode", "returncode"].iter().find_map(|key| record.get(key)?.as_i64())?;
    i32::try_from(code).ok()
}

/// The outcome that an exit status means.
pub(super) fn of_exit(code: i32) -> Outcome {
    if code == 0 { Outcome::Ok } else { Outcome::Failed }
}

/// True when the text is the placeholder of a call that was refused or interrupted.
pub(super) fn is_abort(text: &str) -> bool {
    let head = text.trim_start();
    ABORTS.iter().any(|start| head.starts_with(start))
        || head.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("aborted")) && head.len() < 200
}

/// The exit status that the head of a result states, for instance `Exit code 2` on its first line.
pub(super) fn exit_code(text: &str) -> Option<i32> {
    let parse = |line: &str| EXITS.iter().find_map(|start| leading_number(line.strip_prefix(start)?));
    if let Some(code) = text.lines().take(HEAD_LINES).find_map(parse) {
        return Some(code);
    }
    // pi and some shells append the status as the last line of the output.
    let last = text.trim_end().rsplit('\n').next()?;
    leading_number(last.strip_prefix("Command exited with code ")?)
}

fn leading_number(text: &str) -> Option<i32> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// `Error: ...` as the whole or first line, or `{"error": ...}`.
fn is_error_form(head: &str) -> bool {
    if let Some(rest) = head.strip_prefix('{') {
        let rest = rest.trim_start();
        let Some(value) = rest.strip_prefix("\"error\"") else { return false };
        let value = value.trim_start().strip_prefix(':').unwrap_or_default().trim_start();
        return !["null", "false", "\"\"", "{}", "0"].iter().any(|nothing| value.starts_with(nothing));
    }
    let first = head.lines().next().unwrap_or_default();
    let starts = ["Error:", "error:", "ERROR:", "Error - "].iter().any(|start| first.starts_with(start));
    // A long text that opens like this is more likely a file or a log than a tool's own complaint.
    starts && head.lines().nth(12).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Failed, Ok, Unknown};

    #[test]
    fn the_head_decides() {
        let log = "aborted transactions are rolled back\n".repeat(20);
        let cases: &[(&str, Outcome, Option<i32>)] = &[
            ("", Unknown, None),
            ("fn main() {}\n// Error: not one", Unknown, None),
            ("src/a.rs:3: error: something", Unknown, None),
            ("Error: no such file", Failed, None),
            ("error: could not compile", Failed, None),
            ("Exit code 2\nls: x", Failed, Some(2)),
            ("Exit code 0\nfine", Ok, Some(0)),
            (
                "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\nx",
                Failed,
                Some(101),
            ),
            ("some output\n\nCommand exited with code 1", Failed, Some(1)),
            ("<tool_use_error>File has not been read yet.</tool_use_error>", Failed, None),
            ("The user doesn't want to proceed with this tool use.", Failed, None),
            ("[Request interrupted by user for tool use]", Failed, None),
            ("aborted", Failed, None),
            ("Aborted by user after 3.1s", Failed, None),
            (log.as_str(), Unknown, None),
            ("{\"error\": \"unknown tool\"}", Failed, None),
            ("{\"error\": null, \"rows\": 3}", Unknown, None),
            ("{\"errors\": []}", Unknown, None),
            ("old_string not found in src/a.rs", Failed, None),
            ("Exit code of the last run was 3", Unknown, None),
        ];
        for (text, outcome, exit) in cases {
            assert_eq!(judge(text, Unknown), (*outcome, *exit), "{text:?}");
        }
    }
}
