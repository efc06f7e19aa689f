//! From text to single-line pieces: lines, sentences, cleaning, cutting.
//!
//! Every piece that leaves this module is one line without control characters, markdown emphasis or runs of blanks,
//! and otherwise verbatim: numbers, paths, negations and back-ticks are never touched.

use std::borrow::Cow;

/// Longest sentence kept whole, in characters; what is longer is cut on a word boundary.
pub(super) const LONGEST: usize = 360;

/// So many lines are more than most texts have.
const MANY: usize = 1 << 10;
/// About so many bytes a line has.
const WIDTH: usize = 48;

/// What stands in front of a line of markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Running text.
    Plain,
    /// A list item.
    Bullet,
    /// `[ ]`.
    Open,
    /// `[x]` or a check mark.
    Closed,
    /// `#` heading, or a line that is all bold.
    Heading,
    /// Inside a code fence.
    Code,
    /// Nothing; ends a paragraph.
    Blank,
}

/// One line, or one paragraph of wrapped lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Text after the mark.
    pub(super) text: Cow<'a, str>,
    /// The mark.
    pub(super) mark: Mark,
    /// First digit of the number of a numbered list item.
    pub(super) number: Option<char>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str, mark: Mark) -> Self {
        Self { text: Cow::Borrowed(text), mark, number: None }
    }
}

/// Splits a text into marked lines; lines wrapped by a text editor are joined again.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut out: Vec<Line<'_>> = Vec::with_capacity((text.len() / WIDTH + 1).min(MANY));
    let mut fence: Option<&str> = None;
    let mut last_width = 0;
    for raw in raw_lines(text) {
        let trimmed = raw.trim();
        if let Some(open) = fence {
            if trimmed.starts_with(open) {
                fence = None;
                out.push(Line::new("", Mark::Blank));
            } else {
                out.push(Line::new(raw.trim_end(), Mark::Code));
            }
            continue;
        }
        if let Some(open) = ["```", "~~~"].into_iter().find(|open| trimmed.starts_with(open)) {
            fence = Some(open);
            out.push(Line::new("", Mark::Blank));
            continue;
        }
        let (rest, mark) = marked(trimmed);
        let wrapped = mark == Mark::Plain
            && last_width >= 50
            && rest.chars().next().is_some_and(|first| !first.is_uppercase() && first.is_alphanumeric());
        last_width = if trimmed.is_empty() { 0 } else { raw.len() };
        if wrapped
            && let Some(before) = out.last_mut()
            && matches!(before.mark, Mark::Plain | Mark::Bullet | Mark::Open | Mark::Closed)
            && !before.text.ends_with(['.', '!', '?', ':', ';', '…', '。', '！', '？', '：'])
            && before.text.len() < 4 * LONGEST
        {
            let joined = before.text.to_mut();
            joined.push(' ');
            joined.push_str(rest);
        } else {
            let number = trimmed.chars().next().filter(|c| mark == Mark::Bullet && c.is_ascii_digit());
            out.push(Line { number, ..Line::new(rest, mark) });
        }
    }
    out
}

/// The lines that the standard library finds, faster, and where each ends.
pub(super) fn ended(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes());
    let mut start = 0;
    std::iter::from_fn(move || {
        let end = ends.next();
        let line = text.get(start..end.unwrap_or(text.len()))?;
        start = end.map_or(text.len(), |end| end + 1);
        match end {
            Some(end) => Some((end, line.strip_suffix('\r').unwrap_or(line))),
            None => (!line.is_empty()).then_some((text.len(), line)),
        }
    })
}

/// What stands between line ends; of `\r\n`, nothing stands between the two.
fn raw_lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes());
    let mut start = 0;
    ends.chain(std::iter::once(text.len())).map(move |end| {
        let line = text.get(start..end).unwrap_or("");
        start = end + 1;
        line
    })
}

/// Takes the mark off a trimmed line.
fn marked(line: &str) -> (&str, Mark) {
    if line.is_empty() || is_rule(line) {
        return ("", Mark::Blank);
    }
    if let Some(rest) = line.strip_prefix('#') {
        let rest = rest.trim_start_matches('#');
        if rest.starts_with(' ') {
            return (rest.trim().trim_matches('*').trim_end_matches(':'), Mark::Heading);
        }
    }
    if let Some(inner) = line.strip_prefix("**").and_then(|rest| {
        rest.strip_suffix("**:").or_else(|| rest.strip_suffix("**")).or_else(|| rest.strip_suffix(":**"))
    }) && !inner.contains("**")
        && inner.chars().count() <= 60
    {
        return (inner.trim_end_matches(':'), Mark::Heading);
    }
    let mut rest = line;
    let mut mark = Mark::Plain;
    if let Some(after) = after_dash(line) {
        rest = after.trim_start();
        mark = Mark::Bullet;
    } else if let Some(after) = after_number(line) {
        rest = after;
        mark = Mark::Bullet;
    }
    boxed(rest).map_or((rest, mark), |(after, state)| (after.trim_start(), state))
}

