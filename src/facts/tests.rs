mod files;

use super::*;
use crate::fileops::of_call;
use crate::transcript::{Link, Message, Origin, Text, ToolCall};
use arcstr::ArcStr;
use smallvec::smallvec;
use std::fmt::Write as _;
use thin_vec::ThinVec;

/// Builds a session from lines, one message each: `U: text`, `U*: injected`, `A: text`, `think: text`,
/// `call NAME {json}`, `R ok|fail|unknown: text` (result of the last open call), `cwd DIR` for what follows. `\n` in a
/// text is a line end.
fn session(notation: &str) -> Transcript {
    let mut messages: Vec<Message> = Vec::new();
    let mut links: Vec<Link> = Vec::new();
    let mut cwd: Option<ArcStr> = Some("/repo".into());
    for line in notation.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let here = PartRef { message: MessageIdx::new(messages.len()), part: 0 };
        let text = |from: &str| from.trim().replace("\\n", "\n");
        let (role, part) = if let Some(dir) = line.strip_prefix("cwd ") {
            cwd = (dir != "-").then(|| dir.into());
            continue;
        } else if let Some(rest) = line.strip_prefix("U*:") {
            (Role::User, Part::Text(Text { text: text(rest), injected: true }))
        } else if let Some(rest) = line.strip_prefix("U:") {
            (Role::User, Part::Text(Text { text: text(rest), injected: false }))
        } else if let Some(rest) = line.strip_prefix("A:") {
            (Role::Assistant, Part::Text(Text { text: text(rest), injected: false }))
        } else if let Some(rest) = line.strip_prefix("think:") {
            (Role::Assistant, Part::Thinking(text(rest)))
        } else if let Some(rest) = line.strip_prefix("call ") {
            let (name, arguments) = rest.split_once(' ').expect("a tool and its arguments");
            links.push(Link { call: here, result: None });
            let call =
                ToolCall { id: String::new(), name: name.into(), arguments: arguments.trim().to_owned() };
            (Role::Assistant, Part::call(call))
        } else if let Some(rest) = line.strip_prefix("R ") {
            let (outcome, rest) = rest.split_once(':').expect("an outcome");
            let outcome = match outcome {
                "ok" => Outcome::Ok,
                "fail" => Outcome::Failed,
                "unknown" => Outcome::Unknown,
                other => panic!("unknown outcome {other}"),
            };
            let open = links.iter_mut().rfind(|link| link.result.is_none()).expect("an open call");
            open.result = Some(here);
            let result =
                ToolResult { call_id: String::new(), text: text(rest), outcome, exit_code: None, images: 0 };
            (Role::Tool, Part::result(result))
        } else {
            panic!("cannot read {line}");
        };
        let number = messages.len() as u32 + 1;
        messages.push(Message {
            role,
            parts: smallvec![part],
            line: number,
            cwd: cwd.clone(),
            usage: None,
            lines: ThinVec::new(),
            time: None,
        });
    }
    let transcript = Transcript {
        id: "test".to_owned(),
        origin: Origin::Main,
        messages,
        links,
        recorded: Vec::new(),
        continues: None,
        refusals: Vec::new(),
        format: None,
        model: None,
        context_window: None,
        tool_schema: None,
        starts_compacted: false,
        starts_midway: false,
    };
    assert_eq!(transcript.check(), Vec::<String>::new());
    transcript
}

fn effects(transcript: &Transcript) -> Vec<CallEffect> {
    let of = |link: &Link| {
        let call = transcript.call(link).expect("links name calls");
        let cwd = transcript.messages[link.call.message.get()].cwd.clone();
        of_call(&call.name, &call.arguments, cwd.as_deref())
    };
    transcript.links.iter().map(of).collect()
}

fn facts_of(notation: &str) -> FactSet {
    let transcript = session(notation);
    FactSet::extract(&transcript, &effects(&transcript))
}

const END: MessageIdx = MessageIdx(u32::MAX);

/// Facts that count in a prefix, as `class: value`.
fn listed(set: &FactSet, end: MessageIdx) -> Vec<String> {
    set.ids()
        .filter_map(|id| {
            let value = &set.get(id)?.value;
            Some(format!("{}: {value}", set.class_at(id, end)?.name()))
        })
        .collect()
}

