//! What the documents tell beside pooled numbers: sessions one by one, the worst of them with what they lost, what the logs are, how
//! to run it all again.

use super::runs::{Contender, Run, View};
use super::text::sanitize;
use crate::aggregate::counts;
use crate::profile::Profile;
use crate::results::{FactRow, SessionRow, ratio};
use crate::stats::quantile;
use crate::strategy::Strategy;
use crate::strategy::exec::EXEC;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Sessions that are looked at one by one.
pub const WORST: usize = 10;

/// Facts listed of one of them.
pub const LOSSES: usize = 25;

/// Sessions in the table of all.
pub const LISTED: usize = 2_000;

/// One session of a run under all contenders.
#[derive(Debug, Clone, PartialEq)]
pub struct Session<'a> {
    /// Place of its run.
    pub run: usize,
    /// A row of it.
    pub row: &'a SessionRow,
    /// At-risk facts in the summary, mean over cycles, by contender; `None` where it was not compacted or failed.
    pub values: Vec<Option<f64>>,
}

impl Session<'_> {
    /// Mean over the contenders that have a value.
    pub fn mean(&self) -> Option<f64> {
        let values: Vec<f64> = self.values.iter().copied().flatten().collect();
        crate::stats::mean(&values)
    }
}

/// All sessions with a value, those that lose most first. Sessions of several runs that have the same id stand in one row.
pub fn sessions<'a>(view: &View<'a>) -> Vec<Session<'a>> {
    let mut all: Vec<Session<'a>> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    for run in 0..view.runs.len() {
        for (at, row) in view.sessions(run) {
            let session = *place.entry(row.session.as_str()).or_insert_with(|| {
                all.push(Session { run, row, values: vec![None; view.contenders.len()] });
                all.len() - 1
            });
            let value = if counts(row) { row.summary_survival } else { None };
            if let Some(cell) = all.get_mut(session).and_then(|session| session.values.get_mut(at)) {
                *cell = value;
            }
        }
    }
    let mut all: Vec<(f64, Session<'a>)> = all.into_iter().filter_map(|it| Some((it.mean()?, it))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.row.session.cmp(&b.1.row.session)));
    all.into_iter().map(|(_, session)| session).collect()
}

/// A session that lost much under the contenders that are looked at closely.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst<'a> {
    /// Place of its run.
    pub run: usize,
    /// A row of it.
    pub row: &'a SessionRow,
    /// Facts needed and at risk, over all cycles that are not biased.
    pub needed: u64,
    /// Of those, not in the summary.
    pub needed_lost: u64,
    /// Facts at risk, over all cycles.
    pub at_risk: u64,
    /// Of those, not in the summary.
    pub lost: u64,
    /// What was lost, the most wanted first; empty where the run logged no facts.
    pub losses: Vec<Loss<'a>>,
    /// Losses beyond those.
    pub more: usize,
}

/// A fact that was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss<'a> {
    /// The row of its first loss.
    pub row: &'a FactRow,
    /// The work came back to it within the horizon, under any of them.
    pub needed: bool,
    /// Names of the contenders under which it was lost, controls left out; one of them leads.
    pub under: Vec<String>,
}

/// The sessions whose summaries lost most of what was needed, then most of all, summed over the leading contender of each profile
/// and window. A session that lost nothing is none of them.
pub fn worst<'a>(view: &View<'a>) -> Vec<Worst<'a>> {
    let mut all: Vec<Worst<'a>> = Vec::new();
    for run in 0..view.runs.len() {
        let mut of: BTreeMap<&str, Worst<'a>> = BTreeMap::new();
        for (at, row) in view.sessions(run) {
            if counts(row) && view.leads.contains(&at) {
                of.entry(&row.session).or_insert(Worst {
                    run,
                    row,
                    needed: 0,
                    needed_lost: 0,
                    at_risk: 0,
                    lost: 0,
                    losses: Vec::new(),
                    more: 0,
                });
            }
        }
        for (at, row) in view.cycles(run).filter(|(at, row)| view.leads.contains(at) && !row.opaque) {
            debug_assert!(view.get(at).is_some(), "a cycle of a contender");
            let Some(session) = of.get_mut(row.session.as_str()) else { continue };
            session.at_risk += row.facts_at_risk;
            session.lost += row.facts_at_risk.saturating_sub(row.facts_in_summary);
            if !row.needed_biased {
                session.needed += row.facts_needed;
                session.needed_lost += row.facts_needed.saturating_sub(row.facts_needed_in_summary);
            }
        }
        all.extend(of.into_values().filter(|session| session.lost > 0));
    }
    all.sort_by(|a, b| {
        (b.needed_lost, b.lost).cmp(&(a.needed_lost, a.lost)).then_with(|| a.row.session.cmp(&b.row.session))
    });
    all.truncate(WORST);
    for run in 0..view.runs.len() {
        losses(view, run, &mut all);
    }
    all
}

