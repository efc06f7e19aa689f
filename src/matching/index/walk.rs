//! The search itself: from candidate to candidate, token by token where a phrase is under way, and whole path tokens.

use super::super::{CLASS, CONNECTOR, OTHER, QUOTE, SPACE, WIDE, WORD, is_cjk, is_wide_quote};
use super::candidates::{Looks, MARK, Seen, candidates};
use super::hash::{hash_chunks, hash_step};
use super::{Border, Entry, Index, NONE, SPACE_MARK, SPACE_TOKEN, Scope, Sink, begins_mark, is_wide_word};

/// State of one search.
pub(super) struct Walk<'i, 't> {
    index: &'i Index,
    text: &'t str,
    scope: Scope,
    /// Nothing is told but the words of sentences.
    words_only: bool,
    /// Offset of what is searched.
    base: usize,
    /// Offset of the unit that is searched.
    unit: usize,
    room: &'i mut Room,
    /// The first candidate that is not behind.
    next: usize,
    pair: Option<(usize, usize)>,
}

/// Memory of a search, kept between texts.
#[derive(Debug, Default)]
pub(crate) struct Room {
    seen: Seen,
    /// Trie nodes under way, with the start of each.
    active: Vec<(u32, usize)>,
}

impl<'i, 't> Walk<'i, 't> {
    /// A search of the units between `start` and `end`.
    pub(super) fn new(
        index: &'i Index,
        text: &'t str,
        start: usize,
        end: usize,
        scope: Scope,
        room: &'i mut Room,
    ) -> Self {
        let (wanted, marks) = match scope {
            Scope::Parts => (u8::MAX, index.marks.as_slice()),
            Scope::Wholes => {
                (Looks::BEGINS | Looks::ANNOUNCES | Looks::NAMES | Looks::NUMBER, index.marks.as_slice())
            }
        };
        let bytes = text.as_bytes().get(start..end).unwrap_or_default();
        candidates(bytes, &index.looks, wanted, marks, &mut room.seen);
        if room.seen.any_wide {
            keep_wide_words(text, start, end, &mut room.seen);
        }
        Self { index, text, scope, words_only: false, base: start, unit: start, room, next: 0, pair: None }
    }

