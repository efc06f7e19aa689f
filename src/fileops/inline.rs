//! Scripts handed to an interpreter (`python - <<EOF`, `node -e`): the files they open by a literal name.
//!
//! This is no parser of these languages. It finds calls whose path is a literal, or a variable that a line of the
//! script sets to a literal, and leaves everything else alone. Text inside long strings is taken out first: edit
//! scripts carry code of other files in them.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use rustc_hash::FxHashMap;

use super::{Base, Collector, Confidence, OpKind};
use crate::patterns::compile;

/// Longest script that is looked at, in bytes.
const MAX_CODE: usize = 512 << 10;

/// Adds what a Python script does to files that it names.
pub(super) fn python(code: &str, base: &Base, step: u16, out: &mut Collector) {
    if code.len() > MAX_CODE || !PYTHON_HINTS.iter().any(|hint| code.contains(hint)) {
        return;
    }
    let code = without_long_strings(code);
    let mut scan = Scan::new(base, step, out);
    for found in PYTHON.captures_iter(&code) {
        scan.python_call(&found);
    }
    scan.finish();
}

/// Adds what a JavaScript script does to files that it names.
pub(super) fn javascript(code: &str, base: &Base, step: u16, out: &mut Collector) {
    if code.len() > MAX_CODE || !code.contains("File") && !code.contains("Sync") && !code.contains("Bun.") {
        return;
    }
    let mut scan = Scan::new(base, step, out);
    for found in JAVASCRIPT.captures_iter(code) {
        scan.javascript_call(&found);
    }
    scan.finish();
}

const PYTHON_HINTS: &[&str] = &["open(", "_text(", "_bytes(", "os.", "shutil."];

/// A string without escapes or line breaks: quotes included, so that a name cannot be mistaken for one.
const STRING: &str = r#"(?:"[^"\\\n\r]+"|'[^'\\\n\r]+')"#;

