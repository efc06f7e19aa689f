//! A session prepared once: the lines that could enter a summary, per message.
//!
//! Every line depends on its own message and on those before it, never on later ones, so a range of messages can be
//! summarized from its own lines without knowing what comes after.

use super::item::{Item, Kind, info};
use super::lines::{self, Line, Mark};
use super::outcome;
use super::previous::Memory;
use super::words::{self, Cues, Look, look};
use crate::fileops::{self, TodoState, ToolKind};
use crate::summarize::SessionView;
use crate::transcript::{Message, Outcome, Part, Role};
use aho_corasick::AhoCorasick;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Longest request kept as one line, in characters.
const REQUEST: usize = 320;
/// Longest first request.
const GOAL: usize = 560;
/// Sentences of one text part that are looked at in full; of the rest only those with strong cues.
const SENTENCES: usize = 150;

/// Marks of injected text that holds instructions of the project.
static PROJECT_RULES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let marks =
        ["CLAUDE.md", "AGENTS.md", "GEMINI.md", "project instructions", "codebase and user instructions"];
    AhoCorasick::new(marks).ok()
});

/// The prepared session.
#[derive(Debug)]
pub struct Digest {
    items: Vec<Item>,
    /// First item of each message, and the end.
    first: Vec<u32>,
    /// Messages at which a todo tool replaced its whole list.
    replaced: Vec<u32>,
    /// Assistant messages that end a turn (no calls), per message.
    closing: Vec<bool>,
    /// Lines of earlier summaries.
    pub(super) memory: Memory,
}

impl Digest {
    /// Looks once at every message before `end`; linear in the text.
    pub fn new(view: &SessionView<'_>, end: usize) -> Self {
        let mut building = Building::default();
        let messages = view.transcript.messages.get(..end).unwrap_or(&view.transcript.messages);
        for (index, message) in messages.iter().enumerate() {
            building.message(index as u32, message);
        }
        building.links(view, messages.len());
        let mut items = building.items;
        items.sort_by_key(|item| item.message);
        let mut first = Vec::with_capacity(messages.len() + 1);
        let mut at = 0usize;
        for index in 0..=messages.len() {
            while items.get(at).is_some_and(|item| (item.message as usize) < index) {
                at += 1;
            }
            first.push(at as u32);
        }
        let closing = messages.iter().map(is_closing).collect();
        Self { items, first, replaced: building.replaced, closing, memory: Memory::default() }
    }

    /// Lines of a run of messages.
    pub(super) fn range(&self, messages: &Range<usize>) -> &[Item] {
        let last = self.first.len().saturating_sub(1);
        let at = |index: usize| self.first.get(index.min(last)).copied().unwrap_or(0) as usize;
        self.items.get(at(messages.start)..at(messages.end).max(at(messages.start))).unwrap_or_default()
    }

    /// Last message of a run at which a todo list was replaced.
    pub(super) fn last_list(&self, messages: &Range<usize>) -> Option<u32> {
        self.replaced.iter().rev().copied().find(|at| messages.contains(&(*at as usize)))
    }

    /// True when the message ends a turn.
    pub(super) fn is_closing(&self, message: usize) -> bool {
        self.closing.get(message).copied().unwrap_or(false)
    }

    /// Number of candidate lines, for measurements.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when no message holds anything worth a line.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

fn is_closing(message: &Message) -> bool {
    message.role == Role::Assistant && !message.parts.iter().any(|part| matches!(part, Part::Call(_)))
}

#[derive(Default)]
struct Building {
    items: Vec<Item>,
    replaced: Vec<u32>,
    /// Last question the agent asked, for answers of one word.
    question: Option<String>,
    /// Options of the agent's last message, by their letter or number.
    options: Vec<(char, String)>,
    seen_request: bool,
    todos: BTreeMap<String, String>,
}

impl Building {
    fn message(&mut self, at: u32, message: &Message) {
        match message.role {
            Role::User => {
                for part in &message.parts {
                    if let Part::Text(text) = part
                        && text.injected
                    {
                        self.project_rules(at, &text.text);
                    }
                }
                let said = message.authored_text();
                if !said.trim().is_empty() {
                    self.user(at, &said);
                }
            }
            Role::Assistant => {
                let closing = is_closing(message);
                for part in &message.parts {
                    match part {
                        Part::Text(text) if !text.injected => self.assistant(at, &text.text, closing),
                        Part::Thinking(text) => self.thinking(at, text),
                        _ => {}
                    }
                }
            }
            Role::System | Role::Tool => {}
        }
    }

