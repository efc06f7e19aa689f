//! A plain script does what it does when the parser reads it.

use compact_str::CompactString;
use proptest::prelude::*;
use proptest::sample;

use super::super::{Shell, State, only_parsed_command};
use super::{only_words, read};
use crate::fileops::{Base, Collector};

/// All that a script does and leaves behind, read plainly and by the parser; `None` when it is not plain.
pub(in crate::fileops) fn both_ways(script: &str) -> Option<[String; 2]> {
    let commands = read(script)?;
    let done = |run: &dyn Fn(&mut Shell<'_, '_>, &mut State) -> Option<u16>,
                only: Option<Vec<CompactString>>| {
        let mut out = Collector::default();
        let mut state = State::at(Base::of(Some("/w")));
        let mut shell = Shell::new(script, &mut out);
        let steps = run(&mut shell, &mut state);
        let (kept, commands) = (std::mem::take(&mut shell.kept), shell.commands);
        format!("{steps:?} steps, {commands} commands, {kept:?} {only:?}\n{state:?}\n{out:#?}")
    };
    let plain = done(&|shell, state| Some(shell.plain(&commands, state)), only_words(read(script)?));
    Some([plain, done(&|shell, state| shell.parsed(state), only_parsed_command(script))])
}

fn check_same(script: &str) -> bool {
    let Some([plain, parsed]) = both_ways(script) else { return false };
    assert_eq!(plain, parsed, "{script:?}");
    true
}

fn check_plain(script: &str, expected: bool) {
    assert_eq!(check_same(script), expected, "{script:?}");
}

#[test]
fn most_commands_are_plain() {
    for script in [
        "",
        "\n \n",
        "ls -la",
        "cd src && cat a.rs | head -5",
        "a || b && c; d\n\ne\n",
        "a &&\n\n b |\n c;\n",
        "> a",
        "cat < a > b 2>&1",
        "make > log 2>> err; tail log",
        "echo 'a b' \"c d\" e'f'\"g\"h ''",
        "echo 'x\ny $z \\ `q`' > a && python a",
        "sed -i '' 's/a/b/' a.txt",
        "a2>b",
        "echo if then fi exit A=b",
        "echo '\u{e9}'",
        "git commit -m \"x; rm y\"",
        "bash -c 'cd x; rm a'; rm b",
        "2>&1 > a",
        "# a\n\n  # 'b\ncat a",
        "cat *.rs a?b > *.c > ~/d",
        "grep \"a\\|b\\\"c d\\.\" e",
        "cat ~/a",
    ] {
        check_plain(script, true);
    }
    check_plain(&("cat a && ".repeat(200) + "cd b | cat c"), true);
}

#[test]
fn what_may_mean_something_else_is_not_plain() {
    for script in [
        "a &",
        "a & b",
        "a;; b",
        "; a",
        "a && ; b",
        "a &&",
        "&& a",
        "a |& b",
        "a || | b",
        "a &> b",
        "a >& b",
        "a >&2",
        "a >| b",
        "a >",
        "a > > b",
        "a > 2> b",
        "a 12> b",
        "a 2>&1x",
        "a 2>&-",
        "a <> b",
        "a << b\nc\nb",
        "a <<< b",
        "> a if",
        "if a; then b; fi",
        "time a",
        "! a",
        "A=b c",
        "'A=b'",
        "exit 0; a",
        "export A=b",
        "alias a=b\na",
        "a $b",
        "a \"$b\"",
        "a 'b",
        "a \"b",
        "a 'b\0'",
        "a {b,c}",
        "(a)",
        "[ -f a ]",
        "a # b",
        "a; # b",
        "* a",
        "a @(b)",
        "a b\\ c",
        "a \"b\\$c\"",
        "a \"b\\\\c\"",
        "a#b",
        "a\r\nb",
        "a\u{a0}b",
        "a\x0bb",
        "a \\\n b",
    ] {
        check_plain(script, false);
    }
    check_plain(&"a;".repeat(300), false);
}

/// Pieces of scripts, of which some are no part of a plain one.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    " ", " ", " ", " ", " ", "\t", "\n", ";", "&&", "||", "|", " | ", " && ", " ; ", " || ", "&", ">", ">>",
    "<", " > ", " >> ", " < ", "2>", "2>>", "0<", "1>", "3<", "2>&1", "1>&2", ">&2", "&>", ">|", "<>", "<<",
    ">(", "12>", "'", "\"", "''", "\"\"", "'a b'", "\"c d\"", "'x;y'", "\"p|q\"", "'$x'", "'{a,b}'",
    "\"{x}\"", "'*'", "\"~\"", "'\\'", "'#'", "\"!\"", "'('", "\"[a]\"", "'\n'", "a", "b/c", "d.rs", "e",
    "-", "--", "-n", "-i", "-e", "-c", "-a", "+2", "0", "1", "2", "9", "=", "A=b", "a=", "==", "+=", ":",
    ",", "%", "^", "@", "_", ".", "..", "./f", "/g", "../h", "/dev/null", "if", "then", "fi", "for", "in",
    "do", "done", "case", "time", "while", "function", "select", "coproc", "exit", "return", "export",
    "local", "integer", "alias", "unalias", "shopt", "repeat", "foreach", "always", "expand_aliases", "-s",
    "cat ", "cd ", "echo ", "printf ", "tee ", "rm ", "mv ", "cp ", "sed ", "touch ", "head ", "python ",
    "bash ", "sh ", "eval ", "git ", "read ", "pushd ", "popd", "command ", "env ", "sudo ", "xargs ",
    "apply_patch", "$x", "`", "\\", "#", "!", "*", "?", "~", "{", "}", "(", ")", "[", "]", "\r", "\u{e9}",
    "\0", "\u{b}", "'\u{e9}'", "\"\u{4e2d}\"", "'a.py'", "\"d.rs\"", "'cat a | tee b'", "\\\n", "# c",
    "\n#", "\"\\n\"", "\"\\\"\"", "\"\\$x\"", "'(('", "~/", "*.c", "b\\ c",
];

