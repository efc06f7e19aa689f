//! What a system takes for an overflow, as data: error texts, statuses, usages, and the limit an error may name.
//!
//! No code asks for a system's name. A matcher is a table of TOML: the embedded ones are files beside this one, a profile
//! names one of them or holds a table of its own ([`name_or_table`]). Matching follows the systems to the letter, their
//! mistakes included: the tables tell what a system does, not what would be right ([`super::classify()`] tries that).

use regex::{Regex, RegexBuilder};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

/// The embedded matchers: name and table.
const EMBEDDED: [(&str, &str); 6] = [
    ("opal", include_str!("opal.toml")),
    ("pi", include_str!("pi.toml")),
    ("pi-0.73", include_str!("pi-0.73.toml")),
    ("sven", include_str!("sven.toml")),
    ("none", include_str!("none.toml")),
    ("own", include_str!("own.toml")),
];

/// What one system takes for an overflow. Unknown keys are errors that name their line; an empty table notices nothing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    /// Name as shown.
    #[serde(default = "own")]
    pub name: String,
    /// One line for listings.
    #[serde(default)]
    pub description: String,
    /// The stop reason a reply must have for its error text to be looked at; `None`: any.
    #[serde(default)]
    pub error_stop: Option<String>,
    /// What a text says decides too, as [`super::classify()`] reads it.
    #[serde(default)]
    pub classifier: bool,
    /// Looked for first: a text with one of them is no overflow whatever else it says.
    #[serde(default)]
    pub exclusions: Vec<Pattern>,
    /// Parts of a text that make it an overflow.
    #[serde(default)]
    pub fragments: Vec<Fragment>,
    /// The same as regular expressions.
    #[serde(default)]
    pub patterns: Vec<Pattern>,
    /// HTTP statuses at the beginning of a text that make it an overflow.
    #[serde(default)]
    pub status: Vec<StatusRule>,
    /// How a limit is read from an error text. A text that yields one is an overflow.
    #[serde(default)]
    pub recovery: Option<Recovery>,
    /// Usages of replies that are overflows although no error came.
    #[serde(default)]
    pub usage: Vec<UsageRule>,
}

fn own() -> String {
    "own".to_owned()
}

/// Part of a text, compared in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment(String);

impl<'de> Deserialize<'de> for Fragment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Err(Error::custom("an empty fragment is in every text"));
        }
        Ok(Self(text.to_lowercase()))
    }
}

/// A regular expression that takes upper and lower case for the same.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let regex = RegexBuilder::new(&text).case_insensitive(true).build().map_err(Error::custom)?;
        if regex.is_match("") {
            return Err(Error::custom(format!("the pattern `{text}` matches every text")));
        }
        Ok(Self(regex))
    }
}

/// HTTP statuses at the beginning of an error text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusRule {
    /// The statuses.
    pub codes: Vec<u16>,
    /// Only where the text says nothing else: `413 (no body)`, `413 status code (no body)`. Otherwise white space, a colon or
    /// nothing follows the status.
    #[serde(default)]
    pub bodiless: bool,
    /// Also behind the name of an interface: `NAME API error (413):`.
    #[serde(default)]
    pub labelled: bool,
    /// Only in answers of these providers; empty: of any.
    #[serde(default)]
    pub providers: Vec<String>,
}

/// A limit inside the JSON that an error text ends with: all from its first `{` to its end must be one document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// Stands somewhere in the text, in just these letters.
    pub marker: String,
    /// Key of the limit, an unsigned number of tokens.
    pub field: String,
    /// Key of the object that is asked first; then the document itself.
    pub inside: String,
}

/// A usage that is an overflow although the provider took the request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageRule {
    /// Stop reasons of the replies it holds for; empty: any.
    #[serde(default)]
    pub stops: Vec<String>,
    /// Tokens read from a cache count as input.
    #[serde(default)]
    pub cached: bool,
    /// Share of the window that the input has to pass.
    #[serde(default = "whole", deserialize_with = "share")]
    pub share: f64,
    /// Reaching the share is enough.
    #[serde(default)]
    pub inclusive: bool,
    /// Only replies without any output.
    #[serde(default)]
    pub silent: bool,
}

fn whole() -> f64 {
    1.0
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if share.is_finite() && share > 0.0 {
        return Ok(share);
    }
    Err(Error::invalid_value(Unexpected::Float(share), &"a share of the window above 0"))
}

/// Tokens of one reply, as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Input that was not read from a cache.
    pub input: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// Output.
    pub output: u64,
}

/// A reply as a system sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reply<'a> {
    /// Who answered, by the system's own name.
    pub provider: Option<&'a str>,
    /// Why the reply ended, in the system's own words.
    pub stop: Option<&'a str>,
    /// The error, as text.
    pub error: Option<&'a str>,
    /// What it took.
    pub usage: Usage,
}

