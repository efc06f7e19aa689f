//! Profiles as files: the embedded ones, `extends`, and errors that say where they are.

use super::check::Fault;
use super::{Fix, Profile, ProfileError, templates};
use crate::prompt::PromptRules;
use toml::{Table, Value};

/// The embedded policies: the default first.
const NAMED: [(&str, &str); 11] = [
    ("standard", include_str!("standard.toml")),
    ("opal", include_str!("opal.toml")),
    ("operator-use", include_str!("operator-use.toml")),
    ("operator-use-docs", include_str!("operator-use-docs.toml")),
    ("pi", include_str!("pi.toml")),
    ("pi-0.73", include_str!("pi-0.73.toml")),
    ("lis", include_str!("lis.toml")),
    ("lis-digests", include_str!("lis-digests.toml")),
    ("sven", include_str!("sven.toml")),
    ("sven-ci", include_str!("sven-ci.toml")),
    ("sven-interactive", include_str!("sven-interactive.toml")),
];

/// Behind the name of a profile: the same with its known faults mended.
const FIXED: &str = "+fixes";

/// The line by which an embedded profile claims to do what its system does.
const FAITHFUL: &str = "faithful = true";

/// Most profiles that extend each other.
const DEPTH: usize = 8;

/// Reads one table of a TOML text, and nothing else of it.
#[cfg(test)]
pub(crate) fn section<T: serde::de::DeserializeOwned>(text: &str, key: &str) -> Result<T, ProfileError> {
    let fail = |reason: String| ProfileError { name: key.to_owned(), reason };
    let mut tables: toml::Table =
        toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_owned()))?;
    let table = tables.remove(key).ok_or_else(|| fail(format!("there is no table [{key}]")))?;
    T::deserialize(table).map_err(|error| fail(error.to_string().trim_end().to_owned()))
}

impl Profile {
    /// The embedded default.
    pub fn standard() -> Self {
        Self::named("standard")
            .expect("an embedded profile")
            .expect("the embedded profile is valid: a test parses it")
    }

