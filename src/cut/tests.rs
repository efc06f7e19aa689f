//! The cut rules of the modelled systems, row by row: what the systems' own tests and published rules say.

use super::{CutRules, Mark, TurnRules, split};
use crate::harness::{Kind, Role};
use crate::profile::Profile;

/// Entries in short: `U400` a user message of so many characters, `A` assistant, `T` result, `C` call, `B` shell command,
/// `Y` a system message, `Z` a message of a role that it does not know, `X` custom message, `S` branch summary entry, `Q` custom message entry, `m` a meta entry. `3*[U4 A4]` repeats.
fn marks(notation: &str, profile: &str) -> Vec<Mark> {
    let rules = rules(profile).0;
    let mut words: Vec<String> = Vec::new();
    let mut rest = notation;
    while let Some(word) = rest.split_whitespace().next() {
        let start = word.as_ptr() as usize - rest.as_ptr() as usize;
        if let Some((count, _)) = word.split_once("*[") {
            let inner = rest.split_once('[').expect("a block").1;
            let (block, behind) = inner.split_once(']').expect("its end");
            for _ in 0..count.parse::<usize>().expect("a number") {
                words.extend(block.split_whitespace().map(str::to_owned));
            }
            rest = behind;
        } else {
            words.push(word.to_owned());
            rest = rest.get(start + word.len()..).unwrap_or("");
        }
    }
    words
        .iter()
        .map(|word| {
            let (kind, number) = word.split_at(1);
            let chars: u64 = number.parse().unwrap_or(0);
            let (kind, role) = match kind {
                "U" => (Kind::Message, Role::User),
                "A" | "C" => (Kind::Message, Role::Assistant),
                "T" => (Kind::Message, Role::Tool),
                "Y" => (Kind::Message, Role::System),
                "Z" => (Kind::Message, Role::Unknown),
                "B" => (Kind::Message, Role::Shell),
                "X" => (Kind::Message, Role::Custom),
                "S" => (Kind::Branch, Role::Branch),
                "Q" => (Kind::CustomMessage, Role::Custom),
                "m" => (Kind::Meta, Role::Unknown),
                other => panic!("no kind {other}"),
            };
            let size = match (profile, rules.measure) {
                ("opal", _) => chars + rules.per_entry,
                ("operator-use", _) => (chars / 4).max(1),
                // Messages of Lis are given in tokens.
                ("lis", _) => chars,
                (_, super::Measure::Entries) => 1,
                _ => chars.div_ceil(4),
            };
            let tool = word.starts_with(['T', 'C']);
            Mark { kind, role, tool, safe: true, request: role == Role::User, size }
        })
        .collect()
}

fn rules(profile: &str) -> (CutRules, TurnRules) {
    let profile = Profile::named(profile).expect("an embedded profile").expect("valid");
    (profile.cut, profile.turn)
}

/// Rows: what it is about, entries, size of the tail, cut, and the start of the turn that it splits.
#[track_caller]
fn check_cuts(profile: &str, force: bool, rows: &[(&str, &str, u64, Option<usize>, Option<usize>)]) {
    let (cut, turn) = rules(profile);
    for (name, notation, keep, place, start) in rows {
        let marks = marks(notation, profile);
        let found = cut.place(&marks, *keep, force);
        assert_eq!(found, *place, "{profile}, {name}: cut");
        let split = found.and_then(|found| split(&marks, found, &turn));
        assert_eq!(split, *start, "{profile}, {name}: start of the turn");
    }
}

/// A coding session of 13 messages in two turns.
const CODING: &str = "U156 A101 T131 T141 A75 T25 T24 U44 A71 T203 A61 T25 A242";
/// A question, a reply, and one turn of 20 rounds.
const ONE_TURN: &str = "U209 A210 U19 10*[A206 T206] 10*[A207 T206]";
/// The same with more blanks in every text.
const PADDED: &str = "U232 A230 U47 9*[A178 T190] 11*[A179 T191]";

#[test]
fn opal_takes_the_next_user_message_or_whatever_stands_there() {
    check_cuts(
        "opal",
        false,
        &[
            ("two short messages", "U5 A5", 100, None, None),
            ("ten requests", "10*[U206]", 200, Some(6), None),
            ("six pairs", "6*[U211 A208]", 200, Some(8), None),
            ("six pairs, a larger tail", "6*[U211 A208]", 300, Some(6), None),
            ("six larger pairs", "6*[U311 A308]", 300, Some(8), None),
            ("three short messages", "U5 A5 U5", 100_000, None, None),
            ("nothing", "", 100, None, None),
            // The tail is full at the first entry: nothing leaves.
            ("a single message", "U5", 1, Some(0), None),
            ("a tail of nothing is the newest message", "3*[U211 A208]", 0, Some(5), None),
            ("one long turn is cut at a result", ONE_TURN, 500, Some(34), Some(2)),
            ("one long turn is cut at a reply", PADDED, 1_000, Some(23), Some(2)),
            ("a short prefix is no split", CODING, 100, Some(9), None),
            ("a prefix of five is one", CODING, 0, Some(12), Some(7)),
            ("the request behind the full tail", CODING, 200, Some(7), None),
            ("a huge newest message", "U200 A200 U200 A90000", 1_000, Some(3), None),
            ("a huge only message", "U90000", 1_000, Some(0), None),
            ("a budget that is reached exactly", "U180 A180 U180 A180", 50, Some(3), None),
            ("a budget that one byte misses", "U180 A179 U180 A179", 50, Some(2), None),
            ("no request before the cut", "A180 T180 A180 T180 A180 T180 A180", 50, Some(6), None),
            // In a loop of one prompt the summary before it is the only user message.
            ("an earlier summary begins the turn", "U300 8*[A206 T206]", 200, Some(13), Some(0)),
        ],
    );
}

