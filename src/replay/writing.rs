//! What takes the place of the messages that leave: who is asked for which text, and what happens where none comes.

use super::pruning::Stretch;
use super::schedule::Cut;
use super::{CANCELLED, Runner};
use crate::compaction::{Footer, Form, OnFailure, Taken};
use crate::profile::{Fix, SummaryRole};
use crate::prompt::{Part, PromptRules};
use crate::strategy::exec::{Answer, Ask, Files, Item, Told as ToldMessage};
use crate::strategy::{
    Generated, Strategy, TextRules, Unwritten, blank, dropped, generate, taken, truncated,
};
use crate::summarize::{FileLists, Flaw, Handing, ListForm, SummaryRequest, Told};
use crate::transcript::Role;

/// A message of the session that stands among generated texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Among {
    /// Texts before it.
    pub(super) behind: usize,
    pub(super) message: usize,
}

/// What takes the place of the messages that leave.
#[derive(Default)]
pub(super) struct Written {
    pub(super) texts: Vec<Generated>,
    pub(super) among: Vec<Among>,
}

impl From<Vec<Generated>> for Written {
    fn from(texts: Vec<Generated>) -> Self {
        Self { texts, among: Vec::new() }
    }
}

/// Why there is no text.
pub(super) enum NoText {
    /// Whoever writes gave none, and the policy leaves the session as it was.
    Failed(String),
    /// Nobody could be asked.
    Stopped(String),
}

