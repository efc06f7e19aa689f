//! The way to a model: one request at a time per place, repeated where that may help, within the limits.

use super::call::Call;
use super::limits::Purse;
use super::rules::{ModelRules, Provider};
use super::wire::Reply;
#[cfg(feature = "llm")]
use super::wire::Usage;
use super::{ModelSettings, Trouble};
use crate::tokens::Tokenizer;
use std::fmt;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

#[cfg(feature = "llm")]
use super::{http::Http, wire};

/// A secret; it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, without the white space that shells and files leave around it; nothing for an empty text.
    ///
    /// # Errors
    ///
    /// It holds what no header can hold.
    pub fn new(text: &str) -> Result<Option<Self>, String> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("holds more than printable ASCII, as no key does".to_owned());
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// Bytes in which the key does not stand. Of a key that is shorter than any real one nothing is hidden: it would be found
    /// in every text.
    pub(super) fn hidden_in_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        const LEAST: usize = 8;
        let key = self.0.as_bytes();
        if key.len() < LEAST || memchr::memmem::find(bytes, key).is_none() {
            return bytes.to_vec();
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for at in memchr::memmem::find_iter(bytes, key) {
            out.extend_from_slice(bytes.get(done..at).unwrap_or_default());
            out.extend_from_slice(b"[key]");
            done = at + key.len();
        }
        out.extend_from_slice(bytes.get(done..).unwrap_or_default());
        out
    }

    /// A text in which the key does not stand: servers repeat it in their errors.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.hidden_in_bytes(text.as_bytes())).into_owned()
    }

    #[cfg(feature = "llm")]
    pub(super) fn shown(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

/// What whoever starts a run gives beside the settings.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// Key for any server.
    pub key: Option<Key>,
    /// Keys of the providers, for their own addresses and for one that the command line names.
    pub own_keys: Vec<(Provider, Key)>,
    /// A reply has to be there after so long.
    pub timeout: Duration,
    /// Remote servers may be asked without encryption.
    pub allow_http: bool,
}

/// Scheme, host and port of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The address as given.
    pub base: String,
    /// Encrypted.
    pub secure: bool,
    /// Host with its port, as a person would say it.
    pub host: String,
    /// It is this machine.
    pub local: bool,
}

impl Endpoint {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// It is none, or holds a password.
    pub fn parse(base: &str) -> Result<Self, String> {
        if base.contains(['?', '#']) {
            return Err(
                "--base-url: give an address without a query; keys come from the environment only".to_owned()
            );
        }
        let wrong = |why: &str| Err(format!("--base-url {base}: {why}"));
        let (secure, rest) = match base.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return wrong("give an address that begins with https:// or http://"),
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('@') {
            return Err(
                "--base-url: holds a user or password; keys come from the environment only".to_owned()
            );
        }
        let name = match host.strip_prefix('[') {
            Some(inner) => inner.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        if name.is_empty() || host.contains(char::is_whitespace) {
            return wrong("names no host");
        }
        let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return wrong("its port is no number from 0 to 65535");
        }
        let address = name.parse::<std::net::IpAddr>();
        let local =
            name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback());
        Ok(Self { base: base.to_owned(), secure, host: host.to_owned(), local })
    }
}

/// The way that is open.
#[derive(Debug)]
pub(super) enum Line {
    /// None: replies come from cassettes, or not at all.
    Closed,
    /// None: requests are counted.
    Dry,
    /// The network.
    #[cfg(feature = "llm")]
    Open(Open),
}

/// The network, with all that belongs to it.
#[cfg(feature = "llm")]
#[derive(Debug)]
pub(super) struct Open {
    http: Http,
    ways: Ways,
    gate: Gate,
}

impl Line {
    #[cfg(feature = "llm")]
    pub(super) fn open(settings: &ModelSettings, ways: Ways) -> Result<Self, String> {
        let http = Http::new(ways.timeout)?;
        let gate = Gate::new(settings.concurrency.max(1));
        Ok(Self::Open(Open { http, ways, gate }))
    }

    #[cfg(not(feature = "llm"))]
    pub(super) fn open(_: &ModelSettings, _: Ways) -> Result<Self, String> {
        Err("this build has no network (feature `llm`): give --cassettes with --cassette-mode replay"
            .to_owned())
    }

    /// Asks.
    pub(super) fn ask(
        &self,
        call: &Call,
        rules: &ModelRules,
        settings: &ModelSettings,
        spent: &Purse,
        tokenizer: Tokenizer,
    ) -> Result<Reply, Trouble> {
        let most = (call.tokens(tokenizer), call.max_output_tokens);
        match self {
            Self::Closed => Err(Trouble::Stopped("nobody is asked in replay".to_owned())),
            Self::Dry => {
                spent.begin(&settings.limits, most, false).map_err(Trouble::Ended)?;
                spent.end(&settings.limits, most, most);
                // What a model would say is not known.
                Err(Trouble::Missing)
            }
            #[cfg(feature = "llm")]
            Self::Open(open) => open.ask(call, rules, settings, spent, most),
        }
    }
}

