//! Whole compactions: what is prepared, which files are listed, what the model sees afterwards.

use super::cuts::marks;
use super::{Case, Verdict, input, rules, same};
use compactor::compaction::{Policy, SessionRules, context, operations, prepare};
use compactor::cut::{CutRules, TurnRules};
use compactor::harness::{Compaction, Entry, Role};
use compactor::ledger::{FileOpRules, Op, Operations};
use serde_json::{Value, json};

/// A list as the vectors have it: texts, and other values by their JSON.
fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    input::list(value).iter().map(text).collect()
}

fn lists(value: &Value) -> [Vec<String>; 2] {
    [texts(&value["read"]), texts(&value["modified"])]
}

/// Opal: the operations of messages as they are, not promoted.
pub(crate) fn opal_ops(case: &Case) -> Verdict {
    let files: FileOpRules = rules(case, "ledger");
    let mut ops = Operations::default();
    for entry in input::opal(&case.input["messages"], 0) {
        if let Err(error) = ops.read_calls(&entry, &files) {
            return same("crash", &json!(true), &json!(!case.expect["crash"].is_null()))
                .map_err(|fault| format!("{fault} ({error})"));
        }
    }
    same("lists", &[ops.paths(Op::Read), ops.modified()], &lists(&case.expect))
}

fn carried(value: &Value) -> Entry<'static> {
    let [read, modified] = lists(value);
    Entry {
        compaction: Some(Compaction { lists: Some((read, modified)), ..Compaction::default() }),
        ..Entry::text(Role::User, "summary")
    }
}

pub(crate) fn opal_merge(case: &Case) -> Verdict {
    let files: FileOpRules = rules(case, "ledger");
    let mut ops = Operations::default();
    ops.carry(&carried(&case.input["previous"]), &files);
    ops.carry(&carried(&case.input["current"]), &files);
    let (read, modified) = ops.lists(&files);
    same("lists", &[read, modified], &lists(&case.expect))
}

pub(crate) fn opal_cumulative(case: &Case) -> Verdict {
    let files: FileOpRules = rules(case, "ledger");
    let entries = input::opal(&case.input["messages"], 0);
    let mut ops = Operations::default();
    if let Some(first) = entries.first() {
        ops.carry(first, &files);
    }
    for entry in &entries {
        ops.read_calls(entry, &files).map_err(|error| error.to_string())?;
    }
    let (read, modified) = ops.lists(&files);
    same("lists", &[read, modified], &lists(&case.expect))
}

pub(crate) fn opal_previous_ops(case: &Case) -> Verdict {
    let files: FileOpRules = rules(case, "ledger");
    let entries = input::opal(&case.input["messages"], 0);
    let mut ops = Operations::default();
    if let Some(first) = entries.first() {
        ops.carry(first, &files);
    }
    same("lists", &[ops.paths(Op::Read), ops.modified()], &lists(&case.expect))
}

fn either<'v>(value: &'v Value, camel: &str, snake: &str) -> &'v Value {
    if value[camel].is_null() { &value[snake] } else { &value[camel] }
}

pub(crate) fn file_lists(case: &Case) -> Verdict {
    let files: FileOpRules = rules(case, "ledger");
    let mut ops = Operations::default();
    for (key, op) in [("read", Op::Read), ("written", Op::Written), ("edited", Op::Edited)] {
        for path in texts(&case.input[key]) {
            ops.add(op, path);
        }
    }
    let (read, modified) = ops.lists(&files);
    let theirs = [
        texts(either(&case.expect, "readFiles", "read_files")),
        texts(either(&case.expect, "modifiedFiles", "modified_files")),
    ];
    same("lists", &[read, modified], &theirs)
}

/// Preparation in pi and Operator-Use.
pub(crate) fn session_prepare(case: &Case) -> Verdict {
    let entries = input::session(&case.input["entries"]);
    let settings = &case.input["settings"];
    let keep = either(settings, "keepRecentTokens", "keep_recent_tokens").as_u64().unwrap_or(20_000);
    let (session, cut, turn): (SessionRules, CutRules, TurnRules) =
        (rules(case, "session"), rules(case, "cut"), rules(case, "turn"));
    let policy = Policy { session, cut: &cut, turn: &turn };
    let prepared = prepare(&entries, &marks(case, &entries), policy, keep, false, |_| false);
    same("prepared", &json!(prepared.is_some()), &case.expect["prepared"])?;
    let Some(prepared) = prepared else { return Ok(()) };
    let ids = |list: &[usize]| json!(list.iter().map(|at| &*entries[*at].id).collect::<Vec<_>>());
    let kept = entries.get(prepared.cut).map(|entry| &*entry.id);
    let expect = |camel: &str, snake: &str| either(&case.expect, camel, snake).clone();
    same("first kept", &json!(kept), &expect("firstKeptEntryId", "retained_from_id"))?;
    same("history", &ids(&prepared.history), &case.expect["history"])?;
    same("prefix", &ids(&prepared.prefix), &expect("turnPrefix", "turn_prefix"))?;
    same("split", &json!(prepared.split), &expect("isSplitTurn", "is_split_turn"))?;
    super::estimates::before(case, &expect("tokensBefore", "tokens_before"))?;
    let previous = prepared.previous.and_then(|at| entries[at].texts().next());
    same("previous", &json!(previous), &expect("previousSummary", "previous_summary"))?;
    let files: FileOpRules = rules(case, "ledger");
    let ops = operations(&entries, &prepared, &files).map_err(|error| error.to_string())?;
    if case.expect["fileOps"].is_object() {
        let ours = [Op::Read, Op::Written, Op::Edited].map(|op| ops.paths(op));
        let theirs = ["read", "written", "edited"].map(|key| texts(&case.expect["fileOps"][key]));
        same("operations", &ours, &theirs)?;
    }
    let (read, modified) = ops.lists(&files);
    let theirs =
        [texts(&expect("readFiles", "read_files")), texts(&expect("modifiedFiles", "modified_files"))];
    same("lists", &[read, modified], &theirs)
}

/// What the model sees of a session of pi.
pub(crate) fn pi_context(case: &Case) -> Verdict {
    let entries = input::session(&case.input["entries"]);
    let ours: Vec<String> = context(&entries)
        .into_iter()
        .map(|at| {
            let role = match entries[at].role {
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "toolResult",
                Role::Shell => "bashExecution",
                Role::Custom => "custom",
                Role::Branch => "branchSummary",
                Role::Summary => "compactionSummary",
                Role::System | Role::Unknown => "system",
            };
            format!("{role}:{}", entries[at].id)
        })
        .collect();
    same("messages", &json!(ours), &case.expect["messages"])
}
