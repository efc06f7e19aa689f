//! Sentences as bags of content words and entities, with their polarity.
//!
//! A sentence is kept by a unit of text when all its entities stand there exactly and at least 3/4 of its words do.
//! Negation has a scope (from the marker to the end of the clause), so that "use Y instead of X" does not keep "use X
//! instead of Y", although the words are the same.

use super::{CLASS, WORD, is_cjk, is_wide_quote};
use aho_corasick::AhoCorasick;
use compact_str::CompactString;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

/// Most slots (words and entities) a sentence may have; longer ones are compared by their first slots.
pub(crate) const MAX_SLOTS: usize = 128;

/// A sentence prepared for comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Content words, lower case, each once; CJK text gives pairs of characters.
    pub(crate) words: Vec<CompactString>,
    /// Entities as written: paths, identifiers, numbers, code spans.
    pub(crate) entities: Vec<String>,
    /// Lower-case words that stand in the scope of a negation and nowhere else.
    pub(crate) negated: Vec<CompactString>,
    /// Lower-case words that stand in no such scope, nor told as former or taken away.
    affirmed: Vec<CompactString>,
    /// It has a negation.
    negation: bool,
    /// Words that are no part of an entity, as places in `words`.
    pub(crate) plain: Vec<u8>,
    /// The negation rejects one of two: `5, not 3`, `X instead of Y`, `X rather than Y`.
    pub(crate) choice: bool,
    /// It has a limiting word (`only`).
    pub(crate) limiting: bool,
    /// It has a word of obligation (`must`).
    pub(crate) must: bool,
}

/// Function words: never content.
const STOP: &[&str] = &[
    "a", "an", "the", "and", "or", "but", "if", "then", "else", "so", "as", "at", "by", "for", "from", "in",
    "into", "of", "off", "on", "onto", "out", "over", "to", "up", "with", "via", "per", "is", "are", "was",
    "were", "be", "been", "being", "am", "do", "does", "did", "done", "doing", "has", "have", "had",
    "having", "will", "would", "shall", "should", "can", "could", "may", "might", "must", "i", "me", "my",
    "we", "us", "our", "you", "your", "he", "she", "it", "its", "they", "them", "their", "this", "that",
    "these", "those", "there", "here", "what", "which", "who", "how", "when", "where", "why", "not", "no",
    "never", "only", "just", "also", "too", "very", "really", "please", "let", "lets", "s", "t", "d", "ll",
    "re", "ve", "m", "don", "doesn", "didn", "isn", "aren", "wasn", "won", "shouldn", "wouldn", "couldn",
    "cannot", "about", "than", "because", "since", "while", "some", "any", "all", "each", "such", "ok",
    "okay", "now", "well", "going", "want", "need", "needs", "like", "get", "make", "sure", "instead",
    "avoid", "always", "without", "rather", "again", "still", "yet", "one", "more", "most",
];

/// Bytes of the longest of them.
const LONGEST_STOP: usize = {
    let (mut at, mut longest) = (0, 0);
    while at < STOP.len() {
        longest = if STOP[at].len() > longest { STOP[at].len() } else { longest };
        at += 1;
    }
    longest
};

/// True for function words.
pub(crate) fn is_stop(word: &str) -> bool {
    static SET: LazyLock<FxHashSet<&str>> = LazyLock::new(|| STOP.iter().copied().collect());
    word.len() <= LONGEST_STOP && SET.contains(word)
}

/// Characters that negate in Chinese.
const CJK_NEGATIONS: [char; 10] = ['不', '勿', '别', '禁', '无', '没', '非', '未', '莫', '避'];

