//! Sentences that are of a class, beside those that only look like it.

use super::super::samples::samples;
use super::*;
use crate::facts::Author;

#[test]
fn constraints_bind() {
    for text in [
        "Never use CASCADE.",
        "Don't touch the public API.",
        "Please do not add new dependencies.",
        "You must keep Python 3.8 support.",
        "The endpoint must return 404 for unknown ids.",
        "Only modify files under src/.",
        "Use only the standard library.",
        "Always run cargo fmt before committing.",
        "Avoid unwrap in library code.",
        "No new dependencies.",
        "Refactor the parser without changing the public API.",
        "Use pnpm instead of npm.",
        "Make sure all tests pass.",
        "Keep the wire format unchanged.",
        "Fix it, but don't change the tests.",
        "It should never block the main thread.",
        "I don't want you to push anything.",
        "Keep responses under 500 tokens.",
        "不要修改测试文件。",
        "必须使用 Python 3。",
        "テストは変更しないでください。",
        "we never commit generated files",
        "at most 3 retries",
    ] {
        assert!(is_constraint(&Plain::new(text)), "{text}");
    }
}

#[test]
fn reports_questions_and_offers_do_not_bind() {
    for text in [
        "No errors were found.",
        "It never worked on Windows.",
        "I don't know why it fails.",
        "Should we never use CASCADE?",
        "We could avoid the lock.",
        "Never mind.",
        "Don't worry about it.",
        "The README says never use tabs.",
        "It must be a bug in the parser.",
        "No problem!",
        "I have to restart it every time.",
        "Why do you always do that?",
        "The file states \"you must never edit this by hand\".",
        "It only happens on Mondays.",
        "Maybe we should not use it.",
        "为什么不能运行？",
        "There is no file like that.",
        "It does not compile.",
        "Add a button to the page.",
    ] {
        assert!(!is_constraint(&Plain::new(text)), "{text}");
    }
}

#[test]
fn decisions_settle() {
    for text in [
        "We decided to use Postgres because of JSONB.",
        "Let's go with option B.",
        "I'll use a BTreeMap instead of a HashMap so that order is stable.",
        "I'll use Elasticsearch rather than Solr in the search panel.",
        "Going with SQLite for now.",
        "We settled on two workers.",
        "We switched from Redis to Postgres for the sessions.",
        "Decided against Redis for now.",
        "It was agreed that dates stay in UTC.",
        "Decision: keep the v1 format.",
        "我们决定使用 Redis。",
    ] {
        assert!(is_decision(&Plain::new(text), Author::Agent, None), "{text}");
    }
    assert!(is_decision(&Plain::new("ok let's use Redis for the cache"), Author::User, None));
    for text in [
        "Nothing was decided.",
        "We still have to decide whether to use Redis.",
        "We could go with Redis.",
        "Should we go with Redis?",
        "I'll use the Read tool to look at it.",
        "Let me use grep instead of reading it.",
        "I'll search the module for callers instead of reading it.",
        "The format is to be decided.",
        "I'll use sed to check it.",
        "If we decided to use Redis, it would cost more.",
        "They decided to explore the park.",
        "This decision is met with surprise.",
        "Final answer",
    ] {
        assert!(!is_decision(&Plain::new(text), Author::Agent, None), "{text}");
    }
}

