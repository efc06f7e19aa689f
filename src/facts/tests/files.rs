//! Files: their names, their states, and how a text names them.

use super::*;

#[test]
fn a_path_is_found_by_tier() {
    use Match::{Absent, Ambiguous, Exact, Mutated, Resolvable};
    check_find(
        r#"
        U: Look around in the store
        call Read {"file_path":"/repo/src/store/a.rs"}
        R ok: x
        call Read {"file_path":"/repo/src/x/foo.ts"}
        R ok: x
        call Read {"file_path":"/repo/lib/mod.rs"}
        R ok: x
        call Read {"file_path":"/repo/src/mod.rs"}
        R ok: x
        "#,
        "/repo/src/store/a.rs",
        &[
            ("read /repo/src/store/a.rs today", Exact),
            ("src/store/a.rs:12:5 is wrong", Exact),
            ("(src/store/a.rs)", Exact),
            ("./src/store/a.rs", Exact),
            ("src\\store\\a.rs", Exact),
            ("**src/store/a.rs**.", Exact),
            ("file:///repo/src/store/a.rs", Exact),
            ("store/a.rs", Resolvable),
            ("the file a.rs", Resolvable),
            ("`a.rs`", Resolvable),
            ("data.rs", Absent),
            ("a.rsx", Absent),
            ("a.rs.bak", Absent),
            ("https://example.com/src/store/a.rs", Absent),
            ("lib/store/a.rs", Mutated),
            ("src/a.rs", Mutated),
            ("a", Absent),
            ("", Absent),
        ],
    );
    check_find(
        r#"
        U: Look around in the store
        call Read {"file_path":"/repo/lib/mod.rs"}
        R ok: x
        call Read {"file_path":"/repo/src/mod.rs"}
        R ok: x
        "#,
        "/repo/src/mod.rs",
        &[("mod.rs", Ambiguous), ("src/mod.rs", Exact), ("lib/mod.rs", Absent), ("other/mod.rs", Ambiguous)],
    );
}

#[test]
fn a_name_without_a_dot_needs_backticks_or_a_list() {
    use Match::{Ambiguous, Exact, Resolvable};
    let notation = r#"
        U: Look at the build of it
        call Read {"file_path":"/repo/tools/Makefile"}
        R ok: x
        call Read {"file_path":"/repo/LICENSE"}
        R ok: x
        "#;
    check_find(
        notation,
        "/repo/tools/Makefile",
        &[
            ("the Makefile has it", Ambiguous),
            ("see `Makefile`", Resolvable),
            ("<read-files>\nMakefile\n</read-files>", Resolvable),
            ("- Makefile\n", Resolvable),
            ("tools/Makefile", Exact),
        ],
    );
    check_find(notation, "/repo/LICENSE", &[("LICENSE of it", Ambiguous), ("- LICENSE", Exact)]);
}

#[test]
fn a_suffix_is_unique_among_the_paths_of_the_prefix_only() {
    let set = facts_of(
        r#"
        U: Look around in the store
        call Read {"file_path":"/repo/src/mod.rs"}
        R ok: x
        call Read {"file_path":"/repo/lib/mod.rs"}
        R ok: x
        "#,
    );
    let id = id_of(&set, "/repo/src/mod.rs");
    assert_eq!(set.find("mod.rs", MessageIdx(2)).get(id), Match::Resolvable);
    assert_eq!(set.find("mod.rs", MessageIdx(5)).get(id), Match::Ambiguous);
    // Not yet born: not found, whatever the text.
    assert_eq!(set.find("/repo/src/mod.rs", MessageIdx(1)).get(id), Match::Absent);
}

#[test]
fn a_path_the_log_names_is_no_mutation() {
    let notation = r#"
        U: Look around in the store
        call Read {"file_path":"/repo/src/mod.rs"}
        R ok: x
        call Grep {"pattern":"x"}
        R ok: vendor/mod.rs:1:x
        "#;
    check_find(
        notation,
        "/repo/src/mod.rs",
        &[("vendor/mod.rs", Match::Absent), ("other/mod.rs", Match::Mutated)],
    );
}

#[test]
fn unusual_characters_in_paths_are_found_whole() {
    check_find(
        r#"
        U: Look around in the app
        call Read {"file_path":"/repo/app/(auth)/my page.tsx"}
        R ok: x
        "#,
        "/repo/app/(auth)/my page.tsx",
        &[
            ("/repo/app/(auth)/my page.tsx", Match::Exact),
            ("- app/(auth)/my page.tsx", Match::Exact),
            ("my page.tsx", Match::Resolvable),
            ("other/my page.tsx", Match::Absent),
            ("my page.tsx2", Match::Absent),
        ],
    );
    check_find(
        r#"
        U: 看一下配置文件的内容
        call Read {"file_path":"/repo/文档/配置.md"}
        R ok: x
        "#,
        "/repo/文档/配置.md",
        &[("见 文档/配置.md", Match::Exact), ("配置.md", Match::Resolvable)],
    );
    check_find(
        READ_A,
        "/repo/src/a.rs",
        &[("修改src/a.rs文件", Match::Exact), ("看a.rs。", Match::Resolvable)],
    );
}

