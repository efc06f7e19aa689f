use super::*;
use crate::summarize::{SessionView, extractive::Extractive};
use crate::transcript::{Message, Origin, Part, Text, Transcript};
use smallvec::smallvec;
use thin_vec::ThinVec;

/// A session of one-line messages, one character of `roles` each.
fn session(roles: &str) -> Transcript {
    let messages = roles
        .chars()
        .enumerate()
        .map(|(index, role)| Message {
            role: match role {
                'S' => Role::System,
                'U' => Role::User,
                'T' => Role::Tool,
                _ => Role::Assistant,
            },
            parts: smallvec![Part::Text(Text {
                text: format!("Fix the parser of module {index}"),
                injected: false,
            })],
            line: index as u32 + 1,
            cwd: None,
            usage: None,
            lines: ThinVec::new(),
            time: None,
        })
        .collect();
    Transcript {
        id: "t".to_owned(),
        origin: Origin::Main,
        messages,
        links: Vec::new(),
        recorded: Vec::new(),
        continues: None,
        refusals: Vec::new(),
        format: None,
        model: None,
        context_window: None,
        tool_schema: None,
        starts_compacted: false,
        starts_midway: false,
    }
}

fn lists() -> FileLists {
    FileLists {
        read: vec!["/p/a.md".into()],
        modified: (0..30).map(|n| arcstr::format!("/p/src/file_{n}.rs")).collect(),
        deleted: Vec::new(),
    }
}

/// Runs a strategy over a whole session, with a summarizer that does not fail.
fn run(
    strategy: Strategy,
    roles: &str,
    previous: Option<&str>,
    budget: u64,
    rules: &TextRules,
    summarizer: &dyn Summarizer,
) -> Option<Generated> {
    attempt(strategy, roles, previous, budget, rules, summarizer).expect("a summary, where one was asked for")
}

fn attempt(
    strategy: Strategy,
    roles: &str,
    previous: Option<&str>,
    budget: u64,
    rules: &TextRules,
    summarizer: &dyn Summarizer,
) -> Result<Option<Generated>, Unwritten> {
    let transcript = session(roles);
    let view = SessionView::new(
        &transcript,
        crate::tokens::Counter::new(crate::tokens::Tokenizer::O200k),
        Vec::new(),
    );
    let lists = lists();
    let request = SummaryRequest {
        view: &view,
        messages: 0..transcript.messages.len(),
        turn_start: None,
        previous,
        told: &[],
        lists: &lists,
        cwd: Some("/p"),
        layout: Layout::Prose,
        list_form: ListForm::None,
        list_order: None,
        budget,
        aim: budget,
        handing: crate::summarize::Handing::own(),
    };
    generate(strategy, &request, rules, summarizer)
}

#[test]
fn names_are_read_back() {
    for strategy in Strategy::ALL {
        assert_eq!(strategy.name().parse(), Ok(strategy));
    }
    let error = "structred".parse::<Strategy>().unwrap_err();
    assert_eq!(
        error,
        "unknown strategy `structred`; use one of structured, narrative, truncate, emergency, none, or exec:COMMAND"
    );
}

#[test]
fn truncate_counts_roles_in_alphabetical_order() {
    let rules = TextRules { truncate_tags: false, ..TextRules::default() };
    for (roles, previous, wanted) in [
        ("UATAU", None, "[Compacted 5 messages: 2 assistant, 1 tool, 2 user]"),
        ("UATAU", Some("old"), "[Compacted 6 messages: 2 assistant, 1 tool, 3 user]"),
        ("SUA", None, "[Compacted 2 messages: 1 assistant, 1 user]"),
    ] {
        let generated = run(Strategy::Truncate, roles, previous, 100, &rules, &Extractive).unwrap();
        assert_eq!(generated.text, wanted);
        assert!(!generated.lists_in_text);
        assert_eq!(generated.metadata, Some(lists()));
    }
}

#[test]
fn truncate_holds_its_lists_to_the_budget() {
    let rules = TextRules::default();
    let whole = run(Strategy::Truncate, "UAUA", None, 1_000, &rules, &Extractive).unwrap();
    assert!(whole.text.starts_with(
        "[Compacted 4 messages: 2 assistant, 2 user]\n\n<read-files>\na.md\n</read-files>\n\n<modified-files>\nsrc/file_29.rs\nsrc/file_28.rs\n"
    ));
    assert!(!whole.text.contains("more"));
    let short = run(Strategy::Truncate, "UAUA", None, 120, &rules, &Extractive).unwrap();
    assert!(short.tokens <= 120 && short.tokens > 90, "{}", short.tokens);
    assert!(
        short.text.contains("src/file_29.rs\n") && !short.text.contains("src/file_0.rs\n"),
        "{}",
        short.text
    );
    assert!(short.text.contains(" more modified files"), "{}", short.text);
}

