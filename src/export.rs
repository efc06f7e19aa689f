//! Transcripts written: whole as canonical JSONL, or compacted so that work can go on from them.
//!
//! [`compact`] decides what stays of a session that is at its end; one writer each turns that into a file: [`openai`] and
//! [`anthropic`] requests, [`canonical`] JSONL, or [`same`], the log itself with a record of the compaction behind it.
//! [`write_compacted`] does it for the sessions of one log, and says in a [`report`] what left and what the form cannot hold.
//! Nothing here touches the disk.

pub mod anthropic;
pub mod canonical;
mod dialogue;
mod logged;
mod names;
pub mod openai;
mod report;
pub mod same;

#[cfg(test)]
pub(crate) mod tests;

use crate::context::{Context, Entry};
use crate::discover::unpacked_name;
use crate::ingest::{Format, Ingested};
use crate::profile::Profile;
use crate::replay::pruning::Stretch;
use crate::replay::stage::Stage;
use crate::replay::{Mode, Plan, Prepared, ScheduleMode, effects, kinds, replay};
use crate::results::compacted::CompactReport;
use crate::results::files::COMPACTED;
use crate::run::{WindowChoice, WindowSource, Windows, auto_window};
use crate::strategy::Strategy;
use crate::summarize::{FileLists, Summarizer};
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{MessageIdx, Origin, Role, Transcript};
pub use names::{OutputName, output_names};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The form of what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One request of the chat completions API.
    Openai,
    /// One request of the Messages API.
    Anthropic,
    /// Canonical JSONL.
    Canonical,
    /// The log as it is, and behind it a record of the compaction in its own format.
    Same,
}

impl Target {
    /// Name as written in results and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Canonical => "canonical",
            Self::Same => "same",
        }
    }
}

/// How to compact.
#[derive(Debug, Clone)]
pub struct CompactSettings {
    /// The policy.
    pub profile: Profile,
    /// What makes the summary; one that writes text.
    pub strategy: Strategy,
    /// The window of a replay up to the end of the log.
    pub windows: Windows,
    /// Limit for everything generated, in tokens, instead of the profile's.
    pub summary_tokens: Option<u64>,
    /// How tokens are counted.
    pub tokenizer: Tokenizer,
    /// What to write.
    pub to: Target,
    /// Id, or its beginning, of the one session to take; without it every conversation with the user is taken.
    pub session: Option<String>,
}

/// A session as it stands after it was compacted at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// What the model sees from here on.
    pub context: Context,
    /// The harness' file lists.
    pub lists: FileLists,
    /// Strategy that ran.
    pub used: Strategy,
    /// Why it is not the one asked for.
    pub fallback: Option<String>,
    /// First message of the tail: all from it on stayed.
    pub tail: usize,
    /// Compactions, the last one at the end.
    pub compactions: usize,
    /// Window in tokens, and how it came about.
    pub window: u64,
    /// Name of how the window came about.
    pub window_source: &'static str,
    /// The session's model is unknown: the default window was taken for its, whether the session fills it or not.
    pub window_assumed: bool,
    /// Tokens of a request beyond its messages.
    pub overhead: u64,
    /// Limit of what is generated, in tokens.
    pub budget: u64,
    /// Tokens of all messages of the session.
    pub tokens_session: u64,
    /// Tokens of the context in front of the last compaction, overhead not included.
    pub tokens_before: u64,
    /// Tokens of the context, overhead not included.
    pub tokens_after: u64,
    /// Tokens of what was generated.
    pub tokens_summary: u64,
}

impl Compacted {
    /// Everything generated, in order.
    pub fn summaries(&self) -> impl Iterator<Item = &str> {
        self.context.entries.iter().filter_map(|entry| match entry {
            Entry::Summary { text, .. } => Some(text.as_str()),
            Entry::Kept(_) | Entry::Clipped { .. } => None,
        })
    }

    /// The newest request of the user where it stands in front of the tail: its message, and what stays of its text.
    pub fn pinned<'a>(&'a self, transcript: &'a Transcript) -> Option<(MessageIdx, String)> {
        self.context.entries.iter().find_map(|entry| match entry {
            Entry::Clipped { message, text } => Some((*message, text.clone())),
            Entry::Kept(at) if at.get() < self.tail => {
                let message = transcript.messages.get(at.get()).filter(|it| it.role != Role::System)?;
                Some((*at, message.authored_text()))
            }
            Entry::Kept(_) | Entry::Summary { .. } => None,
        })
    }
}

