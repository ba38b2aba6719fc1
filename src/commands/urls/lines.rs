//! The lines that are written for the entries of a sitemap, and their formats.

use serde_json::{Map, Value};

use crate::commands::check::{EXTENSIONS, Entry, Tag, text};
use crate::escape;

/// Output format of [`urls()`](crate::urls()).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlsFormat {
    /// One URL per line.
    #[default]
    Lines,
    /// Tab-separated rows below a header: `loc`, `lastmod`, `changefreq`, `priority`, `alternates`, `images`, `videos` and
    /// `news`. The last four are JSON. Missing values are empty. A value that contains a tab or line end, or begins with a quote,
    /// is quoted as in CSV. `build` reads this format.
    Tsv,
    /// One JSON object per line, with `loc` and the tags of the URL; `alternates`, `images` and `videos` are arrays, and `news`
    /// is an object. `build` reads this format.
    Json,
}

/// Which parts of an entry are written.
#[derive(Clone, Copy)]
pub(super) enum LineFormat {
    Of(UrlsFormat),
    /// URL and `lastmod`, escaped, and no header.
    Lastmods,
}

/// The first line of the tab-separated format.
pub(super) fn tsv_header() -> String {
    let tags = Tag::ALL.map(Tag::as_str).into_iter();
    let names: Vec<_> = tags.chain(EXTENSIONS.iter().map(|extension| extension.name)).collect();
    names.join("\t") + "\n"
}

/// Appends the line of `entry`, whose URL is `loc`.
pub(super) fn push(entry: &Entry, loc: &[u8], format: LineFormat, lines: &mut Vec<u8>) {
    match format {
        LineFormat::Of(UrlsFormat::Lines) => lines.extend_from_slice(loc),
        LineFormat::Lastmods => {
            lines.extend_from_slice(loc);
            lines.push(b'\t');
            // A tab or line end in a value must not end the field or the row.
            escape::escape(entry.value(Tag::Lastmod).unwrap_or_default().trim_ascii(), lines);
        }
        LineFormat::Of(UrlsFormat::Tsv) => {
            push_cell(loc, lines);
            for tag in [Tag::Lastmod, Tag::Changefreq, Tag::Priority] {
                lines.push(b'\t');
                push_cell(entry.value(tag).unwrap_or_default().trim_ascii(), lines);
            }
            for number in 0..EXTENSIONS.len() {
                lines.push(b'\t');
                if let Some(values) = values(entry, number) {
                    push_cell(values.to_string().as_bytes(), lines);
                }
            }
        }
        LineFormat::Of(UrlsFormat::Json) => lines.extend_from_slice(to_json(entry).to_string().as_bytes()),
    }
    lines.push(b'\n');
}

/// Appends a value to a row. It is quoted if it contains a tab or line end, or begins with a quote.
fn push_cell(value: &[u8], lines: &mut Vec<u8>) {
    if value.first() != Some(&b'"') && memchr::memchr3(b'\t', b'\n', b'\r', value).is_none() {
        return lines.extend_from_slice(value);
    }
    lines.push(b'"');
    for &byte in value {
        lines.extend_from_slice(if byte == b'"' { b"\"\"" } else { std::slice::from_ref(&byte) });
    }
    lines.push(b'"');
}

fn to_json(entry: &Entry) -> Value {
    let mut object = Map::new();
    for tag in Tag::ALL {
        if let Some(value) = entry.value(tag) {
            object.insert(tag.as_str().into(), text(value.trim_ascii()));
        }
    }
    for (number, extension) in EXTENSIONS.iter().enumerate() {
        if let Some(values) = values(entry, number) {
            object.insert(extension.name.into(), values);
        }
    }
    Value::Object(object)
}

/// Returns the values of the extension with this number: an array, or the only value if there is never a second one.
fn values(entry: &Entry, number: usize) -> Option<Value> {
    let extension = EXTENSIONS[number];
    let mut values: Vec<Value> = entry.elements(number).iter().filter_map(extension.to_json).collect();
    match values.len() {
        0 => None,
        1 if extension.is_single => values.pop(),
        _ => Some(values.into()),
    }
}
