//! The `compactor` command.
fn main() {}
