//! What is packed, read as what is in it: gzip (all its members), zstd (all its frames), members of zip archives.
//!
//! What a file is is told by its first bytes, whatever its name. Expansion is streamed, and has an end ([`Limit`]). An archive that
//! is cut off or damaged gives what can be read, and then an error of kind `InvalidData`. Other archives, and encrypted files, are
//! refused by name.

use std::cell::Cell;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::rc::Rc;

use flate2::Crc;
use flate2::bufread::{DeflateDecoder, GzDecoder};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::names::PACKED;
use super::zipped::{self, Member, Method};

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Behind the first byte of a frame that is skipped.
const SKIPPED: &[u8] = b"\x2a\x4d\x18";

/// Bytes looked at: the mark of a tar archive stands behind its first name.
const HEAD: usize = 512;

/// Where the mark of a tar archive stands, and the mark.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// What no log is, by how it begins, and what to do.
const REFUSED: [(&[u8], &str); 11] = [
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"PK\x05\x06", "an empty zip archive; nothing to replay"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"\xfd7zXZ\0", "compressed with xz; unpack it with unxz first"),
    (b"BZh", "compressed with bzip2; unpack it with bunzip2 first"),
    (b"\x04\x22\x4d\x18", "compressed with lz4; unpack it with unlz4 first"),
    (b"\x1f\x9d", "compressed with compress; unpack it with uncompress first"),
    (b"Rar!", "a rar archive; unpack it first"),
    (b"Salted__", "encrypted with openssl; decrypt it first"),
    (b"age-encryption.org/", "encrypted with age; decrypt it first"),
    (b"-----BEGIN PGP MESSAGE", "encrypted with PGP; decrypt it first"),
];

/// The first bytes of a file.
pub(super) fn peek(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    reader.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// True for a frame, or one that a decoder skips (of sixteen marks).
fn is_zstd(head: &[u8]) -> bool {
    let skipped =
        head.split_first().is_some_and(|(first, rest)| first & 0xf0 == 0x50 && rest.starts_with(SKIPPED));
    skipped || head.starts_with(ZSTD)
}

/// What is in a stream.
pub(super) fn unpack(mut reader: Box<dyn Read>, name: &str) -> Result<Box<dyn Read>, String> {
    let head = peek(&mut reader).map_err(|error| format!("cannot be read: {error}"))?;
    if head.is_empty() && name.is_empty() {
        return Err("nothing came through standard input; pipe a log into it".to_owned());
    }
    if zipped::is_zip(&head) {
        return Err("a zip archive, which cannot be read as a stream; name the file".to_owned());
    }
    let whole = Box::new(Cursor::new(head.clone()).chain(reader));
    open(&head, whole, name)
}

/// What is in a file with these first bytes, read from its beginning.
pub(super) fn open(head: &[u8], whole: Box<dyn Read>, name: &str) -> Result<Box<dyn Read>, String> {
    refuse(head)?;
    let Some(packing) = Packing::of(head) else {
        let packed = PACKED.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
        if packed && head.contains(&0) {
            return Err(
                "named like an archive, but neither gzip nor zstd (encrypted?); decrypt or unpack it first"
                    .to_owned(),
            );
        }
        return Ok(whole);
    };
    let limit = Limit::default();
    let inside = packing.open(limit.packed(whole));
    Ok(begin(limit.unpacked(inside), packing.name())?.1)
}

/// What is in a member of a zip archive, which may be packed itself.
pub(super) fn open_member(mut archive: File, member: &Member) -> Result<Box<dyn Read>, String> {
    if member.bytes > Limit::of(member.packed) {
        return Err(too_much().to_string());
    }
    archive.seek(SeekFrom::Start(member.start)).map_err(|error| format!("cannot be read: {error}"))?;
    let limit = Limit::default();
    let raw = limit.packed(Box::new(archive.take(member.packed)));
    let inside: Box<dyn Read> = match member.method {
        Method::Stored => raw,
        Method::Deflate => Box::new(DeflateDecoder::new(BufReader::new(raw))),
        Method::Zstd => Box::new(Frames::new(raw)),
    };
    let inside = Box::new(Checked { inside, found: Crc::new(), told: member.checksum });
    let (first, inside) = begin(limit.unpacked(inside), "zip")?;
    match Packing::of(&first) {
        Some(packing) => Ok(begin(limit.unpacked(packing.open(inside)), packing.name())?.1),
        None => Ok(inside),
    }
}

/// How one file is packed.
#[derive(Debug, Clone, Copy)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(GZIP) { Some(Self::Gzip) } else { is_zstd(head).then_some(Self::Zstd) }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn open(self, packed: Box<dyn Read>) -> Box<dyn Read> {
        match self {
            Self::Gzip => Box::new(Members::new(packed)),
            Self::Zstd => Box::new(Frames::new(packed)),
        }
    }
}