#[test]
fn forms_of_a_decision() {
    let user = |text: &str, offer: Option<&str>| {
        is_decision(&Plain::new(text), Author::User, offer.map(|text| Offer { text, first: true }))
    };
    for text in [
        "Use 15 minutes as the cap.",
        "Make it 5.",
        "TTL 60 s, please.",
        "The cap must be 10 minutes, not 15.",
        "The budget is 165 kB since January, not 180.",
        "And base delay 2 s, their load balancers are slow.",
        "按字符截断,不是字节。",
    ] {
        assert!(user(text, None), "{text}");
    }
    let offer = "a) postgres\nb) redis\nwhich one do you prefer?";
    for text in ["Postgres.", "A, and B with at most 2.", "Option 2.", "The second one.", "No redis."] {
        assert!(user(text, Some(offer)), "{text}");
    }
    for text in
        ["Postgres.", "Yes, I would like to cancel it.", "timeout: 5", "Human removed: 0", "width = 87"]
    {
        assert!(!user(text, None), "{text}");
    }
    let agent = |text: &str| is_decision(&Plain::new(text), Author::Agent, None);
    for text in [
        "I left the date form alone, because nobody sends it.",
        "Vite only warns about chunks, so I'll add a plugin.",
        "The limit now defaults to 0 instead of 1000.",
        "Fixing the fake, not the sweeper.",
        "The new column wins, since that is what the bank writes.",
        "We could use X, but it only came in 20.3, so it is out.",
    ] {
        assert!(agent(text), "{text}");
    }
    for text in [
        "I'm moving it to the other list because it is still open.",
        "I'll check the logs first, so that we know.",
        "The test fails because the mock is missing.",
        "It works now, not just on Linux.",
        "Because I passed the stub, the query never ran.",
    ] {
        assert!(!agent(text), "{text}");
    }
}

