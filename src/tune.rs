//! Settings compared on the same sessions: every combination of a grid replayed, the best chosen on some sessions and held
//! against the present setting on others.
//!
//! Pure but for [`run::fold`](crate::run::fold), through which all replays go. Sessions are split by a hash of their ids, so
//! that neither the order of the files nor what else is there moves a session to the other side.

use crate::aggregate::Metric;
use crate::discover::Discovered;
use crate::replay::{Asked, Mode, ScheduleMode};
use crate::results::{Manifest, WriterSettings};
use crate::run::fold::{Fold, Folded, fold};
use crate::run::{Job, PlanAt, PoolError, Progress, RunSettings, Windows};
use crate::stats::Paired;
use crate::summarize::Summarizer;
use crate::tokens::Tokenizer;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

pub mod choose;
pub mod grid;
pub mod keys;
pub mod measure;
pub mod record;
pub mod search;
pub mod space;

use choose::{Bar, LEAST_TELLING, Score, Sessions, Verdict};
use measure::{Measured, Pooled};
use search::{Search, Side, place};
use space::Space;

/// How to tune.
#[derive(Debug, Clone)]
pub struct TuneSettings {
    /// What the best has most of.
    pub objective: Metric,
    /// Most prompt tokens per request of what may win.
    pub max_tokens: Option<u64>,
    /// Share of the sessions that confirm the choice.
    pub held_out: f64,
    /// How combinations are searched.
    pub search: Search,
    /// Locked or free.
    pub schedule: ScheduleMode,
    /// How tokens are counted.
    pub tokenizer: Tokenizer,
    /// The model that writes summaries, where one does.
    pub writer: Option<WriterSettings>,
    /// Threads; 0 means all cores.
    pub jobs: usize,
}

/// One combination with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Over the dev sessions that it was replayed on.
    pub dev: Pooled,
    /// Over the held-out sessions; empty for one that a search dropped.
    pub held_out: Pooled,
    /// Against the present setting on dev sessions.
    pub score: Score,
    /// The same on held-out sessions.
    pub score_held_out: Score,
    /// Its difference from the present setting on dev sessions.
    pub difference: Paired,
    /// The same on held-out sessions.
    pub difference_held_out: Paired,
    /// Why it cannot win.
    pub bar: Option<Bar>,
    /// Its rank among those that can, from 1.
    pub rank: Option<usize>,
    /// No other has as much of the objective for as few tokens.
    pub on_frontier: bool,
}

/// A finished search.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// What was run on what.
    pub manifest: Manifest,
    /// By the order of the combinations of the space.
    pub candidates: Vec<Candidate>,
    /// Numbers of those on the frontier, the cheapest first.
    pub frontier: Vec<usize>,
    /// The best on dev sessions; none where nothing may win.
    pub chosen: Option<usize>,
    /// What held-out sessions say of it.
    pub verdict: Verdict,
    /// What to use: the chosen combination or the present one.
    pub recommended: usize,
    /// Sessions on each side, and those in which the present setting has a value of the objective.
    pub sides: [SideCount; 2],
    /// Steps of the search before the last one.
    pub steps: Vec<Step>,
}

/// Sessions of one side under the present setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SideCount {
    /// All of them.
    pub sessions: usize,
    /// Those with a value of the objective.
    pub measured: usize,
    /// Of the others, those that failed.
    pub failed: usize,
    /// Those that were not compacted, or gained nothing by it.
    pub idle: usize,
    /// Those that were, with nothing at risk of what the objective counts.
    pub bare: usize,
}

/// A step of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Dev sessions that were looked at.
    pub sessions: usize,
    /// Combinations that were tried.
    pub tried: usize,
    /// Combinations that went on.
    pub kept: usize,
}

/// Sessions by their places in an order that no file decides: their ids and families, and a number where several have the same.
type Key = (String, String, usize);

/// Tells by its family whether a session is looked at.
type Met<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// What was measured so far.
struct Table {
    sessions: BTreeMap<Key, Row>,
    /// A session of which nothing is to be told.
    idle: Measured,
    combinations: usize,
}

/// One session.
struct Row {
    side: Side,
    /// By which it is split and met.
    family: String,
    /// Its log.
    source: String,
    /// By the numbers of the combinations that were replayed on it.
    found: FxHashMap<usize, Option<Box<Measured>>>,
}

