//! File lists within a budget, and their text.
//!
//! Modified files are the most valuable lines of a summary, so they are dropped last; of each list the most recently
//! touched paths stay, and what is left out is counted.

use crate::ledger::Order;
use crate::paths;
use crate::summarize::{FileLists, ListForm};
use crate::tokens::Counter;
use arcstr::ArcStr;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Tokens of the frame around one list: tags or label, and blank lines.
const FRAME: u64 = 12;

/// Limits in tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For modified files.
    pub(crate) modified: u64,
    /// For deleted files.
    pub(crate) deleted: u64,
    /// For read files.
    pub(crate) read: u64,
    /// For all of them.
    pub(crate) all: u64,
}

impl Limits {
    /// The shares of a summary's budget.
    pub(crate) fn of(budget: u64) -> Self {
        Self { modified: budget * 3 / 5, deleted: budget / 10, read: budget / 5, all: budget * 7 / 10 }
    }

    /// All of a budget, for a text that holds nothing but the lists.
    pub(crate) fn all_of(budget: u64) -> Self {
        Self { modified: budget, deleted: budget, read: budget, all: budget }
    }
}

/// One list, most recently touched first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Shown<'a> {
    paths: Vec<Cow<'a, str>>,
    omitted: usize,
}

/// The paths of lists to choose from, more than once.
#[derive(Debug)]
pub(crate) struct Paths<'a, 'c> {
    lists: &'a FileLists,
    cwd: Option<&'c str>,
    counter: &'c Counter,
    /// Of each list the paths that were looked at, as they are written and with their tokens; most recently touched first.
    known: [Vec<(Cow<'a, str>, u64)>; 3],
}

impl<'a, 'c> Paths<'a, 'c> {
    /// The paths of these lists.
    pub(crate) fn new(lists: &'a FileLists, cwd: Option<&'c str>, counter: &'c Counter) -> Self {
        Self { lists, cwd, counter, known: Default::default() }
    }

    /// Chooses those that fit.
    pub(crate) fn choose(&mut self, limits: Limits) -> Files<'a> {
        let Self { lists, cwd, counter, known: [modified, deleted, read] } = self;
        let price = |path: &'a str| {
            let path = written(path, *cwd);
            let tokens = counter.count(&path);
            (path, tokens)
        };
        let mut left = limits.all;
        let mut tokens = 0;
        let mut take = |paths: &'a [ArcStr], known: &mut Vec<_>, most: u64| {
            let (shown, used) = shown(paths, known, price, most.min(left));
            left -= used.min(left);
            tokens += used;
            shown
        };
        let modified = take(&lists.modified, modified, limits.modified);
        let deleted = take(&lists.deleted, deleted, limits.deleted);
        let read = take(&lists.read, read, limits.read);
        Files { modified, read, deleted, order: None, tokens }
    }
}

/// The lists that fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files<'a> {
    modified: Shown<'a>,
    read: Shown<'a>,
    deleted: Shown<'a>,
    /// Order of the paths in the text; most recently touched first without one.
    order: Option<Order>,
    /// Estimate of the tokens of the text, from counts of its lines.
    pub(crate) tokens: u64,
}

impl<'a> Files<'a> {
    /// Chooses the paths that fit.
    pub(crate) fn choose(lists: &'a FileLists, cwd: Option<&str>, limits: Limits, counter: &Counter) -> Self {
        Paths::new(lists, cwd, counter).choose(limits)
    }

    /// The same, with the paths of a text in an order.
    pub(crate) fn in_order(self, order: Option<Order>) -> Self {
        Self { order, ..self }
    }

    /// The paths of a list as they are written.
    fn paths(&self, list: &Shown<'a>) -> Vec<Cow<'a, str>> {
        let mut paths = list.paths.clone();
        if let Some(order) = self.order {
            // What was chosen last came first.
            paths.reverse();
            order.sort(&mut paths);
        }
        paths
    }

    /// True when every path is shown.
    pub(crate) fn is_whole(&self) -> bool {
        self.modified.omitted + self.read.omitted + self.deleted.omitted == 0
    }

    /// True when there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        [&self.modified, &self.read, &self.deleted]
            .iter()
            .all(|list| list.paths.is_empty() && list.omitted == 0)
    }

