//! What every column means, and the schema of every document: both from the types that are written, so that they cannot drift.

mod by_hand;

use super::homes::Place;
use super::inspect::Document;
use super::page::{BOLD, Page, aligned};
use super::probes::Scored;
use super::{Format, Look, csv_document, json_document, tune};
use crate::aggregate::across::ChangeRow;
use crate::aggregate::audit::AfterRow;
use crate::aggregate::curves::CurveRow;
use crate::aggregate::kept::KeptRow;
use crate::aggregate::probes::{ProbeRow, VerdictRow};
use crate::aggregate::scores::{AMOUNTS, INVARIANTS, shares};
use crate::aggregate::{DifferenceRow, DistributionRow, SummaryRow};
use crate::compare::Comparison;
use crate::gate::Outcome;
use crate::gate::self_test::Trial;
use crate::report::text::{width, wrap};
use crate::results::compacted::CompactReport;
use crate::results::files::columns;
use crate::results::probes::{Answered, Keyed, ProbesRecord, Prompted};
use crate::results::shown::Shown;
use crate::results::{
    AuditRow, ClassRow, CycleRow, EventRow, FactRow, Manifest, SessionRow, SpellRow, baseline,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;

/// One column of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Column {
    /// The file, without `.csv`.
    pub file: String,
    /// The column.
    pub column: String,
    /// What its cells hold: text, whole number, number, true or false; with `or empty` where a cell may be.
    pub kind: String,
    /// What it means.
    pub meaning: String,
}

/// Files of a result directory and rows of other outputs, in the order they are explained in.
type Explain = fn() -> Vec<(String, String, String)>;

const FILES: [(&str, Explain); 19] = [
    ("summary", of_row::<SummaryRow>),
    ("sessions", of_row::<SessionRow>),
    ("cycles", of_row::<CycleRow>),
    ("classes", of_row::<ClassRow>),
    ("kept", of_row::<KeptRow>),
    ("curves", of_row::<CurveRow>),
    ("distributions", of_row::<DistributionRow>),
    ("differences", of_row::<DifferenceRow>),
    ("spells", of_row::<SpellRow>),
    ("facts", of_row::<FactRow>),
    ("events", of_row::<EventRow>),
    ("audit", of_row::<AuditRow>),
    ("afterwards", of_row::<AfterRow>),
    ("compare", of_row::<ChangeRow>),
    ("gate", of_baseline),
    ("tuning", by_hand::tuning),
    ("probes", of_row::<ProbeRow>),
    ("verdicts", of_row::<VerdictRow>),
    ("report", by_hand::report),
];

/// Names of the files.
pub fn files() -> impl Iterator<Item = &'static str> + Clone {
    FILES.iter().map(|(name, _)| *name)
}

/// The columns of a file; `None` for a name that is none.
pub fn explain(file: &str) -> Option<Vec<Column>> {
    let (name, of) = FILES.iter().find(|(name, _)| *name == file)?;
    let column = |(column, kind, meaning)| Column { file: (*name).to_owned(), column, kind, meaning };
    Some(of().into_iter().map(column).collect())
}

/// Name, kind and meaning of each column of a row.
fn of_row<T: JsonSchema + DeserializeOwned>() -> Vec<(String, String, String)> {
    let schema = schema_for!(T);
    let field = |name: &&str| {
        let property = schema.pointer(&format!("/properties/{name}"));
        let kind = property.map(kind).unwrap_or_default();
        let meaning = property.and_then(|property| property.get("description")).and_then(Value::as_str);
        ((*name).to_owned(), kind, plain(meaning.unwrap_or_default()))
    };
    columns::<T>().iter().map(field).collect()
}

fn kind(property: &Value) -> String {
    let named = |name: &str| match name {
        "string" => "text",
        "integer" => "whole number",
        "number" => "number",
        "boolean" => "true or false",
        "null" => "empty",
        _ => "JSON",
    };
    match property.get("type") {
        Some(Value::String(name)) => named(name).to_owned(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(named).collect::<Vec<_>>().join(" or ")
        }
        _ => "JSON".to_owned(),
    }
}

