//! Is the measure valid: what counts as kept, what is no success, what may be told apart, what can be gamed.

use crate::logs::{
    agent, auditing, call, compaction, done, long_work, measure, pi, replaying, session, step, user,
    whole_compaction, window,
};
use crate::support::{Sandbox, fixture};
use compactor::context::{Context, Entry};
use compactor::discover::discover;
use compactor::facts::{FactSet, Match};
use compactor::replay::effects;
use compactor::results::{CycleRow, RunOutput};
use compactor::run::{Windows, run};
use compactor::score::{Cycle, CycleScore, Location, Scorer};
use compactor::strategy::Strategy;
use compactor::summarize::extractive::Extractive;
use compactor::summarize::{SummarizeError, Summarizer, SummaryRequest};
use compactor::transcript::{MessageIdx, Part, Role};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Scores a text that takes the place of a whole session.
fn scored(log: &str, text: &str) -> (CycleScore, FactSet) {
    let (transcript, _) = session(log);
    let facts = FactSet::extract(&transcript, &effects(&transcript));
    let now = MessageIdx::new(transcript.messages.len());
    let entries = vec![Entry::Summary { role: Role::User, text: text.to_owned() }];
    let context = Context { entries, now, ..Context::default() };
    let score = Scorer::new(&transcript, &facts).score(&Cycle {
        held: &transcript,
        began: MessageIdx(0),
        archive: &[],
        context: &context,
        prefix_end: now,
        compacted_end: now,
        metadata: None,
        writes_lists: false,
        newest_request: None,
        opaque: false,
    });
    (score, facts)
}

/// How a fact stands in each of some texts.
fn check_tiers(log: &str, value: &str, texts: &[(&str, Match)]) {
    for (text, tier) in texts {
        let (score, facts) = scored(log, text);
        let fate = score.fates.iter().find(|fate| facts.get(fate.id).is_some_and(|fact| fact.value == value));
        let fate = fate.unwrap_or_else(|| panic!("no {value} in {:?}", facts.facts));
        assert_eq!(fate.tier, *tier, "{value} in {text:?}");
        let place = if tier.is_present() { Location::Summary } else { Location::Lost };
        assert_eq!(fate.location, place, "{value} in {text:?}");
    }
}

/// Two files whose names begin or end alike, and an amount.
fn alike() -> String {
    let mut entries = vec![user("The p99 must stay under 88 ms, see https://example.com/spec for details")];
    entries.extend(step("1", "read", &json!({"path": "/w/src/a.rs"}), "fn a() {}"));
    entries.extend(step(
        "2",
        "edit",
        &json!({"path": "/w/web/foo.ts", "oldText": "a", "newText": "b"}),
        "ok",
    ));
    entries.push(agent("Looked at both."));
    pi(&entries)
}

#[test]
fn only_whole_tokens_count_as_kept() {
    use Match::{Absent, Exact, Mutated};
    check_tiers(
        &alike(),
        "/w/src/a.rs",
        &[("src/a.rs", Exact), ("src/data.rs", Absent), ("src/a.rs.bak", Absent), ("xsrc/a.rs", Mutated)],
    );
    check_tiers(&alike(), "/w/web/foo.ts", &[("web/foo.ts", Exact), ("web/foo.tsx", Absent)]);
    check_tiers(
        &alike(),
        "88 ms",
        &[("below 88 ms", Exact), ("below 889 ms", Absent), ("below 188 ms", Absent), ("88.5 ms", Absent)],
    );
    let spec = "https://example.com/spec";
    check_tiers(
        &alike(),
        spec,
        &[
            ("see https://example.com/spec.", Exact),
            ("https://example.com/special", Absent),
            ("https://example.com/spec/v2", Absent),
        ],
    );
}

/// The only compaction that a log holds, with the facts by value.
fn audited(entries: &[Value]) -> (CycleRow, BTreeMap<String, (String, String)>) {
    let output = measure(&[pi(entries)], &auditing(), &Extractive);
    assert_eq!(output.cycles.len(), 1, "{output:?}");
    let fates = output.facts.iter().map(|fact| {
        (fact.value.clone(), (fact.location.clone().into_owned(), fact.tier.clone().into_owned()))
    });
    (output.cycles[0].clone(), fates.collect())
}

