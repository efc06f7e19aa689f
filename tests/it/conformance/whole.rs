//! Whole compactions, from the decision to the session that stands afterwards.

use super::cuts::marks;
use super::text::same_text;
use super::{Case, Verdict, input, rules, same};
use compactor::compaction::{
    Ask, EmergencyRules, Policy, Prepared, Reply, SessionRules, Step, Texts, WriteError, WritingRules,
    Written, decide, prepare, write,
};
use compactor::cut::{CutRules, TurnRules};
use compactor::estimate::{Accounts, BudgetRules, Calibration, EstimateRules, Room, entry_tokens};
use compactor::harness::{Compaction, Entry, Role};
use compactor::ledger::FileOpRules;
use compactor::pairs::{PairRules, answered, repaired};
use compactor::prompt::{Part, PromptRules, frame, serialize};
use compactor::summary_text::SummaryText;
use serde_json::{Value, json};

struct Rules {
    session: SessionRules,
    cut: CutRules,
    turn: TurnRules,
    writing: WritingRules,
    files: FileOpRules,
}

impl Rules {
    fn of(case: &Case) -> Self {
        Self {
            session: rules(case, "session"),
            cut: rules(case, "cut"),
            turn: rules(case, "turn"),
            writing: rules(case, "writing"),
            files: rules(case, "ledger"),
        }
    }

    fn prepared(&self, case: &Case, entries: &[Entry<'_>], keep: u64, force: bool) -> Option<Prepared> {
        let policy = Policy { session: self.session, cut: &self.cut, turn: &self.turn };
        let text: SummaryText = rules(case, "summary_text");
        let summary = |entry: &Entry<'_>| text.previous(std::slice::from_ref(entry)).is_some();
        prepare(entries, &marks(case, entries), policy, keep, force, summary)
    }

    fn texts<'r>(&'r self, text: &'r SummaryText) -> Texts<'r> {
        Texts { writing: &self.writing, text, files: Some(&self.files) }
    }
}

/// Replies of a scripted model in order; the last one repeats where the system's vectors say so.
struct Script<'v> {
    replies: &'v [Value],
    next: usize,
    repeat: bool,
    asked: Vec<(Part, Option<String>, String)>,
}

impl<'v> Script<'v> {
    fn new(replies: &'v Value, repeat: bool) -> Self {
        Self { replies: input::list(replies), next: 0, repeat, asked: Vec::new() }
    }

    fn answer(&mut self, case: &Case, ask: &Ask<'_, '_>) -> Reply {
        let conversation = serialize(ask.entries, &rules::<PromptRules>(case, "prompt"));
        self.asked.push((ask.part, ask.previous.map(str::to_owned), conversation));
        let at = if self.repeat { self.next.min(self.replies.len().saturating_sub(1)) } else { self.next };
        self.next += 1;
        self.replies.get(at).map_or_else(|| Reply::Failed("no reply".to_owned()), reply)
    }
}

