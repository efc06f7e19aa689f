//! PowerShell scripts, read well enough to follow literal paths through the cmdlets that touch files.
//!
//! A tokenizer with quoting, here-strings, comments and nested brackets, not a grammar: every bracket opens a command
//! of its own, which is how PowerShell nests (`Set-Content a (Get-Content b)`). Names and parameters are compared
//! without case; a parameter may be cut short as the shell allows.

use rustc_hash::FxHashMap;

use compact_str::{CompactString, ToCompactString};
use smallvec::{SmallVec, smallvec};

use super::shell::Arg;
use super::{Base, Collector, Confidence, OpKind, inline, shell};

/// Longest script that is read, in bytes, and deepest nesting of brackets.
const MAX_SCRIPT: usize = 1 << 20;
const MAX_DEPTH: usize = 64;

/// Adds what a script does and returns the number of its commands. With a `fixed` step all of it belongs to that one.
pub(super) fn run(script: &str, base: &Base, fixed: Option<u16>, out: &mut Collector) -> u16 {
    if script.len() > MAX_SCRIPT {
        return 0;
    }
    let first = out.ops.len();
    let mut run = Run {
        rest: script,
        base: base.clone(),
        variables: FxHashMap::default(),
        frames: vec![Frame::default()],
        steps: 0,
        fixed,
        out,
    };
    run.all();
    let steps = run.steps;
    inline::writes_after_reads_are_edits(out, first);
    steps
}

/// The script of a whole command line that only starts PowerShell, or the script itself where it is PowerShell
/// without saying so.
pub(super) fn unwrapped(script: &str) -> Option<String> {
    let head = script.trim_start();
    let word = head.split(|c: char| c.is_whitespace() || c == ';' || c == '|').next()?;
    let word = word.trim_matches(['"', '\'', '&', '(']);
    let begins = |start: &str| word.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    if CMDLETS.iter().any(|cmdlet| word.eq_ignore_ascii_case(cmdlet))
        || begins("$env:")
        || begins("$erroractionpreference")
    {
        return Some(script.to_owned());
    }
    let program = word.rsplit(['/', '\\']).next()?;
    let names = ["powershell", "powershell.exe", "pwsh", "pwsh.exe"];
    if !names.iter().any(|name| program.eq_ignore_ascii_case(name)) {
        return None;
    }
    let words = shell::only_command(script)?;
    let args: Vec<Arg> = words.into_iter().skip(1).map(Some).collect();
    code_of_arguments(&args)
}

/// The script in the arguments of `powershell` or `pwsh`.
pub(super) fn code_of_arguments(args: &[Arg]) -> Option<String> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let lower = arg.as_deref()?.to_ascii_lowercase();
        match lower.as_str() {
            "-command" | "-c" => {
                at += 1;
                break;
            }
            "-executionpolicy" | "-ep" | "-version" | "-outputformat" | "-inputformat" | "-windowstyle"
            | "-workingdirectory" | "-wd" => at += 2,
            "-file" | "-f" | "-encodedcommand" | "-e" | "-enc" => return None,
            option if option.starts_with('-') => at += 1,
            _ => break,
        }
    }
    let words: Option<Vec<&str>> = args.get(at..)?.iter().map(Option::as_deref).collect();
    let code = words?.join(" ");
    (!code.is_empty()).then_some(code)
}

/// Cmdlets by which a script is known to be PowerShell.
const CMDLETS: &[&str] = &[
    "get-content",
    "set-content",
    "add-content",
    "get-childitem",
    "get-item",
    "get-location",
    "select-string",
    "remove-item",
    "new-item",
    "move-item",
    "copy-item",
    "rename-item",
    "set-location",
    "push-location",
    "test-path",
    "out-file",
    "write-host",
    "write-output",
    "get-command",
    "get-process",
    "start-process",
    "invoke-webrequest",
    "resolve-path",
];

/// One argument: usually one word, several when joined by commas.
#[derive(Debug, Default)]
struct Argument {
    words: SmallVec<[Arg; 1]>,
    /// The variable it is, when it is nothing else.
    variable: Option<String>,
    quoted: bool,
}

