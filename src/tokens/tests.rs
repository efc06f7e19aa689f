//! Equality with tiktoken-rs: hostile strings, random mixes, the corpus; and the arithmetic of the index.

use super::*;
use crate::testing::transcript;
use proptest::prelude::*;

const EXACT: [Tokenizer; 2] = [Tokenizer::O200k, Tokenizer::Cl100k];

fn check_equal(text: &str) {
    for tokenizer in EXACT {
        if let Some(reference) = tokenizer.count_reference(text) {
            let head: String = text.chars().take(60).collect();
            assert_eq!(tokenizer.count(text), reference, "{tokenizer} on {} bytes: {head:?}", text.len());
        }
    }
}

#[test]
fn known_counts() {
    // Checked against the tables of the encodings: a special-token spelling is seven ordinary tokens.
    for (text, o200k, cl100k) in [("", 0, 0), ("hello world", 2, 2), ("<|endoftext|>", 7, 7), ("    ", 1, 1)]
    {
        assert_eq!(Tokenizer::O200k.count(text), o200k, "{text:?}");
        assert_eq!(Tokenizer::Cl100k.count(text), cl100k, "{text:?}");
    }
    assert_eq!(Tokenizer::Heuristic.count("12345"), 2);
}

#[test]
fn hostile_strings_count_like_the_reference() {
    let shapes = [
        "a",
        "A",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\u{a0}",
        "\u{3000}",
        "-",
        "=",
        "/",
        "0",
        "é",
        "ß",
        "字",
        "한",
        "👍🏽",
        "👩‍👩‍👧",
        "e\u{301}",
        "'s",
        "'S ",
        "'\u{17f}",
        "x'\u{17f}t ",
        "'ll'VE",
        "\u{200b}",
        "\u{1b}[31m",
        "<|endoftext|>",
        "<|im_start|>",
        "\0",
        "\u{feff}",
        "{\"a\":1}",
        "aB",
        "Ab1_",
        "ſ",
        "K",
        "İ",
        "\u{fffd}",
        "  x",
        "\n\n  y",
        "://",
    ];
    for shape in shapes {
        for times in [1, 2, 3, 7, 100, 1_000] {
            check_equal(&shape.repeat(times));
        }
    }
    for first in shapes {
        for second in shapes {
            check_equal(&format!("{first}{second}"));
            check_equal(&format!("w{first} {second}3"));
        }
    }
}

#[test]
fn a_million_blanks_are_counted_and_do_not_panic() {
    for blank in [" ", "\t", "\n"] {
        let text = blank.repeat(1_000_001) + "x";
        for tokenizer in EXACT {
            assert!(tokenizer.count(&text) > 0);
        }
    }
    let trapped = " ".repeat(1_000_001) + "'\u{17f}";
    assert!(Tokenizer::O200k.count(&trapped) > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn random_mixes_count_like_the_reference(
        text in "([ \t\r\n]{1,4}|[a-zA-Z]{1,6}|'[sStTmMdD]|'(ll|LL|ve|re)|'ſ|[0-9]{1,5}|[!-/:-@]{1,3}|\\PC|[가-힣]{1,3}|[一-龥]{1,4}|<\\|endoftext\\|>|\u{301}|\u{a0}){0,24}"
    ) {
        check_equal(&text);
    }
}

#[test]
fn corpus_texts_count_like_the_reference() {
    let Some(files) = crate::testing::corpus_files(&["claude-code", "codex", "pi", "openai-chat"]) else {
        return;
    };
    let mut checked = 0usize;
    for (_, bytes) in files {
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
            visit(&value, &mut |text| {
                checked += 1;
                // Every fifth text: the whole set takes minutes in a debug build and adds nothing new.
                if checked.is_multiple_of(5) && text.len() >= 20 {
                    check_equal(text);
                }
            });
        }
    }
    assert!(checked > 100_000, "{checked} texts");
}

fn visit(value: &serde_json::Value, check: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => check(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| visit(item, check)),
        serde_json::Value::Object(fields) => fields.values().for_each(|item| visit(item, check)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

#[test]
fn the_index_adds_up() {
    let session =
        transcript("S: rules\nU: do the thing\nA{a,b}: looking\nT(a): one\nT(b): two words\nA: done");
    let index = TokenIndex::new(&session, Tokenizer::O200k);
    let sum: u64 = (0..session.messages.len()).map(|at| index.message(MessageIdx::new(at))).sum();
    assert_eq!(sum, index.total());
    assert_eq!(index.range(1..3) + index.range(3..6), index.range(1..6));
    assert_eq!(index.range(4..99), index.range(4..6));
    assert_eq!(index.range(5..5), 0);
    let parts: u64 = (0..3).map(|part| index.part(PartRef { message: MessageIdx(2), part })).sum();
    assert_eq!(parts + MESSAGE_OVERHEAD, index.message(MessageIdx(2)));
    assert_eq!(message_tokens(&session.messages[2], Tokenizer::O200k), index.message(MessageIdx(2)));
}
