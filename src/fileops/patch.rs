//! What a patch does to files: the `*** Begin Patch` grammar of Codex and the unified diff.
//!
//! Only headers matter here. Both readers are lenient about what models leave out (the end marker, hunk counts) and
//! strict about where a header may stand, because patches of documentation quote patches: a line inside a hunk
//! always has a prefix, a header never has.

use super::{Base, Collector, Confidence, OpKind};

/// Reads every file section of a `*** Begin Patch` text. A text without any is tried as a unified diff.
pub(super) fn apply_patch(text: &str, base: &Base, step: u16, out: &mut Collector) {
    let mut pending: Option<Update<'_>> = None;
    let mut seen = false;
    // Freeform tools may leave the markers out; where there is one, text outside of the markers is not patch.
    let mut inside = !text.lines().any(|line| line.trim() == BEGIN);
    for line in text.lines() {
        let line = line.trim_end();
        if line.trim_start() == BEGIN {
            inside = true;
        } else if line == "*** End Patch" {
            if let Some(update) = pending.take() {
                update.report(base, step, out);
            }
            inside = false;
        } else if !inside {
        } else if let Some(path) = line.strip_prefix("*** Add File:") {
            flush(&mut pending, base, step, out);
            out.push(OpKind::Create, path, base, Confidence::Tool, step);
            seen = true;
        } else if let Some(path) = line.strip_prefix("*** Delete File:") {
            flush(&mut pending, base, step, out);
            out.push(OpKind::Delete, path, base, Confidence::Tool, step);
            seen = true;
        } else if let Some(path) = line.strip_prefix("*** Update File:") {
            flush(&mut pending, base, step, out);
            pending = Some(Update { path, to: None, changed: false });
            seen = true;
        } else if let Some(update) = &mut pending {
            match line.strip_prefix("*** Move to:") {
                Some(to) => update.to = Some(to),
                None => update.changed |= !line.is_empty() && !line.starts_with("***"),
            }
        }
    }
    flush(&mut pending, base, step, out);
    if !seen {
        unified(text, &Unified { confidence: Confidence::Tool, ..Unified::default() }, base, step, out);
    }
}

const BEGIN: &str = "*** Begin Patch";

/// Whether a text looks like a patch of either kind.
pub(super) fn looks_like_patch(text: &str) -> bool {
    text.contains(BEGIN) || text.contains("*** Update File:") || text.contains("*** Add File:")
}

struct Update<'a> {
    path: &'a str,
    to: Option<&'a str>,
    changed: bool,
}

fn flush(pending: &mut Option<Update<'_>>, base: &Base, step: u16, out: &mut Collector) {
    if let Some(update) = pending.take() {
        update.report(base, step, out);
    }
}

impl Update<'_> {
    fn report(&self, base: &Base, step: u16, out: &mut Collector) {
        if self.changed || self.to.is_none() {
            out.push(OpKind::Edit, self.path, base, Confidence::Tool, step);
        }
        if let Some(to) = self.to {
            out.rename(self.path, to, base, Confidence::Tool, step);
        }
    }
}

/// How the program that gets a unified diff reads its headers.
pub(super) struct Unified {
    /// Leading directories to drop (`-p`); `None` drops `a/` and `b/` only.
    pub(super) strip: Option<usize>,
    /// The diff is undone (`-R`).
    pub(super) reverse: bool,
    /// How sure its paths are.
    pub(super) confidence: Confidence,
}

impl Default for Unified {
    fn default() -> Self {
        Self { strip: None, reverse: false, confidence: Confidence::Shell }
    }
}

/// Reads every file section of a unified diff: `---`, `+++` and `@@` on three lines running, or git's rename lines.
pub(super) fn unified(text: &str, how: &Unified, base: &Base, step: u16, out: &mut Collector) {
    let mut lines = text.lines().peekable();
    let mut renamed_from = None;
    while let Some(line) = lines.next() {
        let line = line.trim_end();
        if line.starts_with("diff --git ") {
            renamed_from = None;
        } else if let Some(from) = line.strip_prefix("rename from ") {
            renamed_from = Some(from);
        } else if let Some(to) = line.strip_prefix("rename to ") {
            if let Some(from) = renamed_from {
                let (from, to) = if how.reverse { (to, from) } else { (from, to) };
                out.rename(from, to, base, how.confidence, step);
            }
        } else if let Some(old) = line.strip_prefix("--- ") {
            let Some(new) = lines.peek().and_then(|line| line.strip_prefix("+++ ")) else { continue };
            lines.next();
            if !lines.peek().is_some_and(|line| line.starts_with("@@")) {
                continue;
            }
            let (old, new) = if how.reverse { (new, old) } else { (old, new) };
            let (old, new) = (header_path(old, how.strip), header_path(new, how.strip));
            match (old, new) {
                (None, Some(new)) => out.push(OpKind::Create, new, base, how.confidence, step),
                (Some(old), None) => out.push(OpKind::Delete, old, base, how.confidence, step),
                // After a rename git names both sides; the content changed under the new name.
                (_, Some(new)) => out.push(OpKind::Edit, new, base, how.confidence, step),
                (None, None) => {}
            }
        }
    }
}

/// The path of a `---` or `+++` line; `None` for `/dev/null`.
fn header_path(header: &str, strip: Option<usize>) -> Option<&str> {
    let path = header.split('\t').next().unwrap_or(header).trim();
    if path == "/dev/null" {
        return None;
    }
    match strip {
        None => Some(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)),
        Some(count) => {
            let mut path = path;
            for _ in 0..count {
                path = path.split_once('/').map_or(path, |(_, rest)| rest);
            }
            Some(path)
        }
    }
}
