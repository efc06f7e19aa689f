//! Hashes, UUIDs and versions.

use super::super::{Border, CLASS, LazyLock, Regex, WORD, is_cjk, pattern};
use super::{Found, Names, Spelled, may_have_short_version, plain};
use smallvec::SmallVec;

pub(super) static SHORT_VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b([A-Za-z][A-Za-z0-9_+#.\-]*)(?:\s+(?:is\s+|to\s+|>=?\s*|\+|\^)?|/|@|\s*[:=>]=?\s*|\s*[是为は]\s*)v?([0-9]{1,3}\.(?:[0-9]{1,3}|x))\b",
    )
});

/// What versions of two numbers stand after, beside the project's own name.
pub(super) const VERSIONED: &[&str] = &[
    "alpine",
    "android",
    "angular",
    "bun",
    "cargo",
    "clang",
    "cmake",
    "cuda",
    "dart",
    "debian",
    "deno",
    "django",
    "docker",
    "elixir",
    "erlang",
    "flask",
    "flutter",
    "gcc",
    "glibc",
    "go",
    "golang",
    "gradle",
    "ios",
    "java",
    "jdk",
    "kernel",
    "kotlin",
    "kubernetes",
    "linux",
    "llvm",
    "macos",
    "maven",
    "msrv",
    "mysql",
    "node",
    "node.js",
    "nodejs",
    "npm",
    "numpy",
    "openssl",
    "php",
    "pnpm",
    "postgres",
    "postgresql",
    "python",
    "pytorch",
    "rails",
    "react",
    "redis",
    "release",
    "releases",
    "requires",
    "ruby",
    "rust",
    "rustc",
    "scala",
    "since",
    "spring",
    "sqlite",
    "swift",
    "tensorflow",
    "typescript",
    "ubuntu",
    "version",
    "versions",
    "vite",
    "vue",
    "yarn",
];

/// Versions of two numbers after the name of what has them: `Rust 1.74`, `version 1.5`, `linkcheck/1.4`.
pub(super) fn short_versions(text: &str, names: &Names) -> Vec<Found> {
    if !may_have_short_version(text) {
        return Vec::new();
    }
    let Some(short) = SHORT_VERSION.as_ref() else { return Vec::new() };
    short
        .captures_iter(text)
        .filter(|found| {
            found.get(1).is_some_and(|name| {
                let lower = name.as_str().to_ascii_lowercase();
                VERSIONED.contains(&lower.as_str())
                    || lower.ends_with("version")
                    || names.projects.contains(&lower)
            }) && found.get(2).is_some_and(|number| {
                !text.get(number.end()..).is_some_and(|rest| {
                    rest.starts_with(|c: char| c.is_ascii_digit() || c == '%')
                        || rest.starts_with('.')
                            && rest.get(1..).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
                })
            })
        })
        .filter_map(|found| Some(plain(found.get(2)?.as_str(), Border::Word)))
        .collect()
}

/// Where the word begins that goes on to this place. Full stops, hyphens and plus signs are inside of it.
fn word_start(bytes: &[u8], at: usize) -> usize {
    let mut start = at;
    while let Some(before) = start.checked_sub(1) {
        let joins = matches!(bytes[before], b'.' | b'-' | b'+')
            && before.checked_sub(1).is_some_and(|at| CLASS[bytes[at] as usize] == WORD);
        if CLASS[bytes[before] as usize] != WORD && !joins {
            break;
        }
        start = before;
    }
    start
}

/// Where the word ends that begins at or before this place.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(byte) = bytes.get(end) {
        let joins = matches!(byte, b'.' | b'-' | b'+')
            && bytes.get(end + 1).is_some_and(|byte| CLASS[*byte as usize] == WORD);
        if CLASS[*byte as usize] != WORD && !joins {
            break;
        }
        end += 1;
    }
    end
}

/// The word before a place where one begins.
fn word_before(text: &str, start: usize) -> &str {
    let bytes = text.as_bytes();
    let before = bytes.get(..start).unwrap_or_default();
    let last = before.iter().rposition(|byte| CLASS[*byte as usize] == WORD);
    last.and_then(|last| text.get(word_start(bytes, last)..=last)).unwrap_or("")
}

