//! What is tried: keys of a profile with their values, from a file and from the command line.

use super::keys::known_or_meant;
use crate::profile::{MIN_WINDOW, line_of, nearest};
use crate::strategy::Strategy;
use toml::{Table, Value};

/// The key that names base profiles.
pub const PROFILE: &str = "profile";
/// The key that names strategies.
pub const STRATEGY: &str = "strategy";
/// The key that names windows.
pub const WINDOW: &str = "window";
/// The key that names budgets of a summary.
pub const SUMMARY_TOKENS: &str = "summary_tokens";

/// Keys that are none of a profile, or not meant as such.
pub const RESERVED: [&str; 4] = [PROFILE, STRATEGY, WINDOW, SUMMARY_TOKENS];

/// Keys of a profile that say nothing of what it does.
const NAMES: [&str; 4] = ["name", "description", "extends", "faithful"];

/// A key with the values to try.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// A key of a profile with dots between its parts, or one of [`RESERVED`].
    pub key: String,
    /// Its values, in the order given, no two alike.
    pub values: Vec<Value>,
    /// Where it was given, as errors name it: file, line and key, or `--set` and key.
    pub place: String,
}

/// Everything that is tried: every combination of the values of its axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grid {
    /// In the order of the file, then of the command line.
    pub axes: Vec<Axis>,
}

/// A grid that cannot be used: where, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct GridError {
    /// File, line and reason.
    pub cause: String,
    /// What to do.
    pub hint: String,
}

impl GridError {
    /// An error with what to do about it.
    pub fn new(cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { cause: cause.into(), hint: hint.into() }
    }
}

/// An example of a line of a grid file.
const EXAMPLE: &str =
    "a line of a grid is a key of a profile with a list of values: trigger.limit.share = [0.7, 0.8]";

impl Grid {
    /// Reads a grid file; `origin` names it in errors.
    pub fn parse(origin: &str, text: &str) -> Result<Self, GridError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line =
                before.map(|before| format!(":{}", before.matches('\n').count() + 1)).unwrap_or_default();
            GridError::new(format!("{origin}{line}: {}", error.to_string().trim_end()), EXAMPLE)
        })?;
        let mut leaves = Vec::new();
        collect(&table, "", &mut leaves);
        let mut axes = Vec::with_capacity(leaves.len());
        for (key, value) in leaves {
            let line = line_of(text, &key).map(|line| format!(":{line}")).unwrap_or_default();
            let place = format!("{origin}{line}: {key}");
            let Value::Array(values) = value else {
                return Err(GridError::new(format!("{place} is no list of values"), EXAMPLE));
            };
            axes.push(Axis::new(key, values, &place)?);
        }
        // A table does not tell in which order its keys were written; the text does.
        axes.sort_by_key(|axis| line_of(text, &axis.key).unwrap_or(usize::MAX));
        Ok(Self { axes })
    }

    /// Takes in `KEY=V1,V2`. The values of a key take the place of those that a file has.
    pub fn set(&mut self, settings: &[String]) -> Result<(), GridError> {
        let mut seen: Vec<String> = Vec::new();
        for setting in settings {
            let Some((key, values)) = setting.split_once('=') else {
                let hint = "write a key of a profile and its values: --set trigger.limit.share=0.7,0.8";
                return Err(GridError::new(format!("--set {setting}: there is no `=`"), hint));
            };
            let key = key.trim();
            let place = format!("--set {key}");
            if seen.iter().any(|other| other == key) {
                return Err(GridError::new(
                    format!("{place} is given twice"),
                    "name each key once, with all of its values",
                ));
            }
            seen.push(key.to_owned());
            let values = split(values).into_iter().map(|text| typed(&text)).collect();
            let axis = Axis::new(key.to_owned(), values, &place)?;
            match self.axes.iter_mut().find(|known| known.key == axis.key) {
                Some(known) => *known = axis,
                None => self.axes.push(axis),
            }
        }
        Ok(())
    }

    /// Refuses keys of which one decides what the other does: a row would be called by a value that it does not run with.
    pub fn consistent(&self) -> Result<(), GridError> {
        let clash = |one: &Axis, other: &Axis| {
            let inside = other.key.strip_prefix(&one.key).is_some_and(|rest| rest.starts_with('.'));
            let budget = one.key == SUMMARY_TOKENS
                && (other.key == "summary" || other.key.starts_with("summary.budget_"));
            inside || budget
        };
        for one in &self.axes {
            if let Some(other) = self.axes.iter().find(|other| clash(one, other)) {
                return Err(GridError::new(
                    format!(
                        "{} and {} set the same thing, and the one would hide the other",
                        one.place, other.place
                    ),
                    "leave one of the two out",
                ));
            }
        }
        Ok(())
    }

    /// Where a key was given.
    pub fn place(&self, key: &str) -> Option<&str> {
        self.axes.iter().find(|axis| axis.key == key).map(|axis| axis.place.as_str())
    }

    /// The values of a key.
    pub fn values(&self, key: &str) -> Option<&[Value]> {
        self.axes.iter().find(|axis| axis.key == key).map(|axis| axis.values.as_slice())
    }

    /// How many combinations it has; `None` where that is no number a machine holds.
    pub fn combinations(&self) -> Option<usize> {
        self.axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.values.len()))
    }

    /// Refuses a grid of more combinations than `most`, before any work.
    pub fn limited(&self, most: usize) -> Result<(), GridError> {
        let all = self.combinations();
        if all.is_some_and(|all| all <= most) {
            return Ok(());
        }
        let sizes: Vec<String> =
            self.axes.iter().map(|axis| format!("{} of {}", axis.values.len(), axis.key)).collect();
        let all = all.map_or_else(
            || "more combinations than can be counted".to_owned(),
            |all| format!("{all} combinations"),
        );
        Err(GridError::new(
            format!("the grid has {all} ({}); at most {most} are tried", sizes.join(" x ")),
            "try fewer values, raise --max-combinations, or let --search halving see most of them on few sessions only",
        ))
    }
}

