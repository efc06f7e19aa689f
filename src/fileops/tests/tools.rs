//! The table of tools: names, arguments, kinds.

use serde_json::json;

use super::*;

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
        ("read_many_files", json!({"include": ["a.py", "src/*.py"], "exclude": ["b.py"]}), Read, "r a.py"),
        ("write_file", json!({"file_path": "a.py", "content": "x"}), Write, "w a.py"),
        ("replace", json!({"file_path": "a.py", "old_string": "a", "new_string": "b"}), Write, "e a.py"),
        ("search_file_content", json!({"pattern": "x", "path": "src"}), Search, ""),
        ("list_directory", json!({"dir_path": "src"}), Search, ""),
        ("grep_search", json!({"pattern": "x", "path": "src"}), Search, ""),
        ("run_shell_command", json!({"command": "touch a.py"}), Shell, "c a.py"),
        // Continue
        (
            "single_find_and_replace",
            json!({"filepath": "a.ts", "old_string": "a", "new_string": "b", "replace_all": true}),
            Write,
            "e a.ts",
        ),
        ("multi_edit", json!({"filepath": "a.ts", "edits": []}), Write, "e a.ts"),
        ("edit_existing_file", json!({"filepath": "a.ts", "changes": "x"}), Write, "e a.ts"),
        ("create_new_file", json!({"filepath": "a.ts", "contents": "x"}), Write, "w a.ts"),
        ("read_file_range", json!({"filepath": "a.ts", "startLine": 1, "endLine": 9}), Read, "r a.ts"),
        ("read_currently_open_file", json!({}), Read, ""),
        ("file_glob_search", json!({"pattern": "*.ts"}), Search, ""),
        // Kimi
        ("ReadFile", json!({"path": "a.py", "line_offset": 1}), Read, "r a.py"),
        ("ReadMediaFile", json!({"path": "/w/a.png"}), Read, "r a.png"),
        ("WriteFile", json!({"path": "a.py", "content": "x", "mode": "overwrite"}), Write, "w a.py"),
        ("StrReplaceFile", json!({"path": "a.py", "edit": {"old": "a", "new": "b"}}), Write, "e a.py"),
        ("SetTodoList", json!({"todos": []}), Todo, ""),
        // Copilot
        ("view", json!({"path": "/w/a.ts", "view_range": [1, 9]}), Read, "r a.ts"),
        ("create", json!({"path": "a.ts", "file_text": "x"}), Write, "w a.ts"),
        ("grep", json!({"pattern": "x", "paths": ["a", "b"]}), Search, ""),
        ("read_bash", json!({"shellId": "1", "delay": 5}), Other, ""),
        ("write_powershell", json!({"shellId": "1", "input": "rm a"}), Other, ""),
        ("update_todo", json!({"todos": "- [ ] a"}), Todo, ""),
        // A connector's tool: the file lies in a repository elsewhere
        ("_create_file", json!({"repository_full_name": "o/r", "path": "a.md", "content": "x"}), Other, ""),
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
        ("search_file", json!({"search_term": "x", "file": "a.py"}), Search, ""),
        ("goto", json!({"line_number": 120}), Read, ""),
        ("goto", json!({"command": "goto 120", "path": "/w/a.py"}), Read, "r a.py"),
        ("goto", json!({"url": "https://example.com/a"}), Other, ""),
        ("scroll_up", json!({}), Read, ""),
        ("scroll_down", json!({"command": "scroll_down", "path": "a.py"}), Read, "r a.py"),
        ("scroll_down", json!({"amount": 3}), Other, ""),
        ("submit", json!({}), Other, ""),
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
