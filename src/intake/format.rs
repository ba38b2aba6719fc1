//! Forms: whatever an export looks like becomes records, one for each row, in the order of the input.
//!
//! ```text
//!  bytes ──unpack──▶ text ──charset──▶ UTF-8 ──text, google, csv, json or sitemap──▶ records ──▶ sink
//!  file  ──parquet─────────────────────────────────────────────────────────────────▶
//! ```
//!
//! A form is recognised by its first bytes, then by its name, unless [`FormOptions::format`] says it. Records come as
//! they were written: URLs are not yet clean and tags not yet checked. A row that is bad alone goes to
//! [`Sink::bad_row`] and the run goes on; what makes all rows doubtful ends it with an error. No row, however long, makes
//! memory grow beyond a few times [`ROW_BYTES_MAX`].

mod charset;
mod columns;
mod csv;
mod facts;
mod google;
mod json;
mod kinds;
mod lists;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod pread;
mod reader;
mod row;
mod sitemap;
mod text;
mod unpack;

use std::fs::File;
use std::io::{Cursor, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use encoding_rs::Encoding;

pub use columns::Columns;
pub use csv::Delimiter;
pub use facts::{ColumnsFound, Facts, NameCounts, UnitFacts};
pub use kinds::Format;
pub use parts::{OutDirectory, PartFiles, SkipReason, part_files};
pub use reader::{Parser, RowReader, Unit};
pub use row::{Record, Sink};
pub use unpack::Packing;

use crate::error::{Error, Result, Shown};
use pread::Pread;
use unpack::Text;

/// Most bytes of a row of CSV or an entry of a sitemap, columns that nobody asked for included. Ours: enough for a page's
/// whole text beside its URL; beyond it, most likely a quote or a tag that is never closed.
pub const ROW_BYTES_MAX: u64 = 16 << 20;

/// What Parquet files begin with.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

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
        match format {
            Format::Csv => Ok(()),
            Format::Tsv if said == Delimiter::TAB => Ok(()),
            _ => Err(Error::usage(format!(
                "--delimiter {said}: --format {format} has no such delimiter; use --format csv"
            ))),
        }
    }
}

/// Where the bytes of an input come from.
pub enum Feed {
    /// A regular file, read from its start.
    File(File),
    /// Anything that can be read once. Cannot be Parquet, whose index stands at the end.
    Stream(Box<dyn Read + Send>),
}

/// An input whose form is known.
pub enum Opened<'n> {
    /// A file of plain lines in UTF-8, or in no charset at all: to be mapped as it is.
    Plain(File),
    /// Plain lines that are packed, or come through a pipe: to be copied as they come.
    Lines(Lines<'n>),
    /// Rows of any other form.
    Rows(RowReader<'n>),
}

/// Plain lines on their way.
pub struct Lines<'n>(Text<'n>);

impl<'n> Lines<'n> {
    /// The stream, and how its errors are to be told.
    pub fn into_parts(self) -> (Box<dyn Read + Send>, impl Fn(std::io::Error) -> Error + use<'n>) {
        let (stream, about) = self.0.split();
        (stream, move |error| about.failed(error))
    }
}

