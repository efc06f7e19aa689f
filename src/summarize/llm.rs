//! A model behind HTTP as a summarizer: what it is asked, what becomes of its reply, and what of its errors.
//!
//! Everything but [`http`] is pure: a [`Call`] is put together from the request, a reply or an error is read by [`wire`], and what
//! follows from an error (wait and ask again, shorten the conversation, give up on the session or on all of them) is decided
//! by value. Equal calls are asked once in a run. With [`cassettes`](super::cassette) a reply is kept, and a run that finds all
//! its replies there opens no connection.
//!
//! A reply that is empty, cut short or nothing but reasoning is no summary; the policy's own rule says what happens then. What
//! tells nothing of the policy (no key, no such model, nobody there, a limit of cost) makes the session an error in place
//! of a number.

use super::cassette::{Cassettes, Tape};
use super::prompt::{Prompt, Template, appended, assemble};
use super::{Account, Flaw, SummarizeError, Summarizer, SummaryRequest};
use crate::prompt::TooLong;
use crate::tokens::Tokenizer;
use ask::Line;
use limits::Purse;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

mod ask;
mod call;
#[cfg(feature = "llm")]
mod http;
mod limits;
mod retry;
mod rules;
mod shorten;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use ask::variable;
pub use ask::{Endpoint, Key, Ways};
pub use call::Call;
pub use limits::{Limits, Price, Spent};
pub use retry::Retries;
pub use rules::{ModelRules, Provider, Temperature};
pub use wire::{End, Reply, Usage};

pub(super) use shorten::middle;

/// How often a conversation is shortened before it is given up.
const SHORTENINGS: usize = 5;
/// Fewer tokens of a conversation than this are not worth a summary.
const LEAST: u64 = 48;

/// What becomes of a request to which the cassettes hold no reply, in replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnMiss {
    /// The session is an error.
    #[default]
    Fail,
    /// The embedded summarizer writes in its place, which the rows tell.
    Extractive,
}

/// When cassettes are read and when they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapeMode {
    /// Every reply is asked for, and kept.
    Record,
    /// Nobody is asked.
    Replay,
    /// What is not there is asked for, and kept.
    Auto,
}

/// Where replies are kept.
#[derive(Debug, Clone)]
pub struct Tapes {
    /// The directory.
    pub cassettes: Cassettes,
    /// Read, written, or both.
    pub mode: TapeMode,
    /// What a missing reply means.
    pub on_miss: OnMiss,
}

/// How models are asked in a run.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    /// What the command line says of the model; it goes before what a profile says.
    pub rules: ModelRules,
    /// Instructions in place of ours.
    pub template: Option<Template>,
    /// Where replies are kept.
    pub tapes: Option<Tapes>,
    /// The most that is asked.
    pub limits: Limits,
    /// When to ask again.
    pub retries: Retries,
    /// Requests on their way at once, 1 to 256.
    pub concurrency: usize,
}

/// Why a call has no reply that could be used.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Trouble {
    /// The input is more than the model takes.
    Overflow { limit: Option<u64>, used: Option<u64>, text: String },
    /// More output was asked for than the model can be set to.
    Output { limit: u64, text: String },
    /// The provider did not answer, or not in time, however often it was asked.
    Failed(String),
    /// This request cannot be answered, and no policy is at fault.
    Stopped(String),
    /// No request can.
    Ended(String),
    /// There is no cassette, and the embedded summarizer is to write.
    Missing,
}

/// What a call is for, beside its own text.
struct About {
    /// In words, where it has to be named.
    what: String,
    /// What is said of the model, all in all.
    rules: ModelRules,
    /// Counts what providers do not.
    tokenizer: Tokenizer,
}

impl About {
    fn of(request: &SummaryRequest<'_>, rules: &ModelRules) -> Self {
        let messages = &request.messages;
        Self {
            what: format!("messages {} to {}", messages.start, messages.end),
            rules: rules.over(request.handing.model),
            tokenizer: request.view.counter.tokenizer(),
        }
    }
}

/// The summarizer.
#[derive(Debug)]
pub struct Model {
    settings: ModelSettings,
    name: String,
    line: Line,
    /// What was asked so far, by the name of the call.
    asked: Mutex<FxHashMap<String, Arc<OnceLock<Result<Reply, Trouble>>>>>,
    /// Names of the calls that were answered, in the order of their answers.
    answered: Mutex<Vec<String>>,
    /// Why texts did not come, or by somebody else, and how often.
    troubles: Mutex<BTreeMap<String, usize>>,
    /// Why nobody is asked any more.
    ended: OnceLock<String>,
    spent: Purse,
}

