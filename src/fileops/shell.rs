//! Shell scripts: a walk over the syntax tree that follows directory changes, variables and redirections.
//!
//! The grammar is not ours (`shuck-parser`): quoting, here-documents and nesting are where home-made readers of
//! commands go wrong. Only what has none of that and can mean one thing alone is read without the parser, by `plain`:
//! most scripts of an agent are so short that to set up a parser costs more than all else; a test holds both readings
//! to be the same. This module evaluates just enough of the language to know a path or to know that it cannot be
//! known: literals, variables assigned literally before, loops over literal lists, brace lists, `cd`. All branches
//! are taken to happen; subshells and pipelines keep their directory and variables to themselves. What each program
//! does with its arguments is in `programs`.
//!
//! Scripts come from strangers: size and nesting are bounded before the parser sees them, and what is bounded away
//! or is no shell at all has no operations.

use std::borrow::Cow;

use shuck_ast::{
    Assignment, AssignmentValue, BinaryCommand, BinaryOp, BuiltinCommand, Command, CompoundCommand,
    DeclOperand, ForCommand, Heredoc, HeredocBodyPart, Redirect, RedirectKind, RedirectTarget, SimpleCommand,
    Stmt, StmtSeq, Word, WordPart, WordPartNode,
};
use shuck_parser::parser::Parser;
use shuck_parser::{ShellDialect, ShellProfile};
use std::collections::BTreeMap;

use compact_str::CompactString;

use super::{Base, Collector, Confidence, OpKind};

mod limits;
mod plain;
pub(super) mod programs;
mod words;

#[cfg(test)]
pub(super) use plain::tests::both_ways;

/// Deepest syntax tree; also bounds the recursion of the walk below.
const MAX_DEPTH: usize = 64;

/// Scripts inside scripts (`bash -c`, `eval`, functions).
const MAX_NESTED: u8 = 4;

/// Most simple commands that one script may run, loops counted as often as they turn.
const MAX_COMMANDS: u32 = 20_000;

/// Turns of a loop over a literal list, and variables kept: beyond them nothing is guessed.
const MAX_TURNS: usize = 64;
const MAX_VARIABLES: usize = 256;

/// Files written by here-documents that a later command of the same script may run or apply.
const MAX_KEPT_FILES: usize = 8;
const MAX_KEPT_BYTES: usize = 256 << 10;

/// Adds what a script does, and returns the number of its simple commands.
pub(super) fn run(script: &str, base: &Base, out: &mut Collector) -> u16 {
    let script = unwrapped_ref(script);
    let before = out.ops.len();
    let mut shell = Shell::new(&script, out);
    let steps = shell.script(&mut State::at(base.clone()));
    if let Some(steps) = steps {
        return steps;
    }
    out.ops.truncate(before);
    0
}

/// A script as it is shown: `bash -lc "x"` is `x`.
pub(super) fn unwrapped(script: String) -> String {
    match unwrapped_ref(&script) {
        Cow::Borrowed(same) if same.len() == script.len() => script,
        inner => inner.into_owned(),
    }
}

/// Takes off one `bash -lc '...'` around a whole script.
fn unwrapped_ref(script: &str) -> Cow<'_, str> {
    let is_shell = match script.trim_start().split_once(' ') {
        Some(("/usr/bin/env", rest)) => rest.starts_with("bash "),
        Some((program, _)) => {
            matches!(program, "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh" | "/usr/bin/bash")
        }
        None => false,
    };
    if !is_shell {
        return Cow::Borrowed(script);
    }
    match only_command(script).as_deref().and_then(script_of_shell_argv) {
        Some(inner) => Cow::Owned(inner.to_owned()),
        None => Cow::Borrowed(script),
    }
}

/// The words of a script that is one simple command without redirections, all of them known.
pub(super) fn only_command(script: &str) -> Option<Vec<CompactString>> {
    if !limits::is_parsable(script) {
        return None;
    }
    match plain::read(script) {
        Some(commands) => plain::only_words(commands),
        None => only_parsed_command(script),
    }
}