/// Values of one class that count at the end of the session.
fn check_class(notation: &str, class: FactClass, expected: &[&str]) {
    let set = facts_of(notation);
    let found: Vec<&str> = set
        .ids()
        .filter(|id| set.class_at(*id, END) == Some(class))
        .filter_map(|id| set.get(id).map(|fact| fact.value.as_str()))
        .collect();
    assert_eq!(found, expected, "{notation}");
}

fn id_of(set: &FactSet, value: &str) -> FactId {
    set.ids()
        .find(|id| set.get(*id).is_some_and(|fact| fact.value == value))
        .unwrap_or_else(|| panic!("no fact {value} in {:#?}", listed(set, END)))
}

/// How one fact stands in each of some texts.
fn check_find(notation: &str, value: &str, table: &[(&str, Match)]) {
    let set = facts_of(notation);
    let id = id_of(&set, value);
    let mut wrong = String::new();
    for (text, expected) in table {
        let found = set.find(text, END).get(id);
        if found != *expected {
            let _ = writeln!(wrong, "{text:?}: {} instead of {}", found.name(), expected.name());
        }
    }
    assert_eq!(wrong, "", "{value}");
}

const READ_A: &str = r#"
U: Fix the parser bug in the store
call Read {"file_path":"/repo/src/a.rs"}
R ok: fn main() {}
"#;

#[test]
fn classes_are_ordered_and_named() {
    let names: Vec<&str> = FactClass::ALL.iter().map(|class| class.name()).collect();
    assert_eq!(names.len(), 14);
    assert!(FactClass::ALL.is_sorted());
    assert!(FactClass::Todo.structural() && !FactClass::Error.structural());
    assert!(FactClass::FileRenamed.is_file() && !FactClass::Command.is_file());
}

#[test]
fn an_amount_said_again_is_one_fact() {
    let set = facts_of(
        r"
        U: Use 10 minutes as the cap please
        A: `retry_after_cap` is 600 s now; the cap of 10 min holds. The lookup timeout is 600 s as well.
        ",
    );
    let values: Vec<&str> = set
        .facts
        .iter()
        .filter(|fact| fact.class == FactClass::Value)
        .map(|fact| fact.value.as_str())
        .collect();
    assert_eq!(values, ["10 minutes", "lookup timeout = 600 s"]);
}

#[test]
fn what_a_person_says_in_declining_a_call_is_theirs() {
    let set = facts_of(
        r#"
        U: Clean the signature up
        call Edit {"file_path":"/repo/a.rs","old_string":"x","new_string":"y"}
        R fail: The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said: never change the signature
        call Bash {"command":"scp a b:"}
        R fail: The user doesn't want to proceed with this tool use.
        "#,
    );
    let of = |class: FactClass| set.facts.iter().filter(|fact| fact.class == class).count();
    assert_eq!(of(FactClass::Constraint), 1);
    assert_eq!(of(FactClass::Command), 0, "what was declined was not run");
    assert_eq!(of(FactClass::Error), 0);
}

#[test]
fn checks_hold_their_latest_outcome() {
    let set = facts_of(
        r#"
        U: Make the tests pass again
        call Bash {"command":"cargo test"}
        R fail: boom
        A: The tests fail, I will mend it.
        call Bash {"command":"cargo test"}
        R ok: test result: ok
        "#,
    );
    let id = id_of(&set, "cargo test");
    assert_eq!(set.class_at(id, END), Some(FactClass::Check));
    for (text, end, expected) in [
        ("- `cargo test` fails", 3, Match::Exact),
        ("- cargo test: ok", 3, Match::Contradicted),
        ("- cargo test passes", 9, Match::Exact),
        ("- cargo test: 5 passed, 0 failed", 9, Match::Exact),
        ("- cargo test failed", 9, Match::Contradicted),
        ("- run cargo test", 9, Match::LabelOnly),
        ("- cargo build passes", 9, Match::Absent),
        ("- cargo test-all passes", 9, Match::Absent),
        ("- `cargo fmt && cargo test` failed", 9, Match::LabelOnly),
    ] {
        assert_eq!(set.find(text, MessageIdx(end)).get(id), expected, "{text}");
    }
}