    /// What a person wrote: a request, standing instructions in it, and the rest.
    fn user(&mut self, at: u32, text: &str) {
        let question = self.question.take();
        let options = std::mem::take(&mut self.options);
        if let Some(question) = question
            && text.len() <= 120
            && !text.contains('\n')
            && let whole = look(text)
            && whole.content <= 6
            && !whole.question
        {
            let answer = lines::clean(text);
            let option =
                chosen_option(&answer, &options).map(|text| format!(" ({text})")).unwrap_or_default();
            let both = format!("{question} User: {answer}{option}");
            let seen = look(&both);
            let named = if option.is_empty() { 0.0 } else { 0.3 };
            let weight = 0.45 + named + 0.1 * seen.code.min(4) as f32;
            self.items.push(Item::new(Kind::Decision, &both, at, weight, seen));
            if whole.content <= 2 {
                return;
            }
        }
        let cap = if self.seen_request { REQUEST } else { GOAL };
        let mut request = String::new();
        let mut rest: Vec<(String, Look)> = Vec::new();
        let mut rules: Vec<String> = Vec::new();
        let mut count = 0usize;
        for line in lines::lines(text) {
            match line.mark {
                Mark::Blank => continue,
                Mark::Code if count > 0 && !line.text.contains("rror") => continue,
                _ => {}
            }
            lines::sentences(&line.text, |sentence| {
                count += 1;
                let clean = lines::clean_cut(sentence, lines::LONGEST);
                if clean.is_empty() {
                    return;
                }
                let seen = look(&clean);
                if let Some(weight) = standing(&seen) {
                    // A long paste holds sentences of others too.
                    let weight = weight / (1.0 + count as f32 / 60.0);
                    rules.push(clean.to_string());
                    self.items.push(Item::of(Kind::Rule, &clean, at, weight, seen));
                } else if request.chars().count() + clean.chars().count() < cap && count <= 12 {
                    if !request.is_empty() {
                        request.push(' ');
                    }
                    request.push_str(&clean);
                } else if count <= SENTENCES || seen.cues.any(Cues::FAIL) {
                    rest.push((clean.into_owned(), seen));
                }
            });
        }
        if request.is_empty() && !rules.is_empty() {
            // Said like a rule, but it is all that was asked.
            request = rules.swap_remove(0);
        }
        let asked = look(&request);
        if asked.content > 0 {
            let weight = (0.35 + asked.content as f32 / 10.0).min(1.2);
            self.items.push(Item::of(Kind::Request, &request, at, weight, asked));
            self.seen_request = true;
        }
        let crowd = 1.0 + rest.len() as f32 / 20.0;
        for (text, seen) in rest {
            let weight = 1.3 * info(&seen) / crowd;
            let kind = if seen.code + seen.numbers >= 2 { Kind::Value } else { Kind::Note };
            self.items.push(Item::of(kind, &text, at, weight, seen));
        }
    }

    /// Instructions of the project that the harness put into a user message.
    fn project_rules(&mut self, at: u32, text: &str) {
        let head = lines::head(text, 600);
        if PROJECT_RULES.as_ref().is_none_or(|finder| !finder.is_match(head)) {
            return;
        }
        let mut count = 0u32;
        for line in lines::lines(text) {
            if matches!(line.mark, Mark::Blank | Mark::Code | Mark::Heading) {
                continue;
            }
            lines::sentences(&line.text, |sentence| {
                let clean = lines::clean(sentence);
                if clean.chars().count() > 240 {
                    return;
                }
                let seen = look(&clean);
                if let Some(weight) = standing(&seen).filter(|weight| *weight >= 0.8) {
                    count += 1;
                    let weight = 0.5 * weight / (1.0 + count as f32 / 6.0);
                    self.items.push(Item::of(Kind::Rule, &clean, at, weight, seen));
                }
            });
        }
    }

