//! The size of an entry as a system estimates it.

use crate::harness::json::{JsonStyle, restyle};
use crate::harness::{Block, Entry, Kind, Role};
use crate::tokens::Tokenizer;
use serde::Deserialize;
use std::num::NonZeroU64;

/// How a system estimates tokens, without asking a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimateRules {
    /// What text is measured in.
    pub unit: Unit,
    /// Units that make a token.
    #[serde(default = "one")]
    pub units_per_token: NonZeroU64,
    /// What becomes of a part of a token.
    #[serde(default)]
    pub round: Round,
    /// What is rounded.
    #[serde(default)]
    pub rounded: Rounded,
    /// Least size of an entry, in tokens.
    #[serde(default)]
    pub least: u64,
    /// Tokens added for each entry.
    #[serde(default)]
    pub per_message: u64,
    /// Tokens added for each call.
    #[serde(default)]
    pub per_call: u64,
    /// Reasoning counts.
    #[serde(default)]
    pub thinking: bool,
    /// Names of called tools count.
    #[serde(default = "yes")]
    pub names: bool,
    /// How the arguments of calls are written where they are measured.
    #[serde(default)]
    pub arguments: JsonStyle,
    /// Roles whose content counts for nothing; [`Self::least`] and [`Self::per_message`] hold for them too.
    #[serde(default)]
    pub silent: Vec<Role>,
    /// A reply whose content is missing.
    #[serde(default)]
    pub missing_reply: Missing,
    /// Where an entry has reported usage, its reply tokens are its size.
    #[serde(default)]
    pub reported: bool,
    /// What images count; for nothing where this is missing.
    #[serde(default)]
    pub images: Option<ImageRules>,
}

fn one() -> NonZeroU64 {
    NonZeroU64::MIN
}

fn yes() -> bool {
    true
}

/// What text is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes of UTF-8 (Elixir's `byte_size`, Rust's `len`).
    Bytes,
    /// Unicode code points (Python's `len`).
    CodePoints,
    /// UTF-16 code units (JavaScript's `length`).
    Utf16,
    /// Tokens of `o200k_base`.
    O200k,
    /// Tokens of `cl100k_base`.
    Cl100k,
}

impl Unit {
    /// Length of a text in this unit.
    pub fn length(self, text: &str) -> u64 {
        match self {
            Self::Bytes => text.len() as u64,
            Self::CodePoints => text.chars().count() as u64,
            Self::Utf16 => text.encode_utf16().count() as u64,
            Self::O200k => Tokenizer::O200k.count(text),
            Self::Cl100k => Tokenizer::Cl100k.count(text),
        }
    }
}

/// What becomes of a part of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Round {
    /// It is dropped.
    #[default]
    Down,
    /// It is a whole one.
    Up,
}

/// What is rounded to tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Rounded {
    /// The sum of an entry.
    #[default]
    Message,
    /// Each field: the content of an entry, the name of a call, the arguments of a call.
    Field,
}

/// What a reply without content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Nothing.
    #[default]
    Empty,
    /// A fault: the estimator of the system raises an exception.
    Error,
}

/// What images count.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRules {
    /// Size of one.
    pub size: u64,
    /// Size of an image in a message that is told to be of low detail; images in results are never told.
    #[serde(default)]
    pub low: Option<u64>,
    /// What sizes are in.
    #[serde(default)]
    pub measure: ImageMeasure,
    /// What is one, where a block holds several.
    #[serde(default)]
    pub per: Per,
    /// Roles whose images count.
    pub roles: Vec<Role>,
}

/// What sizes of images are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ImageMeasure {
    /// Units of text: they are rounded together with the text beside them.
    #[default]
    Units,
    /// Tokens.
    Tokens,
}

/// What is one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// A picture.
    #[default]
    Image,
    /// A content item, however many pictures it lists.
    Item,
}

