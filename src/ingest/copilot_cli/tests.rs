//! Tests of the Copilot CLI reader.

use crate::ingest::sketch::{check_odd_values, codes, read_one};
use crate::ingest::{ingest, sketch};
use crate::transcript::Origin;

/// An event: its type, its data, and the sub-agent it is of.
fn event(kind: &str, data: &str, agent: &str) -> String {
    let agent = if agent.is_empty() { String::new() } else { format!(r#","agentId":"{agent}""#) };
    format!(
        r#"{{"type":"{kind}","data":{data},"id":"e","timestamp":"2026-01-01T00:00:00Z","parentId":null{agent}}}"#
    )
}

fn log() -> Vec<String> {
    [
        ("session.start", r#"{"sessionId":"s-1","context":{"cwd":"/w"}}"#, ""),
        ("system.message", r#"{"role":"system","content":"You are"}"#, ""),
        ("user.message", r#"{"content":"go","transformedContent":"<now>1</now>\n\ngo\n\n<reminder>x</reminder>","attachments":[{"type":"file","path":"a"}]}"#, ""),
        ("assistant.turn_start", r#"{"turnId":"0"}"#, ""),
        ("assistant.message", r#"{"messageId":"m","content":"","reasoningText":"hm","reasoningOpaque":"zz","model":"m-1","outputTokens":3,"toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"ls"}},{"toolCallId":"c2","name":"task","arguments":{"prompt":"p"}},{"toolCallId":"c3","name":"apply_patch","arguments":"*** Begin Patch"}]}"#, ""),
        ("tool.execution_start", r#"{"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}"#, ""),
        ("hook.start", r#"{"hookType":"x"}"#, ""),
        ("tool.execution_complete", r#"{"toolCallId":"c1","success":true,"result":{"content":"no\n<exited with exit code 2>"}}"#, ""),
        ("tool.execution_start", r#"{"toolCallId":"c2","toolName":"task","arguments":{"prompt":"p"}}"#, ""),
        ("subagent.started", r#"{"toolCallId":"c2","agentName":"scout"}"#, "c2"),
        ("user.message", r#"{"content":"look","source":"agent-1"}"#, "c2"),
        ("assistant.message", r#"{"content":"found","toolRequests":[],"parentToolCallId":"c2"}"#, "c2"),
        ("tool.execution_complete", r#"{"toolCallId":"c2","success":true,"result":{"content":"found"}}"#, ""),
        ("tool.execution_complete", r#"{"toolCallId":"c3","success":false,"error":{"message":"denied","code":"denied"}}"#, ""),
        ("session.compaction_start", "{}", ""),
        ("assistant.message", r#"{"content":"on","reasoningOpaque":"zz","toolRequests":[]}"#, ""),
        ("session.compaction_complete", r#"{"success":true,"preCompactionTokens":900,"summaryContent":"<overview>s</overview>"}"#, ""),
        ("system.notification", r#"{"content":"<note>"}"#, ""),
        ("tool.execution_start", r#"{"toolCallId":"c9","toolName":"view","arguments":{"path":"a"}}"#, ""),
        ("session.error", r#"{"message":"limit"}"#, ""),
        ("omen", "{}", ""),
    ]
    .iter()
    .map(|(kind, data, agent)| event(kind, data, agent))
    .collect()
}

#[test]
fn replies_calls_and_sub_agents() {
    let read = ingest(log().join("\n").as_bytes(), "x.jsonl");
    let [main, side] = read.sessions.as_slice() else { panic!("{read:?}") };
    assert_eq!(
        sketch::sketch(main),
        [
            r#"S "You are""#,
            r#"U ~"<now>1</now>" "go" ~"<reminder>x</reminder>""#,
            "A (hm) bash#c1 task#c2 apply_patch#c3",
            r#"T c1=failed/2 "no\n<exited with exit code 2>""#,
            r#"T c2=ok "found""#,
            r#"T c3=failed "denied""#,
            r#"A <reasoning> "on""#,
            r#"U ~"<note>""#,
            "A view#c9",
        ]
    );
    assert_eq!(sketch::sketch(side), [r#"U "look""#, r#"A "found""#]);
    assert_eq!((main.id.as_str(), side.origin.clone()), ("s-1", Origin::Sidechain("scout".to_owned())));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (5, 3, 1));
    let recorded = &main.recorded[0];
    assert_eq!((recorded.before.0, recorded.kept.iter().map(|at| at.0).collect::<Vec<_>>()), (7, vec![6]));
    assert_eq!(
        (recorded.summary.as_deref(), recorded.tokens_before),
        (Some("<overview>s</overview>"), Some(900))
    );
    assert_eq!((main.refusals.len(), main.model.as_deref()), (1, Some("m-1")));
    assert_eq!(main.messages[1].cwd.as_deref(), Some("/w"));
    assert_eq!(codes(&read), ["unknown-record"]);
}

#[test]
fn a_truncation_does_not_say_what_it_removed() {
    let lines = [
        event("user.message", r#"{"content":"go"}"#, ""),
        event("session.truncation", r#"{"messagesRemovedDuringTruncation":0}"#, ""),
        event(
            "session.truncation",
            r#"{"messagesRemovedDuringTruncation":4,"preTruncationTokensInMessages":9}"#,
            "",
        ),
        event("assistant.reasoning", r#"{"content":"think"}"#, ""),
        event("assistant.message", r#"{"content":"on"}"#, ""),
    ];
    let (session, read) = read_one(&lines.join("\n"));
    assert_eq!(sketch::sketch(&session), [r#"U "go""#, r#"A (think) "on""#]);
    assert_eq!((session.recorded.len(), session.recorded[0].kept_unknown), (1, true));
    assert_eq!((codes(&read), read.raw.compactions), (vec!["kept-unknown"], 2));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&log().join("\n"));
}