#[test]
fn a_check_ends_as_its_output_says_where_a_pipe_hides_its_status() {
    for (script, output, ends) in [
        ("npm test 2>&1 | tail -5", "Tests: 1 failed, 11 passed", "fails"),
        ("npm test 2>&1 | tail -5", "Tests: 12 passed, 12 total", "passes"),
        ("npm test || true", "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", "fails"),
        ("npm test", "Tests: 1 failed, 11 passed (retried, passed)", "passes"),
    ] {
        let set = facts_of(&format!(
            "U: Mend the tests\ncall Bash {{\"command\":\"{script}\"}}\nR ok: {output}\nA: I will see.\n"
        ));
        let id = id_of(&set, script);
        let find = |text: &str| set.find(text, END).get(id);
        let other = if ends == "fails" { "passes" } else { "fails" };
        assert_eq!(find(&format!("- `npm test` {ends}")), Match::Exact, "{script}: {output}");
        assert_eq!(find(&format!("- `npm test` {other}")), Match::Contradicted, "{script}: {output}");
    }
}

#[test]
fn todo_items_carry_their_state() {
    let set = facts_of(
        r#"
        U: Build the importer for me
        call TodoWrite {"todos":[{"content":"Write the CSV importer","status":"in_progress"},{"content":"Document the wire format","status":"pending"}]}
        R ok: done
        call TodoWrite {"todos":[{"content":"Write the CSV importer","status":"completed"}]}
        R ok: done
        "#,
    );
    let importer = id_of(&set, "Write the CSV importer");
    let document = id_of(&set, "Document the wire format");
    assert_eq!(set.class_at(document, MessageIdx(3)), Some(FactClass::Todo));
    assert_eq!(set.class_at(document, END), None, "it left the list unfinished");
    for (text, end, expected) in [
        ("- [x] Write the CSV importer", 5, Match::Exact),
        ("- [ ] Write the CSV importer", 5, Match::Contradicted),
        ("- [ ] Write the CSV importer", 3, Match::Exact),
        ("- [x] Write the CSV importer", 3, Match::Contradicted),
        ("Pending:\n- Write the CSV importer", 5, Match::Contradicted),
        ("Done:\n- Write the CSV importer", 5, Match::Exact),
        ("Write the CSV importer", 5, Match::Exact),
    ] {
        assert_eq!(set.find(text, MessageIdx(end)).get(importer), expected, "{text}");
    }
}

#[test]
fn values_are_bound_to_their_key() {
    use Match::{Absent, Exact, LabelOnly, Normalised};
    let notation = "U: Set `retry_limit` to 3 and the cache size to 1,024 in the config";
    check_find(
        notation,
        "retry_limit = 3",
        &[
            ("retry_limit: 3", Exact),
            ("retry_limit=3", Exact),
            ("`retry_limit` is `3`", Exact),
            ("\"retry_limit\": 3,", Exact),
            ("raised retry_limit from 2 to 3", Exact),
            ("| retry_limit | 3 |", Exact),
            ("retry_limit is bounded", LabelOnly),
            ("retry_limit: 30", LabelOnly),
            ("retry_limit: 3.5", LabelOnly),
            ("retry_limit: 5, max_depth: 3", LabelOnly),
            ("retry_limits: 3", Absent),
            ("max_retry_limit: 3", Absent),
            ("3", Absent),
            ("retry_limit is bounded\n3", LabelOnly),
        ],
    );
    check_find(
        notation,
        "cache size = 1,024",
        &[("cache size: 1,024", Exact), ("cache size 1024", Normalised)],
    );
}

#[test]
fn counts_of_what_is_there_are_no_values() {
    for count in
        ["`rows_added` = 12", "hookCount: 4", "total_orders = 9", "Files changed: 8", "Next steps: 3"]
    {
        let set = facts_of(&format!("A: The run printed {count} at the end"));
        assert!(!set.facts.iter().any(|fact| fact.class == FactClass::Value), "{count}");
    }
}

#[test]
fn values_by_unit() {
    use Match::{Absent, Exact, Normalised};
    check_find(
        "U: Keep the p99 below that, it must stay under 88 ms at all times",
        "88 ms",
        &[
            ("under 88 ms", Exact),
            ("88ms", Exact),
            ("88 milliseconds", Normalised),
            ("889 ms", Absent),
            ("188 ms", Absent),
            ("0.88 ms", Absent),
            ("88", Absent),
            ("88 s", Absent),
            ("88.5 ms", Absent),
        ],
    );
}

