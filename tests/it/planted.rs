//! The measure against facts whose fate is known, and against itself.
//!
//! A seeded generator writes sessions as logs of three agents. Into each it plants facts of every class and decides what
//! becomes of them at one compaction: what the summary says, what the kept tail says again, what is gone. The logs go
//! through the reader, the extractor and the scorer like any other; then every planted fact must have been found, be
//! born where it was planted, and have the fate it was given. Nothing is pooled: recall and precision are 1 or the test
//! fails, with the first few cases in full.
//!
//! The generator (`cast`) never asks the program what a text holds. That a fate is possible at all is checked apart, by
//! a plain search (`plant`). What the traps are is told by the names in `cast`.

mod cast;
mod dice;
mod log;
mod plant;
mod selfchecks;
mod story;
#[rustfmt::skip]
mod words;

use compactor::facts::{Fact, FactClass, FactId, FactSet};
use compactor::ingest::ingest;
use compactor::replay::effects;
use compactor::score::{Cycle, CycleScore, Location, Scorer};
use compactor::transcript::{MessageIdx, Transcript};
use log::Format;
use plant::{Claim, Cut, Fate, Refusal, plant, stands};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use story::{Session, Story};

/// Sessions of the large test.
const SESSIONS: u64 = 240;

/// Makes up a session.
fn session(seed: u64) -> Session {
    let mut story = Story::new(seed);
    cast::fill(&mut story);
    story.finish(seed).unwrap_or_else(|refusal| panic!("seed {seed}: {refusal}"))
}

/// A session that went through the program up to its facts.
struct Extracted {
    transcript: Transcript,
    facts: FactSet,
}

fn extract(session: &Session) -> Extracted {
    let ingested = ingest(session.log.text.as_bytes(), "planted.jsonl");
    assert!(ingested.diagnostics.is_empty(), "seed {}: {:?}", session.seed, ingested.diagnostics);
    let [transcript] = <[Transcript; 1]>::try_from(ingested.sessions).expect("one session in one log");
    let facts = FactSet::extract(&transcript, &effects(&transcript));
    Extracted { transcript, facts }
}

/// Scores the cycle of a session under a summary.
fn score(session: &Session, extracted: &Extracted, summary: &str) -> CycleScore {
    let context = session.context(&extracted.transcript, summary);
    let compacted_end = Session::message(&extracted.transcript, session.cut.kept_from);
    Scorer::new(&extracted.transcript, &extracted.facts).score(&Cycle {
        held: &extracted.transcript,
        began: MessageIdx(0),
        archive: &[],
        context: &context,
        prefix_end: context.now,
        compacted_end,
        metadata: None,
        writes_lists: false,
        newest_request: None,
        opaque: false,
    })
}

/// What was found to be wrong, in words; the first few are shown.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn case(&mut self, session: &Session, claim: &Claim, expected: &str, got: &str) {
        let mut text = String::new();
        let _ = write!(
            text,
            "seed {} ({:?}): {} `{}` [{}] of line {}: expected {expected}, got {got}\n    summary line: {:?}",
            session.seed,
            session.format,
            claim.class.name(),
            claim.value,
            claim.trap,
            claim.line,
            claim.summary,
        );
        self.0.push(text);
    }

    fn none(&self) {
        let shown = self.0.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.0.is_empty(), "{} wrong, of which\n{shown}", self.0.len());
    }
}

/// The fact that a claim is about.
fn find<'f>(extracted: &'f Extracted, claim: &Claim, end: MessageIdx) -> Option<(FactId, &'f Fact)> {
    let facts = &extracted.facts;
    let alike = |id: &FactId| {
        facts.get(*id).is_some_and(|fact| {
            let class = if fact.class.is_file() && claim.class.is_file() {
                facts.class_at(*id, end) == Some(claim.class)
            } else {
                fact.class == claim.class
            };
            class && fact.value == claim.value
        })
    };
    let mut found = facts.ids().filter(alike);
    let first = found.next()?;
    if found.next().is_some() {
        return None;
    }
    Some((first, facts.get(first)?))
}

/// Counts of the large test.
#[derive(Default)]
struct Totals {
    facts: u64,
    found: u64,
    by_fate: BTreeMap<(&'static str, &'static str), u64>,
    by_trap: BTreeMap<&'static str, u64>,
    right: u64,
    missed: u64,
    imagined: u64,
}

