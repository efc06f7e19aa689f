use super::*;
use crate::fileops::ToolKind;
use crate::strategy::{Strategy, TextRules, generate};
use crate::summarize::{FileLists, ListForm, SessionView};
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::{
    Link, Message, MessageIdx, Origin, Outcome, Part, PartRef, Role, Text, ToolCall, ToolResult, Transcript,
};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// A session written by hand.
#[derive(Default)]
struct Session {
    messages: Vec<Message>,
    links: Vec<Link>,
    kinds: Vec<ToolKind>,
}

impl Session {
    fn push(&mut self, role: Role, parts: Vec<Part>) -> u32 {
        let at = self.messages.len() as u32;
        self.messages.push(Message { role, parts, line: at + 1, cwd: None, usage: None });
        at
    }

    fn user(mut self, text: &str) -> Self {
        self.push(Role::User, vec![Part::Text(Text { text: text.to_owned(), injected: false })]);
        self
    }

    fn injected(mut self, text: &str) -> Self {
        self.push(Role::User, vec![Part::Text(Text { text: text.to_owned(), injected: true })]);
        self
    }

    fn agent(mut self, text: &str) -> Self {
        self.push(Role::Assistant, vec![Part::Text(Text { text: text.to_owned(), injected: false })]);
        self
    }

    fn call(mut self, kind: ToolKind, name: &str, arguments: String, exit: i32, output: &str) -> Self {
        let id = format!("c{}", self.links.len());
        let call = self.push(
            Role::Assistant,
            vec![Part::Call(ToolCall { id: id.clone(), name: name.to_owned(), arguments })],
        );
        let outcome = if exit == 0 { Outcome::Ok } else { Outcome::Failed };
        let result =
            ToolResult { call_id: id, text: output.to_owned(), outcome, exit_code: Some(exit), images: 0 };
        let result = self.push(Role::Tool, vec![Part::Result(result)]);
        let at = |message| PartRef { message: MessageIdx(message), part: 0 };
        self.links.push(Link { call: at(call), result: Some(at(result)) });
        self.kinds.push(kind);
        self
    }

    fn run(self, command: &str, exit: i32, output: &str) -> Self {
        let arguments = serde_json::json!({ "command": command }).to_string();
        self.call(ToolKind::Shell, "bash", arguments, exit, output)
    }

    /// Turns of work that has nothing to do with anything.
    fn filler(mut self, round: usize, turns: usize) -> Self {
        for turn in 0..turns {
            let n = round * 100 + turn;
            self = self
                .user(&format!("Look at widget {n} in the gallery and tidy up its margins"))
                .agent(&format!("Reading the styles of widget {n}."))
                .run(&format!("cat gallery/widget_{n}.css"), 0, &".a { margin: 1px }\n".repeat(30))
                .agent(&format!("Tidied widget {n}: its margins follow the gallery grid now. The sheet `gallery/widget_{n}.css` lost two rules."));
        }
        self
    }

    fn build(self) -> (Transcript, Vec<ToolKind>) {
        let transcript = Transcript {
            id: "t".to_owned(),
            origin: Origin::Main,
            messages: self.messages,
            links: self.links,
            recorded: Vec::new(),
            model: None,
            context_window: None,
            tool_schema: None,
            starts_compacted: false,
        };
        assert_eq!(transcript.check(), Vec::<String>::new());
        (transcript, self.kinds)
    }
}

/// One summary of a range.
struct Ask<'a> {
    messages: Range<usize>,
    previous: Option<&'a str>,
    lists: FileLists,
    layout: Layout,
    form: ListForm,
    budget: u64,
    turn_start: Option<usize>,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self {
            messages: 0..usize::MAX,
            previous: None,
            lists: FileLists::default(),
            layout: Layout::GoalProgress,
            form: ListForm::Tags,
            budget: 1_000,
            turn_start: None,
        }
    }
}

fn summarize(session: &(Transcript, Vec<ToolKind>), ask: &Ask<'_>) -> Result<String, SummarizeError> {
    let index = TokenIndex::new(&session.0, Tokenizer::O200k);
    let view = SessionView {
        transcript: &session.0,
        tokens: &index,
        tokenizer: Tokenizer::O200k,
        kinds: session.1.clone(),
        digest: OnceLock::new(),
    };
    let end = ask.messages.end.min(session.0.messages.len());
    let request = SummaryRequest {
        view: &view,
        messages: ask.messages.start.min(end)..end,
        turn_start: ask.turn_start,
        previous: ask.previous,
        lists: &ask.lists,
        cwd: Some("/home/me/app"),
        layout: ask.layout,
        list_form: ask.form,
        budget: ask.budget,
    };
    Extractive.summarize(&request)
}

fn lists() -> FileLists {
    FileLists {
        read: vec!["/home/me/app/README.md".to_owned(), "/etc/hosts".to_owned()],
        modified: vec!["/home/me/app/src/a.rs".to_owned(), "/home/me/app/src/b.rs".to_owned()],
        deleted: vec!["/home/me/app/src/old.rs".to_owned()],
    }
}

fn sample() -> Session {
    Session::default()
        .user("Port the parser in src/parser.rs to the new lexer. Never change the public API of the crate.")
        .agent("I'll look at the parser first.")
        .run("cargo test -p parser", 101, "   Compiling parser\nerror[E0502]: cannot borrow `self.tokens` as mutable\n  --> src/parser.rs:88:9\ntest result: FAILED. 3 passed; 2 failed")
        .agent("The borrow in `next_token` is too long. I decided to clone the span instead of holding a reference because the lexer is borrowed mutably.")
        .run("cargo test -p parser 2>&1 | tail -5", 0, "running 5 tests\ntest result: ok. 5 passed; 0 failed")
        .agent("Ported the parser to the new lexer; all 5 tests pass.\n\n## Next steps\n- Remove the old lexer in `src/lexer_old.rs`\n- Set MAX_DEPTH to 64")
}

const LAYOUTS: [Layout; 3] = [Layout::SixSections, Layout::GoalProgress, Layout::Prose];

#[test]
fn a_small_session_in_every_layout() {
    let session = sample().build();
    for layout in LAYOUTS {
        let text = summarize(&session, &Ask { layout, lists: lists(), ..Ask::default() }).unwrap();
        for wanted in [
            "Port the parser in src/parser.rs to the new lexer",
            "Never change the public API of the crate",
            "I decided to clone the span instead of holding a reference because the lexer is borrowed mutably",
            "`cargo test -p parser` ok: test result: ok. 5 passed; 0 failed",
            "Remove the old lexer in `src/lexer_old.rs`",
            "Set MAX_DEPTH to 64",
            "src/a.rs",
            "/etc/hosts",
            "src/old.rs",
        ] {
            assert!(text.contains(wanted), "{layout:?} lacks {wanted:?}:\n{text}");
        }
        // The failure was cleared by the later run of the same command.
        assert!(!text.contains("Failing:"), "{text}");
        assert!(!text.contains("I'll look at the parser first"), "{text}");
    }
}