    /// A bit for each line end of what is searched; to be given back, for its memory.
    pub(super) fn take_line_ends(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.room.seen.line_ends)
    }

    pub(super) fn give_line_ends_back(&mut self, line_ends: Vec<u64>) {
        self.room.seen.line_ends = line_ends;
    }

    /// Is there nothing in a unit that begins where the last one ended?
    pub(super) fn is_empty(&self, start: usize, end: usize) -> bool {
        let next = self.room.seen.candidate(self.next);
        next.is_none_or(|candidate| self.base + candidate.at() >= end) && !self.has_wide_words(start, end)
    }

    /// Searches a unit; units come in order.
    pub(super) fn unit(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        self.room.active.clear();
        self.pair = None;
        self.unit = start;
        if self.has_wide_words(start, end) {
            self.wide_unit(start, end, sink);
            return;
        }
        let bytes = self.text.as_bytes();
        // Behind these, a phrase and a path were followed.
        let (mut followed, mut run) = (start, start);
        while let Some(candidate) = self.room.seen.candidate(self.next) {
            let at = self.base + candidate.at();
            if at >= end {
                break;
            }
            self.next += 1;
            let kinds = candidate.kinds();
            if kinds & Looks::NAMES != 0 && at >= run && candidate.may_name(bytes.get(self.word_end(at))) {
                let (from, to) = self.run(at, start, end);
                self.path(from, to, sink);
                run = to;
            }
            if at < followed {
                continue;
            }
            followed = if kinds & MARK != 0 {
                self.follow(at, end, sink)
            } else if kinds & Looks::ANNOUNCES != 0 || kinds & Looks::BEGINS != 0 && self.may_begin(at) {
                self.begin_at_word(at, end, sink)
            } else {
                if kinds & Looks::NUMBER != 0 {
                    sink.number(self.text, at);
                }
                if kinds & Looks::WORD != 0 {
                    let to = self.word_end(at);
                    self.counted(bytes, at, to, sink);
                }
                at
            };
        }
    }

    /// Tells every word of sentences in a unit, nothing else.
    pub(super) fn words(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        self.words_only = true;
        self.room.active.clear();
        self.pair = None;
        let bytes = self.text.as_bytes();
        let mut at = start;
        if self.has_wide_words(start, end) {
            while at < end {
                at = match CLASS[bytes[at] as usize] {
                    WORD => self.counted_word(at, end, sink),
                    WIDE => self.wide(at, end, sink),
                    _ => at + 1,
                };
            }
        } else {
            while let Some(word) = self.room.seen.next_word(at - self.base, end - self.base) {
                at = self.counted_word(self.base + word, end, sink);
            }
        }
        self.words_only = false;
    }

    /// May a phrase begin with the word that begins at a place?
    #[inline]
    fn may_begin(&self, at: usize) -> bool {
        self.index.may_begin(self.text.as_bytes(), at, self.word_end(at))
    }

    /// Looks up the word that begins at a place, and gives its end.
    fn counted_word(&self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let bytes = self.text.as_bytes();
        let to = self.any_word_end(at, end);
        if self.index.looks.may_be_word(bytes, at, to) {
            self.counted(bytes, at, to, sink);
        }
        to
    }

    /// End of the run of ASCII letters, digits and `_` that begins at a place.
    #[inline]
    fn word_end(&self, at: usize) -> usize {
        self.base + self.room.seen.word_end(at - self.base)
    }

    /// Are there letters or digits beyond ASCII?
    #[inline]
    fn has_wide_words(&self, start: usize, end: usize) -> bool {
        self.room.seen.any_wide && self.room.seen.has_wide(start - self.base, end - self.base)
    }

    /// A unit with words beyond ASCII, of which the candidates tell nothing.
    fn wide_unit(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        let mut at = start;
        while at < end {
            at = self.step(at, end, sink);
        }
        at = start;
        while at < end {
            let (_, to) = self.run(at, at, end);
            if to > at {
                self.path(at, to, sink);
            }
            at = to.max(at + 1);
        }
        while self.room.seen.candidate(self.next).is_some_and(|candidate| self.base + candidate.at() < end) {
            self.next += 1;
        }
    }

    /// A word stands where nothing is under way, and phrases begin with it or it announces sentences. Gives the position
    /// from which to go on.
    fn begin_at_word(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let to = self.any_word_end(at, end);
        self.word(at, to, sink);
        if to >= end || self.room.active.is_empty() { to } else { self.follow(to, end, sink) }
    }

    /// Goes on until nothing is under way.
    fn follow(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let mut at = at;
        loop {
            at = self.step(at, end, sink);
            if at >= end || self.room.active.is_empty() {
                return at;
            }
        }
    }

    /// Takes one token and gives its end.
    fn step(&mut self, at: usize, end: usize, sink: &mut impl Sink) -> usize {
        let bytes = self.text.as_bytes();
        let byte = bytes[at];
        // Told by the bits, not by a jump that goes by the class: half of all are words.
        if self.word_end(at) > at {
            let to = self.any_word_end(at, end);
            self.word(at, to, sink);
            return to;
        }
        match CLASS[byte as usize] {
            SPACE => {
                let mut to = at + 1;
                while to < end && CLASS[bytes[to] as usize] == SPACE {
                    to += 1;
                }
                if !self.room.active.is_empty() {
                    self.advance(SPACE_TOKEN, to, sink);
                }
                to
            }
            QUOTE => at + 1,
            CONNECTOR | OTHER => {
                self.mark(slash(byte), at, at + 1, sink);
                at + 1
            }
            _ => self.wide(at, end, sink),
        }
    }

    /// The path token around a position: a run of words and of marks that may stand in a path.
    fn run(&self, at: usize, start: usize, end: usize) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        let (mut from, mut to) = (at, at);
        let letter = |c: Option<char>| c.filter(|c| !is_cjk(*c) && is_wide_word(*c)).map(char::len_utf8);
        while from > start {
            from -= match bytes[from - 1] {
                byte if IN_PATH[usize::from(byte)] => 1,
                0x80.. => match letter(self.text.get(start..from).and_then(|it| it.chars().next_back())) {
                    Some(length) => length,
                    None => break,
                },
                _ => break,
            };
        }
        while to < end {
            to += match bytes[to] {
                byte if IN_PATH[usize::from(byte)] => 1,
                0x80.. => match letter(self.text.get(to..end).and_then(|it| it.chars().next())) {
                    Some(length) => length,
                    None => break,
                },
                _ => break,
            };
        }
        (from, to)
    }

    /// End of the word that begins at a place with an ASCII letter, digit or `_`.
    #[inline]
    fn any_word_end(&self, at: usize, end: usize) -> usize {
        let to = self.word_end(at);
        if to < end && self.text.as_bytes()[to] >= 0x80 { self.wide_word_end(to, end) } else { to }
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
                self.counted(bytes, from, next, sink);
            }
            self.pair = Some((at, next));
            if !self.words_only {
                let entry = self.index.lookup(bytes, at, next);
                self.token(entry.map(|(_, entry)| entry), at, next, sink);
            }
            return next;
        }
        if is_wide_word(c) {
            let to = self.wide_word_end(at, end);
            self.word(at, to, sink);
            return to;
        }
        if !is_wide_quote(c) && !self.room.active.is_empty() {
            let mark = || {
                let bytes = self.text.as_bytes();
                self.index.lookup(bytes, at, next).and_then(|(_, entry)| entry.spelled(bytes, at, next))
            };
            match if c.is_whitespace() { Some(SPACE_TOKEN) } else { mark() } {
                Some(token) => self.advance(token, next, sink),
                None => self.room.active.clear(),
            }
        }
        next
    }

    fn word(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        let bytes = self.text.as_bytes();
        if self.words_only {
            self.counted(bytes, start, end, sink);
            return;
        }
        if bytes[start].is_ascii_digit() {
            sink.number(self.text, start);
        }
        let entry = self.index.lookup(bytes, start, end);
        if let Some((word, entry)) = entry {
            self.tell(word, entry, sink);
        }
        self.token(entry.map(|(_, entry)| entry), start, end, sink);
    }

    /// Looks a word up that can be nothing but one of sentences.
    fn counted(&self, bytes: &[u8], start: usize, end: usize, sink: &mut impl Sink) {
        if let Some((word, entry)) = self.index.lookup(bytes, start, end) {
            self.tell(word, entry, sink);
        }
    }

    #[inline]
    fn tell(&self, word: u32, entry: &Entry, sink: &mut impl Sink) {
        if self.words_only {
            if entry.sentences > 0 {
                sink.word(word, &[]);
            }
            return;
        }
        match self.scope {
            Scope::Parts if entry.sentences > 0 => sink.word(word, &entry.hints),
            Scope::Wholes if !entry.triggers.is_empty() => sink.word(word, &entry.triggers),
            _ => {}
        }
    }

    fn token(&mut self, entry: Option<&Entry>, start: usize, end: usize, sink: &mut impl Sink) {
        match entry.and_then(|entry| entry.spelled(self.text.as_bytes(), start, end)) {
            Some(id) => {
                if !self.room.active.is_empty() {
                    self.advance(id, end, sink);
                }
                self.begin(id, start, end, sink);
            }
            None => self.room.active.clear(),
        }
    }

    #[inline]
    fn mark(&mut self, byte: u8, start: usize, end: usize, sink: &mut impl Sink) {
        let id = u32::from(byte);
        if !self.room.active.is_empty() {
            self.advance(id, end, sink);
        }
        self.begin(id, start, end, sink);
    }

    #[inline]
    fn begin(&mut self, id: u32, start: usize, end: usize, sink: &mut impl Sink) {
        let root = self.index.roots.get(id as usize).copied().unwrap_or(NONE);
        if root != NONE {
            self.report(root, start, end, sink);
            if self.index.may_go_on(self.text.as_bytes(), start, end) {
                self.room.active.push((root, start));
            }
        }
    }

    fn advance(&mut self, id: u32, end: usize, sink: &mut impl Sink) {
        let mut kept = 0;
        for at in 0..self.room.active.len() {
            let (node, start) = self.room.active[at];
            if let Some(next) = self.index.edges.get(hash_step(node, id)) {
                self.report(next, start, end, sink);
                self.room.active[kept] = (next, start);
                kept += 1;
            }
        }
        self.room.active.truncate(kept);
    }

    fn report(&self, node: u32, start: usize, end: usize, sink: &mut impl Sink) {
        for terminal in self.index.terminals.get(node as usize).into_iter().flatten() {
            if let Some(start) = self.led(terminal.lead, start)
                && bordered(self.text, start, end, terminal.border)
            {
                sink.phrase(terminal.phrase, start, end);
            }
        }
    }

    /// Where a phrase begins whose first word begins at a place, if its lead stands before that. Quotes count for nothing
    /// here too.
    #[inline]
    fn led(&self, lead: u32, word: usize) -> Option<usize> {
        if lead == NONE { Some(word) } else { self.led_by(self.index.leads.get(lead)?, word) }
    }

    fn led_by(&self, lead: &str, word: usize) -> Option<usize> {
        let mut before = self.text.get(self.unit..word)?;
        for mark in lead.chars().rev() {
            before = before.trim_end_matches(is_quote);
            let last = before.chars().next_back()?;
            let stands = match mark {
                SPACE_MARK => last.is_whitespace(),
                '/' => matches!(last, '/' | '\\'),
                _ => last == mark,
            };
            if !stands {
                return None;
            }
            // A run of blanks is one space.
            before =
                if is_blank(last) { before.trim_end_matches(is_blank) } else { before.strip_suffix(last)? };
        }
        Some(self.unit + before.len())
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

/// Bytes of a path token.
static IN_PATH: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = matches!(CLASS[byte], WORD | CONNECTOR);
        byte += 1;
    }
    table
};

