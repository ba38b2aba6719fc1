//! Formats: their words, and how each is recognised.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::columns::Columns;
use super::google;
use crate::error::{Error, Result, Shown};

/// The form of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One URL a line.
    Text,
    /// Values between commas, after RFC 4180, with a header.
    Csv,
    /// The same between tabs; quotes mean what they mean in CSV.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// An existing sitemap.
    Sitemap,
    /// Lines of Google's first generator: a URL, then `lastmod=… changefreq=… priority=…`.
    Google,
}

const WORDS: [(Format, &str); 7] = [
    (Format::Text, "text"),
    (Format::Csv, "csv"),
    (Format::Tsv, "tsv"),
    (Format::Jsonl, "jsonl"),
    (Format::Parquet, "parquet"),
    (Format::Sitemap, "sitemap"),
    (Format::Google, "google"),
];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS[*self as usize].1)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = WORDS.into_iter().find_map(|(format, known)| (known == word).then_some(format));
        known.ok_or_else(|| "the format is text, csv, tsv, jsonl, parquet, sitemap or google".into())
    }
}

/// What the text that begins with `head` is: by its first line if that can be only one thing, else by the name.
///
/// # Errors
/// If the name speaks of Parquet, which the text is not.
pub(super) fn recognise(name: &Path, head: &[u8], columns: &Columns) -> Result<Format> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    match head.trim_ascii_start().first() {
        Some(b'<') => return Ok(Format::Sitemap),
        Some(b'{' | b'[') => return Ok(Format::Jsonl),
        _ => {}
    }
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    if google::has_attributes(line) {
        return Ok(Format::Google);
    }
    // A header of one column would be CSV by name only: as lines of text, every URL with a comma in it is safe.
    for (format, delimiter) in [(Format::Tsv, b'\t'), (Format::Csv, b',')] {
        let names: Vec<&[u8]> = line.split(|&byte| byte == delimiter).map(unquoted).collect();
        if names.len() > 1 && columns.places(&names).is_ok() {
            return Ok(format);
        }
    }
    let name_text = name.to_string_lossy().to_ascii_lowercase();
    let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name_text.strip_suffix(end));
    match plain.unwrap_or(&name_text).rsplit_once('.') {
        // There is nothing in it that a form could be wrong about.
        _ if head.is_empty() => Ok(Format::Text),
        Some((_, "csv")) => Ok(Format::Csv),
        Some((_, "tsv")) => Ok(Format::Tsv),
        Some((_, "jsonl" | "ndjson" | "json")) => Ok(Format::Jsonl),
        Some((_, "xml")) => Ok(Format::Sitemap),
        Some((_, "parquet")) => Err(Error::data(format!(
            "{}: is not Parquet, though its name says so; say what it is with --format",
            Shown(name)
        ))),
        _ => Ok(Format::Text),
    }
}

fn unquoted(name: &[u8]) -> &[u8] {
    let name = name.trim_ascii();
    name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name)
}
