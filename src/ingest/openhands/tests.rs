use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, group, ingest, ingest_tree};
use crate::transcript::{MessageIdx, Usage};

const EVENTS: &str = r#"{"id":0,"timestamp":"2025-01-01T00:00:00","source":"agent","message":"","action":"system","args":{"content":"be","tools":[{"type":"function"}]}}
{"id":1,"timestamp":"2025-01-01T00:00:01","source":"user","action":"message","args":{"content":"fix","image_urls":[]}}
{"id":2,"source":"environment","cause":1,"observation":"agent_state_changed","content":"","extras":{}}
{"id":3,"source":"agent","action":"run","args":{"command":"ls","thought":"look"},"tool_call_metadata":{"function_name":"execute_bash","tool_call_id":"c1","model_response":{"id":"r1","model":"m","usage":{"prompt_tokens":5,"completion_tokens":2},"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"execute_bash","arguments":"{\"command\": \"ls\"}"}}]}}]}}}
{"id":4,"source":"agent","action":"read","args":{"path":"/w/a","thought":"look"},"tool_call_metadata":{"function_name":"str_replace_editor","tool_call_id":"c2","model_response":{"id":"r1"}}}
{"id":5,"source":"agent","cause":3,"observation":"run","content":"a","extras":{"metadata":{"exit_code":2,"working_dir":"/w"}},"tool_call_metadata":{"tool_call_id":"c1"}}
{"id":6,"source":"agent","cause":4,"observation":"error","content":"none","extras":{},"tool_call_metadata":{"tool_call_id":"c2"}}
{"id":7,"source":"agent","action":"condensation","args":{"forgotten_events_start_id":3,"forgotten_events_end_id":5,"summary":"so far"}}
{"id":8,"source":"agent","action":"edit","args":{"path":"b","thought":""}}
{"id":9,"source":"agent","cause":8,"observation":"edit","content":"done","extras":{}}
{"id":10,"source":"agent","action":"finish","args":{"final_thought":"all done","thought":""}}"#;

#[test]
fn events_of_version_0() {
    let (session, read) = check(
        EVENTS,
        &[
            "S \"be\"",
            "U \"fix\"",
            "A \"look\" execute_bash#c1 str_replace_editor#c2",
            "T c1=failed/2 \"a\"",
            "T c2=failed \"none\"",
            "A edit#event-8",
            "T event-8=unknown \"done\"",
            "A \"all done\"",
        ],
    );
    assert_eq!(read.format, Some(Format::Openhands));
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (11, 3, 1));
    assert_eq!(
        session.messages[2].usage.as_deref(),
        Some(&Usage { input: 5, output: 2, ..Usage::default() })
    );
    let recorded = &session.recorded[0];
    assert_eq!((recorded.before, recorded.summary.as_deref()), (MessageIdx(5), Some("so far")));
    assert_eq!(recorded.kept, [MessageIdx(0), MessageIdx(1), MessageIdx(4)]);
    assert_eq!((session.main_cwd(), codes(&read)), (Some("/w"), vec![]));
    assert_eq!(session.messages[1].time, Some(1_735_689_601_000));
}

#[test]
fn rows_of_an_evaluation() {
    let lines: Vec<&str> = EVENTS.lines().collect();
    let row = format!(r#"{{"instance_id":"i-1","history":[[{},{}]]}}"#, lines[3], lines[5]);
    let (session, _) = check(&row, &["A \"look\" execute_bash#c1", "T c1=failed/2 \"a\""]);
    assert_eq!(session.id, "i-1");
}

const LATER: [&str; 6] = [
    r#"{"id":"e0","timestamp":"2025-01-01T00:00:00","source":"agent","kind":"SystemPromptEvent","system_prompt":{"type":"text","text":"be"},"tools":[{"kind":"x"}]}"#,
    r#"{"id":"e1","source":"user","kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"fix"}]},"extended_content":[{"type":"text","text":"hint"}]}"#,
    r#"{"id":"e2","source":"agent","kind":"ActionEvent","thought":[{"type":"text","text":"look"}],"reasoning_content":"hm","tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","arguments":"{\"command\":\"ls\"}"},"action":{"kind":"ExecuteBashAction","command":"ls"},"llm_response_id":"r1"}"#,
    r#"{"id":"e3","source":"environment","kind":"ObservationEvent","tool_call_id":"c1","action_id":"e2","observation":{"kind":"x","content":[{"type":"text","text":"a"}],"exit_code":0,"is_error":false}}"#,
    r#"{"id":"e4","source":"environment","kind":"Condensation","forgotten_event_ids":["e2","e3"],"summary":"so far"}"#,
    r#"{"id":"e5","source":"agent","kind":"MessageEvent","llm_message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}"#,
];

const SKETCH: [&str; 5] =
    ["S \"be\"", "U \"fix\" ~\"hint\"", "A (hm) \"look\" terminal#c1", "T c1=ok/0 \"a\"", "A \"done\""];

#[test]
fn events_of_version_1() {
    let (session, read) = check(&LATER.join("\n"), &SKETCH);
    assert_eq!(session.recorded[0].kept, [MessageIdx(0), MessageIdx(1)]);
    assert_eq!((read.raw.messages, read.raw.tool_calls, read.raw.compactions), (6, 1, 1));
}

#[test]
fn events_in_files() {
    let state =
        r#"{"id":"conv-1","agent":{"llm":{"model":"m"}},"workspace":{},"execution_status":"finished"}"#;
    let files: Vec<(String, &str)> = std::iter::once(("c/base_state.json".to_owned(), state))
        .chain(LATER.iter().enumerate().map(|(at, text)| (format!("c/events/event-{at:05}-ab.json"), *text)))
        .collect();
    let mut paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    paths.push("c/other.json");
    let groups = group(&paths);
    assert_eq!((groups.len(), &groups[0].1), (1, &vec![0, 1, 2, 3, 4, 5, 6]));
    let pieces = files.iter().map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect();
    let read = ingest_tree(groups[0].0, pieces, "c");
    assert_eq!(read.sessions.len(), 1);
    assert_eq!((read.sessions[0].id.as_str(), read.sessions[0].model.as_deref()), ("conv-1", Some("m")));
    assert_eq!(read.sessions[0].messages.len(), SKETCH.len());
    for (text, name) in [(state, "base_state.json"), (LATER[1], "event-00001-ab.json")] {
        let read = ingest(text.as_bytes(), name);
        assert_eq!((read.sessions.len(), codes(&read)), (0, vec!["part-of-log"]));
    }
}

const CALL: &str = r#"{"messages":[{"role":"system","content":"be"},{"role":"user","content":"go"}],"response":{"model":"m","choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}}],"usage":{"prompt_tokens":5,"completion_tokens":1}},"args":[],"kwargs":{"tools":[{"type":"function"}]},"timestamp":1700000000.1,"cost":0.1}"#;

#[test]
fn logs_of_model_calls() {
    let second = r#"{"messages":[{"role":"system","content":"be"},{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}],"response":{"choices":[{"message":{"role":"assistant","content":"done"}}]},"args":[],"kwargs":{},"cost":0.1}"#;
    let (session, read) = check(
        &format!("{CALL}\n{second}"),
        &["S \"be\"", "U \"go\"", "A f#c1", "T c1=unknown \"x\"", "A \"done\""],
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (6, 1));
    assert_eq!(
        session.messages[2].usage.as_deref(),
        Some(&Usage { input: 5, output: 1, ..Usage::default() })
    );
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(EVENTS);
    check_odd_values(&LATER.join("\n"));
    check_odd_values(CALL);
}