#[test]
fn atoms_are_whole_tokens() {
    use Match::{Absent, Exact};
    check_find(
        "U: Upgrade tokio to 1.38.0 in the workspace",
        "1.38.0",
        &[
            ("tokio 1.38.0.", Exact),
            ("tokio@1.38.0", Exact),
            ("v1.38.0", Exact),
            ("`1.38.0`", Exact),
            ("11.38.0", Absent),
            ("1.38.01", Absent),
            ("1.38.0.1", Absent),
            ("1.38.0-beta", Absent),
            ("2.1.38.0", Absent),
        ],
    );
    check_find(
        "U: Read https://example.com/spec and follow it",
        "https://example.com/spec",
        &[
            ("see https://example.com/spec.", Exact),
            ("[spec](https://example.com/spec)", Exact),
            ("https://example.com/spec/v2", Absent),
            ("https://example.com/special", Absent),
            ("https://example.com/spec?x=1", Absent),
        ],
    );
    check_find(
        "U: Close PROJ-12 when this is merged",
        "PROJ-12",
        &[
            ("PROJ-12 is closed", Exact),
            ("PROJ-123", Absent),
            ("XPROJ-12", Absent),
            ("PROJ-12-a", Absent),
            ("关闭PROJ-12。", Exact),
        ],
    );
}

#[test]
fn errors_are_class_and_head() {
    use Match::{Absent, Exact, LabelOnly};
    check_find(
        r#"
        U: Why does the build break
        call Bash {"command":"cargo build"}
        R fail: error[E0502]: cannot borrow `x` as mutable\n --> src/a.rs:1:2
        "#,
        "E0502: cannot borrow `x` as mutable",
        &[
            ("error[E0502]: cannot borrow `x` as mutable", Exact),
            ("E0502: cannot borrow x as mutable", Exact),
            ("an E0502 in a.rs", LabelOnly),
            ("E0505: cannot borrow `x` as mutable", Absent),
        ],
    );
}

#[test]
fn sentences_keep_words_entities_and_polarity() {
    use Match::{Absent, Contradicted, Degraded, Exact};
    check_find(
        "U: Never use CASCADE when dropping tables.",
        "Never use CASCADE when dropping tables.",
        &[
            ("Never use CASCADE when dropping tables.", Exact),
            ("- Do not use CASCADE when dropping tables", Exact),
            ("CASCADE is never to be used: we never use it when dropping tables", Exact),
            ("CASCADE is an option when dropping tables", Contradicted),
            ("Use CASCADE when dropping tables", Contradicted),
            ("## Never\n- use CASCADE when dropping tables", Exact),
            ("Schema has ON DELETE CASCADE", Degraded),
            ("Tables are nice", Absent),
            ("", Absent),
        ],
    );
    check_find(
        "U: Use pnpm instead of npm for installs.",
        "Use pnpm instead of npm for installs.",
        &[
            ("Use pnpm instead of npm for installs", Exact),
            ("Use pnpm, not npm, for installs", Exact),
            ("Use npm instead of pnpm for installs", Contradicted),
        ],
    );
    check_find(
        "U: Only modify files under src/store/ for this.",
        "Only modify files under src/store/ for this.",
        &[
            ("Only modify files under src/store/", Exact),
            ("Modify files under src/store/", Contradicted),
            ("Constraints:\n- modify files under src/store/", Exact),
            ("Only modify files under lib/", Degraded),
        ],
    );
    // A path that stands there for another reason neither keeps nor contradicts what is said of it.
    check_find(
        "U: You must keep docs/api/reference/errors.md up to date.",
        "You must keep docs/api/reference/errors.md up to date.",
        &[
            ("- docs/api/reference/errors.md must be kept up to date, keep it", Exact),
            ("- Read: docs/api/reference/errors.md, docs/api/index.md", Degraded),
            ("- Must read docs/api/reference/errors.md", Degraded),
        ],
    );
    check_find(
        "U: 不要修改测试文件。",
        "不要修改测试文件。",
        &[("不要修改测试文件", Exact), ("可以修改测试文件", Contradicted)],
    );
}

#[test]
fn the_strongest_of_several_stands() {
    check_find(
        READ_A,
        "/repo/src/a.rs",
        &[("lib/a.rs and src/a.rs", Match::Exact), ("lib/a.rs and a.rs", Match::Resolvable)],
    );
}

