//! A sandbox for the real binary: own home and temporary directory, no inherited environment, plain output.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary directory and the program in it.
pub(crate) struct Sandbox {
    dir: TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
#[must_use]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary directory") }
    }

    /// Another one with the same files.
    pub(crate) fn clone_dir(&self) -> Self {
        fn copy(from: &Path, to: &Path) {
            std::fs::create_dir_all(to).expect("a directory");
            for entry in std::fs::read_dir(from).expect("a directory") {
                let path = entry.expect("an entry").path();
                let target = to.join(path.file_name().expect("a name"));
                if path.is_dir() {
                    copy(&path, &target);
                } else {
                    std::fs::copy(&path, &target).expect("a copy");
                }
            }
        }
        let other = Self::new();
        copy(self.dir.path(), other.dir.path());
        other
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file into the sandbox and gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// Runs the program in the sandbox.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs the program with text on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        self.run_as(arguments, stdin, &[])
    }

    /// Runs the program with more in its environment.
    pub(crate) fn run_in(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        self.run_as(arguments, "", environment)
    }

    fn run_as(&self, arguments: &[&str], stdin: &str, environment: &[(&str, &str)]) -> Ran {
        let mut command = Command::cargo_bin("compactor").expect("the program");
        command.env_clear().env("HOME", self.dir.path()).env("TMPDIR", self.dir.path());
        command.env("NO_COLOR", "1").env("COLUMNS", "100").current_dir(self.dir.path());
        command.envs(environment.iter().copied());
        let output = command.args(arguments).write_stdin(stdin).output().expect("it runs");
        Ran {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

/// A path inside the shipped fixtures.
pub(crate) fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name).to_string_lossy().into_owned()
}
