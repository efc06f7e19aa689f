//! Where facts stand after a compaction and whether the work comes back to them, against hand labels.
//!
//! `tests/data/fates`: eight compactions of fixtures, each with the summary as it was when it was labelled (three recorded
//! ones, five of the embedded summarizer). Their reader saw the log, the summary and the facts, never what the program says
//! of them; the rules are in `fixtures/LABELLING.md`.

use crate::support::fixture;
use compactor::context::{Context, Entry};
use compactor::facts::{FactId, FactSet};
use compactor::ingest::ingest;
use compactor::replay::effects;
use compactor::score::{Cycle, Location, Scorer};
use compactor::transcript::{MessageIdx, Role};
use serde::Deserialize;
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    fixture: String,
    session: String,
    /// Messages before this one are compacted or kept.
    prefix_end: u32,
    /// From this message on they are kept.
    tail: u32,
    /// A message kept besides.
    pinned: Option<u32>,
    summary: String,
    labels: Vec<Label>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    class: String,
    line: u32,
    value: String,
    summary: bool,
    tail: bool,
    need: String,
}

/// Labels, and how many of them the program gives as well.
#[derive(Debug, Default)]
struct Tally {
    labels: usize,
    agreed: usize,
    differing: Vec<String>,
}

impl Tally {
    fn count(&mut self, what: &str, label: &Label, program: &str, hand: &str) {
        self.labels += 1;
        self.agreed += usize::from(program == hand);
        if program != hand {
            self.differing.push(format!(
                "{what}:{} {} {:?}: {program}, by hand {hand}",
                label.line, label.class, label.value
            ));
        }
    }

    fn check(&self, what: &str, floor: f64) {
        let share = self.agreed as f64 / self.labels.max(1) as f64;
        assert!(self.labels > 300 && share >= floor, "{what}: {share:.3}\n{}", self.differing.join("\n"));
    }
}

fn location(summary: bool, tail: bool) -> &'static str {
    match (summary, tail) {
        (true, true) => "both",
        (true, false) => "summary",
        (false, true) => "tail",
        (false, false) => "lost",
    }
}

/// Compares one compaction; gives how many labelled facts are no live facts there.
fn compare(labelled: &Labelled, locations: &mut Tally, needs: &mut Tally) -> usize {
    let name = fixture(&labelled.fixture);
    let bytes = std::fs::read(&name).expect("a fixture");
    let ingested = ingest(&bytes, &name);
    let session = ingested.sessions.iter().find(|it| it.id == labelled.session).expect("the session");
    let end = MessageIdx(labelled.prefix_end);
    let facts = FactSet::extract(session, &effects(session));
    let mut entries = vec![Entry::Summary { role: Role::User, text: labelled.summary.clone() }];
    entries.extend(labelled.pinned.map(|at| Entry::Kept(MessageIdx(at))));
    entries.extend((labelled.tail..labelled.prefix_end).map(|at| Entry::Kept(MessageIdx(at))));
    let context = Context { entries, now: end, ..Context::default() };
    let score = Scorer::new(session, &facts).score(&Cycle {
        held: session,
        began: MessageIdx(0),
        archive: &[],
        context: &context,
        prefix_end: end,
        compacted_end: MessageIdx(labelled.tail),
        metadata: None,
        writes_lists: false,
        newest_request: None,
        opaque: false,
    });
    let value = |id: FactId| {
        let fact = facts.get(id).expect("a fact of the session");
        let file = fact.file.and_then(|file| facts.ledger.files.get(file as usize));
        (fact.line, file.map_or_else(|| fact.value.clone(), |file| file.name_at(end).to_owned()))
    };
    let mut gone = 0;
    for label in &labelled.labels {
        let fate = score.fates.iter().find(|fate| {
            fate.class.name() == label.class && value(fate.id) == (label.line, label.value.clone())
        });
        let Some(fate) = fate else {
            gone += 1;
            continue;
        };
        let present = fate.tier.is_present();
        let tail = matches!(fate.location, Location::Tail | Location::Both);
        let found = location(present, tail);
        locations.count(&labelled.fixture, label, found, location(label.summary, label.tail));
        if fate.at_risk {
            let found = if fate.need.name().is_empty() { "none" } else { fate.need.name() };
            needs.count(&labelled.fixture, label, found, &label.need);
        }
    }
    gone
}

#[test]
fn locations_and_needs_agree_with_the_labels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fates");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("labels").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let (mut locations, mut needs, mut gone, mut labels) = (Tally::default(), Tally::default(), 0, 0);
    for file in &files {
        let text = std::fs::read_to_string(file).expect("labels");
        let labelled: Labelled = serde_json::from_str(&text).expect("labels as described");
        labels += labelled.labels.len();
        gone += compare(&labelled, &mut locations, &mut needs);
    }
    eprintln!("{labels} labelled facts, {gone} of them replaced or not extracted any more");
    assert!(gone * 50 <= labels, "{gone} of {labels} labelled facts are none any more");
    for (what, tally) in [("location", &locations), ("need", &needs)] {
        eprintln!("{what}: {} of {} labels agree", tally.agreed, tally.labels);
    }
    locations.check("location", 0.95);
    needs.check("need", 0.95);
}
