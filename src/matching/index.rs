//! The lookup structure: all needles of a session in one table, any text searched in one pass.
//!
//! Three kinds of needle:
//!
//! * **phrases** (atoms, value keys, entities of sentences, paths with unusual characters) are runs of tokens. They
//!   stand in a trie over *tokens*, not bytes: a match begins and ends at a token border by construction (`a.rs` is
//!   not in `data.rs`, `88` not in `889`), a text token that no needle holds costs one failed table lookup, and
//!   overlapping matches are all found;
//! * **words** of sentences, each with the sentences that it announces;
//! * **path suffixes**, looked up with the whole path token that stands in the text.
//!
//! A search first lists the candidates of a text: words that a needle may begin with, numbers that are looked for, marks
//! that phrases begin with. A first look at the letters and the length of a word tells, without a branch; most words are
//! none. From the candidates it goes on token by token, as long as a phrase is under way.
//!
//! Cost of a search is the length of the text plus its hits; it does not grow with the number of needles.

use super::{CLASS, CONNECTOR, OTHER, QUOTE, SPACE, WIDE, WORD, is_cjk, is_wide_quote, normalise, units};
use rustc_hash::FxHashMap;
use std::num::NonZeroU64;

/// What may not touch a phrase, beyond the word border that always holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Border {
    /// Only the word border.
    Word,
    /// Neither side may go on with `.`, `-`, `:`, `/` and the like directly followed by a word: versions, hex, URLs.
    Tight,
    /// Like a word, but neither side may go on with `-`, `.`, `::` and a word: symbols, keys, ticket keys, commands.
    Name,
    /// A whole path token: neither side may go on with a part of a path.
    Path,
}

/// Phrases end here; the number is the caller's.
#[derive(Debug, Clone, Copy)]
struct Terminal {
    phrase: u32,
    border: Border,
}

#[derive(Debug, Default)]
struct Entry {
    /// Word in lower case (ASCII fold).
    folded: Box<str>,
    /// The same, see [`short`].
    short: Option<NonZeroU64>,
    /// Next entry with the same hash, plus one.
    next: u32,
    /// Exact spellings with their token ids.
    exact: Vec<(Box<str>, u32)>,
    /// Number of sentences that hold the word.
    sentences: u32,
    /// Of those, the ones that cannot stand in part without one of a few words, and this is one: see
    /// [`Index::settle`].
    hints: Vec<u32>,
    /// Likewise, the ones that cannot stand whole.
    triggers: Vec<u32>,
}

/// Tells of most hashes that they were never added; what was added, it always lets through.
#[derive(Debug)]
struct Filter {
    bits: Vec<u64>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { bits: vec![0; 1024] }
    }
}

impl Filter {
    fn add(&mut self, hash: u64) {
        if let Some(bits) = self.bits.get_mut((hash >> 54) as usize) {
            *bits |= 1 << ((hash >> 48) & 63);
        }
    }

    #[inline]
    fn may_hold(&self, hash: u64) -> bool {
        self.bits.get((hash >> 54) as usize).is_some_and(|bits| bits & (1 << ((hash >> 48) & 63)) != 0)
    }
}

/// What the first look at a word tells of it: a few bits for each value of a hash.
#[derive(Debug)]
struct Looks {
    kinds: Box<[u8; 1 << Self::BITS]>,
    /// A bit for each digit that a number begins with.
    digits: u16,
}

impl Default for Looks {
    fn default() -> Self {
        Self { kinds: Box::new([0; 1 << Self::BITS]), digits: 0 }
    }
}

impl Looks {
    const BITS: u32 = 14;
    /// Of a needle.
    const WORD: u8 = 1;
    /// Begins a phrase or announces a sentence.
    const BEGINS: u8 = 1 << 1;
    /// First word of the last component of a suffix.
    const NAME: u8 = 1 << 2;
    /// Begins like a number that is looked for.
    const NUMBER: u8 = 1 << 3;

    fn add(&mut self, word: &[u8], kind: u8) {
        let look = first_look(chunk(word, 0, word.len()), word.len());
        self.kinds[(look >> (64 - Self::BITS)) as usize] |= kind;
    }

    #[inline]
    fn kinds(&self, look: u64, first: u8) -> u8 {
        let number = self.digits >> first.wrapping_sub(b'0').min(15) & 1;
        self.kinds.get((look >> (64 - Self::BITS)) as usize).copied().unwrap_or_default()
            | (number as u8) << 3
    }
}

/// What a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everything, sentences that stand only in part too.
    Parts,
    /// Sentences only where they may stand whole: [`Sink::word`] is told triggers alone.
    Wholes,
    /// Nothing but the words of sentences.
    Words,
}

const NONE: u32 = u32::MAX;
/// Token ids below this are ASCII punctuation (and the space) themselves.
const FIRST_WORD: u32 = 128;
const SPACE_TOKEN: u32 = 32;

