//! Rows of what the code of each system writes around summaries, with words of our own.

use super::*;
use crate::harness::{Block, Outcome};
use crate::profile::section;
use crate::testing::part;
use std::borrow::Cow;

const NONE: &[&str] = &[];

fn rules(name: &str) -> SummaryText {
    section::<SummaryText>(part(name), "summary_text").expect("valid rules")
}

#[test]
fn opal_counts_messages_by_role_in_the_order_of_their_names() {
    let text = |role| Entry::text(role, "x");
    let odd = Entry { label: Cow::Borrowed("tool_call"), ..text(Role::Unknown) };
    let table = [
        (vec![], "[Compacted 0 messages: ]"),
        (vec![text(Role::User)], "[Compacted 1 messages: 1 user]"),
        (
            vec![text(Role::User), text(Role::Assistant), text(Role::User)],
            "[Compacted 3 messages: 1 assistant, 2 user]",
        ),
        (
            vec![text(Role::User), odd, text(Role::Tool), text(Role::System), text(Role::Assistant)],
            "[Compacted 5 messages: 1 assistant, 1 system, 1 tool_call, 1 tool_result, 1 user]",
        ),
    ];
    for (entries, expect) in table {
        assert_eq!(rules("opal").truncated(&entries, NONE, NONE).as_deref(), Some(expect));
    }
    for name in ["pi", "pi-0.73", "operator-use", "lis", "sven"] {
        assert_eq!(rules(name).truncated(&[], NONE, NONE), None, "{name}");
    }
}

#[test]
fn roles_can_have_an_order_of_their_own() {
    let mut opal = rules("opal");
    if let Some(form) = &mut opal.truncate {
        form.order = vec!["system".to_owned(), "user".to_owned()];
    }
    let entries = [Role::Tool, Role::User, Role::Assistant, Role::System].map(|role| Entry::text(role, ""));
    assert_eq!(
        opal.truncated(&entries, NONE, NONE).as_deref(),
        Some("[Compacted 4 messages: 1 system, 1 user, 1 assistant, 1 tool_result]")
    );
}

#[test]
fn file_lists_stand_behind_and_leave_nothing_where_they_are_empty() {
    let read = "\n\n<read-files>\na b.rs\nc.rs\n</read-files>";
    let modified = "\n\n<modified-files>\nd.rs\n</modified-files>";
    for name in ["opal", "pi", "pi-0.73", "operator-use"] {
        let rules = rules(name);
        let table: [(&str, &[&str], &[&str], String); 4] = [
            ("no files", &[], &[], String::new()),
            ("files read", &["a b.rs", "c.rs"], &[], read.to_owned()),
            ("files modified", &[], &["d.rs"], modified.to_owned()),
            ("both", &["a b.rs", "c.rs"], &["d.rs"], format!("{read}{modified}")),
        ];
        for (row, seen, changed, expect) in table {
            assert_eq!(rules.footer(seen, changed), expect, "{name}, {row}");
        }
    }
    for name in ["lis", "sven"] {
        assert_eq!(rules(name).footer(&["a"], &["b"]), "", "{name}");
    }
    assert_eq!(
        rules("opal").truncated(&[Entry::text(Role::User, "x")], &["{files}"], &[]).as_deref(),
        Some("[Compacted 1 messages: 1 user]\n\n<read-files>\n{files}\n</read-files>")
    );
}

#[test]
fn summaries_of_a_split_turn_are_joined() {
    let bold = "\n\n---\n\n**Turn Context (split turn):**\n\nT";
    let opal = "## Turn Context (split turn)\n\nT";
    // System, history, earlier summary, text.
    let table = [
        ("opal", Some("H"), None, Some(format!("## History Summary\n\nH\n\n---\n\n{opal}"))),
        ("opal", Some(""), None, Some(format!("## History Summary\n\n\n\n---\n\n{opal}"))),
        ("opal", None, None, Some(opal.to_owned())),
        ("opal", None, Some("S"), Some(opal.to_owned())),
        ("pi", Some("H"), Some("S"), Some(format!("H{bold}"))),
        ("pi", None, Some("S"), Some(format!("S{bold}"))),
        ("pi", None, None, Some(format!("No prior history.{bold}"))),
        ("pi-0.73", Some("H"), None, Some(format!("H{bold}"))),
        ("pi-0.73", None, Some("S"), Some(format!("No prior history.{bold}"))),
        ("operator-use", None, Some("S"), Some(format!("No prior history.{bold}"))),
        ("operator-use", Some(""), None, Some(bold.to_owned())),
        ("lis", Some("H"), None, None),
        ("sven", Some("H"), None, None),
    ];
    for (name, history, previous, expect) in table {
        assert_eq!(rules(name).joined(history, previous, "T"), expect, "{name} {history:?} {previous:?}");
    }
}

#[test]
fn wrappers_go_on_and_come_off() {
    let pi = "The conversation history before this point was compacted into the following summary:\n\n\
              <summary>\nS\n</summary>";
    let table = [
        ("opal", "[Conversation summary — older messages were compacted]\n\nS"),
        ("pi", pi),
        ("pi-0.73", pi),
        ("operator-use", pi),
        ("lis", "Here is context from our earlier conversation:\nS"),
        ("sven", "S"),
    ];
    for (name, expect) in table {
        let rules = rules(name);
        assert_eq!(rules.wrap("S"), expect, "{name}");
        assert_eq!(rules.unwrap(expect), "S", "{name}");
        assert_eq!(rules.unwrap("of our own"), "of our own", "{name}");
    }
    let opal = rules("opal").prefix;
    assert_eq!((opal.chars().count(), opal.len()), (56, 58));
    assert_eq!(
        rules("lis").wrap_parent("P").as_deref(),
        Some("Here is context from the previous conversation session:\nP")
    );
    assert_eq!(rules("lis").wrap_parent(""), None);
    assert_eq!(rules("pi").wrap_parent("P"), None);
}

#[test]
fn an_earlier_summary_is_known_by_how_the_first_message_begins() {
    let summary = "[Conversation summary of our own]\n\nS";
    let result = Entry::message(
        Role::Tool,
        vec![Block::Result(Outcome {
            call_id: None,
            name: None,
            texts: vec![Cow::Borrowed(summary)],
            images: Vec::new(),
            error: false,
        })],
    );
    let user = Entry::text(Role::User, "q");
    let table = [
        (vec![Entry::text(Role::User, summary), user.clone()], Some(summary)),
        (vec![Entry::text(Role::Assistant, summary)], Some(summary)),
        (vec![result], Some(summary)),
        (vec![Entry::text(Role::User, " [Conversation summary")], None),
        (vec![Entry::message(Role::User, vec![])], None),
        (vec![user, Entry::text(Role::User, summary)], None),
        (vec![], None),
    ];
    for (entries, expect) in table {
        assert_eq!(rules("opal").previous(&entries), expect);
        assert_eq!(rules("sven").previous(&entries), None);
    }
}

#[test]
fn only_sven_has_a_notice_of_its_own() {
    for name in ["opal", "pi", "pi-0.73", "operator-use", "lis"] {
        assert_eq!(rules(name).emergency, None, "{name}");
    }
    let notice = rules("sven").emergency.expect("a notice");
    assert_eq!(notice.len(), 236);
    assert!(notice.starts_with("[Context emergency-compacted: ") && notice.ends_with(']'));
}
