//! What a sentence looks like: content words, values, code-like tokens and a small vocabulary of cues.
//!
//! One pass over the text, no allocation but for the word list. Words are compared by hash, after crude stemming; a
//! collision costs a slightly wrong rank and nothing else.

use super::lines;
use aho_corasick::AhoCorasick;
use compact_str::CompactString;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::LazyLock;

/// Groups of cue words, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cues(u16);

impl Cues {
    /// Obligation, standing or prohibition.
    pub(super) const RULE: Self = Self(1);
    /// Negation.
    pub(super) const NOT: Self = Self(1 << 1);
    /// A choice between ways.
    pub(super) const CHOICE: Self = Self(1 << 2);
    /// A reason.
    pub(super) const CAUSE: Self = Self(1 << 3);
    /// Something finished.
    pub(super) const DONE: Self = Self(1 << 4);
    /// Something left to do.
    pub(super) const LEFT: Self = Self(1 << 5);
    /// Something wrong.
    pub(super) const FAIL: Self = Self(1 << 6);
    /// An insight.
    pub(super) const FOUND: Self = Self(1 << 7);
    /// A word that carries no content.
    const STOP: Self = Self(1 << 8);
    /// A verb that asks for work.
    pub(super) const ASK: Self = Self(1 << 9);

    /// A word that numbers things rather than measures them: the digit behind it is a name, not a value.
    const COUNTER: Self = Self(1 << 11);
    /// Obligation that leaves no doubt.
    pub(super) const STRICT: Self = Self(1 << 10);
    /// Choices, reasons and findings.
    pub(super) const INSIGHT: Self = Self(Self::CHOICE.0 | Self::CAUSE.0 | Self::FOUND.0);

    /// True when one of `wanted` is set.
    pub(super) const fn any(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }

    fn add(&mut self, more: Self) {
        self.0 |= more.0;
    }
}

/// The vocabulary: cue, then words. Words of other languages only where they cannot be mistaken for English ones.
const VOCABULARY: &[(Cues, &str)] = &[
    (
        Cues::COUNTER,
        "step phase task issue pr line lines part section stage round item test case chapter milestone version \
      option session message cycle job page commit iteration attempt day week point",
    ),
    (
        Cues::STRICT,
        "must always never only don't dont mustn't required requires requirement require forbidden mandatory whenever \
      strictly everywhere immer niemals nie muss nur siempre nunca toujours jamais",
    ),
    (
        Cues::RULE,
        "must always never only ensure require required requires requirement forbidden mandatory don't dont \
      mustn't shouldn't should avoid stick prefer everywhere whenever strictly exactly immer niemals nie muss nur \
      siempre nunca toujours jamais",
    ),
    (
        Cues::NOT,
        "not never no without don't dont doesn't didn't isn't can't cannot won't none nor neither nicht kein \
      keine ohne",
    ),
    (
        Cues::CHOICE,
        "instead rather decided decide decision chose choose chosen choosing switch switched switching \
      opted option prefer preferred replaced replacing adopt adopted keep keeping trade-off tradeoff settled agreed \
      statt stattdessen entschieden",
    ),
    (Cues::CAUSE, "because since therefore due caused causes reason why otherwise so weil wegen deshalb"),
    (
        Cues::DONE,
        "added fixed implemented updated created removed renamed refactored verified passing passes passed \
      committed merged deployed completed done finished ported moved replaced wrote changed resolved works working \
      green succeeded successful successfully erledigt fertig behoben",
    ),
    (
        Cues::LEFT,
        "next remaining remains todo pending later follow-up still left unfinished outstanding afterwards \
      upcoming yet offen noch",
    ),
    (
        Cues::FAIL,
        "error errors fail fails failed failing failure failures broken bug bugs issue panic panicked crash \
      crashes crashed exception wrong missing timeout timed denied refused regression flaky leak deadlock fehler",
    ),
    (
        Cues::FOUND,
        "found turns discovered confirmed problem actually root cause important note key means shows \
      reveals expects culprit",
    ),
    (
        Cues::ASK,
        "add fix use make write run remove change keep do please update create implement check rename stop \
      try look help read move show find test port build commit push debug refactor review explain investigate \
      set switch replace delete start continue clean put let's can could need want should",
    ),
    (
        Cues::STOP,
        "a an the and or but if then else of in on at to for from by with as is are was were be been being \
      it its this that these those there here i you we they he she my your our their me us them have has had do \
      does did will would can could should may might just now also too very so than when which who what how all any \
      some more most other into out up down over about let let's i'll i've i'm it's that's we'll we're",
    ),
];

