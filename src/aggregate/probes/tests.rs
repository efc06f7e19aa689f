use super::*;

fn options(count: usize) -> Vec<String> {
    let all =
        ["It was only read.", "It was changed.", "It was made here.", "The conversation does not tell."];
    all.iter().cycle().take(count).map(|one| (*one).to_owned()).collect()
}

#[test]
fn a_reply_chooses_by_letter_or_by_words() {
    let options = options(4);
    for (reply, chosen) in [
        ("B", 1),
        ("b", 1),
        (" B\n", 1),
        ("B)", 1),
        ("(B)", 1),
        ("[B]", 1),
        ("**B**", 1),
        ("B.", 1),
        ("B) It was changed.", 1),
        ("B. Because the edit succeeded", 1),
        ("B: it was changed", 1),
        ("B\nThe file was edited at line 3.", 1),
        ("**B)** It was changed.", 1),
        ("Answer: B", 1),
        ("answer: (b)", 1),
        ("The answer is B.", 1),
        ("The correct answer is **B**", 1),
        ("Final answer: B", 1),
        ("Option B", 1),
        ("It was changed.", 1),
        ("it was changed", 1),
        ("\"It was made here.\"", 2),
        ("<think>A or B? It was edited, so not A.</think>\nB", 1),
        ("perhaps A</think>D", 3),
        ("D) The conversation does not tell.", 3),
        ("A. A file is only read", 0),
        ("B - the edit succeeded", 1),
        ("B — the edit succeeded", 1),
        ("B because the edit succeeded", 1),
        ("The correct option is B", 1),
        ("I choose B.", 1),
        ("Answer B", 1),
        ("The file was edited at line 3, so it was changed.\n\nAnswer: B", 1),
        ("It was edited.\nB", 1),
        ("{\"answer\": \"B\"}", 1),
        ("```json\n{\"answer\": \"B) It was changed.\"}\n```", 1),
        ("$\\boxed{B}$", 1),
        ("B) It was changed, as I see it.", 1),
        ("B) In part-A of the log it was edited.", 1),
    ] {
        assert_eq!(choice(reply, &options), Some(chosen), "{reply:?}");
    }
}

#[test]
fn a_reply_that_chooses_nothing_or_much_is_unreadable() {
    let options = options(4);
    for reply in [
        "",
        " ",
        "E",
        "E) something",
        "Z",
        "A file was changed",
        "A or B",
        "A) or B)",
        "A, B",
        "A. B.",
        "A/B",
        "It depends on what is meant.",
        "I think it was changed.",
        "Be careful",
        "1",
        "2) It was changed.",
        "<think>B",
        "Ä",
        "\u{200b}",
        "Answer:",
        "Bb",
        "A) It was only read.\nB) It was changed.\nC) It was made here.",
        "A) or maybe C)",
        "A: no; C: yes",
        "A) no, wait: B",
        "A) It was changed.",
        "Either B or C. Answer: either",
        "The answers are B and C",
        "{\"answer\": [\"A\", \"B\"]}",
        "{\"answer\": \"A or B\"}",
    ] {
        assert_eq!(choice(reply, &options), None, "{reply:?}");
    }
}

#[test]
fn any_reply_is_read_without_a_fault() {
    let options = options(4);
    for seed in 0..2_000u64 {
        let mut random = crate::stats::SplitMix64::new(seed);
        let alphabet: Vec<char> = "ABCDEx ()[]*.:\n\"'`é中🚀</think>answer".chars().collect();
        let reply: String = (0..random.below(24)).map(|_| alphabet[random.below(alphabet.len())]).collect();
        if let Some(at) = choice(&reply, &options) {
            assert!(at < options.len(), "{reply:?}");
        }
    }
}

fn key(id: &str, session: &str, kind: &str, present: bool) -> Keyed {
    Keyed {
        id: id.to_owned(),
        control: format!("{id}-full"),
        blind: format!("{id}-blind"),
        session: session.to_owned(),
        profile: "standard".to_owned(),
        strategy: "structured".to_owned(),
        cycle: 1,
        kind: kind.to_owned(),
        options: options(4),
        want: "B".to_owned(),
        stale: vec!["C".to_owned()],
        untold: "D".to_owned(),
        present,
        ..Keyed::default()
    }
}

fn said(id: &str, answer: &str) -> Answered {
    Answered { id: id.to_owned(), answer: Some(answer.to_owned()), ..Answered::default() }
}

fn failed(id: &str) -> Answered {
    Answered { id: id.to_owned(), error: Some("no reply".to_owned()), ..Answered::default() }
}

