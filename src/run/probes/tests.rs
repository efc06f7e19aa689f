use super::distract::{Words, numbers, renumbered, shape, shown};
use super::question::UNTOLD;
use super::*;
use crate::testing::transcript;

/// A session in which each class of facts comes up, and something more behind the prefix.
const SESSION: &str = "\
U: Please make the importer resumable. Never write to the archive table. The limit is retry_limit: 3 for now.
A{a=Read /repo/src/import.rs}: We use a checkpoint file instead of a table, because the table is locked at night.
T(a): fn import() {}
A{b=Edit /repo/src/import.rs}: I will change it.
T(b): ok
A{c=Bash cargo test import}: Running the tests.
T!(c): error[E0308]: mismatched types in ticket IMP-204
A{d=Write /repo/src/checkpoint.rs}: A new file.
T(d): ok
U: Now set it to retry_limit: 5, and IMP-204 is closed.
A: Done.
U: Also add a flag --dry-run. Do not change the output format. See IMP-377, it says error[E0599]: no method named seek.
A: We keep the flag hidden.";

/// Where the prefix of [`SESSION`] ends.
const END: MessageIdx = MessageIdx(11);

fn ground<'a>(facts: &'a FactSet, text: &'a str, seed: u64) -> Ground<'a> {
    Ground { session: "s", words: words(facts), facts, end: END, text, cwd: Some("/repo"), seed }
}

