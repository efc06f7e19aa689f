//! A baseline on disk: what a run scored, small enough to be committed, in lines that a review can read.
//!
//! `baseline.csv` has a line per contender and session, sorted; a share is written `12 of 13`, and what is 0 or was never at risk is
//! left empty. `baseline.json` says what was run on what. A change of one figure of one session changes one cell of one line.

use super::files::{FilesError, holds_all, make_directory, place, read_sound, text_cell};
use super::sound::MOST;
use super::{Manifest, SCHEMA_VERSION, SCORER_VERSION};
use crate::aggregate::scores::{AMOUNTS, Contender, Score, Share, State, scores, shares};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What was run on what.
pub const HEAD: &str = "baseline.json";
/// What each session scored.
pub const ROWS: &str = "baseline.csv";

const KEYS: [&str; 6] = ["profile", "strategy", "window", "session", "state", "tokens"];

/// Columns of `baseline.csv`, in order.
pub fn columns() -> Vec<String> {
    let keys = KEYS.iter().map(|key| (*key).to_owned());
    keys.chain(shares()).chain(AMOUNTS.iter().map(|(name, _)| (*name).to_owned())).collect()
}

/// The scores of a run directory or a baseline, with what was run on what.
pub fn read(dir: &Path) -> Result<(Manifest, Vec<Score>), FilesError> {
    let head = dir.join(HEAD);
    if !dir.join(super::files::MANIFEST).exists() && (head.exists() || dir.join(ROWS).exists()) {
        return read_baseline(dir);
    }
    let run = read_sound(dir)?;
    let scores = scores(&run);
    Ok((run.manifest, scores))
}

fn read_baseline(dir: &Path) -> Result<(Manifest, Vec<Score>), FilesError> {
    let rerun = "undo changes by hand, or write it again with `compactor gate RUN --baseline DIR --accept`";
    let manifest = super::files::read_head(&dir.join(HEAD), rerun, rerun)?;
    let path = dir.join(ROWS);
    let bad = |line: Option<u64>, cause: String| FilesError::new(&path, cause, rerun).at(line);
    if manifest.schema_version != SCHEMA_VERSION {
        let cause = format!(
            "was written with schema version {}, this program has {SCHEMA_VERSION}",
            manifest.schema_version
        );
        return Err(bad(None, cause));
    }
    if SCORER_VERSION < manifest.scorer_version {
        let (its, ours) = (manifest.scorer_version, SCORER_VERSION);
        let cause = format!("was written with scorer version {its}; this program has {ours}");
        return Err(FilesError::newer(&dir.join(HEAD), cause));
    }
    let bytes = super::files::read_bytes(&path)?;
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let columns = columns();
    let header = reader.headers().map_err(|error| bad(Some(1), error.to_string()))?.clone();
    if let Some(missing) = columns.iter().find(|name| !header.iter().any(|column| column == *name)) {
        return Err(bad(Some(1), format!("has no column `{missing}`")));
    }
    let mut scores: Vec<Score> = Vec::new();
    let mut seen = BTreeSet::new();
    for record in reader.records() {
        let record =
            record.map_err(|error| bad(error.position().map(csv::Position::line), error.to_string()))?;
        let line = record.position().map(csv::Position::line);
        let cells: BTreeMap<&str, &str> =
            header.iter().zip(record.iter().map(super::files::restore)).collect();
        let score = score(&cells).map_err(|cause| bad(line, cause))?;
        if !seen.insert((score.contender.clone(), score.session.clone())) {
            return Err(bad(line, format!("session {} stands here a second time", score.session)));
        }
        scores.push(score);
    }
    scores.sort_by(|a, b| (&a.contender, &a.session).cmp(&(&b.contender, &b.session)));
    Ok((manifest, scores))
}

fn score(cells: &BTreeMap<&str, &str>) -> Result<Score, String> {
    let cell = |name: &str| cells.get(name).copied().unwrap_or_default();
    let bad = |name: &str, form: &str| format!("column `{name}`: `{}` is not {form}", cell(name));
    let share = |name: &String| {
        if cell(name).is_empty() {
            return Ok(Share::default());
        }
        let counts = cell(name).split_once(" of ");
        let counts = counts.and_then(|(kept, total)| Some((kept.parse().ok()?, total.parse().ok()?)));
        let (kept, total): (u64, u64) = counts.ok_or_else(|| bad(name, "a share like `12 of 13`"))?;
        match (total < kept, MOST < total) {
            (true, _) => Err(bad(name, "a share: more are kept than there are")),
            (false, true) => Err(bad(name, "a share of so many facts")),
            (false, false) => Ok(Share { kept, total }),
        }
    };
    let amount = |name: &str| match cell(name) {
        "" => Ok(0),
        text => text.parse().ok().filter(|amount| *amount <= MOST).ok_or_else(|| bad(name, "a whole number")),
    };
    Ok(Score {
        contender: Contender {
            profile: cell("profile").to_owned(),
            strategy: cell("strategy").to_owned(),
            window: cell("window").to_owned(),
        },
        session: cell("session").to_owned(),
        state: State::of_name(cell("state")).ok_or_else(|| bad("state", "a state"))?,
        tokens: amount("tokens")?,
        shares: shares().iter().map(share).collect::<Result<_, _>>()?,
        amounts: AMOUNTS.iter().map(|(name, _)| amount(name)).collect::<Result<_, _>>()?,
    })
}

