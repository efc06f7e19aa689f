//! Patches and diffs.

use serde_json::json;

use super::*;

#[test]
fn patches() {
    let text = "*** Begin Patch\n*** Add File: new.rs\n+*** Delete File: not.rs\n*** Update File: a.rs\n@@ fn x\n-a\n+b\n \
                *** Add File: quoted.rs\n*** Update File: old.rs\n*** Move to: sub/new name.rs\n@@\n-a\n+b\n*** End of File\n\
                *** Delete File: gone.rs\n*** End Patch\n*** Add File: after.rs\n";
    let expected = "c new.rs; e a.rs; e old.rs; m old.rs > sub/new name.rs; d gone.rs";
    check_call("apply_patch", text, ToolKind::Write, expected);
    check_call("apply_patch", &json!({ "input": text }).to_string(), ToolKind::Write, expected);
    check_call("apply_patch", &json!({ "patchText": text }).to_string(), ToolKind::Write, expected);
    check_call("apply_patch", &serde_json::to_string(text).unwrap(), ToolKind::Write, expected);
    check_script(&format!("apply_patch <<'PATCH'\n{text}PATCH\n"), expected);
    check_script(&format!("apply_patch '{text}'"), expected);
    check_script(
        &format!("cd src && apply_patch <<'E'\n{text}E"),
        &expected.split("; ").map(in_src).collect::<Vec<_>>().join("; "),
    );
    // Lenient: no end, no beginning, carriage returns, a move without changes.
    check_call("apply_patch", "*** Begin Patch\n*** Update File: a\n@@\n+x", ToolKind::Write, "e a");
    check_call(
        "apply_patch",
        "*** Update File: a\r\n@@\r\n+x\r\n*** Delete File: b\r\n",
        ToolKind::Write,
        "e a; d b",
    );
    check_call(
        "apply_patch",
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch",
        ToolKind::Write,
        "m a > b",
    );
    check_call("apply_patch", "nothing of the kind", ToolKind::Write, "");
}

/// An expectation moved into `src/`.
fn in_src(op: &str) -> String {
    let (kind, paths) = op.split_once(' ').unwrap();
    let paths: Vec<String> = paths.split(" > ").map(|path| format!("src/{path}")).collect();
    format!("{kind} {}", paths.join(" > "))
}

#[test]
fn unified_diffs() {
    let diff = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n-x\n+y\n--- not a header\n+++ nor this\n \
                --- /dev/null\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1 @@\n+x\n--- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                diff --git a/o.rs b/n.rs\nrename from o.rs\nrename to n.rs\n";
    let expected = "e a.rs; c new.rs; d gone.rs; m o.rs > n.rs";
    for script in [
        format!("git apply <<'EOF'\n{diff}EOF"),
        format!("git apply - <<'EOF'\n{diff}EOF"),
        format!("patch -p1 <<'EOF'\n{diff}EOF"),
        format!("cat <<'EOF' | git apply\n{diff}EOF"),
        format!("cat > /dev/shm/p <<'EOF'\n{diff}EOF\ngit apply /dev/shm/p"),
    ] {
        let expected =
            if script.contains("/shm/") { format!("w /dev/shm/p; {expected}") } else { expected.to_owned() };
        check_script(&script, &expected);
    }
    check_script(&format!("git apply --check <<'EOF'\n{diff}EOF"), "");
    check_script("git apply -R <<'EOF'\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\nEOF", "c x");
    check_script(
        "patch -p0 <<'EOF'\n--- src/x.orig\t2024\n+++ src/x\t2024\n@@ -1 +1 @@\n-x\n+y\nEOF",
        "e src/x",
    );
    check_script("patch a.c < fix.diff", "e a.c");
    check_script("patch -p1 < fix.diff", "");
}