/// Prepares a sentence.
pub(crate) fn analyse(text: &str) -> Sentence {
    let mut sentence = Sentence::default();
    let entities = entities(text);
    let reading = read(text);
    let content = || reading.words.iter().filter(|word| !is_stop(&word.text));
    for word in content() {
        if sentence.words.len() < MAX_SLOTS - 32 && !sentence.words.contains(&word.text) {
            sentence.words.push(word.text.clone());
        }
    }
    if reading.negation {
        // A word that stands on both sides says nothing about either.
        for word in &sentence.words {
            let mut stands =
                content().filter(|read| read.text == *word).map(|read| (read.negated, read.out()));
            if stands.clone().all(|(negated, _)| negated) {
                sentence.negated.push(word.clone());
            } else if !stands.any(|(_, out)| out) {
                sentence.affirmed.push(word.clone());
            }
        }
    }
    let parts: FxHashSet<CompactString> =
        entities.iter().flat_map(|entity| read(entity).words).map(|it| it.text).collect();
    // A pair of CJK characters that holds the negation goes with it.
    let plain = |word: &CompactString| !parts.contains(word) && !word.contains(CJK_NEGATIONS);
    sentence.plain = (0..).zip(&sentence.words).filter(|(_, word)| plain(word)).map(|(at, _)| at).collect();
    sentence.entities = entities;
    sentence.entities.truncate(32);
    sentence.negation = reading.negation;
    sentence.choice = reading.choice;
    sentence.limiting = reading.limiting;
    sentence.must = reading.must;
    sentence
}

/// One word as polarity sees it.
#[derive(Debug)]
pub(crate) struct Read {
    /// Lower case. Most words are short enough to need no memory of their own.
    pub(crate) text: CompactString,
    /// Inside the scope of a negation.
    pub(crate) negated: bool,
    /// Told as what was before: `was 3`, `from 3`, `3 →`.
    former: bool,
    /// Told as taken away: `removed X`, `dropped X`.
    removed: bool,
}

impl Read {
    /// In any of these ways no part of how things are to be.
    fn out(&self) -> bool {
        self.negated || self.removed || self.former
    }
}

/// A text read for polarity.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Its words in order; CJK characters as pairs.
    pub(crate) words: Vec<Read>,
    /// Any negation in it.
    pub(crate) negation: bool,
    /// A negation that rejects one of two.
    choice: bool,
    /// A word that permits: `may`, `optional`.
    offers: bool,
    /// `only`, `solely`, `exclusively`.
    pub(crate) limiting: bool,
    /// `must`, `required`, `mandatory`, `have to`, `shall`, `always`.
    pub(crate) must: bool,
}

/// What a word does to the polarity of the words around it: a bit for each of its roles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Roles(u32);

impl Roles {
    /// Negates what follows.
    const NEGATES: Self = Self(1);
    /// Negates the clause it closes: "X is forbidden".
    const CLOSES: Self = Self(1 << 1);
    /// A verb whose `not` negates its subject, too.
    const AUXILIARY: Self = Self(1 << 2);
    /// Ends the scope of a negation.
    const OPENS: Self = Self(1 << 3);
    const LIMITS: Self = Self(1 << 4);
    const MUST: Self = Self(1 << 5);
    /// Obliges before `to`.
    const HAVE: Self = Self(1 << 6);
    /// Always takes the subject along.
    const NEVER: Self = Self(1 << 7);
    const NOT: Self = Self(1 << 8);
    const INSTEAD: Self = Self(1 << 9);
    const OF: Self = Self(1 << 10);
    const RATHER: Self = Self(1 << 11);
    const THAN: Self = Self(1 << 12);
    const AND: Self = Self(1 << 13);
    const TO: Self = Self(1 << 14);
    /// Tells what follows as what was before.
    const FORMER: Self = Self(1 << 15);
    /// Tells what follows as taken away.
    const REMOVES: Self = Self(1 << 16);
    /// What follows is told as it is now.
    const NOW: Self = Self(1 << 17);
    const OFFERS: Self = Self(1 << 18);
    const FROM: Self = Self(1 << 19);

