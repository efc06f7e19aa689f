//! Repair of pairs, row by row.

use super::{PairRules, answered, repaired, unanswered};
use crate::harness::{Block, Call, Entry, Outcome, Role};
use crate::profile::Profile;

fn rules(profile: &str) -> PairRules {
    Profile::named(profile).expect("an embedded profile").expect("valid").pairs
}

/// Entries in short: `S`, `U`, `A:x,y` a reply with calls, `T:x` a result, `T:x!` a failed one. Each result says which it
/// is, in order.
fn entries(notation: &str) -> Vec<Entry<'static>> {
    let ids = |list: &str| list.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mut results = 0;
    notation
        .split_whitespace()
        .map(|word| {
            let (kind, list) = word.split_once(':').unwrap_or((word, ""));
            match kind {
                "S" => Entry::text(Role::System, "rules"),
                "U" => Entry::text(Role::User, "words"),
                "A" => {
                    let call = |id: String| {
                        Block::Call(Call {
                            id: id.into(),
                            name: "tool".into(),
                            arguments: "{}".into(),
                            kind: None,
                        })
                    };
                    let text = Block::Text("reply".into());
                    Entry::message(
                        Role::Assistant,
                        std::iter::once(text).chain(ids(list).into_iter().map(call)).collect(),
                    )
                }
                "T" => {
                    let mut result = |id: String| {
                        results += 1;
                        Block::Result(Outcome {
                            call_id: Some(id.trim_end_matches('!').to_owned().into()),
                            name: None,
                            texts: vec![results.to_string().into()],
                            images: Vec::new(),
                            error: id.ends_with('!'),
                        })
                    };
                    Entry::message(Role::Tool, ids(list).into_iter().map(&mut result).collect())
                }
                other => panic!("no kind {other}"),
            }
        })
        .collect()
}

/// The same notation, with the text of each result: its number, or what was made up.
fn shown(entries: &[Entry<'_>]) -> String {
    let one = |entry: &Entry<'_>| {
        let calls: Vec<&str> = entry.calls().map(|call| &*call.id).collect();
        let results: Vec<String> = entry
            .results()
            .map(|it| {
                let failed = if it.error { "!" } else { "" };
                format!("{}{failed}={}", it.call_id.as_deref().unwrap_or("?"), it.texts.concat())
            })
            .collect();
        match entry.role {
            Role::System => "S".to_owned(),
            Role::User => "U".to_owned(),
            Role::Tool => format!("T:{}", results.join(",")),
            _ if calls.is_empty() => "A".to_owned(),
            _ => format!("A:{}", calls.join(",")),
        }
    };
    entries.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Rows: what it is about, entries, and the entries as they go into a request.
#[track_caller]
fn check(profile: &str, rows: &[(&str, &str, &str)]) {
    let rules = rules(profile);
    for (name, notation, expect) in rows {
        let ours = repaired(answered(entries(notation), &rules), &rules);
        assert_eq!(shown(&ours), *expect, "{profile}, {name}");
    }
}

#[test]
fn opal_puts_results_behind_their_calls_and_makes_up_missing_ones() {
    check(
        "opal",
        &[
            ("whole pairs stay", "U A:x T:x A", "U A:x T:x=1 A"),
            ("a call without a result", "U A:x U", "U A:x T:x!=[Aborted by user] U"),
            ("two of one reply", "U A:x,y U", "U A:x,y T:x!=[Aborted by user] T:y!=[Aborted by user] U"),
            ("the result of an unknown call", "U T:z A", "U A"),
            (
                "results behind a later request, in the order of calls",
                "U A:x,y U T:y T:x!",
                "U A:x,y T:x!=2 T:y=1 U",
            ),
            ("a second result of a call", "U A:x T:x T:x! A", "U A:x T:x=1 A"),
            ("a reply without calls", "U A", "U A"),
            ("a result before its call", "U T:x A:x U", "U A:x T:x!=[Aborted by user] U"),
            (
                "an id of two replies: the second has no result",
                "U A:x T:x A:x T:x",
                "U A:x T:x=1 A:x T:x!=[Error: tool result missing]",
            ),
            ("an id twice in one reply", "U A:x,x T:x T:x", "U A:x,x T:x=1"),
            ("a tail that begins with results", "U T:x T:y A U", "U A U"),
        ],
    );
}

#[test]
fn a_request_of_opal_has_a_result_for_each_call_before_it_is_aborted() {
    let rules = rules("opal");
    for (name, notation, expect) in [
        ("whole pairs stay", "U A:x T:x A", "U A:x T:x=1 A"),
        ("a call without a result", "U A:x U", "U A:x T:x!=[Error: tool result missing] U"),
        (
            "two of one reply",
            "U A:x,y U",
            "U A:x,y T:x!=[Error: tool result missing] T:y!=[Error: tool result missing] U",
        ),
        ("a result before its call", "U T:x A:x U", "U A:x T:x!=[Error: tool result missing] U"),
    ] {
        assert_eq!(shown(&repaired(entries(notation), &rules)), expect, "{name}");
    }
    for (name, notation, expect) in [
        ("none", "U A:x T:x A", &[][..]),
        ("newest reply first, its calls in order", "U A:x,y U A:z,v U", &["z", "v", "x", "y"]),
        ("of those in part answered", "U A:x,y T:y U", &["x"]),
        ("an id of two replies is answered", "U A:x A:x T:x", &[]),
    ] {
        assert_eq!(unanswered(&entries(notation)), expect, "unanswered, {name}");
    }
}

#[test]
fn lis_drops_calls_and_gives_the_user_the_last_word() {
    check(
        "lis",
        &[
            ("the system prompt alone", "S", "S"),
            ("a talk", "S U A U", "S U A U"),
            ("a reply at the end", "S U A", "S U A U"),
            ("calls at the end", "S U A:x", "S U"),
            ("a pair and nothing behind it", "S A:x T:x", "S A:x T:x=1 U"),
            ("two pairs", "S A:x T:x A:y T:y", "S A:x T:x=1 A:y T:y=2 U"),
            ("a result without a call", "S U T:x U", "S U A U"),
            ("fewer results than calls", "S U A:x,y T:x U", "S U A:x T:x=1 U"),
            ("as many results as calls: wrong ids pass", "S U A:x T:z U", "S U A:x T:z=1 U"),
            ("the first entry is no parent", "A:x T:x U", "A:x A U"),
        ],
    );
}

#[test]
fn systems_that_never_part_pairs_repair_nothing() {
    for profile in ["standard", "pi", "operator-use", "sven"] {
        check(profile, &[("nothing is whole", "U T:z A:x U", "U T:z=1 A:x U")]);
    }
}
