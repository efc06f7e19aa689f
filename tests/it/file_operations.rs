//! Which files a session read, changed, made, moved and removed, from its calls and their results: cases F01 to F08.
//!
//! `owner/repo#N` is a public issue. Each case is here once, through a whole log; every spelling of it is tested in units:
//!
//! | case | tested one by one in |
//! |---|---|
//! | F01 patches | `src/fileops/tests.rs`: `patches`, `unified_diffs` |
//! | F02 failures | `src/facts/files/tests.rs`: `what_failed_calls_did`; `src/facts/tests/files.rs`: `file_states_follow_results_not_calls`; `cut_safety::a_call_that_was_never_answered_is_told_as_nothing_done_when_it_leaves` |
//! | F03 spellings | `src/paths.rs`: `spellings` |
//! | F04 shells | `src/fileops/tests.rs`: `redirections`, `programs`, `interpreters`, `powershell_scripts` |
//! | F05 tools | `src/fileops/tests.rs`: `file_tools`, `shapes_of_arguments`, `shell_tools` |
//! | F06 directories | `src/fileops/tests.rs`: `directories_and_variables`, `without_a_working_directory_relative_paths_stay_relative` |
//! | F07 states | `src/facts/files/tests.rs`: `states`, `renames`; `repeated::a_file_read_before_is_promoted_by_an_edit_and_never_demoted_by_a_read` |

use crate::logs::{call, claude, claude_user, codex, codex_says, done, item, jsonl, pi, session, step, user};
use crate::support::Sandbox;
use compactor::facts::{FactClass, FactSet, Ledger};
use compactor::ingest::ingest;
use compactor::replay::effects;
use compactor::transcript::{MessageIdx, Origin, Transcript};
use serde_json::{Value, json};

/// What became of the files of a session, and where its messages end.
fn ledger(transcript: &Transcript) -> (Ledger, MessageIdx) {
    (FactSet::files(transcript, &effects(transcript)), MessageIdx::new(transcript.messages.len()))
}

/// Three lists of a session's end: live files that were changed, files that were read, files that are gone.
fn lists(transcript: &Transcript) -> [Vec<String>; 3] {
    let (ledger, end) = ledger(transcript);
    let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect();
    [
        owned(ledger.modified_at(end)),
        owned(ledger.read_at(end)),
        owned(ledger.paths_at(end, &[FactClass::FileDeleted])),
    ]
}

/// Calls with their results, of one pi session: tool, arguments, and what came back; `!` before it is a failure.
fn work(calls: &[(&str, Value, &str)]) -> String {
    let mut entries = vec![user("Do it")];
    for (at, (name, arguments, result)) in calls.iter().enumerate() {
        let [asks, mut answers] = step(&format!("c{at}"), name, arguments, result.trim_start_matches('!'));
        answers["message"]["isError"] = json!(result.starts_with('!'));
        entries.extend([asks, answers]);
    }
    pi(&entries)
}

/// What the calls change, read and remove.
fn check(calls: &[(&str, Value, &str)], modified: &[&str], read: &[&str], gone: &[&str]) {
    let (transcript, _) = session(&work(calls));
    let lists = lists(&transcript);
    assert_eq!(
        lists,
        [modified, read, gone].map(|list| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()),
        "{calls:?}"
    );
}