/// All needles of a session.
#[derive(Debug, Default)]
pub(crate) struct Index {
    words: FxHashMap<u64, u32>,
    entries: Vec<Entry>,
    /// All words: most words of a text belong to no needle.
    known: Filter,
    looks: Looks,
    /// Last components of suffixes.
    names: Filter,
    edges: FxHashMap<(u32, u32), u32>,
    terminals: Vec<Vec<Terminal>>,
    /// Trie node that a token leads to from the root.
    roots: Vec<u32>,
    /// Marks that phrases begin with.
    marks: Vec<u8>,
    /// First words of these phrases.
    after_mark: Filter,
    /// Some of them have no word right after their first marks.
    any_after_mark: bool,
    suffixes: FxHashMap<u64, u32>,
    suffix_texts: Vec<Box<str>>,
    /// There are suffixes without a directory and a dot.
    bare: bool,
}

/// What a search reports, in order of the text. Offsets are bytes of the normalised text.
pub(crate) trait Sink {
    /// A unit begins.
    fn unit(&mut self, text: &str, start: usize, end: usize);
    /// A phrase stands here.
    fn phrase(&mut self, phrase: u32, start: usize, end: usize);
    /// A word of sentences stands here: its number, and sentences that may stand in this unit.
    fn word(&mut self, word: u32, sentences: &[u32]);
    /// A number begins here.
    fn number(&mut self, text: &str, start: usize);
    /// A path token that is a known suffix stands here.
    fn suffix(&mut self, suffix: u32, text: &str, start: usize, end: usize);
    /// A path token with a directory that is no known suffix, but whose last component is the given known one.
    fn stray(&mut self, basename: u32, token: &str);
    /// The unit ends.
    fn unit_end(&mut self, text: &str, start: usize, end: usize);
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { roots: vec![NONE; FIRST_WORD as usize], terminals: vec![Vec::new()], ..Self::default() }
    }

    /// Adds a phrase under a number of the caller's choice. A phrase without a token is ignored.
    pub(crate) fn add_phrase(&mut self, text: &str, phrase: u32, border: Border) {
        let text = normalise(text.trim());
        let mut node = NONE;
        let tokens = tokens(&text);
        if let Some(Token::Mark(mark)) = tokens.first() {
            self.begins_with_mark(*mark, &tokens);
        }
        for token in tokens {
            let id = match token {
                Token::Word(word) => self.intern(word),
                Token::Mark(mark) => u32::from(if mark == b'\\' { b'/' } else { mark }),
            };
            node = if node == NONE {
                if let Token::Word(word) = token {
                    self.looks.add(word.as_bytes(), Looks::BEGINS);
                }
                let next = self.terminals.len() as u32;
                match self.roots.get_mut(id as usize) {
                    Some(root) if *root == NONE => {
                        *root = next;
                        self.terminals.push(Vec::new());
                        next
                    }
                    Some(root) => *root,
                    None => return,
                }
            } else {
                let next = self.terminals.len() as u32;
                let found = *self.edges.entry((node, id)).or_insert(next);
                if found == next {
                    self.terminals.push(Vec::new());
                }
                found
            };
        }
        if node != NONE
            && let Some(list) = self.terminals.get_mut(node as usize)
        {
            list.push(Terminal { phrase, border });
        }
    }

    /// Numbers that begin with this digit are looked for.
    pub(crate) fn add_digit(&mut self, digit: usize) {
        self.looks.digits |= 1 << digit;
    }

    fn begins_with_mark(&mut self, mark: u8, tokens: &[Token<'_>]) {
        let marks = if matches!(mark, b'/' | b'\\') { [b'/', b'\\'].as_slice() } else { &[mark] };
        for mark in marks {
            if !self.marks.contains(mark) {
                self.marks.push(*mark);
            }
        }
        let next =
            tokens.iter().find(|token| !matches!(token, Token::Mark(mark) if *mark != SPACE_TOKEN as u8));
        match next {
            Some(Token::Word(word)) if word.is_ascii() => {
                self.after_mark.add(hash_word(word.as_bytes(), 0, word.len()));
            }
            _ => self.any_after_mark = true,
        }
    }

    /// Adds a word of a sentence; `word` is lower case. Gives the number of the word.
    pub(crate) fn add_word(&mut self, word: &str) -> u32 {
        let at = self.entry(word);
        if let Some(entry) = self.entries.get_mut(at) {
            entry.sentences += 1;
        }
        at as u32
    }

    /// Number of words there are.
    pub(crate) fn words(&self) -> usize {
        self.entries.len()
    }

    /// Chooses the words that announce a sentence, once all are added. A unit that holds at least `n` of its words holds
    /// at least `m` of any `words.len() - n + m` of them; the rarest ones waste the least time. `part` words make it
    /// stand in part. `whole` words, where anything else does not tell, make it stand whole; that is announced by
    /// `at_least` words.
    pub(crate) fn settle(
        &mut self,
        sentence: u32,
        words: &[u32],
        part: usize,
        whole: Option<(usize, usize)>,
    ) {
        let mut rarest: Vec<u32> = words.to_vec();
        rarest.sort_by_key(|word| self.entries.get(*word as usize).map_or(0, |entry| entry.sentences));
        let enough = |needed: usize, at_least: usize| words.len() + at_least - needed.max(at_least);
        for (at, word) in rarest.iter().enumerate() {
            let Some(entry) = self.entries.get_mut(*word as usize) else { continue };
            if at < enough(part, 1) {
                entry.hints.push(sentence);
            }
            if whole.is_some_and(|(whole, at_least)| at < enough(whole, at_least)) {
                entry.triggers.push(sentence);
                self.looks.add(entry.folded.as_bytes(), Looks::BEGINS);
            }
        }
    }

    /// Adds a path suffix (`src/a.rs`, `a.rs`, `/repo/src/a.rs`); the same text gives the same number.
    pub(crate) fn add_suffix(&mut self, suffix: &str) -> u32 {
        let mut hash = hash_path(suffix.as_bytes());
        while let Some(found) = self.suffixes.get(&hash) {
            if self.suffix_texts.get(*found as usize).is_some_and(|text| **text == *suffix) {
                return *found;
            }
            hash = hash.wrapping_add(1);
        }
        let id = self.suffix_texts.len() as u32;
        self.bare |= !suffix.contains(['.', '/']);
        let name = last_component(suffix).as_bytes();
        self.names.add(hash_path(name));
        let word = |byte: &u8| CLASS[*byte as usize] == WORD;
        if let Some(first) = name.split(|byte| !word(byte)).find(|word| !word.is_empty()) {
            self.looks.add(first, Looks::NAME);
        }
        self.suffix_texts.push(suffix.into());
        self.suffixes.insert(hash, id);
        id
    }

    /// Text of a suffix.
    pub(crate) fn suffix_text(&self, suffix: u32) -> &str {
        self.suffix_texts.get(suffix as usize).map_or("", |text| text)
    }

    /// The number of a suffix, if it is known.
    pub(crate) fn suffix(&self, text: &str) -> Option<u32> {
        let mut hash = hash_path(text.as_bytes());
        while let Some(found) = self.suffixes.get(&hash) {
            if self.suffix_texts.get(*found as usize).is_some_and(|known| **known == *text) {
                return Some(*found);
            }
            hash = hash.wrapping_add(1);
        }
        None
    }

    fn intern(&mut self, word: &str) -> u32 {
        let at = self.entry(&word.to_ascii_lowercase());
        let id = self.roots.len() as u32;
        let Some(entry) = self.entries.get_mut(at) else { return NONE };
        if let Some((_, known)) = entry.exact.iter().find(|(text, _)| **text == *word) {
            return *known;
        }
        entry.exact.push((word.into(), id));
        self.roots.push(NONE);
        id
    }

    /// Position of the entry of a word in lower case.
    fn entry(&mut self, folded: &str) -> usize {
        let hash = hash_word(folded.as_bytes(), 0, folded.len());
        self.known.add(hash);
        self.looks.add(folded.as_bytes(), Looks::WORD);
        let first = self.words.get(&hash).copied().unwrap_or(NONE);
        let mut at = first;
        while let Some(entry) = self.entries.get(at as usize) {
            if *entry.folded == *folded {
                return at as usize;
            }
            at = entry.next.wrapping_sub(1);
        }
        let new = self.entries.len();
        self.entries.push(Entry {
            folded: folded.into(),
            short: short(folded.as_bytes(), 0, folded.len()),
            next: first.wrapping_add(1),
            ..Entry::default()
        });
        self.words.insert(hash, new as u32);
        new
    }

    #[inline]
    fn lookup(&self, bytes: &[u8], start: usize, end: usize, hash: u64) -> Option<(u32, &Entry)> {
        if !self.known.may_hold(hash) {
            return None;
        }
        let mut at = self.words.get(&hash).copied()?;
        let word = bytes.get(start..end)?;
        let short = short(bytes, start, end);
        while let Some(entry) = self.entries.get(at as usize) {
            if match short {
                Some(_) => entry.short == short,
                None => entry.folded.as_bytes().eq_ignore_ascii_case(word),
            } {
                return Some((at, entry));
            }
            at = entry.next.wrapping_sub(1);
        }
        None
    }

    /// Searches a text for everything.
    pub(crate) fn search(&self, text: &str, sink: &mut impl Sink) {
        self.walk(text, Scope::Parts, sink);
    }

    /// Searches a text, for sentences only where they may stand whole. The words of a unit are not told with it, only
    /// those that announce a sentence: see [`Self::words_of`].
    pub(crate) fn search_wholes(&self, text: &str, sink: &mut impl Sink) {
        self.walk(text, Scope::Wholes, sink);
    }

    fn walk(&self, text: &str, scope: Scope, sink: &mut impl Sink) {
        let text = normalise(text);
        let mut walk = Walk::new(self, &text, 0, text.len(), scope);
        for (start, end) in units(&text) {
            sink.unit(&text, start, end);
            walk.unit(start, end, sink);
            sink.unit_end(&text, start, end);
        }
    }

    /// Tells every word of sentences in one unit of a text that is normalised.
    pub(crate) fn words_of(&self, text: &str, start: usize, end: usize, sink: &mut impl Sink) {
        Walk::new(self, text, start, end, Scope::Words).unit(start, end, sink);
    }
}