impl Totals {
    fn shown(&self) -> String {
        let mut out = format!("{SESSIONS} sessions, {} planted facts, {} found\n", self.facts, self.found);
        let (right, missed, imagined) = (self.right, self.missed, self.imagined);
        let _ = writeln!(out, "in the summary: {right} right, {missed} missed, {imagined} imagined");
        for class in FactClass::ALL {
            let fates: Vec<String> = self
                .by_fate
                .iter()
                .filter(|((of, _), _)| *of == class.name())
                .map(|((_, fate), count)| format!("{count} {fate}"))
                .collect();
            let _ = writeln!(out, "{:<14} {}", class.name(), fates.join(", "));
        }
        let traps: Vec<String> = self.by_trap.iter().map(|(trap, count)| format!("{trap} {count}")).collect();
        let _ = writeln!(out, "what the summary makes of them: {}", traps.join("; "));
        out
    }
}

fn check_session(session: &Session, totals: &mut Totals, wrong: &mut Wrong) {
    let extracted = extract(session);
    let score = score(session, &extracted, &session.summary_text());
    let end = Session::message(&extracted.transcript, session.cut.end);
    for claim in &session.planted {
        totals.facts += 1;
        *totals.by_fate.entry((claim.class.name(), claim.fate.name())).or_default() += 1;
        *totals.by_trap.entry(claim.trap).or_default() += 1;
        let Some((id, fact)) = find(&extracted, claim, end) else {
            let on_line: Vec<&str> = extracted
                .facts
                .facts
                .iter()
                .filter(|fact| fact.line == claim.line)
                .map(|fact| fact.value.as_str())
                .collect();
            wrong.case(session, claim, "one such fact", &format!("none or several; on its line {on_line:?}"));
            continue;
        };
        totals.found += 1;
        check_birth(session, &extracted, claim, fact, wrong);
        let class = extracted.facts.class_at(id, end);
        let Fate::Live { location, tier } = claim.fate else {
            if class.is_some() {
                wrong.case(session, claim, "to be replaced", &format!("{class:?}"));
            }
            continue;
        };
        let Some(fate) = score.fates.iter().find(|fate| fate.id == id) else {
            wrong.case(session, claim, "a live fact", &format!("none; its class is {class:?}"));
            continue;
        };
        match (claim.fate.in_summary(), fate.tier.is_present()) {
            (true, true) => totals.right += 1,
            (true, false) => totals.missed += 1,
            (false, true) => totals.imagined += 1,
            (false, false) => {}
        }
        if fate.class != claim.class {
            wrong.case(session, claim, "its class", fate.class.name());
        }
        if fate.location != location || fate.at_risk != claim.fate.at_risk() {
            wrong.case(
                session,
                claim,
                location.name(),
                &format!("{} ({})", fate.location.name(), fate.tier.name()),
            );
        } else if tier.is_some_and(|tier| tier != fate.tier) {
            wrong.case(session, claim, tier.map_or("", |tier| tier.name()), fate.tier.name());
        }
    }
    if score.stale != session.stale {
        wrong.0.push(format!("seed {}: {} stale facts, got {}", session.seed, session.stale, score.stale));
    }
    check_ledger(session, &extracted, end, wrong);
    check_nothing_else(session, &extracted, wrong);
}

/// Is the fact born in the message and on the line where it was planted?
fn check_birth(session: &Session, extracted: &Extracted, claim: &Claim, fact: &Fact, wrong: &mut Wrong) {
    let message = extracted.transcript.messages.get(fact.birth.get());
    let holds = message
        .is_some_and(|message| (0..message.parts.len()).any(|part| message.line_of(part) == claim.line));
    if fact.line != claim.line || !holds {
        wrong.case(
            session,
            claim,
            "to be born there",
            &format!("line {}, message {}", fact.line, fact.birth),
        );
    }
}

/// Are the files of the session in the state they should be in at the cycle?
fn check_ledger(session: &Session, extracted: &Extracted, end: MessageIdx, wrong: &mut Wrong) {
    for file in &session.files {
        let entry = extracted
            .facts
            .ledger
            .files
            .iter()
            .find(|entry| entry.state_at(end).is_some() && entry.name_at(end) == file.path);
        let got = entry.map(|entry| (entry.state_at(end), entry.live_at(end), entry.renamed_from(end)));
        let live = file.state != FactClass::FileDeleted;
        let expected = Some((Some(file.state), live, file.from.as_deref()));
        if got != expected {
            wrong.0.push(format!(
                "seed {}: ledger of {}: expected {expected:?}, got {got:?}",
                session.seed, file.path
            ));
        }
    }
}

/// Small talk, distractors and what tools print must bring no facts of their own into the log.
fn check_nothing_else(session: &Session, extracted: &Extracted, wrong: &mut Wrong) {
    const CLASSES: &[FactClass] = &[
        FactClass::Error,
        FactClass::Identifier,
        FactClass::Value,
        FactClass::Constraint,
        FactClass::Decision,
        FactClass::Todo,
    ];
    let counts = |fact: &&Fact| CLASSES.contains(&fact.class) && fact.line < session.cut.end;
    for fact in extracted.facts.facts.iter().filter(counts) {
        let known =
            session.planted.iter().any(|claim| claim.class == fact.class && claim.value == fact.value);
        let again = fact.class == FactClass::Decision && session.again.contains(&fact.value);
        if !known && !again {
            wrong.0.push(format!(
                "seed {}: {} `{}` of line {} was not planted",
                session.seed,
                fact.class.name(),
                fact.value,
                fact.line
            ));
        }
    }
}

