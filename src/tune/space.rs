//! From a grid to the combinations that are run: each a profile made and checked like a profile file, a strategy and a window.

use super::grid::{Axis, Grid, GridError, PROFILE, RESERVED, STRATEGY, SUMMARY_TOKENS, WINDOW, shown};
use crate::profile::{Profile, nested, overlay};
use crate::run::{PlanAt, WindowChoice, Windows};
use crate::strategy::Strategy;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// A profile that settings are put on.
#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    /// As it was asked for: a name or a path.
    pub name: String,
    /// Its keys, those that it extends taken in.
    pub table: Table,
    /// A file can extend it by its name.
    pub embedded: bool,
}

/// One setting: what is tried, or what is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Its profile, window and strategy among those of the space.
    pub plan: PlanAt,
    /// The values of the axes, in their order; empty where the present setting has none.
    pub values: Vec<String>,
    /// Its base among those of the space.
    base: usize,
    /// What it changes there.
    own: Table,
}

/// Everything that is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// Keys of the axes.
    pub keys: Vec<String>,
    /// Number 0 is the present setting: the first base profile as it is, under the first strategy and window.
    pub combinations: Vec<Combination>,
    /// Combinations of the grid as it is written; one of them may be the present setting.
    pub in_grid: usize,
    /// Of those, the ones that are an earlier one in other words: they are not run again.
    pub repeated: usize,
    /// Profiles, that of the present setting first.
    pub profiles: Vec<Profile>,
    /// Strategies, that of the present setting first.
    pub strategies: Vec<Strategy>,
    /// Windows, that of the present setting first; or searched for under the present setting, and the same for all.
    pub windows: Windows,
    bases: Vec<Base>,
}

/// Profiles that were made.
#[derive(Default)]
struct Known {
    /// By the places of the values that make them.
    by_places: BTreeMap<Vec<usize>, usize>,
    /// What each of them does.
    policies: Vec<Profile>,
}

/// A profile without what it is called: two files can hold the same one.
fn policy(profile: &Profile) -> Profile {
    Profile { name: String::new(), description: String::new(), ..profile.clone() }
}

impl Space {
    /// Makes every combination. `bases` are those that the grid names, or the default one; `cycles` says how many
    /// compactions the window is searched for where the grid names none.
    pub fn new(grid: &Grid, bases: Vec<Base>, cycles: usize) -> Result<Self, GridError> {
        grid.consistent()?;
        let strategies = match grid.values(STRATEGY) {
            Some(values) => values.iter().filter_map(|value| value.as_str()?.parse().ok()).collect(),
            None => vec![Strategy::Structured],
        };
        let windows = match grid.values(WINDOW) {
            Some(values) => Windows::Given(values.iter().map(window).collect()),
            None => Windows::Shared(cycles),
        };
        let Some(first) = bases.first() else {
            return Err(GridError::new("there is no profile to put settings on", "name one with --profile"));
        };
        let present = made(first, &Table::new()).map_err(|reason| {
            GridError::new(format!("profile {}: {reason}", first.name), "mend the profile")
        })?;
        let plan = PlanAt { profile: 0, window: 0, strategy: 0 };
        let values = grid.axes.iter().map(|axis| as_it_is(axis, first)).collect();
        let mut space = Self {
            keys: grid.axes.iter().map(|axis| axis.key.clone()).collect(),
            combinations: vec![Combination { plan, values, base: 0, own: Table::new() }],
            in_grid: 0,
            repeated: 0,
            profiles: vec![present],
            strategies,
            windows,
            bases,
        };
        space.fill(grid)?;
        Ok(space)
    }

    fn fill(&mut self, grid: &Grid) -> Result<(), GridError> {
        let mut known = Known { policies: self.profiles.iter().map(policy).collect(), ..Known::default() };
        let mut seen: BTreeSet<PlanAt> = BTreeSet::new();
        let mut places = vec![0_usize; grid.axes.len()];
        loop {
            self.in_grid += 1;
            let picked: Vec<(&Axis, usize)> = grid.axes.iter().zip(places.iter().copied()).collect();
            let combination = self.combination(&picked, &mut known)?;
            if !seen.insert(combination.plan) {
                self.repeated += 1;
            } else if self.combinations.first().is_some_and(|present| present.plan != combination.plan) {
                self.combinations.push(combination);
            }
            // The last axis runs fastest.
            let Some(at) =
                places.iter().zip(&grid.axes).rposition(|(place, axis)| place + 1 < axis.values.len())
            else {
                return Ok(());
            };
            for (place, value) in places.iter_mut().enumerate().skip(at) {
                *value = if place == at { *value + 1 } else { 0 };
            }
        }
    }

