//! `compactor overflow`: what error texts of providers say.

use super::args::{OverflowArgs, unknown};
use super::exit::{Exit, Failure};
use super::ui::Ui;
use crate::overflow::Matcher;
use crate::report::Look;
use crate::report::overflow::{Judged, is_taken, render};
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// Runs the verb.
pub fn run(args: &OverflowArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut matchers: Vec<Matcher> = Vec::new();
    for name in &args.matcher {
        let matcher = matcher(name)?;
        if !matchers.contains(&matcher) {
            matchers.push(matcher);
        }
    }
    let names: Vec<&str> = matchers.iter().map(|matcher| matcher.name.as_str()).collect();
    for (idx, name) in names.iter().enumerate() {
        if is_taken(name) || names.get(..idx).is_some_and(|before| before.contains(name)) {
            let cause = format!("two columns would be called `{name}`");
            return Err(Failure::new(cause, "give each matcher file a `name` of its own"));
        }
    }
    let texts = texts(args)?;
    if texts.is_empty() {
        let hint = "give error texts as arguments, or one a line on stdin";
        return Err(Failure::new("no text was given: nothing was judged", hint));
    }
    let judged: Vec<Judged> = texts.iter().map(|text| Judged::new(text, &matchers)).collect();
    let look = Look { width: ui.width(), color: ui.color(), saved: None };
    let report = render(args.format.into(), &judged, &names, look)
        .map_err(|error| Failure::new(format!("cannot write the report: {error}"), ""))?;
    ui.product(&report)?;
    Ok(Exit::Done)
}

/// The texts in their order, those of stdin where a `-` stands or no other is given. Blank ones are none.
fn texts(args: &OverflowArgs) -> Result<Vec<String>, Failure> {
    let mut texts: Vec<String> = Vec::new();
    let mut read = false;
    for text in &args.texts {
        if text != "-" {
            texts.push(text.clone());
        } else if !read {
            texts.extend(stdin(args.whole)?);
            read = true;
        }
    }
    if args.texts.is_empty() && !io::stdin().is_terminal() {
        texts = stdin(args.whole)?;
    }
    texts.retain(|text| !text.trim().is_empty());
    Ok(texts)
}

/// Stdin as one text, or as one a line.
fn stdin(whole: bool) -> Result<Vec<String>, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(format!("cannot read stdin: {error}"), ""))?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(if whole { vec![text.to_owned()] } else { text.lines().map(str::to_owned).collect() })
}

/// An embedded matcher by name, or one from a file.
#[expect(clippy::disallowed_methods, reason = "the command line reads the matchers that a user names")]
fn matcher(name: &str) -> Result<Matcher, Failure> {
    if let Some(matcher) = Matcher::named(name) {
        return Ok(matcher);
    }
    let path = Path::new(name);
    if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml")) && !path.exists() {
        let hint = "name an embedded matcher, or a file that ends in .toml";
        return Err(Failure::new(unknown("matcher", name, &Matcher::NAMES), hint));
    }
    let table = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("matcher {name}: {error}"), "check the path"))?;
    Matcher::parse(&table).map_err(|error| {
        Failure::new(format!("matcher {name}: {error}"), "see src/overflow/pi.toml for the keys")
    })
}
