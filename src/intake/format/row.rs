//! Rows: the records that every format is converted to, and the sink that receives them.

use super::charset::MALFORMED;
use super::columns::RowPart;
use super::found::UnitFacts;
use super::shapes;
use crate::clean::Reason;
use crate::common::array;
use crate::error::Result;
use crate::limits::LINE_BYTES_MAX;
use crate::sitemap::extensions::{EXTENSIONS, ExtrasBuffer, RawExtras, Value};

/// Maximum length in bytes of a CSV row or a sitemap entry, including unused columns. No format defines such a limit. This one
/// leaves room for the full text of a page next to its URL. A longer row most likely has an unclosed quote or tag.
pub const ROW_BYTES_MAX: u64 = 16 << 20;

/// Maximum number of bytes of a value that are kept: one more than the limit for a line, so that a longer value is still
/// rejected.
pub const VALUE_BYTES_KEPT: usize = LINE_BYTES_MAX + 1;

/// The first [`VALUE_BYTES_KEPT`] bytes of a value.
#[inline]
pub fn kept(value: &[u8]) -> &[u8] {
    &value[..value.len().min(VALUE_BYTES_KEPT)]
}

/// A row as it is in the input. A value that is not given is an empty slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number from 1: the line of text in which it begins, the entry of a sitemap, the row of Parquet.
    pub line: u64,
    /// Its offset from 0: the byte of the unpacked text, in UTF-8 if it was transcoded; the row of Parquet.
    pub offset: u64,
    /// The URL, not yet clean. If it is empty or blank, the row is blank and has no tags.
    pub url: &'a [u8],
    /// Its section, as it is in the input.
    pub section: &'a [u8],
    /// When the page changed, not yet checked. Time columns of Parquet are in W3C Datetime.
    pub lastmod: &'a [u8],
    /// How often the page changes, not yet checked.
    pub changefreq: &'a [u8],
    /// Its priority among the pages of the site, not yet checked.
    pub priority: &'a [u8],
    /// Its values of extensions, not yet checked.
    pub extras: RawExtras<'a>,
}

/// Separates two values of a tag that may have only one. No valid value contains it, so the tag is dropped like any invalid one,
/// and the reject file shows both values.
pub(super) const AND: &str = " | ";

impl<'a> Record<'a> {
    /// A record of the parts that do not belong to extensions, in the order of [`RowPart::ALL`], of which [`VALUE_BYTES_KEPT`]
    /// bytes are kept.
    #[inline]
    pub(super) fn of_parts(
        line: u64,
        offset: u64,
        parts: [&'a [u8]; RowPart::PLAIN],
        extras: RawExtras<'a>,
    ) -> Self {
        let [url, section, lastmod, changefreq, priority] = array::map(parts, kept);
        Self { line, offset, url, section, lastmod, changefreq, priority, extras }
    }
}

impl Record<'_> {
    /// Whether it has no tags.
    fn has_no_tags(&self) -> bool {
        self.extras.is_empty()
            && [self.section, self.lastmod, self.changefreq, self.priority]
                .iter()
                .all(|tag| tag.trim_ascii().is_empty())
    }

    /// Its tags as text for the reject file: `lastmod=2024-05-01 priority=0.5`.
    fn tags_as_text(&self) -> Vec<u8> {
        let tags = [
            (&b"section"[..], self.section),
            (b"lastmod", self.lastmod),
            (b"changefreq", self.changefreq),
            (b"priority", self.priority),
        ];
        let given = tags.into_iter().filter(|(_, value)| !value.is_empty());
        let tags = given.map(|(name, value)| [name, b"=", value].concat());
        tags.chain(self.extras.values().map(Value::to_text)).collect::<Vec<_>>().join(&b' ')
    }
}

/// Receives rows in input order. Reading stops at the first error and returns it.
pub trait Sink {
    /// Receives a record, which is borrowed only for the call.
    ///
    /// # Errors
    /// The sink's own.
    fn record(&mut self, record: &Record<'_>) -> Result<()>;

    /// Receives a row that is not a record. `line` and `offset` are as in [`Record`]; `text` is the row or its beginning.
    ///
    /// # Errors
    /// The sink's own.
    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()>;
}

/// A sink that counts its rows and collects facts about them.
pub(super) struct CountingSink<'s> {
    sink: &'s mut dyn Sink,
    is_transcoded: bool,
    /// The facts so far.
    facts: UnitFacts,
}

impl<'s> CountingSink<'s> {
    pub fn new(sink: &'s mut dyn Sink, is_transcoded: bool) -> Self {
        Self { sink, is_transcoded, facts: UnitFacts::default() }
    }

    /// The number of rows so far.
    pub fn count(&self) -> u64 {
        self.facts.rows
    }

    /// The facts so far, which the reader adds to.
    pub fn facts(&mut self) -> &mut UnitFacts {
        &mut self.facts
    }

    /// The facts, once all rows are read.
    pub fn into_facts(self) -> UnitFacts {
        self.facts
    }

    pub fn record(&mut self, record: &Record<'_>) -> Result<()> {
        if record.url.trim_ascii().is_empty() && !record.has_no_tags() {
            return self.without_url(record, b"");
        }
        self.facts.rows += 1;
        self.sink.record(record)
    }

    /// Receives a row. If `has_other_values`, a row without a URL is rejected (`no-url`) and does not count as blank, because
    /// columns that are not read may have values.
    #[inline]
    pub fn record_of(&mut self, record: &Record<'_>, has_other_values: bool) -> Result<()> {
        match has_other_values && record.url.trim_ascii().is_empty() {
            true => self.without_url(record, b""),
            false => self.record(record),
        }
    }

    /// Sets `extras` to the values in `cells`, one for each of [`EXTENSIONS`], and returns them.
    #[inline]
    pub fn read_cells<'c, 'e>(
        &mut self,
        cells: impl IntoIterator<Item = &'c [u8]>,
        extras: &'e mut ExtrasBuffer,
    ) -> RawExtras<'e> {
        extras.clear();
        for (extension, cell) in EXTENSIONS.into_iter().zip(cells) {
            shapes::add_cell(extension, cell, extras);
        }
        self.count_ignored(extras);
        extras.values()
    }

    /// Counts the fields in `extras` that are not carried over.
    #[inline]
    pub fn count_ignored(&mut self, extras: &mut ExtrasBuffer) {
        extras.take_ignored().iter().for_each(|name| self.facts.dropped_elements.add(name.as_bytes(), 1));
    }

    /// Receives a row with content but no URL, in a format whose rows are not text: the reject file shows its tags and `stray`, the
    /// text outside of its values.
    #[cold]
    pub fn without_url(&mut self, record: &Record<'_>, stray: &[u8]) -> Result<()> {
        let tags = record.tags_as_text();
        let given = [&tags[..], stray].into_iter().filter(|words| !words.is_empty());
        let text = given.collect::<Vec<_>>().join(&b' ');
        self.bad(record.line, record.offset, Reason::NoUrl, &text)
    }

    pub fn bad(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.facts.rows += 1;
        self.sink.bad_row(line, offset, reason, text)
    }

    /// Whether `text` has bytes that do not exist in its charset.
    pub fn is_malformed(&self, text: &[u8]) -> bool {
        self.is_transcoded && memchr::memchr(MALFORMED, text).is_some()
    }
}
