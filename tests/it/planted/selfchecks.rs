//! What must hold for any session, whatever stands in it: the controls and invariances of the measure.
//!
//! Each check runs over generated sessions and over the shipped fixtures. What is expected is worked out here from the
//! mentions of the facts, not by the scorer.

use super::dice::Dice;
use super::{Session, session, words};
use crate::support::{Sandbox, fixture};
use compactor::aggregate::aggregate;
use compactor::context::{Context, Entry};
use compactor::discover::{discover, read};
use compactor::facts::{FactClass, FactSet};
use compactor::fileops::CallEffect;
use compactor::ingest::ingest;
use compactor::profile::Profile;
use compactor::replay::{Mode, Plan, Prepared, ScheduleMode, effects, replay};
use compactor::results::RunOutput;
use compactor::results::files::write_run;
use compactor::run::{RunSettings, Windows, run};
use compactor::score::{Cycle, CycleScore, Fate, Location, Scorer};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::tokens::{TokenIndex, Tokenizer};
use compactor::transcript::{MessageIdx, Role, Transcript};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Generated sessions of these checks.
const GENERATED: u64 = 30;

/// A session with its facts.
struct Case {
    transcript: Transcript,
    effects: Vec<CallEffect>,
    facts: FactSet,
    /// The summary that a generated session comes with.
    summary: Option<String>,
}

impl Case {
    fn new(transcript: Transcript, summary: Option<String>) -> Self {
        let effects = effects(&transcript);
        let facts = FactSet::extract(&transcript, &effects);
        Self { transcript, effects, facts, summary }
    }

    fn messages(&self) -> usize {
        self.transcript.messages.len()
    }

    /// Scores a summary with the messages `kept` behind it, at the end of these.
    fn score(&self, summary: Option<&str>, kept: std::ops::Range<usize>) -> CycleScore {
        let text = summary.map(|text| Entry::Summary { role: Role::User, text: text.to_owned() });
        let tail = kept.clone().map(|at| Entry::Kept(MessageIdx::new(at)));
        let now = MessageIdx::new(kept.end);
        let context = Context { entries: text.into_iter().chain(tail).collect(), now, ..Context::default() };
        self.score_context(&context, kept.start)
    }

    fn score_context(&self, context: &Context, compacted_end: usize) -> CycleScore {
        Scorer::new(&self.transcript, &self.facts).score(&Cycle {
            held: &self.transcript,
            began: MessageIdx(0),
            archive: &[],
            context,
            prefix_end: context.now,
            compacted_end: MessageIdx::new(compacted_end),
            metadata: None,
            writes_lists: true,
            newest_request: None,
            opaque: false,
        })
    }

    /// Facts that count in a prefix, by place in the list, each with whether one of these messages mentions it.
    fn mentioned(&self, kept: std::ops::Range<usize>) -> Vec<(u32, bool)> {
        let end = MessageIdx::new(kept.end);
        self.facts
            .ids()
            .filter(|id| self.facts.class_at(*id, end).is_some())
            .filter_map(|id| Some((id.0, self.facts.get(id)?)))
            .map(|(id, fact)| (id, fact.mentions.iter().any(|at| kept.contains(&at.get()))))
            .collect()
    }
}

/// Generated sessions and fixtures.
fn cases() -> Vec<Case> {
    let generated = (0..GENERATED).map(|seed| {
        let session = session(1_000 + seed);
        let extracted = super::extract(&session);
        Case::new(extracted.transcript, Some(session.summary_text()))
    });
    let shipped = discover(&[fixture("").into()]).sources.into_iter().flat_map(|source| {
        let bytes = read(&source).expect("a fixture").bytes;
        ingest(&bytes, &source.label).sessions.into_iter().map(|transcript| Case::new(transcript, None))
    });
    let cases: Vec<Case> = generated.chain(shipped).collect();
    assert!(cases.len() > GENERATED as usize + 10, "{}", cases.len());
    cases
}

/// Location and risk of each fact, by its place in the list.
fn places(score: &CycleScore) -> Vec<(u32, Location, bool)> {
    score.fates.iter().map(|fate| (fate.id.0, fate.location, fate.at_risk)).collect()
}

