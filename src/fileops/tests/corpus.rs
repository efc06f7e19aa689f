//! Calls of real logs.

use super::*;

/// The calls of real logs, where there are any: all of them are understood without a panic, and plain scripts as the
/// parser would understand them.
#[test]
fn calls_of_the_corpus() {
    fn walk(value: &serde_json::Value, calls: &mut Vec<(String, String)>, depth: usize) {
        if depth > 60 {
            return;
        }
        match value {
            serde_json::Value::Array(list) => list.iter().for_each(|value| walk(value, calls, depth + 1)),
            serde_json::Value::Object(object) => {
                let name = ["name", "tool", "tool_name", "toolName"]
                    .iter()
                    .find_map(|key| object.get(*key)?.as_str());
                let arguments =
                    ["input", "arguments", "args", "parameters"].iter().find_map(|key| object.get(*key));
                if let (Some(name), Some(arguments)) = (name, arguments) {
                    let text = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
                    calls.push((name.to_owned(), text));
                }
                object.values().for_each(|value| walk(value, calls, depth + 1));
            }
            _ => {}
        }
    }

    let Some(root) = corpus() else { return };
    let mut calls = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().flatten() {
        let Some(text) = read(entry.path()) else { continue };
        match serde_json::from_str(&text) {
            Ok(value) => walk(&value, &mut calls, 0),
            Err(_) => {
                text.lines()
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .for_each(|v| walk(&v, &mut calls, 0));
            }
        }
    }
    let (mut with_ops, mut scripts, mut plain) = (0, 0, 0);
    for (name, arguments) in &calls {
        let effect = of_call(name, arguments, Some(CWD));
        with_ops += usize::from(!effect.ops.is_empty());
        if let Some(script) = &effect.command {
            scripts += 1;
            if let Some([plainly, parsed]) = shell::both_ways(script) {
                plain += 1;
                assert_eq!(plainly, parsed, "{script}");
            }
        }
        for op in &effect.ops {
            assert!(paths::is_absolute(&op.path), "{name}: {}", op.path);
            assert_eq!(paths::resolve(&op.path, Some(CWD)), op.path, "{name}");
        }
    }
    assert!(
        calls.is_empty() || with_ops * 5 > calls.len(),
        "{with_ops} of {} calls touch a file",
        calls.len()
    );
    assert!(scripts == 0 || plain * 2 > scripts, "{plain} of {scripts} scripts are plain");
}

#[expect(clippy::disallowed_methods, reason = "tests find the corpus by the environment")]
fn corpus() -> Option<std::path::PathBuf> {
    let root = std::env::var_os("COMPACTOR_CORPUS").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        std::path::PathBuf::from,
    );
    root.is_dir().then_some(root)
}

#[expect(clippy::disallowed_methods, reason = "tests read the corpus")]
fn read(path: &std::path::Path) -> Option<String> {
    let is_log = path.extension().is_some_and(|end| end == "json" || end == "jsonl" || end == "traj");
    if is_log { std::fs::read_to_string(path).ok() } else { None }
}