#[test]
fn what_the_kept_tail_holds_is_no_merit_of_the_summary() {
    let talk = |summary: &str| {
        [
            user("Set `retry_limit` to 7"),
            agent("It is set."),
            user("Set `max_depth` to 12"),
            agent("Set as well."),
            compaction(summary, 2),
            user("Go on"),
        ]
    };
    let (row, fates) = audited(&talk("Some limits were set."));
    assert_eq!(fates["max_depth = 12"].0, "tail");
    assert_eq!(fates["retry_limit = 7"].0, "lost");
    assert_eq!((row.facts_in_summary, row.summary_survival), (0, Some(0.0)), "{row:?}");
    assert!(row.context_survival > Some(0.0), "it is in the context all the same: {row:?}");
    assert_eq!(row.facts_total, row.facts_at_risk + row.tail_facts);
    // Nor does a summary gain by saying it again.
    let (again, fates) = audited(&talk("`max_depth` is 12."));
    assert_eq!(fates["max_depth = 12"].0, "both");
    assert_eq!((again.facts_in_summary, again.facts_at_risk), (0, row.facts_at_risk));
    let (kept, fates) = audited(&talk("`retry_limit` is 7."));
    assert_eq!(fates["retry_limit = 7"].0, "summary");
    assert!(kept.facts_in_summary > 0);
}

/// A summarizer that copies all it is given.
struct Copies;

impl Summarizer for Copies {
    fn name(&self) -> &'static str {
        "copies"
    }

    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummarizeError> {
        let mut whole = request.previous.unwrap_or_default().to_owned();
        for message in &request.view.transcript.messages[request.messages.clone()] {
            for part in &message.parts {
                match part {
                    Part::Text(text) => whole += &format!("{}\n", text.text),
                    Part::Result(result) => whole += &format!("{}\n", result.text),
                    Part::Call(call) => whole += &format!("{}\n", call.arguments),
                    _ => {}
                }
            }
        }
        Ok(whole)
    }
}

#[test]
fn an_input_that_fits_is_not_exercised_and_no_success() {
    let talk: Vec<Value> =
        (0..4).flat_map(|n| [user(&format!("Set `limit_{n}` to {}", n + 3)), agent("It is set.")]).collect();
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", pi(&talk));
    for arguments in [
        &["replay", "log.jsonl"][..],
        &["replay", "log.jsonl", "--window", "128k", "--summary-tokens", "4000"],
        &["replay", "log.jsonl", "--window", "128k", "--strategy", "none"],
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("nothing was measured"), "{ran:?}");
    }
    // Whatever writes the summary.
    for summarizer in [&Copies as &dyn Summarizer, &Extractive] {
        let output = measure(&[pi(&talk)], &replaying(&Strategy::ALL, window(128_000)), summarizer);
        assert!(output.cycles.is_empty());
        assert!(output.sessions.iter().all(|row| !row.exercised && row.summary_survival.is_none()));
        assert_eq!((output.manifest.sessions_exercised, output.manifest.sessions_not_exercised), (0, 1));
    }
}

#[test]
fn a_recorded_copy_of_everything_keeps_all_and_counts_for_nothing() {
    let talk: Vec<Value> =
        (0..4).flat_map(|n| [user(&format!("Set `limit_{n}` to {}", n + 3)), agent("It is set.")]).collect();
    let copy: Vec<String> =
        (0..4).map(|n| format!("User: Set `limit_{n}` to {}\nAgent: It is set.", n + 3)).collect();
    let mut entries = talk;
    entries.push(whole_compaction(&format!("A summary of all that was said:\n{}", copy.join("\n"))));
    entries.push(user("Go on"));
    let output = measure(&[pi(&entries)], &auditing(), &Extractive);
    let row = &output.cycles[0];
    assert_eq!(row.lexical_survival, Some(1.0), "{row:?}");
    assert!(row.reduction < Some(0.01), "the price stands beside it: {row:?}");
    assert!(!output.sessions[0].exercised);
    let aggregate = compactor::aggregate::aggregate(&output);
    assert!(aggregate.summary.iter().all(|row| row.n_exercised == 0 && row.lexical_survival.is_none()));
}

