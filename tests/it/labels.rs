//! The extractor against hand labels: precision and recall per class, on sessions and on messages of dialogues.
//!
//! The labels follow `fixtures/LABELLING.md`; their readers saw that page and the sessions only. A label and a fact agree
//! when they are of one class and one says the other (see [`agree`]); each answers one other at most (see [`pair`]).

use compactor::facts::{Fact, FactClass, FactSet, State};
use compactor::ingest::ingest;
use compactor::replay::effects;
use compactor::transcript::{MessageIdx, Transcript};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Labels {
    session: Vec<Session>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    name: String,
    #[serde(rename = "messages_note", default)]
    _note: String,
    #[serde(default)]
    file: Vec<FileLabel>,
    #[serde(default)]
    fact: Vec<FactLabel>,
    #[serde(default)]
    distractor: Vec<Distractor>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLabel {
    path: String,
    state: String,
    #[serde(default)]
    from: Option<String>,
    #[serde(rename = "via")]
    _via: String,
    #[serde(rename = "line")]
    _line: u32,
    #[serde(rename = "message", default)]
    _message: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactLabel {
    class: String,
    text: String,
    line: u32,
    fate: String,
    #[serde(rename = "superseded_by", default)]
    _superseded_by: Option<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(rename = "message", default)]
    _message: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Distractor {
    class: String,
    text: String,
    #[serde(rename = "line")]
    _line: u32,
    #[serde(rename = "why", default)]
    _why: String,
    #[serde(rename = "message", default)]
    _message: u32,
}

#[derive(Debug, Default, Clone)]
struct Tally {
    labels: usize,
    found: usize,
    extracted: usize,
    right: usize,
    fooled: usize,
    distractors: usize,
    /// Yes-or-no labels: how many there are, and how many of them the program gives as well.
    judged: usize,
    agreed: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    fn recall(&self) -> f64 {
        self.found as f64 / self.labels.max(1) as f64
    }

    fn agreement(&self) -> f64 {
        self.agreed as f64 / self.judged.max(1) as f64
    }

    fn precision(&self) -> f64 {
        self.right as f64 / self.extracted.max(1) as f64
    }
}

/// Words of a text: letters, digits and what holds identifiers together; each CJK character is a word.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    for c in text.to_lowercase().chars().chain([' ']) {
        let cjk = ('\u{3040}'..='\u{9fff}').contains(&c) || ('\u{ac00}'..='\u{d7af}').contains(&c);
        if c.is_alphanumeric() && !cjk || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if cjk {
            words.insert(c.to_string());
        }
    }
    words
}

fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !"`\"'*".contains(*c)).collect();
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a label's text and a fact's value say the same. For every class containment does; sentences and errors also
/// agree when half of the words of the shorter one stand in the other; a value needs its number in the label
/// and a word of its key, unless both stand on one line.
fn agree(class: &str, label: &str, value: &str, same_line: bool) -> bool {
    let (label, value) = (plain(label), plain(value));
    if label.is_empty() || value.is_empty() {
        return false;
    }
    let contained = label.contains(&value) || value.contains(&label);
    let (a, b) = (words(&label), words(&value));
    let shared = a.intersection(&b).count();
    match class {
        "constraint" | "decision" | "request" | "error" | "todo" => {
            contained || shared * 2 >= a.len().min(b.len()).max(1) && shared >= 2
        }
        "value" => {
            let numbers = |words: &BTreeSet<String>| -> BTreeSet<String> {
                words
                    .iter()
                    .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
                    .map(|word| word.chars().take_while(char::is_ascii_digit).collect())
                    .collect()
            };
            let number = !numbers(&a).is_disjoint(&numbers(&b));
            let tight = |text: &str| text.replace(' ', "");
            let contained =
                contained || tight(&label).contains(&tight(&value)) || tight(&value).contains(&tight(&label));
            contained || number && (same_line || shared > 1)
        }
        _ => contained,
    }
}

