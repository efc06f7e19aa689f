use super::index::{Border, Index, Room, Sink};
use super::sentence::{Heading, Stance, Unit, UnitRead, analyse, entities, stance};
use super::*;
use proptest::prelude::*;

#[test]
fn normalisation_touches_no_digits() {
    for (text, expected) in [
        ("plain 88", "plain 88"),
        ("foo\u{200b}bar", "foobar"),
        ("ＡＢＣ：１２", "ABC:12"),
        ("ﬁle", "file"),
        ("…—“x”", "…—“x”"),
        ("你好，世界", "你好,世界"),
    ] {
        assert_eq!(normalise(text), expected);
    }
    assert!(matches!(normalise("é — ok ✓"), Cow::Borrowed(_)));
}

#[test]
fn json_escapes_are_decoded() {
    for (text, expected) in [
        (r"a\nb", "a\nb"),
        (r#"say \"x\""#, "say \"x\""),
        (r"C:\\x", "C:\\x"),
        (r"\u00e9\ud83d\ude00", "é😀"),
        (r"\ud83d", "\u{fffd}"),
        (r"\uZZ", "\\uZZ"),
        (r"end\", "end\\"),
        (r"\q", "\\q"),
    ] {
        assert_eq!(unescape_json(text), expected, "{text}");
    }
}

fn check_units(text: &str, expected: &[&str]) {
    let found: Vec<&str> =
        units(text).map(|(start, end)| text.get(start..end).expect("a range of the text")).collect();
    assert_eq!(found, expected);
}

#[test]
fn units_are_lines_and_wrapped_sentences() {
    check_units("a\nb\n\nc", &["a", "b", "", "c"]);
    check_units("", &[]);
    let wrapped = "- This is a list item that was wrapped by an editor at\n  about sixty columns.\n- next";
    check_units(
        wrapped,
        &["- This is a list item that was wrapped by an editor at\n  about sixty columns.", "- next"],
    );
    // Short lines, listings and code do not run together.
    check_units("alpha\nbeta\ngamma", &["alpha", "beta", "gamma"]);
    let listing = "drwxr-xr-x 2 root root 4096 Jan 01 00:00 some-directory\nsrc/main.rs";
    assert_eq!(units(listing).count(), 2);
}

#[test]
fn long_lines_are_cut_at_sentence_ends() {
    let text = "This sentence has a few words in it. ".repeat(100);
    let parts: Vec<(usize, usize)> = units(&text).collect();
    assert!(parts.len() > 3);
    assert!(parts.iter().all(|(start, end)| end - start <= 801), "{parts:?}");
    let joined: String =
        parts.iter().map(|(start, end)| text.get(*start..*end).expect("a range of the text")).collect();
    assert_eq!(joined, text);
    assert_eq!(units(&"x".repeat(10_000)).count(), 1, "nothing to cut at");
}

#[test]
fn sentences_end_where_people_end_them() {
    for (text, expected) in [
        ("One. Two? Three!", vec!["One.", "Two?", "Three!"]),
        ("Use a.rs, e.g. for 1.5 s. Then stop.", vec!["Use a.rs, e.g. for 1.5 s.", "Then stop."]),
        ("第一句。第二句！", vec!["第一句。", "第二句！"]),
        ("no end", vec!["no end"]),
        ("", vec![]),
    ] {
        let found: Vec<&str> = sentences(text)
            .into_iter()
            .map(|(start, end)| text.get(start..end).expect("a range of the text"))
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn quantities_are_whole_numbers_with_units() {
    for (text, expected) in [
        ("88 ms", Some(("88", "ms"))),
        ("88ms", Some(("88", "ms"))),
        ("1,024 bytes", Some(("1024", "B"))),
        ("1_000", Some(("1000", ""))),
        ("2.5s.", Some(("2.5", "s"))),
        ("95%", Some(("95", "%"))),
        ("128k tokens", Some(("128", "k tokens"))),
        ("30秒", Some(("30", "s"))),
        ("3, 4", Some(("3", ""))),
        ("5.", Some(("5", ""))),
        ("3d7f", None),
        ("30d", Some(("30", "day"))),
        ("9314906d-a4c1-4f02-a113-0c9d27e1b5f7", None),
        ("9314906d", None),
        ("1.2.3", None),
        ("2024-01-02", None),
        ("12:30", None),
        ("3abc", None),
        ("1,23", None),
    ] {
        let found = quantity_at(text, 0);
        assert_eq!(found.as_ref().map(|q| (q.number.as_str(), q.unit)), expected, "{text}");
    }
    for (text, at) in [("1.5", 2), ("v2", 1), ("x-3", 2), ("#3", 1), ("1,500", 2)] {
        assert_eq!(quantity_at(text, at), None, "{text}");
    }
}

#[test]
fn keys_bind_the_numbers_after_them() {
    for (text, expected) in [
        (": 3", vec![("3", false)]),
        (" = 3", vec![("3", false)]),
        (" from 3 to 5", vec![("3", true), ("5", false)]),
        (" was 3", vec![("3", true)]),
        ("` is now `5`", vec![("5", false)]),
        (" is set in the file", vec![]),
        (", 3", vec![]),
        ("_max: 3", vec![]),
        (".max: 3", vec![]),
        (" 改为 5", vec![("5", false)]),
    ] {
        let text = format!("key{text}");
        let found = bound_numbers(&text, 3);
        let found: Vec<(&str, bool)> = found.iter().map(|(q, former)| (q.number.as_str(), *former)).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[derive(Default)]
struct Hits {
    phrases: Vec<(u32, usize, usize)>,
    suffixes: Vec<(u32, usize, usize)>,
    strays: Vec<String>,
    words: Vec<(u32, Vec<u32>)>,
    numbers: Vec<usize>,
}

impl Sink for Hits {
    fn unit(&mut self, _text: &str, _start: usize, _end: usize) {}
    fn phrase(&mut self, phrase: u32, start: usize, end: usize) {
        self.phrases.push((phrase, start, end));
    }
    fn word(&mut self, word: u32, sentences: &[u32]) {
        self.words.push((word, sentences.to_vec()));
    }
    fn number(&mut self, _text: &str, start: usize) {
        self.numbers.push(start);
    }
    fn suffix(&mut self, suffix: u32, _text: &str, start: usize, end: usize) {
        self.suffixes.push((suffix, start, end));
    }
    fn stray(&mut self, _basename: u32, token: &str) {
        self.strays.push(token.to_owned());
    }
    fn unit_end(&mut self, _text: &str, _start: usize, _end: usize, _read: &UnitRead) {}
    fn heading(&mut self, _start: usize, _end: usize) {}
}

fn check_phrase(phrase: &str, border: Border, text: &str, expected: bool) {
    let mut index = Index::new();
    index.add_phrase(phrase, 7, border);
    let mut hits = Hits::default();
    index.search(text, &mut Room::default(), &mut hits);
    assert_eq!(!hits.phrases.is_empty(), expected, "{phrase} in {text}");
}

#[test]
fn phrases_are_whole_tokens() {
    for (phrase, text, expected) in [
        ("foo_bar", "a foo_bar b", true),
        ("foo_bar", "foo_bar_baz", false),
        ("foo_bar", "Foo_bar", false),
        ("foo bar", "foo   \t bar", true),
        ("foo bar", "foobar", false),
        ("foo.bar", "foo. bar", false),
        ("foo.bar", "foo.bar.", true),
        ("cargo test", "`cargo test`", true),
        ("cargo test", "cargo 'test'", true),
        ("cargo test", "cargo tests", false),
        ("a a b", "a a a b", true),
        ("é1", "xé1", false),
        ("é1", "(é1)", true),
        ("88", "你88好", true),
        ("88", "889 188 8 8", false),
        ("cart › adds up", "× cart › adds up 3ms", true),
        ("cart › adds up", "× cart > adds up 3ms", false),
        ("🔒 Blocked: no", "- 🔒 Blocked: no.", true),
        ("🔒 Blocked: no", "Blocked: no", false),
        ("urn:…:token", "at urn:…:token", true),
        ("−0", "gives −0", true),
        ("−0", "gives 0", false),
        ("\" no lease\"", "said: no lease", true),
        ("→ -", "a → - b", true),
    ] {
        check_phrase(phrase, Border::Word, text, expected);
    }
    check_phrase("1.2.3", Border::Tight, "1.2.3.4", false);
    check_phrase("1.2.3", Border::Tight, "is 1.2.3.", true);
    check_phrase("a::b", Border::Name, "a::b::c", false);
    check_phrase("a::b", Border::Name, "a::b()", true);
}

/// The tokens of a line with their places, told character by character. Quotes are none.
fn slow_tokens(line: &str) -> Vec<(String, usize, usize)> {
    let mut out: Vec<(String, usize, usize)> = Vec::new();
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let is_letter = |c: char| c.is_alphanumeric() && !is_cjk(c) || c == '_';
        let goes_on = is_letter(c) && is_letter(before) || " \t".contains(c) && " \t".contains(before);
        match out.last_mut() {
            Some((token, _, to)) if *to == at && goes_on => {
                if c != ' ' && c != '\t' {
                    token.push(c);
                }
                *to = end;
            }
            _ if "'\"`“".contains(c) => {}
            _ => out.push((if c.is_whitespace() { ' ' } else { c }.to_string(), at, end)),
        }
        before = c;
    }
    out
}

proptest! {
    #[test]
    fn phrases_stand_where_their_tokens_do(
        phrases in proptest::collection::vec("(--?|#|/|\\.| |'|`|“|=>|→|🔒|a|b2|é|好|-){1,5}", 1..6),
        text in "(--?|#|/|\\.| |  |\t|\u{a0}|'|`|“|→|🔒|=>|a|b2|é|好|-|,){0,24}",
    ) {
        let mut index = Index::new();
        let places = slow_tokens(&normalise(&text));
        let mut expected = Vec::new();
        for (number, phrase) in phrases.iter().enumerate() {
            let tokens: Vec<String> = slow_tokens(phrase).into_iter().map(|it| it.0).collect();
            // Blanks around it are none of it, and nobody looks for what is neither a word nor a mark of ASCII.
            let is_text = |token: &String| token != " ";
            let from = tokens.iter().position(is_text).unwrap_or(tokens.len());
            let to = tokens.iter().rposition(is_text).map_or(from, |last| last + 1);
            let tokens = tokens[from..to].to_vec();
            if tokens.iter().all(|token| ["→", "🔒", " "].contains(&token.as_str())) {
                continue;
            }
            index.add_phrase(phrase, number as u32, Border::Word);
            let stand = places.windows(tokens.len()).filter(|those| those.iter().map(|it| &it.0).eq(&tokens));
            expected.extend(stand.map(|those| (number as u32, those[0].1, those[those.len() - 1].2)));
        }
        expected.sort_unstable();
        for search in [Index::search, Index::search_wholes] {
            let mut hits = Hits::default();
            search(&index, &text, &mut Room::default(), &mut hits);
            hits.phrases.sort_unstable();
            prop_assert_eq!(&hits.phrases, &expected);
        }
    }
}

/// What a search of the log finds besides words: the same as one for everything, and the same where a character beyond
/// ASCII stands in each unit, so that it is read token by token.
fn check_scopes(index: &Index, text: &str) {
    let mut room = Room::default();
    let mut found = |text: &str, search: fn(&Index, &str, &mut Room, &mut Hits)| {
        let mut hits = Hits::default();
        search(index, text, &mut room, &mut hits);
        let Hits { mut phrases, mut suffixes, mut strays, numbers, .. } = hits;
        phrases.sort_unstable();
        suffixes.sort_unstable();
        strays.sort_unstable();
        (phrases, suffixes, strays, numbers)
    };
    let wholes = found(text, Index::search_wholes);
    assert_eq!(found(text, Index::search), wholes, "{text}");
    let wide: Vec<String> = text.lines().map(|line| format!("{line} 亜")).collect();
    let (phrases, suffixes, strays, numbers) = found(&wide.join("\n"), Index::search_wholes);
    let ids = |hits: &[(u32, usize, usize)]| hits.iter().map(|hit| hit.0).collect::<Vec<_>>();
    assert_eq!(ids(&phrases), ids(&wholes.0), "{text}");
    assert_eq!(ids(&suffixes), ids(&wholes.1), "{text}");
    assert_eq!((strays, numbers.len()), (wholes.2, wholes.3.len()), "{text}");
}

#[test]
fn a_search_for_wholes_finds_every_phrase_and_path() {
    let mut index = Index::new();
    let phrases = ["cargo test --lib", "a::b", "é1 x", "--flag", "12 things", "你好", "test", "x.y"];
    for (number, phrase) in phrases.iter().enumerate() {
        index.add_phrase(phrase, number as u32, Border::Word);
    }
    (b'0'..=b'9').for_each(|digit| index.add_digit(digit));
    for suffix in ["/repo/src/a.rs", "src/a.rs", "a.rs", "C:/x/b.rs", "b.rs", "Makefile", "src"] {
        index.add_suffix(suffix);
    }
    let pieces = [
        "cargo",
        " ",
        "test",
        "--lib",
        "a",
        "::",
        "b",
        "é1",
        "x",
        "--flag",
        "12",
        "things",
        "你",
        "好",
        ".",
        "y",
        "/repo/",
        "src/",
        "a.rs",
        "C:\\x\\b.rs",
        "./",
        "../",
        "//",
        "Makefile",
        "src",
        "\n",
        "─┤",
        "'",
        "a.rs/b.rs",
        "https://",
        "q/",
        "unrelated_and_long_word",
        "ＡＢ",
    ];
    let mut state = 7_u64;
    for _ in 0..3_000 {
        let text: String = (0..12)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                pieces[(state >> 33) as usize % pieces.len()]
            })
            .collect();
        check_scopes(&index, &text);
    }
}

#[test]
fn letters_beyond_ascii_are_those_of_unicode() {
    for c in ('\u{80}'..=char::MAX).filter(|c| !is_cjk(*c)) {
        assert_eq!(super::index::is_wide_word(c), c.is_alphanumeric(), "{c:?}");
    }
}

#[test]
fn first_bytes_tell_of_characters_what_is_true_of_them() {
    let mut bytes = [0; 4];
    let (mut stable, mut marks) = (0, 0);
    for c in '\0'..=char::MAX {
        let bytes = c.encode_utf8(&mut bytes).as_bytes();
        if super::begins_stable(bytes) {
            assert!(bytes.len() == 3 && super::is_stable(c), "{c:?}");
            stable += 1;
        }
        if super::index::begins_mark(bytes) {
            assert!(bytes.len() == 3 && !is_cjk(c) && !super::index::is_wide_word(c), "{c:?}");
            marks += 1;
        }
    }
    assert!(stable > 20_000 && marks > 1_000);
}

#[test]
fn enough_words_announce_a_sentence() {
    for total in 1..12_usize {
        for whole in 1..=total {
            for part in 1..=whole {
                let at_least = whole.min(2);
                let mut index = Index::new();
                let words: Vec<String> = (0..total).map(|n| format!("word{n}")).collect();
                let numbers: Vec<u32> = words.iter().map(|word| index.add_word(word)).collect();
                index.settle(0, &numbers, part, Some((whole, at_least)));
                for from in 0..total {
                    let told = |count: usize, wholes: bool| {
                        let unit: Vec<&str> =
                            (0..count).map(|n| words[(from + n) % total].as_str()).collect();
                        let mut hits = Hits::default();
                        let text = unit.join(" ");
                        if wholes {
                            index.search_wholes(&text, &mut Room::default(), &mut hits);
                        } else {
                            index.search(&text, &mut Room::default(), &mut hits);
                        }
                        hits.words.iter().filter(|(_, sentences)| sentences.contains(&0)).count()
                    };
                    assert!(told(part, false) >= 1, "{part} of {total}");
                    assert!(told(whole, true) >= at_least, "{whole} of {total}");
                }
            }
        }
    }
}

#[test]
fn overlapping_phrases_are_all_found() {
    let mut index = Index::new();
    for (number, phrase) in ["cargo", "cargo test", "test --lib", "cargo test --lib"].iter().enumerate() {
        index.add_phrase(phrase, number as u32, Border::Word);
    }
    let mut hits = Hits::default();
    index.search("run cargo test --lib", &mut Room::default(), &mut hits);
    let mut found: Vec<u32> = hits.phrases.iter().map(|hit| hit.0).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3]);
}

#[test]
fn path_tokens_are_looked_up_whole() {
    let mut index = Index::new();
    for suffix in ["/repo/src/a.rs", "src/a.rs", "a.rs", "C:/x/b.rs", "b.rs"] {
        index.add_suffix(suffix);
    }
    let find = |text: &str| {
        let mut hits = Hits::default();
        index.search(text, &mut Room::default(), &mut hits);
        let names: Vec<String> =
            hits.suffixes.iter().map(|hit| index.suffix_text(hit.0).to_owned()).collect();
        (names, hits.strays)
    };
    for (text, names, strays) in [
        ("see src/a.rs.", vec!["src/a.rs"], vec![]),
        ("\"/repo/src/a.rs\",", vec!["/repo/src/a.rs"], vec![]),
        ("a.rs:12", vec!["a.rs"], vec![]),
        ("--- a/src/a.rs", vec!["src/a.rs"], vec![]),
        ("../src/a.rs", vec!["src/a.rs"], vec![]),
        ("c:\\x\\b.rs", vec!["C:/x/b.rs"], vec![]),
        ("a.rs/b.rs", vec!["a.rs", "b.rs"], vec![]),
        ("lib/a.rs", vec![], vec!["lib/a.rs"]),
        ("http://x.org/src/a.rs", vec![], vec![]),
        ("data.rs a.rsx xa.rs a.rs-old", vec![], vec![]),
        ("@src/a.rs", vec!["src/a.rs"], vec![]),
    ] {
        let strays: Vec<String> = strays.into_iter().map(str::to_owned).collect();
        assert_eq!(find(text), (names.into_iter().map(str::to_owned).collect(), strays), "{text}");
    }
}

#[test]
fn names_are_found_however_the_text_goes_on() {
    for name in [
        "Makefile",
        "lib",
        "a-b.rs",
        "ab.rs",
        ".gitignore",
        "x.tar.gz",
        "v1.2-rc.txt",
        "_x.rs",
        "ab+c.h",
        "ab@2.js",
    ] {
        let mut index = Index::new();
        let suffix = index.add_suffix(name);
        for text in [
            "{}",
            "see {}.",
            "({})",
            "src/{}:3",
            "{}, then",
            "{} - x",
            "./{}",
            "c:\\x\\{}",
            "{}…",
            "{}-",
            "→ {} ü",
        ] {
            let mut hits = Hits::default();
            index.search(&text.replace("{}", name), &mut Room::default(), &mut hits);
            let strays = hits.strays.len();
            assert!(strays == 1 || hits.suffixes.iter().any(|hit| hit.0 == suffix), "{name} in {text}");
        }
    }
}

/// The words of sentences that a unit tells when all of them are wanted.
fn check_words(text: &str, expected: &[&str]) {
    #[derive(Default)]
    struct Words(Vec<u32>);
    impl Sink for Words {
        fn unit(&mut self, _text: &str, _start: usize, _end: usize) {}
        fn phrase(&mut self, _phrase: u32, _start: usize, _end: usize) {}
        fn word(&mut self, word: u32, sentences: &[u32]) {
            if sentences.is_empty() {
                self.0.push(word);
            }
        }
        fn number(&mut self, _text: &str, _start: usize) {}
        fn suffix(&mut self, _suffix: u32, _text: &str, _start: usize, _end: usize) {}
        fn stray(&mut self, _basename: u32, _token: &str) {}
        fn wants_words(&self) -> bool {
            true
        }
        fn unit_end(&mut self, _text: &str, _start: usize, _end: usize, _read: &UnitRead) {}
        fn heading(&mut self, _start: usize, _end: usize) {}
    }
    let mut index = Index::new();
    let words = ["retry", "limit", "größe", "上限", "go", "1_000"];
    let numbers: Vec<u32> = words.iter().map(|word| index.add_word(word)).collect();
    index.settle(0, &numbers, 1, Some((1, 1)));
    let mut told = Words::default();
    index.search_wholes(text, &mut Room::default(), &mut told);
    let told: Vec<&str> = told
        .0
        .iter()
        .filter_map(|word| Some(words[numbers.iter().position(|number| number == word)?]))
        .collect();
    assert_eq!(told, expected, "{text}");
}

#[test]
fn all_words_of_a_unit_are_told_where_they_are_wanted() {
    check_words("Retry: the LIMIT is 1_000, go", &["retry", "limit", "1_000", "go"]);
    check_words("(retry)limits go-limit", &["retry", "go", "limit"]);
    check_words("die größe: 上限 limit", &["größe", "上限", "limit"]);
    check_words("nothing of it — here", &[]);
}

#[test]
fn entities_are_the_exact_things_of_a_sentence() {
    for (text, expected) in [
        ("Never use CASCADE here", vec!["CASCADE"]),
        ("NEVER DO THIS", vec![]),
        ("Do NOT touch `src/a.rs` or parse_line", vec!["src/a.rs", "parse_line"]),
        ("Use and/or logic with 3 retries in 15 s", vec!["15"]),
        ("Keep HashMap and std::fs", vec!["HashMap", "std::fs"]),
    ] {
        assert_eq!(entities(text), expected, "{text}");
    }
}

#[test]
fn polarity_has_a_scope() {
    for (fact, unit, expected) in [
        ("never use CASCADE", "CASCADE must not be used", Stance::Same),
        ("never use CASCADE", "you may use CASCADE", Stance::Reversed),
        ("use X1 instead of Y1", "use Y1 instead of X1", Stance::Reversed),
        ("use X1 instead of Y1", "use X1, not Y1", Stance::Same),
        ("use X1 instead of Y1", "renamed Y1 → X1, which is in use", Stance::Same),
        ("use X1 instead of Y1", "use X1 (Y1 was removed), formerly Y1", Stance::Same),
        ("make retries 5, not 3", "`retries` 5 (was 3 first)", Stance::Same),
        ("make retries 5, not 3", "`retries` went from 3 to 5", Stance::Same),
        ("make retries 5, not 3", "`retries` went from 5 to 3", Stance::Reversed),
        ("make retries 5, not 3", "retries: 5 -> 3", Stance::Reversed),
        ("make retries 5, not 3", "`retries` 3", Stance::Reversed),
        ("store jobs in postgres, not redis", "jobs are in postgres", Stance::Weakened),
        ("no fallback to the old parser", "Removed the fallback to the old parser", Stance::Same),
        ("no fallback to the old parser", "fallback to the old parser", Stance::Reversed),
        ("use pnpm for installs", "do not use pnpm for installs", Stance::Reversed),
        ("use pnpm for installs", "use pnpm for installs, not npm", Stance::Same),
        ("only edit tests", "edit tests", Stance::Reversed),
        ("the API must return 404", "the API may return 404", Stance::Reversed),
        ("the API must return 404", "the API is required to return 404", Stance::Same),
        ("retries must be capped at 30 s", "Capped retries at 30 s", Stance::Weakened),
        ("retries must be capped at 30 s", "retries can be capped at 30 s", Stance::Reversed),
        ("mocks are forbidden in tests", "never use mocks in tests", Stance::Same),
        ("不要修改测试", "可以修改测试", Stance::Reversed),
    ] {
        assert_eq!(
            stance(&analyse(fact), &Unit::new(unit, &UnitRead::default()), Heading::default()),
            expected,
            "{fact} / {unit}"
        );
    }
}

proptest! {
    /// Whatever it says, and however often it says both.
    #[test]
    fn no_sentence_contradicts_itself(words in prop::collection::vec(prop::sample::select(vec![
        "use", "never", "not", "postgres", "redis", ",", ".", "instead", "rather", "of", "than", "was", "from", "to", "5",
        "3", "→", "removed", "must", "only", "is", "forbidden", "but", "and", "so", "don't", "may", "不要修改", "测试", "`a.rs`",
    ]), 1..16)) {
        let text = words.join(" ");
        prop_assert_eq!(stance(&analyse(&text), &Unit::new(&text, &UnitRead::default()), Heading::default()), Stance::Same);
    }
}

#[test]
fn hostile_texts_cost_no_more_than_their_length() {
    let mut index = Index::new();
    index.add_phrase("a a a a a a a a b", 0, Border::Word);
    index.add_suffix("a.rs");
    for text in [
        "a ".repeat(20_000),
        "/".repeat(20_000),
        ".".repeat(20_000),
        "\\".repeat(20_000),
        "，".repeat(5_000),
        "`".repeat(20_000),
    ] {
        let mut hits = Hits::default();
        index.search(&text, &mut Room::default(), &mut hits);
        assert!(hits.phrases.is_empty());
    }
}
