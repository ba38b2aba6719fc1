//! Code that readers of sitemaps and feeds share: finding the root element, limiting how much is read at once, and errors.

mod declared;
pub mod dropped;
pub mod stray;
pub mod value;

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::row::ROW_BYTES_MAX;
use super::unpack::About;
use crate::error::{Error, Setting, message};
use crate::words::grouped;
pub use declared::{Declared, prefix_of};

/// Bytes that are read from a stream at a time.
pub const BUFFER_BYTES: usize = 64 * 1024;

/// The local name of the root element of the XML that begins with `head`, if it is there.
pub fn root(head: &[u8]) -> Option<String> {
    let mut reader = Reader::from_reader(head);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag) | Event::Empty(tag)) => return Some(tag.local_name().as_ref().to_owned()),
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// The error for a document with this `root` after documents in another format.
pub fn mixed_formats(text: &About<'_>, root: &str) -> Error {
    let root = crate::escape::shown(root.as_bytes());
    text.wrong(format!(
        "the documents in this file have different formats: a later one has the root <{root}>; give them as separate files"
    ))
}

/// The error for XML whose root element is not the one `expected`.
pub fn wrong_root(text: &About<'_>, root: &str, expected: &str) -> Error {
    let is = |what: &str, format: &str| {
        text.wrong(message!(
            "is {what}; leave out ",
            Setting::Format,
            ", or use ",
            Setting::Format.with(format)
        ))
    };
    match root {
        "urlset" => is("a sitemap", "sitemap"),
        "rss" => is("an RSS feed", "rss"),
        "feed" => is("an Atom feed", "atom"),
        "RDF" => text.wrong("is RDF, most likely RSS 1.0; give the feed as RSS 2.0 or Atom"),
        "html" => text.wrong(format!("is an HTML page; expected {expected}; check the URL it came from")),
        _ => {
            let root = crate::escape::shown(root.as_bytes());
            text.wrong(format!("is XML with the root <{root}>; expected {expected}"))
        }
    }
}

/// The error for XML that is not well-formed. Nothing after the mistake can be trusted.
pub fn broken(text: &About<'_>, at: u64, error: quick_xml::Error) -> Error {
    match error {
        quick_xml::Error::Io(error) if error.get_ref().is_some_and(|cause| cause.is::<TooLong>()) => {
            text.wrong(format!("byte {at}: {error}: most likely a tag that is never closed"))
        }
        quick_xml::Error::Io(error) => {
            text.failed(Arc::try_unwrap(error).unwrap_or_else(|error| match error.raw_os_error() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::new(error.kind(), error),
            }))
        }
        quick_xml::Error::Encoding(_) if text.is_transcoded() => text.wrong(message!(
            "byte {at}: is not valid in the charset of the text; set that with ",
            Setting::InputEncoding
        )),
        quick_xml::Error::Encoding(_) => text.wrong(message!(
            "byte {at}: is not UTF-8, and the XML declaration names no other charset; set it with ",
            Setting::InputEncoding
        )),
        error => {
            let error = crate::escape::shown(error.to_string().as_bytes());
            text.wrong(message!(
                "byte {at}: broken XML ({error}); recreate the file, or give the right ",
                Setting::Format
            ))
        }
    }
}

/// The error for XML that ends before the end of its root element.
pub fn ends_too_early(text: &About<'_>) -> Error {
    text.wrong("the XML ends too early; recreate the file, or fetch it again")
}

/// A stream that fails once `bytes_left` are read, so that an endless tag or text cannot fill the memory.
pub struct Metered<R> {
    stream: BufReader<R>,
    bytes_left: u64,
}

impl<R: Read> Metered<R> {
    /// Nothing can be read until the number of bytes is set.
    pub fn new(stream: R) -> Self {
        Self::with_capacity(BUFFER_BYTES, stream)
    }

    /// Like [`Metered::new`], with a buffer of `buffer_bytes`. Tests use small buffers.
    pub fn with_capacity(buffer_bytes: usize, stream: R) -> Self {
        Self { stream: BufReader::with_capacity(buffer_bytes, stream), bytes_left: 0 }
    }

    /// The bytes in the buffer that were not read yet.
    pub fn buffered(&self) -> &[u8] {
        self.stream.buffer()
    }

    /// Sets the number of bytes that can be read.
    pub fn set_bytes_left(&mut self, bytes: u64) {
        self.bytes_left = bytes;
    }
}

/// The error of [`Metered`].
#[derive(Debug)]
struct TooLong;

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an entry or a piece of XML has more than {} bytes", grouped(ROW_BYTES_MAX))
    }
}

impl std::error::Error for TooLong {}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(out)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl<R: Read> BufRead for Metered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes_left == 0 {
            return Err(io::Error::other(TooLong));
        }
        self.stream.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes as u64);
        self.stream.consume(bytes);
    }
}
