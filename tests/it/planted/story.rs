//! A session under construction: acts of user and agent on a line of time that a compaction cuts.

use super::dice::Dice;
use super::log::{self, Action, Format, Log, Said, Turn};
use super::plant::{Claim, Cut, Fate, Refusal, plant};
use super::words;
use compactor::context::{Context, Entry};
use compactor::facts::{FactClass, Match};
use compactor::score::Location;
use compactor::transcript::{MessageIdx, Role, Transcript};

/// Number of something that happens in a session.
pub(super) type Act = usize;

/// Who does what.
#[derive(Debug, Clone)]
enum Deed {
    User(String),
    Agent(String),
    Call(Action),
}

/// A fact before the log is written.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) class: FactClass,
    pub(super) value: String,
    pub(super) said: String,
    pub(super) spellings: Vec<String>,
    /// What brings it into the log; `true` for the result of the call.
    pub(super) birth: (Act, bool),
    pub(super) fate: Fate,
    /// What the summary says of it.
    pub(super) summary: String,
    pub(super) trap: &'static str,
}

/// A file as the ledger should have it at the cycle.
#[derive(Debug, Clone)]
pub(super) struct FileTruth {
    pub(super) path: String,
    pub(super) state: FactClass,
    pub(super) from: Option<String>,
}

/// A session while it is made up.
pub(super) struct Story {
    pub(super) dice: Dice,
    pub(super) format: Format,
    pub(super) cwd: String,
    pub(super) language: &'static [&'static str],
    deeds: Vec<(usize, Deed)>,
    /// Places in time: `cut..end` is the kept tail.
    cut: usize,
    end: usize,
    places: usize,
    pub(super) plans: Vec<Plan>,
    pub(super) summary: Vec<String>,
    pub(super) files: Vec<FileTruth>,
    pub(super) stale: u64,
    /// Rules and choices said again in other words: sentences of their own.
    pub(super) again: Vec<String>,
    /// Words nobody has used yet.
    pub(super) stems: Vec<&'static str>,
    pub(super) nouns: Vec<&'static str>,
    pub(super) key_heads: Vec<&'static str>,
    pub(super) key_tails: Vec<&'static str>,
    pub(super) rules: Vec<usize>,
    pub(super) choices: Vec<usize>,
    pub(super) tools: Vec<&'static str>,
    numbers: Vec<usize>,
    ports: Vec<usize>,
}

/// A session with its cycle and its facts.
pub(super) struct Session {
    pub(super) seed: u64,
    pub(super) format: Format,
    pub(super) log: Log,
    pub(super) cut: Cut,
    pub(super) planted: Vec<Claim>,
    /// Lines of the summary.
    pub(super) summary: Vec<String>,
    pub(super) files: Vec<FileTruth>,
    pub(super) stale: u64,
    /// Rules and choices said again in other words.
    pub(super) again: Vec<String>,
}