/// A doc comment as a sentence: links of the documentation are plain names.
fn plain(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("[`", "`").replace("`]", "`")
}

/// Metrics of policies and columns of a baseline.
fn of_baseline() -> Vec<(String, String, String)> {
    let shares = shares();
    let amount = |name: &str| AMOUNTS.iter().position(|(amount, _)| *amount == name);
    let row = of_row::<SummaryRow>();
    let known = |name: &str| {
        let meaning = row.iter().find(|(column, ..)| column == name).map(|(.., meaning)| meaning.clone());
        meaning.unwrap_or_default().replace(": macro mean", "")
    };
    let explain = |name: String| {
        let (kind, meaning) = match amount(&name) {
            _ if shares.contains(&name) => match name.strip_prefix("survival.") {
                Some(class) => ("share", format!("At-risk facts of class {class} present in the summary.")),
                None => ("share", known(&name)),
            },
            Some(at) if at < INVARIANTS => ("amount", format!("Hard invariant: {}", known(&name))),
            Some(_) => ("amount", amount_meaning(&name, &known(&name))),
            None if name == "tokens" => ("whole number", key_meaning(&name).to_owned()),
            None => ("text", key_meaning(&name).to_owned()),
        };
        (name, kind.to_owned(), meaning)
    };
    baseline::columns().into_iter().map(explain).collect()
}

fn amount_meaning(name: &str, known: &str) -> String {
    match name {
        "tokens_summary" => "Generated tokens over all cycles.".to_owned(),
        "requests" => "Model requests up to the last cycle.".to_owned(),
        "contradicted" => "At-risk sentences whose negation is gone or reversed.".to_owned(),
        _ => known.to_owned(),
    }
}

fn key_meaning(name: &str) -> &'static str {
    match name {
        "profile" => "Profile name.",
        "strategy" => "Strategy that was asked for.",
        "window" => "Window in tokens, `auto`, or `cycles` when it was searched for per session.",
        "session" => "Session id.",
        "tokens" => "Tokens of the whole session.",
        _ => "`scored`, `not exercised` or `failed`.",
    }
}

/// Fewest columns that the meaning of a column takes beside its name; below that it stands on lines of its own.
const MEANING: usize = 30;
const INDENT: &str = "      ";

/// Columns as text, with a final newline.
pub fn render(format: Format, columns: &[Column], look: Look<'_>) -> io::Result<String> {
    match format {
        Format::Json => json_document(json!(columns)),
        Format::Csv => csv_document(columns),
        Format::Table => Ok(table(columns, look)),
    }
}

fn table(columns: &[Column], look: Look<'_>) -> String {
    let mut page = Page::new(look);
    for (at, group) in columns.chunk_by(|one, next| one.file == next.file).enumerate() {
        if at > 0 {
            page.gap();
        }
        let file = group.first().map_or("", |column| column.file.as_str());
        let heading = match file {
            "gate" => "gate: metrics of a policy, columns of baseline.csv".to_owned(),
            "compare" => "compare --format csv".to_owned(),
            "report" => "report --csv".to_owned(),
            "probes" => "probes score --format csv".to_owned(),
            "verdicts" => "probes score --format csv --each".to_owned(),
            "tuning" => "tuning.csv, with a column per parameter behind split".to_owned(),
            file => format!("{file}.csv"),
        };
        page.styled(BOLD, &heading);
        let rows: Vec<Vec<String>> =
            group.iter().map(|column| vec![column.column.clone(), column.kind.clone()]).collect();
        for (line, column) in aligned(&rows, &[]).iter().zip(group) {
            let before = format!("  {line}  ");
            let left = page.columns.saturating_sub(width(&before));
            if left < MEANING {
                page.line(before.trim_end());
                page.line(&format!(
                    "{INDENT}{}",
                    wrap(&column.meaning, page.columns - INDENT.len(), INDENT.len())
                ));
            } else {
                let indented = format!("\n{}", " ".repeat(width(&before)));
                page.line(&(before + &wrap(&column.meaning, left, 0).replace('\n', &indented)));
            }
        }
    }
    page.text
}