/// Cues of languages written without spaces, found as substrings.
const UNSPACED: &[(Cues, &[&str])] = &[
    (
        Cues::RULE,
        &[
            "不要",
            "必须",
            "必須",
            "务必",
            "禁止",
            "始终",
            "总是",
            "不能",
            "不得",
            "只能",
            "只用",
            "しないで",
            "してはいけ",
            "ください",
            "해야",
            "하지 마",
        ],
    ),
    (Cues::CHOICE, &["改用", "决定", "決定", "选择", "而不是", "改为", "代わりに", "대신"]),
    (Cues::CAUSE, &["因为", "原因", "所以", "ため", "때문"]),
    (Cues::DONE, &["已完成", "已经", "完成了", "修复了", "通过", "完了", "완료"]),
    (Cues::LEFT, &["下一步", "接下来", "待办", "还需", "尚未", "次は", "다음"]),
    (Cues::FAIL, &["错误", "失败", "报错", "エラー", "失敗", "오류", "실패"]),
    (Cues::FOUND, &["发现", "问题", "関係", "確認"]),
];

/// The cues of words, by their hashes.
struct Vocabulary {
    cues: FxHashMap<u32, Cues>,
    /// A bit for the lowest bits of each hash: most words have no cue, and are told by this.
    known: Box<[u64; Self::BITS / 64]>,
}

impl Vocabulary {
    const BITS: usize = 1 << 14;

    fn place(hash: u32) -> (usize, u64) {
        let bit = hash as usize % Self::BITS;
        (bit / 64, 1 << (bit % 64))
    }

    fn of(&self, hash: u32) -> Cues {
        let (block, bit) = Self::place(hash);
        if self.known[block] & bit == 0 {
            return Cues::default();
        }
        self.cues.get(&hash).copied().unwrap_or_default()
    }
}

static CUES: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut all = Vocabulary { cues: FxHashMap::default(), known: Box::new([0; Vocabulary::BITS / 64]) };
    for (cue, words) in VOCABULARY {
        for word in words.split_whitespace() {
            let hash = hash(word);
            all.cues.entry(hash).or_default().add(*cue);
            let (block, bit) = Vocabulary::place(hash);
            all.known[block] |= bit;
        }
    }
    all
});

static INSIGHTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = VOCABULARY.iter().filter(|(cue, _)| Cues::INSIGHT.any(*cue) && *cue != Cues::CAUSE);
    let words = words.flat_map(|(_, words)| words.split_whitespace());
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
});

/// False when [`look`] finds neither choices nor findings in the text or a piece of it. Only ASCII is told without
/// looking: of other scripts letters fold into ASCII, and cues are not in the vocabulary.
pub(super) fn may_tell(text: &str) -> bool {
    !text.is_ascii() || INSIGHTS.as_ref().is_none_or(|finder| finder.is_match(text))
}

/// What one line of text holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Look {
    /// Hashes of its content words, sorted, each once; stemmed, without the values.
    pub(super) words: SmallVec<[u32; 24]>,
    /// Hashes of its values (words with digits that measure something), sorted.
    pub(super) values: SmallVec<[u32; 8]>,
    /// Content words, repeats included.
    pub(super) content: u32,
    /// Code-like tokens: paths, identifiers, anything in back-ticks.
    pub(super) code: u32,
    /// Tokens that contain a digit.
    pub(super) numbers: u32,
    /// Cues anywhere.
    pub(super) cues: Cues,
    /// Cues of the first word.
    pub(super) first: Cues,
    /// Cues of the second word.
    pub(super) second: Cues,
    /// It begins with the agent announcing a small step.
    pub(super) chatter: bool,
    /// It ends with a question mark.
    pub(super) question: bool,
    /// It points at something said before (`it`, `this one`).
    pub(super) dangling: bool,
}