    /// Takes the least valuable path away; false when none is left, after the counts are gone too.
    pub(crate) fn shrink(&mut self) -> bool {
        for list in [&mut self.read, &mut self.deleted, &mut self.modified] {
            if list.paths.pop().is_some() {
                list.omitted += 1;
                return true;
            }
        }
        for list in [&mut self.read, &mut self.deleted, &mut self.modified] {
            if list.omitted > 0 {
                list.omitted = 0;
                return true;
            }
        }
        false
    }

    /// Text of the lists: blocks that follow the summary, or lines for its files section.
    pub(crate) fn text(&self, form: ListForm, prose: bool) -> String {
        match (form, prose) {
            (ListForm::None, _) => String::new(),
            (ListForm::Tags, _) => self.tags(),
            (ListForm::Inline, true) => self.sentences(),
            (ListForm::Inline, false) => self.bullets(),
        }
    }

    fn named(&self) -> [(&'static str, &Shown<'a>); 3] {
        [("modified", &self.modified), ("read", &self.read), ("deleted", &self.deleted)]
    }

    fn tags(&self) -> String {
        let mut out = String::new();
        for (name, list) in [("read", &self.read), ("modified", &self.modified), ("deleted", &self.deleted)] {
            if !list.paths.is_empty() {
                let _ = write!(out, "\n\n<{name}-files>\n{}\n</{name}-files>", self.paths(list).join("\n"));
            }
            if list.omitted > 0 {
                // Outside of the block, whose lines are paths and nothing else.
                let blank = if list.paths.is_empty() { "\n\n" } else { "\n" };
                let _ = write!(out, "{blank}… and {} more {name} files", list.omitted);
            }
        }
        out
    }

    fn bullets(&self) -> String {
        let mut out = String::new();
        for (name, list) in self.named() {
            if list.paths.is_empty() && list.omitted == 0 {
                continue;
            }
            let _ = writeln!(out, "{}:", label(name));
            for path in self.paths(list) {
                let _ = writeln!(out, "- {path}");
            }
            if list.omitted > 0 {
                let _ = writeln!(out, "… and {} more {name} files", list.omitted);
            }
        }
        out
    }

    fn sentences(&self) -> String {
        let mut out = String::new();
        for (name, list) in self.named() {
            if list.paths.is_empty() && list.omitted == 0 {
                continue;
            }
            let _ = write!(out, "{}: {}", label(name), self.paths(list).join(", "));
            if list.omitted > 0 {
                let _ = write!(out, " … and {} more {name} files", list.omitted);
            }
            out.push_str(".\n");
        }
        out
    }
}

/// Label of a list in running text.
pub(crate) fn label(name: &str) -> &'static str {
    match name {
        "modified" => "Modified files",
        "deleted" => "Deleted files",
        _ => "Read files",
    }
}

/// The most recent paths that fit `most` tokens, and the tokens they take. What is known of them grows with each that is
/// looked at for the first time.
fn shown<'a>(
    paths: &'a [ArcStr],
    known: &mut Vec<(Cow<'a, str>, u64)>,
    price: impl Fn(&'a str) -> (Cow<'a, str>, u64),
    most: u64,
) -> (Shown<'a>, u64) {
    let mut out = Shown::default();
    if paths.is_empty() {
        return (out, 0);
    }
    let mut used = FRAME;
    for (at, path) in paths.iter().rev().enumerate() {
        if at == known.len() {
            known.push(price(path));
        }
        let Some((path, tokens)) = known.get(at) else { break };
        // One more for the bullet or comma.
        let cost = tokens + 2;
        // Room for the line that counts the rest.
        if used + cost + 8 > most {
            break;
        }
        used += cost;
        out.paths.push(path.clone());
    }
    out.omitted = paths.len() - out.paths.len();
    if out.omitted > 0 {
        used += 8;
    }
    (out, used)
}

/// A path as written: relative to the working directory inside of it, on one line.
fn written<'a>(path: &'a str, cwd: Option<&str>) -> Cow<'a, str> {
    let short = paths::relative(path, cwd);
    // Of plain ASCII without a branch for each byte.
    let control = |any: u8, byte: u8| any | u8::from(byte.is_ascii_control() || !byte.is_ascii());
    if short.bytes().fold(0, control) != 0 && short.chars().any(char::is_control) {
        Cow::Owned(short.escape_debug().to_string())
    } else {
        Cow::Borrowed(short)
    }
}
