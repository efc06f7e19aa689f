//! Where agents keep their logs on this machine, and how much is there.

use super::page::{BOLD, DIM, paint};
use super::text::{sanitize, thousands, width};
use super::{Format, Look, json_document};
use crate::results::files::text_cell;
use serde::Serialize;
use serde_json::json;
use std::io;

/// One place with logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The agent.
    pub agent: String,
    /// Its directory or file.
    pub path: String,
    /// Files that look like logs.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the newest was written, in UTC; empty where that is not known.
    pub newest: String,
}

/// The list with a final newline.
pub fn render(format: Format, places: &[Place], look: Look<'_>) -> io::Result<String> {
    match format {
        Format::Table => Ok(table(places, look)),
        Format::Csv => {
            let mut writer =
                csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
            for place in places {
                let cells = Place { path: text_cell(&place.path), ..place.clone() };
                writer.serialize(cells).map_err(io::Error::other)?;
            }
            let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
            String::from_utf8(bytes).map_err(io::Error::other)
        }
        Format::Json => json_document(json!({ "report": "compactor-homes", "places": places })),
    }
}

fn table(places: &[Place], look: Look<'_>) -> String {
    let head = ["agent", "files", "bytes", "newest", "path"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    rows.extend(places.iter().map(|place| {
        vec![
            sanitize(&place.agent),
            thousands(place.files),
            thousands(place.bytes),
            place.newest.clone(),
            sanitize(&place.path),
        ]
    }));
    let wide = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..5).map(wide).collect();
    let mut page = String::new();
    for (at, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, wide)) in row.iter().zip(&widths).enumerate() {
            let space = " ".repeat(wide.saturating_sub(width(cell)));
            let gap = if column == 0 { "" } else { "  " };
            let number = column == 1 || column == 2;
            line.push_str(gap);
            line.push_str(&if number { format!("{space}{cell}") } else { format!("{cell}{space}") });
        }
        let line = line.trim_end();
        page.push_str(&if at == 0 { paint(BOLD, line, look.color) } else { line.to_owned() });
        page.push('\n');
    }
    let hint = "only names were read; `compactor inspect PATH` looks into the logs";
    page.push_str(&paint(DIM, hint, look.color));
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_a_row_each() {
        let place = Place {
            agent: "pi".to_owned(),
            path: "/h/.pi/agent/sessions".to_owned(),
            files: 2,
            bytes: 12_345,
            newest: "2026-01-02 03:04".to_owned(),
        };
        let look = Look { width: 80, color: false, saved: None };
        let table = render(Format::Table, std::slice::from_ref(&place), look).unwrap();
        assert_eq!(
            table,
            "agent  files   bytes  newest            path\n\
             pi         2  12,345  2026-01-02 03:04  /h/.pi/agent/sessions\n\
             only names were read; `compactor inspect PATH` looks into the logs\n"
        );
        let csv = render(Format::Csv, &[place], look).unwrap();
        assert_eq!(csv, "agent,path,files,bytes,newest\npi,/h/.pi/agent/sessions,2,12345,2026-01-02 03:04\n");
    }
}