/// Looks at one line.
pub(super) fn look(text: &str) -> Look {
    let mut out = Look { question: text.trim_end().ends_with(['?', '？']), ..Look::default() };
    let mut quoted = false;
    let mut counter = false;
    let mut position = 0u32;
    for (index, chunk) in chunks(text).enumerate() {
        let was_quoted = quoted;
        quoted ^= chunk.ticks % 2 == 1;
        if index == 0 {
            out.dangling = is_dangling(chunk.text);
        }
        let word = chunk.word();
        if word.is_empty() {
            continue;
        }
        let ascii = chunk.ascii || word.is_ascii();
        if !ascii && word.chars().any(is_unspaced) {
            unspaced(word, &mut out);
            position += 1;
            continue;
        }
        let in_code = was_quoted || quoted || chunk.ticks > 0;
        let shape = Shape::of(word, ascii);
        let cues = CUES.of(shape.hash);
        if !in_code {
            out.cues.add(cues);
        }
        match position {
            0 => out.first = cues,
            1 => out.second = cues,
            _ => {}
        }
        position += 1;
        let code = in_code || shape.code;
        out.code += u32::from(code);
        out.numbers += u32::from(shape.digits);
        let named = counter || (code && !shape.digits) || word.as_bytes().first() == Some(&b'#');
        counter = cues.any(Cues::COUNTER);
        if cues.any(Cues::STOP) && !in_code {
            continue;
        }
        out.content += 1;
        if shape.digits && !named && !word.contains('/') && !has_name(word) {
            out.values.push(shape.hash);
        } else {
            out.words.push(shape.stem);
        }
    }
    out.chatter = is_chatter(text);
    out.words.sort_unstable();
    out.words.dedup();
    out.values.sort_unstable();
    out.values.dedup();
    out
}

/// Classes of bytes, as bits.
const DIGIT: u32 = 1;
const LOWER: u32 = 1 << 1;
const UPPER: u32 = 1 << 2;
/// Makes a word code wherever it stands.
const CODE: u32 = 1 << 3;
const COLON: u32 = 1 << 4;
const OPEN: u32 = 1 << 5;
/// May begin and end a word, and so may a dash.
const EDGE: u32 = 1 << 6;
/// Any other of ASCII.
const OTHER: u32 = 1 << 7;
const BLANK: u32 = 1 << 8;
const TICK: u32 = 1 << 9;
/// No ASCII.
const WIDE: u32 = 1 << 10;
/// The first byte of all wide blanks, and of other characters.
const LEADS: u32 = 1 << 11;
const DASH: u32 = 1 << 12;
const LETTER: u32 = LOWER | UPPER;
/// Where the classes of the byte before begin that make a word code together with this one: `::`, `()`, `a.`, `aB`.
const BEFORE: u32 = 16;

const CLASS: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        table[at] = match at as u8 {
            b'0'..=b'9' => DIGIT | EDGE,
            b'a'..=b'z' => LOWER | EDGE,
            b'A'..=b'Z' => UPPER | EDGE | (LOWER << BEFORE),
            b'/' | b'_' | b'$' | b'@' => CODE | EDGE,
            b'=' => CODE,
            b':' => COLON | (COLON << BEFORE),
            b'(' => OPEN,
            b')' => OTHER | (OPEN << BEFORE),
            b'.' => OTHER | ((LETTER | DIGIT) << BEFORE),
            b'~' | b'#' | b'%' => OTHER | EDGE,
            b'-' => OTHER | DASH,
            b'\t'..=b'\r' | b' ' => BLANK,
            b'`' => OTHER | TICK,
            0..0x80 => OTHER,
            0xc2 | 0xe1..=0xe3 => WIDE | LEADS,
            0x80.. => WIDE,
        };
        at += 1;
    }
    table
};

#[inline]
fn class(byte: u8) -> u32 {
    CLASS[byte as usize]
}

/// What stands between two blanks.
pub(super) struct Chunk<'a> {
    pub(super) text: &'a str,
    ticks: u32,
    ascii: bool,
}

