//! Vectors as entries of our own: the generators, and the messages of each system.

use compactor::harness::{Block, Call, Compaction, Entry, Image, Kind, Outcome, Reported, Role, Shell, Stop};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A value with its generators worked out: repeated and joined strings, numbered templates, repeated messages.
pub(crate) fn expanded(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            if let Some(text) = generated(map) {
                return Value::String(text);
            }
            Value::Object(map.iter().map(|(key, value)| (key.clone(), expanded(value))).collect())
        }
        Value::Array(items) => {
            let mut out = Vec::new();
            for item in items {
                match (item.get("times").and_then(Value::as_u64), item.get("messages")) {
                    (Some(times), Some(Value::Array(block))) => {
                        for round in 0..times {
                            out.extend(block.iter().map(|message| expanded(&numbered(message, round))));
                        }
                    }
                    _ => out.push(expanded(item)),
                }
            }
            Value::Array(out)
        }
        other => other.clone(),
    }
}

fn generated(map: &Map<String, Value>) -> Option<String> {
    if map.len() != 1 {
        return None;
    }
    if let Some(Value::Array(parts)) = map.get("repeat")
        && let [text, count] = parts.as_slice()
    {
        return Some(string(text)?.repeat(usize::try_from(count.as_u64()?).ok()?));
    }
    if let Some(Value::Array(parts)) = map.get("concat") {
        return parts.iter().map(string).collect::<Option<Vec<_>>>().map(|parts| parts.concat());
    }
    if let Some(Value::Array(parts)) = map.get("numbered")
        && let [template, from, to, between] = parts.as_slice()
    {
        let lines: Vec<String> = (from.as_u64()?..to.as_u64()?)
            .map(|number| template.as_str().unwrap_or("").replace("{i}", &number.to_string()))
            .collect();
        return Some(lines.join(between.as_str()?));
    }
    None
}

fn string(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => generated(map),
        _ => None,
    }
}

/// `%i` in every string is the number of the round.
fn numbered(value: &Value, round: u64) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("%i", &round.to_string())),
        Value::Array(items) => Value::Array(items.iter().map(|item| numbered(item, round)).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), numbered(value, round))).collect())
        }
        other => other.clone(),
    }
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn word<'a>(value: &'a Value, key: &str) -> Cow<'a, str> {
    Cow::Borrowed(value[key].as_str().unwrap_or_default())
}

fn maybe<'a>(value: &'a Value, key: &str) -> Option<Cow<'a, str>> {
    value[key].as_str().map(Cow::Borrowed)
}

/// Entries of Opal's messages; message `k` has the id `m<k>` counted from `first`.
pub(crate) fn opal(messages: &Value, first: usize) -> Vec<Entry<'_>> {
    list(messages)
        .iter()
        .enumerate()
        .map(|(number, message)| {
            let role = match message["role"].as_str() {
                Some("system") => Role::System,
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                Some("tool_result") => Role::Tool,
                _ => Role::Unknown,
            };
            let mut blocks = Vec::new();
            if let Some(text) = message["thinking"].as_str() {
                blocks.push(Block::Thinking(Cow::Borrowed(text)));
            }
            let content = maybe(message, "content");
            if role == Role::Tool {
                blocks.push(Block::Result(Outcome {
                    call_id: maybe(message, "call_id"),
                    name: maybe(message, "name"),
                    texts: content.into_iter().collect(),
                    images: Vec::new(),
                    error: message["is_error"].as_bool().unwrap_or(false),
                }));
            } else {
                blocks.extend(content.map(Block::Text));
            }
            blocks.extend(list(&message["tool_calls"]).iter().map(|call| {
                Block::Call(Call {
                    id: word(call, "call_id"),
                    name: word(call, "name"),
                    arguments: Cow::Owned(call.get("arguments").map_or("null".to_owned(), Value::to_string)),
                    kind: None,
                })
            }));
            let lists = |value: &Value| {
                list(value).iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
            };
            let metadata = &message["metadata"];
            let compaction = (metadata["read_files"].is_array() && metadata["modified_files"].is_array())
                .then(|| Compaction {
                    lists: Some((lists(&metadata["read_files"]), lists(&metadata["modified_files"]))),
                    ..Compaction::default()
                });
            Entry {
                id: Cow::Owned(format!("m{}", first + number)),
                label: if role == Role::Unknown { word(message, "role") } else { Cow::Borrowed("") },
                compaction,
                ..Entry::message(role, blocks)
            }
        })
        .collect()
}

/// Entries of a session of pi or Operator-Use: bare messages or session entries.
pub(crate) fn session(entries: &Value) -> Vec<Entry<'_>> {
    list(entries).iter().map(session_entry).collect()
}