#[test]
fn planted_facts_have_the_fate_they_were_given() {
    let mut totals = Totals::default();
    let mut wrong = Wrong::default();
    for seed in 0..SESSIONS {
        check_session(&session(seed), &mut totals, &mut wrong);
    }
    println!("{}", totals.shown());
    wrong.none();
    assert_eq!((totals.found, totals.missed, totals.imagined), (totals.facts, 0, 0), "recall and precision");
    assert!(totals.facts >= 2_000, "{}", totals.facts);
    for class in FactClass::ALL {
        let of_class = |fate: &str| totals.by_fate.get(&(class.name(), fate)).copied().unwrap_or(0);
        assert!(of_class("lost") >= 10 && of_class("summary") >= 10, "{}", class.name());
    }
}

/// A claim about a small session: a file is read before the cut, and the tail speaks of something.
fn check_planting(said: &str, line: u32, location: Location, tail: &str) -> Result<Claim, Refusal> {
    let read = log::Turn::Agent {
        texts: vec![log::Said { act: None, text: "Reading on.".to_owned() }],
        calls: vec![(0, log::Action::Read("/repo/src/a.rs".to_owned()))],
    };
    let tail = log::Turn::User(vec![log::Said { act: None, text: tail.to_owned() }]);
    let log = log::write(Format::ClaudeCode, "small", "/repo", &[read, tail], 1);
    let cut = Cut { kept_from: log.turns[1], end: log.len() + 1 };
    let claim = Claim {
        class: FactClass::FileRead,
        value: "/repo/src/a.rs".to_owned(),
        said: said.to_owned(),
        line,
        spellings: ["/repo/src/a.rs", "src/a.rs", "a.rs"].map(str::to_owned).to_vec(),
        fate: Fate::Live { location, tier: None },
        summary: String::new(),
        trap: "",
    };
    plant(&log, cut, claim)
}

#[test]
fn what_is_not_in_the_log_is_not_planted() {
    assert!(check_planting("src/a.rs", 2, Location::Lost, "Carry on.").is_ok());
    for (said, line) in [("src/b.rs", 2), ("src/a.rs", 1), ("src/a.rs", 99)] {
        let refusal = check_planting(said, line, Location::Lost, "Carry on.").expect_err("it is not there");
        assert_eq!(refusal.to_string(), format!("not in the log: line {line} does not hold `{said}`"));
    }
}

#[test]
fn what_stands_behind_the_cut_cannot_be_lost() {
    for tail in ["Look at src/a.rs again.", "Is a.rs done?", "What of `a.rs`, then?", "See (/repo/src/a.rs)."]
    {
        for location in [Location::Lost, Location::Summary] {
            let refusal = check_planting("src/a.rs", 2, location, tail).expect_err("the tail holds it");
            assert!(refusal.to_string().starts_with("not eligible: "), "{tail}: {refusal}");
        }
        for location in [Location::Tail, Location::Both] {
            assert!(check_planting("src/a.rs", 2, location, tail).is_ok(), "{tail}");
        }
    }
    for tail in ["Look at data.rs again.", "Is a.rs.bak done?", "What of a_rs?", "See lib/a.rs2 and xa.rs."] {
        assert!(check_planting("src/a.rs", 2, Location::Lost, tail).is_ok(), "{tail}");
    }
}

#[test]
fn the_plain_search_knows_whole_spellings() {
    for (text, spelling, expected) in [
        ("It took 88 ms.", "88 ms", true),
        ("It took 889 ms", "88 ms", false),
        ("It took 188 ms", "88 ms", false),
        ("foo.tsx", "foo.ts", false),
        ("aa/b.ts", "a/b.ts", false),
        ("x/a/b.ts", "a/b.ts", false),
        (r"C:\x\a.rs", "C:/x/a.rs", true),
        ("see a/b.ts: fine", "a/b.ts", true),
    ] {
        assert_eq!(stands(text, spelling), expected, "{spelling} in {text}");
    }
}

#[test]
fn equal_seeds_make_equal_sessions_and_others_do_not() {
    let text = |seed: u64| {
        let session = session(seed);
        (session.log.text.clone(), session.summary_text())
    };
    assert_eq!(text(5), text(5));
    let distinct: std::collections::BTreeSet<(String, String)> = (0..60).map(text).collect();
    assert_eq!(distinct.len(), 60);
}
