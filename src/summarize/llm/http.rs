//! The one place of the program that opens a connection.

use super::retry;
use reqwest::blocking::Client;
use reqwest::redirect::Policy;
use std::error::Error;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A reply of more bytes than this is no summary.
const LARGEST: u64 = 10 << 20;
/// A connection has to stand after so long.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for addresses elsewhere, and one for this machine, which no proxy stands before.
#[derive(Debug)]
pub(super) struct Http {
    remote: Client,
    local: Client,
    /// From the first byte sent to the last one read.
    timeout: Duration,
}

/// What came back, read to its end.
pub(super) struct Raw {
    pub(super) status: u16,
    /// How long the server asks to wait.
    pub(super) after: Option<Duration>,
    pub(super) body: Vec<u8>,
}

/// Nothing came back, or not all of it.
pub(super) struct Broken {
    pub(super) text: String,
    /// There was no connection at all.
    pub(super) unreachable: bool,
    /// Another try gives the same.
    pub(super) last: bool,
}

impl Http {
    pub(super) fn new(timeout: Duration) -> Result<Self, String> {
        let tls = tls().map_err(|error| format!("cannot set up encryption: {error}"))?;
        let client = |local: bool| {
            let builder = Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .redirect(Policy::none())
                .connect_timeout(CONNECT.min(timeout))
                .timeout(timeout)
                .user_agent(concat!("compactor/", env!("CARGO_PKG_VERSION")));
            let builder = if local { builder.no_proxy() } else { builder };
            builder.build().map_err(|error| format!("cannot set up the network: {}", causes(&error)))
        };
        Ok(Self { remote: client(false)?, local: client(true)?, timeout })
    }

    /// Sends a body and reads what comes back.
    #[expect(clippy::disallowed_methods, reason = "a server that drips has to be left some time")]
    pub(super) fn post(
        &self,
        url: &str,
        local: bool,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> Result<Raw, Broken> {
        let start = Instant::now();
        let client = if local { &self.local } else { &self.remote };
        let mut request = client.post(url).header("content-type", "application/json").body(body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let mut reply = request.send().map_err(|error| Broken {
            text: if error.is_timeout() { "no reply in time (--timeout)".to_owned() } else { causes(&error) },
            unreachable: error.is_connect(),
            last: error.is_builder(),
        })?;
        let header = |name: &str| reply.headers().get(name).and_then(|value| value.to_str().ok());
        let after = retry::asked(header("retry-after"), header("retry-after-ms"), header("date"));
        let status = reply.status().as_u16();
        let mut body = Vec::new();
        // The client's own limit is one of each piece.
        let read = loop {
            let mut piece = [0; 1 << 14];
            match reply.read(&mut piece) {
                Ok(0) => break Ok(()),
                Ok(bytes) => body.extend_from_slice(piece.get(..bytes).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(causes(&error)),
            }
            if start.elapsed() > self.timeout {
                break Err("it is not whole in time (--timeout)".to_owned());
            }
            if body.len() as u64 > LARGEST {
                break Ok(());
            }
        };
        if body.len() as u64 > LARGEST {
            let text = "the server answers with more than 10 MB; check --base-url".to_owned();
            return Err(Broken { text, unreachable: false, last: true });
        }
        match read {
            Ok(()) => Ok(Raw { status, after, body }),
            Err(error) => {
                let text = format!("the reply broke off after {} bytes: {error}", body.len());
                Err(Broken { text, unreachable: false, last: false })
            }
        }
    }
}

/// Certificates of the system and those that come with the program: one of the two is missing in many places.
fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// An error with what is behind it; what it was sent to stands elsewhere.
fn causes(error: &dyn Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        let known = texts.iter().any(|known| known.contains(&text));
        if !known && !text.starts_with("error sending request") {
            texts.push(text);
        }
        next = error.source();
    }
    texts.join(": ")
}
