//! Scripts of which the grammar of a shell can say only one thing, read without its parser.
//!
//! Most commands of an agent are words, quotes without anything to expand, pipes, lists and files to read or write.
//! The reader takes no more than that, and gives up at the first byte or word that might mean something else; then
//! the parser reads the script. What commands do does not depend on who read them.

use compact_str::CompactString;
use smallvec::SmallVec;
use std::borrow::Cow;

use super::super::OpKind;
use super::{Arg, MAX_COMMANDS, Shell, State, programs, words};

#[cfg(test)]
pub(super) mod tests;

/// More commands than this are left to the parser, which bounds how long a list may be.
const MAX_PLAIN: usize = 256;

/// One simple command.
pub(super) struct Command<'s> {
    joint: Joint,
    words: SmallVec<[Arg; 8]>,
    redirections: Vec<Redirection<'s>>,
}

/// What ties a command to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// Nothing: a new line, `;`, or the start of the script.
    Next,
    And,
    Or,
    Pipe,
}

struct Redirection<'s> {
    way: Way,
    fd: Option<u8>,
    path: Word<'s>,
}

/// A word as [`Arg`] has it: `None` for a pattern, which only a disk could resolve.
type Word<'s> = Option<Cow<'s, str>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
    Append,
    /// `2>&1`: no file.
    Duplicate,
}

/// What a byte outside of quotes is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    /// Part of a word that is a pattern.
    Pattern,
    Quote,
    Blank,
    /// Ends a word, and is more than a blank.
    Operator,
    Unknown,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Unknown; 256];
    let mut byte = 0u8;
    loop {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => Class::Word,
            b'_' | b'.' | b'/' | b':' | b',' | b'+' | b'@' | b'%' | b'=' | b'^' | b'-' | b'~' => Class::Word,
            b'*' | b'?' => Class::Pattern,
            b'\'' | b'"' => Class::Quote,
            b' ' | b'\t' => Class::Blank,
            b'\n' | b';' | b'&' | b'|' | b'<' | b'>' => Class::Operator,
            _ => Class::Unknown,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

/// The commands of a plain script; `None` when only the parser can tell what they are.
pub(super) fn read(source: &str) -> Option<Vec<Command<'_>>> {
    let mut reader = Reader { source, at: 0 };
    let mut commands = Vec::new();
    let mut joint = Joint::Next;
    loop {
        reader.skip_to_command();
        if reader.peek().is_none() {
            return (joint == Joint::Next).then_some(commands);
        }
        if commands.len() == MAX_PLAIN {
            return None;
        }
        commands.push(reader.command(joint)?);
        joint = reader.joint()?;
    }
}

/// The words of a script that is one command without redirections.
pub(super) fn only_words(commands: Vec<Command<'_>>) -> Option<Vec<CompactString>> {
    let mut commands = commands.into_iter();
    match (commands.next(), commands.next()) {
        (Some(command), None) if command.redirections.is_empty() => command.words.into_iter().collect(),
        _ => None,
    }
}

/// Whether a command of this name is more to the parser than a program with arguments: a reserved word, one that it
/// gives a meaning of its own, or one that changes how it reads on.
#[rustfmt::skip]
fn is_special(name: &str) -> bool {
    let is_known = matches!(
        name,
        "if" | "then" | "elif" | "else" | "fi" | "for" | "foreach" | "repeat" | "while" | "until" | "do" | "done"
            | "case" | "esac" | "in" | "select" | "function" | "always" | "time" | "coproc"
            | "break" | "continue" | "return" | "exit" | "export" | "declare" | "typeset" | "local" | "readonly"
            | "integer" | "alias" | "unalias" | "shopt"
    );
    // `NAME=value` is an assignment.
    is_known || name.contains('=')
}

