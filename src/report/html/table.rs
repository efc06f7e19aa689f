//! Tables of the page: a caption, headings with a scope, cells that can be sorted by their value.

use crate::report::findings::percent;
use crate::report::svg::{heat, meter};
use crate::report::text::{sanitize, thousands};
use crate::results::files::decimal;
use crate::stats::Estimate;
use maud::{Markup, html};

/// One cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    content: Markup,
    /// What it is sorted by, where that is not its text.
    sort: Option<String>,
    class: String,
    head: bool,
}

impl Cell {
    pub(super) fn markup(content: Markup) -> Self {
        Self { content, sort: None, class: String::new(), head: false }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::markup(html! { (sanitize(text)) })
    }

    /// Content that stands at the right.
    pub(super) fn numbers(content: Markup) -> Self {
        Self { class: "r".to_owned(), ..Self::markup(content) }
    }

    /// Text that may be long.
    pub(super) fn long(text: &str) -> Self {
        Self { class: "x".to_owned(), ..Self::markup(html! { code { (sanitize(text)) } }) }
    }

    /// The name of a row.
    pub(super) fn name(content: Markup) -> Self {
        Self { head: true, ..Self::markup(content) }
    }

    pub(super) fn sorted_by(self, key: impl Into<String>) -> Self {
        Self { sort: Some(key.into()), ..self }
    }

    pub(super) fn number(n: u64) -> Self {
        Self { class: "r".to_owned(), ..Self::markup(html! { (thousands(n)) }) }.sorted_by(n.to_string())
    }

    pub(super) fn amount(value: Option<f64>, decimals: usize) -> Self {
        let text = value.map_or_else(|| "n/a".to_owned(), |value| grouped(value, decimals));
        Self { class: "r".to_owned(), ..Self::markup(html! { (text) }) }.sorted_by(key(value))
    }

    pub(super) fn share(value: Option<f64>) -> Self {
        let text = value.map_or_else(|| "n/a".to_owned(), percent);
        Self { class: "r".to_owned(), ..Self::markup(html! { (text) }) }.sorted_by(key(value))
    }

    /// A share with its interval, and its sessions where they are not `sessions`.
    pub(super) fn estimate(value: Estimate, sessions: Option<u64>, bar: bool) -> Self {
        let Some(mean) = value.mean else { return Self::share(None) };
        let interval = value.low.zip(value.high);
        let content = html! {
            (percent(mean))
            @if bar { (meter(mean, interval)) }
            @if let Some((low, high)) = interval { small { (ends(low, high)) } }
            @if sessions != Some(value.n) { small { "n " (thousands(value.n)) } }
        };
        Self { class: "r".to_owned(), ..Self::markup(content) }.sorted_by(decimal(mean))
    }

    /// A share on the ground of its step.
    pub(super) fn heat(value: Option<f64>) -> Self {
        let cell = Self::share(value);
        match value {
            Some(value) => Self { class: format!("r h{}", heat(value)), ..cell },
            None => cell,
        }
    }
}

/// `51–67 %`, which no page breaks.
pub(super) fn ends(low: f64, high: f64) -> String {
    format!("{:.0}\u{2060}–\u{2060}{:.0}\u{a0}%", low * 100.0, high * 100.0)
}

/// A number with separators.
pub(super) fn grouped(value: f64, decimals: usize) -> String {
    if decimals == 0 && (0.0..1e15).contains(&value) {
        return thousands(value.round() as u64);
    }
    format!("{value:.decimals$}")
}

fn key(value: Option<f64>) -> String {
    value.map(decimal).unwrap_or_default()
}

/// With more columns than this a table has its headings upright on paper, where it cannot scroll.
const WIDE: usize = 13;

/// A table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) caption: String,
    /// Headings; a leading `>` marks a column of numbers.
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// It is long: it can be filtered, and scrolls by itself.
    pub(super) long: bool,
}

impl Table {
    pub(super) fn new(caption: &str, head: &[&str]) -> Self {
        Self {
            caption: caption.to_owned(),
            head: head.iter().map(|text| (*text).to_owned()).collect(),
            rows: Vec::new(),
            long: false,
        }
    }

    pub(super) fn render(&self) -> Markup {
        html! {
            div class=(if self.long { "scroll tall" } else { "scroll" }) tabindex="0" role="region" aria-label=(self.caption) {
                table class=[(self.head.len() > WIDE).then_some("wide")] data-sort data-filter[self.long] {
                    caption { (self.caption) }
                    thead { tr {
                        @for head in &self.head {
                            @match head.strip_prefix('>') {
                                Some(number) => th scope="col" class="r" { (number) },
                                None => th scope="col" { (head) },
                            }
                        }
                    } }
                    tbody { @for row in &self.rows { tr { @for cell in row {
                        @let class = (!cell.class.is_empty()).then_some(&cell.class);
                        @if cell.head {
                            th scope="row" class=[class] data-v=[&cell.sort] { (cell.content) }
                        } @else {
                            td class=[class] data-v=[&cell.sort] { (cell.content) }
                        }
                    } } } }
                }
            }
        }
    }

    /// Behind a line that opens it.
    pub(super) fn folded(&self) -> Markup {
        html! { details class="data" { summary { "Table: " (self.caption) } (self.render()) } }
    }
}
