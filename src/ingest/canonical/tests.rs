use super::*;
use crate::ingest::{Format, ingest};
use proptest::prelude::*;

/// A session of every kind of line, by hand.
const LOG: [&str; 10] = [
    r#"{"format":"compactor-transcript","version":1}"#,
    r#"{"record":"session","id":"one","model":"m"}"#,
    r#"{"record":"message","at":0,"role":"user","line":3,"cwd":"/w","parts":[{"type":"text","text":"Look"}]}"#,
    r#"{"record":"message","at":1,"role":"assistant","line":4,"parts":[{"type":"call","call":0,"id":"x","name":"t","arguments":"{}"},{"type":"call","call":1,"id":"x","name":"t","arguments":"{}"}]}"#,
    r#"{"record":"message","at":2,"role":"tool","line":5,"parts":[{"type":"result","answers":1,"call_id":"x","text":"second","outcome":"ok"}]}"#,
    r#"{"record":"message","at":3,"role":"tool","line":6,"parts":[{"type":"result","answers":0,"call_id":"x","text":"first","outcome":"failed","exit_code":2}]}"#,
    r#"{"record":"message","at":4,"role":"assistant","line":7,"parts":[{"type":"text","text":"Done"}]}"#,
    r#"{"record":"compaction","before":4,"line":0,"kept":[1,2,3],"summary":"So far"}"#,
    r#"{"record":"session","id":"two","sidechain":"scout","starts_midway":true}"#,
    r#"{"record":"message","at":0,"role":"user","line":1,"parts":[{"type":"text","text":"Hi"}],"later_field":1}"#,
];

fn read_lines(lines: &[&str]) -> crate::ingest::Ingested {
    ingest(lines.join("\n").as_bytes(), "log.jsonl")
}

/// Replaces lines (from 1), reads, and compares messages per session and remarks that are no notes.
fn check_damage(change: &[(usize, &str)], messages: &[(&str, usize)], says: &[&str]) -> Vec<Transcript> {
    let mut lines = LOG.to_vec();
    for (line, text) in change {
        lines[*line - 1] = text;
    }
    let read = read_lines(&lines);
    assert_eq!(read.format, Some(Format::Canonical), "{change:?}");
    let found: Vec<(&str, usize)> =
        read.sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
    assert_eq!(found, messages, "{change:?}");
    let bad: Vec<String> =
        read.diagnostics.iter().filter(|it| it.severity != Severity::Note).map(ToString::to_string).collect();
    assert_eq!(bad.len(), says.len(), "{change:?}: {bad:?}");
    for (found, says) in bad.iter().zip(says) {
        assert!(found.contains(says), "{change:?}: {found}");
    }
    for session in &read.sessions {
        assert_eq!(session.check(), Vec::<String>::new(), "{change:?}");
    }
    read.sessions
}

#[test]
fn calls_are_linked_by_number_not_by_id() {
    let sessions = check_damage(&[], &[("one", 5), ("two", 1)], &[]);
    let texts: Vec<&str> = sessions[0]
        .links
        .iter()
        .map(|link| sessions[0].result(link).map_or("", |result| result.text.as_str()))
        .collect();
    assert_eq!(texts, ["first", "second"]);
    assert_eq!(sessions[0].recorded[0].kept, [MessageIdx(1), MessageIdx(2), MessageIdx(3)]);
    assert_eq!(sessions[1].origin, Origin::Sidechain("scout".to_owned()));
    assert_eq!(read_lines(&LOG).raw.tool_calls, 2);
}