impl<'a> Chunk<'a> {
    /// Its word: without punctuation around it.
    fn word(&self) -> &'a str {
        let word = if self.ascii {
            self.within(EDGE | DASH)
        } else {
            self.text.trim_matches(|c: char| !(c.is_alphanumeric() || "/_$@~#%-".contains(c)))
        };
        if word.as_bytes().last() == Some(&b'-') { word.trim_end_matches('-') } else { word }
    }

    /// Its word without dashes around it, too.
    fn bare_word(&self) -> &'a str {
        if self.ascii {
            self.within(EDGE)
        } else {
            self.text.trim_matches(|c: char| !(c.is_alphanumeric() || "/_$@~#%".contains(c)))
        }
    }

    /// What of it begins and ends with bytes of these classes.
    fn within(&self, edges: u32) -> &'a str {
        let bytes = self.text.as_bytes();
        let edge = |byte: &u8| class(*byte) & edges != 0;
        let end = bytes.iter().rposition(edge).map_or(0, |at| at + 1);
        let start = bytes.iter().position(edge).unwrap_or(0).min(end);
        self.text.get(start..end).unwrap_or("")
    }
}

/// The same pieces as `split_whitespace`, which decodes every character.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let bytes = text.as_bytes();
    let mut next = 0;
    std::iter::from_fn(move || {
        let mut at = next;
        while let Some(class) =
            bytes.get(at).map(|byte| class(*byte)).filter(|class| class & (BLANK | LEADS) != 0)
            && let width @ 1.. = blank(text, at, class)
        {
            at += width;
        }
        let start = at;
        let mut all = 0;
        while let Some(byte) = bytes.get(at) {
            let class = class(*byte);
            if class & (BLANK | LEADS) != 0 && blank(text, at, class) > 0 {
                break;
            }
            all |= class;
            at += 1;
        }
        next = at;
        let text = text.get(start..at).filter(|text| !text.is_empty())?;
        let ticks =
            if all & TICK == 0 { 0 } else { text.bytes().filter(|byte| *byte == b'`').count() as u32 };
        Some(Chunk { text, ticks, ascii: all & WIDE == 0 })
    })
}

/// Length of the blank of a text that begins with a byte of this class, 0 when there is none.
#[inline]
fn blank(text: &str, at: usize, class: u32) -> usize {
    if class & BLANK != 0 {
        return 1;
    }
    let wide = text.get(at..).and_then(|rest| rest.chars().next());
    wide.filter(|c| class & LEADS != 0 && c.is_whitespace()).map_or(0, char::len_utf8)
}

/// What the characters of a word tell.
#[derive(Debug, PartialEq)]
struct Shape {
    hash: u32,
    stem: u32,
    digits: bool,
    code: bool,
}

impl Shape {
    fn of(word: &str, ascii: bool) -> Self {
        if ascii { Self::of_ascii(word.as_bytes()) } else { Self::of_any(word) }
    }

    fn of_any(word: &str) -> Self {
        let digits = word.bytes().any(|byte| byte.is_ascii_digit());
        Self { hash: hash(word), stem: stem(word), digits, code: is_code(word) }
    }

    /// The same for an ASCII word, in one pass.
    fn of_ascii(word: &[u8]) -> Self {
        let mut hash = SEED;
        let (mut all, mut before, mut joined) = (0, 0, 0);
        let mut step = |byte: u8| {
            let class = class(byte);
            // What an upper case letter lacks.
            hash = mix_lower(hash, byte | ((class & UPPER) << 3) as u8);
            joined |= before & (class >> BEFORE);
            all |= class;
            before = class;
            hash
        };
        // A stem is a beginning of its word, so its hash is met on the way.
        let mut hashes = [SEED; STEM + 1];
        let (head, rest) = word.split_at(word.len().min(STEM));
        for (at, byte) in head.iter().enumerate() {
            hashes[(at + 1) % (STEM + 1)] = step(*byte);
        }
        for byte in rest {
            step(*byte);
        }
        let constant = all & (UPPER | LOWER) == UPPER
            && word.len() >= 3
            && word.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 2;
        let letters = all & (DIGIT | CODE | COLON | OPEN | OTHER | BLANK) == 0;
        Self {
            hash,
            stem: if letters && word.len() >= 4 {
                hashes[stem_of_letters(word).len() % hashes.len()]
            } else {
                hash
            },
            digits: all & DIGIT != 0,
            code: joined != 0 || all & CODE != 0 || constant || matches!(word, [b'-', b'-', ..]),
        }
    }
}

