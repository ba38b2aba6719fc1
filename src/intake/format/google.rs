//! URL lists of Google's first sitemap generator (2005): a URL, then attributes, separated by spaces.
//!
//! `http://www.example.com/a lastmod=2005-06-03 changefreq=daily priority=0.8`

use super::reader::{RowReader, units_of_lines};
use super::row::{CountingSink, Record};
use super::spec::{Head, Hints, Open, Spec};
use super::text::each_line;
use super::unpack::Text;
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::blocks::Block;
use crate::limits::LINE_BYTES_MAX;

pub const GOOGLE: Spec = Spec {
    name: "google",
    extensions: &[],
    head: Head::Lines(|sample, hints| {
        let section = hints.columns.section();
        hints.columns.positions().is_none()
            && sample.lines().any(|line| has_attributes(line, section))
            // A value of a table may look like an attribute.
            && sample.of_header(hints.columns, hints.delimiter).is_none()
    }),
    delimiter: |_| false,
    has_columns: true,
    column_word: "column",
    open: Open::Text(open),
};

fn open<'n>(text: Text<'n>, hints: Hints<'n>) -> Result<RowReader<'n>> {
    let section = hints.columns.section();
    let read = move |block: &Block, rows: &mut CountingSink<'_>| read(block, section, rows);
    Ok(RowReader { units: units_of_lines(text, LINE_BYTES_MAX, read), columns: None })
}

/// Reads a record from every line. Lines that begin with `#` are comments and count as blank.
fn read(block: &Block, section: Option<&str>, rows: &mut CountingSink<'_>) -> Result<()> {
    each_line(block, |number, line| {
        let reason = match record(line.raw, section) {
            _ if line.raw.len() > LINE_BYTES_MAX => Reason::TooLong,
            _ if rows.is_malformed(line.raw) => Reason::BadEncoding,
            None => Reason::BadRow,
            Some(record) => return rows.record(&Record { line: number, offset: line.offset, ..record }),
        };
        rows.bad(number, line.offset, reason, line.raw)
    })
}

/// Whether `line` is a URL, perhaps a relative one, followed by attributes.
fn has_attributes(line: &[u8], section: Option<&str>) -> bool {
    record(line, section).is_some_and(|record| Record { url: b"", ..record } != Record::default())
}

/// The record in `line`; `None` if a word after the URL is neither one of the three attributes nor `section`, the one of the
/// section, or if there are two sections. An attribute with two values has the whole line as its value, which is never valid.
fn record<'l>(line: &'l [u8], section: Option<&str>) -> Option<Record<'l>> {
    let mut record = Record::default();
    if line.trim_ascii_start().starts_with(b"#") {
        return Some(record);
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    record.url = words.next().unwrap_or_default();
    let set = |tag: &mut &'l [u8], value: &'l [u8]| {
        if !value.is_empty() {
            *tag = if tag.is_empty() { value } else { line };
        }
    };
    for word in words {
        let equals = word.iter().position(|&byte| byte == b'=')?;
        let value = &word[equals + 1..];
        match &word[..equals] {
            b"lastmod" => set(&mut record.lastmod, value),
            b"changefreq" => set(&mut record.changefreq, value),
            b"priority" => set(&mut record.priority, value),
            name if section.is_some_and(|section| section.as_bytes() == name) => {
                if !record.section.is_empty() && !value.is_empty() {
                    return None;
                }
                set(&mut record.section, value);
            }
            _ => return None,
        }
    }
    Some(record)
}