struct Reader<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Reader<'s> {
    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    fn after(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at + 1).copied()
    }

    fn skip(&mut self, is_skipped: impl Fn(u8) -> bool) {
        let rest = self.source.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| !is_skipped(*byte)).unwrap_or(rest.len());
    }

    /// Goes over blanks, empty lines and lines of comment.
    fn skip_to_command(&mut self) {
        let before = self.at.checked_sub(1).and_then(|at| self.source.as_bytes().get(at));
        let mut is_line_start = before.is_none_or(|byte| *byte == b'\n');
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\n') => {
                    self.at += 1;
                    is_line_start = true;
                }
                Some(b'#') if is_line_start => self.skip(|byte| byte != b'\n'),
                _ => break,
            }
        }
    }

    /// A command with at least one word or redirection.
    fn command(&mut self, joint: Joint) -> Option<Command<'s>> {
        let mut words = SmallVec::new();
        let mut redirections = Vec::new();
        loop {
            self.skip(|byte| matches!(byte, b' ' | b'\t'));
            let is_redirection = |byte| matches!(byte, b'<' | b'>');
            match self.peek() {
                Some(byte) if is_redirection(byte) => redirections.push(self.redirection(None)?),
                Some(fd @ b'0'..=b'9') if self.after().is_some_and(is_redirection) => {
                    self.at += 1;
                    redirections.push(self.redirection(Some(fd - b'0'))?);
                }
                Some(b'\n' | b';' | b'&' | b'|') | None => break,
                // What stands behind `>file` may be a word of the grammar to the parser.
                Some(_) if words.is_empty() && !redirections.is_empty() => return None,
                Some(_) => {
                    let word = self.word()?;
                    if words.is_empty() && word.as_deref().is_none_or(is_special) {
                        return None;
                    }
                    words.push(word.map(CompactString::from));
                }
            }
        }
        let is_empty = words.is_empty() && redirections.is_empty();
        (!is_empty).then_some(Command { joint, words, redirections })
    }

    /// What stands between the command before and the next.
    fn joint(&mut self) -> Option<Joint> {
        let (joint, len) = match (self.peek(), self.after()) {
            (None | Some(b'\n' | b';'), _) => (Joint::Next, 1),
            (Some(b'&'), Some(b'&')) => (Joint::And, 2),
            (Some(b'|'), Some(b'|')) => (Joint::Or, 2),
            (Some(b'|'), _) => (Joint::Pipe, 1),
            _ => return None,
        };
        self.at += len;
        Some(joint)
    }

    fn redirection(&mut self, fd: Option<u8>) -> Option<Redirection<'s>> {
        let way = match (self.peek(), self.after()) {
            (Some(b'>'), Some(b'&')) if fd.is_some() => {
                self.at += 2;
                return self.duplicate(fd);
            }
            (Some(b'>'), Some(b'>')) => Way::Append,
            (Some(b'>'), _) => Way::Write,
            _ => Way::Read,
        };
        self.at += if way == Way::Append { 2 } else { 1 };
        self.skip(|byte| matches!(byte, b' ' | b'\t'));
        Some(Redirection { way, fd, path: self.word()? })
    }

    /// The digit after `2>&`, and nothing behind it that may belong to it.
    fn duplicate(&mut self, fd: Option<u8>) -> Option<Redirection<'s>> {
        let is_alone = matches!(self.after(), None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|'));
        if !is_alone || !self.peek()?.is_ascii_digit() {
            return None;
        }
        self.at += 1;
        Some(Redirection { way: Way::Duplicate, fd, path: None })
    }

    /// A word without its quotes, from where it starts.
    fn word(&mut self) -> Option<Word<'s>> {
        let start = self.at;
        let mut is_pattern = false;
        let mut word = Cow::Borrowed("");
        while let Some(byte) = self.peek() {
            let piece = match CLASSES[usize::from(byte)] {
                Class::Blank | Class::Operator => break,
                Class::Unknown => return None,
                Class::Quote => self.quoted(byte)?,
                Class::Pattern => {
                    self.at += 1;
                    is_pattern = true;
                    continue;
                }
                Class::Word => {
                    let from = self.at;
                    self.skip(|byte| CLASSES[usize::from(byte)] == Class::Word);
                    Cow::Borrowed(self.source.get(from..self.at)?)
                }
            };
            if word.is_empty() {
                word = piece;
            } else {
                word.to_mut().push_str(&piece);
            }
        }
        let written = self.source.get(start..self.at)?;
        // In `12>file` they name a descriptor.
        let is_number =
            matches!(self.peek(), Some(b'<' | b'>')) && written.bytes().all(|b| b.is_ascii_digit());
        (!written.is_empty() && !is_number).then_some((!is_pattern).then_some(word))
    }

    /// The text between quotes, when nothing in it is expanded.
    fn quoted(&mut self, quote: u8) -> Option<Cow<'s, str>> {
        let rest = self.source.get(self.at + 1..)?;
        let is_double = quote == b'"';
        let mut bytes = rest.bytes().enumerate();
        let mut is_escaped = false;
        let end = loop {
            match bytes.next()? {
                (end, byte) if byte == quote => break end,
                (_, b'\\') if is_double => {
                    is_escaped = true;
                    // The parser may take an escape for two where a backslash is escaped.
                    if matches!(bytes.next()?.1, b'$' | b'`' | b'\\' | b'\n' | 0) {
                        return None;
                    }
                }
                (_, b'$' | b'`') if is_double => return None,
                // The parser marks escapes with it.
                (_, 0) => return None,
                _ => {}
            }
        };
        let text = rest.get(..end)?;
        self.at += end + 2;
        if !is_escaped {
            return Some(Cow::Borrowed(text));
        }
        let mut unescaped = String::with_capacity(text.len());
        words::unescape_quoted(text, &mut unescaped);
        Some(Cow::Owned(unescaped))
    }
}

