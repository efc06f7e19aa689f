//! The forms of a summary: the same lines under sven's six headings, under pi's and Opal's, or as prose.

use super::files::Files;
use super::item::Kind;
use crate::summarize::{Layout, ListForm};
use std::sync::LazyLock;

/// About so many bytes stand around the text of a line.
const LABEL: usize = 16;
/// About so many are the headings.
const FRAME: usize = 256;

/// How much of the frame is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Frame {
    /// Every heading of the layout, with `(none)` under empty ones.
    Full,
    /// Headings with something under them.
    Sparse,
    /// Lines only, for budgets that hold little more.
    Bare,
}

impl Frame {
    /// The next smaller frame.
    pub(super) fn smaller(self) -> Option<Self> {
        match self {
            Self::Full => Some(Self::Sparse),
            Self::Sparse => Some(Self::Bare),
            Self::Bare => None,
        }
    }
}

/// One line of the summary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

/// A section: heading (or lead-in) and what stands in it.
struct Section {
    heading: &'static str,
    kinds: &'static [Kind],
    /// A bit for each of `kinds`.
    bits: u16,
    /// Holds the file lists when they are written inline.
    files: bool,
    /// A heading that only groups the ones below it.
    group: bool,
}

const fn section(heading: &'static str, kinds: &'static [Kind]) -> Section {
    let (mut bits, mut at) = (0, 0);
    while at < kinds.len() {
        bits |= 1 << kinds[at] as u16;
        at += 1;
    }
    Section { heading, kinds, bits, files: false, group: false }
}

impl Section {
    const fn with_files(self) -> Self {
        Self { files: true, ..self }
    }

    const fn of_groups(self) -> Self {
        Self { group: true, ..self }
    }

    fn holds(&self, entry: &Entry<'_>) -> bool {
        self.bits & (1 << entry.kind as u16) != 0
    }
}

const SIX: &[Section] = &[
    section(
        "## Active Task",
        &[Kind::Goal, Kind::Request, Kind::Answered, Kind::Progress, Kind::Active, Kind::State],
    ),
    section("## Key Decisions & Rationale", &[Kind::Decision]),
    section("## Files & Artifacts", &[Kind::Value]).with_files(),
    section("## Constraints & Requirements", &[Kind::Rule]),
    section("## Pending Items", &[Kind::Failure, Kind::Todo, Kind::Next]),
    section("## Session Narrative", &[Kind::Asked, Kind::Done, Kind::Check, Kind::Note]),
];

const GOAL: &[Section] = &[
    section("## Goal", &[Kind::Goal, Kind::Request, Kind::Answered]),
    section("## Constraints & Preferences", &[Kind::Rule]),
    section("## Progress", &[]).of_groups(),
    section("### Done", &[Kind::Asked, Kind::Done, Kind::Check]),
    section("### In Progress", &[Kind::Progress, Kind::Active, Kind::State]),
    section("### Blocked", &[Kind::Failure]),
    section("## Key Decisions", &[Kind::Decision]),
    section("## Next Steps", &[Kind::Todo, Kind::Next]),
    section("## Critical Context", &[Kind::Value, Kind::Note]).with_files(),
];

const PROSE: &[Section] = &[
    section("The session set out with this: ", &[Kind::Goal, Kind::Request, Kind::Answered]),
    section("The user set these terms: ", &[Kind::Rule]),
    section("These choices were made: ", &[Kind::Decision]),
    section("So far: ", &[Kind::Asked, Kind::Done, Kind::Check]),
    section("Worth knowing: ", &[Kind::Value, Kind::Note]),
    section("Still to do: ", &[Kind::Failure, Kind::Todo, Kind::Next]),
    section("At this point: ", &[Kind::Progress, Kind::Active, Kind::State]),
    section("", &[]).with_files(),
];

/// The headings of a layout, in order; none of prose.
pub(crate) fn headings(layout: Layout) -> impl Iterator<Item = &'static str> {
    let sections = match layout {
        Layout::SixSections => SIX,
        Layout::GoalProgress => GOAL,
        Layout::Prose => &[],
    };
    sections.iter().map(|section| section.heading)
}

