//! Identifiers and values: what stands for one thing, to the last digit.

use super::super::log::Action;
use super::super::plant::Fate;
use super::super::story::{Plan, Story, live};
use super::super::words;
use super::{Zone, fill_in, tell};
use compactor::facts::{FactClass, Match};

/// An identifier: its value, a spelling for text, one that is nearly the same, and a sentence for it.
fn coined(story: &mut Story) -> (String, String, String, &'static str) {
    let word = story.word();
    let port = story.port().to_string();
    let dice = &mut story.dice;
    match dice.range(0, 8) {
        0 => {
            let url =
                format!("https://{word}.example.test/{}/{}", dice.pick(words::DIRS), dice.range(10, 99));
            (url.clone(), url.clone(), format!("{url}/edit"), "The page is {i} for the record.")
        }
        1 => {
            let hex = "0123456789abcdef";
            let mut part = |length| dice.digits(hex, length);
            let start = format!("{}-{}-4{}-a{}", part(8), part(4), part(3), part(3));
            let end = part(11);
            let (id, near) = (format!("{start}-{end}7"), format!("{start}-{end}3"));
            (id.clone(), id, near, "The request {i} is the one that hung.")
        }
        2 => {
            let ticket = format!("{}-{}", word.to_uppercase(), dice.range(12, 99));
            (ticket.clone(), ticket.clone(), format!("{ticket}4"), "This is about {i} once more.")
        }
        3 => {
            let version = format!("{}.{}.{}", dice.range(1, 9), dice.range(0, 30), dice.range(1, 30));
            (
                version.clone(),
                version.clone(),
                format!("{version}0"),
                "It came with version {i} of the client.",
            )
        }
        4 => {
            let name = format!("{}_{}_URL", word.to_uppercase(), dice.pick(&["DB", "API", "CDN", "AUTH"]));
            (name.clone(), name.clone(), format!("{name}_OLD"), "Set the environment variable {i} for that.")
        }
        5 => {
            let hash = format!("{}{}", dice.digits("abcdef", 3), dice.digits("0123456789", 7));
            (hash.clone(), hash.clone(), format!("{hash}0"), "It began with commit {i} last week.")
        }
        6 => (
            format!("port {port}"),
            format!("port {port}"),
            format!("port {port}1"),
            "It listens on {i} here.",
        ),
        _ => {
            let name = format!("{word}::{}", dice.pick(&["connect", "Cursor", "read_all", "Builder"]));
            (name.clone(), name.clone(), format!("{name}_raw"), "The call of `{i}` stands out.")
        }
    }
}

pub(super) fn identifier(story: &mut Story) {
    let (value, said, near, sentence) = coined(story);
    let zone = Zone::any(story);
    let place = zone.place(story);
    let text = fill_in(sentence, "{i}", &said);
    let by_user = story.dice.chance(30);
    let birth = if by_user { story.user(place, &text) } else { story.agent(place, &text) };
    if zone == Zone::Restated {
        let place = story.kept();
        if story.dice.chance(50) {
            let output = format!("seen: {said}\n");
            story.call(place, Action::Shell { script: "dmesg".to_owned(), output, code: 0 });
        } else {
            story.agent(place, &format!("Again {said} shows up."));
        }
    }
    if let Some(after) = story.after().filter(|_| zone == Zone::Head) {
        story.agent(after, &format!("And {said} later on."));
    }
    let (line, tier, trap) = match story.dice.range(0, 6) {
        0 => (format!("- See {said}"), Match::Exact, "in a list"),
        1 => (format!("- `{said}` matters"), Match::Exact, "in backticks"),
        2 => (format!("Somebody mentioned {said}."), Match::Exact, "before a full stop"),
        3 => (format!("- See {near}"), Match::Absent, "nearly the same"),
        _ => (String::new(), Match::Absent, "nothing"),
    };
    tell(story, &line);
    story.plans.push(Plan {
        class: FactClass::Identifier,
        value,
        said: said.clone(),
        spellings: vec![said],
        birth: (birth, false),
        fate: live(zone.in_tail(), tier),
        summary: line,
        trap,
    });
}

pub(super) fn keyed_value(story: &mut Story) {
    let key = key(story);
    let (value, other, near) = amount(story);
    let zone = Zone::any(story);
    let place = zone.place(story);
    let text = state(story, &key, &value);
    // What the user notes would be a request and a choice as well.
    let by_user = story.dice.chance(25) && !text.starts_with("Note") && !text.ends_with("on all hosts.");
    let birth = if by_user { story.user(place, &text) } else { story.agent(place, &text) };
    if zone == Zone::Restated {
        let place = story.kept();
        story.agent(place, &format!("Here, too, `{key}` is {value} as agreed."));
    }
    if zone == Zone::Head
        && let Some(after) = story.after()
    {
        // Behind the prefix it is replaced: it still counts in it.
        let number = story.number();
        story.agent(after, &format!("\n\nFrom here on `{key}` is {number} instead.\n\n"));
    }
    let (line, tier, trap) = match story.dice.range(0, 8) {
        0 => (format!("- {key}: {value}"), Match::Exact, "listed"),
        1 => (format!("- `{key}` = {value}"), Match::Exact, "assigned"),
        2 => (format!("It uses {key} set to {value} everywhere."), Match::Exact, "in prose"),
        3 if other != value => (format!("- {key}: {other}"), Match::Normalised, "other spelling of the unit"),
        3 | 4 => (format!("- {key}: {near}"), Match::LabelOnly, "nearly the same"),
        5 => (format!("- `{key}` was tuned"), Match::LabelOnly, "key only"),
        6 => (format!("- {key}_max: {value}"), Match::Absent, "longer key"),
        _ => (String::new(), Match::Absent, "nothing"),
    };
    tell(story, &line);
    value_plan(story, Some(&key), &value, birth, live(zone.in_tail(), tier), line, trap);
}

