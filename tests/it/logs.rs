//! Small logs of real formats written by hand, and runs over them.

use crate::support::Sandbox;
use compactor::context::{Block, Context, Entry};
use compactor::discover::discover;
use compactor::ingest::{Ingested, ingest};
use compactor::profile::Profile;
use compactor::replay::recorded::recorded;
use compactor::replay::{Mode, Plan, Prepared, Replay, ScheduleMode, effects, replay};
use compactor::results::RunOutput;
use compactor::run::{Job, RunSettings, WindowChoice, Windows, run};
use compactor::strategy::Strategy;
use compactor::summarize::Summarizer;
use compactor::tokens::{TokenIndex, Tokenizer};
use compactor::transcript::{Role, Transcript};
use serde_json::{Value, json};

/// A pi session: entries one after the other, with the ids `e0`, `e1`, ...
pub(crate) fn pi(entries: &[Value]) -> String {
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "p-1", "cwd": "/w"}).to_string()];
    for (at, entry) in entries.iter().enumerate() {
        let mut entry = entry.clone();
        entry["id"] = json!(format!("e{at}"));
        entry["parentId"] = at.checked_sub(1).map_or(Value::Null, |before| json!(format!("e{before}")));
        lines.push(entry.to_string());
    }
    lines.join("\n") + "\n"
}

/// A pi entry that is a message.
fn message(message: &Value) -> Value {
    json!({"type": "message", "message": message})
}

/// A person says something (pi).
pub(crate) fn user(text: &str) -> Value {
    message(&json!({"role": "user", "content": text}))
}

/// The agent says something (pi).
pub(crate) fn agent(text: &str) -> Value {
    message(&json!({"role": "assistant", "content": [{"type": "text", "text": text}]}))
}

/// The agent calls a tool (pi).
pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Value {
    let block = json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
    message(&json!({"role": "assistant", "content": [block]}))
}

/// The tool answers (pi).
pub(crate) fn done(id: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    message(&json!({"role": "toolResult", "toolCallId": id, "content": content, "isError": false}))
}

/// A call with its result (pi).
pub(crate) fn step(id: &str, name: &str, arguments: &Value, text: &str) -> [Value; 2] {
    [call(id, name, arguments), done(id, text)]
}

/// A compaction that keeps everything from an entry on (pi).
pub(crate) fn compaction(summary: &str, first_kept: usize) -> Value {
    json!({"type": "compaction", "summary": summary, "firstKeptEntryId": format!("e{first_kept}"), "tokensBefore": 900})
}

/// A compaction that keeps nothing (pi).
pub(crate) fn whole_compaction(summary: &str) -> Value {
    json!({"type": "compaction", "summary": summary, "retainedTail": [], "tokensBefore": 900})
}

/// A Codex rollout with a header in front.
pub(crate) fn codex(records: &[Value]) -> String {
    let header =
        json!({"type": "session_meta", "payload": {"id": "c-1", "cwd": "/w", "cli_version": "0.142.0"}});
    let lines: Vec<String> = std::iter::once(&header).chain(records).map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// A response item of a rollout.
pub(crate) fn item(payload: &Value) -> Value {
    json!({"type": "response_item", "payload": payload})
}

/// What somebody says in a rollout.
pub(crate) fn codex_says(role: &str, text: &str) -> Value {
    item(&codex_message(role, text))
}

/// The same as it stands in a replacement history.
pub(crate) fn codex_message(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// A compaction of a rollout.
pub(crate) fn codex_compacted(summary: &str, history: &[Value]) -> Value {
    json!({"type": "compacted", "payload": {"message": summary, "replacement_history": history}})
}

/// A Claude Code session: records one after the other, with the ids `u0`, `u1`, ...
pub(crate) fn claude(records: &[Value]) -> String {
    let mut lines = String::new();
    for (at, record) in records.iter().enumerate() {
        let mut record = record.clone();
        record["uuid"] = json!(format!("u{at}"));
        let before = at.checked_sub(1).map_or(Value::Null, |before| json!(format!("u{before}")));
        let boundary = record["subtype"] == "compact_boundary";
        record["parentUuid"] = if boundary { Value::Null } else { before.clone() };
        if boundary {
            record["logicalParentUuid"] = before;
        }
        record["sessionId"] = json!("s-1");
        record["cwd"] = json!("/w");
        lines += &format!("{record}\n");
    }
    lines
}

/// A person says something (Claude Code).
pub(crate) fn claude_user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// The agent says something, in a reply with this id (Claude Code).
pub(crate) fn claude_agent(reply: &str, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"type": "assistant", "message": {"id": reply, "role": "assistant", "model": "m", "content": content}})
}

/// A compaction: its boundary and its summary (Claude Code).
pub(crate) fn claude_compaction(summary: &str) -> [Value; 2] {
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 900}});
    let mut summary = claude_user(summary);
    summary["isCompactSummary"] = json!(true);
    [boundary, summary]
}

