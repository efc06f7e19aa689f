//! Exit codes, and the failure that leads to one of them.

use crate::results::files::FilesError;
use crate::run::PoolError;
use crate::run::inspect::InspectError;
use std::process::ExitCode;

/// How the process ends. A broken pipe is quiet success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: a gate failed.
    Red,
    /// 2: could not do the job: wrong usage, input or output that cannot be used, or nothing could be measured or
    /// written at all.
    Failed,
    /// 3: done, but some input was unreadable, a whole session was lost to damage, or a row is an error.
    Partial,
}

impl Exit {
    /// The code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Red => 1,
            Self::Failed => 2,
            Self::Partial => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why the job could not be done, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Cause: file, line and reason.
    pub cause: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl Failure {
    /// A failure with a hint.
    pub fn new(cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { cause: cause.into(), hint: hint.into() }
    }

    /// The same, with the place that asked for what failed in front.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { cause: format!("{place}: {}", self.cause), ..self }
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        Self::new(error.to_string(), error.hint)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        Self::new(error.to_string(), "use --jobs 1")
    }
}

impl From<InspectError> for Failure {
    fn from(error: InspectError) -> Self {
        match error {
            InspectError::Pool(error) => error.into(),
            InspectError::Kept(_) => Self::new(
                error.to_string(),
                "let TMPDIR name a directory on a disk with room for as many bytes as the logs have",
            ),
        }
    }
}
