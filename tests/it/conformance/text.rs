//! What systems write for the summarizer, do to tool results, and put around summaries.

use super::input::{self, list};
use super::{Case, Verdict, same};
use compactor::harness::{Block, Entry, Outcome, Role};
use compactor::outputs::{Fate, OutputError, OutputMend, OutputRules, Policy, Pruned, Session};
use compactor::outputs::{cap, keep_from, prune};
use compactor::profile::Profile;
use compactor::prompt::{Part, PromptRules, frame, serialize};
use compactor::summary_text::SummaryText;
use serde_json::Value;

/// The rules of the systems, by the name of the profile.
pub(crate) mod parts {
    use super::{OutputRules, Profile, PromptRules, SummaryText};

    fn profile(name: &str) -> Profile {
        Profile::named(name).expect("a profile").expect("a valid one")
    }

    pub(crate) fn prompt(name: &str) -> PromptRules {
        profile(name).prompt.expect("a table [prompt]")
    }

    pub(crate) fn outputs(name: &str) -> OutputRules {
        profile(name).outputs
    }

    pub(crate) fn summary_text(name: &str) -> SummaryText {
        profile(name).summary_text
    }
}

/// Compares a text with an expected one, or with what a vector tells of a long one.
pub(crate) fn same_text(what: &str, ours: &str, theirs: &Value) -> Verdict {
    match theirs {
        Value::String(text) => same(what, &ours, &text.as_str()),
        Value::Object(told) => {
            let number = |key: &str| told.get(key).and_then(Value::as_u64).map(|number| number as usize);
            let word = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default();
            same(&format!("bytes of {what}"), &Some(ours.len()), &number("bytes"))?;
            same(&format!("code points of {what}"), &Some(ours.chars().count()), &number("codepoints"))?;
            let (head, tail) = (word("head"), word("tail"));
            same(&format!("head of {what}"), &ours.starts_with(head), &true)?;
            same(&format!("tail of {what}"), &ours.ends_with(tail), &true)
        }
        other => Err(format!("{what}: the vector holds {other}")),
    }
}

/// Serialized with the tags of the serializer.
pub(crate) fn framed(case: &Case) -> Verdict {
    let rules = parts::prompt(case.profile);
    let entries = input::opal(&case.input["messages"], 0);
    let ours = frame(&serialize(&entries, &rules), None, Part::History, &rules);
    same_text("text", &ours, &case.expect["text"])
}

/// Serialized, without the tags that the prompt puts around it.
pub(crate) fn serialized(case: &Case) -> Verdict {
    let ours = serialize(&input::session(&case.input["messages"]), &parts::prompt(case.profile));
    same_text("text", &ours, &case.expect["text"])?;
    if let Some(length) = case.expect["utf16_len"].as_u64() {
        same("UTF-16 units", &(ours.encode_utf16().count() as u64), &length)?;
    }
    if let Some(length) = case.expect["code_points"].as_u64() {
        same("code points", &(ours.chars().count() as u64), &length)?;
    }
    Ok(())
}

pub(crate) fn history(case: &Case) -> Verdict {
    let ours = serialize(&input::sven(&case.input), &parts::prompt(case.profile));
    same_text("history", &ours, &case.expect["history"])
}

pub(crate) fn summary_input(case: &Case) -> Verdict {
    let rules = parts::prompt(case.profile);
    let entries: Vec<Entry<'_>> = list(&case.input["messages"])
        .iter()
        .map(|message| {
            let role = if message["from_me"].as_bool() == Some(true) { Role::Assistant } else { Role::User };
            let body = message["body"].as_str().map(|body| Block::Text(body.into()));
            Entry::message(role, body.into_iter().collect())
        })
        .collect();
    let previous = case.input["existing_summary"].as_str();
    let ours = frame(&serialize(&entries, &rules), previous, Part::History, &rules);
    same_text("text", &ours, &case.expect["text"])
}

