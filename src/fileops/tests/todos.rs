//! Lists of things to do.

use serde_json::json;

use super::*;

/// `id:text=state` for each item, and whether they replace the list.
fn check_todos(name: &str, arguments: &str, expected: &str, replace: bool) {
    let effect = of_call(name, arguments, Some(CWD));
    let items: Vec<String> = effect
        .todos
        .iter()
        .map(|item| format!("{}:{}={:?}", item.id.as_deref().unwrap_or(""), item.text, item.state))
        .collect();
    assert_eq!((items.join("; ").as_str(), effect.todos_replace), (expected, replace), "{name} {arguments}");
}

#[test]
fn todo_tools() {
    for (name, arguments, expected, replace) in [
        (
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "completed", "activeForm": "doing a"}, {"content": "b", "status": "in_progress"}]}),
            ":a=Done; :b=Active",
            true,
        ),
        ("TodoWrite", json!({"todos": []}), "", true),
        (
            "TodoWrite",
            json!({"todos": "[{\"content\": \"a\", \"status\": \"pending\"}]"}),
            ":a=Pending",
            true,
        ),
        (
            "todo_write",
            json!({"merge": true, "todos": [{"id": "1", "content": "a", "status": "cancelled"}]}),
            "1:a=Cancelled",
            false,
        ),
        (
            "todowrite",
            json!({"todos": [{"id": 2, "content": "a", "status": "pending", "priority": "high"}]}),
            "2:a=Pending",
            true,
        ),
        (
            "TaskCreate",
            json!({"subject": "a", "description": "long", "activeForm": "doing"}),
            ":a=Pending",
            false,
        ),
        ("TaskUpdate", json!({"taskId": "3", "status": "completed"}), "3:=Done", false),
        ("TaskUpdate", json!({"taskId": "3", "status": "deleted"}), "3:=Cancelled", false),
        ("TaskUpdate", json!({"taskId": "3", "addBlockedBy": ["1"]}), "", false),
        ("TaskList", json!({}), "", false),
        (
            "update_plan",
            json!({"explanation": "e", "plan": [{"step": "a", "status": "in_progress"}]}),
            ":a=Active",
            true,
        ),
        (
            "update_todo",
            json!({"todos": "- [x] a\n- [ ] b\n- [-] c\nprose"}),
            ":a=Done; :b=Pending; :c=Active",
            true,
        ),
        (
            "manage_todo_list",
            json!({"operation": "write", "todoList": [{"id": 1, "title": "a", "status": "not-started"}]}),
            "1:a=Pending",
            true,
        ),
        ("write_todos", json!({"todos": [{"description": "a", "status": "pending"}]}), ":a=Pending", true),
        (
            "task_tracker",
            json!({"command": "plan", "task_list": [{"id": "1", "title": "a", "status": "done"}]}),
            "1:a=Done",
            true,
        ),
        ("task_tracker", json!({"command": "view"}), "", false),
        ("todo__todo_write", json!({"content": "1. [x] a"}), ":a=Done", true),
        ("todo", json!({"action": "add", "text": "a"}), ":a=Pending", false),
        ("todo", json!({"action": "toggle", "id": 4}), "4:=Done", false),
        ("read_file", json!({"path": "a", "task_progress": "- [x] a\n- [ ] b"}), ":a=Done; :b=Pending", true),
        ("attempt_completion", json!({"result": "r", "task_progress": "- [x] a"}), ":a=Done", true),
        ("todo", json!({"todos": [7, null, {}, {"content": ""}]}), "", true),
    ] {
        check_todos(name, &arguments.to_string(), expected, replace);
    }
}
