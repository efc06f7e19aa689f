//! The messages of Cline's interface, read as a conversation: what was shown to the user. Of calls it has the tool and its
//! arguments, of results only what commands printed.

use crate::ingest::value::json;
use crate::ingest::value::{Value, shared};

use crate::diagnostic::Severity;
use crate::ingest::build;
use crate::ingest::json::{self, counts, flag, take, take_text, text, tokens};
use crate::ingest::lines::Record;
use crate::ingest::links::Draft;
use crate::ingest::outcome;
use crate::ingest::sink::Sink;
use crate::transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Usage};

/// The tools as the interface names them, and their names.
const TOOLS: [(&str, &str); 12] = [
    ("readFile", "read_file"),
    ("newFileCreated", "write_to_file"),
    ("editedExistingFile", "replace_in_file"),
    ("appliedDiff", "apply_diff"),
    ("insertContent", "insert_content"),
    ("searchAndReplace", "search_and_replace"),
    ("fileDeleted", "delete_file"),
    ("listFilesTopLevel", "list_files"),
    ("listFilesRecursive", "list_files"),
    ("listCodeDefinitionNames", "list_code_definition_names"),
    ("searchFiles", "search_files"),
    ("updateTodoList", "update_todo_list"),
];

/// What ends a text that asks for the user's consent.
const CONSENT: &str = "REQ_APP";

/// The usage that a message tells of its request.
pub(super) fn usage(message: &Value, line: u32, out: &mut Sink) -> Option<Usage> {
    let told: Value = serde_json::from_str(text(message, "text")?).ok()?;
    let found = counts(&told, ["tokensIn", "cacheReads", "cacheWrites", "tokensOut"]);
    let [fresh, read, write, said] = out.told(line, found)?;
    let input = fresh.saturating_add(read).saturating_add(write);
    let usage = Usage { input, cache_read: read, cache_write: write, output: said };
    (usage.input > 0 || usage.output > 0).then_some(usage)
}

/// Reads the messages of one task.
pub(super) fn read(records: Vec<Record>, name: &str, out: &mut Sink) {
    let mut reader = Reader { draft: Draft::new(name), usage: None };
    for Record { line, value } in records {
        out.raw.messages += 1;
        let what = text(&value, "type").and_then(|kind| text(&value, kind)).unwrap_or_default().to_owned();
        out.raw.tool_calls += u64::from(matches!(what.as_str(), "tool" | "command"));
        if !flag(&value, "partial") {
            reader.message(value, &what, line, out);
        }
    }
    out.finish_draft(reader.draft);
}

/// Builds the session message by message.
struct Reader {
    draft: Draft,
    /// Usage of the request whose reply comes next.
    usage: Option<Usage>,
}

