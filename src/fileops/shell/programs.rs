//! What programs do with the files among their arguments.
//!
//! Only programs whose arguments tell it for certain are here. Searching (`grep`, `rg`, `find`), listing, counting,
//! building and formatting read or write files too, but not ones that the agent then knows or that the command names.

use super::super::{Base, OpKind, inline, patch, powershell};
use compact_str::{CompactString, format_compact};

use super::{Arg, Shell, State, Value};

/// What a command gets on its standard input, as far as the script tells.
pub(super) struct Input<'t> {
    /// Text of a here-document or of the pipe.
    pub(super) text: Option<&'t str>,
    /// The file after `<`.
    pub(super) file: Option<String>,
}

/// Arguments sorted into options and the rest.
#[derive(Default)]
struct Sorted {
    /// Options as written: `-n`, `--lines`; short ones one by one.
    options: Vec<(CompactString, Arg)>,
    operands: Vec<Arg>,
}

impl Sorted {
    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    fn value(&self, names: &[&str]) -> Option<&str> {
        self.options.iter().rev().find(|(name, _)| names.contains(&name.as_str()))?.1.as_deref()
    }

    /// Operands that are known.
    fn files(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().flatten().map(CompactString::as_str)
    }
}

/// Sorts arguments by getopt's rules. `short` and `long` are the options that take a value.
fn sorted(args: &[Arg], short: &str, long: &[&str]) -> Sorted {
    let mut sorted = Sorted::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg else {
            sorted.operands.push(None);
            continue;
        };
        if text == "--" {
            sorted.operands.extend(args.by_ref().cloned());
        } else if let Some(option) = text.strip_prefix("--") {
            if let Some((name, value)) = option.split_once('=') {
                sorted.options.push((format_compact!("--{name}"), Some(value.into())));
            } else {
                let value = if long.contains(&option) { args.next().cloned().flatten() } else { None };
                sorted.options.push((text.clone(), value));
            }
        } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
            let mut flags = cluster.chars();
            while let Some(flag) = flags.next() {
                if short.contains(flag) {
                    let rest = flags.as_str();
                    let value =
                        if rest.is_empty() { args.next().cloned().flatten() } else { Some(rest.into()) };
                    sorted.options.push((format_compact!("-{flag}"), value));
                    break;
                }
                sorted.options.push((format_compact!("-{flag}"), None));
            }
        } else {
            sorted.operands.push(arg.clone());
        }
    }
    sorted
}