#[test]
fn a_damaged_line_costs_that_line() {
    let both = [("one", 5), ("two", 1)];
    // The header says nothing that the rest does not.
    check_damage(&[(1, "{\"format\":\"compac")], &both, &["line 1: bad-json"]);
    let sessions = check_damage(&[(3, "{")], &[("one", 4), ("two", 1)], &["line 3: bad-json"]);
    assert_eq!(sessions[0].recorded[0].kept, [MessageIdx(0), MessageIdx(1), MessageIdx(2)]);
    assert_eq!(sessions[0].recorded[0].before, MessageIdx(3));
    // Without their call results are text, as in any log.
    check_damage(&[(4, "")], &[("one", 4), ("two", 1)], &[]);
    check_damage(&[(5, "{}")], &[("one", 4), ("two", 1)], &["line 5: bad-record"]);
    check_damage(&[(8, r#"{"record":"compaction"}"#)], &both, &["missing field `before`"]);
    // Sessions do not run into one another.
    check_damage(&[(9, "null")], &[("one", 5), ("log#2", 1)], &["line 9: bad-record", "named \"log#2\""]);
    check_damage(&[(2, ""), (9, "")], &[("log", 5), ("log#2", 1)], &["named \"log\"", "named \"log#2\""]);
    check_damage(&[(3, r#"{"role":"user","content":"x"}"#)], &[("one", 4), ("two", 1)], &["foreign-record"]);
    let unknown = r#"{"record":"message","at":0,"role":"user","line":3,"parts":[{"type":"smell"}]}"#;
    check_damage(&[(3, unknown)], &[("one", 4), ("two", 1)], &["unknown variant `smell`"]);
    let torn = format!("{}{}", r#"{"record":"message","at":0,"ro"#, LOG[3]);
    check_damage(&[(4, &torn)], &both, &["line 4: torn-record"]);
    // What readers of other formats never give is put right as they do.
    let empty = r#"{"record":"message","at":0,"role":"user","line":3,"parts":[]}"#;
    check_damage(&[(3, empty)], &[("one", 4), ("two", 1)], &[]);
    let odd = r#"{"record":"message","at":4,"role":"user","line":7,"parts":[{"type":"result","answers":7,"call_id":"z","text":"x","outcome":"ok"}]}"#;
    check_damage(&[(7, odd)], &both, &[]);
}

#[test]
fn messages_that_are_missing_are_noted() {
    let gaps = |lines: &[&str]| -> Vec<String> {
        let read = read_lines(lines);
        read.diagnostics.iter().filter(|it| it.code == "gap").map(ToString::to_string).collect()
    };
    assert_eq!(gaps(&LOG), [] as [&str; 0]);
    let mut lines = LOG.to_vec();
    lines.remove(3);
    assert_eq!(gaps(&lines).len(), 1, "{:?}", gaps(&lines));
    assert!(gaps(&lines)[0].contains("message 1 is missing"), "{:?}", gaps(&lines));
    lines.remove(2);
    assert!(gaps(&lines)[0].contains("messages 0 to 1 are missing"), "{:?}", gaps(&lines));
}

#[test]
fn a_newer_version_is_refused() {
    let mut lines = LOG.to_vec();
    lines[0] = r#"{"format":"compactor-transcript","version":2}"#;
    let read = read_lines(&lines);
    assert_eq!(read.sessions, []);
    let told: Vec<&str> = read.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(told, ["newer-version"]);
}

#[test]
fn a_version_that_is_no_number_is_refused() {
    for version in [
        r#","version":"1""#,
        r#","version":"2""#,
        r#","version":-1"#,
        r#","version":1.5"#,
        r#","version":0"#,
        r#","version":null"#,
        r#","version":[1]"#,
        "",
    ] {
        let header = format!("{{\"format\":\"compactor-transcript\"{version}}}");
        let mut lines = LOG.to_vec();
        lines[0] = &header;
        let read = read_lines(&lines);
        assert_eq!(read.sessions, [], "{header}");
        let told: Vec<&str> = read.diagnostics.iter().map(|it| it.code).collect();
        assert_eq!(told, ["bad-version"], "{header}");
    }
}

/// Compactions in any order of lines stand in the order of the session.
#[test]
fn compactions_are_put_in_order() {
    let mut lines: Vec<&str> = LOG[..8].to_vec();
    lines.push(r#"{"record":"compaction","before":1,"line":0,"summary":"first"}"#);
    lines.push(r#"{"record":"compaction","before":5,"line":0,"summary":"last"}"#);
    lines.push(r#"{"record":"compaction","before":2,"line":0,"summary":"second"}"#);
    let read = read_lines(&lines);
    let befores: Vec<usize> = read.sessions[0].recorded.iter().map(|one| one.before.get()).collect();
    assert_eq!(befores, [1, 2, 4, 5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Any lines gone or cut off: what is left obeys the rules.
    #[test]
    fn whatever_is_left_fits_together(fates in prop::collection::vec(0usize..3, LOG.len()), cut in 1usize..120) {
        let lines: Vec<&str> = LOG
            .iter()
            .zip(&fates)
            .map(|(line, fate)| match fate {
                0 => *line,
                1 => "",
                _ => line.get(..cut).unwrap_or(line),
            })
            .collect();
        for session in read_lines(&lines).sessions {
            prop_assert_eq!(session.check(), Vec::<String>::new());
            let end = session.messages.len();
            prop_assert!(session.recorded.iter().all(|it| it.before.get() <= end));
        }
    }
}