pub(crate) fn capped(case: &Case) -> Verdict {
    let mut rules = parts::outputs(case.profile);
    if let (Some(caps), Some(tokens)) = (&mut rules.cap, case.input["cap_tokens"].as_u64()) {
        caps.tokens = tokens as usize;
    }
    let tool = match case.input["category"].as_str() {
        Some("HeadTail") => "shell",
        Some("FileContent") => "read_file",
        Some("MatchList") => "grep",
        Some("Generic") => "some_tool",
        other => return Err(format!("no category {other:?}")),
    };
    let text = case.input["content"].as_str().unwrap_or_default();
    let ours = cap(text, tool, &rules);
    if case.expect["panic"] == true {
        let Err(OutputError::CharBoundary { at }) = ours else { return Err(format!("no error: {ours:?}")) };
        let told = case.expect["message"].as_str().unwrap_or_default();
        same("message", &told.starts_with(&format!("end byte index {at} is not a char boundary")), &true)?;
        rules.mends.push(OutputMend::CharBoundaryFloor);
        return cap(text, tool, &rules).map(|_| ()).map_err(|error| error.to_string());
    }
    let ours = ours.map_err(|error| error.to_string())?;
    same_text("output", &ours, &case.expect["output"])?;
    same("unchanged", &(ours == text), &(case.expect["unchanged"] == true))
}

/// What the session stores of the output of a shell command, which the tool has shortened itself.
pub(crate) fn stored(case: &Case) -> Verdict {
    let shown = case.expect["shell_output"].as_str().unwrap_or_default();
    let ours = cap(shown, "shell", &parts::outputs(case.profile)).map_err(|error| error.to_string())?;
    same_text("stored", &ours, &case.expect["stored"])
}

pub(crate) fn pruned_at_build(case: &Case) -> Verdict {
    let mut rules = parts::outputs(case.profile);
    let Some(pruning) = &mut rules.prune else { return Err("no rules for pruning".to_owned()) };
    if let (Some(protect), Some(most)) = (&mut pruning.protect, case.input["tool_keep_threshold"].as_i64()) {
        protect.most = u64::try_from(most).unwrap_or(0);
    }
    pruning.policy = match case.input["policy"].as_str() {
        Some("keep_none") => Policy::KeepNone,
        Some("keep_all") => Policy::KeepAll,
        _ => Policy::Auto,
    };
    let messages = list(&case.input["messages"]);
    let id = |at: usize| messages.get(at).and_then(|message| message["id"].as_i64());
    let entries: Vec<Entry<'_>> = messages
        .iter()
        .map(|message| {
            if message["role"] != "tool" {
                return Entry::text(Role::User, "x");
            }
            let result = Outcome {
                call_id: None,
                name: message["name"].as_str().map(Into::into),
                texts: vec!["output".into()],
                images: Vec::new(),
                error: false,
            };
            Entry::message(Role::Tool, vec![Block::Result(result)])
        })
        .collect();
    let tokens: Vec<Option<u64>> = messages.iter().map(|message| message["tokens"].as_u64()).collect();
    let through = case.input["pruned_through"].as_i64();
    let boundary = through.and_then(|last| (0..messages.len()).rev().find(|at| id(*at) <= Some(last)));
    let session = Session { boundary, tokens: &tokens };
    let from = keep_from(&entries, &rules, session).and_then(id);
    same("keep_from", &from, &case.expect["keep_from"].as_i64())?;
    let fates = prune(&entries, &rules, session);
    let ours: Vec<Value> = fates
        .iter()
        .map(|pruned| {
            let fate = if pruned.fate == Fate::Stays { "full" } else { "pruned" };
            serde_json::json!([id(pruned.entry), fate])
        })
        .collect();
    same("tools", &Value::Array(ours), &case.expect["tools"])?;
    let named = fates.iter().all(|pruned| match &pruned.fate {
        Fate::Cleared(text) => messages.get(pruned.entry).is_some_and(|message| message["name"] == *text),
        Fate::Stays => true,
        Fate::Shortened(_) => false,
    });
    same("the name of the tool stands there", &named, &true)
}