#[test]
fn one_sentence_asks() {
    let asks = |text: &str| super::asks(&Plain::new(text));
    for text in [
        "Please fix it.",
        "Add a check to the build.",
        "Any ideas?",
        "wait, do a benchmark first",
        "The handler should really release the hold.",
        "Fix it, but don't change the tests.",
        "次は警告を追加してください。",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in [
        "Don't start watchers again, use a timeout.",
        "171 kB?",
        "wait, I looked it up: the budget is 165 kB.",
        "its result must not change",
        "--> build.rs:7:8",
        "Keep the names as they are.",
        "B it is, we don't need the panic info.",
    ] {
        assert!(!asks(text), "{text}");
    }
}

#[test]
fn assent_asks_nothing() {
    for text in [
        "yes",
        "ok, go ahead",
        "Continue",
        "Looks good, thanks!",
        "继续",
        "Yes, please proceed with moving the two bookings. Thank you!",
        "ok go ahead with the second migration",
    ] {
        assert!(is_assent(text), "{text}");
    }
    for text in ["yes, and rename it", "fix it", "use Redis"] {
        assert!(!is_assent(text), "{text}");
    }
    for text in ["Yes, please proceed and add a test.", "Proceed with the import.", "ok, go ahead: rename it"]
    {
        assert!(!is_assent(text), "{text}");
    }
}

/// Every pattern that stands behind a list of phrases finds nothing in a text without one of them.
#[test]
fn patterns_match_only_where_a_phrase_stands() {
    const SIGNS: &[&str] =
        &[" ", " ", " ", " ", ", ", " - ", "'", ". ", ": ", "-", " 5", "4 ", "/x", " not ", " is", "请", "é"];
    for (list, rule) in constraint::forms().into_iter().chain(decision::forms()) {
        let rule = rule.as_ref().expect("the pattern is sound");
        // The words of the pattern itself, which match it more often than others.
        let words = rule.as_str().split(|c| r"|()?:[]\^$*+.".contains(c)).filter(|word| !word.is_empty());
        let mut pieces: Vec<&str> = words.collect();
        let share = pieces.len() / SIGNS.len() + 1;
        pieces.extend(std::iter::repeat_n(SIGNS, share).flatten());
        let mut matches = 0;
        for text in samples(&pieces, 12, 20_000) {
            if rule.is_match(&text) {
                matches += 1;
                assert!(Said::in_text(&text).any(list), "{list:?}: {text}");
            }
        }
        assert!(matches > 0, "{list:?}: no sample matches {rule}");
    }
}

#[test]
fn near_contrasts_are_contrasts() {
    const PIECES: &[&str] = &[
        ", not ",
        " - not ",
        " and not ",
        "the ",
        "a",
        "just",
        "x-1",
        ".",
        "_",
        "é",
        " ",
        "/",
        "—",
        "in ",
        ";",
        "²",
        "instead",
        " of ",
        "rather than ",
        "prefer ",
        " over ",
        "-",
    ];
    let (mut near, mut far) = (0, 0);
    for text in samples(PIECES, 10, 20_000) {
        let expected = decision::contrast_of_any_letters(&text);
        match decision::near_contrast(&text) {
            Ok(found) => {
                near += usize::from(found.is_some());
                assert_eq!(found, expected, "{text}");
            }
            Err(_) => far += 1,
        }
    }
    assert!(near > 1_000 && far > 100, "{near}, {far}");
}

#[test]
fn phrases_are_found_wherever_they_stand() {
    let lists = [(List::Open, OPEN), (List::Reported, REPORTED), (List::Obliges, OBLIGES)];
    let mut pieces = vec![" ", "must", "be", "我", "é", "says", ":", "could", "we"];
    pieces.extend(lists.iter().flat_map(|(_, phrases)| phrases.iter()));
    for text in samples(&pieces, 4, 5_000) {
        let said = Said::in_text(&text);
        for (list, phrases) in lists {
            assert_eq!(said.any(list), contains_any(&text, phrases), "{list:?}: {text}");
        }
    }
}

#[test]
fn clauses_begin_after_signs_and_joints() {
    const PIECES: &[&str] = &[
        " and ",
        " and",
        " but ",
        " so ",
        "so ",
        " then ",
        " - ",
        "- ",
        " also ",
        " however ",
        ",",
        ":",
        "(",
        "—",
        "，",
        " ",
        "please ",
        "we ",
        "never ",
        "use",
        "x",
        "请",
        "é",
    ];
    for text in samples(PIECES, 8, 5_000) {
        let mut expected = vec![(0, false)];
        for (at, c) in text.char_indices() {
            if matches!(c, ',' | ';' | ':' | '(' | '—' | '–' | '，' | '；' | '：' | '、') {
                expected.push((at + c.len_utf8(), false));
            }
        }
        for joint in JOINTS {
            let joints = text.match_indices(joint);
            expected.extend(joints.map(|(at, found)| (at + found.len(), *joint == " and ")));
        }
        expected.sort_unstable();
        for (start, _) in &mut expected {
            *start = past_openings(&text, *start);
        }
        expected.dedup_by_key(|(start, _)| *start);
        assert_eq!(clauses(&text).as_slice(), expected, "{text}");
    }
}

#[test]
fn plain_text_of_both_kinds_is_the_same() {
    for text in samples(&["A", "b", "*", "`", "\n", "\t", " ", "'", "."], 8, 1_000) {
        let plain = |text: &str| {
            let mut lower = String::new();
            plain(text, &mut lower);
            lower
        };
        let wide = plain(&format!("{text}é"));
        assert_eq!(Some(plain(&text).as_str()), wide.strip_suffix('é'), "{text:?}");
    }
}

#[test]
fn the_product_is_made_so_by_nobody_named() {
    let agent = |text: &str| is_decision(&Plain::new(text), Author::Agent, None);
    for text in [
        "The pool size is 24 now because four pods share the database.",
        "The signing step was moved to a job of its own so that forks never see the key.",
        "Release notes are now generated from labels, not from commits.",
        "The price column became `bigint` to rule out rounding drift.",
        "Went with `ignore` for the walker rather than `walkdir`.",
    ] {
        assert!(agent(text), "{text}");
    }
    for text in [
        "The build fails now because the key is gone.",
        "The worker is rebuilding the package now because the source changed.",
        "The check was added in commit 3696270, not c2b0273.",
        "All tests pass now, so I'll commit.",
        "The loader reads the file twice because the header comes first.",
    ] {
        assert!(!agent(text), "{text}");
    }
}

#[test]
fn what_may_not_be_is_a_rule_and_what_may_not_happen_is_none() {
    for text in [
        "The order of the columns may not shift.",
        "It may not add a goroutine per connection.",
        "The server components stay as they are, though.",
        "Nothing is allowed to move.",
        "Please put it in the config and not in code.",
    ] {
        assert!(is_constraint(&Plain::new(text)), "{text}");
    }
    for text in
        ["It may not work on Windows.", "That may not clear out the session files.", "It remains slow."]
    {
        assert!(!is_constraint(&Plain::new(text)), "{text}");
    }
}

#[test]
fn an_answer_asks_for_nothing() {
    let offer = Offer { text: "a) postgres\nb) redis\nwhich one?", first: true };
    for text in ["2", "b.", "(a)"] {
        assert!(is_decision(&Plain::new(text), Author::User, Some(offer)), "{text}");
        assert!(!is_decision(&Plain::new(text), Author::User, None), "{text}");
    }
    assert!(only_answers(&Plain::new("1, but roll back silently"), offer));
    assert!(!only_answers(&Plain::new("Redis, and add a test please"), offer));
    assert!(!is_decision(&Plain::new("yes, go ahead"), Author::User, Some(offer)));
}

#[test]
fn a_part_of_the_product_is_as_it_is_for_something() {
    let agent = |text: &str| is_decision(&Plain::new(text), Author::Agent, None);
    for text in [
        "Thumbnails are kept beside the originals so that a backup takes both.",
        "Each tenant has a queue of its own, since a shared one would let one tenant starve the rest.",
        "Dates are sent as strings, because the parser of the app is too old for numbers.",
        "The mailer now takes its templates from the bundle rather than from the disk.",
        "Updated the form to send the id instead of the name.",
        "Built once per release, to avoid two different artefacts.",
        "I pinned the parser, as the next one drops Node 16.",
        "Since the feed may repeat an id, I keep the first row.",
        "I did not add an index because the table has forty rows.",
        "I went for plain files.",
    ] {
        assert!(agent(text), "{text}");
    }
    for text in [
        "I'll look at the mapper first so that I do not guess.",
        "The request hangs since the pool is empty.",
        "The parser returns an empty list instead of an error.",
        "A query now takes 3 ms instead of 90 ms.",
        "The problem is in the proxy, not in your code.",
        "The loader wants a header, so it cannot read this file.",
        "Next I'll change the form, because it has its own copy.",
        "It has been slow ever since.",
        "I have no opinion so far.",
        "All is well, as expected.",
        "I couldn't open it because the disk is read-only.",
        // How existing code works reads like this, too.
        "The importer skips blank rows so the totals match the ledger.",
        "The mailer takes its templates from the bundle rather than from the disk.",
        "Invoices are numbered by year and not by client.",
        // Findings and steps.
        "The reason it stays empty is that nobody calls it since the move.",
        "I'll first open the mapper so the next step is clear.",
        "The page was cached by the proxy, so it kept the old title.",
        "One cause may be the clock, since it would explain the gap.",
    ] {
        assert!(!agent(text), "{text}");
    }
}

#[test]
fn choices_in_other_languages() {
    let agent = |text: &str| is_decision(&Plain::new(text), Author::Agent, None);
    let user = |text: &str| is_decision(&Plain::new(text), Author::User, None);
    for text in [
        "Ich habe die Abfrage gebündelt, weil der Dienst je Anruf abrechnet.",
        "Der Name kommt aus der Datei statt aus der Umgebung.",
        "J'ai séparé les deux tables afin de garder l'historique.",
        "El total se guarda en céntimos para evitar redondeos.",
        "为了兼容旧版本，我保留了旧接口。",
        "キーの型に文字列を使うことにしました。",
    ] {
        assert!(agent(text), "{text}");
    }
    for text in ["Nimm den Index, nicht die Sicht.", "On garde le format actuel.", "超时设为 20 秒。"] {
        assert!(user(text), "{text}");
    }
    for text in
        ["Der Test schlägt fehl, weil die Datei fehlt.", "J'ai une erreur parce que le port est pris."]
    {
        assert!(!agent(text), "{text}");
    }
}

#[test]
fn a_choice_is_answered_in_a_few_words() {
    let text = "we can keep the old table with a view over it, or rename it now. which one?";
    let offer = Offer { text, first: true };
    let user = |said: &str| is_decision(&Plain::new(said), Author::User, Some(offer));
    for said in ["old table with view", "I'd say 2", "Great, renaming it is."] {
        assert!(user(said), "{said}");
    }
    for said in ["thanks a lot", "the table is broken", "which table?", "The view must stay.", "as it is."] {
        assert!(!user(said), "{said}");
    }
    assert!(!is_decision(&Plain::new("old table with view"), Author::User, None));
    assert!(only_answers(&Plain::new("old table with view"), offer));
    assert!(!only_answers(&Plain::new("add a test for the old table"), offer));
}

#[test]
fn settings_stand_without_a_verb() {
    let user = |text: &str| is_decision(&Plain::new(text), Author::User, None);
    for text in [
        "2 MB, to be safe.",
        "Chunks of 16 MB.",
        "Debounce by 200 ms, please.",
        "lease: 45 s.",
        "Exit code 4 on an empty list.",
        "Let's rename it to `ledger`.",
        "We prefer tabs over a wizard.",
    ] {
        assert!(user(text), "{text}");
    }
    for text in ["Took 12 s on my machine.", "It crashed after 30 s.", "Let's see.", "lease: 45 s"] {
        assert!(!user(text), "{text}");
    }
}

#[test]
fn more_words_bind() {
    for text in [
        "Jobs may never run twice.",
        "Nothing gets merged before Ida has seen it.",
        "Fix the header, nothing else please.",
        "What I don't want is a second cache.",
        "Release it without downtime.",
        "Ship it, but not before the audit.",
        "Die Tabelle darf nicht wachsen.",
        "Höchstens 3 Versuche pro Auftrag.",
        "Ne modifie jamais les fichiers générés.",
        "No toques los tests de pagos.",
        "El fichero debe quedar igual en el servidor.",
        "只对新用户启用。",
        "再試行は 2 回まで。",
    ] {
        assert!(is_constraint(&Plain::new(text)), "{text}");
    }
    for text in [
        "I get a blank page, only in Firefox.",
        "What is the limit?",
        "Der Test läuft auf meinem Rechner.",
        "No idea why.",
        "I have a feeling we need only the first pass.",
        "The loader must be restarted by hand, i think.",
        "Safari だけで起きます。",
    ] {
        assert!(!is_constraint(&Plain::new(text)), "{text}");
    }
}

#[test]
fn reports_of_work_tell_choices() {
    let told = |text: &str| may_report(&Plain::new(text));
    for text in [
        "Values above the maximum stop the start with a clear message, so nobody finds out under load.",
        "`secrets.token_urlsafe(32)`, stored as a SHA-256 digest so a leaked table is worthless.",
        "The upload aborts as soon as the 25 MB are exceeded, so a lying client costs us one chunk (64 KB) at most.",
        "The sum runs over fixed blocks of 4096 B in a fixed order, so the result no longer depends on the number of threads.",
        "The old rows keep their ids because reports link to them.",
        "Retries live in the client instead of the worker.",
        "The lock file is written last, so a crash leaves the former state.",
        "The field is called `owner`, not `user`.",
        "To spare the disk, thumbnails are rendered on demand.",
    ] {
        assert!(told(text), "{text}");
    }
    for text in [
        "The second one needs a board, so it cannot pass here.",
        "The task crashes because the buffer is freed twice.",
        "I ran it twice, so the log is long.",
        "The selection compares both in local time, so a payment after 22:00 counted as unpaid.",
        "It indexes a table by the byte, so it is hardly the problem.",
        "Your project is private, so your secrets are safe.",
        "A keystroke now takes 6 ms instead of 210 ms.",
        "The old code looks the column up by name since the position used to change.",
    ] {
        assert!(!told(text), "{text}");
    }
    assert!(is_report("done. the cap is 4 now.", false, false));
    assert!(is_report("- added `load_ledger`.", true, false));
    assert!(!is_report("it comes from the window. i haven't changed any of that.", false, false));
    assert!(!is_report("the pool fills up now. shall i raise it?", false, true));
    assert!(!is_report("the tax office checks it that way now.", true, false));
}