    const WORDS: [(Self, &'static str); 20] = [
        (
            Self::NEGATES,
            "not no never cannot avoid avoiding without neither nor none stop refrain exclude excluding dont isnt wont \
             disallow disallows forbid forbids prohibit prohibits ban bans against nothing",
        ),
        (Self::CLOSES, "forbidden prohibited banned disallowed rejected excluded unacceptable"),
        (
            Self::AUXILIARY,
            "is are was were be must should may can could would will shall do does did has have had need ought",
        ),
        (Self::OPENS, "but however unless except because since whereas so"),
        (Self::LIMITS, "only solely exclusively strictly"),
        (Self::MUST, "must required requires require mandatory shall always musts"),
        (Self::HAVE, "have has needs need"),
        (Self::NEVER, "never cannot"),
        (Self::NOT, "not"),
        (Self::INSTEAD, "instead"),
        (Self::OF, "of"),
        (Self::RATHER, "rather"),
        (Self::THAN, "than"),
        (Self::AND, "and"),
        (Self::TO, "to"),
        (Self::FORMER, "was were formerly previously former old replaced replaces replacing"),
        (Self::REMOVES, "removed removes removing dropped deleted eliminated"),
        (Self::NOW, "to by with now is are in for and"),
        (Self::FROM, "from"),
        (Self::OFFERS, "may might can could allowed allow permitted optional optionally option options fine"),
    ];

    /// Roles of a word in lower case; most have none.
    fn of(word: &str) -> Self {
        static ROLES: LazyLock<FxHashMap<&str, Roles>> = LazyLock::new(|| {
            let mut roles: FxHashMap<&str, Roles> = FxHashMap::default();
            for (role, words) in Roles::WORDS {
                for word in words.split_whitespace() {
                    roles.entry(word).or_default().0 |= role.0;
                }
            }
            roles
        });
        if word.len() < 2 || word.len() > LONGEST_ROLE {
            Self::default()
        } else {
            ROLES.get(word).copied().unwrap_or_default()
        }
    }

    fn has(self, role: Self) -> bool {
        self.0 & role.0 != 0
    }
}

/// Most words between `from` and the `to` that belongs to it.
const FROM_WORDS: usize = 4;

/// Bytes of the longest word with a role, `unacceptable`.
const LONGEST_ROLE: usize = 12;

/// Could [`read`] find a negation in the text? Every word and sign that negates holds one of these.
fn may_negate(text: &str) -> bool {
    static SIGNS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build([
                "no",
                "n't",
                "n’t",
                "never",
                "avoid",
                "without",
                "stop",
                "refrain",
                "exclud",
                "dont",
                "isnt",
                "wont",
                "forbid",
                "prohibit",
                "ban",
                "against",
                "instead",
                "rather",
                "disallow",
                "reject",
                "unacceptable",
                "neither",
                "不",
                "勿",
                "别",
                "禁",
                "无",
                "没",
                "非",
                "未",
                "莫",
                "避",
                "ない",
                "ません",
                "지 마",
                "지 말",
            ])
            .ok()
    });
    SIGNS.as_ref().is_none_or(|signs| signs.is_match(text))
}

/// The character at a border between characters.
#[inline]
fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at)? {
        byte @ 0..0x80 => Some(char::from(*byte)),
        _ => text.get(at..)?.chars().next(),
    }
}

