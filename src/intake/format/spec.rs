//! What the program needs to know of a format: the columns of the table of formats.

use std::fs::File;
use std::path::Path;

use super::columns::Columns;
use super::delimiter::Delimiter;
use super::reader::RowReader;
use super::sample::Sample;
use super::unpack::Text;
use crate::error::Result;

/// One format. All of them are in [`table`](super::table).
pub struct Spec {
    /// Its name after `--format` and in reports.
    pub name: &'static str,
    /// Endings of file names, in lower case and without the dot. They decide where the head of the input does not.
    pub extensions: &'static [&'static str],
    /// How its first bytes show it.
    pub head: Head,
    /// Which delimiters its values can have; none if it has no delimiters.
    pub delimiter: fn(Delimiter) -> bool,
    /// The word for a column in messages.
    pub column_word: &'static str,
    /// How it is read.
    pub open: Open,
}

/// How the first bytes of an input show its format.
pub enum Head {
    /// The first byte after white space is one of these.
    Byte(&'static [u8]),
    /// The first lines pass a test. Where those of two formats do, the later one in the table is taken.
    Lines(fn(&Sample<'_>, Hints<'_>) -> bool),
    /// In another way, or not at all.
    Other,
}

/// How the rows of an input are read.
pub enum Open {
    /// Each line is a URL. Text in UTF-8 is mapped or copied as it is; this reads transcoded text.
    Lines(OpenText),
    /// As text, from start to end. It may be packed and come through a pipe.
    Text(OpenText),
    /// As a regular file that is read at any offset.
    File(OpenFile),
}

/// Opens text: reads what must be known before any row.
pub type OpenText = for<'n> fn(Text<'n>, Hints<'n>) -> Result<RowReader<'n>>;

/// A format that needs a regular file.
pub struct OpenFile {
    /// What every such file begins with.
    pub magic: &'static [u8],
    /// Its name in messages.
    pub title: &'static str,
    /// Why it cannot come through a pipe.
    pub why_file: &'static str,
    /// Opens the file with this name.
    pub open: for<'n> fn(&'n Path, File, Hints<'n>) -> Result<RowReader<'n>>,
}

/// What the user said about rows: [`FormOptions`](super::FormOptions) without the choice of a format and charset.
#[derive(Debug, Clone, Copy)]
pub struct Hints<'n> {
    /// Names or positions of columns.
    pub columns: &'n Columns,
    /// The delimiter, if it is not to be detected.
    pub delimiter: Option<Delimiter>,
    /// Most bytes of pages in the memory of a thread.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has pages"))]
    pub page_memory: Option<u64>,
}