/// Leaves of the bits for bytes beyond ASCII those with which a letter or a digit begins.
fn keep_wide_words(text: &str, start: usize, end: usize, seen: &mut Seen) {
    let bytes = text.as_bytes();
    seen.any_wide = false;
    // What was looked at already: a character may reach into the next block.
    let mut at = start;
    for (number, block) in seen.blocks.iter_mut().enumerate() {
        let first = start + number * 64;
        let mut words = 0;
        let mut ahead = block.wide;
        while ahead != 0 {
            let bit = ahead.trailing_zeros();
            ahead &= ahead - 1;
            let here = first + bit as usize;
            if here < at {
                continue;
            }
            let rest = bytes.get(here..end).unwrap_or_default();
            if begins_mark(rest) {
                at = here + 3;
                continue;
            }
            let Some(c) = text.get(here..end).and_then(|rest| rest.chars().next()) else { continue };
            at = here + c.len_utf8();
            if is_cjk(c) || is_wide_word(c) {
                words |= 1 << bit;
            }
        }
        block.wide = words;
        seen.any_wide |= words != 0;
    }
}

fn is_quote(c: char) -> bool {
    if c.is_ascii() { CLASS[c as usize] == QUOTE } else { is_wide_quote(c) }
}

fn is_blank(c: char) -> bool {
    c.is_ascii() && CLASS[c as usize] == SPACE
}

/// A mark as it stands in the trie: both slashes are one.
pub(super) fn slash(mark: u8) -> u8 {
    if mark == b'\\' { b'/' } else { mark }
}

/// Does the phrase at `start..end` stand alone, under its rule?
pub(super) fn bordered(text: &str, start: usize, end: usize, border: Border) -> bool {
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