/// A command being read.
#[derive(Debug, Default)]
struct Frame {
    arguments: Vec<Argument>,
    /// The next word belongs to the argument before it.
    joined: bool,
    /// The next word is the target of a redirection: append, and whether it counts.
    redirect: Option<(bool, bool)>,
    outputs: Vec<(bool, CompactString)>,
    /// The word that the opening bracket follows without a blank: a method.
    callee: String,
    /// Literal text that the pipe carries into this command.
    input: Option<String>,
}

struct Run<'s, 'o> {
    rest: &'s str,
    base: Base,
    variables: FxHashMap<String, Arg>,
    frames: Vec<Frame>,
    steps: u16,
    fixed: Option<u16>,
    out: &'o mut Collector,
}

impl Run<'_, '_> {
    fn all(&mut self) {
        let mut after_word = String::new();
        while let Some(c) = self.rest.chars().next() {
            let callee = std::mem::take(&mut after_word);
            match c {
                '\n' | ';' => {
                    self.skip(1);
                    self.end_command();
                }
                c if c.is_whitespace() => self.skip(c.len_utf8()),
                '`' => {
                    // A continued line; an escape at the start of a word is rare enough to be dropped.
                    self.skip(1);
                    let next = self.rest.chars().next().map_or(0, char::len_utf8);
                    self.skip(next);
                }
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.skip(end);
                }
                '<' if self.rest.starts_with("<#") => {
                    let end = self.rest.find("#>").map_or(self.rest.len(), |at| at + 2);
                    self.skip(end);
                }
                '|' | '&' => {
                    let is_list = self.rest.starts_with("||") || self.rest.starts_with("&&");
                    self.skip(if is_list { 2 } else { 1 });
                    if is_list {
                        self.end_command();
                    } else if c == '|' {
                        let text = self.end_command();
                        self.frame().input = text;
                    }
                }
                '(' | '{' => {
                    self.skip(1);
                    self.open(callee);
                }
                ')' | '}' => {
                    self.skip(1);
                    self.close();
                }
                '$' | '@'
                    if self.rest.get(1..2).is_some_and(|next| matches!(next, "(" | "{"))
                        && !self.is_braced() =>
                {
                    self.skip(2);
                    self.open(String::new());
                }
                ',' => {
                    self.skip(1);
                    self.frame().joined = true;
                }
                '>' => {
                    self.skip(1);
                    self.redirect(true);
                }
                _ => after_word = self.word(),
            }
        }
        while self.frames.len() > 1 {
            self.close();
        }
        self.end_command();
    }

    /// `${name}` is a variable, not a block.
    fn is_braced(&self) -> bool {
        self.rest.starts_with("${")
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn redirect(&mut self, counts: bool) {
        let append = self.rest.starts_with('>');
        if append {
            self.skip(1);
        }
        if self.rest.starts_with('&') {
            let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '&').unwrap_or(self.rest.len());
            self.skip(end);
            return;
        }
        self.frame().redirect = Some((append, counts));
    }

    fn open(&mut self, callee: String) {
        if self.frames.len() >= MAX_DEPTH {
            self.rest = "";
            return;
        }
        self.push_word(None, None, true);
        self.frames.push(Frame { callee, ..Frame::default() });
    }

    fn close(&mut self) {
        let callee = std::mem::take(&mut self.frame().callee).to_ascii_lowercase();
        if callee.contains("::") {
            self.method(&callee);
        }
        self.end_command();
        if self.frames.len() > 1 {
            self.frames.pop();
        }
    }

    /// `[System.IO.File]::WriteAllText(path, text)`, called with its arguments in the current frame.
    fn method(&mut self, callee: &str) {
        let Some((class, method)) = callee.rsplit_once("::") else { return };
        if !class.ends_with("file]") {
            return;
        }
        let frame = std::mem::take(self.frame());
        let words: Vec<Arg> = frame.arguments.into_iter().flat_map(|argument| argument.words).collect();
        let step = self.next_step();
        let Some(Some(path)) = words.first() else { return };
        let kind = match method {
            "readalltext" | "readalllines" | "readallbytes" | "openread" => OpKind::Read,
            "writealltext" | "writealllines" | "writeallbytes" | "create" => OpKind::Write,
            "appendalltext" | "appendalllines" => OpKind::Edit,
            "delete" => OpKind::Delete,
            "move" => {
                if let Some(Some(to)) = words.get(1) {
                    self.out.rename(path, to, &self.base, Confidence::Shell, step);
                }
                return;
            }
            _ => return,
        };
        self.push(kind, path, step);
    }

    /// Reads one word and returns it when it stands right before a bracket.
    fn word(&mut self) -> String {
        if let Some(text) = self.here_string() {
            self.push_word(text, None, true);
            return String::new();
        }
        let mut text = Some(CompactString::default());
        let mut variable = None;
        let (mut quoted, mut parts) = (false, 0);
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\'' => {
                    let part = self.single_quoted();
                    append(&mut text, Some(part.into()));
                    quoted = true;
                }
                '"' => {
                    let part = self.double_quoted();
                    append(&mut text, part);
                    quoted = true;
                }
                '$' if self.rest.starts_with("$(") => break,
                // `$x='a'` without blanks.
                '=' if variable.is_some() && parts == 1 && self.frame().arguments.is_empty() => break,
                '=' if parts == 0 && self.is_after_variable() => {
                    self.skip(1);
                    append(&mut text, Some("=".into()));
                    break;
                }
                '$' => {
                    let name = self.variable_name();
                    if parts == 0 {
                        variable = Some(name.clone());
                    }
                    // A member of a variable is not its value.
                    let is_member = self.rest.starts_with('.') || self.rest.starts_with('[');
                    let value = if is_member { None } else { self.value(&name) };
                    append(&mut text, value);
                }
                '`' => {
                    self.skip(1);
                    let escaped = self.rest.chars().next();
                    self.skip(escaped.map_or(0, char::len_utf8));
                    append(
                        &mut text,
                        escaped
                            .filter(|c| *c != '\n')
                            .map(|c| c.to_compact_string())
                            .or(Some(CompactString::default())),
                    );
                }
                '|' | '&' | ';' | '(' | ')' | '{' | '}' | ',' => break,
                '>' => {
                    let is_stream = matches!(text.as_deref(), Some("1" | "2" | "3" | "4" | "5" | "6" | "*"));
                    if is_stream && !quoted {
                        self.skip(1);
                        self.redirect(true);
                        return String::new();
                    }
                    break;
                }
                c if c.is_whitespace() => break,
                c => {
                    self.skip(c.len_utf8());
                    if let Some(text) = &mut text {
                        text.push(c);
                    }
                }
            }
            parts += 1;
        }
        let variable = variable.filter(|_| parts == 1);
        // Of any other word it is of no interest.
        let is_callee = !quoted && self.rest.starts_with(['(', '{']);
        let callee = text.as_deref().filter(|_| is_callee).unwrap_or_default().to_owned();
        self.push_word(text, variable, quoted);
        callee
    }

    /// Whether the command so far is only a variable: what follows may be an assignment.
    fn is_after_variable(&mut self) -> bool {
        matches!(self.frame().arguments.as_slice(), [only] if only.variable.is_some())
    }

    fn push_word(&mut self, text: Arg, variable: Option<String>, quoted: bool) {
        let frame = self.frame();
        if let Some((append, counts)) = frame.redirect.take() {
            if let Some(path) = text.filter(|_| counts) {
                frame.outputs.push((append, path));
            }
            return;
        }
        let joined = std::mem::take(&mut frame.joined);
        match frame.arguments.last_mut() {
            Some(last) if joined => last.words.push(text),
            _ => frame.arguments.push(Argument { words: smallvec![text], variable, quoted }),
        }
    }

    fn single_quoted(&mut self) -> String {
        let mut text = String::new();
        self.skip(1);
        while let Some((inner, after)) = self.rest.split_once('\'') {
            text.push_str(inner);
            self.rest = after;
            if !after.starts_with('\'') {
                return text;
            }
            text.push('\'');
            self.skip(1);
        }
        text.push_str(self.rest);
        self.rest = "";
        text
    }

    fn double_quoted(&mut self) -> Arg {
        let mut text = Some(CompactString::default());
        self.skip(1);
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' if self.rest.starts_with("\"\"") => {
                    self.skip(2);
                    append(&mut text, Some("\"".into()));
                }
                '"' => {
                    self.skip(1);
                    return text;
                }
                '`' => {
                    self.skip(1);
                    let escaped = self.rest.chars().next();
                    self.skip(escaped.map_or(0, char::len_utf8));
                    append(
                        &mut text,
                        escaped.map(|c| if c == 'n' { "\n".into() } else { c.to_compact_string() }),
                    );
                }
                '$' if self.rest.starts_with("$(") => {
                    // Its inside may hold quotes: skip to the bracket that closes it.
                    let mut depth = 0usize;
                    let end = self.rest.char_indices().find(|(_, c)| {
                        match c {
                            '(' => depth += 1,
                            ')' => depth = depth.saturating_sub(1),
                            _ => return false,
                        }
                        depth == 0
                    });
                    self.skip(end.map_or(self.rest.len(), |(at, _)| at + 1));
                    text = None;
                }
                '$' => {
                    let name = self.variable_name();
                    let value = if name.is_empty() { Some("$".into()) } else { self.value(&name) };
                    append(&mut text, value);
                }
                c => {
                    self.skip(c.len_utf8());
                    if let Some(text) = &mut text {
                        text.push(c);
                    }
                }
            }
        }
        text
    }

    /// `@'...'@` and `@"..."@`; the inner option is `None` when the text has variables in it.
    fn here_string(&mut self) -> Option<Arg> {
        let quote = if self.rest.starts_with("@'") {
            "'"
        } else if self.rest.starts_with("@\"") {
            "\""
        } else {
            return None;
        };
        let (head, body) = self.rest.get(2..)?.split_once('\n')?;
        if !head.trim().is_empty() {
            return None;
        }
        let end = format!("\n{quote}@");
        let (text, after) = match body.strip_prefix(end.trim_start()) {
            Some(after) => ("", after),
            None => body.split_once(end.as_str()).unwrap_or((body, "")),
        };
        self.rest = after;
        Some((quote == "'" || !text.contains('$')).then(|| text.into()))
    }

    /// Reads `$name`, `${name}` or `$scope:name` and returns it in lower case.
    fn variable_name(&mut self) -> String {
        self.skip(1);
        if let Some(rest) = self.rest.strip_prefix('{') {
            let (name, after) = rest.split_once('}').unwrap_or((rest, ""));
            self.rest = after;
            return name.to_ascii_lowercase();
        }
        let mut end = 0;
        for (at, c) in self.rest.char_indices() {
            let is_scope =
                c == ':' && self.rest.get(at + 1..).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
            if !c.is_alphanumeric() && c != '_' && !is_scope {
                break;
            }
            end = at + c.len_utf8();
        }
        let name = self.rest.get(..end).unwrap_or_default().to_ascii_lowercase();
        self.skip(end);
        name
    }

    fn value(&self, name: &str) -> Arg {
        match (name, &self.base) {
            ("home" | "env:userprofile" | "env:home", _) => Some("~".into()),
            ("pwd", Base::Dir(dir)) => Some(dir.as_str().into()),
            _ => self.variables.get(name).cloned().flatten(),
        }
    }

    fn next_step(&mut self) -> u16 {
        if let Some(step) = self.fixed {
            return step;
        }
        let step = self.steps;
        self.steps = self.steps.saturating_add(1);
        step
    }

    fn push(&mut self, kind: OpKind, path: &str, step: u16) {
        // `Env:X`, `Function:X`, `HKLM:\X` are drives that hold no files; patterns are not guessable.
        let drive = path.split_once(':').map_or("", |(drive, _)| drive);
        let is_other_drive = drive.len() > 1 && drive.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_other_drive && !path.contains(['*', '?']) {
            self.out.push(kind, path, &self.base, Confidence::Shell, step);
        }
    }

    /// Runs the command that the current frame holds and returns the literal text it is, if it is one.
    fn end_command(&mut self) -> Option<String> {
        let frame = self.frame();
        let callee = std::mem::take(&mut frame.callee);
        let frame = std::mem::replace(self.frame(), Frame { callee, ..Frame::default() });
        if frame.arguments.is_empty() && frame.outputs.is_empty() {
            return None;
        }
        let step = self.next_step();
        let text = self.command(&frame, step);
        for (append, path) in frame.outputs {
            self.push(if append { OpKind::Edit } else { OpKind::Write }, &path, step);
        }
        text
    }

    fn command(&mut self, frame: &Frame, step: u16) -> Option<String> {
        let mut arguments = frame.arguments.as_slice();
        if let [target, sign, rest @ ..] = arguments
            && let Some(name) = &target.variable
            && let [Some(sign)] = sign.words.as_slice()
            && sign.ends_with('=')
        {
            let value = match rest {
                _ if sign != "=" => None,
                [only] if only.quoted || only.variable.is_some() => only.words.first().cloned().flatten(),
                _ => None,
            };
            self.variables.insert(name.clone(), value);
            arguments = rest;
        }
        let (first, rest) = arguments.split_first()?;
        if first.variable.is_some() {
            return None;
        }
        let [Some(name)] = first.words.as_slice() else { return None };
        if first.quoted && rest.is_empty() {
            return Some(name.to_string());
        }
        self.cmdlet(name, rest, frame.input.as_deref(), step);
        None
    }

    fn cmdlet(&mut self, name: &str, arguments: &[Argument], input: Option<&str>, step: u16) {
        let lower = name.to_ascii_lowercase();
        let given = Given::of(arguments);
        match lower.as_str() {
            "get-content" | "gc" | "cat" | "type" | "import-csv" => {
                for path in given.paths(&["path", "literalpath"], 0) {
                    self.push(OpKind::Read, path, step);
                }
            }
            "tee-object" | "tee" if given.has_named(&["variable"]) => {}
            "set-content" | "out-file" | "export-csv" | "clear-content" | "tee-object" | "sc" | "clc"
            | "tee"
                if !given.has_named(&["variable"]) =>
            {
                let kind = if given.has("append") { OpKind::Edit } else { OpKind::Write };
                for path in given.paths(&["path", "literalpath", "filepath"], 0) {
                    self.push(kind.clone(), path, step);
                }
            }
            "add-content" | "ac" => {
                for path in given.paths(&["path", "literalpath"], 0) {
                    self.push(OpKind::Edit, path, step);
                }
            }
            "remove-item" | "rm" | "del" | "ri" | "erase" => {
                for path in given.paths(&["path", "literalpath"], 0) {
                    self.push(OpKind::Delete, path, step);
                }
            }
            "move-item" | "mv" | "mi" | "move" | "copy-item" | "cp" | "copy" | "cpi" => {
                let is_copy = matches!(lower.as_str(), "copy-item" | "cp" | "copy" | "cpi");
                self.transfer(&given, is_copy, step);
            }
            "rename-item" | "ren" | "rni" => {
                if let (Some(from), Some(to)) =
                    (given.path(&["path", "literalpath"], 0), given.path(&["newname"], 1))
                {
                    let dir = from.rfind(['/', '\\']).and_then(|at| from.get(..=at)).unwrap_or_default();
                    let to = if to.contains(['/', '\\']) { to.to_owned() } else { format!("{dir}{to}") };
                    self.out.rename(from, &to, &self.base, Confidence::Shell, step);
                }
            }
            "new-item" | "ni" => self.new_item(&given, step),
            "invoke-webrequest" | "iwr" => {
                for path in given.named(&["outfile"]) {
                    self.push(OpKind::Write, path, step);
                }
            }
            "set-location" | "cd" | "sl" | "chdir" | "push-location" | "pushd" => {
                self.base = match given.path(&["path", "literalpath"], 0) {
                    Some("-") | None => Base::Unknown,
                    Some(dir) => self.base.enter(dir),
                };
            }
            "pop-location" | "popd" => self.base = Base::Unknown,
            _ => {
                let argv: Vec<Arg> = std::iter::once(Some(name.into()))
                    .chain(arguments.iter().flat_map(|argument| argument.words.iter().cloned()))
                    .collect();
                shell::run_program(&argv, input, &self.base, step, self.out);
            }
        }
    }

    fn transfer(&mut self, given: &Given<'_>, is_copy: bool, step: u16) {
        let sources = given.paths(&["path", "literalpath"], 0);
        let at = usize::from(!given.has_named(&["path", "literalpath"]));
        let Some(target) = given.path(&["destination"], at) else { return };
        let is_directory = sources.len() > 1 || target.ends_with(['/', '\\']) || matches!(target, "." | "..");
        for from in sources {
            let name = from.rsplit(['/', '\\']).next().unwrap_or(from);
            let to = if is_directory { format!("{target}/{name}") } else { target.to_owned() };
            if from.contains(['*', '?']) {
                continue;
            }
            if !is_copy {
                self.out.rename(from, &to, &self.base, Confidence::Shell, step);
            } else if !given.has("recurse") || name.contains('.') {
                self.push(OpKind::Read, from, step);
                self.push(OpKind::Write, &to, step);
            }
        }
    }

    fn new_item(&mut self, given: &Given<'_>, step: u16) {
        let item = given.named(&["itemtype", "type"]).first().map(|kind| kind.to_ascii_lowercase());
        if matches!(item.as_deref(), Some("directory" | "container" | "junction" | "dir")) {
            return;
        }
        let path = given.path(&["path"], 0);
        match (path, given.named(&["name"]).first().copied()) {
            (Some(dir), Some(name)) => self.push(OpKind::Create, &format!("{dir}/{name}"), step),
            (Some(path), None) | (None, Some(path)) => self.push(OpKind::Create, path, step),
            (None, None) => {}
        }
    }
}

