//! Where the systems cut, what they split, and how they repair pairs.

use super::{Case, Verdict, input, rules, same};
use compactor::cut::{CutRules, Mark, TurnRules, split, turn_start};
use compactor::harness::{Block, Entry, Outcome, Role};
use compactor::pairs::{PairRules, answered, repaired, unanswered};
use serde_json::{Value, json};

fn number(value: &Value, key: &str) -> usize {
    usize::try_from(value[key].as_u64().unwrap_or(0)).unwrap_or(0)
}

pub(crate) fn marks(case: &Case, entries: &[Entry<'_>]) -> Vec<Mark> {
    let cut: CutRules = rules(case, "cut");
    entries
        .iter()
        .map(|entry| Mark::of(entry, cut.own_size(entry).unwrap_or_else(|| size(case, entry))))
        .collect()
}

fn size(case: &Case, entry: &Entry<'_>) -> u64 {
    super::size(case, entry)
}

/// Opal's cut and its split turns.
pub(crate) fn opal_cut(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    let cut: CutRules = rules(case, "cut");
    let keep = case.input["keep_tokens"].as_i64().unwrap_or(0).max(0) as u64;
    let ours = cut.place(&marks(case, &entries), keep, false).filter(|cut| *cut > 0);
    same("cut", &json!(ours), &case.expect["cut"])
}

pub(crate) fn opal_split(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    let ours = split(&marks(case, &entries), number(&case.input, "cut"), &rules::<TurnRules>(case, "turn"));
    same("split", &json!(ours), &case.expect["split"])
}

/// The cut of pi and Operator-Use over a range of entries.
pub(crate) fn session_cut(case: &Case) -> Verdict {
    let entries = input::session(&case.input["entries"]);
    let at = |camel: &str, snake: &str| {
        let value = if case.input[camel].is_null() { &case.input[snake] } else { &case.input[camel] };
        usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0)
    };
    let (start, end) = (at("startIndex", "start_index"), at("endIndex", "end_index"));
    let keep = at("keepRecentTokens", "keep_recent_tokens") as u64;
    let cut: CutRules = rules(case, "cut");
    let turn: TurnRules = rules(case, "turn");
    let all = marks(case, &entries);
    let range = &all[start..end];
    let place = cut.place(range, keep, false).unwrap_or(0);
    let found = split(range, place, &turn);
    let ours =
        [json!(start + place), found.map_or(json!(-1), |at| json!(start + at)), json!(found.is_some())];
    let expect = |camel: &str, snake: &str| {
        let value = if case.expect[camel].is_null() { &case.expect[snake] } else { &case.expect[camel] };
        value.clone()
    };
    let theirs = [
        expect("firstKeptEntryIndex", "first_kept_entry_index"),
        expect("turnStartIndex", "turn_start_index"),
        expect("isSplitTurn", "is_split_turn"),
    ];
    same("first kept, turn start, split", &ours, &theirs)
}

pub(crate) fn pi_turn_start(case: &Case) -> Verdict {
    let entries = input::session(&case.input["entries"]);
    let start = number(&case.input, "startIndex");
    let marks = marks(case, &entries);
    let found = turn_start(&marks[start..], number(&case.input, "entryIndex") - start, &rules(case, "turn"));
    same("index", &found.map_or(json!(-1), |at| json!(start + at)), &case.expect["index"])
}

/// Lis: messages as pairs of id and tokens.
pub(crate) fn lis_split(case: &Case) -> Verdict {
    let messages: Vec<(u64, u64)> = input::list(&case.input["messages"])
        .iter()
        .map(|pair| (pair[0].as_u64().unwrap_or(0), pair[1].as_u64().unwrap_or(0)))
        .collect();
    let blank = Entry::text(Role::User, "x");
    let marks: Vec<Mark> = messages.iter().map(|(_, tokens)| Mark::of(&blank, *tokens)).collect();
    let keep = case.input["keep_recent_tokens"].as_u64().unwrap_or(0);
    let cut = rules::<CutRules>(case, "cut").place(&marks, keep, false);
    let ids = |range: &[(u64, u64)]| json!(range.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    let (compacted, kept) = messages.split_at(cut.unwrap_or(0));
    let split = compacted.last().map_or(0, |(id, _)| *id);
    same(
        "split",
        &[json!(split), ids(compacted), ids(kept)],
        &[case.expect["split_id"].clone(), case.expect["compacted"].clone(), case.expect["kept"].clone()],
    )
}

/// A message of Opal after repair, as its vectors show it.
fn opal_view(entry: &Entry<'_>) -> Value {
    let role = match entry.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Unknown => "tool_call",
        _ => "tool_result",
    };
    let id = if entry.id.is_empty() { "<random>" } else { &*entry.id };
    let mut out = json!({"id": id, "role": role});
    let content = match entry.role {
        Role::Tool => entry.results().next().and_then(|result| result.texts.first().map(ToString::to_string)),
        _ => entry.texts().next().map(str::to_owned),
    };
    if let Some(content) = content {
        out["content"] = json!(content);
    }
    if let Some(result) = entry.results().next() {
        out["call_id"] = json!(result.call_id);
        if result.error {
            out["is_error"] = json!(true);
        }
    }
    let calls: Vec<Option<&str>> =
        entry.calls().map(|call| Some(&*call.id).filter(|id| !id.is_empty())).collect();
    if !calls.is_empty() {
        out["tool_call_ids"] = json!(calls);
    }
    out
}