#[test]
fn shuffling_lines_changes_nothing() {
    let set = facts_of(
        r#"
        U: Set `retry_limit` to 3. Never use CASCADE when dropping tables.
        call Read {"file_path":"/repo/src/a.rs"}
        R ok: x
        call Bash {"command":"cargo test"}
        R ok: ok
        "#,
    );
    let lines = [
        "- src/a.rs was read",
        "- retry_limit: 3",
        "- cargo test passes",
        "- Never use CASCADE when dropping tables",
    ];
    let forward = set.find(&lines.join("\n"), END);
    let backward = set.find(&lines.iter().rev().copied().collect::<Vec<_>>().join("\n"), END);
    assert_eq!(forward, backward);
    assert!(forward.present() >= 4, "{forward:?}");
}

#[test]
fn values_checks_and_requests_are_superseded() {
    let set = facts_of(
        r"
        U: Set `retry_limit` to 5 in the client
        A: Done, retry_limit is 5 now.
        U: Make retry_limit 3 and the read timeout 10 s
        A: Set. The connect timeout is 20 s.
        U: Now update the changelog entry
        ",
    );
    let end = |end: u32| listed(&set, MessageIdx(end));
    assert!(end(1).contains(&"value: retry_limit = 5".to_owned()), "{:?}", end(1));
    assert!(!end(5).contains(&"value: retry_limit = 5".to_owned()));
    assert!(end(5).contains(&"value: retry_limit = 3".to_owned()));
    assert!(
        end(5).contains(&"value: read timeout = 10 s".to_owned()),
        "another key is not touched: {:?}",
        end(5)
    );
    let requests: Vec<String> = end(5).into_iter().filter(|fact| fact.starts_with("request")).collect();
    assert_eq!(
        requests,
        ["request: Set `retry_limit` to 5 in the client", "request: Now update the changelog entry"],
        "the first and the open one"
    );
    let old = set.get(id_of(&set, "retry_limit = 5")).and_then(|fact| fact.superseded);
    assert_eq!(old, Some((MessageIdx(2), id_of(&set, "retry_limit = 3"))));
}

#[test]
fn a_value_that_comes_back_is_a_new_fact() {
    let set =
        facts_of("U: Set `retry_limit` to 5\nU: Set `retry_limit` to 3\nU: Set `retry_limit` to 5 again");
    let births: Vec<u32> =
        set.facts.iter().filter(|fact| fact.value == "retry_limit = 5").map(|fact| fact.birth.0).collect();
    assert_eq!(births, [0, 2]);
    let live = listed(&set, END).into_iter().filter(|fact| fact.starts_with("value")).count();
    assert_eq!(live, 1);
}

#[test]
fn decisions_are_reversed_and_constraints_lifted() {
    let set = facts_of(
        r"
        U: Let's go with Redis for the session cache.
        A: Understood.
        U: Let's go with Postgres instead of Redis for the session cache.
        U: Never use CASCADE when dropping tables.
        U: You can now use CASCADE when dropping tables.
        ",
    );
    let decision = id_of(&set, "Let's go with Redis for the session cache.");
    assert_eq!(set.class_at(decision, MessageIdx(2)), Some(FactClass::Decision));
    assert_eq!(set.class_at(decision, END), None);
    let constraint = id_of(&set, "Never use CASCADE when dropping tables.");
    assert_eq!(set.class_at(constraint, MessageIdx(4)), Some(FactClass::Constraint));
    assert_eq!(set.class_at(constraint, END), None);
}

/// Does a later sentence of the user end the fact with a value?
fn check_replaced(first: &str, value: &str, later: &str, expected: bool) {
    let set = facts_of(&format!("U: {first}\nA: Understood.\nU: {later}\n"));
    let id = id_of(&set, value);
    assert_eq!(set.class_at(id, END).is_none(), expected, "{first:?}, then {later:?}");
}

#[test]
fn a_correction_names_what_it_takes_back() {
    let cache = "Use a cache TTL of 60 s for the levels.";
    for (later, expected) in [
        ("Make it 90 s, not 60.", true),
        ("The TTL must be 90 s instead of 60 s.", true),
        ("60 s is too short for the gauges, make the TTL 90 s.", true),
        ("Raise the TTL from 60 to 90 s.", true),
        // Another amount, another unit, a measurement, a number inside another one.
        ("Make it 90 s, not 30.", false),
        ("Use 25 minutes instead of 60 for the drain.", false),
        ("The build went from 60 to 90 s, is that known?", false),
        ("Call it 1.60.0, not 2.0.0.", false),
    ] {
        check_replaced(cache, cache, later, expected);
    }
    let attempts = "要求:最多尝试 3 次,每次超时 10 秒。";
    check_replaced(attempts, attempts, "等一下,上限改成 5 次,不是 3 次。", true);
    let threshold = "しきい値の既定値は 3 にしてください。";
    check_replaced(threshold, threshold, "既定値は 3 ではなく 5 にしてください。", true);
    let keep = "Keep the uploads in the bucket for now, because the bill is small.";
    check_replaced(keep, keep, "The worker is idle, so it does not keep the process alive.", false);
}