impl Story {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let format = *dice.pick(&[Format::ClaudeCode, Format::Codex, Format::Pi]);
        let project = *dice.pick(words::PROJECTS);
        let cwd = match dice.range(0, 8) {
            0 | 1 => format!("/home/dev/{project}"),
            2 | 3 => format!("/Users/kim/code/{project}"),
            4 => format!("/srv/checkouts/{project}"),
            5 => format!("/workspace/{project}"),
            6 => format!("/root/{project}"),
            _ if format == Format::ClaudeCode => format!(r"C:\Users\kim\{project}"),
            _ => format!("/opt/{project}"),
        };
        let places = dice.range(14, 34);
        let cut = dice.range(places / 3, places - 5);
        let end = dice.range(cut + 3, places + 1);
        let language = *dice.pick(words::LANGUAGES);
        let rules = (0..words::RULES.len()).collect();
        let choices = (0..words::CHOICES.len()).collect();
        let mut story = Self {
            dice,
            format,
            cwd,
            language,
            deeds: Vec::new(),
            cut,
            end,
            places,
            plans: Vec::new(),
            summary: Vec::new(),
            files: Vec::new(),
            stale: 0,
            again: Vec::new(),
            stems: words::STEMS.to_vec(),
            nouns: words::NOUNS.to_vec(),
            key_heads: words::KEY_HEADS.to_vec(),
            key_tails: words::KEY_TAILS.to_vec(),
            rules,
            choices,
            tools: words::TOOLS.to_vec(),
            numbers: Vec::new(),
            ports: Vec::new(),
        };
        story.chatter();
        story
    }

    /// Filler in the log: small talk, distractors, calls that look around.
    fn chatter(&mut self) {
        for place in 0..self.places {
            if self.dice.chance(45) {
                let text = self.dice.word(words::CHATTER);
                self.agent(place, text);
            }
            if self.dice.chance(12) {
                let text = self.dice.word(words::DISTRACTORS);
                self.agent(place, text);
            }
            if place == self.cut {
                // The tail begins with a request: an older one is replaced by what the context holds.
                let noun = self.dice.take(&mut self.nouns);
                self.user(place, &format!("Please go on with the {noun}."));
            } else if place == self.end || place > 0 && self.dice.chance(15) {
                let text = self.dice.word(words::SMALLTALK);
                self.user(place, text);
            }
            if self.dice.chance(35) {
                let script =
                    self.dice.pick(&["ls", "git status --short", "pwd", "git diff --stat"]).to_string();
                self.call(place, Action::Shell { script, output: String::new(), code: 0 });
            }
        }
    }

    fn deed(&mut self, place: usize, deed: Deed) -> Act {
        self.deeds.push((place, deed));
        self.deeds.len() - 1
    }

    pub(super) fn user(&mut self, place: usize, text: &str) -> Act {
        self.deed(place, Deed::User(text.to_owned()))
    }

    pub(super) fn agent(&mut self, place: usize, text: &str) -> Act {
        self.deed(place, Deed::Agent(text.to_owned()))
    }

    pub(super) fn call(&mut self, place: usize, action: Action) -> Act {
        self.deed(place, Deed::Call(action))
    }

    /// Takes back the last act.
    pub(super) fn undo(&mut self, act: Act) {
        assert_eq!(act + 1, self.deeds.len(), "only the last act can be taken back");
        self.deeds.pop();
    }

    /// A place before the cut.
    pub(super) fn before(&mut self) -> usize {
        self.dice.range(0, self.cut)
    }

    /// Places before the cut, each later than the one before.
    pub(super) fn in_order<const N: usize>(&mut self) -> [usize; N] {
        let mut places: [usize; N] = std::array::from_fn(|_| self.dice.range(0, self.cut));
        places.sort_unstable();
        for at in 1..N {
            places[at] = places[at].max(places[at - 1] + 1);
        }
        // The last of them may have been pushed over the cut.
        let over = (places[N - 1] + 1).saturating_sub(self.cut);
        places.map(|place| place.saturating_sub(over))
    }

    /// A place in the kept tail.
    pub(super) fn kept(&mut self) -> usize {
        self.dice.range(self.cut, self.end)
    }

    /// A place behind the prefix, if there is one.
    pub(super) fn after(&mut self) -> Option<usize> {
        (self.end < self.places).then(|| self.dice.range(self.end, self.places))
    }

    /// A number that no other value of the session has, nor one that begins or ends with it.
    pub(super) fn number(&mut self) -> usize {
        loop {
            let number = self.dice.range(11, 980);
            let text = number.to_string();
            let free = |known: &usize| {
                let known = known.to_string();
                !known.contains(&text) && !text.contains(&known)
            };
            if self.numbers.iter().all(free) {
                self.numbers.push(number);
                return number;
            }
        }
    }

    /// A port that is not used yet.
    pub(super) fn port(&mut self) -> usize {
        loop {
            let port = self.dice.range(3_000, 6_000);
            if !self.ports.contains(&port) {
                self.ports.push(port);
                return port;
            }
        }
    }

    /// A word that stands nowhere else in the session.
    pub(super) fn word(&mut self) -> String {
        let first = self.dice.digits("bcdfghklmnprstvz", 1);
        let rest =
            self.dice.digits("aeiou", 1) + &self.dice.digits("lmnrstvx", 1) + &self.dice.digits("aeiou", 1);
        format!("{first}{rest}{}", self.dice.digits("bdgkmnprstvz", 2))
    }

    /// Makes the log, the summary and the facts in it.
    pub(super) fn finish(mut self, seed: u64) -> Result<Session, Refusal> {
        let mut turns = Vec::new();
        // First turn of each place.
        let mut begins = Vec::new();
        for place in 0..self.places {
            begins.push(turns.len());
            let mut user = Vec::new();
            let mut texts = Vec::new();
            let mut calls = Vec::new();
            for (act, (_, deed)) in self.deeds.iter().enumerate().filter(|(_, (at, _))| *at == place) {
                match deed {
                    Deed::User(text) => user.push(Said { act: Some(act), text: text.clone() }),
                    Deed::Agent(text) => texts.push(Said { act: Some(act), text: text.clone() }),
                    Deed::Call(action) => calls.push((act, action.clone())),
                }
            }
            if !user.is_empty() {
                turns.push(Turn::User(user));
            }
            if texts.is_empty() {
                let text = (self.dice.word(words::CHATTER)).to_owned();
                texts.push(Said { act: None, text });
            }
            turns.push(Turn::Agent { texts, calls });
        }
        let id = format!("0199e03d-3494-7c6a-900a-{seed:012x}");
        let log = log::write(self.format, &id, &self.cwd, &turns, self.deeds.len());
        let line_of = |place: usize| {
            begins.get(place).and_then(|turn| log.turns.get(*turn)).copied().unwrap_or(log.len() + 1)
        };
        let cut = Cut { kept_from: line_of(self.cut), end: line_of(self.end) };
        let mut planted = Vec::new();
        for plan in self.plans {
            let line = log.lines[plan.birth.0];
            let line = if plan.birth.1 { log.results[plan.birth.0] } else { line };
            let claim = Claim {
                class: plan.class,
                value: plan.value,
                said: plan.said,
                line,
                spellings: plan.spellings,
                fate: plan.fate,
                summary: plan.summary,
                trap: plan.trap,
            };
            planted.push(plant(&log, cut, claim)?);
        }
        for _ in 0..self.dice.range(1, 4) {
            self.summary.push(self.dice.word(words::FILLERS).to_owned());
            self.summary.push(format!("- {}", self.dice.pick(words::DISTRACTORS)));
        }
        self.dice.shuffle(&mut self.summary);
        let Self { format, summary, files, stale, again, .. } = self;
        Ok(Session { seed, format, log, cut, planted, summary, files, stale, again })
    }
}

