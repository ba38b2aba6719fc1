//! Detects the format of an input from its first bytes, then from its name.

use std::path::Path;

use super::options::FormatOptions;
use super::sample::{Sample, is_url};
use super::spec::{Head, Open, OpenAtOffsets};
use super::table::Format;
use super::unpack::About;
use super::{foreign, packing, xml};
use crate::error::{Error, Message, Result, Setting, message};
use crate::intake::lines::BYTE_ORDER_MARK;

/// The format whose magic number `head` starts with.
pub fn by_magic(head: &[u8]) -> Option<(Format, &'static OpenAtOffsets)> {
    let at_offsets = |&format: &Format| match &format.spec().open {
        Open::AtOffsets(open) => Some((format, open)),
        Open::Lines(_) | Open::Text(_) => None,
    };
    Format::ALL.iter().filter_map(at_offsets).find(|(_, open)| head.starts_with(open.magic))
}

/// Detects the format of a text: by its first lines, otherwise by its file name.
///
/// # Errors
/// If the file name belongs to a binary format, if it belongs to XML and the text is empty, or if the lines are rows of a table and
/// neither a header nor an option names its columns.
pub fn recognise(about: &About<'_>, options: &FormatOptions) -> Result<Format> {
    let (name, head) = (about.name(), about.head());
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let extension = &*extension(name);
    let named = Format::ALL.iter().copied().find(|format| format.spec().extensions.contains(&extension));
    // Lists and tables may be empty. Any text may start with white space, so in that case the name decides.
    if head.is_empty() {
        let is_never_empty =
            |format: &Format| format.is_xml() || matches!(format.spec().open, Open::AtOffsets(_));
        let what = named.filter(is_never_empty).map(|format| format.spec().title);
        return match what.or_else(|| foreign::of_extension(extension)) {
            Some(what) => Err(about.empty_though_named(what)),
            None => Ok(Format::FALLBACK),
        };
    }
    let sample = Sample::of(head).with_escape(options.escape);
    if let Some(format) = by_head(head, &sample, options) {
        return Ok(format);
    }
    let wrong = |message: Message| Err(Error::data(message!(name, ": ", message)));
    let not_as_named = |what: &str| {
        wrong(message!("is not {what}, though its name says so; set the format with ", Setting::Format))
    };
    if let Some(format) = named {
        return match &format.spec().open {
            Open::AtOffsets(_) => not_as_named(format.spec().title),
            Open::Lines(_) | Open::Text(_) => Ok(format),
        };
    }
    if let Some(what) = foreign::of_extension(extension) {
        return not_as_named(what);
    }
    let is_list = message!(Setting::Format.with("text"), " if every line is a URL");
    if let Some(way_out) = Sample::header_below(head, &options.columns, about.packing()) {
        return wrong(message!(way_out, "; or use ", is_list));
    }
    let of_header = sample.options_of_header(&options.columns);
    match of_header.or_else(|| sample.options(true, about.packing())) {
        Some(options) => wrong(message!("the lines are rows of a table; use ", options, ", or ", is_list)),
        None => Ok(Format::FALLBACK),
    }
}

/// Whether `name` or an option says that the input has a format that is read at offsets.
pub fn has_name_of_offset_format(name: &Path, options: &FormatOptions) -> bool {
    let extension = &*extension(name);
    let is_named = |format: &Format| match options.format {
        Some(said) => said == *format,
        None => format.spec().extensions.contains(&extension),
    };
    Format::ALL.iter().any(|format| matches!(format.spec().open, Open::AtOffsets(_)) && is_named(format))
}

/// Whether `name` is that of a sitemap or of an index of sitemaps, or an option says so.
pub fn is_named_as_sitemap(name: &Path, options: &FormatOptions) -> bool {
    let is_named = || Format::Sitemap.spec().extensions.contains(&&*extension(name));
    options.format.map_or_else(is_named, |said| said == Format::Sitemap)
}

/// The extension of `name` in lower case, without that of a packing.
fn extension(name: &Path) -> String {
    packing::of_name(name).0.rsplit_once('.').map_or("", |(_, end)| end).to_owned()
}

fn by_head(head: &[u8], sample: &Sample<'_>, options: &FormatOptions) -> Option<Format> {
    let start = head.trim_ascii_start();
    // A URL in angle brackets is no tag.
    if start.strip_prefix(b"<").is_some_and(is_url) {
        return None;
    }
    let first = start.first();
    let has_byte = |format: &Format| match format.spec().head {
        Head::Byte(bytes) => first.is_some_and(|first| bytes.contains(first)),
        Head::Root(_) | Head::Lines(_) | Head::Other => false,
    };
    let has_lines = |format: &Format| match format.spec().head {
        Head::Lines(fits) => fits(sample, options.hints()),
        Head::Byte(_) | Head::Root(_) | Head::Other => false,
    };
    if first == Some(&b'<')
        && let Some(root) = xml::root(head)
        && let Some(&of_root) =
            Format::ALL.iter().find(|format| matches!(format.spec().head, Head::Root(name) if name == root))
    {
        return Some(of_root);
    }
    let by_byte = Format::ALL.iter().copied().find(has_byte);
    by_byte.or_else(|| Format::ALL.iter().copied().rev().find(has_lines))
}
