use super::*;
use crate::context::{Context, Entry};
use crate::replay::effects;
use crate::score::Scorer;
use crate::testing::transcript;
use crate::tokens::Tokenizer;
use crate::transcript::Role;

const BEFORE: &str = "\
U: Fix the retry of the uploads in the parser module. Never touch src/generated/schema.rs.
A{a=Read /w/src/upload.rs,b=Read /w/src/retry.rs}: I look at both.
T(a): fn upload() { retry(); } x200
T(b): fn retry() {} x200
A: The upload limit is 7 MB.
";

/// What happens behind a compaction after `BEFORE` whose summary is `summary`, up to message `stop` counted from there.
fn after(log: &str, summary: Option<&str>, stop: Option<usize>) -> Afterwards {
    let session = transcript(&format!("{BEFORE}{log}"));
    let facts = FactSet::extract(&session, &effects(&session));
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let from = BEFORE.lines().count();
    let text = |text: &str| Entry::Summary { role: Role::User, text: text.to_owned() };
    let end = MessageIdx::new(from);
    let context =
        Context { entries: summary.map(text).into_iter().collect(), now: end, ..Context::default() };
    let cycle = Cycle {
        context: &context,
        held: &session,
        began: MessageIdx(0),
        archive: &[],
        prefix_end: end,
        compacted_end: end,
        metadata: None,
        writes_lists: false,
        newest_request: None,
        opaque: summary.is_none(),
    };
    let score = Scorer::new(&session, &facts).score(&cycle);
    let stop = MessageIdx::new(stop.map_or(session.messages.len(), |stop| from + stop));
    afterwards(&session, &facts, &tokens, &cycle, &score.fates, stop)
}

const LOG: &str = "\
A{c=Bash cargo test}: First the tests.
T(c): ok
A{d=Read /w/src/upload.rs}: I read it again.
T(d): fn upload() { retry(); } x200
A{e=Edit /w/src/retry.rs}: The upload limit is 7 MB, so I edit.
T(e): The file has been updated
U: I said never touch src/generated/schema.rs!
A{f=Write /w/src/new.rs}: A new one.
T(f): File created
";

#[test]
fn reads_edits_and_what_is_said_again() {
    let found = after(LOG, Some("src/upload.rs was read. The upload limit is 7 MB."), None);
    let expected = Afterwards {
        calls: 4,
        calls_to_edit: Some(2),
        rereads: 1,
        reread_tokens: found.reread_tokens,
        rereads_named: 1,
        // The new file was not known before.
        edits: 1,
        edits_named: 0,
        // Two files and the limit.
        used: 3,
        used_kept: 2,
        repeated: 1,
        repeated_kept: 0,
    };
    assert_eq!(found, expected, "{found:?}");
    assert!(found.reread_tokens > 100, "{found:?}");
}

#[test]
fn what_an_unreadable_summary_named_is_not_claimed() {
    let found = after(LOG, None, None);
    assert_eq!((found.rereads, found.edits, found.used, found.repeated), (1, 1, 3, 1));
    let kept = (found.rereads_named, found.edits_named, found.used_kept, found.repeated_kept);
    assert_eq!(kept, (0, 0, 0, 0));
}

#[test]
fn the_next_compaction_ends_the_look() {
    for (stop, calls, to_edit, rereads, repeated) in [
        (0, 0, None, 0, 0),
        (2, 1, None, 0, 0),
        (4, 2, None, 1, 0),
        (6, 3, Some(2), 1, 0),
        (7, 3, Some(2), 1, 1),
    ] {
        let found = after(LOG, Some("Nothing."), Some(stop));
        let seen = (found.calls, found.calls_to_edit, found.rereads, found.repeated);
        assert_eq!(seen, (calls, to_edit, rereads, repeated), "up to message {stop}");
    }
}

#[test]
fn an_agent_or_a_harness_that_repeats_a_rule_is_not_the_user() {
    for line in ["A: I will never touch src/generated/schema.rs.", "U*: never touch src/generated/schema.rs"]
    {
        assert_eq!(after(line, Some("Nothing."), None).repeated, 0, "{line}");
    }
}
