//! Identifiers: strings that name one thing and cannot be paraphrased.

mod versions;

use super::{Border, CLASS, LazyLock, Regex, WORD, has_digit, pattern};
use rustc_hash::FxHashSet;
use std::cell::LazyCell;
use versions::{hashes_and_versions, short_versions};

/// An identifier in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::facts) struct Found {
    pub(in crate::facts) value: String,
    pub(in crate::facts) spelled: Spelled,
    pub(in crate::facts) border: Border,
}

/// How an identifier may be spelled elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::facts) enum Spelled {
    Same,
    /// `v` may be left out or put before: the same version.
    Version,
    Port,
}

impl Spelled {
    /// The spellings of such an identifier.
    pub(in crate::facts) fn surfaces(self, value: &str) -> Vec<String> {
        match self {
            Self::Same => vec![value.to_owned()],
            Self::Version => {
                let other = value.strip_prefix('v').map_or_else(|| format!("v{value}"), str::to_owned);
                vec![value.to_owned(), other]
            }
            Self::Port => {
                let number = value.strip_prefix(PORT_OPENING).unwrap_or(value);
                [
                    ":", "port ", "port: ", "port=", "port is ", "ports ", "Port ", "PORT=", "Port: ",
                    "PORT ", "端口", "端口 ", "-p ", "--port ", "--port=", "port to ",
                ]
                .iter()
                .map(|before| format!("{before}{number}"))
                .collect()
            }
        }
    }
}

fn plain(value: &str, border: Border) -> Found {
    Found { value: value.to_owned(), spelled: Spelled::Same, border }
}

/// File name extensions: a dotted name that ends in one is a file, not a symbol.
pub(super) const EXTENSIONS: &[&str] = &[
    "rs",
    "py",
    "ts",
    "tsx",
    "js",
    "jsx",
    "mjs",
    "cjs",
    "go",
    "java",
    "kt",
    "c",
    "h",
    "cc",
    "cpp",
    "hpp",
    "cs",
    "rb",
    "php",
    "swift",
    "m",
    "scala",
    "sh",
    "bash",
    "zsh",
    "fish",
    "ps1",
    "md",
    "mdx",
    "txt",
    "rst",
    "json",
    "jsonl",
    "toml",
    "yaml",
    "yml",
    "xml",
    "html",
    "htm",
    "css",
    "scss",
    "sass",
    "less",
    "sql",
    "lock",
    "cfg",
    "ini",
    "conf",
    "env",
    "log",
    "csv",
    "tsv",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "ico",
    "pdf",
    "zip",
    "gz",
    "tar",
    "zst",
    "proto",
    "graphql",
    "vue",
    "svelte",
    "astro",
    "dart",
    "ex",
    "exs",
    "erl",
    "hs",
    "ml",
    "lua",
    "r",
    "jl",
    "pl",
    "zig",
    "nix",
    "tf",
    "gradle",
    "properties",
    "plist",
    "wasm",
    "so",
    "dll",
    "exe",
    "bin",
    "db",
    "sqlite",
    "ipynb",
    "tex",
    "bib",
    "patch",
    "diff",
    "bak",
    "tmp",
    "map",
    "snap",
    "com",
    "org",
    "net",
    "io",
    "dev",
    "app",
    "ai",
    "local",
    "service",
    "yaml-ci",
    "pem",
    "key",
    "example",
    "sample",
    "template",
    "tmpl",
    "dist",
    "bak",
    "orig",
    "mod",
    "sum",
];

static COMMIT_MADE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?m)^(?:\[[^\]\s]+(?: \([^)]*\))? ([0-9a-f]{7,40})\] |([0-9a-f]{7,12})(?:$| \S))")
});

/// The commit that a script with `git commit` reports: `[main 1a2b3c4] message`, or the first line of a short log.
pub(super) fn commit_made(output: &str) -> Option<Found> {
    let found = COMMIT_MADE.as_ref()?.captures(output)?;
    let hash = found.get(1).or(found.get(2))?.as_str();
    hash.bytes().any(|byte| byte.is_ascii_digit()).then(|| plain(hash, Border::Word))
}

