//! The edits in a reply: text of the model that the program carries out.

use crate::ingest::value::{Value, json, shared};

use super::Block;
use crate::ingest::build::{self, message};
use crate::transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult};

/// What the program prints about a file it changed.
const APPLIED: &str = "Applied edit to ";

/// What it prints about edits that it could not carry out.
const REFUSED: [&str; 5] = [
    "failed to match",
    "did not conform to the edit format",
    "malformed",
    "No filename provided",
    "failed to apply",
];

/// Lines above a block among which its file is named: the name, and the fence.
const ABOVE: usize = 3;

/// An edit found in a reply.
struct Edit {
    path: String,
    call: ToolCall,
}

/// The reply with its edits as calls, and their results. Lines of `printed` that are results are taken out of it.
pub(super) fn of_reply(block: &Block<'_>, printed: Option<&mut Block<'_>>) -> (Message, Option<Message>) {
    let mut applied: Vec<&str> = Vec::new();
    let (mut refused, mut line_of_results) = (None, block.line);
    if let Some(printed) = printed {
        line_of_results = printed.line;
        printed.lines.retain(|line| match line.strip_prefix(APPLIED) {
            Some(path) => {
                applied.push(path.trim());
                false
            }
            None => true,
        });
        let at = printed.lines.iter().position(|line| REFUSED.iter().any(|text| line.contains(text)));
        refused = at.map(|at| printed.lines.split_off(at).join("\n"));
    }
    let mut reply = Reply { made: message(Role::Assistant, Vec::new(), block.line), edits: Vec::new() };
    reply.read(block, &applied);
    for path in &applied {
        if !reply.edits.iter().any(|edit| edit.path == *path) {
            reply.edit("edit_file", path, &json!({"path": path}), block.line);
        }
    }
    let results: Vec<Part> = reply
        .edits
        .iter()
        .filter_map(|edit| {
            let done = applied.contains(&edit.path.as_str());
            let (text, outcome) = match (&refused, done) {
                (_, true) => (format!("{APPLIED}{}", edit.path), Outcome::Ok),
                (Some(why), false) => (why.clone(), Outcome::Failed),
                (None, false) => return None,
            };
            let call_id = edit.call.id.clone();
            Some(Part::result(ToolResult { call_id, text, outcome, exit_code: None, images: 0 }))
        })
        .collect();
    let results = (!results.is_empty()).then(|| message(Role::Tool, results, line_of_results));
    (reply.made, results)
}

/// A reply being taken apart.
struct Reply {
    made: Message,
    edits: Vec<Edit>,
}

impl Reply {
    fn read(&mut self, block: &Block<'_>, applied: &[&str]) {
        let lines = block.lines.as_slice();
        // The text since the last edit, and where it began.
        let (mut text, mut from) = (Vec::new(), 0usize);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let rest = lines.get(at..).unwrap_or_default();
            let line_of = |at: usize| block.line.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            let found = if opens(line) {
                replacement(rest, &text, self.edits.last().map(|edit| edit.path.as_str()), applied)
            } else if line.starts_with("```") {
                fenced(rest, &text, applied)
            } else {
                None
            };
            let Some(found) = found else {
                text.push(*line);
                at += 1;
                continue;
            };
            text.truncate(text.len().saturating_sub(found.above));
            self.text(&text, line_of(from));
            text.clear();
            self.edit(found.tool, &found.path, &found.arguments, line_of(at));
            at += found.lines;
            from = at;
        }
        self.text(&text, block.line.saturating_add(u32::try_from(from).unwrap_or(u32::MAX)));
    }

    fn text(&mut self, lines: &[&str], line: u32) {
        let text = lines.join("\n");
        let text = text.trim_matches('\n').trim_end();
        if !text.trim().is_empty() {
            self.made.push(build::said(text), line);
        }
    }

    fn edit(&mut self, tool: &str, path: &str, arguments: &Value, line: u32) {
        let id = format!("L{line}.{}", self.edits.len());
        let call = ToolCall { id, name: shared(tool), arguments: arguments.to_string() };
        self.made.push(Part::call(call.clone()), line);
        self.edits.push(Edit { path: path.to_owned(), call });
    }
}