impl Axis {
    fn new(key: String, values: Vec<Value>, place: &str) -> Result<Self, GridError> {
        if key.is_empty() || key.split('.').any(str::is_empty) {
            return Err(GridError::new(format!("{place}: the key is empty, or a part of it is"), EXAMPLE));
        }
        if NAMES.contains(&key.as_str()) {
            let cause = format!("{place}: {key} says nothing of what a profile does");
            return Err(GridError::new(cause, "name a key that decides something"));
        }
        if let Err(near) = known_or_meant(&key) {
            let cause = match near {
                Some(near) => format!("{place}: unknown key; did you mean `{near}`?"),
                None => format!("{place}: unknown key"),
            };
            return Err(GridError::new(cause, super::keys::HINT));
        }
        if values.is_empty() {
            return Err(GridError::new(
                format!("{place}: the list is empty"),
                "name at least one value, or leave the key out",
            ));
        }
        let values: Vec<Value> = values.into_iter().map(amount).collect();
        for (at, value) in values.iter().enumerate() {
            if values.get(..at).unwrap_or_default().contains(value) {
                let cause = format!("{place}: the value {} is named twice", shown(value));
                return Err(GridError::new(cause, "name each value once"));
            }
            if let Some(reason) = refused(&key, value) {
                return Err(GridError::new(format!("{place}: {reason}"), hint_of(&key)));
            }
        }
        Ok(Self { key, values, place: place.to_owned() })
    }
}

/// Why a value of a reserved key is none; the keys of a profile are judged when the profile is made.
fn refused(key: &str, value: &Value) -> Option<String> {
    match (key, value) {
        (STRATEGY, Value::String(name)) => match name.parse::<Strategy>() {
            Ok(Strategy::None) => {
                Some("the strategy none never compacts: nothing of it can be tuned".to_owned())
            }
            Ok(_) => None,
            Err(error) => {
                let names = Strategy::ALL.into_iter().map(Strategy::name);
                let near = nearest(name, names).map(|near| format!("; did you mean `{near}`?"));
                Some(format!("{error}{}", near.unwrap_or_default()))
            }
        },
        (PROFILE, Value::String(_)) => None,
        (WINDOW, Value::String(text)) if text == "auto" => None,
        (WINDOW, Value::Integer(tokens)) => {
            let large = u64::try_from(*tokens).is_ok_and(|tokens| tokens >= MIN_WINDOW);
            (!large).then(|| format!("a window of {tokens} tokens holds nothing; use at least {MIN_WINDOW}"))
        }
        (SUMMARY_TOKENS, Value::Integer(tokens)) if *tokens > 0 => None,
        (PROFILE | STRATEGY | WINDOW | SUMMARY_TOKENS, value) => {
            Some(format!("{} is no value of {key}", shown(value)))
        }
        _ => None,
    }
}

