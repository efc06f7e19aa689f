//! Answers to closed questions: which option a reply chooses, and what the choices come to.
//!
//! The rule is exact, no judge is asked: a reply chooses an option by its letter or by its words, or it chooses none and counts as
//! unanswered. What is unanswered is in no share, and is counted.

use crate::results::probes::{Answered, Keyed};
use crate::results::ratio;
use crate::stats::{SEED, estimate};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What pooled rows say in place of a kind or a cycle.
pub const ALL: &str = "all";

/// What the answers under one strategy come to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRow {
    /// Profile.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// Window in tokens where several were given, else `all`.
    pub window: String,
    /// Number of the cycle, or `all`.
    pub cycle: String,
    /// `recall`, `artifact`, `decision`, `continuation`, or `all`.
    pub kind: String,
    /// Sessions with a question.
    pub sessions: u64,
    /// Questions.
    pub questions: u64,
    /// Of those, answered with the context that the compaction left.
    pub answered: u64,
    /// Of those answered, right.
    pub right: u64,
    /// Of those answered, wrong in another way than the next two.
    pub wrong: u64,
    /// Of those answered, with what was true before and is no longer.
    pub stale: u64,
    /// Of those answered, that the conversation does not tell.
    pub untold: u64,
    /// `right / answered`.
    pub accuracy: Option<f64>,
    /// Questions without an answer: `missing + failed + unreadable`.
    pub unanswered: u64,
    /// There is no line for the prompt.
    pub missing: u64,
    /// The line tells an error.
    pub failed: u64,
    /// The reply chooses no option, or several.
    pub unreadable: u64,
    /// Questions answered with the whole conversation.
    pub control_answered: u64,
    /// Of those, right.
    pub control_right: u64,
    /// `control_right / control_answered`.
    pub control_accuracy: Option<f64>,
    /// Questions answered with no conversation.
    pub blind_answered: u64,
    /// Of those, right: guessed.
    pub blind_right: u64,
    /// `blind_right / blind_answered`.
    pub blind_accuracy: Option<f64>,
    /// Questions answered both with the compacted context and with the whole conversation.
    pub pairs: u64,
    /// Of those, right with the whole conversation and not with none: what the model can answer, and has to read for.
    pub answerable: u64,
    /// Of the pairs, right with the whole conversation and with none: guessed, and in no survival.
    pub guessed: u64,
    /// Of the answerable ones, right with the compacted context, too.
    pub answerable_right: u64,
    /// `answerable_right / answerable`.
    pub answer_survival: Option<f64>,
    /// The same of each session, macro mean.
    pub answer_survival_mean: Option<f64>,
    /// Lower end of its 95 % interval over sessions.
    pub answer_survival_low: Option<f64>,
    /// Upper end.
    pub answer_survival_high: Option<f64>,
    /// Sessions with an answerable question.
    pub answer_survival_n: u64,
    /// Answerable questions whose fact is present in the compacted context, as the scores count it.
    pub present: u64,
    /// Of those, right.
    pub present_right: u64,
    /// Answerable questions whose fact is not present.
    pub absent: u64,
    /// Of those, right all the same: inferred or guessed.
    pub absent_right: u64,
    /// (compacted - blind) / (whole - blind), of the shares of right answers among questions answered in all three ways; empty where
    /// the whole conversation is of no more use than none.
    pub effect: Option<f64>,
}

/// What a reply to one prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// No line.
    Missing,
    /// An error.
    Failed,
    /// It chooses none of the options, or several.
    Unreadable,
    /// It chooses this one.
    Chosen(usize),
}

/// Names of the tags between which models reason.
const REASONING: [&str; 3] = ["</think>", "</thinking>", "</reasoning>"];

/// What may stand around a letter.
const AROUND: [char; 12] = ['(', ')', '[', ']', '{', '}', '.', ':', '*', '"', '\'', '`'];

