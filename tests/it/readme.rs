//! Every `console` block of the README, run by the real program.

#[test]
fn readme_blocks_run() {
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .default_bin_path(assert_cmd::cargo::cargo_bin("compactor"))
        .case("README.md");
}