/// The document of `replay --format json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ReplayDocument {
    /// What was run on what.
    manifest: Manifest,
    /// As summary.csv.
    summary: Vec<SummaryRow>,
    /// As differences.csv.
    differences: Vec<DifferenceRow>,
    /// As kept.csv.
    kept: Vec<KeptRow>,
    /// As curves.csv.
    curves: Vec<CurveRow>,
    /// As distributions.csv.
    distributions: Vec<DistributionRow>,
}

/// The document of `audit --format json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct AuditDocument {
    /// What was run on what.
    manifest: Manifest,
    /// As audit.csv.
    compactions: Vec<AuditRow>,
    /// As kept.csv.
    kept: Vec<KeptRow>,
    /// As afterwards.csv.
    afterwards: Vec<AfterRow>,
}

/// The document of `overflow --format json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct OverflowDocument {
    /// The texts, in order.
    texts: Vec<OverflowText>,
}

/// One error text judged.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct OverflowText {
    /// Its number, from 1.
    nr: u64,
    /// What it says: `overflow`, `rate`, `billing`, `bytes`, `output-setting` or `none`.
    class: String,
    /// Tokens the model takes, where the text tells.
    limit: Option<u64>,
    /// Tokens that were sent, where the text tells.
    used: Option<u64>,
    /// Whether each matcher takes it for an overflow, by name.
    matchers: BTreeMap<String, bool>,
    /// The text, or its beginning.
    text: String,
}

/// Rows of `tuning.csv` as objects: the columns that are explained, and a text per parameter.
pub(super) fn tuning_rows(_: &mut SchemaGenerator) -> Schema {
    let columns = by_hand::tuning();
    let names: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
    let properties: Map<String, Value> = columns
        .iter()
        .map(|(name, kind, meaning)| {
            let types: Vec<&str> = kind
                .split(" or ")
                .filter_map(|kind| match kind {
                    "text" => Some("string"),
                    "whole number" => Some("integer"),
                    "number" => Some("number"),
                    "true" => Some("boolean"),
                    "empty" => Some("null"),
                    _ => None,
                })
                .collect();
            (name.clone(), json!({ "type": types, "description": meaning }))
        })
        .collect();
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": { "type": "string" },
        },
    })
}

/// The document of `inspect --discover --format json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct HomesDocument {
    /// `compactor-homes`.
    report: String,
    /// Places in which agents keep logs.
    places: Vec<Place>,
}

