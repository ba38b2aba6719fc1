//! The properties of a format in the table of formats.

use std::path::Path;
use std::sync::Arc;

use super::columns::Columns;
use super::delimiter::Delimiter;
use super::dialect::QuoteEscape;
use super::reader::RowReader;
use super::sample::Sample;
use super::unpack::Text;
use crate::error::Result;
use crate::intake::read_at::ReadAt;

/// One format. All of them are in [`table`](super::table).
pub struct Spec {
    /// Its name in options and reports.
    pub name: &'static str,
    /// A description of an input in this format, for messages.
    pub title: &'static str,
    /// Its file extensions in lower case, without the dot. They decide if the first bytes do not show the format.
    pub extensions: &'static [&'static str],
    /// How to recognise it by its first bytes.
    pub head: Head,
    /// Whether it can have this delimiter.
    pub delimiter: fn(Delimiter) -> bool,
    /// Whether its rows have columns, keys or attributes with names.
    pub has_columns: bool,
    /// The word for a column in messages.
    pub column_word: &'static str,
    /// How it is read.
    pub open: Open,
}

/// How to recognise a format by its first bytes.
pub enum Head {
    /// The first byte after white space is one of these.
    Byte(&'static [u8]),
    /// It is XML whose root element has this local name.
    Root(&'static str),
    /// The first lines pass a test. If they pass the tests of two formats, the later one in the table is used.
    Lines(fn(&Sample<'_>, Hints<'_>) -> bool),
    /// In another way, or not at all.
    Other,
}

/// How the rows of an input are read.
pub enum Open {
    /// Each line is a URL. Text is mapped or copied unchanged; the function reads only transcoded text.
    Lines(OpenText),
    /// As text from start to end. It may be packed or come through a pipe.
    Text(OpenText),
    /// From a file or an object, at any offset.
    AtOffsets(OpenAtOffsets),
}

/// Opens a text and reads its header, if it has one.
pub type OpenText = for<'n> fn(Text<'n>, Hints<'n>) -> Result<RowReader<'n>>;

/// A format that is read at any offset.
pub struct OpenAtOffsets {
    /// The magic number that every such file starts with.
    pub magic: &'static [u8],
    /// Why it cannot come through a pipe.
    pub why_no_stream: &'static str,
    /// Opens the file with this name.
    pub open: for<'n> fn(&'n Path, Arc<dyn ReadAt>, Hints<'n>) -> Result<RowReader<'n>>,
}

/// The options about rows: [`FormatOptions`](super::FormatOptions) without format and charset.
#[derive(Debug, Clone, Copy)]
pub struct Hints<'n> {
    /// Names or positions of columns.
    pub columns: &'n Columns,
    /// The delimiter, if it is not detected.
    pub delimiter: Option<Delimiter>,
    /// The character before a quote within quotes, if quotes are not doubled.
    pub escape: Option<QuoteEscape>,
    /// Memory limit for the pages of a thread.
    #[cfg_attr(
        not(any(feature = "parquet", feature = "internals")),
        expect(dead_code, reason = "only Parquet has pages")
    )]
    pub page_memory: Option<u64>,
}
