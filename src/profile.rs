//! A system's whole compaction policy as plain data: when to compact, what to keep, how the summary is written.
//!
//! No code asks for a system's name: every system, and every user's own policy, is a value of [`Profile`], written as
//! TOML. Absolute amounts are meant for [`Profile::window`]; [`Profile::at`] scales them to the window of a replay.

use crate::compaction::{EmergencyRules, SessionRules, WritingRules};
use crate::cut::{CutRules, Landing, Measure as CutMeasure, TurnRules};
use crate::estimate::{BudgetRules, EstimateRules, Limit, Room, TriggerRules, UsageRules};
use crate::harness::MessageRules;
use crate::ledger::FileOpRules;
use crate::outputs::OutputRules;
use crate::overflow::Matcher;
use crate::pairs::PairRules;
use crate::prompt::PromptRules;
use crate::replay::events::EventRules;
use crate::strategy::TextRules;
use crate::summarize::{Layout, ListForm};
use crate::summary_text::SummaryText;
use crate::transcript::Role;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// The embedded policies: the default first.
const NAMED: [(&str, &str); 11] = [
    ("standard", include_str!("profile/standard.toml")),
    ("opal", include_str!("profile/opal.toml")),
    ("operator-use", include_str!("profile/operator-use.toml")),
    ("operator-use-docs", include_str!("profile/operator-use-docs.toml")),
    ("pi", include_str!("profile/pi.toml")),
    ("pi-0.73", include_str!("profile/pi-0.73.toml")),
    ("lis", include_str!("profile/lis.toml")),
    ("lis-digests", include_str!("profile/lis-digests.toml")),
    ("sven", include_str!("profile/sven.toml")),
    ("sven-ci", include_str!("profile/sven-ci.toml")),
    ("sven-interactive", include_str!("profile/sven-interactive.toml")),
];

/// Behind the name of a profile: the same with its known faults mended.
const FIXED: &str = "+fixes";

/// Most profiles that extend each other.
const DEPTH: usize = 8;

/// A policy. Unknown keys are errors that name their line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Name as written in results.
    pub name: String,
    /// One line for listings.
    #[serde(default)]
    pub description: String,
    /// The window, in tokens, that its absolute amounts are meant for.
    pub window: u64,
    /// Keep the newest user request verbatim after every compaction.
    #[serde(default)]
    pub pin_request: bool,
    /// Largest pinned request as a share of the window; above it the head and the tail stay.
    #[serde(default = "default_pin_limit")]
    pub pin_limit: f64,
    /// What every request carries beyond messages.
    #[serde(default)]
    pub overhead: Overhead,
    /// What a message is to the system.
    #[serde(default)]
    pub messages: MessageRules,
    /// How large an entry is to the system; exact counts where this is missing.
    #[serde(default)]
    pub estimate: Option<EstimateRules>,
    /// How reported usage is read.
    #[serde(default)]
    pub usage: Option<UsageRules>,
    /// The room for a prompt.
    #[serde(default)]
    pub budget: BudgetRules,
    /// When to compact.
    pub trigger: TriggerRules,
    /// How much stays verbatim.
    pub keep: Keep,
    /// Where the tail begins.
    pub cut: CutRules,
    /// What a cut inside a turn is.
    pub turn: TurnRules,
    /// What to do when the cut falls inside a turn.
    #[serde(default)]
    pub split: Split,
    /// How sessions hold compactions.
    pub session: SessionRules,
    /// When a summary is given up.
    #[serde(default)]
    pub emergency: Option<EmergencyRules>,
    /// What a person's command does.
    #[serde(default)]
    pub manual: ManualRules,
    /// What a refused request does, where its error is taken for an overflow.
    #[serde(default)]
    pub refused: RefusedRules,
    /// How it tells of compactions.
    #[serde(default)]
    pub events: EventRules,
    /// How pairs are repaired when a request is built.
    #[serde(default)]
    pub pairs: PairRules,
    /// What becomes of tool results.
    #[serde(default)]
    pub outputs: OutputRules,
    /// How a conversation is written for a summarizer.
    #[serde(default)]
    pub prompt: Option<PromptRules>,
    /// How the summary is written and placed.
    pub summary: SummaryRules,
    /// What the system's own code writes around or in place of a summary.
    pub summary_text: SummaryText,
    /// How summaries are asked for, and what a failure does.
    #[serde(default)]
    pub writing: WritingRules,
    /// Which calls count for the lists of files, by the system's own names of tools.
    #[serde(default)]
    pub ledger: Option<FileOpRules>,
    /// What counts as a file operation for the cumulative lists of a replay.
    #[serde(default)]
    pub files: FileRules,
    /// Which errors it takes for an overflow: the name of an embedded matcher, or a table.
    #[serde(default = "no_matcher", deserialize_with = "crate::overflow::name_or_table")]
    pub overflow: Matcher,
    /// Faults of the system that are mended in this profile.
    #[serde(default)]
    pub fixes: Vec<Fix>,
}

