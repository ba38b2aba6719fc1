//! Existing sitemaps: every `<url>` is a record.

pub(super) mod extended;
mod plain;
#[cfg(test)]
mod tests;
mod url_element;

use std::io::{BufRead, Read};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::reader::{RowReader, large_units};
use super::row::{CountingSink, ROW_BYTES_MAX};
use super::spec::{Head, Hints, Open, Spec};
use super::unpack::{About, Text};
use super::xml::stray::Between;
use super::xml::{BUFFER_BYTES, Metered, broken, ends_too_early, mixed_formats, root, wrong_root};
use crate::error::Result;
use url_element::{CHILD_DEPTH, UrlElement};

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
        reader.get_mut().set_bytes_left(ROW_BYTES_MAX.saturating_sub(entry_bytes));
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => {
                match depth {
                    0 => {
                        entry.begin(&tag);
                        check_root(&text, tag.local_name().as_ref(), !has_root)?;
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
            Ok(Event::Eof) => return Err(ends_too_early(&text)),
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
    let bytes = plain::read(reader.get_ref().buffered(), at, entry, rows)?;
    reader.stream().consume(bytes);
    Ok(())
}

/// Whether the XML that begins with `head` is a sitemap index.
pub fn is_index(head: &[u8]) -> bool {
    root(head).is_some_and(|root| root == "sitemapindex")
}

fn check_root(text: &About<'_>, root: &str, is_first: bool) -> Result<()> {
    match root {
        "urlset" => Ok(()),
        "sitemapindex" => Err(text.wrong(
            "is a sitemap index, which must be a file beside its sitemaps; give that file, or the sitemaps",
        )),
        _ if !is_first => Err(mixed_formats(text, root)),
        _ => Err(wrong_root(text, root, "a sitemap, <urlset>")),
    }
}