    /// What the agent wrote.
    fn assistant(&mut self, at: u32, text: &str, closing: bool) {
        let found = lines::lines(text);
        let crowd = 1.0 + found.iter().filter(|line| line.mark != Mark::Blank).count() as f32 / 30.0;
        let mut hint: Option<Kind> = None;
        let mut count = 0usize;
        let mut last: Option<String> = None;
        self.options.clear();
        for line in &found {
            if let Some((name, text)) = option_of(&line.text) {
                self.options.push((name, text));
            } else if line.mark == Mark::Bullet
                && let Some(name) = line.number
            {
                self.options.push((name, option_text(&line.text)));
            }
            match line.mark {
                Mark::Heading => {
                    hint = section_kind(&line.text);
                    continue;
                }
                Mark::Code | Mark::Blank => continue,
                _ => {}
            }
            if let Some(kind) = lead_heading(line) {
                hint = Some(kind);
                continue;
            }
            let pieces = table_row(line);
            let cells = pieces.contains(" | ");
            lines::sentences(pieces, |sentence| {
                count += 1;
                let clean = lines::clean_cut(sentence, lines::LONGEST);
                let seen = look(&clean);
                if seen.content == 0 || (count > SENTENCES && !seen.cues.any(Cues::CHOICE)) {
                    return;
                }
                if seen.question {
                    last = Some(clean.to_string());
                } else if !clean.is_empty() {
                    last = None;
                }
                let lead = clean.ends_with([':', '：']);
                if lead && (seen.content < 6 || seen.chatter) {
                    return;
                }
                let kind = classify(line.mark, hint, &seen, closing);
                let mut weight = info(&seen) / crowd;
                // `Done.`, `I found the issue.`
                if seen.content < 3 && seen.code == 0 && line.mark == Mark::Plain {
                    weight *= 0.3;
                }
                weight *= match (closing, count) {
                    (true, 1) => 1.4,
                    (true, _) => 1.15,
                    // In the middle of a turn only insights and choices are more than noise.
                    (false, _) if seen.cues.any(Cues::INSIGHT) && seen.code + seen.numbers > 0 => 1.15,
                    (false, _) => 0.6,
                };
                if lead {
                    weight *= 0.6;
                }
                if cells {
                    weight *= 0.7;
                }
                self.items.push(Item::of(kind, &clean, at, weight, seen));
            });
        }
        self.question = last;
    }

    /// Reasoning: only choices and insights that name something.
    fn thinking(&mut self, at: u32, text: &str) {
        if !words::may_tell(text) {
            return;
        }
        let mut count = 0usize;
        for line in lines::lines(text) {
            if matches!(line.mark, Mark::Blank | Mark::Code | Mark::Heading) {
                continue;
            }
            lines::sentences(&line.text, |sentence| {
                count += 1;
                if count > SENTENCES
                    || sentence.len() < 30
                    || sentence.len() > 400
                    || !words::may_tell(sentence)
                {
                    return;
                }
                let seen = look(sentence);
                if seen.question
                    || seen.chatter
                    || seen.code + seen.numbers == 0
                    || !(seen.cues.any(Cues::CHOICE)
                        || (seen.cues.any(Cues::FOUND) && seen.cues.any(Cues::CAUSE)))
                {
                    return;
                }
                let kind = if seen.cues.any(Cues::CHOICE) { Kind::Decision } else { Kind::Note };
                let weight = 0.3 * info(&seen);
                let clean = lines::clean(sentence);
                self.items.push(Item::new(kind, without_stop(&clean), at, weight, seen));
            });
        }
    }

    /// Calls and how they ended.
    fn links(&mut self, view: &SessionView<'_>, end: usize) {
        let transcript = view.transcript;
        // What a person says in declining a call answers no question.
        self.question = None;
        for (index, link) in transcript.links.iter().enumerate() {
            if link.call.message.get() >= end {
                break;
            }
            let Some(call) = transcript.call(link) else { continue };
            let kind = view.kinds.get(index).copied().unwrap_or(ToolKind::Other);
            if kind == ToolKind::Todo {
                self.todo(link.call.message.0, &call.name, &call.arguments);
                continue;
            }
            let answer = link.result.filter(|at| at.message.get() < end);
            let (Some(at), Some(result)) = (answer, transcript.result(link)) else { continue };
            let at = at.message.0;
            match outcome::said_by_user(&result.text) {
                Some(outcome::Said::Words(said)) => {
                    self.user(at, said);
                    continue;
                }
                Some(outcome::Said::Answers(answers)) => {
                    let text = lines::clean(lines::head(answers, 2_000));
                    let text = format!("The user answered: {}", lines::cut(&text, lines::LONGEST));
                    let seen = look(&text);
                    self.items.push(Item::new(Kind::Decision, without_stop(&text), at, 1.2, seen));
                    continue;
                }
                None => {}
            }
            match kind {
                ToolKind::Shell => {
                    if let Some(command) = outcome::command_of(&call.arguments) {
                        outcome::of_command(&command, result, at, &mut self.items);
                    }
                }
                _ if result.outcome == Outcome::Failed => {
                    outcome::of_failed_tool(&call.name, result, at, &mut self.items);
                }
                _ => {}
            }
        }
    }