    /// Names of the embedded profiles, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// The text of an embedded profile as a file of its own, comments included; of `NAME+fixes` too.
    pub fn file_of(name: &str) -> Option<String> {
        let (plain, fixed) = plain_name(name);
        let text = Self::text_of(plain)?;
        if !fixed {
            return Some(text.to_owned());
        }
        let own = format!("name = \"{plain}\"");
        let mended = format!("name = \"{name}\"\nfixes = {}", all_fixes());
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with(FAITHFUL));
        Some(lines.collect::<String>().replacen(&own, &mended, 1))
    }

    /// The text of an embedded profile, comments included.
    pub fn text_of(name: &str) -> Option<&'static str> {
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// An embedded profile; `NAME+fixes` is one with its known faults mended. `None` where there is none of the name.
    pub fn named(name: &str) -> Option<Result<Self, ProfileError>> {
        let (plain, fixed) = plain_name(name);
        let parsed = Self::parse(plain, Self::text_of(plain)?);
        Some(parsed.map(|mut profile| {
            if fixed {
                (profile.faithful, profile.fixes) = (false, Fix::ALL.to_vec());
                name.clone_into(&mut profile.name);
            }
            profile
        }))
    }

    /// Reads a profile from TOML text; `origin` names it in errors. `extends = "NAME"` begins with an embedded profile and
    /// changes it: tables are merged key by key. Errors name the line of a key where the text holds it.
    pub fn parse(origin: &str, text: &str) -> Result<Self, ProfileError> {
        let fail = |reason: String| ProfileError { name: origin.to_owned(), reason };
        let own: Table = text.parse().map_err(|error: toml::de::Error| fail(plain(&error)))?;
        let (profile, table): (Self, Table) = match own.get("extends").cloned() {
            Some(base) => {
                let mut own = own;
                own.remove("extends");
                let base = based_on(&base, DEPTH)
                    .map_err(|reason| fail(Fault::of(&["extends"], reason).in_text(text)))?;
                let mut table = base.clone();
                merge(&mut table, own.clone());
                let told = |error: toml::de::Error| {
                    fail(blamed(&base, &own, text).unwrap_or_else(|| suggested(&plain(&error))))
                };
                (table.clone().try_into().map_err(told)?, table)
            }
            None => (toml::from_str(text).map_err(|error| fail(suggested(&plain(&error))))?, own),
        };
        templates::check(&table).map_err(|fault| fail(fault.in_text(text)))?;
        profile.validate().map_err(|fault| fail(fault.in_text(text)))?;
        Ok(profile.completed())
    }

    /// A prompt that says nothing of how messages are written writes them as ours does.
    fn completed(mut self) -> Self {
        self.prompt = self.prompt.map(PromptRules::completed);
        self
    }

    /// An embedded profile as a table, those that it extends taken in; of `NAME+fixes` too.
    pub fn table_of(name: &str) -> Option<Table> {
        based_on(&Value::from(name), DEPTH).ok()
    }

    /// The profile in a text as a table, those that it extends taken in.
    pub fn table_in(origin: &str, text: &str) -> Result<Table, ProfileError> {
        let fail = |reason: String| ProfileError { name: origin.to_owned(), reason };
        let own: Table = text.parse().map_err(|error: toml::de::Error| fail(plain(&error)))?;
        extended(own, DEPTH).map_err(|reason| fail(Fault::of(&["extends"], reason).in_text(text)))
    }

    /// A profile with values on top of those of another one, checked like a profile file. `origin` names it in errors.
    pub fn overlaid(origin: &str, base: &Table, own: &Table) -> Result<Self, ProfileError> {
        let fail = |reason: String| ProfileError { name: origin.to_owned(), reason };
        let mut table = base.clone();
        merge(&mut table, own.clone());
        let told =
            |error: toml::de::Error| fail(blamed(base, own, "").unwrap_or_else(|| suggested(&plain(&error))));
        let profile: Self = table.clone().try_into().map_err(told)?;
        templates::check(&table).map_err(|fault| fail(fault.in_text("")))?;
        profile.validate().map_err(|fault| fail(fault.in_text("")))?;
        Ok(profile.completed())
    }
}

/// Puts the values of a table on top of those of another one, as `extends` does it.
pub fn overlay(base: &mut Table, own: Table) {
    merge(base, own);
}

/// The name of a profile without the mark that its faults are mended, and whether it has the mark.
fn plain_name(name: &str) -> (&str, bool) {
    name.strip_suffix(FIXED).map_or((name, false), |plain| (plain, true))
}

/// Names of all fixes as a value of TOML.
fn all_fixes() -> Value {
    Value::Array(Fix::ALL.into_iter().map(|fix| Value::from(fix.name())).collect())
}

/// A profile with those that it extends: its own keys win.
fn extended(mut own: Table, depth: usize) -> Result<Table, String> {
    let Some(base) = own.remove("extends") else { return Ok(own) };
    let mut merged = based_on(&base, depth)?;
    merge(&mut merged, own);
    Ok(merged)
}

/// The embedded profile that a value of `extends` names, with those that it extends itself.
fn based_on(base: &Value, depth: usize) -> Result<Table, String> {
    let Some(name) = base.as_str() else { return Err("extends is no name of a profile".to_owned()) };
    let (plain_name, fixed) = plain_name(name);
    let Some(text) = Profile::text_of(plain_name).filter(|_| depth > 0) else {
        return Err(format!("extends = \"{name}\" names no embedded profile; {}", known(name)));
    };
    let base: Table = text.parse().map_err(|error: toml::de::Error| plain(&error))?;
    let mut merged = extended(base, depth - 1)?;
    if fixed {
        merged.insert("fixes".to_owned(), all_fixes());
        merged.insert("faithful".to_owned(), Value::from(false));
        merged.insert("name".to_owned(), Value::from(name));
    }
    Ok(merged)
}