const DOCUMENTS: [(&str, &str, fn() -> Schema); 18] = [
    ("replay", "compactor replay --format json", || schema_for!(ReplayDocument)),
    ("run", "run.json of a result directory, baseline.json of a baseline", || schema_for!(Manifest)),
    ("audit", "compactor audit --format json", || schema_for!(AuditDocument)),
    ("inspect", "compactor inspect --format json", || schema_for!(Document<'static>)),
    ("discover", "compactor inspect --discover --format json", || schema_for!(HomesDocument)),
    ("overflow", "compactor overflow --format json", || schema_for!(OverflowDocument)),
    ("show", "compactor show --format json", || schema_for!(Shown)),
    ("compact", "NAME.report.json beside a compacted transcript", || schema_for!(CompactReport)),
    ("compare", "compactor compare --format json", || schema_for!(Comparison)),
    ("gate", "compactor gate --format json", || schema_for!(Outcome)),
    ("self-test", "compactor gate --self-test --format json", || schema_for!(Vec<Trial>)),
    ("tune", "compactor tune --format json, tuning.json", || schema_for!(tune::Document<'static>)),
    ("probes", "compactor probes score --format json", || schema_for!(Scored)),
    ("record", "probes.json of a directory of questions", || schema_for!(ProbesRecord)),
    ("prompt", "a line of probes.jsonl", || schema_for!(Prompted)),
    ("key", "a line of key.jsonl", || schema_for!(Keyed)),
    ("answer", "a line of answers.jsonl", || schema_for!(Answered)),
    ("columns", "compactor columns --format json", || schema_for!(Vec<Column>)),
];

/// Names of the documents that have a schema, with what they are.
pub fn documents() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    DOCUMENTS.iter().map(|(name, what, _)| (*name, *what))
}

/// The JSON Schema of a document; `None` for a name that is none.
pub fn schema(document: &str) -> Option<Value> {
    let (name, what, of) = DOCUMENTS.iter().find(|(name, ..)| *name == document)?;
    let mut schema = of();
    schema.insert("title".to_owned(), json!(format!("compactor {name}")));
    schema.insert("description".to_owned(), json!(what));
    let mut value = schema.to_value();
    tidy(&mut value);
    Some(value)
}

/// Doc comments in a schema are plain text.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if name == "description" => *text = plain(text),
                    value => tidy(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::aggregate;
    use crate::results::files::sample;

    #[test]
    fn every_column_has_a_kind_and_a_meaning() {
        for file in files() {
            for column in explain(file).unwrap() {
                assert!(!column.meaning.is_empty(), "{file}: {}", column.column);
                assert!(
                    !column.kind.is_empty() && column.kind != "JSON",
                    "{file}: {} {}",
                    column.column,
                    column.kind
                );
            }
        }
        let cycles = explain("cycles").unwrap();
        let reduction = cycles.iter().find(|column| column.column == "reduction").unwrap();
        assert_eq!(
            (reduction.kind.as_str(), reduction.meaning.as_str()),
            ("number or empty", "1 - after / before.")
        );
        assert_eq!(explain("gate").unwrap().len(), baseline::columns().len());
        assert!(explain("cycle").is_none());
    }

    /// Fails where a value has a field that the schema does not know, lacks one that it needs, or is of another type.
    fn check(value: &Value, schema: &Value, root: &Value, at: &str) {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = root.pointer(name.trim_start_matches('#')).unwrap();
            return check(value, target, root, at);
        }
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        let own = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        assert!(
            types.contains(&own) || own == "integer" && types.contains(&"number"),
            "{at}: {own} is not {types:?}"
        );
        if let Value::Object(fields) = value {
            let properties = schema.get("properties");
            for (name, value) in fields {
                let known = properties.and_then(|properties| properties.get(name));
                let known = known.or(schema.get("additionalProperties"));
                check(value, known.unwrap_or_else(|| panic!("{at}: {name}")), root, &format!("{at}/{name}"));
            }
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                assert!(fields.contains_key(name.as_str().unwrap()), "{at}: no {name}");
            }
        }
        if let (Value::Array(items), Some(each)) = (value, schema.get("items")) {
            for item in items {
                check(item, each, root, at);
            }
        }
    }

    #[test]
    fn documents_follow_their_schemas() {
        let run = sample::run(12);
        let look = Look { width: 100, color: false, saved: None };
        let text = super::super::render(Format::Json, &run, &aggregate(&run), look).unwrap();
        let of = |text: &str, name: &str| {
            let schema = schema(name).unwrap();
            check(&serde_json::from_str(text).unwrap(), &schema, &schema, name);
        };
        of(&text, "replay");
        of(&serde_json::to_string(&run.manifest).unwrap(), "run");
        let compared = crate::compare::compare(&run, &sample::run(11));
        of(&serde_json::to_string(&compared).unwrap(), "compare");
        let side = crate::gate::Side::new(&run);
        let policy = crate::gate::policy::Policy::standard();
        let outcome = crate::gate::judge(&side, Some(&side), &policy);
        of(&serde_json::to_string(&outcome).unwrap(), "gate");
        let trials = crate::gate::self_test::trials(&side, Some(&side), &policy);
        of(&serde_json::to_string(&trials).unwrap(), "self-test");
        let text = crate::tune::tests::small(|found| super::super::tune::json(found).unwrap());
        of(&text, "tune");
        of(&render(Format::Json, &explain("gate").unwrap(), look).unwrap(), "columns");
        let place = Place {
            agent: "pi".to_owned(),
            path: "/p".to_owned(),
            files: 1,
            bytes: 2,
            newest: String::new(),
        };
        of(&super::super::homes::render(Format::Json, &[place], look).unwrap(), "discover");
        assert!(documents().all(|(name, _)| schema(name).is_some()) && schema("reply").is_none());
    }
}
