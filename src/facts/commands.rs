//! Commands, checks and todo items: what the agent ran and what it planned, from calls and results.
//!
//! * **Command**: every shell command that was answered or left open, as run; its canonical value is the script with
//!   white space squeezed, cut at 200 characters. The same value is one fact with its outcomes over time. In a text it is recognised by its **head**: the first simple command that does something (`cd`, `export`,
//!   `set`, `source`, assignments and wrappers such as `sudo`, `time`, `env`, `timeout N` stand back), up to the
//!   first shell operator, redirection or quoted argument, at most six words; a quoted argument that is the first thing
//!   the program is told belongs to it (`sed -n '24,46p' src/stock.rs`). A head that is one very common or very
//!   short word (`ls`, `pwd`, `make`) cannot be told from prose: unadjudicable.
//! * **Check**: a command that verifies: some simple command of the script runs tests, a build, a linter or a type
//!   checker, recognised by program and subcommand. Such a script is a check and not also a command. Its state is the
//!   latest outcome; another script with the same head supersedes it. It is present in a text when the head of its
//!   first check and the outcome stand in one unit.
//! * **Todo**: one fact per item of the agent's todo tool, known by its id or its text, with its states over time.
//!   A list that is replaced cancels the unfinished items it no longer holds.

use super::{Author, Draft, Fact, FactClass, Form, State, Step};
use crate::fileops::TodoState;
use crate::matching::{collapse, index::Border};
use crate::transcript::{MessageIdx, Outcome};
use rustc_hash::FxHashMap;

mod parts;
mod verdict;

use parts::{Join, Parts, simple_commands};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Longest canonical command, in characters.
const COMMAND_CHARS: usize = 200;
/// Most words of a command head.
const HEAD_WORDS: usize = 6;

/// Collects the facts of this module, in order of their calls.
pub(super) fn collect(steps: &[Step<'_>], drafts: &mut Vec<Draft>) {
    let mut commands: FxHashMap<String, usize> = FxHashMap::default();
    let mut checks: FxHashMap<String, usize> = FxHashMap::default();
    let mut todos = Todos::default();
    for step in steps {
        // What the user declined was never run.
        let declined = step.result.is_some_and(|result| {
            result.outcome == Outcome::Failed && result.text.lines().take(2).any(super::lexical::declined)
        });
        if let Some(script) = &step.effect.command
            && !declined
        {
            run(script, step, drafts, &mut commands, &mut checks);
        }
        if step.outcome().is_some_and(|outcome| outcome != Outcome::Failed) && !step.effect.todos.is_empty() {
            todos.update(step, drafts);
        }
    }
}

fn new_fact(class: FactClass, value: String, step: &Step<'_>) -> Fact {
    let birth = step.call_at;
    // Call and result come next.
    let mut mentions = Vec::with_capacity(4);
    mentions.push(birth);
    Fact {
        value,
        class,
        birth,
        line: step.line,
        author: Author::Agent,
        mentions,
        superseded: None,
        states: Vec::new(),
        unadjudicable: false,
        file: None,
    }
}

fn run(
    script: &str,
    step: &Step<'_>,
    drafts: &mut Vec<Draft>,
    commands: &mut FxHashMap<String, usize>,
    checks: &mut FxHashMap<String, usize>,
) {
    let value = canonical(script);
    let parts = simple_commands(script);
    if value.is_empty() || script.contains("apply_patch") && only_patches(&parts) {
        return;
    }
    let at = step.result_at.unwrap_or(step.call_at);
    let (check, outcome) = match first_check(&parts) {
        Some((place, head)) => (Some(head), check_outcome(script, &parts, place, step)),
        None => (None, step.outcome().unwrap_or(Outcome::Unknown)),
    };
    let known = match &check {
        // The latest run of a check says how things stand: another script with the same head makes a fact of its own.
        Some(head) => checks
            .get(head)
            .copied()
            .filter(|index| drafts.get(*index).is_some_and(|draft| draft.fact.value == value)),
        None => commands.get(&value).copied(),
    };
    let index = known.unwrap_or_else(|| {
        let (class, head) = match &check {
            Some(head) => (FactClass::Check, head.clone()),
            None => (FactClass::Command, head(&parts)),
        };
        let mut fact = new_fact(class, value.clone(), step);
        fact.unadjudicable = is_common(&head);
        let form = if class == FactClass::Check {
            checks.insert(head.clone(), drafts.len());
            Form::Check { head }
        } else {
            commands.insert(value, drafts.len());
            Form::Atom { surfaces: vec![head], border: Border::Name, label: None }
        };
        drafts.push(Draft { fact, form });
        drafts.len() - 1
    });
    if let Some(draft) = drafts.get_mut(index) {
        draft.fact.mentions.extend([step.call_at, at]);
        push_state(&mut draft.fact.states, at, State::Outcome(outcome));
    }
}

fn push_state(states: &mut Vec<(MessageIdx, State)>, at: MessageIdx, state: State) {
    if states.last().is_none_or(|(_, last)| *last != state) {
        states.push((at, state));
    }
}

/// True for a script that does nothing but apply a patch: a file tool in the dress of a command.
fn only_patches(parts: &Parts<'_>) -> bool {
    parts.iter().all(|part| {
        program(part.words)
            .first()
            .is_none_or(|first| matches!(&**first, "apply_patch" | "applypatch") || prepares(first))
    })
}

/// Canonical value of a script: the whole of it with white space squeezed, at most 200 characters.
pub(super) fn canonical(script: &str) -> String {
    // Squeezing a long here-document costs more than what of it can be kept.
    let mut squeezed = String::with_capacity(script.len().min(COMMAND_CHARS * 2));
    for word in first_chars(script, COMMAND_CHARS * 4).split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
        if squeezed.len() > COMMAND_CHARS && first_chars(&squeezed, COMMAND_CHARS).len() < squeezed.len() {
            break;
        }
    }
    let length = first_chars(&squeezed, COMMAND_CHARS).len();
    squeezed.truncate(length);
    squeezed
}

