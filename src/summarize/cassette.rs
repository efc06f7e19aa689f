//! Replies of models kept as files: a run that finds its replies here asks nobody, costs nothing, and is the same every time.
//!
//! One JSON file for each call. Its name is that of the call, a hash of all that decides on the reply; in it stand the call and
//! the reply. No address, header or key is ever written. A file is written whole under another name and then renamed, so that
//! a run that is killed loses no reply.

use super::llm::{Call, Reply};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Version of the files.
const VERSION: u32 = 1;

/// What a model replied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tape {
    /// A reply.
    Reply(Reply),
    /// The request was more than it takes.
    Overflow {
        /// Tokens that are allowed, where the error names them.
        limit: Option<u64>,
        /// Tokens of the request, likewise.
        used: Option<u64>,
        /// The error.
        text: String,
    },
    /// More output was asked for than it can be set to.
    Output {
        /// Tokens that are allowed; 0 where the error does not say.
        limit: u64,
        /// The error.
        text: String,
    },
}

/// A file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cassette {
    version: u32,
    call: Call,
    tape: Tape,
}

/// A directory of cassettes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cassettes {
    dir: PathBuf,
}

/// A cassette that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct CassetteError {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong with it, and what to do.
    pub cause: String,
}

/// What a look at a directory found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    /// Names of the calls that are answered, in order.
    pub sound: Vec<String>,
    /// Files that cannot be used, in order.
    pub damaged: Vec<CassetteError>,
    /// What a killed run left behind.
    pub left: Vec<PathBuf>,
}

impl Cassettes {
    /// Those of a directory, which need not be there.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.json"))
    }

    /// What was replied to the call of this name; nothing where it was never asked.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read, or is no cassette of this call.
    pub fn find(&self, name: &str) -> Result<Option<Tape>, CassetteError> {
        let path = self.path(name);
        match read(&path) {
            Ok(bytes) => parse(&path, name, &bytes).map(|cassette| Some(cassette.tape)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CassetteError { path, cause: error.to_string() }),
        }
    }

    /// Keeps what was replied to a call, in place of what was kept before.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    #[expect(clippy::disallowed_methods, reason = "replies are kept as soon as they come")]
    pub fn keep(&self, call: &Call, tape: &Tape) -> Result<(), CassetteError> {
        let path = self.path(&call.name());
        let cassette = Cassette { version: VERSION, call: call.clone(), tape: tape.clone() };
        let written = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            let mut file = tempfile::Builder::new().prefix(".cassette-").tempfile_in(&self.dir)?;
            serde_json::to_writer_pretty(&mut file, &cassette)?;
            file.write_all(b"\n")?;
            file.as_file().sync_data()?;
            readable(file.as_file())?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        written().map_err(|error| CassetteError { path: path.clone(), cause: error.to_string() })
    }

    /// Makes sure that replies can be kept, before one is paid for.
    ///
    /// # Errors
    ///
    /// They cannot.
    #[expect(clippy::disallowed_methods, reason = "replies are kept as soon as they come")]
    pub fn prepare(&self) -> Result<(), CassetteError> {
        let tried = fs::create_dir_all(&self.dir)
            .and_then(|()| tempfile::Builder::new().prefix(".cassette-").tempfile_in(&self.dir));
        tried.map(drop).map_err(|error| CassetteError {
            path: self.dir.clone(),
            cause: format!(
                "no cassettes can be written here: {error}; check that you may write there, and the room"
            ),
        })
    }

    /// Looks at every file.
    ///
    /// # Errors
    ///
    /// The directory cannot be read.
    pub fn inventory(&self) -> Result<Inventory, CassetteError> {
        let wrong = |error: io::Error| CassetteError { path: self.dir.clone(), cause: error.to_string() };
        let mut found = Inventory::default();
        let entries = fs::read_dir(&self.dir).map_err(wrong)?;
        let mut paths =
            entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(wrong)?;
        paths.sort();
        for path in paths {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if file.starts_with(".cassette-") {
                found.left.push(path);
                continue;
            }
            let Some(name) = file.strip_suffix(".json").filter(|name| is_name(name)) else { continue };
            let parsed = read(&path)
                .map_err(|error| CassetteError { path: path.clone(), cause: error.to_string() })
                .and_then(|bytes| parse(&path, name, &bytes));
            match parsed {
                Ok(_) => found.sound.push(name.to_owned()),
                Err(error) => found.damaged.push(error),
            }
        }
        Ok(found)
    }

    /// Removes the cassette of a call.
    ///
    /// # Errors
    ///
    /// It cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), CassetteError> {
        remove(&self.path(name))
    }
}

/// Removes a file.
///
/// # Errors
///
/// It cannot be removed.
pub fn remove(path: &Path) -> Result<(), CassetteError> {
    fs::remove_file(path).map_err(|error| CassetteError { path: path.to_owned(), cause: error.to_string() })
}

/// Could a call be called so?
fn is_name(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A pipe in the place of a cassette would be waited for without end, and none is larger than this, in bytes.
#[expect(clippy::disallowed_methods, reason = "replies are read where a summary is asked for")]
fn read(path: &Path) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 64 << 20;
    let found = fs::metadata(path)?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(io::Error::other("is no cassette: no regular file of a common size; remove it"));
    }
    fs::read(path)
}

/// Temporary files are for their owner alone; what is kept is for whoever may read the directory.
#[cfg(unix)]
fn readable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &fs::File) -> io::Result<()> {
    Ok(())
}

fn parse(path: &Path, name: &str, bytes: &[u8]) -> Result<Cassette, CassetteError> {
    let wrong = |cause: String| CassetteError { path: path.to_owned(), cause };
    let cassette: Cassette = serde_json::from_slice(bytes)
        .map_err(|error| wrong(format!("is no cassette: {error}; remove it, and record it again")))?;
    if cassette.version != VERSION {
        let version = cassette.version;
        return Err(wrong(format!("is of version {version}, known is {VERSION}; record it again")));
    }
    let own = cassette.call.name();
    if own != name {
        return Err(wrong(format!(
            "was changed, or renamed: its call is {own}; remove it, and record it again"
        )));
    }
    Ok(cassette)
}

#[cfg(test)]
mod tests;
