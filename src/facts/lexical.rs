//! Facts found in text: errors, identifiers, values, constraints, decisions, requests.
//!
//! The reading of each class is that of `fixtures/LABELLING.md`, which the labels of the fixtures follow as well; where
//! in doubt, no fact. In short:
//!
//! * **Where**: *prose* is text a person or the agent wrote (not injected, not thinking) outside fenced code blocks
//!   and quoted (`>`) lines; what a person says in declining a call is theirs. The script of a shell call counts for
//!   identifiers. What stands only in the content of files, read or written, is no lexical fact (the file is one): it
//!   becomes one from the moment prose or a command holds it, so a two-thousand-line listing yields nothing by itself
//!   and no cap is needed.
//! * **error**: compiler or linter code with message, exception with message, panic, failing test, `fatal:`/`error:` line
//!   of a program, else the reason a failed command gives; the message of a call that the agent's tool refused. From
//!   results of what runs something (never from files shown, listings, searches) and from what user or agent paste, code
//!   blocks of output included; inside a sentence only exception and message together. Totals are no errors, nor is what a
//!   person declined.
//! * **identifier**: URL; UUID; hex of 8 or more with a letter and a digit; commit (7 or more, also the one a `git commit`
//!   of the agent made); ticket key; version (with one dot only after what has versions); port; environment variable;
//!   symbol qualified by `::`, or by `.`/`#` where the qualifier is a type, a module of the log's own paths or a package.
//! * **value**: a number with a unit of measurement, or bound to a key (`retry_limit: 3`, `timeout is 30 s`), to a limit
//!   ("at most 20 processes"), a rate or a code ("exit code 2"). Former values (`from 3`, `was 3`), counts of things and
//!   numbers of steps, lines, issues are none.
//! * **constraint**: a sentence of the user that directs, with a word that binds or limits.
//! * **decision**: a sentence of user or agent that settles a choice by one of five forms.
//! * **request**: the first sentence of a user message that asks; each replaces the one before, the first stays. Bare
//!   assent and mere prohibitions ask nothing new.

use super::{Author, Draft, Fact, FactClass, Form, shows_content};
use crate::fileops::{CallEffect, OpKind, ToolKind};
use crate::lanes::{self, Words};
use crate::matching::index::Border;
use crate::matching::sentence::is_stop;
use crate::matching::{self, CLASS, Quantity, WORD, collapse, is_cjk};
use crate::transcript::{MessageIdx, Outcome, ToolResult};
use compact_str::CompactString;
use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};
use sentences::Plain;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::LazyLock;

pub(super) mod errors;
pub(super) mod identifiers;
#[cfg(test)]
mod samples;
pub(super) mod sentences;
pub(super) mod values;

pub(super) use errors::declined;
pub(super) use identifiers::Names;

/// Collects lexical facts message by message.
#[derive(Default)]
pub(super) struct Collector {
    names: Names,
    /// Line of the source that is being read.
    line: u32,
    drafts: Vec<Draft>,
    known: FxHashMap<(FactClass, String), usize>,
    /// Latest value of each key.
    keys: FxHashMap<String, usize>,
    /// Keys that had a number without a unit, by that number.
    bare: FxHashMap<CompactString, Vec<String>>,
    /// Wordings of limits, rates and codes so far.
    settings: FxHashSet<String>,
    /// Numbers of all values so far.
    numbers: FxHashSet<CompactString>,
    /// Values by amount, each with its key (empty for none).
    amounts: FxHashMap<(String, &'static str), Vec<(String, usize)>>,
    request: Option<usize>,
    request_at: Option<MessageIdx>,
    /// The end of what the agent said, where it spoke last.
    spoken: String,
    /// Memory for a sentence as it is read.
    plain: String,
    turn: Turn,
    /// The agent called a tool at all, and does so in the message that is being read.
    called: bool,
    calls: bool,
}

/// What happened since the user spoke.
#[derive(Default)]
struct Turn {
    /// The user asked a question.
    asked: bool,
    /// The user said something else.
    ordered: bool,
    /// The agent changed a file.
    changed: bool,
}

impl Collector {
    /// A collector that knows the names the log's paths give.
    pub(super) fn new(names: Names) -> Self {
        Self { names, ..Self::default() }
    }

    /// What follows stands on this line of the source.
    pub(super) fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    /// What follows is of a message with calls, or of one without.
    pub(super) fn in_message(&mut self, calls: bool) {
        self.calls = calls;
    }