/// F01 (kunickiaj/codemem#716, microsoft/vscode#315419): a patch makes, changes, moves and removes each of its files, whatever
/// carries it; a text that quotes one does nothing.
#[test]
fn a_patch_counts_for_each_of_its_files() {
    let patch = "*** Begin Patch\n*** Add File: new.rs\n+*** Delete File: quoted.rs\n*** Update File: a.rs\n@@\n-a\n+b\n\
                 *** Update File: old.rs\n*** Move to: moved.rs\n@@\n-a\n+b\n*** Delete File: gone.rs\n*** End Patch\n";
    let modified = ["/w/a.rs", "/w/moved.rs", "/w/new.rs"];
    for (name, arguments) in [
        ("apply_patch", json!({"input": patch})),
        ("bash", json!({"command": format!("apply_patch <<'E'\n{patch}E")})),
        ("shell", json!({"command": ["apply_patch", patch]})),
    ] {
        let (transcript, _) = session(&work(&[(name, arguments, "Success. Updated the following files")]));
        let [mut changed, read, gone] = lists(&transcript);
        changed.sort();
        assert_eq!(
            (changed, read.len(), gone),
            (modified.map(str::to_owned).to_vec(), 0, vec!["/w/gone.rs".to_owned()]),
            "{name}"
        );
    }
    // As Codex logs it.
    let records = [
        codex_says("user", "Do it"),
        item(
            &json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c", "status": "completed"}),
        ),
        item(
            &json!({"type": "custom_tool_call_output", "call_id": "c", "output": "{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0}}"}),
        ),
    ];
    let (transcript, _) = session(&codex(&records));
    assert_eq!(lists(&transcript)[0].len(), 3);
    check(&[("write", json!({"path": "note.md", "content": patch}), "ok")], &["/w/note.md"], &[], &[]);
    check(&[("bash", json!({"command": format!("echo '{patch}'")}), "ok")], &[], &[], &[]);
}

/// F02 (dyad-sh/dyad#1967, dynamiq-ai/dynamiq#712): what failed, was refused or was never answered changed nothing.
#[test]
fn what_failed_or_was_refused_or_never_answered_changed_nothing() {
    let edit = || json!({"path": "a.rs", "oldText": "a", "newText": "b"});
    for result in [
        "!no match for oldText",
        "!The user doesn't want to proceed with this tool use. The tool use was rejected",
        "!Operation aborted",
    ] {
        check(&[("edit", edit(), result)], &[], &[], &[]);
        check(&[("read", json!({"path": "a.rs"}), "x"), ("edit", edit(), result)], &[], &["/w/a.rs"], &[]);
        check(&[("edit", edit(), result), ("edit", edit(), "ok")], &["/w/a.rs"], &[], &[]);
    }
    let mut entries = vec![user("Do it"), call("c", "edit", &edit())];
    let (transcript, _) = session(&pi(&entries));
    assert_eq!(lists(&transcript), [const { Vec::<String>::new() }; 3], "no answer yet");
    entries.push(done("c", "ok"));
    let (transcript, _) = session(&pi(&entries));
    assert_eq!(lists(&transcript)[0], ["/w/a.rs"]);
}

/// F03 (WalshyDev/oc-orchestrator#166, github/copilot-cli#4702): one file under many spellings is one file.
#[test]
fn one_file_under_many_spellings_is_one() {
    let spellings = [
        "a.rs",
        "./a.rs",
        "/w/a.rs",
        "/w//src/../a.rs",
        "file:///w/a.rs",
        "\"a.rs\"",
        " a.rs\n",
        "../w/a.rs",
    ];
    let reads: Vec<(&str, Value, &str)> =
        spellings.iter().map(|path| ("read", json!({"path": path}), "x")).collect();
    check(&reads, &[], &["/w/a.rs"], &[]);
    let edits: Vec<(&str, Value, &str)> = spellings
        .iter()
        .map(|path| ("edit", json!({"path": path, "oldText": "a", "newText": "b"}), "ok"))
        .collect();
    check(&edits, &["/w/a.rs"], &[], &[]);
    // Upper and lower case are two files.
    check(
        &[("read", json!({"path": "A.rs"}), "x"), ("read", json!({"path": "a.rs"}), "x")],
        &[],
        &["/w/A.rs", "/w/a.rs"],
        &[],
    );
}

/// F04 (optave/ops-codegraph-tool#1457): what commands of a shell change counts like what tools change.
#[test]
fn what_a_shell_changes_counts() {
    for (command, modified, read, gone) in [
        ("sed -i s/a/b/ a.rs", &["/w/a.rs"][..], &[][..], &[][..]),
        ("echo x > a.rs && cat b.rs", &["/w/a.rs"], &["/w/b.rs"], &[]),
        ("cat > a.rs <<'E'\nrm b.rs\nE", &["/w/a.rs"], &[], &[]),
        ("cd src && rm a.rs", &[], &[], &["/w/src/a.rs"]),
        ("python3 - <<'E'\nopen('a.rs', 'w').write('x')\nE", &["/w/a.rs"], &[], &[]),
        ("git mv a.rs b.rs", &["/w/b.rs"], &[], &[]),
        ("echo 'rm a.rs' # > b.rs", &[], &[], &[]),
        ("rm *.rs $X", &[], &[], &[]),
    ] {
        check(&[("bash", json!({"command": command}), "")], modified, read, gone);
    }
}

