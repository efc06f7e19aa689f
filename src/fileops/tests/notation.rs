//! Tables of calls and what they do to files, in a short notation: `R` read, `W` write, `C` create, `E` edit,
//! `D` delete, `M from -> to`; a `~` after the letter says that the path is known from a shell command.

use proptest::prelude::*;

use super::super::*;

const CWD: &str = "/w";

fn shown(effect: &CallEffect) -> String {
    let show = |op: &FileOp| {
        let sure = if op.confidence == Confidence::Shell { "~" } else { "" };
        let (letter, rest) = match &op.kind {
            OpKind::Read => ("R", String::new()),
            OpKind::Write => ("W", String::new()),
            OpKind::Create => ("C", String::new()),
            OpKind::Edit => ("E", String::new()),
            OpKind::Delete => ("D", String::new()),
            OpKind::Rename { to } => ("M", format!(" -> {to}")),
        };
        format!("{letter}{sure} {}{rest}", op.path)
    };
    effect.ops.iter().map(show).collect::<Vec<_>>().join("; ")
}

fn check_call(name: &str, arguments: &str, kind: ToolKind, expected: &str) {
    let effect = of_call(name, arguments, Some(CWD));
    assert_eq!((effect.kind, shown(&effect).as_str()), (kind, expected), "{name} {arguments}");
}

fn check_tools(kind: ToolKind, rows: &[(&str, &str, &str)]) {
    for (name, arguments, expected) in rows {
        check_call(name, arguments, kind, expected);
    }
}

/// Runs a script through a shell tool; operations in `expected` are of kind shell.
fn check_script(script: &str, expected: &str) {
    let arguments = serde_json::json!({ "command": script }).to_string();
    let effect = of_call("Bash", &arguments, Some(CWD));
    assert_eq!(shown(&effect).replace("~ ", " "), expected, "{script}");
}

fn check_scripts(rows: &[(&str, &str)]) {
    for (script, expected) in rows {
        check_script(script, expected);
    }
}