/// Words with which models lead up to a letter, in lower case; a longer one stands before those that it begins with.
const LEADS: [&str; 18] = [
    "the correct answer is",
    "the right answer is",
    "the best answer is",
    "the correct option is",
    "the right option is",
    "the best option is",
    "the final answer is",
    "the answer is",
    "the option is",
    "my answer is",
    "my answer:",
    "i would choose",
    "i choose",
    "correct answer:",
    "final answer:",
    "answer is",
    "answer",
    "option",
];

/// What may follow a letter and give a reason.
const REASONS: [&str; 5] = [" - ", " – ", " — ", " because ", " since "];

/// The option that a reply chooses: the letter alone, with marks around it, with the words of its option or a reason behind it
/// (`B) ...`, `B. ...`, `**B**: ...`, `B because ...`, `Answer: B`, a last line of that form), or the words of one option. `None`
/// where it chooses none, or more than one.
pub fn choice(reply: &str, options: &[String]) -> Option<usize> {
    let behind =
        REASONING.iter().filter_map(|tag| reply.rfind(tag).map(|at| at + tag.len())).max().unwrap_or(0);
    let text = reply.get(behind..).unwrap_or_default().trim();
    let named = named(text);
    let text = named.as_deref().unwrap_or(text);
    let said = plain(text);
    if let Some(at) = options.iter().position(|option| plain(option) == said) {
        return Some(at);
    }
    if let Some(told) = lead(text, options, false) {
        return told.chosen();
    }
    // A reason first and the answer last.
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    lead(last, options, true).and_then(Reply::chosen)
}

/// The answer in a document of JSON with one, or in a box of TeX.
fn named(text: &str) -> Option<String> {
    if let Some((_, boxed)) = text.rsplit_once("\\boxed{") {
        return boxed.split_once('}').map(|(inner, _)| inner.to_owned());
    }
    let inner = text.trim_start_matches("```json").trim_matches('`').trim();
    let value: serde_json::Value = serde_json::from_str(inner).ok()?;
    let answer = ["answer", "letter", "option", "choice"].into_iter().find_map(|name| value.get(name));
    answer.and_then(serde_json::Value::as_str).map(str::to_owned)
}

fn is_around(c: char) -> bool {
    c.is_whitespace() || AROUND.contains(&c)
}

fn plain(text: &str) -> String {
    text.trim_matches(is_around).to_lowercase()
}

/// What a text begins with: a letter of an option, more than one ([`Reply::Unreadable`]), or none at all. `led`: only behind words
/// that lead up to it, or alone.
fn lead(text: &str, options: &[String], led: bool) -> Option<Reply> {
    let mut rest = text.trim_start_matches(is_around);
    let starts = |lead: &&&str| rest.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead));
    let found = LEADS.iter().find(starts);
    if let Some(found) = found {
        rest = rest.get(found.len()..).unwrap_or_default().trim_start_matches(is_around);
    }
    let (at, behind) = letter(rest, options.len())?;
    let alone = behind.trim_matches(is_around).is_empty();
    if led && found.is_none() && !alone {
        return None;
    }
    let marked = alone
        || behind.starts_with(&AROUND[..])
        || behind.starts_with(['\n', '\r'])
        || REASONS.iter().any(|reason| behind.starts_with(reason));
    if !marked {
        return None;
    }
    // The words of another option, or its letter: that is no choice.
    let words = plain(behind);
    let other = options.iter().enumerate().any(|(other, option)| other != at && plain(option) == words);
    let several = other || names_another(behind, at, options.len());
    Some(if several { Reply::Unreadable } else { Reply::Chosen(at) })
}

