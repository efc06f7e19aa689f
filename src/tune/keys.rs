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

/// Whether some profile may have a key; else the one that is meant, where one is near.
pub fn known_or_meant(key: &str) -> Result<(), Option<String>> {
    let known = known();
    // Tables may be values as well: a form of lists, a choice.
    let holds =
        |other: &String| other == key || other.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    if known.iter().any(holds) {
        return Ok(());
    }
    // The embedded profiles do not hold every key there is: a profile that knows it refuses its value, not the key.
    if RESERVED.contains(&key) || accepted(key) {
        return Ok(());
    }
    let last = key.rsplit('.').next().unwrap_or(key);
    let plain: String =
        last.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    if let Some((_, own)) = ELSEWHERE.iter().find(|(other, _)| *other == plain) {
        return Err(Some((*own).to_owned()));
    }
    // A table around keys of a profile (`[grid]`, `[profile]`) is one too many.
    if let Some((_, rest)) = key.split_once('.')
        && known.iter().any(|known| known == rest)
    {
        return Err(Some(rest.to_owned()));
    }
    let near = |text: &str| nearest(text, known.iter().map(String::as_str)).map(str::to_owned);
    let inner = || key.split_once('.').and_then(|(_, rest)| near(rest));
    let of_last = || {
        let same = |known: &&String| known.rsplit('.').next() == Some(last);
        known.iter().find(same).cloned()
    };
    Err(near(key).or_else(inner).or_else(of_last))
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
            let last = key.rsplit('.').next().unwrap_or(key);
            let choice = key.contains('.') && error.reason.contains(&format!("unknown variant `{last}`"));
            !(choice || error.reason.contains("unknown field"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, expected: Result<(), Option<&str>>) {
        assert_eq!(known_or_meant(key), expected.map_err(|near| near.map(str::to_owned)), "{key}");
    }

    #[test]
    fn keys_of_profiles_are_taken_and_others_explained() {
        for key in
            ["keep.tokens", "trigger.limit", "trigger.limit.reserve", "pin_request", "cut.landings", "window"]
        {
            check(key, Ok(()));
        }
        check("trigger.threshold", Err(Some("trigger.limit.share")));
        check("trigger.limit.shar", Err(Some("trigger.limit.share")));
        check("keep.tokenz", Err(Some("keep.tokens")));
        check("grid.keep.tokens", Err(Some("keep.tokens")));
        check("contextWindow", Err(Some("window")));
        check("strategys", Err(Some("strategy")));
        check("zzzzzzzzzzzz", Err(None));
    }

    #[test]
    fn what_others_call_a_key_is_one_of_ours() {
        for (other, own) in ELSEWHERE {
            check(own, Ok(()));
            assert!(other.chars().all(|c| c.is_ascii_lowercase()), "{other}");
        }
    }
}