impl Row {
    /// What a combination came to on it; `None` where it was not replayed.
    fn under<'a>(&'a self, number: usize, idle: &'a Measured) -> Option<&'a Measured> {
        self.found.get(&number).map(|found| found.as_deref().unwrap_or(idle))
    }
}

impl Table {
    /// Takes in a run over some of the combinations; `of` tells the number of each plan.
    fn take(
        &mut self,
        folded: Folded<Option<Box<Measured>>>,
        of: &FxHashMap<PlanAt, usize>,
        ran: &[usize],
        held_out: f64,
    ) {
        let mut seen: FxHashMap<(String, String), usize> = FxHashMap::default();
        for session in folded.sessions {
            let count = seen.entry((session.id.clone(), session.family.clone())).or_default();
            *count += 1;
            let (side, family, source) = (place(&session.family, held_out).0, session.family, session.source);
            let row = self.sessions.entry((session.id, family.clone(), *count)).or_insert_with(|| Row {
                side,
                family,
                source,
                found: FxHashMap::default(),
            });
            if session.failed {
                let failed = Measured { failed: true, ..Measured::default() };
                row.found.extend(ran.iter().map(|number| (*number, Some(Box::new(failed.clone())))));
            }
            let known =
                session.plans.into_iter().filter_map(|(at, measured)| Some((*of.get(&at)?, measured)));
            row.found.extend(known);
        }
    }

    /// The sessions of a side under one combination.
    fn under(&self, number: usize, side: Side) -> Sessions<'_> {
        let of_side = self.sessions.values().filter(|row| row.side == side);
        of_side.map(|row| row.under(number, &self.idle)).collect()
    }

    /// The scores of combinations over the sessions whose ids are met, in the order of the numbers.
    fn scores(&self, numbers: &[usize], side: Side, objective: Metric, met: Met<'_>) -> Vec<Score> {
        let under = |number: usize| -> Sessions<'_> {
            let rows = self.sessions.values().filter(|row| row.side == side && met(&row.family));
            rows.map(|row| row.under(number, &self.idle)).collect()
        };
        let present = under(0);
        numbers.iter().map(|number| choose::score(&under(*number), &present, objective)).collect()
    }

    /// Families of the dev sessions in which the present setting has a value, in the order in which a search meets them.
    fn dev_order(&self, settings: &TuneSettings) -> Vec<String> {
        let has_value =
            |row: &&Row| row.under(0, &self.idle).is_some_and(|one| one.metric(settings.objective).is_some());
        let rows = self.sessions.values().filter(|row| row.side == Side::Dev);
        let mut families: Vec<String> = rows.filter(has_value).map(|row| row.family.clone()).collect();
        families.sort_by(|a, b| {
            let order = |family: &str| place(family, settings.held_out).1;
            order(a).total_cmp(&order(b)).then_with(|| a.cmp(b))
        });
        families.dedup();
        families
    }

    /// The logs that hold sessions of these families.
    fn logs(&self, discovered: &Discovered, families: &FxHashSet<&str>) -> Discovered {
        let rows = self.sessions.values().filter(|row| families.contains(row.family.as_str()));
        let labels: FxHashSet<&str> = rows.map(|row| row.source.as_str()).collect();
        let sources = discovered.sources.iter().filter(|source| labels.contains(source.label.as_str()));
        Discovered { sources: sources.cloned().collect(), ..Discovered::default() }
    }

    /// Counts the sessions of a manifest over all settings, as a replay does it over its plans.
    fn count_in(&self, manifest: &mut Manifest) {
        (manifest.sessions_failed, manifest.sessions_exercised) = (0, 0);
        for row in self.sessions.values() {
            let any = |is: fn(&Measured) -> bool| row.found.values().flatten().any(|one| is(one));
            if any(|one| one.failed) {
                manifest.sessions_failed += 1;
            } else if any(|one| one.counts) {
                manifest.sessions_exercised += 1;
            }
        }
        manifest.sessions_not_exercised =
            manifest.sessions.saturating_sub(manifest.sessions_failed + manifest.sessions_exercised);
    }

    fn count(&self, side: Side, objective: Metric) -> SideCount {
        let present = self.under(0, side);
        let mut count = SideCount { sessions: present.len(), ..SideCount::default() };
        for one in present {
            let kind = match one {
                Some(one) if one.metric(objective).is_some() => &mut count.measured,
                Some(one) if one.failed => &mut count.failed,
                Some(one) if one.counts => &mut count.bare,
                _ => &mut count.idle,
            };
            *kind += 1;
        }
        count
    }
}