fn at_risk(score: &CycleScore) -> u64 {
    score.structural.at_risk + score.lexical.at_risk
}

fn in_summary(score: &CycleScore) -> u64 {
    score.structural.in_summary + score.lexical.in_summary
}

#[test]
fn a_context_that_keeps_all_keeps_every_fact() {
    for case in cases() {
        for quarter in 1..=4 {
            let end = case.messages() * quarter / 4;
            let score = case.score(None, 0..end);
            let total = score.structural.total + score.lexical.total;
            assert_eq!((score.in_context, score.tail, score.tail_in_context), (total, total, total));
            assert_eq!(at_risk(&score), 0, "summary survival has nothing to divide by");
            assert!(score.fates.iter().all(|fate| fate.location == Location::Tail));
        }
    }
}

#[test]
fn a_context_that_keeps_nothing_loses_every_fact() {
    let mut lost = 0;
    for case in cases() {
        for quarter in 1..=4 {
            let end = case.messages() * quarter / 4;
            let score = case.score(Some(""), end..end);
            let expected: Vec<(u32, Location, bool)> =
                case.mentioned(end..end).iter().map(|(id, _)| (*id, Location::Lost, true)).collect();
            assert_eq!(places(&score), expected, "{}", case.transcript.id);
            assert_eq!((in_summary(&score), score.in_context, score.tail), (0, 0, 0));
            assert_eq!(at_risk(&score), expected.len() as u64);
            lost += expected.len();
        }
    }
    assert!(lost > 1_000, "{lost}");
}

#[test]
fn a_context_that_is_a_tail_keeps_what_the_tail_mentions() {
    let mut dice = Dice::new(7);
    let mut seen = [0u64; 2];
    for case in cases() {
        for _ in 0..12 {
            let end = dice.range(1, case.messages() + 1);
            let start = dice.range(0, end);
            let score = case.score(None, start..end);
            let expected: Vec<(u32, Location, bool)> = case
                .mentioned(start..end)
                .into_iter()
                .map(|(id, kept)| (id, if kept { Location::Tail } else { Location::Lost }, !kept))
                .collect();
            assert_eq!(places(&score), expected, "{} {start}..{end}", case.transcript.id);
            let kept = expected.iter().filter(|(_, _, at_risk)| !at_risk).count() as u64;
            let gone = expected.len() as u64 - kept;
            assert_eq!((score.in_context, score.tail, score.tail_in_context), (kept, kept, kept));
            assert_eq!((at_risk(&score), in_summary(&score)), (gone, 0));
            seen[0] += kept;
            seen[1] += gone;
        }
    }
    assert!(seen.iter().all(|count| *count > 1_000), "{seen:?}");
}

/// Summaries of a session as the strategies write them, each with its context and where the tail begins.
fn written(case: &Case, dice: &mut Dice) -> Vec<(Context, usize)> {
    let tokenizer = Tokenizer::O200k;
    let tokens = TokenIndex::new(&case.transcript, tokenizer);
    let prepared = Prepared::new(&case.transcript, &tokens, tokenizer, &case.effects);
    let profile = Profile::standard();
    let planner = prepared.planner(&profile, None);
    let cycles = dice.range(1, 3);
    let window = planner.window_for(cycles);
    let schedule = planner.schedule(window, cycles);
    let mut out = Vec::new();
    for strategy in [Strategy::Structured, Strategy::Narrative, Strategy::Truncate] {
        let (mode, locked) = (Mode::Grow, ScheduleMode::Locked);
        let plan = Plan { profile: &profile, strategy, window, limit: cycles, mode, schedule: locked };
        let replayed = replay(&prepared, &planner, &schedule, plan, &Extractive);
        out.extend(replayed.cycles.into_iter().map(|trace| (trace.context, trace.cut.cut)));
    }
    out
}

/// The context with its generated text changed.
fn with_text(context: &Context, change: &mut impl FnMut(&str) -> String) -> Context {
    let entries = context
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::Summary { role, text } => Entry::Summary { role: *role, text: change(text) },
            other => other.clone(),
        })
        .collect();
    Context { entries, now: context.now, ..Context::default() }
}

