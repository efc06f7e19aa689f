use super::*;
use crate::context::{Context, Entry};
use crate::facts::FactSet;
use crate::replay::effects;
use crate::score::{CycleScore, Scorer};
use crate::testing::transcript;
use crate::tokens::Tokenizer;
use crate::transcript::{Recorded, Role};

const BEFORE: &str = "\
U: Fix the retry of the uploads. Never touch src/generated/schema.rs.
A{a=Read /w/src/upload.rs}: I look at it.
T(a): fn upload() { retry(); } x200
A{b=Read /w/src/retry.rs}: And at the other.
T(b): fn retry() {} x200
A{c=Bash cargo test}: The tests.
T!(c): error[E0308]: mismatched types
A: The upload limit is 7 MB. The page size is 9 KB.
";

/// Scores a summary of everything in `BEFORE`, with what follows behind it.
fn scored(after: &str, summary: &str, kept: &[usize], recorded: &[usize]) -> (CycleScore, Rereads, FactSet) {
    let mut session = transcript(&format!("{BEFORE}{after}"));
    session.recorded = recorded.iter().map(|at| Recorded::at(MessageIdx::new(*at))).collect();
    let facts = FactSet::extract(&session, &effects(&session));
    let tokens = TokenIndex::new(&session, Tokenizer::Heuristic);
    let mut entries = vec![Entry::Summary { role: Role::User, text: summary.to_owned() }];
    entries.extend(kept.iter().map(|at| Entry::Kept(MessageIdx::new(*at))));
    let end = MessageIdx::new(BEFORE.lines().count());
    let context = Context { entries, now: end, ..Context::default() };
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
        opaque: false,
    };
    let score = Scorer::new(&session, &facts).score(&cycle);
    let rereads = Rereads::of(&returns(&session, &facts, &tokens, &cycle, horizon(&session, end)));
    (score, rereads, facts)
}

/// How the fact with a value comes back, to the horizon and to the end.
fn check_need(after: &str, value: &str, near: Need, to_end: Need) {
    let (score, _, facts) = scored(after, "Nothing of it.", &[], &[]);
    let fate = score
        .fates
        .iter()
        .find(|fate| facts.get(fate.id).is_some_and(|fact| fact.value.contains(value)))
        .unwrap_or_else(|| panic!("no fact with {value}"));
    assert_eq!((fate.need, fate.need_to_end), (near, to_end), "{value} in:\n{after}");
}

#[test]
fn who_brings_a_fact_up_first_decides() {
    use Need::{Refetched, Resupplied, Unused, Used};
    check_need("A: The upload limit is 7 MB indeed.", "7 MB", Used, Used);
    check_need(
        "U: The upload limit is 7 MB, remember?\nA: The upload limit is 7 MB.",
        "7 MB",
        Resupplied,
        Resupplied,
    );
    check_need("U*: upload limit is 7 MB", "7 MB", Resupplied, Resupplied);
    check_need("A{x}: I look.\nT(x): upload limit is 7 MB", "7 MB", Refetched, Refetched);
    check_need("A: The upload limit is 70 MB.", "7 MB", Unused, Unused);
    // A read names its file itself; a listing is somebody else's word.
    check_need("A{x=Read /w/src/retry.rs}: I look.\nT(x): fn", "retry.rs", Used, Used);
    check_need("A{x=Bash ls /w/src}: I look.\nT(x): /w/src/retry.rs", "retry.rs", Refetched, Refetched);
    check_need("A{x=Bash cargo test}: Again.\nT(x): ok", "cargo test", Used, Used);
}

/// `count` calls one after another, then a word on the limit.
fn busy(count: usize) -> String {
    let calls: Vec<String> = (0..count).map(|at| format!("A{{x{at}}}: on\nT(x{at}): on\n")).collect();
    calls.concat() + "A: The upload limit is 7 MB indeed."
}

#[test]
fn the_horizon_ends_behind_the_fiftieth_call_and_its_result() {
    check_need(&busy(HORIZON_CALLS - 1), "7 MB", Need::Used, Need::Used);
    check_need(&busy(HORIZON_CALLS), "7 MB", Need::Used, Need::Used);
    check_need(&busy(HORIZON_CALLS).replace("A: The", "A{y}: The"), "7 MB", Need::Unused, Need::Used);
    check_need(&busy(HORIZON_CALLS + 1), "7 MB", Need::Unused, Need::Used);
    // A batch of calls in one message stays together.
    let batch: Vec<String> = (0..60).map(|at| format!("b{at}")).collect();
    let results: Vec<String> = batch.iter().map(|id| format!("T({id}): on\n")).collect();
    let (calls, results) = (batch.join(","), results.concat());
    let after = format!("A{{{calls}}}: The upload limit is 7 MB.\n{results}A{{y}}: The page size is 9 KB.");
    check_need(&after, "7 MB", Need::Used, Need::Used);
    check_need(&after, "9 KB", Need::Unused, Need::Used);
}