#[cfg(feature = "llm")]
impl Open {
    fn ask(
        &self,
        call: &Call,
        rules: &ModelRules,
        settings: &ModelSettings,
        spent: &Purse,
        most: (u64, u64),
    ) -> Result<Reply, Trouble> {
        let named = settings.rules.base_url.is_some();
        let base = rules.base_url.as_deref().unwrap_or(call.provider.home());
        let endpoint = Endpoint::parse(base).map_err(Trouble::Ended)?;
        if !endpoint.secure && !endpoint.local && !self.ways.allow_http {
            return Err(Trouble::Ended(format!(
                "{} would be asked without encryption: give an https address, or --allow-http",
                endpoint.host
            )));
        }
        let key = self.key(call.provider, base, named);
        if key.is_none() && base == call.provider.home() {
            return Err(Trouble::Ended(format!(
                "no key for {}: set {} in the environment",
                endpoint.host,
                variable(call.provider)
            )));
        }
        let url = wire::url(call.provider, base);
        let headers = wire::headers(call.provider, key.map(Key::shown));
        let body = serde_json::to_vec(&wire::body(call, base)).unwrap_or_default();
        let seed = body.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte));
        let hidden = |text: String| key.map_or_else(|| text.clone(), |key| key.hidden_in(&text));
        let mut tried = 0;
        loop {
            spent.begin(&settings.limits, most, tried > 0).map_err(Trouble::Ended)?;
            let sent = {
                let _place = self.gate.enter();
                let sent = self.http.post(&url, endpoint.local, &headers, body.clone());
                let read = match sent {
                    Ok(raw) => {
                        // Servers repeat the key; nothing that is read from here on may hold it.
                        let body = key.map_or_else(|| raw.body.clone(), |key| key.hidden_in_bytes(&raw.body));
                        (wire::read(call, raw.status, &body), raw.after, false)
                    }
                    Err(error) if error.last => {
                        (Err(wire::Told::Final(Trouble::Stopped(error.text))), None, false)
                    }
                    Err(error) => (Err(wire::Told::Again(error.text)), None, error.unreachable),
                };
                let came_to = match &read.0 {
                    Ok(reply) if reply.usage != Usage::default() => (reply.usage.input, reply.usage.output),
                    Ok(_) => most,
                    // What failed on its way may have been worked on all the same; providers say nothing of it.
                    Err(_) => (0, 0),
                };
                spent.end(&settings.limits, most, came_to);
                read
            };
            tried += 1;
            let (why, asked, unreachable) = match sent {
                (Ok(reply), ..) => return Ok(reply),
                (Err(wire::Told::Final(trouble)), ..) => return Err(trouble.with(hidden)),
                (Err(wire::Told::Again(why)), asked, unreachable) => (hidden(why), asked, unreachable),
            };
            match settings.retries.wait(tried, asked, seed) {
                Some(wait) => std::thread::sleep(wait),
                None if unreachable => {
                    return Err(Trouble::Ended(format!(
                        "{} cannot be reached after {tried} tries: {why}; check --base-url and that the server runs",
                        endpoint.host
                    )));
                }
                None => {
                    let patience = asked.filter(|asked| *asked > settings.retries.patience);
                    let waits = patience.map_or_else(String::new, |asked| {
                        format!("; the server asks to wait {} s", asked.as_secs())
                    });
                    return Err(Trouble::Failed(format!("no reply after {tried} tries: {why}{waits}")));
                }
            }
        }
    }

    /// The key for an address: one for any server, else the provider's own, which goes to its own address and to one that
    /// the command line names, never to one that a profile names.
    fn key(&self, provider: Provider, base: &str, named: bool) -> Option<&Key> {
        let own = || {
            let mut keys = self.ways.own_keys.iter();
            keys.find(|(of, _)| *of == provider && (named || base == provider.home())).map(|(_, key)| key)
        };
        self.ways.key.as_ref().or_else(own)
    }
}

impl Trouble {
    /// The same, with its text passed through `change`.
    #[cfg(feature = "llm")]
    fn with(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Overflow { limit, used, text } => Self::Overflow { limit, used, text: change(text) },
            Self::Output { limit, text } => Self::Output { limit, text: change(text) },
            Self::Failed(text) => Self::Failed(change(text)),
            Self::Stopped(text) => Self::Stopped(change(text)),
            Self::Ended(text) => Self::Ended(change(text)),
            Self::Missing => Self::Missing,
        }
    }
}

/// The environment variable that holds a provider's key.
pub(crate) fn variable(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "OPENAI_API_KEY",
        Provider::Anthropic => "ANTHROPIC_API_KEY",
    }
}

/// Lets so many through at once.
#[derive(Debug)]
struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// A place behind the gate, given back when it is dropped.
struct Place<'g>(&'g Gate);

impl Gate {
    fn new(places: usize) -> Self {
        Self { free: Mutex::new(places), left: Condvar::new() }
    }

    fn enter(&self) -> Place<'_> {
        if let Ok(free) = self.free.lock()
            && let Ok(mut free) = self.left.wait_while(free, |free| *free == 0)
        {
            *free -= 1;
        }
        Place(self)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Ok(mut free) = self.0.free.lock() {
            *free += 1;
        }
        self.0.left.notify_one();
    }
}