/// Tries every combination of a space on the sessions of the logs that were found.
pub fn tune(
    discovered: &Discovered,
    space: &Space,
    settings: &TuneSettings,
    summarizer: &dyn Summarizer,
    progress: Progress<'_>,
) -> Result<Tuning, PoolError> {
    let mut left: Vec<usize> = (0..space.combinations.len()).collect();
    let mut table = Table { sessions: BTreeMap::new(), idle: Measured::default(), combinations: left.len() };
    let run = |logs: &Discovered, numbers: &[usize], met: Met<'_>, table: &mut Table| {
        // A search reads logs more than once: what it tells comes to all of them by its end.
        let passes = if settings.search == Search::Grid { 1 } else { 2 };
        let whole = logs.sources.len() == discovered.sources.len();
        let told = |bytes: u64, sessions: u64| {
            if whole {
                progress(bytes / passes, sessions);
            }
        };
        let (folded, of) = pass(logs, space, settings, summarizer, &told, numbers, met)?;
        let manifest = folded.manifest.clone();
        table.take(folded, &of, numbers, settings.held_out);
        Ok(manifest)
    };
    if settings.search == Search::Grid {
        let manifest = run(discovered, &left, &|_| true, &mut table)?;
        return Ok(finished(&table, &left, settings, manifest, Vec::new()));
    }
    // The present setting tells in which sessions there is anything to compare.
    run(discovered, &[0], &|_| true, &mut table)?;
    let order = table.dev_order(settings);
    let sizes = search::steps(left.len(), order.len());
    let mut steps = Vec::with_capacity(sizes.len());
    let mut met: FxHashSet<&str> = FxHashSet::default();
    for size in sizes {
        let new: FxHashSet<&str> =
            order.iter().take(size).map(String::as_str).filter(|id| !met.contains(id)).collect();
        let others: Vec<usize> = left.iter().copied().filter(|number| *number > 0).collect();
        run(&table.logs(discovered, &new), &others, &|id| new.contains(id), &mut table)?;
        met.extend(&new);
        let tried = left.len();
        left = thinned(&table, left, settings, &|id| met.contains(id));
        let sessions = table.scores(&[0], Side::Dev, settings.objective, &|id| met.contains(id));
        steps.push(Step { sessions: sessions.first().map_or(0, |score| score.n), tried, kept: left.len() });
    }
    let others: Vec<usize> = left.iter().copied().filter(|number| *number > 0).collect();
    let manifest = run(discovered, &others, &|id| !met.contains(id), &mut table)?;
    Ok(finished(&table, &left, settings, manifest, steps))
}

/// Runs some of the combinations on the sessions that a step meets.
fn pass(
    discovered: &Discovered,
    space: &Space,
    settings: &TuneSettings,
    summarizer: &dyn Summarizer,
    progress: Progress<'_>,
    numbers: &[usize],
    met: Met<'_>,
) -> Result<(Folded<Option<Box<Measured>>>, FxHashMap<PlanAt, usize>), PoolError> {
    // Only the profiles that are left; that of the present setting stays the first, by which windows are searched.
    let mut profiles: Vec<usize> = vec![0];
    let mut of: FxHashMap<PlanAt, usize> = FxHashMap::default();
    for number in numbers {
        let Some(combination) = space.combinations.get(*number) else { continue };
        let profile =
            profiles.iter().position(|known| *known == combination.plan.profile).unwrap_or_else(|| {
                profiles.push(combination.plan.profile);
                profiles.len() - 1
            });
        of.insert(PlanAt { profile, ..combination.plan }, *number);
    }
    let run = RunSettings {
        job: Job::Replay,
        profiles: profiles.iter().filter_map(|at| space.profiles.get(*at)).cloned().collect(),
        strategies: space.strategies.clone(),
        windows: space.windows.clone(),
        summary_tokens: None,
        asked: Asked { recorded: matches!(space.windows, Windows::Given(_)), at: Vec::new() },
        schedule: settings.schedule,
        mode: Mode::Grow,
        tokenizer: settings.tokenizer,
        jobs: settings.jobs,
        log_facts: false,
        events: false,
        writer: settings.writer.clone(),
    };
    let wanted = |id: &str, at: PlanAt| of.contains_key(&at) && met(id);
    let folded =
        fold(discovered, &run, summarizer, progress, &Fold { wanted: &wanted, keep: &Measured::of })?;
    Ok((folded, of))
}

