//! Wrong options: near enough to the right one that only somebody who knows the conversation tells them apart, and not true of it.

use crate::matching::sentence::entities;
use crate::stats::SplitMix64;

/// Most characters of an option; a sentence is cut there.
const LONGEST: usize = 240;

/// Random numbers that depend on nothing but the question.
#[derive(Debug)]
pub(super) struct Dice(SplitMix64);

impl Dice {
    /// By a seed and what the question is about.
    pub(super) fn new(seed: u64, about: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        for part in about {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut start = [0; 8];
        hasher.finalize_xof().fill(&mut start);
        Self(SplitMix64::new(u64::from_le_bytes(start)))
    }

    /// 64 bits.
    pub(super) fn roll(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// In another order, each as likely as any other.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.0.below(at + 1));
        }
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        items.get(self.0.below(items.len()))
    }
}

/// A text as an option: one line, cut where it is long.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// What kind of name a text is: runs of digits, capitals and small letters, and what stands between them.
pub(super) fn shape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let class = match c {
            _ if c.is_numeric() => '0',
            _ if c.is_uppercase() => 'A',
            _ if c.is_alphabetic() => 'a',
            _ => c,
        };
        if !out.ends_with(class) {
            out.push(class);
        }
    }
    out
}

/// The same with other digits: of as many digits, the first no zero where it was none. Texts of digits and letters up to `f` are
/// hashes, in which letters change, too. `None` where there is nothing to change.
pub(super) fn renumbered(text: &str, dice: &mut Dice) -> Option<String> {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_hash = digits > 0
        && text.len() >= 7
        && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        && text.chars().any(|c| c.is_ascii_alphabetic());
    if digits == 0 {
        return None;
    }
    let mut last = ' ';
    let changed = |c: char, last: char, dice: &mut Dice| match c {
        '0'..='9' => {
            let leads = !last.is_ascii_digit() && c != '0';
            let any: &[u8] = if leads { b"123456789" } else { b"0123456789" };
            dice.pick(any).map_or(c, |digit| char::from(*digit))
        }
        'a'..='f' if is_hash => dice.pick(b"abcdef").map_or(c, |digit| char::from(*digit)),
        'A'..='F' if is_hash => dice.pick(b"ABCDEF").map_or(c, |digit| char::from(*digit)),
        _ => c,
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push(changed(c, last, dice));
        last = c;
    }
    (out != text).then_some(out)
}

/// What parts of a name stand between.
const SEPARATORS: [&str; 6] = ["::", "_", ".", "-", "/", ":"];

/// The same name with another last component, taken from `words`. `None` for a name of one component.
pub(super) fn renamed(text: &str, words: &[String], dice: &mut Dice) -> Option<String> {
    let separator = SEPARATORS.into_iter().find(|separator| text.contains(separator))?;
    let (stem, last) = text.rsplit_once(separator)?;
    let fits: Vec<&String> =
        words.iter().filter(|word| shape(word) == shape(last) && word.as_str() != last).collect();
    let word = dice.pick(&fits)?;
    Some(format!("{stem}{separator}{word}"))
}

/// Last components of names, as [`renamed`] takes them; each once, sorted.
pub(super) fn components<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let last = |name: &'n str| {
        let separator = SEPARATORS.into_iter().find(|separator| name.contains(separator))?;
        name.rsplit_once(separator).map(|(_, last)| last.to_owned())
    };
    let mut out: Vec<String> = names.filter_map(last).filter(|word| word.chars().count() > 1).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// A sentence in which one thing that it names is another one, with that other thing. `None` where nothing in it can be.
pub(super) fn altered(sentence: &str, words: &[String], dice: &mut Dice) -> Option<(String, String)> {
    let mut named = entities(sentence);
    dice.shuffle(&mut named);
    named.into_iter().find_map(|entity| {
        let other = renumbered(&entity, dice).or_else(|| renamed(&entity, words, dice))?;
        sentence.contains(&entity).then(|| (sentence.replacen(&entity, &other, 1), other))
    })
}

/// Numbers near a value, in its own spelling: its double, its half, ten times as much.
pub(super) fn scaled(value: &str, dice: &mut Dice) -> Vec<String> {
    let Some(start) = value.find(|c: char| c.is_ascii_digit()) else { return Vec::new() };
    let rest = value.get(start..).unwrap_or_default();
    let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(length);
    let number = number.trim_end_matches('.');
    let unit = rest.get(number.len()..).unwrap_or(unit);
    let Ok(amount) = number.parse::<f64>() else { return Vec::new() };
    let decimals = number.split_once('.').map_or(0, |(_, behind)| behind.len());
    let head = value.get(..start).unwrap_or_default();
    let mut near = [amount * 2.0, amount / 2.0, amount * 10.0, amount * 3.0, amount + 1.0];
    dice.shuffle(&mut near);
    let mut out: Vec<String> = Vec::new();
    for amount in near {
        let one = format!("{head}{amount:.decimals$}{unit}");
        if one != value && !out.contains(&one) {
            out.push(one);
        }
    }
    out
}

/// Where a conversation offers no wrong option of its own: what happens, is asked and is settled in other projects.
pub(super) const ERRORS: [&str; 8] = [
    "error[E0502]: cannot borrow `*self` as mutable because it is also borrowed as immutable",
    "ModuleNotFoundError: No module named 'yaml'",
    "TypeError: Cannot read properties of undefined (reading 'length')",
    "ECONNREFUSED 127.0.0.1:5432",
    "error: linker `cc` not found",
    "AssertionError: expected 200, got 502",
    "fatal: not a git repository (or any of the parent directories): .git",
    "SyntaxError: Unexpected token '<'",
];

/// Rules that users set elsewhere.
pub(super) const CONSTRAINTS: [&str; 8] = [
    "Never log the request body, not even in debug builds.",
    "Keep the public API as it is; only internals may change.",
    "Do not add a dependency for this.",
    "All dates must stay in UTC until they are shown.",
    "No change to the database schema in this release.",
    "The nightly job must not run longer than 20 minutes.",
    "Use tabs in the Makefile and nowhere else.",
    "Only touch files under tools/.",
];

/// Choices that were made elsewhere.
pub(super) const DECISIONS: [&str; 8] = [
    "We take a queue with one worker in place of the cron job.",
    "Retries go into the client, not into the server.",
    "I'll keep the old endpoint as an alias for one release.",
    "Let's store the state as one JSON file per user.",
    "We use the streaming parser, because the files are too large to load.",
    "The cache is keyed by content hash, not by path.",
    "I'll split the module in two and leave the tests where they are.",
    "We drop support for the old configuration format.",
];

/// What users asked for elsewhere.
pub(super) const REQUESTS: [&str; 8] = [
    "Please add a dark mode to the settings page.",
    "The export takes too long, find out why.",
    "Write a migration that renames the column.",
    "Make the installer work without administrator rights.",
    "Can you update the changelog for the release?",
    "The login fails on mobile, please look into it.",
    "Add a command that prints the configuration in use.",
    "Remove the deprecated flags.",
];