/// Why a session stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unchanged {
    /// It is one unit: no place to cut.
    OneUnit,
    /// The context would not be smaller: tokens of the session, and of what would be written.
    NoGain(u64, u64),
    /// The budget, in tokens, holds no text.
    NoText(u64),
    /// No summary came, for this reason, and the policy then leaves the session as it was.
    Failed(String),
    /// Nobody could be asked for a summary, for this reason.
    Stopped(String),
    /// The log's own format cannot take the record of a compaction: why, and what to do.
    Refused(String, String),
    /// The program itself failed.
    Internal,
}

impl fmt::Display for Unchanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneUnit => f.write_str("nothing can leave: the session is a single exchange"),
            Self::NoGain(session, after) => {
                write!(f, "no gain: {after} tokens would stand in place of {session}")
            }
            Self::Failed(reason) => write!(f, "no summary came: {reason}"),
            Self::Stopped(reason) => f.write_str(reason),
            Self::NoText(budget) => write!(f, "a budget of {budget} tokens holds no summary"),
            Self::Refused(cause, _) => f.write_str(cause),
            Self::Internal => f.write_str("the compaction of this session failed"),
        }
    }
}

impl Unchanged {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::OneUnit => "go on with the log as it is",
            Self::NoGain(..) => "go on with the log as it is, or give a smaller --summary-tokens",
            Self::NoText(_) => "give more with --summary-tokens, or a larger --window",
            Self::Failed(_) => "give a --profile whose [writing] on_failure puts another text in its place",
            Self::Stopped(_) => "",
            Self::Refused(_, hint) => hint,
            Self::Internal => "please report it with the log",
        }
    }
}

/// Compacts a session as of its end.
///
/// The log is walked at its window, as a replay does, compacted each time the trigger fires, and once more at its end where
/// more stands behind the last cut than may stay. A session that never fills the window is compacted once, at the window
/// that it does fill: whoever asks for it wants it smaller now.
pub fn compact(
    prepared: &Prepared<'_>,
    settings: &CompactSettings,
    summarizer: &dyn Summarizer,
) -> Result<Compacted, Unchanged> {
    let transcript = prepared.transcript;
    let messages = transcript.messages.len();
    let session = prepared.tokens.total();
    let planner = prepared.planner(&settings.profile, settings.summary_tokens);
    let (mut window, mut source, limit) = match &settings.windows {
        Windows::Cycles(cycles) | Windows::Shared(cycles) => {
            (planner.window_for(*cycles), WindowSource::Cycles, *cycles)
        }
        Windows::Given(choices) => match choices.first() {
            Some(WindowChoice::Tokens(window)) => (*window, WindowSource::Given, usize::MAX),
            Some(WindowChoice::Auto) | None => {
                let (window, source) = auto_window(transcript);
                (window, source, usize::MAX)
            }
        },
    };
    let assumed = source == WindowSource::Default;
    let mut schedule = planner.schedule_to_end(window, limit, messages);
    if !schedule.cuts.iter().any(|cut| cut.cut > cut.from) {
        window = planner.window_for_whole(session);
        source = WindowSource::Whole;
        schedule = planner.schedule_of_whole(window, messages);
    }
    let plan = Plan {
        profile: &settings.profile,
        strategy: settings.strategy,
        window,
        limit: schedule.cuts.len(),
        mode: Mode::Grow,
        schedule: ScheduleMode::Locked,
    };
    let result = replay(prepared, &planner, &schedule, plan, summarizer);
    if let Some(why) = result.stopped {
        return Err(Unchanged::Stopped(why));
    }
    let Some(last) = result.cycles.last() else { return Err(Unchanged::OneUnit) };
    let wrote = result.cycles.iter().rev().find(|trace| !trace.generated.is_empty());
    let budget = schedule.amounts.budget;
    let Some(told) = wrote.and_then(|trace| trace.told()) else {
        let failed = result.cycles.iter().find_map(|trace| trace.failed.clone());
        return Err(failed.map_or(Unchanged::NoText(budget), Unchanged::Failed));
    };
    // What the log holds behind the last compaction stays.
    let mut context = last.context.clone();
    context.entries.extend((last.cut.trigger..messages).map(|at| Entry::Kept(MessageIdx::new(at))));
    context.now = MessageIdx::new(messages);
    let made = result.cycles.iter().rev().find(|trace| trace.cut.cut > trace.cut.from);
    let since = made.map_or(0, |trace| trace.cut.trigger);
    let stretch = Stretch { tail: last.cut.cut.max(last.cut.from), since };
    let tail = |end| planner.tail(stretch, end, &schedule.amounts);
    let tokens_after = (last.tokens_after + tail(messages)).saturating_sub(tail(last.cut.trigger));
    let pruned = planner.pruned(stretch, messages, &schedule.amounts);
    context.pruned = pruned.map(|(at, text)| (at, text.to_owned())).collect();
    if tokens_after >= session {
        return Err(Unchanged::NoGain(session, tokens_after));
    }
    Ok(Compacted {
        lists: last.lists.clone(),
        used: told.used,
        fallback: told.fallback.clone(),
        tail: last.cut.cut.max(last.cut.from),
        compactions: result.cycles.iter().filter(|trace| trace.cut.cut > trace.cut.from).count(),
        window,
        window_source: source.name(),
        window_assumed: assumed,
        overhead: result.overhead,
        budget,
        tokens_session: session,
        tokens_before: last.tokens_before,
        tokens_after,
        tokens_summary: wrote.map_or(0, |trace| trace.generated.iter().map(|it| it.tokens).sum()),
        context,
    })
}

