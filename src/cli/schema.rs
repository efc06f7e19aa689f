//! `compactor schema`: JSON Schema of the JSON outputs.

use super::args::verdicts::SchemaArgs;
use super::columns::unknown;
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::report::dictionary;

/// Runs the verb.
pub fn run(args: &SchemaArgs, ui: &Ui) -> Result<Exit, Failure> {
    let Some(name) = &args.output else {
        let lines: Vec<String> =
            dictionary::documents().map(|(name, what)| format!("{name:<10} {what}\n")).collect();
        ui.product(&lines.concat())?;
        return Ok(Exit::Done);
    };
    let schema = dictionary::schema(name)
        .ok_or_else(|| unknown("document", name, dictionary::documents().map(|(name, _)| name)))?;
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|error| Failure::new(format!("cannot write the schema: {error}"), ""))?;
    ui.product(&format!("{text}\n"))?;
    Ok(Exit::Done)
}
