//! URL lists of Google's first sitemap generator (2005): a URL, then attributes, separated by spaces.
//!
//! `http://www.example.com/a lastmod=2005-06-03 changefreq=daily priority=0.8`

use super::columns::RowPart;
use super::found::ColumnsFound;
use super::reader::{RowReader, units_of_lines};
use super::row::{CountingSink, Record};
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
                if row.has_attributes() {
                    row.name_attributes(section, rows.facts().keys.get_or_insert_default());
                }
                return rows.record(&Record { line: number, offset: line.offset, ..row.record });
            }
        };
        rows.bad(number, line.offset, reason, line.raw)
    })
}

/// Whether `line` is a URL, perhaps a relative one, followed by attributes.
fn has_attributes(line: &[u8], section: Option<&str>) -> bool {
    Attributed::parse(line, section).is_some_and(|row| row.has_attributes())
}

/// A URL and its attributes.
struct Attributed<'l> {
    record: Record<'l>,
    /// The names of attributes that are not used.
    unused: Vec<&'l [u8]>,
}

impl<'l> Attributed<'l> {
    /// The row in `line`; `None` if a word after the URL is no attribute, or if there are two sections. Other attributes are
    /// accepted only on a line that also has one of the three tags or the attribute of the `section`; otherwise the line is more
    /// likely a URL with a space. An attribute with two values has the whole line as its value, which is never valid.
    fn parse(line: &'l [u8], section: Option<&str>) -> Option<Self> {
        let mut row = Self { record: Record::default(), unused: Vec::new() };
        if line.trim_ascii_start().starts_with(b"#") {
            return Some(row);
        }
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let record = &mut row.record;
        record.url = words.next().unwrap_or_default();
        let set = |tag: &mut &'l [u8], value: &'l [u8]| {
            if !value.is_empty() {
                *tag = if tag.is_empty() { value } else { line };
            }
        };
        let mut is_known = false;
        for word in words {
            let equals = word.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (&word[..equals], &word[equals + 1..]);
            match name {
                b"lastmod" => set(&mut record.lastmod, value),
                b"changefreq" => set(&mut record.changefreq, value),
                b"priority" => set(&mut record.priority, value),
                _ if section.is_some_and(|section| section.as_bytes() == name) => {
                    if !record.section.is_empty() && !value.is_empty() {
                        return None;
                    }
                    set(&mut record.section, value);
                }
                _ if is_name(name) => {
                    row.unused.push(name);
                    continue;
                }
                _ => return None,
            }
            is_known = true;
        }
        (is_known || row.unused.is_empty()).then_some(row)
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

/// Whether `name` may be that of an attribute, unlike the beginning of a URL with a query.
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte))
}