/// A fault of a modelled system that can be mended: faithful profiles have none mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fix {
    /// A cut never parts a call from its result: it moves to the nearest place before it, else behind it, that does not.
    SafeCut,
    /// What is summarized takes up the summary before it, where the system forgets or drops it.
    CarrySummary,
    /// A clean cut behind a label or model change counts as clean.
    FalseSplit,
    /// A summary without a word is a failure.
    EmptySummary,
}

impl Fix {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::SafeCut, Self::CarrySummary, Self::FalseSplit, Self::EmptySummary];

    /// Name in a profile file.
    pub fn name(self) -> &'static str {
        match self {
            Self::SafeCut => "safe-cut",
            Self::CarrySummary => "carry-summary",
            Self::FalseSplit => "false-split",
            Self::EmptySummary => "empty-summary",
        }
    }
}

/// The name of a profile without the mark that its faults are mended, and whether it has the mark.
fn plain_name(name: &str) -> (&str, bool) {
    name.strip_suffix(FIXED).map_or((name, false), |plain| (plain, true))
}

/// Names of all fixes as a value of TOML.
fn all_fixes() -> Value {
    Value::Array(Fix::ALL.into_iter().map(|fix| Value::from(fix.name())).collect())
}

fn no_matcher() -> Matcher {
    Matcher::named("none").expect("an embedded matcher: a test parses it")
}

fn default_pin_limit() -> f64 {
    0.25
}

/// Tokens of a request that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// Used when neither tool schemas nor the first recorded usage tell.
    #[serde(default)]
    pub tokens: u64,
}

/// How much stays verbatim: exactly one of these.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Size of the tail in tokens, for the profile's own window.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Share of the window.
    #[serde(default)]
    pub share: Option<f64>,
    /// Share of what the context holds when it is compacted, by the cut's own sizes: a summary that counts there, and
    /// messages, but nothing that a request carries beside them.
    #[serde(default)]
    pub context: Option<f64>,
    /// Number of entries; does not scale with the window.
    #[serde(default)]
    pub entries: Option<u64>,
}

/// What a person's command to compact does.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct ManualRules {
    /// Size of the tail in tokens, for the profile's own window, unless the command names one; missing: that of [`Keep`].
    pub keep: Option<u64>,
    /// The tail is no more than this share of what stands in the context, unless the command names its size.
    pub context_share: Option<f64>,
    /// When it is done.
    pub when: When,
    /// Fewest entries of a session that is compacted.
    pub least: usize,
    /// A session that is taken up again comes back as it is where it is no more than this share of the window, else all of
    /// it is compacted. Missing: it always comes back.
    pub resume: Option<f64>,
}

/// When a command is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// At once.
    #[default]
    Now,
    /// When no turn is under way.
    TurnEnd,
}

/// What a request that does not fit does.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RefusedRules {
    /// Size of the tail as a share of the window; missing: that of [`Keep`].
    pub keep_share: Option<f64>,
    /// Something leaves although all of it might stay by size ([`CutRules::forced`]).
    pub force: bool,
    /// No summary: what leaves by the rules of an emergency is dropped.
    pub drop: bool,
}

/// A cut inside a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// 1: the turn's beginning is summarised with the rest; 2: it gets a summary of its own, a third of the budget.
    #[serde(default = "one")]
    pub summaries: u8,
}

impl Default for Split {
    fn default() -> Self {
        Self { summaries: 1 }
    }
}

fn one() -> u8 {
    1
}