#[test]
fn a_summarizer_that_copies_has_the_budget_of_all_and_shows_by_its_size() {
    let log = [pi(&long_work(60))];
    let settings = replaying(&[Strategy::Structured], Windows::Cycles(4));
    let (copies, quotes) = (measure(&log, &settings, &Copies), measure(&log, &settings, &Extractive));
    for (copy, quote) in copies.cycles.iter().zip(&quotes.cycles) {
        assert_eq!(
            (copy.trigger_message, copy.cut_message, copy.budget),
            (quote.trigger_message, quote.cut_message, quote.budget)
        );
        let budget = copy.budget.expect("a budget");
        assert!(copy.tokens_summary <= budget && copy.tokens_summary * 10 > budget * 9, "{copy:?}");
        assert!(copy.tokens_summary > quote.tokens_summary, "{quote:?}");
    }
    let survival = |output: &RunOutput| output.sessions[0].summary_survival.expect("facts at risk");
    assert!(survival(&copies) < survival(&quotes), "the first words are not the most telling ones");
}

#[test]
fn every_strategy_is_cut_at_the_same_places_within_the_same_budget() {
    let output = run(
        &discover(&[fixture("").into()]),
        &replaying(&Strategy::ALL, Windows::Cycles(3)),
        &Extractive,
        &|_, _| {},
    );
    let output = output.expect("two threads");
    let mut places: BTreeMap<(&str, u32), Vec<&CycleRow>> = BTreeMap::new();
    for row in &output.cycles {
        places.entry((&row.session, row.cycle)).or_default().push(row);
    }
    assert!(places.len() > 30, "{}", places.len());
    for rows in places.values() {
        assert_eq!(rows.len(), Strategy::ALL.len());
        for row in rows {
            assert_eq!(
                (row.trigger_message, row.cut_message, row.window, row.budget),
                (rows[0].trigger_message, rows[0].cut_message, rows[0].window, rows[0].budget)
            );
            assert!(Some(row.tokens_summary) <= row.budget, "{row:?}");
            assert_eq!(row.tokens_after, row.tokens_summary + row.tokens_tail, "what stays is told: {row:?}");
            if row.strategy != "none" {
                assert_eq!(row.facts_at_risk, rows[0].facts_at_risk, "the same questions: {row:?}");
            }
        }
    }
}