/// An edit that begins at a line.
struct Found {
    tool: &'static str,
    path: String,
    arguments: Value,
    /// Its lines.
    lines: usize,
    /// Lines above it that belong to it.
    above: usize,
}

/// A line of one sign repeated, as of a conflict, with a word behind it or without.
fn marks(line: &str, sign: char, words: &[&str]) -> bool {
    let line = line.trim_end();
    let rest = line.trim_start_matches(sign);
    let count = line.len() - rest.len();
    (5..=9).contains(&count) && (words.is_empty() && rest.is_empty() || words.contains(&rest.trim()))
}

fn opens(line: &str) -> bool {
    marks(line, '<', &["SEARCH", "ORIGINAL"])
}

/// A block with what to look for and what to put in its place. Its file is named above, or it is that of the edit before.
fn replacement(lines: &[&str], above: &[&str], last: Option<&str>, applied: &[&str]) -> Option<Found> {
    let divider = lines.iter().position(|line| marks(line, '=', &[]))?;
    let end = lines.iter().position(|line| marks(line, '>', &["REPLACE", "UPDATED"]))?;
    let search = lines.get(1..divider)?;
    let replace = lines.get(divider + 1..end)?;
    if search.iter().any(|line| opens(line)) {
        return None;
    }
    let (mut path, mut taken) = (None, 0);
    for (back, line) in above.iter().rev().take(ABOVE).enumerate() {
        if line.starts_with("```") {
            taken = back + 1;
        } else if let Some(name) = file_name(line, applied).filter(|_| path.is_none()) {
            path = Some(name.to_owned());
            taken = back + 1;
        } else {
            break;
        }
    }
    let path = path.or_else(|| last.map(str::to_owned))?;
    let fence = lines.get(end + 1).is_some_and(|line| line.trim_end() == "```");
    let arguments = json!({"path": path, "search": search.join("\n"), "replace": replace.join("\n")});
    Some(Found {
        tool: "replace_in_file",
        path,
        arguments,
        lines: end + 1 + usize::from(fence),
        above: taken,
    })
}

/// A patch or a whole file, where an edit of that file was applied.
fn fenced(lines: &[&str], above: &[&str], applied: &[&str]) -> Option<Found> {
    let end = lines.iter().skip(1).position(|line| line.trim_end() == "```")? + 1;
    let inside = lines.get(1..end)?;
    let known = |path: &str| applied.iter().find(|known| **known == path).map(|path| (*path).to_owned());
    let named = |mark: &str| inside.iter().find_map(|line| known(line.strip_prefix(mark)?.trim()));
    if let Some(path) = named("+++ ").or_else(|| named("--- ")) {
        let arguments = json!({"path": path, "diff": inside.join("\n")});
        return Some(Found { tool: "apply_diff", path, arguments, lines: end + 1, above: 0 });
    }
    if inside.iter().any(|line| opens(line)) {
        return None;
    }
    let path = known(file_name(above.last()?, applied)?)?;
    let arguments = json!({"path": path, "content": inside.join("\n")});
    Some(Found { tool: "write_file", path, arguments, lines: end + 1, above: 1 })
}

/// The name of a file on a line of its own, as models write it.
fn file_name<'a>(line: &'a str, applied: &[&str]) -> Option<&'a str> {
    let name = line.trim().trim_end_matches(':').trim_start_matches('#').trim();
    let name = name.trim_matches(['`', '*']).trim();
    let likely = name.contains(['.', '/']) && !name.contains(char::is_whitespace) && name != "...";
    (likely || applied.contains(&name)).then_some(name)
}