/// How the summary is written and placed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryRules {
    /// Least budget in tokens; does not scale with the window.
    pub budget_tokens: u64,
    /// Budget as a share of the window; the larger of both holds.
    pub budget_fraction: f64,
    /// Sections of the structured strategy.
    pub layout: LayoutName,
    /// How the file lists enter the text.
    pub lists: ListName,
    /// Whether the truncate strategy writes file tags.
    #[serde(default)]
    pub truncate_tags: bool,
    /// Whether the harness keeps the file lists as data beside the text too, outside the budget and the model's sight.
    #[serde(default)]
    pub metadata: bool,
    /// Role of the message that carries the summary: `user` or `assistant`.
    #[serde(default)]
    pub role: SummaryRole,
    /// Whether a summary takes up the one before it.
    #[serde(default = "yes")]
    pub carries: bool,
    /// What the truncate strategy calls a message of tool results.
    #[serde(default = "tool")]
    pub tool_name: String,
}

fn tool() -> String {
    "tool".to_owned()
}

/// Role of the message that carries the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryRole {
    /// As if the user said it.
    #[default]
    User,
    /// As if the model said it.
    Assistant,
}

impl From<SummaryRole> for Role {
    fn from(role: SummaryRole) -> Self {
        match role {
            SummaryRole::User => Self::User,
            SummaryRole::Assistant => Self::Assistant,
        }
    }
}

/// Names of [`Layout`] in a profile file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutName {
    /// See [`Layout::SixSections`].
    SixSections,
    /// See [`Layout::GoalProgress`].
    GoalProgress,
    /// See [`Layout::Prose`].
    Prose,
}

/// Names of [`ListForm`] in a profile file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListName {
    /// See [`ListForm::Tags`].
    Tags,
    /// See [`ListForm::Inline`].
    Inline,
    /// See [`ListForm::None`].
    None,
}

/// What counts as a file operation for the cumulative lists of the harness (not for the answer key).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRules {
    /// Count calls that failed, were refused or never answered.
    #[serde(default)]
    pub failed: bool,
    /// Count operations found in shell commands.
    #[serde(default = "yes")]
    pub shell: bool,
}

fn yes() -> bool {
    true
}

impl Default for FileRules {
    fn default() -> Self {
        Self { failed: false, shell: true }
    }
}

/// A profile that cannot be used: the reason, with the line where one is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("profile {name}: {reason}")]
pub struct ProfileError {
    /// File or profile name.
    pub name: String,
    /// What is wrong and what would be right.
    pub reason: String,
}

/// Least budget of a summary: below it stands no line beside the frame.
const LEAST_BUDGET: u64 = 50;

/// Most entries that a tail may hold by their number: more than any session has between two compactions.
const MOST_ENTRIES: u64 = 10_000;

/// Settings that contradict each other or make no sense.
#[derive(Debug)]
struct Fault {
    /// The keys that are to blame, the likeliest first.
    keys: Vec<String>,
    /// Why.
    reason: String,
}

impl Fault {
    fn of(keys: &[&str], reason: impl Into<String>) -> Self {
        Self { keys: keys.iter().map(|key| (*key).to_owned()).collect(), reason: reason.into() }
    }

    /// A reason that begins with its key.
    fn told(reason: String) -> Self {
        Self { keys: reason.split(' ').next().map(str::to_owned).into_iter().collect(), reason }
    }

    /// The reason, with the line of the first of its keys that a text holds itself.
    fn in_text(self, text: &str) -> String {
        match self.keys.iter().find_map(|key| line_of(text, key)) {
            Some(line) => format!("line {line}: {}", self.reason),
            None => self.reason,
        }
    }
}

/// The line of a TOML text, from 1, that sets a key, given by its path.
fn line_of(text: &str, path: &str) -> Option<usize> {
    let document = toml::de::DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut keys = path.split('.').peekable();
    loop {
        let key = keys.next()?;
        let (found, value) = table.iter().find(|(known, _)| known.get_ref() == key)?;
        if keys.peek().is_none() {
            return text.get(..found.span().start).map(|before| before.matches('\n').count() + 1);
        }
        let toml::de::DeValue::Table(inner) = value.get_ref() else { return None };
        table = inner;
    }
}