/// UUIDs, hex strings, commits and versions, in one walk over the words with digits.
pub(super) fn hashes_and_versions(text: &str, covered: &mut Vec<(usize, usize)>, out: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(digit) = bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let start = word_start(bytes, at + digit);
        at = word_end(bytes, at + digit);
        let word = text.get(start..at).unwrap_or("");
        if covered.iter().any(|(from, to)| start < *to && *from < at) || word.len() < 3 {
            continue;
        }
        let glued = start > 0
            && bytes[start - 1] >= 0x80
            && text
                .get(..start)
                .and_then(|t| t.chars().next_back())
                .is_some_and(|c| !is_cjk(c) && c.is_alphanumeric());
        if glued {
            continue;
        }
        // Seven hex digits with a letter and a digit among them: a commit, as git abbreviates it.
        let hash = is_hex(word)
            && (word.len() >= 8 || word.len() == 7 && !word.bytes().any(|b| b.is_ascii_uppercase()));
        let found = if is_uuid(word) || hash {
            Some(plain(word, Border::Tight))
        } else if word.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'v')
            && !dotted_path(text, start, at)
        {
            version(word, word_before(text, start))
        } else {
            None
        };
        if let Some(found) = found {
            covered.push((start, at));
            out.push(found);
        }
    }
}

/// Part of a path, an address or a host: not a version.
pub(super) fn dotted_path(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let after = bytes.get(end).copied().unwrap_or(b' ');
    matches!(before, b'/' | b'\\' | b'$' | b'~' | b'+')
        || matches!(after, b'/' | b'\\')
        || after == b':' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
}

pub(super) fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word
            .bytes()
            .enumerate()
            .all(|(at, b)| if matches!(at, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Hex with a letter and a digit, in one case, of no more than 64 digits (`0x` counts as hex, too).
pub(super) fn is_hex(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let letters = digits.bytes().any(|b| b.is_ascii_alphabetic());
    (digits.len() <= 64)
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
        && letters
        && digits.bytes().any(|b| b.is_ascii_digit())
        && !(digits.bytes().any(|b| b.is_ascii_lowercase()) && digits.bytes().any(|b| b.is_ascii_uppercase()))
        && !scientific(digits)
}

/// `1234e56`: a number.
pub(super) fn scientific(word: &str) -> bool {
    word.bytes().filter(u8::is_ascii_alphabetic).count() == 1
        && word.contains(['e', 'E'])
        && !word.starts_with(['e', 'E'])
        && !word.ends_with(['e', 'E'])
}

/// A version by its form; of two numbers only after a word that has such (`last`, the word before it).
pub(super) fn version(word: &str, last: &str) -> Option<Found> {
    let digits = word.strip_prefix('v').unwrap_or(word);
    let core_end = digits.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(digits.len());
    let core = digits.get(..core_end)?;
    let tail = digits.get(core_end..)?;
    let parts: SmallVec<[&str; 8]> = core.split('.').collect();
    if parts.iter().any(|part| part.is_empty() || part.len() > 5) {
        return None;
    }
    let tail_ok = tail.is_empty()
        || (tail.starts_with(['-', '+']) && tail.len() > 1)
        || tail.starts_with("rc")
        || tail.starts_with("beta")
        || tail.starts_with("alpha")
        || tail.starts_with(".rc")
        || tail.starts_with(".dev");
    let enough = match parts.len() {
        // `04.03.2024` is a date.
        3 => parts[2].len() < 4 || parts[0].len() > 2,
        2 => {
            word.starts_with('v')
                || matches!(
                    last.to_ascii_lowercase().as_str(),
                    "version" | "release" | "python" | "node" | "rust" | "go" | "java" | "php" | "ruby"
                )
        }
        _ => false,
    };
    if !tail_ok || !enough {
        return None;
    }
    Some(Found { value: word.to_owned(), spelled: Spelled::Version, border: Border::Tight })
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::samples;
    use super::*;

    /// Words as they are read from the start of a text.
    fn words(text: &str) -> Vec<(usize, usize)> {
        let (bytes, mut words, mut at) = (text.as_bytes(), Vec::new(), 0);
        while at < bytes.len() {
            let end = word_end(bytes, at);
            if CLASS[bytes[at] as usize] == WORD {
                words.push((at, end));
                at = end;
            }
            at += 1;
        }
        words
    }

    #[test]
    fn words_around_digits_are_those_of_the_text() {
        const PIECES: &[&str] = &["a", "7", "b1", ".", "-", "+", " ", "..", "é", "v", "_", "/"];
        for text in samples(PIECES, 10, 20_000) {
            let words = words(&text);
            for digit in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at)
            {
                let place = words.iter().position(|(start, end)| (*start..*end).contains(&digit));
                let place = place.expect("a digit is of a word");
                let (start, end) = words[place];
                assert_eq!(
                    (word_start(text.as_bytes(), digit), word_end(text.as_bytes(), digit)),
                    (start, end)
                );
                let before =
                    place.checked_sub(1).and_then(|at| text.get(words[at].0..words[at].1)).unwrap_or("");
                assert_eq!(word_before(&text, start), before, "{text}");
            }
        }
    }
}