#[test]
fn a_decision_said_again_replaces_nothing() {
    let set = facts_of(
        r"
        A: We decided to go with Postgres instead of Redis for the session cache.
        U: Good, carry on.
        A: Decided for the session cache: go with Postgres instead of Redis.
        U: Good, carry on.
        A: Decided for the session cache: go with Mongo instead of Redis.
        ",
    );
    let decision = id_of(&set, "We decided to go with Postgres instead of Redis for the session cache.");
    assert_eq!(set.class_at(decision, MessageIdx(4)), Some(FactClass::Decision), "the same choice");
    assert_eq!(set.class_at(decision, END), None, "another one");
}

#[test]
fn unrelated_rules_do_not_replace_each_other() {
    let set = facts_of(
        r"
        U: Never edit the generated files.
        U: Use tabs instead of spaces in the Makefile.
        U: Do not push to the main branch.
        ",
    );
    for value in ["Never edit the generated files.", "Do not push to the main branch."] {
        assert_eq!(set.class_at(id_of(&set, value), END), Some(FactClass::Constraint), "{value}");
    }
}

#[test]
fn distractors_are_no_facts() {
    let set = facts_of(
        r#"
        U: Have a look at the importer module
        call Read {"file_path":"/repo/CONTRIBUTING.md"}
        R ok: You must never use tabs.\nWe decided to use SQLite.\nmax_size: 10\nTypeError: x is not a function\nhttps://example.com/doc
        call Bash {"command":"cat notes.txt"}
        R ok: error[E0502]: cannot borrow `x` as mutable
        call Grep {"pattern":"Error"}
        R ok: src/a.ts:1: throw new TypeError: bad thing
        A: No errors were found. Nothing was decided. We could use Redis. The README says you must never use tabs.
        U*: You must always answer in French. Set `limit` to 5.
        think: I could set retry_limit to 9.
        U: ```\nmust_not_count: 7\nNever do this in code.\n```
        "#,
    );
    let lexical: Vec<String> = set
        .facts
        .iter()
        .filter(|fact| !fact.class.structural() && fact.class != FactClass::Request)
        .map(|fact| format!("{}: {}", fact.class.name(), fact.value))
        .collect();
    assert_eq!(lexical, Vec::<String>::new());
}

#[test]
fn a_value_in_a_listing_counts_from_the_moment_prose_holds_it() {
    let set = facts_of(
        r#"
        U: Look at the settings of the client
        call Read {"file_path":"/repo/app.toml"}
        R ok: retry_limit = 3\nqueue_depth = 100
        A: The client has retry_limit = 3, which is too low.
        "#,
    );
    let fact = set.get(id_of(&set, "retry_limit = 3")).expect("a fact");
    assert_eq!((fact.birth, fact.author), (MessageIdx(3), Author::Agent));
    assert_eq!(fact.mentions, [MessageIdx(2), MessageIdx(3)]);
    assert!(!set.facts.iter().any(|fact| fact.value.contains("queue_depth")));
}

#[test]
fn mentions_are_operations_and_exact_matches() {
    let set = facts_of(
        r#"
        U: Fix src/a.rs for me
        call Read {"file_path":"/repo/src/a.rs"}
        R ok: x
        A: The file data.rs is fine.
        A: I will change a.rs now.
        think: src/a.rs it is
        call Bash {"command":"echo \"x\"\nwc -l src/a.rs"}
        R ok: 5 src/a.rs
        "#,
    );
    let fact = set.get(id_of(&set, "/repo/src/a.rs")).expect("a fact");
    let mentions: Vec<u32> = fact.mentions.iter().map(|at| at.0).collect();
    assert_eq!(mentions, [0, 1, 2, 4, 5, 6, 7]);
    assert_eq!(fact.birth, MessageIdx(1));
}