/// Reads one table of a TOML text, and nothing else of it.
pub(crate) fn section<T: DeserializeOwned>(text: &str, key: &str) -> Result<T, ProfileError> {
    let fail = |reason: String| ProfileError { name: key.to_owned(), reason };
    let mut tables: toml::Table =
        toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_owned()))?;
    let table = tables.remove(key).ok_or_else(|| fail(format!("there is no table [{key}]")))?;
    T::deserialize(table).map_err(|error| fail(error.to_string().trim_end().to_owned()))
}

impl Profile {
    /// The embedded default.
    pub fn standard() -> Self {
        Self::named("standard")
            .expect("an embedded profile")
            .expect("the embedded profile is valid: a test parses it")
    }

    /// Names of the embedded profiles, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// The text of an embedded profile as a file of its own, comments included; of `NAME+fixes` too.
    pub fn file_of(name: &str) -> Option<String> {
        let (plain, fixed) = plain_name(name);
        let text = Self::text_of(plain)?;
        if !fixed {
            return Some(text.to_owned());
        }
        let own = format!("name = \"{plain}\"");
        let mended = format!("name = \"{name}\"\nfixes = {}", all_fixes());
        Some(text.replacen(&own, &mended, 1))
    }

    /// The text of an embedded profile, comments included.
    pub fn text_of(name: &str) -> Option<&'static str> {
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// An embedded profile; `NAME+fixes` is one with its known faults mended. `None` where there is none of the name.
    pub fn named(name: &str) -> Option<Result<Self, ProfileError>> {
        let (plain, fixed) = plain_name(name);
        let parsed = Self::parse(plain, Self::text_of(plain)?);
        Some(parsed.map(|mut profile| {
            if fixed {
                profile.fixes = Fix::ALL.to_vec();
                name.clone_into(&mut profile.name);
            }
            profile
        }))
    }

    /// Reads a profile from TOML text; `origin` names it in errors. `extends = "NAME"` begins with an embedded profile and
    /// changes it: tables are merged key by key. Errors name the line of a key where the text holds it.
    pub fn parse(origin: &str, text: &str) -> Result<Self, ProfileError> {
        let fail = |reason: String| ProfileError { name: origin.to_owned(), reason };
        let own: Table = text.parse().map_err(|error: toml::de::Error| fail(plain(&error)))?;
        let profile: Self = if own.contains_key("extends") {
            let table = extended(own, DEPTH).map_err(fail)?;
            table.try_into().map_err(|error: toml::de::Error| fail(located(&plain(&error), text)))?
        } else {
            toml::from_str(text).map_err(|error| fail(suggested(&plain(&error))))?
        };
        profile.validate().map_err(|fault| fail(fault.in_text(text)))?;
        Ok(profile)
    }

    /// An embedded profile as a table, those that it extends taken in.
    pub fn table_of(name: &str) -> Option<Table> {
        let own: Table = Self::text_of(name)?.parse().ok()?;
        extended(own, DEPTH).ok()
    }

    /// Is a fault mended here?
    pub fn mends(&self, fix: Fix) -> bool {
        self.fixes.contains(&fix)
    }

    /// Refuses contradictory and senseless settings before anything runs.
    fn validate(&self) -> Result<(), Fault> {
        let share = |value: f64| value.is_finite() && value > 0.0 && value <= 1.0;
        if self.window == 0 {
            return Err(Fault::of(&["window"], "window must be at least 1 token"));
        }
        self.trigger.validate().map_err(Fault::told)?;
        self.budget.validate().map_err(Fault::told)?;
        if self.budget.output >= self.window {
            let reason = format!(
                "budget.output is {}, which leaves nothing of the window ({})",
                self.budget.output, self.window
            );
            return Err(Fault::of(&["budget.output", "window"], reason));
        }
        if !share(self.pin_limit) {
            let reason = format!("pin_limit is {}, must be above 0 and at most 1", self.pin_limit);
            return Err(Fault::of(&["pin_limit"], reason));
        }
        self.validate_summary()?;
        self.validate_estimate()?;
        self.validate_keep()?;
        for (name, value) in [
            ("manual.resume", self.manual.resume),
            ("manual.context_share", self.manual.context_share),
            ("refused.keep_share", self.refused.keep_share),
        ] {
            if let Some(value) = value.filter(|value| !share(*value)) {
                return Err(Fault::of(&[name], format!("{name} is {value}, must be above 0 and at most 1")));
            }
        }
        if self.refused.drop && self.emergency.is_none() {
            let reason = "refused.drop needs a table [emergency]: it says what stays";
            return Err(Fault::of(&["refused.drop"], reason));
        }
        if !(1..=2).contains(&self.split.summaries) {
            let reason = format!("split.summaries is {}, must be 1 or 2", self.split.summaries);
            return Err(Fault::of(&["split.summaries"], reason));
        }
        Ok(())
    }

