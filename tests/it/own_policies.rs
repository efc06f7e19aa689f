//! The worked examples of policies in TOML alone: they replay, and their own trigger and tail hold.

use crate::support::{Sandbox, fixture};
use compactor::cut::Full;
use compactor::discover::{discover, read};
use compactor::estimate::entry_tokens;
use compactor::harness::{Role as Speaker, entries};
use compactor::ingest::ingest;
use compactor::profile::Profile;
use compactor::replay::{Prepared, effects};
use compactor::tokens::{TokenIndex, Tokenizer};
use compactor::transcript::{Role, Transcript};

/// Name and text of each example.
fn examples() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(fixture("profiles"))
        .expect("the examples")
        .map(|entry| entry.expect("an example").path())
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("an example"))
        })
        .collect();
    found.sort();
    assert!(found.len() >= 2, "{found:?}");
    found
}

fn sessions(check: &mut dyn FnMut(&Transcript)) {
    for source in discover(&[fixture("").into()]).sources {
        let bytes = read(&source).expect("a fixture").bytes;
        ingest(&bytes, &source.label).sessions.iter().for_each(&mut *check);
    }
}

#[test]
fn examples_replay_and_break_no_pair_when_mended() {
    for (name, text) in examples() {
        let sandbox = Sandbox::new();
        sandbox.file("plain.toml", &text);
        let fixes = "fixes = [\"safe-cut\", \"carry-summary\", \"false-split\", \"empty-summary\"]\n";
        sandbox.file("mended.toml", format!("{fixes}{text}"));
        for (profile, mended) in [("plain.toml", false), ("mended.toml", true)] {
            let out = profile.trim_end_matches(".toml");
            let ran = sandbox.run(&["replay", "-q", "--profile", profile, "--out", out, &fixture("")]);
            assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
            let mut reader = csv::Reader::from_path(sandbox.path(out).join("cycles.csv")).expect("cycles");
            let header = reader.headers().expect("a header").clone();
            let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
            let mut rows = 0;
            for row in reader.records() {
                let row = row.expect("a row");
                assert_eq!((&row[at("profile")], &row[at("error")]), (name.as_str(), ""));
                for column in ["orphan_results", "orphan_calls", "duplicate_results", "empty_blocks"] {
                    let count: u64 = row[at(column)].parse().expect("invariants are counted");
                    assert!(!mended || count == 0, "{name}: {column} {count}");
                }
                assert_eq!(&row[at("over_budget")], "false", "{name}");
                rows += 1;
            }
            assert!(rows > 100, "{name}: {rows} cycles");
        }
    }
}

/// What each compaction of the shipped sessions was made of, at a window.
struct Seen<'a> {
    profile: &'a Profile,
    transcript: &'a Transcript,
    tokens: &'a TokenIndex,
    window: u64,
    overhead: u64,
    /// Its trigger and its cut.
    trigger: usize,
    cut: usize,
}

impl Seen<'_> {
    /// Estimates of a run of messages by the policy's own rules.
    fn estimate(&self, range: std::ops::Range<usize>) -> u64 {
        let rules = self.profile.estimate.as_ref().expect("estimates");
        entries(self.transcript, self.profile.messages)
            .iter()
            .filter(|entry| entry.source.is_some_and(|at| range.contains(&at.get())))
            .map(|entry| entry_tokens(entry, rules).expect("an estimate"))
            .sum()
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.transcript.messages.get(at).map(|message| message.role)
    }
}