/// A session that the estimator of its system fails on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EstimateError {
    /// A reply without content.
    #[error("reply {id:?} has no content: the estimator of the system raises an exception")]
    MissingReply {
        /// Id of the entry; empty where it has none.
        id: String,
    },
}

impl EstimateRules {
    /// Units as tokens.
    fn tokens(&self, units: u64) -> u64 {
        match self.round {
            Round::Down => units / self.units_per_token,
            Round::Up => units.div_ceil(self.units_per_token.get()),
        }
    }
}

/// Units and tokens of an entry while they are added up.
struct Sum<'r> {
    rules: &'r EstimateRules,
    /// Units that are rounded together at the end.
    units: u64,
    /// Tokens that are whole.
    tokens: u64,
}

impl Sum<'_> {
    /// A part of the content.
    fn content(&mut self, units: u64) {
        self.units = self.units.saturating_add(units);
    }

    /// A field of its own.
    fn field(&mut self, text: &str) {
        let units = self.rules.unit.length(text);
        match self.rules.rounded {
            Rounded::Message => self.content(units),
            Rounded::Field => self.whole(self.rules.tokens(units)),
        }
    }

    fn whole(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    fn image(&mut self, role: Role, low: bool, count: u32) {
        let Some(images) = self.rules.images.as_ref().filter(|images| images.roles.contains(&role)) else {
            return;
        };
        let size = if low { images.low.unwrap_or(images.size) } else { images.size };
        let count = if images.per == Per::Item { 1 } else { u64::from(count) };
        match images.measure {
            ImageMeasure::Units => self.content(size.saturating_mul(count)),
            ImageMeasure::Tokens => self.whole(size.saturating_mul(count)),
        }
    }

    fn block(&mut self, role: Role, block: &Block<'_>) {
        let rules = self.rules;
        match block {
            Block::Text(text) => self.content(rules.unit.length(text)),
            Block::Thinking(text) if rules.thinking => self.content(rules.unit.length(text)),
            Block::Thinking(_) | Block::Other => {}
            Block::Call(call) => {
                if rules.names {
                    self.field(&call.name);
                }
                self.field(&restyle(&call.arguments, rules.arguments));
                self.whole(rules.per_call);
            }
            Block::Result(result) => {
                for text in &result.texts {
                    self.content(rules.unit.length(text));
                }
                for _ in &result.images {
                    self.image(role, false, 1);
                }
            }
            Block::Image { low, count } => self.image(role, *low, *count),
        }
    }
}

/// Tokens of an entry. What a session file holds beside messages and summaries ([`Kind::Meta`]) has none.
pub fn entry_tokens(entry: &Entry<'_>, rules: &EstimateRules) -> Result<u64, EstimateError> {
    if entry.kind == Kind::Meta {
        return Ok(0);
    }
    if let Some(usage) = entry.usage.filter(|_| rules.reported) {
        return Ok(usage.output);
    }
    if entry.role == Role::Assistant && entry.blocks.is_empty() && rules.missing_reply == Missing::Error {
        return Err(EstimateError::MissingReply { id: entry.id.clone().into_owned() });
    }
    let mut sum = Sum { rules, units: 0, tokens: rules.per_message };
    if !rules.silent.contains(&entry.role) {
        for block in &entry.blocks {
            sum.block(entry.role, block);
        }
    }
    Ok(sum.tokens.saturating_add(rules.tokens(sum.units)).max(rules.least))
}

/// Tokens of entries.
pub fn entries_tokens(entries: &[Entry<'_>], rules: &EstimateRules) -> Result<u64, EstimateError> {
    entries.iter().try_fold(0_u64, |sum, entry| Ok(sum.saturating_add(entry_tokens(entry, rules)?)))
}

/// Tokens of texts that are no entry, rounded together: neither [`EstimateRules::least`] nor what entries add holds.
pub fn texts_tokens(texts: &[&str], rules: &EstimateRules) -> u64 {
    rules.tokens(texts.iter().fold(0, |sum, text| sum.saturating_add(rules.unit.length(text))))
}