/// The letter of another option stands in a text by itself. `A` and `I` are words, too: they count with a mark behind them, or at
/// the end.
fn names_another(text: &str, chosen: usize, options: usize) -> bool {
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let ends = next.is_none_or(|next| {
            !next.is_alphanumeric() && next != '\'' && next != '’' && next != '-' && next != '+'
        });
        let is_word = matches!(c, 'A' | 'I');
        let is_marked = next.is_none_or(|next| matches!(next, ')' | ':' | '.' | ',' | ';' | '?' | ']' | '*'));
        if c.is_ascii_uppercase()
            && usize::from(c as u8 - b'A') < options
            && usize::from(c as u8 - b'A') != chosen
            && !before.is_alphanumeric()
            && !matches!(before, '-' | '/' | '.' | '_')
            && ends
            && (!is_word || is_marked)
        {
            return true;
        }
        before = c;
    }
    false
}

/// The letter of an option at the beginning of a text, and what is behind it; no letter of a word.
fn letter(text: &str, options: usize) -> Option<(usize, &str)> {
    let first = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let at = usize::from(first.to_ascii_uppercase() as u8 - b'A');
    let behind = text.get(1..)?;
    let ends = behind.chars().next().is_none_or(|c| !c.is_alphanumeric());
    (at < options && ends).then_some((at, behind))
}

/// Answers by prompt.
#[derive(Debug, Default)]
pub struct Answers<'a> {
    by_id: FxHashMap<&'a str, &'a Answered>,
    /// Prompts that were answered more than once, with different replies: the last one counts.
    pub changed: usize,
}

impl<'a> Answers<'a> {
    /// Of one file or several, the later ones before the earlier; an error takes no answer away.
    pub fn new(lines: impl Iterator<Item = &'a Answered>) -> Self {
        let mut out = Self::default();
        for line in lines {
            let known = out.by_id.entry(line.id.as_str()).or_insert(line);
            if known.answer.is_some() && line.answer.is_some() && known.answer != line.answer {
                out.changed += 1;
            }
            if line.answer.is_some() || known.answer.is_none() {
                *known = line;
            }
        }
        out
    }

    /// What the reply to a prompt with these options is.
    fn reply(&self, id: &str, options: &[String]) -> Reply {
        // A prompt that was left out has no name.
        match self.by_id.get(id).filter(|_| !id.is_empty()).map(|line| line.answer.as_deref()) {
            None => Reply::Missing,
            Some(None) => Reply::Failed,
            Some(Some(text)) => choice(text, options).map_or(Reply::Unreadable, Reply::Chosen),
        }
    }

    /// Prompts with a line.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().copied()
    }
}

/// One question under one strategy, and what became of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct VerdictRow {
    /// Session id.
    pub session: String,
    /// Log.
    pub source: String,
    /// Profile.
    pub profile: String,
    /// Strategy.
    pub strategy: String,
    /// Window in tokens.
    pub window: u64,
    /// Cycle, from 1.
    pub cycle: u64,
    /// `recall`, `artifact`, `decision` or `continuation`.
    pub kind: String,
    /// Class of the fact.
    pub class: String,
    /// The fact.
    pub fact: String,
    /// Line of the log that brought it.
    pub birth_line: u64,
    /// What was asked.
    pub question: String,
    /// The right option.
    pub right: String,
    /// The option chosen with the context that the compaction left; empty without one.
    pub chosen: String,
    /// What that is: `right`, `wrong`, `stale`, `untold`, `missing`, `failed` or `unreadable`.
    pub compacted: String,
    /// The same of the whole conversation.
    pub control: String,
    /// The same of no conversation.
    pub blind: String,
    /// The fact is present in the compacted context, as the scores count it.
    pub present: bool,
    /// Where it stands there.
    pub location: String,
    /// How it stands in the generated text.
    pub tier: String,
    /// The prompt.
    pub id: String,
}

