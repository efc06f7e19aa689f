//! Reading an earlier summary back into lines: our own layouts exactly, anyone else's headings, lists and prose as
//! well as they allow. File lists are left out; they come from the harness.

use super::digest::{lead_heading, section_kind, without_stop};
use super::files::label;
use super::item::{Body, Item, Kind, Seen};
use super::layout::led_in;
use super::lines::{self, Mark};
use super::outcome::command_key;
use super::words::{self, Cues, look};
use crate::summarize::Told;
use crate::texts::Texts;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// Longest list line kept in one piece, in characters.
const WHOLE: usize = 2 * lines::LONGEST;

/// Lines of the earlier summaries of a session, keyed by their clean text, from which alone follows what is kept here.
/// Most lines stand in the next summary again, and in that of the other layout.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<Texts<Known>>);

/// What a line looks like.
#[derive(Debug)]
struct Known {
    body: Arc<Body>,
    seen: Seen,
    /// Nothing of the text would be taken out or cut off, were it read.
    plain: bool,
}

impl Known {
    fn new(text: &str) -> Self {
        let look = look(text);
        let seen = Seen::of(&look);
        Self { seen, body: Arc::new(Body::new(text, look)), plain: is_plain(text) }
    }
}

/// Is the text read as it stands, whatever full stops are behind it?
fn is_plain(text: &str) -> bool {
    const STOPS: usize = 2;
    text.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric)
        && text.len() + STOPS <= WHOLE
        && lines::clean(text) == text
}

/// Keeps what is known of lines that a summary is made of: they are what is read back of it.
pub(super) fn remember<'a>(items: impl Iterator<Item = &'a Item>, memory: &Memory) {
    let memory = &mut *memory.0.lock().unwrap_or_else(PoisonError::into_inner);
    for item in items {
        if let Some(seen) = item.seen
            && !item.remembered.swap(true, Ordering::Relaxed)
        {
            memory.get_or_insert_with(&item.text, || Known {
                body: item.body.clone(),
                seen,
                plain: is_plain(&item.text),
            });
        }
    }
}

/// The lines of a summary, in order; `message` is their position.
pub(super) fn parse(text: &str, memory: &Memory) -> Vec<Item> {
    let memory = &mut *memory.0.lock().unwrap_or_else(PoisonError::into_inner);
    let body = without_lists(text);
    let ours = lines::ended(&body).any(|(_, line)| led_in(line).is_some());
    let mut out: Vec<Item> = Vec::new();
    let mut section: Option<Kind> = None;
    let mut in_files = false;
    for line in lines::lines(&body) {
        match line.mark {
            Mark::Blank => {
                if ours {
                    section = None;
                }
                continue;
            }
            Mark::Code => continue,
            Mark::Heading => {
                section = section_kind(&line.text);
                in_files = line.text.to_lowercase().contains("file");
                continue;
            }
            _ => {}
        }
        let mut text: &str = &line.text;
        if let Some(kind) = lead_heading(&line) {
            section = Some(kind);
            in_files = text.to_lowercase().contains("file");
            continue;
        }
        if let Some((kind, rest)) = led_in(text) {
            section = Some(kind);
            text = rest;
        }
        if is_frame(text) || (in_files && is_bare_path(text)) {
            continue;
        }
        let whole = line.mark != Mark::Plain || ours;
        if whole && (text.len() <= WHOLE || text.chars().count() <= WHOLE) {
            push(&mut out, memory, text, line.mark, section);
        } else {
            lines::sentences(text, |sentence| push(&mut out, memory, sentence, line.mark, section));
        }
    }
    if !ours
        && !out.iter().any(|item| item.kind == Kind::Goal)
        && let Some(opening) = out.first_mut().filter(|item| item.kind == Kind::Note)
    {
        // Prose begins with what it is about.
        opening.kind = Kind::Goal;
    }
    out
}

/// Lines about results that requests no longer carried: somebody chose them, so each is worth keeping.
pub(super) fn told(lines: &[Told], memory: &Memory) -> Vec<Item> {
    let memory = &mut *memory.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = Vec::with_capacity(lines.len());
    for Told { message, line } in lines {
        let clean = lines::clean_cut(line, WHOLE);
        let clean = without_stop(&clean);
        let Known { body, seen, .. } = memory.get_or_insert_with(clean, || Known::new(clean));
        if seen.content || seen.details > 0 {
            let weight = (1.1 * seen.info).max(0.8);
            let key = Some(words::key(clean));
            let body = body.clone();
            out.push(Item { kind: Kind::Value, message: *message as u32, weight, key, body });
        }
    }
    out
}