/// F05 (kunickiaj/codemem#716, wakatime/wakatime-cli#1538, LnYo-Cly/ai4j#166): the tools of other agents, arguments that are a
/// text of JSON, a search whose path is a directory, and tools that nobody knows.
#[test]
fn tools_of_other_agents_are_known_and_unknown_ones_do_nothing() {
    for (name, arguments, modified, read) in [
        ("multiedit", json!({"file_path": "a.rs", "edits": []}), &["/w/a.rs"][..], &[][..]),
        ("NotebookEdit", json!({"notebook_path": "n.ipynb", "new_source": "x"}), &["/w/n.ipynb"], &[]),
        ("write_file", json!({"filePath": "a.rs", "content": "x"}), &["/w/a.rs"], &[]),
        ("read_file", json!({"absolute_path": "/w/a.rs"}), &[], &["/w/a.rs"]),
        ("grep", json!({"pattern": "x", "path": "src"}), &[], &[]),
        ("Glob", json!({"pattern": "**/*.rs", "path": "/w/src.d"}), &[], &[]),
        ("mcp__notes__read", json!({"path": "a.rs"}), &[], &[]),
        ("frobnicate", json!({"path": "a.rs"}), &[], &[]),
    ] {
        check(&[(name, arguments, "ok")], modified, read, &[]);
    }
    let nested = json!("{\"path\":\"a.rs\"}");
    check(&[("read", nested, "x")], &[], &["/w/a.rs"], &[]);
    let arguments = json!({"path": "/w/a.rs"}).to_string();
    for arguments in [json!(arguments), json!(json!(arguments).to_string())] {
        let function = json!({"name": "read", "arguments": arguments});
        let (transcript, _) = session(&jsonl(&[
            json!({"role": "user", "content": "Go"}),
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": function}]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "x"}),
        ]));
        assert_eq!(lists(&transcript)[1], ["/w/a.rs"], "{arguments}");
    }
}

/// A Claude Code call and its result, made in a directory.
fn made_in(cwd: &str, id: &str, name: &str, input: &Value) -> [Value; 2] {
    let uses = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
    let mut asks = json!({"type": "assistant", "message": {"id": format!("r{id}"), "role": "assistant", "content": uses}});
    let mut answers = claude_user("");
    answers["message"]["content"] = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
    asks["at"] = json!(cwd);
    answers["at"] = json!(cwd);
    [asks, answers]
}

/// A Claude Code log whose records say in which directory they were made.
fn moving(records: &[Value]) -> Vec<Value> {
    let lines =
        claude(records).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<Value>>();
    lines
        .into_iter()
        .map(|mut record| {
            if let Some(at) = record["at"].as_str() {
                record["cwd"] = json!(at);
            }
            record
        })
        .collect()
}

/// F06 (slopus/happy#1407, Corsinvest/cv4vs-agents#240): a path is seen from the directory of its own record, not from that of
/// the first one.
#[test]
fn a_path_is_seen_from_the_directory_of_its_own_record() {
    let mut records = vec![claude_user("Go")];
    let edit = json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"});
    records.extend(made_in("/w", "t1", "Edit", &edit));
    records.extend(made_in("/w/tree", "t2", "Edit", &edit));
    records.extend(made_in(
        "/w/tree",
        "t3",
        "Bash",
        &json!({"command": "cd ../other && rm a.rs; cat /etc/hosts"}),
    ));
    records.extend(made_in("/w", "t4", "Read", &json!({"file_path": "b.rs"})));
    let (transcript, _) = session(&jsonl(&moving(&records)));
    let [mut modified, mut read, gone] = lists(&transcript);
    modified.sort();
    read.sort();
    assert_eq!(modified, ["/w/a.rs", "/w/tree/a.rs"]);
    assert_eq!(read, ["/etc/hosts", "/w/b.rs"]);
    assert_eq!(gone, ["/w/other/a.rs"]);
}