impl Model {
    /// A model that is asked as the settings say, over the ways that there are.
    ///
    /// # Errors
    ///
    /// The settings lead nowhere; the text says what to give.
    pub fn new(settings: ModelSettings, ways: Ways) -> Result<Self, String> {
        let replays = settings.tapes.as_ref().is_some_and(|tapes| tapes.mode == TapeMode::Replay);
        let line = if replays { Line::Closed } else { Line::open(&settings, ways)? };
        let name =
            settings.rules.model.as_ref().map_or_else(|| "llm".to_owned(), |model| format!("llm:{model}"));
        Ok(Self::over(line, name, settings))
    }

    /// A model that nobody asks: requests are counted, and the embedded summarizer writes in its place.
    pub fn dry(settings: ModelSettings) -> Self {
        Self::over(Line::Dry, "dry-run".to_owned(), settings)
    }

    fn over(line: Line, name: String, settings: ModelSettings) -> Self {
        Self {
            settings,
            name,
            line,
            asked: Mutex::default(),
            answered: Mutex::default(),
            troubles: Mutex::default(),
            ended: OnceLock::new(),
            spent: Purse::default(),
        }
    }

    /// What was asked so far and what it came to.
    pub fn spent(&self) -> Spent {
        self.spent.so_far()
    }

    /// The limits that hold for it.
    pub fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// Instructions in place of ours.
    pub fn instructions(&self) -> Option<&str> {
        self.settings.template.as_ref().map(Template::text)
    }

    /// Why nobody was asked any more, where the run got so far.
    pub fn ended(&self) -> Option<&str> {
        self.ended.get().map(String::as_str)
    }

    /// Why texts did not come, or were written by somebody else, and how often.
    pub fn troubles(&self) -> Vec<(String, usize)> {
        held(&self.troubles).iter().map(|(why, times)| (why.clone(), *times)).collect()
    }

    fn trouble(&self, why: &str) {
        *held(&self.troubles).entry(why.to_owned()).or_default() += 1;
    }

    /// Has a text written, of a conversation as short as it has to be.
    fn written(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let about = About::of(request, &self.settings.rules);
        let rules = &about.rules;
        let mut most = None;
        let mut output = rules.output(request.aim);
        let mut trouble = String::new();
        for _ in 0..=SHORTENINGS {
            let prompt = assemble(request, self.settings.template.as_ref(), most);
            let call = Call::new(rules, output, prompt.clone()).map_err(SummarizeError::Stopped)?;
            match self.reply(&call, &about) {
                Ok(reply) => {
                    let text = judged(reply)?;
                    // Whoever reads the figures has to know that it was asked for less.
                    return match most {
                        None => Ok(text),
                        Some(_) => Err(SummarizeError::Flawed(Flaw::Shortened, text)),
                    };
                }
                Err(Trouble::Overflow { .. })
                    if request.handing.rules.ask.too_long == TooLong::Split && request.messages.len() > 1 =>
                {
                    return self.in_halves(request);
                }
                Err(Trouble::Overflow { limit, used, text }) => {
                    let counted = shorten::Counted::of(&prompt, &request.view.counter);
                    let room = shorten::room(&counted, limit, used, output).max(LEAST);
                    trouble = text;
                    if room >= counted.conversation {
                        break;
                    }
                    most = Some(room);
                }
                Err(Trouble::Output { limit, text }) if limit > 0 && limit < output => {
                    (output, trouble) = (limit, text);
                }
                Err(Trouble::Output { text, .. } | Trouble::Stopped(text) | Trouble::Ended(text)) => {
                    return Err(SummarizeError::Stopped(text));
                }
                Err(Trouble::Failed(text)) => {
                    self.trouble(&text);
                    return Err(SummarizeError::Failed(text));
                }
                Err(Trouble::Missing) => {
                    self.trouble(&Flaw::StandIn.to_string());
                    let text = super::extractive::Extractive.summarize(request)?;
                    return Err(SummarizeError::Flawed(Flaw::StandIn, text));
                }
            }
        }
        Err(SummarizeError::Failed(format!("the conversation cannot be made short enough: {trouble}")))
    }