fn key(story: &mut Story) -> String {
    let head = story.dice.take(&mut story.key_heads);
    let tail = story.dice.take(&mut story.key_tails);
    match story.dice.range(0, 3) {
        0 => format!("{head}_{tail}"),
        1 => {
            let mut chars = tail.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase().to_string()).unwrap_or_default();
            format!("{head}{first}{}", chars.as_str())
        }
        // Of a name of their own: where the first part is a module of the session, it is a symbol as well.
        _ => format!("{}.{tail}", story.word()),
    }
}

/// A number with its unit or without, in another spelling, and one that is nearly it.
fn amount(story: &mut Story) -> (String, String, String) {
    let number = story.number();
    if story.dice.chance(40) {
        return (number.to_string(), number.to_string(), format!("{number}9"));
    }
    let (unit, long) = *story.dice.pick(words::UNITS);
    (format!("{number} {unit}"), format!("{number} {long}"), format!("{number}9 {unit}"))
}

fn state(story: &mut Story, key: &str, value: &str) -> String {
    let template = story.dice.word(words::STATED);
    fill_in(&fill_in(template, "{k}", key), "{v}", value)
}

fn value_plan(
    story: &mut Story,
    key: Option<&str>,
    value: &str,
    birth: usize,
    fate: Fate,
    summary: String,
    trap: &'static str,
) {
    let canonical = key.map_or_else(|| value.to_owned(), |key| format!("{key} = {value}"));
    let spellings = key.map_or_else(
        || vec![value.to_owned()],
        |key| [": ", " = ", " is "].iter().map(|joint| format!("{key}{joint}{value}")).collect(),
    );
    story.plans.push(Plan {
        class: FactClass::Value,
        value: canonical,
        said: value.to_owned(),
        spellings,
        birth: (birth, false),
        fate,
        summary,
        trap,
    });
}

pub(super) fn plain_value(story: &mut Story) {
    let number = story.number();
    let (unit, long) = *story.dice.pick(words::UNITS);
    let value = format!("{number} {unit}");
    let zone = Zone::any(story);
    let place = zone.place(story);
    let text = fill_in(story.dice.word(words::MEASURED), "{}", &value);
    let birth = story.agent(place, &text);
    if zone == Zone::Restated {
        let place = story.kept();
        story.agent(place, &format!("It is {value} here as well."));
    }
    let (line, tier, trap) = match story.dice.range(0, 7) {
        0 => (format!("- It took {value}"), Match::Exact, "listed"),
        1 => (format!("The slow path needs {value}, not less."), Match::Exact, "in prose"),
        2 => (format!("- It took {number} {long}"), Match::Normalised, "other spelling of the unit"),
        3 => (format!("- It took {number}9 {unit}"), Match::Absent, "longer number"),
        4 => (format!("- It took 7.{number} {unit}"), Match::Absent, "a piece of a decimal"),
        5 => (format!("- It took {number}"), Match::Absent, "no unit"),
        _ => (String::new(), Match::Absent, "nothing"),
    };
    tell(story, &line);
    value_plan(story, None, &value, birth, live(zone.in_tail(), tier), line, trap);
}

/// One key, two values after one another.
pub(super) fn replaced_value(story: &mut Story) {
    let key = key(story);
    let (former, _, _) = amount(story);
    let (current, _, _) = amount(story);
    let [one, two] = story.in_order();
    let text = state(story, &key, &former);
    let old = story.agent(one, &text);
    let text = state(story, &key, &current);
    let new = story.agent(two, &text);
    let in_tail = story.dice.chance(25);
    if in_tail {
        let place = story.kept();
        story.agent(place, &format!("And `{key}` is {current} as agreed."));
    }
    let (line, tier, trap) = match story.dice.range(0, 5) {
        0 => (format!("- {key}: {former}"), Match::LabelOnly, "former value"),
        1 => (format!("- `{key}` is {former} for now"), Match::LabelOnly, "former value"),
        2 => (format!("- {key}: {current}"), Match::Exact, "current value"),
        3 => (format!("Changed {key} from {former} to {current}."), Match::Exact, "both values"),
        _ => (String::new(), Match::Absent, "nothing"),
    };
    tell(story, &line);
    story.stale += u64::from(trap == "former value" && !in_tail);
    value_plan(story, Some(&key), &former, old, Fate::Replaced, line.clone(), trap);
    value_plan(story, Some(&key), &current, new, live(in_tail, tier), line, trap);
}