fn hint_of(key: &str) -> &'static str {
    match key {
        STRATEGY => "strategies are structured, narrative, truncate and emergency",
        PROFILE => "`compactor profiles` lists the embedded ones; a file ends in .toml",
        WINDOW => "use tokens (128k, 200000) or auto",
        _ => "use a number of tokens, for example 2000 or 2k",
    }
}

/// The values of a table, each with its path. A table is never a value here: only lists hold those.
fn collect(table: &Table, before: &str, out: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        let path = format!("{before}{key}");
        match value {
            Value::Table(inner) => collect(inner, &format!("{path}."), out),
            value => out.push((path, value.clone())),
        }
    }
}

/// A value where a text is a number of tokens as people write them, for example `4k`.
fn amount(value: Value) -> Value {
    match &value {
        Value::String(text) => tokens(text).map_or(value, Value::Integer),
        _ => value,
    }
}

/// `4k`, `1.5m`; none of a text without such an ending.
fn tokens(text: &str) -> Option<i64> {
    let lower = text.trim().to_lowercase();
    let (digits, factor) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000.0),
        (_, Some(digits)) => (digits, 1_000_000.0),
        _ => return None,
    };
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = digits.parse::<f64>().ok().filter(|number| is_number && number * factor < 1e12)?;
    Some((number * factor).round() as i64)
}

