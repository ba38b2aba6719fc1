//! What the user says about the inputs.

use encoding_rs::Encoding;

use super::columns::Columns;
use super::delimiter::Delimiter;
use super::spec::Hints;
use super::table::Format;
use crate::error::{Error, Result};

/// What the user says about the inputs; nothing at all by default.
#[derive(Debug, Clone, Default)]
pub struct FormOptions {
    /// The form, if it is not to be recognised: `--format`.
    pub format: Option<Format>,
    /// Names of columns and keys, where they are not the usual ones, or positions in rows without a header: `--columns`.
    pub columns: Columns,
    /// The character between two values of CSV, if it is not to be detected: `--delimiter`.
    pub delimiter: Option<Delimiter>,
    /// Most bytes of Parquet pages that a thread may hold; 1 GiB if nothing is said. A row group with larger pages is refused.
    pub page_memory: Option<u64>,
    /// The charset of text: `--input-encoding`. Without it, UTF-16 is known by its byte order mark and a sitemap's by its
    /// XML declaration; any other text is taken as bytes. Does not concern Parquet.
    pub input_encoding: Option<&'static Encoding>,
}

impl FormOptions {
    /// Refuses options that contradict each other.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming both.
    pub fn check(&self) -> Result<()> {
        let (Some(format), Some(said)) = (self.format, self.delimiter) else { return Ok(()) };
        match (format.spec().delimiter)(said) {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "--delimiter {said}: --format {format} has no such delimiter; use --format csv"
            ))),
        }
    }

    /// What formats need of them.
    pub(super) fn hints(&self) -> Hints<'_> {
        Hints { columns: &self.columns, delimiter: self.delimiter, page_memory: self.page_memory }
    }
}
