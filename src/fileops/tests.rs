//! Tables of calls and what they do to files. Expectations were worked out by hand from the tools' documentation.

mod corpus;
mod notation;
mod patches;
mod scripts;
mod todos;
mod tools;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const CWD: &str = "/w";

/// `r a; e b; m c > d`: one letter for the kind, paths as seen from [`CWD`].
fn shown(ops: &[FileOp]) -> String {
    let ops: Vec<String> = ops
        .iter()
        .map(|op| {
            let path = paths::relative(&op.path, Some(CWD));
            match &op.kind {
                OpKind::Read => format!("r {path}"),
                OpKind::Write => format!("w {path}"),
                OpKind::Create => format!("c {path}"),
                OpKind::Edit => format!("e {path}"),
                OpKind::Delete => format!("d {path}"),
                OpKind::Rename { to } => format!("m {path} > {}", paths::relative(to, Some(CWD))),
            }
        })
        .collect();
    ops.join("; ")
}

fn check_call(name: &str, arguments: &str, kind: ToolKind, expected: &str) {
    let effect = of_call(name, arguments, Some(CWD));
    assert_eq!((effect.kind, shown(&effect.ops).as_str()), (kind, expected), "{name} {arguments}");
}

fn check_script(script: &str, expected: &str) {
    let effect = of_call("bash", &json!({ "command": script }).to_string(), Some(CWD));
    assert_eq!(shown(&effect.ops), expected, "{script}");
}

fn check_powershell(script: &str, expected: &str) {
    let effect = of_call("powershell", &json!({ "command": script }).to_string(), Some(CWD));
    assert_eq!(shown(&effect.ops), expected, "{script}");
}

#[test]
fn operations_know_their_command() {
    for (script, steps, expected) in [
        ("cat a", 1, "0"),
        ("cd src && rm a", 2, "1"),
        ("cat a | grep x > b; rm c", 3, "0 1 2"),
        ("F=a; rm $F", 2, "1"),
        ("echo $(cat a); rm b", 3, "0 2"),
        ("for f in a b; do rm $f; touch x; done; rm c", 3, "0 1 0 1 2"),
        ("bash -c 'cd x; rm a'; rm b", 2, "0 1"),
        ("f() { rm a; rm b; }; f; rm c", 2, "0 0 1"),
        ("[[ -f a ]] && rm a", 2, "1"),
        ("rm a; exit 0", 2, "0"),
        ("export A=b; rm a", 2, "1"),
        ("apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE", 1, "0"),
        ("bash -lc 'cat a; cat b'", 2, "0 1"),
        ("", 0, ""),
    ] {
        let effect = of_call("bash", &json!({ "command": script }).to_string(), Some(CWD));
        let found: Vec<String> = effect.ops.iter().map(|op| op.step.to_string()).collect();
        assert_eq!((effect.steps, found.join(" ").as_str()), (steps, expected), "{script}");
    }
}

#[test]
fn tools_and_patches_are_surer_than_commands() {
    let confidence = |name: &str, arguments: serde_json::Value| {
        of_call(name, &arguments.to_string(), Some(CWD)).ops.first().map(|op| op.confidence)
    };
    assert_eq!(confidence("read", json!({"path": "a"})), Some(Confidence::Tool));
    assert_eq!(confidence("bash", json!({"command": "cat a"})), Some(Confidence::Shell));
    let patch = "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE";
    assert_eq!(confidence("bash", json!({ "command": patch })), Some(Confidence::Tool));
}
