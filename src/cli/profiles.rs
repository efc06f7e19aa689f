//! `compactor profiles`: the embedded policies, and the text of one.

use super::args::{ProfilesArgs, ProfilesVerb};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::profile::{Profile, known};

/// Runs the verb.
pub fn run(args: &ProfilesArgs, ui: &Ui) -> Result<Exit, Failure> {
    let text = match &args.verb {
        None | Some(ProfilesVerb::List) => list(),
        Some(ProfilesVerb::Show { name }) => Profile::file_of(name).ok_or_else(|| {
            let cause = format!("unknown profile `{name}`; {}", known(name));
            Failure::new(cause, "`compactor profiles` lists the embedded ones")
        })?,
    };
    ui.product(&text)?;
    Ok(Exit::Done)
}

/// A line for each profile.
fn list() -> String {
    let described = |name: &'static str| {
        let description =
            Profile::named(name).and_then(Result::ok).map_or_else(String::new, |it| it.description);
        (name, description)
    };
    let rows: Vec<(&str, String)> = Profile::names().map(described).collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        rows.iter().map(|(name, description)| format!("{name:width$}  {description}")).collect();
    lines.join("\n") + "\n"
}