    fn combination(
        &mut self,
        picked: &[(&Axis, usize)],
        known: &mut Known,
    ) -> Result<Combination, GridError> {
        let place = |key: &str| picked.iter().find(|(axis, _)| axis.key == key).map_or(0, |(_, at)| *at);
        let base = place(PROFILE);
        let values: Vec<String> =
            picked.iter().filter_map(|(axis, at)| axis.values.get(*at)).map(shown).collect();
        let mut own = Table::new();
        for (axis, at) in picked {
            let Some(value) = axis.values.get(*at) else { continue };
            if axis.key == SUMMARY_TOKENS {
                overlay(&mut own, nested("summary.budget_tokens", value.clone()));
                overlay(&mut own, nested("summary.budget_fraction", Value::from(0.0)));
            } else if !RESERVED.contains(&axis.key.as_str()) {
                set(&mut own, nested(&axis.key, value.clone()));
            }
        }
        let of_profile: Vec<usize> = picked
            .iter()
            .filter(|(axis, _)| axis.key != STRATEGY && axis.key != WINDOW)
            .map(|(_, at)| *at)
            .collect();
        let profile = if let Some(profile) = known.by_places.get(&of_profile) {
            *profile
        } else {
            let Some(on) = self.bases.get(base) else {
                return Err(GridError::new("a base profile is missing", "please report this"));
            };
            let profile = made(on, &own).map_err(|reason| {
                let named: Vec<String> =
                    self.keys.iter().zip(&values).map(|(key, value)| format!("{key}={value}")).collect();
                // What a value alone is refused for is a matter of its line; else all of them are named.
                let alone = picked.iter().find(|(axis, at)| {
                    let value = axis.values.get(*at).filter(|_| !RESERVED.contains(&axis.key.as_str()));
                    value.is_some_and(|value| made(on, &nested(&axis.key, value.clone())).is_err())
                });
                let places: Vec<&str> = match alone {
                    Some((axis, _)) => vec![axis.place.as_str()],
                    None => picked.iter().map(|(axis, _)| axis.place.as_str()).collect(),
                };
                GridError::new(
                    format!(
                        "{}: the combination {} on profile {}: {reason}",
                        places.join(", "),
                        named.join(" "),
                        on.name
                    ),
                    "each combination has to be a profile that a file could hold: leave out the value that does not fit; \
                     `compactor profiles show NAME` shows the keys",
                )
            })?;
            let own = policy(&profile);
            // What is tuned most is looked at first: large grids hold thousands that differ there.
            let same = |other: &Profile| {
                other.keep == own.keep
                    && other.trigger == own.trigger
                    && other.summary == own.summary
                    && *other == own
            };
            let at = known.policies.iter().position(same).unwrap_or_else(|| {
                known.policies.push(own);
                self.profiles.push(profile);
                self.profiles.len() - 1
            });
            known.by_places.insert(of_profile, at);
            at
        };
        let plan = PlanAt { profile, window: place(WINDOW), strategy: place(STRATEGY) };
        Ok(Combination { plan, values, base, own })
    }

    /// The strategy of a combination.
    pub fn strategy(&self, combination: &Combination) -> Strategy {
        self.strategies.get(combination.plan.strategy).copied().unwrap_or(Strategy::Structured)
    }

