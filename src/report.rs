//! Views of a run: a table for people, CSV and JSON for programs; and of runs side by side as documents (HTML, Markdown, CSV).
//!
//! Pure: rows in, text out; who prints it and where is not known here. All three start from the same rows and the same
//! pooled values, so they cannot disagree.

use crate::aggregate::Aggregate;
use crate::results::RunOutput;
use crate::results::files::{decimal, write_csv};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value, json};
use std::io::{self, Write};

pub mod audit;
pub mod compacted;
pub mod compare;
pub mod dictionary;
pub mod events;
pub mod findings;
pub mod gate;
pub mod homes;
pub mod html;
pub mod inspect;
pub mod markdown;
pub mod overflow;
pub mod page;
pub mod probes;
pub mod rank;
pub mod redact;
pub mod runs;
pub mod sections;
pub mod sheet;
pub mod show;
pub mod svg;
pub mod table;
pub mod text;
pub mod tune;

/// What a report looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// The summary rows.
    Csv,
    /// Manifest, summary rows and difference rows as one document.
    Json,
}

/// What the surroundings ask of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look<'a> {
    /// Columns of the terminal; at least 80 are used.
    pub width: usize,
    /// Whether ANSI colors may be used.
    pub color: bool,
    /// Where the result files went, when they were written.
    pub saved: Option<&'a str>,
}

/// A run as text, with a final newline.
pub fn render(
    format: Format,
    output: &RunOutput,
    aggregate: &Aggregate,
    look: Look<'_>,
) -> io::Result<String> {
    match format {
        Format::Table => Ok(table::render(output, aggregate, look)),
        Format::Csv => csv_rows(&aggregate.summary),
        Format::Json => json(output, aggregate),
    }
}

fn json(output: &RunOutput, aggregate: &Aggregate) -> io::Result<String> {
    json_document(json!({
        "manifest": output.manifest,
        "summary": aggregate.summary,
        "differences": aggregate.differences,
        "kept": aggregate.kept,
        "curves": aggregate.curves,
        "distributions": aggregate.distributions,
    }))
}

/// Rows of results as CSV, with a header also where there are none.
fn csv_rows<T: Serialize + DeserializeOwned>(rows: &[T]) -> io::Result<String> {
    let mut bytes = Vec::new();
    write_csv(&mut bytes, rows)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Rows with a header as CSV.
fn csv_document<T: serde::Serialize>(rows: impl IntoIterator<Item = T>) -> io::Result<String> {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(io::Error::other)?;
    }
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Rows with a header as CSV, written as they are made.
fn csv_lines<T: Serialize>(
    rows: impl IntoIterator<Item = io::Result<T>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(out);
    for row in rows {
        writer.serialize(row?).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })?;
    }
    writer.flush()
}

/// A document as every report writes it.
fn json_document(mut document: Value) -> io::Result<String> {
    round(&mut document);
    whole_numbers(&document)
}

/// The same, of what holds no fractions: it need not be held a second time, as values.
fn whole_numbers(document: &impl Serialize) -> io::Result<String> {
    let mut text = text::escape_json(serde_json::to_string_pretty(document)?);
    text.push('\n');
    Ok(text)
}

/// The same, written as it is made.
fn whole_numbers_to(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(text::Escaped(&mut *out), document)?;
    writeln!(out)
}

/// Numbers as the CSV files show them.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().and_then(|number| decimal(number).parse().ok());
            *value = rounded.and_then(Number::from_f64).map_or(Value::Null, Value::Number);
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use crate::results::files::sample::run;

    const LOOK: Look<'_> = Look { width: 100, color: false, saved: None };

    #[test]
    fn json_is_one_document_with_the_numbers_of_the_csv() {
        let output = run(3);
        let text = render(Format::Json, &output, &aggregate(&output), LOOK).unwrap();
        assert!(text.ends_with("}\n") && !text.contains('\u{202e}'), "bidi characters are escaped");
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["manifest"]["worst_losses"][1]["value"], "src/a\u{202e}.rs");
        assert_eq!(document["summary"].as_array().map(Vec::len), Some(4));
        assert_eq!(document["summary"][1]["structural_survival"].to_string(), "0.6");
        assert_eq!(document["summary"][0]["cost_units"].to_string(), "0.9");
        assert_eq!(document["summary"][0]["files_read"], Value::Null);
        assert_eq!(document["differences"][0]["strategy_b"], "narrative");
    }

    #[test]
    fn csv_holds_the_summary_rows() {
        let output = run(3);
        let text = render(Format::Csv, &output, &aggregate(&output), LOOK).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(
            lines[0].starts_with("profile,strategy,window,n_sessions,n_exercised,n_not_exercised,n_failed,")
        );
        assert!(lines[1].starts_with("standard,structured,cycles,4,3,1,0,3,"), "{}", lines[1]);
    }
}
