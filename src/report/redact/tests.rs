use super::*;
use crate::results::files::sample;
use crate::results::{FactRow, WriterSettings};
use std::borrow::Cow;

fn fact(class: &'static str, value: &str) -> FactRow {
    FactRow {
        session: "s00".into(),
        profile: "mine".into(),
        class: Cow::Borrowed(class),
        value: value.to_owned(),
        ..FactRow::default()
    }
}

fn redacted() -> Run {
    let mut output = sample::run(3);
    output.facts = vec![
        fact("file.modified", "src/secret/plan.RS"),
        fact("file.read", "src/secret/plan.RS"),
        fact("file.read", "notes.acmecorp"),
        fact("command", "deploy --to acme"),
        fact("decision", "we sell to acme"),
    ];
    output.manifest.settings.profiles.push("mine".to_owned());
    output.manifest.corpus_hash = "c0ffee".to_owned();
    output.manifest.settings_hash = "c0ffee".to_owned();
    output.manifest.settings.profile_hash = "c0ffee".to_owned();
    output.manifest.settings.summarizer = "llm:acme-large".to_owned();
    output.manifest.settings.writer = Some(WriterSettings {
        model: "acme-large".to_owned(),
        prompt_hash: "c0ffee".to_owned(),
        ..WriterSettings::default()
    });
    output.manifest.cassettes = vec!["c0ffee".to_owned()];
    output.sessions[0].model = "acme-large".into();
    output.sessions[1].error = "panicked at acme".to_owned();
    output.sessions[2].format = "acme-log".into();
    let mut runs = [Run::new("acme-results".to_owned(), output)];
    Redactor::redact(&mut runs);
    let [run] = runs;
    run
}

#[test]
fn the_same_text_has_the_same_placeholder_and_kinds_are_told() {
    let values: Vec<String> = redacted().output.facts.into_iter().map(|row| row.value).collect();
    assert_eq!(values, ["path-1.rs", "path-1.rs", "path-2", "command-1", "decision-1"]);
}

#[test]
fn nothing_of_the_texts_is_left_in_any_row() {
    let run = redacted();
    let all = format!("{run:?}");
    for text in
        ["acme", "secret", "logs/", "s00", "s01.", "CASCADE", "retry_limit", "cut off", "c0ffee", "mine"]
    {
        assert!(!all.contains(text), "{text} in {all}");
    }
    assert_eq!(run.label, "run-1");
    assert_eq!(run.output.sessions[0].source, "log-1.jsonl");
    assert_eq!(run.output.sessions[0].session, run.output.cycles[0].session);
    assert_eq!(run.output.manifest.problems[0].code, "bad-json");
    assert_eq!(run.output.manifest.settings.profiles, ["standard", "profile-1"]);
    assert_eq!(run.aggregate.summary[0].profile, "standard");
}

#[test]
fn numbers_stay_as_they_are() {
    let plain = Run::new("r".to_owned(), sample::run(12));
    let mut runs = [plain.clone()];
    Redactor::redact(&mut runs);
    assert_eq!(runs[0].aggregate, plain.aggregate);
}

#[test]
fn every_way_to_count_tokens_is_known() {
    for name in TOKENIZERS {
        assert!(
            name.parse::<crate::tokens::Tokenizer>().is_ok_and(|tokenizer| tokenizer.name() == name),
            "{name}"
        );
    }
}
