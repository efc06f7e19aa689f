use super::*;
use crate::summarize::llm::{End, ModelRules, Usage};
use crate::summarize::prompt::Prompt;

fn call(user: &str) -> Call {
    let rules = ModelRules { model: Some("m".to_owned()), ..ModelRules::UNSAID };
    Call::new(&rules, 100, Prompt { system: "s".to_owned(), user: user.to_owned(), conversation: 0..0 })
        .expect("a call")
}

#[test]
fn what_is_kept_is_found_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let cassettes = Cassettes::new(&dir.path().join("made/on/the/way"));
    let usage = Usage { input: 3, output: 4 };
    let reply = |text: &str| {
        let (text, model) = (text.to_owned(), "m-1".to_owned());
        Tape::Reply(Reply { text, reasoning: true, end: End::Length, usage, model })
    };
    let tapes = [
        reply("a"),
        Tape::Overflow { limit: Some(5), used: None, text: "too long".to_owned() },
        Tape::Output { limit: 0, text: "too much".to_owned() },
    ];
    for (number, tape) in tapes.iter().enumerate() {
        let call = call(&format!("\u{1F600} \"quoted\"\n{number}"));
        assert_eq!(cassettes.find(&call.name()), Ok(None));
        cassettes.keep(&call, &reply("an earlier one")).expect("it is kept");
        cassettes.keep(&call, tape).expect("it is kept");
        assert_eq!(cassettes.find(&call.name()).as_ref(), Ok(&Some(tape.clone())));
    }
    let found = cassettes.inventory().expect("a directory");
    assert_eq!((found.sound.len(), found.damaged.len(), found.left.len()), (3, 0, 0));
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let cassettes = Cassettes::new(dir.path());
    let (one, other) = (call("one"), call("other"));
    let tape = Tape::Output { limit: 1, text: String::new() };
    cassettes.keep(&one, &tape).expect("it is kept");
    let path = |call: &Call| dir.path().join(format!("{}.json", call.name()));
    fs::copy(path(&one), path(&other)).expect("a copy");
    assert!(cassettes.find(&other.name()).expect_err("renamed").cause.contains(&one.name()));
    let text = String::from_utf8(read(&path(&one)).expect("a file")).expect("text");
    for (damaged, cause) in [
        (text.replace("\"version\": 1", "\"version\": 2"), "version 2"),
        (text.replace("\"one\"", "\"two\""), "was changed"),
        (text.replace("\"limit\"", "\"key\": 1, \"limit\""), "no cassette"),
        (text.replace("\"call\"", "\"headers\": {}, \"call\""), "no cassette"),
        (String::new(), "no cassette"),
    ] {
        #[expect(clippy::disallowed_methods, reason = "a test damages a file")]
        fs::write(path(&one), damaged).expect("a file");
        assert!(cassettes.find(&one.name()).expect_err(cause).cause.contains(cause));
    }
    assert_eq!(cassettes.inventory().expect("a directory").damaged.len(), 2);
}