/// The parts of a text between commas, save those inside brackets, braces and quotes.
fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut part, mut depth, mut quote) = (String::new(), 0_usize, None);
    for c in text.chars() {
        match c {
            '"' | '\'' if quote.is_none() => quote = Some(c),
            c if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    if !(parts.is_empty() && part.trim().is_empty()) {
        parts.push(part);
    }
    parts
}

/// The value that a text is: as TOML, else the text itself.
fn typed(text: &str) -> Value {
    let text = text.trim();
    let parsed = format!("value = {text}").parse::<Table>().ok();
    // More than one key: the text was no value.
    let one = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    one.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// A value as people write it.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(text: &str, says: &[&str]) {
        let error = Grid::parse("grid.toml", text).unwrap_err();
        for part in says {
            assert!(error.cause.contains(part), "{text}: should say {part}: {error:?}");
        }
        assert!(!error.hint.is_empty(), "{text}");
    }

    fn keys(grid: &Grid) -> Vec<&str> {
        grid.axes.iter().map(|axis| axis.key.as_str()).collect()
    }

    #[test]
    fn a_file_and_the_command_line_make_one_grid() {
        let text = "strategy = [\"structured\", \"narrative\"]\nwindow = [\"128k\", \"auto\"]\nkeep.tokens = [\"4k\", 8000]\n\
                    [trigger]\nlimit.share = [0.7, 0.8]\n";
        let mut grid = Grid::parse("grid.toml", text).unwrap();
        assert_eq!(keys(&grid), ["strategy", "window", "keep.tokens", "trigger.limit.share"]);
        assert_eq!(grid.values("keep.tokens"), Some(&[Value::Integer(4_000), Value::Integer(8_000)][..]));
        assert_eq!(grid.combinations(), Some(16));
        let sets = ["keep.tokens=2k,1.5k,20000", "cut.landings=[\"unit\"],[\"request\", \"unit\"]"];
        grid.set(&sets.map(str::to_owned)).unwrap();
        assert_eq!(keys(&grid), ["strategy", "window", "keep.tokens", "trigger.limit.share", "cut.landings"]);
        assert_eq!(
            grid.values("keep.tokens"),
            Some(&[Value::Integer(2_000), Value::Integer(1_500), Value::Integer(20_000)][..])
        );
        assert_eq!(
            grid.values("cut.landings").map(<[Value]>::len),
            Some(2),
            "commas inside brackets part nothing"
        );
        assert_eq!(grid.combinations(), Some(48));
    }

    #[test]
    fn what_is_no_grid_is_refused_with_its_line() {
        check_refused("keep.tokens = [\n", &["grid.toml:"]);
        check_refused("\ntuned = [\"a\"]\n", &["grid.toml:2: tuned: unknown key"]);
        check_refused(
            "[grid]\ntrigger.limit.shar = [0.7]\n",
            &["grid.toml:2", "did you mean `trigger.limit.share`"],
        );
        check_refused(
            "\n[trigger]\nthreshold = [0.7]\n",
            &["grid.toml:3", "did you mean `trigger.limit.share`"],
        );
        check_refused("keep.recent = [100]\n", &["grid.toml:1", "did you mean `keep.tokens`"]);
        check_refused("[trigger]\nlimit.share = 0.8\n", &["grid.toml:2", "trigger.limit.share", "no list"]);
        check_refused("\nkeep.tokens = []\n", &["grid.toml:2", "empty"]);
        check_refused("keep.tokens = [\"4k\", 4000]\n", &["4000", "twice"]);
        check_refused("strategy = [\"structred\"]\n", &["did you mean `structured`"]);
        check_refused("strategy = [\"none\"]\n", &["never compacts"]);
        check_refused("strategys = [\"structured\"]\n", &["did you mean `strategy`"]);
        check_refused("window = [100]\n", &["at least 400"]);
        check_refused("window = [true]\n", &["true is no value of window"]);
        check_refused("summary_tokens = [0]\n", &["0 is no value"]);
        check_refused("name = [\"a\"]\n", &["says nothing"]);
    }

    #[test]
    fn what_cannot_be_set_is_refused() {
        for (settings, says) in [
            (&["keep.tokens"][..], "no `=`"),
            (&["keep.tokens="], "empty"),
            (&["keep.tokens=1,1"], "twice"),
            (&["keep.tokens=1", "keep.tokens=2"], "given twice"),
            (&["=1"], "the key is empty"),
            (&["keep..tokens=1"], "the key is empty"),
            (&["trigger.threshold=0.65,0.75"], "did you mean `trigger.limit.share`"),
            (&["maxSummaryTokens=1k"], "did you mean `summary_tokens`"),
            (&["tuned=1"], "--set tuned: unknown key"),
        ] {
            let settings: Vec<String> = settings.iter().map(|it| (*it).to_owned()).collect();
            let error = Grid::default().set(&settings).unwrap_err();
            assert!(error.cause.contains(says), "{settings:?}: {error:?}");
        }
    }

    #[test]
    fn keys_that_hide_each_other_are_refused() {
        for (file, set, says) in [
            (
                "summary_tokens = [300]\nsummary.budget_tokens = [300, 2000]\n",
                "",
                "grid.toml:2: summary.budget_tokens",
            ),
            (
                "\nsummary.budget_fraction = [0.1]\n",
                "summary_tokens=300",
                "--set summary_tokens and grid.toml:2",
            ),
            ("keep = [{ tokens = 100 }]\nkeep.tokens = [200]\n", "", "grid.toml"),
            ("trigger.limit = [{ share = 0.7 }]\n", "trigger.limit.share=0.8", "trigger.limit and --set"),
        ] {
            let refused = Grid::parse("grid.toml", file).and_then(|mut grid| {
                grid.set(&(!set.is_empty()).then(|| set.to_owned()).into_iter().collect::<Vec<_>>())?;
                grid.consistent()
            });
            let error = refused.unwrap_err();
            assert!(error.cause.contains(says), "{file} {set}: {error:?}");
        }
    }

    #[test]
    fn a_large_grid_is_refused_with_its_size() {
        let mut grid = Grid::default();
        grid.set(&["keep.tokens=1k,2k,3k".to_owned(), "trigger.limit.share=0.7,0.8".to_owned()]).unwrap();
        assert_eq!(grid.limited(6), Ok(()));
        let error = grid.limited(5).unwrap_err();
        assert!(
            error.cause.contains("6 combinations (3 of keep.tokens x 2 of trigger.limit.share)"),
            "{error:?}"
        );
        assert!(error.hint.contains("--max-combinations") && error.hint.contains("halving"));
        let axis = |key: usize| Axis {
            key: format!("a{key}.b"),
            values: (0..1_000).map(Value::Integer).collect(),
            place: String::new(),
        };
        let huge = Grid { axes: (0..20).map(axis).collect() };
        assert_eq!(huge.combinations(), None);
        assert!(huge.limited(usize::MAX).is_err());
    }

    #[test]
    fn texts_are_typed_as_toml_has_them() {
        assert_eq!(typed("0.65"), Value::Float(0.65));
        assert_eq!(typed(" 8000 "), Value::Integer(8_000));
        assert_eq!(typed("true"), Value::Boolean(true));
        assert_eq!(typed("request"), Value::String("request".to_owned()));
        assert_eq!(typed("1\nother = 2"), Value::String("1\nother = 2".to_owned()));
        assert!(matches!(typed("{ share = 0.8 }"), Value::Table(_)));
        assert_eq!(amount(Value::from("4k")), Value::Integer(4_000));
        assert_eq!(amount(Value::from("4000")), Value::from("4000"), "a text stays one without an ending");
        assert_eq!(amount(Value::from("task")), Value::from("task"));
    }
}
