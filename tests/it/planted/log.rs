//! Writes a session as the log of one of three agents, and reads back what text a line of it holds.

use serde_json::{Value, json};

/// Whose log it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Format {
    ClaudeCode,
    Codex,
    Pi,
}

/// What a call does; each format has its own tools for it.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// Reads a file.
    Read(String),
    /// Changes a file.
    Edit(String),
    /// Tries to change a file and fails, with what the tool says then.
    FailedEdit(String, String),
    /// Writes a new file.
    Create(String),
    /// Removes a file, by a patch where the agent has patches.
    Delete(String),
    /// Moves a file, by a patch where the agent has patches.
    Move(String, String),
    /// Runs a script: what it prints, and its exit code.
    Shell { script: String, output: String, code: u8 },
    /// Sets the todo list: items with their state in words of Claude Code.
    Todos(Vec<(String, &'static str)>),
}

/// One turn of user or agent.
#[derive(Debug, Clone)]
pub(super) enum Turn {
    User(Vec<Said>),
    Agent { texts: Vec<Said>, calls: Vec<(usize, Action)> },
}

/// A sentence, with the number of what it is there for.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) act: Option<usize>,
    pub(super) text: String,
}

/// A written log.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) text: String,
    /// Line of each act: of its text, or of its call.
    pub(super) lines: Vec<u32>,
    /// Line of the result of each act that is a call.
    pub(super) results: Vec<u32>,
    /// Line on which each turn begins.
    pub(super) turns: Vec<u32>,
}

impl Log {
    /// All text that the record on a line holds, decoded, arguments of calls as well.
    pub(super) fn held(&self, line: u32) -> Vec<String> {
        let mut out = Vec::new();
        let record = self.text.lines().nth(line as usize - 1).unwrap_or("");
        if let Ok(value) = serde_json::from_str::<Value>(record) {
            strings(&value, &mut out);
        }
        out
    }

    pub(super) fn len(&self) -> u32 {
        self.text.lines().count() as u32
    }
}

/// Strings of a value, those inside strings that are JSON themselves as well.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                strings(&inner, out);
            }
            out.push(text.clone());
        }
        Value::Array(list) => list.iter().for_each(|inner| strings(inner, out)),
        Value::Object(map) => map.values().for_each(|inner| strings(inner, out)),
        _ => {}
    }
}

/// Writes the turns of a session that works in a directory. `acts` is the number of acts there are.
pub(super) fn write(format: Format, id: &str, cwd: &str, turns: &[Turn], acts: usize) -> Log {
    let log = Log { text: String::new(), lines: vec![0; acts], results: vec![0; acts], turns: Vec::new() };
    let mut writer = Writer { format, id, cwd, log, line: 0, parent: Value::Null, replies: 0 };
    writer.head();
    for turn in turns {
        writer.turn(turn);
    }
    writer.log
}

struct Writer<'a> {
    format: Format,
    id: &'a str,
    cwd: &'a str,
    log: Log,
    line: u32,
    parent: Value,
    replies: u32,
}

/// Tool, arguments, result and whether it failed.
struct Dressed {
    tool: &'static str,
    arguments: Value,
    result: String,
    code: u8,
}