/// The first characters of a text, at most so many.
fn first_chars(text: &str, most: usize) -> &str {
    match text.get(..most) {
        None if text.len() <= most => return text,
        // As many bytes are as many characters.
        Some(head) if head.is_ascii() => return head,
        _ => {}
    }
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Programs that only prepare the one that follows.
fn prepares(program: &str) -> bool {
    matches!(
        program,
        "cd" | "export"
            | "set"
            | "source"
            | "."
            | "pushd"
            | "popd"
            | "unset"
            | "ulimit"
            | "alias"
            | "shopt"
            | "true"
            | "echo"
    )
}

/// Programs that run the command given as their arguments.
fn wraps(program: &str) -> bool {
    matches!(
        program,
        "sudo"
            | "time"
            | "env"
            | "nohup"
            | "exec"
            | "command"
            | "xvfb-run"
            | "nice"
            | "stdbuf"
            | "timeout"
            | "npx"
            | "bunx"
            | "dotenv"
    )
}

/// The words of a simple command without assignments, wrappers and their options.
fn program<'a, 's>(words: &'a [Cow<'s, str>]) -> &'a [Cow<'s, str>] {
    let mut rest = words;
    loop {
        let Some((first, tail)) = rest.split_first() else { return rest };
        // `rustup run 1.74 cargo check`.
        if first == "rustup" && tail.first().is_some_and(|word| word == "run") && tail.len() > 2 {
            rest = tail.get(2..).unwrap_or_default();
            continue;
        }
        let assignment = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if assignment || matches!(&**first, "(" | "{" | "!" | "if" | "then" | "do" | "while" | "else") {
            rest = tail;
        } else if wraps(first) && !tail.is_empty() {
            rest = tail;
            while let Some((option, after)) = rest.split_first() {
                let numeric = option.bytes().next().is_some_and(|b| b.is_ascii_digit());
                if option.starts_with('-') || (first == "timeout" && numeric) {
                    rest = after;
                } else {
                    break;
                }
            }
        } else {
            return rest;
        }
    }
}

