//! Sentences that bind, settle or ask. All lists are closed; each rule names the position its trigger must have,
//! because the same words report, offer and ask.

mod constraint;
mod decision;
mod request;
#[cfg(test)]
mod tests;

pub(in crate::facts) use constraint::{is_constraint, is_lifting};
pub(in crate::facts) use decision::is_decision;
pub(in crate::facts) use request::{asks, is_assent};

/// A unit without its list marker, heading marks and emphasis.
pub(in crate::facts) fn strip_marker(unit: &str) -> &str {
    let mut rest = unit.trim();
    rest = rest.trim_start_matches('#').trim_start();
    for marker in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "] {
        if let Some(after) = rest.strip_prefix(marker) {
            rest = after.trim_start();
            break;
        }
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits)
        && let Some(after) = rest.get(digits..)
        && let Some(after) = after.strip_prefix(['.', ')'])
        && after.starts_with(' ')
    {
        rest = after.trim_start();
    }
    rest
}

/// A sentence in lower case, with markup and curly apostrophes gone, and its clauses.
struct Plain {
    lower: String,
}

impl Plain {
    fn new(sentence: &str) -> Self {
        let mut lower = String::with_capacity(sentence.len());
        for c in sentence.chars() {
            match c {
                '*' | '`' => {}
                '’' | '‘' => lower.push('\''),
                '\n' | '\t' => lower.push(' '),
                _ if c.is_ascii() => lower.push(c.to_ascii_lowercase()),
                _ => lower.extend(c.to_lowercase()),
            }
        }
        Self { lower }
    }

    /// Starts of clauses: after punctuation and joining words. Each is trimmed of polite openings.
    fn clauses(&self) -> Vec<&str> {
        let mut out = Vec::new();
        let mut starts = vec![0];
        for (at, c) in self.lower.char_indices() {
            if matches!(c, ',' | ';' | ':' | '(' | '—' | '–' | '，' | '；' | '：' | '、') {
                starts.push(at + c.len_utf8());
            }
        }
        for joint in [
            " and ",
            " but ",
            " so ",
            " then ",
            " - ",
            " because ",
            " also ",
            " however ",
            " where ",
            " that ",
        ] {
            for (at, found) in self.lower.match_indices(joint) {
                starts.push(at + found.len());
            }
        }
        starts.sort_unstable();
        for start in starts {
            let mut clause = self.lower.get(start..).unwrap_or("").trim_start();
            loop {
                let next = [
                    "please ",
                    "also ",
                    "but ",
                    "and ",
                    "so ",
                    "then ",
                    "just ",
                    "ok ",
                    "okay ",
                    "now ",
                    "again ",
                    "note: ",
                    "important: ",
                    "rule: ",
                    "constraint: ",
                    "requirement: ",
                    "remember: ",
                    "remember ",
                    "one thing: ",
                    "plus ",
                    "still ",
                    "for now ",
                    "from now on ",
                    "in general ",
                    "you ",
                    "we ",
                    "pls ",
                    "yes ",
                    "no wait ",
                    "actually ",
                ]
                .iter()
                .find_map(|opening| clause.strip_prefix(opening));
                match next {
                    Some(rest) if !matches!(clause.get(..3), Some("we " | "you")) || binding_modal(rest) => {
                        clause = rest.trim_start();
                    }
                    _ => break,
                }
            }
            if !clause.is_empty() {
                out.push(clause);
            }
        }
        out
    }
}

/// After "you" or "we": a word that makes it a rule.
fn binding_modal(rest: &str) -> bool {
    [
        "never ",
        "always ",
        "only ",
        "must ",
        "should ",
        "shouldn't ",
        "may not ",
        "can't ",
        "cannot ",
        "can only ",
        "are not allowed",
        "need to ",
        "have to ",
    ]
    .iter()
    .any(|word| rest.starts_with(word))
}

fn starts_with_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|start| text.starts_with(start))
}

fn contains_any(text: &str, list: &[&str]) -> bool {
    list.iter().any(|part| text.contains(part))
}

/// Questions, offers, guesses, quotations.
fn is_open(plain: &str, sentence: &str) -> bool {
    let end = sentence.trim_end_matches(['"', '\'', ')', '”', ' ', '*', '_']);
    if end.ends_with(['?', '？'])
        || end.ends_with(['吗', '呢', 'か'])
        || end.contains("吗")
        || end.ends_with("么")
    {
        return true;
    }
    contains_any(
        plain,
        &[
            "maybe ",
            "perhaps ",
            "we could ",
            "you could ",
            "i could ",
            "could be ",
            "what if ",
            "wondering",
            "should we ",
            "shall we ",
            "how about ",
            "might want",
            "i think it ",
            "for example, ",
            "e.g. ",
            "for instance",
            "hypothetically",
            "in theory",
            "or we can",
            "one option",
            "another option",
            "alternatively",
            "或许",
            "也许",
            "かもしれ",
            "比如",
            "例如",
        ],
    ) || starts_with_any(
        plain,
        &[
            "could ",
            "can ",
            "would ",
            "should ",
            "why ",
            "what ",
            "how ",
            "is it",
            "are there",
            "do you",
            "does ",
        ],
    )
}

/// A trigger inside a quotation, or a rule that somebody else is reported to state.
fn is_reported(plain: &str) -> bool {
    contains_any(
        plain,
        &[
            " says ",
            " says:",
            " said ",
            " states ",
            " stated ",
            "according to",
            " reads:",
            " reads \"",
            "documented as",
            "the docs say",
            "the readme",
            "the comment ",
            "it says",
            " mentions that",
            " tells me",
            "error message",
            " claims ",
            " wrote ",
            "写着",
            "写道",
            "と書いて",
            " warns ",
            " complains ",
        ],
    )
}
