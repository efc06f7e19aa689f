//! The layer table of ARCHITECTURE.md, checked against the imports of the source.

use std::path::{Path, PathBuf};

/// Module and its row. A module may use its own row and the rows above.
const ROWS: &[(&str, usize)] = &[
    ("transcript", 0),
    ("diagnostic", 0),
    ("paths", 0),
    ("lanes", 0),
    ("patterns", 0),
    ("scan", 0),
    ("texts", 0),
    ("discover", 1),
    ("ingest", 1),
    ("fileops", 1),
    ("tokens", 2),
    ("harness", 2),
    ("estimate", 2),
    ("matching", 2),
    ("facts", 2),
    ("overflow", 2),
    ("profile", 3),
    ("cut", 3),
    ("pairs", 3),
    ("ledger", 3),
    ("compaction", 3),
    ("models", 3),
    ("context", 3),
    ("strategy", 3),
    ("summarize", 3),
    ("replay", 3),
    ("prompt", 3),
    ("outputs", 3),
    ("summary_text", 3),
    ("score", 4),
    ("results", 5),
    ("stats", 5),
    ("aggregate", 5),
    ("run", 6),
    ("export", 6),
    ("compare", 7),
    ("gate", 7),
    ("report", 7),
    ("tune", 7),
    ("cli", 8),
];

/// Forbidden although the rows would allow it: what measures never sees what compacts, and the other way round.
const NEVER: &[(&str, &[&str])] = &[
    ("profile", &["facts", "matching"]),
    ("context", &["facts", "matching"]),
    ("strategy", &["facts", "matching"]),
    ("summarize", &["facts", "matching", "replay", "profile"]),
    ("replay", &["facts", "matching"]),
    ("prompt", &["facts", "matching"]),
    ("outputs", &["facts", "matching"]),
    ("summary_text", &["facts", "matching"]),
    (
        "results",
        &["transcript", "diagnostic", "paths", "discover", "ingest", "fileops", "tokens", "replay", "score"],
    ),
    ("stats", &["transcript", "tokens", "facts", "replay", "score"]),
    ("aggregate", &["transcript", "tokens", "facts", "replay", "score"]),
    ("compare", &["transcript", "tokens", "facts", "replay", "score", "run"]),
    ("gate", &["transcript", "tokens", "facts", "replay", "score", "run"]),
    ("report", &["transcript", "tokens", "facts", "replay", "score", "run"]),
    ("facts", &["tokens"]),
    (
        "overflow",
        &[
            "transcript",
            "diagnostic",
            "paths",
            "discover",
            "ingest",
            "fileops",
            "tokens",
            "matching",
            "facts",
        ],
    ),
    ("run", &["export"]),
    ("export", &["facts", "matching", "score", "stats", "aggregate"]),
];

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests") {
                sources(&path, out);
            }
        } else if path.extension().is_some_and(|end| end == "rs")
            && path.file_name().is_some_and(|it| it != "tests.rs")
        {
            out.push(path);
        }
    }
}

/// Source without tests, comments and documentation.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("source");
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Modules named by `crate::x` and `crate::{x::.., y}`.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = code.get(at + "crate::".len()..).unwrap_or("");
        if let Some(group) = rest.strip_prefix('{') {
            let group = group.split("};").next().unwrap_or("");
            let mut depth = 0;
            let mut name = String::new();
            for c in group.chars().chain([',']) {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.push(name.split("::").next().unwrap_or("").trim().to_owned());
                        name.clear();
                    }
                    _ if depth == 0 => name.push(c),
                    _ => {}
                }
            }
        } else {
            found.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    found
}

fn modules() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    paths
        .into_iter()
        .filter_map(|path| {
            let inside = path.strip_prefix(&root).ok()?.to_string_lossy().replace('\\', "/");
            let module = inside.split(['/', '.']).next()?.to_owned();
            let skip = matches!(module.as_str(), "lib" | "main" | "testing");
            (!skip).then(|| (module, path.clone(), code(&path)))
        })
        .collect()
}

#[test]
fn every_module_uses_only_its_own_row_and_the_rows_above() {
    let row = |module: &str| ROWS.iter().find(|(name, _)| *name == module).map(|(_, row)| *row);
    for (module, path, code) in modules() {
        let own = row(&module).unwrap_or_else(|| panic!("{module} has no row: add it to the table"));
        for used in imports(&code) {
            let Some(other) = row(&used) else { continue };
            assert!(other <= own, "{} uses {used}, which lies below it", path.display());
            let never = NEVER.iter().find(|(name, _)| *name == module).map_or(&[][..], |(_, never)| *never);
            assert!(
                used == module || !never.contains(&used.as_str()),
                "{} must never use {used}",
                path.display()
            );
        }
    }
}

#[test]
fn the_table_of_the_architecture_is_this_table() {
    let text = include_str!("../../ARCHITECTURE.md");
    for (module, row) in ROWS {
        let line = text.lines().find(|line| line.starts_with(&format!("| {row} "))).expect("a row");
        assert!(line.contains(&format!("`{module}`")), "{module} is not in row {row} of ARCHITECTURE.md");
    }
}

/// Lists of words: string literals inside array literals of at least three strings.
fn word_lists(code: &str) -> Vec<Vec<String>> {
    let mut lists = Vec::new();
    for (at, _) in code.match_indices('[') {
        let inside = code.get(at + 1..).unwrap_or("").split(']').next().unwrap_or("");
        let words: Vec<String> = inside.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        if words.len() >= 3 {
            lists.push(words);
        }
    }
    lists
}

#[test]
fn the_answer_key_and_the_summarizer_share_no_list() {
    let (mut key, mut summarizer) = (Vec::new(), Vec::new());
    for (module, path, code) in modules() {
        match module.as_str() {
            "facts" | "matching" => key.extend(word_lists(&code)),
            "summarize" | "strategy" => {
                summarizer.extend(word_lists(&code).into_iter().map(|list| (path.clone(), list)));
            }
            _ => {}
        }
    }
    assert!(!key.is_empty() && !summarizer.is_empty());
    for (path, list) in &summarizer {
        for other in &key {
            let shared = list.iter().filter(|word| other.contains(word)).count();
            let smaller = list.len().min(other.len());
            assert!(
                shared * 5 < smaller * 4 || smaller < 4,
                "{} shares a list with the answer key: {list:?}",
                path.display()
            );
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let main = include_str!("main.rs");
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it")).expect("tests") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(main.contains(&format!("mod {module};")), "{name} is not declared in main.rs");
        }
    }
}
