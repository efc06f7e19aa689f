//! Outputs of tool calls in Codex logs, which come in five shapes: plain text, text under a header with the exit
//! status, JSON text `{output, metadata}`, a list of items, and an object.

use crate::ingest::value::Value;

use super::super::blocks;
use super::super::json::{take, take_text};
use super::super::outcome;
use super::survey::{Ended, Survey};
use crate::transcript::{Outcome, ToolResult};

/// Lines of which the header of an output begins with one.
const HEADER: [&str; 3] = ["Chunk ID:", "Wall time:", "Exit code:"];

/// Lines of a header at most.
const HEADER_LINES: usize = 8;

/// Openings of outputs that the client writes when a call did not work.
const FAILURES: [&str; 17] = [
    "apply_patch verification failed",
    "patch rejected",
    "patch was rejected",
    "exec command rejected",
    "Rejected(",
    "rejected",
    "execution error",
    "exec error",
    "exec_command failed",
    "write_stdin failed",
    "failed in sandbox",
    "failed to parse function arguments",
    "failed to parse exec",
    "unsupported call",
    "unsupported custom tool call",
    "unable to locate",
    "tool call error",
];

/// Openings of outputs that the client writes when it worked.
const SUCCESSES: [&str; 2] = ["Success. Updated the following files", "Plan updated"];

/// Makes the result of an output item.
pub(super) fn result(mut payload: Value, survey: &mut Survey) -> ToolResult {
    let mut call_id = take_text(&mut payload, "call_id");
    if call_id.is_empty() {
        call_id = take_text(&mut payload, "id");
    }
    let mut output = take(&mut payload, "output");
    if output.is_null() {
        output = take(&mut payload, "tools");
    }
    let mut logged = Ended::default();
    if let Value::String(text) = &output
        && let Some((inner, exit_code)) = unwrap(text)
    {
        output = Value::from(inner);
        logged.exit_code = exit_code;
    }
    if output.is_object() {
        logged.success = output.get("success").and_then(Value::as_bool);
        let content = take(&mut output, "content");
        if !content.is_null() {
            output = content;
        }
    }
    let (text, images) = blocks::result_text(output);
    let (mut outcome, mut exit_code) = judge(&text);
    if text.is_empty() && images > 0 {
        outcome = Outcome::Ok;
    }
    let event = survey.take_ended(&call_id).unwrap_or_default();
    if let Some(code) = logged.exit_code.or(event.exit_code) {
        exit_code = Some(code);
        outcome = outcome::of_exit(code);
    }
    if let Some(success) = logged.success.or(event.success) {
        let agrees = exit_code.is_none_or(|code| code == 0);
        outcome = if success && agrees { Outcome::Ok } else { Outcome::Failed };
    }
    ToolResult { call_id, text, outcome, exit_code, images }
}

/// The output text and exit status inside `{"output": ..., "metadata": {...}}`.
fn unwrap(text: &str) -> Option<(String, Option<i32>)> {
    let start = text.trim_start().strip_prefix('{')?.trim_start();
    if !start.starts_with("\"output\"") && !start.starts_with("\"metadata\"") {
        return None;
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    if !value.get("output")?.is_string() || !value.get("metadata")?.is_object() {
        return None;
    }
    let code = value.get("metadata")?.get("exit_code").and_then(Value::as_i64);
    Some((take_text(&mut value, "output"), code.and_then(|code| i32::try_from(code).ok())))
}

/// What the text says about how the call ended.
fn judge(text: &str) -> (Outcome, Option<i32>) {
    if HEADER.iter().any(|line| text.starts_with(line)) {
        // The body under the header is the command's own.
        let header = text.lines().take(HEADER_LINES).take_while(|line| !line.starts_with("Output:"));
        let code = header.into_iter().find_map(|line| {
            let code = line.strip_prefix("Process exited with code ").or(line.strip_prefix("Exit code:"))?;
            code.trim().parse().ok()
        });
        return (code.map_or(Outcome::Unknown, outcome::of_exit), code);
    }
    if FAILURES.iter().any(|opening| text.starts_with(opening)) {
        let head = text.lines().next().unwrap_or_default();
        let code = head.split_once("exit code: ").and_then(|(_, rest)| {
            let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '-')?;
            rest.get(..end)?.parse().ok()
        });
        return (Outcome::Failed, code);
    }
    if SUCCESSES.iter().any(|opening| text.starts_with(opening)) {
        return (Outcome::Ok, None);
    }
    outcome::judge(text, Outcome::Unknown)
}