/// Programs, some with their first arguments.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "cat", "cat", "cat -n", "cd", "cd -", "echo x", "printf 'y\\n'", "echo \"a\\b\\\"\"", "tee", "tee -a",
    "rm", "rm -f", "mv", "cp a", "sed -i s/a/b/", "sed -n 2p", "touch", "head -2", "sort -o", "python",
    "python -c 'open(\"q\", \"w\")'", "bash", "bash -c 'cat a; rm b'", "bash -lc", "eval 'cd x'", "eval",
    "sh", "git mv", "git rm", "read A", "pushd", "popd", "sudo", "env x=y", "./run", "~/bin/x", "'my tool'",
    "\"other\" -a", "apply_patch", "ls", "''", "1", "-",
    "apply_patch '*** Begin Patch\n*** Delete File: a\n*** End Patch'", "jq .a", "awk '{print $1}'",
    "xargs", "if'x'",
];

/// Pieces of words.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b/c", "d.rs", "q.py", "2", "12", "=", "a=b", "-", "--", "-n", "-i", ".", "..", "../h", "/g",
    "/dev/null", "~/i", "*.rs", "?", "~", "^", "%", "@", "+", ",", ":", "if", "done", "exit", "'a b'",
    "\"c d\"", "''", "\"\"", "'{a,b}'", "\"*\"", "'$x `y`'", "'\\n'", "\"a\\|b\"", "\"\\\"x\\\"\"",
    "\"'\\n\"", "\"x\ny\"", "'\u{e9}'", "\"\u{4e2d}\"", "'cat a | tee b'", "\"rm 'c d'; cd e\"",
    "'open(\"q\", \"w\")'", "\"!#\"", "'\\'", "\"[z]\"", "'('",
];

const REDIRECTIONS: &[&str] =
    &[">", "> ", ">>", ">> \t", "<", "< ", "2>", "2> ", "2>>", "1>", "0<", "3<", "9>>"];

#[rustfmt::skip]
const JOINTS: &[&str] = &[
    ";", " ; ", "\n", "\n\n \n", "\n# it's (\n", ";\n  # \"\n", "&&", " && ", " &&\n\t", "||", " || ", "|",
    " | ", " |\n", ";\n",
];

/// A command, nothing in it strange.
fn command() -> impl Strategy<Value = String> {
    let word = || proptest::collection::vec(sample::select(WORDS), 1..4).prop_map(|pieces| pieces.concat());
    let file = (sample::select(REDIRECTIONS), word()).prop_map(|(way, word)| format!("{way}{word}"));
    let argument = prop_oneof![
        4 => word(),
        2 => file.clone(),
        1 => Just("2>&1".to_owned()),
        1 => Just("1>&2".to_owned()),
    ];
    let program = (sample::select(PROGRAMS), proptest::collection::vec(argument, 0..5))
        .prop_map(|(program, arguments)| format!("{program} {}", arguments.join(" ")));
    prop_oneof![9 => program, 1 => file]
}

/// A plain script.
fn script() -> impl Strategy<Value = String> {
    let next = (sample::select(JOINTS), command()).prop_map(|(joint, command)| joint.to_owned() + &command);
    let start = sample::select(&["", "", " ", "\n", "# a\n", " \n #\n"]);
    let end = sample::select(&["", "", " ", ";", "\n", " ;\n"]);
    (start, command(), proptest::collection::vec(next, 0..5), end)
        .prop_map(|(start, first, rest, end)| format!("{start}{first}{}{end}", rest.concat()))
}

proptest! {
    #[test]
    fn plain_scripts_do_what_the_parser_makes_of_them(script in script()) {
        prop_assert!(check_same(&script), "{script:?} is not plain");
    }

    #[test]
    fn so_do_scripts_with_something_strange_in_them(
        script in script(), at in any::<sample::Index>(), len in 0..3usize, strange in sample::select(PIECES),
    ) {
        let mut chars: Vec<char> = script.chars().collect();
        let at = at.index(chars.len() + 1);
        let end = (at + len).min(chars.len());
        chars.splice(at..end, strange.chars());
        check_same(&String::from_iter(chars));
    }

    #[test]
    fn so_does_anything(pieces in proptest::collection::vec(sample::select(PIECES), 0..12)) {
        check_same(&pieces.concat());
    }
}