    /// The summary of the first half, taken up in that of the second.
    fn in_halves(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let middle = request.messages.start + request.messages.len() / 2;
        let turn_start = request.turn_start;
        let first = SummaryRequest {
            messages: request.messages.start..middle,
            turn_start: turn_start.filter(|start| *start < middle),
            ..request.clone()
        };
        let text = self.written(&first)?;
        let rules = request.handing.rules;
        let role = request.handing.summary.map_or(crate::harness::Role::User, |(role, _)| role);
        // A policy that takes up no summary is handed it as a message.
        let among = request.handing.summary.is_some() || rules.previous.is_none();
        let second = SummaryRequest {
            messages: middle..request.messages.end,
            turn_start: turn_start.map(|start| start.max(middle)),
            previous: Some(&text),
            told: &[],
            handing: super::Handing { summary: among.then_some((role, text.as_str())), ..request.handing },
            ..request.clone()
        };
        self.written(&second)
    }

    /// The reply to a call, which is asked for once.
    fn reply(&self, call: &Call, about: &About) -> Result<Reply, Trouble> {
        let name = call.name();
        let place = held(&self.asked).entry(name.clone()).or_default().clone();
        let reply = || {
            let reply = self.asked_once(call, &name, about);
            if matches!(reply, Ok(_) | Err(Trouble::Overflow { .. } | Trouble::Output { .. })) {
                held(&self.answered).push(name.clone());
            }
            reply
        };
        place.get_or_init(reply).clone()
    }

    fn asked_once(&self, call: &Call, name: &str, about: &About) -> Result<Reply, Trouble> {
        let tapes = self.settings.tapes.as_ref();
        if let Some(tapes) = tapes.filter(|tapes| tapes.mode != TapeMode::Record) {
            match tapes.cassettes.find(name) {
                Ok(Some(tape)) => return self.heard(tape),
                Ok(None) if tapes.mode == TapeMode::Replay => {
                    return match tapes.on_miss {
                        OnMiss::Extractive => Err(Trouble::Missing),
                        OnMiss::Fail => Err(Trouble::Stopped(format!(
                            "no cassette {name}.json in {} answers the request of {} for {} ({} tokens)",
                            tapes.cassettes.dir().display(),
                            call.model,
                            about.what,
                            call.tokens(about.tokenizer)
                        ))),
                    };
                }
                Ok(None) => {}
                Err(error) => return Err(Trouble::Stopped(error.to_string())),
            }
        }
        if let Some(why) = self.ended.get() {
            return Err(Trouble::Ended(why.clone()));
        }
        let outcome = self.line.ask(call, &about.rules, &self.settings, &self.spent, about.tokenizer);
        if let Err(Trouble::Ended(why)) = &outcome {
            self.ended.get_or_init(|| why.clone());
        }
        let tape = match &outcome {
            Ok(reply) => Some(Tape::Reply(reply.clone())),
            Err(Trouble::Overflow { limit, used, text }) => {
                Some(Tape::Overflow { limit: *limit, used: *used, text: text.clone() })
            }
            Err(Trouble::Output { limit, text }) => Some(Tape::Output { limit: *limit, text: text.clone() }),
            Err(_) => None,
        };
        if let (Some(tapes), Some(tape)) = (tapes, tape)
            && let Err(error) = tapes.cassettes.keep(call, &tape)
        {
            // A reply that cannot be kept was paid for in vain: better now than for all of them.
            let why = error.to_string();
            self.ended.get_or_init(|| why.clone());
            return Err(Trouble::Ended(why));
        }
        outcome
    }

    /// What a cassette holds.
    fn heard(&self, tape: Tape) -> Result<Reply, Trouble> {
        self.spent.replayed();
        match tape {
            Tape::Reply(reply) => Ok(reply),
            Tape::Overflow { limit, used, text } => Err(Trouble::Overflow { limit, used, text }),
            Tape::Output { limit, text } => Err(Trouble::Output { limit, text }),
        }
    }
}

/// What is behind a lock; it is whole even where somebody failed while holding it.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The summary in a reply, where it is one.
fn judged(reply: Reply) -> Result<String, SummarizeError> {
    let (text, reasoned) = without_reasoning(&reply.text);
    let nothing = !text.chars().any(|c| !c.is_whitespace() && !is_invisible(c));
    match reply.end {
        End::Stop if nothing && (reasoned || reply.reasoning) => {
            Err(SummarizeError::Flawed(Flaw::Hollow, reply.text))
        }
        End::Stop if nothing => Ok(String::new()),
        End::Stop => Ok(text.to_owned()),
        End::Length => Err(SummarizeError::Flawed(Flaw::CutShort, text.to_owned())),
        End::Call => Err(SummarizeError::Flawed(Flaw::Call, text.to_owned())),
        End::Filter => Err(SummarizeError::Failed("the provider refused to write it".to_owned())),
        End::Broken => Err(SummarizeError::Failed("the server failed while it wrote".to_owned())),
    }
}