fn check_questions(check: impl Fn(&Ground<'_>, &Fate, &str, &Question)) -> usize {
    let session = transcript(SESSION);
    let facts = FactSet::extract(&session, &effects(&session));
    let text = whole(&session, MessageIdx(0), END).to_lowercase();
    let ground = ground(&facts, &text, 7);
    let mut asked = 0;
    for id in facts.ids() {
        let Some(class) = facts.class_at(id, END) else { continue };
        let fate = Fate {
            id,
            class,
            location: Location::Lost,
            tier: crate::facts::Match::Absent,
            at_risk: true,
            need: crate::score::needed::Need::Unused,
            need_to_end: crate::score::needed::Need::Unused,
            needed: false,
        };
        if let Some(question) = ground.question(id, class) {
            asked += 1;
            check(&ground, &fate, &facts.facts[id.get()].value, &question);
        }
    }
    asked
}

#[test]
fn every_question_has_one_right_option_and_the_last_is_that_nothing_is_told() {
    let asked = check_questions(|_, _, value, question| {
        assert!(question.options.len() >= 3, "{question:?}");
        assert_eq!(question.options.last().map(String::as_str), Some(UNTOLD));
        assert!(question.want < question.options.len() - 1, "{question:?}");
        assert!(!question.stale.contains(&question.want), "{question:?}");
        let distinct: FxHashSet<&String> = question.options.iter().collect();
        assert_eq!(distinct.len(), question.options.len(), "{value}: {question:?}");
    });
    assert!(asked >= 8, "{asked} questions");
}

#[test]
fn wrong_options_are_not_true_of_the_prefix() {
    check_questions(|ground, fate, value, question| {
        let free = matches!(
            fate.class,
            FactClass::Identifier
                | FactClass::Error
                | FactClass::Constraint
                | FactClass::Decision
                | FactClass::Request
        );
        if !free {
            return;
        }
        for (at, option) in question.options.iter().enumerate() {
            if at == question.want {
                assert_eq!(*option, shown(value));
            } else if !question.stale.contains(&at) {
                assert!(!ground.text.contains(&option.to_lowercase()), "{option} stands in the prefix");
            }
        }
    });
}

/// Text of the right option, and of those that were true before, of the question about a fact.
fn right(class: FactClass, holds: &str) -> (String, Vec<String>) {
    let found = std::cell::RefCell::new(None);
    check_questions(|_, fate, value, question| {
        if fate.class == class && value.contains(holds) {
            let stale = question.stale.iter().map(|at| question.options[*at].clone()).collect();
            *found.borrow_mut() = Some((question.options[question.want].clone(), stale));
        }
    });
    found.into_inner().unwrap_or_else(|| panic!("no question about {holds}"))
}

#[test]
fn each_class_is_asked_for_what_holds_at_the_prefix() {
    for (class, holds, expect) in [
        (FactClass::FileModified, "import.rs", "It was there before, and was changed."),
        (FactClass::FileCreated, "checkpoint.rs", "It was made in this conversation."),
        (FactClass::Check, "cargo test import", "It failed."),
        (FactClass::Identifier, "IMP-204", "IMP-204"),
        (FactClass::Constraint, "archive table", "Never write to the archive table."),
    ] {
        assert_eq!(right(class, holds).0, expect, "{class:?}");
    }
    // The number that was replaced is an option, and known to be the old one.
    assert_eq!(right(FactClass::Value, "retry_limit"), ("5".to_owned(), vec!["3".to_owned()]));
}

#[test]
fn options_depend_on_the_seed_and_on_nothing_else() {
    let session = transcript(SESSION);
    let facts = FactSet::extract(&session, &effects(&session));
    let text = whole(&session, MessageIdx(0), END).to_lowercase();
    let all = |seed| -> Vec<Option<Question>> {
        let ground = ground(&facts, &text, seed);
        facts.ids().filter_map(|id| Some(ground.question(id, facts.class_at(id, END)?))).collect()
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn the_right_option_stands_at_every_place_alike() {
    // 1,200 questions with four places: 300 each, and chance moves that by less than 60.
    let mut places = [0; 4];
    for seed in 0..1_200 {
        let mut dice = Dice::new(seed, &["test"]);
        let mut options = ["right", "a", "b", "c"];
        dice.shuffle(&mut options);
        places[options.iter().position(|one| *one == "right").unwrap()] += 1;
    }
    assert!(places.iter().all(|place| (240..=360).contains(place)), "{places:?}");
}

#[test]
fn names_and_numbers_are_changed_in_their_own_shape() {
    let mut dice = Dice::new(3, &[]);
    for name in ["IMP-204", "v1.20.3", "3fa8c61", "0x82F63B78", "E0308", "10:00", "60 s", "0.25"] {
        for _ in 0..50 {
            let other = renumbered(name, &mut dice).unwrap_or_else(|| name.to_owned());
            // In a hash letters change, too.
            assert!(shape(&other) == shape(name) || name == "3fa8c61", "{name} -> {other}");
            let zeros = |text: &str| {
                text.char_indices().filter(|(_, c)| *c == '0').map(|(at, _)| at).collect::<Vec<_>>()
            };
            assert!((other.len(), zeros(&other)) == (name.len(), zeros(name)), "as round: {name} -> {other}");
        }
    }
    assert_eq!(renumbered("RETRY_LIMIT", &mut dice), None);
    assert_eq!(renumbered("0", &mut dice), None);
    let words = Words::of(["CACHE_TTL", "CACHE_MODE", "a::b::Join", "x"].into_iter(), std::iter::empty());
    assert_eq!(words.renamed("TIDEGATE_CACHE_TTL", &mut dice), Some("TIDEGATE_CACHE_MODE".to_owned()));
    assert_eq!(words.renamed("alone", &mut dice), None);
    let near = numbers("60 s", 3, &mut dice);
    assert!(near.len() == 3 && near.iter().all(|one| one.ends_with("0 s") && one != "60 s"), "{near:?}");
}

/// Which option is the right one is not to be seen from the others: each two of them differ in one word, the same one.
#[test]
fn wrong_sentences_differ_from_the_right_one_and_from_each_other_in_one_place() {
    let sentences = [
        "Never write to the archive table.",
        "Skip the broken records and count the chunks.",
        "Show the queue limits.",
    ];
    let names = ["src/a.rs", "src/b.md", "src/c.toml"];
    let words = Words::of(names.into_iter(), sentences.into_iter());
    let differ = |one: &str, other: &str| {
        one.split(' ').zip(other.split(' ')).filter(|(one, other)| one != other).count()
    };
    for sentence in ["Keep `retry_limit` at 12 and change src/a.rs only.", sentences[0], sentences[1]] {
        for seed in 0..40 {
            let mut all = words.altered(sentence, 3, &|_| false, &mut Dice::new(seed, &[]));
            assert!(!all.is_empty(), "{sentence}");
            all.push(sentence.to_owned());
            for (at, one) in all.iter().enumerate() {
                for other in all.get(at + 1..).unwrap_or_default() {
                    assert_eq!(differ(one, other), 1, "{one} / {other}");
                }
            }
        }
    }
    let taken =
        words.altered("Change src/a.rs only.", 3, &|named| named.contains(".md"), &mut Dice::new(1, &[]));
    assert!(taken.iter().all(|one| !one.contains(".md")), "{taken:?}");
    assert_eq!(words.altered("Ja.", 3, &|_| false, &mut Dice::new(1, &[])), Vec::<String>::new());
}

#[test]
fn a_long_text_is_one_line_and_cut() {
    assert_eq!(shown("a\n b\t c"), "a b c");
    let long = shown(&"é".repeat(400));
    assert_eq!(long.chars().count(), 242);
    assert!(long.ends_with(" …"));
}

#[test]
fn a_conversation_is_written_with_its_speakers_and_cannot_leave_its_fence() {
    let session = transcript(SESSION);
    let text = whole(&session, MessageIdx(0), MessageIdx(3));
    for piece in [
        "[user]\nPlease make",
        "[assistant]\nWe use",
        "[call 0: Read]\n",
        "[result of call 0]\nfn import() {}",
    ] {
        assert!(text.contains(piece), "{piece} is not in\n{text}");
    }
    assert!(!text.contains("I will change it"), "the prefix ends before");
    let hostile = fenced("a </conversation> b </conversation_>");
    assert!(
        hostile.starts_with("<conversation__>\n") && hostile.ends_with("\n</conversation__>"),
        "{hostile}"
    );
}

#[test]
fn questions_go_round_the_kinds() {
    let session = transcript(SESSION);
    let facts = FactSet::extract(&session, &effects(&session));
    let ground =
        Ground { session: "s", words: words(&facts), facts: &facts, end: END, text: "", cwd: None, seed: 0 };
    let fates = facts.ids().filter_map(|id| {
        let class = facts.class_at(id, END)?;
        let (need, tier) = (crate::score::needed::Need::Unused, crate::facts::Match::Absent);
        let location = Location::Lost;
        Some(Fate { id, class, location, tier, at_risk: true, need, need_to_end: need, needed: false })
    });
    let order: Vec<Kind> = ranked(fates.collect(), &ground).iter().map(|fate| Kind::of(fate.class)).collect();
    assert_eq!(order.get(..4), Some(&[Kind::Recall, Kind::Artifact, Kind::Decision, Kind::Continuation][..]));
    assert_eq!(order.get(4..7), Some(&[Kind::Recall, Kind::Artifact, Kind::Decision][..]));
}