/// The first bytes of what comes out of an archive, and all of it. As far as they can be read they tell what it is.
fn begin(mut inside: Box<dyn Read>, what: &'static str) -> Result<(Vec<u8>, Box<dyn Read>), String> {
    let mut first = Vec::with_capacity(HEAD);
    let broken = (&mut inside).take(HEAD as u64).read_to_end(&mut first).err();
    refuse(&first).map_err(|what_inside| format!("{what} of {what_inside}"))?;
    let begun = Cursor::new(first.clone());
    let whole: Box<dyn Read> = match broken {
        Some(error) => Box::new(begun.chain(Broken { error: Some(damage(what, error)) })),
        None => Box::new(begun.chain(Named { inside, what })),
    };
    Ok((first, whole))
}

/// How much may come out of an archive. A few kilobytes can be made that unpack to more than any memory holds; logs of agents come
/// to 3 to 20 times their packed bytes, and those that repeat the whole prompt at each step to a hundred.
#[derive(Debug, Default)]
struct Limit {
    /// Packed bytes that were read.
    packed: Rc<Cell<u64>>,
}

impl Limit {
    /// So many times the packed bytes.
    const TIMES: u64 = 250;

    /// So many bytes whatever they came from: small files harm nobody.
    const FREE: u64 = 64 << 20;

    fn of(packed: u64) -> u64 {
        packed.saturating_mul(Self::TIMES).saturating_add(Self::FREE)
    }

    /// Counts what is read of the archive itself.
    fn packed(&self, inside: Box<dyn Read>) -> Box<dyn Read> {
        Box::new(Counted { inside, bytes: self.packed.clone() })
    }

    /// Stops what comes out of it.
    fn unpacked(&self, inside: Box<dyn Read>) -> Box<dyn Read> {
        Box::new(Limited { inside, bytes: 0, packed: self.packed.clone() })
    }
}

/// Counts what is read.
struct Counted {
    inside: Box<dyn Read>,
    bytes: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inside.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}

/// Fails where more comes out than is believed.
struct Limited {
    inside: Box<dyn Read>,
    bytes: u64,
    /// Packed bytes that it came from.
    packed: Rc<Cell<u64>>,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inside.read(buffer)?;
        self.bytes += read as u64;
        if self.bytes > Limit::of(self.packed.get()) { Err(too_much()) } else { Ok(read) }
    }
}

/// The error of an archive that expands without end.
fn too_much() -> io::Error {
    let times = Limit::TIMES;
    let text =
        format!("unpacks to more than {times} times its size; if it is a log all the same, unpack it first");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Compares the checksum of what was read to the end with the one that is told.
struct Checked {
    inside: Box<dyn Read>,
    found: Crc,
    told: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inside.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.found.sum() != self.told {
            return Err(io::Error::other("its checksum is another one"));
        }
        self.found.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Says what it is that is no log.
fn refuse(head: &[u8]) -> Result<(), String> {
    if head.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1)) {
        return Err("a tar archive; unpack it first".to_owned());
    }
    match REFUSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, what)) => Err((*what).to_owned()),
        None => Ok(()),
    }
}