    /// Text that a person or the agent wrote.
    pub(super) fn prose(&mut self, text: &str, author: Author, at: MessageIdx) {
        let normal = matching::normalise(text);
        let prose = Prose::new(&normal);
        for error in errors::in_prose(&normal, &prose.fences, author) {
            self.error(error, author, at);
        }
        for (start, end) in &prose.units {
            let unit = normal.get(*start..*end).unwrap_or("");
            for found in identifiers::find(unit, false, &mut self.names) {
                self.identifier(found, author, at);
            }
            for found in values::find(unit) {
                self.value(found, author, at);
            }
        }
        // A message that goes on with a call tells a step; so does one of a turn that has changed nothing yet.
        let may_report = author == Author::Agent && !self.calls && (self.turn.changed || !self.called);
        let mut told: Vec<&str> = Vec::new();
        let mut decided = false;
        let offer = if author == Author::User { offer(&self.spoken) } else { None };
        self.spoken.clear();
        let mut request = Wanted::default();
        let mut place = 0;
        // The sentence before a list ordered what it holds.
        let mut orders = false;
        for (start, end) in &prose.units {
            let unit = normal.get(*start..*end).unwrap_or("");
            let unit_text = sentences::strip_marker(unit);
            let sentences = matching::sentences(unit_text);
            let sentences = sentences.iter().filter_map(|(from, to)| unit_text.get(*from..*to));
            // Who writes no full stops ends sentences with the line.
            let stops =
                || unit_text.trim_end().ends_with(['.', ':', ',', '。']) || unit_text.contains("\n  ");
            let most = if author == Author::User && !stops() { usize::MAX } else { 1 };
            let lines = sentences.flat_map(|it| it.splitn(most, '\n'));
            for sentence in lines.map(str::trim).filter(|line| !line.is_empty()) {
                let plain = Plain::read(sentence, std::mem::take(&mut self.plain));
                if author == Author::User && sentences::is_constraint(&plain) {
                    self.sentence(FactClass::Constraint, sentence, author, at);
                }
                let offered = offer.as_deref().filter(|_| place < 2);
                let left = offered.map(|text| sentences::Offer { text, first: place == 0 });
                let listed = orders && unit_text.len() < unit.trim().len() && sentences::sets_listed(&plain);
                let chosen = sentences::is_decision(&plain, author, left) || listed;
                if chosen {
                    self.sentence(FactClass::Decision, sentence, author, at);
                    decided = true;
                } else if may_report && sentences::may_report(&plain) {
                    told.push(sentence);
                }
                let answers = |offer: sentences::Offer<'_>| {
                    chosen && offer.first && sentences::only_chooses(&plain)
                        || sentences::only_answers(&plain, offer)
                };
                if author == Author::User && !left.is_some_and(answers) {
                    request.consider(&plain, sentence);
                }
                place += 1;
                if sentence.ends_with([':', '：']) {
                    orders = author == Author::User && sentences::asks(&plain);
                }
                self.plain = plain.into_memory();
            }
        }
        if let Some(sentence) = request.best()
            && !sentences::is_assent(&normal)
            && self.request_at != Some(at)
        {
            self.request(&sentence, at);
        }
        if author == Author::Agent {
            self.spoken.push_str(tail(&normal, MOST_OFFERED));
            if !told.is_empty() {
                let lower = lower_case(&normal);
                if sentences::is_report(&lower, self.turn.asked, self.turn.ordered || decided) {
                    for sentence in told {
                        self.sentence(FactClass::Decision, sentence, author, at);
                    }
                }
            }
        } else {
            let asked = normal.trim_end().ends_with(['?', '？']) || sentences::questions(&normal);
            self.turn = Turn::default();
            self.turn.asked = asked
                && !["an you ", "ould you ", "an u ", "ould u ", "ill you "]
                    .iter()
                    .any(|polite| normal.contains(polite));
            self.turn.ordered = !asked;
        }
    }

    /// The script of a shell call.
    pub(super) fn command(&mut self, script: &str, at: MessageIdx) {
        let script = without_documents(script);
        if script.len() > 2_000 {
            return;
        }
        let normal = matching::normalise(&script);
        for found in identifiers::find(&normal, true, &mut self.names) {
            self.identifier(found, Author::Agent, at);
        }
    }

    /// Output of a run that is no tool result. What it ran is not known, so only lines that name an error count.
    pub(super) fn output(&mut self, text: &str, at: MessageIdx) {
        for error in errors::in_output(text) {
            self.error(error, Author::Tool, at);
        }
    }

