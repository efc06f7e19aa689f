//! How large entries and contexts are to the systems, and when they compact.

use super::{Case, Verdict, input, rules, same};
use compactor::estimate::budget::schema_overhead;
use compactor::estimate::usage::{fresh_of_path, growth, shared};
use compactor::estimate::{
    Accounts, Action, BudgetRules, Calibration, EstimateRules, Limit, Marker, PruneRules, Room, Schema,
    State, Tally, TriggerRules, UsageRules, context_size, entries_tokens, entry_tokens, from_marker, hybrid,
    last_usage, texts_tokens,
};
use compactor::harness::{Entry, Reported, Role};
use compactor::pairs::{PairRules, repaired};
use serde_json::{Value, json};

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

fn estimate(case: &Case) -> EstimateRules {
    rules(case, "estimate")
}

fn tokens(case: &Case, ours: u64) -> Verdict {
    same("tokens", &json!(ours), &case.expect["tokens"])
}

/// One message of any of the systems.
fn one<'a>(case: &'a Case, list: &'a Value) -> Vec<Entry<'a>> {
    match case.profile {
        "opal" => input::opal(list, 0),
        "sven" => input::list(list).iter().map(input::sven_message).collect(),
        "operator-use" => input::operator_use(list),
        _ => input::session(list),
    }
}

pub(crate) fn opal_text(case: &Case) -> Verdict {
    tokens(case, texts_tokens(&[case.input["text"].as_str().unwrap_or_default()], &estimate(case)))
}

pub(crate) fn message(case: &Case) -> Verdict {
    let list = json!([case.input["message"]]);
    let entries = one(case, &list);
    tokens(case, entry_tokens(&entries[0], &estimate(case)).map_err(|error| error.to_string())?)
}

pub(crate) fn opal_context(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    tokens(case, entries_tokens(&entries, &estimate(case)).map_err(|error| error.to_string())?)
}

pub(crate) fn opal_hybrid(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    let known = number(&case.input, "last_known_tokens");
    tokens(case, hybrid(known, &entries, &estimate(case)).map_err(|error| error.to_string())?)
}

/// Opal's size of a context: by its marker, else all of the request as it would be sent.
fn opal_size(case: &Case) -> Result<u64, String> {
    let entries = input::opal(&case.input["messages"], 0);
    let marker = Marker {
        tokens: number(&case.input, "last_prompt_tokens"),
        messages: number(&case.input, "last_usage_msg_index") as usize,
    };
    let rules_of_size = estimate(case);
    let known = from_marker(&entries, marker, &rules_of_size).map_err(|error| error.to_string())?;
    known.map_or_else(
        || {
            let prompt = case.input["system_prompt"].as_str();
            let mut request: Vec<Entry<'_>> = prompt
                .filter(|text| !text.is_empty())
                .map(|text| Entry::text(Role::System, text))
                .into_iter()
                .collect();
            request.extend(repaired(entries.clone(), &rules::<PairRules>(case, "pairs")));
            entries_tokens(&request, &rules_of_size).map_err(|error| error.to_string())
        },
        Ok,
    )
}

pub(crate) fn opal_tracked(case: &Case) -> Verdict {
    tokens(case, opal_size(case)?)
}

pub(crate) fn opal_usage(case: &Case) -> Verdict {
    let messages = input::opal(&case.input["messages"], 0).len();
    let usage: UsageRules = rules(case, "usage");
    let mut tally = Tally::default();
    for report in input::list(&case.input["usages"]) {
        let either = |a: &str, b: &str| report[a].as_u64().or(report[b].as_u64()).unwrap_or(0);
        let told = Reported {
            input: either("prompt_tokens", "input_tokens"),
            output: either("completion_tokens", "output_tokens"),
            total: number(report, "total_tokens"),
            ..Reported::default()
        };
        tally.take(&told, messages, number(&case.input, "context_window"), &usage);
    }
    let ours = json!({
        "last_prompt_tokens": tally.marker.tokens,
        "last_usage_msg_index": tally.marker.messages,
        "token_usage": {
            "completion_tokens": tally.completion,
            "context_window": 0,
            "current_context_tokens": tally.marker.tokens,
            "prompt_tokens": tally.prompt,
            "total_tokens": tally.total,
        },
        "overflow_detected": tally.overflowed,
    });
    same("usage", &ours, &case.expect)
}

