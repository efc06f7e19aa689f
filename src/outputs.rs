//! What a system does to tool results beside compaction: a cap when a result enters the session, pruning when a request
//! is built.

use crate::fileops::ToolKind;
use crate::harness::text::{Unit, fill};
use crate::harness::{Entry, Outcome, Role};
use crate::transcript::{Part, PartRef, Transcript};
use serde::Deserialize;
use std::borrow::Cow;

/// Rules for tool results; nothing happens to them by default.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct OutputRules {
    /// When a result enters the session.
    pub cap: Option<CapRules>,
    /// When a request is built; the session keeps what it has.
    pub prune: Option<PruneRules>,
    /// Accidents of the system that are mended.
    pub mends: Vec<OutputMend>,
}

/// Accidents of systems that a profile can mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputMend {
    /// A cut inside a character is moved before it; else it ends the session.
    CharBoundaryFloor,
    /// A trimmed result without a tail ends there; else all of the text stands in place of the tail.
    EmptyTail,
    /// `keep-all` keeps within a boundary too; else it is `auto` there.
    KeepAllKeeps,
}

/// The cap of a result that enters the session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapRules {
    /// Allowance of one result; 0 is none at all.
    pub tokens: usize,
    /// Bytes of UTF-8 that a token is taken for.
    pub bytes_per_token: usize,
    /// How several texts of one result are taken.
    #[serde(default)]
    pub texts: Texts,
    /// Shapes by tool: the first that names a tool holds, else the first of its kind, else the first for all (`*`). A tool
    /// without a shape has no cap.
    pub shapes: Vec<Shape>,
}

/// How several texts of one result are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Texts {
    /// Each for itself.
    #[default]
    Each,
    /// Joined by a line feed, but each for itself beside an image.
    Joined,
}

/// What stays of a result that is over its allowance.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Names of tools; `*` is any.
    pub tools: Vec<String>,
    /// Kinds of tools that no shape names: those of the logs of other systems.
    #[serde(default)]
    pub kinds: Vec<ToolKind>,
    /// What stays.
    pub keep: Keep,
    /// Most lines of the beginning.
    #[serde(default)]
    pub head_lines: Option<usize>,
    /// Most lines of the end.
    #[serde(default)]
    pub tail_lines: Option<usize>,
    /// Stands for what went: `{lines}`, and `{bytes}`, the bytes above the allowance.
    pub notice: String,
}

/// What stays of a long result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Whole lines of the beginning and of the end, half of the allowance each.
    HeadTail,
    /// Whole lines of the beginning.
    Head,
    /// The bytes of the allowance up to their last line feed, or all of them where there is none.
    Bytes,
}

/// A result that the system itself fails on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// It cuts bytes inside a character and ends with that.
    #[error("the cap of tool results cuts inside a character at byte {at}")]
    CharBoundary {
        /// Byte of the cut.
        at: usize,
    },
}

/// Pruning of results when a request is built.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneRules {
    /// Whether it is done at all.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Which results it looks at.
    #[serde(default)]
    pub range: Reach,
    /// What of the range is kept by size.
    #[serde(default)]
    pub protect: Option<Protect>,
    /// Nothing is touched while the results that nothing protects by size come to no more than this, in the unit of
    /// `protect`, tokens where there is none.
    #[serde(default)]
    pub least: u64,
    /// What of the range is kept by tool.
    #[serde(default)]
    pub policy: Policy,
    /// Tools whose results `auto` keeps.
    #[serde(default)]
    pub spare_tools: Vec<String>,
    /// Tools whose results it clears: that decides for them whatever their kind.
    #[serde(default)]
    pub clear_tools: Vec<String>,
    /// Kinds of tools whose results it keeps, for tools that neither list names: those of the logs of other systems.
    #[serde(default)]
    pub spare_kinds: Vec<ToolKind>,
    /// Failed results stay.
    #[serde(default)]
    pub spare_errors: bool,
    /// Results up to this many code points stay.
    #[serde(default)]
    pub small: Option<usize>,
    /// Results that are shortened in place of being cleared.
    #[serde(default)]
    pub trim: Option<Trim>,
    /// Stands for a cleared result: `{name}` is its tool.
    pub cleared: String,
    /// Stands for one whose tool is not known; `cleared` where it is not given.
    #[serde(default)]
    pub nameless: Option<String>,
}

fn yes() -> bool {
    true
}