/// Without what the expectations leave out.
fn shown(expect: &Value) -> Value {
    let mut out = expect.clone();
    if let Some(map) = out.as_object_mut() {
        map.retain(|_, value| !value.is_null());
        // A message that stands for a call by itself: its own fields are no part of an entry.
        if map.get("role") == Some(&json!("tool_call")) {
            map.remove("call_id");
            map.remove("name");
        }
    }
    out
}

pub(crate) fn opal_results(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    let pairs: PairRules = rules(case, "pairs");
    let ours: Vec<Value> = repaired(entries, &pairs).iter().map(opal_view).collect();
    let theirs: Vec<Value> = input::list(&case.expect["messages"]).iter().map(shown).collect();
    same("messages", &ours, &theirs)
}

pub(crate) fn opal_repair(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    let pairs: PairRules = rules(case, "pairs");
    let first = answered(entries, &pairs);
    let ids: Vec<String> = first
        .iter()
        .map(|entry| if entry.id.is_empty() { "<random>".to_owned() } else { entry.id.to_string() })
        .collect();
    same("after layer 1", &json!(ids), &case.expect["after_layer1"])?;
    let ours: Vec<Value> = repaired(first, &pairs).iter().map(opal_view).collect();
    let theirs: Vec<Value> = input::list(&case.expect["messages"]).iter().map(shown).collect();
    same("messages", &ours, &theirs)
}

pub(crate) fn opal_orphans(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    same("orphans", &json!(unanswered(&entries)), &case.expect["orphans"])
}

/// Lis: the history of a request.
pub(crate) fn lis_pairs(case: &Case) -> Verdict {
    let entries: Vec<Entry<'_>> = input::list(&case.input["history"])
        .iter()
        .map(|message| {
            let text = message["text"].as_str();
            let mut entry = match message["role"].as_str() {
                Some("system") => Entry::message(Role::System, Vec::new()),
                Some("user") => Entry::message(Role::User, Vec::new()),
                Some("tool") => Entry::message(
                    Role::Tool,
                    vec![Block::Result(Outcome {
                        call_id: message["call_id"].as_str().map(Into::into),
                        name: None,
                        texts: Vec::new(),
                        images: Vec::new(),
                        error: false,
                    })],
                ),
                _ => Entry::message(Role::Assistant, Vec::new()),
            };
            entry.blocks.extend(text.map(|text| Block::Text(text.into())));
            entry.blocks.extend(input::list(&message["calls"]).iter().map(|id| {
                Block::Call(compactor::harness::Call {
                    id: id.as_str().unwrap_or_default().into(),
                    name: "tool".into(),
                    arguments: "{}".into(),
                    kind: None,
                })
            }));
            entry
        })
        .collect();
    let ours: Vec<Value> = repaired(entries, &rules(case, "pairs"))
        .iter()
        .map(|entry| {
            let role = match entry.role {
                Role::System => "system",
                Role::User => "user",
                Role::Tool => "tool",
                _ => "assistant",
            };
            let calls: Vec<&str> = entry.calls().map(|call| &*call.id).collect();
            let call_id = entry.results().next().and_then(|result| result.call_id.as_deref());
            let mut out = json!({"role": role});
            out["text"] = json!(entry.texts().next());
            out["calls"] = json!(calls);
            out["call_id"] = json!(call_id);
            out
        })
        .collect();
    let theirs: Vec<Value> = input::list(&case.expect["history"])
        .iter()
        .map(|message| {
            let mut out = json!({"role": message["role"]});
            out["text"] = message["text"].clone();
            out["calls"] = if message["calls"].is_array() { message["calls"].clone() } else { json!([]) };
            out["call_id"] = message["call_id"].clone();
            out
        })
        .collect();
    same("history", &ours, &theirs)
}