fn class_name(class: FactClass) -> &'static str {
    class.name()
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found = Vec::new();
    for format in ["claude-code", "codex", "pi", "openai-chat", "anthropic-messages"] {
        for entry in std::fs::read_dir(root.join(format)).expect("fixtures of each format") {
            let path = entry.expect("entry").path();
            if path.extension().is_some_and(|it| it == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn name_of(labels: &Path) -> String {
    let file = labels.file_name().expect("name").to_string_lossy().replace(".labels.toml", "");
    let format = labels.parent().and_then(Path::file_name).expect("format").to_string_lossy();
    format!("{format}/{file}")
}

fn session_file(labels: &Path) -> PathBuf {
    let stem = labels.to_string_lossy().replace(".labels.toml", "");
    [".jsonl", ".json"]
        .iter()
        .map(|end| PathBuf::from(format!("{stem}{end}")))
        .find(|it| it.exists())
        .expect("session")
}

fn load(labels: &Path) -> (Labels, Vec<Transcript>) {
    let text = std::fs::read_to_string(labels).expect("labels");
    let parsed: Labels =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", labels.display()));
    let file = session_file(labels);
    let ingested = ingest(&std::fs::read(&file).expect("session"), &file.to_string_lossy());
    assert_eq!(ingested.sessions.len(), parsed.session.len(), "sessions of {}", file.display());
    (parsed, ingested.sessions)
}

/// Compares one session; adds to the tallies by class.
fn compare(name: &str, labels: &Session, transcript: &Transcript, tallies: &mut BTreeMap<String, Tally>) {
    let facts = FactSet::extract(transcript, &effects(transcript));
    let end = MessageIdx::new(transcript.messages.len());
    lexical(name, labels, &facts.facts, tallies);
    let tally = tallies.entry("file".to_owned()).or_default();
    let truth: BTreeSet<(String, String)> =
        labels.file.iter().map(|file| (file.path.clone(), file.state.clone())).collect();
    let found: BTreeSet<(String, String)> = facts
        .facts
        .iter()
        .filter_map(|fact| match fact.state_at(end) {
            Some(State::File(class)) => {
                Some((fact.value.clone(), class.name().trim_start_matches("file.").to_owned()))
            }
            _ => None,
        })
        .collect();
    tally.labels += truth.len();
    tally.extracted += found.len();
    tally.found += truth.intersection(&found).count();
    tally.right += truth.intersection(&found).count();
    tally.missed.extend(truth.difference(&found).map(|(path, state)| format!("{name}: {state} {path}")));
    tally.wrong.extend(found.difference(&truth).map(|(path, state)| format!("{name}: {state} {path}")));
}

/// Compares the facts that have no state of a file.
fn lexical(name: &str, labels: &Session, facts: &[Fact], tallies: &mut BTreeMap<String, Tally>) {
    for class in
        ["command", "check", "todo", "error", "identifier", "value", "constraint", "decision", "request"]
    {
        let tally = tallies.entry(class.to_owned()).or_default();
        let wanted: Vec<&FactLabel> = labels.fact.iter().filter(|label| label.class == class).collect();
        let found: Vec<&Fact> = facts.iter().filter(|fact| class_name(fact.class) == class).collect();
        let same = |label: &FactLabel, fact: &Fact| {
            let line = label.line == fact.line;
            agree(class, &label.text, &fact.value, line)
                || label.also.iter().any(|text| agree(class, text, &fact.value, line))
        };
        tally.labels += wanted.len();
        tally.extracted += found.len();
        let pairs = pair(&wanted, &found, same);
        tally.found += pairs.len();
        tally.right += pairs.len();
        superseded(name, (class, facts), &pairs, &wanted, &found, tallies);
        let tally = tallies.entry(class.to_owned()).or_default();
        for (at, label) in wanted.iter().enumerate() {
            if !pairs.iter().any(|(left, _)| *left == at) {
                tally.missed.push(format!("{name}:{} {}", label.line, label.text));
            }
        }
        for (at, fact) in found.iter().enumerate() {
            if !pairs.iter().any(|(_, right)| *right == at) {
                tally.wrong.push(format!("{name}:{} {}", fact.line, fact.value));
            }
        }
        for distractor in labels.distractor.iter().filter(|it| it.class == class) {
            tally.distractors += 1;
            let text = plain(&distractor.text);
            let hit = found.iter().any(|fact| plain(&fact.value) == text);
            tally.fooled += usize::from(hit && !wanted.iter().any(|label| plain(&label.text) == text));
        }
    }
}

/// Classes whose facts replace each other; a check is the latest of its kind, which its outcome tells.
const REPLACED: [&str; 4] = ["value", "constraint", "decision", "request"];

/// Of the facts that are labelled and found: which are superseded at the end of the session?
fn superseded(
    name: &str,
    (class, facts): (&str, &[Fact]),
    pairs: &[(usize, usize)],
    wanted: &[&FactLabel],
    found: &[&Fact],
    tallies: &mut BTreeMap<String, Tally>,
) {
    if !REPLACED.contains(&class) {
        return;
    }
    let tally = tallies.entry("superseded".to_owned()).or_default();
    for (label, fact) in pairs.iter().map(|(left, right)| (wanted[*left], found[*right])) {
        let (meant, is) = (label.fate == "superseded", fact.superseded.is_some());
        let line = || format!("{name}:{} {class} {}", label.line, label.text);
        tally.labels += usize::from(meant);
        tally.extracted += usize::from(is);
        tally.found += usize::from(meant && is);
        tally.right += usize::from(meant && is);
        tally.agreed += usize::from(meant == is);
        tally.judged += 1;
        if meant && !is {
            tally.missed.push(line());
        } else if is && !meant {
            let by = fact.superseded.and_then(|(_, by)| facts.get(by.get()));
            let by = by.map_or(String::new(), |by| format!(" <- :{} {}", by.line, by.value));
            tally.wrong.push(line() + &by);
        }
    }
}

/// Pairs labels with facts, each at most once: the same words first, then those of one line, then the rest.
fn pair(
    wanted: &[&FactLabel],
    found: &[&Fact],
    same: impl Fn(&FactLabel, &Fact) -> bool,
) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for round in 0..3 {
        for (left, label) in wanted.iter().enumerate() {
            if pairs.iter().any(|(taken, _)| *taken == left) {
                continue;
            }
            let fits = |fact: &Fact| match round {
                0 => plain(&label.text) == plain(&fact.value),
                1 => label.line == fact.line && same(label, fact),
                _ => same(label, fact),
            };
            let free = |at: &usize| !pairs.iter().any(|(_, taken)| taken == at);
            let place = (0..found.len()).filter(free).find(|at| fits(found[*at]));
            pairs.extend(place.map(|right| (left, right)));
        }
    }
    pairs
}

/// One message of a dialogue with its facts. Short and many: what sessions are too few for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    id: String,
    author: String,
    /// What the other side said just before; its facts are not labelled.
    before: Option<String>,
    text: String,
    decision: Vec<String>,
    constraint: Vec<String>,
    request: Option<String>,
    value: Vec<String>,
    error: Vec<String>,
}

impl Message {
    /// As a log, and the line of the message in it.
    fn log(&self) -> (String, u32) {
        let line = |role: &str, text: &str| serde_json::json!({"role": role, "content": text}).to_string();
        let call = serde_json::json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "./run.sh"}}]});
        // How a run ended stands beside its output in most logs: it failed where there is an error to find.
        let result = serde_json::json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": self.text, "is_error": !self.error.is_empty()}]});
        let lines = match (self.author.as_str(), &self.before) {
            ("tool", _) => vec![call.to_string(), result.to_string()],
            ("user", Some(before)) => vec![line("assistant", before), line("user", &self.text)],
            ("user", None) => vec![line("user", &self.text)],
            (_, before) => {
                vec![line("user", before.as_deref().unwrap_or("ok")), line("assistant", &self.text)]
            }
        };
        (lines.join("\n"), lines.len() as u32)
    }

    fn labels(&self, line: u32) -> Session {
        let of = |class: &'static str, texts: &[String]| -> Vec<FactLabel> {
            texts
                .iter()
                .map(|text| FactLabel {
                    class: class.to_owned(),
                    text: text.clone(),
                    line,
                    fate: "current".to_owned(),
                    _superseded_by: None,
                    also: Vec::new(),
                    _message: 0,
                })
                .collect()
        };
        let request: Vec<String> = self.request.clone().into_iter().collect();
        let fact = [
            of("decision", &self.decision),
            of("constraint", &self.constraint),
            of("request", &request),
            of("value", &self.value),
            of("error", &self.error),
        ];
        Session {
            name: self.id.clone(),
            _note: String::new(),
            file: Vec::new(),
            fact: fact.into_iter().flatten().collect(),
            distractor: Vec::new(),
        }
    }
}

