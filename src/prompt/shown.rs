//! What of a session a summarizer gets to see under the rules of a prompt.

use super::{ArgsForm, CallForm, Form, PromptRules};
use crate::harness::json::{beginning, pairs, restyle};
use crate::harness::text::Cap;
use crate::harness::{MessageRules, Results, Role};
use crate::transcript::{Message, MessageIdx, Outcome, Part, PartRef, Role as Speaker, Transcript};
use arcstr::ArcStr;
use std::borrow::Cow;

/// The session with nothing in it that the written conversation would not hold, places and links as they were: what is
/// hidden is empty, what is cut ends at the cut, without the notice. `None` where all of it is shown.
pub fn shown(transcript: &Transcript, rules: &PromptRules, messages: MessageRules) -> Option<Transcript> {
    let mut edits = Edits { transcript, out: Vec::new() };
    let mut round: Vec<PartRef> = Vec::new();
    for (at, message) in transcript.messages.iter().enumerate() {
        let places = |wanted: fn(&Part) -> bool| {
            let parts = message.parts.iter().enumerate().filter(move |(_, part)| wanted(part));
            parts.map(move |(part, _)| PartRef { message: MessageIdx::new(at), part: part as u32 })
        };
        let results = places(|part| matches!(part, Part::Result(_)));
        if message.role == Speaker::Tool && messages.results == Results::Round {
            round.extend(results);
            continue;
        }
        edits.texts(&std::mem::take(&mut round), rules.form(Role::Tool), false);
        results.for_each(|result| edits.texts(&[result], rules.form(Role::Tool), false));
        let texts: Vec<PartRef> = places(|part| matches!(part, Part::Text(_))).collect();
        edits.texts(&texts, rules.form(role(message)), calls(message));
        if rules.thinking.is_none() {
            places(|part| matches!(part, Part::Thinking(_))).for_each(|at| edits.blank(at));
        }
        places(|part| matches!(part, Part::Call(_))).for_each(|at| edits.call(at, rules.calls.as_ref()));
    }
    edits.texts(&round, rules.form(Role::Tool), false);
    let changed = edits.out;
    if changed.is_empty() {
        return None;
    }
    let mut out = transcript.clone();
    for (at, part) in changed {
        if let Some(slot) = out.part_mut(at) {
            *slot = part;
        }
    }
    Some(out)
}

fn role(message: &Message) -> Role {
    match message.role {
        Speaker::System => Role::System,
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Tool => Role::Tool,
    }
}

fn calls(message: &Message) -> bool {
    message.parts.iter().any(|part| matches!(part, Part::Call(_)))
}

/// Parts that are shown otherwise than they are.
struct Edits<'a> {
    transcript: &'a Transcript,
    out: Vec<(PartRef, Part)>,
}

impl Edits<'_> {
    /// Texts that are written as one.
    fn texts(&mut self, parts: &[PartRef], form: Option<&Form>, beside_calls: bool) {
        let Some(form) = form.filter(|form| !(form.hidden || form.hidden_by_calls && beside_calls)) else {
            for at in parts {
                self.blank(*at);
            }
            return;
        };
        let Some(cap) = &form.cap else { return };
        let transcript = self.transcript;
        let text = |at: &PartRef| match transcript.part(*at) {
            Some(Part::Text(text)) => text.text.as_str(),
            Some(Part::Result(result)) => result.text.as_str(),
            _ => "",
        };
        let whole = parts.iter().map(text).collect::<Vec<_>>().join(&form.join);
        if matches!(cap.cut(&whole), Cow::Borrowed(_)) {
            return;
        }
        let mut room = cap.most;
        for at in parts {
            let cut = bare(cap, room).cut(text(at)).into_owned();
            room = room.saturating_sub(cap.unit.length(&cut) + cap.unit.length(&form.join));
            if cut.len() < text(at).len() {
                self.replace(*at, |part| match part {
                    Part::Text(text) => text.text = cut,
                    Part::Result(result) => result.text = cut,
                    _ => {}
                });
            }
        }
    }

    fn call(&mut self, at: PartRef, form: Option<&CallForm>) {
        let Some(form) = form else { return self.blank(at) };
        let Some(Part::Call(call)) = self.transcript.part(at) else { return };
        if let Some(arguments) = seen_arguments(&call.arguments, form) {
            self.replace(at, |part| {
                if let Part::Call(call) = part {
                    call.arguments = arguments;
                }
            });
        }
    }

    fn blank(&mut self, at: PartRef) {
        self.replace(at, |part| match part {
            Part::Text(text) => text.text.clear(),
            Part::Thinking(text) => text.clear(),
            Part::Call(call) => {
                call.name = ArcStr::new();
                call.arguments.clear();
            }
            Part::Result(result) => {
                result.text.clear();
                (result.outcome, result.exit_code) = (Outcome::Unknown, None);
            }
            Part::Image { .. } | Part::Opaque { .. } => {}
        });
    }

    fn replace(&mut self, at: PartRef, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.transcript.part(at) {
            let mut part = part.clone();
            change(&mut part);
            self.out.push((at, part));
        }
    }
}

/// A limit without a notice.
fn bare(cap: &Cap, most: usize) -> Cap {
    Cap { most, notice: String::new(), ..cap.clone() }
}

/// What arguments hold that are cut where they are written; `None` where they are not cut. Values come in the order of
/// the style, the one that the cut falls into as far as it goes.
fn seen_arguments(arguments: &str, form: &CallForm) -> Option<String> {
    let cap = form.cap.as_ref()?;
    let written = restyle(arguments, form.style);
    let length = match form.args {
        ArgsForm::Json => Cow::Borrowed(written.as_ref()),
        ArgsForm::Pairs => pairs(arguments, form.style).map_or(Cow::Borrowed(written.as_ref()), |pairs| {
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
            Cow::Owned(pairs.join(", "))
        }),
    };
    if matches!(cap.cut(&length), Cow::Borrowed(_)) {
        return None;
    }
    let cut = bare(cap, cap.most).cut(&written).into_owned();
    Some(beginning(&cut).unwrap_or(cut))
}