/// Head of one simple command.
fn head_of(words: &[Cow<'_, str>]) -> String {
    let words = program(words);
    let mut head: SmallVec<[&str; HEAD_WORDS]> = SmallVec::new();
    for (at, word) in words.iter().take(HEAD_WORDS).enumerate() {
        if !word.contains(['\'', '"', '$', '`', '(', '*', '{']) {
            head.push(word);
            continue;
        }
        // `grep -rn` alone names nothing: the first thing it is about belongs to it, in whatever quotes.
        let bare = head.iter().skip(1).all(|word| word.starts_with('-'));
        match quoted(word).filter(|_| bare && at > 0) {
            Some(inner) => head.push(inner),
            None => break,
        }
    }
    if head.is_empty() {
        words.first().map(|word| word.replace(['\'', '"'], "")).unwrap_or_default()
    } else {
        head.join(" ")
    }
}

/// The inside of a short word that is quoted as a whole and says nothing to the shell.
fn quoted(word: &str) -> Option<&str> {
    let inner = ['\'', '"'].iter().find_map(|mark| word.strip_prefix(*mark)?.strip_suffix(*mark))?;
    let expands = word.starts_with('"') && inner.contains('$');
    let plain = !expands && !inner.contains(['\'', '"', '\n', '`']);
    (plain && (1..=80).contains(&inner.len())).then_some(inner)
}

/// Head of a script: that of the first simple command that does something.
fn head(parts: &Parts<'_>) -> String {
    parts
        .iter()
        .find(|part| program(part.words).first().is_some_and(|first| !prepares(first)))
        .or_else(|| parts.iter().next())
        .map(|part| head_of(part.words))
        .unwrap_or_default()
}

/// A head that is one word: short, or a word of everyday language.
fn is_common(head: &str) -> bool {
    if head.contains(' ') {
        return head.len() <= 3;
    }
    head.len() <= 2
        || matches!(
            head,
            "pwd"
                | "env"
                | "make"
                | "date"
                | "top"
                | "git"
                | "cat"
                | "test"
                | "find"
                | "head"
                | "tail"
                | "sort"
                | "wait"
                | "kill"
                | "clear"
                | "history"
                | "which"
                | "who"
                | "whoami"
                | "time"
                | "sleep"
                | "true"
                | "false"
                | "echo"
                | "node"
                | "python"
                | "python3"
                | "exit"
                | "tree"
                | "hostname"
                | "uname"
                | "jobs"
                | "ls"
                | "less"
                | "more"
                | "set"
                | "read"
                | "run"
                | "build"
                | "sed"
                | "awk"
                | "grep"
                | "bash"
                | "sh"
                | "go"
                | "npm"
                | "cargo"
        )
}

/// Programs that only do checking, whatever their arguments.
const CHECKERS: &[&str] = &[
    "pytest",
    "py.test",
    "tox",
    "nox",
    "mypy",
    "pyright",
    "ruff",
    "flake8",
    "pylint",
    "black",
    "isort",
    "tsc",
    "eslint",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "playwright",
    "cypress",
    "ctest",
    "golangci-lint",
    "staticcheck",
    "shellcheck",
    "rubocop",
    "rspec",
    "phpunit",
    "phpstan",
    "clippy-driver",
    "ktlint",
    "detekt",
    "biome",
    "oxlint",
    "stylelint",
    "vue-tsc",
    "hadolint",
    "tflint",
    "markdownlint",
    "yamllint",
    "ninja",
    "busted",
    "karma",
    "bandit",
    "nextest",
    "trunk",
    "actionlint",
    "prettier",
    "swiftlint",
    "buf",
    "luacheck",
    "cppcheck",
    "clang-tidy",
    "webpack",
    "tsup",
];
/// Subcommands of build drivers that verify.
const VERBS: &[&str] = &[
    "test",
    "tests",
    "t",
    "check",
    "build",
    "lint",
    "typecheck",
    "type-check",
    "tsc",
    "vet",
    "clippy",
    "bench",
    "verify",
    "compile",
    "ci",
    "nextest",
    "fmt",
    "assemble",
    "format",
    "e2e",
    "unit",
    "spec",
    "coverage",
    "validate",
];

/// Options of build drivers that stand before the subcommand and take the next word as their value.
const VALUED: &[&str] =
    &["--filter", "-F", "-C", "--dir", "--prefix", "--cwd", "--workspace", "--manifest-path", "--directory"];

/// The first check of a script: its place among the simple commands, and its head. When several checks are chained, all
/// of them share the outcome of the script.
fn first_check(parts: &Parts<'_>) -> Option<(usize, String)> {
    let programs = parts.iter().map(|part| program(part.words));
    let (at, check) = programs.enumerate().find(|(_, words)| is_check(words))?;
    Some((at, head_of(check)))
}

/// Does the script fail when the simple command at `place` does?
fn status_is_of(parts: &Parts<'_>, place: usize, script: &str) -> bool {
    let last = parts.iter().skip(place).find(|part| part.join != Join::And);
    last.is_none_or(|part| part.join == Join::End)
        || ["pipefail", "PIPESTATUS", "set -e"].iter().any(|strict| script.contains(strict))
}

/// How the check of a script ended. Its exit status is that of the script only when a failure of it ends the script;
/// `npm test | tail -20` and `npm test || true` succeed whatever the tests say, so there the output decides.
fn check_outcome(script: &str, parts: &Parts<'_>, place: usize, step: &Step<'_>) -> Outcome {
    let Some(result) = step.result else { return Outcome::Unknown };
    if status_is_of(parts, place, script) {
        return result.outcome;
    }
    match (verdict::read(&result.text), result.outcome) {
        (Outcome::Unknown, Outcome::Failed) => Outcome::Failed,
        (verdict, _) => verdict,
    }
}

fn is_check(words: &[Cow<'_, str>]) -> bool {
    let Some((first, args)) = words.split_first() else { return false };
    let program = first.rsplit('/').next().unwrap_or(first);
    if args.iter().any(|arg| matches!(&**arg, "--version" | "--help" | "-V" | "-h")) {
        return false;
    }
    // `pnpm --filter web build`: the value of an option is no subcommand.
    let valued =
        |at: usize| at.checked_sub(1).and_then(|at| args.get(at)).is_some_and(|it| VALUED.contains(&&**it));
    let plain = || {
        let plain = |(at, arg): &(usize, &Cow<'_, str>)| !arg.starts_with(['-', '+']) && !valued(*at);
        args.iter().enumerate().filter(plain).map(|(_, arg)| &**arg)
    };
    let first_plain = plain().next().unwrap_or("");
    let has = |wanted: &str| args.iter().any(|arg| arg == wanted);
    let starts = |wanted: &str| args.first().is_some_and(|arg| arg == wanted);
    let verb = |word: &str| {
        let base = word.split(':').next().unwrap_or(word);
        VERBS.contains(&word)
            || VERBS.contains(&base)
            || word.rsplit(':').next().is_some_and(|tail| tail != word && VERBS.contains(&tail))
    };
    match program {
        "cargo" => {
            matches!(
                first_plain,
                "test" | "t" | "check" | "c" | "build" | "b" | "clippy" | "nextest" | "bench" | "fmt"
            ) && (first_plain != "fmt" || has("--check"))
        }
        "go" => matches!(first_plain, "test" | "vet" | "build"),
        "gofmt" => has("-l") || has("-d"),
        "npm" | "pnpm" | "yarn" | "bun" | "deno" => match first_plain {
            "run" | "run-script" | "exec" | "dlx" | "x" => {
                plain().nth(1).is_some_and(|word| verb(word) || CHECKERS.contains(&word))
            }
            "install" | "i" | "add" | "ci" | "remove" | "create" | "init" | "format" | "fmt" => false,
            word => verb(word) || (program != "npm" && CHECKERS.contains(&word)),
        },
        "make" | "just" | "task" | "mise" | "rake" | "mage" | "nmake" | "gmake" => {
            program == "make" && first_plain.is_empty()
                || plain().any(|word| {
                    verb(word)
                        || word.starts_with("test")
                        || word.ends_with("test")
                        || word.starts_with("lint")
                })
        }
        "python" | "python3" | "py" | "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "conda" | "rye"
        | "coverage" => {
            args.iter().enumerate().any(|(at, arg)| {
                (CHECKERS.contains(&&**arg)
                    || matches!(&**arg, "unittest" | "compileall" | "py_compile" | "doctest"))
                    && (at == 0
                        || args.get(at - 1).is_some_and(|arg| matches!(&**arg, "-m" | "run"))
                        || program == "coverage"
                        || starts("run"))
            }) || starts("manage.py") && args.get(1).is_some_and(|arg| arg == "test")
                || args.first().is_some_and(|file| is_verifier(file))
        }
        "dotnet" => matches!(first_plain, "test" | "build" | "format"),
        "mvn" | "mvnw" | "gradle" | "gradlew" => plain().any(|word| {
            let task = word.rsplit(':').next().unwrap_or(word);
            verb(task)
                || matches!(task, "package" | "install" | "connectedAndroidTest")
                || task.to_lowercase().ends_with("test")
                || task.starts_with("test")
                || task.starts_with("assemble")
                || task.starts_with("lint")
        }),
        "cmake" => has("--build"),
        "meson" => matches!(first_plain, "test" | "compile"),
        "bazel" | "bazelisk" | "swift" | "zig" | "mix" | "flutter" | "dart" | "stack" | "cabal" | "sbt"
        | "lein" | "nx" | "turbo" | "xcodebuild" => {
            plain().take(2).any(|word| verb(word) || matches!(word, "analyze" | "credo" | "dialyzer"))
        }
        "ruff" => first_plain == "check" || has("--check"),
        "black" | "isort" | "prettier" => args
            .iter()
            .any(|arg| matches!(&**arg, "--check" | "-c" | "--list-different" | "-l" | "--check-only")),
        "next" | "vite" | "rollup" | "esbuild" | "astro" => matches!(first_plain, "build" | "lint" | "check"),
        "composer" => matches!(first_plain, "test" | "lint"),
        "pre-commit" => first_plain == "run",
        "terraform" => matches!(first_plain, "validate" | "plan"),
        "bash" | "sh" | "zsh" => has("-n") && first_plain.ends_with("sh") || is_verifier(first_plain),
        "bundle" => plain().nth(1).is_some_and(|word| CHECKERS.contains(&word)),
        "node" => has("--test") || has("--check"),
        _ => CHECKERS.contains(&program) || first.contains('/') && is_verifier(first),
    }
}

/// A script whose name says that it verifies: `scripts/e2e.sh`, `./check_links.py`.
fn is_verifier(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    (name != stem || file.contains('/'))
        && stem.split(['-', '_']).any(|word| {
            matches!(
                word,
                "test" | "tests" | "check" | "checks" | "verify" | "smoke" | "e2e" | "lint" | "validate"
            )
        })
}

/// The agent's todo list while it is read.
#[derive(Default)]
struct Todos {
    by_id: FxHashMap<String, usize>,
    by_text: FxHashMap<String, usize>,
    /// Drafts of the items on the list now.
    current: Vec<usize>,
}

impl Todos {
    fn update(&mut self, step: &Step<'_>, drafts: &mut Vec<Draft>) {
        let at = step.result_at.unwrap_or(step.call_at);
        let mut now = Vec::new();
        for item in &step.effect.todos {
            let text = collapse(&item.text);
            let known = if text.is_empty() { None } else { self.by_text.get(&text).copied() };
            let known = known.or_else(|| {
                let index = item.id.as_ref().and_then(|id| self.by_id.get(id)).copied()?;
                // The same id with another text is another item, except when only the id is given.
                (text.is_empty()).then_some(index)
            });
            let index = match known {
                Some(index) => index,
                None if text.is_empty() => continue,
                None => {
                    let mut fact = new_fact(FactClass::Todo, text.clone(), step);
                    fact.unadjudicable = super::lexical::too_thin(&text);
                    drafts.push(Draft { fact, form: Form::Sentence(None) });
                    self.by_text.insert(text, drafts.len() - 1);
                    drafts.len() - 1
                }
            };
            if let Some(id) = &item.id {
                self.by_id.insert(id.clone(), index);
            }
            now.push(index);
            if let Some(draft) = drafts.get_mut(index) {
                push_state(&mut draft.fact.states, at, State::Todo(item.state));
                draft.fact.mentions.extend([step.call_at, at]);
            }
        }
        if step.effect.todos_replace {
            for gone in self.current.iter().filter(|index| !now.contains(index)) {
                if let Some(draft) = drafts.get_mut(*gone)
                    && !draft
                        .fact
                        .states
                        .last()
                        .is_some_and(|(_, state)| *state == State::Todo(TodoState::Done))
                {
                    push_state(&mut draft.fact.states, at, State::Todo(TodoState::Cancelled));
                }
            }
            self.current = now;
        } else {
            for index in now {
                if !self.current.contains(&index) {
                    self.current.push(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_name_what_is_run() {
        for (script, expected) in [
            ("cargo test --lib facts", "cargo test --lib facts"),
            ("cd /repo && cargo test 2>&1 | tail -5", "cargo test"),
            ("RUST_LOG=debug timeout 60 cargo run -- --x", "cargo run -- --x"),
            ("git commit -m \"fix: it\"", "git commit -m"),
            ("sed -n '24,46p' src/stock.rs", "sed -n 24,46p src/stock.rs"),
            ("rg -n \"parse|Unit::parse\" src", "rg -n parse|Unit::parse src"),
            ("grep -rn \"$NAME\" src", "grep -rn"),
            ("rg 'a.*b' \"src dir\"", "rg a.*b"),
            ("awk '{ print \"x\" }' a.txt", "awk"),
            ("cat > a.rs <<'EOF'\nfn main() {}\nEOF", "cat"),
            ("ls", "ls"),
            ("npx tsc --noEmit", "tsc --noEmit"),
            ("", ""),
        ] {
            assert_eq!(head(&simple_commands(script)), expected, "{script}");
        }
    }

    #[test]
    fn checks_are_known_by_program_and_subcommand() {
        for script in [
            "cargo test",
            "cargo +nightly clippy -- -D warnings",
            "pytest -q tests",
            "python -m pytest",
            "uv run pytest",
            "npm test",
            "npm run lint",
            "pnpm test:unit",
            "pnpm --filter web build",
            "pnpm -C apps/web --filter=web test",
            "npm --prefix web run lint",
            "cargo --manifest-path web/Cargo.toml test",
            "go -C web vet ./...",
            "yarn build",
            "npx tsc --noEmit",
            "go test ./...",
            "make check",
            "mise run test:ci",
            "mise run lint",
            "make",
            "ctest --output-on-failure",
            "./gradlew :app:testDebug",
            "mvn -q verify",
            "cmake --build build",
            "cd x && npx eslint .",
            "ruff check .",
            "cargo fmt --check",
            "bun test",
            "dotnet test",
            "python -m unittest",
        ] {
            assert!(first_check(&simple_commands(script)).is_some(), "{script}");
        }
        for script in [
            "ls tests",
            "cargo run",
            "npm install",
            "cat test.py",
            "git status",
            "pytest --version",
            "make install",
            "mise install",
            "python build.py",
            "grep -r test .",
            "go run .",
            "cargo fmt",
            "echo cargo test",
            "npm run dev",
            "pnpm --filter test dev",
            "npm --prefix build run start",
            "pip install pytest",
        ] {
            assert_eq!(first_check(&simple_commands(script)), None, "{script}");
        }
    }

    #[test]
    fn a_check_whose_status_is_lost_is_told_from_those_whose_status_is_that_of_the_script() {
        let decides = |script: &str| {
            let parts = simple_commands(script);
            let (place, _) = first_check(&parts).unwrap_or_else(|| panic!("a check: {script}"));
            status_is_of(&parts, place, script)
        };
        for script in [
            "cargo test",
            "cd web && npm test",
            "npm test 2>&1",
            "npm run build && npm run lint",
            "npm test &> log.txt",
            "set -o pipefail; npm test | tail -5",
            "sleep 5; npm test",
            "npm test # the whole suite",
        ] {
            assert!(decides(script), "{script}");
        }
        for script in [
            "cargo test 2>&1 | tail -20",
            "cd web && npm test | grep -c FAIL",
            "npm test || true",
            "npm test; echo done",
            "npm test\necho \"exit $?\"",
            "npm run build && npm test 2>&1 | head -50",
            "npm test &",
        ] {
            assert!(!decides(script), "{script}");
        }
    }

    #[test]
    fn canonical_commands_are_one_squeezed_line() {
        assert_eq!(canonical("cargo   build  \n cargo test"), "cargo build cargo test");
        assert_eq!(canonical(""), "");
        assert_eq!(canonical(&"é".repeat(500)).chars().count(), 200);
        for script in ["ab  c\n", "é ", "x y  ", "word\t"] {
            let script = script.repeat(150);
            assert_eq!(canonical(&script), first_chars(&collapse(&script), COMMAND_CHARS), "{script}");
        }
    }
}
