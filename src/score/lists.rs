//! Generated file lists as sets: which paths the text calls modified or read, and how many of them are right.
//!
//! Lists are read back from the text the model sees: from `<modified-files>` and `<read-files>` blocks, or from lines
//! and sentences that begin with `Modified files:` and `Read files:`. Only where a harness keeps its lists beside the
//! text are those taken instead.

use super::invented::bare;
use crate::summarize::FileLists;
use arcstr::ArcStr;
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::cell::OnceCell;

/// Paths as listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed<'t> {
    /// Called modified.
    pub modified: Vec<&'t str>,
    /// Called read.
    pub read: Vec<&'t str>,
}

/// A list against the truth. `listed` and `right` are `None` when there is no list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListScore {
    /// Paths on the list.
    pub listed: Option<u64>,
    /// Of those, right.
    pub right: Option<u64>,
    /// Paths that belong on it.
    pub truth: u64,
}

impl ListScore {
    /// Right / listed.
    pub fn precision(&self) -> Option<f64> {
        match (self.right, self.listed) {
            (Some(right), Some(listed)) if listed > 0 => Some(right as f64 / listed as f64),
            _ => None,
        }
    }

    /// Right / truth; 0 when there is a truth and no list.
    pub fn recall(&self) -> Option<f64> {
        (self.truth > 0).then(|| self.right.unwrap_or(0) as f64 / self.truth as f64)
    }

    /// Harmonic mean of precision and recall.
    pub fn f1(&self) -> Option<f64> {
        let (precision, recall) = (self.precision()?, self.recall()?);
        Some(if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 })
    }
}

/// The lists of the lines of a generated text, or of the harness; `None` when there are none and none are meant to be.
pub fn listed<'t>(
    lines: &[&'t str],
    metadata: Option<&'t FileLists>,
    writes_lists: bool,
) -> Option<Listed<'t>> {
    if let Some(lists) = metadata {
        let borrowed = |paths: &'t [ArcStr]| paths.iter().map(ArcStr::as_str).collect();
        return Some(Listed { modified: borrowed(&lists.modified), read: borrowed(&lists.read) });
    }
    if !writes_lists {
        return None;
    }
    let mut found = Listed::default();
    let mut open: Option<bool> = None;
    for line in lines {
        let line = line.trim();
        match line {
            "<modified-files>" => open = Some(true),
            "<read-files>" => open = Some(false),
            "</modified-files>" | "</read-files>" => open = None,
            _ if open.is_some() => push(line, open == Some(true), &mut found),
            _ => sentence(line, &mut found),
        }
    }
    Some(found)
}

/// A line of a block is one path, unless it says what was left out.
fn push<'t>(line: &'t str, modified: bool, found: &mut Listed<'t>) {
    let path = clean(line);
    if path.is_empty() || path.starts_with('…') || path.starts_with("...") || line.starts_with('[') {
        return;
    }
    if modified { &mut found.modified } else { &mut found.read }.push(path);
}

/// `Modified files: a, b.` or `- Read files: c` anywhere in a line.
fn sentence<'t>(line: &'t str, found: &mut Listed<'t>) {
    if !line.contains(" files:") {
        return;
    }
    for (label, modified) in [("Modified files:", true), ("Read files:", false)] {
        let Some((_, rest)) = line.split_once(label) else { continue };
        // The list ends where the next labelled list or the sentence ends.
        let rest = rest.split(". ").next().unwrap_or(rest);
        for item in rest.split(", ") {
            push(item.trim_end_matches('.'), modified, found);
        }
    }
}

fn clean(path: &str) -> &str {
    let mut path = path.trim();
    while let Some(rest) = path.strip_prefix("- ") {
        path = rest;
    }
    path.trim_matches(|c| matches!(c, '`' | '"' | '\'' | ',' | ';'))
}

/// Paths that belong on a list, found by any spelling that names one of them.
#[derive(Debug)]
pub struct Names<'t> {
    paths: Vec<&'t str>,
    exact: OnceCell<FxHashSet<&'t str>>,
    /// The paths behind their last components, by these; one without a slash ends in nothing shorter than itself.
    by_name: OnceCell<Vec<(&'t str, &'t str)>>,
}

impl<'t> Names<'t> {
    /// Of these paths.
    pub fn new(paths: Vec<&'t str>) -> Self {
        Self { paths, exact: OnceCell::new(), by_name: OnceCell::new() }
    }

    /// The path that a spelling names: itself, or the only one that ends so.
    fn named(&self, spelling: &str) -> Option<&'t str> {
        let spelling = bare(spelling);
        let exact = self.exact.get_or_init(|| self.paths.iter().copied().collect());
        exact.get(spelling).copied().or_else(|| {
            let by_name = self.by_name.get_or_init(|| {
                let mut by_name: Vec<(&str, &str)> = self
                    .paths
                    .iter()
                    .filter(|path| path.contains('/'))
                    .map(|path| (name(path), *path))
                    .collect();
                by_name.sort_unstable();
                by_name
            });
            let wanted = name(spelling);
            let first = by_name.partition_point(|(name, _)| *name < wanted);
            let mut alike =
                by_name.iter().skip(first).take_while(|(name, _)| *name == wanted).filter_map(|(_, path)| {
                    let before = path.strip_suffix(spelling)?;
                    (before.ends_with('/') && !spelling.is_empty()).then_some(*path)
                });
            alike.next().filter(|_| alike.next().is_none())
        })
    }
}

