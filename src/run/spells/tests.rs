use super::*;
use crate::facts::Match;
use crate::score::Location;
use crate::score::needed::Need;
use crate::testing::transcript;

/// A session of ten messages in which the user names a limit in those given.
fn session(mentions: &[usize]) -> FactSet {
    let line = |at: usize| {
        if mentions.contains(&at) {
            "U: The upload limit is 7 MB".to_owned()
        } else {
            format!("U: {at} and on")
        }
    };
    FactSet::extract(&transcript(&(0..10).map(line).collect::<Vec<_>>().join("\n")), &[])
}

/// What becomes of the limit in cycles before messages 2, 4, 6 and 8: `p` at risk and present, `a` at risk and absent,
/// `t` in the tail, `-` no live fact. Ends as `age:lost/censored`, then ages cycle by cycle (`!` for a first loss).
fn check(mentions: &[usize], fates: &str, ends: &str, ages: &str) {
    let facts = session(mentions);
    let id = facts
        .ids()
        .find(|id| facts.get(*id).is_some_and(|fact| fact.class == FactClass::Value))
        .expect("a value");
    let mut spells = Spells::default();
    let mut seen = Vec::new();
    for (index, fate) in fates.chars().enumerate() {
        let number = index as u32 + 1;
        let fate = match fate {
            'p' => Some((true, Match::Exact)),
            'a' => Some((true, Match::Absent)),
            't' => Some((false, Match::Absent)),
            _ => None,
        };
        let fates: Vec<Fate> = fate
            .map(|(at_risk, tier)| Fate {
                need: Need::Unused,
                need_to_end: Need::Unused,
                needed: false,
                id,
                class: FactClass::Value,
                location: Location::Lost,
                tier,
                at_risk,
            })
            .into_iter()
            .collect();
        let trigger = |number: u32| MessageIdx(2 * number);
        let lives = spells.cycle(&facts, &fates, number, trigger(number - 1), trigger(number));
        seen.push(match lives.first().copied().flatten() {
            Some(life) => format!("{}{}", life.age, if life.first_loss { "!" } else { "" }),
            None => ".".to_owned(),
        });
    }
    let ended: Vec<String> = spells
        .finish()
        .into_iter()
        .map(|((_, age), ends)| format!("{age}:{}/{}", ends.lost, ends.censored))
        .collect();
    assert_eq!((ended.join(" ").as_str(), seen.join(" ").as_str()), (ends, ages), "{mentions:?} {fates}");
}

#[test]
fn a_spell_ends_in_loss_or_with_what_can_be_seen() {
    check(&[0], "pppp", "4:0/1", "1 2 3 4");
    check(&[0], "ppaa", "3:1/0", "1 2 3! .");
    check(&[0], "aaaa", "1:1/0", "1! . . .");
    check(&[0], "tttt", "", ". . . .");
    check(&[0], "tpp-", "2:0/1", ". 1 2 .");
}

#[test]
fn a_new_mention_ends_a_spell_and_begins_another() {
    // Said again before the third compaction: the spell before tells nothing of that one.
    check(&[0, 4], "pppp", "2:0/2", "1 2 1 2");
    check(&[0, 4], "ppap", "1:1/0 2:0/1", "1 2 1! .");
    // In the tail again.
    check(&[0, 4], "pptp", "1:0/1 2:0/1", "1 2 . 1");
    // Lost, then said again, then lost again: the first loss is the first.
    check(&[0, 4], "aaaa", "1:2/0", "1! . 1 .");
    // What comes back unsaid does not count.
    check(&[0], "apaa", "1:1/0", "1! . . .");
}