/// A file to be written, with the reports of the sessions in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name, without a directory.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Names and contents of the reports.
    pub reports: Vec<(String, CompactReport)>,
}

/// What became of the sessions of one log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// Files to be written.
    pub outputs: Vec<Output>,
    /// Sessions that stay as they are, and why.
    pub unchanged: Vec<(String, Unchanged)>,
    /// Sessions of sub-agents that were left out.
    pub sidechains: usize,
    /// No session has the id that was asked for.
    pub no_such_session: bool,
}

/// A session that was compacted, with its place in the log.
struct Done<'a> {
    /// Position among the sessions of the log.
    at: usize,
    /// Name of its files, without extension.
    base: String,
    transcript: &'a Transcript,
    /// The session as requests of the policy carry it, with results cut short or cleared.
    held: Option<Transcript>,
    compacted: Compacted,
    report: CompactReport,
}

/// Compacts the sessions of a log and writes them. `label` is its path, `name` what its files are called; `bytes` what stands in it.
pub fn write_compacted(
    bytes: &[u8],
    label: &str,
    name: &OutputName,
    ingested: &Ingested,
    settings: &CompactSettings,
    summarizer: &dyn Summarizer,
) -> Written {
    let mut written = Written::default();
    let picked = picked(ingested, settings, &mut written);
    if let (Target::Same, Some(format)) = (settings.to, ingested.format)
        && let Err(refused) = same::check_format(format)
    {
        written
            .unchanged
            .extend(picked.iter().map(|(_, transcript)| (transcript.id.clone(), refused.clone())));
        return written;
    }
    let mut done = Vec::new();
    for (at, transcript) in &picked {
        let stem = &name.stem;
        let base = if picked.len() == 1 { stem.clone() } else { format!("{stem}-{}", at + 1) };
        let format = ingested.format.map_or("", Format::name);
        let work = || session(transcript, label, format, settings, summarizer);
        match catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Unchanged::Internal)) {
            Ok((compacted, report, held)) => {
                done.push(Done { at: *at, base, transcript, held, compacted, report });
            }
            Err(unchanged) => written.unchanged.push((transcript.id.clone(), unchanged)),
        }
    }
    if settings.to == Target::Same {
        let name = name.file();
        match same::append(bytes, label, ingested, &additions(&done)) {
            Ok((bytes, refused)) => {
                let mut reports = Vec::new();
                for mut one in done {
                    if let Some((_, why)) = refused.iter().find(|(at, _)| *at == one.at) {
                        written.unchanged.push((one.transcript.id.clone(), why.clone()));
                        continue;
                    }
                    let note = same::note(ingested.format, one.transcript, &one.compacted);
                    one.report.notes.extend(note);
                    one.report.output.clone_from(&name);
                    reports.push((format!("{}{COMPACTED}", one.base), one.report));
                }
                if !reports.is_empty() {
                    written.outputs.push(Output { name, bytes, reports });
                }
            }
            Err(why) => {
                let all = done.iter().map(|one| (one.transcript.id.clone(), why.clone()));
                written.unchanged.extend(all);
            }
        }
        return written;
    }
    for mut one in done {
        let transcript = one.held.as_ref().unwrap_or(one.transcript);
        let (end, text, notes) = match settings.to {
            Target::Openai => {
                let (document, notes) = openai::document(transcript, &one.compacted.context);
                ("openai.json", document, notes)
            }
            Target::Anthropic => {
                let (document, notes) = anthropic::document(transcript, &one.compacted.context);
                ("anthropic.json", document, notes)
            }
            Target::Canonical | Target::Same => {
                let compacted = canonical::compacted(transcript, &one.compacted.context);
                ("canonical.jsonl", canonical::document([&compacted]), Vec::new())
            }
        };
        one.report.notes.extend(notes);
        let name = format!("{}.{end}", one.base);
        one.report.output.clone_from(&name);
        let reports = vec![(format!("{}.{}{COMPACTED}", one.base, settings.to.name()), one.report)];
        written.outputs.push(Output { name, bytes: text.into_bytes(), reports });
    }
    written
}

