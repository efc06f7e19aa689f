//! Patterns that are compiled and searched fast: their classes are those of ASCII.

use regex::{Error, Regex};

/// Compiles a pattern as [`plain`].
///
/// # Errors
///
/// It is none.
pub(crate) fn compile(pattern: &str) -> Result<Regex, Error> {
    Regex::new(&plain(pattern))
}

/// A pattern whose word borders and blanks are those of ASCII, and in which whatever is beyond ASCII is a letter. The classes
/// of Unicode would make automata of hundreds of states, built anew by every process, for texts that are nearly all ASCII.
/// And a name right beside Chinese or Japanese text stands alone.
pub(crate) fn plain(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() * 2);
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        if c != '\\' {
            // No pattern has a class within a class.
            in_class = if in_class { c != ']' } else { c == '[' };
            out.push(c);
            continue;
        }
        match (chars.next(), in_class) {
            (Some('b'), false) => out.push_str(r"(?-u:\b)"),
            (Some('d'), false) => out.push_str("[0-9]"),
            (Some('s'), false) => out.push_str(r"[\t-\r\x20]"),
            (Some('S'), false) => out.push_str(r"[^\t-\r\x20]"),
            (Some('w'), false) => out.push_str(r"[0-9A-Za-z_\u{80}-\u{10ffff}]"),
            (Some('d'), true) => out.push_str("0-9"),
            (Some('s'), true) => out.push_str(r"\t-\r\x20"),
            (Some('w'), true) => out.push_str(r"0-9A-Za-z_\u{80}-\u{10ffff}"),
            (next, _) => out.extend(['\\'].into_iter().chain(next)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATTERNS: [&str; 6] = [r"\ba\w*", r"\s+a", r"^\S+?:", r"[^\s\]:]+b", r"[\w.-]+\b", r"\\w|\[s|a\B"];

    proptest! {
        #[test]
        fn ascii_is_matched_as_ever(at in 0..PATTERNS.len(), text in r"[ab:\]\[ \n\t\x0bw\\._-]{0,12}") {
            let found = |pattern: Result<Regex, Error>| {
                let pattern = pattern.expect("a pattern");
                pattern.find_iter(&text).map(|found| found.range()).collect::<Vec<_>>()
            };
            prop_assert_eq!(found(compile(PATTERNS[at])), found(Regex::new(PATTERNS[at])));
        }
    }

    #[test]
    fn what_is_beyond_ascii_is_a_letter() {
        let found = |pattern: &str, text: &str| compile(pattern).is_ok_and(|it| it.is_match(text));
        assert!(found(r"^\w+$", "größe"));
        assert!(found(r"^[\w.]+$", "größe.rs"));
        assert!(found(r"\ba\b", "前a後"));
        assert!(!found(r"a\sb", "a\u{2003}b"));
    }
}
