//! How a system writes a conversation down for its summarizer.
//!
//! [`serialize`] writes the messages, [`frame`] puts around them what the code of the system puts there: tags, an earlier
//! summary. What a summarizer is told to do stands in [`crate::summarize::prompt`], in words of our own; where it stands and
//! which headings it asks for are rules of the system ([`AskRules`]).

use crate::harness::json::{JsonStyle, pairs, restyle};
use crate::harness::text::{Cap, fill};
use crate::harness::{Block, Call, Entry, Kind, Outcome, Role, Shell};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// How a conversation is written. A role without a form is left out, and so are calls, thinking and shell entries.
/// Entries that are hidden from the model never appear.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct PromptRules {
    /// Put in front of the conversation.
    pub open: String,
    /// Put behind it.
    pub close: String,
    /// Put in front of it where it is the beginning of a turn; `open` where it is not given.
    pub prefix_open: Option<String>,
    /// Put behind it where it is the beginning of a turn; `close` where it is not given.
    pub prefix_close: Option<String>,
    /// How an earlier summary comes along; not at all where it is not given.
    pub previous: Option<Previous>,
    /// Between two parts: a message gives one for its thinking, its text and its calls each.
    pub between: String,
    /// Behind every part.
    pub after: String,
    /// System messages.
    pub system: Option<Form>,
    /// What the person said.
    pub user: Option<Form>,
    /// Text of the model.
    pub assistant: Option<Form>,
    /// Results.
    pub tool: Option<Form>,
    /// What an extension put in.
    pub custom: Option<Form>,
    /// Summaries of branches.
    pub branch: Option<Form>,
    /// Summaries of compactions that stand among the messages.
    pub summary: Option<Form>,
    /// Roles that the harness does not know.
    pub unknown: Option<Form>,
    /// Reasoning.
    pub thinking: Option<Thinking>,
    /// Tool calls.
    pub calls: Option<CallForm>,
    /// Commands of the person.
    pub shell: Option<ShellForm>,
    /// What is told of results that requests no longer carried; nothing beside the conversation where it is not given.
    pub digests: Option<DigestForm>,
    /// What is asked for.
    pub ask: AskRules,
}

/// What a model is asked to write, and where the conversation stands to that.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct AskRules {
    /// Where the instructions stand, as seen from the conversation.
    pub place: Place,
    /// Between the two.
    pub between: String,
    /// Headings of a structured summary; those of the layout where none are given.
    pub headings: Vec<String>,
    /// Headings of the text for the beginning of a turn; three of our own where none are given.
    pub turn_headings: Vec<String>,
    /// The model itself writes the lists of files, as blocks behind its text; else the harness appends what lists there are.
    pub lists: bool,
    /// What becomes of a conversation that is more than the model takes.
    pub too_long: TooLong,
}

/// What becomes of a conversation that is more than the model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum TooLong {
    /// Its middle is left out, as much as it takes, with a note that says so.
    #[default]
    Middle,
    /// It is summarized in two halves, the second with the summary of the first.
    Split,
}

/// A line for each result that was pruned before the compaction, in a section behind the conversation. The conversation
/// itself is written as it always is; once told, a line is told no more.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestForm {
    /// In front of the lines: the heading.
    #[serde(default)]
    pub open: String,
    /// One of them: `{line}`, the first line of the result that has a letter or a digit.
    pub item: String,
    /// Between two.
    #[serde(default)]
    pub join: String,
    /// Limit of a line.
    #[serde(default)]
    pub cap: Option<Cap>,
}

/// How an earlier summary comes along.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Previous {
    /// In front of it.
    #[serde(default)]
    pub open: String,
    /// Behind it.
    #[serde(default)]
    pub close: String,
    /// Where it stands.
    pub place: Place,
}

/// Where something stands that comes with the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Before it.
    Before,
    /// Behind it.
    #[default]
    Behind,
}

/// How a message of a role is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Form {
    /// In front of the text. `{tool}` is the name of the tool of a result, else the id of its call; `{label}` the type of
    /// a custom message or the name of an unknown role, `{LABEL}` the same in capitals.
    pub open: String,
    /// Behind it.
    pub close: String,
    /// Between texts of one message; between results too.
    pub join: String,
    /// Stands for an image that is no part of a result, among the texts; empty: images are left out.
    pub image: String,
    /// Stands for content that is missing.
    pub missing: String,
    /// Content counts as missing always.
    pub hidden: bool,
    /// Text beside calls counts as missing.
    pub hidden_by_calls: bool,
    /// When nothing at all is written.
    pub skip: Skip,
    /// Limit of the joined text.
    pub cap: Option<Cap>,
}

/// When a message is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Skip {
    /// It is always written.
    #[default]
    Never,
    /// It has no text at all, not even an empty one.
    Missing,
    /// All its text is empty.
    Empty,
}