impl Session {
    /// First message of a transcript that stands on a line or later.
    pub(super) fn message(transcript: &Transcript, line: u32) -> MessageIdx {
        MessageIdx::new(transcript.messages.partition_point(|message| message.line < line))
    }

    /// The context after the compaction.
    pub(super) fn context(&self, transcript: &Transcript, summary: &str) -> Context {
        let (from, end) =
            (Self::message(transcript, self.cut.kept_from), Self::message(transcript, self.cut.end));
        let head = Entry::Summary { role: Role::User, text: summary.to_owned() };
        let tail = (from.0..end.0).map(|at| Entry::Kept(MessageIdx(at)));
        Context { entries: std::iter::once(head).chain(tail).collect(), now: end, ..Context::default() }
    }

    pub(super) fn summary_text(&self) -> String {
        self.summary.join("\n")
    }
}

/// A live fact that is, or is not, mentioned in the tail and stands in the summary in some way.
pub(super) fn live(in_tail: bool, tier: Match) -> Fate {
    // What counts as present is said here on its own, not asked of the program.
    let present = matches!(tier, Match::Exact | Match::Resolvable);
    let location = match (in_tail, present) {
        (true, true) => Location::Both,
        (true, false) => Location::Tail,
        (false, true) => Location::Summary,
        (false, false) => Location::Lost,
    };
    Fate::Live { location, tier: Some(tier) }
}

/// The same where what is left in the summary is not there in one certain way.
pub(super) fn gone(in_tail: bool) -> Fate {
    let location = if in_tail { Location::Tail } else { Location::Lost };
    Fate::Live { location, tier: None }
}