    fn validate_summary(&self) -> Result<(), Fault> {
        let summary = &self.summary;
        let (tokens, fraction) = (summary.budget_tokens, summary.budget_fraction);
        if !(fraction.is_finite() && (0.0..=0.25).contains(&fraction)) {
            let reason = format!("summary.budget_fraction is {fraction}, must be between 0 and 0.25");
            return Err(Fault::of(&["summary.budget_fraction"], reason));
        }
        if tokens > self.window / 4 {
            let reason = format!(
                "summary.budget_tokens is {tokens}, more than a quarter of the window ({})",
                self.window
            );
            return Err(Fault::of(&["summary.budget_tokens", "window"], reason));
        }
        let of_window = (fraction * self.window as f64) as u64;
        if (tokens > 0 || of_window < LEAST_BUDGET) && tokens < LEAST_BUDGET {
            let reason = format!(
                "summary.budget_tokens is {tokens}, too few for a summary: must be at least {LEAST_BUDGET}, or 0 where \
                 summary.budget_fraction alone gives as many"
            );
            return Err(Fault::of(&["summary.budget_tokens", "summary.budget_fraction", "window"], reason));
        }
        Ok(())
    }

    fn validate_estimate(&self) -> Result<(), Fault> {
        let Some(rules) = &self.estimate else {
            if self.cut.measure == CutMeasure::Estimate {
                let reason = "cut.measure is \"estimate\", but there is no table [estimate]";
                return Err(Fault::of(&["cut.measure"], reason));
            }
            if self.trigger.measure != crate::estimate::Measure::Counted {
                let reason = "trigger.measure is not \"counted\", but there is no table [estimate]";
                return Err(Fault::of(&["trigger.measure"], reason));
            }
            return Ok(());
        };
        for (key, tokens) in [
            ("estimate.least", rules.least),
            ("estimate.per_message", rules.per_message),
            ("estimate.per_call", rules.per_call),
        ] {
            if tokens >= self.window {
                let reason =
                    format!("{key} is {tokens}: one message would fill the window ({})", self.window);
                return Err(Fault::of(&[key, "window"], reason));
            }
        }
        Ok(())
    }

    fn validate_keep(&self) -> Result<(), Fault> {
        let keep = self.keep;
        let told = [
            ("keep.tokens", keep.tokens.is_some()),
            ("keep.share", keep.share.is_some()),
            ("keep.context", keep.context.is_some()),
            ("keep.entries", keep.entries.is_some()),
        ];
        let told: Vec<&'static str> =
            told.into_iter().filter(|(_, told)| *told).map(|(key, _)| key).collect();
        let &[key] = told.as_slice() else {
            let reason = "[keep] needs exactly one of tokens, share, context and entries";
            return Err(Fault::of(&["keep"], reason));
        };
        let entries = self.cut.measure == CutMeasure::Entries;
        if entries != keep.entries.is_some() {
            let right = if entries { "entries" } else { "tokens, share or context" };
            let reason =
                format!("[keep] needs {right}: cut.measure is {:?}", self.cut.measure).to_lowercase();
            return Err(Fault::of(&[key, "keep", "cut.measure"], reason));
        }
        if let Some(share) = keep.share.or(keep.context)
            && !(share.is_finite() && (0.0..1.0).contains(&share))
        {
            let reason = format!("{key} is {share}, must be at least 0 and below 1");
            return Err(Fault::of(&[key], reason));
        }
        if let Some(count) = keep.entries
            && !(1..=MOST_ENTRIES).contains(&count)
        {
            let reason = format!("keep.entries is {count}, must be between 1 and {MOST_ENTRIES}");
            return Err(Fault::of(&[key], reason));
        }
        let amounts = self.at(self.window, None);
        if amounts.trigger == u64::MAX && self.trigger.enabled {
            let reason = format!(
                "the trigger never fires at a window of {} tokens: its limit takes all of it",
                self.window
            );
            return Err(Fault::of(&["trigger.limit", "trigger.percent", "window"], reason));
        }
        if amounts.trigger == 0 {
            let reason = format!(
                "the trigger fires on an empty context at a window of {} tokens: its limit leaves nothing of it",
                self.window
            );
            return Err(Fault::of(&["trigger.limit", "window"], reason));
        }
        if !entries && amounts.keep >= amounts.trigger {
            let reason = format!(
                "{key} ({} tokens) reaches the trigger ({} tokens): nothing could ever be compacted",
                amounts.keep, amounts.trigger
            );
            return Err(Fault::of(&[key, "keep", "trigger.limit", "trigger.percent", "window"], reason));
        }
        Ok(())
    }