impl Shell<'_, '_> {
    /// Runs one program. Returns what it prints when that is plain text known here.
    pub(super) fn program(
        &mut self,
        argv: &[Arg],
        input: &Input<'_>,
        state: &mut State,
        step: u16,
    ) -> Option<String> {
        let argv = unwrapped(argv);
        let (Some(name), args) = (argv.first()?.as_deref(), argv.get(1..)?) else { return None };
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        match name {
            "cd" | "chdir" => change_directory(args, state),
            "pushd" => {
                let here = state.base.clone();
                state.stack.push(here);
                change_directory(args, state);
            }
            "popd" => {
                let base = state.stack.pop().unwrap_or(Base::Unknown);
                state.enter(base);
            }
            "read" | "mapfile" | "readarray" | "unset" => {
                for name in args.iter().flatten().filter(|arg| !arg.starts_with('-')) {
                    state.set(name, Value::Unknown);
                }
            }
            "export" | "declare" | "local" | "readonly" => {
                for (name, value) in args.iter().flatten().filter_map(|arg| arg.split_once('=')) {
                    state.set(name, Value::Text(value.into()));
                }
            }
            "cat" | "head" | "tail" | "nl" | "tac" | "less" | "more" | "bat" | "batcat" | "cut" | "sort"
            | "uniq" | "xxd" | "hexdump" | "od" => return self.reader(name, args, input, state, step),
            "echo" | "printf" => return printed(name, args),
            "sed" | "gsed" => self.sed(args, input, state, step),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(args, input, state, step),
            "jq" => self.jq(args, input, state, step),
            "yq" => self.yq(args, state, step),
            "perl" | "ruby" => self.perl(args, state, step),
            "tee" | "sponge" => {
                let sorted = sorted(args, "", &["output-error"]);
                let appends = sorted.has(&["-a", "--append"]);
                let kind = if appends { OpKind::Edit } else { OpKind::Write };
                for path in sorted.files() {
                    self.out.marks.appends = appends;
                    self.push(kind.clone(), path, state, step);
                    self.out.marks.appends = false;
                    if let (Some(text), Some(path)) = (input.text, state.base.resolve(path)) {
                        self.keep(&path, text);
                    }
                }
            }
            "touch" => {
                let sorted = sorted(args, "dtr", &["date", "reference", "time"]);
                if !sorted.has(&["-c", "--no-create"]) {
                    for path in sorted.files() {
                        self.push(OpKind::Create, path, state, step);
                    }
                }
            }
            "rm" | "unlink" | "trash" => {
                let sorted = sorted(args, "", &[]);
                self.out.marks.forced = sorted.has(&["-f", "--force"]);
                for path in sorted.files() {
                    self.push(OpKind::Delete, path, state, step);
                }
                self.out.marks.forced = false;
            }
            "mv" => {
                let sorted = sorted(args, "tS", &["target-directory", "suffix"]);
                self.moved(&sorted, state, step);
            }
            "cp" | "install" => self.copied(name, args, state, step),
            "ln" => self.linked(args, state, step),
            "truncate" => {
                let sorted = sorted(args, "sr", &["size", "reference"]);
                let is_emptied = sorted.value(&["-s", "--size"]) == Some("0");
                for path in sorted.files() {
                    let kind = if is_emptied { OpKind::Write } else { OpKind::Edit };
                    self.push(kind, path, state, step);
                }
            }
            "dd" => {
                for (key, path) in args.iter().flatten().filter_map(|arg| arg.split_once('=')) {
                    match key {
                        "if" => self.push(OpKind::Read, path, state, step),
                        "of" => self.push(OpKind::Write, path, state, step),
                        _ => {}
                    }
                }
            }
            "curl" => {
                let sorted =
                    sorted(args, "odHXuAbceFKmTUwxz", &["output", "data", "header", "request", "user"]);
                if let Some(path) = sorted.value(&["-o", "--output"]) {
                    self.push(OpKind::Write, path, state, step);
                }
            }
            "wget" => {
                let sorted = sorted(args, "OoaPetTUw", &["output-document"]);
                if let Some(path) = sorted.value(&["-O", "--output-document"]) {
                    self.push(OpKind::Write, path, state, step);
                }
            }
            "jupyter" => self.jupyter(args, state, step),
            "git" => self.git(args, input, state, step),
            "patch" => self.patch(args, input, state, step),
            "apply_patch" | "applypatch" => {
                let text = args.iter().flatten().find(|arg| patch::looks_like_patch(arg));
                let text = text.map(|text| text.clone().into());
                if let Some(text) = text.or_else(|| self.input_text(input, state)) {
                    patch::apply_patch(&text, &state.base, step, self.out);
                }
            }
            "bash" | "sh" | "zsh" | "dash" | "ksh" => self.shell_program(args, input, state, step),
            "eval" => {
                let words: Option<Vec<&str>> = args.iter().map(Option::as_deref).collect();
                if let Some(words) = words {
                    self.nested_script(&words.join(" "), state, step);
                }
            }
            "powershell" | "pwsh" => {
                if let Some(code) = powershell::code_of_arguments(args) {
                    powershell::run(&code, &state.base, Some(step), self.out);
                }
            }
            "node" | "bun" | "deno" | "tsx" => {
                if let Some(code) = self.code(args, &["-e", "--eval", "-p", "--print", "eval"], input, state)
                {
                    inline::javascript(&code, &state.base, step, self.out);
                }
            }
            _ if is_python(name) => {
                if let Some(code) = self.code(args, &["-c"], input, state) {
                    inline::python(&code, &state.base, step, self.out);
                }
            }
            _ => {}
        }
        None
    }