/// Entries of a session of Operator-Use: replies without a `usage` key have its class default, usage of zeros.
pub(crate) fn operator_use(entries: &Value) -> Vec<Entry<'_>> {
    let mut out = session(entries);
    for (entry, value) in out.iter_mut().zip(list(entries)) {
        let message = if value["message"].is_object() { &value["message"] } else { value };
        if entry.role == Role::Assistant && message.get("usage").is_none() {
            entry.usage = Some(Reported::default());
        }
    }
    out
}

fn session_entry(value: &Value) -> Entry<'_> {
    let kind = value["type"].as_str();
    let mut entry = match kind {
        None => session_message(value),
        Some("message") => session_message(&value["message"]),
        Some("compaction") => {
            let details = &value["details"];
            let names = |key: &str| {
                details[key]
                    .as_array()
                    .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
            };
            let lists = match (names("readFiles"), names("modifiedFiles")) {
                (None, None) => match (names("read_files"), names("modified_files")) {
                    (None, None) => None,
                    (read, modified) => Some((read.unwrap_or_default(), modified.unwrap_or_default())),
                },
                (read, modified) => Some((read.unwrap_or_default(), modified.unwrap_or_default())),
            };
            let before = value["tokensBefore"].as_u64().or(value["tokens_before"].as_u64());
            Entry {
                kind: Kind::Compaction,
                compaction: Some(Compaction {
                    first_kept: maybe(value, "firstKeptEntryId").or(maybe(value, "first_kept_entry_id")),
                    tokens_before: before.unwrap_or(0),
                    lists,
                    from_hook: value["fromHook"].as_bool().unwrap_or(false),
                }),
                ..Entry::text(Role::Summary, word(value, "summary"))
            }
        }
        Some("branch_summary" | "branch") => {
            Entry { kind: Kind::Branch, ..Entry::text(Role::Branch, word(value, "summary")) }
        }
        Some("custom_message") => Entry {
            kind: Kind::CustomMessage,
            label: maybe(value, "customType").or(maybe(value, "custom_type")).unwrap_or_default(),
            ..Entry::message(Role::Custom, contents(&value["content"]))
        },
        Some(other) => Entry {
            kind: Kind::Meta,
            label: Cow::Borrowed(other),
            ..Entry::message(Role::Unknown, Vec::new())
        },
    };
    if kind.is_some() {
        entry.id = word(value, "id");
        // Milliseconds where it is a number of seconds; ISO times of the vectors differ in their seconds only.
        entry.time = match &value["timestamp"] {
            Value::Number(seconds) => (seconds.as_f64().unwrap_or(0.0) * 1_000.0) as i64,
            Value::String(text) => {
                let digits: String = text.chars().filter(char::is_ascii_digit).collect();
                digits.parse().unwrap_or(0)
            }
            _ => 0,
        };
    }
    entry
}

fn session_message(message: &Value) -> Entry<'_> {
    let role = match message["role"].as_str() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult" | "tool") => Role::Tool,
        Some("bashExecution") => Role::Shell,
        Some("custom") => Role::Custom,
        Some("branchSummary" | "branch_summary") => Role::Branch,
        Some("compactionSummary" | "compaction_summary") => Role::Summary,
        _ => Role::Unknown,
    };
    let mut blocks = match role {
        Role::Shell => vec![Block::Text(word(message, "command")), Block::Text(word(message, "output"))],
        Role::Branch | Role::Summary => vec![Block::Text(word(message, "summary"))],
        _ => contents(if message["contents"].is_null() { &message["content"] } else { &message["contents"] }),
    };
    if role == Role::Tool && message["contents"].is_null() {
        // One result a message: its content blocks are those of the result.
        let mut result = Outcome {
            call_id: maybe(message, "toolCallId"),
            name: maybe(message, "toolName"),
            texts: Vec::new(),
            images: Vec::new(),
            error: message["isError"].as_bool().unwrap_or(false),
        };
        for block in blocks {
            match block {
                Block::Text(text) => result.texts.push(text),
                Block::Image { low, .. } => result.images.push(Image { low }),
                _ => {}
            }
        }
        blocks = vec![Block::Result(result)];
    }
    let stop = match message["stopReason"].as_str().or(message["stop_reason"].as_str()) {
        Some("length") => Stop::Length,
        Some("aborted" | "abort") => Stop::Aborted,
        Some("error") => Stop::Error,
        _ => Stop::Done,
    };
    Entry {
        usage: usage(&message["usage"]),
        stop,
        label: maybe(message, "customType").or(maybe(message, "custom_type")).unwrap_or_default(),
        hidden: message["excludeFromContext"].as_bool().unwrap_or(false),
        shell: (role == Role::Shell).then(|| Shell {
            code: message["exitCode"].as_i64(),
            cancelled: message["cancelled"].as_bool().unwrap_or(false),
            rest: maybe(message, "fullOutputPath")
                .filter(|_| message["truncated"].as_bool().unwrap_or(false)),
        }),
        time: message["timestamp"].as_i64().unwrap_or(0),
        ..Entry::message(role, blocks)
    }
}