/// Fills in what the sessions of a run lost.
fn losses<'a>(view: &View<'a>, run: usize, worst: &mut [Worst<'a>]) {
    let Some(rows) = view.runs.get(run).map(|run| &run.output.facts) else { return };
    let mut lost: BTreeMap<(&str, u64), Loss<'a>> = BTreeMap::new();
    let mut led: BTreeSet<(&str, u64)> = BTreeSet::new();
    let wanted: BTreeSet<&str> =
        worst.iter().filter(|it| it.run == run).map(|it| it.row.session.as_str()).collect();
    for row in rows.iter().filter(|row| row.first_loss && wanted.contains(row.session.as_str())) {
        let at = view.contender_of(run, &row.session, &row.profile, &row.strategy, row.window);
        let Some((at, contender)) = at.and_then(|at| Some((at, view.get(at)?))) else { continue };
        if view.leads.contains(&at) {
            led.insert((&row.session, row.fact));
        } else if contender.is_control() {
            continue;
        }
        let loss = lost.entry((&row.session, row.fact)).or_insert_with(|| Loss {
            row,
            needed: false,
            under: Vec::new(),
        });
        loss.needed |= row.needed;
        if row.cycle < loss.row.cycle {
            loss.row = row;
        }
        if !loss.under.contains(&contender.name) {
            loss.under.push(contender.name.clone());
        }
    }
    for session in worst.iter_mut().filter(|it| it.run == run) {
        let mut own: Vec<Loss<'a>> = lost
            .range((session.row.session.as_str(), 0)..=(session.row.session.as_str(), u64::MAX))
            .filter(|(key, _)| led.contains(*key))
            .map(|(_, loss)| loss.clone())
            .collect();
        own.sort_by_key(|loss| (!loss.needed, std::cmp::Reverse(loss.row.mentions_later), loss.row.fact));
        session.more = own.len().saturating_sub(LOSSES);
        own.truncate(LOSSES);
        session.losses = own;
    }
}

/// How the facts of one contender stand in its summaries, over all compactions that count, and what these invent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Damage([u64; 11]);

impl Damage {
    /// Names of the counts.
    pub const NAMES: [&'static str; 11] = [
        "at risk",
        "kept exactly",
        "kept, spelled otherwise",
        "partly there",
        "negation lost",
        "path under another directory",
        "label without value",
        "ambiguous path",
        "stale",
        "invented",
        "quotes nobody said",
    ];

    /// The counts.
    pub fn counts(self) -> [u64; 11] {
        self.0
    }
}

/// Sums over the cycles of a contender.
pub fn damage<'a>(view: &View<'a>, contender: &Contender<'a>) -> Damage {
    let place = view.contenders.iter().position(|it| std::ptr::eq(it.row, contender.row));
    let counted: BTreeSet<&str> = view
        .sessions(contender.run)
        .filter(|(at, row)| Some(*at) == place && counts(row))
        .map(|(_, row)| row.session.as_str())
        .collect();
    let mut sums = [0; 11];
    for (_, row) in view
        .cycles(contender.run)
        .filter(|(at, row)| Some(*at) == place && !row.opaque && counted.contains(row.session.as_str()))
    {
        let counts = [
            row.facts_at_risk,
            row.facts_in_summary_exact,
            row.facts_in_summary.saturating_sub(row.facts_in_summary_exact),
            row.degraded,
            row.contradicted,
            row.mutated,
            row.label_only,
            row.ambiguous,
            row.stale,
            row.invented,
            row.quotes_fabricated,
        ];
        sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
    }
    Damage(sums)
}