fn only_parsed_command(script: &str) -> Option<Vec<CompactString>> {
    let parsed = parse(script);
    let [stmt] = parsed.body.stmts.as_slice() else { return None };
    let Command::Simple(command) = &stmt.command else { return None };
    if !stmt.redirects.is_empty() || !command.assignments.is_empty() {
        return None;
    }
    let mut out = Collector::default();
    let shell = Shell::new(script, &mut out);
    let state = State::at(Base::Unknown);
    let words = std::iter::once(&command.name).chain(&command.args);
    words.flat_map(|word| shell.words(word, &state)).collect()
}

/// Runs one program with known arguments, for the other shell.
pub(super) fn run_program(argv: &[Arg], text: Option<&str>, base: &Base, step: u16, out: &mut Collector) {
    let mut shell = Shell::new("", out);
    shell.fixed_step = Some(step);
    shell.nested = MAX_NESTED - 1;
    shell.program(argv, &programs::Input { text, file: None }, &mut State::at(base.clone()), step);
}

/// The script that an argv array stands for: the text after `bash -lc`, else its words, quoted where needed.
pub(super) fn script_of_argv(argv: &[String]) -> String {
    if let Some(script) = script_of_shell_argv(argv) {
        return script.to_owned();
    }
    let words: Vec<Cow<'_, str>> = argv.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn script_of_shell_argv<W: AsRef<str>>(argv: &[W]) -> Option<&str> {
    let (program, rest) = argv.split_first()?;
    let program = program.as_ref().rsplit(['/', '\\']).next()?;
    let rest = if program == "env" && rest.first().is_some_and(|word| word.as_ref() == "bash") {
        rest.get(1..)?
    } else {
        rest
    };
    if !matches!(program, "bash" | "sh" | "zsh" | "dash" | "env" | "bash.exe") {
        return None;
    }
    let at = rest.iter().position(|word| is_command_flag(word.as_ref()))?;
    let before_are_flags = rest.iter().take(at).all(|word| word.as_ref().starts_with('-'));
    if before_are_flags && rest.len() == at + 2 { rest.get(at + 1).map(AsRef::as_ref) } else { None }
}

/// `-c` alone or in a cluster of short flags (`-lc`).
fn is_command_flag(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|flags| flags.ends_with('c') && flags.bytes().all(|b| b.is_ascii_alphabetic()))
}

fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
    }
}

fn parse(script: &str) -> shuck_ast::File {
    // As much fuel as a script of this size can need; the parser stops by itself beyond it.
    let fuel = 10_000 + script.len().saturating_mul(16);
    let profile = ShellProfile::native(ShellDialect::Bash);
    // Where the grammar ends, the tree holds what came before: a shell too has run those lines by then.
    Parser::with_limits_and_profile(script, MAX_DEPTH, fuel, profile).parse().file
}

/// A word after expansion; `None` when it cannot be known.
pub(super) type Arg = Option<CompactString>;

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(CompactString),
    List(Vec<CompactString>),
    Unknown,
}

/// Runs one part of a list or pipeline with what it reads, and returns what it prints when that is wanted and known.
type RunPart<S, P> = fn(&mut S, P, &mut State, Option<&str>, bool) -> Option<String>;

/// What subshells keep to themselves.
#[derive(Debug, Clone)]
pub(super) struct State {
    base: Base,
    /// Where `cd -` goes.
    old: Base,
    /// Where `popd` goes.
    stack: Vec<Base>,
    variables: BTreeMap<String, Value>,
}

impl State {
    fn at(base: Base) -> Self {
        Self { base, old: Base::Unknown, stack: Vec::new(), variables: BTreeMap::new() }
    }

    fn set(&mut self, name: &str, value: Value) {
        if self.variables.len() < MAX_VARIABLES || self.variables.contains_key(name) {
            self.variables.insert(name.to_owned(), value);
        }
    }

    fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        match (name, &self.base) {
            ("PWD", Base::Dir(dir)) => Some(Cow::Owned(Value::Text(dir.as_str().into()))),
            _ => match self.variables.get(name) {
                Some(value) => Some(Cow::Borrowed(value)),
                None if name == "HOME" => Some(Cow::Owned(Value::Text("~".into()))),
                None => None,
            },
        }
    }

    fn enter(&mut self, base: Base) {
        self.old = std::mem::replace(&mut self.base, base);
    }

    /// After a part that may or may not have run: what it changed is unknown.
    fn join(&mut self, other: &State) {
        if self.base != other.base {
            self.base = Base::Unknown;
        }
        for (name, value) in &mut self.variables {
            if other.variables.get(name) != Some(value) {
                *value = Value::Unknown;
            }
        }
        let new: Vec<&String> =
            other.variables.keys().filter(|name| !self.variables.contains_key(*name)).collect();
        for name in new {
            self.set(name, Value::Unknown);
        }
    }
}

/// One script on its way through the walk.
struct Shell<'s, 'o> {
    source: &'s str,
    out: &'o mut Collector,
    /// Simple commands so far.
    steps: u16,
    /// Set inside nested scripts and functions: all they do belongs to the command that runs them.
    fixed_step: Option<u16>,
    nested: u8,
    /// Simple commands run, loops counted as often as they turn.
    commands: u32,
    /// The script breaks the grammar in a way the parser forgives and a shell does not.
    broken: bool,
    functions: BTreeMap<String, &'s Stmt>,
    kept: Vec<(String, String)>,
}

impl<'s, 'o> Shell<'s, 'o> {
    fn new(source: &'s str, out: &'o mut Collector) -> Self {
        Self {
            source,
            out,
            steps: 0,
            fixed_step: None,
            nested: 0,
            commands: 0,
            broken: false,
            functions: BTreeMap::new(),
            kept: Vec::new(),
        }
    }

    /// Runs the whole source. `None` when it is no script.
    fn script(&mut self, state: &mut State) -> Option<u16> {
        if !limits::is_parsable(self.source) {
            return None;
        }
        match plain::read(self.source) {
            Some(commands) => Some(self.plain(&commands, state)),
            None => self.parsed(state),
        }
    }

    /// Runs what the parser makes of the whole source. `None` when it is no script.
    fn parsed(&mut self, state: &mut State) -> Option<u16> {
        let file = parse(self.source);
        // The tree is dropped before the source, the walk keeps references to functions only while it runs.
        let mut walk = Shell {
            source: self.source,
            out: &mut *self.out,
            steps: 0,
            fixed_step: self.fixed_step,
            nested: self.nested,
            commands: self.commands,
            broken: false,
            functions: BTreeMap::new(),
            kept: std::mem::take(&mut self.kept),
        };
        walk.sequence(&file.body, state, None);
        let (steps, broken, commands) = (walk.steps, walk.broken, walk.commands);
        self.kept = std::mem::take(&mut walk.kept);
        self.commands = commands;
        (!broken).then_some(steps)
    }

    /// Runs a script inside this one as part of the command `step`.
    fn nested_script(&mut self, script: &str, state: &mut State, step: u16) {
        if self.nested >= MAX_NESTED || self.commands > MAX_COMMANDS {
            return;
        }
        let before = self.out.ops.len();
        let mut inner = Shell {
            source: script,
            out: &mut *self.out,
            steps: 0,
            fixed_step: Some(step),
            nested: self.nested + 1,
            commands: self.commands,
            broken: false,
            functions: BTreeMap::new(),
            kept: std::mem::take(&mut self.kept),
        };
        let ran = inner.script(state).is_some();
        let (kept, commands) = (std::mem::take(&mut inner.kept), inner.commands);
        self.kept = kept;
        self.commands = commands;
        if !ran {
            self.out.ops.truncate(before);
        }
    }

    fn sequence(&mut self, sequence: &'s StmtSeq, state: &mut State, stdin: Option<&str>) {
        for (index, stmt) in sequence.stmts.iter().enumerate() {
            // `cat app/(group)/x` is three statements to the parser and a syntax error to a shell, which then runs
            // nothing of the script.
            self.broken |= index > 0 && !self.begins_statement(stmt);
            if self.broken || self.commands > MAX_COMMANDS {
                return;
            }
            self.new_chain();
            self.statement(stmt, state, stdin, false);
        }
    }

    /// What follows runs whether or not the commands before it failed.
    fn new_chain(&mut self) {
        if self.fixed_step.is_none() {
            self.out.chain = self.steps;
        }
    }

