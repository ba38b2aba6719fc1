//! Plain entries: `<url>` with only tags of the protocol, without attributes. Most sitemaps have nothing else, and it can be read
//! with a few searches. The XML parser reads every other entry from its first byte.

use memchr::{memchr, memchr2, memchr3};
use quick_xml::events::BytesRef;

use super::url_element::{CHILD_DEPTH, UrlElement, value_place};
use crate::error::Result;
use crate::intake::format::row::CountingSink;

/// Takes the plain entries at the start of `buffer`, which is at `offset` of the text. Returns how many bytes they have. An entry
/// that continues after the buffer is not taken.
pub fn read(
    buffer: &[u8],
    offset: u64,
    entry: &mut UrlElement,
    rows: &mut CountingSink<'_>,
) -> Result<usize> {
    if entry.has_prefix() {
        return Ok(0);
    }
    let mut bytes = 0;
    while let Some(after) = take(&buffer[bytes..], offset + bytes as u64, entry, rows.count() + 1) {
        entry.emit(rows)?;
        bytes = buffer.len() - after.len();
    }
    Ok(bytes)
}

/// Takes one entry and white space before it. Returns the rest.
fn take<'p>(buffer: &'p [u8], offset: u64, entry: &mut UrlElement, number: u64) -> Option<&'p [u8]> {
    let start = buffer.trim_ascii_start();
    let mut rest = start.strip_prefix(b"<url>")?;
    entry.start(offset + (buffer.len() - start.len()) as u64, number, true);
    loop {
        rest = rest.trim_ascii_start().strip_prefix(b"<")?;
        if let Some(after) = rest.strip_prefix(b"/url>") {
            return Some(after);
        }
        let (name, value) = rest.split_at(memchr(b'>', rest)?);
        entry.open_plain(value_place(name)?);
        rest = take_text(&value[1..], entry)?.strip_prefix(b"</")?.strip_prefix(name)?.strip_prefix(b">")?;
        entry.close(CHILD_DEPTH);
    }
}

/// Takes text and references up to the next tag. Returns the rest.
fn take_text<'p>(mut rest: &'p [u8], entry: &mut UrlElement) -> Option<&'p [u8]> {
    loop {
        let (text, markup) = rest.split_at(memchr2(b'<', b'&', rest)?);
        entry.text(str::from_utf8(text).ok()?);
        let Some(reference) = markup.strip_prefix(b"&") else { return Some(markup) };
        let (name, end) = reference.split_at(memchr3(b';', b'&', b'<', reference)?);
        rest = end.strip_prefix(b";")?;
        entry.reference(&BytesRef::new(str::from_utf8(name).ok()?));
    }
}