/// One line, with the kind its label, mark or section gives it.
fn push(out: &mut Vec<Item>, memory: &mut Texts<Known>, text: &str, mark: Mark, section: Option<Kind>) {
    let (kind, text) = match Kind::labelled(text) {
        Some((kind, rest)) => (Some(kind), rest),
        None => (None, text),
    };
    let cleaned;
    let mut clean = without_stop(text);
    // Most lines are known, and nothing of them is to be taken out.
    let Known { body, seen, .. } = if let Some(known) = memory.get(clean).filter(|known| known.plain) {
        known
    } else {
        cleaned = lines::clean_cut(text, WHOLE);
        clean = without_stop(&cleaned);
        memory.get_or_insert_with(clean, || Known::new(clean))
    };
    if !seen.content {
        return;
    }
    let kind = kind.unwrap_or(match (mark, section) {
        (Mark::Open, _) => Kind::Todo,
        (Mark::Closed, _) => Kind::Done,
        (_, Some(kind)) => kind,
        (_, None) if seen.cues.any(Cues::CHOICE) => Kind::Decision,
        (_, None) if seen.cues.any(Cues::DONE) => Kind::Done,
        (_, None) if seen.cues.any(Cues::LEFT) => Kind::Next,
        (_, None) if seen.details >= 2 => Kind::Value,
        (_, None) => Kind::Note,
    });
    let weight = match kind {
        Kind::Failure if !clean.starts_with('`') && section.is_none() => 0.2,
        Kind::Goal
        | Kind::Request
        | Kind::Answered
        | Kind::Failure
        | Kind::Check
        | Kind::State
        | Kind::Todo
        | Kind::Active => 1.0,
        Kind::Rule => 0.8 + 0.3 * seen.info.min(1.5),
        // It was chosen once, so it is not worthless.
        _ => (1.1 * seen.info).max(0.45),
    };
    let key = match kind {
        Kind::Failure | Kind::Check => clean
            .strip_prefix('`')
            .and_then(|rest| rest.split_once('`'))
            .map(|(command, _)| command_key(command)),
        Kind::Todo | Kind::Active => Some(words::key(clean)),
        _ => None,
    };
    out.push(Item { kind, message: out.len() as u32, weight, key, body: body.clone() });
}

/// The text without file lists, in any of our forms, and without wrappers.
fn without_lists(text: &str) -> String {
    let all: Vec<&str> = lines::ended(text).map(|(_, line)| line).collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(line) = all.get(at) {
        let trimmed = line.trim();
        at += 1;
        let block = trimmed.strip_prefix('<').and_then(|rest| {
            let name = rest.strip_suffix("-files>")?;
            ["read", "modified", "deleted"].contains(&name).then(|| format!("</{name}-files>"))
        });
        if let Some(close) = block {
            // A block runs to its own closing line; an opening line alone is no block.
            let end = all.iter().skip(at).take_while(|line| !line.trim().starts_with('<')).count() + at;
            if all.get(end).is_some_and(|line| line.trim() == close) {
                at = end + 1;
            }
            continue;
        }
        if trimmed.starts_with("… and ") && trimmed.contains(" more ") && trimmed.ends_with(" files") {
            continue;
        }
        let listed = trimmed.starts_with(['M', 'R', 'D']).then_some(["modified", "read", "deleted"]);
        let listed = listed
            .into_iter()
            .flatten()
            .find_map(|name| trimmed.strip_prefix(label(name)).and_then(|rest| rest.strip_prefix(':')));
        if let Some(rest) = listed {
            if rest.is_empty() {
                while all.get(at).is_some_and(|line| line.starts_with("- ")) {
                    at += 1;
                }
            }
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Lines of the frame around or inside of a summary.
fn is_frame(text: &str) -> bool {
    matches!(text, "(none)" | "<summary>" | "</summary>" | "(none yet)" | "None" | "N/A" | "None.")
        || (text.starts_with("[Compacted ") && text.ends_with(']'))
        || (text.starts_with("[Conversation summary") && text.ends_with(']'))
        || (text.starts_with("[Context emergency") && text.ends_with(']'))
        || (text.len() < 200 && text.ends_with("summary:"))
}

/// A line that is one path and nothing else.
fn is_bare_path(text: &str) -> bool {
    let bare = text.trim_matches('`');
    !bare.contains(char::is_whitespace) && bare.contains(['/', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_a_summary_is_made_of_is_what_is_read_of_it(
            text in "(Good|It|so|not|let me|don't|`a b`|src/a.rs|v2|step|é|完成| |-|,|\\?|\\.|:|[a-z]{1,6} ){0,12}\\.?",
        ) {
            let clean = lines::clean_cut(&text, lines::LONGEST);
            let item = Item::of(Kind::Note, &clean, 0, 1.0, look(&clean));
            let (known, memory) = (Known::new(&item.text), Memory::default());
            remember([&item].into_iter(), &memory);
            let memory = memory.0.lock().unwrap();
            prop_assert_eq!(memory.get(&item.text).is_some(), item.seen.is_some());
            if let Some(made) = memory.get(&item.text) {
                let bare = |body: &Body| format!("{:?}", (&body.text, &body.words, &body.values, body.signature, body.rejects));
                prop_assert_eq!(format!("{:?}", made.seen), format!("{:?}", known.seen));
                prop_assert_eq!(bare(&made.body), bare(&known.body));
            }
        }
    }

    proptest! {
        #[test]
        fn plain_lines_are_read_as_they_stand(text in "( |\\*|\\*\\*|`|/|\\.|。|é|\u{200b}|\u{1b}\\[1m|[a-zA-Z0-9 ]{1,9}){0,8}|[a-z]{700,730}") {
            prop_assume!(is_plain(&text));
            for stops in ["", ".", "。", "。."] {
                let line = format!("{text}{stops}");
                prop_assert_eq!(without_stop(&line), &text);
                let clean = lines::clean_cut(&line, WHOLE);
                prop_assert_eq!(without_stop(&clean), &text);
            }
        }
    }

    #[test]
    fn what_was_read_before_changes_nothing() {
        let summaries = [
            "## Goal\n- Request: port the parser.\n- [ ] write `a.rs` next.\n## Key Decisions\n- port the parser",
            "The session set out with this: port the parser.\nStill to do: write `a.rs` next.\n\nWorth knowing: 5 s.",
            "port the parser. write `a.rs` next! We chose 5 s instead of 9 s.",
        ];
        let memory = Memory::default();
        for text in summaries.iter().chain(summaries.iter().rev()) {
            let (known, fresh) = (parse(text, &memory), parse(text, &Memory::default()));
            assert!(!fresh.is_empty(), "{text}");
            assert_eq!(format!("{known:?}"), format!("{fresh:?}"));
        }
    }
}