/// Which results pruning looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// All of them.
    #[default]
    All,
    /// Those up to a boundary that the session holds; none while it holds none.
    Boundary,
}

/// The newest result messages that stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protect {
    /// Messages stay, from the newest of the range, up to the first that would lead beyond this. At 0 none stays.
    pub most: u64,
    /// Its unit.
    pub measure: Measure,
}

/// Size of a result message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The tokens that the session holds for it; 0 where it holds none.
    Tokens,
    /// Code points of its results.
    CodePoints,
}

/// What of a range stays whatever its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// What is protected by size and results of spared tools.
    #[default]
    Auto,
    /// Nothing, not even what is protected.
    KeepNone,
    /// Everything in name, but as `auto` within a boundary.
    KeepAll,
}

/// How a long result is shortened, in code points.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trim {
    /// Results longer than this are shortened.
    pub above: usize,
    /// Stays of the beginning.
    pub head: usize,
    /// Stands between.
    pub middle: String,
    /// Stays of the end.
    pub tail: usize,
}

impl OutputRules {
    fn mends(&self, mend: OutputMend) -> bool {
        self.mends.contains(&mend)
    }
}

impl CapRules {
    /// The shape of a tool's results.
    fn shape(&self, tool: &str, kind: ToolKind) -> Option<&Shape> {
        let named =
            |wanted: &str| self.shapes.iter().find(|shape| shape.tools.iter().any(|name| name == wanted));
        named(tool)
            .or_else(|| self.shapes.iter().find(|shape| shape.kinds.contains(&kind)))
            .or_else(|| named("*"))
    }
}

/// A session with its results as they entered it, and the results that are not as the log has them; `None` where all
/// are. `kinds` are those of its calls, by position in [`Transcript::links`]. A cut inside a character is moved before
/// it: the log goes on, so the session did not end there.
pub fn capped(
    transcript: &Transcript,
    kinds: &[ToolKind],
    rules: &OutputRules,
) -> Option<(Transcript, Vec<PartRef>)> {
    rules.cap.as_ref()?;
    let mut rules = rules.clone();
    rules.mends.push(OutputMend::CharBoundaryFloor);
    let mut changed = Vec::new();
    for (at, link) in transcript.links.iter().enumerate() {
        let (Some(call), Some(result)) = (transcript.call(link), transcript.result(link)) else { continue };
        let kind = kinds.get(at).copied().unwrap_or(ToolKind::Other);
        let Ok(text) = cap_of(&result.text, &call.name, kind, &rules) else { continue };
        if text != result.text {
            changed.extend(link.result.map(|part| (part, text.into_owned())));
        }
    }
    if changed.is_empty() {
        return None;
    }
    let mut held = transcript.clone();
    let mut parts = Vec::with_capacity(changed.len());
    for (part, text) in changed {
        if let Some(Part::Result(result)) = held.part_mut(part) {
            result.text = text;
            parts.push(part);
        }
    }
    parts.sort_unstable();
    Some((held, parts))
}

/// The text of a result as it enters the session, by the name of its tool alone.
pub fn cap<'t>(text: &'t str, tool: &str, rules: &OutputRules) -> Result<Cow<'t, str>, OutputError> {
    cap_of(text, tool, ToolKind::Other, rules)
}

/// The text of a result as it enters the session.
fn cap_of<'t>(
    text: &'t str,
    tool: &str,
    kind: ToolKind,
    rules: &OutputRules,
) -> Result<Cow<'t, str>, OutputError> {
    let Some(caps) = &rules.cap else { return Ok(Cow::Borrowed(text)) };
    let most = caps.tokens.saturating_mul(caps.bytes_per_token);
    let shape = caps.shape(tool, kind).filter(|_| most > 0 && text.len() > most);
    let Some(shape) = shape else { return Ok(Cow::Borrowed(text)) };
    let over = (text.len() - most).to_string();
    let beginning = || match text.get(..most) {
        Some(head) => Ok(head),
        None if rules.mends(OutputMend::CharBoundaryFloor) => {
            Ok(text.get(..text.floor_char_boundary(most)).unwrap_or_default())
        }
        None => Err(OutputError::CharBoundary { at: most }),
    };
    if shape.keep == Keep::Bytes {
        let head = beginning()?;
        let end = head.rfind('\n').map_or(head.len(), |at| at + 1);
        let notice = fill(&shape.notice, &[("lines", "0"), ("bytes", &over)]);
        return Ok(Cow::Owned(format!("{}\n{notice}", head.get(..end).unwrap_or(head))));
    }
    let lines: Vec<&str> = text.lines().collect();
    let room = if shape.keep == Keep::HeadTail { most / 2 } else { most };
    let (head, heads) = leading(&lines, room, shape.head_lines);
    let tail = match shape.keep {
        Keep::HeadTail => trailing(&lines, room, shape.tail_lines),
        Keep::Head | Keep::Bytes => &[],
    };
    // Beginning and end may overlap, and a text may be over its allowance by line ends alone.
    let gone = lines.len().saturating_sub(heads + tail.len());
    if gone == 0 {
        return beginning().map(Cow::Borrowed);
    }
    let notice = fill(&shape.notice, &[("lines", &gone.to_string()), ("bytes", &over)]);
    Ok(Cow::Owned(match shape.keep {
        Keep::HeadTail => format!("{head}\n{notice}\n{}", tail.join("\n")),
        Keep::Head | Keep::Bytes => format!("{head}\n{notice}"),
    }))
}