    /// Programs that print the files they are given.
    fn reader(
        &mut self,
        name: &str,
        args: &[Arg],
        input: &Input<'_>,
        state: &State,
        step: u16,
    ) -> Option<String> {
        let short = match name {
            "head" => "nc",
            "tail" => "ncs",
            "nl" => "bdfhilnsvw",
            "less" => "pPkoxyzbhjtT",
            "bat" | "batcat" => "rlHm",
            "cut" => "bcdf",
            "sort" => "koStT",
            "uniq" => "fsw",
            "xxd" => "clsgo",
            "hexdump" => "nse",
            "od" => "AjNStw",
            _ => "",
        };
        let long = [
            "lines",
            "bytes",
            "style",
            "theme",
            "language",
            "line-range",
            "highlight-line",
            "paging",
            "key",
            "delimiter",
            "fields",
            "output",
            "color",
            "wrap",
            "tabs",
            "map-syntax",
            "file-name",
            "number-format",
        ];
        let mut sorted = sorted(args, short, &long);
        if let Some(path) = sorted.value(&["-o", "--output"]).filter(|_| name == "sort") {
            self.push(OpKind::Write, path, state, step);
        }
        if matches!(name, "uniq" | "xxd") {
            sorted.operands.truncate(1);
        }
        let is_offset = |arg: &str| name != "cat" && arg.starts_with('+');
        sorted.operands.retain(|arg| !arg.as_deref().is_some_and(is_offset));
        for path in sorted.files() {
            self.read(path, state, step);
        }
        if sorted.operands.is_empty() || sorted.files().eq(["-"]) {
            if let Some(path) = &input.file {
                self.read(path, state, step);
            } else if name == "cat" && sorted.options.is_empty() {
                return input.text.map(str::to_owned);
            }
        }
        None
    }

    /// Reading `dir/` is an error or a listing.
    fn read(&mut self, path: &str, state: &State, step: u16) {
        if !path.ends_with('/') {
            self.push(OpKind::Read, path, state, step);
        }
    }

