//! What a replay does beside the trigger: commands of the person, requests that the provider refused, and places that
//! whoever runs the replay names.

use super::ground::Ground;
use crate::profile::{Amounts, Profile, When};
use crate::transcript::{Message, Part, Role, Transcript};

/// What to do beside the trigger.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// Commands and refused requests that the log records are honoured.
    pub recorded: bool,
    /// Compact before these messages, with a tail of so many tokens (entries where the policy keeps those), or of the
    /// policy's own size.
    pub at: Vec<(usize, Option<u64>)>,
}

/// Why a context is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cause {
    /// The trigger fired.
    #[default]
    Trigger,
    /// Somebody asked for it.
    Manual,
    /// A request did not fit.
    Overflow,
    /// Nothing is compacted: a new session begins, and owes nothing to the one before.
    Reset,
}

impl Cause {
    /// Name as written in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Manual => "manual",
            Self::Overflow => "overflow",
            Self::Reset => "reset",
        }
    }
}

/// A step that the trigger does not decide.
#[derive(Debug, Clone, PartialEq)]
pub struct Forced {
    /// Before this message.
    pub at: usize,
    /// Why.
    pub cause: Cause,
    /// Size of the tail, where the policy's own does not hold.
    pub keep: Option<u64>,
    /// Only where the session is more than this share of the window; then all of it leaves.
    pub above: Option<f64>,
}

/// A command of the person in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Compact now.
    Compact,
    /// Prune tool results now.
    Prune,
    /// Begin a new session.
    New,
    /// Take up a session again.
    Resume,
}

/// Commands by their names.
const COMMANDS: [(&str, Command); 5] = [
    ("compact", Command::Compact),
    ("prune", Command::Prune),
    ("new", Command::New),
    ("clear", Command::New),
    ("resume", Command::Resume),
];

/// How a client that echoes commands writes one down.
const ECHO: (&str, &str) = ("<command-name>/", "</command-name>");

/// The commands of a session, each with the message that holds it.
pub fn commands(transcript: &Transcript) -> impl Iterator<Item = (usize, Command)> + '_ {
    let users = transcript.messages.iter().enumerate().filter(|(_, message)| message.role == Role::User);
    users.flat_map(|(at, message)| {
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => command(&text.text, text.injected),
            _ => None,
        });
        texts.map(move |command| (at, command))
    })
}

/// The command that a text is: the echo of a client, or a line of the person that is nothing else.
fn command(text: &str, injected: bool) -> Option<Command> {
    let name = if injected {
        text.split_once(ECHO.0)?.1.split_once(ECHO.1)?.0
    } else {
        let line = text.trim();
        let name = line.strip_prefix('/').filter(|_| !line.contains('\n'))?;
        // What follows is what to look after in the summary.
        name.split_whitespace().next()?
    };
    COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, command)| *command)
}

/// Messages before which the person had results pruned.
pub fn prunings(transcript: &Transcript, asked: &Asked) -> Vec<usize> {
    let recorded = asked.recorded.then(|| commands(transcript)).into_iter().flatten();
    recorded.filter(|(_, command)| *command == Command::Prune).map(|(at, _)| at).collect()
}

/// The steps of a session that its trigger does not decide, in order, one for a place.
pub fn forced(transcript: &Transcript, profile: &Profile, asked: &Asked) -> Vec<Forced> {
    let rules = &profile.manual;
    let step = |at: usize, cause: Cause| Forced { at, cause, keep: None, above: None };
    let manual = |at: usize| {
        let at = match rules.when {
            When::Now => Some(at),
            When::TurnEnd => turn_end(transcript, at),
        };
        at.map(|at| step(at, Cause::Manual))
    };
    let mut out: Vec<Forced> = Vec::new();
    for (at, keep) in asked.at.iter().filter(|(at, _)| *at <= transcript.messages.len()) {
        out.extend(manual(*at).map(|step| Forced { keep: *keep, ..step }));
    }
    if asked.recorded {
        for (at, command) in commands(transcript) {
            out.extend(match command {
                Command::Compact => manual(at),
                Command::New => Some(step(at, Cause::Reset)),
                Command::Resume => {
                    rules.resume.and_then(|share| Some(Forced { above: Some(share), ..manual(at)? }))
                }
                Command::Prune => None,
            });
        }
        let refused = transcript.refusals.iter().filter(|one| profile.overflow.notices(&one.text, None));
        out.extend(refused.map(|one| step(one.before.get(), Cause::Overflow)));
    }
    // Nobody compacts while tools run: what is asked for inside a batch is done behind its results.
    for step in out.iter_mut().filter(|step| step.cause != Cause::Reset) {
        step.at = batch_end(transcript, step.at);
    }
    out.retain(|step| step.at > 0);
    out.sort_by_key(|step| (step.at, step.cause == Cause::Overflow));
    out.dedup_by_key(|step| step.at);
    out
}

/// The first place from a message on that is not among the results of a batch.
fn batch_end(transcript: &Transcript, at: usize) -> usize {
    let result = |message: &Message| message.parts.iter().any(|part| matches!(part, Part::Result(_)));
    let behind = transcript.messages.get(at..).unwrap_or_default();
    at + behind.iter().take_while(|message| result(message)).count()
}

/// The first place from a message on at which no turn is under way.
fn turn_end(transcript: &Transcript, at: usize) -> Option<usize> {
    (at..=transcript.messages.len()).find(|at| is_idle(transcript, *at))
}

/// Is no turn under way before a message?
pub(super) fn is_idle(transcript: &Transcript, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| transcript.messages.get(before));
    let calls = |part: &Part| matches!(part, Part::Call(_));
    let asks = transcript.messages.get(at).is_none_or(Message::is_user_request);
    asks || before.is_some_and(|it| it.role == Role::Assistant && !it.parts.iter().any(calls))
}

/// How a step is made: the size of its tail, whether what stays anyway may leave, and whether what leaves is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How {
    /// Size of the tail, where the policy's own does not hold.
    pub keep: Option<u64>,
    /// A place is cut at even where the size finds none.
    pub force: bool,
    /// No summary: what leaves is dropped.
    pub drop: bool,
}

impl How {
    /// The way of a profile for a cause at one window; `tail` tokens stand in the tail so far.
    pub fn of(cause: Cause, step: Option<&Forced>, profile: &Profile, amounts: &Amounts, tail: u64) -> Self {
        let own = Self { keep: None, force: false, drop: false };
        let told = step.and_then(|step| step.keep);
        let within = |usual: Option<u64>, share: Option<f64>| {
            let most = share.map(|share| (share * tail as f64) as u64);
            most.map(|most| usual.unwrap_or(amounts.keep).min(most)).or(usual)
        };
        match cause {
            Cause::Trigger | Cause::Reset => own,
            Cause::Manual => {
                let keep = told.or_else(|| within(amounts.manual_keep, profile.manual.context_share));
                Self { keep, ..own }
            }
            Cause::Overflow => Self {
                keep: within(amounts.refused_keep, profile.refused.context_share),
                force: profile.refused.force,
                drop: profile.refused.drop,
            },
        }
    }
}

/// Is a session large enough for a step?
pub fn is_due(
    step: &Forced,
    ground: &Ground,
    tail: usize,
    held: u64,
    profile: &Profile,
    window: u64,
) -> bool {
    match (step.cause, step.above) {
        (Cause::Manual, Some(share)) => held as f64 > share * window as f64,
        (Cause::Manual, None) => ground.entry(step.at) - ground.entry(tail) >= profile.manual.least,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