#[test]
fn an_old_value_without_the_new_one_is_stale_and_a_reversed_rule_is_not_kept() {
    let talk = |summary: &str| {
        [
            user("Set `retry_limit` to 3. Never use CASCADE in migrations/0007.sql."),
            agent("`retry_limit` is 3 now."),
            user("Set `retry_limit` to 9 instead"),
            agent("`retry_limit` is 9 now."),
            whole_compaction(summary),
            user("Go on"),
        ]
    };
    let rule = "Never use CASCADE in migrations/0007.sql.";
    for (summary, stale, kept, contradicted) in [
        ("`retry_limit` is 3. Never use CASCADE in migrations/0007.sql.", 1, false, 0),
        ("`retry_limit` was raised from 3 to 9. Never use CASCADE in migrations/0007.sql.", 0, true, 0),
        ("`retry_limit` is 9. You may use CASCADE in migrations/0007.sql.", 0, true, 1),
        ("`retry_limit` is bounded. Never use CASCADE in migrations/0007.sql.", 0, false, 0),
    ] {
        let (row, fates) = audited(&talk(summary));
        assert_eq!((row.stale, row.contradicted), (stale, contradicted), "{summary}: {fates:?}");
        assert_eq!(fates["retry_limit = 9"].0 == "summary", kept, "{summary}: {fates:?}");
        assert!(!fates.contains_key("retry_limit = 3"), "what was replaced is in no denominator");
        let (place, tier) =
            fates.iter().find(|(value, _)| rule.starts_with(value.as_str())).expect("the rule").1;
        assert_eq!(place == "lost", contradicted == 1, "{summary}: {tier}");
    }
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", pi(&talk("`retry_limit` is 3.")));
    let ran = sandbox.run(&["show", "log.jsonl", "-s", "recorded", "--format", "json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!(
        (&shown["stale"][0]["old"], &shown["stale"][0]["new"]),
        (&json!("retry_limit = 3"), &json!("retry_limit = 9"))
    );
}

#[test]
fn evidence_is_shown_where_only_the_heading_makes_it_one() {
    let rule = "Never use CASCADE in migrations/0007.sql.";
    let log = [
        user(rule),
        agent("Noted."),
        whole_compaction("## Never\n- use CASCADE in migrations/0007.sql\n"),
        user("Go on"),
    ];
    let sandbox = Sandbox::new();
    sandbox.file("log.jsonl", pi(&log));
    let ran = sandbox.run(&["show", "log.jsonl", "-s", "recorded", "--format", "json"]);
    let shown: Value = serde_json::from_str(&ran.stdout).expect("a document");
    let facts = shown["facts"].as_array().expect("facts");
    let fact = facts.iter().find(|fact| fact["class"] == "constraint").expect("the rule");
    assert_eq!((&fact["tier"], &fact["evidence_line"]), (&json!("exact"), &json!(2)), "{fact}");
}

/// Rows of `summary.csv` and `differences.csv` of a run over so many sessions.
fn tables(sessions: usize) -> [Vec<BTreeMap<String, String>>; 2] {
    let sandbox = Sandbox::new();
    for n in 0..sessions {
        sandbox.file(&format!("logs/{n:02}.jsonl"), pi(&long_work(20 + n)).replace("p-1", &format!("p-{n}")));
    }
    let ran = sandbox.run(&["replay", "logs", "--cycles", "2", "--out", "out", "-s", "structured,truncate"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stdout.contains("no intervals below 10 sessions"), sessions < 10, "{ran:?}");
    ["summary", "differences"].map(|name| {
        let mut reader =
            csv::Reader::from_path(sandbox.path(&format!("out/{name}.csv"))).expect("a CSV file");
        reader.deserialize().map(|row| row.expect("a row")).collect()
    })
}

#[test]
fn a_rate_has_its_number_of_sessions_and_an_interval_from_ten_on() {
    for sessions in [9, 10] {
        let [summary, differences] = tables(sessions);
        assert_eq!(summary.len(), 2);
        for row in &summary {
            for metric in ["structural_survival", "context_survival", "files_modified"] {
                assert_eq!(row[&format!("{metric}_n")], sessions.to_string(), "{row:?}");
                for end in ["low", "high"] {
                    assert_eq!(row[&format!("{metric}_{end}")].is_empty(), sessions < 10, "{metric} {row:?}");
                }
            }
        }
        let row = differences.iter().find(|row| row["metric"] == "structural_survival").expect("a row");
        assert_eq!(row["n"], sessions.to_string());
        assert_eq!(row["low"].is_empty(), sessions < 10, "{row:?}");
    }
}

#[test]
fn the_rows_tell_what_a_session_is_made_of() {
    let mut entries = Vec::new();
    for n in 0..20 {
        entries.push(user(&format!("Look at part {n} of the log")));
        entries.push(call(&format!("c{n}"), "read", &json!({"path": format!("/w/part_{n}.log")})));
        entries.push(done(&format!("c{n}"), &"a line of the log ".repeat(100)));
        entries.push(agent("Nothing in it."));
    }
    let busy = pi(&entries);
    // The same words and no tools.
    let talk: Vec<Value> = (0..20)
        .flat_map(|n| {
            let text = format!("Nothing in part {n}: {}", "a line of the log ".repeat(100));
            [user(&format!("Look at part {n} of the log")), agent(&text)]
        })
        .collect();
    // A value that comes up again and again.
    let again: Vec<Value> = (0..20)
        .flat_map(|n| {
            let text = format!("`retry_limit` is 7, see part {n}. {}", "A line of the log. ".repeat(40));
            [user("Is it `retry_limit` = 7 there?"), agent(&text)]
        })
        .collect();
    let logs = [busy, pi(&talk), pi(&again)];
    let output = measure(&logs, &replaying(&[Strategy::Structured], Windows::Cycles(2)), &Extractive);
    let [busy, talk, again] = output.sessions.as_slice() else { panic!("{output:?}") };
    for row in &output.sessions {
        assert_eq!(row.turns, 20, "{row:?}");
        assert_eq!(row.tool_share, Some(row.tokens_tool as f64 / row.tokens as f64));
        assert_eq!(row.repeat_rate, Some(row.mentions as f64 / row.facts as f64));
    }
    assert!(busy.tool_share > Some(0.8), "{busy:?}");
    assert_eq!((talk.tokens_tool, talk.tool_share), (0, Some(0.0)), "{talk:?}");
    assert!(again.repeat_rate > talk.repeat_rate && talk.repeat_rate >= Some(1.0), "{again:?}\n{talk:?}");
    // What was never compacted has no facts to tell of, and is no division by nothing.
    let idle = measure(&logs[..1], &replaying(&[Strategy::Structured], window(1_000_000)), &Extractive);
    assert_eq!((idle.sessions[0].facts, idle.sessions[0].repeat_rate), (0, None));
    let mut audited = talk_with_compaction();
    audited.push(user("Go on"));
    let audit = measure(&[pi(&audited)], &auditing(), &Extractive);
    assert_eq!(audit.sessions[0].turns, 3);
    assert!(audit.sessions[0].facts > 0 && audit.sessions[0].mentions >= audit.sessions[0].facts);
}

fn talk_with_compaction() -> Vec<Value> {
    vec![
        user("Set `retry_limit` to 7"),
        agent("`retry_limit` is 7 now."),
        user("Thanks, and the docs?"),
        agent("Written."),
        compaction("`retry_limit` is 7.", 3),
    ]
}

#[test]
fn equal_values_written_in_another_way_count_in_a_column_of_their_own() {
    use Match::{Exact, Normalised, Resolvable};
    let mut entries = vec![user("The cache size must be 1,024 and the timeout 45s at most")];
    entries.extend(step("1", "edit", &json!({"path": "/w/proj/a.rs", "oldText": "a", "newText": "b"}), "ok"));
    entries.push(agent("Set."));
    let log = pi(&entries);
    check_tiers(
        &log,
        "cache size = 1,024",
        &[("cache size: 1,024", Exact), ("cache size: 1024", Normalised)],
    );
    let (_, facts) = scored(&log, "");
    let timeout = facts.facts.iter().map(|fact| fact.value.as_str()).find(|value| value.contains("45"));
    let timeout = timeout.expect("the timeout");
    check_tiers(&log, timeout, &[("timeout 45s", Exact), ("timeout 45 seconds", Normalised)]);
    let path = "/w/proj/a.rs";
    check_tiers(&log, path, &[("/w/proj/a.rs", Exact), ("proj/a.rs", Exact), ("`a.rs`", Resolvable)]);
    // The three columns: the strict one, the headline, the lenient one.
    let columns = |text: &str| {
        let (score, _) = scored(&log, text);
        (score.exact, score.structural.in_summary + score.lexical.in_summary, score.normalised)
    };
    let as_logged = columns("cache size: 1,024\ntimeout 45s\n/w/proj/a.rs");
    assert_eq!((as_logged.0, as_logged.1), (as_logged.1, as_logged.2), "{as_logged:?}");
    let other = columns("cache size: 1024\ntimeout 45 seconds\n`a.rs`");
    assert_eq!((other.0 + 1, other.1 + 2), (other.1, other.2), "{other:?}");
}
