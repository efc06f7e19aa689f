//! Which keys a grid may have, and which one is meant by another name.

use super::grid::RESERVED;
use crate::profile::{Profile, nearest};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Where all keys stand.
pub const HINT: &str = "keys are profile, strategy, window and summary_tokens, and those of a profile with dots between their parts: \
                        `compactor profiles show standard` prints them";

/// Keys that are a choice of one of several.
const CHOICES: [&str; 8] = [
    "trigger.limit.share",
    "trigger.limit.above_share",
    "trigger.limit.percent",
    "trigger.limit.reserve",
    "keep.tokens",
    "keep.share",
    "keep.context",
    "keep.entries",
];

/// What other systems call them: the last part of a key in lower case, without anything but letters.
const ELSEWHERE: [(&str, &str); 33] = [
    ("threshold", "trigger.limit.share"),
    ("compactthreshold", "trigger.limit.share"),
    ("compactionthreshold", "trigger.limit.share"),
    ("compressionthreshold", "trigger.limit.share"),
    ("autocompactthreshold", "trigger.limit.share"),
    ("triggerthreshold", "trigger.limit.share"),
    ("triggerratio", "trigger.limit.share"),
    ("compactat", "trigger.limit.share"),
    ("fraction", "trigger.limit.share"),
    ("ratio", "trigger.limit.share"),
    ("autocompactpct", "trigger.limit.percent"),
    ("autocompactpercent", "trigger.limit.percent"),
    ("reservetokens", "trigger.limit.reserve"),
    ("reserved", "trigger.limit.reserve"),
    ("buffer", "trigger.limit.reserve"),
    ("keeprecenttokens", "keep.tokens"),
    ("keeptokens", "keep.tokens"),
    ("recent", "keep.tokens"),
    ("tail", "keep.tokens"),
    ("tailtokens", "keep.tokens"),
    ("preserverecenttokens", "keep.tokens"),
    ("preservefraction", "keep.share"),
    ("preserve", "keep.share"),
    ("keeplast", "keep.entries"),
    ("keepmessages", "keep.entries"),
    ("preservelast", "keep.entries"),
    ("contextwindow", "window"),
    ("contextlength", "window"),
    ("windowsize", "window"),
    ("maxsummarytokens", "summary_tokens"),
    ("summarybudget", "summary_tokens"),
    ("summarylength", "summary_tokens"),
    ("budget", "summary_tokens"),
];

/// What a key that no profile has may mean: `None` for a key that some profile may have, else the nearest, where one is near.
pub fn meant(key: &str) -> Option<Option<String>> {
    let known = known();
    // Tables may be values as well: a form of lists, a choice.
    let holds =
        |other: &String| other == key || other.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    if known.iter().any(holds) {
        return None;
    }
    // The embedded profiles do not hold every key there is: a profile that knows it refuses its value, not the key.
    if RESERVED.contains(&key) || accepted(key) {
        return None;
    }
    let last = key.rsplit('.').next().unwrap_or(key);
    let plain: String =
        last.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    if let Some((_, own)) = ELSEWHERE.iter().find(|(other, _)| *other == plain) {
        return Some(Some((*own).to_owned()));
    }
    // A table around keys of a profile (`[grid]`, `[profile]`) is one too many.
    if let Some((_, rest)) = key.split_once('.')
        && known.iter().any(|known| known == rest)
    {
        return Some(Some(rest.to_owned()));
    }
    let near = |text: &str| nearest(text, known.iter().map(String::as_str)).map(str::to_owned);
    let inner = || key.split_once('.').and_then(|(_, rest)| near(rest));
    let of_last = || {
        let same = |known: &&String| known.rsplit('.').next() == Some(last);
        known.iter().find(same).cloned()
    };
    Some(near(key).or_else(inner).or_else(of_last))
}

/// Paths of all keys that the embedded profiles hold, and those beside them.
fn known() -> BTreeSet<String> {
    let mut all: BTreeSet<String> = CHOICES.into_iter().chain(RESERVED).map(str::to_owned).collect();
    for table in Profile::names().filter_map(Profile::table_of) {
        paths(&table, "", &mut all);
    }
    all
}

fn paths(table: &Table, before: &str, all: &mut BTreeSet<String>) {
    for (key, value) in table {
        let path = format!("{before}{key}");
        match value {
            Value::Table(inner) => paths(inner, &format!("{path}."), all),
            _ => drop(all.insert(path)),
        }
    }
}

/// True where a profile takes the key itself, whatever it makes of the value.
fn accepted(key: &str) -> bool {
    let Some(standard) = Profile::table_of("standard") else { return false };
    let own = crate::profile::nested(key, Value::from("?"));
    match Profile::overlaid("standard", &standard, &own) {
        Ok(_) => true,
        Err(error) => {
            !error.reason.contains("unknown field")
                && !(error.reason.contains("unknown variant")
                    && key.contains('.')
                    && error
                        .reason
                        .contains(&format!("unknown variant `{}`", key.rsplit('.').next().unwrap_or(key))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, expected: Option<Option<&str>>) {
        assert_eq!(meant(key), expected.map(|near| near.map(str::to_owned)), "{key}");
    }

    #[test]
    fn keys_of_profiles_are_taken_and_others_explained() {
        for key in
            ["keep.tokens", "trigger.limit", "trigger.limit.reserve", "pin_request", "cut.landings", "window"]
        {
            check(key, None);
        }
        check("trigger.threshold", Some(Some("trigger.limit.share")));
        check("trigger.limit.shar", Some(Some("trigger.limit.share")));
        check("keep.tokenz", Some(Some("keep.tokens")));
        check("grid.keep.tokens", Some(Some("keep.tokens")));
        check("contextWindow", Some(Some("window")));
        check("strategys", Some(Some("strategy")));
        check("zzzzzzzzzzzz", Some(None));
    }

    #[test]
    fn what_others_call_a_key_is_one_of_ours() {
        for (other, own) in ELSEWHERE {
            check(own, None);
            assert!(other.chars().all(|c| c.is_ascii_lowercase()), "{other}");
        }
    }
}
