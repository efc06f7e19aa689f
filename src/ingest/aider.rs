//! Aider's chat histories: a text in Markdown to which every run appends.
//!
//! A header opens a session. Lines that begin with `#### ` are what the user typed, lines that begin with `> ` what the program
//! printed, everything else is the reply; aider itself reads it back like this, so a quotation in a reply ends it here too.
//!
//! Edits stand in the replies as text and become calls: blocks with a search and a replacement (under either of their names), and
//! patches and whole files where the program said that it applied an edit to that file. The lines `Applied edit to FILE` are their
//! results, and what it printed about blocks that did not match. An edit that was applied and cannot be found in the reply is a
//! call with nothing but its path.
//!
//! Commands of the user (`/add`) speak to the program and are injected text, save those that ask the model something. What the
//! program printed behind the first prompt is injected text as well (of `/run` and `/add` the model sees it), without the lines
//! that only say what was done with tokens, models and commits. Sessions have no ids and only a local time, which is not read.

mod edits;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use arcstr::ArcStr;

use super::build::{self, message};
use super::formats::Format;
use super::links::Draft;
use super::shapes::TextShape;
use super::sink::Sink;
use crate::diagnostic::Severity;
use crate::transcript::{Message, Part, Role};

/// Chat histories.
pub(super) static SHAPE: TextShape = TextShape { format: Format::Aider, sniff, read };

/// How a session opens.
const HEADER: &str = "# aider chat started at ";
/// In front of what the user typed.
const TYPED: &str = "#### ";
/// In front of what the program printed.
const PRINTED: &str = "> ";
/// How each block of an edit opens, as counted by others.
const SEARCH: &str = "<<<<<<< SEARCH";

/// What the program prints only in chats, in a history without a header.
const PRINTS: [&str; 3] = ["\n> Applied edit to ", "\n> Aider v", " to the chat"];

/// Commands that ask the model.
const ASKING: [&str; 4] = ["/ask", "/code", "/architect", "/context"];

/// How texts open that the program wrote in the user's place.
const REFLECTED: [&str; 4] = ["# Fix any errors below", "I ran this command:", "<blank>", "!"];

/// What the program prints about itself.
const BOOKKEEPING: [&str; 24] = [
    "Aider v",
    "Command Line",
    "Main model",
    "Weak model",
    "Editor model",
    "Model:",
    "Models:",
    "Git repo",
    "Git working dir",
    "Cur working dir",
    "Repo-map",
    "Use /help",
    "Tokens:",
    "Cost:",
    "Commit ",
    "You can ",
    "Did you",
    "No model",
    "JSON Schema",
    "Note: ",
    "Retrying in",
    "Approximate context",
    "For more info",
    "^C again",
];

fn sniff(text: &str) -> Option<&'static str> {
    let begins = |start: &str| text.starts_with(start) || text.contains(&format!("\n{start}"));
    if begins(HEADER) {
        return Some("has the header of an aider chat");
    }
    (begins(TYPED) && PRINTS.iter().any(|print| text.contains(print)))
        .then_some("has prompts and messages of an aider chat")
}

/// Who wrote a block of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    User,
    Program,
    Model,
}

/// Lines that belong together.
#[derive(Debug)]
struct Block<'a> {
    writer: Writer,
    /// Line of the first of them.
    line: u32,
    lines: Vec<&'a str>,
}

fn read(text: &mut Cow<'_, str>, name: &str, out: &mut Sink) {
    let text = &**text;
    let mut sessions: Vec<Vec<Block<'_>>> = vec![Vec::new()];
    let mut closed = true;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with(HEADER) {
            out.raw.messages += 1;
            sessions.push(Vec::new());
            closed = true;
            continue;
        }
        let (writer, inner) = if let Some(typed) = line.strip_prefix(TYPED) {
            out.raw.messages += 1;
            (Writer::User, typed.strip_suffix("  ").unwrap_or(typed))
        } else if let Some(printed) = line.strip_prefix(PRINTED) {
            (Writer::Program, printed.trim_end())
        } else {
            (Writer::Model, line)
        };
        let Some(blocks) = sessions.last_mut() else { continue };
        let blank = writer == Writer::Model && line.trim().is_empty();
        match blocks.last_mut() {
            Some(last) if !closed && last.writer == writer => last.lines.push(inner),
            // An empty line goes on with a reply and ends a prompt.
            Some(last) if blank => closed |= last.writer == Writer::User,
            None if blank => {}
            _ => {
                blocks.push(Block { writer, line: build::place(index), lines: vec![inner] });
                closed = false;
            }
        }
    }
    out.raw.tool_calls += text.matches(SEARCH).count() as u64;
    let several = sessions.iter().filter(|blocks| !blocks.is_empty()).count() > 1;
    for (number, blocks) in sessions.into_iter().enumerate() {
        let id = if several { format!("{name}#{number}") } else { name.to_owned() };
        session(blocks, id, out);
    }
}

fn session(blocks: Vec<Block<'_>>, id: String, out: &mut Sink) {
    let mut draft = Draft::new(id);
    let mut cwd: Option<ArcStr> = None;
    let mut blocks = blocks.into_iter().peekable();
    while let Some(block) = blocks.next() {
        match block.writer {
            Writer::User => draft.messages.push(message(Role::User, vec![asked(&block)], block.line)),
            Writer::Model if draft.messages.is_empty() => {
                let text = "text in front of the first prompt of a session, left out";
                out.note(block.line, "unknown-record", Severity::Note, text);
            }
            Writer::Model => {
                let printed = blocks.peek_mut().filter(|next| next.writer == Writer::Program);
                let (reply, results) = edits::of_reply(&block, printed);
                draft.messages.push(reply);
                draft.messages.extend(results);
            }
            Writer::Program => {
                for line in &block.lines {
                    build::by_model(&mut draft, model(line));
                    cwd = directory(line).map(ArcStr::from).or(cwd);
                }
                let begun = !draft.messages.is_empty();
                draft.messages.extend(printed(&block).filter(|_| begun));
            }
        }
    }
    for message in draft.messages.iter_mut() {
        message.cwd.clone_from(&cwd);
    }
    out.finish_draft(draft);
}

/// What the user typed; injected where it spoke to the program only.
fn asked(block: &Block<'_>) -> Part {
    let text = block.lines.join("\n").trim_end().to_owned();
    let command = text.starts_with('/') && text.split([' ', '\n']).next().is_some_and(is_command);
    if command || REFLECTED.iter().any(|start| text.starts_with(start)) {
        return build::injected(text);
    }
    build::said(text)
}

/// True for the word of a command that asks the model nothing: a path has more slashes.
fn is_command(word: &str) -> bool {
    !word.get(1..).unwrap_or_default().contains('/') && !ASKING.contains(&word)
}

/// What was printed that the model may see.
fn printed(block: &Block<'_>) -> Option<Message> {
    let wanted = |line: &&&str| !line.is_empty() && !BOOKKEEPING.iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = block.lines.iter().filter(wanted).copied().collect();
    (!lines.is_empty()).then(|| message(Role::User, vec![build::injected(lines.join("\n"))], block.line))
}

/// The model that a line names: `Main model: NAME with diff edit format`.
fn model(line: &str) -> Option<&str> {
    let rest = ["Main model: ", "Model: ", "Models: "].iter().find_map(|start| line.strip_prefix(start))?;
    rest.split([' ', ',']).next()
}

fn directory(line: &str) -> Option<&str> {
    line.strip_prefix("Git working dir: ").map(str::trim).filter(|path| path.starts_with('/'))
}
