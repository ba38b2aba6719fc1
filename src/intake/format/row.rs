//! Rows: what every form is turned into, and who takes them.

use super::charset::MALFORMED;
use super::found::UnitFacts;
use crate::clean::Reason;
use crate::error::Result;
use crate::sitemap::extensions::{RawExtras, Value};

/// Most bytes of a row of CSV or an entry of a sitemap, unused columns included. Our own limit: enough for a page's whole text
/// beside its URL. A longer row most likely has a quote or a tag that is never closed.
pub const ROW_BYTES_MAX: u64 = 16 << 20;

/// One row, as it was written. An empty slice stands for what was not given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where it begins, from 1: the line of text, the entry of a sitemap, the row of Parquet.
    pub line: u64,
    /// Where it begins, from 0: the byte of the text, unpacked and in UTF-8 if it was transcoded; the row of Parquet.
    pub offset: u64,
    /// The URL, not yet clean. Nothing or blanks only: the row is blank, and has no tags.
    pub url: &'a [u8],
    /// When the page changed, not yet checked; columns of time in Parquet come as W3C Datetime.
    pub lastmod: &'a [u8],
    /// How often it is said to change, not yet checked.
    pub changefreq: &'a [u8],
    /// Its rank among the site's pages, not yet checked.
    pub priority: &'a [u8],
    /// Its values of extensions, not yet checked.
    pub extras: RawExtras<'a>,
}

/// Stands between two values of a tag that can have one only. No value with it in it is a legal one, so that the tag is dropped
/// like any other wrong one, and the reject file has both values.
pub(super) const AND: &str = " | ";

impl Record<'_> {
    /// Whether it has no tags.
    fn has_no_tags(&self) -> bool {
        self.extras.is_empty()
            && [self.lastmod, self.changefreq, self.priority].iter().all(|tag| tag.trim_ascii().is_empty())
    }

    /// Its tags as text for the reject file: `lastmod=2024-05-01 priority=0.5`.
    fn tags_as_text(&self) -> Vec<u8> {
        let tags =
            [(&b"lastmod"[..], self.lastmod), (b"changefreq", self.changefreq), (b"priority", self.priority)];
        let given = tags.into_iter().filter(|(_, value)| !value.is_empty());
        let tags = given.map(|(name, value)| [name, b"=", value].concat());
        tags.chain(self.extras.values().map(Value::to_text)).collect::<Vec<_>>().join(&b' ')
    }
}

/// Takes rows, in the order of the input. An error ends the reading and comes out of it.
pub trait Sink {
    /// Takes a record, which lives no longer than the call.
    ///
    /// # Errors
    /// The sink's own.
    fn record(&mut self, record: &Record<'_>) -> Result<()>;

    /// Takes a row that is no record; `line` and `offset` as in [`Record`], `text` is the row or its beginning.
    ///
    /// # Errors
    /// The sink's own.
    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()>;
}

/// The sink of a run, counting.
pub(super) struct Rows<'s> {
    sink: &'s mut dyn Sink,
    is_transcoded: bool,
    /// What was found so far.
    facts: UnitFacts,
}

impl<'s> Rows<'s> {
    pub fn new(sink: &'s mut dyn Sink, is_transcoded: bool) -> Self {
        Self { sink, is_transcoded, facts: UnitFacts::default() }
    }

    /// Rows so far.
    pub fn count(&self) -> u64 {
        self.facts.rows
    }

    /// What was found besides rows.
    pub fn facts(&mut self) -> &mut UnitFacts {
        &mut self.facts
    }

    /// All that was found, at the end.
    pub fn into_facts(self) -> UnitFacts {
        self.facts
    }

    pub fn record(&mut self, record: &Record<'_>) -> Result<()> {
        if record.url.trim_ascii().is_empty() && !record.has_no_tags() {
            return self.without_url(record);
        }
        self.facts.rows += 1;
        self.sink.record(record)
    }

    /// Takes a row that gives something, but no URL; for forms whose rows have no text, what is known of it.
    #[cold]
    pub fn without_url(&mut self, record: &Record<'_>) -> Result<()> {
        self.bad(record.line, record.offset, Reason::NoUrl, &record.tags_as_text())
    }

    pub fn bad(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.facts.rows += 1;
        self.sink.bad_row(line, offset, reason, text)
    }

    /// Whether `text` has bytes in it that do not exist in its charset.
    pub fn is_malformed(&self, text: &[u8]) -> bool {
        self.is_transcoded && memchr::memchr(MALFORMED, text).is_some()
    }
}
