//! What stands behind the last compaction changes nothing before it: reading a session only as far as its compactions
//! reach gives what reading it whole gives.

use crate::support::fixture;
use compactor::discover::{discover, read};
use compactor::facts::{Fact, FactSet};
use compactor::fileops::CallEffect;
use compactor::ingest::ingest;
use compactor::replay::effects;
use compactor::summarize::extractive::Extractive;
use compactor::summarize::{FileLists, Handing, Layout, ListForm, SessionView, Summarizer, SummaryRequest};
use compactor::tokens::{Counter, Tokenizer};
use compactor::transcript::{MessageIdx, Transcript};

/// Every shipped session, with places at which it may be cut off.
fn each(check: impl Fn(&Transcript, &[CallEffect], usize)) -> usize {
    let mut sessions = 0;
    for source in discover(&[fixture("").into()]).sources {
        let bytes = read(&source).expect("a fixture").bytes;
        for transcript in ingest(&bytes, &source.label).sessions {
            let effects = effects(&transcript);
            let messages = transcript.messages.len();
            (0..=4).for_each(|quarter| check(&transcript, &effects, messages * quarter / 4));
            sessions += 1;
        }
    }
    sessions
}

#[test]
fn facts_before_the_end_are_those_of_the_whole() {
    let sessions = each(|transcript, effects, end| {
        let end = MessageIdx::new(end);
        let seen = |set: &FactSet| -> Vec<(Fact, String)> {
            set.ids()
                .filter_map(|id| Some((id, set.get(id)?)))
                .filter(|(_, fact)| fact.birth < end)
                .map(|(id, fact)| {
                    let class = format!("{:?}", set.class_at(id, end));
                    (Fact { superseded: None, ..fact.clone() }, class)
                })
                .collect()
        };
        let whole = seen(&FactSet::extract(transcript, effects));
        assert_eq!(seen(&FactSet::extract_until(transcript, effects, end)), whole, "{}", transcript.id);
    });
    assert!(sessions >= 14, "{sessions}");
}

#[test]
fn summaries_are_those_of_the_whole() {
    let tokenizer = Tokenizer::O200k;
    let mut written = std::cell::Cell::new(0);
    each(|transcript, effects, end| {
        let kinds: Vec<_> = effects.iter().map(|effect| effect.kind).collect();
        let summary = |horizon: Option<usize>| {
            let view = SessionView::new(transcript, Counter::new(tokenizer), kinds.clone());
            if let Some(horizon) = horizon {
                view.until(horizon);
            }
            Extractive.summarize(&SummaryRequest {
                view: &view,
                messages: 0..end,
                turn_start: None,
                previous: None,
                told: &[],
                lists: &FileLists::default(),
                cwd: transcript.main_cwd(),
                layout: Layout::GoalProgress,
                list_form: ListForm::None,
                list_order: None,
                budget: 2_000,
                aim: 2_000,
                handing: Handing::own(),
            })
        };
        let whole = summary(None);
        // Also where the horizon was set too near.
        for horizon in [end, end / 2] {
            assert_eq!(summary(Some(horizon)), whole, "{} until {horizon}", transcript.id);
        }
        written.set(written.get() + u32::from(whole.is_ok()));
    });
    assert!(*written.get_mut() >= 40, "{written:?}");
}