impl Shell<'_, '_> {
    /// Runs the commands of a plain script and returns their number.
    pub(super) fn plain(&mut self, commands: &[Command<'_>], state: &mut State) -> u16 {
        for list in commands.chunk_by(|_, next| next.joint != Joint::Next) {
            if self.commands > MAX_COMMANDS {
                break;
            }
            self.new_chain();
            let is_or = |part: &[Command<'_>]| part.first().is_some_and(|first| first.joint == Joint::Or);
            let mut parts = list.chunk_by(|_, next| next.joint == Joint::Pipe);
            if let Some(first) = parts.next() {
                let rest = parts.map(|part| (is_or(part), part));
                self.run_list(first, rest, state, None, Self::plain_pipeline);
            }
        }
        self.steps
    }

    fn plain_pipeline(
        &mut self,
        parts: &[Command<'_>],
        state: &mut State,
        stdin: Option<&str>,
        wanted: bool,
    ) -> Option<String> {
        match parts {
            [command] => self.plain_command(command, state, stdin, wanted),
            parts => self.run_pipeline(parts.iter(), state, stdin, wanted, Self::plain_command),
        }
    }

    fn plain_command(
        &mut self,
        command: &Command<'_>,
        state: &mut State,
        stdin: Option<&str>,
        wanted: bool,
    ) -> Option<String> {
        self.commands += 1;
        let step = self.next_step();
        let is_input = |file: &&Redirection<'_>| file.way == Way::Read && file.fd.unwrap_or(0) == 0;
        let read = command.redirections.iter().filter(is_input).find_map(|file| file.path.as_deref());
        let input = programs::Input { text: stdin, file: read.map(str::to_owned) };
        let printed = self.program(&command.words, &input, state, step);
        let mut outputs = Vec::new();
        for file in &command.redirections {
            let kind = match file.way {
                Way::Write => OpKind::Write,
                Way::Append => OpKind::Edit,
                Way::Read | Way::Duplicate => continue,
            };
            let Some(path) = &file.path else { continue };
            let output = self.redirected(kind, path, state, step);
            outputs.extend(output.filter(|_| file.fd.unwrap_or(1) == 1));
        }
        self.printed_to(&outputs, printed).filter(|_| wanted)
    }
}
