//! Rows of all files in input order, under ids that are unique, and the manifest of the run.

use super::{FileOutcome, Job, Loss, RunSettings, SessionOutcome, WindowChoice, Windows, writes};
use crate::discover::Discovered;
use crate::replay::{Mode, ScheduleMode};
use crate::results::{LossRow, Manifest, Name, Problem, RunOutput, SCHEMA_VERSION, SCORER_VERSION, Settings};
use crate::score::needed::HORIZON_CALLS;
use crate::strategy::Strategy;
use crate::summarize::Summarizer;
use rustc_hash::FxHashMap;

/// Losses listed in the manifest.
const WORST_LOSSES: usize = 3;

/// Puts rows in input order under unique session ids and writes the manifest.
pub(super) fn assemble(
    discovered: &Discovered,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    outcomes: Vec<FileOutcome<SessionOutcome>>,
) -> RunOutput {
    let mut output =
        RunOutput { manifest: manifest(discovered, settings, summarizer, &outcomes), ..RunOutput::default() };
    let mut taken: FxHashMap<String, u32> = FxHashMap::default();
    let mut losses: Vec<Loss> = Vec::new();
    let all = |rows: fn(&SessionOutcome) -> usize| -> usize {
        outcomes.iter().flat_map(|outcome| &outcome.sessions).map(rows).sum()
    };
    output.cycles.reserve_exact(all(|session| session.cycles.len()));
    output.classes.reserve_exact(all(|session| session.classes.len()));
    output.sessions.reserve_exact(all(|session| session.sessions.len()));
    output.audits.reserve_exact(all(|session| session.audits.len()));
    output.spells.reserve_exact(all(|session| session.spells.len()));
    output.facts.reserve_exact(all(|session| session.facts.len()));
    for outcome in outcomes {
        for mut session in outcome.sessions {
            rename(&mut session, &mut taken);
            output.manifest.sessions += 1;
            if session.failed {
                output.manifest.sessions_failed += 1;
            } else if session.exercised {
                output.manifest.sessions_exercised += 1;
            } else {
                output.manifest.sessions_not_exercised += 1;
            }
            output.cycles.append(&mut session.cycles);
            output.classes.append(&mut session.classes);
            output.sessions.append(&mut session.sessions);
            output.spells.append(&mut session.spells);
            output.audits.append(&mut session.audits);
            output.facts.append(&mut session.facts);
            output.events.append(&mut session.events);
            losses.append(&mut session.losses);
        }
    }
    output.manifest.facts = output.facts.len() as u64;
    output.manifest.spells = output.spells.len() as u64;
    output.manifest.worst_losses = worst(losses);
    output
}

/// The manifest of a run, sessions not yet counted.
pub(super) fn manifest<S>(
    discovered: &Discovered,
    settings: &RunSettings,
    summarizer: &dyn Summarizer,
    outcomes: &[FileOutcome<S>],
) -> Manifest {
    let mut problems: Vec<Problem> = discovered
        .problems
        .iter()
        .map(|(source, text)| Problem {
            source: source.clone(),
            line: 0,
            code: "input".to_owned(),
            severity: "lost".to_owned(),
            text: text.clone(),
        })
        .collect();
    let mut manifest = Manifest {
        schema_version: SCHEMA_VERSION,
        scorer_version: SCORER_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: wire_settings(settings, summarizer),
        files: (discovered.sources.len() + discovered.problems.len()) as u64,
        files_failed: discovered.problems.len() as u64,
        ..Manifest::default()
    };
    let mut hashes: Vec<[u8; 32]> = Vec::new();
    for outcome in outcomes {
        // A baseline that lies beside the logs is none of them: renewing it must not make it another corpus.
        let is_log = outcome.problems.iter().all(|problem| problem.code != "own-result");
        problems.extend(outcome.problems.iter().cloned());
        match &outcome.ingested {
            Some(facts) => {
                if is_log {
                    hashes.push(facts.hash);
                    manifest.bytes += facts.bytes;
                } else {
                    manifest.files -= 1;
                }
                manifest.files_failed += u64::from(facts.lost && outcome.sessions.is_empty());
            }
            None => manifest.files_failed += 1,
        }
    }
    problems.sort_by_key(|problem| match problem.severity.as_str() {
        "lost" => 0,
        "damage" => 1,
        _ => 2,
    });
    manifest.problems = problems;
    hashes.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for hash in hashes {
        hasher.update(&hash);
    }
    manifest.corpus_hash = hasher.finalize().to_hex().to_string();
    let wire = serde_json::to_vec(&manifest.settings).unwrap_or_default();
    manifest.settings_hash = blake3::hash(&wire).to_hex().to_string();
    manifest
}