/// Something may begin here: a word that a needle begins with, a number, a mark. Most of a text is none of it.
#[derive(Debug, Clone, Copy, Default)]
struct Candidate {
    at: usize,
    /// Needles for which the word is right, as far as the first look tells.
    kinds: u8,
}

/// A mark, not a word.
const MARK: u8 = 1 << 7;

/// First letters and length of a word or a mark, which tell most words apart.
#[inline]
fn first_look(chunk: u64, length: usize) -> u64 {
    let mask = (1_u128 << (8 * length.min(8))) - 1;
    let hash = ((chunk | FOLD) & mask as u64 ^ length.min(64) as u64).wrapping_mul(SEED);
    hash ^ hash >> 29
}

/// The candidates of a text, and a bit for each of its bytes that is beyond ASCII. Has no branch for each word; the tests
/// of a block of 64 bytes are made on all of them at once, by vector instructions where there are any.
fn candidates(bytes: &[u8], looks: &Looks, wanted: u8, marks: &[u8]) -> (Vec<Candidate>, Vec<u64>) {
    let mut words = Vec::with_capacity(bytes.len() / 64 + 2);
    let mut wide = Vec::with_capacity(bytes.len() / 64 + 1);
    let mut begins = Vec::with_capacity(bytes.len() / 64 + 1);
    let mut add = |bytes: &[u8; 64]| {
        words.push(bits(bytes, |byte| {
            (byte | 0x20).wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'_'
        }));
        wide.push(bits(bytes, |byte| byte >= 0x80));
        begins.push(marks.iter().fold(0, |all, mark| all | bits(bytes, |byte| byte == *mark)));
    };
    let (whole, rest) = bytes.as_chunks::<64>();
    whole.iter().for_each(&mut add);
    if !rest.is_empty() {
        let mut padded = [b' '; 64];
        padded[..rest.len()].copy_from_slice(rest);
        add(&padded);
    }
    words.push(0);
    let mut out = Vec::new();
    let mut found = [Candidate::default(); 64];
    let mut last = 0;
    for (number, (pair, marks)) in words.windows(2).zip(&begins).enumerate() {
        let &[here, next] = pair else { continue };
        let mut events = here & !(here << 1 | last) | marks;
        last = here >> 63;
        let mut count = 0;
        while events != 0 {
            let bit = events.trailing_zeros() as usize;
            events &= events - 1;
            let at = number * 64 + bit;
            let length = (!(here >> bit | next << 1 << (63 - bit))).trailing_zeros() as usize;
            let chunk = chunk(bytes, at, bytes.len());
            let mark = u8::from(marks >> bit & 1 != 0) * MARK;
            let kinds = looks.kinds(first_look(chunk, length), chunk as u8) & wanted | mark;
            found[count & 63] = Candidate { at, kinds };
            count += usize::from(kinds != 0);
        }
        out.extend_from_slice(found.get(..count).unwrap_or_default());
    }
    (out, wide)
}