/// `- x` and the like.
fn after_dash(line: &str) -> Option<&str> {
    let dash = match line.as_bytes().first()? {
        b'-' => "- ",
        b'*' => "* ",
        b'+' => "+ ",
        b'>' => "> ",
        0x80.. => return line.strip_prefix("• ").or_else(|| line.strip_prefix("– ")),
        _ => return None,
    };
    line.strip_prefix(dash)
}

/// `[x] y` and the like: what stands behind the box, and what it tells.
fn boxed(text: &str) -> Option<(&str, Mark)> {
    let marks: &[(&str, Mark)] = match text.as_bytes().first()? {
        b'[' => &[("[ ]", Mark::Open), ("[x]", Mark::Closed), ("[X]", Mark::Closed)],
        0x80.. => &[("✅", Mark::Closed), ("✓", Mark::Closed)],
        _ => return None,
    };
    marks.iter().find_map(|(mark, state)| Some((text.strip_prefix(mark)?, *state)))
}

/// `1. x` and `12) x`.
fn after_number(line: &str) -> Option<&str> {
    if !line.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - rest.len();
    if digits == 0 || digits > 3 {
        return None;
    }
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).map(str::trim_start)
}

/// `---`, `===`, table rules and other lines without a letter or digit.
fn is_rule(line: &str) -> bool {
    !line.chars().any(char::is_alphanumeric) && line.chars().all(|c| "-=_*|:+~#─━═ ".contains(c))
}

/// Bytes that [`sentences`] looks at.
const TELLS: [bool; 256] = {
    let mut table = [false; 256];
    let telling = b"`()[].!?\xe3\xef";
    let mut at = 0;
    while at < telling.len() {
        table[telling[at] as usize] = true;
        at += 1;
    }
    table
};