fn reply(value: &Value) -> Reply {
    // Operator-Use: events.
    if let Some(events) = value.as_array() {
        let text: Vec<&str> = events.iter().filter_map(|event| event["text"].as_str()).collect();
        let failed = events.iter().find(|event| event["reason"] == "error");
        return failed
            .map_or_else(|| Reply::Text(text.concat()), |event| Reply::Failed(event["error"].to_string()));
    }
    if value["stop"] == "error" || (value["stop"].is_null() && !value["error"].is_null()) {
        return Reply::Failed(value["error"].as_str().unwrap_or("Unknown error").to_owned());
    }
    let text = match (&value["text"], &value["texts"]) {
        (Value::String(text), _) => text.replace("|SPLIT|", ""),
        (_, Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    match value["stop"].as_str() {
        Some("length") => Reply::CutShort(text),
        Some("toolUse") => Reply::Call(text),
        _ => Reply::Text(text),
    }
}

fn summary_entry(case: &Case, written: &Written) -> Entry<'static> {
    Entry {
        compaction: Some(Compaction { lists: Some(written.lists.clone()), ..Compaction::default() }),
        ..Entry::text(Role::User, rules::<SummaryText>(case, "summary_text").wrap(&written.text))
    }
}

fn opal_shown(entry: &Entry<'_>, expect: &Value) -> Verdict {
    let id = if entry.id.is_empty() { "<random>" } else { &*entry.id };
    same("id", &json!(id), &expect["id"])?;
    let role = match entry.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        _ => "tool_result",
    };
    same("role", &json!(role), &expect["role"])?;
    let text = entry.texts().next().map(str::to_owned);
    let text =
        text.or_else(|| entry.results().next().and_then(|it| it.texts.first().map(ToString::to_string)));
    if let Some(bytes) = expect["content_bytes"].as_u64() {
        same("bytes", &text.as_deref().map_or(0, str::len), &(bytes as usize))?;
    } else if !expect["content"].is_null() {
        same_text("content", text.as_deref().unwrap_or_default(), &expect["content"])?;
    }
    if expect["metadata"].is_object() {
        let lists = entry.compaction.as_ref().and_then(|held| held.lists.clone()).unwrap_or_default();
        let ours = [json!(lists.0), json!(lists.1)];
        let theirs = ["read_files", "modified_files"].map(|key| expect["metadata"][key].clone());
        same("metadata", &ours, &theirs)?;
    }
    Ok(())
}

/// One compaction of Opal in place; what the model was asked comes back.
fn opal_step<'v>(
    case: &Case,
    path: &mut Vec<Entry<'_>>,
    keep: u64,
    force: bool,
    options: &'v Value,
) -> (Result<(), WriteError>, Script<'v>) {
    let of = Rules::of(case);
    let mut script = Script::new(&options["replies"], true);
    let Some(prepared) = of.prepared(case, path, keep, force) else { return (Ok(()), script) };
    let model = options["replies"].is_array();
    let truncate = options["strategy"] == "truncate" || (options["strategy"].is_null() && !model);
    if !truncate && !model {
        return (Err(WriteError::Crash("no model".to_owned())), script);
    }
    let text: SummaryText = rules(case, "summary_text");
    let mut ask = |ask: &Ask<'_, '_>| script.answer(case, ask);
    let written = if model {
        write(path, &prepared, of.texts(&text), truncate, Some(&mut ask))
    } else {
        write(path, &prepared, of.texts(&text), truncate, None)
    };
    match written {
        Ok(written) => {
            path.splice(..prepared.cut, [summary_entry(case, &written)]);
            (Ok(()), script)
        }
        Err(error) => (Err(error), script),
    }
}

pub(crate) fn opal_compact(case: &Case) -> Verdict {
    let mut path: Vec<Entry<'_>> = Vec::new();
    let mut count = 0;
    let pairs: PairRules = rules(case, "pairs");
    for (cycle, expect) in input::list(&case.input["cycles"]).iter().zip(input::list(&case.expect["cycles"]))
    {
        let new = input::opal(&cycle["append"], count);
        count += new.len();
        path.extend(new);
        same("before", &json!(path.len()), &expect["before"])?;
        let options = &cycle["compact"];
        if options.is_object() || cycle.get("compact").is_none() {
            let keep = options["keep_recent_tokens"].as_i64().map_or(20_000, |keep| keep.max(0) as u64);
            let force = options["force"].as_bool().unwrap_or(false);
            let (done, script) = opal_step(case, &mut path, keep, force, options);
            let crashed = expect["result"]["crash"].is_string();
            same("crash", &matches!(done, Err(WriteError::Crash(_))), &crashed)?;
            if let Some(calls) = expect["llm_calls"].as_u64() {
                same("calls", &(script.asked.len() as u64), &calls)?;
            }
            for ((_, previous, conversation), expect) in
                script.asked.iter().zip(input::list(&expect["prompts"]))
            {
                let kind = if previous.is_some() { "update" } else { "initial" };
                if expect["kind"] == "initial" || expect["kind"] == "update" {
                    same("kind", &json!(kind), &expect["kind"])?;
                }
                match previous {
                    Some(previous) => same_text("previous", previous, &expect["previous"])?,
                    None => same("previous", &Value::Null, &expect["previous"])?,
                }
                let framed = frame(conversation, None, Part::History, &rules(case, "prompt"));
                same_text("transcript", &framed, &expect["transcript"])?;
            }
        }
        same("after", &json!(path.len()), &expect["after"])?;
        for (entry, expect) in path.iter().zip(input::list(&expect["path"])) {
            opal_shown(entry, expect)?;
        }
        let view = repaired(answered(path.clone(), &pairs), &pairs);
        let ids: Vec<String> = view
            .iter()
            .map(|entry| match (&*entry.id, &entry.compaction) {
                ("", Some(_)) => "<summary>".to_owned(),
                ("", None) => "<random>".to_owned(),
                (id, _) => id.to_owned(),
            })
            .collect();
        same("model view", &json!(ids), &expect["model_view"])?;
    }
    Ok(())
}

