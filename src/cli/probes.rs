//! `compactor probes`: questions written, answered and scored.

use super::args::{AnswerArgs, EmitArgs, Output, ProbesArgs, ProbesVerb, ScoreArgs};
use super::exit::{Exit, Failure};
use super::model::{LATER, Scribe, asker, plan, replies};
use super::replay::settings;
use super::ui::Ui;
use super::work::{problems, with_progress};
use crate::aggregate::probes::{Answers, choice, pool, verdicts};
use crate::ingest::READS;
use crate::report::Look;
use crate::report::probes::{Scored, render};
use crate::report::text::{count, sanitize, thousands};
use crate::results::Problem;
use crate::results::files::FilesError;
use crate::results::probes::{
    ANSWERS, AnswerFile, AnswerLog, Answered, KEY, Keyed, PROBES_VERSION, PROMPTS, ProbesRecord, Prompted,
    RECORD, prepare, read_answers, read_key, read_own_answers, read_prompts, read_record, write,
    write_record,
};
use crate::run::probes::{Cycles, ProbeSettings, emit as emit_all};
use crate::strategy::Strategy;
use crate::summarize::prompt::Prompt;
use crate::summarize::{Beside, Summarizer as _};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::Path;

/// Runs the verb.
pub fn run(args: &ProbesArgs, ui: &Ui) -> Result<Exit, Failure> {
    match &args.what {
        ProbesVerb::Emit(args) => emit(args, ui),
        ProbesVerb::Run(args) => answer(args, ui),
        ProbesVerb::Score(args) => score(args, ui),
    }
}

fn emit(args: &EmitArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut settings = settings(&args.plan)?;
    if settings.strategies.contains(&Strategy::None) {
        let cause = "--strategy none compacts nothing, so nothing is at risk";
        return Err(Failure::new(cause, "leave it out: the whole conversation is asked about in any case"));
    }
    let scribe = Scribe::of(&args.model, &settings.profiles.iter().collect::<Vec<_>>(), ui)?;
    settings.writer = scribe.told(&args.model);
    settings.jobs = scribe.threads(&args.model, settings.jobs);
    let probes = ProbeSettings {
        cycles: args.at.clone(),
        questions: usize::from(args.questions),
        seed: args.seed,
        longest: args.longest,
    };
    let is_dry = matches!(scribe, Scribe::Dry(..));
    if !is_dry {
        prepare(&args.out)?;
    }
    let programs = args.plan.programs.programs();
    let writer = Beside { writer: scribe.summarizer(), programs: &programs };
    let found = args.list.find(&args.paths, ui);
    let mut emitted =
        with_progress(&found, ui, |progress| emit_all(&found, &settings, &probes, &writer, progress))?;
    if let Scribe::Dry(model, rules) = &scribe {
        ui.product(&plan(model, rules, LATER))?;
        return Ok(Exit::Done);
    }
    problems(&emitted.manifest, RECORD, ui);
    emitted.manifest.cassettes = scribe.cassettes(&args.model, Vec::new());
    scribe.report(ui);
    for (source, why) in std::mem::take(&mut emitted.stopped) {
        ui.complain(&format!("{}: {}", sanitize(&source), sanitize(&why)));
        let (code, severity) = ("stopped".to_owned(), "lost".to_owned());
        emitted.manifest.problems.push(Problem { source, line: 0, code, severity, text: why });
    }
    let manifest = &emitted.manifest;
    if manifest.sessions == 0 {
        return Err(Failure::new("no session could be read: nothing was asked", READS));
    }
    if emitted.questions() == 0 {
        let cause = format!(
            "nothing was asked: no compaction of {} puts a fact at risk that a closed question can be put about",
            count(manifest.sessions, "session")
        );
        return Err(Failure::new(cause, "give longer logs, or a smaller --window, or --at all"));
    }
    // Answers stay, and so do the names of the cassettes that hold them.
    let cassettes = read_record(&args.out).map(|earlier| earlier.cassettes).unwrap_or_default();
    let record = write(&args.out, |prompts, key| {
        let counts = emitted.write(prompts, key)?;
        if counts.prompts == 0 {
            return Err(io::Error::other("all prompts are longer than --longest"));
        }
        Ok(ProbesRecord {
            probes_version: PROBES_VERSION,
            seed: probes.seed,
            cycles: name(&probes.cycles),
            questions_each: probes.questions as u64,
            counts,
            cassettes,
            run: manifest.clone(),
        })
    })?;
    ui.product(&told(&record, &args.out))?;
    let lost = manifest.files_failed > 0
        || manifest.sessions_failed > 0
        || manifest.problems.iter().any(|problem| problem.severity == "lost");
    Ok(if lost || scribe.is_troubled() { Exit::Partial } else { Exit::Done })
}

