use super::*;
use crate::summarize::llm::ask::Endpoint;
use crate::summarize::prompt::Prompt;

fn call(change: impl FnOnce(&mut Call)) -> Call {
    let rules = ModelRules { model: Some("m".to_owned()), ..ModelRules::UNSAID };
    let prompt = Prompt { system: "s".to_owned(), user: "u".to_owned(), conversation: 0..0 };
    let mut call = Call::new(&rules, 100, prompt).expect("a model is named");
    change(&mut call);
    call
}

/// Names are kept with files that are committed: they must not change by accident.
#[test]
fn the_name_of_a_call_follows_from_all_that_decides_on_the_reply() {
    assert_eq!(call(|_| {}).name(), "842a051f8a5fd9c500af6792e5622d1a");
    let changes: [fn(&mut Call); 6] = [
        |call| call.model.push('x'),
        |call| call.provider = Provider::Anthropic,
        |call| call.max_output_tokens = 101,
        |call| call.temperature = None,
        |call| call.system.push(' '),
        |call| call.user.push(' '),
    ];
    let names: std::collections::BTreeSet<String> =
        changes.iter().map(|change| call(change).name()).collect();
    assert_eq!(names.len(), 6);
    assert!(!names.contains(&call(|_| {}).name()));
}

#[test]
fn the_command_line_goes_before_the_profile() {
    let rules = |provider, base: Option<&str>, model: Option<&str>| ModelRules {
        provider,
        base_url: base.map(str::to_owned),
        model: model.map(str::to_owned),
        ..ModelRules::UNSAID
    };
    let profile = ModelRules {
        temperature: Some(Temperature::Of(0.7)),
        ..rules(Some(Provider::Anthropic), Some("http://x"), Some("theirs"))
    };
    let merged = rules(None, None, Some("ours")).over(&profile);
    assert_eq!(merged, ModelRules { model: Some("ours".to_owned()), ..profile.clone() });
    // The address and the model of another protocol lead nowhere.
    let merged = rules(Some(Provider::OpenAi), None, None).over(&profile);
    assert_eq!((merged.base_url, merged.model), (None, None));
    assert_eq!(merged.temperature, Some(Temperature::Of(0.7)));
    assert_eq!(
        (profile.output(1_000), ModelRules { max_output_tokens: Some(9), ..profile }.output(1_000)),
        (1_756, 9)
    );
}

#[test]
fn a_profile_says_what_it_says_of_a_model() {
    let read = |text: &str| toml::from_str::<ModelRules>(text);
    let rules = read("provider = \"openai\"\ntemperature = 0.2\nmax_output_tokens = 5").expect("rules");
    assert_eq!((rules.provider, rules.temperature), (Some(Provider::OpenAi), Some(Temperature::Of(0.2))));
    assert_eq!(read("temperature = \"none\"").expect("rules").temperature, Some(Temperature::Unsaid));
    for wrong in ["api_key = \"x\"", "temperature = 9", "temperature = \"hot\"", "provider = \"mine\""] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn addresses_are_read_or_refused() {
    for (base, host, secure, local) in [
        ("https://api.openai.com/v1", "api.openai.com", true, false),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", false, true),
        ("http://localhost:1/v1/", "localhost:1", false, true),
        ("http://[::1]:8080/v1", "[::1]:8080", false, true),
        ("http://127.9.9.9", "127.9.9.9", false, true),
        // Names that only look like this machine.
        ("http://127.0.0.1.example.com", "127.0.0.1.example.com", false, false),
        ("http://localhost.example.com:80", "localhost.example.com:80", false, false),
        ("http://10.0.0.1", "10.0.0.1", false, false),
    ] {
        let endpoint = Endpoint::parse(base).expect(base);
        assert_eq!(
            (endpoint.host.as_str(), endpoint.secure, endpoint.local),
            (host, secure, local),
            "{base}"
        );
    }
    for wrong in [
        "",
        "example.com",
        "ftp://x",
        "https://",
        "https:///v1",
        "https://a b/",
        "https://x/?key=1",
        "http://x:99999",
        "http://x:y",
    ] {
        assert!(Endpoint::parse(wrong).is_err(), "{wrong}");
    }
    let error = Endpoint::parse("https://me:secret@example.com").expect_err("a password");
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn a_key_is_never_shown() {
    let key = Key::new(" sk-12345 \n").expect("ASCII").expect("a key");
    assert_eq!(format!("{key:?}"), "[key]");
    assert_eq!(key.hidden_in("wrong key sk-12345!"), "wrong key [key]!");
    assert_eq!(key.hidden_in_bytes(b"\xff sk-12345sk-12345"), b"\xff [key][key]");
    assert_eq!(Key::new(" \n"), Ok(None));
    for wrong in ["sk-\u{fc}ber", "sk-1\nsk-2", "sk 1", "sk-\x7f"] {
        assert!(Key::new(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn reasoning_stands_before_a_text() {
    for (text, expect) in [
        ("a", ("a", false)),
        ("<think>x</think>\n\na", ("a", true)),
        (" <think>x</think>", ("", true)),
        ("<think>never ends", ("", true)),
        ("a <think>b</think>", ("a <think>b</think>", false)),
        // Templates that open it for the model.
        ("They want\n</think>\n\na", ("a", true)),
        ("<think>x</think><think>y</think>a", ("a", true)),
        ("<thinking>x</thinking>a", ("a", true)),
        ("<thinking>x", ("", true)),
    ] {
        assert_eq!(without_reasoning(text), expect, "{text}");
    }
}
