//! The shapes in which programs report errors, and what a line must hold to have one of them.

use super::super::{LazyLock, Regex, pattern};
use crate::lanes::{self, Words};

/// What lines that name an error hold, beside [`TELLING`].
const HINTING: &[&str] = &[
    "error",
    "Error",
    "ERROR",
    "Exception",
    "panicked",
    "panic:",
    "FAIL",
    "fatal",
    "ERR!",
    "failed",
    "Segmentation fault",
    "✕",
    "✗",
    "× ",
    "not ok ",
    "not found",
    "CONFLICT (",
    "Violation: ",
    "Conflict: ",
    "Denied: ",
    "NotFound: ",
    "Timeout: ",
    "Refused: ",
    "✖",
    "● ",
    ".go:",
    "Permission denied",
    "❯ ",
    ") [",
    "____ ",
    "Failed",
    "Sanitizer",
    "Assertion ",
    "terminate called",
    "undefined reference",
    "(fail)",
    "rspec ./",
    "FATAL",
    "Fatal",
    "(SEGFAULT)",
    "(Timeout)",
    "ould not find",
    "***ERROR***",
    "i/o timeout",
    "onnection refused",
    "onnection reset",
    "No such file or directory",
    "is invalid: ",
    "Traceback (",
    "e: file:",
    "ERR_PNPM",
    "curl: (",
    "rejected] ",
    "No rule to make",
    "cannot find -l",
    "** (",
    ") test ",
    ".rb:",
    "Can't locate ",
    "ORA-",
    "SQLSTATE[",
    "nginx: [",
    "#test_",
    " [E]",
    "Invalid read",
    "Invalid write",
    "definitely lost",
    "(core dumped)",
    "E: ",
    "Undefined control",
    "Module not found",
    "symbol(s) not",
    "undefined symbol",
    "Invalid: ",
    "Operation: ",
    "DoesNotExist: ",
    "Unavailable: ",
    "has not been read",
    "matches of the string",
    "E   ",
    " no such host",
    "will not fit in region",
    "' overflowed by",
    "multiple definition of",
    "could not find compatible",
    "Test::test",
];

/// Behind the name of a test in a code span: it fails.
pub(super) const TELLING: &[&str] = &[
    "` fails",
    "` failed",
    "` is red",
    "`, red",
    "` is failing",
    "` still fails",
    "` schlägt",
    "` échoue",
    "` falla",
];

/// What a line must hold to be worth a closer look.
pub(super) static HINTS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let hints: Vec<(&str, u32)> = HINTING.iter().chain(TELLING).map(|hint| (*hint, 1)).collect();
    Words::new(&hints, false)
});

pub(super) static CODED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // rustc `error[E0502]: m`; tsc `error TS2345: m`; C#, MSVC, GHC-like `error CS1002: m`; linters are left alone.
    pattern(r"\berror(?:\[(E[0-9]{4})\]| ((?:TS|CS|MSB|NU|LNK|C|BC|FS)[0-9]{3,5})): (.)")
});

