//! What a todo tool says: items of the agent's own list with their state after the call.

use compact_str::CompactString;
use serde_json::Value;

use super::arguments::{self, Arguments, Fields};
use super::{TodoItem, TodoState};

/// Which way a todo tool speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TodoRule {
    /// Gives the list, whole unless it says `merge`.
    List,
    /// Adds one task.
    Add,
    /// Changes one task by id.
    Update,
    /// Only looks.
    Look,
}

/// Items and whether they replace the whole list.
pub(super) type Todos = (Vec<TodoItem>, bool);

const TEXT: &[&str] =
    &["content", "text", "step", "title", "subject", "description", "task", "name", "label", "activeForm"];
const ID: &[&str] = &["id", "taskId", "task_id", "todo_id", "todoId"];
const LIST: &[&str] =
    &["todos", "plan", "todoList", "todo_list", "task_list", "items", "tasks", "content", "list"];

/// Most items one call can give; a list that long is no todo list.
const MAX_ITEMS: usize = 1000;

pub(super) fn of_call(rule: TodoRule, arguments: &Arguments<'_>) -> Todos {
    match arguments {
        Arguments::Object(fields) => of_fields(rule, fields),
        Arguments::Array(raw) if rule == TodoRule::List => {
            (arguments::value(raw).map(|list| items(&list)).unwrap_or_default(), true)
        }
        Arguments::Text(text) if rule == TodoRule::List => (checklist(text), true),
        _ => (Vec::new(), false),
    }
}

fn of_fields(rule: TodoRule, fields: &Fields<'_>) -> Todos {
    match rule {
        TodoRule::Look => (Vec::new(), false),
        TodoRule::Add => {
            let item = fields.text(TEXT).map(|text| TodoItem {
                text: text.into_owned(),
                id: None,
                state: state(fields.text(&["status", "state"]).as_deref()).unwrap_or(TodoState::Pending),
            });
            (item.into_iter().collect(), false)
        }
        TodoRule::Update => (updated(fields).into_iter().collect(), false),
        TodoRule::List => {
            let action = fields.text(&["action", "operation", "command"]);
            match action.as_deref() {
                Some("add" | "create" | "update" | "toggle" | "complete" | "remove" | "delete" | "done")
                    if fields.first(LIST).is_none_or(|raw| !raw.starts_with('[')) =>
                {
                    return (acted(action.as_deref().unwrap_or_default(), fields), false);
                }
                Some("read" | "view" | "list" | "get") => return (Vec::new(), false),
                _ => {}
            }
            let Some(list) = fields.value(LIST) else { return (Vec::new(), false) };
            (items(&list), !fields.is_true("merge"))
        }
    }
}

/// The checklist that Cline lets any tool carry.
pub(super) fn of_progress(fields: &Fields<'_>) -> Option<Todos> {
    let text = fields.text(&["task_progress"])?;
    let items = checklist(&text);
    (!items.is_empty()).then_some((items, true))
}

fn updated(fields: &Fields<'_>) -> Option<TodoItem> {
    let id = scalar(&fields.value(ID)?)?;
    let state = state(fields.text(&["status", "state"]).as_deref())?;
    Some(TodoItem {
        text: fields.text(&["subject", "content", "title"]).unwrap_or_default().into_owned(),
        id: Some(id),
        state,
    })
}

/// One item by action: `add` with a text, `toggle` or `complete` with an id.
fn acted(action: &str, fields: &Fields<'_>) -> Vec<TodoItem> {
    let id = fields.value(ID).as_ref().and_then(scalar);
    let text = fields.text(TEXT).unwrap_or_default().into_owned();
    if id.is_none() && text.is_empty() {
        return Vec::new();
    }
    let named = state(fields.text(&["status", "state"]).as_deref());
    let state = match action {
        "add" | "create" => named.unwrap_or(TodoState::Pending),
        "complete" | "done" => TodoState::Done,
        "remove" | "delete" => TodoState::Cancelled,
        // What a toggle makes of an item its own list knows; it is nearly always "done".
        _ => named.unwrap_or(TodoState::Done),
    };
    vec![TodoItem { text, id, state }]
}

fn items(list: &Value) -> Vec<TodoItem> {
    match list {
        Value::Array(list) => list.iter().take(MAX_ITEMS).filter_map(item).collect(),
        Value::String(text) => {
            match text.trim_start().starts_with('[').then(|| arguments::value(text)).flatten() {
                Some(list @ Value::Array(_)) => items(&list),
                _ => checklist(text),
            }
        }
        _ => Vec::new(),
    }
}

fn item(value: &Value) -> Option<TodoItem> {
    if let Value::String(text) = value {
        return Some(checklist_item(text).unwrap_or_else(|| TodoItem {
            text: text.clone(),
            id: None,
            state: TodoState::Pending,
        }));
    }
    let get = |names: &[&str]| names.iter().find_map(|name| value.get(name)?.as_str());
    let id = ID.iter().find_map(|name| scalar(value.get(name)?));
    let text = get(TEXT).unwrap_or_default().to_owned();
    if text.is_empty() && id.is_none() {
        return None;
    }
    let done = ["done", "completed", "checked"].iter().find_map(|name| value.get(name)?.as_bool());
    let state = state(get(&["status", "state"])).unwrap_or(if done == Some(true) {
        TodoState::Done
    } else {
        TodoState::Pending
    });
    Some(TodoItem { text, id, state })
}

/// Items of a Markdown checklist: `- [x] done`, `[ ] open`, `[-]` and `[~]` in progress.
fn checklist(text: &str) -> Vec<TodoItem> {
    text.lines().filter_map(checklist_item).take(MAX_ITEMS).collect()
}

fn checklist_item(line: &str) -> Option<TodoItem> {
    let line = line.trim();
    let line = line.strip_prefix(['-', '*', '+']).unwrap_or(line).trim_start();
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = line.strip_prefix('.').unwrap_or(line).trim_start();
    let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
    let state = match mark.trim() {
        "" => TodoState::Pending,
        "x" | "X" | "✓" => TodoState::Done,
        "-" | "~" | ">" | "/" => TodoState::Active,
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| TodoItem { text: text.to_owned(), id: None, state })
}

fn state(name: Option<&str>) -> Option<TodoState> {
    let mut name = CompactString::from(name?);
    name.make_ascii_lowercase();
    let name = if name.contains(['-', ' ']) { name.replace(['-', ' '], "_").into() } else { name };
    Some(match name.as_str() {
        "in_progress" | "inprogress" | "active" | "doing" | "started" | "running" | "current" => {
            TodoState::Active
        }
        "completed" | "complete" | "done" | "finished" | "closed" => TodoState::Done,
        "cancelled" | "canceled" | "deleted" | "removed" | "abandoned" | "skipped" | "dropped" => {
            TodoState::Cancelled
        }
        "pending" | "todo" | "open" | "not_started" | "blocked" | "queued" | "waiting" => TodoState::Pending,
        _ => return None,
    })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
