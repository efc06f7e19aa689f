//! Content blocks as chat APIs write them, turned into parts: shared by the chat reader and the agents whose logs
//! hold API messages.

use super::value::Value;

use super::injected;
use super::json::{argument_text, items, take, take_name, take_text, text, weight};
use super::outcome;
use crate::transcript::{Outcome, Part, Text, ToolCall, ToolResult};

/// In whose message the blocks are, for what only depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user; `meta` when the log says that the harness wrote it.
    User {
        /// All text is injected.
        meta: bool,
    },
    /// The model, or a system prompt: text is text.
    Other,
}

/// The parts of a message content: null, a string, or a list of blocks. `unflagged` is the outcome of a result that
/// neither carries an error flag nor reads like a failure.
pub(super) fn parts(content: Value, speaker: Speaker, unflagged: Outcome) -> Vec<Part> {
    let mut found = Vec::new();
    match content {
        Value::Array(blocks) => {
            found.reserve(blocks.len());
            for block in blocks {
                push_block(block, speaker, unflagged, &mut found);
            }
        }
        Value::Null => {}
        Value::String(text) => push_text(text.into(), speaker, &mut found),
        other => push_block(other, speaker, unflagged, &mut found),
    }
    found
}

fn push_text(text: String, speaker: Speaker, found: &mut Vec<Part>) {
    match speaker {
        Speaker::User { meta } => injected::push_user_text(text, meta, found),
        Speaker::Other if text.is_empty() => {}
        Speaker::Other => found.push(Part::Text(Text { text, injected: false })),
    }
}