    /// A tool result.
    pub(super) fn result(&mut self, result: &ToolResult, effect: Option<&CallEffect>, at: MessageIdx) {
        if effect
            .and_then(|effect| effect.command.as_deref())
            .is_some_and(|script| script.contains("git commit"))
            && let Some(found) = identifiers::commit_made(&result.text)
        {
            self.identifier(found, Author::Tool, at);
        }
        let failed = result.outcome == Outcome::Failed;
        self.called = true;
        self.turn.changed |=
            !failed && effect.is_some_and(|effect| effect.ops.iter().any(|op| op.kind != OpKind::Read));
        // A person who declines a call says why in the reply to it.
        if failed
            && result.text.starts_with("The user ")
            && let Some((_, said)) = result.text.split_once("the user said:")
        {
            self.prose(said, Author::User, at);
        }
        let shell = effect.filter(|effect| effect.kind == ToolKind::Shell);
        let shows = match (shell, effect) {
            (Some(effect), _) => {
                effect.command.as_deref().is_some_and(|script| errors::only_shows(script, effect))
            }
            // Unknown tools (test runners, diagnostics of an editor) report a run only when it failed.
            (None, Some(effect)) => shows_content(effect) || !failed,
            (None, None) => !failed,
        };
        let hinted = if shows { Vec::new() } else { errors::hinted_lines(&result.text) };
        let mut found = errors::in_lines(&result.text, &hinted);
        if found.is_empty() && failed {
            match shell {
                Some(_) => found = errors::reasons(&result.text),
                None => found.extend(errors::refusal(&result.text)),
            }
        }
        if failed && shell.is_some() && !shows {
            for error in errors::named_lines(&result.text, &hinted) {
                let value = error.value.to_lowercase();
                if !found.iter().any(|known| known.value.to_lowercase().contains(&value)) {
                    found.push(error);
                }
            }
        }
        errors::merge(&mut found);
        for error in found {
            self.error(error, Author::Tool, at);
        }
    }

    /// The facts in order of discovery.
    pub(super) fn finish(self) -> Vec<Draft> {
        self.drafts
    }

    fn add(
        &mut self,
        class: FactClass,
        value: String,
        author: Author,
        at: MessageIdx,
        thin: bool,
        form: Form,
    ) -> Option<usize> {
        use std::collections::hash_map::Entry;
        match self.known.entry((class, value)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(slot) => {
                let value = slot.key().1.clone();
                slot.insert(self.drafts.len());
                self.drafts.push(Draft {
                    fact: Fact {
                        value,
                        class,
                        birth: at,
                        line: self.line,
                        author,
                        mentions: Vec::new(),
                        superseded: None,
                        states: Vec::new(),
                        unadjudicable: thin,
                        file: None,
                    },
                    form,
                });
                Some(self.drafts.len() - 1)
            }
        }
    }

    fn error(&mut self, error: errors::Found, author: Author, at: MessageIdx) {
        let thin = error.value.len() < 6;
        let mut surfaces = vec![error.value.clone()];
        surfaces.extend(error.other);
        let form = Form::Atom { surfaces, border: Border::Word, label: error.label };
        self.add(FactClass::Error, error.value, author, at, thin, form);
    }

    fn identifier(&mut self, found: identifiers::Found, author: Author, at: MessageIdx) {
        let known = (FactClass::Identifier, found.value);
        // Most were named before.
        if self.known.contains_key(&known) {
            return;
        }
        let (class, value) = known;
        let thin = value.len() <= 2;
        let surfaces = found.spelled.surfaces(&value);
        let form = Form::Atom { surfaces, border: found.border, label: None };
        self.add(class, value, author, at, thin, form);
    }

