//! A program that runs beside this one: lines in, lines out, its last words on stderr.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A reply of more bytes than this is none.
const LARGEST: u64 = 16 << 20;
/// Lines of stderr that are kept, and bytes of each.
const LAST: usize = 5;
const WIDTH: usize = 300;
/// A program that is not needed any more has so long to end by itself.
const PATIENCE: Duration = Duration::from_millis(500);
/// What a program has written that ended is read within this, unless something else holds its stderr open.
const LISTENING: Duration = Duration::from_secs(5);

/// A running program.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// To the thread that writes; nothing once it is to end.
    requests: Option<Sender<String>>,
    /// From the thread that reads.
    replies: Receiver<Result<String, String>>,
    last: Arc<Mutex<VecDeque<String>>>,
    /// The thread that reads its last words.
    listener: JoinHandle<()>,
}

impl Process {
    /// Starts a command line of the shell.
    pub(super) fn start(command: &str) -> Result<Self, String> {
        let mut shell = shell(command);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            shell.spawn().map_err(|error| format!("the program `{command}` cannot be started: {error}"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(format!("the program `{command}` has no pipes"));
        };
        let (requests, lines) = channel::<String>();
        // A program that reads nothing must not hold up whoever writes to it.
        std::thread::spawn(move || {
            while let Ok(line) = lines.recv() {
                if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        let (sender, replies) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let line = read_line(&mut stdout);
                let ends = line.is_err();
                if sender.send(line).is_err() || ends {
                    break;
                }
            }
        });
        let last: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let kept = last.clone();
        let listener = std::thread::spawn(move || keep_last(stderr, &kept));
        Ok(Self { child, requests: Some(requests), replies, last, listener })
    }

    /// Sends a line and waits for one.
    pub(super) fn exchange(&mut self, line: String, timeout: Duration) -> Result<String, String> {
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(line).is_ok());
        if !sent {
            return Err("it has ended".to_owned());
        }
        match self.replies.recv_timeout(timeout) {
            Ok(reply) => reply,
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no reply within {} s (--exec-timeout)", timeout.as_secs_f64()))
            }
            Err(RecvTimeoutError::Disconnected) => Err("it has ended".to_owned()),
        }
    }

    /// Ends it, for this reason, and gives the reason with its last words.
    pub(super) fn end(mut self, reason: &str) -> String {
        self.requests = None;
        let status = self.wait(PATIENCE);
        self.kill();
        // What it said before it ended may not all be read.
        let read = || self.listener.is_finished();
        wait_until(LISTENING, read);
        let last: Vec<String> =
            self.last.lock().map(|last| last.iter().cloned().collect()).unwrap_or_default();
        let ended = status.map(|status| format!(" ({status})")).unwrap_or_default();
        let words = if last.is_empty() { String::new() } else { format!("; stderr: {}", last.join(" | ")) };
        format!("{reason}{ended}{words}")
    }

    fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let mut status = None;
        wait_until(patience, || {
            status = self.child.try_wait().ok().flatten();
            status.is_some()
        });
        status
    }

    fn kill(&mut self) {
        kill_group(&self.child);
        // It may be gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits until something holds, or for so long.
fn wait_until(patience: Duration, mut holds: impl FnMut() -> bool) {
    const STEP: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    while !holds() && waited < patience {
        std::thread::sleep(STEP);
        waited += STEP;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.requests = None;
        if self.wait(PATIENCE).is_none() {
            self.kill();
        }
    }
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    // What the shell starts is ended with it.
    shell.arg("-c").arg(command).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").arg(command);
    shell
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may be gone already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// A line of stdout.
fn read_line(stdout: &mut impl BufRead) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = stdout.by_ref().take(LARGEST + 1).read_until(b'\n', &mut bytes);
    match read {
        Ok(0) => Err("it ended without a reply".to_owned()),
        Ok(_) if bytes.len() as u64 > LARGEST => Err("its reply has more than 16 MB".to_owned()),
        Ok(_) => String::from_utf8(bytes).map_err(|_| "its reply is not UTF-8".to_owned()),
        Err(error) => Err(format!("its reply cannot be read: {error}")),
    }
}

/// Reads stderr to its end, however much there is, and keeps its last lines.
fn keep_last(stderr: impl Read, last: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut bytes = Vec::new();
        // A line without an end must not fill the memory.
        match stderr.by_ref().take(1 << 16).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&bytes);
        let text: String = text.trim_end().chars().take(WIDTH).collect();
        if text.is_empty() {
            continue;
        }
        if let Ok(mut last) = last.lock() {
            last.push_back(text);
            if last.len() > LAST {
                last.pop_front();
            }
        }
    }
}