/// Reads the words of a unit with their polarity.
pub(crate) fn read(text: &str) -> Reading {
    let bytes = text.as_bytes();
    let mut out = Reading { words: Vec::with_capacity(text.len() / 8 + 4), ..Reading::default() };
    let (mut negated, mut former, mut removed) = (false, false, false);
    let mut from: Option<usize> = None;
    let mut clause = 0;
    let mut previous = Roles::default();
    let mut pair: Option<char> = None;
    let mut at = 0;
    while let Some(c) = char_at(text, at) {
        // What stands between most words says nothing.
        if c == ' ' {
            at += 1;
            pair = None;
            continue;
        }
        let start = at;
        at += c.len_utf8();
        if !c.is_ascii() && is_cjk(c) {
            if let Some(first) = pair {
                out.words.push(Read { text: [first, c].iter().collect(), negated, former, removed });
            }
            pair = Some(c);
            // Chinese negation stands before the verb, Japanese after it.
            if CJK_NEGATIONS.contains(&c) {
                negated = true;
                out.negation = true;
            }
            let rest = text.get(start..).unwrap_or("");
            if rest.starts_with("ない")
                || rest.starts_with("ません")
                || rest.starts_with("禁止")
                || rest.starts_with("지 마")
                || rest.starts_with("지 말")
            {
                out.negation = true;
                for word in out.words.iter_mut().skip(clause) {
                    word.negated = true;
                }
            }
            if rest.starts_with("只")
                || rest.starts_with("仅")
                || rest.starts_with("のみ")
                || rest.starts_with("だけ")
            {
                out.limiting = true;
            }
            if rest.starts_with("必须")
                || rest.starts_with("必ず")
                || rest.starts_with("务必")
                || rest.starts_with("반드시")
            {
                out.must = true;
            }
            continue;
        }
        pair = None;
        if c.is_alphanumeric() || c == '_' {
            let mut contracted = false;
            loop {
                while bytes.get(at).is_some_and(|byte| CLASS[*byte as usize] == WORD) {
                    at += 1;
                }
                let Some(next) = char_at(text, at) else { break };
                // Of ASCII, only this goes on a word beside the bytes of words.
                if next.is_ascii() && next != '\'' {
                    break;
                }
                let after = at + next.len_utf8();
                let apostrophe = matches!(next, '\'' | '’') && matches!(bytes.get(after), Some(b't' | b'T'));
                if is_cjk(next) || !(next.is_alphanumeric() || apostrophe) {
                    break;
                }
                contracted |= apostrophe;
                at = after;
            }
            let raw = text.get(start..at).unwrap_or("");
            let mut word = if raw.is_ascii() {
                let mut word = CompactString::from(raw);
                word.make_ascii_lowercase();
                word
            } else {
                CompactString::from(raw.to_lowercase())
            };
            let mut contraction = false;
            if contracted {
                word.retain(|c| !matches!(c, '\'' | '’'));
                contraction = raw.len() > 3 && word.ends_with("nt");
            }
            let roles = Roles::of(&word);
            // Most words do nothing to others.
            if !contraction && roles == Roles::default() {
                out.words.push(Read { text: word, negated, former, removed });
                previous = roles;
                continue;
            }
            if contraction || roles.has(Roles::NEGATES) {
                // "CASCADE must never be used": a negated verb takes its subject along; "use X not Y" does not.
                let verbal = contraction
                    || roles.has(Roles::NEVER)
                    || roles.has(Roles::NOT) && previous.has(Roles::AUXILIARY);
                if verbal {
                    for read in out.words.iter_mut().skip(clause) {
                        read.negated = true;
                    }
                }
                negated = true;
                out.negation = true;
                // `5, not 3`: what is named before is what was chosen.
                out.choice |= !verbal && roles.has(Roles::NOT) && !out.words.is_empty();
            } else if roles.has(Roles::CLOSES) {
                out.negation = true;
                for read in out.words.iter_mut().skip(clause) {
                    read.negated = true;
                }
            } else if roles.has(Roles::OF) && previous.has(Roles::INSTEAD)
                || roles.has(Roles::THAN) && previous.has(Roles::RATHER)
            {
                negated = true;
                out.negation = true;
                out.choice = true;
            } else if roles.has(Roles::OPENS) {
                negated = false;
                clause = out.words.len();
            } else if roles.has(Roles::AND) {
                clause = out.words.len();
            }
            out.limiting |= roles.has(Roles::LIMITS);
            out.must |= roles.has(Roles::MUST) || roles.has(Roles::TO) && previous.has(Roles::HAVE);
            out.offers |= roles.has(Roles::OFFERS);
            former = roles.has(Roles::FORMER) || former && !roles.has(Roles::NOW);
            removed = roles.has(Roles::REMOVES) || removed && !roles.has(Roles::NOW);
            // `from 3 to 5`
            if roles.has(Roles::TO)
                && let Some(start) = from.take().filter(|start| out.words.len() <= start + FROM_WORDS)
            {
                for read in out.words.iter_mut().skip(start) {
                    read.former = true;
                }
            }
            // The pieces of a contraction (`don`, `t`) are stop words; the joined form would not be.
            if !contraction {
                if roles.has(Roles::FROM) {
                    from = Some(out.words.len() + 1);
                }
                out.words.push(Read { text: word, negated, former, removed });
            }
            previous = roles;
            continue;
        }
        if matches!(c, ',' | ';' | ':' | '.' | '(' | ')' | '—' | '–' | '，' | '。' | '；' | '！' | '!' | '?')
        {
            let inside_token = matches!(c, '.' | ':' | ',')
                && char_at(text, at).is_some_and(|next| next.is_alphanumeric() || next == ':' || next == '/');
            if !inside_token {
                (negated, former, removed) = (false, false, false);
                clause = out.words.len();
            }
        } else if c == '→'
            || c == '⇒'
            || c == '>' && matches!(bytes.get(start.wrapping_sub(1)), Some(b'-' | b'='))
        {
            // `3 → 5`
            for read in out.words.iter_mut().skip(clause) {
                read.former = true;
            }
            former = false;
            clause = out.words.len();
        }
    }
    out
}

