//! What error texts of providers say: our own labelled texts, a collected list of real ones, prose that only talks of
//! overflows, and the verb.

use crate::support::Sandbox;
use compactor::overflow::{Class, classify};
use serde_json::Value;
use std::path::{Path, PathBuf};

const TEXTS: &str = include_str!("../data/overflow.tsv");

/// Our own texts: class, limit, used, text.
fn labelled() -> impl Iterator<Item = (&'static str, Option<u64>, Option<u64>, &'static str)> {
    TEXTS.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| {
        let fields: Vec<&str> = line.splitn(6, '\t').collect();
        let [class, limit, used, set, _, text] = fields[..] else { panic!("not six fields: {line}") };
        assert!(matches!(set, "open" | "blind" | "later"), "{line}");
        let amount = |text: &str| (text != "-").then(|| text.parse().expect("a number of tokens"));
        (class, amount(limit), amount(used), text)
    })
}

fn check_none(text: &str) {
    let verdict = classify(text);
    assert_eq!((verdict.class, verdict.limit, verdict.used), (Class::None, None, None), "{text}");
}

#[test]
fn labelled_texts_say_what_their_labels_say() {
    let mut wrong = Vec::new();
    let mut texts = 0;
    for (class, limit, used, text) in labelled() {
        let verdict = classify(text);
        if (verdict.class.name(), verdict.limit, verdict.used) != (class, limit, used) {
            wrong.push(format!("{class} {limit:?} {used:?}: {verdict:?}\n  {text}"));
        }
        texts += 1;
    }
    assert!(wrong.is_empty() && texts >= 50, "{} of {texts}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn wrapping_changes_nothing() {
    for (class, limit, used, text) in labelled() {
        let quoted = serde_json::to_string(text).expect("a string");
        for wrapped in [
            format!("{{\"error\":{{\"message\":{quoted}}}}}"),
            format!("[provider] request failed: {text}"),
            format!(
                "{{\"raw\":{}}}",
                serde_json::to_string(&format!("{{\"detail\":{quoted}}}")).expect("JSON")
            ),
        ] {
            // Where the status stands first and says the rest, it has to stand there.
            if text.starts_with(|first: char| first.is_ascii_digit()) {
                continue;
            }
            let verdict = classify(&wrapped);
            assert_eq!(
                (verdict.class.name(), verdict.limit, verdict.used),
                (class, limit, used),
                "{wrapped}"
            );
        }
    }
}

#[test]
fn collected_texts_of_providers_are_told_apart() {
    let path = std::env::var_os("COMPACTOR_OVERFLOW_STRINGS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/design/overflow-strings.tsv"),
        PathBuf::from,
    );
    let Ok(table) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no collected texts at {}", path.display());
        return;
    };
    let mut texts = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [provider, text, label, _] = fields[..] else { panic!("not four fields: {line}") };
        assert_eq!(classify(text).class == Class::Overflow, label == "Y", "{provider}: {text}");
        texts += 1;
    }
    assert!(texts > 0, "{} holds no text", path.display());
}

#[test]
fn errors_that_only_talk_of_overflows_are_none() {
    for text in [
        "Let us look into why the context window fills up so quickly in long sessions.",
        "We should test what happens when the prompt is too long.",
        "If the input exceeds the context window, the request is refused.",
        "Requests fail once the maximum context length is exceeded, so we compact before that.",
        "To avoid exceeding the context window, keep the summary short.",
        "Unknown option --max-context-length; known: --context-window, --max-tokens",
        "The compaction did not run because the context window is only 40 % full",
        "invalid config: context_window must be an integer, got \"large\"",
        "warning: the model's context length is unknown, assuming 128000 tokens",
        "TypeError: Cannot read properties of undefined (reading 'contextWindow')",
        "assertion failed: context_length_exceeded is not handled",
        "Summary written; the prompt went from 120000 tokens to 9000 tokens",
        "The model `long-context-1m` needs the beta header context-1m-2025-08-07",
        "Model not found: the context window of a deployment can not be read",
        "Response truncated: the reply stopped at max_tokens (8192)",
        "The tokenizer of this model could not be loaded, token counts are estimates",
        "Too many tools: maximum is 128, got 150",
        "URI too long",
        "504 Gateway Timeout: upstream request timeout",
        "",
    ] {
        check_none(text);
    }
}

#[test]
fn what_was_sent_is_no_error() {
    check_none("{\"detail\":\"field required\",\"input\":\"prompt is too long: 9 tokens > 8 maximum\"}");
    check_none("{\"error\":\"bad role\",\"messages\":[{\"content\":\"context_length_exceeded\"}]}");
}

#[test]
fn a_huge_text_takes_no_time() {
    for part in ["{\"a\":", "prompt ", "maximum tokens ", "1,000 ", "\\\"", "输入"] {
        check_none(&part.repeat(300_000));
    }
}

#[test]
fn texts_come_from_arguments_and_stdin() {
    let sandbox = Sandbox::new();
    let classes = |arguments: &[&str], stdin: &str| -> Vec<String> {
        let ran = sandbox.run_with(&[&["overflow", "-f", "json"], arguments].concat(), stdin);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let texts = document["texts"].as_array().expect("texts");
        texts.iter().map(|text| text["class"].as_str().expect("a class").to_owned()).collect()
    };
    let lines = "prompt is too long\n\n429 Too Many Requests\r\n";
    assert_eq!(classes(&[], lines), ["overflow", "rate"]);
    assert_eq!(classes(&["-"], lines), ["overflow", "rate"]);
    assert_eq!(classes(&["402 Payment Required", "-", "-"], lines), ["billing", "overflow", "rate"]);
    assert_eq!(classes(&["402 Payment Required"], lines), ["billing"]);
    assert_eq!(classes(&["--whole"], "{\n \"code\":\n \"context_length_exceeded\"\n}\n"), ["overflow"]);
}

#[test]
fn a_text_is_shown_as_each_system_sees_it() {
    let sandbox = Sandbox::new();
    sandbox.file("mine.toml", "name = \"mine\"\nfragments = [\"zu lang\"]\n");
    let ran = sandbox.run(&[
        "overflow",
        "-m",
        "opal,pi",
        "-m",
        "mine.toml",
        "-f",
        "csv",
        "=Prompt zu lang: max_tokens",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        ran.stdout,
        "nr,class,limit,used,opal,pi,mine,text\n1,none,,,yes,no,yes,'=Prompt zu lang: max_tokens\n"
    );
}

#[test]
fn mistakes_are_named_with_what_would_be_right() {
    let sandbox = Sandbox::new();
    sandbox.file("bad.toml", "fragment = [\"x\"]\n");
    sandbox.file("class.toml", "name = \"class\"\n");
    sandbox.file("pi.toml", "name = \"pi\"\n");
    for (arguments, says) in [
        (&[][..], "no text was given"),
        (&["-"], "no text was given"),
        (&["", "  "], "no text was given"),
        (&["x", "-m", "opl"], "did you mean `opal`"),
        (&["x", "-m", "absent.toml"], "absent.toml"),
        (&["x", "-m", "bad.toml"], "unknown field `fragment`"),
        (&["x", "-m", "class.toml"], "two columns would be called `class`"),
        (&["x", "-m", "pi,pi.toml"], "two columns would be called `pi`"),
    ] {
        let ran = sandbox.run_with(&[&["overflow"], arguments].concat(), " \n");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.contains("hint"), "{arguments:?}: {}", ran.stderr);
    }
}