    /// Its amounts for one window. `budget` overrides the summary budget (`--summary-tokens`).
    pub fn at(&self, window: u64, budget: Option<u64>) -> Amounts {
        let scale = window as f64 / self.window as f64;
        let scaled = |tokens: u64| (tokens as f64 * scale) as u64;
        let own = self.summary.budget_tokens.max((self.summary.budget_fraction * window as f64) as u64);
        let room = Room { window, output: scaled(self.budget.output) };
        let limit = match self.trigger.limit() {
            Limit::Reserve(reserve) => Limit::Reserve(scaled(reserve)),
            limit => limit,
        };
        let trigger = if self.trigger.enabled { limit.least(room) } else { u64::MAX };
        let keep = match self.keep {
            Keep { tokens: Some(tokens), .. } => scaled(tokens),
            Keep { share: Some(share), .. } => (share * window as f64) as u64,
            // What a context comes to that has just reached the trigger.
            Keep { context: Some(share), .. } => (share * trigger.min(window) as f64) as u64,
            Keep { entries, .. } => entries.unwrap_or(0),
        };
        Amounts {
            window,
            room,
            limit,
            trigger,
            keep,
            budget: budget.unwrap_or(own).min(window / 4),
            prune_above: self.trigger.prune.map(|prune| scaled(prune.above)),
            manual_keep: self.manual.keep.map(scaled),
            refused_keep: self.refused.keep_share.map(|share| (share * window as f64) as u64),
            protect: self
                .outputs
                .prune
                .as_ref()
                .and_then(|pruning| pruning.protect)
                .filter(|protect| protect.most > 0)
                .map_or(0, |protect| scaled(protect.most).max(1)),
            prune_least: self.outputs.prune.as_ref().map_or(0, |pruning| scaled(pruning.least)),
            pin: (self.pin_limit * window as f64) as u64,
        }
    }

    /// Where the tail begins, with the fixes of the profile.
    pub fn cut_rules(&self) -> CutRules {
        let mut rules = self.cut.clone();
        if self.mends(Fix::FalseSplit) {
            rules.absorbs.clear();
        }
        rules
    }

    /// The share of the window at which a context is full, as far as one number tells.
    pub fn fullness(&self) -> f64 {
        let amounts = self.at(self.window, None);
        (amounts.trigger.min(self.window) as f64 / self.window as f64).max(0.01)
    }

    /// A person's request is what a turn begins with, not just any message of the user.
    pub fn turns_are_requests(&self) -> bool {
        self.turn.starts.contains(&Landing::Request)
    }

    /// What the strategies need to know to write text.
    pub fn text_rules(&self) -> TextRules {
        TextRules {
            layout: match self.summary.layout {
                LayoutName::SixSections => Layout::SixSections,
                LayoutName::GoalProgress => Layout::GoalProgress,
                LayoutName::Prose => Layout::Prose,
            },
            list_form: match self.summary.lists {
                ListName::Tags => ListForm::Tags,
                ListName::Inline => ListForm::Inline,
                ListName::None => ListForm::None,
            },
            list_order: self.ledger.as_ref().map(|rules| rules.order),
            truncate_tags: self.summary.truncate_tags,
            metadata: self.summary.metadata,
            summary_role: self.summary.role.into(),
            // Where a compaction begins a new session, what is in the context is the summary of the one before.
            prefix: self
                .summary_text
                .parent_prefix
                .clone()
                .unwrap_or_else(|| self.summary_text.prefix.clone()),
            suffix: self.summary_text.suffix.clone(),
            emergency_notice: self
                .summary_text
                .emergency
                .clone()
                .unwrap_or_else(|| crate::strategy::emergency::NOTICE.to_owned()),
            tool_name: self.summary.tool_name.clone(),
            own: self.summary_text.own_lines(),
        }
    }
}