/// Each question, judged, in the order of the key.
pub fn verdicts(key: &[Keyed], answers: &Answers<'_>) -> Vec<VerdictRow> {
    let row = |key: &Keyed| {
        let reply = |id: &str| answers.reply(id, &key.options);
        let own = reply(&key.id);
        let option = |at: Option<usize>| at.and_then(|at| key.options.get(at)).cloned().unwrap_or_default();
        VerdictRow {
            session: key.session.clone(),
            source: key.source.clone(),
            profile: key.profile.clone(),
            strategy: key.strategy.clone(),
            window: key.window,
            cycle: key.cycle,
            kind: key.kind.clone(),
            class: key.class.clone(),
            fact: key.fact.clone(),
            birth_line: key.birth_line,
            question: key.question.clone(),
            right: option(place(&key.want)),
            chosen: option(own.chosen()),
            compacted: verdict(own, key).to_owned(),
            control: verdict(reply(&key.control), key).to_owned(),
            blind: verdict(reply(&key.blind), key).to_owned(),
            present: key.present,
            location: key.location.clone(),
            tier: key.tier.clone(),
            id: key.id.clone(),
        }
    };
    key.iter().map(row).collect()
}

/// What a reply is, in a word.
fn verdict(reply: Reply, key: &Keyed) -> &'static str {
    let is = |letter: &str, at: usize| place(letter) == Some(at);
    match reply {
        Reply::Missing => "missing",
        Reply::Failed => "failed",
        Reply::Unreadable => "unreadable",
        Reply::Chosen(at) if is(&key.want, at) => "right",
        Reply::Chosen(at) if is(&key.untold, at) => "untold",
        Reply::Chosen(at) if key.stale.iter().any(|letter| is(letter, at)) => "stale",
        Reply::Chosen(_) => "wrong",
    }
}

impl Reply {
    fn chosen(self) -> Option<usize> {
        match self {
            Self::Chosen(at) => Some(at),
            _ => None,
        }
    }
}

/// Place of an option by its letter.
fn place(letter: &str) -> Option<usize> {
    letter.bytes().next().filter(u8::is_ascii_uppercase).map(|byte| usize::from(byte - b'A'))
}

/// One question under one strategy, judged.
struct Judged<'k> {
    key: &'k Keyed,
    own: Reply,
    control: Reply,
    blind: Reply,
}

impl Judged<'_> {
    fn is_right(&self, reply: Reply) -> bool {
        verdict(reply, self.key) == "right"
    }
}

fn is_answer(reply: Reply) -> bool {
    matches!(reply, Reply::Chosen(_))
}