#[test]
fn opal_keeps_two_messages_where_it_is_forced() {
    check_cuts(
        "opal",
        true,
        &[
            ("five short messages", "U5 A5 U5 A5 U5", 100_000, Some(3), None),
            ("four short messages", "U5 A5 U5 A5", 100_000, Some(2), None),
            ("three short messages", "U5 A5 U5", 100_000, Some(1), None),
            ("two messages", "U5 A5", 100_000, None, None),
            ("a cut by size goes first", "6*[U211 A208]", 200, Some(8), None),
            ("inside a long turn", "U5 A206 U5 3*[A206 T206]", 100_000, Some(7), Some(2)),
        ],
    );
}

#[test]
fn the_tail_of_opal_is_smaller_than_its_budget_and_one_message() {
    let (cut, _) = rules("opal");
    for (name, notation) in
        [("pairs", "9*[U211 A208]"), ("one turn", ONE_TURN), ("padded", PADDED), ("coding", CODING)]
    {
        let marks = marks(notation, "opal");
        let largest = marks.iter().map(|mark| mark.size).max().expect("messages");
        for keep in 0..800 {
            let Some(at) = cut.place(&marks, keep, false) else { continue };
            let tail: u64 = marks[at..].iter().map(|mark| mark.size).sum();
            assert!(tail <= cut.budget(keep) + largest, "{name} keep {keep}: {tail}");
        }
    }
}

const E1: &str = "U400 A400 T4000 A400 U400 A400";

#[test]
fn pi_cuts_at_messages_that_are_no_results() {
    for profile in ["pi", "pi-0.73", "operator-use"] {
        check_cuts(
            profile,
            false,
            &[
                ("the reply alone", E1, 100, Some(5), Some(4)),
                ("a token more: the turn", E1, 101, Some(4), None),
                ("the whole turn", E1, 200, Some(4), None),
                ("a token more: the end of the turn before", E1, 201, Some(3), Some(0)),
                ("up to its large result", E1, 1_300, Some(3), Some(0)),
                ("everything", E1, 5_000, Some(0), None),
                ("no user message", "A400 T400 A400 T400 A400", 150, Some(4), None),
                // A label before a kept user message makes the clean cut one inside a turn.
                ("a label before a request", "U400 A400 m U400 A400", 150, Some(2), Some(0)),
                ("a single reply", "A400", 1_000, Some(0), None),
                ("all fits", "3*[U400 A400]", 50_000, Some(0), None),
                ("results alone are no cut points", "T400 T400", 1, Some(0), None),
                ("a system message is no cut point", "U400 A400 Y400 A400", 150, Some(3), Some(0)),
                ("nor is a role that it does not know", "U400 A400 Z400 A400", 150, Some(3), Some(0)),
            ],
        );
    }
}

#[test]
fn versions_of_pi_differ_where_nothing_may_be_cut_behind_a_large_result() {
    for (profile, place, start) in
        [("pi-0.73", Some(0), None), ("operator-use", Some(0), None), ("pi", Some(1), Some(0))]
    {
        check_cuts(profile, false, &[("a huge newest result", "U40 A40 T40000", 1_000, place, start)]);
    }
    // Shell commands, branches and custom entries begin a turn in 1.6; before, a cut there counted as a split of nothing.
    let command = "U400 A400 B400 A400";
    check_cuts("pi", false, &[("a command of the user", command, 150, Some(2), None)]);
    check_cuts("pi-0.73", false, &[("a command of the user", command, 150, Some(2), Some(2))]);
    // Messages without any size.
    let empty = "U0 A0 U0 A0";
    check_cuts("pi", false, &[("empty messages, a tail of a token", empty, 1, Some(0), None)]);
    check_cuts("pi", false, &[("empty messages, a tail of nothing", empty, 0, Some(0), None)]);
    check_cuts("pi-0.73", false, &[("empty messages, a tail of nothing", empty, 0, Some(3), Some(2))]);
    check_cuts("operator-use", false, &[("empty messages count one each", empty, 1, Some(3), Some(2))]);
}

