//! `compactor columns`: the data dictionary.

use super::args::verdicts::ColumnsArgs;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::profile::nearest;
use crate::report::{Look, dictionary};

/// Runs the verb.
pub fn run(args: &ColumnsArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut columns = Vec::new();
    let named: Vec<&str> = args.files.iter().map(|name| name.trim_end_matches(".csv")).collect();
    let files = if named.is_empty() { dictionary::files().collect() } else { named };
    for file in files {
        columns.extend(dictionary::explain(file).ok_or_else(|| unknown("file", file, dictionary::files()))?);
    }
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let text = dictionary::render(args.format.into(), &columns, look)
        .map_err(|error| Failure::new(format!("cannot write the columns: {error}"), ""))?;
    ui.product(&text)?;
    Ok(Exit::Done)
}

/// A name that is none, and what was meant.
pub(super) fn unknown<'k>(what: &str, name: &str, known: impl Iterator<Item = &'k str> + Clone) -> Failure {
    let hint = match nearest(name, known.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
    };
    Failure::new(format!("no {what} of results is called `{name}`"), hint)
}
