//! Tables of calls and what they do to files. Expectations were worked out by hand from the tools' documentation.

mod notation;

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
fn file_tools() {
    use ToolKind::{Other, Read, Search, Shell, Todo, Write};
    for (name, arguments, kind, expected) in [
        // Claude Code
        ("Read", json!({"file_path": "/w/a.rs", "offset": 3}), Read, "r a.rs"),
        ("Edit", json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"}), Write, "e a.rs"),
        (
            "MultiEdit",
            json!({"file_path": "/w/a.rs", "edits": [{"old_string": "path", "new_string": "p"}]}),
            Write,
            "e a.rs",
        ),
        ("Write", json!({"content": "text", "file_path": "/w/a.rs"}), Write, "w a.rs"),
        ("Write", json!({"content": "text", "path": "/w/a.rs"}), Write, "w a.rs"),
        ("NotebookEdit", json!({"notebook_path": "/w/n.ipynb", "new_source": "x"}), Write, "e n.ipynb"),
        ("NotebookRead", json!({"notebook_path": "/w/n.ipynb"}), Read, "r n.ipynb"),
        ("Grep", json!({"pattern": "x", "path": "/w/src"}), Search, ""),
        ("Glob", json!({"pattern": "**/*.rs", "path": "/w"}), Search, ""),
        ("LS", json!({"path": "/w"}), Search, ""),
        ("WebFetch", json!({"url": "https://example.com/a", "prompt": "p"}), Other, ""),
        ("Task", json!({"prompt": "read /w/a.rs"}), Other, ""),
        ("Artifact", json!({"file_path": "/w/a.html"}), Other, ""),
        ("TodoWrite", json!({"todos": []}), Todo, ""),
        ("mcp__files__read", json!({"path": "/w/a.rs"}), Other, ""),
        ("mcp__acp__Read", json!({"file_path": "/w/a.rs"}), Read, "r a.rs"),
        ("mcp__filesystem__move_file", json!({"source": "a", "destination": "b"}), Write, "m a > b"),
        // pi, OpenCode, Crush
        ("read", json!({"path": "src/a.rs", "limit": 3}), Read, "r src/a.rs"),
        ("edit", json!({"path": "a.rs", "edits": [{"oldText": "a", "newText": "b"}]}), Write, "e a.rs"),
        ("write", json!({"path": "a.rs", "content": ""}), Write, "w a.rs"),
        ("find", json!({"pattern": "*.rs", "path": "src"}), Search, ""),
        ("read", json!({"filePath": "/w/a.rs"}), Read, "r a.rs"),
        ("edit", json!({"filePath": "/w/a.rs", "oldString": "a", "newString": "b"}), Write, "e a.rs"),
        ("view", json!({"file_path": "a.go", "offset": 0}), Read, "r a.go"),
        // Cursor's editor
        ("read_file_v2", json!({"path": "/w/a.rs"}), Read, "r a.rs"),
        ("edit_file_v2", json!({"relativeWorkspacePath": "a.rs"}), Write, "e a.rs"),
        ("list_dir_v2", json!({"targetDirectory": "src"}), Search, ""),
        ("glob_file_search", json!({"glob_pattern": "*.rs"}), Search, ""),
        ("ripgrep_raw_search", json!({"pattern": "fn", "path": "src"}), Search, ""),
        ("multiedit", json!({"file_path": "a.go", "edits": []}), Write, "e a.go"),
        ("list", json!({"path": "src"}), Search, ""),
        // Gemini, Qwen
        ("read_file", json!({"absolute_path": "/w/a.py"}), Read, "r a.py"),
        (
            "read_many_files",
            json!({"paths": ["a.py", "src/**/*.py", "b.py", "docs/"]}),
            Read,
            "r a.py; r b.py",
        ),
        ("write_file", json!({"file_path": "a.py", "content": "x"}), Write, "w a.py"),
        ("replace", json!({"file_path": "a.py", "old_string": "a", "new_string": "b"}), Write, "e a.py"),
        ("search_file_content", json!({"pattern": "x", "path": "src"}), Search, ""),
        // Copilot
        ("view", json!({"path": "/w/a.ts", "view_range": [1, 9]}), Read, "r a.ts"),
        ("create", json!({"path": "a.ts", "file_text": "x"}), Write, "w a.ts"),
        ("grep", json!({"pattern": "x", "paths": ["a", "b"]}), Search, ""),
        // Cline, Roo, Cline's SDK
        ("write_to_file", json!({"absolutePath": "/w/a.ts", "content": "x"}), Write, "w a.ts"),
        ("replace_in_file", json!({"path": "a.ts", "diff": "------- SEARCH"}), Write, "e a.ts"),
        ("apply_diff", json!({"path": "a.ts", "diff": "<<<"}), Write, "e a.ts"),
        (
            "read_file",
            json!({"args": "<file><path>a.ts</path></file><file><path>b.ts</path></file>"}),
            Read,
            "r a.ts; r b.ts",
        ),
        (
            "read_files",
            json!({"files": [{"path": "a.ts", "start_line": 1}, {"path": "b.ts"}]}),
            Read,
            "r a.ts; r b.ts",
        ),
        ("editor", json!({"path": "a.ts", "old_text": "a", "new_text": "b"}), Write, "e a.ts"),
        ("editor", json!({"path": "a.ts", "new_text": "b"}), Write, "w a.ts"),
        ("list_files", json!({"path": "src", "recursive": true}), Search, ""),
        // Text editors that take a command
        ("str_replace_editor", json!({"command": "view", "path": "/w/a.py"}), Read, "r a.py"),
        (
            "str_replace_editor",
            json!({"command": "create", "path": "/w/a.py", "file_text": "x"}),
            Write,
            "w a.py",
        ),
        ("str_replace_editor", json!({"command": "str_replace", "path": "/w/a.py"}), Write, "e a.py"),
        ("str_replace_based_edit_tool", json!({"command": "insert", "path": "/w/a.py"}), Write, "e a.py"),
        ("str_replace_editor", json!({"command": "undo_edit", "path": "/w/a.py"}), Write, "e a.py"),
        ("text_editor_20250728", json!({"command": "view", "path": "a.py"}), Read, "r a.py"),
        (
            "developer__text_editor",
            json!({"command": "write", "path": "a.py", "file_text": ""}),
            Write,
            "w a.py",
        ),
        ("edit", json!({"command": "view", "path": "a.py"}), Read, "r a.py"),
        // SWE-agent, OpenHands, Droid, Kiro, Antigravity, VS Code
        ("open", json!({"path": "a.py", "line_number": 3}), Read, "r a.py"),
        ("create", json!({"filename": "new.py"}), Write, "w new.py"),
        ("search_dir", json!({"search_term": "x", "dir": "src"}), Search, ""),
        ("Create", json!({"file_path": "a.py", "content": ""}), Write, "w a.py"),
        (
            "fs_read",
            json!({"operations": [{"mode": "Line", "path": "a"}, {"mode": "Directory", "path": "src"}]}),
            Read,
            "r a",
        ),
        ("write_file", json!({"TargetFile": "\"/w/notes.md\""}), Write, "w notes.md"),
        (
            "multi_replace_string_in_file",
            json!({"replacements": [{"filePath": "a"}, {"filePath": "b"}]}),
            Write,
            "e a; e b",
        ),
        ("run_ipython", json!({"code": "open('a.txt', 'w').write('x')"}), Shell, "w a.txt"),
        ("delete_file", json!({"target_file": "a.ts"}), Write, "d a.ts"),
        ("rename_file", json!({"old_path": "a.ts", "new_path": "b.ts"}), Write, "m a.ts > b.ts"),
        ("copy_file", json!({"source": "a.ts", "destination": "b.ts"}), Write, "r a.ts; w b.ts"),
        ("functions.read_file", json!({"path": "a"}), Read, "r a"),
        // Spellings
        ("read", json!({"path": "file:///w/a%20b.rs"}), Read, "r a b.rs"),
        ("read", json!({"path": "../x/a.rs"}), Read, "r /x/a.rs"),
        ("read", json!({"path": "~/a.rs"}), Read, "r ~/a.rs"),
        ("read", json!({"path": "C:\\x\\a.rs"}), Read, "r C:/x/a.rs"),
        ("read", json!({"path": "[\"a.rs\", \"b.rs\"]"}), Read, "r a.rs; r b.rs"),
        ("read", json!({"path": "/w/src/"}), Read, ""),
        ("read", json!({"path": "https://example.com/a.rs"}), Read, ""),
        ("read", json!({"path": "/dev/null"}), Read, ""),
        ("read", json!({"path": ""}), Read, ""),
        ("read", json!({"path": 7}), Read, ""),
        ("read", json!({"path": null, "file": "a"}), Read, "r a"),
        ("read", json!({}), Read, ""),
        ("", json!({"path": "a"}), Other, ""),
        ("calculate", json!({"path": "a"}), Other, ""),
    ] {
        check_call(name, &arguments.to_string(), kind, expected);
    }
}

#[test]
fn shapes_of_arguments() {
    let quoted = serde_json::to_string(&json!({"path": "a.rs"}).to_string()).unwrap();
    check_call("read", &quoted, ToolKind::Read, "r a.rs");
    check_call("read", "  {\"path\": \"a.rs\"}\n", ToolKind::Read, "r a.rs");
    check_call("read", r#"{"path": "a.rs", "path": "b.rs"}"#, ToolKind::Read, "r b.rs");
    check_call(
        "read",
        r#"{"path": "a.rs", "note": "half \ud83d of one", "x": "\ud83d\ude00"}"#,
        ToolKind::Read,
        "r a.rs",
    );
    check_call("write", r#"{"path": "a\ud83d.rs", "content": "\\ud83d"}"#, ToolKind::Write, "w a\u{fffd}.rs");
    check_call("read", r#"{"path": "a.r"#, ToolKind::Read, "");
    check_call("bash", r#"{"command": "rm a"#, ToolKind::Shell, "");
    check_call("bash", "rm a", ToolKind::Shell, "d a");
    check_call("read", "not json", ToolKind::Read, "");
    check_call("read", "", ToolKind::Read, "");
    let batch = json!({"tool_uses": [
        {"recipient_name": "functions.read", "parameters": {"path": "a"}},
        {"recipient_name": "functions.bash", "parameters": {"command": "rm b"}},
    ]});
    check_call("multi_tool_use.parallel", &batch.to_string(), ToolKind::Other, "r a; d b");
}

#[test]
fn without_a_working_directory_relative_paths_stay_relative() {
    for (name, arguments, expected) in [
        ("read", r#"{"path": "./src/a.rs"}"#, "r src/a.rs"),
        ("bash", r#"{"command": "cd src && rm a && cd ../lib && rm b"}"#, "d src/a; d lib/b"),
        ("bash", r#"{"command": "rm a", "workdir": "sub"}"#, "d sub/a"),
    ] {
        let effect = of_call(name, arguments, None);
        assert_eq!(shown(&effect.ops), expected, "{name} {arguments}");
    }
}

#[test]
fn shell_tools() {
    for (name, arguments, expected, command) in [
        ("Bash", json!({"command": "rm a"}), "d a", "rm a"),
        ("Bash", json!({"cmd": "rm a"}), "d a", "rm a"),
        (
            "shell",
            json!({"command": ["bash", "-lc", "cd src && rm a"], "workdir": "/x"}),
            "d /x/src/a",
            "cd src && rm a",
        ),
        ("shell", json!({"command": ["rm", "a b"]}), "d a b", "rm 'a b'"),
        (
            "shell",
            json!({"command": ["powershell.exe", "-NoProfile", "-Command", "Remove-Item a"]}),
            "d a",
            "Remove-Item a",
        ),
        ("shell", json!({"command": "[\"rm\", \"a\"]"}), "d a", "rm a"),
        ("exec_command", json!({"cmd": "bash -lc 'rm a'"}), "d a", "rm a"),
        ("exec_command", json!({"cmd": "rm a", "workdir": "sub"}), "d sub/a", "rm a"),
        (
            "local_shell",
            json!({"type": "exec", "command": ["rm", "a"], "working_directory": "/x"}),
            "d /x/a",
            "rm a",
        ),
        ("local_shell_call", json!({"action": {"type": "exec", "command": ["rm", "a"]}}), "d a", "rm a"),
        ("run_shell_command", json!({"command": "rm a", "dir_path": "sub"}), "d sub/a", "rm a"),
        ("run_commands", json!({"commands": ["rm a", "rm b"]}), "d a; d b", "rm a\nrm b"),
        ("run_command", json!({"CommandLine": "\"rm a\"", "Cwd": "\"/x\""}), "d /x/a", "rm a"),
        ("developer__shell", json!({"command": "rm a"}), "d a", "rm a"),
        ("Execute", json!({"command": "rm a"}), "d a", "rm a"),
        ("run", json!({"command": "rm a"}), "d a", "rm a"),
        ("exec_command", json!({"cmd": "Get-Content a -Raw"}), "r a", "Get-Content a -Raw"),
    ] {
        let effect = of_call(name, &arguments.to_string(), Some(CWD));
        assert_eq!(effect.kind, ToolKind::Shell, "{name}");
        assert_eq!(shown(&effect.ops), expected, "{name} {arguments}");
        assert_eq!(effect.command.as_deref(), Some(command), "{name} {arguments}");
    }
    let patch = json!({"command": ["apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"]});
    let effect = of_call("shell", &patch.to_string(), Some(CWD));
    assert_eq!((effect.kind, effect.command, effect.steps), (ToolKind::Write, None, 0));
    assert_eq!(shown(&effect.ops), "c a");
}

#[test]
fn redirections() {
    for (script, expected) in [
        ("echo x > a", "w a"),
        ("echo x >> a", "e a"),
        ("echo x >| a", "w a"),
        ("make &> log", "w log"),
        ("make &>> log", "e log"),
        ("make > out 2> err", "w out; w err"),
        ("make > log 2>&1", "w log"),
        ("make >& log", "w log"),
        ("make 2>&1 >/dev/null", ""),
        ("echo x >&2", ""),
        ("echo x > /dev/stderr", ""),
        ("exec 3>&-", ""),
        ("cat a > b", "r a; w b"),
        ("cat a >> b", "r a; e b"),
        ("> a", "w a"),
        (": > a", "w a"),
        ("cat > a <<EOF\nrm b\nEOF", "w a"),
        ("cat <<'EOF' > 'a b'\n$x\nEOF", "w a b"),
        ("cat <<-EOF >> a\n\tx\n\tEOF\nrm b", "e a; d b"),
        ("cat << EOF\nx > y\nEOF", ""),
        ("cat < a", "r a"),
        ("wc -l < a", ""),
        ("sort < a > b", "r a; w b"),
        ("{ echo a; echo b; } > c", "w c"),
        ("(cd sub && echo x > a) > b", "w sub/a; w b"),
        ("for i in 1 2; do echo $i; done > a", "w a"),
        ("diff <(cat a) <(cat b)", "r a; r b"),
        ("echo x > $FILE", ""),
        ("echo x > a-$(date).log", ""),
        ("echo x > *.log", ""),
        ("grep '>' a", ""),
        ("echo 'a > b'", ""),
        ("[[ a > b ]] && echo", ""),
        ("(( a > b ))", ""),
        ("awk '$1 > 3' a", "r a"),
        ("echo x # > a", ""),
        ("tee a b < c", "w a; w b"),
        ("make | tee -a log", "e log"),
        ("make 2>&1 | tee log > /dev/null", "w log"),
        ("echo x | sudo tee /etc/hosts", "w /etc/hosts"),
    ] {
        check_script(script, expected);
    }
}

#[test]
fn programs() {
    for (script, expected) in [
        ("cat a b", "r a; r b"),
        ("cat -n a | head -5", "r a"),
        ("/bin/cat a", "r a"),
        ("head -n 20 a", "r a"),
        ("head -20 a", "r a"),
        ("tail -c +5 a", "r a"),
        ("tail +5 a", "r a"),
        ("tail -f a", "r a"),
        ("nl -ba a | sed -n '1,20p'", "r a"),
        ("sed -n '1,20p' a", "r a"),
        ("sed -n -e 1p -e 2p a b", "r a; r b"),
        ("sed 's/a/b/' a > b && mv b a", "r a; w b; m b > a"),
        ("sed -i 's/a/b/' a b", "e a; e b"),
        ("sed -i '' 's/a/b/' a", "e a"),
        ("sed -i.bak -e 's/a/b/' a", "w a.bak; e a"),
        ("sed -i .bak 's/a/b/' a", "w a.bak; e a"),
        ("sed -Ei 's/a/b/' a", "e a"),
        ("sed -ni 1p a", "e a"),
        ("sed --in-place=.orig s/a/b/ a", "w a.orig; e a"),
        ("sed -i s/a/b/ *.rs", ""),
        ("gsed -i -e s/a/b/ a", "e a"),
        ("perl -pi -e 's/a/b/' a b", "e a; e b"),
        ("perl -i.bak -pe 's/a/b/' a", "w a.bak; e a"),
        ("perl -0pi -e 's/a/b/' a", "e a"),
        ("perl -ne 'print' a", "r a"),
        ("perl script.pl a", ""),
        ("less a", "r a"),
        ("bat --style plain -r 1:2 a", "r a"),
        ("awk -F: '{print $1}' a", "r a"),
        ("awk -v x=1 -f prog.awk y=2 a", "r a"),
        ("jq '.x' a", "r a"),
        ("jq -r --arg n v '.x' a b", "r a; r b"),
        ("rg -n foo src/a.rs", ""),
        ("grep -r foo .", ""),
        ("wc -l a", ""),
        ("ls -la a", ""),
        ("find . -name a", ""),
        ("rm a b", "d a; d b"),
        ("rm -rf dir/", "d dir"),
        ("rm -f -- -a", "d -a"),
        ("rm -rf .", ""),
        ("touch a b", "c a; c b"),
        ("touch -d yesterday a", "c a"),
        ("touch -c a", ""),
        ("mv a b", "m a > b"),
        ("mv a dir/", "m a > dir/a"),
        ("mv a ..", "m a > /a"),
        ("mv sub/a .", "m sub/a > a"),
        ("mv a b dir", "m a > dir/a; m b > dir/b"),
        ("mv -t dir a b", "m a > dir/a; m b > dir/b"),
        ("mv -v -f a b", "m a > b"),
        ("mv *.rs dir/", ""),
        ("mv $x dir/", ""),
        ("mv a $x", ""),
        ("cp a b", "r a; w b"),
        ("cp a dir/", "r a; w dir/a"),
        ("cp -r src dst", ""),
        ("cp -a a.rs b.rs", "r a.rs; w b.rs"),
        ("cp --target-directory=dir a", "r a; w dir/a"),
        ("install -m 755 a /usr/bin/a", "r a; w /usr/bin/a"),
        ("install -d dir", ""),
        ("ln -s target link", "c link"),
        ("ln -sf ../a", "c a"),
        ("dd if=/dev/zero of=a bs=1M count=1", "w a"),
        ("truncate -s 0 a", "w a"),
        ("truncate --size=10 a", "e a"),
        ("curl -sSL -o a https://example.com/x", "w a"),
        ("mkdir -p a && rmdir a", ""),
        ("git mv a b", "m a > b"),
        ("git rm -r a", "d a"),
        ("git rm --cached a", ""),
        ("git -C sub rm a", "d sub/a"),
        ("git checkout -- a b", "e a; e b"),
        ("git checkout HEAD~1 -- a", "e a"),
        ("git checkout main", ""),
        ("git restore a", "e a"),
        ("git restore --staged a", ""),
        ("git restore --source HEAD~1 --staged --worktree a", "e a"),
        ("git --no-pager show HEAD:a", ""),
        ("git add a && git commit -m 'rm b'", ""),
        ("sudo rm a", "d a"),
        ("env A=b rm a", "d a"),
        ("A=b rm a", "d a"),
        ("timeout 5 cat a", "r a"),
        ("timeout -s KILL 5s cat a", "r a"),
        ("nohup rm a &", "d a"),
        ("command -v rm a", ""),
        ("time rm a", "d a"),
        ("eval \"rm a\"", "d a"),
        ("ssh host 'rm a'", ""),
        ("docker exec x rm a", ""),
        ("echo rm a", ""),
        ("xargs rm < a", ""),
        ("npm test -- a.spec.ts", ""),
    ] {
        check_script(script, expected);
    }
}

#[test]
fn directories_and_variables() {
    for (script, expected) in [
        ("cd src && rm a", "d src/a"),
        ("cd src; rm a; cd ..; rm b", "d src/a; d b"),
        ("cd /x && rm a; cd - && rm b", "d /x/a; d b"),
        ("(cd src && rm a); rm b", "d src/a; d b"),
        ("cd src | cat; rm a", "d a"),
        ("cd && rm a", "d ~/a"),
        ("cd $X && rm a && rm /b", "d /b"),
        ("cd \"$(git rev-parse --show-toplevel)\" && rm a", ""),
        ("cd src || exit 1; rm a", "d src/a"),
        ("cd a || cd b; rm c", ""),
        ("pushd src && rm a && popd && rm b", "d src/a; d b"),
        ("popd; rm a", ""),
        ("if true; then cd src; fi; rm a", ""),
        ("if true; then rm a; else rm b; fi", "d a; d b"),
        ("while read f; do rm $f; done; rm a", "d a"),
        ("case $x in a) rm a;; *) rm b;; esac", "d a; d b"),
        ("F=a; rm $F \"${F}.bak\" '$F'", "d a; d a.bak; d $F"),
        ("F=a.ts; rm ${F%.ts}.js", ""),
        ("F=$(ls); rm $F", ""),
        ("F=a; F+=b; rm $F", ""),
        ("F='a b'; rm $F; rm \"$F\"", "d a; d b; d a b"),
        ("F='*.rs'; rm $F", ""),
        ("export D=src; rm $D/a", "d src/a"),
        ("D=src && cd $D && rm a", "d src/a"),
        ("(F=a); rm $F", ""),
        ("F=a; if x; then F=b; fi; rm $F", ""),
        ("F=a; read F; rm $F", ""),
        ("rm $HOME/a $PWD/b", "d ~/a; d b"),
        ("for f in a b; do rm $f; done", "d a; d b"),
        ("for f in a b; do cat src/$f.rs; done", "r src/a.rs; r src/b.rs"),
        ("for f in *.rs; do rm $f; done", ""),
        ("L=(a b); for f in \"${L[@]}\"; do rm \"$f\"; done", "d a; d b"),
        ("rm {a,b}.rs", "d a.rs; d b.rs"),
        ("mv a.{ts,js}", "m a.ts > a.js"),
        ("rm {1..3}", ""),
        ("rm a\\ b \"c\"'d'", "d a b; d cd"),
        ("rm \"a\\$b\"", "d a$b"),
        ("cat app/[id]/page.tsx", "r app/[id]/page.tsx"),
        ("cat 'app/(x)/page.tsx'", "r app/(x)/page.tsx"),
        ("cat app/(x)/page.tsx", ""),
        ("cat file[0-9].txt", ""),
        ("f() { rm $1 a; }; f b", "d a"),
        ("f() { rm a; }", ""),
        ("bash -c 'cd src && rm a'; rm b", "d src/a; d b"),
        ("bash -c \"rm $F\"", ""),
        ("bash <<'EOF'\nrm a\nEOF", "d a"),
        ("X=$(cat VERSION) && echo $X", "r VERSION"),
        ("echo \"$(cat a | head -1)\"", "r a"),
        ("test -f a && cat a || touch a", "r a; c a"),
        ("rm a &\nrm b", "d a; d b"),
        ("rm a \\\n  b", "d a; d b"),
        ("# comment\nrm a # more\n\nrm b", "d a; d b"),
        ("! rm a", "d a"),
        ("cat \"C:\\Users\\x\\a.txt\"", "r C:/Users/x/a.txt"),
        ("cat > s.sh <<'EOF'\nrm a\nEOF\nbash s.sh", "w s.sh; d a"),
    ] {
        check_script(script, expected);
    }
}

#[test]
fn interpreters() {
    for (script, expected) in [
        ("python3 - <<'EOF'\nopen('a', 'w').write('x')\nEOF", "w a"),
        ("python - <<EOF\nwith open(\"a\") as f:\n    print(f.read())\nEOF", "r a"),
        ("python3 <<'EOF'\np = 'a'\ns = open(p).read()\nopen(p, 'w').write(s)\nEOF", "r a; e a"),
        (
            "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('a')\np.write_text(p.read_text())\nEOF",
            "w a; r a",
        ),
        (
            "python3 - <<'EOF'\nfrom pathlib import Path\ns = Path('a').read_text()\nPath('a').write_text(s)\nEOF",
            "r a; e a",
        ),
        ("python3 -c \"open('a', 'a').write('x')\"", "e a"),
        ("python3 - <<'EOF'\ns = '''\nopen('a', 'w')\n'''\nopen(f'{x}', 'w'); open(x + 'b', 'w')\nEOF", ""),
        ("python3 - <<'EOF'\n# open('a')\nt = t.replace(\"open('b')\", \"open('c')\")\nEOF", ""),
        ("python3 - <<'EOF'\nfor p in ['a', 'b']:\n    open(p, 'w')\nEOF", "w a; w b"),
        ("python3 - <<'EOF'\nimport os, shutil\nos.remove('a')\nshutil.move('b', 'c')\nEOF", "d a; m b > c"),
        ("python3 - <<'EOF'\nimport os\nos.chdir('sub')\nopen('a', 'w')\nEOF", "w sub/a"),
        ("uv run python - <<'EOF'\nopen('a', 'w')\nEOF", "w a"),
        ("cat > /tmp/x.py <<'EOF'\nopen('a', 'w')\nEOF\npython3 /tmp/x.py", "w /tmp/x.py; w a"),
        ("python script.py", ""),
        ("python -m pytest tests/a.py", ""),
        ("node -e \"fs.writeFileSync('a', fs.readFileSync('b'))\"", "w a; r b"),
        ("node -e \"const p = 'a'; fs.writeFileSync(p, '')\"", "w a"),
    ] {
        check_script(script, expected);
    }
}

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

#[test]
fn powershell_scripts() {
    for (script, expected) in [
        ("Get-Content a.txt", "r a.txt"),
        ("gc .\\src\\a.txt -Raw -Encoding utf8", "r src/a.txt"),
        ("Get-Content -Path 'a b.txt' -TotalCount 5 | Select-Object -First 3", "r a b.txt"),
        ("Get-Content a, b", "r a; r b"),
        ("Get-Content *.txt", ""),
        ("(Get-Content a -Raw) -replace 'x', 'y' | Set-Content a -NoNewline", "r a; e a"),
        ("Set-Content -Path a -Value (Get-Content b)", "r b; w a"),
        ("Set-Content a 'b > c'", "w a"),
        ("'x' | Out-File a -Append", "e a"),
        ("\"x\" | Out-File -FilePath a", "w a"),
        ("Add-Content a 'x'", "e a"),
        ("make | Tee-Object -FilePath log", "w log"),
        ("make | Tee-Object -Variable log", ""),
        ("Remove-Item -Recurse -Force a, b -ErrorAction SilentlyContinue", "d a; d b"),
        ("Remove-Item Env:FOO", ""),
        ("del a", "d a"),
        ("Move-Item a b", "m a > b"),
        ("Move-Item -Path a -Destination sub\\", "m a > sub/a"),
        ("Copy-Item a b -Force", "r a; w b"),
        ("Rename-Item sub\\a b", "m sub/a > sub/b"),
        ("New-Item -ItemType File -Path a", "c a"),
        ("New-Item a -ItemType Directory", ""),
        ("Set-Location sub; Get-Content a", "r sub/a"),
        ("cd $x; Get-Content a; Get-Content C:\\b", "r C:/b"),
        ("$p = 'a'; Get-Content $p; Get-Content \"$p.bak\"", "r a; r a.bak"),
        ("$p='a'; Get-Content $p", "r a"),
        ("$p = 'a'; $p += 'b'; Get-Content $p", ""),
        ("Get-Content $x.FullName", ""),
        ("[System.IO.File]::WriteAllText('a', $text)", "w a"),
        ("$t = [IO.File]::ReadAllText(\"a\")", "r a"),
        ("if (Test-Path a) { Remove-Item a } else { Get-Content b }", "d a; r b"),
        ("echo x > a 2>$null", "w a"),
        ("make 2>&1 | Select-String 'x'", ""),
        ("git mv a b; git checkout -- c", "m a > b; e c"),
        ("Set-Content a @'\nRemove-Item b\n'@\nGet-Content c", "w a; r c"),
        ("@'\nopen('a', 'w')\n'@ | python -", "w a"),
        ("# Get-Content a\nGet-Content b <# Get-Content c #>", "r b"),
        ("Get-Content `\n  a", "r a"),
        ("Write-Host 'Remove-Item a'", ""),
        ("Get-ChildItem -Path src -Filter *.rs", ""),
        ("Select-String -Path a -Pattern b", ""),
    ] {
        check_powershell(script, expected);
    }
    check_script("pwsh -NoProfile -c 'Remove-Item a'", "d a");
    check_script("echo x && powershell -Command \"Get-Content 'a'\"", "r a");
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

#[test]
fn hostile_scripts_end_quickly_and_without_a_trace() {
    let big = "cat foo > bar; ".repeat(70_000);
    let many = |text: &str| text.repeat(100_000);
    for script in [
        many("("),
        many("{"),
        many("$("),
        many("\"$("),
        many("${a:-"),
        many("{a,"),
        many("`"),
        many("'"),
        many("if "),
        many("cat <<A "),
        many("a|"),
        many("a&&"),
        many("\0"),
        many("\\"),
        many("!"),
        many("[[ "),
        many("文件 "),
        many("f() "),
        many("sudo "),
        many("time "),
        many("time -p "),
        many("time\n"),
        many("time -p\n"),
        many("a |\ntime "),
        many("> a coproc "),
        many("coproc time ! \\\n"),
        many("a["),
        many("bash -c "),
        format!("rm '{}", many("a")),
        format!("rm {}", many("{a,b}")),
        format!("rm {}", many("a")),
        format!("cat <<'A'\n{}", many("x\n")),
        "for i in 1 2 3 4 5 6 7 8 9 0; do ".repeat(30) + "rm a; " + &"done; ".repeat(30),
        "bash -c \"bash -c 'bash -c \\\"bash -c rm a\\\"'\"".to_owned(),
        "f() { f; f; }; f".to_owned(),
        big.clone(),
    ] {
        let effect = of_call("bash", &json!({ "command": &script }).to_string(), Some(CWD));
        assert!(effect.ops.len() <= MAX_OPS);
        let powershell = of_call("powershell", &json!({ "command": &script }).to_string(), Some(CWD));
        assert!(powershell.ops.len() <= MAX_OPS);
    }
    check_script("rm 'a", "");
    check_script("rm a\0b", "");
    check_script("rm 文件/源.rs", "d 文件/源.rs");
    check_script(&format!("rm {}", "a".repeat(5000)), "");
    // A directory with such a name is none either.
    check_script("cd a\0b && rm c.rs", "");
    check_script("cd $( ) -Path > do \0", "");
}

proptest! {
    #[test]
    fn any_call_has_an_effect(name in ".{0,20}", arguments in ".*", cwd in proptest::option::of(".*")) {
        of_call(&name, &arguments, cwd.as_deref());
    }

    #[test]
    fn any_script_has_an_effect(
        words in proptest::collection::vec(
            prop::sample::select(vec![
                "rm", "cat", "mv", "cp", "sed", "-i", "git", "checkout", "--", "cd", "a", "../b", "$x", "${y%z}", "'q", "\"",
                "\"p q\"", ">", ">>", "<<E", "E", "\n", ";", "&&", "||", "|", "(", ")", "{", "}", "$(", "`", "for f in",
                "do", "done", "if", "then", "fi", "case x in", "esac", "[[", "]]", "((", "))", "*", "[", "{a,b}", "\\", "=",
                "x=1", "文", "\0", "<(", "python3 -", "open('a','w')", "bash -c", "apply_patch", "*** Update File: a", "#", "!",
                "function f", "@'", "'@", "Set-Content", "-Path", "$p = 'a'", "tee", "&", "2>&1", "awk", "jq", "perl", "-pi", "-e",
            ]),
            0..40,
        ),
        glue in prop::sample::select(vec!["", " ", "\n"]),
    ) {
        let script = words.join(glue);
        for name in ["bash", "powershell", "apply_patch", "run_ipython"] {
            let effect = of_call(name, &script, Some(CWD));
            for op in &effect.ops {
                prop_assert!(op.step == 0 || op.step < effect.steps);
                prop_assert!(!op.path.is_empty() && !op.path.contains('\0'));
            }
        }
    }
}

/// The calls of real logs, where there are any: all of them are understood without a panic.
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
    let mut with_ops = 0;
    for (name, arguments) in &calls {
        let effect = of_call(name, arguments, Some(CWD));
        with_ops += usize::from(!effect.ops.is_empty());
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
