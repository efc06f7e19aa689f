//! Logs of the calls of the model: the whole conversation and the reply, once for each call.

use crate::ingest::value::Value;

use super::super::build;
use super::super::chat;
use super::super::json::{self, argument_text, items, take, text};
use super::super::links::Draft;
use super::super::sink::Sink;
use super::super::threads::Threads;

pub(super) fn sniff(value: &Value) -> Option<&'static str> {
    let has = |key: &str| value.get(key).is_some();
    let response = value.get("response").or_else(|| value.get("fncall_response"))?;
    let replied = response.get("choices").is_some_and(Value::is_array);
    (has("messages") && replied && ["args", "kwargs", "cost", "fncall_messages"].iter().any(|key| has(key)))
        .then_some("has messages and response of a logged call")
}

/// Conversations out of logged calls.
pub(super) struct Calls {
    name: String,
    threads: Threads,
    number: usize,
}

impl Calls {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), threads: Threads::default(), number: 0 }
    }

    pub(super) fn add(&mut self, mut value: Value, line: u32, out: &mut Sink) {
        out.raw.messages += items(&value, "messages").len() as u64;
        let calls = items(&value, "messages").iter().map(|message| items(message, "tool_calls").len() as u64);
        out.raw.tool_calls += calls.sum::<u64>();
        // The first is what the agent meant where the provider has no tool calls of its own.
        let native = value.get("fncall_messages").is_some_and(Value::is_array);
        let (messages, response) = if native && value.get("fncall_response").is_some() {
            ("fncall_messages", "fncall_response")
        } else {
            ("messages", "response")
        };
        let (messages, mut response) = (take(&mut value, messages), take(&mut value, response));
        let mut draft = Draft::new("");
        let raw = out.raw;
        let mut said = messages.into_list();
        let sent = said.len();
        said.extend(response.pointer_mut("/choices/0/message").map(Value::take));
        for (index, message) in said.into_iter().enumerate() {
            chat::add(&mut draft, message, build::place(index), out);
            if index == sent
                && let Some(reply) = draft.messages.last_mut()
            {
                let usage = response.get("usage");
                let usage = usage.and_then(|told| out.told(line, chat::usage(told)).flatten());
                reply.usage = usage.map(Box::new);
                reply.time = json::time_at(&value, "timestamp");
            }
        }
        out.raw = raw;
        self.number += 1;
        let id = if self.number > 1 { format!("{}#{}", self.name, self.number) } else { self.name.clone() };
        let at = self.threads.add(draft.messages.into_vec(), || Draft::new(id));
        let schema =
            value.pointer_mut("/kwargs/tools").map(Value::take).unwrap_or_else(|| take(&mut value, "tools"));
        if let Some(draft) = self.threads.draft(at) {
            let model = text(&response, "model").map(str::to_owned);
            draft.model = model.or_else(|| draft.model.take());
            let schema = Some(argument_text(schema)).filter(|schema| schema.len() > 2);
            draft.tool_schema = draft.tool_schema.take().or(schema);
        }
    }

    pub(super) fn finish(self, out: &mut Sink) {
        self.threads.finish(out);
    }
}
