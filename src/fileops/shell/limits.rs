//! What the shell parser must not be given: it is trusted with grammar, not with every input there is.

/// Longest script that is parsed, in bytes. Real ones of many kilobytes carry a file in a here-document.
const MAX_SCRIPT: usize = 512 << 10;

/// Deepest nesting of brackets and longest run of here-documents on one line that reach the parser: beyond these its
/// time is no longer linear. Real scripts stay below 20 and 3.
const MAX_BRACKETS: usize = 200;
const MAX_HEREDOCS: usize = 16;

/// Whether the parser can take this: it needs more than linear time where brackets stay open or many here-documents
/// begin on one line, and it recurses without a bound on `time` and `coproc`.
pub(super) fn is_parsable(script: &str) -> bool {
    if script.len() > MAX_SCRIPT || has_prefix_run(script) {
        return false;
    }
    // Nearly all hold few enough of these altogether, most of them because they are short.
    let count = |byte: u8| memchr::memchr_iter(byte, script.as_bytes()).count();
    let has_few_brackets =
        || script.len() <= MAX_BRACKETS || count(b'(') + count(b'{') + count(b'[') <= MAX_BRACKETS;
    if count(b'<') <= MAX_HEREDOCS && has_few_brackets() {
        return true;
    }
    let (mut open, mut heredocs, mut before) = ([0usize; 3], 0usize, 0u8);
    let mut bytes = script.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            // `'}'` closes nothing.
            _ if before == b'\'' && bytes.peek() == Some(&b'\'') => {}
            b'(' => open[0] += 1,
            b'{' => open[1] += 1,
            b'[' => open[2] += 1,
            b')' => open[0] = open[0].saturating_sub(1),
            b'}' => open[1] = open[1].saturating_sub(1),
            b']' => open[2] = open[2].saturating_sub(1),
            b'\n' => heredocs = 0,
            b'<' if before == b'<' => heredocs += 1,
            _ => {}
        }
        if open.iter().any(|count| *count > MAX_BRACKETS) || heredocs > MAX_HEREDOCS {
            return false;
        }
        before = byte;
    }
    true
}

/// Whether the words `time` or `coproc` stand in lines that follow each other more often than anybody writes them.
fn has_prefix_run(script: &str) -> bool {
    const MAX_RUN: usize = 64;
    let is_short = script.len() <= MAX_RUN * "time ".len();
    if is_short || !script.contains("time") && !script.contains("coproc") {
        return false;
    }
    let is_end = |c: char| c.is_whitespace() || "|&;(){}<>!#`\\".contains(c);
    let mut run = 0;
    script.lines().any(|line| {
        let count = line.split(is_end).filter(|word| matches!(*word, "time" | "coproc")).count();
        run += count;
        let line = line.trim();
        let goes_on =
            count > 0 || line.is_empty() || line.starts_with('#') || line.ends_with(['|', '&', '\\', '!']);
        let is_long = run > MAX_RUN;
        if !goes_on {
            run = 0;
        }
        is_long
    })
}
