//! The command line itself: help as published, doubled settings, closed pipes.

use crate::support::{Sandbox, fixture};
use insta::assert_snapshot;
use std::process::{Command, Stdio};

fn help(arguments: &[&str]) -> String {
    let ran = Sandbox::new().run(arguments);
    format!("exit {}\n--- stdout\n{}--- stderr\n{}", ran.code, ran.stdout, ran.stderr)
}

#[test]
fn help_of_every_verb() {
    assert_snapshot!("help", help(&["--help"]));
    assert_snapshot!("help_replay", help(&["replay", "--help"]));
    assert_snapshot!("help_replay_short", help(&["replay", "-h"]));
    assert_snapshot!("help_audit", help(&["audit", "--help"]));
    assert_snapshot!("help_inspect", help(&["inspect", "--help"]));
    assert_snapshot!("help_report", help(&["report", "--help"]));
    assert_snapshot!("help_show", help(&["show", "--help"]));
    assert_snapshot!("help_overflow", help(&["overflow", "--help"]));
    assert_snapshot!("help_profiles", help(&["profiles", "--help"]));
    assert_snapshot!("help_compact", help(&["compact", "--help"]));
    assert_snapshot!("help_convert", help(&["convert", "--help"]));
    assert_snapshot!("help_compare", help(&["compare", "--help"]));
    assert_snapshot!("help_gate", help(&["gate", "--help"]));
    assert_snapshot!("help_columns", help(&["columns", "--help"]));
    assert_snapshot!("help_schema", help(&["schema", "--help"]));
    assert_snapshot!("help_tune", help(&["tune", "--help"]));
    assert_snapshot!("help_probes", help(&["probes", "--help"]));
    assert_snapshot!("help_probes_emit_short", help(&["probes", "emit", "-h"]));
    assert_snapshot!("help_probes_run", help(&["probes", "run", "--help"]));
    assert_snapshot!("help_probes_score", help(&["probes", "score", "--help"]));
}

#[test]
fn without_input_the_help_goes_to_stderr() {
    for arguments in [
        &[][..],
        &["replay"],
        &["audit"],
        &["show"],
        &["compact"],
        &["convert"],
        &["compare"],
        &["gate"],
        &["tune"],
    ] {
        let ran = Sandbox::new().run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains("Usage: compactor"), "{arguments:?}: {}", ran.stderr);
    }
    let version = Sandbox::new().run(&["--version"]);
    assert_eq!((version.code, version.stdout), (0, format!("compactor {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn a_setting_given_twice_counts_once() {
    let all = fixture("pi");
    let summary = |extra: &[&str]| {
        let arguments = [&["replay", &all, "-q", "--format", "csv"], extra].concat();
        let ran = Sandbox::new().run(&arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout
    };
    assert_eq!(summary(&["--window", "8k"]), summary(&["--window", "8k,8000"]));
    assert_eq!(summary(&[]), summary(&["--profile", "standard,standard"]));
    assert_eq!(summary(&["-s", "truncate"]), summary(&["-s", "truncate,truncate"]));
}

#[test]
fn two_profiles_with_one_name_are_refused() {
    let sandbox = Sandbox::new();
    let other = include_str!("../../src/profile/standard.toml").replace("tokens = 20000", "tokens = 9000");
    sandbox.file("other.toml", other);
    let ran = sandbox.run(&["replay", &fixture("pi"), "--profile", "standard,other.toml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("two different profiles are called `standard`"), "{}", ran.stderr);
}

#[test]
fn a_closed_pipe_is_quiet_success() {
    let sandbox = Sandbox::new();
    let pi = fixture("pi");
    let ran = sandbox.run(&["replay", &pi, "--out", "run", "-q"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for arguments in [
        &["replay", &pi, "--format", "json", "-q"][..],
        &["columns"],
        &["schema", "replay"],
        &["compare", "run", "run"],
        &["report", "run", "--html", "-"],
        &["tune", &pi, "--set", "keep.tokens=8k", "--format", "csv", "-q"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_compactor"))
            .current_dir(sandbox.path(""))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{arguments:?}");
    }
}
