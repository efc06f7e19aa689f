//! What a model would be asked for a summary, as `compactor show --prompts` tells it.

use crate::support::Sandbox;
use serde_json::Value;

/// A session in which a person sets rules, an agent reads, edits and runs, and a result is long.
pub(crate) fn session() -> String {
    format!("{}/tests/data/prompts/session.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// What `compactor show --prompts` says with more arguments.
fn show(more: &[&str]) -> Value {
    let session = session();
    let all: Vec<&str> =
        ["show", &session, "--prompts", "--format", "json"].into_iter().chain(more.iter().copied()).collect();
    let ran = Sandbox::new().run(&all);
    assert_eq!(ran.code, 0, "{all:?}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("a document")
}

fn prompts(shown: &Value) -> Vec<&Value> {
    shown["prompts"].as_array().expect("a list").iter().collect()
}

fn text<'v>(prompt: &'v Value, field: &str) -> &'v str {
    prompt[field].as_str().expect("a text")
}

/// Windows at which each system compacts the session twice, and splits a turn where it does that.
pub(crate) const SYSTEMS: [(&str, &str); 9] = [
    ("standard", "900"),
    ("opal", "900"),
    ("pi", "700"),
    ("pi-0.73", "700"),
    ("operator-use", "500"),
    ("lis", "700"),
    ("lis-digests", "700"),
    ("sven", "1700"),
    ("sven-interactive", "1700"),
];

#[test]
fn each_system_asks_in_its_own_form() {
    for (profile, window) in SYSTEMS {
        let mut out = String::new();
        let mut last = String::new();
        for (strategy, cycle) in [("structured", "1"), ("structured", "2"), ("narrative", "2")] {
            let arguments = ["-p", profile, "-w", window, "-k", cycle, "-s", strategy];
            for prompt in prompts(&show(&arguments)) {
                out += &format!("===== {strategy}, cycle {cycle}, {}\n", text(prompt, "part"));
                // Lines of the prompt before it need not be read twice.
                let lines = text(prompt, "user").lines();
                let known = |line: &str| line.is_empty() || last.lines().any(|before| before == line);
                for (new, line) in lines.map(|line| (!known(line), line)) {
                    if new || cycle == "1" {
                        out += line;
                        out.push('\n');
                    }
                }
                text(prompt, "user").clone_into(&mut last);
            }
        }
        insta::assert_snapshot!(format!("prompts_{profile}"), out);
    }
}

#[test]
fn a_prompt_holds_what_leaves_and_the_summary_before_it_and_nothing_of_the_tail() {
    let log = std::fs::read_to_string(session()).expect("a log");
    let said: Vec<String> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(
            |message| {
                if message["role"] == "user" { text(&message, "content").to_owned() } else { String::new() }
            },
        )
        .collect();
    for (profile, window) in SYSTEMS {
        let first = show(&["-p", profile, "-w", window]);
        let second = show(&["-p", profile, "-w", window, "-k", "2"]);
        for shown in [&first, &second] {
            let all: String = prompts(shown).iter().map(|prompt| text(prompt, "user")).collect();
            let from = prompts(shown)[0]["from"].as_u64().expect("a number") as usize;
            let cut = shown["cut"]["message"].as_u64().expect("a number") as usize;
            for (at, words) in said.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
                // Of what lies before these messages a summary may quote.
                let leaves = (from..cut).contains(&at);
                assert!(!leaves || all.contains(words.as_str()), "{profile}: {words}");
                assert!(at < cut || !all.contains(words.as_str()), "{profile}: {words}");
            }
        }
        let summary = first["summary"][0].as_str().expect("a text");
        let goal = summary.lines().find(|line| line.contains("nightly import")).expect("the first request");
        let all: String = prompts(&second).iter().map(|prompt| text(prompt, "user")).collect();
        // Lis forgets.
        assert_eq!(all.contains(goal), !profile.starts_with("lis"), "{profile}: {goal}");
    }
}

#[test]
fn prompts_change_nothing_of_what_is_shown() {
    let mut with = show(&["-k", "2"]);
    with.as_object_mut().expect("an object").remove("prompts");
    let plain = Sandbox::new().run(&["show", &session(), "-k", "2", "--format", "json"]);
    let plain: Value = serde_json::from_str(&plain.stdout).expect("a document");
    assert_eq!(with, plain);
}

#[test]
fn instructions_of_ones_own_take_the_place_of_ours() {
    let sandbox = Sandbox::new();
    let check = |file: &str, expect: &dyn Fn(&str)| {
        sandbox.file("mine.txt", file);
        let path = sandbox.path("mine.txt").display().to_string();
        let shown = show(&["-w", "900", "-k", "2", "--prompt", &path]);
        expect(text(prompts(&shown)[0], "user"));
    };
    check("List the files: {files}\nUse {budget} tokens; {{}} and {x.y} stay.", &|user| {
        assert!(
            user.starts_with("<previous-summary>") && user.contains("</conversation>\n\nList the files: ")
        );
        assert!(user.contains("- /repo/src/import.py") && user.contains("{{}} and {x.y} stay."), "{user}");
        assert!(!user.contains("{budget}") && !user.contains("exactly these headings"), "{user}");
    });
    check("Before: {previous}\nNow: {conversation}\nShort!", &|user| {
        assert!(user.starts_with("Before: ") && user.ends_with("</conversation>\nShort!"), "{user}");
        assert!(user.matches("<conversation>").count() == 1, "{user}");
    });
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.file("hole.txt", "Use {budgets} tokens.");
    sandbox.file("empty.txt", " \n");
    let file = session();
    for (arguments, says) in [
        (&["--prompts", "-s", "truncate"][..], &["nobody is asked", "--strategy structured"][..]),
        (&["--prompts", "-s", "recorded"], &["nobody is asked"]),
        (&["--prompts", "--prompt", "hole.txt"], &["hole.txt", "{budgets}", "{budget}"]),
        (&["--prompts", "--prompt", "empty.txt"], &["empty.txt", "no instructions"]),
        (&["--prompts", "--prompt", "absent.txt"], &["absent.txt"]),
        (&["--prompt", "hole.txt"], &["--prompts"]),
    ] {
        let all: Vec<&str> = ["show", &file].into_iter().chain(arguments.iter().copied()).collect();
        let ran = sandbox.run(&all);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {}", ran.stderr);
        assert!(says.iter().all(|part| ran.stderr.contains(part)), "{arguments:?}: {}", ran.stderr);
    }
}
