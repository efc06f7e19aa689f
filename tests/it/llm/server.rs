//! A server on this machine that answers as a test says: whole replies, and everything that can go wrong on a wire.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The message with the conversation.
    pub(crate) fn user(&self) -> &str {
        let last = self.body["messages"].as_array().and_then(|all| all.last());
        last.and_then(|it| it["content"].as_str()).expect("a message")
    }

    pub(crate) fn is_anthropic(&self) -> bool {
        self.path.ends_with("/messages")
    }
}

/// What is sent back.
pub(crate) enum Answer {
    /// JSON with a status.
    Json(u16, Value),
    /// Any body with a status and more headers.
    Page(u16, Vec<(&'static str, String)>, String),
    /// Bytes as they are, piece by piece, with a wait between; then the connection ends.
    Bytes(Vec<Vec<u8>>, Duration),
    /// Nothing for so long; then the connection ends.
    Silence(Duration),
}

/// The server; it ends with the test.
pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Answers by the request and its number, from 0.
    pub(crate) fn start(answer: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let answer = Arc::new(answer);
        let (all, count) = (seen.clone(), connections.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { break };
                count.fetch_add(1, Ordering::SeqCst);
                let (all, answer) = (all.clone(), answer.clone());
                std::thread::spawn(move || {
                    // A client that leaves early is part of the tests.
                    let _ = serve(stream, &all, &*answer);
                });
            }
        });
        Self { port, seen, connections }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }

    /// Connections, whatever was sent over them.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(
    mut stream: TcpStream,
    all: &Mutex<Vec<Seen>>,
    answer: &dyn Fn(&Seen, usize) -> Answer,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 14];
    let (head, length) = loop {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&piece[..read]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.parse().expect("a length"));
            break (head, at + 4 + length);
        }
    };
    while bytes.len() < length {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&piece[..read]);
    }
    let body = head.len() + 4;
    let mut lines = head.lines();
    let path = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let seen = Seen { path, headers, body: serde_json::from_slice(&bytes[body..]).expect("JSON is sent") };
    let number = {
        let mut all = all.lock().expect("no panic");
        all.push(seen.clone());
        all.len() - 1
    };
    let page = |status: u16, headers: &[(&str, String)], body: &str| {
        let more: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let more = more.concat();
        format!(
            "HTTP/1.1 {status} Status\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    match answer(&seen, number) {
        Answer::Json(status, value) => {
            let headers = [("content-type", "application/json".to_owned())];
            stream.write_all(page(status, &headers, &value.to_string()).as_bytes())
        }
        Answer::Page(status, headers, body) => stream.write_all(page(status, &headers, &body).as_bytes()),
        Answer::Bytes(pieces, wait) => {
            for piece in pieces {
                stream.write_all(&piece)?;
                stream.flush()?;
                std::thread::sleep(wait);
            }
            Ok(())
        }
        Answer::Silence(wait) => {
            std::thread::sleep(wait);
            Ok(())
        }
    }
}

/// A reply in the protocol of the request, ended in the way that OpenAI calls `end`.
pub(crate) fn reply(seen: &Seen, text: &str, end: &str) -> Value {
    if seen.is_anthropic() {
        let end = match end {
            "length" => "max_tokens",
            "tool_calls" => "tool_use",
            "content_filter" => "refusal",
            _ => "end_turn",
        };
        return json!({
            "type": "message", "role": "assistant", "model": "served", "stop_reason": end,
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 20},
        });
    }
    json!({
        "object": "chat.completion", "model": "served",
        "choices": [{"index": 0, "finish_reason": end, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    })
}

/// What an emulated model makes of a conversation: always the same text for the same request, with something of it.
pub(crate) fn summary(seen: &Seen) -> String {
    let user = seen.user();
    let lines: Vec<&str> =
        user.lines().filter(|line| line.contains("src/") || line.contains("never")).take(6).collect();
    format!("## Goal\nGo on with the work ({} bytes were read).\n{}", user.len(), lines.join("\n"))
}

/// The emulated model, whatever is asked.
pub(crate) fn model(seen: &Seen, _: usize) -> Answer {
    Answer::Json(200, reply(seen, &summary(seen), "stop"))
}