/// The only session of a log.
pub(crate) fn session(log: &str) -> (Transcript, Ingested) {
    let mut read = ingest(log.as_bytes(), "log.jsonl");
    assert_eq!(read.sessions.len(), 1, "{read:?}");
    let transcript = read.sessions.remove(0);
    assert_eq!(transcript.check(), Vec::<String>::new());
    (transcript, read)
}

/// Codes of what a reader noticed.
pub(crate) fn codes(read: &Ingested) -> Vec<&'static str> {
    read.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// The compactions that a session holds, as a replay.
pub(crate) fn recorded_in(transcript: &Transcript) -> Replay {
    let tokens = TokenIndex::new(transcript, Tokenizer::O200k);
    let effects = effects(transcript);
    recorded(&Prepared::new(transcript, &tokens, Tokenizer::O200k, &effects), 100_000)
}

/// A session compacted at the window at which it is compacted `cycles` times.
pub(crate) fn compacted(
    transcript: &Transcript,
    strategy: Strategy,
    cycles: usize,
    summarizer: &dyn Summarizer,
) -> Replay {
    let tokens = TokenIndex::new(transcript, Tokenizer::O200k);
    let effects = effects(transcript);
    let prepared = Prepared::new(transcript, &tokens, Tokenizer::O200k, &effects);
    let profile = Profile::standard();
    let planner = prepared.planner(&profile, None);
    let window = planner.window_for(cycles);
    let locked = planner.schedule(window, cycles);
    let (mode, schedule) = (Mode::Grow, ScheduleMode::Locked);
    let plan = Plan { profile: &profile, strategy, window, limit: cycles, mode, schedule };
    let result = replay(&prepared, &planner, &locked, plan, summarizer);
    assert_eq!(result.cycles.len(), cycles, "window {window}");
    result
}

/// What is sent of a context, a message each: role and texts, calls and results by the id of the call.
pub(crate) fn sent(context: &Context, transcript: &Transcript) -> Vec<String> {
    let id = |link: usize| transcript.call(&transcript.links[link]).expect("a call").id.clone();
    let shown = |block: &Block<'_>| match block {
        Block::Text(text) | Block::Thinking(text) => text.to_string(),
        Block::Call { link, .. } => format!("call {}", id(*link)),
        Block::Result { link, .. } => format!("result {}", id(*link)),
        Block::Image | Block::Other => "other".to_owned(),
    };
    let role = |role: Role| match role {
        Role::System => "S",
        Role::User => "U",
        Role::Assistant => "A",
        Role::Tool => "T",
    };
    let sent = context.serialize(transcript);
    sent.iter()
        .map(|it| {
            format!("{} {}", role(it.role), it.blocks.iter().map(shown).collect::<Vec<_>>().join(" + "))
        })
        .collect()
}

/// Generated texts of a context.
pub(crate) fn summaries(context: &Context) -> Vec<&str> {
    let entries = context.entries.iter();
    entries
        .filter_map(|entry| match entry {
            Entry::Summary { text, .. } => Some(text.as_str()),
            Entry::Kept(_) | Entry::Clipped { .. } => None,
        })
        .collect()
}

/// Settings of a replay.
pub(crate) fn replaying(strategies: &[Strategy], windows: Windows) -> RunSettings {
    RunSettings { jobs: 2, log_facts: true, ..RunSettings::replay(strategies, windows) }
}

/// Settings of an audit.
pub(crate) fn auditing() -> RunSettings {
    RunSettings { job: Job::Audit, ..replaying(&[], Windows::Given(Vec::new())) }
}

/// One window.
pub(crate) fn window(tokens: u64) -> Windows {
    Windows::Given(vec![WindowChoice::Tokens(tokens)])
}

/// Everything that a run over some logs produces.
pub(crate) fn measure(logs: &[String], settings: &RunSettings, summarizer: &dyn Summarizer) -> RunOutput {
    let sandbox = Sandbox::new();
    for (at, log) in logs.iter().enumerate() {
        sandbox.file(&format!("logs/{at:03}.jsonl"), log);
    }
    run(&discover(&[sandbox.path("logs")]), settings, summarizer, &|_, _| {}).expect("two threads")
}

/// Many turns of work, each on a file of its own.
pub(crate) fn long_work(turns: usize) -> Vec<Value> {
    let mut entries = Vec::new();
    for turn in 0..turns {
        let path = format!("/w/gallery/widget_{turn}.css");
        entries.push(user(&format!("Tidy the margins of widget {turn} in the gallery")));
        let read = json!({"path": format!("/w/gallery/grid_{turn}.md")});
        entries.extend(step(&format!("r{turn}"), "read", &read, &"rows and columns of the grid ".repeat(20)));
        entries.extend(step(
            &format!("w{turn}"),
            "edit",
            &json!({"path": path, "oldText": "a", "newText": "b"}),
            "ok",
        ));
        entries.push(agent(&format!("The margins of widget {turn} follow the grid now.")));
    }
    entries
}

/// Records as lines of a log.
pub(crate) fn jsonl(records: &[Value]) -> String {
    records.iter().flat_map(|record| [record.to_string(), "\n".to_owned()]).collect()
}