impl Runner<'_> {
    /// What is told of results that requests before a compaction no longer carried, where the policy tells it.
    fn told(&self, cut: &Cut) -> Vec<Told> {
        let prompt = self.plan.profile.prompt.as_ref();
        let Some(form) = prompt.and_then(|prompt| prompt.digests.as_ref()) else { return Vec::new() };
        let Some(reply) = self.prepared.terrain.newest_reply(cut.trigger) else { return Vec::new() };
        let transcript = self.prepared.transcript;
        let stretch = Stretch { tail: cut.from, since: self.since };
        let of = |(at, _)| {
            let link = transcript.links.get(at)?;
            let line = form.line(&transcript.result(link)?.text)?;
            Some(Told { message: link.result?.message.get(), line })
        };
        self.planner.pruned(stretch, reply, &self.amounts).filter_map(of).collect()
    }

    /// The summary of one cycle; two of them for a split turn, where the profile wants that. Where none comes and the policy
    /// then drops what it may, the cut moves.
    ///
    /// # Errors
    ///
    /// Why no summary came, where the policy then leaves the session as it was.
    pub(super) fn write(&self, cut: &mut Cut) -> Result<Written, NoText> {
        let budget = self.amounts.budget;
        let profile = self.plan.profile;
        let rules = self.rules.get_or_init(|| profile.text_rules());
        let texts: Vec<&str> = self.summary.iter().map(|generated| generated.text.as_str()).collect();
        let carried = profile.summary.carries || profile.mends(Fix::CarrySummary);
        let previous = (!texts.is_empty() && carried).then(|| texts.join("\n\n"));
        let told = self.told(cut);
        let lists = self.lists();
        let whole = SummaryRequest {
            view: &self.prepared.view,
            messages: cut.from..cut.cut,
            turn_start: cut.turn_start,
            previous: previous.as_deref(),
            told: &told,
            lists: &lists,
            cwd: self.prepared.cwd,
            layout: rules.layout,
            list_form: rules.list_form,
            list_order: rules.list_order,
            budget,
            aim: budget,
            handing: self.handing(previous.as_deref()),
        };
        let model = matches!(self.plan.strategy, Strategy::Structured | Strategy::Narrative);
        if cut.drop {
            let reason = (self.plan.strategy != Strategy::Emergency)
                .then(|| "the policy gives up on a summary here".to_owned());
            return Ok(dropped(&whole, rules, reason).into_iter().collect::<Vec<_>>().into());
        }
        if let Some(command) = self.plan.strategy.command() {
            return self.ask_program(command, &whole, rules);
        }
        let written = match cut.turn_start.filter(|_| model && profile.split.summaries == 2) {
            None => self.ask(&whole, rules).map(|generated| generated.into_iter().collect()),
            Some(start) if profile.summary_text.split.is_some() => self.write_joined(start, &whole, rules),
            Some(start) => self.write_parts(start, &whole, rules, budget, false),
        };
        match written {
            Err(NoText::Failed(reason)) if profile.writing.on_failure == OnFailure::Emergency => {
                if let Some(moved) = self.planner.dropped(cut, &self.amounts) {
                    *cut = moved;
                }
                Ok(dropped(&whole, rules, Some(reason)).into_iter().collect::<Vec<_>>().into())
            }
            written => written.map(Written::from),
        }
    }

    /// Asks a program of the user for what takes the place of the messages that leave. It is handed what a model would be, and
    /// nothing of what it gives is cut or added to.
    fn ask_program(
        &self,
        command: &str,
        request: &SummaryRequest<'_>,
        rules: &TextRules,
    ) -> Result<Written, NoText> {
        let transcript = self.prepared.transcript;
        let counter = &self.prepared.view.counter;
        let Some(programs) = self.summarizer.programs() else {
            return Err(NoText::Stopped("no programs are run here".to_owned()));
        };
        let own: Role = self.plan.profile.summary.role.into();
        let told = |at: usize| transcript.messages.get(at).map(|message| ToldMessage::of(at, message));
        let mut messages: Vec<ToldMessage<'_>> = Vec::new();
        // A list that the program wrote comes back as one; a summary comes back as `previous`.
        let lists = self.summary.iter().any(|text| text.role.is_some()) || !self.among.is_empty();
        for place in 0..=self.summary.len() {
            let kept = self.among.iter().filter(|among| among.behind == place);
            messages.extend(kept.filter_map(|among| told(among.message)));
            if let Some(generated) = self.summary.get(place).filter(|_| lists) {
                messages.push(ToldMessage::text(generated.role.unwrap_or(own), &generated.text));
            }
        }
        let leaves = |at: &usize| transcript.messages.get(*at).is_some_and(|it| it.role != Role::System);
        messages.extend(request.messages.clone().filter(leaves).filter_map(told));
        let ask = Ask {
            session: &transcript.id,
            profile: &self.plan.profile.name,
            window: self.plan.window,
            budget: request.budget,
            tokenizer: counter.tokenizer().name(),
            previous: request.previous.filter(|_| !lists).map(|text| rules.unwrap(text)),
            turn_start: request.turn_start,
            messages,
            files: Files {
                read: &request.lists.read,
                modified: &request.lists.modified,
                deleted: &request.lists.deleted,
            },
        };
        match programs.ask(command, &ask) {
            Ok(Answer::Summary(text)) => Ok(vec![self.text_of_program(rules.wrap(&text), None)].into()),
            Ok(Answer::Messages(items)) => {
                let mut written = Written::default();
                for item in items {
                    match item {
                        Item::Kept(message) => {
                            written.among.push(Among { behind: written.texts.len(), message });
                        }
                        Item::Text(role, text) => written.texts.push(self.text_of_program(text, Some(role))),
                    }
                }
                Ok(written)
            }
            Ok(Answer::Cancel(why)) => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                Err(NoText::Failed(format!("{CANCELLED}{why}")))
            }
            Err(error) => Err(NoText::Stopped(format!("the program `{command}`: {error}"))),
        }
    }

    pub(super) fn text_of_program(&self, text: String, role: Option<Role>) -> Generated {
        Generated {
            tokens: self.prepared.view.counter.count(&text),
            text,
            role,
            lists_in_text: false,
            metadata: None,
            used: self.plan.strategy,
            fallback: None,
        }
    }

    /// How the policy would ask a model. A summary that is a message of the session is written with the others, unless the
    /// policy hands it over apart and takes no account of it as a message.
    fn handing<'s>(&'s self, summary: Option<&'s str>) -> Handing<'s> {
        let profile = self.plan.profile;
        let rules = profile.prompt.as_ref().unwrap_or_else(|| PromptRules::own());
        let among = profile.session.form == Form::Message
            && (rules.previous.is_none() || profile.session.summary_counts);
        let role = match profile.summary.role {
            SummaryRole::User => crate::harness::Role::User,
            SummaryRole::Assistant => crate::harness::Role::Assistant,
        };
        let summary = summary.filter(|_| among).map(|text| (role, text));
        Handing { rules, messages: profile.messages, part: Part::History, summary, model: &profile.llm }
    }

    /// Has one text written. Where none comes, the rule of the policy decides.
    ///
    /// # Errors
    ///
    /// Why none came, where the policy has nothing to put in its place.
    fn ask(&self, request: &SummaryRequest<'_>, rules: &TextRules) -> Result<Option<Generated>, NoText> {
        let profile = self.plan.profile;
        let writing = &profile.writing;
        let error = match generate(self.plan.strategy, request, rules, self.summarizer) {
            Ok(generated) => return Ok(generated),
            Err(error) => error,
        };
        let reason = error.to_string();
        match error {
            Unwritten::Blank(text, _) if !(writing.refuses(&text) || profile.mends(Fix::EmptySummary)) => {
                Ok(Some(blank(self.plan.strategy, request, rules, reason)))
            }
            Unwritten::Flawed(flaw, text) if self.takes(flaw, &text) => {
                Ok(taken(self.plan.strategy, request, rules, &text, reason))
            }
            // The budget or the session is at fault, and no model.
            Unwritten::Nothing(_) => Ok(truncated(request, rules, Some(reason))),
            Unwritten::Stopped(_) => Err(NoText::Stopped(reason)),
            Unwritten::Blank(..) | Unwritten::Flawed(..) | Unwritten::Failed(_) => match writing.on_failure {
                OnFailure::Truncate => Ok(truncated(request, rules, Some(reason))),
                OnFailure::Unchanged | OnFailure::Emergency => Err(NoText::Failed(reason)),
            },
        }
    }

    /// Does the policy take a text with this flaw for a summary?
    fn takes(&self, flaw: Flaw, text: &str) -> bool {
        let writing = &self.plan.profile.writing;
        let rule = match flaw {
            Flaw::CutShort => writing.cut_short,
            Flaw::Call => writing.tool_call,
            // Whoever does not know reasoning takes it for a text.
            Flaw::Hollow if writing.hollow_is_empty => writing.empty,
            Flaw::Hollow => Taken::Accepted,
            Flaw::StandIn | Flaw::Shortened => return true,
        };
        rule == Taken::Accepted
            && !writing.refuses(text)
            && !(text.trim().is_empty() && self.plan.profile.mends(Fix::EmptySummary))
    }

    /// The texts of a split turn: history, and the beginning of the turn. The turn's gets a third of the budget.
    ///
    /// The lists go into the history, or into the turn's text where they stand at the very end (`lists_last`). Where nothing
    /// lies before the turn there is no history to tell.
    fn write_parts(
        &self,
        start: usize,
        whole: &SummaryRequest<'_>,
        rules: &TextRules,
        budget: u64,
        lists_last: bool,
    ) -> Result<Vec<Generated>, NoText> {
        let none = FileLists::default();
        let bare = |request: SummaryRequest<'_>, lists: bool| {
            let rules =
                if lists { rules.clone() } else { TextRules { list_form: ListForm::None, ..rules.clone() } };
            let request = if lists {
                request
            } else {
                SummaryRequest { lists: &none, list_form: ListForm::None, ..request }
            };
            self.ask(&request, &rules)
        };
        // Sessions of messages hold the summary before it as the first message of whatever part begins with it.
        let first = whole.messages.start == start;
        let in_turn = first && self.plan.profile.session.form == Form::Message;
        let history = SummaryRequest {
            messages: whole.messages.start..start,
            turn_start: None,
            told: &[],
            budget: budget - budget / 3,
            aim: whole.aim - whole.aim / 3,
            ..whole.clone()
        };
        let turn = SummaryRequest {
            messages: start..whole.messages.end,
            turn_start: Some(start),
            previous: whole.previous.filter(|_| in_turn),
            budget: if first { budget } else { budget / 3 },
            aim: if first { whole.aim } else { whole.aim / 3 },
            handing: Handing {
                part: Part::TurnPrefix,
                summary: whole.handing.summary.filter(|_| in_turn),
                ..whole.handing
            },
            ..whole.clone()
        };
        let ask_history = || if first { Ok(None) } else { bare(history, !lists_last) };
        let ask_turn = || bare(turn, lists_last || first);
        let (history, turn) = if self.summarizer.waits() && !first {
            // Neither needs the other.
            std::thread::scope(|scope| {
                let history = scope.spawn(ask_history);
                let turn = ask_turn();
                (history.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), turn)
            })
        } else {
            (ask_history(), ask_turn())
        };
        Ok(history?.into_iter().chain(turn?).collect())
    }

    /// The texts of a split turn as one, in the system's own form.
    fn write_joined(
        &self,
        start: usize,
        whole: &SummaryRequest<'_>,
        rules: &TextRules,
    ) -> Result<Vec<Generated>, NoText> {
        let counter = &self.prepared.view.counter;
        let profile = self.plan.profile;
        let inner = TextRules { prefix: String::new(), suffix: String::new(), ..rules.clone() };
        let lists_last = profile.writing.footer == Footer::Summary;
        let entry_form = profile.session.form == Form::Entry;
        let kept = entry_form && whole.messages.start == start;
        let earlier = whole.previous.map(|text| rules.unwrap(text)).filter(|_| kept);
        let mended = profile.mends(Fix::CarrySummary);
        let mut form = profile.summary_text.clone();
        if let Some(split) = &mut form.split {
            split.previous_for_history |= mended;
        }
        let frame = form.joined(Some(""), None, "").unwrap_or_default();
        let taken = earlier.filter(|_| form.split.as_ref().is_some_and(|split| split.previous_for_history));
        let taken = taken.map_or(0, |text| counter.count(text));
        let mut room = whole.budget.saturating_sub(counter.count(&rules.wrap(&frame)));
        let whole = &SummaryRequest { aim: room.saturating_sub(taken), ..whole.clone() };
        // Counts do not add up exactly at the joins: a second look takes the difference off.
        for _ in 0..3 {
            let for_parts = room.saturating_sub(taken);
            let parts = self.write_parts(start, whole, &inner, for_parts, lists_last)?;
            let (history, turn) = match parts.as_slice() {
                [turn] => (None, turn),
                [history, turn] => (Some(history), turn),
                _ => break,
            };
            let text = form.joined(history.map(|part| part.text.as_str()), earlier, &turn.text);
            let text = rules.wrap(&text.unwrap_or_else(|| turn.text.clone()));
            let tokens = counter.count(&text);
            if tokens > whole.budget {
                room = room.saturating_sub(tokens - whole.budget);
                continue;
            }
            let fallback = history.and_then(|part| part.fallback.clone()).or(turn.fallback.clone());
            let lists_in_text = turn.lists_in_text || history.is_some_and(|part| part.lists_in_text);
            let metadata = rules.metadata.then(|| whole.lists.clone());
            let used = turn.used;
            let role = None;
            return Ok(vec![Generated { text, tokens, role, lists_in_text, metadata, used, fallback }]);
        }
        Ok(self.ask(whole, rules)?.into_iter().collect())
    }
}
