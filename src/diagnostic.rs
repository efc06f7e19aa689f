//! What a reader noticed and survived. Parsing never fails: a damaged line costs that line, and is named here.

use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing was lost (unknown record type, duplicate result).
    Note,
    /// A record was lost or changed.
    Damage,
    /// A whole session or file was lost.
    Lost,
}

/// One observation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// 1-based line of the file, in a document that is no list of lines the position in its list of messages; 0 when it concerns the whole file.
    pub line: u32,
    /// Stable kebab-case kind, e.g. `bad-json`, `orphan-result`, `unknown-record`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// How many times it came; a remark stands for all that say the same.
    pub count: u64,
    /// Cause, and what to do where something can be done; one line, no trailing period.
    pub text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.code, self.text)
        } else {
            write!(f, "line {}: {}: {}", self.line, self.code, self.text)
        }
    }
}
