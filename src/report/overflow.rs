//! What error texts say, text by text: a table for people, CSV and JSON for programs.

use super::page::{BAD, BOLD, Page, aligned, paint};
use super::text::{fit, sanitize, thousands, width};
use super::{Format, Look, json_document};
use crate::overflow::{Class, Matcher, Verdict, classify};
use crate::results::files::text_cell;
use serde_json::{Map, Value, json};
use std::io;

/// Characters of a text that CSV and JSON repeat.
const HEAD: usize = 200;

/// Least columns of a text in the table.
const LEAST: usize = 20;

/// Columns before those of the matchers, and the one behind them.
const BEFORE: [&str; 4] = ["nr", "class", "limit", "used"];
const BEHIND: &str = "text";

/// One text judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What it says.
    pub verdict: Verdict,
    /// Whether each matcher takes it for an overflow, in their order.
    pub noticed: Vec<bool>,
    /// The text.
    pub text: String,
}

impl Judged {
    /// Judges an error text, also by other systems' matchers.
    pub fn new(text: &str, matchers: &[Matcher]) -> Self {
        Self {
            verdict: classify(text),
            noticed: matchers.iter().map(|matcher| matcher.notices(text, None)).collect(),
            text: text.to_owned(),
        }
    }

    fn head(&self) -> String {
        let mut head: String = self.text.chars().take(HEAD).collect();
        if head.len() < self.text.len() {
            head.push('…');
        }
        head
    }
}

/// Whether a matcher of that name would share its column with another one.
pub fn is_taken(name: &str) -> bool {
    BEFORE.contains(&name) || name == BEHIND
}

/// Judged texts with a final newline; `names` are those of the matchers.
pub fn render(format: Format, judged: &[Judged], names: &[&str], look: Look<'_>) -> io::Result<String> {
    match format {
        Format::Table => Ok(table(judged, names, look)),
        Format::Csv => csv(judged, names),
        Format::Json => json(judged, names),
    }
}

fn yes(noticed: bool) -> &'static str {
    if noticed { "yes" } else { "no" }
}

fn table(judged: &[Judged], names: &[&str], look: Look<'_>) -> String {
    let amount = |amount: Option<u64>| amount.map_or_else(|| "-".to_owned(), thousands);
    let mut rows: Vec<Vec<String>> = vec![["class", "limit", "used"].map(str::to_owned).to_vec()];
    if let Some(header) = rows.first_mut() {
        header.extend(names.iter().map(|name| sanitize(name)));
    }
    for text in judged {
        let verdict = text.verdict;
        let mut row = vec![verdict.class.name().to_owned(), amount(verdict.limit), amount(verdict.used)];
        row.extend(text.noticed.iter().map(|noticed| yes(*noticed).to_owned()));
        rows.push(row);
    }
    let lines = aligned(&rows, &[1, 2]);
    let taken = lines.first().map_or(0, |line| width(line) + 2);
    let mut page = Page::new(look);
    let space = page.columns.saturating_sub(taken).max(LEAST);
    let heads =
        std::iter::once("text".to_owned()).chain(judged.iter().map(|text| sanitize(text.text.trim())));
    for (idx, (line, head)) in lines.into_iter().zip(heads).enumerate() {
        let line = format!("{line}  {}", fit(&head, space));
        let class = idx.checked_sub(1).and_then(|at| judged.get(at)).map(|text| text.verdict.class);
        match class {
            None => {
                page.line(&paint(BOLD, line.trim_end(), look.color));
                page.line(&"-".repeat(taken + width("text")));
            }
            Some(Class::Overflow) => page.line(&painted(&line, look.color)),
            Some(_) => page.line(&line),
        }
    }
    page.text
}

/// The line of an overflow: its first word in color.
fn painted(line: &str, color: bool) -> String {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    format!("{} {rest}", paint(BAD, word, color))
}

fn csv(judged: &[Judged], names: &[&str]) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(&mut bytes);
    let names = names.iter().map(|name| text_cell(name));
    writer.write_record(BEFORE.map(str::to_owned).into_iter().chain(names).chain([BEHIND.to_owned()]))?;
    for (idx, text) in judged.iter().enumerate() {
        let amount = |amount: Option<u64>| amount.map_or_else(String::new, |amount| amount.to_string());
        let verdict = text.verdict;
        let mut row = vec![(idx + 1).to_string(), verdict.class.name().to_owned()];
        row.extend([amount(verdict.limit), amount(verdict.used)]);
        row.extend(text.noticed.iter().map(|noticed| yes(*noticed).to_owned()));
        row.push(text_cell(&text.head()));
        writer.write_record(row)?;
    }
    writer.flush()?;
    drop(writer);
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn json(judged: &[Judged], names: &[&str]) -> io::Result<String> {
    let texts: Vec<Value> = judged
        .iter()
        .enumerate()
        .map(|(idx, text)| {
            let noticed = names.iter().zip(&text.noticed);
            let matchers: Map<String, Value> =
                noticed.map(|(name, noticed)| ((*name).to_owned(), json!(noticed))).collect();
            json!({
                "nr": idx + 1,
                "class": text.verdict.class,
                "limit": text.verdict.limit,
                "used": text.verdict.used,
                "matchers": matchers,
                "text": text.head(),
            })
        })
        .collect();
    json_document(json!({ "texts": texts }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look<'_> = Look { width: 80, color: false, saved: None };

    fn rendered(format: Format, texts: &[&str]) -> String {
        let matchers = ["opal", "none"].map(|name| Matcher::named(name).unwrap());
        let judged: Vec<Judged> = texts.iter().map(|text| Judged::new(text, &matchers)).collect();
        render(format, &judged, &["opal", "none"], LOOK).unwrap()
    }

    #[test]
    fn a_table_for_people() {
        let table = rendered(Format::Table, &["prompt is too long: 9,001 tokens > 8,192 maximum", "502"]);
        assert_eq!(
            table,
            "class     limit   used  opal  none  text\n\
             ----------------------------------------\n\
             overflow  8,192  9,001  yes   no    prompt is too long: 9,001 tokens > 8,192 ma…\n\
             none          -      -  no    no    502\n"
        );
    }

    #[test]
    fn hostile_texts_become_harmless() {
        let hostile = "=cmd()\u{1b}[31m\u{202e}\nprompt is too long";
        let table = rendered(Format::Table, &[hostile]);
        assert!(table.contains("=cmd()\\u{1b}[31m\\u{202e}\\n"), "{table}");
        let csv = rendered(Format::Csv, &[hostile]);
        assert!(
            csv.starts_with("nr,class,limit,used,opal,none,text\n1,overflow,,,yes,no,\"'=cmd()\u{fffd}[31m"),
            "{csv}"
        );
        let json = rendered(Format::Json, &[hostile]);
        assert!(!json.contains(['\u{1b}', '\u{202e}']), "{json}");
        let document: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["texts"][0]["text"], hostile);
        assert_eq!(document["texts"][0]["matchers"]["opal"], true);
        assert_eq!(document["texts"][0]["limit"], Value::Null);
    }

    #[test]
    fn programs_get_the_head_of_a_long_text() {
        let document: Value = serde_json::from_str(&rendered(Format::Json, &[&"ä".repeat(500)])).unwrap();
        assert_eq!(document["texts"][0]["text"], "ä".repeat(HEAD) + "…");
    }
}