fn either<'v>(value: &'v Value, camel: &str, snake: &str) -> &'v Value {
    if value[camel].is_null() { &value[snake] } else { &value[camel] }
}

/// A whole compaction in pi and Operator-Use.
pub(crate) fn session_compact(case: &Case) -> Verdict {
    let entries = input::session(&case.input["entries"]);
    let settings = &case.input["settings"];
    let keep = either(settings, "keepRecentTokens", "keep_recent_tokens").as_u64().unwrap_or(20_000);
    let reserve = either(settings, "reserveTokens", "reserve_tokens").as_u64().unwrap_or(16_384);
    let of = Rules::of(case);
    let prepared = of.prepared(case, &entries, keep, false);
    if case.expect["prepared"] == false {
        return same("prepared", &prepared.is_some(), &false);
    }
    let prepared = prepared.ok_or("not prepared")?;
    let mut script = Script::new(&case.input["replies"], false);
    let text: SummaryText = rules(case, "summary_text");
    let mut ask = |ask: &Ask<'_, '_>| script.answer(case, ask);
    let written = write(&entries, &prepared, of.texts(&text), false, Some(&mut ask));
    same("calls", &script.asked.len(), &input::list(&case.expect["calls"]).len())?;
    for ((part, previous, conversation), expect) in
        script.asked.iter().zip(input::list(&case.expect["calls"]))
    {
        let framed = frame(conversation, previous.as_deref(), *part, &rules::<PromptRules>(case, "prompt"));
        if let Some(all) = expect.as_str() {
            // Operator-Use: the whole prompt, with a name in place of the instructions.
            let head = all.split("\n\n<<").next().unwrap_or_default();
            same("prompt", &framed.as_str(), &head)?;
            let name = match (part, previous) {
                (Part::TurnPrefix, _) => "<<TURN_PREFIX_SUMMARIZATION_PROMPT>>",
                (Part::History, Some(_)) => "<<UPDATE_SUMMARIZATION_PROMPT>>",
                (Part::History, None) => "<<SUMMARIZATION_PROMPT>>",
            };
            same("instructions", &all.contains(name), &true)?;
            continue;
        }
        same("prompt", &json!(framed), &expect["promptBeforeInstructions"])?;
        same("most tokens", &json!(of.writing.allowance(*part, reserve)), &expect["maxTokens"])?;
        if *part == Part::History {
            let kind = if previous.is_some() { "update" } else { "initial" };
            same("instructions", &json!(kind), &expect["instructions"])?;
        }
    }
    let failed = case.expect["throws"].is_string();
    same("throws", &written.is_err(), &failed)?;
    let Ok(written) = written else { return Ok(()) };
    same("summary", &json!(written.text), &case.expect["summary"])?;
    let kept = entries.get(prepared.cut).map(|entry| &*entry.id);
    same("first kept", &json!(kept), either(&case.expect, "firstKeptEntryId", "retained_from_id"))?;
    let details = &case.expect["details"];
    let theirs = [
        either(details, "readFiles", "read_files").clone(),
        either(details, "modifiedFiles", "modified_files").clone(),
    ];
    same("details", &[json!(written.lists.0), json!(written.lists.1)], &theirs)
}