/// Leading lines that fit into `room` bytes, joined, and how many they are. Empty lines before any text cost nothing and
/// leave no line feed.
fn leading(lines: &[&str], room: usize, most: Option<usize>) -> (String, usize) {
    let mut text = String::new();
    let mut count = 0;
    for line in lines.iter().take(most.unwrap_or(usize::MAX)) {
        let separator = usize::from(!text.is_empty());
        if text.len() + separator + line.len() > room {
            break;
        }
        if separator == 1 {
            text.push('\n');
        }
        text.push_str(line);
        count += 1;
    }
    (text, count)
}

/// Trailing lines that fit into `room` bytes with a line feed between them.
fn trailing<'l, 't>(lines: &'l [&'t str], room: usize, most: Option<usize>) -> &'l [&'t str] {
    let mut size = 0;
    let mut count = 0;
    for line in lines.iter().rev().take(most.unwrap_or(usize::MAX)) {
        let added = line.len() + usize::from(count > 0);
        if size + added > room {
            break;
        }
        size += added;
        count += 1;
    }
    lines.get(lines.len() - count..).unwrap_or_default()
}

/// The texts of a result as they enter the session.
pub fn cap_outcome<'a>(
    result: &Outcome<'a>,
    tool: &str,
    rules: &OutputRules,
) -> Result<Vec<Cow<'a, str>>, OutputError> {
    let joined = rules.cap.as_ref().is_some_and(|caps| caps.texts == Texts::Joined);
    if joined && result.images.is_empty() && result.texts.len() > 1 {
        let text = result.texts.join("\n");
        let capped = cap(&text, tool, rules)?.into_owned();
        return Ok(vec![Cow::Owned(capped)]);
    }
    let one = |text: &Cow<'a, str>| {
        Ok(match cap(text, tool, rules)? {
            Cow::Borrowed(capped) if capped.len() == text.len() => text.clone(),
            capped => Cow::Owned(capped.into_owned()),
        })
    };
    result.texts.iter().map(one).collect()
}

/// What a session holds for pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Session<'t> {
    /// The last entry of the range, where the session holds a boundary.
    pub boundary: Option<usize>,
    /// Tokens that it holds for each entry.
    pub tokens: &'t [Option<u64>],
}

/// What becomes of a result in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stays,
    /// This stands there in its place, with its beginning and its end.
    Shortened(String),
    /// This stands there in its place, with nothing of it.
    Cleared(String),
}

/// A result and its fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// Index of the entry.
    pub entry: usize,
    /// Index of the result among those of the entry.
    pub result: usize,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of each result when a request is built, in order.
pub fn prune(entries: &[Entry<'_>], rules: &OutputRules, session: Session<'_>) -> Vec<Pruned> {
    let from = keep_from(entries, rules, session);
    let enough = rules.prune.as_ref().is_none_or(|pruning| {
        pruning.least == 0 || unprotected(entries, pruning, session, from) > pruning.least
    });
    let mut out = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let pruning = rules.prune.as_ref().filter(|pruning| {
            enough
                && entry.role == Role::Tool
                && in_range(pruning, session, at)
                && !kept_by_policy(pruning, rules, from, at)
        });
        for (result, outcome) in entry.results().enumerate() {
            let fate =
                pruning.map_or(Fate::Stays, |pruning| result_fate(outcome, ToolKind::Other, pruning, rules));
            out.push(Pruned { entry: at, result, fate });
        }
    }
    out
}