impl Matcher {
    /// Names of the embedded matchers.
    pub const NAMES: [&'static str; 6] =
        [EMBEDDED[0].0, EMBEDDED[1].0, EMBEDDED[2].0, EMBEDDED[3].0, EMBEDDED[4].0, EMBEDDED[5].0];

    /// The embedded matcher of that name.
    pub fn named(name: &str) -> Option<Self> {
        let (_, table) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse(table).expect("the embedded matchers are valid: a test parses them"))
    }

    /// Reads a matcher from TOML; the error names the line.
    pub fn parse(table: &str) -> Result<Self, String> {
        toml::from_str(table).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// Whether the system takes an error text for an overflow. Error texts only: what a user, an agent or a tool says is no
    /// error of a provider and must not come here.
    pub fn notices(&self, error: &str, provider: Option<&str>) -> bool {
        if self.exclusions.iter().any(|pattern| pattern.0.is_match(error)) {
            return false;
        }
        let lower = error.to_lowercase();
        self.fragments.iter().any(|fragment| lower.contains(&fragment.0))
            || self.patterns.iter().any(|pattern| pattern.0.is_match(error))
            || self.status.iter().any(|rule| rule.matches(error, provider))
            || self.recovered_limit(error).is_some()
            || (self.classifier && super::classify(error).class == super::Class::Overflow)
    }

    /// Whether it takes a usage for an overflow of a window of so many tokens. A window of 0 is an unknown one.
    pub fn exceeds(&self, usage: Usage, stop: Option<&str>, window: u64) -> bool {
        0 < window && self.usage.iter().any(|rule| rule.matches(usage, stop, window))
    }

    /// Whether it takes a reply for an overflow, by its error or by its usage; `window` in tokens where it is known.
    pub fn overflows(&self, reply: &Reply<'_>, window: Option<u64>) -> bool {
        let is_error = self.error_stop.is_none() || self.error_stop.as_deref() == reply.stop;
        reply.error.is_some_and(|error| is_error && self.notices(error, reply.provider))
            || window.is_some_and(|window| self.exceeds(reply.usage, reply.stop, window))
    }

    /// The limit in tokens that the system reads from an error text.
    pub fn recovered_limit(&self, error: &str) -> Option<u64> {
        let rule = self.recovery.as_ref()?;
        if !error.contains(&rule.marker) {
            return None;
        }
        let (_, document) = error.split_at_checked(error.find('{')?)?;
        let document: Value = serde_json::from_str(document).ok()?;
        let limit = |place: &Value| place.get(&rule.field)?.as_u64();
        document.get(&rule.inside).and_then(limit).or_else(|| limit(&document))
    }
}

impl StatusRule {
    fn matches(&self, text: &str, provider: Option<&str>) -> bool {
        let of_these = |name: &str| self.providers.iter().any(|known| known == name);
        (self.providers.is_empty() || provider.is_some_and(of_these))
            && self.codes.iter().any(|code| self.begins(text, *code))
    }

    fn begins(&self, text: &str, code: u16) -> bool {
        let rest = text.strip_prefix(&code.to_string());
        if self.bodiless {
            return rest.is_some_and(|rest| {
                let rest = rest.trim_start();
                let rest = strip_ignoring_case(rest, "status code").map_or(rest, str::trim_start);
                strip_ignoring_case(rest, "(no body)").is_some()
            });
        }
        let ends = |rest: &str| rest.chars().next().is_none_or(|next| next == ':' || next.is_whitespace());
        rest.is_some_and(ends) || self.labelled && is_labelled(text, code)
    }
}

/// `NAME API error (CODE):` at the beginning, the name of letters, digits, blanks, `_` and `-`.
fn is_labelled(text: &str, code: u16) -> bool {
    let lower = text.to_ascii_lowercase();
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ' | '-');
    lower
        .split_once(&format!(" api error ({code}):"))
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(of_name))
}

fn strip_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

impl UsageRule {
    fn matches(&self, usage: Usage, stop: Option<&str>, window: u64) -> bool {
        let input = usage.input.saturating_add(if self.cached { usage.cache_read } else { 0 });
        let bound = window as f64 * self.share;
        let passes = if self.inclusive { input as f64 >= bound } else { input as f64 > bound };
        let of_these = |stop: &str| self.stops.iter().any(|known| known == stop);
        passes && (self.stops.is_empty() || stop.is_some_and(of_these)) && (!self.silent || usage.output == 0)
    }
}