fn append(text: &mut Arg, part: Arg) {
    match (text.as_mut(), part) {
        (Some(text), Some(part)) => text.push_str(&part),
        _ => *text = None,
    }
}

/// Parameters that take a value, and switches; a name cut short means the first it fits.
const VALUED: &[&str] = &[
    "path",
    "literalpath",
    "filepath",
    "destination",
    "encoding",
    "value",
    "totalcount",
    "head",
    "first",
    "tail",
    "last",
    "readcount",
    "delimiter",
    "erroraction",
    "ea",
    "warningaction",
    "filter",
    "include",
    "exclude",
    "itemtype",
    "type",
    "name",
    "newname",
    "outfile",
    "uri",
    "inputobject",
    "stream",
    "width",
    "variable",
    "outvariable",
    "ov",
    "errorvariable",
];
const SWITCHES: &[&str] =
    &["append", "force", "recurse", "raw", "nonewline", "passthru", "wait", "confirm", "whatif", "verbose"];

/// Arguments sorted into named and positional ones.
struct Given<'a> {
    named: Vec<(&'static str, &'a Argument)>,
    switches: Vec<&'static str>,
    positional: Vec<&'a Argument>,
}

impl<'a> Given<'a> {
    fn of(arguments: &'a [Argument]) -> Self {
        let mut given = Self { named: Vec::new(), switches: Vec::new(), positional: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let parameter = match argument.words.as_slice() {
                [Some(word)] if !argument.quoted => word.strip_prefix('-').map(str::to_ascii_lowercase),
                _ => None,
            };
            match parameter {
                Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    let name = name.trim_end_matches(':');
                    let fits = |full: &&&'static str| full.starts_with(name);
                    let exact = |full: &&&'static str| **full == name;
                    let valued = VALUED.iter().find(exact);
                    let switch = SWITCHES.iter().find(fits);
                    if let Some(full) =
                        valued.or_else(|| if switch.is_some() { None } else { VALUED.iter().find(fits) })
                    {
                        if let Some(value) = arguments.next() {
                            given.named.push((full, value));
                        }
                    } else if let Some(full) = switch {
                        given.switches.push(full);
                    }
                }
                _ => given.positional.push(argument),
            }
        }
        given
    }

    fn has(&self, switch: &str) -> bool {
        self.switches.contains(&switch)
    }

    fn has_named(&self, names: &[&str]) -> bool {
        self.named.iter().any(|(name, _)| names.contains(name))
    }

    fn named(&self, names: &[&str]) -> Vec<&'a str> {
        let argument =
            self.named.iter().find(|(name, _)| names.contains(name)).map(|(_, argument)| *argument);
        argument
            .into_iter()
            .flat_map(|argument| argument.words.iter().flatten().map(CompactString::as_str))
            .collect()
    }

    /// Paths by name, or at a position when not named.
    fn paths(&self, names: &[&str], position: usize) -> Vec<&'a str> {
        if self.has_named(names) {
            return self.named(names);
        }
        let argument = self.positional.get(position).copied();
        argument
            .into_iter()
            .flat_map(|argument| argument.words.iter().flatten().map(CompactString::as_str))
            .collect()
    }

    fn path(&self, names: &[&str], position: usize) -> Option<&'a str> {
        self.paths(names, position).first().copied()
    }
}