    /// The profile of a combination as a file of its own, which makes the same policy. Whatever changes gets a name of its own.
    pub fn file_of(&self, combination: &Combination) -> String {
        let Some(base) = self.bases.get(combination.base) else { return String::new() };
        let name = self.file_name(combination);
        let changed: Vec<String> = self
            .keys
            .iter()
            .zip(&combination.values)
            .filter(|(key, value)| !value.is_empty() && ![PROFILE, STRATEGY, WINDOW].contains(&key.as_str()))
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        // What the base says of itself is true of the base alone.
        let description = if combination.own.is_empty() {
            format!("the policy of {}", base.name)
        } else {
            format!("{} with {}", base.name, changed.join(", "))
        };
        let mut table = if base.embedded {
            let mut table = combination.own.clone();
            table.insert("extends".to_owned(), Value::from(base.name.as_str()));
            table.insert("name".to_owned(), Value::from(name));
            table
        } else {
            let mut table = base.table.clone();
            overlay(&mut table, combination.own.clone());
            table.insert("name".to_owned(), Value::from(name));
            table
        };
        if !(base.embedded && combination.own.is_empty()) {
            table.insert("description".to_owned(), Value::from(description));
        }
        toml::to_string(&table).unwrap_or_default()
    }

    /// The name of the profile in [`Space::file_of`].
    pub fn file_name(&self, combination: &Combination) -> String {
        let own = self.profiles.get(combination.plan.profile).map_or("", |profile| profile.name.as_str());
        if combination.own.is_empty() { own.to_owned() } else { format!("{own}-tuned") }
    }

    /// The base of a combination, as it was asked for.
    pub fn base_of(&self, combination: &Combination) -> &str {
        self.bases.get(combination.base).map_or("", |base| base.name.as_str())
    }

    /// The window of a combination as an argument, where the grid names windows.
    pub fn window_of(&self, combination: &Combination) -> Option<String> {
        let Windows::Given(choices) = &self.windows else { return None };
        match choices.get(combination.plan.window)? {
            WindowChoice::Tokens(tokens) => Some(tokens.to_string()),
            WindowChoice::Auto => Some("auto".to_owned()),
        }
    }
}

/// Puts a value into a table of own keys: here nothing takes the place of anything, so that two keys of a choice contradict
/// each other where the profile is checked.
fn set(own: &mut Table, value: Table) {
    for (key, value) in value {
        match (own.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => set(old, new),
            (_, value) => {
                own.insert(key, value);
            }
        }
    }
}

/// A profile with values on top, or why that is none.
fn made(base: &Base, own: &Table) -> Result<Profile, String> {
    Profile::overlaid(&base.name, &base.table, own).map_err(|error| error.reason)
}

fn window(value: &Value) -> WindowChoice {
    value
        .as_integer()
        .and_then(|tokens| u64::try_from(tokens).ok())
        .map_or(WindowChoice::Auto, WindowChoice::Tokens)
}