/// Names that the log's own paths give: its modules (stems of files and directories) and its projects.
#[derive(Debug, Default)]
pub(in crate::facts) struct Names {
    /// Stems of files and names of directories inside the projects.
    pub(in crate::facts) modules: FxHashSet<String>,
    /// Last components of the working directories, in lower case.
    pub(in crate::facts) projects: FxHashSet<String>,
    /// First components of the environment variables seen so far: `BERTHD` of `BERTHD_LISTEN`.
    prefixes: FxHashSet<String>,
}

impl Names {
    /// Takes up a working directory.
    pub(in crate::facts) fn project(&mut self, cwd: &str) {
        if let Some(name) = cwd.rsplit(['/', '\\']).find(|name| !name.is_empty()) {
            self.projects.insert(name.to_ascii_lowercase());
        }
    }

    /// Does another variable, or the project, share the first component of this name?
    fn shares_prefix(&self, name: &str) -> bool {
        name.split_once('_').is_some_and(|(prefix, _)| {
            self.prefixes.contains(prefix) || self.projects.contains(&prefix.to_ascii_lowercase())
        })
    }

    /// Takes up an environment variable.
    fn variable(&mut self, name: &str) {
        if let Some((prefix, _)) = name.split_once('_')
            && prefix.len() >= 2
            && !self.prefixes.contains(prefix)
        {
            self.prefixes.insert(prefix.to_owned());
        }
    }

    /// Takes up a path relative to its project.
    pub(in crate::facts) fn path(&mut self, relative: &str) {
        for part in relative.split('/').filter(|part| !part.is_empty()) {
            let stem = part.split('.').next().unwrap_or(part);
            if stem.len() >= 2 && !self.modules.contains(stem) {
                self.modules.insert(stem.to_owned());
            }
        }
    }
}

/// Modules and packages of common languages that code is spoken of with.
const MODULES: &[&str] = &[
    "asyncio",
    "collections",
    "console",
    "context",
    "crypto",
    "datetime",
    "decimal",
    "document",
    "errors",
    "express",
    "filepath",
    "fmt",
    "fs",
    "functools",
    "http",
    "httpx",
    "importlib",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "navigator",
    "net",
    "np",
    "numpy",
    "os",
    "pandas",
    "path",
    "pathlib",
    "pd",
    "performance",
    "process",
    "pytest",
    "random",
    "re",
    "requests",
    "shutil",
    "socket",
    "sql",
    "sqlite3",
    "strconv",
    "strings",
    "struct",
    "subprocess",
    "sync",
    "sys",
    "tempfile",
    "threading",
    "time",
    "torch",
    "typing",
    "unittest",
    "url",
    "urllib",
    "util",
    "window",
    "zoneinfo",
];

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"\b(?:https?|wss?|ftp|ssh|git|grpc|postgres(?:ql)?|mysql|redis|mongodb(?:\+srv)?|amqps?|s3|gs|jdbc:[a-z]+)://[^\s<>"'`\\|{}\[\]，。；、）】」]+"#,
    )
});
static TICKET: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"\b(?:CVE-[0-9]{4}-[0-9]{4,}|[A-Z][A-Z0-9]{1,9}-[0-9]{1,6})\b"));
static NUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:issues?|prs?|pull request|ticket|bug|mr|gh|fix(?:es|ed)?|close[sd]?|resolve[sd]?)[ \-]?(#[0-9]{1,6})\b|\b([A-Za-z0-9][A-Za-z0-9\-]*/[A-Za-z0-9_.\-]+#[0-9]{1,6})\b",
    )
});
static PORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[a-z][a-z0-9\-]*(?:\.[a-z0-9\-]+)+|0\.0\.0\.0|host):|\b(?:on|at|listen|listens|listening|bind|binds|expose|exposes|serve|serves) `?:|(?:^|[\s`]):|\bports?(?:[ =]|: ?| is | to | number )|端口(?:是|为|：|: ?)? ?|\s-p |--port[= ]|(?:^|[\s(])PORT=)([0-9]{2,5})\b",
    )
});
static ENVIRONMENT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"));
/// `NAME=value` and `$NAME`, also without an underscore.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?:^|[\s;&|(`])([A-Z][A-Z0-9_]*[A-Z0-9])=[^=\s]|\$\{?([A-Z][A-Z0-9_]*[A-Z0-9])\b")
});
static CONTEXT: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(?:env|environment|export|environ|getenv|envs)\b|环境变量|環境変数"));
static SYMBOL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"\b[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)+|\b[A-Za-z_$][A-Za-z0-9_]*(?:[.#][A-Za-z_][A-Za-z0-9_]*)+",
    )
});