/// A profile with those that it extends: its own keys win.
fn extended(mut own: Table, depth: usize) -> Result<Table, String> {
    let Some(base) = own.remove("extends") else { return Ok(own) };
    let Some(name) = base.as_str() else { return Err("extends is no name of a profile".to_owned()) };
    let (plain_name, fixed) = plain_name(name);
    let Some(text) = Profile::text_of(plain_name).filter(|_| depth > 0) else {
        return Err(format!("extends = \"{name}\" names no embedded profile; {}", known(name)));
    };
    let base: Table = text.parse().map_err(|error: toml::de::Error| plain(&error))?;
    let mut merged = extended(base, depth - 1)?;
    if fixed {
        merged.insert("fixes".to_owned(), all_fixes());
        merged.insert("name".to_owned(), Value::from(name));
    }
    merge(&mut merged, own);
    Ok(merged)
}

fn merge(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            // These tables are a choice of one key: the new one takes the place of the old.
            (Some(Value::Table(old)), Value::Table(new)) if !matches!(&*key, "limit" | "keep") => {
                merge(old, new);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// What names of profiles there are, and which one was meant.
pub fn known(name: &str) -> String {
    let (name, fixed) = plain_name(name);
    let mark = if fixed { FIXED } else { "" };
    let nearest = Profile::names()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, known)| distance * 2 <= known.len());
    let names: Vec<&str> = Profile::names().collect();
    match nearest {
        Some((_, nearest)) => format!("did you mean `{nearest}{mark}`? Known are {}", names.join(", ")),
        None => format!("known are {}", names.join(", ")),
    }
}

fn plain(error: &toml::de::Error) -> String {
    error.to_string().trim_end().to_owned()
}

/// Adds the nearest valid key to the message of an unknown one.
fn suggested(message: &str) -> String {
    let quoted =
        |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let Some(line) = message.lines().find(|line| line.contains("unknown field")) else {
        return message.to_owned();
    };
    let words = quoted(line);
    let Some((unknown, known)) = words.split_first() else { return message.to_owned() };
    let nearest = known.iter().map(|key| (strsim::damerau_levenshtein(key, unknown), key)).min();
    match nearest.filter(|(distance, key)| *distance <= key.len() / 2) {
        Some((_, key)) => format!("{message}\ndid you mean `{key}`?"),
        None => message.to_owned(),
    }
}

/// Adds the line of an unknown key to a message that lost it: the first line of the text that sets such a key.
fn located(message: &str, text: &str) -> String {
    let message = suggested(message.trim_end());
    let key = message.split('`').nth(1).unwrap_or_default();
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        !key.is_empty()
            && line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', ']', '.']))
    };
    match text.lines().position(sets) {
        Some(line) => format!("line {}: {message}", line + 1),
        None => message,
    }
}

/// The least window in tokens: a smaller one holds a few lines, and compacting these is not worth a summary.
pub const MIN_WINDOW: u64 = 400;

/// A profile's amounts at one window, all in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amounts {
    /// The window.
    pub window: u64,
    /// The window, and the part of it that is the reply's.
    pub room: Room,
    /// Fires at this limit.
    pub limit: Limit,
    /// The least size that fires, in the trigger's own measure.
    pub trigger: u64,
    /// Size of the tail, in entries where these are measured; of a share of the context, what that comes to at the
    /// trigger.
    pub keep: u64,
    /// Everything generated fits into this.
    pub budget: u64,
    /// Results are pruned where they are more than this in all, where size decides.
    pub prune_above: Option<u64>,
    /// Size of the tail where a person asks for a compaction.
    pub manual_keep: Option<u64>,
    /// Size of the tail where a request was refused.
    pub refused_keep: Option<u64>,
    /// Size of the newest results that pruning leaves, in its own measure.
    pub protect: u64,
    /// Results beyond these are pruned only where they come to more than this, in the same measure.
    pub prune_least: u64,
    /// Largest pinned request.
    pub pin: u64,
}

#[cfg(test)]
mod tests;