/// An id that no earlier session has: `id`, or with its number behind it.
pub(super) fn unique(id: &str, taken: &mut FxHashMap<String, u32>) -> String {
    let count = taken.entry(id.to_owned()).or_default();
    *count += 1;
    if *count == 1 { id.to_owned() } else { format!("{id}~{count}") }
}

/// Gives a session an id that no earlier one has.
fn rename(session: &mut SessionOutcome, taken: &mut FxHashMap<String, u32>) {
    let id = unique(&session.id, taken);
    if id == session.id {
        return;
    }
    let name = Name::from(&*id);
    session.cycles.iter_mut().for_each(|row| row.session = name.clone());
    session.classes.iter_mut().for_each(|row| row.session = name.clone());
    session.sessions.iter_mut().for_each(|row| row.session = name.clone());
    session.spells.iter_mut().for_each(|row| row.session = name.clone());
    session.audits.iter_mut().for_each(|row| row.session = name.clone());
    session.facts.iter_mut().for_each(|row| row.session = name.clone());
    session.events.iter_mut().for_each(|row| row.session = name.clone());
    session.losses.iter_mut().for_each(|loss| loss.row.session.clone_from(&id));
}

/// The most damaging losses under the strategies that write a summary, one per fact and session.
///
/// What truncate and emergency lose is nearly everything; a user learns from what even the best strategies lose.
fn worst(mut losses: Vec<Loss>) -> Vec<LossRow> {
    if losses.iter().any(|loss| writes(&loss.row.strategy)) {
        losses.retain(|loss| writes(&loss.row.strategy));
    }
    losses.sort_by(|a, b| {
        let a_key = (a.rank, &a.row.source, &a.row.session, a.row.line, &a.row.strategy);
        a_key.cmp(&(b.rank, &b.row.source, &b.row.session, b.row.line, &b.row.strategy))
    });
    let mut worst: Vec<LossRow> = Vec::new();
    for Loss { row, .. } in losses {
        // Different sessions first: three losses of one session teach less than three sessions.
        let known = worst.iter().any(|other| other.session == row.session);
        if !known {
            worst.push(row);
        }
        if worst.len() == WORST_LOSSES {
            break;
        }
    }
    worst
}

pub(super) fn wire_settings(settings: &RunSettings, summarizer: &dyn Summarizer) -> Settings {
    let mut hasher = blake3::Hasher::new();
    for profile in &settings.profiles {
        hasher.update(format!("{profile:?}").as_bytes());
    }
    let (windows, cycles) = match &settings.windows {
        Windows::Cycles(cycles) | Windows::Shared(cycles) => (Vec::new(), *cycles as u64),
        Windows::Given(choices) => (
            choices
                .iter()
                .map(|choice| match choice {
                    WindowChoice::Tokens(tokens) => tokens.to_string(),
                    WindowChoice::Auto => "auto".to_owned(),
                })
                .collect(),
            0,
        ),
    };
    if settings.job == Job::Audit {
        return Settings {
            strategies: vec![Strategy::Recorded.name().to_owned()],
            schedule: Strategy::Recorded.name().to_owned(),
            mode: Strategy::Recorded.name().to_owned(),
            horizon_calls: HORIZON_CALLS as u64,
            tokenizer: settings.tokenizer.name().to_owned(),
            ..Settings::default()
        };
    }
    let compact_at = settings.asked.at.iter().map(|(at, keep)| match keep {
        Some(keep) => format!("{at}:{keep}"),
        None => at.to_string(),
    });
    Settings {
        follow_recorded: settings.asked.recorded,
        compact_at: compact_at.collect(),
        profiles: settings.profiles.iter().map(|profile| profile.name.clone()).collect(),
        strategies: settings.strategies.iter().map(|strategy| strategy.name().to_owned()).collect(),
        windows,
        cycles,
        same_window: matches!(settings.windows, Windows::Shared(_)),
        summary_tokens: settings.summary_tokens,
        schedule: match settings.schedule {
            ScheduleMode::Locked => "locked".to_owned(),
            ScheduleMode::Free => "free".to_owned(),
        },
        mode: match settings.mode {
            Mode::Grow => "grow".to_owned(),
            Mode::Repeat => "repeat".to_owned(),
        },
        horizon_calls: HORIZON_CALLS as u64,
        tokenizer: settings.tokenizer.name().to_owned(),
        summarizer: summarizer.name().to_owned(),
        writer: settings.writer.clone(),
        profile_hash: hasher.finalize().to_hex().to_string(),
    }
}
