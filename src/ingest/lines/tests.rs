use proptest::prelude::*;

use super::*;

/// The `n` field of every record with its line, and the diagnostics as `line:code`.
fn check(text: impl AsRef<[u8]>, expected: &[(u32, &str)], codes: &[&str]) {
    let mut out = Sink::default();
    let parsed = parse(Cow::Borrowed(text.as_ref()), &mut out);
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
    // What in a list is no object costs nothing else; a list of nothing but such is no log.
    let odd = "[{\"n\":1},null,\n[7],\"x\",{\"n\":2}]";
    check(odd, &[(1, "1"), (5, "2")], &["2:bad-record", "3:bad-record", "4:bad-record"]);
    check_bytes(odd, 14, 10);
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
    check(r#"{"n":[NaN,-Infinity,"NaN"]}"#, &[(1, r#"[null,null,"NaN"]"#)], &["1:repaired-string"]);
    check(r#"{"n":"a\ud83db"}"#, &[(1, "\"a\u{fffd}b\"")], &["1:repaired-string"]);
    check(
        r#"{"n":"\udc00\ud83d\ude00\ud83d"}"#,
        &[(1, "\"\u{fffd}\u{1f600}\u{fffd}\"")],
        &["1:repaired-string"],
    );
    // An escaped backslash before a `u` is no escape.
    check(r#"{"n":"\\ud83d"}"#, &[(1, r#""\\ud83d""#)], &[]);
    check("{\"n\":\"a\tb\"}", &[(1, "\"a\\tb\"")], &["1:repaired-string"]);
}

#[test]
fn deep_nesting_becomes_text_at_a_limit() {
    let nested = |depth: usize| format!("{{\"n\":{}\"é\"{},\"m\":2}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [100, 400, 10_000, 100_000] {
        let mut out = Sink::default();
        let parsed = parse(nested(depth).into_bytes().into(), &mut out);
        let [record] = parsed.records.as_slice() else { panic!("{depth}") };
        assert_eq!(record.value.get("m").and_then(Value::as_u64), Some(2));
        let mut inner = record.value.get("n").unwrap();
        let mut levels = 0;
        while let Some([next]) = inner.as_array() {
            (inner, levels) = (next, levels + 1);
        }
        let codes: Vec<&str> = out.into_parts().1.iter().map(|it| it.code).collect();
        if depth == 100 {
            assert_eq!((inner.as_str(), codes), (Some("é"), vec![]));
        } else {
            // Nothing of it is lost.
            let left = depth - levels;
            let text = format!("{}\"é\"{}", "[".repeat(left), "]".repeat(left));
            assert_eq!((inner.as_str(), codes), (Some(text.as_str()), vec!["deep-nesting"]), "{depth}");
        }
    }
    // Nesting that never ends is damage like any other.
    check(format!("{{\"n\":{}", "[".repeat(100_000)), &[], &["1:truncated-line"]);
}

#[test]
fn several_ills_of_one_line() {
    // Whole, torn and whole ones in all orders, and several of each.
    let (one, torn, two) = ("{\"id\":\"a\",\"n\":1}", "{\"id\":\"b\",\"n\":\"to", "{\"id\":\"c\",\"n\":2}");
    check([torn, one, two].concat(), &[(1, "1"), (1, "2")], &["1:torn-record", "1:glued-records"]);
    check([one, torn, two].concat(), &[(1, "1"), (1, "2")], &["1:torn-record", "1:glued-records"]);
    check([torn, one, torn, two].concat(), &[(1, "1"), (1, "2")], &["1:torn-record", "1:glued-records"]);
    check([one, two, torn].concat(), &[(1, "1"), (1, "2")], &["1:truncated-line"]);
    check_bytes([torn, one, torn, two].concat(), (one.len() + two.len()) as u64, 2 * torn.len() as u64);
    // What lies in a torn record is no record of its own.
    let list = "{\"id\":\"a\",\"n\":[{\"id\":\"b\",\"n\":1},{\"id\":\"c\",\"n\":2},{\"id\":\"to";
    check([one, "\n", list].concat(), &[(1, "1")], &["2:truncated-line"]);
    // One line that lists several is a document.
    let kept = r#"[{"id":"b","n":1},{"id":"c","n":2}]"#;
    check(list, &[(1, kept)], &["1:bad-document"]);
    check("{\"type\":\"x\",\"message\":{\"role\":\"user\",\"n\":1}", &[], &["1:truncated-line"]);
    check("{\"type\":\"x\",\"list\":[ {\"role\":\"user\",\"n\":1}\n{\"n\":2}", &[(2, "2")], &["1:bad-json"]);
    check("{\"type\":\"x\",\"list\":[{\"type\":\"text\",\"n\":1}", &[], &["1:truncated-line"]);
    check("{\"type\":\"x\",\"m\":{\"type\":\"y\",\"m\":{\"n\":1},\"n\":2}", &[(1, "2")], &["1:torn-record"]);
    // A record behind one that was torn where a value would be.
    check("{\"id\":\"a\",\"n\":{\"id\":\"b\",\"n\":2}", &[(1, "2")], &["1:torn-record"]);
    check("{\"id\":\"a\",\"n\":\"x, {\"role\":\"user\",\"n\":2}", &[(1, "2")], &["1:torn-record"]);
    // NUL bytes inside a record, and between records.
    check("{\"id\":\"a\",\"n\":\"x\0\0\0y\"}", &[(1, "\"xy\"")], &["1:nul-bytes"]);
    check(format!("{one}\0\0{two}"), &[(1, "1"), (1, "2")], &["1:nul-bytes"]);
    check_bytes("{\"id\":\"a\",\"n\":\"x\0\0\0y\"}", 19, 3);
    // Files strung together, each with its mark.
    let marked = "\u{feff}{\"n\":1}\n\u{feff}{\"n\":2}\r\n\u{feff} {\"n\":3}";
    check(marked, &[(1, "1"), (2, "2"), (3, "3")], &["1:byte-order-mark", "2:byte-order-mark"]);
    check_bytes(marked, 21, 0);
}

/// Every byte is in a record, skipped with a remark, or between records.
fn check_bytes(text: impl AsRef<[u8]>, read: u64, skipped: u64) {
    let text = text.as_ref();
    let mut out = Sink::default();
    let parsed = parse(text.into(), &mut out);
    let shown = String::from_utf8_lossy(text);
    assert_eq!((parsed.bytes.read, parsed.bytes.skipped), (read, skipped), "{shown}");
    assert_eq!(parsed.bytes.total(), text.len() as u64, "{shown}");
    assert_eq!(parsed.sizes.iter().sum::<u64>(), read, "{shown}");
    assert_eq!(out.into_parts().1.iter().any(|it| it.severity > Severity::Note), skipped > 0, "{shown}");
}

#[test]
fn bytes_add_up() {
    check_bytes("{\"n\":1}\r\n\n{\"n\":2}", 14, 0);
    check_bytes("\u{feff}{\"n\":1}\nnot json\n", 7, 8);
    check_bytes("[{\"n\":1},\n {\"n\":2}]\n", 14, 0);
    check_bytes("{\n  \"n\": 7\n}\n", 12, 0);
    check_bytes("{\"id\":\"a\",\"n\":\"to{\"id\":\"b\",\"n\":2}\n", 16, 17);
    check_bytes("{\"n\":1}{\"n\":2}\n", 14, 0);
    check_bytes("{\"n\":1}{\"n\":2\n", 7, 6);
    check_bytes("\0\0{\"n\":1}\0\n", 7, 3);
}

#[test]
fn a_damaged_document_is_one_remark_and_keeps_what_is_before_it() {
    check("[\n {\n\"n\":1\n},\n {\n\"n\":2},\n {\n\"n\":", &[(1, "1"), (2, "2")], &["8:bad-document"]);
    check("{\n  \"n\": [\n 1,\n 2", &[], &["4:bad-document"]);
    // Behind a whole one.
    check("{\n \"n\": 1\n}\ntrailing\n", &[(1, "1")], &["4:bad-document"]);
    check("[\n {\n\"n\": 1\n}\n]\n}", &[(1, "1")], &["6:bad-document"]);
    // A torn one is closed behind its last whole member.
    for tail in ["", ",", ", {", ", {\"x\": [{\"y\":", ", {\"x\": \"say", ",\n]}", ", oops"] {
        let log = format!("{{\n \"id\": {{}},\n \"n\": [{{\"a\": [{{}}]}}, {{\"a\": 2}}{tail}");
        let lines = log.lines().count();
        check(&log, &[(1, r#"[{"a":[{}]},{"a":2}]"#)], &[&format!("{lines}:bad-document")]);
    }
    check(
        "{\n\"n\": {\"a\": {\"x\": {}}, \"b\": {},\n\"c\": {\"d\": {\"e\"",
        &[(1, r#"{"a":{"x":{}},"b":{}}"#)],
        &["3:bad-document"],
    );
    check_bytes("[\n {\n\"n\":1},\n {\n\"n\":", 8, 6);
    // What it lists is whole, and what stands behind that is torn.
    for tail in ["", ",", ",\n\"m\": ", ",\n\"m\": [{\"x\"", ",\n\"m\": {\"x\": 1,"] {
        let log = format!("{{\n \"n\": [{{\"a\": [{{}}]}}, {{\"a\": 2}}]{tail}");
        let lines = log.lines().count();
        check(&log, &[(1, r#"[{"a":[{}]},{"a":2}]"#)], &[&format!("{lines}:bad-document")]);
    }
    // A list of one that is torn.
    check("[{\"n\": [{}, {}, {\"a\"", &[(1, "[{},{}]")], &["1:bad-document"]);
    // A line of it that looks like a record does not make it a list of lines, nor two of them behind each other.
    let torn = "{\n \"n\": [\n {\n \"a\": 1\n },\n {}\n, {\n \"a\": ";
    check(torn, &[(1, r#"[{"a":1},{}]"#)], &["8:bad-document"]);
    let whole = "{\n \"n\": [\n  {}\n ]\n}\n";
    check([whole, whole].concat(), &[(1, "[{}]"), (2, "[{}]")], &["0:glued-records"]);
    check([whole, torn].concat(), &[(1, "[{}]"), (2, r#"[{"a":1},{}]"#)], &["13:bad-document"]);
}

/// Of an array with a line for each element damage costs the element that it hits, wherever it is.
#[test]
fn a_damaged_array_of_lines_keeps_all_other_elements() {
    let elements: Vec<String> = (1..=5).map(|n| format!("{{\"n\":{n}}}")).collect();
    for hit in 0..5 {
        for (open, close) in [("[", "]"), ("[\n", "\n]\n"), ("[ ", "]\n")] {
            let mut torn = elements.clone();
            torn[hit] = "{\"n\":\"x".to_owned();
            let parsed =
                parse(format!("{open}{}{close}", torn.join(",\n")).into_bytes().into(), &mut Sink::default());
            let found: Vec<u64> =
                parsed.records.iter().filter_map(|it| it.value.get("n")?.as_u64()).collect();
            let left: Vec<u64> = (1..=5).filter(|n| *n != hit as u64 + 1).collect();
            assert_eq!(found, left, "{open:?} {hit}");
        }
    }
    // Cut off, and with another one behind it.
    let whole = format!("[{}]", elements.join(",\n"));
    check(
        whole.trim_end_matches(']'),
        &[(1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5")],
        &["5:bad-document"],
    );
    let both = format!("{whole}\n{whole}\n");
    let parsed = parse(both.into_bytes().into(), &mut Sink::default());
    assert_eq!(parsed.records.len(), 10);
}

#[test]
fn documents_behind_each_other_are_all_read() {
    check("{\n \"n\": 1\n}{\n \"n\": 2\n}\n", &[(1, "1"), (2, "2")], &["0:glued-records"]);
    check(
        "[\n {\n \"n\": 1\n }, {\n \"n\": 2\n }\n]\n[\n {\n \"n\": 3\n }\n]",
        &[(1, "1"), (2, "2"), (3, "3")],
        &["0:glued-records"],
    );
    check("{\n \"n\": 1\n}\n[\n {\n \"n\": 2\n}, {\"n\":", &[(1, "1"), (2, "2")], &["7:bad-document"]);
}

#[test]
fn what_stands_before_a_document_is_named_and_skipped() {
    let document = "{\n \"n\": 1\n}\n";
    check(format!("\0\0{document}"), &[(1, "1")], &["0:nul-bytes"]);
    check(format!("{document}\0\0\0"), &[(1, "1")], &["0:nul-bytes"]);
    check(format!("\u{feff}\u{feff}{document}"), &[(1, "1")], &["1:byte-order-mark", "1:byte-order-mark"]);
    check(format!("Exporting session: a\n\n{document}"), &[(1, "1")], &["1:bad-json"]);
    check(format!("say\n[\n{}\n]", "{\"n\": 1,\n \"m\": 2}"), &[(1, "1")], &["1:bad-json"]);
}

#[test]
fn wide_text_is_never_half_read() {
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        for mark in ["", "\u{feff}"] {
            let text = format!("{mark}{{\"n\":\"Größe …\"}}\n{{\"n\":1}}\n");
            check(text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>(), &[], &[]);
        }
    }
}

#[test]
fn a_field_that_comes_twice_is_noted() {
    check(r#"{"n":"a","n":"b"}"#, &[(1, "\"b\"")], &["1:duplicate-field"]);
}

#[test]
fn large_integers_stay_exact() {
    check("{\"n\":2512292042121000001}", &[(1, "2512292042121000001")], &[]);
    check(
        "{\"n\":[18446744073709551615,-9223372036854775808]}",
        &[(1, "[18446744073709551615,-9223372036854775808]")],
        &[],
    );
}

#[test]
fn numbers_beyond_64_bits_keep_their_digits_as_text() {
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "1e400",
        "-1.5E+999",
    ] {
        let text = format!("{{\"n\":{number}}}");
        check(&text, &[(1, &format!("\"{number}\""))], &["1:large-number"]);
        // Beside one, what is like it stays what it is.
        let text = format!("{{\"n\":[{number},1e300,-7,\"{number} \\\" 1e999\"]}}");
        let kept = format!("[\"{number}\",1e+300,-7,\"{number} \\\" 1e999\"]");
        check(&text, &[(1, &kept)], &["1:large-number"]);
    }
    // Digits in a string, and a number that is large and no more than that.
    check("{\"n\":\"18446744073709551616\"}", &[(1, "\"18446744073709551616\"")], &[]);
    check("{\"n\":1e20}", &[(1, "1e+20")], &[]);
    // Together with nesting, and in a list.
    let deep = format!("{{\"n\":18446744073709551616,\"m\":{}{}}}", "[".repeat(500), "]".repeat(500));
    check(&deep, &[(1, "\"18446744073709551616\"")], &["1:deep-nesting", "1:large-number"]);
    check("[{\"n\":1e400}]", &[(1, "\"1e400\"")], &["1:large-number"]);
    check("{\"n\":1-2e999}", &[], &["1:bad-json"]);
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
        let parsed = parse(text.as_bytes().into(), &mut Sink::default());
        let read = parsed.records.iter().filter(|record| record.value.get("m").is_some()).count();
        prop_assert_eq!(read, junk.len());
    }
}

/// NUL bytes are no part of a text, wherever they are: they are named, and counted as left out.
#[test]
fn nuls_in_texts_are_left_out() {
    let texts = [
        ("x.md", "<!-- Generated by SpecStory -->\n\n<!-- A Session s (t) -->\n\n_**User**_\n\nhi there\n"),
        ("x.aider.chat.history.md", "# aider chat started at 2026-01-02 03:04:05\n\n#### hi there\n\nyes\n"),
        (
            "x.yaml",
            "---\nid: s-1\ncreated_at: \"2026-01-02T03:04:05Z\"\nturns:\n- role: user\n  content: hi there\n",
        ),
        ("x.sven.md", "# A title\n\n## User\n\nhi there\n\n## Sven\n\nyes\n"),
    ];
    for (name, text) in texts {
        let clean = crate::ingest::ingest(text.as_bytes(), name);
        assert_eq!(clean.sessions.len(), 1, "{clean:#?}");
        let inside = text.find("hi").unwrap() + 1;
        for at in [0, inside, text.len()] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.splice(at..at, vec![0; 40]);
            let read = crate::ingest::ingest(&bytes, name);
            assert_eq!(read.sessions, clean.sessions, "{name} {at}");
            assert_eq!(read.bytes, Bytes { read: text.len() as u64, skipped: 40, between: 0 });
            assert!(read.diagnostics.iter().any(|it| it.code == "nul-bytes"), "{:#?}", read.diagnostics);
        }
    }
}