/// What the present setting has for an axis.
fn as_it_is(axis: &Axis, base: &Base) -> String {
    match axis.key.as_str() {
        PROFILE | STRATEGY | WINDOW => axis.values.first().map(shown).unwrap_or_default(),
        SUMMARY_TOKENS => String::new(),
        key => {
            let mut parts = key.split('.');
            let first = parts.next().and_then(|part| base.table.get(part));
            parts
                .try_fold(first, |value, part| Some(value?.get(part)))
                .flatten()
                .map(shown)
                .unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard() -> Base {
        let table = Profile::table_of("standard").expect("an embedded profile");
        Base { name: "standard".to_owned(), table, embedded: true }
    }

    fn space(settings: &[&str]) -> Result<Space, GridError> {
        let mut grid = Grid::default();
        grid.set(&settings.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())?;
        Space::new(&grid, vec![standard()], 5)
    }

    fn check_refused(settings: &[&str], says: &[&str]) {
        let error = space(settings).unwrap_err();
        for part in says {
            assert!(error.cause.contains(part), "{settings:?}: should say {part}: {}", error.cause);
        }
    }

    #[test]
    fn every_combination_once_and_the_present_one_first() {
        let space =
            space(&["strategy=structured,narrative", "keep.tokens=4k,20k", "trigger.limit.share=0.7,0.8"])
                .unwrap();
        let values: Vec<String> = space.combinations.iter().map(|one| one.values.join(" ")).collect();
        // That of the grid which is the present one is not run twice.
        assert_eq!(
            values,
            [
                "structured 20000 0.8",
                "structured 4000 0.7",
                "structured 4000 0.8",
                "structured 20000 0.7",
                "narrative 4000 0.7",
                "narrative 4000 0.8",
                "narrative 20000 0.7",
                "narrative 20000 0.8",
            ]
        );
        assert_eq!((space.in_grid, space.profiles.len(), &space.windows), (8, 4, &Windows::Shared(5)));
        let plans: std::collections::BTreeSet<PlanAt> =
            space.combinations.iter().map(|one| one.plan).collect();
        assert_eq!(plans.len(), 8);
        assert_eq!(space.combinations[4].plan.profile, space.combinations[1].plan.profile);
    }

    #[test]
    fn the_same_policy_under_several_names_is_one() {
        let mut grid = Grid::default();
        let named = ["profile=standard,copy.toml,./copy.toml,other.toml", "keep.tokens=4k,20k"];
        grid.set(&named.map(str::to_owned)).unwrap();
        let file = |name: &str, own: &str| Base {
            name: name.to_owned(),
            table: Profile::table_in(name, &format!("extends = \"standard\"\n{own}")).unwrap(),
            embedded: false,
        };
        let copy = |name: &str| file(name, "name = \"copy\"\ndescription = \"the same\"\n");
        let other = file("other.toml", "pin_request = false\n");
        let bases = vec![standard(), copy("copy.toml"), copy("./copy.toml"), other];
        let space = Space::new(&grid, bases, 5).unwrap();
        let values: Vec<String> = space.combinations.iter().map(|one| one.values.join(" ")).collect();
        assert_eq!(values, ["standard 20000", "standard 4000", "other.toml 4000", "other.toml 20000"]);
        assert_eq!((space.in_grid, space.repeated, space.profiles.len()), (8, 4, 4));
    }

    #[test]
    fn a_grid_without_axes_is_the_present_setting() {
        let space = space(&[]).unwrap();
        assert_eq!((space.combinations.len(), space.in_grid), (1, 1));
    }

    #[test]
    fn a_budget_is_that_of_the_command_line() {
        let space = space(&["summary_tokens=500"]).unwrap();
        let profile = &space.profiles[space.combinations[1].plan.profile];
        for window in [1_000, 8_000, 128_000] {
            assert_eq!(profile.at(window, None), Profile::standard().at(window, Some(500)), "{window}");
        }
        assert_eq!(space.combinations[0].values, [""]);
    }

    #[test]
    fn senseless_combinations_are_named() {
        check_refused(
            &["keep.tokens=4k,120k", "trigger.limit.share=0.8"],
            &[
                "--set keep.tokens: the combination keep.tokens=120000 trigger.limit.share=0.8",
                "reaches the trigger",
            ],
        );
        check_refused(&["keep.tokenz=4k"], &["keep.tokenz", "did you mean `keep.tokens`"]);
        check_refused(
            &["trigger.threshold=0.7"],
            &["trigger.threshold", "did you mean `trigger.limit.share`"],
        );
        check_refused(
            &["keep.tokens=4k", "trigger.limit.share=high"],
            &["--set trigger.limit.share: the combination", "trigger.limit.share=high", "invalid type"],
        );
        check_refused(&["keep.tokens=4k", "keep.share=0.1"], &["exactly one of"]);
        check_refused(&["summary_tokens=10"], &["too few for a summary"]);
    }

    #[test]
    fn the_file_of_a_combination_makes_its_profile() {
        let mut space =
            space(&["keep.share=0.1,0.2", "trigger.limit.above_share=0.7", "summary_tokens=2k"]).unwrap();
        for _ in 0..2 {
            for combination in &space.combinations {
                let text = space.file_of(combination);
                let name = space.file_name(combination);
                let made = Profile::parse("recommended.toml", &text).unwrap();
                let wanted = space.profiles[combination.plan.profile].clone();
                if !combination.own.is_empty() {
                    assert!(made.description.starts_with("standard with keep.share = 0."), "{text}");
                    assert_ne!(made.description, wanted.description, "it is another policy");
                }
                let wanted = Profile { name, description: made.description.clone(), ..wanted };
                assert_eq!(made, wanted, "{text}");
            }
            // The same of a file that cannot be extended.
            space.bases[0].embedded = false;
        }
    }
}
