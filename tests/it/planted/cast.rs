//! What is planted: for each class of fact, how it comes into a log and what a summary may make of it.

mod atoms;
mod files;
mod runs;
mod sentences;

use super::log::Format;
use super::story::Story;

/// Where a fact is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zone {
    /// Before the cut only.
    Head,
    /// Before the cut, and in the kept tail.
    Restated,
    /// In the kept tail only.
    Tail,
}

impl Zone {
    fn any(story: &mut Story) -> Self {
        match story.dice.range(0, 100) {
            0..70 => Self::Head,
            70..87 => Self::Restated,
            _ => Self::Tail,
        }
    }

    fn in_tail(self) -> bool {
        self != Self::Head
    }

    /// Where the fact is born.
    fn place(self, story: &mut Story) -> usize {
        if self == Self::Tail { story.kept() } else { story.before() }
    }
}

/// Makes up one whole session.
pub(super) fn fill(story: &mut Story) {
    sentences::request(story);
    for _ in 0..story.dice.range(3, 7) {
        files::single_file(story);
    }
    match story.dice.range(0, 6) {
        0 => files::twins(story, false),
        1 => files::twins(story, true),
        2 => files::neighbours(story),
        3 => files::readme(story),
        4 => files::bare_name(story),
        _ => files::taken_name(story),
    }
    for _ in 0..story.dice.range(1, 3) {
        runs::command(story);
    }
    for _ in 0..story.dice.range(1, 3) {
        runs::check(story);
    }
    for _ in 0..story.dice.range(2, 5) {
        atoms::identifier(story);
    }
    for _ in 0..story.dice.range(1, 4) {
        atoms::keyed_value(story);
    }
    for _ in 0..story.dice.range(1, 3) {
        atoms::plain_value(story);
    }
    if story.dice.chance(60) {
        atoms::replaced_value(story);
    }
    for _ in 0..story.dice.range(1, 3) {
        runs::error(story);
    }
    for _ in 0..story.dice.range(1, 3) {
        sentences::rule(story);
    }
    for _ in 0..story.dice.range(0, 3) {
        sentences::choice(story);
    }
    if story.dice.chance(35) {
        sentences::replaced_choice(story);
    }
    if story.dice.chance(50) && story.format != Format::Pi {
        sentences::todos(story);
    }
}

/// Puts a line into the summary.
fn tell(story: &mut Story, line: &str) {
    if !line.is_empty() {
        story.summary.push(line.to_owned());
    }
}

fn fill_in(template: &str, name: &str, value: &str) -> String {
    template.replace(name, value)
}
