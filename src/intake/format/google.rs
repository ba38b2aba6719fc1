//! URL lists of Google's first sitemap generator (2005): a URL, then attributes, separated by spaces.
//!
//! `http://www.example.com/a lastmod=2005-06-03 changefreq=daily priority=0.8`

use super::columns::RowPart;
use super::found::ColumnsFound;
use super::reader::{RowReader, units_of_lines};
use super::row::{CountingSink, Record};
use super::sample::begins_as_url;
use super::spec::{Head, Hints, Open, Spec};
use super::text::each_line;
use super::unpack::Text;
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::blocks::TextBlock;
use crate::limits::LINE_BYTES_MAX;
use crate::sitemap::tags::TagName;

pub const GOOGLE: Spec = Spec {
    name: "google",
    title: "a list for Google's generator",
    extensions: &[],
    head: Head::Lines(|sample, hints| {
        let section = hints.columns.section();
        hints.columns.positions().is_none()
            && sample.lines().any(|line| has_attributes(line, section) || has_tag(line))
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
    let read = move |block: &TextBlock, rows: &mut CountingSink<'_>| read(block, section, rows);
    Ok(RowReader { units: units_of_lines(text, LINE_BYTES_MAX, read), columns: None })
}

/// Reads a record from every line. Lines that begin with `#` are comments and count as blank.
fn read(block: &TextBlock, section: Option<&str>, rows: &mut CountingSink<'_>) -> Result<()> {
    each_line(block, |number, line| {
        let reason = match Attributed::parse(line.raw, section) {
            _ if line.raw.len() > LINE_BYTES_MAX => Reason::TooLong,
            _ if rows.is_malformed(line.raw) => Reason::BadEncoding,
            None => Reason::BadRow,
            Some(row) => {
                if row.has_attributes() || !row.unused.is_empty() {
                    row.name_attributes(section, rows.facts().keys.get_or_insert_default());
                }
                return rows.record(&Record { line: number, offset: line.offset, ..row.record });
            }
        };
        rows.bad(number, line.offset, reason, line.raw)
    })
}

/// Whether `line` is a URL, perhaps a relative one, followed by attributes. A line that has only unused ones is more likely a URL
/// with a space.
fn has_attributes(line: &[u8], section: Option<&str>) -> bool {
    Attributed::parse(line, section).is_some_and(|row| row.has_attributes())
}

/// Whether `line` is a URL with the attribute of a tag right after it, whatever follows. No list of URLs has that.
fn has_tag(line: &[u8]) -> bool {
    let mut rest = line;
    next_word(&mut rest).is_some_and(begins_as_url)
        && next_word(&mut rest).and_then(attribute).is_some_and(|(name, _)| tag_of(name).is_some())
}

/// The next word of `rest`, which becomes the text after it.
fn next_word<'l>(rest: &mut &'l [u8]) -> Option<&'l [u8]> {
    let text = rest.trim_ascii_start();
    let (word, after) = text.split_at(text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()));
    *rest = after;
    (!word.is_empty()).then_some(word)
}

/// The name and the value of the attribute `word`.
fn attribute(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = word.iter().position(|&byte| byte == b'=')?;
    Some((&word[..equals], &word[equals + 1..]))
}

/// The tag that the attribute `name` holds. As in other formats, the letter case does not matter.
fn tag_of(name: &[u8]) -> Option<TagName> {
    let is = |tag: &TagName| name.eq_ignore_ascii_case(tag.as_str().as_bytes());
    [TagName::Lastmod, TagName::Changefreq, TagName::Priority].into_iter().find(is)
}

/// A URL and its attributes.
struct Attributed<'l> {
    record: Record<'l>,
    /// The names of attributes that are not used.
    unused: Vec<&'l [u8]>,
}

impl<'l> Attributed<'l> {
    /// The row in `line`; `None` if a word after the URL is no attribute, or if there are two sections. An attribute with two
    /// values has the whole line as its value, which is never valid.
    fn parse(line: &'l [u8], section: Option<&str>) -> Option<Self> {
        let mut row = Self { record: Record::default(), unused: Vec::new() };
        if line.trim_ascii_start().starts_with(b"#") {
            return Some(row);
        }
        let mut rest = line;
        let record = &mut row.record;
        record.url = next_word(&mut rest).unwrap_or_default();
        let set = |tag: &mut &'l [u8], value: &'l [u8]| {
            if !value.is_empty() {
                *tag = if tag.is_empty() { value } else { line };
            }
        };
        while let Some(word) = next_word(&mut rest) {
            let (name, value) = attribute(word)?;
            match tag_of(name) {
                Some(TagName::Lastmod) => set(&mut record.lastmod, with_time(line, value, &mut rest)),
                Some(TagName::Changefreq) => set(&mut record.changefreq, value),
                Some(_) => set(&mut record.priority, value),
                None if section.is_some_and(|section| name.eq_ignore_ascii_case(section.as_bytes())) => {
                    if !record.section.is_empty() && !value.is_empty() {
                        return None;
                    }
                    set(&mut record.section, value);
                }
                None if is_name(name) => row.unused.push(name),
                None => return None,
            }
        }
        Some(row)
    }

    /// Whether an attribute that is used has a value.
    fn has_attributes(&self) -> bool {
        Record { url: b"", ..self.record } != Record::default()
    }

    /// Adds the names of its attributes to `found`.
    fn name_attributes(&self, section: Option<&str>, found: &mut ColumnsFound) {
        let Record { lastmod, changefreq, priority, .. } = self.record;
        let tags =
            [(TagName::Lastmod, lastmod), (TagName::Changefreq, changefreq), (TagName::Priority, priority)];
        for (tag, _) in tags.into_iter().filter(|(_, value)| !value.is_empty()) {
            found.use_key(RowPart::Tag(tag), 0, tag.as_str().as_bytes());
        }
        if let Some(section) = section.filter(|_| !self.record.section.is_empty()) {
            found.use_key(RowPart::Section, 0, section.as_bytes());
        }
        self.unused.iter().for_each(|name| found.unused.add_next(name));
    }
}

/// The date `value`, together with the time and the zone that `rest`, the text of `line` after it, begins with: databases write
/// `2024-05-01 10:20:30 UTC`. They are taken from `rest`.
fn with_time<'l>(line: &'l [u8], value: &'l [u8], rest: &mut &'l [u8]) -> &'l [u8] {
    let before = rest.len();
    let mut after = *rest;
    let is_time = |word: &[u8]| matches!(word, [b'0'..=b'9', b'0'..=b'9', b':', ..]);
    if value.is_empty() || !next_word(&mut after).is_some_and(is_time) {
        return value;
    }
    *rest = after;
    if next_word(&mut after)
        .is_some_and(|word| matches!(word, b"UTC" | b"Z" | [b'+' | b'-', b'0'..=b'9', ..]))
    {
        *rest = after;
    }
    let start = line.len() - before - value.len();
    &line[start..line.len() - rest.len()]
}

/// Whether `name` may be that of an attribute, unlike the beginning of a URL with a query.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte))
}