/// Calls `take` with each sentence of a line, in order. Nothing is split inside back-ticks or brackets, at
/// abbreviations or in numbers.
pub(super) fn sentences<'a>(line: &'a str, mut take: impl FnMut(&'a str)) {
    let mut start = 0;
    let mut quoted = false;
    let mut depth = 0u32;
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if !TELLS[*byte as usize] {
            continue;
        }
        match byte {
            b'`' => quoted = !quoted,
            b'(' | b'[' if !quoted => depth += 1,
            b')' | b']' if !quoted => depth = depth.saturating_sub(1),
            // The first bytes of `。`, and of `！` and `？`.
            0xe3 | 0xef if !quoted => {
                let wide = line.get(at..).and_then(|rest| rest.chars().next());
                if let Some(c @ ('。' | '！' | '？')) = wide {
                    push(line, start, at + c.len_utf8(), &mut take);
                    start = at + c.len_utf8();
                }
            }
            b'.' | b'!' | b'?' if !quoted && depth == 0 => {
                let next = line.get(at + 1..).and_then(|rest| rest.chars().next());
                let ends = next.is_none_or(char::is_whitespace);
                if ends && !(*byte == b'.' && abbreviated(line.get(start..at).unwrap_or(""))) {
                    push(line, start, at + 1, &mut take);
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    push(line, start, line.len(), &mut take);
}

fn push<'a>(line: &'a str, start: usize, end: usize, take: &mut impl FnMut(&'a str)) {
    let piece = line.get(start..end).unwrap_or("").trim();
    if !piece.is_empty() {
        take(piece);
    }
}

/// True when the full stop after `before` does not end a sentence.
fn abbreviated(before: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or("");
    matches!(
        word,
        "e.g" | "i.e" | "vs" | "etc" | "cf" | "approx" | "No" | "z.B" | "Mr" | "Dr" | "al" | "resp"
    ) || (word.chars().count() == 1 && word.chars().all(char::is_alphanumeric))
        || word.is_empty()
}

/// What each byte is to a run that [`clean`] takes over: 0 for a graphic character, 1 for a blank, of which no two may
/// follow each other, and 2 for what ends it.
const STEPS: [u8; 256] = {
    let mut table = [2; 256];
    let mut at = b'!' as usize;
    while at <= b'~' as usize {
        table[at] = 0;
        at += 1;
    }
    table[b' ' as usize] = 1;
    table[b'`' as usize] = 2;
    table[b'*' as usize] = 2;
    table
};

/// One clean line: emphasis, control and direction characters and escape sequences gone, blanks collapsed.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if is_clean(text) {
        return Cow::Borrowed(text.trim());
    }
    let mut out = String::with_capacity(text.len().min(1 << 12));
    let mut quoted = false;
    let mut blank = true;
    let mut before = ' ';
    let mut rest = text;
    loop {
        // Most of it is taken over as it is, in runs: graphic characters with single blanks between them.
        let mut gap = u8::from(blank);
        let run = rest.bytes().take_while(|byte| {
            let steps = STEPS[*byte as usize];
            let stays = steps + gap <= 1;
            gap = steps;
            stays
        });
        let run = run.count();
        if let Some((taken, behind)) = rest.split_at_checked(run).filter(|_| run > 0) {
            out.push_str(taken);
            before = taken.chars().next_back().unwrap_or(before);
            blank = before == ' ';
            rest = behind;
        }
        let mut chars = rest.chars();
        let Some(c) = chars.next() else { break };
        rest = chars.as_str();
        let plain = match c {
            '`' => {
                quoted = !quoted;
                true
            }
            '\u{1b}' => {
                rest = past_escape(rest);
                continue;
            }
            '*' if !quoted && rest.starts_with('*') => {
                rest = rest.get(1..).unwrap_or("");
                // `**` of a path pattern stays.
                if before == '/' || rest.starts_with(['/', '.', '*']) {
                    out.push_str("**");
                    blank = false;
                }
                before = '*';
                continue;
            }
            _ => !(c.is_control() || is_invisible(c)),
        };
        before = c;
        if c.is_whitespace() || !plain {
            if !blank && (c.is_whitespace() || c.is_control()) {
                out.push(' ');
                blank = true;
            }
        } else {
            out.push(c);
            blank = false;
        }
    }
    out.truncate(out.trim_end().len());
    Cow::Owned(out)
}

/// Plain text without anything to take out: most lines.
pub(super) fn is_clean(text: &str) -> bool {
    const BLOCK: usize = 64;
    let marked = |byte: &u8| u8::from(byte.wrapping_sub(b' ') > b'~' - b' ') | u8::from(*byte == b'*');
    let doubled = |(byte, next): (&u8, &u8)| u8::from(*byte == b' ') & u8::from(*next == b' ');
    let bytes = text.as_bytes();
    // Block by block, without a branch for each byte.
    bytes.chunks(BLOCK).all(|block| block.iter().fold(0, |any, byte| any | marked(byte)) == 0)
        && bytes.iter().zip(bytes.get(1..).unwrap_or_default()).fold(0, |any, pair| any | doubled(pair)) == 0
}

/// What stands behind the rest of a terminal escape sequence.
fn past_escape(text: &str) -> &str {
    const LONGEST: usize = 32;
    let Some(mut rest) = text.strip_prefix('[') else { return text };
    for _ in 0..LONGEST {
        let mut chars = rest.chars();
        match chars.next() {
            Some(c) if c.is_ascii_digit() || ";?:".contains(c) => rest = chars.as_str(),
            Some(c) if c.is_ascii_alphabetic() => return chars.as_str(),
            _ => break,
        }
    }
    rest
}

/// Direction marks, zero-width characters that carry no meaning alone, and line separators.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// [`clean`], then [`cut`].
pub(super) fn clean_cut(text: &str, most: usize) -> Cow<'_, str> {
    match clean(text) {
        Cow::Borrowed(clean) => cut(clean, most),
        Cow::Owned(clean) => match cut(&clean, most) {
            Cow::Owned(short) => Cow::Owned(short),
            Cow::Borrowed(_) => Cow::Owned(clean),
        },
    }
}

/// The text, or its beginning up to a word boundary and `…` when it has more than `most` characters.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Cow::Borrowed(text);
    };
    let head = text.get(..end).unwrap_or("");
    let boundary = head.rfind(char::is_whitespace).filter(|at| *at * 3 >= head.len() * 2);
    // Never end on a joiner or a variation selector whose other half was cut off.
    let kept = head.get(..boundary.unwrap_or(head.len())).unwrap_or(head);
    let kept = kept.trim_end_matches(|c: char| c.is_whitespace() || c == '\u{200d}' || c == ',' || c == ';');
    Cow::Owned(format!("{kept}…"))
}

/// At most the first `bytes` of a text, on a character boundary.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

/// At most the last `bytes` of a text, on a character boundary.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or("")
}