/// Identifiers of a text. In a command an assignment before the program makes an environment variable, and dotted
/// names, versions and symbols are left to prose.
pub(in crate::facts) fn find(text: &str, command: bool, names: &mut Names) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    let mut covered: Vec<(usize, usize)> = Vec::new();
    if may_have_url(text)
        && let Some(url) = URL.as_ref()
    {
        for found in url.find_iter(text) {
            let value = trim_url(found.as_str());
            covered.push((found.start(), found.end()));
            if value.split_once("://").is_some_and(|(_, rest)| rest.len() >= 3) {
                out.push(plain(value, Border::Tight));
            }
        }
    }
    let free = |covered: &[(usize, usize)], start: usize, end: usize| {
        !covered.iter().any(|(from, to)| start < *to && *from < end)
    };
    if has_digit(text) {
        hashes_and_versions(text, &mut covered, &mut out);
        out.extend(short_versions(text, names));
        if may_have_ticket(text)
            && let Some(ticket) = TICKET.as_ref()
        {
            for found in ticket.find_iter(text) {
                if free(&covered, found.start(), found.end()) && is_ticket(text, found.start(), found.end()) {
                    covered.push((found.start(), found.end()));
                    out.push(plain(found.as_str(), Border::Name));
                }
            }
        }
        if may_be_numbered(text)
            && let Some(numbered) = NUMBERED.as_ref()
        {
            for found in numbered.captures_iter(text) {
                if let Some(found) = found.get(1).or_else(|| found.get(2))
                    && free(&covered, found.start(), found.end())
                {
                    out.push(plain(found.as_str(), Border::Name));
                }
            }
        }
        if may_have_port(text)
            && let Some(port) = PORT.as_ref()
        {
            for found in port.captures_iter(text) {
                let Some(number) = found.get(1) else { continue };
                let value: u32 = number.as_str().parse().unwrap_or(0);
                if (80..=65_535).contains(&value)
                    && !after_file_name(text, number.start())
                    && (free(&covered, number.start(), number.end())
                        || in_url(&covered, text, number.start()))
                {
                    out.push(port_of(number.as_str()));
                }
            }
        }
    }
    if memchr::memchr2(b'=', b'$', text.as_bytes()).is_some()
        && let Some(assigned) = ASSIGNED.as_ref()
    {
        for found in assigned.captures_iter(text) {
            if let Some(found) = found.get(1).or_else(|| found.get(2))
                && found.as_str().len() >= 3
                && !SHELL_OWN.contains(&found.as_str())
                && free(&covered, found.start(), found.end())
            {
                covered.push((found.start(), found.end()));
                names.variable(found.as_str());
                out.push(plain(found.as_str(), Border::Word));
            }
        }
    }
    if may_have_variable(text)
        && let Some(environment) = ENVIRONMENT.as_ref()
    {
        let context = LazyCell::new(|| CONTEXT.as_ref().is_some_and(|context| context.is_match(text)));
        for found in environment.find_iter(text) {
            if free(&covered, found.start(), found.end())
                && is_environment(
                    text,
                    found.start(),
                    found.end(),
                    *context || names.shares_prefix(found.as_str()),
                    command,
                )
            {
                names.variable(found.as_str());
                out.push(plain(found.as_str(), Border::Word));
            }
        }
    }
    if !command
        && may_have_symbol(text)
        && let Some(symbol) = SYMBOL.as_ref()
    {
        for found in symbol.find_iter(text) {
            if free(&covered, found.start(), found.end())
                && is_symbol(text, found.start(), found.end(), names)
            {
                out.push(plain(found.as_str(), Border::Name));
            }
        }
    }
    out
}