/// A file name without the ending of an archive.
pub fn unpacked_name(name: &str) -> &str {
    let end = PACKED.iter().find_map(|end| {
        let (before, last) = name.split_at_checked(name.len().checked_sub(end.len())?)?;
        last.eq_ignore_ascii_case(end).then_some(before)
    });
    end.filter(|before| !before.is_empty() && !before.ends_with(['/', '\\'])).unwrap_or(name)
}

/// The error of an archive, as a remark on the log.
fn damage(what: &str, error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::FileTooLarge {
        return error;
    }
    let text = if error.kind() == io::ErrorKind::UnexpectedEof {
        format!("the {what} archive is cut off; what stands behind is lost")
    } else {
        format!("the {what} archive is damaged ({error}); what stands behind is lost")
    };
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Gives errors the name of the archive.
struct Named {
    inside: Box<dyn Read>,
    what: &'static str,
}

impl Read for Named {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inside.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(damage(self.what, error)),
            read => read,
        }
    }
}

/// An error that was met already.
struct Broken {
    error: Option<io::Error>,
}

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.error.take().map_or(Ok(0), Err)
    }
}

/// The members of a gzip archive, one after the other.
struct Members {
    /// The member that is read; `None` behind the last one.
    member: Option<GzDecoder<BufReader<Box<dyn Read>>>>,
}

impl Members {
    fn new(packed: Box<dyn Read>) -> Self {
        Self { member: Some(GzDecoder::new(BufReader::new(packed))) }
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut source) = self.member.take().map(GzDecoder::into_inner) else { break };
            // Blocks of a tape are filled up with zeros; gzip takes no notice of them either.
            loop {
                let ahead = source.fill_buf()?;
                let zeros = ahead.iter().take_while(|byte| **byte == 0).count();
                if zeros == 0 {
                    break;
                }
                source.consume(zeros);
            }
            match source.fill_buf()?.first() {
                None => {}
                Some(first) if GZIP.starts_with(&[*first]) => self.member = Some(GzDecoder::new(source)),
                Some(_) => return Err(io::Error::other("other bytes stand behind its end")),
            }
        }
        Ok(0)
    }
}

/// A block that ends a frame, and room for a checksum: behind a frame that is cut off it gives out what the decoder still holds.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// The frames of a zstd archive, one after the other.
struct Frames {
    source: BufReader<Box<dyn Read>>,
    decoder: FrameDecoder,
    /// Inside a frame.
    open: bool,
    /// What is said when all that could be read is given out.
    broken: Option<io::Error>,
}

impl Frames {
    fn new(source: Box<dyn Read>) -> Self {
        Self { source: BufReader::new(source), decoder: FrameDecoder::new(), open: false, broken: None }
    }

    /// Begins the next frame; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(of_decoder(error)),
            }
        }
        Ok(false)
    }

    /// True when a whole frame is not what was packed.
    fn is_changed(&self) -> bool {
        let told = self.decoder.get_checksum_from_data();
        told.is_some() && told != self.decoder.get_calculated_checksum()
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.open {
                if let Some(error) = self.broken.take() {
                    return Err(error);
                }
                self.open = self.begin()?;
                if !self.open {
                    return Ok(0);
                }
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                self.open = false;
                if self.broken.is_none() && self.is_changed() {
                    return Err(io::Error::other("its checksum is another one"));
                }
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut self.source, one) {
                let whole = self.decoder.decode_blocks(LAST_BLOCK.as_slice(), BlockDecodingStrategy::All);
                let error = of_decoder(error);
                if whole.is_err() || !self.decoder.is_finished() {
                    return Err(error);
                }
                self.broken = Some(error);
            }
        }
    }
}

/// The error of a decoder; the kind of one of reading is kept.
fn of_decoder(error: FrameDecoderError) -> io::Error {
    let mut source: Option<&dyn Error> = Some(&error);
    while let Some(one) = source {
        if let Some(read) = one.downcast_ref::<io::Error>() {
            return io::Error::new(read.kind(), error.to_string());
        }
        source = one.source();
    }
    io::Error::other(error)
}
