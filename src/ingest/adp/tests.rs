use crate::ingest::Format;
use crate::ingest::sketch::{check, check_odd_values, codes};

const ROW: &str = r#"{"id":"r-1","content":[{"class_":"text_observation","content":"task","source":"user"},{"class_":"api_action","function":"open","kwargs":{"path":"\"a.py\"","line":3},"description":"look"},{"class_":"text_observation","content":"x","source":"user"},{"class_":"code_action","language":"bash","content":"ls","description":""},{"class_":"web_observation","axtree":"tree","url":"u","html":null},{"class_":"web_observation","axtree":"tree","url":"v","html":null},{"class_":"message_action","content":"done","description":"so"},{"class_":"text_observation","content":"more","source":"user"},{"class_":"other"}],"details":{"model_name":"m","tools":"[{}]x"}}"#;

#[test]
fn actions_and_observations() {
    let (session, read) = check(
        ROW,
        &[
            "U \"task\"",
            "A \"look\" open#",
            "T =unknown \"x\"",
            "A bash#",
            "T =unknown \"u\\ntree\"",
            "U ~\"v\\ntree\"",
            "A \"so\" \"done\"",
            "U \"more\"",
        ],
    );
    assert_eq!((session.id.as_str(), read.format), ("r-1", Some(Format::Adp)));
    assert_eq!(session.call(&session.links[0]).unwrap().arguments, r#"{"path":"a.py","line":3}"#);
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (9, 2, vec!["unknown-record"]));
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(ROW);
}
