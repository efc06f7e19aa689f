use super::*;
use crate::report::runs::{Run, State};
use crate::results::files::sample;

fn page(run: Run, verdict: Option<&Verdict>) -> String {
    let runs = [run];
    render(&View::new(&runs), verdict, false)
}

#[test]
fn the_page_begins_with_its_mark_and_a_closed_policy() {
    let text = page(Run::new("r".to_owned(), sample::run(12)), None);
    assert!(text.starts_with(MARK));
    assert!(text.contains("default-src 'none'; style-src 'sha256-"));
    for open in ["unsafe-inline", "http:", "https:", " style=", "onclick", "src="] {
        assert!(!text.contains(open), "{open}");
    }
}

#[test]
fn the_policy_allows_exactly_what_the_page_holds() {
    let text = page(Run::new("r".to_owned(), sample::run(2)), None);
    for (tag, source) in [("style", STYLE), ("script", SCRIPT)] {
        let inside =
            text.split(&format!("<{tag}>")).nth(1).and_then(|rest| rest.split(&format!("</{tag}>")).next());
        assert_eq!(inside, Some(source), "{tag}: a closing tag inside would end it");
    }
}

#[test]
fn the_verdict_stands_first() {
    let verdict = Verdict {
        state: State::Inconclusive,
        headline: "too few <sessions>".to_owned(),
        reasons: vec!["9 of 10".to_owned()],
    };
    let text = page(Run::new("r".to_owned(), sample::run(12)), Some(&verdict));
    let (at, findings) = (text.find("too few &lt;sessions&gt;."), text.find("class=\"findings\""));
    assert!(at.is_some() && at < findings, "{at:?} {findings:?}");
    assert!(text.contains("<span class=\"badge inconclusive\">inconclusive</span>"));
    assert!(text.contains("<li>9 of 10</li>"));
    assert!(page(Run::new("r".to_owned(), sample::run(12)), None).contains(">no policy</span>"));
    let none = page(Run::new("r".to_owned(), sample::run(0)), None);
    assert!(none.contains(">not exercised</span>") && none.contains("No compaction, so no rule was tried."));
}

#[test]
fn hostile_text_is_shown_and_never_run() {
    let mut output = sample::run(12);
    let evil = "</script><img src=x onerror=alert(1)>\u{202e}";
    for row in &mut output.sessions {
        row.source = evil.into();
        row.format = evil.into();
    }
    output.sessions[0].session = evil.into();
    output.manifest.worst_losses[0].value = evil.to_owned();
    output.manifest.problems[0].text = evil.to_owned();
    output.manifest.settings.profiles = vec![evil.to_owned()];
    let text = page(Run::new(evil.to_owned(), output), None);
    assert!(text.contains("&lt;/script&gt;&lt;img"));
    assert!(!text.contains("<img") && !text.contains('\u{202e}'));
    assert_eq!(text.matches("</script>").count(), 1);
}
