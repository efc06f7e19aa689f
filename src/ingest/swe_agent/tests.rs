use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};

const NEW: &str = r#"{"trajectory":[{"action":"ls","observation":"a","state":{"working_dir":"/w"},"messages":[]},{"action":"x","observation":"y"}],"history":[{"role":"system","content":"be","agent":"main","message_type":"system_prompt"},{"role":"user","content":[{"type":"text","text":"fix it"}],"agent":"main","message_type":"observation"},{"role":"assistant","content":"look","thought":"look","action":"ls","agent":"main","message_type":"action","thinking_blocks":[{"type":"thinking","thinking":"hm"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","content":[{"type":"text","text":"OBSERVATION:\na.py"}],"agent":"main","message_type":"observation","tool_call_ids":["c1"]},{"role":"assistant","content":"","action":"x","tool_calls":[{"id":"c2","type":"function","function":{"name":"str_replace_editor","arguments":"{\"command\":\"view\",\"path\":\"/w/a.py\"}"}}]}],"info":{},"replay_config":"{\"agent\":{\"model\":{\"name\":\"m-1\"}}}"}"#;

#[test]
fn calls_and_results() {
    let (session, read) = check(
        NEW,
        &[
            "S \"be\"",
            "U \"fix it\"",
            "A (hm) \"look\" bash#c1",
            "T c1=unknown \"OBSERVATION:\\na.py\"",
            "A str_replace_editor#c2",
        ],
    );
    assert_eq!(read.format, Some(Format::SweAgent));
    assert_eq!((read.raw.messages, read.raw.tool_calls), (5, 2));
    assert_eq!((session.model.as_deref(), session.main_cwd()), (Some("m-1"), Some("/w")));
    assert!(session.links[1].result.is_none());
}

const OLD: &str = r#"{"environment":"e","trajectory":[{"action":"create a.py\n","observation":"[File]","state":"{\"open_file\": \"n/a\", \"working_dir\": \"/w\"}"},{"action":"edit 1:1\nx\nend_of_edit","observation":"ok","state":"{\"open_file\": \"/w/a.py\", \"working_dir\": \"/w\"}"},{"action":"python a.py","observation":"b","state":"{"}],"history":[{"role":"system","content":"be","agent":"primary"},{"role":"user","content":"a demonstration","is_demo":true,"agent":"primary"},{"role":"user","content":"the task","agent":"primary"},{"role":"assistant","content":"So\n```\ncreate a.py\n```","thought":"So\n","action":"create a.py\n"},{"role":"user","content":"[File]"},{"role":"assistant","content":"e","thought":"e","action":"edit 1:1\nx\nend_of_edit"},{"role":"user","content":"ok"},{"role":"assistant","content":"prose only","thought":"","action":""},{"role":"user","content":"your answer was malformed"},{"role":"assistant","content":"r","thought":"r","action":"python a.py"}],"info":{}}"#;

#[test]
fn actions_that_are_text() {
    let (session, read) = check(
        OLD,
        &[
            "S \"be\"",
            "U ~\"a demonstration\"",
            "U \"the task\"",
            "A \"So\" create#",
            "T =unknown \"[File]\"",
            "A \"e\" edit#",
            "T =unknown \"ok\"",
            "A \"prose only\"",
            "U ~\"your answer was malformed\"",
            "A \"r\" bash#",
        ],
    );
    let arguments: Vec<&str> =
        session.links.iter().map(|link| session.call(link).unwrap().arguments.as_str()).collect();
    assert_eq!(
        arguments,
        [
            r#"{"path":"a.py","command":"create a.py\n"}"#,
            r#"{"path":"/w/a.py","command":"edit 1:1\nx\nend_of_edit"}"#,
            r#"{"command":"python a.py"}"#,
        ]
    );
    assert_eq!((read.raw.messages, read.raw.tool_calls), (10, 3));
}

#[test]
fn moves_in_the_open_file_carry_its_path() {
    let text = r#"{"trajectory":[{"action":"goto 120","observation":"[File]","response":"on","thought":"on","state":"{\"open_file\": \"/w/a.py\", \"working_dir\": \"/w\"}"},{"action":"scroll_down","observation":"No file open.","response":"on","thought":"on","state":"{\"open_file\": \"n/a\", \"working_dir\": \"/w\"}"}],"info":{}}"#;
    let (session, _) = check(
        text,
        &["A \"on\" goto#", "T =unknown \"[File]\"", "A \"on\" scroll_down#", "T =unknown \"No file open.\""],
    );
    let arguments: Vec<&str> =
        session.links.iter().map(|link| session.call(link).unwrap().arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"path":"/w/a.py","command":"goto 120"}"#, r#"{"command":"scroll_down"}"#]);
}

#[test]
fn rows_of_data_sets_and_runs_without_history() {
    let text = r#"{"instance_id":"i-1","model_name":"m","trajectory":[{"role":"system","system_prompt":"be","text":null},{"role":"user","text":"task"},{"role":"ai","text":"look\n```\nls\n```"},{"role":"user","text":"a"}]}
{"instance_id":"i-2","trajectory":[{"action":"ls","observation":"a","response":"look","thought":"look"}]}
{"trajectory":[]}"#;
    let read = ingest(text.as_bytes(), "x.jsonl");
    let ids: Vec<(&str, usize, usize)> = read
        .sessions
        .iter()
        .map(|session| (session.id.as_str(), session.messages.len(), session.links.len()))
        .collect();
    assert_eq!(ids, [("i-1", 4, 1), ("i-2", 2, 1)]);
    assert_eq!(codes(&read), ["unknown-record"]);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(NEW);
    check_odd_values(OLD);
}
