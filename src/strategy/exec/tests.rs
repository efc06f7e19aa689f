use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A request with messages 3 and 4 of a session, and a text that the program wrote before.
fn ask() -> Ask<'static> {
    let told = |index| Told {
        index,
        role: "user",
        content: "text".to_owned(),
        thinking: String::new(),
        calls: Vec::new(),
        results: Vec::new(),
    };
    Ask {
        session: "s",
        profile: "standard",
        window: 8_000,
        budget: 300,
        tokenizer: "o200k",
        previous: None,
        turn_start: None,
        messages: vec![told(None), told(Some(3)), told(Some(4))],
        files: Files { read: &[], modified: &[], deleted: &[] },
    }
}

#[test]
fn a_request_is_one_line_with_its_number() {
    let line = line(7, &ask()).expect("a line");
    assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
    let value: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!((&value["protocol"], &value["id"], &value["budget"]), (&json!(1), &json!(7), &json!(300)));
    assert_eq!(value["messages"][0].get("index"), None);
    assert_eq!(value["messages"][1]["index"], json!(3));
}

#[test]
fn what_a_reply_says() {
    for (reply, expect) in [
        (json!({"id": 7, "summary": "s"}), "Ok(Summary(\"s\"))"),
        (json!({"id": 7, "summary": "s", "more": [1, 2]}), "Ok(Summary(\"s\"))"),
        (json!({"id": 7, "cancel": true, "reason": "r"}), "Ok(Cancel(\"r\"))"),
        (json!({"id": 7, "messages": [{"index": 3}]}), "Ok(Messages([Kept(3)]))"),
        (json!({"id": 7, "messages": []}), "Ok(Messages([]))"),
        (json!({"id": 8, "summary": "s"}), "to request 8, not to 7"),
        (json!({"id": "7", "summary": "s"}), "not to 7"),
        (json!({"summary": "s"}), "missing field `id`"),
        (json!({"id": 7}), "neither summary nor messages nor cancel"),
        (json!({"id": 7, "cancel": false}), "neither summary nor messages nor cancel"),
        (json!({"id": 7, "summary": " \n"}), "its summary is empty"),
        (json!({"id": 7, "summary": "s", "cancel": true}), "more than one"),
        (json!({"id": 7, "summary": "s", "error": "e"}), "it says: e"),
        (json!({"id": 7, "messages": [{"index": 5}]}), "keeps message 5, which was not sent"),
        (json!({"id": 7, "messages": [{"role": "tool", "content": "x"}]}), "has the role tool"),
        (json!({"id": 7, "messages": [{"content": "x"}]}), "has the role null"),
        (json!({"id": 7, "messages": [{"role": "user", "content": ""}]}), "a message is empty"),
        (json!([7]), "no JSON of the protocol"),
    ] {
        let got = format!("{:?}", read(&reply.to_string(), 7, &ask()));
        assert!(got.contains(expect), "{reply}: {got}");
    }
    assert!(read("{\"id\": 7, \"summary\": \"s", 7, &ask()).is_err());
}

/// Any value of JSON, small.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..10_u64).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(("index|role|content|id|x", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever a program replies: what is taken from it is what the protocol allows.
    #[test]
    fn any_reply_is_taken_or_refused(
        members in proptest::collection::vec(("id|summary|messages|cancel|reason|error|more", any_value()), 0..5),
        right in any::<bool>(),
        cut in 0..400_usize,
    ) {
        let mut reply: serde_json::Map<String, Value> = members.into_iter().collect();
        if right {
            reply.insert("id".to_owned(), json!(7));
        }
        let text = Value::Object(reply).to_string();
        // Whole, and torn where a pipe might break.
        for text in [text.as_str(), text.get(..cut).unwrap_or(&text)] {
            match read(text, 7, &ask()) {
                Ok(Answer::Summary(summary)) => prop_assert!(!summary.trim().is_empty()),
                Ok(Answer::Messages(items)) => for item in items {
                    match item {
                        Item::Kept(index) => prop_assert!([3, 4].contains(&index)),
                        Item::Text(_, text) => prop_assert!(!text.trim().is_empty()),
                    }
                },
                Ok(Answer::Cancel(_)) => {}
                Err(why) => prop_assert!(!why.is_empty()),
            }
        }
    }
}