/// Where a file of dialogues stands.
fn dialogues(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dialogues").join(file)
}

/// The labelled messages of one file of dialogues.
fn dialogue_tallies(file: &str) -> BTreeMap<String, Tally> {
    let text = std::fs::read_to_string(dialogues(file)).expect("dialogues");
    let mut tallies = BTreeMap::new();
    for line in text.lines() {
        let message: Message = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let (log, at) = message.log();
        let read = ingest(log.as_bytes(), "x.jsonl");
        let transcript = read.sessions.first().unwrap_or_else(|| panic!("{read:?}"));
        let facts = FactSet::extract(transcript, &effects(transcript)).facts;
        let said: Vec<Fact> = facts.into_iter().filter(|fact| fact.line == at).collect();
        lexical(&message.id, &message.labels(at), &said, &mut tallies);
    }
    tallies
        .retain(|class, _| ["decision", "constraint", "request", "value", "error"].contains(&class.as_str()));
    tallies
}

fn tallies() -> BTreeMap<String, Tally> {
    let mut tallies = BTreeMap::new();
    for path in fixtures() {
        let name = name_of(&path);
        let (labels, transcripts) = load(&path);
        for (session, transcript) in labels.session.iter().zip(&transcripts) {
            compare(&format!("{name} [{}]", session.name), session, transcript, &mut tallies);
        }
    }
    tallies
}