    fn sed(&mut self, args: &[Arg], input: &Input<'_>, state: &State, step: u16) {
        let mut in_place = false;
        let mut suffix = None;
        let mut has_script = false;
        let mut operands: Vec<&Arg> = Vec::new();
        let mut rest = args.iter().peekable();
        while let Some(arg) = rest.next() {
            let Some(text) = arg else {
                operands.push(arg);
                continue;
            };
            if text == "--" {
                operands.extend(rest.by_ref());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                match name {
                    "in-place" => (in_place, suffix) = (true, value.map(str::to_owned)),
                    "expression" | "file" => {
                        has_script = true;
                        if value.is_none() {
                            rest.next();
                        }
                    }
                    _ => {}
                }
            } else if let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) {
                let mut flags = cluster.chars();
                while let Some(flag) = flags.next() {
                    match flag {
                        'i' => {
                            in_place = true;
                            let attached = flags.as_str();
                            if !attached.is_empty() {
                                suffix = Some(attached.to_owned());
                            } else if let Some(Some(next)) = rest.peek()
                                && (next.is_empty() || is_suffix(next))
                            {
                                // BSD takes the suffix as a word of its own, empty for none.
                                suffix = Some(next.to_string());
                                rest.next();
                            }
                            break;
                        }
                        'e' | 'f' => {
                            has_script = true;
                            if flags.as_str().is_empty() {
                                rest.next();
                            }
                            break;
                        }
                        'l' => {
                            if flags.as_str().is_empty() {
                                rest.next();
                            }
                            break;
                        }
                        _ => {}
                    }
                }
            } else {
                operands.push(arg);
            }
        }
        let files = operands.get(usize::from(!has_script)..).unwrap_or_default();
        for path in files.iter().filter_map(|arg| arg.as_deref()) {
            if in_place {
                self.edited_in_place(path, suffix.as_deref(), state, step);
            } else {
                self.read(path, state, step);
            }
        }
        if files.is_empty()
            && let Some(path) = &input.file
        {
            self.read(path, state, step);
        }
    }

    /// An edit in place, with the copy that a suffix asks for.
    fn edited_in_place(&mut self, path: &str, suffix: Option<&str>, state: &State, step: u16) {
        if let Some(suffix) = suffix.filter(|suffix| is_suffix(suffix)) {
            self.push(OpKind::Write, &format!("{path}{suffix}"), state, step);
        }
        self.push(OpKind::Edit, path, state, step);
    }

    fn awk(&mut self, args: &[Arg], input: &Input<'_>, state: &State, step: u16) {
        let sorted = sorted(args, "Fvfi", &["field-separator", "assign", "file", "include"]);
        let has_program = sorted.has(&["-f", "--file"]);
        let files = sorted.operands.get(usize::from(!has_program)..).unwrap_or_default();
        let in_place = sorted.value(&["-i", "--include"]) == Some("inplace");
        let is_assignment = |arg: &str| {
            arg.split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        };
        for path in files.iter().flatten().filter(|arg| !is_assignment(arg)) {
            if in_place {
                self.push(OpKind::Edit, path, state, step);
            } else {
                self.read(path, state, step);
            }
        }
        if files.is_empty()
            && let Some(path) = &input.file
        {
            self.read(path, state, step);
        }
    }

    fn jq(&mut self, args: &[Arg], input: &Input<'_>, state: &State, step: u16) {
        let mut operands: Vec<&Arg> = Vec::new();
        let mut has_filter = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_deref() {
                Some("--arg" | "--argjson" | "--slurpfile" | "--rawfile") => {
                    args.nth(1);
                }
                Some("--indent" | "-L") => {
                    args.next();
                }
                Some("-f" | "--from-file") => {
                    has_filter = true;
                    args.next();
                }
                Some("--args" | "--jsonargs") => break,
                Some(option) if option.starts_with('-') && option.len() > 1 => {}
                _ => operands.push(arg),
            }
        }
        let files = operands.get(usize::from(!has_filter)..).unwrap_or_default();
        for path in files.iter().filter_map(|arg| arg.as_deref()) {
            self.read(path, state, step);
        }
        if files.is_empty()
            && let Some(path) = &input.file
        {
            self.read(path, state, step);
        }
    }

    fn yq(&mut self, args: &[Arg], state: &State, step: u16) {
        let sorted = sorted(args, "pIos", &["input-format", "output-format", "indent"]);
        let in_place = sorted.has(&["-i", "--inplace", "--in-place"]);
        let is_command =
            matches!(sorted.operands.first(), Some(Some(first)) if matches!(first.as_str(), "eval" | "e"));
        for path in sorted.operands.iter().skip(1 + usize::from(is_command)).flatten() {
            if in_place {
                self.push(OpKind::Edit, path, state, step);
            } else {
                self.read(path, state, step);
            }
        }
    }

    /// `perl -pi -e`, and `ruby` with the same options.
    fn perl(&mut self, args: &[Arg], state: &State, step: u16) {
        let (mut in_place, mut suffix, mut loops, mut has_code) = (false, None, false, false);
        let mut operands: Vec<&Arg> = Vec::new();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let cluster = match arg.as_deref() {
                Some("--") => {
                    operands.extend(args.by_ref());
                    break;
                }
                Some(text) if operands.is_empty() => text.strip_prefix('-'),
                _ => None,
            };
            let Some(cluster) = cluster else {
                operands.push(arg);
                continue;
            };
            let mut flags = cluster.chars();
            while let Some(flag) = flags.next() {
                match flag {
                    'i' => {
                        in_place = true;
                        suffix = Some(flags.as_str().to_owned()).filter(|suffix| !suffix.is_empty());
                        break;
                    }
                    'e' | 'E' => {
                        has_code = true;
                        if flags.as_str().is_empty() {
                            args.next();
                        }
                        break;
                    }
                    'p' | 'n' => loops = true,
                    'M' | 'I' | 'm' => {
                        if flags.as_str().is_empty() {
                            args.next();
                        }
                        break;
                    }
                    _ => {}
                }
            }
        }
        if !has_code || !loops && !in_place {
            return;
        }
        for path in operands.iter().filter_map(|arg| arg.as_deref()) {
            if in_place {
                self.edited_in_place(path, suffix.as_deref(), state, step);
            } else {
                self.read(path, state, step);
            }
        }
    }

    /// Source and target pairs of `mv`, `cp` and their kin: target last, or first with `-t`.
    fn pairs(sorted: &Sorted) -> Vec<(String, String)> {
        let (sources, target, is_directory) = match sorted.value(&["-t", "--target-directory"]) {
            Some(target) => (sorted.operands.as_slice(), target, true),
            None => match sorted.operands.split_last() {
                Some((Some(target), sources)) => (sources, target.as_str(), false),
                _ => return Vec::new(),
            },
        };
        let is_directory = is_directory
            || sources.len() > 1
            || target.ends_with('/')
            || matches!(target, "." | "..")
            || target.ends_with("/.")
            || target.ends_with("/..");
        let pair = |source: &CompactString| {
            if !is_directory {
                return Some((source.to_string(), target.to_owned()));
            }
            let name = source
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .filter(|name| !matches!(*name, "" | "." | ".."))?;
            Some((source.to_string(), format!("{}/{name}", target.trim_end_matches('/'))))
        };
        sources.iter().flatten().filter_map(pair).collect()
    }

    fn moved(&mut self, sorted: &Sorted, state: &State, step: u16) {
        for (from, to) in Self::pairs(sorted) {
            self.out.rename(&from, &to, &state.base, super::Confidence::Shell, step);
        }
    }

    fn copied(&mut self, name: &str, args: &[Arg], state: &State, step: u16) {
        let short = if name == "cp" { "tS" } else { "tSmog" };
        let sorted = sorted(args, short, &["target-directory", "suffix", "mode", "owner", "group"]);
        if name == "install" && sorted.has(&["-d", "--directory"]) {
            return;
        }
        // A tree is not read file by file, and only what looks like a file name is surely no tree.
        let may_be_tree = name == "cp" && sorted.has(&["-r", "-R", "-a", "--recursive", "--archive"]);
        for (from, to) in Self::pairs(&sorted) {
            let base = from.rsplit('/').next().unwrap_or(&from);
            let looks_like_file =
                base.char_indices().any(|(at, c)| c == '.' && at > 0) && !matches!(base, "..");
            if may_be_tree && !looks_like_file {
                continue;
            }
            self.read(&from, state, step);
            self.push(OpKind::Write, &to, state, step);
        }
    }

    fn linked(&mut self, args: &[Arg], state: &State, step: u16) {
        let mut sorted = sorted(args, "tS", &["target-directory", "suffix"]);
        if sorted.operands.len() == 1 && !sorted.has(&["-t", "--target-directory"]) {
            sorted.operands.push(Some("./".into()));
        }
        for (_, link) in Self::pairs(&sorted) {
            self.push(OpKind::Create, &link, state, step);
        }
    }

    /// `jupyter nbconvert`: a notebook run or converted into another file, or in place.
    fn jupyter(&mut self, args: &[Arg], state: &State, step: u16) {
        let Some((Some(command), args)) = args.split_first() else { return };
        if command != "nbconvert" {
            return;
        }
        let sorted = sorted(args, "", &["to", "output", "output-dir", "template", "config"]);
        let Some(notebook) = sorted.files().next().map(str::to_owned) else { return };
        self.read(&notebook, state, step);
        if sorted.has(&["--inplace"]) {
            self.push(OpKind::Edit, &notebook, state, step);
        } else if let Some(output) = sorted.value(&["--output"]) {
            // Its place is beside the notebook, and its ending goes without saying.
            let beside = notebook.rsplit_once('/').map(|(directory, _)| directory);
            let directory = sorted.value(&["--output-dir"]).or(beside).filter(|_| !output.contains('/'));
            let mut path = directory.map_or_else(|| output.to_owned(), |at| format!("{at}/{output}"));
            if sorted.value(&["--to"]) == Some("notebook") {
                path.truncate(path.trim_end_matches(".ipynb").len());
                path.push_str(".ipynb");
            }
            self.push(OpKind::Write, &path, state, step);
        }
    }

    fn git(&mut self, args: &[Arg], input: &Input<'_>, state: &State, step: u16) {
        let mut state = state.clone();
        let mut args = args;
        loop {
            let Some((first, rest)) = args.split_first() else { return };
            let Some(first) = first.as_deref() else { return };
            args = rest;
            match first {
                "-C" => {
                    let Some((dir, rest)) = args.split_first() else { return };
                    let base = dir.as_deref().map_or(Base::Unknown, |dir| state.base.enter(dir));
                    state.enter(base);
                    args = rest;
                }
                "-c" | "--git-dir" | "--work-tree" => args = args.get(1..).unwrap_or_default(),
                option if option.starts_with('-') => {}
                subcommand => return self.git_subcommand(subcommand, args, input, &state, step),
            }
        }
    }

    fn git_subcommand(
        &mut self,
        subcommand: &str,
        args: &[Arg],
        input: &Input<'_>,
        state: &State,
        step: u16,
    ) {
        match subcommand {
            "mv" => {
                let sorted = sorted(args, "", &[]);
                if !sorted.has(&["-n", "--dry-run"]) {
                    self.moved(&sorted, state, step);
                }
            }
            "rm" => {
                let sorted = sorted(args, "", &[]);
                if !sorted.has(&["--cached", "-n", "--dry-run"]) {
                    for path in sorted.files() {
                        self.push(OpKind::Delete, path, state, step);
                    }
                }
            }
            "checkout" => {
                // Without `--` a name may be a branch, unless an option or its place says that it is a path.
                let paths: Vec<&str> = if let Some(at) =
                    args.iter().position(|arg| arg.as_deref() == Some("--"))
                {
                    args.iter().skip(at + 1).flatten().map(CompactString::as_str).collect()
                } else {
                    let sorted = sorted(args, "bB", &["orphan", "conflict"]);
                    if sorted.has(&["-b", "-B", "--orphan", "-t", "--track"]) {
                        return;
                    }
                    let takes_paths = sorted.has(&["--ours", "--theirs"]);
                    let skipped = usize::from(!takes_paths && sorted.operands.len() > 1);
                    let operands = args.iter().flatten().filter(|arg| !arg.starts_with('-')).skip(skipped);
                    operands
                        .map(CompactString::as_str)
                        .filter(|path| takes_paths || is_file_name(path))
                        .collect()
                };
                for path in paths {
                    self.push(OpKind::Edit, path, state, step);
                }
            }
            "restore" => {
                let sorted = sorted(args, "s", &["source", "pathspec-from-file"]);
                let index_only = sorted.has(&["-S", "--staged"]) && !sorted.has(&["-W", "--worktree"]);
                if !index_only {
                    for path in sorted.files() {
                        self.push(OpKind::Edit, path, state, step);
                    }
                }
            }
            "apply" => {
                let sorted = sorted(args, "pC", &["directory", "exclude", "include", "whitespace"]);
                if sorted.has(&["--check", "--stat", "--numstat", "--summary", "--cached"]) {
                    return;
                }
                let how = patch::Unified {
                    strip: sorted.value(&["-p"]).and_then(|count| count.parse().ok()),
                    reverse: sorted.has(&["-R", "--reverse"]),
                    ..patch::Unified::default()
                };
                let mut texts: Vec<String> =
                    sorted.files().filter_map(|path| self.kept_text(path, state)).collect();
                if sorted.operands.is_empty() || sorted.files().eq(["-"]) {
                    texts.extend(self.input_text(input, state));
                }
                for text in texts {
                    patch::unified(&text, &how, &state.base, step, self.out);
                }
            }
            _ => {}
        }
    }

    fn patch(&mut self, args: &[Arg], input: &Input<'_>, state: &State, step: u16) {
        let sorted = sorted(args, "pidFoBVrzDY", &["strip", "input", "directory", "fuzz", "output"]);
        if sorted.has(&["--dry-run", "-C", "--check"]) {
            return;
        }
        // A named file is the one that is patched, whatever the headers say.
        if let Some(path) = sorted.files().next() {
            return self.push(OpKind::Edit, path, state, step);
        }
        let mut base = state.base.clone();
        if let Some(dir) = sorted.value(&["-d", "--directory"]) {
            base = base.enter(dir);
        }
        let text = match sorted.value(&["-i", "--input"]) {
            Some(path) => self.kept_text(path, state),
            None => self.input_text(input, state),
        };
        let how = patch::Unified {
            strip: sorted.value(&["-p", "--strip"]).and_then(|count| count.parse().ok()),
            reverse: sorted.has(&["-R", "--reverse"]),
            ..patch::Unified::default()
        };
        if let Some(text) = text {
            patch::unified(&text, &how, &base, step, self.out);
        }
    }

    /// The text on standard input: of a here-document, the pipe, or a file this script wrote.
    fn input_text(&self, input: &Input<'_>, state: &State) -> Option<String> {
        match (&input.file, input.text) {
            (Some(path), _) => self.kept_text(path, state),
            (None, text) => text.map(str::to_owned),
        }
    }

    fn shell_program(&mut self, args: &[Arg], input: &Input<'_>, state: &mut State, step: u16) {
        let at = args.iter().position(|arg| arg.as_deref().is_some_and(super::is_command_flag));
        let script = match at {
            Some(at) => args.get(at + 1).cloned().flatten().map(String::from),
            None => match args.iter().find(|arg| !arg.as_deref().is_some_and(|arg| arg.starts_with('-'))) {
                Some(Some(path)) => self.kept_text(path, state),
                Some(None) => None,
                None => self.input_text(input, state),
            },
        };
        if let Some(script) = script {
            self.nested_script(&script, &mut state.clone(), step);
        }
    }

    /// The program text that an interpreter gets: by option, as a file this script wrote, or on standard input.
    fn code(&self, args: &[Arg], options: &[&str], input: &Input<'_>, state: &State) -> Option<String> {
        let mut args_left = args.iter();
        while let Some(arg) = args_left.next() {
            match arg.as_deref()? {
                option if options.contains(&option) => return args_left.next()?.clone().map(String::from),
                "-" => return self.input_text(input, state),
                "-m" => return None,
                "-W" | "-X" => {
                    args_left.next();
                }
                option if option.starts_with('-') => {}
                path => return self.kept_text(path, state),
            }
        }
        self.input_text(input, state)
    }
}