/// The oldest entry that is protected by its size: it and those behind it stay under `auto`. None where none is.
pub fn keep_from(entries: &[Entry<'_>], rules: &OutputRules, session: Session<'_>) -> Option<usize> {
    let pruning = rules.prune.as_ref()?;
    let protect = pruning.protect.filter(|protect| protect.most > 0)?;
    let mut sum = 0_u64;
    let mut from = None;
    for (at, entry) in entries.iter().enumerate().rev() {
        if entry.role != Role::Tool || !in_range(pruning, session, at) {
            continue;
        }
        sum = sum.saturating_add(measured(entry, at, protect.measure, session));
        if sum > protect.most {
            break;
        }
        from = Some(at);
    }
    from
}

/// Size of the results of the range that stand before the protected ones.
fn unprotected(
    entries: &[Entry<'_>],
    pruning: &PruneRules,
    session: Session<'_>,
    from: Option<usize>,
) -> u64 {
    let measure = pruning.protect.map_or(Measure::Tokens, |protect| protect.measure);
    let older = entries.iter().enumerate().take(from.unwrap_or(entries.len()));
    older
        .filter(|(at, entry)| entry.role == Role::Tool && in_range(pruning, session, *at))
        .fold(0, |sum: u64, (at, entry)| sum.saturating_add(measured(entry, at, measure, session)))
}

fn measured(entry: &Entry<'_>, at: usize, measure: Measure, session: Session<'_>) -> u64 {
    match measure {
        Measure::Tokens => session.tokens.get(at).copied().flatten().unwrap_or(0),
        Measure::CodePoints => size_of(entry),
    }
}

fn in_range(pruning: &PruneRules, session: Session<'_>, at: usize) -> bool {
    pruning.enabled
        && match pruning.range {
            Reach::All => true,
            Reach::Boundary => session.boundary.is_some_and(|last| at <= last),
        }
}

/// An entry of the range that stays as a whole.
fn kept_by_policy(pruning: &PruneRules, rules: &OutputRules, from: Option<usize>, at: usize) -> bool {
    match pruning.policy {
        Policy::KeepNone => false,
        Policy::KeepAll if shields_all(pruning, rules) => true,
        Policy::Auto | Policy::KeepAll => from.is_some_and(|from| at >= from),
    }
}

fn length(result: &Outcome<'_>) -> usize {
    result.texts.iter().map(|text| Unit::CodePoints.length(text)).sum()
}

/// Nothing is ever pruned, whatever its size.
pub(crate) fn shields_all(pruning: &PruneRules, rules: &OutputRules) -> bool {
    pruning.policy == Policy::KeepAll
        && (rules.mends(OutputMend::KeepAllKeeps) || pruning.range == Reach::All)
}

/// Code points of the results of an entry.
pub(crate) fn size_of(entry: &Entry<'_>) -> u64 {
    entry.results().map(|result| length(result) as u64).sum()
}

/// What becomes of a result that nothing protects.
pub(crate) fn result_fate(
    result: &Outcome<'_>,
    kind: ToolKind,
    pruning: &PruneRules,
    rules: &OutputRules,
) -> Fate {
    let tool = result.name.as_deref();
    let among = |names: &[String]| tool.is_some_and(|tool| names.iter().any(|name| name == tool));
    let by_kind = pruning.spare_kinds.contains(&kind) && !among(&pruning.clear_tools);
    let spared = among(&pruning.spare_tools) || by_kind;
    let size = length(result);
    if (pruning.spare_errors && result.error)
        || (pruning.policy != Policy::KeepNone && spared)
        || pruning.small.is_some_and(|small| size <= small)
    {
        return Fate::Stays;
    }
    if let Some(trim) = pruning.trim.as_ref().filter(|trim| size > trim.above) {
        let text = result.texts.concat();
        let head: String = text.chars().take(trim.head).collect();
        // Python's `text[-0:]` is the whole text.
        let tail = if trim.tail == 0 && !rules.mends(OutputMend::EmptyTail) { size } else { trim.tail };
        let tail: String = text.chars().skip(size.saturating_sub(tail)).collect();
        return Fate::Shortened(format!("{head}{}{tail}", trim.middle));
    }
    let template = match (tool, &pruning.nameless) {
        (None, Some(nameless)) => nameless,
        _ => &pruning.cleared,
    };
    Fate::Cleared(fill(template, &[("name", tool.unwrap_or_default())]))
}

#[cfg(test)]
mod tests;
