//! The `compactor` command: parse, run, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    compactor::cli::main()
}