/// A bit for each byte that passes the test.
#[inline]
fn bits(bytes: &[u8; 64], test: impl Fn(u8) -> bool) -> u64 {
    let flags = bytes.map(|byte| u8::from(test(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    // The product moves the lowest bit of each of eight bytes into the highest byte.
    eights
        .iter()
        .rev()
        .fold(0, |all, eight| all << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56)
}

/// State of one search.
struct Walk<'i, 't> {
    index: &'i Index,
    text: &'t str,
    scope: Scope,
    /// Offset of what is searched.
    base: usize,
    candidates: Vec<Candidate>,
    /// The first candidate that is not behind.
    next: usize,
    /// A bit for each byte beyond ASCII.
    wide: Vec<u64>,
    /// Trie nodes under way, with the start of each.
    active: Vec<(u32, usize)>,
    pair: Option<(usize, usize)>,
}

impl<'i, 't> Walk<'i, 't> {
    /// A search of the units between `start` and `end`.
    fn new(index: &'i Index, text: &'t str, start: usize, end: usize, scope: Scope) -> Self {
        let (wanted, marks) = match scope {
            Scope::Parts => (u8::MAX, index.marks.as_slice()),
            Scope::Wholes => (Looks::BEGINS | Looks::NAME | Looks::NUMBER, index.marks.as_slice()),
            Scope::Words => (Looks::WORD, [].as_slice()),
        };
        let bytes = text.as_bytes().get(start..end).unwrap_or_default();
        let (candidates, wide) = candidates(bytes, &index.looks, wanted, marks);
        Self { index, text, scope, base: start, candidates, next: 0, wide, active: Vec::new(), pair: None }
    }

    fn unit(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        self.active.clear();
        self.pair = None;
        if self.has_wide_words(start, end) {
            self.wide_unit(start, end, sink);
            return;
        }
        let bytes = self.text.as_bytes();
        // Behind these, a phrase and a path were followed.
        let (mut followed, mut run) = (start, start);
        while let Some(candidate) = self.candidates.get(self.next) {
            let at = self.base + candidate.at;
            if at >= end {
                break;
            }
            self.next += 1;
            let kinds = candidate.kinds;
            if kinds & Looks::NAME != 0 && at >= run {
                let (from, to) = self.run(at, start, end);
                self.path(from, to, sink);
                run = to;
            }
            if at < followed {
                continue;
            }
            followed = if kinds & MARK != 0 {
                self.begin_at_mark(at, end, sink)
            } else if kinds & Looks::BEGINS != 0 {
                self.follow(at, end, sink)
            } else {
                if kinds & Looks::NUMBER != 0 {
                    sink.number(self.text, at);
                }
                if kinds & Looks::WORD != 0 {
                    let (to, hash) = read_word(bytes, at);
                    self.counted(bytes, at, to, hash, sink);
                }
                at
            };
        }
    }

    /// Are there letters or digits beyond ASCII?
    fn has_wide_words(&self, start: usize, end: usize) -> bool {
        let blocks = (start - self.base) / 64..(end - self.base).div_ceil(64);
        self.wide.get(blocks).is_some_and(|blocks| blocks.iter().any(|block| *block != 0))
            && self
                .text
                .get(start..end)
                .is_some_and(|unit| unit.chars().any(|c| !c.is_ascii() && (is_cjk(c) || is_wide_word(c))))
    }

    /// A unit with words beyond ASCII, of which the candidates tell nothing.
    fn wide_unit(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        let mut at = start;
        while at < end {
            at = self.step(at, end, sink);
        }
        at = start;
        while at < end && self.scope != Scope::Words {
            let (_, to) = self.run(at, at, end);
            if to > at {
                self.path(at, to, sink);
            }
            at = to.max(at + 1);
        }
        while self.candidates.get(self.next).is_some_and(|candidate| self.base + candidate.at < end) {
            self.next += 1;
        }
    }

    /// A mark stands where nothing is under way, and phrases begin with it. Gives the position from which to go on.
    fn begin_at_mark(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        if self.index.any_after_mark {
            return self.follow(at, end, sink);
        }
        // All of them go on with one of a few words, right after this and further marks.
        let bytes = self.text.as_bytes();
        let mut word = at + 1;
        while word < end && matches!(CLASS[bytes[word] as usize], CONNECTOR | OTHER | QUOTE) {
            word += 1;
        }
        if word < end && self.index.after_mark.may_hold(read_word(bytes, word).1) {
            return self.follow(at, end, sink);
        }
        word
    }

    /// Goes on until nothing is under way.
    fn follow(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let mut at = at;
        loop {
            at = self.step(at, end, sink);
            if at >= end || self.active.is_empty() {
                return at;
            }
        }
    }

    /// Takes one token and gives its end.
    fn step(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let bytes = self.text.as_bytes();
        let byte = bytes[at];
        match CLASS[byte as usize] {
            WORD => {
                let (mut to, mut hash) = read_word(bytes, at);
                if to < end && bytes[to] >= 0x80 {
                    to = self.wide_word_end(to, end);
                    hash = hash_word(bytes, at, to);
                }
                self.word(at, to, hash, sink);
                to
            }
            SPACE => {
                let mut to = at + 1;
                while to < end && CLASS[bytes[to] as usize] == SPACE {
                    to += 1;
                }
                if !self.active.is_empty() {
                    self.advance(SPACE_TOKEN, to, sink);
                }
                to
            }
            QUOTE => at + 1,
            CONNECTOR | OTHER => {
                self.mark(if byte == b'\\' { b'/' } else { byte }, at, at + 1, sink);
                at + 1
            }
            _ => self.wide(at, end, sink),
        }
    }

    /// The path token around a position: a run of words and of marks that may stand in a path.
    fn run(&self, at: usize, start: usize, end: usize) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        let (mut from, mut to) = (at, at);
        while from > start {
            match CLASS[bytes[from - 1] as usize] {
                WORD | CONNECTOR => from -= 1,
                WIDE => match self.text.get(start..from).and_then(|before| before.chars().next_back()) {
                    Some(c) if !is_cjk(c) && is_wide_word(c) => from -= c.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        while to < end {
            match CLASS[bytes[to] as usize] {
                WORD | CONNECTOR => to += 1,
                WIDE => match self.text.get(to..end).and_then(|after| after.chars().next()) {
                    Some(c) if !is_cjk(c) && is_wide_word(c) => to += c.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        (from, to)
    }

    /// End of a word that goes on with non-ASCII letters.
    fn wide_word_end(&self, at: usize, end: usize) -> usize {
        let rest = self.text.get(at..end).unwrap_or("");
        at + rest
            .char_indices()
            .find(|(_, c)| is_cjk(*c) || !(is_wide_word(*c) || *c == '_'))
            .map_or(rest.len(), |(offset, _)| offset)
    }

    fn wide(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let Some(c) = self.text.get(at..end).and_then(|rest| rest.chars().next()) else { return at + 1 };
        let next = at + c.len_utf8();
        if is_cjk(c) {
            let bytes = self.text.as_bytes();
            if let Some((from, to)) = self.pair
                && to == at
            {
                self.counted(bytes, from, next, hash_word(bytes, from, next), sink);
            }
            self.pair = Some((at, next));
            if self.scope != Scope::Words {
                let hash = hash_word(bytes, at, next);
                let entry = self.index.lookup(bytes, at, next, hash);
                self.token(entry.map(|(_, entry)| entry), at, next, sink);
            }
            return next;
        }
        if is_wide_word(c) {
            let to = self.wide_word_end(at, end);
            self.word(at, to, hash_word(self.text.as_bytes(), at, to), sink);
            return to;
        }
        if !is_wide_quote(c) && !self.active.is_empty() {
            if c.is_whitespace() {
                self.advance(SPACE_TOKEN, next, sink);
            } else {
                self.active.clear();
            }
        }
        next
    }

    fn word(&mut self, start: usize, end: usize, hash: u64, sink: &mut impl Sink) {
        let bytes = self.text.as_bytes();
        if self.scope == Scope::Words {
            self.counted(bytes, start, end, hash, sink);
            return;
        }
        if bytes[start].is_ascii_digit() {
            sink.number(self.text, start);
        }
        let entry = self.index.lookup(bytes, start, end, hash);
        if let Some((word, entry)) = entry {
            self.tell(word, entry, sink);
        }
        self.token(entry.map(|(_, entry)| entry), start, end, sink);
    }

    /// Looks a word up that can be nothing but one of sentences.
    fn counted(&self, bytes: &[u8], start: usize, end: usize, hash: u64, sink: &mut impl Sink) {
        if let Some((word, entry)) = self.index.lookup(bytes, start, end, hash) {
            self.tell(word, entry, sink);
        }
    }

    #[inline]
    fn tell(&self, word: u32, entry: &Entry, sink: &mut impl Sink) {
        match self.scope {
            Scope::Parts if entry.sentences > 0 => sink.word(word, &entry.hints),
            Scope::Wholes if !entry.triggers.is_empty() => sink.word(word, &entry.triggers),
            Scope::Words if entry.sentences > 0 => sink.word(word, &[]),
            _ => {}
        }
    }

    fn token(&mut self, entry: Option<&Entry>, start: usize, end: usize, sink: &mut impl Sink) {
        let word = self.text.as_bytes().get(start..end).unwrap_or_default();
        let id = entry
            .and_then(|entry| entry.exact.iter().find(|(text, _)| text.as_bytes() == word))
            .map(|(_, id)| *id);
        match id {
            Some(id) => {
                if !self.active.is_empty() {
                    self.advance(id, end, sink);
                }
                self.begin(id, start, end, sink);
            }
            None => self.active.clear(),
        }
    }

    #[inline]
    fn mark(&mut self, byte: u8, start: usize, end: usize, sink: &mut impl Sink) {
        if self.scope == Scope::Words {
            return;
        }
        let id = u32::from(byte);
        if !self.active.is_empty() {
            self.advance(id, end, sink);
        }
        self.begin(id, start, end, sink);
    }

    #[inline]
    fn begin(&mut self, id: u32, start: usize, end: usize, sink: &mut impl Sink) {
        let root = self.index.roots.get(id as usize).copied().unwrap_or(NONE);
        if root != NONE {
            self.active.push((root, start));
            self.report(root, start, end, sink);
        }
    }

    fn advance(&mut self, id: u32, end: usize, sink: &mut impl Sink) {
        let mut active = std::mem::take(&mut self.active);
        active.retain_mut(|(node, start)| match self.index.edges.get(&(*node, id)) {
            Some(next) => {
                *node = *next;
                self.report(*next, *start, end, sink);
                true
            }
            None => false,
        });
        self.active = active;
    }

    fn report(&self, node: u32, start: usize, end: usize, sink: &mut impl Sink) {
        for terminal in self.index.terminals.get(node as usize).into_iter().flatten() {
            if bordered(self.text, start, end, terminal.border) {
                sink.phrase(terminal.phrase, start, end);
            }
        }
    }

    /// Looks a path token up.
    fn path(&self, start: usize, end: usize, sink: &mut impl Sink) {
        let bytes = self.text.as_bytes();
        let mut to = end;
        while to > start && matches!(bytes[to - 1], b'.' | b'/' | b'-' | b'~' | b'@' | b'%' | b'\\') {
            to -= 1;
        }
        let mut from = start;
        while from < to && matches!(bytes[from], b'@' | b'+' | b'-' | b'%') {
            from += 1;
        }
        if from >= to {
            return;
        }
        // Every suffix ends in one of the known names, and so does what is only told to be astray.
        let slash = bytes[from..to].iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
        let name = slash.map_or(from, |slash| from + slash + 1);
        if !self.index.names.may_hold(hash_chunks::<0>(bytes, name, to)) {
            return;
        }
        if memchr::memchr2(b'/', b'\\', &bytes[start..end]).is_none() {
            let token = &bytes[from..to];
            // The dot of `word.` was the end of a sentence.
            if !self.index.bare && memchr::memchr(b'.', token).is_none() {
                return;
            }
            if let Some(suffix) = self.text.get(from..to).and_then(|token| self.index.suffix(token)) {
                sink.suffix(suffix, self.text, from, to);
            }
            return;
        }
        let colon = start.checked_sub(1).and_then(|i| bytes.get(i)).copied() == Some(b':');
        let Some(raw) = self.text.get(from..to) else { return };
        let owned;
        let mut token = raw;
        if memchr::memchr(b'\\', raw.as_bytes()).is_some() || raw.contains("//") || raw.contains("/./") {
            let mut clean = String::with_capacity(raw.len());
            for c in raw.chars() {
                let c = if c == '\\' { '/' } else { c };
                if c == '/' && clean.ends_with('/') {
                    continue;
                }
                if c == '/' && clean.ends_with("/.") {
                    clean.pop();
                    continue;
                }
                clean.push(c);
            }
            owned = clean;
            token = &owned;
        }
        if colon {
            let before = self.text.get(..start - 1).unwrap_or("");
            let scheme = before.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
            if raw.starts_with("//") && scheme > 1 {
                if before.ends_with("file") {
                    self.lookup_path(token, from, to, sink);
                }
                return; // a URL is no path
            }
            if scheme == 1
                && let Some(drive) = before.chars().next_back()
            {
                let full = format!("{}:{token}", drive.to_ascii_uppercase());
                if let Some(suffix) = self.index.suffix(&full) {
                    sink.suffix(suffix, self.text, from - 2, to);
                    return;
                }
            }
        }
        self.lookup_path(token, from, to, sink);
    }

    fn lookup_path(&self, token: &str, from: usize, to: usize, sink: &mut impl Sink) {
        let mut token = token;
        loop {
            if let Some(suffix) = self.index.suffix(token) {
                sink.suffix(suffix, self.text, from, to);
                return;
            }
            token = match token
                .strip_prefix("./")
                .or_else(|| token.strip_prefix("../"))
                .or_else(|| token.strip_prefix(".../"))
            {
                Some(rest) => rest,
                None => break,
            };
        }
        // `a/src/x.rs` and `b/src/x.rs` of a diff.
        if let Some(rest) = token.strip_prefix("a/").or_else(|| token.strip_prefix("b/"))
            && let Some(suffix) = self.index.suffix(rest)
        {
            sink.suffix(suffix, self.text, from, to);
            return;
        }
        let Some((dir, name)) = token.rsplit_once('/') else {
            return;
        };
        if let Some(basename) = self.index.suffix(name) {
            // `a.rs/b.rs` names two files, not a directory.
            let parent = dir.rsplit('/').next().unwrap_or("");
            if parent.contains('.') && self.index.suffix(parent).is_some() {
                for part in token.split('/') {
                    if let Some(suffix) = self.index.suffix(part) {
                        sink.suffix(suffix, self.text, from, to);
                    }
                }
                return;
            }
            sink.stray(basename, token);
        }
    }
}

/// Does the phrase at `start..end` stand alone, under its rule?
fn bordered(text: &str, start: usize, end: usize, border: Border) -> bool {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(b' ');
    let before = if start > 0 { at(start - 1) } else { b' ' };
    let before2 = if start > 1 { at(start - 2) } else { b' ' };
    let (after, after2) = (at(end), at(end + 1));
    let word = |b: u8| CLASS[b as usize] == WORD;
    match border {
        Border::Word => true,
        Border::Name => {
            let joins = |b: u8, far: u8| match b {
                b'-' | b'.' => word(far),
                b':' => far == b':',
                _ => false,
            };
            // A sentence end is no continuation: `.` must be followed by a word directly.
            !(joins(before, before2) || joins(after, after2))
        }
        Border::Path => {
            let left = matches!(before, b'/' | b'\\' | b'-' | b'.' | b'~' | b'@' | b'+') || word(before);
            let right = matches!(after, b'/' | b'\\' | b'-' | b'.' | b'+') && word(after2);
            !(left || right)
        }
        Border::Tight => {
            let left = matches!(before, b'.' | b'-' | b'+' | b'%' | b'&') && word(before2) && before != b'-'
                || before == b'-' && word(before2) && !before2.is_ascii_alphabetic();
            let right =
                matches!(after, b'.' | b'-' | b'/' | b'?' | b'#' | b'=' | b'&' | b'%' | b'+' | b'~' | b':')
                    && word(after2);
            !(left || right)
        }
    }
}

/// A token of a phrase.
enum Token<'t> {
    Word(&'t str),
    Mark(u8),
}

/// Tokens of a phrase, by the same rules as a search: inner white space is one token, quotes are skipped.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match CLASS[bytes[at] as usize] {
            WORD | WIDE => {
                let rest = text.get(at..).unwrap_or("");
                let Some(first) = rest.chars().next() else { break };
                if !first.is_alphanumeric() && first != '_' && !is_cjk(first) {
                    at += first.len_utf8();
                    continue;
                }
                let length = if is_cjk(first) {
                    first.len_utf8()
                } else {
                    rest.char_indices()
                        .find(|(_, c)| is_cjk(*c) || !(c.is_alphanumeric() || *c == '_'))
                        .map_or(rest.len(), |(offset, _)| offset)
                };
                if let Some(word) = rest.get(..length) {
                    out.push(Token::Word(word));
                }
                at += length.max(1);
            }
            SPACE => {
                while at < bytes.len() && CLASS[bytes[at] as usize] == SPACE {
                    at += 1;
                }
                out.push(Token::Mark(SPACE_TOKEN as u8));
            }
            QUOTE => at += 1,
            _ => {
                out.push(Token::Mark(bytes[at]));
                at += 1;
            }
        }
    }
    out
}

/// Last component of a path.
fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// True for letters and digits beyond ASCII. Marks that logs are full of (dashes, box drawing, arrows, symbols) are
/// told without the tables of Unicode.
pub(super) fn is_wide_word(c: char) -> bool {
    !matches!(c, '\u{2000}'..='\u{206f}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2775}' | '\u{1f000}'..='\u{1f0ff}' | '\u{1f300}'..='\u{1faff}')
        && c.is_alphanumeric()
}

/// Every byte of a chunk set to `byte`.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// End and [`hash_word`] of the run of ASCII word bytes that begins at `at`, eight bytes at a time.
#[inline]
fn read_word(bytes: &[u8], at: usize) -> (usize, u64) {
    let mut end = at;
    let mut hash = 0;
    loop {
        let chunk = chunk(bytes, end, bytes.len());
        let length = word_bytes(chunk);
        if length > 0 {
            hash = mix::<FOLD>(hash, chunk, length);
            end += length;
        }
        if length < 8 {
            return (end, finish(hash, end - at));
        }
    }
}

/// How many bytes at the start of a chunk are letters, digits or `_`.
#[inline]
fn word_bytes(chunk: u64) -> usize {
    let high = each(0x80);
    // The high bit of each byte that is at least `least`; bytes are below 0x80, so that nothing carries over.
    let from = |bytes: u64, least: u8| bytes + each(0x80 - least);
    let ascii = chunk & !high;
    let folded = ascii | each(0x20);
    let digit = from(ascii, b'0') & !from(ascii, b'9' + 1);
    let letter = from(folded, b'a') & !from(folded, b'z' + 1);
    let under = from(ascii, b'_') & !from(ascii, b'_' + 1);
    let word = (digit | letter | under) & !chunk & high;
    (!word & high).trailing_zeros() as usize / 8
}

const SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;

/// Folds the case of ASCII letters in a hash.
const FOLD: u64 = each(0x20);

/// Hash of a word with ASCII case folded away; other distinctions are left to the comparison that follows.
#[inline]
fn hash_word(bytes: &[u8], start: usize, end: usize) -> u64 {
    hash_chunks::<FOLD>(bytes, start, end)
}

/// A word of ASCII with up to eight bytes, its case folded away, as a number; it tells such words apart.
#[inline]
fn short(bytes: &[u8], start: usize, end: usize) -> Option<NonZeroU64> {
    let length = end - start;
    if !(1..=8).contains(&length) {
        return None;
    }
    let word = (chunk(bytes, start, bytes.len()) | FOLD) & u64::MAX >> (64 - 8 * length);
    if word & each(0x80) == 0 { NonZeroU64::new(word) } else { None }
}

fn hash_path(bytes: &[u8]) -> u64 {
    hash_chunks::<0>(bytes, 0, bytes.len())
}

#[inline]
fn hash_chunks<const FOLD: u64>(bytes: &[u8], start: usize, end: usize) -> u64 {
    let mut hash = 0;
    let mut at = start;
    while at < end {
        hash = mix::<FOLD>(hash, chunk(bytes, at, end), (end - at).min(8));
        at += 8;
    }
    finish(hash, end - start)
}

/// Up to eight bytes from `at` on; what follows `end` may be among them.
#[inline]
fn chunk(bytes: &[u8], at: usize, end: usize) -> u64 {
    if let Some(eight) = bytes.get(at..at + 8).and_then(|eight| <[u8; 8]>::try_from(eight).ok()) {
        return u64::from_le_bytes(eight);
    }
    let rest = bytes.get(at..end).unwrap_or_default();
    rest.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Takes the first `length` bytes (1 to 8) of a chunk into a hash.
#[inline]
fn mix<const FOLD: u64>(hash: u64, chunk: u64, length: usize) -> u64 {
    let mask = u64::MAX >> (64 - 8 * length);
    (hash.rotate_left(5) ^ (chunk | FOLD) & mask).wrapping_mul(SEED)
}

#[inline]
fn finish(hash: u64, length: usize) -> u64 {
    let hash = (hash ^ length as u64).wrapping_mul(SEED);
    hash ^ hash >> 29
}
