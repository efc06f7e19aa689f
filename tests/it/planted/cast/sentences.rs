//! Rules, choices, requests and items of todo lists.

use super::super::log::Action;
use super::super::plant::Fate;
use super::super::story::{Plan, Story, gone, live};
use super::super::words;
use super::{Zone, fill_in, tell};
use compactor::facts::{FactClass, Match};

fn sentence_plan(
    story: &mut Story,
    class: FactClass,
    said: &str,
    birth: usize,
    fate: Fate,
    told: (String, &'static str),
) {
    story.plans.push(Plan {
        class,
        value: said.to_owned(),
        said: said.to_owned(),
        spellings: vec![said.to_owned()],
        birth: (birth, false),
        fate,
        summary: told.0,
        trap: told.1,
    });
}

pub(super) fn rule(story: &mut Story) {
    let which = story.dice.take(&mut story.rules);
    let (said, kept, reversed) = words::RULES[which];
    let noun = story.dice.take(&mut story.nouns);
    let [said, kept, reversed] = [said, kept, reversed].map(|text| fill_in(text, "{n}", noun));
    let zone = Zone::any(story);
    let place = zone.place(story);
    let birth = story.user(place, &said);
    if zone == Zone::Restated {
        let place = story.kept();
        story.agent(place, &format!("\n\n{kept}\n\n"));
        story.again.push(kept.clone());
    }
    let (line, tier, trap) = match story.dice.range(0, 6) {
        0 => (format!("- {said}"), Some(Match::Exact), "verbatim"),
        1 | 2 => (format!("- {kept}"), Some(Match::Exact), "in other words"),
        3 => (format!("- {reversed}"), Some(Match::Contradicted), "reversed"),
        4 => (format!("- The {noun} came up."), None, "subject only"),
        _ => (String::new(), Some(Match::Absent), "nothing"),
    };
    tell(story, &line);
    let fate = tier.map_or_else(|| gone(zone.in_tail()), |tier| live(zone.in_tail(), tier));
    let fate = unless_absent(fate);
    sentence_plan(story, FactClass::Constraint, &said, birth, fate, (line, trap));
}

/// A sentence of which nothing was told may still share words with other lines.
fn unless_absent(fate: Fate) -> Fate {
    match fate {
        Fate::Live { location, tier: Some(Match::Absent) } => Fate::Live { location, tier: None },
        fate => fate,
    }
}

pub(super) fn choice(story: &mut Story) {
    let which = story.dice.take(&mut story.choices);
    let (said, kept, reversed) = words::CHOICES[which];
    let noun = story.dice.take(&mut story.nouns);
    let (one, two) = (story.dice.take(&mut story.tools), story.dice.take(&mut story.tools));
    let [said, kept, reversed] = [said, kept, reversed]
        .map(|text| fill_in(&fill_in(&fill_in(text, "{n}", noun), "{a}", one), "{b}", two));
    let zone = Zone::any(story);
    let place = zone.place(story);
    let birth = story.agent(place, &said);
    if zone == Zone::Restated {
        let place = story.kept();
        story.agent(place, &format!("\n\n{kept}\n\n"));
        story.again.push(kept.clone());
    }
    let swapped = reversed.contains(one);
    let (line, tier, trap) = match story.dice.range(0, 5) {
        0 => (format!("- {said}"), Some(Match::Exact), "verbatim"),
        1 => (format!("- {kept}"), Some(Match::Exact), "in other words"),
        2 if swapped => (format!("- {reversed}"), Some(Match::Contradicted), "turned round"),
        2 | 3 => (format!("- {reversed}"), None, "choice left out"),
        _ => (String::new(), None, "nothing"),
    };
    let tier = tier.filter(|_| trap != "choice left out" || !swapped);
    let line = if trap == "choice left out" && swapped { String::new() } else { line };
    tell(story, &line);
    let fate = tier.map_or_else(|| gone(zone.in_tail()), |tier| live(zone.in_tail(), tier));
    sentence_plan(story, FactClass::Decision, &said, birth, fate, (line, trap));
}

/// Another choice takes the place of an earlier one.
pub(super) fn replaced_choice(story: &mut Story) {
    let noun = story.dice.take(&mut story.nouns);
    let [one, two, three] = std::array::from_fn(|_| story.dice.take(&mut story.tools));
    let former = format!("Let's go with {one} rather than {two} as the driver behind the {noun}.");
    let current = format!("We switched from {one} to {three} as the driver behind the {noun}.");
    let [first, second] = story.in_order();
    let old = story.agent(first, &former);
    // A message of its own: within one message nothing is replaced.
    let text = story.dice.word(words::SMALLTALK);
    story.user(second, text);
    let new = story.agent(second, &current);
    let (line, tier, trap) = match story.dice.range(0, 4) {
        0 => (format!("- {former}"), None, "former choice"),
        1 => (format!("- {current}"), Some(Match::Exact), "current choice"),
        2 => (
            format!("- As the driver behind the {noun}, switched from {one} to {three}"),
            Some(Match::Exact),
            "current choice",
        ),
        _ => (String::new(), None, "nothing"),
    };
    tell(story, &line);
    story.stale += u64::from(trap == "former choice");
    let class = FactClass::Decision;
    sentence_plan(story, class, &former, old, Fate::Replaced, (line.clone(), trap));
    let fate = tier.map_or_else(|| gone(false), |tier| live(false, tier));
    sentence_plan(story, class, &current, new, fate, (line, trap));
}

pub(super) fn request(story: &mut Story) {
    let noun = story.dice.take(&mut story.nouns);
    let said = fill_in(story.dice.word(words::REQUESTS), "{n}", noun);
    let birth = story.user(0, &said);
    let (line, fate, trap) = match story.dice.range(0, 3) {
        0 => (format!("- {said}"), live(false, Match::Exact), "verbatim"),
        1 => (format!("Request: {said}"), live(false, Match::Exact), "after a label"),
        _ => (String::new(), gone(false), "nothing"),
    };
    tell(story, &line);
    sentence_plan(story, FactClass::Request, &said, birth, fate, (line, trap));
}

pub(super) fn todos(story: &mut Story) {
    let mut items: Vec<&str> = words::ITEMS.to_vec();
    let count = story.dice.range(2, 4);
    let mut list = Vec::new();
    for _ in 0..count {
        let item = story.dice.take(&mut items);
        let noun = story.dice.take(&mut story.nouns);
        let state = *story.dice.pick(&["pending", "in_progress", "completed"]);
        list.push((fill_in(item, "{n}", noun), state));
    }
    let [one, two] = story.in_order();
    let begun: Vec<(String, &'static str)> = list.iter().map(|(text, _)| (text.clone(), "pending")).collect();
    let birth = story.call(one, Action::Todos(begun));
    story.call(two, Action::Todos(list.clone()));
    for (text, state) in list {
        let done = state == "completed";
        let (right, wrong) = if done { ("[x]", "[ ]") } else { ("[ ]", "[x]") };
        let (line, tier, trap) = match story.dice.range(0, 5) {
            0 | 1 => (format!("- {right} {text}"), Some(Match::Exact), "ticked rightly"),
            2 => (format!("- {text}"), Some(Match::Exact), "no tick"),
            3 => (format!("- {wrong} {text}"), Some(Match::Contradicted), "ticked wrongly"),
            _ => (String::new(), None, "nothing"),
        };
        tell(story, &line);
        let fate = tier.map_or_else(|| gone(false), |tier| live(false, tier));
        sentence_plan(story, FactClass::Todo, &text, birth, fate, (line, trap));
    }
}
