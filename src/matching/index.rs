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
//! that phrases without a word begin with. What a phrase has before its first word (`--` of `--lib`) is looked at last, and
//! backwards. A first look at the letters and the length of a word tells, without a branch; most words are
//! none. From the candidates it goes on token by token, as long as a phrase is under way.
//!
//! Cost of a search is the length of the text plus its hits; it does not grow with the number of needles.

mod candidates;
mod hash;
mod remembered;
mod table;
mod texts;
mod walk;

use super::sentence::UnitRead;
use super::{CLASS, QUOTE, SPACE, WIDE, WORD, is_cjk, is_wide_quote, normalise, units_between};
use candidates::{Looks, next_bit};
use compact_str::CompactString;
use hash::{CHUNK, Folded, fold, hash_beginning, hash_path, hash_step, opening};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::num::NonZeroU64;
use table::Table;
use texts::Texts;
use walk::{Walk, slash};

pub(crate) use remembered::Remembered;
pub(crate) use walk::Room;

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
    /// What stands before the first word: [`Index::leads`].
    lead: u32,
}

/// A word as phrases spell it.
#[derive(Debug)]
struct Spelling {
    text: CompactString,
    /// The same, see [`opening`].
    opening: u64,
    /// Its token.
    id: u32,
}

#[derive(Debug, Default)]
struct Entry {
    /// Word in lower case (ASCII fold).
    folded: CompactString,
    /// The same, see [`Folded`].
    short: Option<NonZeroU64>,
    /// Next entry with the same hash, plus one.
    next: u32,
    /// Exact spellings.
    exact: SmallVec<[Spelling; 1]>,
    /// Number of sentences that hold the word.
    sentences: u32,
    /// Of those, the ones that cannot stand in part without one of a few words, and this is one: see
    /// [`Index::settle`].
    hints: SmallVec<[u32; 4]>,
    /// Likewise, the ones that cannot stand whole.
    triggers: SmallVec<[u32; 4]>,
}

impl Entry {
    /// The token of a word of this entry, spelled as it stands. All spellings are equally long.
    #[inline]
    fn spelled(&self, bytes: &[u8], start: usize, end: usize) -> Option<u32> {
        let first = opening(bytes, start, end);
        let is_it = |spelling: &&Spelling| {
            spelling.opening == first
                && (end - start <= CHUNK || bytes.get(start..end) == Some(spelling.text.as_bytes()))
        };
        self.exact.iter().find(is_it).map(|spelling| spelling.id)
    }
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

/// What a search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everything, sentences that stand only in part too.
    Parts,
    /// Sentences only where they may stand whole: [`Sink::word`] is told triggers alone.
    Wholes,
}

const NONE: u32 = u32::MAX;
/// Token ids below this are ASCII punctuation (and the space) themselves.
const FIRST_WORD: u32 = 128;
const SPACE_MARK: char = ' ';
const SPACE_TOKEN: u32 = SPACE_MARK as u32;
/// Behind the first token of a phrase nothing has to stand.
const ENDS: u8 = 0;
/// Marks a byte that stands behind a space.
const BEHIND_SPACE: u8 = 0x80;

/// All needles of a session.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Entries by the hashes of their words.
    words: Table,
    entries: Vec<Entry>,
    looks: Looks,
    /// Last components of suffixes.
    names: Filter,
    /// Trie node that a token leads to from a node, by [`hash_step`].
    edges: Table,
    terminals: Vec<SmallVec<[Terminal; 2]>>,
    /// Trie node that a token leads to from the root.
    roots: Vec<u32>,
    /// First tokens of phrases, with the bytes that their next tokens begin with; see [`Index::may_go_on`].
    onward: Filter,
    /// The marks before the first words of phrases: most texts hold more of these than of the words, so phrases are looked
    /// for by their words, and what stands before is looked at last.
    leads: Texts,
    /// Marks that phrases without a word begin with.
    marks: Vec<u8>,
    suffixes: FxHashMap<u64, u32>,
    suffix_texts: Texts,
    /// There are suffixes without a directory and a dot.
    bare: bool,
}

/// What a search reports, in order of the text. Offsets are bytes of the normalised text.
pub(crate) trait Sink {
    /// A unit begins; of units in which nothing is found, not all are told.
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
    /// Every word of sentences in the unit that ends is to be told, each with no sentence.
    fn wants_words(&self) -> bool {
        false
    }
    /// The unit ends. `read` is what was read of it before, and takes up what is read of it now.
    fn unit_end(&mut self, text: &str, start: usize, end: usize, read: &UnitRead);
    /// The last unit, whether it was told or not, is a heading of what follows.
    fn heading(&mut self, start: usize, end: usize);
}