impl Reader {
    fn message(&mut self, mut value: Value, what: &str, line: u32, out: &mut Sink) {
        if let Some(model) = value.get("modelInfo").and_then(|model| text(model, "modelId")) {
            self.draft.model = Some(model.to_owned());
        }
        let time = json::time_at(&value, "ts");
        let mut said = take_text(&mut value, "text");
        let first = self.draft.messages.is_empty();
        let asked = text(&value, "type") == Some("ask");
        match what {
            "task" | "user_feedback" => self.push(Role::User, build::text(said, false), line, time),
            "text" if first => self.push(Role::User, build::text(said, false), line, time),
            "text" => self.push(Role::Assistant, build::text(said, false), line, time),
            "user_feedback_diff" => self.push(Role::User, build::text(said, true), line, time),
            "completion_result" if asked => {}
            "completion_result" => self.push(Role::Assistant, build::text(said, false), line, time),
            "reasoning" => self.push(Role::Assistant, Part::Thinking(said), line, time),
            "followup" | "plan_mode_respond" => {
                let told: Option<Value> = serde_json::from_str(&said).ok();
                let field = |key: &str| told.as_ref().and_then(|told| text(told, key)).map(str::to_owned);
                let said = field("question").or_else(|| field("response")).unwrap_or(said);
                self.push(Role::Assistant, build::text(said, false), line, time);
            }
            "tool" => self.call(&said, line, time, out),
            "command" => {
                let command = said.strip_suffix(CONSENT).unwrap_or(&said);
                let arguments = json!({ "command": command }).to_string();
                let (id, name) = (String::new(), "execute_command".to_owned());
                self.push(
                    Role::Assistant,
                    Part::call(ToolCall { id, name: shared(&name), arguments }),
                    line,
                    time,
                );
            }
            "command_output" => self.output(said, line, time),
            "use_mcp_server" => {
                let told: Value = serde_json::from_str(&said).unwrap_or_default();
                let name = text(&told, "toolName").unwrap_or("use_mcp_server").to_owned();
                let arguments = text(&told, "arguments").map_or(said, str::to_owned);
                self.push(
                    Role::Assistant,
                    Part::call(ToolCall { id: String::new(), name: shared(&name), arguments }),
                    line,
                    time,
                );
            }
            "api_req_started" => {
                value = json!({ "text": said });
                self.usage = usage(&value, line, out);
            }
            "condense_context" => self.condensed(take(&mut value, "contextCondense"), line, out),
            "error" => {
                said.truncate(said.char_indices().nth(200).map_or(said.len(), |(at, _)| at));
                out.note(line, "shown-error", Severity::Note, format!("an error shown to the user: {said}"));
            }
            "" => out.note(
                line,
                "unknown-record",
                Severity::Note,
                "a message that neither says nor asks, left out",
            ),
            // Checkpoints, questions of consent, progress: nothing that was said.
            _ => {}
        }
    }

    /// Adds a part; the parts of one reply are one message.
    fn push(&mut self, role: Role, part: Part, line: u32, time: Option<i64>) {
        if let Some(last) =
            self.draft.messages.last_mut().filter(|last| role == Role::Assistant && last.role == role)
            && self.usage.is_none()
        {
            last.push(part, line);
            return;
        }
        let usage = self.usage.take_if(|_| role == Role::Assistant);
        self.draft.messages.push(Message {
            usage: usage.map(Box::new),
            time,
            ..build::message(role, vec![part], line)
        });
    }

    fn call(&mut self, said: &str, line: u32, time: Option<i64>, out: &mut Sink) {
        let told: Value = serde_json::from_str(said).unwrap_or_default();
        let Some(tool) = text(&told, "tool") else {
            out.damage(line, "bad-call", "a call that cannot be read; its content is lost");
            return;
        };
        let name = TOOLS.iter().find(|(shown, _)| *shown == tool).map_or(tool, |(_, name)| *name).to_owned();
        let call = ToolCall { id: String::new(), name: shared(&name), arguments: said.to_owned() };
        self.push(Role::Assistant, Part::call(call), line, time);
    }

    /// What a command printed; more of it comes in further messages.
    fn output(&mut self, said: String, line: u32, time: Option<i64>) {
        if let Some(last) = self.draft.messages.last_mut()
            && let [Part::Result(result)] = last.parts.as_mut_slice()
        {
            result.text.push('\n');
            result.text.push_str(&said);
            return;
        }
        let (outcome, exit_code) = outcome::judge(&said, Outcome::Unknown);
        let result = ToolResult { call_id: String::new(), text: said, outcome, exit_code, images: 0 };
        self.push(Role::Tool, Part::result(result), line, time);
    }

    /// A summary that Roo went on with.
    fn condensed(&mut self, mut told: Value, line: u32, out: &mut Sink) {
        if !told.is_object() {
            return;
        }
        out.raw.compactions += 1;
        let count = |key: &str, out: &mut Sink| out.told(line, tokens(&told, key)).flatten();
        let (before, after) = (count("prevContextTokens", out), count("newContextTokens", out));
        let summary = Some(take_text(&mut told, "summary"));
        let mut recorded = build::compaction(&self.draft, summary, line);
        (recorded.tokens_before, recorded.tokens_after) = (before, after);
        out.kept_unknown(&mut recorded, "the interface does not show it");
        self.draft.recorded.push(recorded);
    }
}