    fn value(&mut self, found: values::Found, author: Author, at: MessageIdx) {
        let text = found.canonical();
        if !found.phrases.is_empty() {
            // "改成 5" after "上限 5": the same setting in other words.
            if self.settings.contains(&text) {
                return;
            }
            // "Defaults to 32" where `sync_records` is 32 already.
            let plain = text
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'd' | 'b' | 'c' | 'D' | 'B' | 'C'));
            if plain && self.numbers.contains(&found.number.number) {
                return;
            }
            self.numbers.insert(found.number.number.clone());
            self.settings.extend(found.phrases.iter().cloned());
            let form = Form::Atom { surfaces: found.phrases, border: Border::Word, label: None };
            self.add(FactClass::Value, text, author, at, false, form);
            return;
        }
        self.numbers.insert(found.number.number.clone());
        let amount = values::amount(&found.number);
        let Some(key) = found.key else {
            // The same amount again, with or without its key, is a mention.
            if amount.as_ref().is_some_and(|amount| self.amounts.contains_key(amount))
                || self.counted(&found.number)
            {
                return;
            }
            let form = Form::Value { key: None, number: found.number };
            let index = self.add(FactClass::Value, text, author, at, false, form);
            if let (Some(amount), Some(index)) = (amount, index) {
                self.amounts.entry(amount).or_default().push((String::new(), index));
            }
            return;
        };
        let slot = key.to_lowercase();
        if let Some(latest) = self.keys.get(&slot).and_then(|index| self.drafts.get(*index))
            && let Form::Value { number, .. } = &latest.form
            && (number.number == found.number.number && number.unit == found.number.unit
                || amount.is_some() && amount == values::amount(number))
        {
            return;
        }
        // `crossing_min = 40` after "40 minutes", "timeout is 8000 ms" after `BOOKING_TIMEOUT = 8000`.
        if self.said_with_unit(&slot, &found.number) && !self.keys.contains_key(&slot) {
            return;
        }
        // Under another name of the key: "10 minutes" and `retry_after_cap = 600 s`.
        let known = amount.as_ref().and_then(|amount| {
            let same =
                |(other, _): &&mut (String, usize)| other.is_empty() || values::share_word(other, &slot);
            let (name, index) = self.amounts.get_mut(amount)?.iter_mut().find(same)?;
            // The first key takes an amount that had none.
            if name.is_empty() {
                name.clone_from(&slot);
            }
            Some(*index)
        });
        if let Some(index) = known
            && !self.keys.contains_key(&slot)
        {
            self.stands(slot, index);
            return;
        }
        // The same key may come back to a former number: that is a new fact.
        self.known.remove(&(FactClass::Value, text.clone()));
        let form = Form::Value { key: Some(key), number: found.number };
        if let Some(index) = self.add(FactClass::Value, text, author, at, false, form) {
            if let Some(amount) = amount {
                self.amounts.entry(amount).or_default().push((slot.clone(), index));
            }
            self.stands(slot, index);
        }
    }

    /// Is a number known with its unit where the key or another key with a word of it names the unit?
    fn said_with_unit(&self, slot: &str, number: &Quantity) -> bool {
        if number.unit.is_empty() {
            let scale = match slot.rsplit(['_', '-', '.']).next() {
                Some("ms" | "millis") => 1.0,
                Some("s" | "sec" | "secs" | "seconds") => 1e3,
                Some("min" | "mins" | "minutes") => 6e4,
                Some("h" | "hours") => 3.6e6,
                Some("days") => 8.64e7,
                _ => return false,
            };
            return slot.contains(['_', '-', '.'])
                && number
                    .number
                    .parse::<f64>()
                    .is_ok_and(|it| self.amounts.contains_key(&(format!("{}", it * scale), "ms")));
        }
        self.bare
            .get(&number.number)
            .into_iter()
            .flatten()
            .any(|key| values::share_word(key, slot) && self.bare_number(key) == Some(number.number.as_str()))
    }

    /// A key has this value from here on.
    fn stands(&mut self, slot: String, index: usize) {
        self.keys.insert(slot.clone(), index);
        if let Some(number) = self.bare_number(&slot).map(CompactString::from) {
            self.bare.entry(number).or_default().push(slot);
        }
    }

    /// The latest number of a key, where it has no unit.
    fn bare_number(&self, key: &str) -> Option<&str> {
        match &self.drafts.get(*self.keys.get(key)?)?.form {
            Form::Value { number, .. } if number.unit.is_empty() => Some(&number.number),
            _ => None,
        }
    }

    /// "5 attempts" where `max_attempts` is 5 already.
    fn counted(&self, number: &Quantity) -> bool {
        matches!(number.unit, "retries" | "attempts")
            && self.keys.iter().any(|(key, index)| {
                key.contains(number.unit)
                    && self.drafts.get(*index).is_some_and(|draft| {
                        matches!(&draft.form, Form::Value { number: known, .. } if known.number == number.number)
                    })
            })
    }

    fn sentence(&mut self, class: FactClass, sentence: &str, author: Author, at: MessageIdx) {
        let value = collapse(sentence);
        let thin = too_thin(&value);
        self.add(class, value, author, at, thin, Form::Sentence(None));
    }

    fn request(&mut self, sentence: &str, at: MessageIdx) {
        let value = collapse(sentence);
        let thin = too_thin(&value);
        // The same words again are a new request.
        self.known.remove(&(FactClass::Request, value.clone()));
        self.request = self.add(FactClass::Request, value, Author::User, at, thin, Form::Sentence(None));
        self.request_at = Some(at);
    }
}

