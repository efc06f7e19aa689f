//! The workflows that are there to copy: their steps are run as they stand, on logs and a baseline of ours.
#![cfg(unix)]

use crate::support::{Sandbox, fixture};
use std::path::Path;
use std::process::Command;

/// The commands of a workflow.
fn steps(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/ci").join(file);
    let text = std::fs::read_to_string(path).expect("a workflow");
    let command = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("- run: ").or_else(|| line.strip_prefix("- "))?;
        (line.starts_with("compactor ") || line.starts_with("cargo ")).then(|| line.to_owned())
    };
    text.lines().filter_map(command).collect()
}

/// Runs a step in a sandbox; gives the exit code and what it printed.
fn step(sandbox: &Sandbox, command: &str) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_compactor")).parent().expect("a directory");
    let path = format!("{}:/usr/bin:/bin", program.display());
    let output = Command::new("sh")
        .args(["-e", "-c", command])
        .current_dir(sandbox.path("."))
        .env_clear()
        .env("PATH", path)
        .env("GITHUB_STEP_SUMMARY", sandbox.path("summary.md"))
        .output()
        .expect("a shell");
    (output.status.code().expect("no signal"), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn check(file: &str) {
    let sandbox = Sandbox::new();
    for log in ["pi", "codex", "claude-code", "openai-chat"] {
        for entry in std::fs::read_dir(fixture(log)).expect("fixtures") {
            let entry = entry.expect("a file");
            let name = entry.file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|end| end == "jsonl") {
                sandbox.file(&format!("transcripts/{name}"), std::fs::read(entry.path()).expect("a log"));
            }
        }
    }
    let profile = "extends = \"standard\"\nname = \"team\"\n";
    sandbox.file("compaction/profile.toml", profile);
    sandbox.file(
        "compaction/policy.toml",
        "[[rule]]\nmetric = \"files_modified\"\nstrategy = \"structured\"\nmax_drop = 0\n",
    );
    let mut steps = steps(file);
    let install = steps.remove(0);
    assert!(
        install.starts_with("cargo install --locked --git ") && install.ends_with(" compactor"),
        "{install}"
    );
    // What a team does once: the baseline.
    let (code, out) = step(&sandbox, &steps[0]);
    assert_eq!(code, 0, "{file}: {out}");
    std::fs::rename(sandbox.path("run"), sandbox.path("first")).expect("renamed");
    let (code, out) = step(&sandbox, "compactor gate first --baseline compaction --accept");
    assert_eq!(code, 0, "{file}: {out}");
    let pull_request = |change: &str| {
        sandbox.file("compaction/profile.toml", format!("{profile}{change}"));
        drop(std::fs::remove_dir_all(sandbox.path("run")));
        let mut last = None;
        for command in &steps {
            last = Some(step(&sandbox, command));
        }
        last.expect("a gate")
    };
    let (code, out) = pull_request("");
    assert_eq!(code, 0, "{file}: {out}");
    assert!(sandbox.path("gate.xml").exists(), "{file}");
    let (code, out) = pull_request("[summary]\nlists = \"none\"\n");
    assert_eq!(code, 1, "{file}: {out}");
    assert!(out.contains("files_modified"), "{file}: {out}");
}

#[test]
fn the_github_workflow_gates_a_pull_request() {
    check("github.yml");
}

#[test]
fn the_gitlab_job_gates_a_pull_request() {
    check("gitlab.yml");
}
