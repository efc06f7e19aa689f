//! Embedded profiles, what is refused, and profiles that extend others.

use super::*;
use crate::estimate::Limit;

fn standard() -> &'static str {
    Profile::text_of("standard").expect("the embedded text")
}

fn check_refused(change: (&str, &str), expect: &str) {
    let text = standard().replace(change.0, change.1);
    assert_ne!(text, standard(), "the change must apply");
    let error = Profile::parse("mine.toml", &text).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}");
}

#[test]
fn the_embedded_profile_is_valid() {
    let standard = Profile::standard();
    assert_eq!(standard.name, "standard");
    let amounts = standard.at(128_000, None);
    assert_eq!((amounts.trigger, amounts.keep, amounts.budget), (102_400, 20_000, 5_120));
}

#[test]
fn every_embedded_profile_is_valid_and_goes_by_its_name() {
    for name in Profile::names() {
        let profile =
            Profile::named(name).expect("an embedded profile").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(profile.name, name);
        assert!(!profile.description.is_empty() && profile.fixes.is_empty(), "{name}");
        let fixed = Profile::named(&format!("{name}+fixes")).expect("a profile").expect("valid");
        assert_eq!(fixed.fixes, Fix::ALL);
    }
    assert!(Profile::named("oppal").is_none());
    assert!(known("oppal").contains("did you mean `opal`"));
}

#[test]
fn a_profile_may_extend_another_one() {
    let mine =
        "extends = \"pi\"\nname = \"mine\"\n[keep]\ntokens = 5000\n[trigger]\nlimit = { share = 0.5 }\n";
    let profile = Profile::parse("mine.toml", mine).unwrap();
    assert_eq!((profile.name.as_str(), profile.keep.tokens), ("mine", Some(5_000)));
    assert_eq!(profile.trigger.limit, Limit::Share(0.5));
    assert_eq!(profile.cut, Profile::named("pi").unwrap().unwrap().cut);
    let wrong = Profile::parse("mine.toml", &mine.replace("tokens", "tokns")).unwrap_err().to_string();
    assert!(wrong.contains("line 4") && wrong.contains("did you mean `tokens`?"), "{wrong}");
    let loose = Profile::parse("mine.toml", "extends = \"pie\"").unwrap_err().to_string();
    assert!(loose.contains("did you mean `pi`"), "{loose}");
}

#[test]
fn bad_values_are_told_with_their_line_and_what_was_meant() {
    for (setting, says) in [
        ("window = -5", "line 3: window"),
        ("window = 200000.5", "line 3: window"),
        ("window = \"200k\"", "line 3: window"),
        ("name = 3", "line 3: name"),
        ("fixes = [\"safe-cutt\"]", "did you mean `safe-cut`?"),
        ("overflow = \"opla\"", "did you mean `opal`?"),
        ("[keep]\ntokens = -5", "line 4: keep"),
        ("[keep]\ntokns = 5", "did you mean `tokens`?"),
        ("[summary]\nlayout = \"six-section\"", "line 4: summary.layout"),
        ("[cut]\nlandings = [\"usr\"]", "line 4: cut.landings"),
        ("[cut]\nfull = \"reachd\"", "did you mean `reached`?"),
        ("[trigger]\nlimit = { reserv = 1 }", "did you mean `reserve`?"),
        ("[trigger]\nlimit = { reserve = 1, share = 0.5 }", "line 4: trigger.limit"),
        ("[estimate]\nimages = { sizes = 1 }", "line 4: estimate.images"),
        ("[estimate]\nunits_per_token = 0", "line 4: estimate.units_per_token"),
        ("[trigger]\n[trigger.limit]\nreserv = 1", "line 5: trigger.limit"),
        ("[kep]\ntokens = 1", "did you mean `keep`?"),
    ] {
        let text = format!("extends = \"pi\"\n# mine\n{setting}\n");
        let error = Profile::parse("mine.toml", &text).expect_err(setting).to_string();
        assert!(error.contains("line ") && error.contains(says), "{setting}: {error}");
    }
    let unknown = Profile::parse("mine.toml", "# mine\nextends = \"pii\"").unwrap_err().to_string();
    assert!(unknown.contains("line 2") && unknown.contains("did you mean `pi`?"), "{unknown}");
}

