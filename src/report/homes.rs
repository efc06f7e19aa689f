//! Where agents keep their logs on this machine, and how much is there.

use super::page::{BOLD, DIM, aligned, paint};
use super::text::{sanitize, thousands};
use super::{Format, Look, csv_document, json_document};
use crate::results::files::text_cell;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::io;

/// One place with logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
            csv_document(places.iter().map(|place| Place { path: text_cell(&place.path), ..place.clone() }))
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
    let mut page = String::new();
    for (at, line) in aligned(&rows, &[1, 2]).iter().enumerate() {
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