pub(super) static EXCEPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?:^|[\s(\[:>`])((?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Z][A-Za-z0-9]*(?:Error|Exception|Fault|Interrupt|Exit|Panic)|(?:[a-z_][a-z0-9_]*\.)+[A-Z][A-Za-z0-9]*(?:Violation|Conflict|Denied|NotFound|Timeout|Refused|DoesNotExist|Unavailable)|(?:[a-z_][a-z0-9_]*\.)+(?:Undefined|Invalid|Unsupported|Missing|Duplicate)[A-Z][A-Za-z0-9]*|(?:[a-z_][a-z0-9_]*\.)+[A-Z][A-Za-z0-9]*(?:Invalid|Missing|Exceeded|Failed|Failure|Mismatch|Unsupported)|(?:[A-Za-z_][A-Za-z0-9_]*::)+[A-Za-z][A-Za-z0-9_]*(?:[eE]rror|[eE]xception|Invalid|NotFound|Denied|Timeout|Refused))(?: \[([A-Z][A-Z0-9_]+)\])?: (\S)",
    )
});

pub(super) static PANIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^thread '[^']*' (?:\([0-9]+\) )?panicked at (?:'(.*)', .+|[^\s:]+:[0-9]+:[0-9]+:)$")
});

pub(super) static GO_PANIC: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^panic: (.+)"));

pub(super) static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `error: m`, `fatal: m`, `file:12:5: error: m`, `npm ERR! m`, `make: *** [x] Error 2` is a total.
    pattern(
        r#"^(?:\s*[•●] )?(?:\S+?:[0-9]+(?::[0-9]+)?: |docker: )?((?:Validation|Syntax|Type|Parse|Parser|Build|Compile|Compilation|Link|Linker|Database|Connection|Network|Server|Internal|Runtime|Import|Module|Configuration|Config|Template|Schema|Query|Assertion|Shader|Execution|Authentication|Unhandled|Uncaught|Terraform|Plugin|Type) [Ee]rror|(?:fatal |runtime |internal compiler )?error|fatal|Error|ERROR|FATAL|Fatal error|CMake Error|The \w+ "[^"]+" is invalid|Error (?:response )?from [a-z ]+(?: \([A-Za-z]+\))?|An error occurred \([A-Za-z0-9]+\) when calling the \w+ operation|CONFLICT \([a-z/ ]+\)):\s+(\S)"#,
    )
});

/// The Go compiler and vet name no class: `./x.go:12:3: undefined: y`.
pub(super) static GO: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^(?:vet: )?(?:\./)?[^\s:]+\.go:[0-9]+:[0-9]+: (.+)"));

/// vitest and jest: `FAIL  src/x.test.ts > group > name`.
pub(super) static FAILING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:FAIL|❯|×)\s+(?:\[[^\]]+\] › )?(\S+\.[cm]?[jt]sx?(?:\s+>|:[0-9]+:[0-9]+ ›)\s.+?)(?:\s+[0-9.]+ ?m?s)?$",
    )
});

/// vitest names a failing test of a suite below its file, playwright numbers its failing tests.
pub(super) static NESTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\s+(?:❯ (\S+ > \S.*?)|[0-9]+\) (\[[^\]]+\] › \S+:[0-9]+:[0-9]+ › .+?))(?:\s+[0-9.]+ ?m?s)?(?:\s*─+)?\s*$",
    )
});

/// googletest, ctest, gradle, surefire, dotnet, mocha and rspec, phpunit, nextest, bun.
pub(super) static RUNNERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:\[  FAILED  \] (\S+?)(?:[ ,].*)?|\s*[0-9]+ - (\S+) \((?:Failed|SEGFAULT|Timeout)\)|(\S+ > .+?)(?:\(\))? FAILED|\[ERROR\]\s+(\w+\.\w+):[0-9]+.*|\s*Failed (\S+\.\S+) \[.*\]|rspec (\./\S+:[0-9]+) # .*|[0-9]+\) (\S+::\S+)|\s+FAIL \[ *[0-9.]+s\] (?:\S+ )?(\S+)|\(fail\) (.+?)(?: \[.*\])?|[>│ ]*\[FAIL\]\s+\S+\s+[0-9]+\s+(.+?)\.?\s*│?)$",
    )
});

/// Sanitizers, C assertions, uncaught C++ exceptions, linkers.
pub(super) static NATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?:^==[0-9]+==\s?ERROR: (\w+Sanitizer: \S+)|(Assertion [`'].+' failed)|^(terminate called after throwing an instance of '[^']+')|(undefined reference to [`'].+'))",
    )
});

