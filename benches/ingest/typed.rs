//! The records of four formats as types: the fields that a transcript is made of, owned, everything else skipped.

use compactor::ingest::Format;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Parses all lines of a file into the types of a format and gives the number of records; `None` for formats without types.
pub(crate) fn parser(format: Format) -> Option<fn(&[u8]) -> usize> {
    match format {
        Format::ClaudeCode => Some(parse::<Claude>),
        Format::Codex => Some(parse::<Codex>),
        Format::Pi => Some(parse::<Pi>),
        Format::OpenaiChat | Format::AnthropicMessages => Some(parse::<Chat>),
        _ => None,
    }
}

/// All records are kept until the end, as a reader of the whole file has them.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let records: Vec<T> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    records.len()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "parsed to be timed")]
struct Claude {
    r#type: Option<String>,
    subtype: Option<String>,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    logical_parent_uuid: Option<String>,
    session_id: Option<String>,
    agent_id: Option<String>,
    request_id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    compact_metadata: Option<Box<RawValue>>,
    attachment: Option<Box<RawValue>>,
    message: Option<Message>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct Message {
    id: Option<String>,
    role: Option<String>,
    model: Option<String>,
    #[serde(default)]
    content: Content,
    usage: Option<Usage>,
    #[serde(rename = "toolCallId")]
    tool_call_id: Option<String>,
    #[serde(rename = "toolName")]
    tool_name: Option<String>,
    #[serde(rename = "isError")]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    #[serde(rename = "cacheRead")]
    cache_read: Option<u64>,
    #[serde(rename = "cacheWrite")]
    cache_write: Option<u64>,
}

/// One content block of any of the formats.
#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct Block {
    r#type: Option<String>,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
    arguments: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
    is_error: Option<bool>,
    #[serde(default)]
    content: Content,
    source: Option<IgnoredAny>,
    data: Option<IgnoredAny>,
}

/// A string, or blocks.
#[derive(Default)]
#[expect(dead_code, reason = "parsed to be timed")]
enum Content {
    #[default]
    None,
    Text(String),
    Blocks(Vec<Block>),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct Codex {
    r#type: Option<String>,
    timestamp: Option<String>,
    payload: Option<Item>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct Item {
    r#type: Option<String>,
    role: Option<String>,
    #[serde(default)]
    content: Content,
    name: Option<String>,
    arguments: Option<String>,
    input: Option<String>,
    call_id: Option<String>,
    output: Option<Box<RawValue>>,
    encrypted_content: Option<String>,
    summary: Option<Box<RawValue>>,
    message: Option<String>,
    replacement_history: Option<Vec<Item>>,
    info: Option<Box<RawValue>>,
    cwd: Option<String>,
    model: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "parsed to be timed")]
struct Pi {
    r#type: Option<String>,
    id: Option<String>,
    parent_id: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    summary: Option<String>,
    first_kept_entry_id: Option<String>,
    tokens_before: Option<u64>,
    message: Option<Message>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct Chat {
    messages: Option<Vec<ChatMessage>>,
    system: Option<Content>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct ChatMessage {
    role: Option<String>,
    #[serde(default)]
    content: Content,
    tool_calls: Option<Vec<ChatCall>>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct ChatCall {
    id: Option<String>,
    function: Option<ChatFunction>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed to be timed")]
struct ChatFunction {
    name: Option<String>,
    arguments: Option<String>,
}
