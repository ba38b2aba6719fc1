//! Existing sitemaps: every `<url>` is a record.

mod declared;
pub(super) mod dropped;
pub(super) mod extended;
mod plain;
pub(super) mod stray;
#[cfg(test)]
mod tests;
mod url_element;
pub mod value;

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::reader::{RowReader, large_units};
use super::row::{CountingSink, ROW_BYTES_MAX};
use super::spec::{Head, Hints, Open, Spec};
use super::unpack::{About, Text};
use crate::error::{Error, Result, Setting, message};
use crate::escape::grouped;
use stray::Between;
use url_element::{CHILD_DEPTH, UrlElement};

const BUFFER_BYTES: usize = 64 * 1024;

pub const SITEMAP: Spec = Spec {
    name: "sitemap",
    title: "a sitemap",
    extensions: &["xml"],
    head: Head::Byte(b"<"),
    delimiter: |_| false,
    has_columns: false,
    column_word: "column",
    open: Open::Text(open),
};

fn open<'n>(text: Text<'n>, _: Hints<'n>) -> Result<RowReader<'n>> {
    let is_transcoded = text.about().is_transcoded();
    Ok(RowReader { units: large_units(is_transcoded, [text], read), columns: None })
}

/// Reads the entries of a `<urlset>`. Elements of the protocol are in the namespace of the root, so an `<image:loc>` is not
/// mistaken for a `<loc>`. Elements of extensions may also be in a namespace that is wrong or not declared, as in many sitemaps;
/// see [`UrlElement`].
fn read(text: Text<'_>, rows: &mut CountingSink<'_>) -> Result<()> {
    read_buffered(BUFFER_BYTES, text, rows)
}

fn read_buffered(buffer_bytes: usize, text: Text<'_>, rows: &mut CountingSink<'_>) -> Result<()> {
    let (stream, text) = text.split();
    let mut reader = Reader::from_reader(Metered::with_capacity(buffer_bytes, stream));
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    let (mut entry, mut between) = (UrlElement::default(), Between::default());
    let mut depth = 0;
    let mut has_root = false;
    loop {
        buffer.clear();
        let at = reader.buffer_position();
        let entry_bytes = if depth > 1 { at - entry.offset() } else { 0 };
        reader.get_mut().bytes_left = ROW_BYTES_MAX.saturating_sub(entry_bytes);
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => {
                match depth {
                    0 => {
                        entry.begin(&tag);
                        check_root(&text, tag.local_name().as_ref())?;
                        has_root = true;
                    }
                    1 => {
                        between.emit(rows)?;
                        entry.start_child(at, rows.count() + 1, &tag);
                    }
                    _ => entry.open(depth, &tag),
                }
                entry.declared().check(&text, at)?;
                depth += 1;
            }
            Ok(Event::End(_)) => {
                depth -= 1;
                match depth {
                    0 => between.emit(rows)?,
                    1 => end_child(&mut reader, &mut entry, rows)?,
                    _ => entry.close(depth),
                }
            }
            Ok(event @ (Event::Text(_) | Event::CData(_) | Event::GeneralRef(_))) if depth < CHILD_DEPTH => {
                between.take(&text, depth, at, &event)?;
            }
            Ok(Event::Text(part)) => entry.text(&part),
            Ok(Event::CData(part)) => entry.text(&part),
            Ok(Event::GeneralRef(name)) => entry.reference(&name),
            Ok(Event::Eof) if depth == 0 && has_root => {
                rows.facts().dropped_elements = entry.into_dropped();
                return Ok(());
            }
            Ok(Event::Eof) => {
                return Err(text.wrong("the XML ends too early; recreate the file, or fetch it again"));
            }
            Ok(Event::Decl(declaration)) if has_root => text.check_charset(at, &declaration)?,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Empty(_)) => {}
            Err(error) => return Err(broken(&text, at, error)),
        }
    }
}

/// Ends a child of the root, and reads the plain entries after it.
fn end_child<R: Read>(
    reader: &mut Reader<Metered<R>>,
    entry: &mut UrlElement,
    rows: &mut CountingSink<'_>,
) -> Result<()> {
    entry.emit(rows)?;
    // After an end tag the parser has no pending event. After a root it may: the end of `<urlset/>`.
    let at = reader.buffer_position();
    let bytes = plain::read(reader.get_ref().stream.buffer(), at, entry, rows)?;
    reader.stream().consume(bytes);
    Ok(())
}

/// Whether the XML that begins with `head` is a sitemap index.
pub fn is_index(head: &[u8]) -> bool {
    root(head).is_some_and(|root| root == "sitemapindex")
}

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

fn check_root(text: &About<'_>, root: &str) -> Result<()> {
    match root {
        "urlset" => Ok(()),
        "sitemapindex" => Err(text.wrong(
            "is a sitemap index, which must be a file beside its sitemaps; give that file, or the sitemaps",
        )),
        _ => Err(wrong_root(text, root, "a sitemap, <urlset>")),
    }
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
                "byte {at}: broken XML ({error}); recreate the file, or set the format with ",
                Setting::Format
            ))
        }
    }
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

    fn with_capacity(buffer_bytes: usize, stream: R) -> Self {
        Self { stream: BufReader::with_capacity(buffer_bytes, stream), bytes_left: 0 }
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
