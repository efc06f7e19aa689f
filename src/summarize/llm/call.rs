//! One request to a model, whatever the wire makes of it.

use super::rules::{ModelRules, Provider, Temperature};
use crate::summarize::prompt::Prompt;
use crate::tokens::Tokenizer;
use serde::{Deserialize, Serialize};

/// All that decides on a reply: no address, no header, no key. The order of its fields is that of its canonical form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The protocol.
    pub provider: Provider,
    /// Name of the model.
    pub model: String,
    /// Most tokens of the reply.
    pub max_output_tokens: u64,
    /// Nothing where none is sent.
    pub temperature: Option<f64>,
    /// The system prompt.
    pub system: String,
    /// The message.
    pub user: String,
}

impl Call {
    /// A call as the rules have it.
    ///
    /// # Errors
    ///
    /// No model is named.
    pub fn new(rules: &ModelRules, output: u64, prompt: Prompt) -> Result<Self, String> {
        let model = rules.model.clone().ok_or_else(|| {
            "no model is named: give --model, or `model` in the [llm] section of the profile".to_owned()
        })?;
        Ok(Self {
            provider: rules.provider.unwrap_or(Provider::OpenAi),
            model,
            max_output_tokens: output,
            temperature: match rules.temperature.unwrap_or(Temperature::Of(0.0)) {
                Temperature::Of(number) => Some(number),
                Temperature::Unsaid => None,
            },
            system: prompt.system,
            user: prompt.user,
        })
    }

    /// Its name: 32 hexadecimal digits of a BLAKE3 hash of the canonical form.
    pub fn name(&self) -> String {
        let canonical = serde_json::to_vec(self).unwrap_or_default();
        let mut name = blake3::hash(&canonical).to_hex().to_string();
        name.truncate(32);
        name
    }

    /// Tokens of the input, as far as another tokenizer tells.
    pub fn tokens(&self, tokenizer: Tokenizer) -> u64 {
        tokenizer.count(&self.system) + tokenizer.count(&self.user)
    }
}