/// Entities of a sentence as written: code spans, path-like tokens, identifiers, numbers with two or more characters.
pub(crate) fn entities(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut push = |entity: &str| {
        if !entity.is_empty() && !out.iter().any(|known| known == entity) {
            out.push(entity.to_owned());
        }
    };
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let upper = text.chars().filter(|c| c.is_uppercase()).count();
    let shouting = upper * 2 > letters;
    let mut rest = text;
    let mut plain = String::new();
    while let Some(open) = rest.find('`') {
        let (before, after) = rest.split_at(open);
        plain.push_str(before);
        plain.push(' ');
        let after = after.trim_start_matches('`');
        let Some(close) = after.find('`') else {
            rest = after;
            continue;
        };
        let (span, tail) = after.split_at(close);
        if span.len() <= 120 {
            push(span.trim());
        }
        rest = tail.trim_start_matches('`');
    }
    // Most have no code spans.
    let plain = if plain.is_empty() {
        text
    } else {
        plain.push_str(rest);
        &plain
    };
    for chunk in plain.split(ends_chunk).filter(|chunk| chunk.len() > 1) {
        let chunk = chunk.trim_matches(['.', ':', '-', '=', '/', '…', '—', '–', '~', '+', '&', '|']);
        if is_entity(chunk, shouting) {
            push(chunk);
        }
    }
    out
}

/// Stands a character between two chunks of a sentence?
fn ends_chunk(c: char) -> bool {
    match c {
        '\t'..='\r'
        | ' '
        | '('
        | ')'
        | '['
        | ']'
        | '{'
        | '}'
        | '<'
        | '>'
        | ','
        | ';'
        | '"'
        | '\''
        | '!'
        | '?'
        | '*' => true,
        c if c.is_ascii() => false,
        '，' | '。' | '：' | '；' | '（' | '）' | '、' => true,
        c => c.is_whitespace() || is_wide_quote(c) || is_cjk(c),
    }
}