#[test]
fn needed_are_used_facts_binding_words_and_the_open_request() {
    let after = "A{x=Edit /w/src/upload.rs}: The upload limit is 7 MB.\nT(x): The file has been updated";
    let (score, _, facts) = scored(after, "src/upload.rs was read. Fix the retry of the uploads.", &[], &[]);
    let mut needed: Vec<(&str, bool)> = score
        .fates
        .iter()
        .filter(|fate| fate.needed)
        .filter_map(|fate| Some((facts.get(fate.id)?.class.name(), fate.tier.is_present())))
        .collect();
    needed.sort_unstable();
    assert_eq!(needed, [("constraint", false), ("file.read", true), ("request", true), ("value", false)]);
    assert_eq!((score.near.needed, score.near.needed_kept), (4, 2));
    assert_eq!(score.near.used, 2, "{:?}", score.near);
    assert!(!score.near.biased && !score.to_end.biased);
    let tallies: u64 = score.classes.iter().map(|(_, tally)| tally.needed).sum();
    assert_eq!(tallies, 4, "the classes add up");
}

#[test]
fn what_a_kept_message_holds_is_not_needed_from_the_summary() {
    let (score, _, _) = scored("A: The upload limit is 7 MB.", "Nothing.", &[0, 7], &[]);
    assert_eq!((score.near.needed, score.near.used), (0, 0), "{:?}", score.near);
}

#[test]
fn a_compaction_of_the_log_itself_biases_what_it_falls_into() {
    let end = BEFORE.lines().count();
    let after = busy(HORIZON_CALLS + 1);
    let horizon = end + 2 * HORIZON_CALLS;
    for (at, near, to_end) in [
        (end - 1, false, false),
        (end, true, true),
        (horizon - 1, true, true),
        (horizon, false, true),
        (end + after.lines().count(), false, false),
    ] {
        let (score, _, _) = scored(&after, "Nothing.", &[], &[at]);
        assert_eq!((score.near.biased, score.to_end.biased), (near, to_end), "compacted before {at}");
    }
}

/// Files and tokens of predicted and of actual re-reads.
fn check_rereads(after: &str, kept: &[usize], predicted: (u64, bool), actual: (u64, bool)) {
    let (_, found, _) = scored(after, "src/upload.rs and src/retry.rs were read.", kept, &[]);
    let seen = |reads: Reads| (reads.files, reads.tokens > 20);
    assert_eq!(seen(found.predicted), predicted, "predicted, kept {kept:?}:\n{after}");
    assert_eq!(seen(found.actual), actual, "actual, kept {kept:?}:\n{after}");
}

#[test]
fn an_edit_without_its_content_predicts_a_read() {
    let edit = "A{x=Edit /w/src/upload.rs}: Now.\nT(x): The file has been updated";
    let read = "A{x=Read /w/src/upload.rs}: Again.\nT(x): fn upload() { retry(); } x200";
    check_rereads(edit, &[], (1, true), (0, false));
    // Where the content is kept nothing has to be read.
    check_rereads(edit, &[1, 2], (0, false), (0, false));
    check_rereads(read, &[], (0, false), (1, true));
    // Read before it is edited: the original agent needed it as well.
    let both = format!("{read}\n{}", edit.replace('x', "y").replace("tey", "tex"));
    check_rereads(&both, &[], (0, false), (1, true));
    // Twice is once; two files are two.
    check_rereads(
        &format!("{read}\n{}", read.replace("{x", "{y").replace("(x", "(y")),
        &[],
        (0, false),
        (1, true),
    );
    let other = edit.replace("upload", "retry").replace("{x", "{y").replace("(x", "(y");
    check_rereads(&format!("{edit}\n{other}"), &[], (2, true), (0, false));
    // Written anew it need not be known, and what was never seen cannot be lost.
    check_rereads(&edit.replace("Edit", "Write"), &[], (0, false), (0, false));
    check_rereads(&edit.replace("upload", "unseen"), &[], (0, false), (0, false));
    // An edit that failed was none.
    check_rereads(&edit.replace("T(", "T!("), &[], (0, false), (0, false));
}