/// What the logs of one format are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Logs {
    /// The format; empty for all of them.
    pub format: String,
    /// Sessions.
    pub sessions: u64,
    /// Of those, compacted under some contender with a gain.
    pub exercised: u64,
    /// Of those in all, sub-agents.
    pub sidechains: u64,
    /// Messages.
    pub messages: u64,
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tokens.
    pub tokens: u64,
    /// Of those, in tool calls and results.
    pub tokens_tool: u64,
    /// Facts of sessions that were compacted.
    pub facts: u64,
    /// Messages that mention them.
    pub mentions: u64,
    /// Compactions that the logs hold.
    pub recorded: u64,
    /// Tokens of a session: a quarter have fewer, half, three quarters.
    pub quartiles: [Option<f64>; 3],
}

impl Logs {
    /// Share of the tokens in tool calls and results.
    pub fn tool_share(&self) -> Option<f64> {
        ratio(self.tokens_tool, self.tokens)
    }

    /// Messages that mention a fact, on the mean.
    pub fn repeat_rate(&self) -> Option<f64> {
        ratio(self.mentions, self.facts)
    }
}

/// The logs of a run by format, and all of them last. A session counts once, whatever was done to it.
pub fn logs(run: &Run) -> Vec<Logs> {
    struct One<'a> {
        row: &'a SessionRow,
        exercised: bool,
    }
    let mut sessions: BTreeMap<&str, One<'_>> = BTreeMap::new();
    for row in &run.output.sessions {
        let one = sessions.entry(&row.session).or_insert(One { row, exercised: false });
        one.exercised |= counts(row);
        // Facts are counted up to the last compaction: the plan that goes farthest tells of most.
        if one.row.facts < row.facts {
            one.row = row;
        }
    }
    let mut formats: BTreeMap<&str, (Logs, Vec<f64>)> = BTreeMap::new();
    let mut whole = (Logs::default(), Vec::new());
    for one in sessions.values() {
        for (logs, sizes) in [formats.entry(&one.row.format).or_default(), &mut whole] {
            logs.sessions += 1;
            logs.exercised += u64::from(one.exercised);
            logs.sidechains += u64::from(one.row.origin == "sidechain");
            logs.messages += one.row.messages;
            logs.turns += one.row.turns;
            logs.tool_calls += one.row.tool_calls;
            logs.tokens += one.row.tokens;
            logs.tokens_tool += one.row.tokens_tool;
            logs.facts += one.row.facts;
            logs.mentions += one.row.mentions;
            logs.recorded += one.row.recorded_compactions;
            sizes.push(one.row.tokens as f64);
        }
    }
    let done = |format: &str, (logs, sizes): (Logs, Vec<f64>)| Logs {
        format: format.to_owned(),
        quartiles: [0.25, 0.5, 0.75].map(|at| quantile(&sizes, at)),
        ..logs
    };
    let mut rows: Vec<Logs> = formats.into_iter().map(|(format, logs)| done(format, logs)).collect();
    rows.sort_by(|a, b| b.sessions.cmp(&a.sessions).then_with(|| a.format.cmp(&b.format)));
    if rows.len() != 1 {
        rows.push(done("", whole));
    }
    rows
}