/// Does one of the places of a sign stand between two bytes that fit?
fn between(
    text: &str,
    mut signs: impl Iterator<Item = usize>,
    left: impl Fn(u8) -> bool,
    right: impl Fn(u8) -> bool,
) -> bool {
    let bytes = text.as_bytes();
    signs.any(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        before.is_some_and(|byte| left(*byte)) && bytes.get(at + 1).is_some_and(|byte| right(*byte))
    })
}

fn places(text: &str, sign: u8) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(sign, text.as_bytes())
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_capital_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

// The looks before the patterns: none is false for a text in which its pattern matches.

/// Before [`URL`].
fn may_have_url(text: &str) -> bool {
    places(text, b':').any(|at| text.as_bytes().get(at + 1..at + 3) == Some(b"//"))
}

/// Before [`versions::SHORT_VERSION`].
fn may_have_short_version(text: &str) -> bool {
    between(text, places(text, b'.'), is_digit, |byte| is_digit(byte) || byte == b'x')
}

/// Before [`TICKET`].
fn may_have_ticket(text: &str) -> bool {
    between(text, places(text, b'-'), is_capital_or_digit, is_digit)
}

/// Before [`NUMBERED`].
fn may_be_numbered(text: &str) -> bool {
    between(text, places(text, b'#'), |_| true, is_digit)
}

/// Before [`PORT`]: a number right after `:`, or a word for ports.
fn may_have_port(text: &str) -> bool {
    let bytes = text.as_bytes();
    let told = |at: usize| {
        let is_port = bytes.get(at + 1..at + 4).is_some_and(|rest| rest.eq_ignore_ascii_case(b"ort"));
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        is_port || before == Some(&b'-') && bytes.get(at + 1) == Some(&b' ')
    };
    memchr::memchr_iter(b':', bytes)
        .any(|at| bytes.get(at + 1..at + 3).is_some_and(|next| next.iter().all(u8::is_ascii_digit)))
        || memchr::memchr2_iter(b'p', b'P', bytes).any(told)
        || !text.is_ascii() && text.contains("端口")
}

/// Before [`ENVIRONMENT`].
fn may_have_variable(text: &str) -> bool {
    between(text, places(text, b'_'), is_capital_or_digit, is_capital_or_digit)
}

/// Before [`SYMBOL`].
fn may_have_symbol(text: &str) -> bool {
    let ends_name = |byte: u8| byte == b'$' || CLASS[byte as usize] == WORD;
    let begins_name = |byte: u8| byte == b'_' || byte.is_ascii_alphabetic();
    let bytes = text.as_bytes();
    memchr::memchr3_iter(b'.', b'#', b':', bytes).any(|at| {
        let after = at + if bytes[at] == b':' { 2 } else { 1 };
        let joined = bytes[at] != b':' || bytes.get(at + 1) == Some(&b':');
        joined
            && at.checked_sub(1).is_some_and(|before| ends_name(bytes[before]))
            && bytes.get(after).is_some_and(|byte| begins_name(*byte))
    })
}

/// A URL without the punctuation of the sentence around it.
fn trim_url(url: &str) -> &str {
    let mut url = url;
    loop {
        let trimmed = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~']);
        let trimmed = match trimmed.strip_suffix(')') {
            Some(inner) if !inner.contains('(') => inner,
            _ => trimmed,
        };
        if trimmed.len() == url.len() {
            return url.trim_end_matches('/');
        }
        url = trimmed;
    }
}

/// The port of a URL that was taken as a whole is a port of its own only next to a local host.
fn in_url(covered: &[(usize, usize)], text: &str, at: usize) -> bool {
    covered.iter().any(|(from, to)| {
        *from < at
            && at < *to
            && text
                .get(*from..at)
                .is_some_and(|before| before.ends_with("localhost:") || before.ends_with("127.0.0.1:"))
    })
}

