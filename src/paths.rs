//! Path spelling: one canonical form for every way a log can write a path.
//!
//! Logs name one file in many ways: absolute, relative to a working directory that moves, with `\`, as a `file://`
//! URL, with a trailing slash, in quotes. Everything that compares paths compares canonical ones, so this is the
//! only module that knows spellings. Rules that hold for every input:
//!
//! * nothing is looked up on a disk: `..` is resolved by text, symbolic links are not followed;
//! * case is kept (only drive letters are upper-cased), `~` is kept as the root it stands for;
//! * [`resolve`] is idempotent, and an empty path stays empty.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use smallvec::SmallVec;

use crate::patterns::compile;

/// Paths longer than this, in bytes, are no paths: they are returned as they are. `PATH_MAX` of common systems.
const MAX_LEN: usize = 4096;

/// Resolves a path as a log spells it to its canonical form: `/` separators, no `.` or `..`, no `file://`, drive
/// letters upper-case (`C:/x`), relative paths joined to `cwd`. Without a `cwd` a relative path stays relative.
///
/// A `cwd` that is itself relative or empty counts as none. `//server/share` stays a network path. Under a `cwd` on
/// a drive, the spelling of Windows' Unix shells (`/c/x`) means that drive.
pub fn resolve(path: &str, cwd: Option<&str>) -> String {
    if path.len() > MAX_LEN || is_canonical(path, cwd) {
        return path.to_owned();
    }
    let settled =
        |dir| if is_canonical(dir, None) { Cow::Borrowed(dir) } else { Cow::Owned(settle(dir, None)) };
    let cwd = cwd.map(settled).filter(|dir| is_absolute(dir));
    let below = cwd.as_deref().and_then(|dir| below(dir, path));
    below.unwrap_or_else(|| settle(path, cwd.as_deref()))
}

/// A plain relative path as seen from a directory, where that is all there is to do.
fn below(dir: &str, path: &str) -> Option<String> {
    // `./x` and `../x` have more to them.
    let is_name = match path.as_bytes() {
        [b'.', b'/' | b'.', ..] => false,
        [first, ..] => first.is_ascii_alphanumeric() || matches!(first, b'_' | b'.'),
        [] => false,
    };
    let whole = is_name.then(|| [dir, "/", path].concat())?;
    is_canonical(&whole, None).then_some(whole)
}

/// The canonical path as seen from a directory: the part after `dir/`, or the path itself when it is elsewhere.
pub fn relative<'a>(path: &'a str, dir: Option<&str>) -> &'a str {
    let Some(dir) = dir.filter(|dir| !dir.is_empty()) else { return path };
    let dir = dir.strip_suffix('/').unwrap_or(dir);
    path.strip_prefix(dir)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|rest| !rest.is_empty() && !rest.starts_with('/'))
        .unwrap_or(path)
}

/// Whether a canonical path does not depend on a working directory: rooted at `/`, a drive, a share or a home.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_home(path) || drive(path).is_some_and(|(_, rest)| rest.starts_with('/'))
}