/// A script without the bodies of its here-documents: they are content of files.
fn without_documents(script: &str) -> Cow<'_, str> {
    if !script.contains("<<") {
        return Cow::Borrowed(script);
    }
    let mut out = String::with_capacity(script.len());
    let mut until: Option<&str> = None;
    for line in script.lines() {
        if let Some(end) = until {
            if line.trim() == end {
                until = None;
            }
            continue;
        }
        out.push_str(line);
        out.push('\n');
        until = line
            .split_once("<<")
            .filter(|(_, rest)| !rest.starts_with('<'))
            .and_then(|(_, rest)| rest.trim_start_matches(['-', ' ']).split_whitespace().next())
            .map(|word| word.trim_matches(['\'', '"', '\\', ';', ')']));
    }
    Cow::Owned(out)
}

/// The request of one message: the first sentence that asks.
#[derive(Default)]
struct Wanted {
    found: Option<String>,
    announced: Option<String>,
    /// It says too little by itself and takes the next sentence along.
    open: bool,
    before: String,
}

impl Wanted {
    fn consider(&mut self, plain: &Plain<'_>, sentence: &str) {
        // "And the reserved bytes? No: leave them." asks nothing.
        if self.found.as_deref().is_some_and(|found| found == self.before && found.ends_with('?'))
            && ["No:", "No,", "No.", "Yes:", "Yes,", "Yes.", "no,", "no:", "nope", "Nope"]
                .iter()
                .any(|it| sentence.starts_with(it))
        {
            self.found = None;
        }
        if let Some(found) = &mut self.found {
            if std::mem::take(&mut self.open) {
                *found = format!("{found} {sentence}");
            }
            sentence.clone_into(&mut self.before);
            return;
        }
        if sentences::asks(plain) {
            let thin = too_thin(sentence);
            // "Please fix it." asks for what the sentence before it tells, "I want:" for what follows.
            self.open = thin && (self.before.is_empty() || sentence.ends_with(':'));
            self.found = Some(if thin && !self.open {
                format!("{} {sentence}", self.before)
            } else {
                sentence.to_owned()
            });
        } else if self.announced.is_none() && sentences::announces(plain) && !too_thin(sentence) {
            self.announced = Some(sentence.to_owned());
        }
        sentence.clone_into(&mut self.before);
    }

    fn best(self) -> Option<String> {
        self.found.or(self.announced)
    }
}

/// Bytes at the end of a message that may hold an offer.
const MOST_OFFERED: usize = 2_000;

/// The last bytes of a text, at most so many.
fn tail(text: &str, bytes: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes))..).unwrap_or("")
}

/// The end of a message that asks or proposes there, or lists options, in lower case: what the other side may answer to.
fn offer(text: &str) -> Option<String> {
    const ASKS_WITHIN: usize = 600;
    const LISTS: &[(&str, &str)] = &[
        ("a)", "b)"),
        ("a.", "b."),
        ("a:", "b:"),
        ("option a", "option b"),
        ("option 1", "option 2"),
        ("1)", "2)"),
    ];
    const PROPOSES: &[&str] = &[
        "i'd ",
        "i would ",
        "i’d ",
        "either ",
        "choice",
        "your pick",
        "your call",
        "up to you",
        "two ways",
        "two options",
        "two possibilities",
        "we could ",
        "i can ",
        "both look",
        "请选择",
        "也可以",
        "どちら",
        "tell me if",
        "let me know",
        "ですか",
        "ますか",
        "ましょうか",
        "要不要",
        "还是",
        "dos opciones",
        "dos formas",
        "deux options",
        "deux façons",
        "zwei möglichkeiten",
        "zwei wege",
        "duas opções",
    ];
    // A bit for each half of the lists, and one for proposals.
    const PROPOSED: u32 = 1 << 31;
    static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
        let halves =
            LISTS.iter().zip(0..).flat_map(|((a, b), at)| [(*a, 1 << (2 * at)), (*b, 2 << (2 * at))]);
        let words: Vec<(&str, u32)> = halves.chain(PROPOSES.iter().map(|words| (*words, PROPOSED))).collect();
        Words::new(&words, false)
    });
    let lower = lower_case(tail(text, MOST_OFFERED));
    let mut bits = 0;
    if let Some(words) = WORDS.as_ref() {
        let stretches = lanes::overlapping::<3>(lower.as_bytes(), words.longest().saturating_sub(1));
        words.walk(stretches, |_, _, told| bits |= told);
    }
    let lists = (0..LISTS.len()).any(|at| bits >> (2 * at) & 3 == 3);
    let asks = || tail(text, ASKS_WITHIN).contains(['?', '？']);
    (lists || bits & PROPOSED != 0 || asks()).then_some(lower)
}