/// For a field of a profile: the name of an embedded matcher, or a table of its own.
pub fn name_or_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Matcher, D::Error> {
    struct Either;

    impl<'de> Visitor<'de> for Either {
        type Value = Matcher;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of an overflow matcher or a table")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<Matcher, E> {
            Matcher::named(name).ok_or_else(|| E::unknown_variant(name, &Matcher::NAMES))
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Matcher, A::Error> {
            Matcher::deserialize(MapAccessDeserializer::new(table))
        }
    }

    deserializer.deserialize_any(Either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Holder {
        #[serde(deserialize_with = "name_or_table")]
        overflow: Matcher,
    }

    fn matcher(name: &str) -> Matcher {
        Matcher::named(name).expect("an embedded matcher")
    }

    fn check_notices(name: &str, text: &str, expect: bool) {
        assert_eq!(matcher(name).notices(text, None), expect, "{name}: {text}");
    }

    fn check_refused(table: &str, says: &str) {
        let error = Matcher::parse(table).unwrap_err();
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn embedded_matchers_are_valid_and_called_what_their_files_say() {
        for name in Matcher::NAMES {
            assert_eq!(matcher(name).name, name);
            assert!(!matcher(name).description.is_empty(), "{name}");
        }
        assert_eq!(Matcher::named("lis"), None);
    }

    #[test]
    fn each_system_has_its_own_blind_spots() {
        for (text, opal, pi, old, sven) in [
            ("prompt is too long: 5 tokens > 4 maximum", true, true, true, false),
            ("Prompt exceeds max length", false, true, false, false),
            ("maximum context length reached", true, false, false, false),
            ("429 rate limit: too many tokens", true, false, false, false),
            ("413 Payload Too Large", false, true, false, false),
            ("Some-Corp API error (413): body", false, true, false, false),
            ("413 (no body)", false, true, true, false),
            ("400 (no body)", false, false, true, false),
            ("exceed_context_size_error: {\"n_ctx\": 4096}", false, false, false, true),
            ("", false, false, false, false),
        ] {
            check_notices("opal", text, opal);
            check_notices("pi", text, pi);
            check_notices("pi-0.73", text, old);
            check_notices("sven", text, sven);
            check_notices("none", text, false);
        }
    }

    #[test]
    fn opal_looks_for_its_17_fragments() {
        let fragments = [
            "context_length_exceeded",
            "maximum context length",
            "max_tokens",
            "max_prompt_tokens",
            "too many tokens",
            "prompt is too long",
            "prompt_tokens_exceeded",
            "request too large",
            "context window",
            "token limit",
            "exceeds the limit",
            "input too long",
            "exceeds the model's maximum",
            "reduce the length",
            "maximum number of tokens",
            "content_too_large",
            "string_above_max_length",
        ];
        assert_eq!(fragments.len(), matcher("opal").fragments.len());
        for fragment in fragments {
            check_notices("opal", &format!("error: {fragment} (code 1)"), true);
            check_notices("opal", &format!("ERROR: {}", fragment.to_uppercase()), true);
            let all_but_one = fragment.get(..fragment.len() - 1).expect("ASCII");
            check_notices("opal", &format!("error: {all_but_one} (code 1)"), false);
        }
    }

    #[test]
    fn opal_takes_these_errors_for_overflows_and_those_not() {
        for (name, text, expect) in [
            ("a code", "context_length_exceeded", true),
            ("an atom", ":context_length_exceeded", true),
            ("a limit with its number", "This model's maximum context length is 128000 tokens", true),
            ("too many tokens", "too many tokens", true),
            ("a prompt", "prompt is too long", true),
            ("a request", "request too large for model", true),
            ("a limit", "token limit exceeded", true),
            ("an input", "input too long", true),
            ("the maximum of a model", "exceeds the model's maximum context length", true),
            ("advice", "reduce the length of the messages", true),
            ("a number of tokens", "maximum number of tokens exceeded", true),
            ("content", "content_too_large", true),
            ("a text", "string_above_max_length", true),
            ("a window", "context window exceeded", true),
            ("the length of replies", "max_tokens limit reached", true),
            ("capitals", "PROMPT IS TOO LONG", true),
            ("capitals of a code", "CONTEXT_LENGTH_EXCEEDED", true),
            ("a map", "%{\"code\" => \"model_max_prompt_tokens_exceeded\"}", true),
            ("two blanks", "prompt is too  long", false),
            ("a hyphen", "context-window", false),
            ("a rate", "rate_limit_exceeded", false),
            ("a status of rates", "429 Too Many Requests", false),
            ("a service that is away", "503 Service Unavailable", false),
            ("a fault of the server", "500 Internal Server Error", false),
            ("no leave", "unauthorized", false),
            ("no connection", "connection refused", false),
            ("a connection that broke", "econnreset", false),
            ("nothing", "", false),
        ] {
            assert_eq!(matcher("opal").notices(text, None), expect, "{name}: {text}");
        }
    }

    #[test]
    fn throttling_is_no_overflow_to_pi() {
        for (name, text, expect) in [
            ("as pi words it", "Throttling error: Too many tokens, wait", false),
            ("a service that is away", "Service unavailable: too many tokens", false),
            ("a rate", "Rate limit reached: too many tokens", false),
            ("requests", "Too many requests: token limit exceeded", false),
            ("as the provider words it", "ThrottlingException: Too many tokens", true),
            ("bytes", "request_too_large: over 32 MB", true),
            ("a local server", "prompt too long; exceeded max context length by 4", true),
        ] {
            for system in ["pi", "pi-0.73"] {
                assert_eq!(matcher(system).notices(text, None), expect, "{system}, {name}: {text}");
            }
        }
    }

    #[test]
    fn a_status_rule_may_hold_for_one_provider() {
        let pi = matcher("pi");
        for (provider, expect) in [(None, false), (Some("other"), false), (Some("cerebras"), true)] {
            assert_eq!(pi.notices("400 status code (no body)", provider), expect, "{provider:?}");
        }
    }

    #[test]
    fn a_limit_is_read_from_json_that_ends_the_text() {
        let sven = matcher("sven");
        for (text, expect) in [
            ("exceed_context_size_error {\"error\":{\"n_ctx\":512}}", Some(512)),
            ("exceed_context_size_error {\"n_ctx\":7}\n", Some(7)),
            ("exceed_context_size_error {\"n_ctx\":7,\"error\":{\"n_ctx\":9}}", Some(9)),
            ("exceed_context_size_error {\"n_ctx\":7} and more", None),
            ("exceed_context_size_error {\"n_ctx\":\"7\"}", None),
            ("exceed_context_size_error {\"n_ctx\":-7}", None),
            ("EXCEED_CONTEXT_SIZE_ERROR {\"n_ctx\":7}", None),
            ("context size {\"n_ctx\":7}", None),
            ("exceed_context_size_error", None),
        ] {
            assert_eq!(sven.recovered_limit(text), expect, "{text}");
        }
        assert_eq!(matcher("pi").recovered_limit("exceed_context_size_error {\"n_ctx\":7}"), None);
    }

    #[test]
    fn usage_alone_may_be_an_overflow() {
        let usage = |input, cache_read, output| Usage { input, cache_read, output };
        for (name, tokens, stop, window, expect) in [
            ("opal", usage(128_000, 0, 1), "stop", 128_000, false),
            ("opal", usage(128_001, 0, 1), "stop", 128_000, true),
            ("opal", usage(101, 0, 1), "tool_use", 100, true),
            ("opal", usage(100, 50, 1), "stop", 100, false),
            ("pi", usage(60, 41, 1), "stop", 100, true),
            ("pi", usage(101, 0, 1), "toolUse", 100, false),
            ("pi", usage(99, 0, 0), "length", 100, true),
            ("pi", usage(99, 0, 1), "length", 100, false),
            ("pi", usage(101, 0, 1), "stop", 0, false),
            ("sven", usage(101, 0, 1), "stop", 100, false),
        ] {
            assert_eq!(matcher(name).exceeds(tokens, Some(stop), window), expect, "{name} {tokens:?} {stop}");
        }
    }

    #[test]
    fn error_texts_count_only_where_the_reply_is_an_error() {
        let reply = |stop| Reply { stop: Some(stop), error: Some("prompt is too long"), ..Reply::default() };
        assert!(matcher("pi").overflows(&reply("error"), None));
        assert!(!matcher("pi").overflows(&reply("aborted"), None));
        assert!(matcher("opal").overflows(&reply("aborted"), None));
    }

    #[test]
    fn a_profile_names_a_matcher_or_holds_one() {
        let named: Holder = toml::from_str("overflow = \"pi\"").unwrap();
        assert_eq!(named.overflow, matcher("pi"));
        let own: Holder = toml::from_str("[overflow]\nfragments = [\"Full UP\"]").unwrap();
        assert!(own.overflow.notices("it is FULL up", None));
        assert_eq!(own.overflow.name, "own");
        let error = toml::from_str::<Holder>("overflow = \"pie\"").unwrap_err().to_string();
        assert!(error.contains("unknown variant `pie`, expected one of `opal`, `pi`"), "{error}");
        let error = toml::from_str::<Holder>("[overflow]\nfragment = []").unwrap_err().to_string();
        assert!(error.contains("fragment"), "{error}");
    }

    #[test]
    fn tables_that_cannot_be_meant_are_refused() {
        check_refused("fragments = [\"\"]", "in every text");
        check_refused("patterns = [\"(\"]", "unclosed group");
        check_refused("exclusions = [\"a*\"]", "matches every text");
        check_refused("[[usage]]\nshare = 0.0", "above 0");
        check_refused("[[status]]\ncode = [413]", "unknown field `code`");
    }
}
