//! What error texts of providers say: our own labelled texts, a collected list of real ones, prose that only talks of
//! overflows, and the verb.

use crate::support::Sandbox;
use compactor::overflow::{Class, Matcher, Usage, classify};
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

/// Class, limit and tokens used of a text.
fn check_verdict(text: &str, class: Class, limit: Option<u64>, used: Option<u64>) {
    let verdict = classify(text);
    assert_eq!((verdict.class, verdict.limit, verdict.used), (class, limit, used), "{text}");
}

#[test]
fn throttling_and_billing_that_speak_of_tokens_are_no_overflows_and_too_many_per_request_is_one() {
    for (text, class) in [
        ("ThrottlingException: Too many tokens, please wait before the next call", Class::Rate),
        ("429 Too many tokens per minute for this key", Class::Rate),
        ("Token limit per day reached, try again in 3h", Class::Rate),
        ("Your token quota is used up for this month", Class::Rate),
        ("402 Your credit balance does not cover a prompt of this length", Class::Billing),
        ("insufficient_quota: buy more tokens", Class::Billing),
        ("Too many tokens per request", Class::Overflow),
        (
            "429 too many tokens in one request: 140000 tokens > 131072 maximum context length",
            Class::Overflow,
        ),
    ] {
        assert_eq!(classify(text).class, class, "{text}");
    }
}

#[test]
fn where_one_request_is_above_a_rate_the_figures_tell_that_waiting_is_in_vain() {
    let text = |used: u64, requested: u64| {
        format!(
            "Request too large on tokens per minute (TPM): Limit 6000, Used {used}, Requested {requested}."
        )
    };
    // What was used before does not count: it is gone a minute later.
    check_verdict(&text(0, 7_200), Class::Rate, Some(6_000), Some(7_200));
    check_verdict(&text(5_900, 400), Class::Rate, Some(6_000), Some(400));
}

#[test]
fn limits_of_credit_bytes_and_output_are_none_of_the_input() {
    check_verdict(
        "402 Prompt tokens limit exceeded: 18200 > 11050",
        Class::Billing,
        Some(11_050),
        Some(18_200),
    );
    check_verdict("413 Request body too large: 34 MB, at most 32 MB", Class::Bytes, None, None);
    check_verdict(
        "max_tokens: 90000 > 65536, which is the maximum allowed number of output tokens",
        Class::OutputSetting,
        Some(65_536),
        Some(90_000),
    );
}

#[test]
fn a_number_inside_what_was_echoed_is_no_status() {
    check_none("{\"error\":\"bad field\",\"prompt_token_ids\":[11,429,413,2]}");
    check_none("validation failed for prompt token ids 11, 429, 413, 402, 2");
}

#[test]
fn numbers_that_look_like_a_limit_are_not_taken_for_one() {
    let (over, of) = (Class::Overflow, Some::<u64>);
    // A code in brackets, with or without the name of the error in front.
    check_verdict("invalid params, the context window exceeds the limit (2013)", over, None, None);
    // Of two numbers the one that the model takes is the limit.
    check_verdict(
        "the input has 40,100 tokens but the model supports up to 32,768",
        over,
        of(32_768),
        of(40_100),
    );
    check_verdict(
        "input token count 40100 exceeds the maximum: the model only supports up to 32768 tokens",
        over,
        of(32_768),
        of(40_100),
    );
    check_verdict(
        "prompt is too long: 1\u{202f}040\u{202f}000 tokens > 1\u{202f}000\u{202f}000 maximum",
        over,
        of(1_000_000),
        of(1_040_000),
    );
    let inner = "{\"error\":{\"message\":\"prompt is too long: 9,001 tokens > 8,192 maximum\"}}";
    let nested = serde_json::json!({"message": "upstream failed", "metadata": {"raw": inner}}).to_string();
    check_verdict(&nested, over, of(8_192), of(9_001));
    check_verdict("输入过长：共 9001 tokens，超过模型的最大上下文长度 8192", over, of(8_192), of(9_001));
}

#[test]
fn a_reply_cut_short_above_the_window_is_noticed_where_the_table_says_so() {
    let table = "[[usage]]\nstops = [\"length\"]\ncached = true\nshare = 1.0\ninclusive = false\n";
    let own = Matcher::parse(table).expect("a table");
    let window = 32_768;
    // The provider said nothing and answered in a few words.
    for output in [57, 462] {
        let usage = Usage { input: 39_000, cache_read: 300, output };
        assert!(own.exceeds(usage, Some("length"), window), "{output}");
        assert!(Matcher::named("opal").expect("embedded").exceeds(usage, Some("length"), window));
        assert!(
            !Matcher::named("pi").expect("embedded").exceeds(usage, Some("length"), window),
            "its blind spot"
        );
    }
    // A reply that is merely long is none.
    assert!(!own.exceeds(Usage { input: 9_000, cache_read: 0, output: 4_096 }, Some("length"), window));
}

#[test]
fn words_are_fragments_and_expressions_are_patterns() {
    let table = |key: &str| format!("{key} = ['context (length|window) exceeded by \\d+']");
    let text = "Context window exceeded by 12 tokens";
    let pattern = Matcher::parse(&table("patterns")).expect("a table");
    let fragment = Matcher::parse(&table("fragments")).expect("a table");
    assert!(pattern.notices(text, None));
    assert!(!fragment.notices(text, None), "a fragment stands for itself");
    // No embedded system has a fragment that can only have been meant as an expression.
    for name in Matcher::NAMES {
        for fragment in Matcher::named(name).expect("embedded").fragments {
            let text = format!("{fragment:?}");
            assert!(
                ![".*", "\\d", "[0-9]", "\\s", "(?:", ".+"].iter().any(|sign| text.contains(sign)),
                "{name}: {text}"
            );
        }
    }
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