#[test]
fn emergency_is_the_notice_and_nothing_else() {
    let rules = TextRules { prefix: "never seen".to_owned(), ..TextRules::default() };
    let generated = run(Strategy::Emergency, "UAUA", Some("earlier"), 1_000, &rules, &Extractive).unwrap();
    assert_eq!(generated.text, emergency::NOTICE);
    assert_eq!((generated.metadata, generated.lists_in_text), (None, false));
    let cut = run(Strategy::Emergency, "UAUA", None, 10, &rules, &Extractive).unwrap();
    assert!(cut.tokens <= 10 && cut.text.ends_with('…'));
    assert_eq!(run(Strategy::Emergency, "UAUA", None, 1, &rules, &Extractive), None);
}

#[test]
fn nothing_leaves_nothing_behind() {
    let rules = TextRules::default();
    for strategy in Strategy::ALL {
        assert_eq!(run(strategy, "", None, 1_000, &rules, &Extractive), None);
    }
    assert_eq!(run(Strategy::None, "UAUA", Some("x"), 1_000, &rules, &Extractive), None);
}

/// A summarizer that says what it is told to, whatever the budget.
struct Says(Result<String, SummarizeError>);

impl Summarizer for Says {
    fn name(&self) -> &'static str {
        "says"
    }

    fn summarize(&self, _request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        self.0.clone()
    }
}

#[test]
fn a_summary_that_does_not_come_is_told_with_its_reason() {
    let rules = TextRules { truncate_tags: false, ..TextRules::default() };
    let failed = || "429 too many requests".to_owned();
    let small = SummarizeError::BudgetTooSmall { budget: 7 };
    for (says, error, reason) in [
        (
            Ok("  \n".to_owned()),
            Unwritten::Blank("  \n".to_owned(), 100),
            "the summarizer gave no text within 100 tokens",
        ),
        (Err(SummarizeError::Failed(failed())), Unwritten::Failed(failed()), "429 too many requests"),
        (Err(small.clone()), Unwritten::Nothing(small), "a budget of 7 tokens holds no summary"),
    ] {
        let result = attempt(Strategy::Structured, "UA", None, 100, &rules, &Says(says));
        assert_eq!(result, Err(error.clone()));
        assert_eq!(error.to_string(), reason);
    }
}

#[test]
fn the_wrapper_counts_and_a_long_answer_is_cut() {
    let rules = TextRules {
        prefix: "<summary>\n".to_owned(),
        suffix: "\n</summary>".to_owned(),
        ..TextRules::default()
    };
    let generated =
        run(Strategy::Narrative, "UA", None, 60, &rules, &Says(Ok("many words ".repeat(500)))).unwrap();
    assert!(generated.tokens <= 60 && generated.tokens > 50, "{}", generated.tokens);
    assert!(generated.text.starts_with("<summary>\nmany") && generated.text.ends_with("…\n</summary>"));
    assert_eq!(rules.unwrap("<summary>\nx\n</summary>"), "x");
    assert_eq!(rules.unwrap("x"), "x");
}

#[test]
fn what_the_code_of_a_system_wrote_is_no_content_of_the_next_summary() {
    let turn = "- Decision: `retry_limit` is 7 in `src/net.rs`, because db-7 drops idle sockets.";
    let history = "- Value: `batch_size` is 40 in `src/queue.rs` since the importer stalls above it.";
    let mut checked = 0;
    for name in crate::profile::Profile::names() {
        let profile = crate::profile::Profile::named(name).expect("a name").expect("valid");
        let (rules, texts) = (profile.text_rules(), &profile.summary_text);
        let empty: [&str; 0] = [];
        let users = [crate::harness::Entry::text(crate::harness::Role::User, "go on with the parser")];
        let own = [
            texts.joined(None, None, turn),
            texts.joined(Some(history), None, turn),
            texts.truncated(&users, &empty, &empty).map(|text| format!("{text}\n\n{turn}")),
            texts.emergency.as_ref().map(|text| format!("{text}\n\n{turn}")),
        ];
        for earlier in own.into_iter().flatten() {
            let alien: Vec<&str> = earlier.lines().filter(|line| rules.own.holds(line)).collect();
            // Wrapped or not: a summary of a split turn is made of parts that are not.
            for previous in [rules.wrap(&earlier), earlier.clone()] {
                for strategy in [Strategy::Structured, Strategy::Narrative] {
                    let text = run(strategy, "UAUA", Some(&previous), 800, &rules, &Extractive)
                        .expect("a text")
                        .text;
                    let inner = rules.unwrap(&text);
                    assert!(inner.contains("retry_limit"), "{name}: {text}");
                    for line in &alien {
                        let bare = line.trim().trim_end_matches('.');
                        assert!(!inner.contains(bare), "{name} {strategy:?}: {bare:?} in {text}");
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked >= 8, "{checked}");
}
