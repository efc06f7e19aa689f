use crate::ingest::Format;
use crate::ingest::sketch::{check, check_odd_values, codes};

const CONVERSATION: &str = r#"{"uuid":"c-1","name":"n","chat_messages":[{"uuid":"m1","sender":"human","text":"go","content":[{"type":"text","text":"go"}],"attachments":[{"file_name":"a.txt","extracted_content":"aaa"}],"files":[{"file_name":"p.PNG"},{"file_name":"d.pdf"}],"created_at":"2025-01-01T00:00:00Z","parent_message_uuid":"00000000-0000-4000-8000-000000000000"},{"uuid":"m2","sender":"assistant","text":"x","content":[{"type":"text","text":"abandoned"}],"parent_message_uuid":"m1"},{"uuid":"m3","sender":"assistant","text":"","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"web_search","input":{"query":"q"}},{"type":"tool_result","tool_use_id":"t1","name":"web_search","content":[{"type":"text","text":"hit"}],"is_error":false},{"type":"token_budget"},{"type":"text","text":"so"}],"parent_message_uuid":"m1"},{"uuid":"m4","sender":"human","text":"old style","content":[],"parent_message_uuid":"m3"}]}"#;

#[test]
fn messages_and_their_blocks() {
    let (session, read) = check(
        CONVERSATION,
        &[
            "U ~\"a.txt\\naaa\" [image] <file> \"go\"",
            "A (hm) web_search#t1",
            "T t1=ok \"hit\"",
            "A \"so\"",
            "U \"old style\"",
        ],
    );
    assert_eq!((session.id.as_str(), read.format), ("c-1", Some(Format::ClaudeAiExport)));
    assert_eq!(session.messages[0].time, Some(1_735_689_600_000));
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (4, 1, vec![]));
    // Without parents all messages are one line.
    let line = CONVERSATION.replace("parent_message_uuid", "p");
    assert_eq!(crate::ingest::ingest(line.as_bytes(), "x.json").sessions[0].messages.len(), 6);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(CONVERSATION);
}