/// Opal: an overflow is compacted by force to a fifth of the window.
pub(crate) fn opal_overflow(case: &Case) -> Verdict {
    let mut path = input::opal(&case.input["messages"], 0);
    let before = path.len();
    let session = case.input["session"] != false;
    if session {
        let window = case.input["context_window"].as_u64().unwrap_or(128_000);
        let (done, _) = opal_step(case, &mut path, window / 5, true, &Value::Null);
        done.map_err(|error| error.to_string())?;
        let events = json!([["compaction_end", before, path.len()]]);
        same("events", &events, &case.expect["events"])?;
    }
    same("next turn", &json!(session), &case.expect["next_turn"])?;
    same("messages", &path.len(), &input::list(&case.expect["messages"]).len())?;
    path.iter()
        .zip(input::list(&case.expect["messages"]))
        .try_for_each(|(entry, expect)| opal_shown(entry, expect))
}

/// sven: what is dropped in an emergency.
pub(crate) fn sven_emergency(case: &Case) -> Verdict {
    let all = input::sven(&case.input);
    let talk: Vec<usize> = (0..all.len()).filter(|at| all[*at].role != Role::System).collect();
    let entries: Vec<Entry<'_>> = talk.iter().map(|at| all[*at].clone()).collect();
    let rules: EmergencyRules = rules(case, "emergency");
    let keep = case.input["keep_n"].as_u64().unwrap_or(0);
    let cut = rules.cut.place(&marks(case, &entries), keep, false).unwrap_or(entries.len());
    same("kept", &json!(talk[cut..]), &case.expect["kept"])?;
    let head = 1 + usize::from(case.input["system"].is_string());
    same("length", &json!(head + entries.len() - cut), &case.expect["len"])?;
    same("returned", &json!(all.len()), &case.expect["returned"])
}

/// The number in an error that tells the size of the window.
fn told_window(error: &str) -> Option<u64> {
    error.split("\"n_ctx\":").nth(1)?.trim_end_matches('}').parse().ok()
}

