//! What a check says of itself, where its exit status did not reach the harness: `npm test 2>&1 | tail -20` ends well
//! whatever the tests did.

use crate::facts::lexical::errors;
use crate::patterns::plain;
use crate::transcript::Outcome;
use regex::RegexSet;
use std::sync::LazyLock;

/// Totals and verdicts of something that failed.
static BAD: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    set(&[
        // `3 failed`, `Found 2 errors`, `1 issue:`; a length of time or a line number is none.
        r"(?im)(?:^|[\s(\[|,])[1-9]\d*(?:\s+[a-z]+)?\s+(?:failed|failing|failures?|errors?|problems?|issues?)\b",
        // `failures=1`, `Errors: 2`, `failed: 3`.
        r"(?i)\b(?:failed|failures?|errors?)\s?[:=]\s?[1-9]",
        r"(?m)^\s*(?:---\s)?FAIL(?:ED)?\b",
        r"(?m)^\s*(?:✗|✘|✖|❌|×)\s",
        r"(?m)^not ok \d",
        r"(?i)\b(?:build|compilation|compile|lint|tests?|checks?|test result:|task) failed\b",
        r"(?im)\berror task failed\b|^error: could not compile|^npm err!|^make: \*\*\*",
    ])
});

/// Totals and verdicts of something that went well.
static GOOD: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    set(&[
        r"(?im)\b[1-9]\d*(?:\s+[a-z]+)?\s+(?:passed|passing)\b",
        r"(?i)\b(?:0|no)\s+(?:failed|failing|failures?|errors?|problems?|issues?)\b",
        r"(?i)\b(?:failed|failures?|errors?)\s?[:=]\s?0\b",
        r"(?m)^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)",
        r"(?m)^\s*(?:---\s)?PASS\b",
        r"(?m)^OK\b|test result: ok",
        r"(?i)\b(?:compiled|built|completed|finished) successfully\b|\bbuild success|\ball (?:checks|tests|files) pass",
        r"(?im)^\s*(?:✓|✔|✅)\s.*\b(?:built|passed|pass|compiled|success)",
        r"(?m)^\s*Finished `?(?:dev|test|release|bench)\b|\bSuccess: no issues",
    ])
});

fn set(patterns: &[&str]) -> Option<RegexSet> {
    RegexSet::new(patterns.iter().copied().map(plain)).ok()
}

/// How the output says the check ended: a failure anywhere outweighs what went well; an output that says neither leaves
/// it open.
pub(super) fn read(output: &str) -> Outcome {
    let output = errors::strip_ansi(output);
    let says = |set: &LazyLock<Option<RegexSet>>| set.as_ref().is_some_and(|set| set.is_match(&output));
    if says(&BAD) {
        Outcome::Failed
    } else if says(&GOOD) {
        Outcome::Ok
    } else if !errors::in_output(&output).is_empty() {
        Outcome::Failed
    } else {
        Outcome::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_say_how_it_went() {
        for (output, expected) in [
            ("Tests:       1 failed, 12 passed, 13 total", Outcome::Failed),
            ("  12 passing (2s)\n  1 failing", Outcome::Failed),
            ("=== 3 failed, 20 passed in 2.13s ===", Outcome::Failed),
            ("=== 20 passed in 2.13s ===", Outcome::Ok),
            ("FAILED (failures=1)", Outcome::Failed),
            ("FAIL\texample.org/pkg\t0.1s\nok  \texample.org/other\t(cached)", Outcome::Failed),
            ("ok  \texample.org/other\t(cached)", Outcome::Ok),
            ("ok  \texample.org/other\t0.005s\nok  \texample.org/more\t1.2s", Outcome::Ok),
            ("--- FAIL: TestRoute (0.00s)", Outcome::Failed),
            ("test result: ok. 12 passed; 0 failed; 0 ignored", Outcome::Ok),
            ("test result: FAILED. 11 passed; 1 failed", Outcome::Failed),
            ("error: could not compile `stock` (lib) due to 2 previous errors", Outcome::Failed),
            ("Found 3 errors in 2 files (checked 12 source files)", Outcome::Failed),
            ("Success: no issues found in 12 source files", Outcome::Ok),
            ("✖ 4 problems (4 errors, 0 warnings)", Outcome::Failed),
            ("0 issues.", Outcome::Ok),
            ("src/net/client.ts(41,7): error TS2322: Type 'string' is not assignable", Outcome::Failed),
            ("\u{1b}[31m1 failed\u{1b}[0m", Outcome::Failed),
            ("\u{1b}[32m5 passed\u{1b}[0m", Outcome::Ok),
            ("    Finished `dev` profile in 3.2s", Outcome::Ok),
            ("webpack 5.88 compiled successfully in 812 ms", Outcome::Ok),
            ("", Outcome::Unknown),
            ("123", Outcome::Unknown),
            ("running 3 suites", Outcome::Unknown),
        ] {
            assert_eq!(read(output), expected, "{output}");
        }
    }
}