/// Does a unit announce what follows: a heading, or a short line that ends in a colon and is no list item?
pub(crate) fn is_heading(unit: &[u8]) -> bool {
    match unit {
        [b'#', ..] if unit.len() <= 120 => true,
        [b'-' | b'*' | b'+', b' ', ..] => false,
        [.., b':' | b'*'] => unit.len() <= 60,
        _ => false,
    }
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { roots: vec![NONE; FIRST_WORD as usize], terminals: vec![SmallVec::new()], ..Self::default() }
    }

    /// Adds a phrase under a number of the caller's choice. A phrase without a token is ignored.
    pub(crate) fn add_phrase(&mut self, text: &str, phrase: u32, border: Border) {
        let text = normalise(text.trim());
        let mut node = NONE;
        let tokens = tokens(&text);
        let (lead, tokens) = self.lead(&tokens);
        self.add_beginning(tokens);
        for token in tokens {
            let id = match token {
                Token::Word(word) => self.intern(word),
                Token::Mark(mark) => match u8::try_from(*mark) {
                    Ok(byte) if byte.is_ascii() => u32::from(byte),
                    _ => self.intern(mark.encode_utf8(&mut [0; 4])),
                },
            };
            node = if node == NONE {
                let next = self.terminals.len() as u32;
                match self.roots.get_mut(id as usize) {
                    Some(root) if *root == NONE => {
                        *root = next;
                        self.terminals.push(SmallVec::new());
                        next
                    }
                    Some(root) => *root,
                    None => return,
                }
            } else {
                let step = hash_step(node, id);
                self.edges.get(step).unwrap_or_else(|| {
                    let next = self.terminals.len() as u32;
                    self.edges.insert(step, next);
                    self.terminals.push(SmallVec::new());
                    next
                })
            };
        }
        if node != NONE
            && let Some(list) = self.terminals.get_mut(node as usize)
        {
            list.push(Terminal { phrase, border, lead });
        }
    }

    /// Takes up with which token a phrase begins, and how it goes on.
    fn add_beginning(&mut self, tokens: &[Token<'_>]) {
        let Some(first) = tokens.first() else { return };
        if let Token::Word(word) = first {
            self.looks.add(word.as_bytes(), Looks::BEGINS);
        }
        let behind = match tokens.get(1) {
            None => ENDS,
            Some(Token::Mark(SPACE_MARK)) => tokens.get(2).map_or(b' ', Token::first_byte) | BEHIND_SPACE,
            Some(token) => token.first_byte(),
        };
        let mut add = |token: &[u8]| {
            self.onward.add(hash_beginning(opening(token, 0, token.len()), token.len(), behind));
        };
        match first {
            Token::Word(word) => add(word.as_bytes()),
            Token::Mark(mark) => spelled(*mark).iter().for_each(|mark| add(&[*mark])),
        }
    }

    /// The number of what stands before the first word of a phrase, and the tokens from there on. A phrase without a word is
    /// looked for by its first mark of ASCII; one that has none either stands nowhere.
    fn lead<'a, 't>(&mut self, tokens: &'a [Token<'t>]) -> (u32, &'a [Token<'t>]) {
        let is_word = |token: &Token<'_>| matches!(token, Token::Word(_));
        let is_looked_for = |token: &Token<'_>| matches!(token, Token::Mark(mark) if mark.is_ascii_graphic());
        let at = tokens.iter().position(is_word).or_else(|| tokens.iter().position(is_looked_for));
        let (lead, tokens) = tokens.split_at(at.unwrap_or(tokens.len()));
        if let Some(Token::Mark(mark)) = tokens.first() {
            for mark in spelled(*mark) {
                if !self.marks.contains(&mark) {
                    self.marks.push(mark);
                }
            }
        }
        if lead.is_empty() || tokens.is_empty() {
            return (NONE, tokens);
        }
        let marks = lead.iter().filter_map(|token| match token {
            Token::Mark(mark) => Some(*mark),
            Token::Word(_) => None,
        });
        let number = self.leads.next();
        self.leads.push(&marks.collect::<String>());
        (number, tokens)
    }

    /// Numbers that begin with this digit, in ASCII, are looked for.
    pub(crate) fn add_digit(&mut self, digit: u8) {
        self.looks.add_digit(digit);
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
        let mut rarest: SmallVec<[u32; 32]> = SmallVec::from_slice(words);
        rarest.sort_by_key(|word| self.entries.get(*word as usize).map_or(0, |entry| entry.sentences));
        let enough = |needed: usize, at_least: usize| words.len() + at_least - needed.max(at_least);
        for (at, word) in rarest.iter().enumerate() {
            let Some(entry) = self.entries.get_mut(*word as usize) else { continue };
            if at < enough(part, 1) {
                entry.hints.push(sentence);
            }
            if whole.is_some_and(|(whole, at_least)| at < enough(whole, at_least)) {
                entry.triggers.push(sentence);
                self.looks.add(entry.folded.as_bytes(), Looks::ANNOUNCES);
            }
        }
    }

    /// Adds a path suffix (`src/a.rs`, `a.rs`, `/repo/src/a.rs`); the same text gives the same number.
    pub(crate) fn add_suffix(&mut self, suffix: &str) -> u32 {
        let mut hash = hash_path(suffix.as_bytes());
        while let Some(found) = self.suffixes.get(&hash) {
            if self.suffix_texts.get(*found) == Some(suffix) {
                return *found;
            }
            hash = hash.wrapping_add(1);
        }
        let id = self.suffix_texts.next();
        self.bare |= !suffix.contains(['.', '/']);
        let name = last_component(suffix).as_bytes();
        self.names.add(hash_path(name));
        self.looks.add_name(name);
        self.suffix_texts.push(suffix);
        self.suffixes.insert(hash, id);
        id
    }

    /// Text of a suffix.
    pub(crate) fn suffix_text(&self, suffix: u32) -> &str {
        self.suffix_texts.get(suffix).unwrap_or("")
    }

    /// The number of a suffix, if it is known.
    pub(crate) fn suffix(&self, text: &str) -> Option<u32> {
        let mut hash = hash_path(text.as_bytes());
        while let Some(found) = self.suffixes.get(&hash) {
            if self.suffix_texts.get(*found) == Some(text) {
                return Some(*found);
            }
            hash = hash.wrapping_add(1);
        }
        None
    }

    fn intern(&mut self, word: &str) -> u32 {
        // Most are known already, spelled like this.
        let at = if let Some((at, _)) = self.lookup(word.as_bytes(), 0, word.len()) {
            at as usize
        } else {
            let mut folded = CompactString::from(word);
            folded.make_ascii_lowercase();
            self.entry(&folded)
        };
        let id = self.roots.len() as u32;
        let Some(entry) = self.entries.get_mut(at) else { return NONE };
        if let Some(known) = entry.spelled(word.as_bytes(), 0, word.len()) {
            return known;
        }
        entry.exact.push(Spelling {
            text: word.into(),
            opening: opening(word.as_bytes(), 0, word.len()),
            id,
        });
        self.roots.push(NONE);
        id
    }

    /// Position of the entry of a word in lower case.
    fn entry(&mut self, folded: &str) -> usize {
        let Folded { hash, short } = fold(folded.as_bytes(), 0, folded.len());
        self.looks.add(folded.as_bytes(), Looks::WORD);
        let first = self.words.get(hash).unwrap_or(NONE);
        let mut at = first;
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.folded == folded {
                return at as usize;
            }
            at = entry.next.wrapping_sub(1);
        }
        let new = self.entries.len();
        self.entries.push(Entry {
            folded: folded.into(),
            short,
            next: first.wrapping_add(1),
            ..Entry::default()
        });
        self.words.insert(hash, new as u32);
        new
    }

    #[inline]
    fn lookup(&self, bytes: &[u8], start: usize, end: usize) -> Option<(u32, &Entry)> {
        let Folded { hash, short } = fold(bytes, start, end);
        let mut at = self.words.get(hash)?;
        let word = bytes.get(start..end)?;
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

    /// May a phrase begin with the token that stands here: be all of it, or go on like this?
    #[inline]
    fn may_begin(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        self.onward.may_hold(hash_beginning(opening(bytes, start, end), end - start, ENDS))
            || self.may_go_on(bytes, start, end)
    }

    /// May a phrase that begins with this token go on like this? Most that go on with a space are told by what stands
    /// behind it. Quotes within a phrase count for nothing, and what is beyond ASCII is not told apart.
    #[inline]
    fn may_go_on(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        let mut rest = bytes.get(end..).unwrap_or_default().iter();
        let Some(mut next) = rest.next() else { return false };
        let mut space = 0;
        while CLASS[*next as usize] == SPACE {
            space = BEHIND_SPACE;
            let Some(behind) = rest.next() else { return false };
            next = behind;
        }
        if CLASS[*next as usize] == QUOTE || *next >= 0x80 {
            return true;
        }
        self.onward.may_hold(hash_beginning(opening(bytes, start, end), end - start, slash(*next) | space))
    }

    /// Searches a text for everything.
    pub(crate) fn search(&self, text: &str, room: &mut Room, sink: &mut impl Sink) {
        self.walk(text, Scope::Parts, room, sink);
    }

    /// Searches a text, for sentences only where they may stand whole. The words of a unit are not told with it, only
    /// those that announce a sentence, unless it wants more: see [`Sink::wants_words`].
    pub(crate) fn search_wholes(&self, text: &str, room: &mut Room, sink: &mut impl Sink) {
        self.walk(text, Scope::Wholes, room, sink);
    }

    fn walk(&self, text: &str, scope: Scope, room: &mut Room, sink: &mut impl Sink) {
        let text = normalise(text);
        let mut walk = Walk::new(self, &text, 0, text.len(), scope, room);
        let line_ends = walk.take_line_ends();
        for (start, end) in units_between(&text, |from| next_bit(&line_ends, from)) {
            if !walk.is_empty(start, end) {
                sink.unit(&text, start, end);
                walk.unit(start, end, sink);
                if sink.wants_words() {
                    walk.words(start, end, sink);
                }
                sink.unit_end(&text, start, end, &UnitRead::default());
            }
            if is_heading(text.as_bytes().get(start..end).unwrap_or_default()) {
                sink.heading(start, end);
            }
        }
        walk.give_line_ends_back(line_ends);
    }
}

