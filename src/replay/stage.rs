//! A session as the harness of a profile holds it, and as its summarizer sees it, where that is not the log itself.

use super::{Asked, Planner, Prepared};
use crate::fileops::{CallEffect, ToolKind};
use crate::outputs::{CapRules, capped};
use crate::profile::Profile;
use crate::prompt::{PromptRules, shown};
use crate::tokens::{TokenIndex, Tokenizer};
use crate::transcript::Transcript;

/// A session under the rules of a profile that change what stands in its messages.
#[derive(Debug, Default)]
pub struct Stage {
    /// Results as they entered the session, where a cap took something off; with the counts.
    held: Option<(Transcript, TokenIndex)>,
    /// What the written conversation shows of it, where that is not all.
    seen: Option<Transcript>,
}

impl Stage {
    /// A session under one profile. `kinds` are those of its calls, by position in [`Transcript::links`].
    pub fn new(
        transcript: &Transcript,
        tokens: &TokenIndex,
        tokenizer: Tokenizer,
        kinds: &[ToolKind],
        profile: &Profile,
    ) -> Self {
        let held = capped(transcript, kinds, &profile.outputs).map(|(held, changed)| {
            let tokens = tokens.recounted(&held, &changed, tokenizer);
            (held, tokens)
        });
        let session = held.as_ref().map_or(transcript, |(held, _)| held);
        let seen = profile.prompt.as_ref().and_then(|rules| shown(session, rules, profile.messages));
        Self { held, seen }
    }

    /// The session as it is held, with its counts.
    pub fn held<'a>(
        &'a self,
        transcript: &'a Transcript,
        tokens: &'a TokenIndex,
    ) -> (&'a Transcript, &'a TokenIndex) {
        self.held.as_ref().map_or((transcript, tokens), |(held, tokens)| (held, tokens))
    }

    /// The session as a summarizer sees it.
    pub fn seen<'a>(&'a self, transcript: &'a Transcript) -> &'a Transcript {
        let held = self.held.as_ref().map(|(held, _)| held);
        self.seen.as_ref().or(held).unwrap_or(transcript)
    }
}

/// Stages of one session, one for all profiles that agree on them.
#[derive(Debug)]
pub struct Stages {
    stages: Vec<Stage>,
    /// Place among `stages` of each profile's.
    of: Vec<usize>,
}

impl Stages {
    /// Makes what the profiles need.
    pub fn new(
        transcript: &Transcript,
        tokens: &TokenIndex,
        tokenizer: Tokenizer,
        kinds: &[ToolKind],
        profiles: &[Profile],
    ) -> Self {
        type Rules<'p> = (Option<&'p CapRules>, Option<&'p PromptRules>, crate::harness::MessageRules);
        let mut known: Vec<Rules<'_>> = Vec::new();
        let mut made = Self { stages: Vec::new(), of: Vec::with_capacity(profiles.len()) };
        for profile in profiles {
            let rules = (profile.outputs.cap.as_ref(), profile.prompt.as_ref(), profile.messages);
            let same = |other: &Rules<'_>| {
                (other.0, other.1) == (rules.0, rules.1) && (rules.1.is_none() || other.2 == rules.2)
            };
            let at = known.iter().position(same).unwrap_or_else(|| {
                known.push(rules);
                made.stages.push(Stage::new(transcript, tokens, tokenizer, kinds, profile));
                made.stages.len() - 1
            });
            made.of.push(at);
        }
        made
    }

    /// Prepares the session on each of them.
    pub fn prepare<'a>(
        &'a self,
        transcript: &'a Transcript,
        tokens: &'a TokenIndex,
        tokenizer: Tokenizer,
        effects: &'a [CallEffect],
        asked: &Asked,
    ) -> Vec<Prepared<'a>> {
        let on = |stage| Prepared {
            asked: asked.clone(),
            ..Prepared::on(stage, transcript, tokens, tokenizer, effects)
        };
        self.stages.iter().map(on).collect()
    }

    /// A planner for each profile; `budget` overrides the summary budget in tokens.
    pub fn planners<'p>(
        &self,
        prepared: &'p [Prepared<'_>],
        profiles: &'p [Profile],
        budget: Option<u64>,
    ) -> Vec<Planner<'p>> {
        let on = |(at, profile)| Some(prepared.get(self.of(at))?.planner(profile, budget));
        profiles.iter().enumerate().filter_map(on).collect()
    }

    /// Place among them of the one of a profile, by its position.
    pub fn of(&self, profile: usize) -> usize {
        self.of.get(profile).copied().unwrap_or(0)
    }
}
