//! Formats: their words, and how each is recognised.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::csv::{Ambiguous, Delimiter, Sample};
use super::{FormOptions, google};
use crate::error::{Error, Result, Shown};

/// The form of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One URL a line.
    Text,
    /// Values between commas, or whatever [`FormOptions::delimiter`] or the header says; after RFC 4180.
    Csv,
    /// Values between tabs; quotes mean what they mean in CSV.
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

/// What the text that begins with `head` is: by its first lines if they can be only one thing, else by the name.
///
/// # Errors
/// If the name speaks of a form that the text does not have, and no text has; or if the lines are rows of a table that no header and no option
/// explains.
pub(super) fn recognise(name: &Path, head: &[u8], options: &FormOptions) -> Result<Format> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    match head.trim_ascii_start().first() {
        // There is nothing in it that a form could be wrong about. Blanks may go on to something: the name decides.
        None if head.is_empty() => return Ok(Format::Text),
        Some(b'<') => return Ok(Format::Sitemap),
        Some(b'{' | b'[') => return Ok(Format::Jsonl),
        _ => {}
    }
    let sample = Sample::of(head);
    if options.columns.positions().is_none() && google::has_attributes(sample.first_line()) {
        return Ok(Format::Google);
    }
    if let Some(delimiter) = of_table(&sample, options) {
        return Ok(if delimiter == Delimiter::TAB { Format::Tsv } else { Format::Csv });
    }
    let wrong = |message: String| Err(Error::data(format!("{}: {message}", Shown(name))));
    let not_as_named =
        |what: &str| wrong(format!("is not {what}, though its name says so; say what it is with --format"));
    let name_text = name.to_string_lossy().to_ascii_lowercase();
    let plain = [".gz", ".zst", ".bz2"].iter().find_map(|end| name_text.strip_suffix(end));
    match plain.unwrap_or(&name_text).rsplit_once('.') {
        Some((_, "csv")) => Ok(Format::Csv),
        Some((_, "tsv")) => Ok(Format::Tsv),
        Some((_, "jsonl" | "ndjson" | "json")) => Ok(Format::Jsonl),
        Some((_, "xml")) => Ok(Format::Sitemap),
        Some((_, "parquet")) => not_as_named("Parquet"),
        Some((_, "xz" | "lzma")) => not_as_named("xz"),
        Some((_, "zip" | "7z")) => not_as_named("an archive"),
        Some((_, "xlsx" | "xlsm" | "xls" | "ods")) => not_as_named("a spreadsheet"),
        _ => match sample.options(true) {
            Some(options) => wrong(format!(
                "the lines are rows of a table; say {options}, or --format text if every line is a URL"
            )),
            None => Ok(Format::Text),
        },
    }
}

/// The delimiter, if the first lines or the options make a table of the text.
fn of_table(sample: &Sample<'_>, options: &FormOptions) -> Option<Delimiter> {
    let said = options.delimiter;
    let Some(places) = options.columns.positions() else {
        let by_header = sample.of_header(&options.columns, said);
        return by_header.or_else(|| said.filter(|&said| sample.is_parted(said)));
    };
    // A plain list may come with tables: its only column is the first.
    let needs_table = places.into_iter().flatten().any(|place| place > 0);
    match sample.of_rows(places[0].unwrap_or_default(), said) {
        Ok(found) => found.or(needs_table.then_some(said.unwrap_or(Delimiter::COMMA))),
        Err(Ambiguous(one, _)) => Some(one),
    }
}