/// What of Opal's automatic compaction is arithmetic: the size, and whether it fires.
pub(crate) fn opal_trigger(case: &Case) -> Verdict {
    let size = opal_size(case)?;
    same("estimated", &json!(size), &case.expect["estimated"])?;
    // A model without a known window has the default one; without a session process nothing is compacted.
    let window = case.input["context_window"].as_u64().unwrap_or(128_000);
    let fires =
        rules::<TriggerRules>(case, "trigger").fires(size, window) && case.input["session"] != json!(false);
    same("fires", &fires, &!input::list(&case.expect["events"]).is_empty())
}

fn usage_view(case: &Case, usage: &Reported) -> Value {
    if case.profile == "operator-use" {
        json!({
            "input_tokens": usage.input, "output_tokens": usage.output,
            "cache_read_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        })
    } else {
        json!({
            "input": usage.input, "output": usage.output, "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write, "totalTokens": usage.total,
        })
    }
}

pub(crate) fn usage_tokens(case: &Case) -> Verdict {
    let told = input::usage(&case.input["usage"]).unwrap_or_default();
    tokens(case, rules::<UsageRules>(case, "usage").tokens(&told))
}

pub(crate) fn context(case: &Case) -> Verdict {
    let entries = one(case, &case.input["messages"]);
    let size = context_size(&entries, 0, &rules(case, "usage"), &estimate(case))
        .map_err(|error| error.to_string())?;
    let size = size.ok_or("the size is not known")?;
    let expect = |camel: &str, snake: &str| case.expect.get(camel).unwrap_or(&case.expect[snake]).clone();
    same(
        "tokens, of usage, of what follows, index",
        &[json!(size.total()), json!(size.reported), json!(size.estimated), json!(size.at)],
        &[
            case.expect["tokens"].clone(),
            expect("usageTokens", "usage_tokens"),
            expect("trailingTokens", "trailing_tokens"),
            expect("lastUsageIndex", "last_usage_index"),
        ],
    )
}

/// The size of a session of entries as it is recorded with a compaction: pi looks at what the model sees, Operator-Use at
/// the whole path.
pub(crate) fn before(case: &Case, theirs: &Value) -> Verdict {
    let path = one(case, &case.input["entries"]);
    let latest = fresh_of_path(&path);
    let (entries, fresh) = if case.profile == "operator-use" {
        (path, latest)
    } else {
        let seen = compactor::compaction::context(&path);
        let fresh = seen.iter().filter(|at| **at < latest).count();
        (seen.into_iter().map(|at| path[at].clone()).collect(), fresh)
    };
    let size = context_size(&entries, fresh, &rules(case, "usage"), &estimate(case));
    same("tokens before", &json!(size.map_err(|error| error.to_string())?.map(|size| size.total())), theirs)
}

pub(crate) fn newest_usage(case: &Case) -> Verdict {
    let entries = one(case, &case.input["entries"]);
    let found = last_usage(&entries, 0, &rules(case, "usage"));
    let ours = found.map_or(Value::Null, |(_, usage)| usage_view(case, &usage));
    same("usage", &ours, &case.expect["usage"])
}

pub(crate) fn should_compact(case: &Case) -> Verdict {
    let mut trigger: TriggerRules = rules(case, "trigger");
    let settings = &case.input["settings"];
    let setting =
        |camel: &str, snake: &str| settings.get(camel).or(settings.get(snake)).cloned().unwrap_or_default();
    if let Some(enabled) = settings["enabled"].as_bool() {
        trigger.enabled = enabled;
    }
    if let Some(reserve) = setting("reserveTokens", "reserve_tokens").as_u64() {
        trigger.limit = Limit::Reserve(reserve);
    }
    trigger.percent = setting("triggerPercent", "trigger_percent").as_f64().or(trigger.percent);
    let either =
        |camel: &str, snake: &str| case.input[camel].as_u64().or(case.input[snake].as_u64()).unwrap_or(0);
    let (tokens, window) =
        (either("contextTokens", "context_tokens"), either("contextWindow", "context_window"));
    let ours = trigger.fires(tokens, window);
    same("least size beside the trigger", &(tokens >= trigger.least(window)), &ours)?;
    same("compact", &json!(ours), &case.expect["compact"])
}

/// The defaults of pi and Operator-Use that concern the trigger; the size of the tail stands in another section.
pub(crate) fn defaults(case: &Case) -> Verdict {
    let trigger: TriggerRules = rules(case, "trigger");
    let expect = |camel: &str, snake: &str| {
        case.expect.get(camel).or(case.expect.get(snake)).cloned().unwrap_or_default()
    };
    let Limit::Reserve(reserve) = trigger.limit else { return Err(format!("limit {:?}", trigger.limit)) };
    same(
        "enabled, reserve, percent",
        &[json!(trigger.enabled), json!(reserve), json!(trigger.percent)],
        &[
            case.expect["enabled"].clone(),
            expect("reserveTokens", "reserve_tokens"),
            expect("triggerPercent", "trigger_percent"),
        ],
    )
}

pub(crate) fn lis_trigger(case: &Case) -> Verdict {
    let mut trigger: TriggerRules = rules(case, "trigger");
    // An agent's threshold of 0 stands for the default.
    if let Some(percent) = case.input["threshold_pct"].as_f64().filter(|percent| *percent > 0.0) {
        trigger.limit = Limit::Percent(percent);
    }
    trigger.prune = Some(PruneRules { above: number(&case.input, "tool_prune_threshold") });
    let told = Reported {
        input: number(&case.input, "input"),
        cache_read: number(&case.input, "cache_read"),
        cache_write: number(&case.input, "cache_creation"),
        ..Reported::default()
    };
    let total = rules::<UsageRules>(case, "usage").tokens(&told);
    let room = Room::from(number(&case.input, "context_budget"));
    let state = State {
        tokens: Some(total),
        room,
        compacting: case.input["is_compacting"].as_bool().unwrap_or(false),
        results_marked: !case.input["pruned_through"].is_null(),
        result_tokens: input::list(&case.input["tool_tokens"]).iter().filter_map(Value::as_u64).sum(),
    };
    let mut ours = json!({"threshold": trigger.limit.tokens(room), "total_input": total});
    match trigger.action(&state) {
        Action::None => ours["action"] = Value::Null,
        Action::Prune => ours["action"] = json!("prune_tools"),
        Action::Compact { marks_results } => {
            ours["action"] = json!("compact");
            ours["sets_prune_boundary"] = json!(marks_results);
        }
    }
    same("trigger", &ours, &case.expect)
}

pub(crate) fn lis_backfill(case: &Case) -> Verdict {
    let of = |key: &str| number(&case.input, key);
    let delta = growth(of("prev_input"), of("prev_output"), of("prev_thinking"), of("input"));
    let counts: Vec<u64> = input::list(&case.input["raw_counts"]).iter().filter_map(Value::as_u64).collect();
    let ours = json!({"delta": delta, "tokens": delta.map(|delta| shared(delta, &counts))});
    same("backfill", &ours, &case.expect)
}

pub(crate) fn sven_count(case: &Case) -> Verdict {
    let sizes: Result<Vec<u64>, _> =
        input::sven(&case.input).iter().map(|entry| entry_tokens(entry, &estimate(case))).collect();
    let sizes = sizes.map_err(|error| error.to_string())?;
    same("sizes", &json!({"per_message": sizes, "token_count": sizes.iter().sum::<u64>()}), &case.expect)
}

fn bits(value: f32) -> String {
    format!("0x{:08x}", value.to_bits())
}

/// A number of a vector as the single-precision float that the shortest decimal stands for.
fn single(value: &Value) -> Option<f32> {
    value.as_f64().map(|value| value.to_string().parse().expect("a float"))
}

pub(crate) fn sven_calibration(case: &Case) -> Verdict {
    let learnt = rules::<BudgetRules>(case, "budget").calibration.ok_or("no calibration")?;
    let mut factor = Calibration::new(single(&case.input["start"]).unwrap_or(learnt.start));
    let mut ours = (Vec::new(), Vec::new());
    for update in input::list(&case.input["updates"]) {
        let at = |index: usize| update[index].as_u64();
        for _ in 0..at(2).unwrap_or(1) {
            factor.update(at(0).unwrap_or(0), at(1).unwrap_or(0), &learnt);
        }
        ours.0.push(bits(factor.factor()));
        ours.1.push(factor.factor());
    }
    same("bits", &json!(ours.0), &case.expect["bits"])?;
    let theirs: Vec<Option<f32>> = input::list(&case.expect["factors"]).iter().map(single).collect();
    same("factors", &ours.1.into_iter().map(Some).collect(), &theirs)
}

fn accounts(case: &Case, tokens: u64) -> Accounts {
    Accounts {
        tokens,
        overhead: number(&case.input, "schema_overhead"),
        calibration: single(&case.input["calibration"]).map_or_else(Calibration::default, Calibration::new),
        room: Room {
            window: number(&case.input, "max_tokens"),
            output: number(&case.input, "max_output_tokens"),
        },
    }
}

pub(crate) fn sven_fraction(case: &Case) -> Verdict {
    let accounts = accounts(case, number(&case.input, "token_count"));
    let near: Vec<bool> = input::list(&case.input["thresholds"])
        .iter()
        .map(|share| accounts.is_near_limit(single(share).expect("a share")))
        .collect();
    same("fraction", &Some(accounts.fraction()), &single(&case.expect["fraction"]))?;
    let mut ours = json!({
        "effective": accounts.effective(),
        "fraction_bits": bits(accounts.fraction()),
        "input_budget": accounts.room.input(),
        "near_limit": near,
    });
    ours["fraction"] = case.expect["fraction"].clone();
    same("accounts", &ours, &case.expect)
}

/// The accounts of sven before a submit, checked; whether its gate opens.
pub(crate) fn sven_before(case: &Case, entries: &[Entry<'_>]) -> Result<(Accounts, bool), String> {
    let tokens = entries_tokens(entries, &estimate(case)).map_err(|error| error.to_string())?;
    let accounts = accounts(case, tokens);
    let ours = [json!(tokens), json!(accounts.effective()), json!(accounts.room.input())];
    let theirs = ["token_count", "effective", "input_budget"].map(|key| case.expect[key].clone());
    same("tokens, effective, budget", &ours, &theirs)?;
    same("fraction", &Some(accounts.fraction()), &single(&case.expect["fraction"]))?;
    let mut trigger: TriggerRules = rules(case, "trigger");
    if let Limit::InputShare(share) = &mut trigger.limit {
        let config = &case.input["config"];
        share.threshold = single(&config["threshold"]).unwrap_or(share.threshold);
        share.reserve = single(&config["overhead_reserve"]).unwrap_or(share.reserve);
    }
    let fires = trigger.fires(accounts.effective(), accounts.room);
    same("least size beside the trigger", &(accounts.effective() >= trigger.least(accounts.room)), &fires)?;
    Ok((accounts, fires))
}

/// One submit whose reply reports usage: the accounts before it and the factor after it.
pub(crate) fn sven_usage(case: &Case) -> Verdict {
    let rules_of_size = estimate(case);
    let budget: BudgetRules = rules(case, "budget");
    let count =
        |entries: &[Entry<'_>]| entries_tokens(entries, &rules_of_size).map_err(|error| error.to_string());
    let mut entries = input::sven(&case.input);
    let (mut accounts, fires) = sven_before(case, &entries)?;
    same("fires", &fires, &!input::list(&case.expect["compactions"]).is_empty())?;
    // The stub tools of the vectors have the least possible parameters.
    let own = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let described: Vec<(String, String)> = input::list(&case.input["tools"])
        .iter()
        .map(|tool| (own(tool, "name"), own(tool, "description")))
        .collect();
    let schemas: Vec<Schema<'_>> = described
        .iter()
        .map(|(name, description)| Schema { name, description, parameters: r#"{"type":"object"}"# })
        .collect();
    entries.push(Entry::text(Role::User, "NEXT"));
    let sent = count(&entries)?;
    accounts.overhead = schema_overhead(&schemas, "", &rules_of_size);
    let usage: UsageRules = rules(case, "usage");
    for reply in input::list(&case.input["model"]) {
        let told = &reply["usage"];
        let told = Reported {
            input: number(told, "input"),
            cache_read: number(told, "cache_read"),
            cache_write: number(told, "cache_write"),
            ..Reported::default()
        };
        accounts.report(usage.tokens(&told), sent, &budget);
        entries.push(Entry::text(Role::Assistant, own(reply, "text")));
    }
    same("factor", &Some(accounts.calibration.factor()), &single(&case.expect["calibration_after"]))?;
    same(
        "after",
        &[json!(count(&entries)?), json!(accounts.overhead)],
        &[case.expect["token_count_after"].clone(), case.expect["schema_overhead_after"].clone()],
    )
}

/// The defaults of sven that concern its accounts; the rest stands in other sections.
pub(crate) fn sven_defaults(case: &Case) -> Verdict {
    let trigger: TriggerRules = rules(case, "trigger");
    let Limit::InputShare(share) = trigger.limit else { return Err(format!("limit {:?}", trigger.limit)) };
    let expect = |key: &str| single(&case.expect[key]);
    same(
        "threshold, reserve, effective",
        &[Some(share.threshold), Some(share.reserve), Some(share.effective())],
        &[
            expect("compaction_threshold"),
            expect("compaction_overhead_reserve"),
            expect("effective_threshold"),
        ],
    )?;
    same("bits", &json!(bits(share.effective())), &case.expect["effective_threshold_bits"])
}