/// Shows `check` the first compaction of each session, before which there is no summary whose size would matter.
fn first_compactions(name: &str, windows: &[u64], mut check: impl FnMut(Seen<'_>)) -> usize {
    let text = std::fs::read_to_string(fixture(&format!("profiles/{name}.toml"))).expect("an example");
    let profile = Profile::parse(name, &text).expect("a valid profile");
    let mut found = 0;
    sessions(&mut |transcript| {
        let tokens = TokenIndex::new(transcript, Tokenizer::O200k);
        let effects = effects(transcript);
        let prepared = Prepared::new(transcript, &tokens, Tokenizer::O200k, &effects);
        let planner = prepared.planner(&profile, None);
        for window in windows {
            let schedule = planner.schedule(*window, 1);
            let Some(cut) = schedule.cuts.first().filter(|cut| cut.cut > cut.from) else { continue };
            found += 1;
            check(Seen {
                profile: &profile,
                transcript,
                tokens: &tokens,
                window: *window,
                overhead: schedule.overhead,
                trigger: cut.trigger,
                cut: cut.cut,
            });
        }
    });
    found
}

#[test]
fn a_share_of_the_history_stays_from_a_user_message_on() {
    let (mut shares, mut last) = (0, 0);
    let found = first_compactions("gemini-cli", &[16_000, 24_000], |seen| {
        let reply = (0..seen.trigger).rfind(|at| seen.role(*at) == Some(Role::Assistant));
        let prompt = |at: usize| seen.tokens.range(0..at) + seen.overhead;
        match reply {
            Some(reply) => assert!(prompt(reply) * 2 >= seen.window, "{} of {}", prompt(reply), seen.window),
            None => assert!(seen.estimate(0..seen.trigger) * 2 >= seen.window),
        }
        assert_eq!(seen.role(seen.cut), Some(Role::User));
        let (tail, all) = (seen.estimate(seen.cut..seen.trigger), seen.estimate(0..seen.trigger));
        let later = (seen.cut + 1..seen.trigger).any(|at| seen.role(at) == Some(Role::User));
        if tail as f64 <= all as f64 * 0.3 {
            // It is the longest such tail.
            let older = (0..seen.cut).rfind(|at| seen.role(*at) == Some(Role::User));
            if let Some(older) = older {
                assert!(seen.estimate(older..seen.trigger) as f64 > all as f64 * 0.3);
            }
            shares += 1;
        } else {
            // No message of the user stands in the last 30 %: the newest one has to do.
            assert!(!later);
            last += 1;
        }
    });
    assert!(found >= 10 && shares >= 3 && last >= 3, "{found}: {shares} by share, {last} at the newest");
}

#[test]
fn whole_turns_stay_and_what_still_fits_of_the_one_before() {
    let mut kept = 0;
    let found = first_compactions("opencode", &[12_000, 20_000], |seen| {
        let rules = &seen.profile.cut;
        assert_eq!((rules.full, seen.profile.keep.tokens), (Full::Exceeded, Some(15_000)));
        let keep = 15_000 * seen.window / 200_000;
        let reply = (0..seen.trigger).rfind(|at| seen.role(*at) == Some(Role::Assistant));
        let reply = reply.expect("without a reply there is no usage");
        let used = seen.tokens.range(0..reply + 1) + seen.overhead;
        assert!(used >= seen.window - 52_001 * seen.window / 200_000, "{used} of {}", seen.window);
        let tail = seen.estimate(seen.cut..seen.trigger);
        assert!(tail <= keep, "{tail} of {keep}");
        let entries = entries(seen.transcript, seen.profile.messages);
        let first = entries.iter().find(|entry| entry.source.is_some_and(|at| at.get() == seen.cut));
        assert!(first.is_none_or(|entry| entry.role != Speaker::Tool), "no result without its call");
        kept += usize::from(seen.cut < seen.trigger);
    });
    assert!(found >= 10 && kept >= 5, "{found}, with a tail {kept}");
}

#[test]
fn profiles_of_the_readme_are_valid() {
    let readme = std::fs::read_to_string(fixture("../README.md")).expect("the README");
    let blocks: Vec<&str> =
        readme.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let profile = Profile::parse("README.md", block).unwrap_or_else(|error| panic!("{error}"));
        assert!(!profile.name.is_empty());
    }
}
