//! Files that agents keep beside their logs: lists of sessions, states, prompts that were typed.
//!
//! A log is known by what is in it, never by its name. These are looked at only where no format fits, and known by their place
//! and, where that says little, by a field of theirs: they hold no conversation, so that nothing is lost by them.

use super::formats::Format;
use super::lines::Record;
use super::value::Value;

/// A kind of file beside logs.
struct Sidecar {
    format: Format,
    /// The end of its path; `*` stands for any characters within a name.
    place: &'static [&'static str],
    /// Fields of its first record, all of them; none for files that may be empty or hold anything.
    fields: &'static [&'static str],
    what: &'static str,
}

const fn sidecar(
    format: Format,
    place: &'static [&'static str],
    fields: &'static [&'static str],
    what: &'static str,
) -> Sidecar {
    Sidecar { format, place, fields, what }
}

static SIDECARS: [Sidecar; 13] = [
    sidecar(Format::Opencode, &["storage", "todo", "*.json"], &[], "the todos of an opencode session"),
    sidecar(
        Format::Opencode,
        &["storage", "session_diff", "*.json"],
        &[],
        "what an opencode session changed",
    ),
    sidecar(
        Format::Opencode,
        &["storage", "session_share", "*.json"],
        &[],
        "where an opencode session is shared",
    ),
    sidecar(Format::Opencode, &["storage", "project", "*.json"], &[], "a project of opencode"),
    sidecar(Format::ClaudeCode, &["sessions-index.json"], &["entries"], "the list of Claude Code sessions"),
    sidecar(Format::ClaudeCode, &["subagents", "*.meta.json"], &[], "what a sub-agent of Claude Code is"),
    sidecar(
        Format::ClaudeCode,
        &["tool-results", "*"],
        &[],
        "a large result, of which the session holds the beginning",
    ),
    sidecar(Format::ClaudeCode, &["todos", "*.json"], &[], "the todos of a Claude Code session"),
    sidecar(
        Format::ClaudeCode,
        &["history.jsonl"],
        &["display", "timestamp"],
        "the prompts typed into Claude Code",
    ),
    sidecar(Format::Codex, &["history.jsonl"], &["session_id", "ts", "text"], "the prompts typed into Codex"),
    sidecar(Format::Codex, &["session_index.jsonl"], &["id", "thread_name"], "the list of Codex sessions"),
    sidecar(
        Format::GeminiCli,
        &["logs.json"],
        &["sessionId", "messageId", "message"],
        "the prompts typed into Gemini CLI or Qwen Code",
    ),
    sidecar(Format::Kimi, &["sessions", "*", "*", "state.json"], &[], "the state of a Kimi session"),
];

/// The format beside whose logs a file of this path lies, and what it is.
pub(super) fn find(path: &str, records: &[Record]) -> Option<(Format, &'static str)> {
    let first = records.first().map_or(&Value::Null, |record| &record.value);
    let names: Vec<&str> = path.split(['/', '\\']).collect();
    let found = SIDECARS.iter().find(|sidecar| {
        let end = names.len().checked_sub(sidecar.place.len()).and_then(|from| names.get(from..));
        end.is_some_and(|end| end.iter().zip(sidecar.place).all(|(name, pattern)| fits(name, pattern)))
            && sidecar.fields.iter().all(|field| first.get(field).is_some())
    })?;
    Some((found.format, found.what))
}

/// True for a name that fits a pattern with at most one `*`.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Severity;
    use crate::ingest::ingest;

    #[test]
    fn known_by_their_place_where_no_format_fits() {
        for (path, text, says) in [
            ("a/storage/todo/ses_1.json", "[]", "opencode: the todos of an opencode session"),
            ("a/storage/project/p.json", r#"{"id":"p","worktree":"/p"}"#, "opencode: a project of opencode"),
            (
                "p/sessions-index.json",
                r#"{"version":1,"entries":[]}"#,
                "claude-code: the list of Claude Code sessions",
            ),
            (
                "p/s/subagents/agent-a.meta.json",
                r#"{"agentType":"x"}"#,
                "claude-code: what a sub-agent of Claude Code is",
            ),
            (
                "p/s/tool-results/t.json",
                "17",
                "claude-code: a large result, of which the session holds the beginning",
            ),
            (
                "c/history.jsonl",
                "{\"session_id\":\"s\",\"ts\":1,\"text\":\"hi\"}\n",
                "codex: the prompts typed into Codex",
            ),
            (
                "c/history.jsonl",
                "{\"display\":\"hi\",\"timestamp\":1}\n",
                "claude-code: the prompts typed into Claude Code",
            ),
            (
                "g/logs.json",
                r#"[{"sessionId":"x","messageId":0,"type":"user","message":"hi","timestamp":"2026-01-01T00:00:00Z"}]"#,
                "gemini-cli: the prompts typed into Gemini CLI or Qwen Code",
            ),
        ] {
            let read = ingest(text.as_bytes(), path);
            let [remark] = read.diagnostics.as_slice() else { panic!("{path}: {read:?}") };
            assert_eq!((remark.code, remark.severity), ("part-of-log", Severity::Note), "{path}");
            let format = read.format.map_or("", |format| format.name());
            assert_eq!(format!("{format}: {}", remark.text.split("; ").next().unwrap_or_default()), says);
            assert_eq!(read.bytes.total(), text.len() as u64, "{path}");
        }
    }

    #[test]
    fn a_log_is_what_it_is_wherever_it_lies() {
        let log = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(ingest(log.as_bytes(), "p/tool-results/t.json").sessions.len(), 1);
        for (path, text) in [("history.jsonl", r#"{"odd":1}"#), ("state.json", "{}"), ("x/todo/t.json", "[]")]
        {
            assert!(
                ingest(text.as_bytes(), path).diagnostics.iter().any(|it| it.severity == Severity::Lost),
                "{path}"
            );
        }
    }
}
