//! The embedded overflow matchers against what the systems themselves answered: vectors that were made by running them.
//!
//! `COMPACTOR_VECTORS` names the directory of the vectors (default `../shared/design/vectors`); without it the tests are
//! skipped. The first line of each file tells how the inputs are written.

use compactor::overflow::{Matcher, Reply, Usage};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Longest string that Elixir prints inside a term, in characters.
const PRINTABLE: usize = 4096;

/// The cases of some functions of a system; `None` where there are no vectors.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn cases(system: &str, functions: &[&str]) -> Option<Vec<Value>> {
    let root = std::env::var_os("COMPACTOR_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/design/vectors"),
        PathBuf::from,
    );
    let path = root.join(format!("{system}.jsonl"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no vectors at {}", path.display());
        return None;
    };
    let cases: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).expect("a case a line"))
        .filter(|case: &Value| functions.contains(&case["fn"].as_str().unwrap_or("")))
        .collect();
    assert!(!cases.is_empty(), "{system} has no case of {functions:?}");
    Some(cases)
}

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

/// Compares the answer to each case with what the system answered.
fn check_cases(system: &str, cases: &[Value], answer: impl Fn(&Matcher, &Value) -> Value) {
    let matcher = Matcher::named(system).expect("an embedded matcher");
    for case in cases {
        let (id, input) = (&case["id"], &case["input"]);
        assert_eq!(answer(&matcher, input), case["expect"]["overflow"], "{id}: {input}");
    }
}

#[test]
fn errors_that_opal_takes_for_overflows() {
    let Some(cases) = cases("opal", &["context_overflow"]) else { return };
    check_cases("opal", &cases, |opal, input| opal.notices(&reason(&input["reason"]), None).into());
}

#[test]
fn usages_that_opal_takes_for_overflows() {
    let Some(cases) = cases("opal", &["usage_overflow"]) else { return };
    check_cases("opal", &cases, |opal, input| {
        let usage = Usage { input: number(&input["input_tokens"]), ..Usage::default() };
        opal.exceeds(usage, None, number(&input["context_window"])).into()
    });
}

fn check_pi(vectors: &str, matcher: &str) {
    let Some(cases) = cases(vectors, &["isContextOverflow"]) else { return };
    check_cases(matcher, &cases, |pi, input| {
        let message = &input["message"];
        let error = message.get("errorMessage").map(text);
        let usage = &message["usage"];
        let reply = Reply {
            provider: message["provider"].as_str(),
            stop: message["stopReason"].as_str(),
            error: error.as_deref(),
            usage: Usage {
                input: number(&usage["input"]),
                cache_read: number(&usage["cacheRead"]),
                output: number(&usage["output"]),
            },
        };
        pi.overflows(&reply, input["contextWindow"].as_u64()).into()
    });
}

#[test]
fn replies_that_pi_takes_for_overflows() {
    check_pi("pi-1.6", "pi");
    check_pi("pi-0.73", "pi-0.73");
}

#[test]
fn limits_that_sven_reads_from_errors() {
    let Some(cases) = cases("sven", &["n_ctx_recovery"]) else { return };
    let sven = Matcher::named("sven").expect("an embedded matcher");
    for case in &cases {
        let error = text(&case["input"]["model"][0]["error"]);
        let expect = &case["expect"];
        let limit = sven.recovered_limit(&error);
        assert_eq!(limit, expect["max_tokens_after"].as_u64(), "{}: {error}", case["id"]);
        // Recovered is what is tried again.
        assert_eq!(sven.notices(&error, None), expect["model_requests"] == 2, "{}: {error}", case["id"]);
    }
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
