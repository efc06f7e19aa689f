//! Counted work of a search: it grows with the text and with what is found in it, not with text times facts.

use super::*;
use crate::facts::{FactSet, part_text};
use crate::matching::index::Sink;
use crate::matching::sentence::UnitRead;
use crate::replay::effects;
use crate::testing::transcript;

/// Passes everything on and counts it: calls, and what each of them leaves to be done.
struct Counting<'a> {
    walk: Walk<'a>,
    work: u64,
}

impl Counting<'_> {
    fn counted(&mut self, act: impl FnOnce(&mut Walk<'_>)) {
        let scratch = &self.walk.scratch;
        let before = scratch.hits.len() + scratch.touched.len() + scratch.keys.len();
        act(&mut self.walk);
        let scratch = &self.walk.scratch;
        let after = scratch.hits.len() + scratch.touched.len() + scratch.keys.len();
        self.work += 1 + after.abs_diff(before) as u64;
    }
}

impl Sink for Counting<'_> {
    fn unit(&mut self, text: &str, start: usize, end: usize) {
        self.counted(|walk| walk.unit(text, start, end));
    }

    fn phrase(&mut self, phrase: u32, start: usize, end: usize) {
        self.counted(|walk| walk.phrase(phrase, start, end));
    }

    fn word(&mut self, word: u32, sentences: &[u32]) {
        self.work += sentences.len() as u64;
        self.counted(|walk| walk.word(word, sentences));
    }

    fn number(&mut self, text: &str, start: usize) {
        self.counted(|walk| walk.number(text, start));
    }

    fn suffix(&mut self, suffix: u32, text: &str, start: usize, end: usize) {
        self.counted(|walk| walk.suffix(suffix, text, start, end));
    }

    fn stray(&mut self, basename: u32, token: &str) {
        self.counted(|walk| walk.stray(basename, token));
    }

    fn wants_words(&self) -> bool {
        self.walk.wants_words()
    }

    fn unit_end(&mut self, text: &str, start: usize, end: usize, read: &UnitRead) {
        self.counted(|walk| walk.unit_end(text, start, end, read));
    }

    fn heading(&mut self, start: usize, end: usize) {
        self.walk.heading(start, end);
    }
}

/// Work of one search.
fn work(set: &FactSet, text: &str, record: bool) -> u64 {
    let (mut scratch, mut room) = (Scratch::default(), Room::default());
    let mut walk = Walk::new(&set.lookup, MessageIdx(u32::MAX), Some(&set.facts), &mut scratch);
    walk.record = record;
    let mut counting = Counting { walk, work: 0 };
    if record {
        set.lookup.index.search_wholes(text, &mut room, &mut counting);
    } else {
        set.lookup.index.search(text, &mut room, &mut counting);
    }
    counting.work
}

/// A word of one round's own.
fn word(stem: &str, round: usize) -> String {
    let letters: Vec<char> = "bdfgklmnprstvz".chars().collect();
    let letter = |at: usize| letters.get(at % letters.len()).copied().unwrap_or('x');
    format!("{stem}{}a{}o{}", letter(round), letter(round / 14), letter(round / 196))
}

/// A session of rounds that each bring facts of their own. Sentences that say nearly the same would all be found, at
/// least in part, wherever one of them stands: their words differ.
fn session(rounds: usize) -> crate::transcript::Transcript {
    let mut notation = String::new();
    for at in 0..rounds {
        let [verb, noun, reason] = ["re", "un", "be"].map(|stem| word(stem, at));
        notation += &format!(
            "U: Please {verb} part{at} next. Never {noun} the {reason} k{at}_id.\n\
             A{{r{at}=Read /w/src/part{at}/module{at}.rs}}: The limit{at} is {at} ms and the queue holds q{at} entries.\n\
             T(r{at}): pub fn part{at}() {{}} in src/part{at}/module{at}.rs\n\
             A{{t{at}=Bash cargo test -p part{at}}}: We decided to {noun} crate{at} for part{at} because it {reason}s.\n\
             T!(t{at}): error[E{at:04}]: mismatched types in part{at}\n"
        );
    }
    transcript(&notation)
}

/// Work over the log (the mentions) and over a summary of the first ten rounds, and the number of facts.
fn measured(rounds: usize) -> (u64, u64, usize) {
    let session = session(rounds);
    let set = FactSet::extract(&session, &effects(&session));
    let parts = session.messages.iter().flat_map(|message| &message.parts);
    let log = parts.filter_map(part_text).map(|text| work(&set, &text, true)).sum();
    let summary: String = (0..10)
        .map(|at| {
            let [verb, noun] = ["re", "un"].map(|stem| word(stem, at));
            format!(
                "- src/part{at}/module{at}.rs: {verb} part{at}, limit{at} is {at} ms, never {noun} k{at}_id\n"
            )
        })
        .collect::<Vec<_>>()
        .concat();
    (log, work(&set, &summary, false), set.facts.len())
}

#[test]
fn twice_the_log_is_twice_the_work() {
    let sizes = [100, 200, 400, 800].map(measured);
    for pair in sizes.windows(2) {
        let [(log, summary, facts), (log_twice, summary_twice, facts_twice)] = pair else { continue };
        assert!(facts_twice * 10 >= facts * 19, "the facts double: {facts}, {facts_twice}");
        assert!(*log_twice * 10 <= log * 23, "the log's work doubles: {log}, {log_twice}");
        assert!(
            *summary_twice * 10 <= summary * 12,
            "the same summary is the same work: {summary}, {summary_twice}"
        );
    }
    // What a scan of each text for each fact would cost at least.
    let (log, _, facts) = sizes[3];
    assert!(log * 20 < facts as u64 * 800 * 5, "{log} for {facts} facts");
}