/// Marks that take no place: a text of nothing else is none.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

/// Names of the tags between which models reason.
const REASONING: [&str; 3] = ["think", "thinking", "reasoning"];

/// A text without the reasoning that servers leave in front of it, and whether there was any. Some leave out the tag that opens it;
/// reasoning that never ends is all there is.
fn without_reasoning(text: &str) -> (&str, bool) {
    let mut rest = text;
    let mut any = false;
    for name in REASONING {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        if let Some((_, behind)) = rest.rsplit_once(&close).filter(|(before, _)| {
            // A text that only speaks of such tags has them in the middle of it.
            before.trim_start().starts_with(&open) || !before.contains(&open)
        }) {
            (rest, any) = (behind.trim_start(), true);
        } else if rest.trim_start().starts_with(&open) {
            (rest, any) = ("", true);
        }
    }
    (rest, any)
}

impl Summarizer for Model {
    fn name(&self) -> &str {
        &self.name
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let text = match self.written(request) {
            Ok(text) => text,
            // Whoever takes it takes it with its lists.
            Err(SummarizeError::Flawed(flaw @ (Flaw::CutShort | Flaw::Call | Flaw::Shortened), text))
                if !text.trim().is_empty() =>
            {
                return Err(SummarizeError::Flawed(flaw, Self::with_lists(&text, request)));
            }
            Err(error) => return Err(error),
        };
        Ok(Self::with_lists(&text, request))
    }

    fn waits(&self) -> bool {
        true
    }

    fn account(&self) -> Account {
        Account { answered: held(&self.answered).len(), troubled: held(&self.troubles).values().sum() }
    }

    fn answered(&self, from: usize) -> Vec<String> {
        held(&self.answered).get(from..).unwrap_or_default().to_vec()
    }
}

/// Most tokens of an answer where nothing else is said.
const ANSWER: u64 = 256;

impl Model {
    /// The answer to one prompt, without what the model reasoned; nothing is shortened for it. `what` names it in errors.
    ///
    /// # Errors
    ///
    /// There is none: the cause, in a line.
    pub fn answer(&self, prompt: &Prompt, what: &str, tokenizer: Tokenizer) -> Result<String, String> {
        let about = About { what: what.to_owned(), rules: self.settings.rules.clone(), tokenizer };
        let mut output = about.rules.max_output_tokens.unwrap_or(ANSWER);
        loop {
            let call = Call::new(&about.rules, output, prompt.clone())?;
            match self.reply(&call, &about) {
                Ok(reply) => {
                    return match judged(reply) {
                        // Whoever answers first and explains then has answered.
                        Ok(text) | Err(SummarizeError::Flawed(Flaw::CutShort, text))
                            if !text.trim().is_empty() =>
                        {
                            Ok(text)
                        }
                        Ok(_) => Err("the reply is empty".to_owned()),
                        Err(error) => Err(error.to_string()),
                    };
                }
                Err(Trouble::Output { limit, .. }) if limit > 0 && limit < output => output = limit,
                Err(
                    Trouble::Overflow { text, .. }
                    | Trouble::Output { text, .. }
                    | Trouble::Failed(text)
                    | Trouble::Stopped(text)
                    | Trouble::Ended(text),
                ) => return Err(text),
                Err(Trouble::Missing) => return Err("nobody was asked".to_owned()),
            }
        }
    }

    /// A text with the lists of the harness behind it, both within the budget.
    fn with_lists(text: &str, request: &SummaryRequest<'_>) -> String {
        let tokenizer = request.view.counter.tokenizer();
        let lists = appended(request, request.budget);
        let room = request.budget.saturating_sub(tokenizer.count(&lists));
        let mut text = fitted(text, room, tokenizer);
        if !text.is_empty() {
            text.push_str(&lists);
        }
        text
    }
}

/// A text within so many tokens, cut between words.
fn fitted(text: &str, room: u64, tokenizer: Tokenizer) -> String {
    tokenizer.cut(text, room).unwrap_or_default()
}