/// Compares a list with the truth. A listed path is right when it is a true path, or the end of exactly
/// one; each true path counts once.
pub fn score(listed: Option<&[&str]>, names: &Names<'_>) -> ListScore {
    let truth = names.paths.len() as u64;
    let Some(listed) = listed else {
        return ListScore { listed: None, right: None, truth };
    };
    let unique: FxHashSet<&str> = listed.iter().map(|path| bare(path)).collect();
    // Two spellings of one true path are right once.
    let mut right = FxHashSet::with_capacity_and_hasher(unique.len(), FxBuildHasher);
    right.extend(unique.iter().filter_map(|path| names.named(path)));
    ListScore { listed: Some(unique.len() as u64), right: Some(right.len() as u64), truth }
}

/// Listed paths under the wrong heading: called modified and only read, called read and changed, called either and
/// deleted. A spelling that names a file of its own heading is right there, whatever else ends like it.
pub fn misclassified(listed: &Listed<'_>, changed: &Names<'_>, read: &Names<'_>, deleted: &Names<'_>) -> u64 {
    let wrong = |list: &[&str], own: &Names<'_>, other: &Names<'_>| {
        let strange = list.iter().filter(|path| own.named(path).is_none());
        let wrong: FxHashSet<&str> =
            strange.filter_map(|path| other.named(path).or_else(|| deleted.named(path))).collect();
        wrong.len() as u64
    };
    wrong(&listed.modified, changed, read) + wrong(&listed.read, read, changed)
}

/// What stands behind the last slash of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_listed(text: &str, modified: &[&str], read: &[&str]) {
        let lines: Vec<&str> = text.lines().collect();
        let found = listed(&lines, None, true).unwrap();
        assert_eq!(found.modified, modified, "{text}");
        assert_eq!(found.read, read, "{text}");
    }

    #[test]
    fn blocks_and_sentences_are_read_back() {
        check_listed(
            "Goal\n\n<read-files>\na.rs\n… and 3 more read files\n</read-files>\n\n<modified-files>\nsrc/b.rs\n</modified-files>",
            &["src/b.rs"],
            &["a.rs"],
        );
        check_listed("Modified files: src/a.rs, b.rs. Read files: c.md.", &["src/a.rs", "b.rs"], &["c.md"]);
        check_listed("- Modified files: `x/y.ts`\n- Read files: z.ts", &["x/y.ts"], &["z.ts"]);
        check_listed("nothing here", &[], &[]);
    }

    #[test]
    fn a_text_without_lists_has_recall_zero_and_no_precision() {
        let score = score(None, &Names::new(vec!["/p/a.rs"]));
        assert_eq!((score.precision(), score.recall(), score.f1()), (None, Some(0.0), None));
        assert_eq!(listed(&["whatever"], None, false), None);
    }

    #[test]
    fn a_path_is_right_when_it_ends_exactly_one_true_path() {
        let truth = ["/p/src/a/mod.rs", "/p/src/b/mod.rs", "/p/c.rs"];
        let listed = ["mod.rs", "a/mod.rs", "c.rs", "d.rs"];
        let score = score(Some(&listed), &Names::new(truth.to_vec()));
        assert_eq!((score.listed, score.right, score.truth), (Some(4), Some(2), 3));
        assert_eq!(score.precision(), Some(0.5));
    }

    #[test]
    fn a_file_under_the_wrong_heading_is_misclassified() {
        let check = |modified: &[&'static str], read: &[&'static str], expected| {
            let listed = Listed { modified: modified.to_vec(), read: read.to_vec() };
            let [changed, read, deleted] =
                ["/p/src/a.rs", "/p/src/b.rs", "/p/src/c.rs"].map(|path| Names::new(vec![path]));
            let found = misclassified(&listed, &changed, &read, &deleted);
            assert_eq!(found, expected, "{listed:?}");
        };
        check(&["src/a.rs"], &["src/b.rs"], 0);
        check(&["src/b.rs"], &["/p/src/a.rs"], 2);
        check(&["c.rs"], &["src/c.rs", "src/unknown.rs"], 2);
        check(&[], &[], 0);
    }

    #[test]
    fn a_true_path_spelled_twice_is_right_once() {
        let listed = ["/p/src/a.rs", "src/a.rs"];
        let score = score(Some(&listed), &Names::new(vec!["/p/src/a.rs"]));
        assert_eq!((score.listed, score.right, score.recall()), (Some(2), Some(1), Some(1.0)));
    }

    #[test]
    fn nothing_true_and_nothing_listed_is_not_a_score() {
        let score = score(Some(&[]), &Names::new(Vec::new()));
        assert_eq!((score.precision(), score.recall(), score.f1()), (None, None, None));
    }
}
