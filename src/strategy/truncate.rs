//! Truncate: a line that counts what was there, and the file lists of the harness where the system tags them on.

use super::TextRules;
use crate::summarize::extractive::files::{Files, Limits};
use crate::summarize::{ListForm, SummarizeError, SummaryRequest};
use crate::transcript::Role;

/// Roles in alphabetical order.
const ROLES: [Role; 4] = [Role::Assistant, Role::System, Role::Tool, Role::User];

/// Writes the text within `budget` tokens. The earlier summary counts as one message of its role; system messages
/// stay in the context and are not counted.
pub(super) fn write(
    request: &SummaryRequest<'_>,
    rules: &TextRules,
    budget: u64,
) -> Result<String, SummarizeError> {
    let counter = &request.view.counter;
    let header = header(request, rules);
    let count = counter.count(&header);
    if count > budget {
        return Err(SummarizeError::BudgetTooSmall { budget });
    }
    if !rules.truncate_tags || request.lists.is_empty() {
        return Ok(header);
    }
    let limits = Limits::all_of(budget - count);
    let mut files = Files::choose(request.lists, request.cwd, limits, counter).in_order(request.list_order);
    loop {
        let text = format!("{header}{}", files.text(ListForm::Tags, false));
        if counter.count(&text) <= budget {
            return Ok(text);
        }
        if !files.shrink() {
            return Ok(header);
        }
    }
}

/// `[Compacted 12 messages: 6 assistant, 4 tool, 2 user]`.
fn header(request: &SummaryRequest<'_>, rules: &TextRules) -> String {
    let messages = request.view.transcript.messages.get(request.messages.clone()).unwrap_or_default();
    let count_of = |role: Role| {
        let leaving =
            if role == Role::System { 0 } else { messages.iter().filter(|m| m.role == role).count() };
        leaving + usize::from(request.previous.is_some() && role == rules.summary_role)
    };
    let counts: Vec<(usize, Role)> =
        ROLES.into_iter().map(|role| (count_of(role), role)).filter(|(count, _)| *count > 0).collect();
    let total: usize = counts.iter().map(|(count, _)| count).sum();
    let name = |role: Role| if role == Role::Tool { &*rules.tool_name } else { role.name() };
    let roles: Vec<String> = counts.iter().map(|(count, role)| format!("{count} {}", name(*role))).collect();
    format!("[Compacted {total} messages: {}]", roles.join(", "))
}