/// The better half of the combinations by the sessions that are met, and the present setting.
fn thinned(table: &Table, left: Vec<usize>, settings: &TuneSettings, met: Met<'_>) -> Vec<usize> {
    let scores = table.scores(&left, Side::Dev, settings.objective, met);
    let Some(present) = scores.first().cloned() else { return left };
    let bars: Vec<Option<Bar>> =
        scores.iter().map(|score| choose::bar(score, &present, settings.max_tokens, 1)).collect();
    let mut order = choose::ranked(&scores, &bars);
    order.truncate(search::kept(left.len()));
    // The present setting is what everything is held against.
    let kept: FxHashSet<usize> = order.into_iter().chain([0]).collect();
    left.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, number)| number).collect()
}

/// Chooses on dev sessions and looks at held-out ones.
fn finished(
    table: &Table,
    left: &[usize],
    settings: &TuneSettings,
    mut manifest: Manifest,
    steps: Vec<Step>,
) -> Tuning {
    table.count_in(&mut manifest);
    // Settings of one base have one name: told once.
    let mut named: FxHashSet<String> = FxHashSet::default();
    manifest.settings.profiles.retain(|name| named.insert(name.clone()));
    let objective = settings.objective;
    let all: Vec<usize> = (0..table.combinations).collect();
    let [dev, held_out] =
        [Side::Dev, Side::HeldOut].map(|side| table.scores(&all, side, objective, &|_| true));
    let present = dev.first().cloned().unwrap_or_default();
    let bars: Vec<Option<Bar>> = all
        .iter()
        .zip(&dev)
        .map(|(number, score)| {
            if left.contains(number) {
                choose::bar(score, &present, settings.max_tokens, LEAST_TELLING)
            } else {
                Some(Bar::Dropped)
            }
        })
        .collect();
    let ranked = choose::ranked(&dev, &bars);
    let frontier = choose::frontier(&dev, &bars);
    let pooled = |number: usize, side: Side| {
        let ran: Vec<&Measured> = table.under(number, side).into_iter().flatten().collect();
        Pooled::of(&ran)
    };
    let difference = |number: usize, side: Side| {
        choose::difference(&table.under(number, side), &table.under(0, side), objective)
    };
    let candidates: Vec<Candidate> = all
        .iter()
        .zip(dev)
        .zip(held_out)
        .map(|((number, score), score_held_out)| Candidate {
            dev: pooled(*number, Side::Dev),
            held_out: pooled(*number, Side::HeldOut),
            score,
            score_held_out,
            difference: difference(*number, Side::Dev),
            difference_held_out: difference(*number, Side::HeldOut),
            bar: bars.get(*number).copied().flatten(),
            rank: ranked.iter().position(|at| at == number).map(|at| at + 1),
            on_frontier: frontier.contains(number),
        })
        .collect();
    let chosen = ranked.first().copied();
    let barred = bars.first().is_some_and(Option::is_some);
    let verdict = match chosen.and_then(|at| candidates.get(at)) {
        Some(best) => {
            let own = &best.score_held_out;
            let theirs = candidates.first().map_or(0, |one| one.score_held_out.failed);
            let breaks = own.violations > 0 || own.failed > theirs;
            choose::verdict(chosen, barred, breaks, &best.difference_held_out)
        }
        None if present.n < LEAST_TELLING => Verdict::FewToChoose,
        None => Verdict::NothingFits,
    };
    let recommended = chosen.filter(|_| verdict.recommends()).unwrap_or(0);
    let sides = [Side::Dev, Side::HeldOut].map(|side| table.count(side, objective));
    Tuning { manifest, candidates, frontier, chosen, verdict, recommended, sides, steps }
}

#[cfg(test)]
pub(crate) mod tests;