/// Lead-ins of the prose layout with the kind of their unlabelled lines, for reading it again.
static LEAD_INS: LazyLock<Vec<(&str, Kind)>> = LazyLock::new(|| {
    let sections = PROSE.iter().filter(|section| !section.heading.is_empty());
    let lead_ins = sections.map(|section| {
        let kind = section.kinds.iter().copied().find(|kind| kind.label().is_empty()).unwrap_or(Kind::State);
        (section.heading, kind)
    });
    lead_ins.collect()
});

/// The lead-ins of the prose layout.
pub(super) fn lead_ins() -> impl Iterator<Item = &'static str> {
    LEAD_INS.iter().map(|(lead, _)| *lead)
}

/// The lead-in that a line of prose begins with: the kind of the lines that follow, and the rest of this one.
pub(super) fn led_in(line: &str) -> Option<(Kind, &str)> {
    let first = line.as_bytes().first()?;
    let alike = LEAD_INS.iter().filter(|(lead, _)| lead.as_bytes().first() == Some(first));
    alike.into_iter().find_map(|(lead, kind)| Some((*kind, line.strip_prefix(lead)?)))
}

/// Writes the summary. `entries` are in the order they take within a section.
pub(super) fn render(
    layout: Layout,
    frame: Frame,
    entries: &[Entry<'_>],
    files: &Files<'_>,
    form: ListForm,
) -> String {
    let lines: usize = entries.iter().map(|entry| entry.text.len() + LABEL).sum();
    let mut out = String::with_capacity(lines + FRAME);
    match layout {
        Layout::Prose => prose(&mut out, frame, entries, files, form),
        Layout::SixSections => headed(&mut out, SIX, frame, entries, files, form),
        Layout::GoalProgress => headed(&mut out, GOAL, frame, entries, files, form),
    }
    out.truncate(out.trim_end().len());
    if form == ListForm::Tags {
        out.push_str(&files.text(form, false));
    }
    if out.starts_with('\n') {
        out = out.trim_start().to_owned();
    }
    out
}

fn headed(
    out: &mut String,
    sections: &[Section],
    frame: Frame,
    entries: &[Entry<'_>],
    files: &Files<'_>,
    form: ListForm,
) {
    for (index, section) in sections.iter().enumerate() {
        let lists =
            if section.files && form == ListForm::Inline { files.text(form, false) } else { String::new() };
        let filled = |section: &Section| entries.iter().any(|entry| section.holds(entry));
        let empty = lists.is_empty()
            && if section.group {
                !sections
                    .iter()
                    .skip(index + 1)
                    .take_while(|below| below.heading.starts_with("###"))
                    .any(filled)
            } else {
                !filled(section)
            };
        if frame >= Frame::Sparse && empty {
            continue;
        }
        if frame < Frame::Bare {
            out.push_str(section.heading);
            out.push('\n');
        }
        if section.group {
            continue;
        }
        if empty {
            out.push_str("(none)\n");
        }
        for entry in entries.iter().filter(|entry| section.holds(entry)) {
            out.push_str("- ");
            out.push_str(entry.kind.label());
            out.push_str(entry.text);
            out.push('\n');
        }
        // Behind the other lines: the lines under a list's label are its paths and nothing else.
        out.push_str(&lists);
        if frame < Frame::Bare {
            out.push('\n');
        }
    }
}

fn prose(out: &mut String, frame: Frame, entries: &[Entry<'_>], files: &Files<'_>, form: ListForm) {
    for section in PROSE {
        if section.files {
            if form == ListForm::Inline {
                out.push_str(&files.text(form, true));
            }
            continue;
        }
        let mut first = true;
        for entry in entries.iter().filter(|entry| section.holds(entry)) {
            if first && frame < Frame::Bare {
                out.push_str(section.heading);
            }
            first = false;
            out.push_str(entry.kind.label());
            out.push_str(entry.text);
            if !entry.text.ends_with(['.', '!', '?', '…', '。', '！', '？', ':', ';']) {
                out.push('.');
            }
            out.push('\n');
        }
        if !first && frame < Frame::Bare {
            out.push('\n');
        }
    }
}
