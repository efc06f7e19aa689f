use crate::ingest::sketch::{check, check_odd_values, codes};
use crate::ingest::{Format, ingest};

const TREE: &str = r#"{"conversation_id":"g-1","current_node":"f","default_model_slug":"m-0","mapping":{"r":{"id":"r","parent":null,"children":["a"],"message":null},"a":{"id":"a","parent":"r","children":["b","x"],"message":{"id":"a","author":{"role":"user"},"create_time":1700000000.5,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"p"},"go"]},"recipient":"all"}},"x":{"id":"x","parent":"a","children":[],"message":{"id":"x","author":{"role":"assistant"},"content":{"content_type":"text","parts":["abandoned"]},"recipient":"all"}},"b":{"id":"b","parent":"a","children":["t"],"message":{"id":"b","author":{"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"summary":"s","content":"hm"}]},"recipient":"all"}},"t":{"id":"t","parent":"b","children":["c"],"message":{"id":"t","author":{"role":"assistant"},"content":{"content_type":"code","language":"python","text":"1+1"},"recipient":"python","metadata":{"model_slug":"m-1"}}},"c":{"id":"c","parent":"t","children":["d"],"message":{"id":"c","author":{"role":"tool","name":"python"},"content":{"content_type":"execution_output","text":"2"},"recipient":"all"}},"d":{"id":"d","parent":"c","children":["f"],"message":{"id":"d","author":{"role":"tool","name":"python"},"content":{"content_type":"text","parts":["late"]},"recipient":"all"}},"f":{"id":"f","parent":"d","children":[],"message":{"id":"f","author":{"role":"assistant"},"content":{"content_type":"text","parts":["done"]},"recipient":"all"}}}}"#;

#[test]
fn the_path_to_the_current_node() {
    let sketch =
        ["U [image] \"go\"", "A (hm)", "A python#t", "T t=unknown \"2\"", "U ~\"late\"", "A \"done\""];
    let (session, read) = check(TREE, &sketch);
    assert_eq!((session.id.as_str(), read.format), ("g-1", Some(Format::ChatgptExport)));
    assert_eq!((session.model.as_deref(), session.messages[0].time), (Some("m-1"), Some(1_700_000_000_500)));
    assert_eq!((read.raw.messages, read.raw.tool_calls, codes(&read)), (7, 1, vec![]));
    assert_eq!(ingest(format!("[{TREE},{TREE}]").as_bytes(), "conversations.json").sessions.len(), 2);
    // A circle of parents ends where it began.
    let circle = TREE.replace("\"parent\":null", "\"parent\":\"f\"");
    check(&circle, &sketch);
}

#[test]
fn any_field_may_be_anything() {
    check_odd_values(TREE);
}