/// Pools answers by profile, strategy and window: all of them, those of each kind, and, where several cycles were asked about,
/// those of each cycle. `windows`: several windows were given, and are told apart.
pub fn pool(key: &[Keyed], answers: &Answers<'_>, windows: bool) -> Vec<ProbeRow> {
    let mut groups: Vec<((String, String, String), Vec<Judged<'_>>)> = Vec::new();
    let mut places: FxHashMap<(String, String, String), usize> = FxHashMap::default();
    for key in key {
        let window = if windows { key.window.to_string() } else { ALL.to_owned() };
        let name = (key.profile.clone(), key.strategy.clone(), window);
        let at = *places.entry(name.clone()).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        let reply = |id: &str| answers.reply(id, &key.options);
        let judged =
            Judged { key, own: reply(&key.id), control: reply(&key.control), blind: reply(&key.blind) };
        if let Some((_, group)) = groups.get_mut(at) {
            group.push(judged);
        }
    }
    let mut rows = Vec::new();
    for (name, group) in &groups {
        let kinds: BTreeSet<&str> = group.iter().map(|judged| judged.key.kind.as_str()).collect();
        let cycles: BTreeSet<u64> = group.iter().map(|judged| judged.key.cycle).collect();
        let mut add = |cycle: &str, kind: &str, part: &dyn Fn(&Judged<'_>) -> bool| {
            let part: Vec<&Judged<'_>> = group.iter().filter(|judged| part(judged)).collect();
            let (profile, strategy, window) = name.clone();
            let (cycle, kind) = (cycle.to_owned(), kind.to_owned());
            rows.push(ProbeRow { profile, strategy, window, cycle, kind, ..row(&part) });
        };
        add(ALL, ALL, &|_| true);
        for kind in kinds {
            add(ALL, kind, &|judged| judged.key.kind == kind);
        }
        if cycles.len() > 1 {
            for cycle in cycles {
                add(&cycle.to_string(), ALL, &|judged| judged.key.cycle == cycle);
            }
        }
    }
    rows
}

/// The counts and shares of some questions.
fn row(part: &[&Judged<'_>]) -> ProbeRow {
    let count = |is: &dyn Fn(&Judged<'_>) -> bool| part.iter().filter(|judged| is(judged)).count() as u64;
    let is_pair = |judged: &Judged<'_>| is_answer(judged.own) && is_answer(judged.control);
    let is_known = |judged: &Judged<'_>| is_pair(judged) && judged.is_right(judged.control);
    let is_guessed = |judged: &Judged<'_>| is_known(judged) && judged.is_right(judged.blind);
    let is_answerable = |judged: &Judged<'_>| is_known(judged) && !judged.is_right(judged.blind);
    let own_right = |judged: &Judged<'_>| judged.is_right(judged.own);
    let answered = count(&|judged| is_answer(judged.own));
    let [right, wrong, stale, untold, missing, failed, unreadable] =
        ["right", "wrong", "stale", "untold", "missing", "failed", "unreadable"]
            .map(|name| count(&|judged| verdict(judged.own, judged.key) == name));
    let control_answered = count(&|judged| is_answer(judged.control));
    let control_right = count(&|judged| judged.is_right(judged.control));
    let blind_answered = count(&|judged| is_answer(judged.blind));
    let blind_right = count(&|judged| judged.is_right(judged.blind));
    let answerable = count(&is_answerable);
    let answerable_right = count(&|judged| is_answerable(judged) && own_right(judged));
    let mut by_session: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for judged in part.iter().filter(|judged| is_answerable(judged)) {
        let (all, right) = by_session.entry(&judged.key.session).or_default();
        *all += 1;
        *right += u64::from(own_right(judged));
    }
    let shares: Vec<f64> = by_session.values().filter_map(|(all, right)| ratio(*right, *all)).collect();
    let estimate = estimate(&shares, SEED);
    let present = count(&|judged| is_answerable(judged) && judged.key.present);
    let present_right = count(&|judged| is_answerable(judged) && judged.key.present && own_right(judged));
    ProbeRow {
        sessions: part.iter().map(|judged| judged.key.session.as_str()).collect::<BTreeSet<_>>().len() as u64,
        questions: part.len() as u64,
        answered,
        right,
        wrong,
        stale,
        untold,
        accuracy: ratio(right, answered),
        unanswered: missing + failed + unreadable,
        missing,
        failed,
        unreadable,
        control_answered,
        control_right,
        control_accuracy: ratio(control_right, control_answered),
        blind_answered,
        blind_right,
        blind_accuracy: ratio(blind_right, blind_answered),
        pairs: count(&is_pair),
        answerable,
        guessed: count(&is_guessed),
        answerable_right,
        answer_survival: ratio(answerable_right, answerable),
        answer_survival_mean: estimate.mean,
        answer_survival_low: estimate.low,
        answer_survival_high: estimate.high,
        answer_survival_n: estimate.n,
        present,
        present_right,
        absent: answerable - present,
        absent_right: answerable_right - present_right,
        effect: effect(part),
        ..ProbeRow::default()
    }
}

/// How much of what the whole conversation is worth the compacted one is worth, beyond guessing.
fn effect(part: &[&Judged<'_>]) -> Option<f64> {
    let [mut own, mut control, mut blind] = [0.0_f64; 3];
    for judged in part {
        if [judged.own, judged.control, judged.blind].into_iter().all(is_answer) {
            let right = |reply| f64::from(u8::from(judged.is_right(reply)));
            own += right(judged.own);
            control += right(judged.control);
            blind += right(judged.blind);
        }
    }
    (control > blind).then(|| (own - blind) / (control - blind))
}

#[cfg(test)]
mod tests;