/// Words of a script without spaces: pairs of characters stand for words.
fn unspaced(word: &str, out: &mut Look) {
    for (cue, needles) in UNSPACED {
        if needles.iter().any(|needle| word.contains(needle)) {
            out.cues.add(*cue);
            if *cue == Cues::RULE {
                out.cues.add(Cues::STRICT);
            }
        }
    }
    let mut before: Option<char> = None;
    let mut run = 0u32;
    for c in word.chars() {
        if !is_unspaced(c) {
            before = None;
            continue;
        }
        if let Some(first) = before {
            let mut buffer = [0u8; 8];
            let width = first.encode_utf8(&mut buffer).len();
            let both = width + c.encode_utf8(buffer.get_mut(width..).unwrap_or_default()).len();
            out.words.push(hash_bytes(buffer.get(..both).unwrap_or_default()));
            run += 1;
        }
        before = Some(c);
    }
    out.content += run.div_ceil(2).max(1);
    for latin in word.split(|c: char| !(c.is_ascii_alphanumeric() || "/_.-".contains(c))) {
        let latin = latin.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if latin.is_empty() {
            continue;
        }
        if latin.bytes().any(|byte| byte.is_ascii_digit()) {
            out.numbers += 1;
            if has_name(latin) {
                out.words.push(stem(latin));
            } else {
                out.values.push(hash(latin));
            }
        } else {
            out.code += u32::from(is_code(latin));
            out.words.push(stem(latin));
        }
    }
}

/// Han, kana and hangul.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{2ffff}')
}

/// Letters enough to be a name (`utf8`, `E0502`, `sha256sum`) rather than a number with a unit (`30s`, `4KB`, `v2`).
fn has_name(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() > 3 && !word.contains(['=', ':'])
}

/// Paths, identifiers, flags, constants.
fn is_code(word: &str) -> bool {
    if word.starts_with("--") {
        return true;
    }
    let mut inner_slash = false;
    let mut inner_dot = false;
    let mut camel = false;
    let mut upper = 0;
    let mut lower = 0;
    let mut before = ' ';
    for c in word.chars() {
        match c {
            '_' | '=' | '$' | '@' => return true,
            ':' if before == ':' => return true,
            ')' if before == '(' => return true,
            '/' => inner_slash = true,
            '.' if before.is_alphanumeric() => inner_dot = true,
            _ => {}
        }
        if c.is_uppercase() {
            upper += 1;
            camel |= before.is_lowercase();
        } else if c.is_lowercase() {
            lower += 1;
        }
        before = c;
    }
    inner_slash || inner_dot || camel || (upper >= 2 && lower == 0 && word.len() >= 3)
}

/// The agent announcing what it looks at next: no use to anyone later.
fn is_chatter(text: &str) -> bool {
    const WIDE: [&str; 7] = ["让我", "我来", "我将", "现在", "好的", "まず", "では"];
    let Some(first) = text.as_bytes().first() else { return false };
    if !first.is_ascii() {
        return WIDE.iter().any(|opener| text.starts_with(opener));
    }
    // `I’ll` is written with either apostrophe; the openers are short.
    let start = lines::head(text, 24);
    let typographic =
        (!start.is_ascii() && start.contains('’')).then(|| lines::head(text, 32).replace('’', "'"));
    let head = typographic.as_deref().unwrap_or(text).as_bytes();
    openers(first.to_ascii_lowercase()).iter().any(|opener| {
        head.get(..opener.len()).is_some_and(|head| head.eq_ignore_ascii_case(opener.as_bytes()))
    })
}

/// How such announcements open, by their first letter.
fn openers(first: u8) -> &'static [&'static str] {
    match first {
        b'a' => &["alright", "actually, let me"],
        b'c' => &["checking"],
        b'e' => &["excellent", "exploring"],
        b'f' => &["first, let", "first let"],
        b'g' => &["good.", "good,", "good —", "great"],
        b'h' => &["hmm", "here's", "here is", "here are"],
        b'i' => &[
            "i'll",
            "i will",
            "i'm going",
            "i am going",
            "i need to",
            "i should",
            "i want to",
            "i can see",
            "i see",
        ],
        b'l' => &["let me", "let's", "let us", "looking at"],
        b'm' => &["maybe"],
        b'n' => &["now ", "now,", "next, let"],
        b'o' => &["ok,", "okay"],
        b'p' => &["perfect"],
        b'r' => &["reading"],
        b's' => &["sure"],
        b't' => &["then i"],
        b'w' => &["wait", "we need to look"],
        b'y' => &["you're right", "you're absolutely"],
        _ => &[],
    }
}