/// sven: the gate before a message is sent.
pub(crate) fn sven_gate(case: &Case) -> Verdict {
    let of = (
        rules::<SessionRules>(case, "session"),
        rules::<CutRules>(case, "cut"),
        rules::<TurnRules>(case, "turn"),
        rules::<WritingRules>(case, "writing"),
    );
    let (estimates, budget): (EstimateRules, BudgetRules) = (rules(case, "estimate"), rules(case, "budget"));
    let config = &case.input["config"];
    let share = |key: &str, default: f32| config[key].as_f64().map_or(default, |value| value as f32);
    let all = input::sven(&case.input);
    let size = |entry: &Entry<'_>| entry_tokens(entry, &estimates).expect("a message");
    let tokens: u64 = all.iter().map(size).sum();
    let number = |key: &str| case.input[key].as_u64().unwrap_or(0);
    let mut accounts = Accounts {
        tokens,
        overhead: number("schema_overhead"),
        calibration: Calibration::new(case.input["calibration"].as_f64().map_or(1.0, |factor| factor as f32)),
        room: Room { window: number("max_tokens"), output: number("max_output_tokens") },
    };
    same("tokens", &json!(tokens), &case.expect["token_count"])?;
    same("effective", &json!(accounts.effective()), &case.expect["effective"])?;
    same("budget", &json!(accounts.room.input()), &case.expect["input_budget"])?;
    let threshold = (share("threshold", 0.85) - share("overhead_reserve", 0.10)).max(0.1);
    let keep = config["keep_recent"].as_u64().unwrap_or(6);
    let talk: Vec<usize> = (0..all.len()).filter(|at| all[*at].role != Role::System).collect();
    let entries: Vec<Entry<'_>> = talk.iter().map(|at| all[*at].clone()).collect();
    let fires = accounts.room.input() > 0 && accounts.is_near_limit(threshold);
    let step = if fires {
        let policy = Policy { session: of.0, cut: &of.1, turn: &of.2 };
        let kept = |cut: usize| entries[cut..].iter().map(size).sum::<u64>();
        let emergency: EmergencyRules = rules(case, "emergency");
        decide(&entries, &marks(case, &entries), policy, keep, Some(&emergency), |cut| {
            accounts.is_emergency(tokens - kept(cut), &budget)
        })
    } else {
        Step::Nothing
    };
    let mut requests = Vec::new();
    let mut replies = input::list(&case.input["model"]).iter();
    let (action, head, cut) = match step {
        Step::Nothing => ("none", None, 0),
        Step::Drop(cut) => ("emergency", None, cut),
        Step::Compact(prepared) => {
            let text: SummaryText = rules(case, "summary_text");
            let mut window = None;
            let mut calls = Vec::new();
            let mut ask = |ask: &Ask<'_, '_>| {
                let history = serialize(ask.entries, &rules::<PromptRules>(case, "prompt"));
                requests.push(2);
                calls.push(history);
                let mut next = replies.next().cloned().unwrap_or_else(|| json!({"text": "FINAL"}));
                if let Some(told) = next["error"].as_str().and_then(told_window) {
                    // The request for the summary is itself cut down and sent again.
                    window = Some(told);
                    requests.push(3);
                    next = replies.next().cloned().unwrap_or_else(|| json!({"text": "FINAL"}));
                }
                if next["usage"].is_object() {
                    let used = ["input", "cache_read", "cache_write"].map(|key| next["usage"][key].as_u64());
                    let used = used.into_iter().flatten().sum();
                    let sent = case.expect["summary_request"]["request_tokens"].as_u64().unwrap_or(0);
                    accounts.report(used, sent, &budget);
                }
                let text = next["text"].as_str().unwrap_or_default().to_owned();
                if next["error"].is_null() && next["stream_error"].is_null() {
                    Reply::Text(text)
                } else {
                    Reply::Failed("error".to_owned())
                }
            };
            let texts = Texts { writing: &of.3, text: &text, files: None };
            let written = write(&entries, &prepared, texts, false, Some(&mut ask));
            let request = &case.expect["summary_request"];
            same("history", &json!(calls.first()), &request["history"])?;
            if !case.expect["max_tokens_after"].is_null() {
                same("window", &json!(window), &case.expect["max_tokens_after"])?;
            }
            match written {
                Ok(written) => {
                    same("summarized", &json!(prepared.history.len()), &case.expect["summarize_count"])?;
                    (config["strategy"].as_str().unwrap_or("structured"), Some(written.text), prepared.cut)
                }
                Err(WriteError::Emergency(_)) => {
                    let emergency: EmergencyRules = rules(case, "emergency");
                    let marks = marks(case, &entries);
                    ("emergency", None, emergency.cut.place(&marks, keep, false).unwrap_or(entries.len()))
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    };
    same("action", &json!(action), &case.expect["action"])?;
    let factor = json!(accounts.calibration.factor());
    same(
        "factor",
        &factor.to_string(),
        &json!(case.expect["calibration_after"].as_f64().map(|f| f as f32)).to_string(),
    )?;
    if action == "none" {
        requests.push(all.len() + 1 + usize::from(all.is_empty()));
        return same("requests", &json!(requests), &case.expect["request_sizes"]);
    }
    let kept = &talk[cut..];
    same("kept", &json!(kept), &case.expect["kept"])?;
    let system = case.input["system_prompt"].as_str().unwrap_or("SYSP");
    let notice: SummaryText = rules(case, "summary_text");
    let head = head.or(notice.emergency.clone()).unwrap_or_default();
    let said = |role: Role, text: &str| size(&Entry::text(role, text.to_owned()));
    let after = said(Role::System, system)
        + said(Role::Assistant, &head)
        + kept.iter().map(|at| size(&all[*at])).sum::<u64>();
    let compaction = &case.expect["compactions"][0];
    same(
        "before, after",
        &[json!(tokens), json!(after)],
        &[compaction["tokens_before"].clone(), compaction["tokens_after"].clone()],
    )?;
    requests.push(kept.len() + 3);
    same("requests", &json!(requests), &case.expect["request_sizes"])
}
