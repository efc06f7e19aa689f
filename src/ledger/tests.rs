//! The lists of files of each system, row by row.

use super::{FileOpRules, LedgerError, Op, Operations};
use crate::harness::{Block, Call, Compaction, Entry, Outcome, Role};
use crate::profile::Profile;

fn rules(profile: &str) -> FileOpRules {
    Profile::named(profile).expect("an embedded profile").expect("valid").ledger.expect("lists of files")
}

/// A call of a tool with its arguments; the kind is that which the tool has under the rules.
fn call(rules: &FileOpRules, name: &str, arguments: &str) -> Block<'static> {
    Block::Call(Call {
        id: "c".into(),
        name: name.to_owned().into(),
        arguments: arguments.to_owned().into(),
        kind: rules.op_of(name).map(|op| op.kind().into()),
    })
}

/// Calls in short, as `tool path`; `tool` alone is a call without a path, `tool {..}` one with these arguments.
fn replies(rules: &FileOpRules, calls: &[&str]) -> Vec<Entry<'static>> {
    calls
        .iter()
        .map(|line| {
            let block = match line.split_once(' ') {
                None => call(rules, line, "{}"),
                Some((name, arguments)) if arguments.starts_with(['{', '"']) => call(rules, name, arguments),
                Some((name, path)) => call(rules, name, &serde_json::json!({ "path": path }).to_string()),
            };
            Entry::message(Role::Assistant, vec![block])
        })
        .collect()
}

/// An earlier compaction with its lists.
fn earlier(read: &[&str], modified: &[&str], from_hook: bool) -> Entry<'static> {
    let owned = |list: &[&str]| list.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let lists = Some((owned(read), owned(modified)));
    Entry {
        compaction: Some(Compaction { lists, from_hook, ..Compaction::default() }),
        ..Entry::text(Role::User, "summary")
    }
}

/// Lists after an earlier compaction and some calls.
fn lists(rules: &FileOpRules, before: Option<&Entry<'_>>, calls: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut operations = Operations::default();
    if let Some(before) = before {
        operations.carry(before, rules);
    }
    for entry in replies(rules, calls) {
        operations.read_calls(&entry, rules).expect("arguments that the system reads");
    }
    operations.lists(rules)
}

/// Rows: what it is about, calls, files read and files modified.
#[track_caller]
fn check(profile: &str, rows: &[(&str, &[&str], &[&str], &[&str])]) {
    for (name, calls, read, modified) in rows {
        let (ours_read, ours_modified) = lists(&rules(profile), None, calls);
        assert_eq!(ours_read, *read, "{profile}, {name}: read");
        assert_eq!(ours_modified, *modified, "{profile}, {name}: modified");
    }
}

#[test]
fn opal_lists_paths_as_they_came() {
    check(
        "opal",
        &[
            ("a file read twice", &["read_file a", "read_file a"], &["a"], &[]),
            ("a file read, then edited", &["read_file a", "edit_file a"], &[], &["a"]),
            ("written and edited is modified once", &["write_file a", "edit_file a"], &[], &["a"]),
            ("no order but that of mention", &["read_file z", "read_file a"], &["z", "a"], &[]),
            ("a shell command", &["shell a"], &[], &[]),
            ("a call without a path", &["read_file"], &[], &[]),
            ("another argument", &["read_file {\"file_path\":\"a\"}"], &[], &[]),
            (
                "a path of null or false",
                &["read_file {\"path\":null}", "edit_file {\"path\":false}"],
                &[],
                &[],
            ),
            ("an empty path is one", &["read_file {\"path\":\"\"}"], &[""], &[]),
            ("a number is one", &["read_file {\"path\":0}"], &["0"], &[]),
            ("tools of another system", &["read a", "write a"], &[], &[]),
        ],
    );
    let rules = rules("opal");
    let mut operations = Operations::default();
    let result = Outcome {
        call_id: Some("c".into()),
        name: Some("read_file".into()),
        texts: vec!["{\"path\":\"a\"}".into()],
        images: Vec::new(),
        error: false,
    };
    for (name, entry) in [
        ("a request that speaks of a call", Entry::text(Role::User, "read_file a")),
        (
            "a call in the name of the user",
            Entry::message(Role::User, vec![call(&rules, "read_file", "{\"path\":\"a\"}")]),
        ),
        ("a result", Entry::message(Role::Tool, vec![Block::Result(result)])),
    ] {
        operations.read_calls(&entry, &rules).expect("nothing to read");
        assert_eq!(operations, Operations::default(), "{name}");
    }
    let text = &replies(&rules, &["read_file \"a\""])[0];
    let error = operations.read_calls(text, &rules).expect_err("the code fails on arguments that are a text");
    assert_eq!(error, LedgerError::NoObject { tool: "read_file".to_owned() });
}