/// Writes a baseline to `dir`, replacing an earlier one; files of other names or kinds stay, and so does a run.
pub fn write(dir: &Path, manifest: &Manifest, scores: &[Score]) -> Result<(), FilesError> {
    let hint = "give a directory of its own";
    if dir.join(super::files::MANIFEST).exists() {
        return Err(FilesError::new(
            dir,
            "holds the results of a run, which are read in place of a baseline",
            hint,
        ));
    }
    // In any layout, and also with the marks of a merge in it: what is in them is in the history.
    let marks: [(&str, &[&str]); 2] = [
        (ROWS, &["profile,strategy,window,session,state"]),
        (HEAD, &["\"schema_version\"", "\"scorer_version\"", "\"settings_hash\""]),
    ];
    for (name, marks) in marks {
        if !holds_all(&dir.join(name), marks) {
            return Err(FilesError::new(&dir.join(name), "is no baseline of compactor", hint));
        }
    }
    make_directory(dir)?;
    // What readers noticed and what was lost belong to the run; they would only make the file large.
    let head = Manifest { facts: 0, problems: Vec::new(), worst_losses: Vec::new(), ..manifest.clone() };
    let json = serde_json::to_string_pretty(&head);
    let json = json.map_err(|error| FilesError::new(dir, error.to_string(), "please report it"))?;
    place(&dir.join(ROWS), rows(scores).as_bytes(), true)?;
    place(&dir.join(HEAD), format!("{json}\n").as_bytes(), true)
}

/// The lines of `baseline.csv`.
pub fn rows(scores: &[Score]) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    let lines = scores.iter().map(|score| {
        let contender = &score.contender;
        let keys = [&contender.profile, &contender.strategy, &contender.window, &score.session];
        let keys = keys
            .into_iter()
            .map(|key| text_cell(key))
            .chain([score.state.name().to_owned(), score.tokens.to_string()]);
        let share = |share: &Share| match share.total {
            0 => String::new(),
            total => format!("{} of {total}", share.kept),
        };
        let amount = |amount: &u64| if *amount == 0 { String::new() } else { amount.to_string() };
        keys.chain(score.shares.iter().map(share)).chain(score.amounts.iter().map(amount)).collect::<Vec<_>>()
    });
    for line in std::iter::once(columns()).chain(lines) {
        // Memory takes all that is written to it.
        drop(writer.write_record(line));
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::files::sample;

    #[test]
    fn a_baseline_is_read_back_as_it_was_written() {
        let run = sample::run(5);
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &run.manifest, &scores(&run)).unwrap();
        let (manifest, back) = read(dir.path()).unwrap();
        assert_eq!(back, scores(&run));
        assert_eq!((manifest.corpus_hash, manifest.problems.len()), (run.manifest.corpus_hash, 0));
    }

    #[test]
    fn a_baseline_of_any_layout_may_be_replaced() {
        let run = sample::run(3);
        let dir = tempfile::tempdir().unwrap();
        let head = dir.path().join(HEAD);
        let renew = || write(dir.path(), &run.manifest, &scores(&run));
        renew().unwrap();
        let text = String::from_utf8(super::super::files::read_bytes(&head).unwrap()).unwrap();
        place(&head, text.replace(['\n', ' '], "").as_bytes(), true).unwrap();
        let merged = format!("<<<<<<< ours\n{}=======\n>>>>>>> theirs\n", rows(&scores(&run)));
        place(&dir.path().join(ROWS), merged.as_bytes(), true).unwrap();
        renew().unwrap();
        assert_eq!(read(dir.path()).unwrap().1, scores(&run));
        place(&head, b"{\"name\": \"a package\"}", true).unwrap();
        assert!(renew().unwrap_err().to_string().contains("is no baseline of compactor"));
    }

    #[test]
    fn what_a_newer_version_wrote_is_known_by_it() {
        let run = sample::run(1);
        let newer = |change: fn(&mut Manifest)| {
            let mut manifest = run.manifest.clone();
            change(&mut manifest);
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), &manifest, &scores(&run)).unwrap();
            read(dir.path()).unwrap_err().newer
        };
        assert!(newer(|it| it.schema_version += 1) && newer(|it| it.scorer_version += 1));
        assert!(!newer(|it| it.schema_version -= 1));
    }

    #[test]
    fn odd_names_come_back() {
        let mut scores = scores(&sample::run(1));
        scores[0].session = "=1+1, \"x\"\nnext".to_owned();
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &sample::run(1).manifest, &scores).unwrap();
        assert_eq!(read(dir.path()).unwrap().1, scores);
    }

    /// Changes a text of a written baseline and expects the error of reading it.
    fn check_damaged(from: &str, to: &str, expected: &str) {
        let run = sample::run(2);
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &run.manifest, &scores(&run)).unwrap();
        let path = dir.path().join(ROWS);
        let text = rows(&scores(&run));
        assert!(text.contains(from), "{text}");
        place(&path, text.replacen(from, to, 1).as_bytes(), true).unwrap();
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn damage_is_named_with_its_place() {
        check_damaged("4 of 4", "5 of 4", "more are kept");
        check_damaged("4 of 4", "many", "`many` is not a share");
        check_damaged(",scored,", ",maybe,", "`maybe` is not a state");
        check_damaged("strategy,", "strategie,", "no column `strategy`");
        check_damaged("\nstandard,", "\nstandard,x,", "fields");
    }
}