/// Is this chunk of a sentence something exact?
fn is_entity(chunk: &str, shouting: bool) -> bool {
    if chunk.len() < 2 {
        return false;
    }
    let bytes = chunk.as_bytes();
    let (mut letters, mut lines, mut dots, mut slashes, mut colons) = (0, 0, 0, 0, 0);
    for byte in bytes {
        match byte {
            b'0'..=b'9' => return true,
            b'a'..=b'z' | b'A'..=b'Z' => letters += 1,
            b'_' => lines += 1,
            b'.' => dots += 1,
            b'/' => slashes += 1,
            b':' => colons += 1,
            _ => {}
        }
    }
    if letters + lines == 0 {
        return false;
    }
    if lines > 0 && letters > 0 || colons > 1 && chunk.contains("::") {
        return true;
    }
    if dots > 0 && !chunk.contains("..") && chunk.split('.').filter(|part| part.len() >= 2).count() >= 2 {
        return true;
    }
    if slashes > 0 && letters > 2 {
        // `and/or`, `read/write` are words; a path has a dot, a leading slash or more than one slash.
        return dots > 0 || slashes > 1;
    }
    if shouting {
        return false;
    }
    if chunk.len() >= 3 && bytes.iter().all(u8::is_ascii_uppercase) {
        let mut lower = CompactString::from(chunk);
        lower.make_ascii_lowercase();
        return !is_stop(&lower)
            && !Roles::of(&lower).has(Roles::NEGATES)
            && !EMPHASIS.contains(&lower.as_str());
    }
    // camelCase and PascalCase with an inner capital.
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Words people write in capitals for emphasis.
const EMPHASIS: &[&str] = &[
    "important",
    "note",
    "warning",
    "critical",
    "required",
    "everything",
    "every",
    "both",
    "todo",
    "nothing",
    "first",
    "before",
    "after",
    "same",
    "exactly",
    "stop",
    "use",
    "new",
    "old",
    "fix",
    "yes",
    "own",
    "real",
    "correct",
];

/// A unit of text to which several sentences are compared: read at most once.
pub(crate) struct Unit<'u> {
    text: &'u str,
    read: &'u UnitRead,
}

/// What was read of a unit so far: it follows from its text alone.
#[derive(Debug, Default)]
pub(crate) struct UnitRead {
    may_negate: OnceCell<bool>,
    reading: OnceCell<Reading>,
    /// The sentences that stand in it, at least in part.
    pub(crate) held: OnceCell<SmallVec<[Held; 1]>>,
}

/// What of a sentence stands in a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// Number of the sentence.
    pub(crate) sentence: u32,
    /// A bit for each of its entities.
    pub(crate) entities: u32,
    /// How many of its words.
    pub(crate) words: usize,
    /// How many of its words beside the entities.
    pub(crate) plain: usize,
    /// How many of its words beside the entities do not, and may go without saying.
    pub(crate) unsaid: usize,
}

impl<'u> Unit<'u> {
    pub(crate) fn new(text: &'u str, read: &'u UnitRead) -> Self {
        Self { text, read }
    }

    pub(crate) fn text(&self) -> &'u str {
        self.text
    }

    fn may_negate(&self) -> bool {
        *self.read.may_negate.get_or_init(|| may_negate(self.text))
    }

    /// Does it tell of something done: `Capped it at 30 s`, a tick?
    fn reports(&self) -> bool {
        let first = self.reading().words.first().map_or("", |word| word.text.as_str());
        first.len() > 4 && first.ends_with("ed")
            || self.text.contains(['✓', '✔', '✅'])
            || self.text.contains("[x]")
    }

    /// Does it permit something: `CASCADE is an option`?
    pub(crate) fn offers(&self) -> bool {
        self.reading().offers
    }

    /// Its words with their polarity, read when somebody asks.
    pub(crate) fn reading(&self) -> &Reading {
        self.read.reading.get_or_init(|| read(self.text))
    }
}

/// How a unit that holds the words of a sentence stands to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    /// Same polarity.
    Same,
    /// What was rejected for it is gone, or an obligation is told as met: neither kept nor contradicted.
    Weakened,
    /// The negation or limit is gone or reversed.
    Reversed,
}

/// Compares polarity of a sentence with the unit of text that holds (some of) its words. `heading` is the heading the
/// unit stands under: a list under "Never:" or "Constraints" carries the word for its items.
pub(crate) fn stance(sentence: &Sentence, unit: &Unit<'_>, heading: Heading) -> Stance {
    // Nothing to turn round, and nothing in the unit that could.
    let polar = sentence.negation || sentence.limiting || sentence.must;
    if !polar && !unit.may_negate() {
        return Stance::Same;
    }
    let reading = unit.reading();
    match stance_of_negation(sentence, reading, heading) {
        Stance::Same => {}
        other => return other,
    }
    if sentence.limiting && !reading.limiting && !reading.negation && !heading.binding {
        return Stance::Reversed;
    }
    if sentence.must && !(reading.must || reading.limiting || reading.negation || heading.binding) {
        return if heading.done || unit.reports() { Stance::Weakened } else { Stance::Reversed };
    }
    Stance::Same
}