#[test]
fn opal_adds_lists_up_over_cycles() {
    let rules = rules("opal");
    let (read, modified) = lists(&rules, None, &["read_file a", "write_file b"]);
    assert_eq!((read, modified), (vec!["a".to_owned()], vec!["b".to_owned()]), "first cycle");
    for (name, read, modified, calls, expect) in [
        (
            "a file of before is edited",
            &["a"][..],
            &["b"][..],
            &["read_file c", "edit_file a"][..],
            (&["c"][..], &["b", "a"][..]),
        ),
        ("one modified before is read", &[], &["b"], &["read_file b"], (&[], &["b"])),
        (
            "what was before comes first",
            &["z"],
            &["y"],
            &["read_file a", "write_file b"],
            (&["z", "a"], &["y", "b"]),
        ),
        ("nothing new", &["a"], &["b"], &[], (&["a"], &["b"])),
        ("nothing before", &[], &[], &["read_file a"], (&["a"], &[])),
    ] {
        let (ours_read, ours_modified) = lists(&rules, Some(&earlier(read, modified, false)), calls);
        assert_eq!(ours_read, expect.0, "{name}: read");
        assert_eq!(ours_modified, expect.1, "{name}: modified");
    }
}

#[test]
fn pi_and_its_port_sort_their_lists() {
    // The last before U+E000 in UTF-16, behind it by code points.
    let (plane, private) = ("\u{1f980}", "\u{e000}");
    for (profile, edit, order) in [
        ("pi", "edit", [plane, private]),
        ("pi-0.73", "edit", [plane, private]),
        ("operator-use", "edit_file", [private, plane]),
    ] {
        let edit = |path: &str| format!("{edit} {path}");
        let (edit_b, read_plane, read_private) =
            (edit("b"), format!("read {plane}"), format!("read {private}"));
        check(
            profile,
            &[
                ("read, edited and written", &["read a", "read b", &edit_b, "write c"], &["a"], &["b", "c"]),
                ("in order", &["read z", "read a", "write y", &edit_b], &["a", "z"], &["b", "y"]),
                ("an empty path is none", &["read {\"path\":\"\"}"], &[], &[]),
                ("a number is none", &["read {\"path\":7}"], &[], &[]),
                ("no path", &["read", "write"], &[], &[]),
                ("a command", &["bash a"], &[], &[]),
                ("arguments that are a text", &["read \"a\""], &[], &[]),
                ("the order of characters", &[&read_private, &read_plane], &order, &[]),
            ],
        );
    }
    check("pi", &[("listing and searching is no reading", &["ls a", "grep b"], &[], &[])]);
    check("operator-use", &[("listing and searching is reading", &["ls a", "grep b"], &["a", "b"], &[])]);
}

#[test]
fn operator_use_goes_by_the_kind_of_a_tool() {
    let rules = rules("operator-use");
    for (name, kind, expect) in [
        ("a kind of any name", Some("read"), Some(Op::Read)),
        ("of capitals", Some("Write"), Some(Op::Written)),
        ("edit", Some("edit"), Some(Op::Edited)),
        ("another kind", Some("terminal"), None),
        ("no kind", None, None),
    ] {
        let call = Call {
            id: "c".into(),
            name: "read".into(),
            arguments: "{\"path\":\"a\"}".into(),
            kind: kind.map(Into::into),
        };
        let mut operations = Operations::default();
        operations
            .read_calls(&Entry::message(Role::Assistant, vec![Block::Call(call)]), &rules)
            .expect("arguments that the system reads");
        let mut wanted = Operations::default();
        if let Some(op) = expect {
            wanted.add(op, "a".to_owned());
        }
        assert_eq!(operations, wanted, "{name}");
    }
}

#[test]
fn lists_of_an_extension_are_carried_by_some() {
    for (profile, tool, hook, read) in [
        ("pi", "read n", false, &["a", "n"][..]),
        ("pi", "read n", true, &["n"]),
        ("pi-0.73", "read n", true, &["n"]),
        ("operator-use", "read n", false, &["a", "n"]),
        ("operator-use", "read n", true, &["a", "n"]),
    ] {
        let (ours, _) = lists(&rules(profile), Some(&earlier(&["a"], &["b"], hook)), &[tool]);
        assert_eq!(ours, read, "{profile}, by an extension: {hook}");
    }
    let (read, modified) = lists(&rules("pi"), Some(&earlier(&["a"], &["b"], false)), &["read b", "edit a"]);
    assert_eq!(
        (read.as_slice(), modified.as_slice()),
        (&[][..], &["a".to_owned(), "b".to_owned()][..]),
        "promoted"
    );
}