/// The command that makes the run again, with `LOGS` in the place of its input.
pub fn command(run: &Run) -> String {
    let settings = &run.output.manifest.settings;
    let tokenizer = format!(" --tokenizer {}", word(&settings.tokenizer));
    let logged = !run.output.facts.is_empty() || run.output.lacks_facts();
    let facts = if logged { " --log-facts" } else { "" };
    if settings.strategies == [Strategy::Recorded.name()] {
        return format!("compactor audit LOGS{tokenizer} --out DIR{facts}");
    }
    let list = |words: &[String]| words.iter().map(|text| word(text)).collect::<Vec<_>>().join(",");
    let mut text = format!(
        "compactor replay LOGS --profile {}",
        list(&settings.profiles.iter().map(|name| file_of(name)).collect::<Vec<_>>()),
    );
    let (programs, named): (Vec<String>, Vec<String>) =
        settings.strategies.iter().cloned().partition(|name| name.starts_with(EXEC));
    if !named.is_empty() {
        text += &format!(" --strategy {}", list(&named));
    }
    // A command ends its argument.
    for program in programs {
        text += &format!(" --strategy {}", word(&program));
    }
    if let Some(writer) = &settings.writer {
        text += " --summarizer llm";
        let said = [
            ("provider", &writer.provider),
            ("model", &writer.model),
            ("temperature", &writer.temperature),
            ("on-miss", &writer.on_miss),
        ];
        for (name, value) in said.into_iter().filter(|(_, value)| !value.is_empty()) {
            text += &format!(" --{name} {}", word(value));
        }
        if let Some(tokens) = writer.max_output_tokens {
            text += &format!(" --max-output-tokens {tokens}");
        }
        if !writer.prompt_hash.is_empty() {
            text += " --prompt FILE";
        }
    }
    if settings.windows.is_empty() {
        text += &format!(" --cycles {}", settings.cycles);
        if settings.same_window {
            text += " --same-window";
        }
    } else {
        text += &format!(" --window {}", list(&settings.windows));
    }
    if !settings.compact_at.is_empty() {
        text += &format!(" --compact-at {}", list(&settings.compact_at));
    }
    text += &format!(" --recorded {}", if settings.follow_recorded { "follow" } else { "ignore" });
    text += &format!(" --schedule {} --mode {}", word(&settings.schedule), word(&settings.mode));
    if let Some(tokens) = settings.summary_tokens {
        text += &format!(" --summary-tokens {tokens}");
    }
    text + &tokenizer + " --out DIR" + facts
}

/// A profile as an argument: its name where it is embedded, else a file of its name, since results do not tell where it lay.
fn file_of(name: &str) -> String {
    match Profile::named(name) {
        Some(_) => name.to_owned(),
        None => format!("{name}.toml"),
    }
}

/// What else has to be put into the command of a run: the files of profiles that are not embedded. Empty where all are.
pub fn files_of(run: &Run) -> String {
    let settings = &run.output.manifest.settings;
    if settings.strategies == [Strategy::Recorded.name()] {
        return String::new();
    }
    let own: Vec<&String> = settings.profiles.iter().filter(|name| Profile::named(name).is_none()).collect();
    let told: Vec<String> = own
        .iter()
        .map(|name| {
            format!(", the file of profile {} in place of {}", sanitize(name), sanitize(&file_of(name)))
        })
        .collect();
    told.concat()
}

