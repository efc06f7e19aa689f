//! User messages that a summary quotes: is each one really the user's?
//!
//! Summarizers are asked to list what the user said, and some invent it. A quotation is a line behind `> `, or what an item
//! has in quotation marks, in a section whose heading speaks of user messages. It is real when each piece of it, between
//! marks of omission and remarks in brackets, stands before the compaction in a text that came from outside the agent: a
//! user message, or a tool result, since answers to questions of a tool are logged there. White space, case and the kind of
//! quotation mark do not matter.

use crate::transcript::{Message, MessageIdx, Part, Role, Transcript};
use std::cell::OnceCell;

/// Shortest quotation and piece that is looked for, in characters: shorter ones stand anywhere.
const SHORTEST: usize = 8;

/// Words by which a heading announces the user's messages.
const HEADINGS: [&str; 5] = ["user message", "user request", "user's message", "用户消息", "ユーザー"];

/// Quotations of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quotes {
    /// User lines that the text quotes.
    pub quoted: u64,
    /// Of those, found in no user message before it.
    pub fabricated: u64,
}

/// What people wrote in one session, prepared on first use.
#[derive(Debug)]
pub struct UserWords<'a> {
    transcript: &'a Transcript,
    texts: OnceCell<Vec<(MessageIdx, String)>>,
}

impl<'a> UserWords<'a> {
    /// Prepares nothing yet.
    pub fn new(transcript: &'a Transcript) -> Self {
        Self { transcript, texts: OnceCell::new() }
    }

    /// Counts the quotations in the lines of a generated text.
    pub fn quotes(&self, lines: &[&str], prefix_end: MessageIdx) -> Quotes {
        let quoted = quotations(lines.iter().copied());
        let fabricated = quoted.iter().filter(|quote| !self.said(quote, prefix_end)).count();
        Quotes { quoted: quoted.len() as u64, fabricated: fabricated as u64 }
    }

    /// The quotations that nobody said.
    pub fn fabricated(&self, text: &str, prefix_end: MessageIdx) -> Vec<String> {
        quotations(text.lines())
            .into_iter()
            .filter(|quote| !self.said(quote, prefix_end))
            .map(str::to_owned)
            .collect()
    }

    fn said(&self, quote: &str, prefix_end: MessageIdx) -> bool {
        let texts = self.texts.get_or_init(|| {
            let messages = self.transcript.messages.iter().enumerate();
            messages.filter_map(|(at, message)| Some((MessageIdx::new(at), from_outside(message)?))).collect()
        });
        let pieces: Vec<String> =
            pieces(quote).into_iter().map(plain).filter(|piece| piece.chars().count() >= SHORTEST).collect();
        let holds = |text: &str| pieces.iter().all(|piece| text.contains(piece.as_str()));
        texts.iter().take_while(|(at, _)| *at < prefix_end).any(|(_, text)| holds(text))
    }
}

/// What a message brought from outside the agent, plain.
fn from_outside(message: &Message) -> Option<String> {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if message.role == Role::User => Some(text.text.as_str()),
            Part::Result(result) => Some(result.text.as_str()),
            _ => None,
        })
        .collect();
    (!texts.is_empty()).then(|| plain(&texts.join("\n")))
}

/// What stands between marks of omission and remarks in brackets.
fn pieces(quote: &str) -> Vec<&str> {
    let outside = quote.split('[').enumerate().map(|(at, piece)| match piece.split_once(']') {
        Some((_, behind)) if at > 0 => behind,
        _ => piece,
    });
    outside.flat_map(|piece| piece.split('…').flat_map(|piece| piece.split("..."))).map(str::trim).collect()
}

/// Lower case, one space between words, no quotation marks.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        word.chars()
            .filter(|c| !matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '*'))
            .collect::<String>()
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The user lines that the lines of a text quote.
fn quotations<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut open = false;
    for line in lines {
        if let Some(heading) = heading(line) {
            let heading = heading.to_lowercase();
            open = HEADINGS.iter().any(|words| heading.contains(words));
            continue;
        }
        if !open {
            continue;
        }
        let trimmed = line.trim();
        if let Some(quote) = trimmed.strip_prefix("> ").or_else(|| in_marks(item(trimmed)?)) {
            found.push(quote.trim());
        }
    }
    found.retain(|quote| quote.chars().count() >= SHORTEST);
    found
}

/// A line that begins a section: `## x`, `6. x:`, `**x**`, all at the margin.
fn heading(line: &str) -> Option<&str> {
    let numbered = || {
        line.split_once(". ").is_some_and(|(number, rest)| {
            (1..=2).contains(&number.len())
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && rest.trim_end().trim_end_matches('*').ends_with(':')
        })
    };
    let begins = match line.as_bytes() {
        [b'#', ..] | [b'*', b'*', ..] => true,
        [b'0'..=b'9', ..] => numbered(),
        _ => false,
    };
    begins.then_some(line)
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim)
}

/// What an item has in quotation marks: from its first to its last one. An item without marks only reports.
fn in_marks(item: &str) -> Option<&str> {
    let mark = |c: char| matches!(c, '"' | '“' | '”' | '「' | '」');
    let start = item.find(mark)?;
    let end = item.rfind(mark)?;
    let first = item.get(start..)?.chars().next()?.len_utf8();
    item.get(start + first..end).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::transcript;

    const LOG: &str = "\
U: Fix the retry of the uploads, please. And never touch src/generated!
A{a}: I will fix the retry now.
T(a): The user answered: yes, drop the table, as the tool asked
U: Also: “quote” this   line with care
U: This was said behind the compaction.";

    fn check(summary: &str, quoted: u64, fabricated: u64) {
        let session = transcript(LOG);
        let words = UserWords::new(&session);
        let lines: Vec<&str> = summary.lines().collect();
        let found = words.quotes(&lines, MessageIdx(4));
        assert_eq!(found, Quotes { quoted, fabricated }, "{summary}");
        assert_eq!(words.fabricated(summary, MessageIdx(4)).len() as u64, fabricated);
    }

    #[test]
    fn quotations_are_looked_for_among_what_people_wrote() {
        check("6. All user messages:\n   - \"Fix the retry of the uploads, please.\"\n", 1, 0);
        check("## User messages\n- 'x'\n- \"fix the retry … never touch SRC/generated\"\n", 1, 0);
        check(
            "**All User Messages**\n* \"Also: \\\"quote\\\" this line with care\"\n"
                .replace('\\', "")
                .as_str(),
            1,
            0,
        );
        check("# User messages\n> never touch src/generated!\n> never touch src/generator!", 2, 1);
        check("# User messages\n- \"Fix the retry [a long log] never touch src/generated\"", 1, 0);
        check("# User messages\n- \"yes, drop the table, as the tool asked\"", 1, 0);
        // The agent's words and what came later are not the user's words so far.
        check("6. All user messages:\n - \"I will fix the retry now.\"", 1, 1);
        check("6. All user messages:\n - \"This was said behind the compaction.\"", 1, 1);
    }

    #[test]
    fn reports_short_words_and_other_sections_are_no_quotations() {
        check("6. All user messages:\n - The user asked for a fix\n - \"ok\"\n - [3 tool results]", 0, 0);
        check("6. All user messages:\n7. Pending Tasks:\n - \"invented by nobody at all\"", 0, 0);
        check("> a plan that nobody ever said", 0, 0);
        check("The user said \"something that nobody ever said\".", 0, 0);
        check("", 0, 0);
    }
}
