//! Unpacking: compressed text becomes text, known by its first bytes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use encoding_rs::Encoding;
use flate2::bufread::MultiGzDecoder;

use super::charset::Transcoded;
use super::peek;
use crate::error::{Error, Result, Shown};
use crate::limits::LINE_BYTES_MAX;

/// How text is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packing {
    /// Not at all, or in a way of its own, as Parquet.
    #[default]
    None,
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames.
    Zstd,
    /// bzip2, any number of streams.
    Bzip2,
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        })
    }
}

/// Read at once from the input: few enough calls, and little beside the decoders' own windows.
const PIECE_BYTES: usize = 256 * 1024;

/// Looked at before reading: the longest line, so that the first one is whole.
const HEAD_BYTES: u64 = LINE_BYTES_MAX as u64 + 2;

/// The text of an input, unpacked.
pub struct Text<'n> {
    about: About<'n>,
    stream: Box<dyn Read + Send>,
}

/// What is known of a text before it is read, and how errors in it are told.
pub struct About<'n> {
    name: &'n Path,
    packing: Packing,
    /// Bytes that were unpacked so far, as they are packed.
    at: Arc<AtomicU64>,
    is_transcoded: bool,
    head: Vec<u8>,
}

impl<'n> Text<'n> {
    /// Looks into `stream` and unpacks it if need be.
    pub fn open(name: &'n Path, stream: Box<dyn Read + Send>) -> Result<Self> {
        let (packing, at) = (Packing::None, Arc::default());
        let about = About { name, packing, at, is_transcoded: false, head: Vec::new() };
        let mut text = Self { about, stream };
        text.look()?;
        text.about.packing = packing_of(name, text.head())?;
        let stream = BufReader::with_capacity(PIECE_BYTES, text.take());
        let packed = Counted { stream, at: Arc::clone(&text.about.at) };
        text.stream = match text.about.packing {
            Packing::None => packed.stream.into_inner(),
            Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Packing::Zstd => {
                Box::new(zstd::Decoder::with_buffer(packed).map_err(|error| text.about.failed(error))?)
            }
            Packing::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
        };
        if text.about.packing != Packing::None {
            text.look()?;
            if packing_of(name, text.head())? != Packing::None {
                return Err(text.about.wrong("is packed twice; unpack it once"));
            }
        }
        Ok(text)
    }

    /// Turns the text into UTF-8; offsets count bytes of that.
    pub fn transcode(&mut self, encoding: &'static Encoding) -> Result<()> {
        self.stream = Box::new(Transcoded::new(self.take(), encoding));
        self.about.is_transcoded = true;
        self.look()
    }

    fn take(&mut self) -> Box<dyn Read + Send> {
        std::mem::replace(&mut self.stream, Box::new(io::empty()))
    }

    fn look(&mut self) -> Result<()> {
        let (head, stream) = peek(self.take(), HEAD_BYTES).map_err(|error| self.about.failed(error))?;
        (self.about.head, self.stream) = (head, stream);
        Ok(())
    }

    /// The first bytes; all of them if there are fewer than the longest line has.
    pub fn head(&self) -> &[u8] {
        &self.about.head
    }

    /// What is known of it.
    pub fn about(&self) -> &About<'n> {
        &self.about
    }

    /// The text to read, and what is known of it.
    pub fn split(self) -> (Box<dyn Read + Send>, About<'n>) {
        (self.stream, self.about)
    }
}

impl About<'_> {
    /// The first bytes, as [`Text::head`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    pub fn is_transcoded(&self) -> bool {
        self.is_transcoded
    }

    /// An error of reading: the file's, or of what is packed in it.
    pub fn failed(&self, error: io::Error) -> Error {
        // Only the operating system's errors have its number; the rest is what a decoder says of the data.
        if self.packing == Packing::None || error.raw_os_error().is_some() {
            return Error::io(self.name, "could not be read", error);
        }
        let (packing, at) = (self.packing, self.at.load(Ordering::Relaxed));
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {packing} data end too early, at byte {at}"),
            _ => format!("the {packing} data are damaged before byte {at} ({error})"),
        };
        self.wrong(format!("{what}; make or fetch the file again"))
    }

    /// The text is not what it should be.
    pub fn wrong(&self, message: impl fmt::Display) -> Error {
        Error::data(format!("{}: {message}", Shown(self.name)))
    }
}

/// Counts what a decoder takes, so that an error can say where it was.
struct Counted {
    stream: BufReader<Box<dyn Read + Send>>,
    at: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.stream.read(to)?;
        self.at.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.stream.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.stream.consume(bytes);
        self.at.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The packing that the first bytes show.
fn has_ending(name: &Path, ending: &str) -> bool {
    name.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn packing_of(name: &Path, head: &[u8]) -> Result<Packing> {
    let foreign = |what: &str, way: &str| Err(Error::data(format!("{}: is {what}; {way}", Shown(name))));
    let piped = |what: &str, program: &str| {
        let file = if name == Path::new("-") { "FILE".into() } else { format!("'{}'", Shown(name)) };
        let way = format!("pipe it in: {program} {file} | sitemill build - …");
        foreign(&format!("{what}, which sitemill does not unpack"), &way)
    };
    let is_spreadsheet = ["xlsx", "xlsm", "ods"].into_iter().any(|ending| has_ending(name, ending));
    match head {
        [0x1F, 0x8B, ..] => Ok(Packing::Gzip),
        // A frame, or one that is to be skipped, as parallel compressors write it in front.
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Ok(Packing::Zstd),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Ok(Packing::Bzip2),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => piped("xz", "xz -dc"),
        // What spreadsheets have first in their archive: [Content_Types].xml in one form, mimetype in the other.
        [b'P', b'K', 3, 4, rest @ ..]
            if is_spreadsheet || rest.get(26..).is_some_and(|name| name.starts_with(b"[Content_Types]")) =>
        {
            foreign("a spreadsheet", "save it as CSV and give that")
        }
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, ..] => {
            foreign("an old spreadsheet or document", "save it as CSV and give that")
        }
        [b'P', b'K', 3, 4, ..] => piped("a zip archive", "unzip -p"),
        _ => Ok(Packing::None),
    }
}