/// A word that a shell takes as it is.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::Run;
    use crate::results::files::sample;
    use std::borrow::Cow;

    fn fact(
        session: &str,
        fact: u64,
        strategy: &'static str,
        cycle: u32,
        needed: bool,
        mentions_later: u64,
    ) -> FactRow {
        FactRow {
            session: session.into(),
            profile: "standard".into(),
            strategy: Cow::Borrowed(strategy),
            window: 20_000,
            cycle,
            fact,
            class: Cow::Borrowed("command"),
            value: format!("make {fact}"),
            location: Cow::Borrowed("lost"),
            mentions_later,
            needed,
            first_loss: true,
            ..FactRow::default()
        }
    }

    #[test]
    fn sessions_are_ordered_by_what_they_keep() {
        let runs = [Run::new("r".to_owned(), sample::run(3))];
        let view = View::new(&runs);
        let sessions = sessions(&view);
        assert_eq!(sessions.len(), 3, "a session without a value is not in it");
        let means: Vec<f64> = sessions.iter().filter_map(Session::mean).collect();
        assert!(means.is_sorted(), "{means:?}");
        assert_eq!(sessions[0].values.len(), 4);
        assert_eq!(sessions[0].values[3], Some(1.0 / 15.0));
    }

    #[test]
    fn the_worst_lost_most_of_what_was_needed_under_the_leading_strategy() {
        let mut output = sample::run(3);
        for row in &mut output.cycles {
            row.facts_needed_in_summary =
                if row.session == "s01" && row.strategy == "structured" { 0 } else { 4 };
        }
        output.facts = vec![
            fact("s01", 1, "structured", 2, false, 9),
            fact("s01", 2, "structured", 1, true, 1),
            fact("s01", 2, "narrative", 1, false, 1),
            fact("s01", 2, "emergency", 1, false, 1),
            fact("s02", 2, "structured", 1, false, 1),
            fact("s01", 4, "truncate", 1, true, 1),
            FactRow { first_loss: false, ..fact("s01", 3, "structured", 1, true, 1) },
        ];
        let runs = [Run::new("r".to_owned(), output)];
        let view = View::new(&runs);
        let worst = worst(&view);
        assert_eq!(worst[0].row.session, "s01");
        assert_eq!((worst[0].needed, worst[0].needed_lost, worst[0].more), (4, 4, 0));
        let losses: Vec<(u64, bool, &[String])> =
            worst[0].losses.iter().map(|it| (it.row.fact, it.needed, it.under.as_slice())).collect();
        assert_eq!(losses.len(), 2, "what only others lost is left out");
        assert_eq!(losses[0].0, 2, "needed first");
        assert_eq!(losses[0].2, ["structured", "narrative"], "controls are left out");
        assert_eq!(worst[1].needed_lost, 0);
    }

    #[test]
    fn logs_count_each_session_once() {
        let mut output = sample::run(2);
        for row in &mut output.sessions {
            (row.tokens, row.tokens_tool, row.facts, row.mentions) = (100, 40, 10, 25);
            if row.session == "s01" {
                row.format = "codex".into();
            }
        }
        let rows = logs(&Run::new("r".to_owned(), output));
        let formats: Vec<(&str, u64, u64)> =
            rows.iter().map(|row| (row.format.as_str(), row.sessions, row.exercised)).collect();
        assert_eq!(formats, [("pi", 2, 1), ("codex", 1, 1), ("", 3, 2)]);
        assert_eq!((rows[2].tool_share(), rows[2].repeat_rate()), (Some(0.4), Some(2.5)));
        assert_eq!(rows[2].quartiles, [Some(100.0); 3]);
        assert_eq!(Logs::default().tool_share(), None);
    }

    #[test]
    fn the_command_tells_every_setting() {
        let mut output = sample::run(1);
        let text = command(&Run::new("r".to_owned(), output.clone()));
        assert_eq!(
            text,
            "compactor replay LOGS --profile standard --strategy structured,narrative,truncate,emergency --cycles 1 \
             --recorded ignore --schedule locked --mode grow --tokenizer o200k --out DIR"
        );
        output.manifest.settings.windows = vec!["8000".to_owned(), "auto".to_owned()];
        output.manifest.settings.profiles = vec!["it's mine".to_owned(), "pi+fixes".to_owned()];
        output.manifest.settings.summary_tokens = Some(900);
        let text = command(&Run::new("r".to_owned(), output.clone()));
        assert!(
            text.contains(r"--profile 'it'\''s mine.toml',pi+fixes ") && text.contains("--window 8000,auto"),
            "{text}"
        );
        assert!(text.contains("--summary-tokens 900") && !text.contains("--same-window"));
        let run = Run::new("r".to_owned(), output.clone());
        assert_eq!(files_of(&run), ", the file of profile it's mine in place of it's mine.toml");
        output.manifest.settings.windows.clear();
        output.manifest.settings.same_window = true;
        assert!(command(&Run::new("r".to_owned(), output.clone())).contains("--cycles 1 --same-window"));
        output.manifest.settings.strategies = vec!["recorded".to_owned()];
        assert_eq!(
            command(&Run::new("r".to_owned(), output)),
            "compactor audit LOGS --tokenizer o200k --out DIR"
        );
    }
}