fn stance_of_negation(sentence: &Sentence, unit: &Reading, heading: Heading) -> Stance {
    if !sentence.negation {
        // Negated here, not in the fact: at least half of the matched words stand under a negation.
        let matched = |word: &&Read| sentence.words.iter().any(|known| *known == *word.text);
        let total = unit.words.iter().filter(matched).count();
        let negated = unit.words.iter().filter(|word| word.negated).filter(matched).count();
        return if total > 0 && negated * 2 > total { Stance::Reversed } else { Stance::Same };
    }
    if sentence.negated.is_empty() {
        return Stance::Same;
    }
    let (mut seen, mut kept, mut allowed, mut forbidden) = (0, 0, false, false);
    for word in &unit.words {
        // A choice is told, too, by what the rejected one is to the chosen one: `5 (was 3)`.
        let out = word.negated || word.removed || sentence.choice && word.former;
        if sentence.negated.iter().any(|known| *known == *word.text) {
            seen += 1;
            kept += usize::from(out);
            allowed |= !out;
        } else if out && sentence.affirmed.iter().any(|known| *known == *word.text) {
            forbidden = true;
        }
    }
    // "Use Y instead of X" for "use X instead of Y": what the two share does not excuse the exchange.
    if allowed && forbidden {
        Stance::Reversed
    } else if heading.negative || kept > 0 {
        Stance::Same
    } else if seen > 0 {
        Stance::Reversed
    } else if sentence.choice {
        Stance::Weakened
    } else if unit.negation {
        Stance::Same
    } else {
        Stance::Reversed
    }
}

/// What a heading says about the items under it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Items are forbidden things.
    pub(crate) negative: bool,
    /// Items are binding.
    pub(crate) binding: bool,
    /// Items are finished.
    pub(crate) done: bool,
    /// Items are still to do.
    pub(crate) open: bool,
}

/// Reads a heading.
pub(crate) fn read_heading(heading: &str) -> Heading {
    const OPEN: u8 = 1;
    const NEGATIVE: u8 = 2;
    const BINDING: u8 = 4;
    const DONE: u8 = 8;
    const WORDS: [(u8, &[&str]); 4] = [
        (
            OPEN,
            &[
                "pending",
                "remaining",
                "next step",
                "todo",
                "to do",
                "not done",
                "open",
                "in progress",
                "unfinished",
                "未完成",
                "待",
            ],
        ),
        (
            NEGATIVE,
            &[
                "never",
                "do not",
                "don't",
                "don’t",
                "avoid",
                "forbidden",
                "prohibited",
                "not allowed",
                "must not",
                "off limits",
                "禁止",
                "不要",
            ],
        ),
        (
            BINDING,
            &[
                "must",
                "constraint",
                "rule",
                "require",
                "mandatory",
                "always",
                "invariant",
                "约束",
                "必须",
                "制約",
                "要求",
            ],
        ),
        (DONE, &["done", "completed", "finished", "已完成", "完了"]),
    ];
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let words = WORDS.iter().flat_map(|(_, words)| *words);
        AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
    });
    static SAYS: LazyLock<Vec<u8>> =
        LazyLock::new(|| WORDS.iter().flat_map(|(says, words)| words.iter().map(|_| *says)).collect());
    if heading.is_empty() {
        return Heading::default();
    }
    let lower = if heading.is_ascii() { Cow::Borrowed(heading) } else { Cow::Owned(heading.to_lowercase()) };
    let said = FINDER.as_ref().map_or(0, |finder| {
        let words = finder.find_overlapping_iter(lower.as_ref()).map(|found| found.pattern().as_usize());
        words.filter_map(|word| SAYS.get(word)).fold(0, |all, says| all | says)
    });
    let open = said & OPEN != 0;
    Heading {
        negative: said & NEGATIVE != 0,
        binding: said & BINDING != 0,
        done: !open && said & DONE != 0,
        open,
    }
}