/// How reasoning is written; nothing for a message without any.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Thinking {
    /// In front of it.
    pub open: String,
    /// Between blocks of one message.
    pub join: String,
}

/// How the calls of a message are written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct CallForm {
    /// In front of them.
    pub open: String,
    /// Behind them.
    pub close: String,
    /// Between two.
    pub join: String,
    /// A call: `{name}` and `{args}`.
    pub form: String,
    /// How its arguments are laid out.
    pub args: ArgsForm,
    /// How values are written.
    pub style: JsonStyle,
    /// Limit of the arguments of one call.
    pub cap: Option<Cap>,
}

/// Layout of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ArgsForm {
    /// As JSON.
    #[default]
    Json,
    /// `key=json, key=json`; arguments that are no object as JSON.
    Pairs,
}

/// How a command of the person and its output are written, one piece behind the other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct ShellForm {
    /// The beginning: `{command}`.
    pub command: String,
    /// Output: `{output}`.
    pub output: String,
    /// In place of output that is empty.
    pub silent: String,
    /// The person broke it off.
    pub cancelled: String,
    /// It ended, not broken off, with another code than 0: `{code}`.
    pub failed: String,
    /// The output is not all of it: `{path}` holds the rest.
    pub cut: String,
}

/// How a conversation is written where the policy says nothing of it.
static OWN: LazyLock<PromptRules> =
    LazyLock::new(|| toml::from_str(include_str!("prompt/own.toml")).expect("a test parses it"));

impl PromptRules {
    /// The rules of policies that have none.
    pub fn own() -> &'static Self {
        &OWN
    }

    /// These; where no message is written at all, what is said here on top of our own rules.
    #[must_use]
    pub fn completed(self) -> Self {
        let forms = [&self.system, &self.user, &self.assistant, &self.tool, &self.custom];
        if forms.iter().any(|form| form.is_some()) {
            return self;
        }
        let own = Self::own().clone();
        let between = if self.ask.between.is_empty() { own.ask.between.clone() } else { self.ask.between };
        Self {
            previous: self.previous.or(own.previous.clone()),
            digests: self.digests,
            ask: AskRules { between, ..self.ask },
            ..own
        }
    }

    /// The form of a role's text.
    fn form(&self, role: Role) -> Option<&Form> {
        match role {
            Role::System => self.system.as_ref(),
            Role::User => self.user.as_ref(),
            Role::Assistant => self.assistant.as_ref(),
            Role::Tool => self.tool.as_ref(),
            Role::Custom => self.custom.as_ref(),
            Role::Branch => self.branch.as_ref(),
            Role::Summary => self.summary.as_ref(),
            Role::Unknown => self.unknown.as_ref(),
            Role::Shell => None,
        }
    }
}

/// The part of a conversation that is summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What lies before the cut.
    History,
    /// The beginning of a turn that a cut split.
    TurnPrefix,
}

