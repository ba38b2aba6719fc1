//! Options about the inputs.

use encoding_rs::{Encoding, REPLACEMENT};

use super::columns::Columns;
use super::delimiter::Delimiter;
use super::dialect::QuoteEscape;
use super::spec::Hints;
use super::table::Format;
use crate::error::{Error, Piece, Result, Setting, message};

/// How to read the inputs. Anything that is not set is detected.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FormatOptions {
    /// The format, if it is not detected.
    pub format: Option<Format>,
    /// Names of columns and keys if they are not the usual ones, or positions in rows without a header.
    pub columns: Columns,
    /// The character between two values of CSV, if it is not detected.
    pub delimiter: Option<Delimiter>,
    /// The character before a quote within quotes in CSV and TSV, if quotes are not doubled.
    pub escape: Option<QuoteEscape>,
    /// Memory limit for the Parquet pages of a thread [default: its share of the memory limit of the run, at least 24 MiB]. A row
    /// group with larger pages is refused.
    pub page_memory: Option<u64>,
    /// The charset of text. Without it, a byte order mark shows UTF-16, and an XML declaration the charset of a sitemap.
    /// Any other text is read as bytes. A byte order mark of UTF-8 or UTF-16 overrides it, and it has no effect on Parquet.
    pub input_encoding: Option<&'static Encoding>,
}

impl FormatOptions {
    /// Refuses options that contradict each other, and a charset that cannot be read.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming them.
    pub fn check(&self) -> Result<()> {
        if let (Some(escape), Some(by)) = (self.escape, self.delimiter)
            && escape.as_byte() == by.as_byte()
        {
            let delimiter = Setting::Delimiter.with(by.word());
            return Err(Error::usage(message!(Setting::Escape.with(escape.word()), ": is also ", delimiter)));
        }
        // Text of these charsets is not decoded: all of it would become one character.
        if self.input_encoding == Some(REPLACEMENT) {
            return Err(Error::usage(message!(
                Setting::InputEncoding,
                ": browsers do not decode this charset; convert the input to UTF-8 with iconv"
            )));
        }
        let Some(format) = self.format else { return Ok(()) };
        let refused = |setting: Piece, what: &str| {
            let (format, csv) = (Setting::Format.with(format), Setting::Format.with("csv"));
            Err(Error::usage(message!(setting, ": ", format, " has no {what}; use ", csv)))
        };
        if let Some(said) = self.delimiter.filter(|&said| !(format.spec().delimiter)(said)) {
            return refused(Setting::Delimiter.with(said.word()), "such delimiter");
        }
        match self.escape.filter(|_| !format.has_quotes()) {
            Some(escape) => refused(Setting::Escape.with(escape.word()), "quotes"),
            None => Ok(()),
        }
    }

    /// The options that formats need.
    pub(super) fn hints(&self) -> Hints<'_> {
        Hints {
            columns: &self.columns,
            delimiter: self.delimiter,
            escape: self.escape,
            page_memory: self.page_memory,
        }
    }
}