fn table(tallies: &BTreeMap<String, Tally>) -> String {
    let mut out = String::from("class        labels extracted precision recall fooled/distractors\n");
    for (class, tally) in tallies {
        out.push_str(&format!(
            "{class:<12} {:>6} {:>9} {:>9.3} {:>6.3} {:>6}/{}\n",
            tally.labels,
            tally.extracted,
            tally.precision(),
            tally.recall(),
            tally.fooled,
            tally.distractors
        ));
    }
    out
}

/// Every miss, where it is asked for.
fn misses(tallies: &BTreeMap<String, Tally>) -> String {
    let mut out = String::new();
    if std::env::var_os("COMPACTOR_SHOW_LABELS").is_some() {
        for (class, tally) in tallies {
            out.extend(tally.missed.iter().map(|missed| format!("MISSED {class}: {missed}\n")));
            out.extend(tally.wrong.iter().map(|wrong| format!("WRONG {class}: {wrong}\n")));
        }
    }
    out
}

/// Precision and recall that were reached per class, rounded down to 0.05: what is below them got worse.
const REACHED: [(&str, f64, f64); 10] = [
    ("check", 0.95, 0.95),
    ("command", 0.95, 0.95),
    ("constraint", 0.95, 0.95),
    ("decision", 0.95, 0.90),
    ("error", 0.95, 0.95),
    ("file", 1.0, 1.0),
    ("identifier", 0.95, 0.95),
    ("request", 0.95, 0.95),
    ("todo", 0.95, 0.95),
    ("value", 0.95, 0.95),
];

#[test]
fn facts_agree_with_the_labels() {
    let tallies = tallies();
    eprintln!("{}{}", table(&tallies), misses(&tallies));
    check_floors(&tallies, &REACHED);
    let superseded = &tallies["superseded"];
    eprintln!("superseded or not: {} of {} agree", superseded.agreed, superseded.judged);
    assert!(superseded.agreement() >= 0.95, "{:.3}", superseded.agreement());
}