/// The messages as text, without anything around them.
pub fn serialize(entries: &[Entry<'_>], rules: &PromptRules) -> String {
    let mut out = String::new();
    let mut first = true;
    for entry in entries.iter().filter(|entry| !entry.hidden && entry.kind != Kind::Meta) {
        let parts = [thinking(entry, rules), text(entry, rules), shell(entry, rules), calls(entry, rules)];
        for part in parts.into_iter().flatten() {
            if !first {
                out.push_str(&rules.between);
            }
            first = false;
            out.push_str(&part);
            out.push_str(&rules.after);
        }
    }
    out
}

/// A serialized conversation with what the system puts around it, the earlier summary included.
pub fn frame(conversation: &str, previous: Option<&str>, part: Part, rules: &PromptRules) -> String {
    let (open, close) = match part {
        Part::History => (&rules.open, &rules.close),
        Part::TurnPrefix => (
            rules.prefix_open.as_ref().unwrap_or(&rules.open),
            rules.prefix_close.as_ref().unwrap_or(&rules.close),
        ),
    };
    let framed = format!("{open}{conversation}{close}");
    match (previous, &rules.previous) {
        (Some(summary), Some(form)) => {
            let earlier = format!("{}{summary}{}", form.open, form.close);
            match form.place {
                Place::Before => earlier + &framed,
                Place::Behind => framed + &earlier,
            }
        }
        _ => framed,
    }
}

impl DigestForm {
    /// The line that is told of a result; none where no line of it says anything.
    pub fn line(&self, result: &str) -> Option<String> {
        let line = result.lines().map(str::trim).find(|line| line.contains(char::is_alphanumeric))?;
        Some(self.cap.as_ref().map_or_else(|| line.to_owned(), |cap| cap.cut(line).into_owned()))
    }

    /// The section of lines; empty where there are none.
    pub fn section<S: AsRef<str>>(&self, lines: &[S]) -> String {
        if lines.is_empty() {
            return String::new();
        }
        let items: Vec<String> =
            lines.iter().map(|line| fill(&self.item, &[("line", line.as_ref())])).collect();
        format!("{}{}", self.open, items.join(&self.join))
    }
}

fn text(entry: &Entry<'_>, rules: &PromptRules) -> Option<String> {
    let form = rules.form(entry.role)?;
    let mut pieces: Vec<Cow<'_, str>> = Vec::new();
    let hidden = form.hidden || (form.hidden_by_calls && entry.calls().next().is_some());
    for block in entry.blocks.iter().filter(|_| !hidden) {
        match block {
            Block::Text(text) => pieces.push(Cow::Borrowed(text)),
            Block::Result(result) => pieces.push(join(&result.texts, &form.join)),
            Block::Image { count, .. } if !form.image.is_empty() => {
                pieces.extend((0..*count).map(|_| Cow::Borrowed(form.image.as_str())));
            }
            Block::Image { .. } | Block::Thinking(_) | Block::Call(_) | Block::Other => {}
        }
    }
    let missing = pieces.is_empty();
    let body = if missing { Cow::Borrowed(form.missing.as_str()) } else { join(&pieces, &form.join) };
    let skip = match form.skip {
        Skip::Never => false,
        Skip::Missing => missing,
        Skip::Empty => body.is_empty(),
    };
    if skip {
        return None;
    }
    let body = form.cap.as_ref().map_or(Cow::Borrowed(body.as_ref()), |cap| cap.cut(&body));
    Some(format!("{}{body}{}", label(entry, &form.open), form.close))
}

/// What stands in front of a message.
fn label<'t>(entry: &Entry<'_>, template: &'t str) -> Cow<'t, str> {
    if !template.contains('{') {
        return Cow::Borrowed(template);
    }
    let tool = |result: &Outcome<'_>| result.name.as_deref().or(result.call_id.as_deref()).map(str::to_owned);
    let tool = entry.results().next().and_then(tool).unwrap_or_default();
    let values =
        [("tool", tool.as_str()), ("label", entry.label.as_ref()), ("LABEL", &entry.label.to_uppercase())];
    Cow::Owned(fill(template, &values))
}

fn join<'a>(pieces: &'a [Cow<'a, str>], between: &str) -> Cow<'a, str> {
    match pieces {
        [only] => Cow::Borrowed(only.as_ref()),
        _ => Cow::Owned(pieces.join(between)),
    }
}

fn thinking(entry: &Entry<'_>, rules: &PromptRules) -> Option<String> {
    let form = rules.thinking.as_ref()?;
    let blocks: Vec<&str> = entry
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Thinking(text) => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    (!blocks.is_empty()).then(|| format!("{}{}", form.open, blocks.join(&form.join)))
}

fn calls(entry: &Entry<'_>, rules: &PromptRules) -> Option<String> {
    let form = rules.calls.as_ref()?;
    let calls: Vec<String> = entry.calls().map(|call| one_call(call, form)).collect();
    (!calls.is_empty()).then(|| format!("{}{}{}", form.open, calls.join(&form.join), form.close))
}

fn one_call(call: &Call<'_>, form: &CallForm) -> String {
    let pairs = (form.args == ArgsForm::Pairs).then(|| pairs(&call.arguments, form.style)).flatten();
    let args = pairs.map_or_else(
        || restyle(&call.arguments, form.style),
        |pairs| {
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
            Cow::Owned(pairs.join(", "))
        },
    );
    let args = form.cap.as_ref().map_or(Cow::Borrowed(args.as_ref()), |cap| cap.cut(&args));
    fill(&form.form, &[("name", &call.name), ("args", &args)])
}

fn shell(entry: &Entry<'_>, rules: &PromptRules) -> Option<String> {
    let form = rules.shell.as_ref().filter(|_| entry.role == Role::Shell)?;
    let mut texts = entry.texts();
    let mut out = fill(&form.command, &[("command", texts.next().unwrap_or_default())]);
    match texts.next().unwrap_or_default() {
        "" => out.push_str(&form.silent),
        output => out.push_str(&fill(&form.output, &[("output", output)])),
    }
    let Shell { code, cancelled, rest } = entry.shell.clone().unwrap_or_default();
    match code.filter(|code| *code != 0) {
        _ if cancelled => out.push_str(&form.cancelled),
        Some(code) => out.push_str(&fill(&form.failed, &[("code", &code.to_string())])),
        None => {}
    }
    if let Some(path) = rest {
        out.push_str(&fill(&form.cut, &[("path", &path)]));
    }
    Some(out)
}

mod shown;
pub use shown::shown;

#[cfg(test)]
mod tests;