/// ruff, flake8, pylint, shellcheck: a code and what it says.
pub(super) static LINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:\S+:[0-9]+:[0-9]+: )?([A-Z]{1,4}[0-9]{3,4})(?: \((?:error|warning)\))?:? (?:\[\*\] )?([A-Za-z`'].)",
    )
});

/// `ls: cannot access 'x': No such file`, `2024/06/11 16:20:48 KEY: time: invalid duration`.
pub(super) static REASON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:.,]+Z? )?(?:/?(?:[\w.-]+/)*)((?:\[[\w.-]+\]|[a-z_][\w.-]*:|[A-Z][A-Z0-9_]*:|\w+(?: \w+){0,3} (?:failed|error):) \S)",
    )
});

/// `ninja: error: ...`, `the nightly job: fatal: ...`, `npm ERR! ...`.
pub(super) static PROGRAM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:[$%] )?[0-9A-Za-z_./ -]{1,30}: ((?:fatal error|error|fatal|Error|ERROR|FATAL|Fatal error):? +\S.+)$|^npm (?:ERR!|error) ([^ ]+ [^ ]+ [^ ]+ [^ ]+ .+)$|^\*\*\*ERROR\*\*\* (\S.+)$|^((?:[\w./-]+: )?(?:dial (?:tcp|udp)(?: \S+)?: .+|connect: .+|[\w./-]+: (?:[^:]+: )?(?:No such file or directory|Connection (?:refused|reset by peer)|Permission denied|No space left on device|Address already in use)))$",
    )
});

/// What editing tools of agents say when they refuse.
pub(super) static REFUSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^((?:String to replace not found in file|Found [0-9]+ matches of the string to replace|File has not been read yet|File has been (?:unexpectedly )?modified|(?:The )?old_?str(?:ing)? (?:was )?not found|No replacement was performed|Could not find the exact text).*)$",
    )
});

pub(super) static DENIED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^(?:.*: )?(?:cannot [a-z ]+)?(\S+): Permission denied$"));

pub(super) static NPM: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^npm (?:ERR!|error) code (E[A-Z0-9]+)"));

pub(super) static ERRNO: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b(E[A-Z]{4,14}): ([a-z].)"));

pub(super) static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:test (\S+) \.\.\. FAILED|FAILED ([^\s]+::\S+)|\s*--- FAIL: (\S+)(?: \([0-9.]+s\))?|\s*(?:✕|✗|×) (.+?)(?: \([0-9.]+ ?m?s\))?|not ok [0-9]+ -? ?(.+)|ERROR ([^\s]+::\S+)|\s*● (.+ › .+)|FAIL\s+(\S+\.(?:test|spec)\.\S+)|FAIL (\S+\.\w+:[0-9]+: .+)|(?:FAIL|ERROR): (\w+) \(.*|_{4,} (\w+(?:\[.+\])?) _{4,})$",
    )
});

pub(super) static PYTEST: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^FAILED ([^\s]+::.+?)(?: - (.+))?$"));

/// Tools that say in a form of their own what failed: kotlinc, Maven, pnpm, MySQL, Redis, curl, git, make, linkers, PHP, R,
/// Perl, Oracle, PDO, nginx, pyright, Dart, valgrind, ssh, apt, LaTeX, esbuild, webpack.
pub(super) static TOOLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:e: (?:file://)?\S+:[0-9]+:[0-9]+:? (.+)|\[ERROR\] \S+:\[[0-9]+,[0-9]+\] (.+)|\[error\] \S+\.scala:[0-9:]+ (.+)|[\s\u{2009}]*(ERR_PNPM_[A-Z_]+[\s\u{2009}]+.+)|(ERROR [0-9]{4} \([0-9A-Z]{5}\)[^:]*: .+)|(\(error\) [A-Z]+ .+)|(curl: \([0-9]+\) .+)|\s*! (\[(?:remote )?rejected\] .+)|(make(?:\[[0-9]+\])?: \*\*\* No rule to make target .+)|(?:\s*= note: )?(?:\S*/)?(ld(?:\.\w+)?: (?:error: )?(?:cannot find -l|undefined symbol|symbol\(s\) not found|region .+ overflowed|\S+ section .+ will not fit|\S+ multiple definition of).+)|(\w+ could not find compatible versions .+)|((?:PHP )?(?:Fatal|Parse) error:\s+.+)|(Error in .+ : .+)|(Can't locate \S+ in @INC)|((?:ORA|PLS|TNS)-[0-9]{4,5}: .+)|(?:.*\s)?(SQLSTATE\[\w+\].*: .+)|(nginx: \[(?:emerg|error|alert)\] .+)|\s*\S+:[0-9]+:[0-9]+ - error: (.+)|\s*error [•-] (.+?) [•-] \S+:[0-9]+.*|==[0-9]+==\s+(Invalid (?:read|write) of size [0-9]+|.+ definitely lost .+)|(?:\S+: )?(Permission denied \([a-z,-]+\))|((?:Aborted|Bus error|Illegal instruction) \(core dumped\))|(E: \S.+)|! ((?:LaTeX Error|Package \S+ Error|Undefined control).+)|(?:✘|X) \[ERROR\] (.+)|(Module not found: .+))$",
    )
});

/// ExUnit, XCTest, minitest, Dart, Pest, jest without a suite.
pub(super) static EXAMPLES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^(?:\s+[0-9]+\) test (.+) \([A-Z]\S*\)|Test Case '(-\[\S+ \w+\]|\S+)' failed.*|(\w+#test_\w+)(?: \[.+\])?:?|[0-9:]+ \+[0-9]+(?: ~[0-9]+)? -[0-9]+: (.+) \[E\]|\s*FAILED\s+(\S+ > .+?)(?:\s{2,}.*)?|  ● (\S.+))$",
    )
});

/// Which of some patterns a line may match: it holds what each of their matches holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formed {
    pub(super) runners: bool,
    pub(super) examples: bool,
    pub(super) tools: bool,
    pub(super) plain: bool,
}

/// Looks for what [`RUNNERS`], [`EXAMPLES`], [`TOOLS`] and [`PLAIN`] need. Most lines match none.
pub(super) fn formed(line: &str) -> Formed {
    const OF_RUNNERS: &[&str] = &[
        "[  FAILED  ] ",
        "(Failed)",
        "(SEGFAULT)",
        "(Timeout)",
        " FAILED",
        "[ERROR]",
        "Failed ",
        "rspec ./",
        "FAIL [",
        "(fail) ",
        "[FAIL]",
    ];
    const OF_EXAMPLES: &[&str] = &[") test ", "Test Case '", "#test_", " [E]", "FAILED", "● "];
    const OF_TOOLS: &[&str] = &[
        "[ERROR] ",
        "[error] ",
        "ERR_PNPM_",
        "ERROR ",
        "(error) ",
        "curl: (",
        "rejected] ",
        "No rule to make",
        "cannot find -l",
        "undefined symbol",
        "symbol(s) not",
        " overflowed",
        " will not fit",
        " multiple definition of",
        "could not find compatible",
        "rror:",
        "Error in ",
        "Can't locate ",
        "ORA-",
        "PLS-",
        "TNS-",
        "SQLSTATE[",
        "nginx: [",
        "error •",
        "error -",
        "Invalid read",
        "Invalid write",
        "definitely lost",
        "Permission denied (",
        "(core dumped)",
        "Module not found: ",
    ];
    const OF_PLAIN: &[&str] = &[
        "rror:",
        "ERROR:",
        "atal:",
        "FATAL:",
        "is invalid:",
        "Error from ",
        "Error response from ",
        "An error occurred (",
        "CONFLICT (",
    ];
    static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
        let lists = [OF_RUNNERS, OF_EXAMPLES, OF_TOOLS, OF_PLAIN].into_iter().zip([1, 2, 4, 8]);
        let words = lists.flat_map(|(words, bit)| words.iter().map(move |word| (*word, bit)));
        Words::new(&words.collect::<Vec<_>>(), false)
    });
    let Some(words) = WORDS.as_ref() else {
        return Formed { runners: true, examples: true, tools: true, plain: true };
    };
    let mut bits = 0;
    let stretches = lanes::overlapping::<3>(line.as_bytes(), words.longest().saturating_sub(1));
    words.walk(stretches, |_, _, told| bits |= told);
    Formed {
        // "1) Suite::test".
        runners: bits & 1 != 0 || line.starts_with(|c: char| c.is_ascii_digit()),
        examples: bits & 2 != 0,
        tools: bits & 4 != 0 || ["e: ", "E: ", "! "].iter().any(|start| line.starts_with(start)),
        plain: bits & 8 != 0,
    }
}

/// Before [`ERRNO`]: a capital, `: ` and a small letter.
pub(super) fn may_be_errno(line: &str) -> bool {
    let is_it = |around: &[u8]| matches!(around, [before, b':', b' ', next] if before.is_ascii_uppercase() && next.is_ascii_lowercase());
    memchr::memchr_iter(b':', line.as_bytes())
        .any(|at| at.checked_sub(1).and_then(|from| line.as_bytes().get(from..at + 3)).is_some_and(is_it))
}

/// Elixir and Ruby name the exception in brackets.
pub(super) static BRACKETED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^(?:\s*\*\* \(([A-Z][\w.]*)\) (.+)|\S+\.rb:[0-9]+:in [`'].+': (.+) \(([A-Z][\w:]*)\))$")
});