/// As [`REACHED`], on messages of dialogues.
const REACHED_MESSAGES: [(&str, f64, f64); 5] = [
    ("constraint", 0.95, 0.95),
    ("decision", 0.95, 0.95),
    ("error", 0.95, 0.95),
    ("request", 0.95, 0.95),
    ("value", 0.95, 0.95),
];

#[test]
fn facts_agree_with_labelled_messages() {
    let tallies = dialogue_tallies("messages.jsonl");
    eprintln!("{}{}", table(&tallies), misses(&tallies));
    check_floors(&tallies, &REACHED_MESSAGES);
}

/// As [`REACHED`], on messages nobody looked at.
const REACHED_BLIND: [(&str, f64, f64); 5] = [
    ("constraint", 0.95, 0.90),
    ("decision", 0.80, 0.55),
    ("error", 0.90, 0.80),
    ("request", 0.80, 0.85),
    ("value", 0.95, 0.90),
];

/// Messages nobody looks at while the extractor is mended: what to expect on text it was not made for. Only totals are
/// shown; a failure must not show what nobody is to look at.
#[test]
fn facts_agree_with_labelled_messages_kept_for_the_end() {
    let tallies = dialogue_tallies("blind.jsonl");
    eprintln!("{}", table(&tallies));
    check_floors(&tallies, &REACHED_BLIND);
}

/// Only figures, see above.
fn check_floors(tallies: &BTreeMap<String, Tally>, floors: &[(&str, f64, f64)]) {
    for (class, least_precision, least_recall) in floors {
        let tally = &tallies[*class];
        let (precision, recall) = (tally.precision(), tally.recall());
        assert!(
            precision >= *least_precision && recall >= *least_recall,
            "{class}: {precision:.3}/{recall:.3}"
        );
    }
}

/// The line that a fact is said to be born on holds it, also where a reply was merged from several records.
#[test]
fn identifiers_stand_on_their_line() {
    let mut looked = 0;
    for path in fixtures() {
        let file = session_file(&path);
        let raw = std::fs::read_to_string(&file).expect("a session");
        let lines: Vec<&str> = raw.lines().collect();
        let (_, transcripts) = load(&path);
        for transcript in &transcripts {
            for fact in FactSet::extract(transcript, &effects(transcript)).facts {
                let shown = fact.value.starts_with("port ");
                if file.extension().is_some_and(|end| end == "json")
                    || fact.class != FactClass::Identifier
                    || shown
                {
                    continue;
                }
                let line = lines[fact.line as usize - 1];
                assert!(line.contains(&fact.value), "{}:{} {}", file.display(), fact.line, fact.value);
                looked += 1;
            }
        }
    }
    assert!(looked > 100, "{looked}");
}

#[test]
fn labels_are_whole() {
    let mut facts: BTreeMap<String, usize> = BTreeMap::new();
    let mut distractors: BTreeMap<String, usize> = BTreeMap::new();
    for path in fixtures() {
        let (labels, _) = load(&path);
        for session in labels.session {
            for fact in session.fact {
                let known = ["current", "superseded", "pending", "active", "done", "ok", "failed", "unknown"];
                assert!(known.contains(&fact.fate.as_str()), "{}: {}", path.display(), fact.fate);
                *facts.entry(fact.class).or_default() += 1;
            }
            for distractor in session.distractor {
                *distractors.entry(distractor.class).or_default() += 1;
            }
            for file in session.file {
                assert_eq!(file.from.is_some(), file.state == "renamed", "{}", file.path);
            }
        }
    }
    for class in
        ["command", "check", "todo", "error", "identifier", "value", "constraint", "decision", "request"]
    {
        assert!(facts.get(class).is_some_and(|count| *count >= 20), "{class}: {facts:?}");
    }
    eprintln!("facts {facts:?}\ndistractors {distractors:?}");
}