#[test]
fn tools_that_read() {
    check_tools(
        ToolKind::Read,
        &[
            ("Read", r#"{"file_path":"/w/a.rs","offset":"3"}"#, "R /w/a.rs"),
            ("read", r#"{"path":"src/a.rs"}"#, "R /w/src/a.rs"),
            ("read_file", r#"{"absolute_path":"/x/a.rs"}"#, "R /x/a.rs"),
            ("read_file", r#"{"target_file":"a.rs"}"#, "R /w/a.rs"),
            ("readFile", r#"{"filePath":"a.rs"}"#, "R /w/a.rs"),
            ("view", r#"{"path":"a.rs"}"#, "R /w/a.rs"),
            ("NotebookRead", r#"{"notebook_path":"n.ipynb"}"#, "R /w/n.ipynb"),
            ("read_many_files", r#"{"paths":["a.rs","b.rs","*.md","docs/"]}"#, "R /w/a.rs; R /w/b.rs"),
            ("read_file", r#"{"files":[{"path":"a.rs"},{"path":"b.rs"}]}"#, "R /w/a.rs; R /w/b.rs"),
            (
                "read_file",
                r#"{"args":"<file><path>a.rs</path></file><file><path>b.rs</path></file>"}"#,
                "R /w/a.rs; R /w/b.rs",
            ),
            ("view_image", r#"{"path":"/tmp/x.png"}"#, "R /tmp/x.png"),
            ("functions.read_file", r#"{"path":"a.rs"}"#, "R /w/a.rs"),
            ("mcp__filesystem__read_text_file", r#"{"path":"a.rs"}"#, "R /w/a.rs"),
            ("read_file", r#""{\"path\":\"a.rs\"}""#, "R /w/a.rs"),
            ("read_file", r#"{"path":"file:///x/a%20b.rs"}"#, "R /x/a b.rs"),
            ("read_file", r#"{"path":"源/文件.rs"}"#, "R /w/源/文件.rs"),
            ("read_file", r#"{"path":"https://example.com/a.rs"}"#, ""),
            ("read_file", r#"{"path":""}"#, ""),
            ("read_file", r#"{"path":7}"#, ""),
            ("read_file", "{}", ""),
            ("read_file", r#"{"path":"a.rs"#, ""),
            ("str_replace_based_edit_tool", r#"{"command":"view","path":"a.rs"}"#, "R /w/a.rs"),
            ("agent-read-file", r#"{"path":"a.rs"}"#, "R /w/a.rs"),
        ],
    );
}

#[test]
fn tools_that_change_files() {
    check_tools(
        ToolKind::Write,
        &[
            ("Write", r#"{"file_path":"/w/a.rs","content":"x"}"#, "W /w/a.rs"),
            ("write_to_file", r#"{"path":"a.rs","content":"x"}"#, "W /w/a.rs"),
            ("create_file", r#"{"filePath":"a.rs","content":"x"}"#, "W /w/a.rs"),
            ("Edit", r#"{"file_path":"a.rs","old_string":"x","new_string":"y"}"#, "E /w/a.rs"),
            (
                "MultiEdit",
                r#"{"file_path":"a.rs","edits":[{"old_string":"x","new_string":"y"}]}"#,
                "E /w/a.rs",
            ),
            ("NotebookEdit", r#"{"notebook_path":"/w/n.ipynb","new_source":"x"}"#, "E /w/n.ipynb"),
            ("replace_in_file", r#"{"path":"a.rs","diff":"x"}"#, "E /w/a.rs"),
            (
                "replace_string_in_file",
                r#"{"filePath":"/w/a.rs","oldString":"x","newString":"y"}"#,
                "E /w/a.rs",
            ),
            (
                "multi_replace_string_in_file",
                r#"{"replacements":[{"filePath":"/w/a.rs"},{"filePath":"/w/b.rs"}]}"#,
                "E /w/a.rs; E /w/b.rs",
            ),
            ("insert_content", r#"{"path":"a.rs","line":"3"}"#, "E /w/a.rs"),
            ("delete_file", r#"{"target_file":"a.rs"}"#, "D /w/a.rs"),
            ("move_file", r#"{"source":"a.rs","destination":"b.rs"}"#, "M /w/a.rs -> /w/b.rs"),
            ("rename_file", r#"{"old_path":"a.rs","new_path":"/x/b.rs"}"#, "M /w/a.rs -> /x/b.rs"),
            ("str_replace_editor", r#"{"command":"create","path":"a.rs","file_text":"x"}"#, "W /w/a.rs"),
            ("str_replace_editor", r#"{"command":"str_replace","path":"a.rs"}"#, "E /w/a.rs"),
            ("str_replace_editor", r#"{"command":"insert","path":"a.rs"}"#, "E /w/a.rs"),
            ("text_editor_20250728", r#"{"command":"undo_edit","path":"a.rs"}"#, "E /w/a.rs"),
            ("developer__text_editor", r#"{"command":"write","path":"a.rs"}"#, "W /w/a.rs"),
            ("exec_edit_file", r#"{"path":"a.rs"}"#, "E /w/a.rs"),
            ("project_delete_file", r#"{"path":"a.rs"}"#, "D /w/a.rs"),
        ],
    );
}

#[test]
fn tools_without_files() {
    check_tools(
        ToolKind::Search,
        &[
            ("Grep", r#"{"pattern":"x","path":"src/a.rs"}"#, ""),
            ("Glob", r#"{"pattern":"**/*.rs","path":"/w"}"#, ""),
            ("LS", r#"{"path":"/w"}"#, ""),
            ("find", r#"{"path":"/w"}"#, ""),
            ("list_directory", r#"{"path":"/w"}"#, ""),
            ("search_files", r#"{"path":"/w","regex":"x"}"#, ""),
        ],
    );
    check_tools(
        ToolKind::Other,
        &[
            ("mcp__github__read_file", r#"{"path":"a.rs"}"#, ""),
            ("web_fetch", r#"{"url":"https://example.com"}"#, ""),
            ("write_stdin", r#"{"chars":"x"}"#, ""),
            ("Task", r#"{"prompt":"read a.rs"}"#, ""),
            ("", r#"{"path":"a.rs"}"#, ""),
            ("think", "cat a.rs", ""),
            ("upload_file", r#"{"path":"a.rs"}"#, ""),
        ],
    );
    check_tools(
        ToolKind::Todo,
        &[("TodoWrite", r#"{"todos":[{"content":"read a.rs","status":"pending"}]}"#, "")],
    );
}

#[test]
fn other_places_for_the_directory() {
    for (arguments, cwd, expected) in [
        (r#"{"cmd":"cat a.rs","workdir":"/x"}"#, Some("/w"), "R~ /x/a.rs"),
        (r#"{"cmd":"cat a.rs","workdir":"sub"}"#, Some("/w"), "R~ /w/sub/a.rs"),
        (r#"{"command":["bash","-lc","cat a.rs"],"workdir":"/x"}"#, None, "R~ /x/a.rs"),
        (r#"{"command":["cat","a b.rs"]}"#, Some("/w"), "R~ /w/a b.rs"),
        (r#"{"command":"cat a.rs","dir_path":"sub"}"#, Some("/w"), "R~ /w/sub/a.rs"),
        (r#"{"command":"cat a.rs"}"#, None, "R~ a.rs"),
        (r#"{"command":"cat ../a.rs"}"#, Some("/w/x"), "R~ /w/a.rs"),
        (r#"{"action":{"command":["cat","a.rs"],"working_directory":"/x"}}"#, None, "R~ /x/a.rs"),
        (
            r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: a.rs\n+x\n*** End Patch"]}"#,
            Some("/w"),
            "C /w/a.rs",
        ),
        ("cat a.rs", Some("/w"), "R~ /w/a.rs"),
    ] {
        let effect = of_call("shell", arguments, cwd);
        assert_eq!(shown(&effect), expected, "{arguments} in {cwd:?}");
    }
}

#[test]
fn scripts_that_read() {
    check_scripts(&[
        ("cat a.rs", "R /w/a.rs"),
        ("cat a.rs b.rs", "R /w/a.rs; R /w/b.rs"),
        ("cat -n 'a b.rs'", "R /w/a b.rs"),
        ("head -n 20 a.rs", "R /w/a.rs"),
        ("head -20 a.rs", "R /w/a.rs"),
        ("tail -n +5 a.rs", "R /w/a.rs"),
        ("tail +5 a.rs", "R /w/a.rs"),
        ("sed -n '1,5p' a.rs | head", "R /w/a.rs"),
        ("sed -n 1,5p a.rs b.rs", "R /w/a.rs; R /w/b.rs"),
        ("sed -e 's/a/b/' -n a.rs", "R /w/a.rs"),
        ("nl -ba a.rs | sed -n '1,9p'", "R /w/a.rs"),
        ("bat --style plain a.rs", "R /w/a.rs"),
        ("less a.rs", "R /w/a.rs"),
        ("awk '{print $1}' a.txt", "R /w/a.txt"),
        ("awk -F: -f prog.awk a.txt", "R /w/a.txt"),
        ("jq -r '.a[]' a.json", "R /w/a.json"),
        ("cat < a.rs", "R /w/a.rs"),
        ("cut -d, -f1 a.csv | sort | uniq -c", "R /w/a.csv"),
        ("sudo -u kim cat a.rs", "R /w/a.rs"),
        ("timeout 5 cat a.rs", "R /w/a.rs"),
        ("bash -lc 'cat a.rs'", "R /w/a.rs"),
        ("for f in a.rs b.rs; do cat $f; done", "R /w/a.rs; R /w/b.rs"),
        ("cat {a,b}.rs", "R /w/a.rs; R /w/b.rs"),
        ("F=a.rs; cat \"$F\"", "R /w/a.rs"),
        ("cat ~/notes.md", "R ~/notes.md"),
        ("git log -3\ncat a.rs\ntail -3 b.rs", "R /w/a.rs; R /w/b.rs"),
        ("cat app/[id]/page.tsx", "R /w/app/[id]/page.tsx"),
    ]);
}

#[test]
fn scripts_that_touch_nothing() {
    check_scripts(&[
        ("grep -n x a.rs", ""),
        ("rg x src", ""),
        ("ls -la src", ""),
        ("find . -name '*.rs'", ""),
        ("wc -l a.rs", ""),
        ("cat *.rs", ""),
        ("cat src/?.rs", ""),
        ("cat $FILE", ""),
        ("cat \"$(ls | head -1)\"", ""),
        ("cargo test 2>&1 | tail -5", ""),
        ("echo x > /dev/null 2>&1", ""),
        ("cat <(ls)", ""),
        ("cat src/", ""),
        ("cd \"$DIR\" && cat a.rs", ""),
        ("cat app/(group)/a.rs", ""),
        ("git checkout main", ""),
        ("git checkout -b feature/a.rs", ""),
        ("git restore --staged a.rs", ""),
        ("git rm --cached a.rs", ""),
        ("git diff -- a.rs", ""),
        ("echo 'cat a.rs > b.rs'", ""),
        ("git commit -m \"$(cat <<'EOF'\nfix > b.rs\nEOF\n)\"", ""),
        ("curl -s https://example.com/a.rs | head", ""),
        ("# cat a.rs", ""),
        ("mkdir -p a/b", ""),
        ("exec 3>&1", ""),
    ]);
}

#[test]
fn scripts_that_write() {
    check_scripts(&[
        ("cat > a.rs <<'EOF'\ncat b.rs > c.rs\nEOF", "W /w/a.rs"),
        ("cat <<EOF > a.rs\nx\nEOF", "W /w/a.rs"),
        ("git status\ncat >> a.md <<'EOF'\n* `x` (y)\nEOF\ntail -n 3 a.md", "E /w/a.md; R /w/a.md"),
        ("git status | head -4\ncat >> a.md <<'EOF'\nx\nEOF", "E /w/a.md"),
        ("cat > a <<E\n1\nE\ncat > b <<E\n2\nE\n", "W /w/a; W /w/b"),
        ("echo x > a.txt", "W /w/a.txt"),
        ("echo x >> a.txt", "E /w/a.txt"),
        ("echo x >| a.txt", "W /w/a.txt"),
        ("make &> build.log", "W /w/build.log"),
        ("make > build.log 2>&1", "W /w/build.log"),
        ("cat a.rs > b.rs", "R /w/a.rs; W /w/b.rs"),
        ("sort a.txt > b.txt && mv b.txt a.txt", "R /w/a.txt; W /w/b.txt; M /w/b.txt -> /w/a.txt"),
        ("echo x | tee a.txt", "W /w/a.txt"),
        ("echo x | tee -a a.txt b.txt", "E /w/a.txt; E /w/b.txt"),
        ("sed -i 's/a/b/' a.rs b.rs", "E /w/a.rs; E /w/b.rs"),
        ("sed -i '' 's/a/b/' a.rs", "E /w/a.rs"),
        ("sed -i.bak 's/a/b/' a.rs", "W /w/a.rs.bak; E /w/a.rs"),
        ("perl -pi -e 's/a/b/' a.rs", "E /w/a.rs"),
        ("perl -0pi -e 's/a/b/' a.rs", "E /w/a.rs"),
        ("touch a.rs b.rs", "C /w/a.rs; C /w/b.rs"),
        ("dd if=a.bin of=b.bin", "R /w/a.bin; W /w/b.bin"),
        ("truncate -s 0 a.log", "W /w/a.log"),
        ("cp a.rs b.rs", "R /w/a.rs; W /w/b.rs"),
        ("cp a.rs b.rs dir/", "R /w/a.rs; W /w/dir/a.rs; R /w/b.rs; W /w/dir/b.rs"),
        ("install -m 755 a.sh bin/a.sh", "R /w/a.sh; W /w/bin/a.sh"),
        ("ln -s a.rs b.rs", "C /w/b.rs"),
        ("curl -o a.json https://example.com/x", "W /w/a.json"),
        (
            "jupyter nbconvert --to notebook --execute n/a.ipynb --output /tmp/b",
            "R /w/n/a.ipynb; W /tmp/b.ipynb",
        ),
        ("jupyter nbconvert --to html --output b.html n/a.ipynb", "R /w/n/a.ipynb; W /w/n/b.html"),
        ("jupyter nbconvert --execute --inplace a.ipynb", "R /w/a.ipynb; E /w/a.ipynb"),
        ("jupyter lab a.ipynb", ""),
        ("(cd sub && echo x > a.txt) && echo y > b.txt", "W /w/sub/a.txt; W /w/b.txt"),
        ("cd sub && echo x > a.txt; cd - && echo y > b.txt", "W /w/sub/a.txt; W /w/b.txt"),
        ("cd /x\necho x > a.txt", "W /x/a.txt"),
        ("pushd sub; echo x > a; popd; echo y > b", "W /w/sub/a; W /w/b"),
        ("git checkout -- a.rs", "E /w/a.rs"),
        ("git checkout src/a.rs", "E /w/src/a.rs"),
        ("git checkout HEAD~1 src/a.rs", "E /w/src/a.rs"),
        ("git checkout --theirs src/a.rs", "E /w/src/a.rs"),
        ("git restore a.rs", "E /w/a.rs"),
        ("git -C sub restore a.rs", "E /w/sub/a.rs"),
        ("f() { echo x > \"a.txt\"; }\nf", "W /w/a.txt"),
        ("if [ -f a ]; then echo x > b; else echo y > c; fi", "W /w/b; W /w/c"),
    ]);
}

#[test]
fn scripts_that_move_and_remove() {
    check_scripts(&[
        ("rm a.rs", "D /w/a.rs"),
        ("rm -rf build a.rs", "D /w/build; D /w/a.rs"),
        ("rm -- -a.rs", "D /w/-a.rs"),
        ("git rm -q a.rs", "D /w/a.rs"),
        ("unlink a.rs", "D /w/a.rs"),
        ("mv a.rs b.rs", "M /w/a.rs -> /w/b.rs"),
        ("mv a.rs sub/", "M /w/a.rs -> /w/sub/a.rs"),
        ("mv a.rs b.rs sub", "M /w/a.rs -> /w/sub/a.rs; M /w/b.rs -> /w/sub/b.rs"),
        ("mv -t sub a.rs", "M /w/a.rs -> /w/sub/a.rs"),
        ("mv x/a.rs .", "M /w/x/a.rs -> /w/a.rs"),
        ("git mv a.rs b.rs", "M /w/a.rs -> /w/b.rs"),
        ("git mv -n a.rs b.rs", ""),
        ("rm *.o", ""),
        ("rm \"$TMP\"/a", ""),
    ]);
}

#[test]
fn scripts_in_other_languages() {
    check_scripts(&[
        ("python3 - <<'EOF'\nopen('a.txt', 'w').write('x')\nEOF", "W /w/a.txt"),
        ("python3 - <<'EOF'\np='a.py'\ns=open(p).read()\nopen(p,'w').write(s)\nEOF", "R /w/a.py; E /w/a.py"),
        ("python -c \"print(open('a.txt').read())\"", "R /w/a.txt"),
        ("python3 - <<'EOF'\nfrom pathlib import Path\nPath('a.md').write_text('x')\nEOF", "W /w/a.md"),
        (
            "python3 - <<'EOF'\nimport os\nos.remove('a.txt')\nos.rename('b', 'c')\nEOF",
            "D /w/a.txt; M /w/b -> /w/c",
        ),
        ("python3 - <<'EOF'\ns = \"\"\"open('no.txt','w')\"\"\"\nEOF", ""),
        ("python3 - <<'EOF'\nopen(name, 'w')\nEOF", ""),
        ("node -e \"require('fs').writeFileSync('a.js', 'x')\"", "W /w/a.js"),
        ("python3 make.py", ""),
        (
            "cat > /tmp/f.py <<'EOF'\nopen('a.txt','a').write('x')\nEOF\npython3 /tmp/f.py",
            "W /tmp/f.py; E /w/a.txt",
        ),
    ]);
    for (script, expected) in [
        ("Get-Content a.rs", "R /w/a.rs"),
        ("Get-Content -Path 'a b.rs' -Tail 3", "R /w/a b.rs"),
        ("Set-Content -Path a.rs -Value x", "W /w/a.rs"),
        ("'x' | Out-File a.txt -Append", "E /w/a.txt"),
        ("Add-Content a.txt x", "E /w/a.txt"),
        ("Remove-Item a.rs -Force", "D /w/a.rs"),
        ("Move-Item a.rs b.rs", "M /w/a.rs -> /w/b.rs"),
        ("gh issue list | Tee-Object -Variable u", ""),
        ("Get-ChildItem *.rs", ""),
        ("$f = 'a.rs'; Get-Content $f", "R /w/a.rs"),
        ("cd sub; Get-Content a.rs", "R /w/sub/a.rs"),
        ("[System.IO.File]::WriteAllText('a.txt', 'x')", "W /w/a.txt"),
    ] {
        let effect = of_call("powershell", &serde_json::json!({ "command": script }).to_string(), Some(CWD));
        assert_eq!(shown(&effect).replace("~ ", " "), expected, "{script}");
    }
}

#[test]
fn patches() {
    let whole = "*** Begin Patch\n*** Add File: a.rs\n+*** Delete File: no.rs\n*** Update File: b.rs\n@@\n-x\n+y\n*** Delete File: c.rs\n*** Update File: d.rs\n*** Move to: e.rs\n*** Update File: f.rs\n*** Move to: g.rs\n@@\n+z\n*** End Patch";
    let expected = "C /w/a.rs; E /w/b.rs; D /w/c.rs; M /w/d.rs -> /w/e.rs; E /w/f.rs; M /w/f.rs -> /w/g.rs";
    let unified = "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/n.rs\n@@ -0,0 +1 @@\n+a\n--- a/o.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    check_call("apply_patch", whole, ToolKind::Write, expected);
    check_call("apply_patch", &serde_json::json!({ "input": whole }).to_string(), ToolKind::Write, expected);
    check_call("patch", &serde_json::json!({ "patchText": whole }).to_string(), ToolKind::Write, expected);
    check_call("apply_patch", "*** Begin Patch\n*** Update File: a.rs\n@@\n-x", ToolKind::Write, "E /w/a.rs");
    check_call("apply_patch", "nothing", ToolKind::Write, "");
    check_script(&format!("apply_patch <<'PATCH'\n{whole}\nPATCH"), expected);
    check_script(
        &format!("cd sub && apply_patch <<'EOF'\n{whole}\nEOF\n"),
        &expected.replace("/w/", "/w/sub/"),
    );
    check_script(&format!("git apply <<'EOF'\n{unified}EOF"), "E /w/x.rs; C /w/n.rs; D /w/o.rs");
    check_script(&format!("patch -p1 <<'EOF'\n{unified}EOF"), "E /w/x.rs; C /w/n.rs; D /w/o.rs");
    check_script(&format!("git apply --check <<'EOF'\n{unified}EOF"), "");
    check_script("patch a.rs < a.diff", "E /w/a.rs");
}

#[test]
fn steps_and_marks() {
    let run =
        |script: &str| of_call("bash", &serde_json::json!({ "command": script }).to_string(), Some(CWD));
    let places =
        |script: &str| -> Vec<(u16, u16)> { run(script).ops.iter().map(|op| (op.step, op.chain)).collect() };
    assert_eq!(run("cat a | head && make; make test").steps, 4);
    assert_eq!(places("cat a && cat b && cat c"), [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(places("cat a; cat b && cat c\ncat d"), [(0, 0), (1, 1), (2, 1), (3, 3)]);
    assert_eq!(places("cat a || cat b && cat c"), [(0, 0), (1, 1), (2, 1)]);
    assert_eq!(places("cat a && (cat b; cat c) && cat d"), [(0, 0), (1, 1), (2, 2), (3, 0)]);
    let marks = |script: &str| run(script).ops.iter().map(|op| op.marks).collect::<Vec<_>>();
    let none = Marks::default();
    assert_eq!(marks("rm -f a; rm b"), [Marks { forced: true, ..none }, none]);
    assert_eq!(marks("make > a.log"), [Marks { redirected: true, ..none }]);
    assert_eq!(
        marks("echo >> a | tee -a b"),
        [Marks { redirected: true, appends: true, piped: true, ..none }, Marks { appends: true, ..none },]
    );
}

#[test]
fn hostile_scripts_end_without_harm() {
    let big = "x".repeat(1 << 20);
    for script in [
        "(".repeat(100_000),
        "{ ".repeat(100_000),
        "$(".repeat(50_000),
        "`".repeat(100_001),
        "'".to_owned() + &big,
        "cat \"".to_owned() + &big,
        "if ".repeat(10_000),
        "a | ".repeat(20_000),
        "a && ".repeat(20_000) + "cat x",
        "cat <<A ".repeat(10_000),
        "cat {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".to_owned(),
        "f() { f; f; }; f".to_owned(),
        "bash -c 'bash -c \"bash -c cat\"'".to_owned(),
        "\0\0\0cat a\0".to_owned(),
        "cat 文/件.rs".to_owned(),
        "echo ".to_owned() + &big,
        "cat a\n".repeat(100_000),
        "for a in 1 2 3; do ".repeat(30) + "cat a" + &"; done".repeat(30),
        "*** Begin Patch\n".repeat(50_000),
    ] {
        for name in ["bash", "powershell", "apply_patch", "read_file", "python"] {
            let effect = of_call(name, &serde_json::json!({ "command": script }).to_string(), Some(CWD));
            assert!(effect.ops.len() <= MAX_OPS);
            let effect = of_call(name, &script, Some(CWD));
            assert!(effect.ops.len() <= MAX_OPS);
        }
    }
}

proptest! {
    #[test]
    fn any_call_is_judged(name in "[a-zA-Z_.]{0,12}|read_file|bash|powershell|apply_patch|python", arguments in ".*") {
        of_call(&name, &arguments, Some(CWD));
    }

    #[test]
    fn any_script_is_judged(script in "([a-z./ ]{0,3}(cat|sed -i|mv|rm|cd|<<E|\\$\\(|\"|'|\\{|\\}|\\(|\\)|>|>>|\\||&&|;|\n|E|文|\\\\|if|do|done|fi|then|\\[|\\*)){0,24}") {
        let effect = of_call("bash", &serde_json::json!({ "command": script }).to_string(), Some(CWD));
        for op in effect.ops {
            prop_assert!(!op.path.is_empty());
            prop_assert!(op.chain <= op.step && op.step < effect.steps.max(1), "{op:?} of {}", effect.steps);
            prop_assert_eq!(&paths::resolve(&op.path, None), &op.path);
        }
    }
}

#[test]
fn fields_that_come_twice_are_seen_at_any_depth() {
    for twice in [
        r#"{"path":"a","x":1,"path":"b"}"#,
        r#" {"x":{"a":1,"a":1}}"#,
        r#"{"x":[1,{"y":[{"a":1,"b":2,"\u0061":3}]}]}"#,
    ] {
        assert!(has_field_twice(twice), "{twice}");
    }
    for once in
        ["", "text", "[]", r#"{"a":{"b":1},"b":{"a":1}}"#, r#"{"a":"{\"b\":1,\"b\":2}"}"#, r#"{"a":1,"a":"#]
    {
        assert!(!has_field_twice(once), "{once}");
    }
    // What is nested without end is not followed to its end.
    for depth in [100, 10_000, 1_000_000] {
        let deep = format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(!has_field_twice(&deep));
    }
}