/// F07 (macanderson/stella#3806, microsoft/vscode#315419): changed, read and removed files are three lists; a later removal takes
/// a file from the live ones, not from what happened.
#[test]
fn changed_read_and_removed_files_are_three_lists() {
    let edit = |path: &str| json!({"path": path, "oldText": "a", "newText": "b"});
    let run = |command: &str| json!({"command": command});
    check(
        &[
            ("read", json!({"path": "seen.rs"}), "x"),
            ("read", json!({"path": "a.rs"}), "x"),
            ("edit", edit("a.rs"), "ok"),
            ("read", json!({"path": "a.rs"}), "x"),
            ("edit", edit("b.rs"), "ok"),
            ("bash", run("rm b.rs"), ""),
            ("bash", run("git mv seen.rs new.rs"), ""),
        ],
        &["/w/a.rs", "/w/new.rs"],
        &[],
        &["/w/b.rs"],
    );
    let log = work(&[
        ("edit", edit("b.rs"), "ok"),
        ("bash", run("rm b.rs"), ""),
        ("write", json!({"path": "b.rs", "content": "x"}), "ok"),
    ]);
    let (transcript, _) = session(&log);
    let (ledger, end) = ledger(&transcript);
    let [file] = &ledger.files[..] else { panic!("{:?}", ledger.files) };
    let happened: Vec<FactClass> = file.ops.iter().map(|(_, class)| *class).collect();
    assert!(happened.contains(&FactClass::FileDeleted) && happened.len() >= 3, "{happened:?}");
    let live: Vec<bool> = [3, 5, end.0].map(|at| file.live_at(MessageIdx(at))).to_vec();
    assert_eq!(live, [true, false, true], "changed, removed, there again");
}

/// F08 (wakatime/wakatime-cli#1538): what a sub-agent changes counts once, in its own session, with its origin.
#[test]
fn what_a_sub_agent_changes_counts_once_and_as_its_own() {
    let edit = |path: &str| json!({"file_path": path, "old_string": "x", "new_string": "y"});
    let mut records = vec![claude_user("Go")];
    records.extend(made_in("/w", "t1", "Edit", &edit("main.rs")));
    let main = moving(&records);
    let mut records = vec![claude_user("Mend the side")];
    records.extend(made_in("/w", "k1", "Edit", &edit("side.rs")));
    let side: Vec<Value> = moving(&records)
        .into_iter()
        .map(|mut record| {
            for field in ["uuid", "parentUuid"] {
                if let Some(id) = record[field].as_str() {
                    record[field] = json!(format!("k-{id}"));
                }
            }
            record["isSidechain"] = json!(true);
            record["agentId"] = json!("ag7");
            record
        })
        .collect();
    let found = |log: &str| -> Vec<(bool, Vec<String>)> {
        let read = ingest(log.as_bytes(), "log.jsonl");
        read.sessions.iter().map(|it| (it.origin == Origin::Main, lists(it)[0].clone())).collect()
    };
    let expected = [(true, vec!["/w/main.rs".to_owned()]), (false, vec!["/w/side.rs".to_owned()])];
    assert_eq!(found(&jsonl(&[main.clone(), side.clone()].concat())), expected);
    // The sub-agent in a file of its own, as agents keep it.
    let sandbox = Sandbox::new();
    sandbox.file("p/s-1.jsonl", jsonl(&main));
    sandbox.file("p/s-1/subagents/agent-ag7.jsonl", jsonl(&side));
    assert_eq!(found(&jsonl(&side)), [(false, vec!["/w/side.rs".to_owned()])]);
    let ran = sandbox.run(&["inspect", "p", "--format", "json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let page: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let sums = &page["formats"].as_array().and_then(|all| all.last()).expect("totals")["sums"];
    assert_eq!((&sums["modified"], &sums["sidechains"]), (&json!(2), &json!(1)), "{sums}");
}
