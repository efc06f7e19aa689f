//! Commands, checks, and the errors of what was run.

use super::super::log::Action;
use super::super::plant::Fate;
use super::super::story::{Plan, Story, live};
use super::super::words;
use super::{Zone, fill_in, tell};
use compactor::facts::{FactClass, Match};

pub(super) fn command(story: &mut Story) {
    let word = story.word();
    let script = fill_in(story.dice.word(words::COMMANDS), "{w}", &word);
    let zone = Zone::any(story);
    let place = zone.place(story);
    let run =
        |script: &str| Action::Shell { script: script.to_owned(), output: "done\n".to_owned(), code: 0 };
    let birth = story.call(place, run(&script));
    if zone == Zone::Restated {
        let place = story.kept();
        if story.dice.chance(50) {
            story.call(place, run(&script));
        } else {
            story.agent(place, &format!("As before, `{script}` does it."));
        }
    }
    let (line, tier, trap) = match story.dice.range(0, 5) {
        0 => (format!("- Ran `{script}`"), Match::Exact, "verbatim"),
        1 => (format!("The agent used {script} once."), Match::Exact, "in prose"),
        2 => (String::new(), Match::Absent, "nothing"),
        3 => {
            let other = fill_in(&script, &word, &format!("{word}-canary"));
            (format!("- Ran `{other}`"), Match::Absent, "longer argument")
        }
        _ => (format!("- Something about {word} was run"), Match::Absent, "argument only"),
    };
    tell(story, &line);
    story.plans.push(Plan {
        class: FactClass::Command,
        value: script.clone(),
        said: script.clone(),
        spellings: vec![script],
        birth: (birth, false),
        fate: live(zone.in_tail(), tier),
        summary: line,
        trap,
    });
}

pub(super) fn check(story: &mut Story) {
    let word = story.word();
    let script = fill_in(story.dice.word(words::CHECKS), "{w}", &word);
    let zone = Zone::any(story);
    // A pipe ends well whatever stands before it: there the output says how it went.
    let run = |script: &str, code: u8| {
        let (output, code) = match (script.contains('|'), code) {
            (false, 0) => ("all good\n", 0),
            (false, code) => ("", code),
            (true, 0) => ("12 passed in 0.81s\n", 0),
            (true, _) => ("1 failed, 11 passed in 0.92s\n", 0),
        };
        Action::Shell { script: script.to_owned(), output: output.to_owned(), code }
    };
    let code = u8::from(story.dice.chance(50));
    let place = zone.place(story);
    let bare = script.clone();
    let script = if story.dice.chance(25) { format!("{script} 2>&1 | tail -n 20") } else { script };
    // Another script with the same head: what it said is replaced, and may be what the summary still says.
    let former = (zone == Zone::Head && story.dice.chance(20)).then(|| format!("{bare} | tail -n 5"));
    let first = if let Some(former) = &former {
        let [one, two] = story.in_order();
        let act = story.call(one, run(former, 1 - code));
        let (value, fate) = (former.clone(), Fate::Replaced);
        check_plan(story, value, act, fate, String::new(), "former script");
        story.call(two, run(&script, code))
    } else if zone == Zone::Head && story.dice.chance(40) {
        // The latest outcome counts.
        let [one, two] = story.in_order();
        let first = story.call(one, run(&script, 1 - code));
        story.call(two, run(&script, code));
        first
    } else {
        story.call(place, run(&script, code))
    };
    let (says, opposite) = if code == 0 { ("passes", "fails") } else { ("fails", "passes") };
    if zone == Zone::Restated {
        let place = story.kept();
        if story.dice.chance(50) {
            story.call(place, run(&script, code));
        } else {
            story.agent(place, &format!("\n\n`{bare}` {says} now.\n\n"));
        }
    }
    if let Some(after) = story.after().filter(|_| zone == Zone::Head) {
        story.call(after, run(&script, 1 - code));
    }
    let (line, tier, trap) = match story.dice.range(0, 6) {
        0 => (format!("- `{bare}` {says}"), Match::Exact, "with outcome"),
        1 => {
            (format!("State of {bare}: {}", if code == 0 { "green" } else { "red" }), Match::Exact, "colour")
        }
        2 => (format!("- `{bare}` {opposite}"), Match::Contradicted, "other outcome"),
        3 => (format!("- Next comes {bare}"), Match::LabelOnly, "no outcome"),
        4 => (format!("- `{bare}-slow` {says}"), Match::Absent, "longer argument"),
        _ => (String::new(), Match::Absent, "nothing"),
    };
    tell(story, &line);
    story.stale += u64::from(former.is_some() && trap == "other outcome");
    check_plan(story, script, first, live(zone.in_tail(), tier), line, trap);
}

fn check_plan(
    story: &mut Story,
    script: String,
    birth: usize,
    fate: Fate,
    summary: String,
    trap: &'static str,
) {
    story.plans.push(Plan {
        class: FactClass::Check,
        value: script.clone(),
        said: script.clone(),
        spellings: vec![script],
        birth: (birth, false),
        fate,
        summary,
        trap,
    });
}

pub(super) fn error(story: &mut Story) {
    let word = story.word();
    let other = story.word();
    let forms: &[(&str, &str, &str)] = &[
        ("TypeError: cannot read properties of {w}", "TypeError: cannot read properties of {w}", "TypeError"),
        ("error[E0432]: unresolved import {w}", "E0432: unresolved import {w}", "E0432"),
        ("ValueError: unknown codec {w}", "ValueError: unknown codec {w}", "ValueError"),
        (
            "java.lang.IllegalStateException: pool {w} is closed",
            "java.lang.IllegalStateException: pool {w} is closed",
            "java.lang.IllegalStateException",
        ),
        ("src/main.ts(4,9): error TS2304: Cannot find name {w}", "TS2304: Cannot find name {w}", "TS2304"),
        ("fatal: remote {w} does not answer", "fatal: remote {w} does not answer", ""),
    ];
    let (output, value, label) = *story.dice.pick(forms);
    let (output, value) = (fill_in(output, "{w}", &word), fill_in(value, "{w}", &word));
    let zone = Zone::any(story);
    let place = zone.place(story);
    let script = format!("./run {other}");
    let output = format!("starting\n{output}\n");
    let birth = story.call(place, Action::Shell { script, output, code: 1 });
    if zone == Zone::Restated {
        let place = story.kept();
        story.agent(place, &format!("\n\nIt still says `{value}` at that point.\n\n"));
    }
    let near = fill_in(&value, &word, &format!("{word}s"));
    let (line, tier, trap) = match story.dice.range(0, 6) {
        0 => (format!("- {value}"), Match::Exact, "listed"),
        1 => (format!("The run ended in `{value}`."), Match::Exact, "in prose"),
        2 if !label.is_empty() => {
            (format!("- There was a {label} at some point"), Match::LabelOnly, "class only")
        }
        3 if !label.is_empty() => (format!("- {near}"), Match::LabelOnly, "nearly the same"),
        3 => (format!("- {near}"), Match::Absent, "nearly the same"),
        _ => (String::new(), Match::Absent, "nothing"),
    };
    tell(story, &line);
    // Errors of one class share its label.
    let fate = match live(zone.in_tail(), tier) {
        Fate::Live { location, tier: Some(tier) } if tier != Match::Exact => {
            Fate::Live { location, tier: None }
        }
        fate => fate,
    };
    story.plans.push(Plan {
        class: FactClass::Error,
        value: value.clone(),
        said: value.rsplit(": ").next().unwrap_or(&value).to_owned(),
        spellings: vec![value],
        birth: (birth, true),
        fate,
        summary: line,
        trap,
    });
}
