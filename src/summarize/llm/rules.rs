//! What is said of a model: on the command line, and in the `[llm]` section of a profile.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Chat completions, as OpenAI has them and most servers and gateways speak.
    #[serde(rename = "openai")]
    OpenAi,
    /// Messages, as Anthropic has them.
    Anthropic,
}

impl Provider {
    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The provider's own address.
    pub fn home(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far a model strays from its likeliest words.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Said")]
pub enum Temperature {
    /// So far, 0 to 2.
    Of(f64),
    /// Nothing is said of it: some models take no such setting.
    Unsaid,
}

/// As it stands in a profile.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Number(f64),
    Word(String),
}

impl TryFrom<Said> for Temperature {
    type Error = String;

    fn try_from(said: Said) -> Result<Self, String> {
        match said {
            Said::Number(number) => number.to_string().parse(),
            Said::Word(word) => word.parse(),
        }
    }
}

impl FromStr for Temperature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::Unsaid);
        }
        match text.parse::<f64>() {
            Ok(number) if (0.0..=2.0).contains(&number) => Ok(Self::Of(number)),
            _ => Err(format!("`{text}` is no temperature: give 0 to 2, or `none` to send none")),
        }
    }
}

/// What is said of a model; nothing of it need be.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct ModelRules {
    /// Its protocol.
    pub provider: Option<Provider>,
    /// Where it is asked; the provider's own address where nothing is said.
    pub base_url: Option<String>,
    /// Its name.
    pub model: Option<String>,
    /// Most tokens of a reply, in its own count.
    pub max_output_tokens: Option<u64>,
    /// Its temperature; 0 where nothing is said.
    pub temperature: Option<Temperature>,
}

impl ModelRules {
    /// Nothing.
    pub const UNSAID: Self =
        Self { provider: None, base_url: None, model: None, max_output_tokens: None, temperature: None };

    /// These, and what others say where these say nothing. An address belongs to its protocol: one that comes with another
    /// protocol than that asked for is not taken.
    #[must_use]
    pub fn over(&self, others: &Self) -> Self {
        let same = self.provider.is_none() || others.provider.is_none() || self.provider == others.provider;
        Self {
            provider: self.provider.or(others.provider),
            base_url: self.base_url.clone().or_else(|| others.base_url.clone().filter(|_| same)),
            model: self.model.clone().or_else(|| others.model.clone().filter(|_| same)),
            max_output_tokens: self.max_output_tokens.or(others.max_output_tokens),
            temperature: self.temperature.or(others.temperature),
        }
    }

    /// Most tokens of a reply to a request for a text of `aim` tokens: what is said here, else half as much again and 256, since
    /// models count otherwise and a reply that ends at this limit is no summary.
    pub fn output(&self, aim: u64) -> u64 {
        self.max_output_tokens.unwrap_or(aim + aim / 2 + 256).max(1)
    }
}