/// Worked out by hand: eight questions of two sessions.
#[test]
fn answers_are_pooled_as_they_are_counted_by_hand() {
    let keys: Vec<Keyed> = [
        ("1", "a", true),
        ("2", "a", true),
        ("3", "a", false),
        ("4", "a", false),
        ("5", "b", true),
        ("6", "b", false),
        ("7", "b", true),
        ("8", "b", true),
    ]
    .into_iter()
    .map(|(id, session, present)| key(id, session, "recall", present))
    .collect();
    let lines = [
        // Right with both.
        said("1", "B"),
        said("1-full", "B"),
        said("1-blind", "A"),
        // Stale.
        said("2", "C"),
        said("2-full", "B"),
        said("2-blind", "B"),
        // Not told.
        said("3", "D"),
        said("3-full", "B"),
        said("3-blind", "A"),
        // Right by luck, wrong with the whole: not answerable.
        said("4", "B"),
        said("4-full", "A"),
        said("4-blind", "B"),
        // Unreadable; not in any pair.
        said("5", "I cannot say"),
        said("5-full", "B"),
        said("5-blind", "A"),
        // Right although absent.
        said("6", "B"),
        said("6-full", "B"),
        said("6-blind", "A"),
        // The control failed.
        said("7", "A"),
        failed("7-full"),
        // 8 was never asked.
    ];
    let rows = pool(&keys, &Answers::new(lines.iter()), false);
    let all = &rows[0];
    assert_eq!((all.cycle.as_str(), all.kind.as_str(), all.window.as_str()), (ALL, ALL, ALL));
    assert_eq!((all.sessions, all.questions, all.answered), (2, 8, 6));
    assert_eq!((all.right, all.wrong, all.stale, all.untold), (3, 1, 1, 1));
    assert_eq!((all.unanswered, all.missing, all.failed, all.unreadable), (2, 1, 0, 1));
    assert_eq!((all.control_answered, all.control_right), (6, 5));
    assert_eq!((all.blind_answered, all.blind_right), (6, 2));
    // The second is right with no conversation, too: that was guessed.
    assert_eq!((all.pairs, all.guessed, all.answerable, all.answerable_right), (5, 1, 3, 2));
    assert_eq!(all.answer_survival, Some(2.0 / 3.0));
    // One of two in the one session, one of one in the other.
    assert_eq!(all.answer_survival_mean, Some(0.75));
    assert_eq!((all.answer_survival_low, all.answer_survival_n), (None, 2));
    assert_eq!((all.present, all.present_right, all.absent, all.absent_right), (1, 1, 2, 1));
    // Answered in all three ways: 1, 2, 3, 4, 6; right 3, 4 and 2 times.
    assert_eq!(all.effect, Some(0.5));
    assert_eq!(rows.len(), 2, "one more for the only kind, none for the only cycle");
    assert_eq!(ProbeRow { kind: ALL.to_owned(), ..rows[1].clone() }, *all);
}

#[test]
fn nothing_to_divide_by_is_no_number() {
    let keys = [key("1", "a", "decision", true)];
    let rows = pool(&keys, &Answers::new([].iter()), false);
    let row = &rows[0];
    assert_eq!((row.questions, row.missing, row.answered), (1, 1, 0));
    assert_eq!((row.accuracy, row.answer_survival, row.answer_survival_mean), (None, None, None));
    assert_eq!((row.control_accuracy, row.blind_accuracy, row.effect), (None, None, None));
}

#[test]
fn the_whole_conversation_that_helps_no_more_than_none_gives_no_effect() {
    let keys = [key("1", "a", "decision", true)];
    let lines = [said("1", "B"), said("1-full", "B"), said("1-blind", "B")];
    assert_eq!(pool(&keys, &Answers::new(lines.iter()), false)[0].effect, None);
}

#[test]
fn the_last_answer_counts_and_an_error_takes_none_away() {
    let keys = [key("1", "a", "recall", true)];
    let right = |lines: &[Answered]| {
        let answers = Answers::new(lines.iter());
        (pool(&keys, &answers, false)[0].right, answers.changed)
    };
    assert_eq!(right(&[said("1", "A"), said("1", "B")]), (1, 1));
    assert_eq!(right(&[said("1", "B"), said("1", "A")]), (0, 1));
    assert_eq!(right(&[said("1", "B"), said("1", "B")]), (1, 0));
    assert_eq!(right(&[said("1", "B"), failed("1")]), (1, 0));
    assert_eq!(right(&[failed("1"), said("1", "B")]), (1, 0));
}

#[test]
fn groups_are_told_apart() {
    let other = |key: Keyed, strategy: &str, window: u64, cycle: u64| Keyed {
        strategy: strategy.to_owned(),
        window,
        cycle,
        ..key
    };
    let keys = [
        other(key("1", "a", "recall", true), "structured", 8_000, 1),
        other(key("2", "a", "artifact", true), "structured", 8_000, 2),
        other(key("3", "a", "recall", true), "truncate", 8_000, 1),
        other(key("4", "a", "recall", true), "structured", 16_000, 1),
    ];
    let answers = Answers::default();
    let names = |windows| -> Vec<String> {
        let name = |row: &ProbeRow| format!("{} {} {} {}", row.strategy, row.window, row.cycle, row.kind);
        pool(&keys, &answers, windows).iter().map(name).collect()
    };
    assert_eq!(
        names(false),
        [
            "structured all all all",
            "structured all all artifact",
            "structured all all recall",
            "structured all 1 all",
            "structured all 2 all",
            "truncate all all all",
            "truncate all all recall",
        ]
    );
    assert_eq!(names(true).iter().filter(|name| name.starts_with("structured 16000")).count(), 2);
}

#[test]
fn verdicts_agree_with_the_counts() {
    let keys = [key("1", "a", "recall", true), key("2", "a", "recall", false)];
    let lines = [said("1", "C"), said("1-full", "B"), failed("1-blind"), said("2", "D) none")];
    let rows = verdicts(&keys, &Answers::new(lines.iter()));
    let told: Vec<[&str; 5]> = rows
        .iter()
        .map(|row| [&row.compacted, &row.control, &row.blind, &row.chosen, &row.right].map(String::as_str))
        .collect();
    assert_eq!(
        told,
        [
            ["stale", "right", "failed", "It was made here.", "It was changed."],
            ["untold", "missing", "missing", "The conversation does not tell.", "It was changed."],
        ]
    );
}
