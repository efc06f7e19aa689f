//! Which errors the systems take for overflows.

use super::{Case, Verdict, input, rules, same};
use compactor::compaction::EmergencyRules;
use compactor::harness::{Entry, Role};
use compactor::overflow::{Matcher, Reply, Usage};
use serde_json::{Value, json};

/// Longest string that Elixir prints inside a term, in characters.
const PRINTABLE: usize = 4096;

/// A string or a generator of one.
fn text(value: &Value) -> String {
    if let Some(parts) = value["concat"].as_array() {
        return parts.iter().map(text).collect();
    }
    if let Some([part, times]) = value["repeat"].as_array().map(Vec::as_slice) {
        return text(part).repeat(times.as_u64().expect("a count") as usize);
    }
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A term as Elixir shows it.
fn inspect(value: &Value) -> String {
    if let Some(name) = value["atom"].as_str() {
        return format!(":{name}");
    }
    if value.is_string() || value.get("concat").is_some() || value.get("repeat").is_some() {
        let text = text(value);
        let head: String = text.chars().take(PRINTABLE).collect();
        return format!("{head:?}{}", if head.len() < text.len() { " <> ..." } else { "" });
    }
    let list =
        |items: &Value| items.as_array().expect("items").iter().map(inspect).collect::<Vec<_>>().join(", ");
    if let Some(items) = value.get("tuple") {
        return format!("{{{}}}", list(items));
    }
    if let Some(items) = value.get("list") {
        return format!("[{}]", list(items));
    }
    match value.get("map").unwrap_or(value) {
        Value::Object(fields) => {
            let pairs: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key:?} => {}", inspect(value))).collect();
            format!("%{{{}}}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// An error of any shape as the text that Opal searches: atoms by name, lists of text joined, other terms inspected.
fn reason(value: &Value) -> String {
    if let Some(name) = value["atom"].as_str() {
        return if name == "nil" { String::new() } else { name.to_owned() };
    }
    if let Some(items) = value["list"].as_array() {
        return items.iter().map(reason).collect();
    }
    if value.get("map").is_some() || value.get("tuple").is_some() {
        return inspect(value);
    }
    if value.is_number() { value.to_string() } else { text(value) }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn matcher(case: &Case) -> Matcher {
    Matcher::named(case.profile).expect("an embedded matcher")
}

/// Opal: errors.
pub(crate) fn opal_error(case: &Case) -> Verdict {
    let ours = matcher(case).notices(&reason(&case.input["reason"]), None);
    same("overflow", &json!(ours), &case.expect["overflow"])
}

/// Opal: usage beyond the window.
pub(crate) fn opal_usage(case: &Case) -> Verdict {
    let usage = Usage { input: number(&case.input["input_tokens"]), ..Usage::default() };
    let ours = matcher(case).exceeds(usage, None, number(&case.input["context_window"]));
    same("overflow", &json!(ours), &case.expect["overflow"])
}

/// pi: replies.
pub(crate) fn pi_reply(case: &Case) -> Verdict {
    let message = &case.input["message"];
    let usage = &message["usage"];
    let reply = Reply {
        provider: message["provider"].as_str(),
        stop: message["stopReason"].as_str(),
        error: message["errorMessage"].as_str(),
        usage: Usage {
            input: number(&usage["input"]),
            cache_read: number(&usage["cacheRead"]),
            output: number(&usage["output"]),
        },
    };
    let ours = matcher(case).overflows(&reply, case.input["contextWindow"].as_u64());
    same("overflow", &json!(ours), &case.expect["overflow"])
}

/// sven: the window that an error tells, and what is sent again.
pub(crate) fn sven_recovery(case: &Case) -> Verdict {
    let sven = matcher(case);
    let error = text(&case.input["model"][0]["error"]);
    same("limit", &json!(sven.recovered_limit(&error)), &case.expect["max_tokens_after"])?;
    // Recovered is what is tried again.
    let again = case.expect["model_requests"] == 2;
    same("noticed", &sven.notices(&error, None), &again)?;
    let mut entries = input::sven(&case.input);
    entries.push(Entry::text(Role::User, "NEXT"));
    let mut sizes = vec![entries.len()];
    if again {
        let rules: EmergencyRules = rules(case, "emergency");
        let keep = case.input["config"]["keep_recent"].as_u64().unwrap_or(6);
        let cut = rules.cut.place(&super::cuts::marks(case, &entries), keep, false).unwrap_or(entries.len());
        sizes.push(2 + entries.len() - cut);
    }
    same("requests", &json!(sizes), &case.expect["request_sizes"])
}
#[test]
fn generators_and_terms_are_written_out() {
    use serde_json::json;
    assert_eq!(text(&json!({"concat": [{"repeat": ["ab", 2]}, "c"]})), "ababc");
    for (value, expect) in [
        (json!({"atom": "rate_limit"}), "rate_limit"),
        (json!({"atom": "nil"}), ""),
        (json!({"list": ["token ", "limit"]}), "token limit"),
        (json!({"tuple": [{"atom": "http"}, 400, "a\nb"]}), "{:http, 400, \"a\\nb\"}"),
        (json!({"map": {"error": {"code": 429}}}), "%{\"error\" => %{\"code\" => 429}}"),
        (json!(503), "503"),
    ] {
        assert_eq!(reason(&value), expect);
    }
    let long = reason(&json!({"map": {"m": {"repeat": ["x", 5000]}}}));
    assert_eq!(long, format!("%{{\"m\" => \"{}\" <> ...}}", "x".repeat(PRINTABLE)));
}