static PYTHON: LazyLock<Regex> = LazyLock::new(|| {
    let string = format!("[rRuU]?{STRING}");
    let value = format!(r"(?:{string}|[A-Za-z_]\w*)");
    let path = r"(?:pathlib\.)?Path\(\s*";
    compile(&format!(
        r#"(?mx)
        ^[\ \t]*(?P<name>[A-Za-z_]\w*)[\ \t]*=[\ \t]*(?:{path})?(?P<set>{string})\s*\)?[\ \t]*(?:;|\r?$)
        | \bfor[\ \t]+(?P<each>[A-Za-z_]\w*)[\ \t]+in[\ \t]*[\[(](?P<list>\s*{string}\s*(?:,\s*{string}\s*)*,?\s*)[\])]\s*:
        | \bos\.chdir\(\s*(?P<chdir>{value})\s*\)
        | \b(?:io\.|codecs\.)?open\(\s*(?:{path})?(?P<open>{value})\s*\)?\s*(?:,\s*(?:mode\s*=\s*)?["'](?P<mode>[rwaxbtU+]+)["'])?\s*[,)]
        | (?:{path}(?P<path>{value})\s*\)|\b(?P<var>[A-Za-z_]\w*))\.(?P<method>(?:read|write)_(?:text|bytes)|unlink|touch|open)\(\s*(?:["'](?P<pmode>[rwaxbt+]+)["'])?
        | \bos\.(?:remove|unlink)\(\s*(?P<remove>{value})\s*\)
        | \b(?:os\.rename|os\.replace|shutil\.move)\(\s*(?P<from>{value})\s*,\s*(?P<to>{value})\s*\)
        | \bshutil\.copy(?:2|file)?\(\s*(?P<source>{value})\s*,\s*(?P<target>{value})\s*\)
        "#,
    ))
    .expect("the pattern is constant")
});

static JAVASCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    let string = format!("(?:{STRING}|`[^`\\\\$\\n\\r]+`)");
    let value = format!(r"(?:{string}|[A-Za-z_$][\w$]*)");
    compile(&format!(
        r"(?mx)
        \b(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*=\s*(?P<set>{string})\s*(?:;|,|\r?$)
        | \b(?P<method>readFileSync|readFile|writeFileSync|writeFile|appendFileSync|appendFile|unlinkSync|rmSync)\(\s*(?P<path>{value})\s*[,)]
        | \bBun\.write\(\s*(?P<bun>{value})\s*,
        | \brenameSync\(\s*(?P<from>{value})\s*,\s*(?P<to>{value})\s*\)
        | \bcopyFileSync\(\s*(?P<source>{value})\s*,\s*(?P<target>{value})\s*[,)]
        ",
    ))
    .expect("the pattern is constant")
});

struct Scan<'b, 'o> {
    base: Base,
    start: &'b Base,
    step: u16,
    out: &'o mut Collector,
    first_op: usize,
    variables: FxHashMap<String, Vec<String>>,
}

impl<'b, 'o> Scan<'b, 'o> {
    fn new(base: &'b Base, step: u16, out: &'o mut Collector) -> Self {
        let first_op = out.ops.len();
        Self { base: base.clone(), start: base, step, out, first_op, variables: FxHashMap::default() }
    }

    fn python_call(&mut self, found: &Captures<'_>) {
        let group = |name: &str| found.name(name).map(|part| part.as_str());
        if let (Some(name), Some(set)) = (group("name"), group("set")) {
            self.variables.insert(name.to_owned(), strings(set));
        } else if let (Some(name), Some(list)) = (group("each"), group("list")) {
            self.variables.insert(name.to_owned(), strings(list));
        } else if let Some(dir) = group("chdir") {
            self.base = match self.values(dir).as_slice() {
                [dir] => self.start.enter(dir),
                _ => Base::Unknown,
            };
        } else if let Some(path) = group("open") {
            self.push_all(&kind_of_mode(group("mode")), path);
        } else if let Some(method) = group("method") {
            let kind = match method {
                "read_text" | "read_bytes" => OpKind::Read,
                "write_text" | "write_bytes" => OpKind::Write,
                "unlink" => OpKind::Delete,
                "touch" => OpKind::Create,
                _ => kind_of_mode(group("pmode")),
            };
            if let Some(path) = group("path").or_else(|| group("var")) {
                self.push_all(&kind, path);
            }
        } else if let Some(path) = group("remove") {
            self.push_all(&OpKind::Delete, path);
        } else {
            self.pair(found);
        }
    }

    fn javascript_call(&mut self, found: &Captures<'_>) {
        let group = |name: &str| found.name(name).map(|part| part.as_str());
        if let (Some(name), Some(set)) = (group("name"), group("set")) {
            self.variables.insert(name.to_owned(), strings(set));
        } else if let (Some(method), Some(path)) = (group("method"), group("path")) {
            let kind = match method {
                "readFileSync" | "readFile" => OpKind::Read,
                "appendFileSync" | "appendFile" => OpKind::Edit,
                "unlinkSync" | "rmSync" => OpKind::Delete,
                _ => OpKind::Write,
            };
            self.push_all(&kind, path);
        } else if let Some(path) = group("bun") {
            self.push_all(&OpKind::Write, path);
        } else {
            self.pair(found);
        }
    }

    fn pair(&mut self, found: &Captures<'_>) {
        let only = |name: &str| -> Option<String> {
            match self.values(found.name(name)?.as_str()).as_slice() {
                [path] => Some(path.clone()),
                _ => None,
            }
        };
        if let (Some(from), Some(to)) = (only("from"), only("to")) {
            self.out.rename(&from, &to, &self.base, Confidence::Shell, self.step);
        } else if let (Some(source), Some(target)) = (only("source"), only("target")) {
            self.out.push(OpKind::Read, &source, &self.base, Confidence::Shell, self.step);
            self.out.push(OpKind::Write, &target, &self.base, Confidence::Shell, self.step);
        }
    }

    /// A literal, or the literals its name stands for.
    fn values(&self, text: &str) -> Vec<String> {
        if text.ends_with(['"', '\'', '`']) {
            return strings(text);
        }
        self.variables.get(text).cloned().unwrap_or_default()
    }

    fn push_all(&mut self, kind: &OpKind, path: &str) {
        for path in self.values(path) {
            self.out.push(kind.clone(), &path, &self.base, Confidence::Shell, self.step);
        }
    }

    fn finish(self) {
        writes_after_reads_are_edits(self.out, self.first_op);
    }
}

/// A script that reads a file and then writes it changes it. Looks at the operations from `first` on, and drops the
/// ones it repeats.
pub(super) fn writes_after_reads_are_edits(out: &mut Collector, first: usize) {
    let mut seen: Vec<super::FileOp> = Vec::new();
    let Some(ops) = out.ops.get(first..) else { return };
    for op in ops {
        let mut op = op.clone();
        let was_read =
            |old: &super::FileOp| old.path == op.path && matches!(old.kind, OpKind::Read | OpKind::Edit);
        if op.kind == OpKind::Write && seen.iter().any(was_read) {
            op.kind = OpKind::Edit;
        }
        // Scripts name a handful of files; the bound keeps a hostile one from costing the square of its length.
        if seen.len() < 256 && !seen.contains(&op) {
            seen.push(op);
        }
    }
    out.ops.truncate(first);
    out.ops.append(&mut seen);
}

fn kind_of_mode(mode: Option<&str>) -> OpKind {
    match mode {
        Some(mode) if mode.contains('w') => OpKind::Write,
        Some(mode) if mode.contains('x') => OpKind::Create,
        Some(mode) if mode.contains('a') || mode.contains('+') => OpKind::Edit,
        _ => OpKind::Read,
    }
}

/// The contents of the quoted strings in a text that holds nothing else of interest.
fn strings(text: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let Some((quote, after)) = rest.get(at..).and_then(|rest| rest.split_at_checked(1)) else { break };
        let Some((inner, after)) = after.split_once(quote) else { break };
        strings.push(inner.to_owned());
        rest = after;
    }
    strings
}

/// A Python script with comments, triple-quoted strings, and strings that hold code blanked.
fn without_long_strings(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        if from.starts_with('#') {
            rest = from.find('\n').and_then(|end| from.get(end..)).unwrap_or_default();
            continue;
        }
        let quote = if from.starts_with('"') { "\"" } else { "'" };
        let triple = quote.repeat(3);
        if let Some(body) = from.strip_prefix(triple.as_str()) {
            out.push_str(quote);
            out.push_str(quote);
            rest = body.find(triple.as_str()).and_then(|end| body.get(end + 3..)).unwrap_or_default();
            continue;
        }
        let end = string_end(from, quote.as_bytes().first().copied().unwrap_or(b'"'));
        let (text, after) = from.split_at_checked(end).unwrap_or((from, ""));
        let is_code =
            ["open(", "_text(", "_bytes(", "Path(", "os.", "shutil."].iter().any(|code| text.contains(code));
        out.push_str(if is_code { "''" } else { text });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Length in bytes of the string that a text begins with, quotes included; it ends at the latest with its line.
fn string_end(text: &str, quote: u8) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'\n' => return at,
            _ if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