/// A first word that needs the sentence before.
fn is_dangling(first: &str) -> bool {
    const LONGEST: usize = "otherwise".len();
    let first = first.trim_end_matches(',');
    if first.len() > LONGEST {
        return false;
    }
    let mut word = CompactString::from(first);
    word.make_ascii_lowercase();
    matches!(
        word.as_str(),
        "it" | "this"
            | "that"
            | "these"
            | "those"
            | "they"
            | "he"
            | "she"
            | "so"
            | "but"
            | "and"
            | "then"
            | "also"
            | "here"
            | "both"
            | "otherwise"
    )
}

/// Hash of a word, letters of ASCII in lower case, typographic apostrophes as plain ones.
pub(super) fn hash(word: &str) -> u32 {
    if word.is_ascii() {
        return hash_bytes(word.as_bytes());
    }
    hash_bytes(word.to_lowercase().replace('’', "'").as_bytes())
}

const SEED: u32 = 0x811c_9dc5;

/// FNV-1a over lower-cased ASCII.
fn hash_bytes(bytes: &[u8]) -> u32 {
    bytes.iter().fold(SEED, |sum, byte| mix(sum, *byte))
}

#[inline]
fn mix(sum: u32, byte: u8) -> u32 {
    mix_lower(sum, byte.to_ascii_lowercase())
}

#[inline]
fn mix_lower(sum: u32, byte: u8) -> u32 {
    (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// Hash of a word with its ending taken off: `added`, `adds`, `adding` and `add` are one.
fn stem(word: &str) -> u32 {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return hash(word);
    }
    hash_bytes(stem_of_letters(word.as_bytes()))
}

/// Longest stem.
const STEM: usize = 7;

/// The stem of at least four ASCII letters: a beginning of them.
fn stem_of_letters(word: &[u8]) -> &[u8] {
    let head = match word {
        [head @ .., b'i' | b'I', b'n' | b'N', b'g' | b'G'] if head.len() >= 3 => head,
        [head @ .., b'e' | b'E', b'd' | b'D' | b's' | b'S'] if head.len() >= 3 => head,
        [head @ .., b's' | b'S'] if head.len() >= 3 => head,
        _ => word,
    };
    head.get(..STEM).unwrap_or(head)
}

/// Hash of a whole text as a key: words in order, blanks and case ignored.
pub(super) fn key(text: &str) -> u64 {
    chunks(text).fold(0xcbf2_9ce4_8422_2325, |sum: u64, chunk| {
        (sum ^ u64::from(hash(chunk.text))).wrapping_mul(0x0100_0000_01b3)
    })
}

/// How many of two sorted lists are common.
pub(super) fn common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count
}

/// 64-bit signature of a word list: no common bit, no common word.
pub(super) fn signature(words: &[u32]) -> u64 {
    words.iter().fold(0, |bits, word| bits | 1 << (word % 64))
}

/// Of each way in which a sentence turns something down, a part that few other sentences have.
static REJECTIONS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let parts = ["instead", "rather", "replac", "but", "drop", "from"];
    AhoCorasick::builder().ascii_case_insensitive(true).build(parts).ok()
});