    /// A call of a todo tool: its items with their new states.
    fn todo(&mut self, at: u32, name: &str, arguments: &str) {
        let effect = fileops::of_call(name, arguments, None);
        if effect.todos_replace {
            self.replaced.push(at);
        }
        for todo in effect.todos {
            let text = if todo.text.is_empty() {
                todo.id.as_ref().and_then(|id| self.todos.get(id)).cloned().unwrap_or_default()
            } else {
                todo.text
            };
            if let Some(id) = todo.id
                && !text.is_empty()
            {
                self.todos.insert(id, text.clone());
            }
            let clean = lines::clean_cut(&text, 160);
            let clean = without_stop(&clean);
            let kind = match todo.state {
                TodoState::Pending => Kind::Todo,
                TodoState::Active => Kind::Active,
                TodoState::Done => Kind::Done,
                TodoState::Cancelled => Kind::Note,
            };
            let weight = if todo.state == TodoState::Cancelled { 0.0 } else { 1.0 };
            let seen = look(clean);
            if seen.content > 0 {
                let key = words::key(clean);
                self.items.push(Item::new(kind, clean, at, weight, seen).keyed(key));
            }
        }
    }
}

/// `Option A: text`, `A. text`, `A) text`, with any emphasis around the letter.
fn option_of(line: &str) -> Option<(char, String)> {
    let plain = line.trim_start_matches(['*', '|', ' ', '`']);
    let plain = plain.strip_prefix("Option ").or_else(|| plain.strip_prefix("option ")).unwrap_or(plain);
    let mut chars = plain.chars();
    let name = chars.next().filter(char::is_ascii_alphanumeric)?;
    let rest = chars.as_str().trim_start_matches('*');
    let rest = rest.strip_prefix([':', '.', ')']).or_else(|| rest.strip_prefix(" |"))?;
    let text = option_text(rest);
    (text.chars().count() >= 4).then(|| (name.to_ascii_lowercase(), text))
}

fn option_text(text: &str) -> String {
    lines::clean_cut(text.trim_start_matches(['*', ' ', '-', '—']), 110).into_owned()
}

/// The option that a short answer names by its letter or number.
fn chosen_option<'a>(answer: &str, options: &'a [(char, String)]) -> Option<&'a str> {
    let named = answer
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| word.chars().count() == 1 && !matches!(*word, "I" | "i" | "a"))
        .or_else(|| Some(answer).filter(|answer| answer.chars().count() == 1))?
        .chars()
        .next()?
        .to_ascii_lowercase();
    options.iter().rev().find(|(name, _)| *name == named).map(|(_, text)| text.as_str())
}

/// Worth of a user's sentence as a standing instruction; `None` when it is none.
fn standing(seen: &Look) -> Option<f32> {
    let opening = seen.first.any(Cues::RULE) || seen.second.any(Cues::RULE);
    let asks = seen.first.any(Cues::ASK) || seen.second.any(Cues::ASK);
    if seen.question || seen.content < 2 || !seen.cues.any(Cues::RULE) {
        return None;
    }
    let negated = seen.cues.any(Cues::NOT);
    if !opening && !negated && !seen.cues.any(Cues::STRICT) {
        return None;
    }
    let base = match (opening, asks || negated) {
        (true, _) => 1.2,
        (false, true) => 0.9,
        (false, false) => 0.7,
    };
    let named = 0.06 * (seen.code + seen.numbers).min(4) as f32;
    let long = if seen.content > 28 { 0.75 } else { 1.0 };
    Some((base + named) * long)
}

