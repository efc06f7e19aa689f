//! Wrong options: the right one with another number, name or word in one place, so that nothing but the conversation tells them
//! apart. All of them differ in the same place: which of them the others were made from is not to be seen.

use crate::matching::sentence::{entities, is_stop};
use crate::stats::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};

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

/// The same with other digits: as many of them, and zeros where there were some, so that a round number stays one. In hashes
/// letters change, too. `None` where there is nothing to change.
pub(super) fn renumbered(text: &str, dice: &mut Dice) -> Option<String> {
    let has = |of: fn(&char) -> bool| text.chars().any(|c| of(&c));
    let is_hash = text.len() >= 7
        && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic);
    let mut changed = |c: char| match c {
        '1'..='9' => dice.pick(b"123456789").map_or(c, |digit| char::from(*digit)),
        'a'..='f' if is_hash => dice.pick(b"abcdef").map_or(c, |digit| char::from(*digit)),
        'A'..='F' if is_hash => dice.pick(b"ABCDEF").map_or(c, |digit| char::from(*digit)),
        _ => c,
    };
    let out: String = text.chars().map(&mut changed).collect();
    (out != text).then_some(out)
}

/// What parts of a name stand between.
const SEPARATORS: [&str; 6] = ["::", "_", ".", "-", "/", ":"];

/// Words and parts of names that come up in a session, by what may take the place of what.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Last components of names, by their shape.
    components: BTreeMap<String, Vec<String>>,
    /// Words of sentences, by how they end.
    words: BTreeMap<String, Vec<String>>,
}

impl Words {
    /// Of names and of sentences.
    pub(super) fn of<'t>(
        names: impl Iterator<Item = &'t str>,
        sentences: impl Iterator<Item = &'t str>,
    ) -> Self {
        let mut out = Self::default();
        let components: BTreeSet<&str> = names
            .filter_map(|name| Some(split(name)?.2))
            .filter(|component| component.chars().count() > 1)
            .collect();
        for component in components {
            out.components.entry(shape(component)).or_default().push(component.to_owned());
        }
        let words: BTreeSet<&str> = sentences.flat_map(content_words).collect();
        for word in words {
            out.words.entry(ending(word)).or_default().push(word.to_owned());
        }
        out
    }

    /// The same name with another last component. `None` for a name of one component, or where no other one is known.
    pub(super) fn renamed(&self, name: &str, dice: &mut Dice) -> Option<String> {
        let (stem, separator, last) = split(name)?;
        let like = self.components.get(&shape(last))?;
        let others: Vec<&String> = like.iter().filter(|other| *other != last).collect();
        Some(format!("{stem}{separator}{}", dice.pick(&others)?))
    }

    /// Another word that ends like this one.
    fn other(&self, word: &str, dice: &mut Dice) -> Option<String> {
        let like = self.words.get(&ending(word))?;
        let others: Vec<&String> = like.iter().filter(|other| *other != word).collect();
        dice.pick(&others).map(|other| (*other).clone())
    }

    /// Up to `most` sentences that differ from one in the same place each: in a number, a name, or else a word. `is_said`: whether
    /// another sentence speaks of what would stand there, which might make it true.
    pub(super) fn altered(
        &self,
        sentence: &str,
        most: usize,
        is_said: &dyn Fn(&str) -> bool,
        dice: &mut Dice,
    ) -> Vec<String> {
        let mut places: Vec<String> = entities(sentence);
        dice.shuffle(&mut places);
        let mut words: Vec<String> = content_words(sentence).map(str::to_owned).collect();
        dice.shuffle(&mut words);
        let named = places.len();
        places.extend(words);
        for (at, place) in places.iter().enumerate() {
            let mut out: Vec<String> = Vec::new();
            for _ in 0..4 * most {
                let other = if at < named {
                    renumbered(place, dice).or_else(|| self.renamed(place, dice))
                } else {
                    self.other(place, dice)
                };
                let Some(other) = other.filter(|other| at >= named || !is_said(other)) else { continue };
                let Some(one) = replaced(sentence, place, &other) else { break };
                if one != sentence && !out.contains(&one) && out.len() < most {
                    out.push(one);
                }
            }
            if !out.is_empty() {
                return out;
            }
        }
        Vec::new()
    }
}

/// A text with another word in place of one, which stands there as a whole.
fn replaced(text: &str, word: &str, other: &str) -> Option<String> {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let (start, _) = text.match_indices(word).find(|(start, _)| {
        let before = text.get(..*start).unwrap_or_default().chars().next_back();
        is_end(before) && is_end(text.get(start + word.len()..).unwrap_or_default().chars().next())
    })?;
    let behind = text.get(start + word.len()..)?;
    Some(format!("{}{other}{behind}", text.get(..start)?))
}

/// Stem, separator and last component of a name.
fn split(name: &str) -> Option<(&str, &'static str, &str)> {
    let separator = SEPARATORS.into_iter().find(|separator| name.contains(separator))?;
    let (stem, last) = name.rsplit_once(separator)?;
    Some((stem, separator, last))
}

/// Words of a sentence that say something: small letters, four or more, no word that any sentence has.
fn content_words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| {
        word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()) && !is_stop(word)
    })
}

/// How a word ends, as far as that tells what kind of word it is.
fn ending(word: &str) -> String {
    const ENDINGS: [&str; 10] = ["ing", "tion", "ment", "ness", "able", "ally", "ed", "ly", "er", "s"];
    ENDINGS
        .iter()
        .find(|ending| word.ends_with(**ending))
        .map_or_else(String::new, |ending| (*ending).to_owned())
}

/// Numbers like a value, in its own spelling: as many digits, as round.
pub(super) fn numbers(value: &str, most: usize, dice: &mut Dice) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for _ in 0..8 * most {
        if let Some(one) = renumbered(value, dice)
            && !out.contains(&one)
            && out.len() < most
        {
            out.push(one);
        }
    }
    out
}