/// `parser.go:205` is a line of a file, not the port of a host.
fn after_file_name(text: &str, number: usize) -> bool {
    let Some(host) = text.get(..number).and_then(|before| before.strip_suffix(':')) else { return false };
    let name = host.rsplit(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/'))).next();
    let Some((stem, last)) = name.unwrap_or("").rsplit_once('.') else { return false };
    let domain = matches!(last, "com" | "org" | "net" | "io" | "dev" | "app" | "ai" | "local");
    stem.contains('/') || !domain && is_extension(last)
}

/// Is it an extension, in any case of its letters?
fn is_extension(last: &str) -> bool {
    EXTENSIONS.iter().any(|extension| extension.eq_ignore_ascii_case(last))
}

fn port_of(number: &str) -> Found {
    Found { value: format!("{PORT_OPENING}{number}"), spelled: Spelled::Port, border: Border::Word }
}

const PORT_OPENING: &str = "port ";

/// Prefixes of standards, algorithms and models: `UTF-8`, `SHA-256` are no ticket keys.
const NO_TICKETS: &[&str] = &[
    "UTF", "SHA", "ISO", "AES", "RSA", "GPT", "RFC", "HTTP", "TLS", "SSL", "CP", "MD", "ES", "BASE", "PHASE",
    "STEP", "ECMA", "IEEE", "COVID", "PEP", "ASCII", "UCS", "LATIN", "WIN", "X", "H", "P", "PART", "TASK",
    "ITEM", "TOP", "IPV", "API", "PBKDF", "HMAC", "CRC", "FP", "INT", "UINT", "BF", "ARM", "AMD", "RISC",
    "OPTION", "LEVEL", "TIER", "PYTHON", "NODE", "EC", "Q", "V", "S", "T", "C", "SEC", "SPDX", "MIT", "BSD",
    "LGPL", "APACHE", "AGPL", "MPL", "GB", "BIG", "CLAUDE", "LLAMA", "O",
];

fn is_ticket(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let after = bytes.get(end).copied().unwrap_or(b' ');
    let after2 = bytes.get(end + 1).copied().unwrap_or(b' ');
    if matches!(before, b'-' | b'.' | b'_' | b'$')
        || matches!(after, b'-' | b'.' | b'_') && CLASS[after2 as usize] == WORD
    {
        return false;
    }
    let key = text.get(start..end).unwrap_or("");
    key.starts_with("CVE-")
        || key.split('-').next().is_some_and(|prefix| prefix.len() >= 2 && !NO_TICKETS.contains(&prefix))
}

/// Variables of every shell.
const SHELL_OWN: &[&str] =
    &["HOME", "PATH", "PWD", "IFS", "OLDPWD", "USER", "RANDOM", "SECONDS", "PIPESTATUS", "TMPDIR"];

/// Endings that tell an environment variable from a constant.
const ENDINGS: &[&str] = &[
    "_URL",
    "_KEY",
    "_TOKEN",
    "_SECRET",
    "_HOST",
    "_PORT",
    "_PATH",
    "_DIR",
    "_HOME",
    "_ENV",
    "_PASSWORD",
    "_USER",
    "_DSN",
    "_URI",
    "_BUCKET",
    "_REGION",
    "_CREDENTIALS",
    "_ID",
    "_ENDPOINT",
    "_PROXY",
    "_DATABASE",
];

fn is_environment(text: &str, start: usize, end: usize, context: bool, command: bool) -> bool {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let before2 = start.checked_sub(2).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let after = bytes.get(end).copied().unwrap_or(b' ');
    let after2 = bytes.get(end + 1).copied().unwrap_or(b' ');
    if before == b'$' || (before == b'{' && before2 == b'$') {
        return true;
    }
    if matches!(before, b'/' | b'-')
        || before == b'.' && !text.get(..start).is_some_and(|t| t.ends_with("env."))
    {
        return false;
    }
    if after == b'=' && after2 != b'=' {
        return true;
    }
    if command {
        return context;
    }
    let name = text.get(start..end).unwrap_or("");
    context || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Symbols: `a::b` always; `a.b` where `a` is a type, a module or a package and the whole is no file, host, number or
/// abbreviation. What a local variable holds or does (`err.name`) is none.
fn is_symbol(text: &str, start: usize, end: usize, names: &Names) -> bool {
    let bytes = text.as_bytes();
    let name = text.get(start..end).unwrap_or("");
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let after = bytes.get(end).copied().unwrap_or(b' ');
    if matches!(before, b'/' | b'\\' | b'.' | b'@' | b'-') || matches!(after, b'/' | b'@' | b'\\') {
        return false;
    }
    if name.contains("::") {
        return name.split("::").filter(|part| part.len() >= 2).count() >= 2;
    }
    let mut parts = name.split(['.', '#']);
    let first = parts.next().unwrap_or("");
    let last = parts.next_back().unwrap_or("");
    if name.split(['.', '#']).any(|part| part.len() < 2) {
        return false;
    }
    let called = after == b'(';
    if is_extension(last) && !called {
        return false;
    }
    let spanned = before == b'`' && (after == b'`' || called);
    let capital = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let module = names.modules.contains(first) || names.modules.contains(&first.to_ascii_lowercase());
    // "Done.Next" is a missing blank.
    let typed = capital(first)
        && (spanned || called || first.bytes().any(|b| b.is_ascii_lowercase()) && !capital(last));
    let stock = MODULES.contains(&first);
    module || typed || stock && capital(last) || (spanned || called) && (capital(last) || stock)
}

#[cfg(test)]
mod tests {
    use super::super::samples::check_looks;
    use super::versions::SHORT_VERSION;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> =
            find(text, false, &mut Names::default()).into_iter().map(|found| found.value).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn identifiers_are_found() {
        check("See https://example.com/a/b?c=1.", &["https://example.com/a/b?c=1"]);
        check("(https://example.com/x)", &["https://example.com/x"]);
        check("id 123e4567-e89b-12d3-a456-426614174000 ok", &["123e4567-e89b-12d3-a456-426614174000"]);
        check("fixed in commit a1b2c3d, tree deadbeef42", &["a1b2c3d", "deadbeef42"]);
        check("PROJ-123 and CVE-2024-12345", &["PROJ-123", "CVE-2024-12345"]);
        check("closes issue #42 in rust-lang/rust#99", &["#42", "rust-lang/rust#99"]);
        check("tokio 1.38.0, v2.1", &["1.38.0", "v2.1"]);
        check("runs on port 8080", &["port 8080"]);
        check("it listens on :8080 and db.example.com:5432", &["port 8080", "port 5432"]);
        check("端口8080，修复PROJ-12", &["PROJ-12", "port 8080"]);
        check("open http://localhost:3000/x", &["http://localhost:3000/x", "port 3000"]);
        check("set `DATABASE_URL` and $MY_FLAG", &["MY_FLAG", "DATABASE_URL"]);
        check("call `Store.save()` or store::Cache::get", &["Store.save", "store::Cache::get"]);
    }

    #[test]
    fn looks_before_patterns_never_miss() {
        const PIECES: &[&str] = &[
            "a",
            "A",
            "x",
            "B2",
            "_",
            "$",
            ".",
            "#",
            ":",
            "::",
            "-",
            "0",
            "19",
            "80",
            "port",
            "Ports",
            "PORT=",
            "--port",
            " -p ",
            "端口",
            "：",
            "é",
            "`",
            "=",
            "/",
            "@",
            " ",
            " is ",
            "issue ",
            "CVE-",
            "on ",
            "localhost",
            "v",
            "\u{17f}",
            "node 1.7",
            "9.4",
            "bug #4",
            "#12",
            "A_B",
            "http://",
        ];
        let rules: [(fn(&str) -> bool, &LazyLock<Option<Regex>>); 7] = [
            (may_have_url, &URL),
            (may_have_short_version, &SHORT_VERSION),
            (may_have_ticket, &TICKET),
            (may_be_numbered, &NUMBERED),
            (may_have_port, &PORT),
            (may_have_variable, &ENVIRONMENT),
            (may_have_symbol, &SYMBOL),
        ];
        check_looks(PIECES, 8, 20_000, rules);
    }

    #[test]
    fn look_alikes_are_not() {
        for text in [
            "parser.go:205 and `src/a.rs:118`",
            "(:1278)",
            "UTF-8 and SHA-256",
            "facade",
            "1234567890",
            "1.5 times",
            "e.g. this",
            "Node.js",
            "src/main.rs",
            "`main.rs`",
            "MAX_SIZE is a constant",
            "example.com",
            "#42",
            "12:30",
            "10.0.0.1",
            "2024-01-02",
            "deadbeef",
        ] {
            check(text, &[]);
        }
    }
}
