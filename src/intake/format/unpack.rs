//! Unpacking: detects compressed text by its first bytes and unpacks it.

use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::Encoding;

use super::charset::{self, Transcoded};
use super::foreign;
use super::packing::{self, Packing};
use crate::common::gzip_members::OtherBytes;
use crate::error::{Error, Message, Result, Setting, message};
use crate::limits::LINE_BYTES_MAX;

/// Size of the head, from which the format is detected: the longest line, so that the first line is whole.
const HEAD_BYTES: u64 = LINE_BYTES_MAX as u64 + 2;

/// The text of an input, unpacked.
pub struct Text<'n> {
    about: About<'n>,
    stream: Box<dyn Read + Send>,
}

/// The properties of a text that are known before it is read, and the errors in it.
pub struct About<'n> {
    name: &'n Path,
    packing: Packing,
    /// Packed bytes that were read so far.
    at: Arc<AtomicU64>,
    /// The charset that the text is transcoded from, if it is.
    encoding: Option<&'static Encoding>,
    /// Whether an option says which charset the text has, whatever it declares.
    is_encoding_said: bool,
    head: Vec<u8>,
}

impl<'n> Text<'n> {
    /// Opens the text in `stream`, which may be packed.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if it is in a format that cannot be read, packed twice, or empty though its name
    /// is that of packed text; [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read.
    pub fn open(name: &'n Path, stream: Box<dyn Read + Send>) -> Result<Self> {
        let (packing, at) = (Packing::None, Arc::default());
        let about = About { name, packing, at, encoding: None, is_encoding_said: false, head: Vec::new() };
        let mut text = Self { about, stream };
        text.look()?;
        foreign::check(name, text.head())?;
        let (_, named) = packing::of_name(name);
        // Every packing has a header. Only a job that failed leaves a file without one.
        if text.head().is_empty() && named != Packing::None {
            return Err(text.about.empty_though_named(named));
        }
        text.about.packing = Packing::of(text.head());
        if text.about.packing != Packing::None {
            let unpacked = text.about.packing.unpack(text.take(), &text.about.at);
            text.stream = unpacked.map_err(|error| text.about.failed(error))?;
            text.look()?;
            foreign::check(name, text.head())?;
            if Packing::of(text.head()) != Packing::None {
                return Err(text.about.wrong("is compressed twice; decompress it once"));
            }
        }
        Ok(text)
    }

    /// Turns the text into UTF-8 if it is in another charset: the one that an option `said` or, without it, the one that the text
    /// declares. A byte order mark overrides both. Offsets count bytes of the result.
    pub fn transcode(&mut self, said: Option<&'static Encoding>) -> Result<()> {
        self.about.is_encoding_said = said.is_some();
        self.about.encoding = said.or_else(|| charset::declared(self.head()));
        let Some(encoding) = self.about.encoding else { return Ok(()) };
        self.stream = Box::new(Transcoded::new(self.take(), encoding));
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

    /// The first bytes: as many as the longest line has, or all if there are fewer.
    pub fn head(&self) -> &[u8] {
        &self.about.head
    }

    /// Its properties.
    pub fn about(&self) -> &About<'n> {
        &self.about
    }

    /// The text as a stream, and its properties.
    pub fn split(self) -> (Box<dyn Read + Send>, About<'n>) {
        (self.stream, self.about)
    }
}

impl<'n> About<'n> {
    /// The name of the input.
    pub fn name(&self) -> &'n Path {
        self.name
    }

    /// The first bytes; see [`Text::head`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    pub fn is_transcoded(&self) -> bool {
        self.encoding.is_some()
    }

    /// Checks that the document that begins at byte `at` with the XML `declaration` is in the charset of the text before it.
    pub fn check_charset(&self, at: u64, declaration: &str) -> Result<()> {
        if self.is_encoding_said || charset::agrees(self.encoding, declaration.as_bytes()) {
            return Ok(());
        }
        Err(self.wrong(message!(
            "byte {at}: the documents in this file have different charsets; give them as separate files, or set one charset for \
             all with ",
            Setting::InputEncoding
        )))
    }

    /// The error for a failed read: of the file, or of the data packed in it.
    pub fn failed(&self, error: io::Error) -> Error {
        // Only errors of the operating system have a number. All others come from a decoder, or from a remote file.
        let is_of_file = error.raw_os_error().is_some() || Error::is_carried_by(&error);
        if self.packing == Packing::None || is_of_file {
            return Error::io(self.name, "could not be read", error);
        }
        let (packing, at) = (self.packing, self.at.load(Ordering::Relaxed));
        if error.get_ref().is_some_and(|cause| cause.is::<OtherBytes>()) {
            return self.wrong(format!(
                "the {packing} data ends at byte {at}, and {error}; fetch it again, or decompress it with gzip -dc, which ignores them"
            ));
        }
        if error.to_string() == packing::WINDOW_TOO_LARGE {
            return foreign::wide_zstd(self.name);
        }
        let what = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("the {packing} data ends too early, at byte {at}"),
            _ => format!("the {packing} data is damaged before byte {at} ({error})"),
        };
        self.wrong(format!("{what}; recreate the file, or fetch it again"))
    }

    /// The error for a text of 0 bytes whose name says that it is `what`, which is never empty.
    pub fn empty_though_named(&self, what: impl fmt::Display) -> Error {
        let words = "though its name says so; recreate the file, or leave it out";
        self.wrong(format!("is empty, so it is not {what}, {words}"))
    }

    /// The error for a text that is not valid.
    pub fn wrong(&self, message: impl Into<Message>) -> Error {
        Error::data(message!(self.name, ": ", message.into()))
    }
}

/// Reads up to `bytes_max` bytes. The returned stream begins with them again.
fn peek(mut stream: Box<dyn Read + Send>, bytes_max: u64) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    stream.by_ref().take(bytes_max).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(stream))))
}