fn change_directory(args: &[Arg], state: &mut State) {
    let mut targets =
        args.iter().filter(|arg| !matches!(arg.as_deref(), Some("--" | "-P" | "-L" | "-e" | "/d")));
    let base = match targets.next() {
        None => Base::Dir(arcstr::literal!("~")),
        Some(Some(dir)) if dir == "-" => state.old.clone(),
        Some(Some(dir)) if dir.starts_with('+') || dir.contains(super::UNKNOWN) => Base::Unknown,
        Some(Some(dir)) => state.base.enter(dir),
        Some(None) => Base::Unknown,
    };
    state.enter(base);
}

/// What `echo` and `printf` print, where a pipe may carry it on to `patch` or an interpreter.
fn printed(name: &str, args: &[Arg]) -> Option<String> {
    let words: Option<Vec<&str>> = args.iter().map(Option::as_deref).collect();
    let words = words?;
    let words = match words.as_slice() {
        ["-e" | "-n" | "-en" | "-ne" | "%s" | "%s\\n", rest @ ..] => rest,
        all => all,
    };
    let text = words.join(" ");
    Some(if name == "printf" || args.first().is_some_and(|arg| arg.as_deref() == Some("-e")) {
        text.replace("\\n", "\n")
    } else {
        text
    })
}