#[test]
fn a_renamed_file_is_known_by_its_new_name() {
    let set = facts_of(
        r#"
        U: Rename the old module now
        call Read {"file_path":"/repo/src/old.rs"}
        R ok: x
        call Bash {"command":"git mv src/old.rs src/new.rs"}
        R ok:
        "#,
    );
    let id = id_of(&set, "/repo/src/new.rs");
    assert_eq!(set.class_at(id, MessageIdx(3)), Some(FactClass::FileRead));
    assert_eq!(set.class_at(id, END), Some(FactClass::FileRenamed));
    assert_eq!(set.find("src/old.rs", MessageIdx(3)).get(id), Match::Exact);
    assert_eq!(set.find("src/old.rs", END).get(id), Match::Degraded);
    assert_eq!(set.find("src/new.rs", END).get(id), Match::Exact);
    assert_eq!(set.ledger.files[0].renamed_from(END), Some("/repo/src/old.rs"));
}

#[test]
fn a_file_made_anew_at_the_path_of_a_moved_one_has_the_name_to_itself() {
    let set = facts_of(
        r#"
        U: Split the module please
        call Read {"file_path":"/repo/src/query/mod.rs"}
        R ok: x
        call Bash {"command":"git mv src/query/mod.rs src/query/term.rs"}
        R ok:
        call Write {"file_path":"/repo/src/query/mod.rs","content":"mod term;"}
        R ok: done
        "#,
    );
    let (old, new) = (id_of(&set, "/repo/src/query/term.rs"), id_of(&set, "/repo/src/query/mod.rs"));
    for text in ["- src/query/mod.rs", "/repo/src/query/mod.rs"] {
        assert_eq!(set.find(text, END).get(new), Match::Exact, "{text}");
        assert_eq!(set.find(text, END).get(old), Match::Degraded, "{text}");
    }
}

#[test]
fn a_copy_without_its_source_makes_nothing() {
    for result in [
        "R fail: cp: cannot stat 'b.rs': No such file or directory",
        "R ok: cp: b.rs: No such file or directory",
    ] {
        let set = facts_of(&format!(
            "U: Copy the module please\ncall Bash {{\"command\":\"cp b.rs a4.rs\"}}\n{result}\n"
        ));
        assert!(set.ledger.files.is_empty(), "{result}: {:?}", set.ledger.files);
    }
    // The shell makes the target of a redirection before the program fails.
    let set = facts_of(
        "U: Copy the module please\ncall Bash {\"command\":\"cat b.rs > a5.rs\"}\nR fail: cat: b.rs: No such file or directory\n",
    );
    assert!(set.facts.iter().any(|fact| fact.value == "/repo/a5.rs"), "{:?}", set.ledger.files);
    let set = facts_of("U: Copy the module please\ncall Bash {\"command\":\"cp b.rs a4.rs\"}\nR ok:\n");
    assert!(set.facts.iter().any(|fact| fact.value == "/repo/a4.rs"), "{:?}", set.ledger.files);
}

#[test]
fn file_states_follow_results_not_calls() {
    let set = facts_of(
        r#"
        U: Change the module please
        call Read {"file_path":"/repo/a.rs"}
        R ok: x
        call Edit {"file_path":"/repo/a.rs","old_string":"x","new_string":"y"}
        R fail: old_string not found
        call Edit {"file_path":"/repo/a.rs","old_string":"x","new_string":"z"}
        R ok: done
        call Read {"file_path":"/repo/a.rs"}
        R ok: z
        call Edit {"file_path":"/repo/b.rs","old_string":"x","new_string":"z"}
        "#,
    );
    let id = id_of(&set, "/repo/a.rs");
    let at = |end: u32| set.class_at(id, MessageIdx(end));
    assert_eq!(at(1), None, "not born");
    assert_eq!(at(2), None, "no result yet");
    assert_eq!(at(3), Some(FactClass::FileRead));
    assert_eq!(at(5), Some(FactClass::FileRead), "the failed edit did nothing");
    assert_eq!(at(6), Some(FactClass::FileRead), "the edit is not answered");
    assert_eq!(at(7), Some(FactClass::FileModified));
    assert_eq!(at(9), Some(FactClass::FileModified), "a later read does not demote");
    assert_eq!(set.ledger.modified_at(END), ["/repo/a.rs"], "an unanswered edit is no modification");
    assert_eq!(set.ledger.read_at(MessageIdx(3)), ["/repo/a.rs"]);
}
