use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};

const RESULT: &str = r#"{"task_id":3,"reward":1.0,"info":{},"traj":[{"role":"system","content":"policy"},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","name":"f","content":"x"}],"trial":1}"#;

#[test]
fn results_of_a_run() {
    let (session, read) = check(RESULT, &["S \"policy\"", "U \"hi\"", "A f#c1", "T c1=unknown \"x\""]);
    assert_eq!((session.id.as_str(), read.format), ("task-3-trial-1", Some(Format::TauBench)));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (4, 1));
    assert_eq!(ingest(format!("[{RESULT},{RESULT}]").as_bytes(), "x.json").sessions.len(), 2);
}

const SIMULATIONS: &str = r#"{"info":{"agent_info":{"llm":"m"}},"tasks":[],"simulations":[{"id":"sim-1","task_id":"t","reward_info":{},"messages":[{"role":"assistant","content":"Hi!","turn_idx":0,"timestamp":"2025-01-01T00:00:00.5"},{"role":"user","content":"no data","tool_calls":[{"id":"u1","name":"toggle","arguments":{},"requestor":"user"}]},{"id":"u1","role":"tool","content":"on","requestor":"user","error":false},{"role":"assistant","content":null,"tool_calls":[{"id":"a1","name":"look","arguments":{"k":1},"requestor":"assistant"},{"id":"a2","name":"see","arguments":{}}],"usage":{"prompt_tokens":5,"completion_tokens":1}},{"role":"tool","tool_messages":[{"id":"a1","role":"tool","content":"x","requestor":"assistant","error":true},{"id":"a2","role":"tool","content":"y","requestor":"assistant"}]}]}]}"#;

#[test]
fn tools_of_the_user_are_left_out() {
    let (session, read) = check(
        SIMULATIONS,
        &["A \"Hi!\"", "U \"no data\"", "A look#a1 see#a2", "T a1=failed \"x\"", "T a2=unknown \"y\""],
    );
    assert_eq!((session.id.as_str(), session.model.as_deref()), ("sim-1", Some("m")));
    assert_eq!(session.messages[0].time, Some(1_735_689_600_500));
    assert_eq!(session.messages[2].usage.as_ref().unwrap().input, 5);
    assert_eq!(codes(&read), ["call-of-user"]);
    // Where results do not say whose they are, those behind a user's calls are the user's.
    let (_, read) = check(
        r#"{"benchmark_name":"tau2-bench","messages":[{"role":"user","content":null,"tool_calls":[{"id":"u1","name":"t","arguments":{}}]},{"role":"tool","content":"on"},{"role":"assistant","content":"ok","tool_calls":[{"id":"a1","name":"t","arguments":{}}]},{"role":"tool","content":"x"}],"meta":{"id":"m-1"}}"#,
        &["A \"ok\" t#a1", "T =unknown \"x\""],
    );
    assert_eq!((read.sessions[..].len(), read.raw.messages, read.raw.tool_calls), (0, 4, 2));
}

#[test]
fn conversations_as_text() {
    let text =
        r#"{"messages_display":"user: hi\nthere\nassistant: None\ntool: {\"a\": 1}\nassistant: done"}"#;
    let (_, read) = check(text, &["U \"hi\\nthere\"", "A #", "T =unknown \"{\\\"a\\\": 1}\"", "A \"done\""]);
    assert_eq!((codes(&read), read.raw.messages), (vec!["calls-not-shown"], 1));
}

#[test]
fn thinking_at_the_start_of_a_reply() {
    let shown = r#"{"messages_display":"user: hi\nassistant: <think>who\nis it</think>\nHello.\nuser: <think>me</think>"}"#;
    check(shown, &["U \"hi\"", "A (who\nis it) \"Hello.\"", "U \"<think>me</think>\""]);
    let run = RESULT.replacen(r#""content":null"#, r#""content":"<think>f it</think>""#, 1);
    check(&run, &["S \"policy\"", "U \"hi\"", "A (f it) f#c1", "T c1=unknown \"x\""]);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(RESULT);
    check_odd_values(SIMULATIONS);
}
