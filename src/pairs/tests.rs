//! Repair of pairs, row by row.

use super::{PairRules, answered, repaired};
use crate::harness::{Block, Call, Entry, Outcome, Role};
use crate::profile::Profile;

fn rules(profile: &str) -> PairRules {
    Profile::named(profile).expect("an embedded profile").expect("valid").pairs
}

/// Entries in short: `U`, `S`, `A:x,y` a reply with calls, `T:x` a result.
fn entries(notation: &str) -> Vec<Entry<'static>> {
    notation
        .split_whitespace()
        .map(|word| {
            let (kind, ids) = word.split_once(':').unwrap_or((word, ""));
            let ids: Vec<String> = ids.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
            match kind {
                "S" => Entry::text(Role::System, "rules"),
                "U" => Entry::text(Role::User, "words"),
                "A" => {
                    let call = |id: &String| {
                        Block::Call(Call {
                            id: id.clone().into(),
                            name: "tool".into(),
                            arguments: "{}".into(),
                            kind: None,
                        })
                    };
                    let text = Block::Text("reply".into());
                    Entry::message(
                        Role::Assistant,
                        std::iter::once(text).chain(ids.iter().map(call)).collect(),
                    )
                }
                "T" => {
                    let result = |id: &String| {
                        Block::Result(Outcome {
                            call_id: Some(id.clone().into()),
                            name: None,
                            texts: vec!["output".into()],
                            images: Vec::new(),
                            error: false,
                        })
                    };
                    Entry::message(Role::Tool, ids.iter().map(result).collect())
                }
                other => panic!("no kind {other}"),
            }
        })
        .collect()
}

/// The same notation; `!` marks a result that was made up.
fn shown(entries: &[Entry<'_>]) -> String {
    let one = |entry: &Entry<'_>| {
        let calls: Vec<&str> = entry.calls().map(|call| &*call.id).collect();
        let results: Vec<String> = entry
            .results()
            .map(|it| format!("{}{}", it.call_id.as_deref().unwrap_or("?"), if it.error { "!" } else { "" }))
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

#[track_caller]
fn check(profile: &str, notation: &str, expect: &str) {
    let rules = rules(profile);
    let ours = repaired(answered(entries(notation), &rules), &rules);
    assert_eq!(shown(&ours), expect, "{profile}: {notation}");
}

#[test]
fn opal_puts_results_behind_their_calls_and_makes_up_missing_ones() {
    check("opal", "U A:x T:x A", "U A:x T:x A");
    check("opal", "U A:x U", "U A:x T:x! U");
    check("opal", "U A:x,y U", "U A:x,y T:x! T:y! U");
    check("opal", "U T:z A", "U A");
    check("opal", "U A:x,y U T:y T:x", "U A:x,y T:x T:y U");
    check("opal", "U A:x T:x T:x A", "U A:x T:x A");
    // A result before its call is none of it.
    check("opal", "U T:x A:x U", "U A:x T:x! U");
    // A tail that begins with results: the model does not see them.
    check("opal", "U T:x T:y A U", "U A U");
    check("opal", "U A", "U A");
}

#[test]
fn lis_drops_calls_and_gives_the_user_the_last_word() {
    check("lis", "S U A U", "S U A U");
    check("lis", "S U A", "S U A U");
    check("lis", "S U A:x", "S U");
    check("lis", "S U A:x T:x", "S U A:x T:x U");
    check("lis", "S U T:x U", "S U A U");
    check("lis", "S U A:x,y T:x U", "S U A:x T:x U");
    // As many results as calls: wrong ids pass.
    check("lis", "S U A:x T:z U", "S U A:x T:z U");
}

#[test]
fn systems_that_never_part_pairs_repair_nothing() {
    for profile in ["standard", "pi", "operator-use", "sven"] {
        check(profile, "U T:z A:x U", "U T:z A:x U");
    }
}
