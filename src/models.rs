//! Context windows of models, for `--window auto`: a dated table, longest matching prefix wins.
//!
//! As published by their makers in November 2026. A model that is not here has no known window: the caller says that it
//! uses [`DEFAULT_WINDOW`].

/// Used, and said to be used, when nothing tells the window of a model.
pub const DEFAULT_WINDOW: u64 = 128_000;

/// When the table was made.
const DATED: &str = "November 2026";

/// Says that the default is used. `model` is as the log names it, empty where it names none.
pub fn assumed(model: &str, sessions: u64) -> String {
    let who =
        if model.is_empty() { "no model is named".to_owned() } else { format!("model `{model}` is unknown") };
    let plural = if sessions == 1 { "session" } else { "sessions" };
    format!(
        "{who} in {sessions} {plural}: a window of {DEFAULT_WINDOW} tokens is assumed (table of {DATED}; --window gives another)"
    )
}

/// Prefix of a model name in lower case, without a provider prefix; window in tokens.
const WINDOWS: &[(&str, u64)] = &[
    ("claude-", 200_000),
    ("codex-mini", 200_000),
    ("deepseek-", 128_000),
    ("devstral", 128_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-", 1_048_576),
    ("glm-4.5", 131_072),
    ("glm-4.6", 200_000),
    ("gpt-3.5-turbo", 16_385),
    ("gpt-4", 8_192),
    ("gpt-4-turbo", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-5", 400_000),
    ("gpt-5-codex", 272_000),
    ("gpt-oss", 131_072),
    ("grok-4", 256_000),
    ("grok-code", 256_000),
    ("kimi-k2", 262_144),
    ("llama-3", 131_072),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("qwen3-coder", 262_144),
];

/// Window of a model in tokens; `None` when it is not in the table. A name that ends in `[1m]` has a million.
pub fn window_of(model: &str) -> Option<u64> {
    let name = model.trim().to_ascii_lowercase();
    if name.ends_with("[1m]") {
        return Some(1_000_000);
    }
    let name = name.rsplit('/').next().unwrap_or("");
    WINDOWS
        .iter()
        .filter(|(prefix, _)| name.starts_with(prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, window)| *window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_wins_and_providers_are_ignored() {
        for (model, window) in [
            ("claude-sonnet-4-20250514", Some(200_000)),
            ("anthropic/claude-opus-4.5", Some(200_000)),
            ("claude-sonnet-4-5[1m]", Some(1_000_000)),
            ("gpt-4", Some(8_192)),
            ("gpt-4o-mini", Some(128_000)),
            ("GPT-4.1", Some(1_047_576)),
            ("gpt-5-codex", Some(272_000)),
            ("<synthetic>", None),
            ("", None),
        ] {
            assert_eq!(window_of(model), window, "{model}");
        }
    }
}
