//! Rows: what every form is turned into, and who takes them.

use super::charset::MALFORMED;
use crate::error::Result;
use crate::stage::clean::Reason;

/// One row, as it was written. An empty slice stands for what was not given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// Where it begins, from 1: the line of text, the entry of a sitemap, the row of Parquet.
    pub line: u64,
    /// Where it begins, from 0: the byte of the text, unpacked and in UTF-8 if it was transcoded; the row of Parquet.
    pub offset: u64,
    /// The URL, not yet clean. Nothing or blanks only: the row is blank.
    pub url: &'a [u8],
    /// When the page changed, not yet checked; columns of time in Parquet come as W3C Datetime.
    pub lastmod: &'a [u8],
    /// How often it is said to change, not yet checked.
    pub changefreq: &'a [u8],
    /// Its rank among the site's pages, not yet checked.
    pub priority: &'a [u8],
    /// The same page in other languages. Only JSON lines and sitemaps have them.
    pub alternates: &'a [Alternate<'a>],
    /// URLs of images on the page. Only JSON lines and sitemaps have them.
    pub images: &'a [&'a [u8]],
}

/// The same page in another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alternate<'a> {
    /// Which language, as in `<link hreflang>`; not checked.
    pub hreflang: &'a [u8],
    /// Its URL, not yet clean.
    pub href: &'a [u8],
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
    count: u64,
}

impl<'s> Rows<'s> {
    pub fn new(sink: &'s mut dyn Sink, is_transcoded: bool) -> Self {
        Self { sink, is_transcoded, count: 0 }
    }

    /// Rows so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.count += 1;
        self.sink.record(record)
    }

    pub fn bad(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.count += 1;
        self.sink.bad_row(line, offset, reason, text)
    }

    /// Whether `text` has bytes in it that do not exist in its charset.
    pub fn is_malformed(&self, text: &[u8]) -> bool {
        self.is_transcoded && memchr::memchr(MALFORMED, text).is_some()
    }
}