    /// Whether a separator stands before a statement.
    fn begins_statement(&self, stmt: &Stmt) -> bool {
        let before = self.source.get(..stmt.span.start.offset()).unwrap_or_default();
        let before = before.trim_end_matches([' ', '\t', '\r', '!']);
        before.is_empty() || before.ends_with(['\n', ';', '&', '|'])
    }

    /// Runs a statement; when `wanted`, returns what it prints, if that is plain text.
    fn statement(
        &mut self,
        stmt: &'s Stmt,
        state: &mut State,
        stdin: Option<&str>,
        wanted: bool,
    ) -> Option<String> {
        match &stmt.command {
            Command::Simple(command) => return self.simple(command, &stmt.redirects, state, stdin, wanted),
            Command::Builtin(builtin) => {
                let words = match builtin {
                    BuiltinCommand::Break(command) => &command.extra_args,
                    BuiltinCommand::Continue(command) => &command.extra_args,
                    BuiltinCommand::Return(command) => &command.extra_args,
                    BuiltinCommand::Exit(command) => &command.extra_args,
                };
                self.substitutions(words, state);
                self.next_step();
            }
            Command::Decl(clause) => {
                for operand in &clause.operands {
                    if let DeclOperand::Assignment(assignment) = operand {
                        self.assign(assignment, state);
                    }
                }
                self.next_step();
            }
            Command::Binary(binary) if matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) => {
                return self.pipeline(binary, state, stdin, wanted);
            }
            Command::Binary(binary) => self.list(binary, state, stdin),
            Command::Compound(compound) => self.compound(compound, stmt, state, stdin),
            Command::Function(function) => {
                for name in function.static_names() {
                    self.functions.insert(name.as_str().to_owned(), &function.body);
                }
            }
            Command::AnonymousFunction(function) => {
                self.statement(&function.body, state, None, false);
            }
        }
        if !matches!(stmt.command, Command::Simple(_)) {
            let step = self.last_step();
            self.redirects(&stmt.redirects, state, step);
        }
        None
    }

    /// `a && b || c`, nested to the left in the tree, without recursion on the left.
    fn list(&mut self, binary: &'s BinaryCommand, state: &mut State, stdin: Option<&str>) {
        let mut rest = vec![(binary.op == BinaryOp::Or, &*binary.right)];
        let mut first = &*binary.left;
        while let Command::Binary(left) = &first.command {
            if matches!(left.op, BinaryOp::Pipe | BinaryOp::PipeAll) {
                break;
            }
            rest.push((left.op == BinaryOp::Or, &*left.right));
            first = &*left.left;
        }
        self.run_list(first, rest.into_iter().rev(), state, stdin, Self::statement);
    }

    /// `a | b | c`, nested to the left in the tree.
    fn pipeline(
        &mut self,
        binary: &'s BinaryCommand,
        state: &State,
        stdin: Option<&str>,
        wanted: bool,
    ) -> Option<String> {
        let mut parts = vec![&*binary.right];
        let mut first = &*binary.left;
        while let Command::Binary(left) = &first.command {
            if !matches!(left.op, BinaryOp::Pipe | BinaryOp::PipeAll) {
                break;
            }
            parts.push(&*left.right);
            first = &*left.left;
        }
        parts.push(first);
        self.run_pipeline(parts.into_iter().rev(), state, stdin, wanted, Self::statement)
    }

    /// Runs the parts of a list from left to right; `true` stands for `||` before a part, else it is `&&`.
    fn run_list<P>(
        &mut self,
        first: P,
        rest: impl Iterator<Item = (bool, P)>,
        state: &mut State,
        stdin: Option<&str>,
        run: RunPart<Self, P>,
    ) {
        let mut chain = self.out.chain;
        run(self, first, state, stdin, false);
        for (is_or, part) in rest {
            self.out.chain = chain;
            if is_or {
                self.new_chain();
                chain = self.out.chain;
                let mut other = state.clone();
                run(self, part, &mut other, None, false);
                state.join(&other);
            } else {
                run(self, part, state, None, false);
            }
        }
    }

    /// Runs each part of a pipeline in a subshell, the next one fed with what is known of the output.
    fn run_pipeline<P>(
        &mut self,
        parts: impl ExactSizeIterator<Item = P>,
        state: &State,
        stdin: Option<&str>,
        wanted: bool,
        run: RunPart<Self, P>,
    ) -> Option<String> {
        let mut left = parts.len();
        let mut text = stdin.map(str::to_owned);
        for part in parts {
            left -= 1;
            let outer = self.out.marks.piped;
            self.out.marks.piped |= left > 0;
            text = run(self, part, &mut state.clone(), text.as_deref(), wanted || left > 0);
            self.out.marks.piped = outer;
        }
        text
    }

    fn compound(
        &mut self,
        compound: &'s CompoundCommand,
        stmt: &'s Stmt,
        state: &mut State,
        stdin: Option<&str>,
    ) {
        match compound {
            CompoundCommand::If(command) => {
                self.sequence(&command.condition, state, None);
                let start = state.clone();
                self.sequence(&command.then_branch, state, None);
                for (condition, branch) in &command.elif_branches {
                    let mut other = start.clone();
                    self.sequence(condition, &mut other, None);
                    self.sequence(branch, &mut other, None);
                    state.join(&other);
                }
                let mut other = start;
                if let Some(branch) = &command.else_branch {
                    self.sequence(branch, &mut other, None);
                }
                state.join(&other);
            }
            CompoundCommand::For(command) => self.for_loop(command, state),
            CompoundCommand::While(command) => self.maybe(&[&command.condition, &command.body], state),
            CompoundCommand::Until(command) => self.maybe(&[&command.condition, &command.body], state),
            CompoundCommand::Repeat(command) => self.maybe(&[&command.body], state),
            CompoundCommand::ArithmeticFor(command) => self.maybe(&[&command.body], state),
            CompoundCommand::Foreach(command) => {
                state.set(command.variable.as_str(), Value::Unknown);
                self.maybe(&[&command.body], state);
            }
            CompoundCommand::Select(command) => {
                state.set(command.variable.as_str(), Value::Unknown);
                self.maybe(&[&command.body], state);
            }
            CompoundCommand::Case(command) => {
                let start = state.clone();
                for case in &command.cases {
                    let mut other = start.clone();
                    self.sequence(&case.body, &mut other, None);
                    state.join(&other);
                }
            }
            CompoundCommand::Subshell(body) => self.sequence(body, &mut state.clone(), stdin),
            CompoundCommand::BraceGroup(body) => {
                let text = self.heredoc_text(&stmt.redirects, state);
                self.sequence(body, state, text.as_deref().or(stdin));
            }
            CompoundCommand::Time(command) => {
                if let Some(stmt) = &command.command {
                    self.statement(stmt, state, stdin, false);
                }
            }
            CompoundCommand::Always(command) => {
                self.sequence(&command.body, state, None);
                self.sequence(&command.always_body, state, None);
            }
            CompoundCommand::Coproc(command) => {
                self.statement(&command.body, &mut state.clone(), None, false);
            }
            // Tests have a status like a simple command, and can be the last one of a script.
            CompoundCommand::Conditional(_) | CompoundCommand::Arithmetic(_) => {
                self.next_step();
            }
        }
    }

    /// Parts that run an unknown number of times, none included.
    fn maybe(&mut self, parts: &[&'s StmtSeq], state: &mut State) {
        let mut other = state.clone();
        for part in parts {
            self.sequence(part, &mut other, None);
        }
        state.join(&other);
    }

    fn for_loop(&mut self, command: &'s ForCommand, state: &mut State) {
        let words = command.words.as_deref().unwrap_or_default();
        self.substitutions(words, state);
        let values: Vec<Arg> = words.iter().flat_map(|word| self.words(word, state)).collect();
        let name = match command.targets.as_slice() {
            [target] => target.name.as_ref().map(shuck_ast::Name::as_str),
            _ => None,
        };
        let Some(name) = name else { return self.maybe(&[&command.body], state) };
        let known = !values.is_empty() && values.len() <= MAX_TURNS && values.iter().any(Option::is_some);
        let turns = if known { values } else { vec![None] };
        let mut other = state.clone();
        let start = self.steps;
        for value in turns {
            // Every turn runs the same simple commands of the script.
            self.steps = start;
            other.set(name, value.map_or(Value::Unknown, Value::Text));
            self.sequence(&command.body, &mut other, None);
        }
        state.join(&other);
    }

    fn simple(
        &mut self,
        command: &'s SimpleCommand,
        redirects: &'s [Redirect],
        state: &mut State,
        stdin: Option<&str>,
        wanted: bool,
    ) -> Option<String> {
        self.commands += 1;
        self.substitutions(std::slice::from_ref(&command.name), state);
        self.substitutions(&command.args, state);
        for redirect in redirects {
            if let RedirectTarget::Word(word) = &redirect.target {
                self.substitutions(std::slice::from_ref(word), state);
            }
        }
        let heredoc = self.heredoc_text(redirects, state);
        let name = self.words(&command.name, state);
        let mut printed = None;
        let step;
        if matches!(name.as_slice(), [Some(name)] if name.is_empty()) && command.args.is_empty() {
            for assignment in &command.assignments {
                self.assign(assignment, state);
            }
            step = self.next_step();
        } else {
            let mut argv = name;
            for arg in &command.args {
                argv.extend(self.words(arg, state));
            }
            step = self.next_step();
            let function = match argv.first() {
                Some(Some(name)) => self.functions.get(name.as_str()).copied(),
                _ => None,
            };
            if let Some(body) = function {
                self.call(body, state, step);
            } else {
                let input = programs::Input {
                    text: heredoc.as_deref().or(stdin),
                    file: self.input_file(redirects, state),
                };
                printed = self.program(&argv, &input, state, step);
            }
        }
        let outputs = self.redirects(redirects, state, step);
        self.printed_to(&outputs, printed).filter(|_| wanted)
    }

    /// What a command prints goes to the files of its redirections, else to whoever wants it.
    fn printed_to(&mut self, outputs: &[String], printed: Option<String>) -> Option<String> {
        if let (Some(text), [path]) = (&printed, outputs) {
            self.keep(path, text);
        }
        printed.filter(|_| outputs.is_empty())
    }

    /// Runs the body of a function as part of the command that calls it.
    fn call(&mut self, body: &'s Stmt, state: &mut State, step: u16) {
        if self.nested >= MAX_NESTED {
            return;
        }
        self.nested += 1;
        let outer = self.fixed_step.replace(step);
        self.statement(body, state, None, false);
        self.fixed_step = outer;
        self.nested -= 1;
    }

    /// Remembers a file that the script itself wrote, for `python that-file` or `git apply that-file`.
    fn keep(&mut self, path: &str, text: &str) {
        if text.len() <= MAX_KEPT_BYTES && self.kept.len() < MAX_KEPT_FILES {
            self.kept.push((path.to_owned(), text.to_owned()));
        }
    }

    fn kept_text(&self, path: &str, state: &State) -> Option<String> {
        let path = state.base.resolve(path)?;
        self.kept.iter().rev().find(|(kept, _)| *kept == path).map(|(_, text)| text.clone())
    }

    fn next_step(&mut self) -> u16 {
        if let Some(step) = self.fixed_step {
            return step;
        }
        let step = self.steps;
        self.steps = self.steps.saturating_add(1);
        step
    }

    fn last_step(&self) -> u16 {
        self.fixed_step.unwrap_or_else(|| self.steps.saturating_sub(1))
    }

    fn push(&mut self, kind: OpKind, path: &str, state: &State, step: u16) {
        self.out.push(kind, path, &state.base, Confidence::Shell, step);
    }

    /// Reports output redirections and returns the paths written.
    fn redirects(&mut self, redirects: &'s [Redirect], state: &State, step: u16) -> Vec<String> {
        let mut outputs = Vec::new();
        for redirect in redirects {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let kind = match redirect.kind {
                RedirectKind::Output
                | RedirectKind::Clobber
                | RedirectKind::OutputBoth
                | RedirectKind::DupOutput => OpKind::Write,
                RedirectKind::Append => OpKind::Edit,
                _ => continue,
            };
            let words = self.words(word, state);
            let [Some(path)] = words.as_slice() else { continue };
            if redirect.kind == RedirectKind::DupOutput
                && (path.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit())
                    || redirect.fd.unwrap_or(1) != 1)
            {
                continue;
            }
            let output = self.redirected(kind, path, state, step);
            outputs.extend(output.filter(|_| redirect.fd.unwrap_or(1) == 1));
        }
        outputs
    }

    /// Reports the file that a redirection writes, and returns its path.
    fn redirected(&mut self, kind: OpKind, path: &str, state: &State, step: u16) -> Option<String> {
        let outer = self.out.marks;
        self.out.marks.redirected = true;
        self.out.marks.appends = kind == OpKind::Edit;
        self.push(kind, path, state, step);
        self.out.marks = outer;
        state.base.resolve(path)
    }

    /// The file given with `<`.
    fn input_file(&self, redirects: &'s [Redirect], state: &State) -> Option<String> {
        redirects.iter().find_map(|redirect| match (&redirect.target, redirect.kind) {
            (RedirectTarget::Word(word), RedirectKind::Input) if redirect.fd.unwrap_or(0) == 0 => {
                match self.words(word, state).as_mut_slice() {
                    [Some(path)] => Some(std::mem::take(path).into()),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The text of the last here-document or here-string.
    fn heredoc_text(&mut self, redirects: &'s [Redirect], state: &mut State) -> Option<String> {
        let redirect = redirects.iter().rev().find(|redirect| {
            matches!(
                redirect.kind,
                RedirectKind::HereDoc | RedirectKind::HereDocStrip | RedirectKind::HereString
            )
        })?;
        match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => Some(self.heredoc(heredoc, state)),
            RedirectTarget::Word(word) => match self.words(word, state).as_mut_slice() {
                [Some(text)] => Some(std::mem::take(text).into()),
                _ => None,
            },
        }
    }

    fn heredoc(&mut self, heredoc: &'s Heredoc, state: &mut State) -> String {
        let body = &heredoc.body;
        if !body.mode.expands() {
            return body.render(self.source);
        }
        let mut text = String::new();
        for part in &body.parts {
            match &part.kind {
                HeredocBodyPart::Literal(literal) => {
                    words::unescape_quoted(literal.as_str(self.source, part.span), &mut text);
                }
                HeredocBodyPart::Variable(name) => match state.get(name.as_str()).as_deref() {
                    Some(Value::Text(value)) => text.push_str(value),
                    _ => text.push(UNKNOWN),
                },
                HeredocBodyPart::CommandSubstitution { body, .. } => {
                    self.sequence(body, &mut state.clone(), None);
                    text.push(UNKNOWN);
                }
                _ => text.push(UNKNOWN),
            }
        }
        text
    }

    fn assign(&mut self, assignment: &'s Assignment, state: &mut State) {
        let name = assignment.target.name.as_str();
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                self.substitutions(std::slice::from_ref(word), state);
                match self.words(word, state).as_mut_slice() {
                    [Some(text)] => Value::Text(std::mem::take(text)),
                    _ => Value::Unknown,
                }
            }
            AssignmentValue::Compound(array) => {
                let words: Option<Vec<CompactString>> =
                    array.elements.iter().flat_map(|element| self.words(element.value(), state)).collect();
                match words {
                    Some(words) if words.len() <= MAX_TURNS => Value::List(words),
                    _ => Value::Unknown,
                }
            }
        };
        let is_whole = assignment.target.subscript.is_none() && !assignment.append;
        state.set(name, if is_whole { value } else { Value::Unknown });
    }

    /// Runs the commands inside `$(...)` and `<(...)` of these words, before the command they are arguments of.
    fn substitutions(&mut self, words: &'s [Word], state: &State) {
        for word in words {
            self.substitutions_of(&word.parts, state);
        }
    }

    fn substitutions_of(&mut self, parts: &'s [WordPartNode], state: &State) {
        for part in parts {
            match &part.kind {
                WordPart::CommandSubstitution { body, .. } | WordPart::ProcessSubstitution { body, .. } => {
                    self.sequence(body, &mut state.clone(), None);
                }
                WordPart::DoubleQuoted { parts, .. } => self.substitutions_of(parts, state),
                _ => {}
            }
        }
    }
}

/// Stands in texts for what is not known; no path that holds it is reported.
const UNKNOWN: char = '\0';
