//! What is in a user message of Codex: the user's own words, and what the client put around them.

use crate::ingest::value::Value;

use super::super::blocks::{self, Speaker};
use super::super::injected;
use super::super::json::{take_text, text};
use crate::transcript::{Outcome, Part, Text};

/// Marks, in a prompt from an editor, where the user's own words begin.
const REQUEST_MARK: &str = "## My request for Codex:";

/// Opens the description of the editor that such a prompt begins with.
const EDITOR_OPENING: &str = "# Context from my IDE setup:";

/// The parts of the content of a user message; `meta` when all of it is the harness's.
pub(super) fn user_parts(content: Value, meta: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    match content {
        Value::String(text) => push_prompt(text.into(), meta, &mut parts),
        Value::Array(list) => {
            for mut block in list {
                if text(&block, "text").is_some() {
                    push_prompt(take_text(&mut block, "text"), meta, &mut parts);
                } else if let Value::String(text) = block {
                    push_prompt(text.into(), meta, &mut parts);
                } else {
                    parts.extend(blocks::parts(block, Speaker::User { meta }, Outcome::Unknown));
                }
            }
        }
        other => parts.extend(blocks::parts(other, Speaker::User { meta }, Outcome::Unknown)),
    }
    parts
}

/// Adds the text of a prompt, the client's own parts of it injected.
pub(super) fn push_prompt(text: String, meta: bool, parts: &mut Vec<Part>) {
    if meta || is_image_label(&text) {
        return injected::push_user_text(text, true, parts);
    }
    let Some((context, request)) = editor_context(&text) else {
        return injected::push_user_text(text, false, parts);
    };
    let (context, request) = (context.to_owned(), request.trim_start_matches('\n').to_owned());
    parts.push(Part::Text(Text { text: context, injected: true }));
    injected::push_user_text(request, false, parts);
}

/// Splits a prompt from an editor into the editor's part and the user's; the latter is empty without the mark.
fn editor_context(text: &str) -> Option<(&str, &str)> {
    let opens = text.trim_start().starts_with('#');
    let marked = || {
        text.match_indices(REQUEST_MARK)
            .find(|(at, _)| *at == 0 || text.get(..*at).is_some_and(|before| before.ends_with('\n')))
    };
    match opens.then(marked).flatten() {
        Some((at, mark)) => text.split_at_checked(at + mark.len()),
        None if text.trim_start().starts_with(EDITOR_OPENING) => Some((text, "")),
        None => None,
    }
}

/// True for the label that the client puts around an image.
fn is_image_label(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || text.starts_with("<image") && text.ends_with('>') && !text.contains('\n')
}

/// The working directory that an environment block names: logs of the bare era have it nowhere else.
pub(super) fn directory(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| {
        let Part::Text(Text { text, injected: true }) = part else { return None };
        let block = text.trim_start().strip_prefix("<environment_context>")?;
        let tagged = block.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
        let listed =
            || block.split_once("Current working directory:").and_then(|(_, rest)| rest.split_once('\n'));
        tagged.or_else(listed).map(|(directory, _)| directory.trim())
    })
}
