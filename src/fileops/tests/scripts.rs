//! What shell scripts do to files, command by command.

use serde_json::json;

use super::*;

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
