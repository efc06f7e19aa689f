//! Expansion of words: what a word becomes, as far as that can be known without running anything.

use shuck_ast::{BourneParameterExpansion, ParameterExpansionSyntax, Word, WordPart, WordPartNode};

use compact_str::CompactString;

use std::fmt::Write;

use super::{Arg, MAX_TURNS, Shell, State, Value};

/// Words of one brace list; beyond them nothing is guessed.
const MAX_BRACE_WORDS: usize = 64;

impl<'s> Shell<'s, '_> {
    /// Expands a word to the words it becomes.
    pub(super) fn words(&self, word: &'s Word, state: &State) -> Vec<Arg> {
        if word.has_active_brace_expansion() {
            return self.brace_words(word);
        }
        let only = match word.parts.as_slice() {
            [part] => match &part.kind {
                WordPart::DoubleQuoted { parts, .. } => match parts.as_slice() {
                    [inner] => Some((&inner.kind, true)),
                    _ => None,
                },
                kind => Some((kind, false)),
            },
            _ => None,
        };
        if let Some((kind, is_quoted)) = only
            && let Some((name, is_list)) = variable(kind)
            && let Some(value) = state.get(name)
        {
            match &*value {
                Value::List(list) if is_list => return list.iter().cloned().map(Some).collect(),
                // Unquoted, the value is split at blanks.
                Value::Text(text) if !is_quoted && text.contains(char::is_whitespace) => {
                    let words = text.split_whitespace().take(MAX_TURNS);
                    return words.map(|word| (!is_glob(word)).then(|| word.into())).collect();
                }
                Value::Text(text) if !is_quoted && is_glob(text) => return vec![None],
                _ => {}
            }
        }
        let mut text = CompactString::default();
        let known = self.text_of(&word.parts, false, state, &mut text);
        vec![known.then_some(text)]
    }

    fn text_of(
        &self,
        parts: &'s [WordPartNode],
        is_quoted: bool,
        state: &State,
        out: &mut CompactString,
    ) -> bool {
        parts.iter().all(|part| match &part.kind {
            WordPart::Literal(literal) => {
                let text = literal.as_str(self.source, part.span);
                if is_quoted {
                    unescape_quoted(text, out);
                    true
                } else {
                    unescape(text, out)
                }
            }
            WordPart::SingleQuoted { value, .. } => {
                out.push_str(value.slice(self.source));
                true
            }
            WordPart::DoubleQuoted { parts, .. } => self.text_of(parts, true, state, out),
            kind => match variable(kind).and_then(|(name, _)| state.get(name)).as_deref() {
                Some(Value::Text(text))
                    if is_quoted || !text.contains(char::is_whitespace) && !is_glob(text) =>
                {
                    out.push_str(text);
                    true
                }
                _ => false,
            },
        })
    }

    /// `src/{a,b}.rs`; only plain words, everything else is unknown.
    fn brace_words(&self, word: &'s Word) -> Vec<Arg> {
        let mut text = String::new();
        for part in &word.parts {
            let WordPart::Literal(literal) = &part.kind else { return vec![None] };
            text.push_str(literal.as_str(self.source, part.span));
        }
        let text = text.as_str();
        if text.contains(['\\', '$', '`']) || text.contains("..") && !text.contains("../") || is_glob(text) {
            return vec![None];
        }
        let mut words = vec![String::new()];
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inner, after)) = after.split_once('}') else { return vec![None] };
            let choices: Vec<&str> = inner.split(',').collect();
            if inner.contains('{') || words.len() * choices.len() > MAX_BRACE_WORDS {
                return vec![None];
            }
            words = words
                .iter()
                .flat_map(|word| choices.iter().map(move |choice| format!("{word}{before}{choice}")))
                .collect();
            rest = after;
        }
        words.into_iter().map(|word| Some((word + rest).into())).collect()
    }
}

/// The variable that a part of a word expands, and whether it asks for all elements of an array.
fn variable(part: &WordPart) -> Option<(&str, bool)> {
    let reference = match part {
        WordPart::Variable(name) => return Some((name.as_str(), false)),
        WordPart::ArrayAccess(reference) => reference,
        WordPart::Parameter(parameter) => match &parameter.syntax {
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Access { reference }) => reference,
            _ => return None,
        },
        _ => return None,
    };
    match reference.subscript {
        None => Some((reference.name.as_str(), false)),
        Some(_) => reference.has_array_selector().then(|| (reference.name.as_str(), true)),
    }
}

/// Takes off the escapes of unquoted text; false when it holds a pattern, which only a disk could resolve.
fn unescape(text: &str, out: &mut CompactString) -> bool {
    if !text.contains(['\\', '*', '?', '[', '(']) {
        out.push_str(text);
        return true;
    }
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, '\n')) | None => {}
                Some((_, escaped)) => out.push(escaped),
            },
            '*' | '?' | '(' => return false,
            // `app/[id]/page.tsx`: a route of a web framework; as a pattern it would name a one-letter directory,
            // and a shell leaves a pattern without matches as it is.
            '[' if !is_route(text.get(at..).unwrap_or_default()) => return false,
            c => out.push(c),
        }
    }
    true
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
        || text.find('[').is_some_and(|at| !is_route(text.get(at..).unwrap_or_default()))
}

/// `[id]`, `[...slug]`, `[[...slug]]` at the start of the text.
fn is_route(text: &str) -> bool {
    let inner = text.trim_start_matches('[');
    let opened = text.len() - inner.len();
    let inner = inner.strip_prefix("...").unwrap_or(inner);
    let Some((name, rest)) = inner.split_once(']') else { return false };
    let is_name = name.len() >= 2
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && !name.contains("a-z")
        && !name.contains("A-Z");
    is_name && (opened == 1 || opened == 2 && rest.starts_with(']'))
}

/// Takes off the escapes of double-quoted text.
pub(super) fn unescape_quoted(text: &str, out: &mut impl Write) {
    // What is written to has no end.
    let mut put = |text: &str| {
        let _ = out.write_str(text);
    };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        put(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('\n') => {}
            Some('$' | '`' | '"' | '\\') => put(after.get(..1).unwrap_or_default()),
            // No escape.
            Some(c) => put(rest.get(before.len()..before.len() + 1 + c.len_utf8()).unwrap_or_default()),
            None => put("\\"),
        }
        rest = chars.as_str();
    }
    put(rest);
}
