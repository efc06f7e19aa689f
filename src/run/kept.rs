//! Sessions that are finished, kept until the run is.

use super::{Place, RunSettings, SessionOutcome};
use crate::results::journal::{Journal, Key};
use crate::results::{SCHEMA_VERSION, SCORER_VERSION};
use crate::summarize::Summarizer;
use crate::transcript::Transcript;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The journal of a run, with what all its keys have in common.
pub struct Kept<'j> {
    journal: &'j Journal,
    /// Hash over all that changes the rows of a session, the session itself excepted.
    settings: [u8; 32],
    /// Names of the replies that the sessions of an earlier run used.
    earlier: Mutex<BTreeSet<String>>,
    summarizer: &'j dyn Summarizer,
    /// Why nothing more could be kept.
    failed: OnceLock<String>,
}

impl std::fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("journal", &self.journal).finish_non_exhaustive()
    }
}

/// What is kept of a session.
#[derive(Serialize, Deserialize)]
struct Record {
    outcome: SessionOutcome,
    /// Names of the replies that it used.
    replies: Vec<String>,
}

/// A hasher of the standard library's kind that forgets nothing.
struct Feed(blake3::Hasher);

impl Hasher for Feed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl<'j> Kept<'j> {
    /// The journal for a run with these settings.
    pub fn new(journal: &'j Journal, settings: &RunSettings, summarizer: &'j dyn Summarizer) -> Self {
        let mut hasher = blake3::Hasher::new();
        let wire = super::assemble::wire_settings(settings, summarizer);
        let rest =
            (settings.log_facts, settings.events, SCHEMA_VERSION, SCORER_VERSION, env!("CARGO_PKG_VERSION"));
        hasher.update(&serde_json::to_vec(&(wire, rest)).unwrap_or_default());
        let (earlier, failed) = (Mutex::default(), OnceLock::new());
        Self { journal, settings: hasher.finalize().into(), earlier, summarizer, failed }
    }

    /// Names of the replies that sessions used which were not worked on again.
    pub fn replies(&self) -> Vec<String> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Why sessions could not be kept.
    pub fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    fn key(&self, transcript: &Transcript, place: Place<'_>) -> Key {
        let mut feed = Feed(blake3::Hasher::new());
        self.settings.hash(&mut feed);
        (place.source, place.format).hash(&mut feed);
        transcript.hash(&mut feed);
        feed.0.finalize().into()
    }

    /// What is kept of a session; else what `work` makes of it, which is then kept unless something of it failed.
    pub(super) fn or_else(
        &self,
        transcript: &Transcript,
        place: Place<'_>,
        work: impl FnOnce() -> SessionOutcome,
    ) -> SessionOutcome {
        let key = self.key(transcript, place);
        let known = self.journal.find(&key).and_then(|bytes| rmp_serde::from_slice::<Record>(bytes).ok());
        if let Some(record) = known {
            self.earlier
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(record.replies.iter().cloned());
            return record.outcome;
        }
        let before = self.summarizer.account();
        let outcome = work();
        // What did not come this time may come the next; others may have had the trouble, which costs them a second try at the most.
        let troubled = self.summarizer.account().troubled != before.troubled;
        if troubled || outcome.failed || outcome.sessions.iter().any(|row| !row.error.is_empty()) {
            return outcome;
        }
        // Those of sessions that were worked on at the same time are among them.
        let replies = self.summarizer.answered(before.answered);
        let record = Record { outcome, replies };
        let kept = rmp_serde::to_vec_named(&record)
            .map_err(|error| error.to_string())
            .and_then(|bytes| self.journal.keep(&key, &bytes).map_err(|error| error.to_string()));
        if let Err(error) = kept {
            self.failed.get_or_init(|| error);
        }
        record.outcome
    }
}
