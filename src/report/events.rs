//! What the systems tell of their compactions: a line with the plan, and below it the system's own words.

use super::text::{sanitize, thousands};
use crate::results::EventRow;

/// The events of a run as text, in order.
pub fn render(rows: &[EventRow]) -> String {
    let mut out = String::new();
    let mut plan: Option<(&str, &str, &str, u64)> = None;
    for row in rows {
        let here = (row.session.as_str(), row.profile.as_str(), row.strategy.as_str(), row.window);
        if plan != Some(here) {
            plan = Some(here);
            let (session, profile, strategy, window) = here;
            let (session, profile) = (sanitize(session), sanitize(profile));
            let window = thousands(window);
            out += &format!("# session {session}, profile {profile}, strategy {strategy}, window {window}\n");
        }
        for line in row.text.lines() {
            out += &sanitize(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_has_a_line_and_texts_cannot_write_to_the_terminal() {
        let row = |strategy: &str, text: &str| EventRow {
            session: "s\u{1b}[31m".into(),
            profile: "own".into(),
            strategy: strategy.to_owned(),
            window: 12_000,
            text: text.to_owned(),
            ..EventRow::default()
        };
        let rows = [row("structured", "one\n  two"), row("structured", "three"), row("truncate", "a\u{7}b")];
        let text = render(&rows);
        assert_eq!(text.lines().filter(|line| line.starts_with("# session ")).count(), 2, "{text}");
        assert!(
            text.contains("\none\n  two\nthree\n# session")
                && !text.contains('\u{1b}')
                && !text.contains('\u{7}')
        );
        assert_eq!(render(&[]), "");
    }
}