/// The word that a sentence turns down: `use X instead of Y`, `rather than Y`, `replace Y with X`, `switch from Y to
/// X`, `not Y but X`. Only when the sentence names what takes its place.
pub(super) fn rejected(text: &str) -> Option<u32> {
    if REJECTIONS.as_ref().is_some_and(|finder| !finder.is_match(text)) {
        return None;
    }
    let words: Vec<&str> =
        chunks(text).map(|chunk| chunk.bare_word()).filter(|word| !word.is_empty()).collect();
    let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word.eq_ignore_ascii_case(wanted));
    let starts = |at: usize, wanted: &str| {
        words
            .get(at)
            .and_then(|word| word.get(..wanted.len()))
            .is_some_and(|head| head.eq_ignore_ascii_case(wanted))
    };
    let near =
        |at: usize, wanted: &[&str]| (at + 2..at + 7).any(|place| wanted.iter().any(|word| is(place, word)));
    // How the words begin that turn something down.
    let telling = |word: &str| {
        word.bytes().next().is_some_and(|first| b"irndscm".contains(&first.to_ascii_lowercase()))
    };
    for at in (0..words.len()).filter(|at| words.get(*at).is_some_and(|word| telling(word))) {
        let behind = if (is(at, "instead") && is(at + 1, "of")) || (is(at, "rather") && is(at + 1, "than")) {
            Some(at + 2)
        } else if (starts(at, "replac") && near(at, &["with", "by"]))
            || (is(at, "not") && near(at, &["but"]))
            || (starts(at, "drop") && near(at, &["for"]))
        {
            Some(at + 1)
        } else if (starts(at, "switch") || starts(at, "chang") || starts(at, "mov") || starts(at, "migrat"))
            && (is(at + 1, "from") || is(at + 2, "from"))
            && near(at + 1, &["to"])
        {
            Some(if is(at + 1, "from") { at + 2 } else { at + 3 })
        } else {
            None
        };
        if let Some(behind) = behind {
            return words
                .iter()
                .skip(behind)
                .take(4)
                .find(|word| word.chars().count() >= 2 && !CUES.of(hash(word)).any(Cues::STOP))
                .map(|word| stem(word));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_wide_blank_parts_chunks() {
        for c in '\0'..=char::MAX {
            let text = format!("a{c}b");
            assert!(chunks(&text).map(|chunk| chunk.text).eq(text.split_whitespace()), "{c:?}");
        }
    }

    #[test]
    fn what_tells_may_tell() {
        let told = Cues(Cues::CHOICE.0 | Cues::FOUND.0);
        let vocabulary = VOCABULARY.iter().flat_map(|(_, words)| words.split_whitespace());
        let unspaced = UNSPACED.iter().flat_map(|(_, words)| *words);
        for word in vocabulary.chain(unspaced.copied()) {
            for text in [format!("a {word} b"), format!("({}).", word.to_uppercase())] {
                assert!(may_tell(&text) || !look(&text).cues.any(told), "{text}");
            }
        }
        assert!(may_tell("\u{212a}EEP it") && look("\u{212a}EEP it").cues.any(told));
        assert!(!may_tell("A word of no kind") && !look("A word of no kind").cues.any(told));
    }

    #[test]
    fn openers_stand_under_their_first_letters() {
        for first in 0..=u8::MAX {
            assert!(openers(first).iter().all(|opener| opener.as_bytes().first() == Some(&first)));
        }
        assert!(is_chatter("Let me see") && is_chatter("I’ll see") && is_chatter("Good — so it is"));
        assert!(!is_chatter("Letters are read") && !is_chatter("’tis") && !is_chatter(""));
    }

    /// What [`stem_of_letters`] does, said in another way.
    fn stemmed(word: &str) -> &str {
        let lower = word.to_ascii_lowercase();
        let head = ["ing", "ed", "es", "s"].into_iter().find_map(|ending| {
            let head = lower.strip_suffix(ending).filter(|head| head.len() >= 3)?;
            word.get(..head.len())
        });
        let head = head.unwrap_or(word);
        head.get(..7).unwrap_or(head)
    }

    proptest! {
        #[test]
        fn endings_come_off(word in "[a-zA-Z]{0,8}([iI]?[nN]?[gG]|[eE]?[dDsS])[sS]?") {
            prop_assume!(word.len() >= 4);
            prop_assert_eq!(stem_of_letters(word.as_bytes()), stemmed(&word).as_bytes());
            prop_assert_eq!(Shape::of(&word, true).stem, hash(stemmed(&word)));
        }

        #[test]
        fn fast_ways_give_what_slow_ways_give(text in "(?s)([ -~]{0,40}|[a-zA-Z.:()/`=_ \\-]{0,40}|(ing|es|ED|s|b|B| ){0,9}|.{0,40})") {
            prop_assert!(chunks(&text).map(|chunk| chunk.text).eq(text.split_whitespace()));
            for chunk in chunks(&text) {
                let wide = Chunk { ascii: false, ..chunk };
                prop_assert_eq!(chunk.word(), wide.word());
                prop_assert_eq!(chunk.bare_word(), wide.bare_word());
                prop_assert_eq!(chunk.ticks as usize, chunk.text.matches('`').count());
                prop_assert_eq!(chunk.ascii, chunk.text.is_ascii());
                prop_assert_eq!(Shape::of(wide.word(), chunk.ascii), Shape::of_any(wide.word()));
            }
        }
    }
}
