//! The only place that prints: the product to stdout, talk to stderr. It knows the terminal, colors and quiet.

use super::args::Color;
use super::exit::Failure;
use crate::report::text::sanitize;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

/// Narrowest and widest table; off a terminal the widest.
const WIDTH: (usize, usize) = (80, 140);

/// Columns off a terminal.
const PLAIN_WIDTH: usize = 100;

/// Where things are shown and how.
#[derive(Debug)]
pub struct Ui {
    quiet: bool,
    color: bool,
    width: usize,
}

impl Ui {
    /// Looks at the terminal once.
    #[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
    pub fn new(color: Color, quiet: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                terminal && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
            }
        };
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
        let size = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns.or(size.filter(|_| terminal)).unwrap_or(PLAIN_WIDTH).clamp(WIDTH.0, WIDTH.1);
        Self { quiet, color, width }
    }

    /// The file that the environment names under this variable.
    #[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
    pub fn file_of(variable: &str) -> Option<PathBuf> {
        std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// Columns of a table.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether the product may be colored.
    pub fn color(&self) -> bool {
        self.color
    }

    /// Prints the product. A closed pipe is no error: whoever read it has enough.
    pub fn product(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(Failure::new(format!("cannot write to stdout: {error}"), "")),
            Ok(()) => Ok(()),
        }
    }

    /// Prints a product that is written as it is made.
    pub fn written(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut out = BufWriter::new(io::stdout().lock());
        match write(&mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                // What waits to be written is for nobody.
                drop(out.into_parts());
                Ok(())
            }
            Err(error) => Err(Failure::new(format!("cannot write to stdout: {error}"), "")),
            Ok(()) => Ok(()),
        }
    }

    /// Says something on stderr, unless quiet.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            self.complain(text);
        }
    }

    /// Says something on stderr, also when quiet.
    pub fn complain(&self, text: &str) {
        // Nothing can be done about a closed stderr.
        let _ = writeln!(io::stderr().lock(), "{}", sanitize(text));
    }

    /// Says why the job could not be done.
    pub fn failure(&self, failure: &Failure) {
        for (number, line) in failure.cause.lines().enumerate() {
            self.complain(&if number == 0 { format!("error: {line}") } else { format!("  {line}") });
        }
        if !failure.hint.is_empty() {
            self.complain(&format!("hint: {}", failure.hint));
        }
    }

    /// A progress bar over bytes; hidden off a terminal and when quiet, redrawn five times a second at most.
    pub fn progress(&self, bytes: u64) -> ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}  {msg}  ETA {eta}") {
            bar.set_style(style);
        }
        bar
    }
}
