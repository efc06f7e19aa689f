//! Terse transcripts for tests: one message a line.
//!
//! `S: text`, `U: text`, `U*: injected text`, `A: text`, `A{a,b}: text` (calls of tool `t` with ids a and b),
//! `A{a=Read /x.rs}: text` (a call of a named tool; what follows is its command for `Bash`, else its file),
//! `T(a): text` (result of the oldest unanswered call with id a), `T!(a): text` (a failed one). `text x100` at the end
//! of a line repeats the word before it a hundred times.

use crate::transcript::{
    Link, Message, MessageIdx, Origin, Outcome, Part, PartRef, Role, Text, ToolCall, ToolResult, Transcript,
};
use thin_vec::ThinVec;

/// Builds a transcript from the notation.
pub(crate) fn transcript(notation: &str) -> Transcript {
    let mut messages: Vec<Message> = Vec::new();
    let mut links: Vec<Link> = Vec::new();
    for line in notation.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (head, text) = line.split_once(':').expect("every line has a colon");
        let text = repeated(text.trim());
        let at = |part: usize| PartRef { message: MessageIdx::new(messages.len()), part: part as u32 };
        let mut parts = Vec::new();
        let role = match head.chars().next().expect("a head") {
            'S' => Role::System,
            'U' => Role::User,
            'A' => Role::Assistant,
            'T' => Role::Tool,
            other => panic!("unknown role {other}"),
        };
        if role == Role::Tool {
            let id = head.split(['(', ')']).nth(1).expect("T(id)").to_owned();
            let result = at(0);
            let link = links.iter_mut().find(|link| {
                link.result.is_none()
                    && matches!(&messages[link.call.message.get()].parts[link.call.part as usize], Part::Call(call) if call.id == id)
            });
            link.expect("the call stands before its result").result = Some(result);
            let outcome = if head.starts_with("T!") { Outcome::Failed } else { Outcome::Ok };
            parts.push(Part::result(ToolResult { call_id: id, text, outcome, exit_code: None, images: 0 }));
        } else {
            if !text.is_empty() {
                parts.push(Part::Text(Text { text, injected: head.starts_with("U*") }));
            }
            if let Some(ids) = head.split(['{', '}']).nth(1) {
                for id in ids.split(',') {
                    links.push(Link { call: at(parts.len()), result: None });
                    let (id, tool) = id.split_once('=').unwrap_or((id, "t"));
                    let (name, argument) = tool.split_once(' ').unwrap_or((tool, ""));
                    let arguments = match name {
                        "t" => "{}".to_owned(),
                        "Bash" => format!("{{\"command\":{argument:?}}}"),
                        _ => format!("{{\"file_path\":{argument:?}}}"),
                    };
                    parts.push(Part::call(ToolCall { id: id.to_owned(), name: name.into(), arguments }));
                }
            }
        }
        let line = messages.len() as u32 + 1;
        messages.push(Message {
            role,
            parts: parts.into(),
            line,
            cwd: None,
            usage: None,
            lines: ThinVec::new(),
            time: None,
        });
    }
    let transcript = Transcript {
        id: "test".to_owned(),
        origin: Origin::Main,
        messages,
        links,
        recorded: Vec::new(),
        continues: None,
        refusals: Vec::new(),
        format: None,
        model: None,
        context_window: None,
        tool_schema: None,
        starts_compacted: false,
        starts_midway: false,
    };
    assert_eq!(transcript.check(), Vec::<String>::new());
    transcript
}

/// Expands `word x100` at the end of a text.
fn repeated(text: &str) -> String {
    let Some((before, times)) = text.rsplit_once(" x") else { return text.to_owned() };
    let Ok(times) = times.parse::<usize>() else { return text.to_owned() };
    let (start, word) = before.rsplit_once(' ').unwrap_or(("", before));
    let mut out = start.to_owned();
    for _ in 0..times {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Files of the corpus under some of its folders, sorted, with their bytes; `None` where there is no corpus.
#[expect(clippy::disallowed_methods, reason = "tests read the corpus where there is one")]
pub(crate) fn corpus_files(folders: &[&str]) -> Option<Vec<(String, Vec<u8>)>> {
    let root = std::env::var_os("COMPACTOR_CORPUS").map_or_else(
        || std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        std::path::PathBuf::from,
    );
    let mut paths: Vec<std::path::PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let files: Vec<(String, Vec<u8>)> = paths
        .into_iter()
        .filter_map(|path| {
            Some((path.strip_prefix(&root).ok()?.display().to_string(), std::fs::read(&path).ok()?))
        })
        .collect();
    if files.is_empty() {
        eprintln!("skipped: no corpus at {}", root.display());
        return None;
    }
    Some(files)
}

/// The rules of a modelled system as TOML text, without those that it extends.
pub(crate) fn part(name: &str) -> &'static str {
    crate::profile::Profile::text_of(name).expect("an embedded profile")
}