pub(super) static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?:^|: )(\S+): command not found$|(?:^|: )command not found: (\S+)$|^(?:\S*/)?(?:ba|da|z|a)?sh: (?:[0-9]+: |line [0-9]+: )?(\S+): not found$",
    )
});

/// eslint, stylelint: `  12:7  error  message  rule`.
pub(super) static LISTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^\s+[0-9]+:[0-9]+\s+(?:error|✖|×)\s+(\S.*?)(?:\s{2,}([\w@/.-]+))?$"));

pub(super) static RAISED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"^((?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Z][A-Za-z0-9_]*): (\S)"));

#[cfg(test)]
mod tests {
    use super::super::super::samples::check_looks;
    use super::*;

    #[test]
    fn lines_that_match_one_of_the_patterns_are_told() {
        let told = |line: &str| {
            let formed = formed(line);
            formed.runners || formed.examples || formed.tools || formed.plain || may_be_errno(line)
        };
        for line in [
            "[  FAILED  ] Suite.Case",
            "  ● a test",
            "curl: (6) no host",
            "x ENOENT: no such file",
            "error: bad",
        ] {
            assert!(told(line), "{line}");
        }
        assert!(!told("the error is in the loop"));
    }

    /// Pieces of lines: of what the patterns are made, and of what they are made around.
    const OF_LINES: &[&str] = &[
        "a",
        "x.c:1:2",
        "1",
        "12",
        " ",
        "  ",
        ": ",
        ":",
        "::",
        ".",
        "(",
        ")",
        " (",
        "[1 s]",
        " > ",
        " - ",
        " FAILED",
        "FAILED ",
        "[  FAILED  ] ",
        "(Failed)",
        "(Timeout)",
        "Failed ",
        "FAIL [1 s]",
        "[FAIL] ",
        "(fail) ",
        "rspec ./a:1 # b",
        "1) ",
        "1) test ",
        "(A)",
        "Test Case '-[A b]' failed",
        "a#test_b",
        "0 +1 -1: ",
        " [E]",
        "  ● ",
        "e: ",
        "E: ",
        "! ",
        "LaTeX Error",
        "[ERROR] ",
        "x.scala:1 ",
        "[error] ",
        "ERR_PNPM_A ",
        "ERROR ",
        "1234 (AB123)",
        "(error) A ",
        "curl: (6) ",
        "! [rejected] ",
        "make: *** No rule to make target ",
        "ld: ",
        "cannot find -l",
        "undefined symbol",
        "symbol(s) not found ",
        "region a overflowed",
        "a section b will not fit",
        "a multiple definition of",
        "a could not find compatible versions ",
        "Fatal error: ",
        "Error in ",
        "Can't locate a in @INC",
        "ORA-12345: ",
        "SQLSTATE[1]",
        "nginx: [error] ",
        "error • ",
        " • ",
        "==1== ",
        "Invalid read of size ",
        " definitely lost ",
        "Permission denied (a)",
        "Aborted (core dumped)",
        "X [ERROR] ",
        "Module not found: ",
        "error",
        "Error",
        "TypeError",
        "fatal",
        "ERROR",
        "FATAL",
        "CMake Error",
        "The a \"b\" is invalid",
        "Error from a (B)",
        "Error response from a",
        "An error occurred (A) when calling the b operation",
        "CONFLICT (a)",
        "ENOENT",
    ];

    #[test]
    fn what_a_pattern_matches_is_told_before() {
        let rules: [(fn(&str) -> bool, &LazyLock<Option<Regex>>); 5] = [
            (|line| formed(line).runners, &RUNNERS),
            (|line| formed(line).examples, &EXAMPLES),
            (|line| formed(line).tools, &TOOLS),
            (|line| formed(line).plain, &PLAIN),
            (may_be_errno, &ERRNO),
        ];
        check_looks(OF_LINES, 6, 200_000, rules);
    }
}