/// Looks into the input `name`: what it is, and the way to its rows.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) for an input that is not what its name or the options say, or whose header or
/// first row is not what it should be; [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read.
pub fn open<'n>(name: &'n Path, feed: Feed, options: &'n FormOptions) -> Result<(Facts, Opened<'n>)> {
    options.check()?;
    let (file, stream): (_, Box<dyn Read + Send>) = match feed {
        Feed::Stream(stream) => (None, stream),
        Feed::File(file) => {
            let unreadable = |error| Error::io(name, "could not be read", error);
            let mut magic = [0; PARQUET_MAGIC.len()];
            let magic_bytes = file.read_at(&mut magic, 0).map_err(unreadable)?;
            let is_parquet = magic[..magic_bytes] == PARQUET_MAGIC;
            match options.format {
                None if is_parquet => return open_parquet(name, file, options),
                Some(Format::Parquet) => return open_parquet(name, file, options),
                Some(said) if is_parquet => {
                    return Err(Error::data(format!(
                        "{}: is Parquet, and --format says {said}",
                        Shown(name)
                    )));
                }
                _ => {}
            }
            let stream = file.try_clone().map_err(unreadable)?;
            (Some(file), Box::new(stream))
        }
    };
    let mut text = Text::open(name, stream)?;
    if text.head().starts_with(&PARQUET_MAGIC) || options.format == Some(Format::Parquet) {
        return Err(text.about().wrong(
            "Parquet can be read from a plain file only, because its index stands at the end; save it and give the file",
        ));
    }
    if let Some(encoding) = options.input_encoding.or_else(|| charset::declared(text.head())) {
        text.transcode(encoding)?;
    }
    let format = match options.format {
        Some(said) => said,
        None => kinds::recognise(name, text.head(), options)?,
    };
    let packing = text.about().packing();
    let facts = Facts { format, packing, columns: None, dropped_elements: Default::default() };
    Ok(match (format, file) {
        (Format::Text, Some(file)) if packing == Packing::None && !text.about().is_transcoded() => {
            (facts, Opened::Plain(file))
        }
        (Format::Text, _) if !text.about().is_transcoded() => (facts, Opened::Lines(Lines(text))),
        _ => of_rows(RowReader::text(text, format, options)?),
    })
}

fn open_parquet<'n>(name: &'n Path, file: File, options: &'n FormOptions) -> Result<(Facts, Opened<'n>)> {
    RowReader::parquet(name, file, options).map(of_rows)
}

fn of_rows(reader: RowReader<'_>) -> (Facts, Opened<'_>) {
    (Facts::clone(&reader.facts), Opened::Rows(reader))
}

/// Whether the file `name` is a sitemap index, which lists inputs and is none.
///
/// # Errors
/// As [`open`].
pub fn is_index(name: &Path, file: &File, options: &FormOptions) -> Result<bool> {
    if !matches!(options.format, None | Some(Format::Sitemap)) {
        return Ok(false);
    }
    let stream = file.try_clone().map_err(|error| Error::io(name, "could not be read", error))?;
    let text = Text::open(name, Box::new(Pread::new(stream.into(), 0)))?;
    Ok(sitemap::is_index(text.head()))
}

/// Reads all rows of the input `name` into `sink`, plain lines as well, on one thread.
///
/// # Errors
/// As [`open`] and [`Parser::read`].
#[cfg(any(test, feature = "internals"))]
pub fn read(name: &Path, feed: Feed, options: &FormOptions, sink: &mut dyn Sink) -> Result<FormFound> {
    let reader = match open(name, feed, options)?.1 {
        Opened::Plain(file) => RowReader::text(Text::open(name, Box::new(file))?, Format::Text, options)?,
        Opened::Lines(Lines(text)) => RowReader::text(text, Format::Text, options)?,
        Opened::Rows(reader) => reader,
    };
    let RowReader { parser, units, facts } = reader;
    let Facts { format, packing, .. } = *facts;
    let mut rows = 0;
    for unit in units {
        rows += parser.read(unit?, sink)?.rows;
    }
    Ok(FormFound { format, packing, rows })
}

/// What an input turned out to be.
#[cfg(any(test, feature = "internals"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormFound {
    /// Its form.
    pub format: Format,
    /// How it is packed.
    pub packing: Packing,
    /// Rows in it: records and bad rows.
    pub rows: u64,
}

/// Reads up to `bytes_max` bytes; also gives the stream as it was, with these bytes in front.
fn peek(
    mut stream: Box<dyn Read + Send>,
    bytes_max: u64,
) -> std::io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    stream.by_ref().take(bytes_max).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(stream))))
}

#[cfg(test)]
mod tests;