/// Shuffles the lines of a text.
fn shuffled(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    dice.shuffle(&mut lines);
    lines.join("\n")
}

/// Shuffles the items of each section of a text. Headings and the marks of lists say what the lines under them are, and
/// stay where they are; an item takes its continuation lines along.
fn shuffled_in_sections(text: &str, dice: &mut Dice) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut section: Vec<String> = Vec::new();
    for line in text.lines() {
        let stays = line.trim().is_empty() || line.starts_with(['#', '<']) || line.ends_with([':', '*']);
        if stays {
            dice.shuffle(&mut section);
            out.append(&mut section);
            out.push(line.to_owned());
        } else if line.starts_with([' ', '\t'])
            && let Some(item) = section.last_mut()
        {
            item.push('\n');
            item.push_str(line);
        } else {
            section.push(line.to_owned());
        }
    }
    dice.shuffle(&mut section);
    out.append(&mut section);
    out.join("\n")
}

/// Fates of the facts that stand in a text by themselves, whatever heading they stand under.
fn by_themselves(score: &CycleScore) -> Vec<Fate> {
    let of_sentences = [FactClass::Todo, FactClass::Constraint, FactClass::Decision, FactClass::Request];
    score.fates.iter().filter(|fate| !of_sentences.contains(&fate.class)).copied().collect()
}

#[test]
fn shuffling_the_lines_of_a_list_changes_no_score() {
    let mut dice = Dice::new(11);
    let mut present = 0;
    for case in cases() {
        let Some(summary) = &case.summary else { continue };
        let (cut, end) = (case.messages() / 2, case.messages());
        let score = case.score(Some(summary), cut..end);
        present += in_summary(&score);
        for _ in 0..12 {
            let other = shuffled(summary, &mut dice);
            assert_eq!(case.score(Some(&other), cut..end), score, "{summary}\n---\n{other}");
        }
    }
    assert!(present > 100, "{present}");
}

#[test]
fn shuffling_what_strategies_write_changes_no_score() {
    let mut dice = Dice::new(13);
    let mut present = 0;
    for case in cases() {
        for (context, cut) in written(&case, &mut dice) {
            let score = case.score_context(&context, cut);
            present += in_summary(&score);
            for _ in 0..6 {
                let other = with_text(&context, &mut |text| shuffled_in_sections(text, &mut dice));
                assert_eq!(
                    case.score_context(&other, cut),
                    score,
                    "{:?}\n---\n{:?}",
                    context.summary(),
                    other.summary()
                );
                let other = with_text(&context, &mut |text| shuffled(text, &mut dice));
                assert_eq!(
                    by_themselves(&case.score_context(&other, cut)),
                    by_themselves(&score),
                    "{:?}\n---\n{:?}",
                    context.summary(),
                    other.summary()
                );
            }
        }
    }
    assert!(present > 300, "{present}");
}

#[test]
fn lines_that_mention_nothing_change_no_fate() {
    let mut dice = Dice::new(17);
    for case in cases() {
        for (context, cut) in written(&case, &mut dice) {
            let score = case.score_context(&context, cut);
            for _ in 0..4 {
                let other = with_text(&context, &mut |text| {
                    let mut text = text.to_owned();
                    for _ in 0..dice.range(1, 6) {
                        let line = dice.word(words::FILLERS);
                        text = if dice.chance(70) {
                            format!("{text}\n{line}")
                        } else {
                            format!("{line}\n{text}")
                        };
                    }
                    text
                });
                assert_eq!(case.score_context(&other, cut).fates, score.fates, "{:?}", other.summary());
            }
        }
    }
}

/// Generated logs and the fixtures under every strategy.
fn run_all(sandbox: &Sandbox) -> RunOutput {
    for seed in 0..12 {
        sandbox.file(&format!("logs/{seed:02}.jsonl"), &session(2_000 + seed).log.text);
    }
    let found = discover(&[sandbox.path("logs"), PathBuf::from(fixture(""))]);
    let settings =
        RunSettings { jobs: 2, log_facts: true, ..RunSettings::replay(&Strategy::ALL, Windows::Cycles(2)) };
    run(&found, &settings, &Extractive, &|_, _| {}).expect("two threads")
}