/// The bytes that a mark of ASCII is found by.
fn spelled(mark: char) -> SmallVec<[u8; 2]> {
    match u8::try_from(mark) {
        Ok(b'/') => SmallVec::from_slice(b"/\\"),
        Ok(mark) => SmallVec::from_slice(&[mark]),
        Err(_) => SmallVec::new(),
    }
}

/// A token of a phrase. A mark is whatever is neither a letter or digit nor a quotation mark; a run of blanks is one space,
/// and both slashes are one.
enum Token<'t> {
    Word(&'t str),
    Mark(char),
}

impl Token<'_> {
    fn first_byte(&self) -> u8 {
        match self {
            Self::Word(word) => word.bytes().next().unwrap_or_default(),
            // What is beyond ASCII is not told apart.
            Self::Mark(mark) => u8::try_from(*mark).unwrap_or(u8::MAX),
        }
    }
}

/// Tokens of a phrase, by the same rules as a search: inner white space is one token, quotes are skipped. Blanks around it
/// are none of it.
fn tokens(text: &str) -> SmallVec<[Token<'_>; 32]> {
    let mut out: SmallVec<[Token<'_>; 32]> = SmallVec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match CLASS[bytes[at] as usize] {
            WORD | WIDE => {
                let rest = text.get(at..).unwrap_or("");
                let Some(first) = rest.chars().next() else { break };
                if !first.is_alphanumeric() && first != '_' && !is_cjk(first) {
                    if !is_wide_quote(first) {
                        out.push(Token::Mark(if first.is_whitespace() { SPACE_MARK } else { first }));
                    }
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
                out.push(Token::Mark(SPACE_MARK));
            }
            QUOTE => at += 1,
            _ => {
                out.push(Token::Mark(char::from(slash(bytes[at]))));
                at += 1;
            }
        }
    }
    while let Some(Token::Mark(SPACE_MARK)) = out.last() {
        out.pop();
    }
    let blanks = out.iter().take_while(|token| matches!(token, Token::Mark(SPACE_MARK))).count();
    out.drain(..blanks);
    out
}

/// Last component of a path.
fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Is the first character one of some that are no letters or digits, as three bytes tell: U+2000 to U+203F, U+2190 to
/// U+243F, U+2500 to U+273F?
pub(super) fn begins_mark(bytes: &[u8]) -> bool {
    matches!(bytes, [0xe2, 0x80 | 0x87..=0x90 | 0x94..=0x9c, ..] | [0xe2, 0x86, 0x90..=0xbf, ..])
}

/// True for letters and digits beyond ASCII. Marks that logs are full of (dashes, box drawing, arrows, symbols) are
/// told without the tables of Unicode.
pub(super) fn is_wide_word(c: char) -> bool {
    !matches!(c, '\u{2000}'..='\u{206f}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2775}' | '\u{1f000}'..='\u{1f0ff}' | '\u{1f300}'..='\u{1faff}')
        && c.is_alphanumeric()
}
