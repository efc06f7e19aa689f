//! Tests of the Kimi Code reader.

use crate::ingest::sketch::{check, check_odd_values, codes, read_one};
use crate::transcript::{Origin, Usage};

fn log() -> Vec<String> {
    let event = |event: &str| {
        format!(r#"{{"type":"context.append_loop_event","event":{event},"time":1785612812825}}"#)
    };
    let user = |text: &str, origin: &str| {
        format!(
            r#"{{"type":"context.append_message","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"toolCalls":[],"origin":{{"kind":"{origin}"}}}},"time":1785612812820}}"#
        )
    };
    vec![
        r#"{"type":"metadata","protocol_version":"1.4","created_at":1}"#.to_owned(),
        r#"{"type":"config.update","cwd":"/w","modelAlias":"kimi-k","systemPrompt":"You are"}"#.to_owned(),
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"one"}]}"#.to_owned(),
        user("one", "user"),
        user("be quick", "injection"),
        event(r#"{"type":"step.begin","uuid":"s1"}"#),
        event(r#"{"type":"content.part","stepUuid":"s1","part":{"type":"think","think":"hm"}}"#),
        event(r#"{"type":"tool.call","stepUuid":"s1","toolCallId":"b0","name":"Bash","args":{"command":"x"}}"#),
        event(r#"{"type":"tool.result","toolCallId":"b0","result":{"output":"bad","isError":true}}"#),
        event(r#"{"type":"tool.call","stepUuid":"s1","toolCallId":"b1","name":"Read","args":{"path":"a"}}"#),
        event(r#"{"type":"tool.result","toolCallId":"b1","result":{"output":[{"type":"text","text":"body"}]}}"#),
        event(r#"{"type":"step.end","uuid":"s1","usage":{"inputOther":5,"output":2,"inputCacheRead":40,"inputCacheCreation":1}}"#),
        user("two", "user"),
        event(r#"{"type":"step.begin","uuid":"s2"}"#),
        event(r#"{"type":"content.part","stepUuid":"s2","part":{"type":"text","text":"done"}}"#),
        event(r#"{"type":"step.end","uuid":"s2"}"#),
        r#"{"type":"full_compaction.begin","source":"manual"}"#.to_owned(),
        r#"{"type":"context.apply_compaction","summary":"so far","contextSummary":"long so far","compactedCount":7,"tokensBefore":90,"tokensAfter":30,"keptUserMessageCount":1}"#.to_owned(),
        user("three", "user"),
        r#"{"type":"omen.x"}"#.to_owned(),
    ]
}

#[test]
fn steps_are_replies() {
    let (session, read) = check(
        &log().join("\n"),
        &[
            r#"S "You are""#,
            r#"U "one""#,
            r#"U ~"be quick""#,
            "A (hm) Bash#b0 Read#b1",
            r#"T b0=failed "bad""#,
            r#"T b1=unknown "body""#,
            r#"U "two""#,
            r#"A "done""#,
            r#"U "three""#,
        ],
    );
    assert_eq!(
        session.messages[3].usage.as_deref(),
        Some(&Usage { input: 46, cache_read: 40, cache_write: 1, output: 2 })
    );
    assert_eq!(session.messages[3].lines, [7, 8, 10]);
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (4, 2, 1));
    let recorded = &session.recorded[0];
    assert_eq!((recorded.before.0, recorded.kept.iter().map(|at| at.0).collect::<Vec<_>>()), (8, vec![6]));
    assert_eq!((recorded.summary.as_deref(), recorded.trigger.as_deref()), (Some("so far"), Some("manual")));
    assert_eq!((recorded.tokens_before, recorded.tokens_after), (Some(90), Some(30)));
    assert_eq!(
        (session.messages[1].cwd.as_deref(), session.messages[1].time),
        (Some("/w"), Some(1_785_612_812_820))
    );
    assert_eq!(codes(&read), ["unknown-record"]);
}

#[test]
fn what_stays_is_checked() {
    let kept = |count: &str, kept: &str| {
        let log = log().join("\n").replace(r#""compactedCount":7"#, count);
        let (session, _) = read_one(&log.replace(r#""keptUserMessageCount":1"#, kept));
        let recorded = session.recorded[0].clone();
        (!recorded.kept_unknown).then(|| recorded.kept.iter().map(|at| at.0).collect::<Vec<_>>())
    };
    assert_eq!(kept(r#""compactedCount":7"#, r#""keptUserMessageCount":2"#), Some(vec![1, 6]));
    assert_eq!(kept(r#""compactedCount":7"#, r#""keptUserMessageCount":3"#), None);
    // The last reply was not compacted.
    assert_eq!(kept(r#""compactedCount":6"#, r#""keptUserMessageCount":1"#), Some(vec![6, 7]));
}

#[test]
fn the_task_of_a_sub_agent_is_its_request() {
    let log = r#"{"type":"metadata","protocol_version":"1.4"}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"count"}],"origin":{"kind":"system_trigger","name":"subagent"}}}
{"type":"context.append_message","message":{"role":"assistant","content":[{"type":"think","think":"hm"}],"toolCalls":[{"id":"c","function":{"name":"Glob","arguments":"{}"}}]}}
{"type":"context.append_message","message":{"role":"tool","toolCallId":"c","content":"3"}}"#;
    let (session, read) = check(log, &[r#"U "count""#, "A (hm) Glob#c", r#"T c=unknown "3""#]);
    assert_eq!(session.origin, Origin::Sidechain("test".to_owned()));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (3, 1));
    check_odd_values(log);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(&log().join("\n"));
}