#[test]
fn the_control_that_never_compacts_keeps_all_and_is_no_success() {
    let output = run_all(&Sandbox::new());
    let control: Vec<_> = output.cycles.iter().filter(|row| row.strategy == "none").collect();
    assert!(control.len() > 30, "{}", control.len());
    for row in control {
        assert_eq!(row.context_survival, Some(1.0), "{row:?}");
        assert_eq!((row.summary_survival, row.facts_at_risk), (None, 0), "{row:?}");
        assert_eq!(row.tail_facts, row.tail_facts_in_context, "{row:?}");
        assert_eq!(row.tail_facts, row.facts_total, "{row:?}");
    }
    assert!(output.sessions.iter().filter(|row| row.strategy == "none").all(|row| !row.exercised));
    assert!(output.sessions.iter().filter(|row| row.strategy == "structured").any(|row| row.exercised));
    // What drops everything has no summary to keep anything in.
    for row in output.cycles.iter().filter(|row| row.strategy == "emergency" && row.facts_at_risk > 0) {
        assert_eq!((row.facts_in_summary, row.summary_survival), (0, Some(0.0)), "{row:?}");
    }
    for row in output.cycles.iter().filter(|row| row.strategy != "none") {
        assert_eq!(row.tail_facts, row.tail_facts_in_context, "tail control {row:?}");
    }
}

/// Files of a run by name.
fn bytes(sandbox: &Sandbox, output: &RunOutput) -> BTreeMap<String, Vec<u8>> {
    let dir = sandbox.path("out");
    write_run(&dir, output, &aggregate(output)).expect("a directory of our own");
    std::fs::read_dir(&dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.display().to_string(), std::fs::read(&path).expect("a file")))
        .collect()
}

#[test]
fn the_same_run_twice_is_the_same_and_differs_by_nothing() {
    let sandbox = Sandbox::new();
    let (first, second) = (run_all(&sandbox), run_all(&sandbox));
    assert_eq!(first, second);
    assert_eq!(bytes(&sandbox, &first), bytes(&sandbox, &second));
    // The second run as a contender of its own.
    let of = |output: &RunOutput, name: &str| {
        let mut output = output.clone();
        output.sessions.retain(|row| row.strategy == "structured");
        output.cycles.retain(|row| row.strategy == "structured");
        output.sessions.iter_mut().for_each(|row| row.strategy = name.to_owned().into());
        output.cycles.iter_mut().for_each(|row| row.strategy = name.to_owned().into());
        output
    };
    let (mut both, again) = (of(&first, "structured"), of(&second, "again"));
    both.sessions.extend(again.sessions);
    both.cycles.extend(again.cycles);
    both.manifest.settings.strategies = vec!["structured".to_owned(), "again".to_owned()];
    let differences = aggregate(&both).differences;
    assert!(differences.iter().any(|row| row.n >= 10), "{differences:?}");
    for row in differences.iter().filter(|row| row.n > 0) {
        assert_eq!((row.mean, row.ties), (Some(0.0), row.n), "{row:?}");
        assert!([row.low, row.high].iter().flatten().all(|end| *end == 0.0), "{row:?}");
        assert_eq!((row.n_a, row.n_b), (0, 0), "{row:?}");
    }
}

/// Where a generated session was cut, what the summary and the tail hold follows from where its facts were put.
#[test]
fn a_planted_session_cut_to_its_tail_keeps_what_was_put_there() {
    let mut seen = [0u64; 2];
    for seed in 0..60 {
        let session = session(3_000 + seed);
        let extracted = super::extract(&session);
        let end = Session::message(&extracted.transcript, session.cut.end);
        let score = super::score(&session, &extracted, "");
        for claim in session.planted.iter().filter(|claim| claim.fate != super::Fate::Replaced) {
            let (id, _) = super::find(&extracted, claim, end).expect("found by the large test");
            let fate = score.fates.iter().find(|fate| fate.id == id).expect("a live fact");
            let expected = if claim.fate.at_risk() { Location::Lost } else { Location::Tail };
            assert_eq!(fate.location, expected, "seed {} {}", session.seed, claim.value);
            seen[usize::from(claim.fate.at_risk())] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 300), "{seen:?}");
}