fn name(cycles: &Cycles) -> String {
    match cycles {
        Cycles::Last => "last".to_owned(),
        Cycles::All => "all".to_owned(),
        Cycles::Numbers(numbers) => numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
    }
}

/// What was written, and what comes next.
fn told(record: &ProbesRecord, dir: &Path) -> String {
    let mut out = format!(
        "{} about {} in {} of {} tokens, the longest {}, written to {}\n",
        count(record.counts.questions, "question"),
        count(record.run.sessions_exercised, "session"),
        count(record.counts.prompts, "prompt"),
        thousands(record.counts.tokens),
        thousands(record.counts.longest),
        sanitize(&dir.display().to_string())
    );
    if record.counts.left_out > 0 {
        out.push_str(&format!(
            "left out, since they are longer than --longest: {}\n",
            count(record.counts.left_out, "prompt")
        ));
    }
    let unasked: Vec<String> =
        record.counts.unasked.iter().map(|one| format!("{} {}", thousands(one.facts), one.class)).collect();
    if !unasked.is_empty() {
        out.push_str(&format!(
            "passed over, since no closed question can be put about them: {}\n",
            unasked.join(", ")
        ));
    }
    out
}

fn answer(args: &AnswerArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut record = read_record(&args.dir)?;
    let prompts = read_prompts(&args.dir)?;
    belongs(&args.dir, PROMPTS, prompts.len(), record.counts.prompts)?;
    let (model, rules) = asker(&args.ask, ui)?;
    let name = rules.model.clone().unwrap_or_default();
    let asked = |prompt: &Prompted| {
        let text = Prompt { system: prompt.system.clone(), user: prompt.user.clone(), conversation: 0..0 };
        model.answer(&text, &format!("prompt {}", prompt.id), args.tokenizer)
    };
    if args.ask.dry_run {
        let answered = read_answered(&args.dir)?;
        prompts.iter().filter(|prompt| !answered.contains(&prompt.id)).for_each(|prompt| drop(asked(prompt)));
        ui.product(&plan(&model, std::slice::from_ref(&rules), ""))?;
        return Ok(Exit::Done);
    }
    let log = AnswerLog::open(&args.dir)?;
    if let Some(other) = log.models().into_iter().find(|other| *other != name) {
        let cause = format!("{}: holds answers of {}", args.dir.join(ANSWERS).display(), sanitize(other));
        return Err(Failure::new(
            cause,
            "move the file away first (`score --answers` takes it), or name that model",
        ));
    }
    let key = if args.again { read_key(&args.dir)? } else { Vec::new() };
    let unreadable = unreadable(&key, &log);
    let is_open =
        |prompt: &&Prompted| log.answer(&prompt.id).is_none() || unreadable.contains(prompt.id.as_str());
    let open: Vec<&Prompted> = prompts.iter().filter(is_open).collect();
    if open.len() < prompts.len() {
        ui.say(&format!("{} answered already", count((prompts.len() - open.len()) as u64, "prompt")));
    }
    let bar = ui.progress(open.len() as u64);
    let one = |prompt: &&Prompted| -> Result<Answered, FilesError> {
        let (answer, error) = match asked(prompt) {
            Ok(text) => (Some(text), None),
            Err(why) => (None, Some(why)),
        };
        let line = Answered { id: prompt.id.clone(), answer, error, model: Some(name.clone()) };
        log.add(&line)?;
        bar.inc(1);
        Ok(line)
    };
    let jobs = args.ask.places();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let threads = threads.map_err(|error| {
        Failure::new(format!("cannot start {jobs} threads: {error}"), "use a smaller --concurrency")
    })?;
    // One at a time in their order: servers remember the beginning of the prompt before.
    let new = threads.install(|| open.par_iter().with_max_len(1).map(one).collect::<Result<Vec<_>, _>>())?;
    bar.finish_and_clear();
    let all = log.finish(new, &prompts)?;
    if args.ask.cassettes.is_some() {
        // Those of answers that an earlier run got stay named.
        let names: BTreeSet<String> = record.cassettes.drain(..).chain(model.answered(0)).collect();
        record.cassettes = names.into_iter().collect();
        write_record(&args.dir, &record)?;
    }
    replies(&model, ui);
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for error in all.iter().filter_map(|line| line.error.as_deref()) {
        *causes.entry(error).or_default() += 1;
    }
    for (cause, prompts) in &causes {
        ui.complain(&format!("{} without an answer: {}", count(*prompts, "prompt"), sanitize(cause)));
    }
    let answered = all.iter().filter(|line| line.answer.is_some()).count();
    if answered == 0 {
        return Err(Failure::new(
            "nothing was answered",
            "see above; what is answered is kept, run it again to go on",
        ));
    }
    ui.product(&format!(
        "{} of {} answered, in {}\n",
        thousands(answered as u64),
        count(prompts.len() as u64, "prompt"),
        sanitize(&args.dir.join(ANSWERS).display().to_string())
    ))?;
    Ok(if answered < prompts.len() { Exit::Partial } else { Exit::Done })
}