fn push_block(mut block: Value, speaker: Speaker, unflagged: Outcome, found: &mut Vec<Part>) {
    if let Value::String(text) = block {
        return push_text(text.into(), speaker, found);
    }
    let kind = text(&block, "type").unwrap_or_default().to_owned();
    if let Some(carried) = carried_text(&block) {
        // The message carries it along: nobody typed it there.
        let speaker = if speaker == Speaker::Other { speaker } else { Speaker::User { meta: true } };
        return push_text(carried, speaker, found);
    }
    match kind.as_str() {
        "text" | "input_text" | "output_text" | "" if text(&block, "text").is_some() => {
            push_text(take_text(&mut block, "text"), speaker, found);
        }
        // Some data sets name the field `value`.
        "text" => push_text(take_text(&mut block, "value"), speaker, found),
        "refusal" => push_text(take_text(&mut block, "refusal"), speaker, found),
        "thinking" => {
            let clear = take_text(&mut block, "thinking");
            if clear.is_empty() {
                // Newer logs keep only the signature: in the model's context, unreadable here.
                let bytes = text(&block, "signature").map_or(0, str::len) as u64;
                if bytes > 0 {
                    found.push(Part::Opaque { kind: kind.into(), bytes });
                }
            } else {
                found.push(Part::Thinking(clear));
            }
        }
        "reasoning" if text(&block, "text").is_some() => {
            let clear = take_text(&mut block, "text");
            if !clear.is_empty() {
                found.push(Part::Thinking(clear));
            }
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => found.push(Part::call(ToolCall {
            id: take_text(&mut block, "id"),
            name: take_name(&mut block, "name"),
            arguments: argument_text(take(&mut block, "input")),
        })),
        "tool_call" => found.push(Part::call(ToolCall {
            id: ["tool_call_id", "id"]
                .iter()
                .map(|key| take_text(&mut block, key))
                .find(|id| !id.is_empty())
                .unwrap_or_default(),
            name: take_name(&mut block, "name"),
            arguments: argument_text(
                ["arguments", "input"]
                    .iter()
                    .map(|key| take(&mut block, key))
                    .find(|it| !it.is_null())
                    .unwrap_or_default(),
            ),
        })),
        "tool_result" => found.push(Part::result(result(block, unflagged))),
        _ if kind.ends_with("_tool_result") && text(&block, "tool_use_id").is_some() => {
            found.push(Part::result(result(block, unflagged)));
        }
        "image" | "image_url" | "input_image" => found.push(Part::Image { bytes: image_bytes(&block) }),
        // A model switch in mid-reply: not content.
        "fallback" => {}
        "" => found.push(Part::Opaque { kind: "untyped".into(), bytes: weight(&block) }),
        _ => {
            let bytes = weight(&block);
            found.push(Part::Opaque { kind: kind.into(), bytes });
        }
    }
}

/// A `tool_result` block. Its error flag decides; without one, `unflagged` is [`Outcome::Unknown`] where the log would
/// not flag failures, so that the text is judged, and else what the lack of a flag means, save for text that no working
/// tool returns.
fn result(mut block: Value, unflagged: Outcome) -> ToolResult {
    let flag = block.get("is_error").and_then(Value::as_bool);
    let call_id = take_text(&mut block, "tool_use_id");
    let (text, images) = result_text(take(&mut block, "content"));
    let (outcome, exit_code) = match flag {
        Some(true) => (Outcome::Failed, outcome::exit_code(&text)),
        Some(false) => (Outcome::Ok, None),
        None if unflagged == Outcome::Unknown => outcome::judge(&text, unflagged),
        None if text.starts_with("<tool_use_error>") || outcome::is_abort(&text) => (Outcome::Failed, None),
        None => (unflagged, None),
    };
    ToolResult { call_id, text, outcome, exit_code, images }
}

/// The text of a result payload, blocks joined by a newline, and the images in it. Of encoded bytes only their kind is text.
pub(super) fn result_text(content: Value) -> (String, u32) {
    match content {
        Value::Null => (String::new(), 0),
        Value::String(text) => (text.into(), 0),
        Value::Array(blocks) => {
            let (mut whole, mut images) = (String::new(), 0);
            for mut block in blocks {
                let piece = match (carried_text(&block), text(&block, "type")) {
                    (Some(carried), _) => carried,
                    (_, Some("image" | "image_url" | "input_image")) => {
                        images += 1;
                        continue;
                    }
                    (_, Some("tool_reference")) => take_text(&mut block, "tool_name"),
                    _ if text(&block, "text").is_some() => take_text(&mut block, "text"),
                    (_, Some("tool_output"))
                        if ["output", "content"].iter().any(|key| block.get(key).is_some()) =>
                    {
                        let inner = ["output", "content"].iter().map(|key| take(&mut block, key));
                        let (text, more) =
                            result_text(inner.into_iter().find(|it| !it.is_null()).unwrap_or_default());
                        images += more;
                        text
                    }
                    _ if text(&block, "value").is_some() => take_text(&mut block, "value"),
                    (_, Some(kind)) if is_encoded(&block) => format!("[{kind}]"),
                    _ => argument_text(block),
                };
                if whole.is_empty() {
                    whole = piece;
                } else if !piece.is_empty() {
                    whole.push('\n');
                    whole.push_str(&piece);
                }
            }
            (whole, images)
        }
        mut other if text(&other, "text").is_some() => (take_text(&mut other, "text"), 0),
        other => (other.to_string(), 0),
    }
}

/// What the model reads of a document or a result of a search, behind its title; `None` where there is no text in it.
fn carried_text(block: &Value) -> Option<String> {
    let (heads, body) = match text(block, "type")? {
        "document" => {
            let source = block.get("source")?;
            let key = match text(source, "type")? {
                "text" => "data",
                "content" => "content",
                _ => return None,
            };
            (["title", "context"], source.get(key)?)
        }
        "search_result" => (["title", "source"], block.get("content")?),
        _ => return None,
    };
    let body = match body {
        Value::String(body) => body.to_string(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| text(block, "text")).collect();
            texts.join("\n")
        }
        _ => return None,
    };
    if body.is_empty() {
        return None;
    }
    let heads = heads.iter().filter_map(|key| text(block, key)).filter(|head| !head.is_empty());
    Some(heads.chain([body.as_str()]).collect::<Vec<&str>>().join("\n"))
}

/// True for a block of encoded bytes: a document, a sound, a file. No model reads them as text.
fn is_encoded(block: &Value) -> bool {
    let holds = |key: &str, data: &str| block.get(key).is_some_and(|inner| text(inner, data).is_some());
    let of_a_type = ["mimeType", "mime_type", "media_type"].iter().any(|key| text(block, key).is_some());
    block.get("source").is_some_and(|source| text(source, "type") == Some("base64"))
        || of_a_type && text(block, "data").is_some()
        || holds("resource", "blob")
        || holds("file", "file_data")
}

/// Size of the encoded data of an image block in the log; 0 when it is only referenced.
fn image_bytes(block: &Value) -> u64 {
    let inline = |text: &str| if text.starts_with("http") { 0 } else { text.len() as u64 };
    if let Some(source) = block.get("source") {
        return text(source, "data").map_or(0, |data| data.len() as u64);
    }
    if let Some(data) = text(block, "data") {
        return data.len() as u64;
    }
    match block.get("image_url") {
        Some(Value::String(url)) => inline(url),
        Some(url) => text(url, "url").map_or(0, inline),
        None => 0,
    }
}

/// Number of blocks of one type in a content value.
pub(super) fn count(message: &Value, kind: &str) -> u64 {
    items(message, "content").iter().filter(|block| text(block, "type") == Some(kind)).count() as u64
}