#[test]
fn names_in_braces_that_nothing_fills_are_refused() {
    for (setting, says) in [
        (
            "[summary_text.split]\nboth = \"{histori} {turn}\"",
            "line 4: summary_text.split.both holds {histori}, which nothing fills; did you mean {history}?",
        ),
        ("[summary_text.split]\nturn_only = \"{trun}\"", "did you mean {turn}?"),
        ("[summary_text.split]\nboth = \"{history}\"", "has no {turn}: what belongs there would be lost"),
        ("[summary_text.files]\nread = \"the files\"", "has no {files}"),
        (
            "[prompt.calls]\nform = \"{nam}({args})\"",
            "line 4: prompt.calls.form holds {nam}, which nothing fills; did you mean {name}?",
        ),
        (
            "[events]\nend = \"{foo}\"",
            "line 4: events.end holds {foo}, which nothing fills. Known are {strategy}",
        ),
        ("[prompt.tool]\ncap = { most = 5, notice = \"{lef}\" }", "did you mean {left}?"),
    ] {
        let text = format!("extends = \"pi\"\n# mine\n{setting}\n");
        let error = Profile::parse("mine.toml", &text).expect_err(setting).to_string();
        assert!(error.contains("line ") && error.contains(says), "{setting}: {error}");
    }
    let shape = "extends = \"sven\"\n[[outputs.cap.shapes]]\ntools = [\"x\"]\nkeep = \"head\"\nnotice = \"{liens}\"\n";
    let error = Profile::parse("mine.toml", shape).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("did you mean {lines}?"), "{error}");
    // Other braces are text.
    let text = "extends = \"pi\"\n[events]\nend = \"{:done, {total}} {}\"\n";
    assert!(Profile::parse("mine.toml", text).is_ok());
}

#[test]
fn amounts_scale_with_the_window_and_the_budget_stays_within_a_quarter() {
    let standard = Profile::standard();
    let amounts = standard.at(64_000, None);
    assert_eq!((amounts.trigger, amounts.keep, amounts.budget), (51_200, 10_000, 2_560));
    assert_eq!(standard.at(2_000, None).budget, 500);
    assert_eq!(standard.at(20_000, None).budget, 1_000);
    assert_eq!(standard.at(20_000, Some(700)).budget, 700);
    assert_eq!(standard.at(2_000, Some(700)).budget, 500);
}

#[test]
fn contradictions_are_refused_with_the_reason() {
    check_refused(("tokens = 20000", "tokens = 120000"), "reaches the trigger");
    check_refused(("window = 128000", "window = 0"), "at least 1 token");
    check_refused(("share = 0.80", "share = 1.8"), "trigger.limit.share is 1.8");
    check_refused(("measure = \"counted\"\nlimit", "mesure = \"counted\"\nlimit"), "did you mean `measure`?");
    check_refused(("budget_fraction = 0.04", "budget_fraction = 0.5"), "between 0 and 0.25");
    check_refused(("budget_tokens = 1000 ", "budget_tokens = 90000 "), "quarter of the window");
    check_refused(("tokens = 20000", "tokens = -1"), "invalid value");
}