#[test]
fn lis_drops_the_message_that_is_too_much_and_all_before_it() {
    check_cuts(
        "lis",
        false,
        &[
            ("the second is too much", "U1000 A1500 U2000 A1000 U900", 4_000, Some(2), None),
            ("exactly the budget is not over it", "U2000 A2000 U2000", 4_000, Some(1), None),
            ("all fits: the oldest goes", "U100 A100", 4_000, Some(1), None),
            ("a huge newest message: nothing stays", "U100 A9000", 4_000, Some(2), None),
            ("no messages", "", 4_000, None, None),
        ],
    );
}

#[test]
fn sven_goes_back_to_a_message_that_is_no_tool() {
    check_cuts(
        "sven",
        false,
        &[
            ("four messages are not more than twice two", "U A C T", 2, Some(4), None),
            ("six are not more than twice three", "U A U C T A", 3, Some(6), None),
            ("back over a pair to its request", "U A U C T A", 2, Some(2), None),
            ("back over two calls and their results", "U A C C T T", 2, Some(1), None),
            ("rounds with text", "U 6*[A C T]", 6, Some(13), None),
            ("texts only", "U A U A U A", 2, Some(4), None),
            ("a tail of nothing", "U A U A", 0, Some(4), None),
            ("back over most of it: one message leaves", "A U 8*[C C T T]", 6, Some(1), None),
            ("a text between a call and its result", "U A U A C U T", 2, Some(5), None),
            ("the same, later", "U A U A U A C U T", 2, Some(7), None),
            // Calls and results back to the first message: all stays, which is no cut at all.
            ("rounds without text", "U 8*[C T]", 6, Some(0), None),
            ("rounds without text behind a summary", "A 8*[C T]", 6, Some(0), None),
        ],
    );
}

#[test]
fn an_emergency_of_sven_goes_forward_to_a_message_that_is_no_tool() {
    let profile = Profile::named("sven").expect("an embedded profile").expect("valid");
    let emergency = profile.emergency.expect("sven has emergencies");
    for (name, notation, keep, place) in [
        ("one of a result and a reply", "U A U C T A", 2, 5),
        ("none of two results", "U A C C T T", 2, 6),
        ("none of rounds without text", "U 8*[C T]", 6, 17),
        ("none of rounds without text behind a summary", "A 8*[C T]", 6, 17),
        ("rounds with text", "U 6*[A C T]", 6, 13),
        ("a tail of nothing", "U A U A", 0, 4),
        ("a tail larger than all", "U A U A", 100, 0),
        ("calls at the beginning go all the same", "C T C T U", 100, 4),
        ("a text between a call and its result", "U A U A C U T", 2, 5),
        ("nothing", "", 6, 0),
    ] {
        assert_eq!(emergency.cut.place(&marks(notation, "sven"), keep, false), Some(place), "{name}");
    }
}

#[test]
fn the_default_keeps_the_most_units_that_fit_and_the_newest_at_least() {
    let (cut, _) = rules("standard");
    // Messages of ten tokens each; a cut may fall before those marked.
    let check = |safe: &[usize], keep: u64, expect: Option<usize>| {
        let marks: Vec<Mark> = (0..6)
            .map(|at| Mark {
                kind: Kind::Message,
                role: Role::User,
                tool: false,
                safe: safe.contains(&at),
                request: false,
                size: 10,
            })
            .collect();
        assert_eq!(cut.place(&marks, keep, false).filter(|cut| *cut > 0), expect, "{safe:?} keep {keep}");
    };
    check(&[0, 1, 2, 3, 4, 5], 30, Some(3));
    check(&[0, 2, 4], 30, Some(4));
    check(&[0, 2], 30, Some(2));
    check(&[0], 30, None);
    check(&[0, 1, 2, 3, 4, 5], 1_000, Some(1));
    check(&[0, 5], 5, Some(5));
}

#[test]
fn a_share_of_what_is_there_is_a_size_of_a_tail() {
    // What each rule adds up: tokens for pi, without meta entries; characters for opal, twenty more for each message.
    for (profile, notation, share, expect) in [
        ("pi", "U400 m A400 T800 A400", 0.5, 250),
        ("pi", "U400", 0.3, 30),
        ("pi", "m", 0.9, 0),
        ("lis", "U7 A3", 0.3, 3),
        ("opal", "U380 A380", 0.5, 100),
        ("opal", "U380 A380", 0.0, 0),
    ] {
        let (rules, _) = rules(profile);
        assert_eq!(rules.share_of(&marks(notation, profile), share), expect, "{profile} {notation}");
    }
    // The place where that tail begins, at the newest message of the user within it.
    let mut pi = rules("pi").0;
    pi.landings = vec![super::Landing::User];
    pi.full = super::Full::Exceeded;
    let marks = marks("U400 A400 U400 A400 U400 A400", "pi");
    for (share, expect) in [(0.3, None), (0.34, Some(4)), (0.6, Some(4)), (0.67, Some(2)), (0.9, Some(2))] {
        pi.missed = super::Otherwise::None;
        assert_eq!(pi.place(&marks, pi.share_of(&marks, share), false), expect, "{share}");
    }
}