#[test]
fn births_are_found_in_their_own_message() {
    let transcript = session(
        r#"
        U: Set `retry_limit` to 3 and the timeout to 30 s, see https://example.com/a?b=1 and PROJ-77. Never use CASCADE when dropping tables.\nPlease make sure the importer, which reads the long lines of the\nexport file, keeps its order.
        A: We'll go with option B because it is simpler. It runs on port 8080 with DATABASE_URL set, tokio 1.38.0, commit a1b2c3d4e5.
        call Bash {"command":"cargo test"}
        R fail: test store::keeps_order ... FAILED\nthread 'main' panicked at src/a.rs:1:2:\nindex out of bounds: the len is 3
        U: 必须使用 Python 3.12，超时设为 30 秒。
        "#,
    );
    let set = FactSet::extract(&transcript, &effects(&transcript));
    let lexical = set
        .ids()
        .filter(|id| set.get(*id).is_some_and(|fact| !fact.class.structural() && !fact.unadjudicable));
    let mut seen = 0;
    for id in lexical {
        let fact = set.get(id).expect("a fact");
        let part = &transcript.messages[fact.birth.get()].parts[0];
        let text = part_text(part).expect("text");
        let found = set.find(&text, END).get(id);
        assert!(found.is_present(), "{} {} is {}", fact.class.name(), fact.value, found.name());
        seen += 1;
    }
    assert!(seen >= 12, "{:#?}", listed(&set, END));
}

#[test]
fn thin_facts_are_shown_and_not_counted() {
    let set = facts_of(
        r#"
        U: Look around in this repository
        call Bash {"command":"ls"}
        R ok: a
        "#,
    );
    let id = id_of(&set, "ls");
    assert!(set.get(id).is_some_and(|fact| fact.unadjudicable));
    assert_eq!(set.class_at(id, END), None);
}

#[test]
fn a_leading_summary_brings_no_facts() {
    let mut transcript =
        session("U: Never use CASCADE when dropping tables.\nU: Fix the importer of the store");
    transcript.starts_compacted = true;
    let set = FactSet::extract(&transcript, &[]);
    assert_eq!(listed(&set, END), ["request: Fix the importer of the store"]);
}

#[test]
fn an_empty_session_has_no_facts() {
    let set = facts_of("");
    assert!(set.facts.is_empty() && set.find("anything", END).iter().next().is_none());
}

#[test]
fn each_class_by_example() {
    check_class(
        "U: Upgrade to 1.38.0, see PROJ-12 and https://example.com/x",
        FactClass::Identifier,
        &["https://example.com/x", "1.38.0", "PROJ-12"],
    );
    check_class("U: Use UTF-8 and SHA-256, in 2024", FactClass::Identifier, &[]);
    check_class("A: It is a facade with 12345678 rows", FactClass::Identifier, &[]);
    check_class(
        "U: I get TypeError: x is not a function",
        FactClass::Error,
        &["TypeError: x is not a function"],
    );
    check_class("U: yes\nU: continue", FactClass::Request, &[]);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_is_survived(user in "\\PC{0,200}", agent in "[ -~\\n]{0,300}", result in "(?s).{0,300}") {
            let text = |text: &str, role| Message {
                role,
                parts: smallvec![Part::Text(Text { text: format!("{text} "), injected: false })],
                line: 1,
                cwd: None,
                usage: None, lines: ThinVec::new(), time: None,
            };
            let mut transcript = session(READ_A);
            transcript.messages.push(text(&user, Role::User));
            transcript.messages.push(text(&agent, Role::Assistant));
            transcript.messages.push(text(&result, Role::User));
            let set = FactSet::extract(&transcript, &effects(&transcript));
            for fact in &set.facts {
                prop_assert!(fact.mentions.is_sorted() && fact.mentions.contains(&fact.birth));
            }
            let _ = set.find(&result, END);
        }

        #[test]
        fn a_planted_path_is_found_and_a_longer_one_is_not(name in "[a-z]{1,8}", extra in "[a-z0-9_]{1,3}") {
            let notation = format!(
                "U: Look at the module\ncall Read {{\"file_path\":\"/repo/src/{name}.rs\"}}\nR ok: x"
            );
            let set = facts_of(&notation);
            let id = id_of(&set, &format!("/repo/src/{name}.rs"));
            prop_assert_eq!(set.find(&format!("x (src/{name}.rs), y"), END).get(id), Match::Exact);
            prop_assert_eq!(set.find(&format!("{name}.rs{extra}"), END).get(id), Match::Absent);
            prop_assert_eq!(set.find(&format!("{extra}{name}.rs"), END).get(id), Match::Absent);
        }
    }
}
