//! A log in several files that only the tests know: `toy/NAME/PART.json`, each `{"toy": "what was said"}`.

use super::formats::Format;
use super::json::text;
use super::links::Draft;
use super::say::{self, message};
use super::shapes::{Piece, TreeShape};
use super::sink::Sink;
use crate::transcript::Role;

/// Directories of parts.
pub(super) static SHAPE: TreeShape = TreeShape { format: Format::Canonical, group, read };

fn group(paths: &[&str]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let Some((directory, _)) = path.rsplit_once('/').filter(|(above, _)| above.contains("/toy/")) else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, members)) => members.insert(0, at),
            None => groups.push((directory, vec![at])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

fn read(pieces: Vec<Piece>, name: &str, out: &mut Sink) {
    let mut draft = Draft::new(name);
    for piece in pieces {
        let below = piece.below("toy").unwrap_or_default().to_owned();
        for record in piece.records {
            let said = text(&record.value, "toy").unwrap_or_default();
            draft.messages.push(message(
                Role::User,
                vec![say::said(format!("{below}: {said}"))],
                record.line,
            ));
        }
    }
    out.finish_draft(draft);
}