/// A file of the directory has as many lines as its record says.
fn belongs(dir: &Path, name: &str, lines: usize, told: u64) -> Result<(), Failure> {
    if lines as u64 == told {
        return Ok(());
    }
    let path = dir.join(name);
    let cause = format!("{}: holds {lines} lines, where probes.json tells of {told}", path.display());
    Err(Failure::new(cause, "write the questions again with `compactor probes emit`; answers stay good"))
}

/// Prompts that were answered so that no option could be read.
fn unreadable<'k>(key: &'k [Keyed], log: &AnswerLog) -> HashSet<&'k str> {
    let names = key.iter().flat_map(|key| [&key.id, &key.control, &key.blind].map(|id| (id.as_str(), key)));
    let is_unread = |(id, key): &(&str, &Keyed)| {
        log.answer(id).is_some_and(|answer| choice(answer, &key.options).is_none())
    };
    names.filter(is_unread).map(|(id, _)| id).collect()
}

/// Names of the prompts of a directory that are answered.
fn read_answered(dir: &Path) -> Result<HashSet<String>, Failure> {
    let path = dir.join(ANSWERS);
    if !path.exists() {
        return Ok(HashSet::new());
    }
    let lines = read_own_answers(dir)?.lines.into_iter();
    Ok(lines.filter(|line| line.answer.is_some()).map(|line| line.id).collect())
}

fn score(args: &ScoreArgs, ui: &Ui) -> Result<Exit, Failure> {
    let record = read_record(&args.dir)?;
    let key = read_key(&args.dir)?;
    belongs(&args.dir, KEY, key.len(), record.counts.keys)?;
    if args.each && args.format != Output::Csv {
        return Err(Failure::new("--each is a matter of --format csv", "give both"));
    }
    let paths = if args.answers.is_empty() { vec![args.dir.join(ANSWERS)] } else { args.answers.clone() };
    let mut is_whole = true;
    let mut files: Vec<AnswerFile> = Vec::new();
    for path in &paths {
        let file = if args.answers.is_empty() { read_own_answers(&args.dir) } else { read_answers(path) }?;
        let shown = sanitize(&path.display().to_string());
        for (line, cause) in file.damaged.iter().take(DAMAGED) {
            ui.complain(&format!("{shown}:{line}: the line is no answer: {}", sanitize(cause)));
        }
        if file.damaged.len() > DAMAGED {
            ui.complain(&format!("{shown}: and {} more lines that are none", file.damaged.len() - DAMAGED));
        }
        if file.torn.is_some() {
            ui.complain(&format!("{shown}: the last line is cut off and passed over"));
        }
        is_whole &= file.damaged.is_empty() && file.torn.is_none();
        files.push(file);
    }
    let lost = record.run.problems.iter().filter(|problem| problem.severity == "lost").count() as u64;
    if lost > 0 {
        ui.complain(&format!("{} when the questions were made; probes.json has them", count(lost, "loss")));
    }
    let lines = || files.iter().flat_map(|file| &file.lines);
    let answers = Answers::new(lines());
    if answers.changed > 0 {
        ui.say(&format!(
            "{} answered more than once, and differently: the last answer counts",
            count(answers.changed as u64, "prompt")
        ));
    }
    let known: HashSet<&str> =
        key.iter().flat_map(|key| [&key.id, &key.control, &key.blind]).map(String::as_str).collect();
    let foreign = answers.ids().filter(|id| !known.contains(id)).count() as u64;
    if foreign > 0 {
        ui.say(&format!("{} to prompts that are none of these", count(foreign, "answer")));
    }
    let models: BTreeSet<&String> = lines().filter_map(|line| line.model.as_ref()).collect();
    let windows = record.run.settings.windows.len() > 1;
    let rows = pool(&key, &answers, windows);
    let read = rows.iter().any(|row| row.answered + row.control_answered > 0);
    if !read {
        let cause = format!(
            "{}: holds no answer that could be read to any of these questions",
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        );
        return Err(Failure::new(cause, "answer with a letter: {\"id\": ..., \"answer\": \"B\"}"));
    }
    let scored = Scored {
        models: models.into_iter().cloned().collect(),
        foreign,
        verdicts: verdicts(&key, &answers),
        rows,
        record,
    };
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let text = render(args.format.into(), &scored, args.each, look)
        .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
    ui.product(&text)?;
    Ok(if is_whole { Exit::Done } else { Exit::Partial })
}

/// Damaged lines that are named.
const DAMAGED: usize = 5;
