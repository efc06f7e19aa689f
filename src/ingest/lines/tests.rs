use proptest::prelude::*;

use super::*;

/// The `n` field of every record with its line, and the diagnostics as `line:code`.
fn check(text: impl AsRef<[u8]>, expected: &[(u32, &str)], codes: &[&str]) {
    let mut out = Sink::default();
    let parsed = parse(text.as_ref(), &mut out);
    let found: Vec<(u32, String)> = parsed
        .records
        .iter()
        .map(|record| (record.line, record.value.get("n").unwrap_or(&record.value).to_string()))
        .collect();
    let found: Vec<(u32, &str)> = found.iter().map(|(line, value)| (*line, value.as_str())).collect();
    let shown = String::from_utf8_lossy(text.as_ref());
    assert_eq!(found, expected, "{shown}");
    let (_, diagnostics, _) = out.into_parts();
    let found: Vec<String> = diagnostics.iter().map(|d| format!("{}:{}", d.line, d.code)).collect();
    assert_eq!(found, codes, "{shown}");
}

#[test]
fn clean_lines() {
    check("{\"n\":1}\n{\"n\":2}", &[(1, "1"), (2, "2")], &[]);
    check("{\"n\":1}\r\n\r\n  \n{\"n\":2}\r\n", &[(1, "1"), (4, "2")], &[]);
    check("\u{feff}{\"n\":1}\n", &[(1, "1")], &["1:byte-order-mark"]);
    // Line separators of Unicode are text, not ends of lines.
    check("{\"n\":\"a\u{2028}b\"}\n{\"n\":2}", &[(1, "\"a\u{2028}b\""), (2, "2")], &[]);
    check("", &[], &[]);
    check("\n\n", &[], &[]);
}

#[test]
fn one_document() {
    check("[{\"n\":1},\n {\"n\":2}]", &[(1, "1"), (2, "2")], &[]);
    check("[{\"n\":1},{\"n\":2}]\n", &[(1, "1"), (2, "2")], &[]);
    check("{\n  \"n\": 7\n}\n", &[(1, "7")], &[]);
    check("{ \"n\":\n 7}", &[(1, "7")], &[]);
    // One array a line is no document.
    check("[{\"n\":1}]\n[{\"n\":2}]", &[(1, "[{\"n\":1}]"), (2, "[{\"n\":2}]")], &[]);
}

#[test]
fn damage_costs_the_line_only() {
    check("{\"n\":1}\nnot json\n{\"n\":3}", &[(1, "1"), (3, "3")], &["2:bad-json"]);
    check("{\"n\":1}\n{\"n\":\"tor", &[(1, "1")], &["2:truncated-line"]);
    check("{\"n\":1}\n{\"n\":\"tor\n{\"n\":3}\n", &[(1, "1"), (3, "3")], &["2:bad-json"]);
    check("{\"n\":1}{\"n\":2}\n{\"n\":3}", &[(1, "1"), (1, "2"), (2, "3")], &["1:glued-records"]);
    check("{\"n\":1}{\"n\":2", &[(1, "1")], &["1:truncated-line"]);
    // A torn record with a whole one behind it.
    check("{\"id\":\"a\",\"n\":\"to{\"id\":\"b\",\"n\":2}\n", &[(1, "2")], &["1:torn-record"]);
    check("{\"n\":1}\n\0\0\0\0{\"n\":2}\0\n", &[(1, "1"), (2, "2")], &["2:nul-bytes"]);
    check(b"{\"n\":\"a\xffb\"}\n", &[(1, "\"a\u{fffd}b\"")], &["1:invalid-utf8"]);
}

#[test]
fn strings_the_parser_refuses_are_repaired() {
    check(r#"{"n":"a\ud83db"}"#, &[(1, "\"a\u{fffd}b\"")], &["1:repaired-string"]);
    check(
        r#"{"n":"\udc00\ud83d\ude00\ud83d"}"#,
        &[(1, "\"\u{fffd}\u{1f600}\u{fffd}\"")],
        &["1:repaired-string"],
    );
    // An escaped backslash before a `u` is no escape.
    check(r#"{"n":"\\ud83d"}"#, &[(1, r#""\\ud83d""#)], &[]);
    check("{\"n\":\"a\tb\"}", &[(1, "\"a b\"")], &["1:repaired-string"]);
}

#[test]
fn deep_nesting_survives_up_to_a_limit() {
    let nested = |depth: usize| format!("{{\"n\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    let mut out = Sink::default();
    assert_eq!(parse(nested(400).as_bytes(), &mut out).records.len(), 1);
    assert_eq!(parse(nested(100_000).as_bytes(), &mut out).records.len(), 0);
    let (_, diagnostics, _) = out.into_parts();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, "bad-json");
}

#[test]
fn large_integers_stay_exact() {
    check("{\"n\":2512292042121000001}", &[(1, "2512292042121000001")], &[]);
}

proptest! {
    #[test]
    fn repairing_keeps_the_length(text in "(\\\\ud83d|\\\\udc00|\\\\\\\\|u|[a-z]|\\t){0,20}") {
        prop_assert_eq!(repair(&text).len(), text.len());
    }

    #[test]
    fn whole_lines_between_junk_are_all_read(junk in proptest::collection::vec("[^\\{\\[\\n\\x00]{0,12}", 1..8)) {
        let mut text = String::new();
        for (index, junk) in junk.iter().enumerate() {
            text.push_str(junk);
            text.extend(["\n{\"m\":", &index.to_string(), "}\n"]);
        }
        let parsed = parse(text.as_bytes(), &mut Sink::default());
        let read = parsed.records.iter().filter(|record| record.value.get("m").is_some()).count();
        prop_assert_eq!(read, junk.len());
    }
}