/// The last component of a canonical path; the path itself when it has only one.
pub fn basename(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// The working directory that a prompt states in one of the forms agents use (`Working directory: /x`, `cwd=/x`,
/// `<cwd>/x</cwd>`): logs of plain chats have it nowhere else. Only an absolute one counts.
pub fn stated_directory(text: &str) -> Option<&str> {
    static STATED: LazyLock<Regex> = LazyLock::new(|| {
        compile(
            r"(?xi) (?: <uploaded_files> |
                \b(?:repository|repo|project|codebase|code|workspace)\x20is\x20(?:in|at|located\x20(?:in|at))\b |
                \b(?:repository|repo|project)\x20(?:root|directory|path)\b |
                \bworking\x20dir(?:ectory)?\b | \bworkspace\x20(?:root|directory|path)\b | \bcwd\b )
            (?:\*\*)? \s{0,2} (?: is \b | [:=(>] )? (?:\*\*)? [\x20\t]{0,2} (?P<dir> [`'\x22]? (?: / | ~/ | [a-z]:[\\/] ) [^\r\n<]* )",
        )
        .expect("the pattern is constant")
    });
    STATED.captures_iter(text).find_map(|found| {
        let rest = found.name("dir")?.as_str();
        let quote = rest.chars().next().filter(|c| "`'\"".contains(*c));
        let directory = if let Some(quote) = quote {
            rest.strip_prefix(quote)?.split(quote).next()?
        } else {
            let ends = [". ", ", ", "; ", " (", ")", "。", ",", " and ", " on "];
            let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
            rest.get(..end)?.trim_end().trim_end_matches('.')
        };
        (is_absolute(&resolve(directory, None)) && directory.len() <= MAX_LEN).then_some(directory)
    })
}

/// The absolute directory that a script enters first (`cd /x && ...`): where a log states no directory at all, this
/// is where its session works.
pub fn entered_directory(script: &str) -> Option<&str> {
    let rest = script.trim_start().strip_prefix("cd ")?.trim_start();
    let directory = match rest.chars().next().filter(|c| "'\"".contains(*c)) {
        Some(quote) => rest.strip_prefix(quote)?.split(quote).next()?,
        None => rest.split([' ', '\n', ';', '&', '|', '\t', ')']).next()?,
    };
    let is_plain = !directory.contains(['$', '*', '?', '`', '\\']);
    (directory.starts_with('/') && directory.len() > 1 && directory.len() <= MAX_LEN && is_plain)
        .then_some(directory)
}

/// One step after another until nothing changes: dropping `x/..` can bring quotes or spaces to the ends. Each step
/// after the first two only shortens, and long paths never come here, so the work is bounded.
fn settle(path: &str, cwd: Option<&str>) -> String {
    if path.len() > MAX_LEN {
        return path.to_owned();
    }
    let mut now = step(path, cwd);
    if is_canonical(&now, cwd) {
        return now;
    }
    loop {
        let next = step(&now, cwd);
        if next == now || now.len() > MAX_LEN {
            return now;
        }
        now = next;
    }
}

fn step(path: &str, cwd: Option<&str>) -> String {
    let path = trim(path);
    if path.is_empty() {
        return String::new();
    }
    let path = without_scheme(path);
    let path = if path.contains('\\') { Cow::Owned(path.replace('\\', "/")) } else { path };
    let path = path.strip_prefix("//?/").or_else(|| path.strip_prefix("//./")).unwrap_or(&path);
    let (root, rest) = split_root(path, cwd);
    match root {
        Some(root) => join(&root, rest.split('/')),
        None => match cwd {
            Some(cwd) => {
                let (root, base) = split_root(cwd, None);
                join(&root.unwrap_or_default(), base.split('/').chain(rest.split('/')))
            }
            None => join("", rest.split('/')),
        },
    }
}

/// Splits off the root: `/`, `//`, `C:/` or `~/`, as it will be written.
fn split_root<'p>(path: &'p str, cwd: Option<&str>) -> (Option<Cow<'p, str>>, &'p str) {
    if let Some(rest) = path.strip_prefix("//") {
        // Three slashes and more are one (POSIX); two are a share.
        return match rest.strip_prefix('/') {
            Some(rest) => (Some("/".into()), rest),
            None => (Some("//".into()), rest),
        };
    }
    if let Some(rest) = path.strip_prefix('/') {
        if cwd.is_some_and(|cwd| drive(cwd).is_some())
            && let Some((letter, after)) = rest.split_at_checked(1)
            && letter.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
            && (after.is_empty() || after.starts_with('/'))
        {
            return (Some(format!("{}:/", letter.to_ascii_uppercase()).into()), after);
        }
        // `/C:/x` is what is left of `file:///C:/x`.
        if let Some((letter, after)) = drive(rest)
            && after.starts_with('/')
        {
            return (Some(format!("{letter}:/").into()), after);
        }
        return (Some("/".into()), rest);
    }
    if let Some((letter, after)) = drive(path)
        && (after.is_empty() || after.starts_with('/'))
    {
        return (Some(format!("{letter}:/").into()), after);
    }
    if is_home(path) {
        return match path.split_once('/') {
            Some((home, rest)) => (path.get(..=home.len()).map(Cow::Borrowed), rest),
            None => (Some(format!("{path}/").into()), ""),
        };
    }
    (None, path)
}

/// Joins components to a root, dropping empty ones, `.`, and `..` with what it undoes.
fn join<'a>(root: &str, parts: impl Iterator<Item = &'a str>) -> String {
    // Above a home there is a directory, just not one that can be named from here.
    let keeps_parents = root.is_empty() || root.starts_with('~');
    let mut kept: SmallVec<[&str; 16]> = SmallVec::new();
    for part in parts {
        match part {
            "" | "." => {}
            ".." => match kept.last() {
                Some(&"..") | None if keeps_parents => kept.push(".."),
                _ => {
                    kept.pop();
                }
            },
            _ => kept.push(part),
        }
    }
    if kept.is_empty() {
        return match root {
            "" => ".",
            "//" => "/",
            _ if root.starts_with('~') => root.trim_end_matches('/'),
            _ => root,
        }
        .to_owned();
    }
    let length = root.len() + kept.iter().map(|part| part.len() + 1).sum::<usize>();
    let mut path = String::with_capacity(length);
    path.push_str(root);
    for (index, part) in kept.iter().enumerate() {
        if index > 0 {
            path.push('/');
        }
        path.push_str(part);
    }
    path
}

/// Without surrounding white space and matching quotes.
fn trim(path: &str) -> &str {
    let mut path = path.trim();
    loop {
        let inner = ['"', '\'', '`']
            .into_iter()
            .find_map(|quote| path.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
        match inner {
            Some(inner) => path = inner.trim(),
            None => return path,
        }
    }
}

fn without_scheme(path: &str) -> Cow<'_, str> {
    let Some(rest) = path.get(..5).filter(|head| head.eq_ignore_ascii_case("file:")).and(path.get(5..))
    else {
        return Cow::Borrowed(path);
    };
    let Some(rest) = rest.strip_prefix("//") else { return Cow::Borrowed(path) };
    let decoded = percent_decoded(rest);
    if decoded.starts_with('/') {
        return decoded;
    }
    match decoded.strip_prefix("localhost/") {
        Some(local) => Cow::Owned(format!("/{local}")),
        None if drive(&decoded).is_some() => decoded,
        None => Cow::Owned(format!("//{decoded}")),
    }
}

/// Undoes `%xx`; text that would not be UTF-8 afterwards stays as it is.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let pair = match (byte, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = pair {
            bytes.push(high * 16 + low);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The drive letter, upper-cased, and what follows its colon.
fn drive(path: &str) -> Option<(char, &str)> {
    let mut chars = path.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    (chars.next() == Some(':')).then(|| (letter.to_ascii_uppercase(), chars.as_str()))
}

fn is_home(path: &str) -> bool {
    path.strip_prefix('~').is_some_and(|rest| {
        let name = rest.split('/').next().unwrap_or_default();
        name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    })
}

/// Most paths of a log are canonical already; this recognises the plain ones without allocating.
fn is_canonical(path: &str, cwd: Option<&str>) -> bool {
    let Some(rest) = path.strip_prefix('/').filter(|rest| rest.len() > 2) else { return false };
    let rest = rest.as_bytes();
    if cwd.is_some_and(|cwd| !cwd.starts_with('/')) || memchr::memchr2(b'\\', b':', rest).is_some() {
        return false;
    }
    let mut start = 0;
    let mut ends = memchr::memchr_iter(b'/', rest).chain([rest.len()]);
    let are_names = ends.all(|end| {
        let part = rest.get(start..end).unwrap_or_default();
        start = end + 1;
        !matches!(part, b"" | b"." | b"..")
    });
    are_names && !path.ends_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_resolve(path: &str, cwd: Option<&str>, expected: &str) {
        assert_eq!(resolve(path, cwd), expected, "{path:?} from {cwd:?}");
    }

    #[test]
    fn spellings() {
        let unix = Some("/home/kim/app");
        let windows = Some(r"c:\Users\kim\app");
        for (path, cwd, expected) in [
            ("/a/b.rs", None, "/a/b.rs"),
            ("/a/b.rs", unix, "/a/b.rs"),
            ("src/a.rs", unix, "/home/kim/app/src/a.rs"),
            ("./src/./a.rs", unix, "/home/kim/app/src/a.rs"),
            ("../lib/a.rs", unix, "/home/kim/lib/a.rs"),
            ("../../../../../a.rs", unix, "/a.rs"),
            ("src/a.rs", None, "src/a.rs"),
            ("./src/../a.rs", None, "a.rs"),
            ("../a.rs", None, "../a.rs"),
            ("a/../../b", None, "../b"),
            ("src/", None, "src"),
            (".", None, "."),
            (".", unix, "/home/kim/app"),
            ("..", unix, "/home/kim"),
            ("a/..", None, "."),
            ("/", unix, "/"),
            ("/..", None, "/"),
            ("/a//b///c/", None, "/a/b/c"),
            ("///a/b", None, "/a/b"),
            ("", unix, ""),
            ("  ", unix, ""),
            ("\"src/a b.rs\"", unix, "/home/kim/app/src/a b.rs"),
            ("`src/a.rs`", None, "src/a.rs"),
            ("'/a/b'", None, "/a/b"),
            (" /a/b\n", None, "/a/b"),
            ("~/notes.md", unix, "~/notes.md"),
            ("~", unix, "~"),
            ("~/a/../b", None, "~/b"),
            ("~kim/a", unix, "~kim/a"),
            ("~/../x", None, "~/../x"),
            ("file:///home/kim/a%20b.rs", None, "/home/kim/a b.rs"),
            ("file:///C:/x/a.rs", None, "C:/x/a.rs"),
            ("file:///c%3A/x/a.rs", None, "C:/x/a.rs"),
            ("FILE://localhost/a/b", None, "/a/b"),
            ("file://server/share/a", None, "//server/share/a"),
            ("file:///a%FFb", None, "/a%FFb"),
            ("file:///%E6%96%87.md", None, "/文.md"),
            ("C:\\x\\a.rs", None, "C:/x/a.rs"),
            ("c:/x/../a.rs", None, "C:/a.rs"),
            ("c:", None, "C:/"),
            ("C:\\", None, "C:/"),
            ("src\\a.rs", windows, "C:/Users/kim/app/src/a.rs"),
            ("..\\a.rs", windows, "C:/Users/kim/a.rs"),
            ("/c/Users/kim/a.rs", windows, "C:/Users/kim/a.rs"),
            ("/c/Users/kim/a.rs", unix, "/c/Users/kim/a.rs"),
            ("/tmp/a.rs", windows, "/tmp/a.rs"),
            ("\\\\server\\share\\a", windows, "//server/share/a"),
            ("\\\\?\\D:\\a\\b", None, "D:/a/b"),
            ("a.rs", Some("relative/dir"), "a.rs"),
            ("a.rs", Some(""), "a.rs"),
            ("a.rs", Some("/x/"), "/x/a.rs"),
            ("a.rs", Some("~/proj"), "~/proj/a.rs"),
            ("a:b.rs", unix, "/home/kim/app/a:b.rs"),
            ("/A/b.RS", None, "/A/b.RS"),
            ("源/a.rs", unix, "/home/kim/app/源/a.rs"),
        ] {
            check_resolve(path, cwd, expected);
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_a_path_is_left_alone() {
        let long = "../".repeat(100_000);
        check_resolve(&long, Some("/a"), &long);
    }

    #[test]
    fn as_seen_from_a_directory() {
        for (path, dir, expected) in [
            ("/a/b/c.rs", Some("/a/b"), "c.rs"),
            ("/a/b/c.rs", Some("/a/b/"), "c.rs"),
            ("/a/bc.rs", Some("/a/b"), "/a/bc.rs"),
            ("/a/b", Some("/a/b"), "/a/b"),
            ("/a/b", Some("/"), "a/b"),
            ("//server/b", Some("/"), "//server/b"),
            ("/a/b", Some(""), "/a/b"),
            ("/a/b", None, "/a/b"),
        ] {
            assert_eq!(relative(path, dir), expected, "{path:?} from {dir:?}");
        }
    }

    #[test]
    fn directories_stated_in_prompts() {
        for (text, expected) in [
            ("Working directory: /home/kim/app\nPlatform: linux", Some("/home/kim/app")),
            ("You help. Working directory: /home/kim/app. Tools: a, b.", Some("/home/kim/app")),
            ("Agent. cwd=/home/kim/app (Linux)", Some("/home/kim/app")),
            ("<env>\n  <cwd>/home/kim/my app</cwd>\n</env>", Some("/home/kim/my app")),
            ("- **Current working directory**: `/home/kim/my app`", Some("/home/kim/my app")),
            ("# Current Working Directory (/home/kim/app) Files", Some("/home/kim/app")),
            ("Primary working directory: C:\\Users\\kim\\app", Some("C:\\Users\\kim\\app")),
            ("The working directory is /srv/my app", Some("/srv/my app")),
            ("<uploaded_files>\n/testbed\n</uploaded_files>", Some("/testbed")),
            ("The repository is in /home/kim/app. Please fix it.", Some("/home/kim/app")),
            ("Paths are relative to the working directory.", None),
            ("Working directory: ./app", None),
            ("Set cwd to where you are. /etc is not it", None),
            ("", None),
        ] {
            assert_eq!(stated_directory(text), expected, "{text:?}");
        }
    }

    #[test]
    fn directories_entered_by_scripts() {
        for (script, expected) in [
            ("cd /home/kim/app && ls", Some("/home/kim/app")),
            ("cd '/home/kim/my app'\nls", Some("/home/kim/my app")),
            ("cd /x;ls", Some("/x")),
            ("cd sub && ls", None),
            ("cd \"$DIR\" && ls", None),
            ("cd / && ls", None),
            ("ls && cd /x", None),
        ] {
            assert_eq!(entered_directory(script), expected, "{script:?}");
        }
    }

    #[test]
    fn last_component() {
        for (path, expected) in [("/a/b.rs", "b.rs"), ("b.rs", "b.rs"), ("/", "/"), ("", ""), ("C:/", "C:")] {
            assert_eq!(basename(path), expected);
        }
    }

    proptest! {
        #[test]
        fn resolving_twice_changes_nothing(
            path in "(file://|~|//|[cC]:|)[a./\\\\'\"` %24:~?文x-]{0,24}",
            cwd in proptest::option::of("(/|~|C:|)[a./\\\\ ~:\"]{0,10}"),
        ) {
            let once = resolve(&path, cwd.as_deref());
            prop_assert_eq!(&resolve(&once, cwd.as_deref()), &once);
        }

        #[test]
        fn plain_paths_resolve_like_any(
            path in "(/|/\\.|\\.|~|)([a-c]|\\.|/|\"| |/\\.\\.|/\\.a){0,8}",
            cwd in proptest::option::of("(/home/a|/a|~|C:|)(/[a.]{1,3}){0,3}/?"),
        ) {
            let dir = cwd.as_deref().map(|dir| settle(dir, None)).filter(|dir| is_absolute(dir));
            prop_assert_eq!(resolve(&path, cwd.as_deref()), settle(&path, dir.as_deref()));
        }

        #[test]
        fn any_text_resolves(path in ".*", cwd in proptest::option::of(".*")) {
            let once = resolve(&path, cwd.as_deref());
            prop_assert_eq!(&resolve(&once, cwd.as_deref()), &once);
        }
    }
}
