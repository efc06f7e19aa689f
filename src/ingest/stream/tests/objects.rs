//! Logs that are one object: read as at once, whatever is odd about them.

use super::*;

#[test]
fn one_object_is_read_as_it_is_at_once() {
    let mut one = conversation("c", 30);
    one["tools"] = json!([{"name": "read"}]);
    let pretty = serde_json::to_string_pretty(&one).unwrap();
    let twice = pretty.replacen("\"content\"", "\"content\": \"first\", \"content\"", 1);
    let long = r#"{"messages": [{"role": "user", "content": "x", "n": 123456789012345678901234567890}]}"#;
    let deep = format!(
        r#"{{"messages": [{{"role": "user", "content": "x", "n": {}1{}}}]}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let logs = [
        pretty.clone(),
        one.to_string(),
        format!(" \n{pretty}\n\n"),
        format!("\u{feff}{pretty}"),
        format!("{pretty}\n{pretty}"),
        pretty.get(..pretty.len() / 2).unwrap_or_default().to_owned(),
        pretty.replace("c: 3", "c: \\ud800"),
        twice,
        long.to_owned(),
        deep,
        "{\n\"odd\": 1\n}".to_owned(),
        "{\n".to_owned(),
    ];
    for log in logs {
        for batch in [10, 1000, u64::MAX] {
            check_form(log.as_bytes(), batch);
        }
    }
}

/// An object of each kind that is read by the items of its long list.
fn long_lists() -> Vec<(&'static str, Value)> {
    let said = |at: usize| json!({"role": if at.is_multiple_of(2) { "user" } else { "assistant" }, "content": format!("says {at}")});
    let plain: Vec<Value> = (0..40).map(said).collect();
    let call = json!({"role": "assistant", "content": null,
                      "tool_calls": [{"id": "c", "function": {"name": "bash", "arguments": "{\"command\":\"cd /w\"}"}}]});
    let block = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}]});
    let with = |other: &Value| {
        let mut messages = plain.clone();
        messages.insert(9, other.clone());
        messages.insert(10, json!("no object"));
        messages
    };
    let steps: Vec<Value> = (0..20)
        .map(|at| {
            json!({"source": if at % 2 == 0 { "user" } else { "agent" }, "message": format!("says {at}"),
                   "observation": {"results": [{"source_call_id": "c", "content": "x",
                                                "subagent_trajectory_ref": [{"session_id": "s"}]}]}})
        })
        .collect();
    let blocks = |text: &str| json!([{"type": "text", "text": text}]);
    let cline: Vec<Value> = (0..20)
        .map(|at| json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": blocks("x"), "ts": 1_700_000_000_000_u64 + at}))
        .collect();
    vec![
        ("openai-chat", json!({"messages": plain, "timestamp": "2026-01-02T03:04:05Z"})),
        ("openai-chat", json!({"tools": [{"name": "read"}], "messages": with(&call), "model": "m"})),
        (
            "anthropic-messages",
            json!({"tools": [{"name": "read"}], "messages": with(&block), "context_window": 9}),
        ),
        ("anthropic-messages", json!({"messages": plain, "system": "You are in /work."})),
        ("openai-chat", json!({"messages": [{"role": "user", "content": "one"}]})),
        ("amp", json!({"v": 1, "id": "T-1", "messages": with(&block), "env": {"initial": {"cwd": "/w"}}})),
        (
            "mini-swe-agent",
            json!({"info": {"mini_version": "1", "config": {"model": {"model_name": "m"}}}, "messages": with(&call), "trajectory_format": "mini-swe-agent-1", "instance_id": "i"}),
        ),
        (
            "hermes",
            json!({"session_id": "h", "platform": "cli", "system_prompt": "You are.", "messages": with(&call), "timestamp": "2026-01-02T03:04:05Z"}),
        ),
        (
            "atif",
            json!({"schema_version": "ATIF-v1.5", "session_id": "s", "steps": steps, "agent": {"model_name": "m"},
                   "subagent_trajectories": [{"session_id": "t", "steps": steps}], "continued_trajectory_ref": "x"}),
        ),
        (
            "cline-sdk",
            json!({"version": 1, "updated_at": "x", "sessionId": "k", "messages": cline, "system_prompt": "You are in /work."}),
        ),
    ]
}

fn open_of(log: &str) -> impl FnMut() -> io::Result<Box<dyn Read>> + '_ {
    move || Ok(Box::new(Dripping(Cursor::new(log.as_bytes().to_vec()), 700)))
}

/// The same whether the list stands before or behind what is beside it.
#[test]
fn a_long_list_is_read_item_by_item() {
    for (format, log) in long_lists() {
        let mut fields: Vec<(String, Value)> = log.as_object().unwrap().clone().into_iter().collect();
        for _ in 0..fields.len() {
            fields.rotate_left(1);
            let written: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}: {value}", json!(name))).collect();
            let log = format!("{{\n{}\n}}\n", written.join(",\n"));
            let read = sole::by_items(&mut open_of(&log), "dir/log.json").unwrap().expect(&log);
            assert_eq!(read.format.map(crate::ingest::Format::name), Some(format));
            assert_eq!(read, ingest(log.as_bytes(), "dir/log.json"));
            for batch in [10, 1000, u64::MAX] {
                assert_eq!(check_form(log.as_bytes(), batch).len(), if format == "atif" { 2 } else { 1 });
            }
        }
    }
}

/// Whatever is odd about an object, it is read as if its list were short.
#[test]
fn odd_objects_with_a_long_list_are_read_at_once() {
    let instead = |log: &str, from: &str, to: &str| {
        assert!(log.contains(from), "{from} in {log}");
        log.replacen(from, to, 1)
    };
    for (_, log) in long_lists() {
        let pretty = serde_json::to_string_pretty(&log).unwrap();
        let end = pretty.trim_end().strip_suffix('}').unwrap();
        let list = if log.get("steps").is_some() { "steps" } else { "messages" };
        let odd = [
            pretty.get(..pretty.len() * 2 / 3).unwrap().to_owned(),
            format!("{pretty}\n{pretty}"),
            format!("{pretty} and more"),
            format!("{end}, \"{list}\": []}}"),
            format!("{end}, \"{list}\": null}}"),
            format!("{end}, \"zz\": 1, \"zz\": 2}}"),
            format!("{end}, \"zz\": 123456789012345678901234567890}}"),
            format!("{end}, \"zz\": {}1{}}}", "[".repeat(200), "]".repeat(200)),
            instead(&pretty, &format!("\"{list}\""), "\"other\""),
            instead(&pretty, &format!("\"{list}\": ["), &format!("\"{list}\": [[], ")),
        ];
        for log in odd {
            for batch in [10, 1000] {
                check_form(log.as_bytes(), batch);
            }
        }
    }
    let one = json!({"messages": (0..9).map(|at| json!({"role": "user", "content": format!("says {at}")})).collect::<Vec<_>>()});
    let pretty = serde_json::to_string_pretty(&one).unwrap();
    for (late, by_items) in [
        ("\"says 8\"", true),
        ("\"says 8\", \"role\": \"user\"", false),
        ("\"says 8\", \"n\": 123456789012345678901234567890", false),
        ("\"says 8\" 1", false),
        ("\"\\ud800\"", false),
    ] {
        let log = instead(&pretty, "\"says 8\"", late);
        assert_eq!(sole::by_items(&mut open_of(&log), "log.json").unwrap().is_some(), by_items, "{late}");
        check_form(log.as_bytes(), 10);
    }
}