/// Whether a word that could be a branch is the path of a file: `src/a.rs`, hardly `release/1.2`.
fn is_file_name(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=5).contains(&end.len())
            && end.starts_with(|c: char| c.is_ascii_alphabetic())
            && end.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// A suffix for copies of files edited in place: `.bak`, `~`.
fn is_suffix(text: &str) -> bool {
    text == "~"
        || text.strip_prefix(['.', '_']).is_some_and(|rest| {
            !rest.is_empty() && rest.len() <= 12 && rest.chars().all(|c| c.is_ascii_alphanumeric())
        })
}

fn is_python(name: &str) -> bool {
    name == "py"
        || name
            .strip_prefix("python")
            .is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Takes off what runs another command: `sudo -u x`, `env A=b`, `timeout 5`, `uv run`.
fn unwrapped(argv: &[Arg]) -> &[Arg] {
    let mut argv = argv;
    // Each turn drops at least one word; real commands have one or two of these.
    for _ in 0..8 {
        let Some((Some(name), rest)) = argv.split_first() else { return argv };
        let values = match name.rsplit('/').next().unwrap_or(name) {
            "sudo" | "doas" => "ughpCUDRT",
            "env" => "uCS",
            "timeout" => "sk",
            "nice" => "n",
            "ionice" => "cnp",
            "stdbuf" => "ioe",
            "exec" => "a",
            "time" => "fo",
            "command" | "builtin" | "nohup" | "setsid" | "caffeinate" | "noglob" | "nocorrect" => "",
            "uv" | "poetry" | "pipenv" | "rye" | "hatch" | "pdm" | "conda" | "mise" | "direnv" => {
                let is_program = |arg: &Arg| {
                    arg.as_deref()
                        .is_some_and(|word| is_python(word) || matches!(word, "bash" | "sh" | "node"))
                };
                return match argv.iter().position(is_program) {
                    Some(at) => argv.get(at..).unwrap_or_default(),
                    None => argv,
                };
            }
            _ => return argv,
        };
        let is_lookup = |arg: &Arg| matches!(arg.as_deref(), Some("-v" | "-V"));
        if name == "command" && rest.first().is_some_and(is_lookup) {
            return &[];
        }
        let mut rest = rest;
        while let Some((Some(word), after)) = rest.split_first() {
            let is_option = word.starts_with('-') && word.len() > 1;
            let is_assignment = matches!(name.as_str(), "env" | "sudo")
                && word.split_once('=').is_some_and(|(key, _)| !key.contains('/'));
            if !is_option && !is_assignment {
                break;
            }
            rest = after;
            let takes_next = word.len() == 2 && word.chars().nth(1).is_some_and(|flag| values.contains(flag));
            if is_option && takes_next {
                rest = rest.get(1..).unwrap_or_default();
            }
            if word == "--" {
                break;
            }
        }
        if name.ends_with("timeout") {
            rest = rest.get(1..).unwrap_or_default();
        }
        argv = rest;
    }
    argv
}