/// What [`str::to_lowercase`] gives, sooner where a text is ASCII but for a few characters.
fn lower_case(text: &str) -> String {
    // What becomes of this one follows from its neighbours.
    if text.contains('Σ') {
        return text.to_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, behind) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = behind.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_lowercase));
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.make_ascii_lowercase();
    out
}

/// True when a sentence has too little in it to be recognised: less than two content words and no entity.
pub(super) fn too_thin(text: &str) -> bool {
    if has_two_words(text) {
        return false;
    }
    let sentence = matching::sentence::analyse(text);
    sentence.words.len() < 2 && sentence.entities.is_empty()
}

/// Are two different content words plain to see, ASCII letters between blanks? A text with two of them is not thin.
fn has_two_words(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| {
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && {
            let mut lower = CompactString::from(*word);
            lower.make_ascii_lowercase();
            !is_stop(&lower)
        }
    });
    words.next().is_some_and(|first| words.any(|word| !word.eq_ignore_ascii_case(first)))
}

/// Holds a text a digit? Asked of stretches at once, which compilers make a vector's work.
fn has_digit(text: &str) -> bool {
    text.as_bytes().chunks(64).any(|bytes| bytes.iter().fold(false, |any, byte| any | byte.is_ascii_digit()))
}

/// A text without its fenced code and quoted lines.
struct Prose {
    units: SmallVec<[(usize, usize); 16]>,
    /// Its fenced code.
    fences: Vec<(usize, usize)>,
}

impl Prose {
    fn new(text: &str) -> Self {
        let fences = fences(text);
        let mut units = SmallVec::new();
        let mut fence = fences.iter().peekable();
        for (start, end) in matching::units(text) {
            while fence.peek().is_some_and(|(_, to)| *to <= start) {
                fence.next();
            }
            if fence.peek().is_some_and(|(from, to)| *from < end && start < *to) {
                continue;
            }
            let unit = text.get(start..end).unwrap_or("");
            let trimmed = unit.trim_start();
            if trimmed.is_empty() || trimmed.starts_with('>') {
                continue;
            }
            units.push((start, end));
        }
        Self { units, fences }
    }
}

/// Byte ranges of fenced code blocks; an unclosed fence runs to the end.
fn fences(text: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let holds = |mark: &str| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    if !holds("```") && !holds("~~~") {
        return out;
    }
    let mut open: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (open, mark) {
            (None, Some(mark)) => open = Some((at, mark)),
            (Some((from, mark)), Some(found)) if mark == found => {
                out.push((from, at + line.len()));
                open = None;
            }
            _ => {}
        }
        at += line.len();
    }
    if let Some((from, _)) = open {
        out.push((from, text.len()));
    }
    out
}

/// Compiles a pattern of this module; they are literals under test, so a broken one matches nothing rather than panic.
fn pattern(text: &str) -> Option<Regex> {
    crate::patterns::compile(text).ok()
}

#[cfg(test)]
mod tests {
    use super::samples::samples;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn letters_are_lowered_as_ever(text in "(\\PC|[A-Z]|Σ|İ|ß|Ǆ|\u{212a}| ){0,24}") {
            prop_assert_eq!(lower_case(&text), text.to_lowercase());
        }
    }

    #[test]
    fn two_plain_words_are_two_content_words() {
        const PIECES: &[&str] = &[
            " ", " ", "the", "cache", "Cache", "don", "'t", "’t", "parser", ",", "-", "_", "x", "9", "缓存",
            "not", "é", "\n", "`", "without", "instead", " of ", "cache ", " parser ", " key",
        ];
        let mut found = 0;
        for text in samples(PIECES, 8, 10_000) {
            if has_two_words(&text) {
                found += 1;
                assert!(matching::sentence::analyse(&text).words.len() >= 2, "{text}");
            }
        }
        assert!(found > 100, "{found}");
    }
}