/// Kind of a sentence of the agent.
fn classify(mark: Mark, hint: Option<Kind>, seen: &Look, closing: bool) -> Kind {
    match mark {
        Mark::Open => return Kind::Todo,
        Mark::Closed => return Kind::Done,
        _ => {}
    }
    if seen.question {
        return Kind::Note;
    }
    if let Some(hint) = hint
        && closing
        && !matches!(hint, Kind::Rule | Kind::Goal | Kind::Request)
    {
        return hint;
    }
    if seen.cues.any(Cues::CHOICE) && !seen.chatter {
        return Kind::Decision;
    }
    if seen.first.any(Cues::DONE) || (closing && seen.cues.any(Cues::DONE) && !seen.cues.any(Cues::NOT)) {
        return Kind::Done;
    }
    if closing && (seen.first.any(Cues::LEFT) || (seen.cues.any(Cues::LEFT) && seen.cues.any(Cues::ASK))) {
        return Kind::Next;
    }
    if seen.code + seen.numbers >= 2 || seen.cues.any(Cues::FOUND) {
        return Kind::Value;
    }
    Kind::Note
}

/// Words of headings, with the kind of the lines below them; of several the first counts.
const SECTIONS: &[(&str, Kind)] = &[
    ("decision", Kind::Decision),
    ("rationale", Kind::Decision),
    ("constraint", Kind::Rule),
    ("preference", Kind::Rule),
    ("requirement", Kind::Rule),
    ("instruction", Kind::Rule),
    ("in progress", Kind::Progress),
    ("current work", Kind::State),
    ("current state", Kind::State),
    ("status", Kind::State),
    ("blocked", Kind::Failure),
    ("failing", Kind::Failure),
    ("problem", Kind::Value),
    ("error", Kind::Value),
    ("next", Kind::Next),
    ("remaining", Kind::Todo),
    ("pending", Kind::Todo),
    ("todo", Kind::Todo),
    ("to do", Kind::Todo),
    ("user message", Kind::Asked),
    ("goal", Kind::Goal),
    ("active task", Kind::Goal),
    ("objective", Kind::Goal),
    ("intent", Kind::Goal),
    ("primary request", Kind::Goal),
    ("original request", Kind::Goal),
    ("done", Kind::Done),
    ("complete", Kind::Done),
    ("progress", Kind::Done),
    ("change", Kind::Done),
    ("narrative", Kind::Done),
    ("what was", Kind::Done),
    ("history", Kind::Done),
    ("context", Kind::Value),
    ("technical", Kind::Value),
    ("concept", Kind::Value),
    ("artifact", Kind::Value),
    ("file", Kind::Value),
    ("finding", Kind::Value),
];

static SECTION_FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(SECTIONS.iter().map(|(name, _)| *name)).ok()
});

/// Kind that a heading promises for the lines below it.
pub(super) fn section_kind(heading: &str) -> Option<Kind> {
    // Of other scripts letters fold into ASCII.
    if heading.is_ascii()
        && let Some(finder) = SECTION_FINDER.as_ref()
    {
        let first = finder.find_overlapping_iter(heading).map(|name| name.pattern().as_usize()).min();
        return first.and_then(|at| SECTIONS.get(at)).map(|(_, kind)| *kind);
    }
    let lower = heading.to_lowercase();
    SECTIONS.iter().find(|(name, _)| lower.contains(name)).map(|(_, kind)| *kind)
}

/// Kind promised by a plain short line that ends with a colon: `Remaining work:`.
pub(super) fn lead_heading(line: &Line<'_>) -> Option<Kind> {
    let name = line.text.strip_suffix(':')?;
    (line.mark == Mark::Plain && name.split_whitespace().count() <= 4).then(|| section_kind(name)).flatten()
}

/// A table row as running text; anything else as it is.
fn table_row<'a>(line: &'a Line<'_>) -> &'a str {
    line.text.strip_prefix('|').map_or(&*line.text, |row| row.trim_end_matches('|').trim())
}

/// Without its closing full stop, which a list line does not need.
pub(super) fn without_stop(text: &str) -> &str {
    let short = text.strip_suffix('.').filter(|short| !short.ends_with('.')).unwrap_or(text);
    short.strip_suffix('。').unwrap_or(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_names_of_a_heading_counts() {
        for (at, (name, kind)) in SECTIONS.iter().enumerate() {
            for (other, _) in SECTIONS.get(at..).unwrap_or_default() {
                for heading in [format!("{other} and {name}"), format!("The {}/{other}", name.to_uppercase())]
                {
                    let wide = format!("{heading} \u{2013}");
                    assert_eq!(section_kind(&heading), section_kind(&wide), "{heading}");
                }
            }
            assert!(section_kind(name).is_some(), "{kind:?}");
        }
        assert_eq!(section_kind("Next Steps and Decisions"), Some(Kind::Decision));
        assert_eq!(section_kind("Overview"), None);
    }
}