/// Usage under the keys of pi or of Operator-Use.
pub(crate) fn usage(value: &Value) -> Option<Reported> {
    let map = value.as_object()?;
    let number = |a: &str, b: &str| map.get(a).or_else(|| map.get(b)).and_then(Value::as_u64).unwrap_or(0);
    Some(Reported {
        input: number("input", "input_tokens"),
        output: number("output", "output_tokens"),
        cache_read: number("cacheRead", "cache_read_tokens"),
        cache_write: number("cacheWrite", "cache_write_tokens"),
        total: number("totalTokens", "total_tokens"),
    })
}

fn contents(value: &Value) -> Vec<Block<'_>> {
    match value {
        Value::String(text) => vec![Block::Text(Cow::Borrowed(text))],
        Value::Array(items) => items.iter().map(content).collect(),
        _ => Vec::new(),
    }
}

fn content(item: &Value) -> Block<'_> {
    match item["type"].as_str() {
        Some("text") => Block::Text(maybe(item, "text").or(maybe(item, "content")).unwrap_or_default()),
        Some("thinking") => {
            Block::Thinking(maybe(item, "thinking").or(maybe(item, "content")).unwrap_or_default())
        }
        Some("image") => {
            Block::Image { low: false, count: item["images"].as_array().map_or(1, |list| list.len() as u32) }
        }
        Some("toolCall" | "tool_call") => Block::Call(Call {
            id: word(item, "id"),
            name: word(item, "name"),
            arguments: Cow::Owned(
                item.get("arguments").or(item.get("args")).map_or("null".to_owned(), Value::to_string),
            ),
            kind: maybe(item, "kind"),
        }),
        Some("tool_result") => Block::Result(Outcome {
            call_id: maybe(item, "id"),
            name: None,
            texts: vec![word(item, "content")],
            images: Vec::new(),
            error: item["is_error"].as_bool().unwrap_or(false),
        }),
        _ => Block::Other,
    }
}

/// Entries of sven: its messages, or one letter for each.
pub(crate) fn sven(input: &Value) -> Vec<Entry<'static>> {
    if let Some(kinds) = input["kinds"].as_str() {
        let (mut calls, mut results) = (0, 0);
        return kinds
            .chars()
            .enumerate()
            .map(|(at, kind)| match kind {
                'Y' => Entry::text(Role::System, format!("system {at:08}!")),
                'U' => Entry::text(Role::User, format!("user--- {at:08}")),
                'P' => Entry::text(Role::User, format!("part--- {at:08}")),
                'A' => Entry::text(Role::Assistant, format!("asst--- {at:08}")),
                'C' => {
                    calls += 1;
                    Entry::message(
                        Role::Assistant,
                        vec![Block::Call(Call {
                            id: format!("c{}", calls - 1).into(),
                            name: "tool".into(),
                            arguments: format!("{{\"i\":{at:06}}}").into(),
                            kind: None,
                        })],
                    )
                }
                'R' => {
                    results += 1;
                    Entry::message(
                        Role::Tool,
                        vec![Block::Result(Outcome {
                            call_id: Some(format!("c{}", results - 1).into()),
                            name: None,
                            texts: vec![format!("result- {at:08}").into()],
                            images: Vec::new(),
                            error: false,
                        })],
                    )
                }
                other => panic!("unknown kind {other}"),
            })
            .collect();
    }
    list(&input["messages"]).iter().map(sven_message).collect()
}

/// One message of sven.
pub(crate) fn sven_message(message: &Value) -> Entry<'static> {
    let role = match message["role"].as_str() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("tool") => Role::Tool,
        _ => Role::Assistant,
    };
    let own = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let low = |part: &Value| part["detail"].as_str() == Some("low");
    let mut blocks = Vec::new();
    if let Some(text) = message["text"].as_str() {
        blocks.push(Block::Text(text.to_owned().into()));
    }
    for part in list(&message["parts"]) {
        blocks.push(if part["image"].is_null() {
            Block::Text(own(&part["text"]).into())
        } else {
            Block::Image { low: low(part), count: 1 }
        });
    }
    if message["call"].is_object() {
        let call = &message["call"];
        blocks.push(Block::Call(Call {
            id: own(&call["id"]).into(),
            name: own(&call["name"]).into(),
            arguments: own(&call["arguments"]).into(),
            kind: None,
        }));
    }
    if message["result"].is_object() {
        let result = &message["result"];
        let mut outcome = Outcome {
            call_id: Some(own(&result["id"]).into()),
            name: None,
            texts: result["text"].as_str().map(|text| text.to_owned().into()).into_iter().collect(),
            images: Vec::new(),
            error: false,
        };
        for part in list(&result["parts"]) {
            if part["image"].is_null() {
                outcome.texts.push(own(&part["text"]).into());
            } else {
                outcome.images.push(Image { low: low(part) });
            }
        }
        blocks.push(Block::Result(outcome));
    }
    Entry::message(role, blocks)
}