/// The sessions to take, with their places.
fn picked<'a>(
    ingested: &'a Ingested,
    settings: &CompactSettings,
    written: &mut Written,
) -> Vec<(usize, &'a Transcript)> {
    let all = || ingested.sessions.iter().enumerate();
    if let Some(wanted) = &settings.session {
        let exact = all().find(|(_, session)| session.id == *wanted);
        let found = exact.or_else(|| all().find(|(_, session)| session.id.starts_with(wanted.as_str())));
        written.no_such_session = found.is_none();
        return found.into_iter().collect();
    }
    let main: Vec<(usize, &Transcript)> =
        all().filter(|(_, session)| session.origin == Origin::Main).collect();
    // The log of a sub-agent holds nothing else.
    if main.is_empty() {
        return all().collect();
    }
    written.sidechains = ingested.sessions.len() - main.len();
    main
}

fn additions<'a>(done: &'a [Done<'a>]) -> Vec<same::Addition<'a>> {
    done.iter()
        .map(|one| same::Addition { at: one.at, transcript: one.transcript, compacted: &one.compacted })
        .collect()
}

/// Compacts one session and reports on it.
fn session(
    transcript: &Transcript,
    label: &str,
    format: &str,
    settings: &CompactSettings,
    summarizer: &dyn Summarizer,
) -> Result<(Compacted, CompactReport, Option<Transcript>), Unchanged> {
    let tokens = TokenIndex::new(transcript, settings.tokenizer);
    let effects = effects(transcript);
    let stage = Stage::new(transcript, &tokens, settings.tokenizer, &kinds(&effects), &settings.profile);
    let prepared = Prepared::on(&stage, transcript, &tokens, settings.tokenizer, &effects);
    let mut compacted = compact(&prepared, settings, summarizer)?;
    let held = compacted.context.pruned_of(prepared.transcript);
    let cut = logged::results_cut(transcript, &held, &compacted.context);
    if settings.to != Target::Same {
        let report = report::of(transcript, &tokens, &compacted, cut, settings, (label, format));
        return Ok((compacted, report, Some(held)));
    }
    // The log's own records stay as they are.
    let notes = logged::make(&mut compacted, transcript, &tokens, settings.tokenizer, cut);
    if compacted.tokens_after >= compacted.tokens_session {
        return Err(Unchanged::NoGain(compacted.tokens_session, compacted.tokens_after));
    }
    let mut report = report::of(transcript, &tokens, &compacted, 0, settings, (label, format));
    report.notes = notes;
    Ok((compacted, report, None))
}

/// File name of a path or label; `stdin.jsonl` for standard input.
pub fn file_name(label: &str) -> String {
    let name = label.rsplit(['/', '\\']).next().unwrap_or(label);
    let name = unpacked_name(name);
    if name == "<stdin>" { "stdin.jsonl".to_owned() } else { name.to_owned() }
}

/// The same without the extension of a log.
pub fn stem(label: &str) -> String {
    let name = file_name(label);
    let endings = [".canonical.jsonl", ".jsonl", ".json", ".ndjson", ".traj", ".md", ".yaml", ".yml"];
    let stem = endings.iter().find_map(|end| name.strip_suffix(end));
    stem.filter(|stem| !stem.is_empty()).map_or(name.clone(), str::to_owned)
}