pub(crate) fn context_pruner(case: &Case) -> Verdict {
    let mut rules = parts::outputs(case.profile);
    let Some(pruning) = &mut rules.prune else { return Err("no rules for pruning".to_owned()) };
    for (key, value) in case.input["settings"].as_object().into_iter().flatten() {
        let number = value.as_u64().unwrap_or(0) as usize;
        let trim = pruning.trim.as_mut().ok_or("no trim")?;
        match key.as_str() {
            "enabled" => pruning.enabled = value == true,
            "protected_tail_tokens" => pruning.protect.as_mut().ok_or("no tail")?.most = number as u64 * 4,
            "min_prune_chars" => pruning.small = Some(number),
            "soft_trim_chars" => trim.above = number,
            "soft_trim_head" => trim.head = number,
            "soft_trim_tail" => trim.tail = number,
            "placeholder" => value.as_str().unwrap_or_default().clone_into(&mut pruning.cleared),
            other => return Err(format!("unknown setting {other}")),
        }
    }
    let entries = input::session(&case.input["messages"]);
    let fates = prune(&entries, &rules, Session::default());
    let shown = |Pruned { entry, result, fate }: &Pruned| match fate {
        Fate::Stays => entries
            .get(*entry)
            .and_then(|entry| entry.results().nth(*result))
            .map(|outcome| outcome.texts.concat())
            .unwrap_or_default(),
        Fate::Shortened(text) | Fate::Cleared(text) => text.clone(),
    };
    let ours: Vec<Vec<String>> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.role == Role::Tool)
        .map(|(at, _)| fates.iter().filter(|pruned| pruned.entry == at).map(shown).collect())
        .collect();
    same("results", &serde_json::json!(ours), &case.expect["results"])
}

/// Paths of the calls of an Opal session by tool, in order and once each; none where one of them is no text for Elixir.
fn opal_files(messages: &Value) -> Option<[Vec<String>; 2]> {
    let mut files = [Vec::new(), Vec::new()];
    let calls = list(messages)
        .iter()
        .filter(|message| message["role"] == "assistant")
        .flat_map(|message| list(&message["tool_calls"]));
    for call in calls {
        let [read, modified] = &mut files;
        let files = match call["name"].as_str() {
            Some("read_file") => read,
            Some("write_file" | "edit_file") => modified,
            _ => continue,
        };
        let path = match &call["arguments"]["path"] {
            Value::Null | Value::Bool(false) => continue,
            Value::Object(_) => return None,
            Value::String(path) => path.clone(),
            other => other.to_string(),
        };
        if !files.contains(&path) {
            files.push(path);
        }
    }
    Some(files)
}

pub(crate) fn truncated(case: &Case) -> Verdict {
    let messages = &case.input["messages"];
    let crash = !case.expect["crash"].is_null();
    let Some([read, modified]) = opal_files(messages) else { return same("crash", &true, &crash) };
    let ours = parts::summary_text(case.profile).truncated(&input::opal(messages, 0), &read, &modified);
    same_text("text", &ours.unwrap_or_default(), &case.expect["text"])
}

pub(crate) fn joined(case: &Case) -> Verdict {
    let turn = case.input["turn"].as_str().unwrap_or_default();
    let ours = parts::summary_text(case.profile).joined(case.input["history"].as_str(), None, turn);
    same_text("text", &ours.unwrap_or_default(), &case.expect["text"])
}

pub(crate) fn previous(case: &Case) -> Verdict {
    let entries = input::opal(&case.input["messages"], 0);
    let rules = parts::summary_text(case.profile);
    same("previous", &rules.previous(&entries), &case.expect["previous"].as_str())
}

pub(crate) fn footer(case: &Case) -> Verdict {
    let files = |a: &str, b: &str| -> Vec<&str> {
        let names = if case.input[a].is_array() { &case.input[a] } else { &case.input[b] };
        list(names).iter().filter_map(Value::as_str).collect()
    };
    let (read, modified) = (files("readFiles", "read_files"), files("modifiedFiles", "modified_files"));
    same_text("text", &parts::summary_text(case.profile).footer(&read, &modified), &case.expect["text"])
}

#[test]
fn the_emergency_notice_is_as_long_as_the_original() {
    let notice = parts::summary_text("sven").emergency.expect("a notice");
    assert_eq!(notice.len(), 236);
    assert!(notice.starts_with("[Context emergency-compacted: ") && notice.ends_with(']'));
}