impl Writer<'_> {
    fn record(&mut self, record: &Value) {
        self.log.text.push_str(&record.to_string());
        self.log.text.push('\n');
        self.line += 1;
    }

    fn clock(&self) -> String {
        let seconds = self.line * 7;
        format!("2026-03-04T{:02}:{:02}:{:02}.000Z", 8 + seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    fn head(&mut self) {
        let clock = self.clock();
        match self.format {
            Format::ClaudeCode => {}
            Format::Codex => {
                let meta = json!({"id": self.id, "timestamp": clock, "cwd": self.cwd, "originator": "codex_cli_rs",
                    "cli_version": "0.44.0", "instructions": null});
                self.record(&json!({"timestamp": clock, "type": "session_meta", "payload": meta}));
                let context =
                    format!("<environment_context>\n  <cwd>{}</cwd>\n</environment_context>", self.cwd);
                self.said("user", &context);
            }
            Format::Pi => self.record(
                &json!({"type": "session", "version": 3, "id": self.id, "timestamp": clock, "cwd": self.cwd}),
            ),
        }
    }

    fn turn(&mut self, turn: &Turn) {
        self.log.turns.push(self.line + 1);
        let (said, calls) = match turn {
            Turn::User(said) => (said, None),
            Turn::Agent { texts, calls } => (texts, Some(calls)),
        };
        let line = self.line + 1;
        for act in said.iter().filter_map(|said| said.act) {
            self.log.lines[act] = line;
        }
        let text = joined(said);
        let Some(calls) = calls else { return self.said("user", &text) };
        self.replies += 1;
        let dressed: Vec<(usize, Dressed)> =
            calls.iter().map(|(act, action)| (*act, self.dress(action))).collect();
        if self.format == Format::Pi {
            // One record for all of a reply.
            let line = self.line + 1;
            let mut content = vec![json!({"type": "text", "text": text})];
            for (act, call) in &dressed {
                self.log.lines[*act] = line;
                content.push(json!({"type": "toolCall", "id": format!("call_{act}"), "name": call.tool,
                    "arguments": call.arguments}));
            }
            self.message(&json!({"role": "assistant", "content": content, "model": "claude-sonnet-4"}));
        } else {
            self.said("assistant", &text);
            for (act, call) in &dressed {
                self.log.lines[*act] = self.line + 1;
                self.call(*act, call);
            }
        }
        for (act, call) in &dressed {
            self.log.results[*act] = self.line + 1;
            self.result(*act, call);
        }
    }

    fn said(&mut self, role: &str, text: &str) {
        match (self.format, role) {
            (Format::Codex, _) => {
                let kind = if role == "user" { "input_text" } else { "output_text" };
                self.item(
                    &json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
                );
            }
            (_, "user") => self.message(&json!({"role": "user", "content": text})),
            _ => self.message(&json!({"role": "assistant", "id": format!("msg_{}", self.replies),
                "model": "claude-sonnet-4", "content": [{"type": "text", "text": text}]})),
        }
    }

    /// A record of Codex.
    fn item(&mut self, payload: &Value) {
        let clock = self.clock();
        self.record(&json!({"timestamp": clock, "type": "response_item", "payload": payload}));
    }

    /// A record of Claude Code or pi.
    fn message(&mut self, message: &Value) {
        let clock = self.clock();
        let name = format!("{}-{}", self.id, self.line);
        let parent = std::mem::replace(&mut self.parent, json!(name));
        let record = match self.format {
            Format::ClaudeCode => json!({"parentUuid": parent, "isSidechain": false, "userType": "external",
                "cwd": self.cwd, "sessionId": self.id, "version": "1.0.128", "type": message["role"],
                "message": message, "uuid": name, "timestamp": clock}),
            _ => {
                json!({"type": "message", "id": name, "parentId": parent, "timestamp": clock, "message": message})
            }
        };
        self.record(&record);
    }

    fn call(&mut self, act: usize, call: &Dressed) {
        let id = format!("call_{act}");
        match (self.format, &call.arguments) {
            (Format::Codex, Value::String(input)) => self
                .item(&json!({"type": "custom_tool_call", "call_id": id, "name": call.tool, "input": input})),
            (Format::Codex, arguments) => self.item(&json!({"type": "function_call", "call_id": id,
                "name": call.tool, "arguments": arguments.to_string()})),
            (_, arguments) => {
                self.message(&json!({"role": "assistant", "id": format!("msg_{}", self.replies),
                "model": "claude-sonnet-4",
                "content": [{"type": "tool_use", "id": id, "name": call.tool, "input": arguments}]}));
            }
        }
    }

    fn result(&mut self, act: usize, call: &Dressed) {
        let id = format!("call_{act}");
        let failed = call.code != 0;
        match self.format {
            Format::ClaudeCode => self.message(&json!({"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": id, "content": call.result, "is_error": failed}]})),
            Format::Codex => {
                let kind = if call.arguments.is_string() {
                    "custom_tool_call_output"
                } else {
                    "function_call_output"
                };
                let output = json!({"output": call.result,
                    "metadata": {"exit_code": call.code, "duration_seconds": 0.2}});
                self.item(&json!({"type": kind, "call_id": id, "output": output.to_string()}));
            }
            Format::Pi => self
                .message(&json!({"role": "toolResult", "toolCallId": id, "toolName": call.tool,
                "content": [{"type": "text", "text": call.result}], "isError": failed})),
        }
    }

    /// An action as a call of this agent's tools.
    fn dress(&self, action: &Action) -> Dressed {
        let call = |tool, arguments, result: &str, code| Dressed {
            tool,
            arguments,
            result: result.to_owned(),
            code,
        };
        let content = "// one line\n";
        match (self.format, action) {
            (Format::ClaudeCode, Action::Read(path)) => {
                call("Read", json!({"file_path": self.native(path)}), "     1→// one line\n", 0)
            }
            (Format::Pi, Action::Read(path)) => {
                call("read", json!({"path": self.relative(path)}), content, 0)
            }
            (Format::Codex, Action::Read(path)) => {
                self.shell(&format!("sed -n '1,120p' {}", self.relative(path)), content, 0)
            }
            (Format::ClaudeCode, Action::Edit(path)) => call(
                "Edit",
                json!({"file_path": self.native(path), "old_string": "one", "new_string": "a"}),
                "The file has been updated.",
                0,
            ),
            (Format::Pi, Action::Edit(path)) => call(
                "edit",
                json!({"path": path, "oldText": "one", "newText": "a"}),
                "Successfully replaced text.",
                0,
            ),
            (Format::Codex, Action::Edit(path)) => {
                let name = self.relative(path);
                Self::patch(&format!("*** Update File: {name}\n@@\n-// one line\n+// a line\n"), Ok(()))
            }
            (Format::ClaudeCode, Action::FailedEdit(path, said)) => call(
                "Edit",
                json!({"file_path": self.native(path), "old_string": "two", "new_string": "b"}),
                &format!("<tool_use_error>{said}</tool_use_error>"),
                1,
            ),
            (Format::Pi, Action::FailedEdit(path, said)) => {
                call("edit", json!({"path": path, "oldText": "two", "newText": "b"}), said, 1)
            }
            (Format::Codex, Action::FailedEdit(path, said)) => {
                let name = self.relative(path);
                Self::patch(&format!("*** Update File: {name}\n@@\n-// two lines\n+// b\n"), Err(said))
            }
            (Format::ClaudeCode, Action::Create(path)) => call(
                "Write",
                json!({"file_path": self.native(path), "content": content}),
                "File created successfully.",
                0,
            ),
            (Format::Pi, Action::Create(path)) => {
                call("write", json!({"path": path, "content": content}), "Successfully wrote 12 bytes.", 0)
            }
            (Format::Codex, Action::Create(path)) => {
                Self::patch(&format!("*** Add File: {}\n+// one line\n", self.relative(path)), Ok(()))
            }
            (Format::Codex, Action::Delete(path)) => {
                Self::patch(&format!("*** Delete File: {}\n", self.relative(path)), Ok(()))
            }
            (_, Action::Delete(path)) => self.shell(&format!("git rm -q {}", self.relative(path)), "", 0),
            (Format::Codex, Action::Move(from, to)) => {
                let (from, to) = (self.relative(from), self.relative(to));
                Self::patch(
                    &format!("*** Update File: {from}\n*** Move to: {to}\n@@\n-// one line\n+// a line\n"),
                    Ok(()),
                )
            }
            (_, Action::Move(from, to)) => {
                let (from, to) = (self.relative(from), self.relative(to));
                self.shell(&format!("git mv {from} {to}"), "", 0)
            }
            (_, Action::Shell { script, output, code }) => self.shell(script, output, *code),
            (Format::Codex, Action::Todos(items)) => {
                let plan: Vec<Value> =
                    items.iter().map(|(text, state)| json!({"step": text, "status": state})).collect();
                call("update_plan", json!({"plan": plan}), "Plan updated", 0)
            }
            (_, Action::Todos(items)) => {
                let todos: Vec<Value> = items
                    .iter()
                    .map(|(text, state)| json!({"content": text, "status": state, "activeForm": "Working"}))
                    .collect();
                call("TodoWrite", json!({"todos": todos}), "Todos have been modified successfully.", 0)
            }
        }
    }

    fn shell(&self, script: &str, output: &str, code: u8) -> Dressed {
        let (tool, arguments) = match self.format {
            Format::ClaudeCode => ("Bash", json!({"command": script, "description": "Run it"})),
            Format::Codex => ("shell", json!({"command": ["bash", "-lc", script], "workdir": self.cwd})),
            Format::Pi => ("bash", json!({"command": script})),
        };
        Dressed { tool, arguments, result: output.to_owned(), code }
    }

    fn patch(body: &str, end: Result<(), &String>) -> Dressed {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        let (result, code) = end.map_or_else(|said| (said.clone(), 1), |()| ("Success.".to_owned(), 0));
        Dressed { tool: "apply_patch", arguments: Value::String(patch), result, code }
    }

    fn relative<'p>(&self, path: &'p str) -> &'p str {
        let cwd = self.cwd.replace('\\', "/");
        path.strip_prefix(&cwd).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    /// As the platform of the working directory spells it.
    fn native(&self, path: &str) -> String {
        if self.cwd.contains('\\') { path.replace('/', "\\") } else { path.to_owned() }
    }
}

/// Sentences as one text: some in a row, some on lines of their own.
fn joined(said: &[Said]) -> String {
    let mut out = String::new();
    for (at, one) in said.iter().enumerate() {
        if at > 0 {
            out.push_str(if one.text.len() % 3 == 0 { "\n\n" } else { " " });
        }
        out.push_str(&one.text);
    }
    out
}