/// Each with what is wrong, under a profile that is right without it, and the line of the key in the own file.
#[test]
fn senseless_values_are_refused_with_the_line_of_the_own_file() {
    for (base, own, expect) in [
        ("sven", "[keep]\nentries = 0", "line 4: keep.entries is 0"),
        ("sven", "keep.entries = 4000000000", "line 3: keep.entries is 4000000000"),
        ("sven", "[keep]\ntokens = 5", "line 4: [keep] needs entries"),
        ("pi", "[summary]\nbudget_tokens = 1", "line 4: summary.budget_tokens is 1, too few"),
        ("pi", "[summary]\nbudget_fraction = 0\nbudget_tokens = 0", "line 5: summary.budget_tokens is 0"),
        ("pi", "summary = { budget_tokens = 60000 }", "line 3: summary.budget_tokens is 60000"),
        ("pi", "[summary]\n\n\nbudget_fraction = 0.5", "line 6: summary.budget_fraction is 0.5"),
        ("pi", "[estimate]\nleast = 200000", "line 4: estimate.least is 200000"),
        ("pi", "[estimate]\nper_message = 999999999", "line 4: estimate.per_message is"),
        ("pi", "[estimate]\nper_call = 200001", "line 4: estimate.per_call is"),
        ("pi", "[keep]\ntokens = 190000", "line 4: keep.tokens (190000 tokens) reaches the trigger"),
        ("pi", "[trigger]\nlimit = { share = 0.05 }", "line 4: keep.tokens (20000 tokens) reaches"),
        ("pi", "[trigger.limit]\nshare = 1.5", "line 4: trigger.limit.share is 1.5"),
        ("pi", "[trigger]\nlimit = { reserve = 300000 }", "line 4: the trigger fires on an empty context"),
        ("sven", "[budget]\noutput = 200000", "line 4: budget.output is 200000"),
        ("sven", "[budget]\nemergency = 0.0", "line 4: budget.emergency is 0"),
        ("pi", "window = 0", "line 3: window must be"),
        ("pi", "window = 3000", "line 3: summary.budget_tokens is 1000"),
        ("pi", "pin_limit = 2.0", "line 3: pin_limit is 2"),
        ("pi", "[llm]\nmodel = \" \"", "line 4: llm.model is empty"),
        ("pi", "[llm]\nmax_output_tokens = 0", "line 4: llm.max_output_tokens is 0"),
        ("pi", "[llm]\nmax_output_tokens = 2000000", "line 4: llm.max_output_tokens is 2000000"),
        ("pi", "[split]\nsummaries = 3", "line 4: split.summaries is 3"),
        ("pi", "[keep]\ncontext = 1.0", "line 4: keep.context is 1"),
        ("standard", "[cut]\nmeasure = \"estimate\"", "line 4: cut.measure is \"estimate\", but"),
        ("standard", "[trigger]\nmeasure = \"usage\"", "line 4: trigger.measure is not"),
    ] {
        let text = format!("extends = \"{base}\"\nname = \"mine\"\n{own}\n");
        let error = Profile::parse("mine.toml", &text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("profile mine.toml: {expect}")), "{own}: {error}");
    }
    // Where the own file holds none of the keys there is no line to name.
    let whole = standard().replace("tokens = 20000", "tokens = 120000");
    let error = Profile::parse("mine.toml", &whole).unwrap_err().to_string();
    let line = whole.lines().position(|line| line.starts_with("tokens = 120000")).unwrap() + 1;
    assert!(error.contains(&format!("line {line}: keep.tokens")), "{error}");
    // Values at the edge are right.
    for own in ["[summary]\nbudget_tokens = 0", "[summary]\nbudget_tokens = 50", "[keep]\ntokens = 0"] {
        let text = format!("extends = \"pi\"\nname = \"mine\"\n{own}\n");
        assert!(Profile::parse("mine.toml", &text).is_ok(), "{own}");
    }
}

#[test]
fn a_mended_profile_can_be_printed_and_extended() {
    for name in Profile::names() {
        let mended = format!("{name}+fixes");
        let named = Profile::named(&mended).expect("a profile").expect("valid");
        let file = Profile::file_of(&mended).expect("a text");
        assert_eq!(Profile::parse(&mended, &file).as_ref(), Ok(&named), "{file}");
        let plain = Profile::file_of(name).expect("a text");
        assert_eq!(Some(plain.as_str()), Profile::text_of(name));
        let extended = Profile::parse("mine.toml", &format!("extends = \"{mended}\"\n"));
        assert_eq!(extended.as_ref(), Ok(&named));
    }
    let unmended = "extends = \"pi+fixes\"\nname = \"mine\"\nfixes = []\n";
    assert!(Profile::parse("mine.toml", unmended).unwrap().fixes.is_empty());
    assert!(Profile::file_of("pie+fixes").is_none() && Profile::file_of("+fixes").is_none());
    let loose = Profile::parse("mine.toml", "extends = \"pie+fixes\"").unwrap_err().to_string();
    assert!(loose.contains("did you mean `pi+fixes`?"), "{loose}");
}