/// These tables are a choice of one key: a new one takes the place of the old.
fn is_choice(key: &str) -> bool {
    matches!(key, "limit" | "keep")
}

/// Puts values on top of others. Whoever names fixes no longer claims to be faithful.
fn merge(base: &mut Table, own: Table) {
    if own.contains_key("fixes") && !own.contains_key("faithful") {
        base.remove("faithful");
    }
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) if !is_choice(&key) => {
                merge(old, new);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// What names of profiles there are, and which one was meant.
pub fn known(name: &str) -> String {
    let (name, fixed) = plain_name(name);
    let mark = if fixed { FIXED } else { "" };
    let nearest = nearest(name, Profile::names());
    let names: Vec<&str> = Profile::names().collect();
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}{mark}`? Known are {}", names.join(", ")),
        None => format!("known are {}", names.join(", ")),
    }
}

fn plain(error: &toml::de::Error) -> String {
    error.to_string().trim_end().to_owned()
}

/// Adds the nearest valid key or name to the message of an unknown one.
pub(crate) fn suggested(message: &str) -> String {
    let unknown = |line: &&str| line.contains("unknown field") || line.contains("unknown variant");
    let Some(line) = message.lines().find(unknown) else { return message.to_owned() };
    let mut words = line.split('`').skip(1).step_by(2);
    let Some(wrong) = words.next() else { return message.to_owned() };
    match nearest(wrong, words) {
        Some(known) => format!("{message}\ndid you mean `{known}`?"),
        None => message.to_owned(),
    }
}

/// The name that was meant by a wrong one: the nearest, unless it is farther than half its length.
pub fn nearest<'k>(wrong: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let distances = known.map(|known| (strsim::damerau_levenshtein(known, wrong), known));
    distances.min().filter(|(distance, known)| distance * 2 <= known.len()).map(|(_, known)| known)
}

/// Why a table with keys of a text on top of those of another profile is none, with the line of the key that is to blame:
/// the first without which the other profile would still be one.
fn blamed(base: &Table, own: &Table, text: &str) -> Option<String> {
    leaves(own, "").into_iter().find_map(|(path, value)| {
        let mut table = base.clone();
        merge(&mut table, nested(&path, value));
        let error = table.try_into::<Profile>().err()?;
        let message = plain(&error);
        // Inside a value that is a table the message names the key.
        let inside = message.split('`').skip(1).step_by(2).find_map(|word| {
            let word = word.rsplit('.').next()?;
            line_of(text, &format!("{path}.{word}"))
        });
        let line = inside.or_else(|| line_of(text, &path)).map(|line| format!("line {line}: "));
        Some(format!("{}{path}: {}", line.unwrap_or_default(), suggested(&message)))
    })
}

/// The values of a table, each with its path. Tables that are a choice of one key are values.
fn leaves(table: &Table, before: &str) -> Vec<(String, Value)> {
    let all = table.iter().flat_map(|(key, value)| {
        let path = format!("{before}{key}");
        match value {
            Value::Table(inner) if !is_choice(key) => leaves(inner, &format!("{path}.")),
            value => vec![(path, value.clone())],
        }
    });
    all.collect()
}

/// A table that holds one value at a path of keys with dots between.
pub fn nested(path: &str, value: Value) -> Table {
    let (key, value) = match path.split_once('.') {
        Some((key, rest)) => (key, Value::Table(nested(rest, value))),
        None => (path, value),
    };
    Table::from_iter([(key.to_owned(), value)])
}

/// The line of a TOML text, from 1, that sets a key, given by its path.
pub fn line_of(text: &str, path: &str) -> Option<usize> {
    let document = toml::de::DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut keys = path.split('.').peekable();
    loop {
        let key = keys.next()?;
        let (found, value) = table.iter().find(|(known, _)| known.get_ref() == key)?;
        if keys.peek().is_none() {
            return text.get(..found.span().start).map(|before| before.matches('\n').count() + 1);
        }
        let toml::de::DeValue::Table(inner) = value.get_ref() else { return None };
        table = inner;
    }
}
