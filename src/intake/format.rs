//! Formats: turns every input into records, one per row, in input order.
//!
//! ```text
//!  bytes ──unpack──▶ text ──charset──▶ UTF-8 ──text, google, csv, json or sitemap──▶ records ──▶ sink
//!  file  ──parquet─────────────────────────────────────────────────────────────────▶
//! ```
//!
//! A format is recognised by the first bytes of the input, then by its name, unless [`FormatOptions::format`] is set. Records hold
//! the input as it is: URLs are not yet clean and tags not yet checked. A bad row goes to [`Sink::bad_row`] and the run
//! continues; damage that makes all rows doubtful ends the run with an error. A row takes at most a few times
//! [`ROW_BYTES_MAX`](row::ROW_BYTES_MAX) of memory, however long it is.
//!
//! # Adding a format
//! 1. Add a file here and declare it below. It has a constant of type [`spec::Spec`]: the name of the format, its file
//!    extensions, how to recognise it, and a function that opens it. The function returns a [`RowReader`] with units that
//!    threads read in parallel: `units_of_lines` makes units of lines, `units_of_blocks` of blocks of rows, and `large_units` of
//!    anything larger. A closure reads the rows of a unit.
//! 2. Add a line to `table.rs`, which makes it a variant of [`Format`].
//!
//! Detection, options, help, messages and reports follow from the table. A packing is one line in `packing.rs`.

#[cfg(feature = "arrow")]
pub mod arrow;
mod charset;
mod columns;
mod csv;
mod delimiter;
mod dialect;
mod facts;
mod feed;
mod foreign;
mod found;
mod from_code;
mod google;
mod json;
mod options;
mod packing;
mod parquet;
mod part_files;
mod reader;
mod recognise;
mod row;
mod row_ends;
mod sample;
mod shapes;
mod sitemap;
mod spec;
mod table;
#[cfg(test)]
mod tests;
mod text;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod typed_text;
mod unpack;
mod watched;
mod xml;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub use columns::Columns;
pub use csv::escaped_quotes;
pub use delimiter::Delimiter;
pub use dialect::QuoteEscape;
pub use facts::Facts;
pub use found::{ColumnsFound, NameCounts, UnitFacts};
pub use from_code::{SourceRow, SourceRows};
pub use options::FormatOptions;
pub use packing::{NEEDS_UNPACKED, Packing};
#[cfg(feature = "cloud")]
pub use part_files::{MarkerExists, part_files_listed};
pub use part_files::{OutDirectory, PartFiles, SkipReason, check_part_is_finished, part_files};
pub use reader::{RowReader, Unit, Units};
pub use recognise::is_named_as_sitemap;
pub use row::{Record, Sink};
pub use table::Format;

use crate::error::{Error, Message, Result, Setting, message};
use crate::intake::read_at::{ReadAt, RemoteFile};
use sample::Sample;
use spec::{Open, OpenAtOffsets, Spec};
use unpack::Text;

/// Maximum length of the magic number of a format that is read at offsets.
const MAGIC_BYTES_MAX: usize = 8;
const _: () = {
    let mut number = 0;
    while number < Format::ALL.len() {
        if let Open::AtOffsets(open) = &Format::ALL[number].spec().open {
            assert!(open.magic.len() <= MAGIC_BYTES_MAX);
        }
        number += 1;
    }
};

/// The source of the bytes of an input.
pub enum RawInput<'a> {
    /// A regular file, read from its start.
    File(File),
    /// A file on another machine, read from its start or, if its format needs it, at offsets.
    Remote(Arc<dyn RemoteFile>),
    /// Anything that can be read once, such as a pipe. A format that is read at offsets cannot be read from it.
    Stream(Box<dyn Read + Send>),
    /// Rows from code.
    Rows(SourceRows<'a>),
}

/// Some row groups of the Parquet file `name`, by their numbers, as units, with only the columns that the user named. Rows have
/// other values if `has_others` says so. Also returns their number of bytes.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if the file has no such row group, or as any Parquet file.
#[cfg(feature = "parquet")]
pub fn row_groups<'n>(
    name: &'n Path,
    file: Arc<dyn ReadAt>,
    options: &'n FormatOptions,
    numbers: &[usize],
    has_others: bool,
) -> Result<(Units<'n>, u64)> {
    parquet::row_groups(name, file, options.hints(), numbers, has_others)
}

/// An input whose format is known.
#[expect(clippy::large_enum_variant, reason = "there is one for each input, and it is soon taken apart")]
pub enum Opened<'n> {
    /// A file of plain lines that are not transcoded: it can be mapped.
    Plain(File),
    /// Plain lines that are packed or come through a pipe: they have to be copied.
    Lines(PlainLines<'n>),
    /// Rows of any other format.
    Rows(RowReader<'n>),
}

/// A stream of plain lines.
pub struct PlainLines<'n>(Text<'n>);

impl<'n> PlainLines<'n> {
    /// The stream, and a function that turns its errors into messages.
    pub fn into_parts(self) -> (Box<dyn Read + Send>, impl Fn(std::io::Error) -> Error + use<'n>) {
        let (stream, about) = self.0.split();
        (stream, move |error| about.failed(error))
    }
}

/// How an input can be read again once its first bytes are known.
enum Again {
    /// A regular file, which can be mapped.
    Map(File),
    /// A file on another machine, which can be read at offsets.
    Remote(Arc<dyn RemoteFile>),
    /// Not at all.
    No,
}

/// Opens the input `name`: recognises its format and reads its header.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if the input contradicts its name or the options, or if its header or first row
/// is invalid; [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read.
pub fn open<'n>(
    name: &'n Path,
    raw: RawInput<'n>,
    options: &'n FormatOptions,
) -> Result<(Facts, Opened<'n>)> {
    options.check()?;
    let open_at_offsets = |file, (format, OpenAtOffsets { open, .. }): (Format, &OpenAtOffsets)| {
        Ok(of_rows(open(name, file, options.hints())?, Some(format), Packing::None))
    };
    let (again, stream): (_, Box<dyn Read + Send>) = match raw {
        RawInput::Rows(rows) => return Ok(of_rows(rows.open(name, options.hints())?, None, Packing::None)),
        RawInput::Stream(stream) => (Again::No, stream),
        RawInput::Remote(file) => {
            // Most objects are text, which is read in one go. Only the name is known without a request.
            if recognise::has_name_of_offset_format(name, options)
                && let Some(format) = offset_format(name, &*file, options)?
            {
                return open_at_offsets(file, format);
            }
            let stream = Arc::clone(&file).stream();
            (Again::Remote(file), stream)
        }
        RawInput::File(file) => {
            let unreadable = |error| Error::io(name, "could not be read", error);
            if let Some(format) = offset_format(name, &file, options)? {
                return open_at_offsets(Arc::new(file), format);
            }
            let stream = file.try_clone().map_err(unreadable)?;
            (Again::Map(file), Box::new(stream))
        }
    };
    let mut text = Text::open(name, stream)?;
    if let (Again::Remote(file), Packing::None) = (&again, text.about().packing())
        && let Some(found) = recognise::by_magic(text.head())
    {
        check_is_said(name, found.0, options)?;
        return open_at_offsets(Arc::<dyn RemoteFile>::clone(file), found);
    }
    check_can_be_streamed(&text, options)?;
    text.transcode(options.input_encoding)?;
    let format = match options.format {
        Some(said) => said,
        None => recognise::recognise(text.about(), options)?,
    };
    check_has_columns(&text, format, options)?;
    of_text(text, again, format, options)
}

/// Opens `text`, which is in `format`. Plain lines of a regular file are mapped.
fn of_text<'n>(
    text: Text<'n>,
    again: Again,
    format: Format,
    options: &'n FormatOptions,
) -> Result<(Facts, Opened<'n>)> {
    let likely_options = likely_options(&text, format, options);
    let has_entities = !format.is_xml() && sample::has_entities(text.head());
    let (packing, is_transcoded) = (text.about().packing(), text.about().is_transcoded());
    let (facts, opened) = match (&format.spec().open, again) {
        (Open::Lines(_), Again::Map(file)) if packing == Packing::None && !is_transcoded => {
            (facts(Some(format), packing), Opened::Plain(file))
        }
        (Open::Lines(_), _) if !is_transcoded => {
            (facts(Some(format), packing), Opened::Lines(PlainLines(text)))
        }
        (Open::Lines(open) | Open::Text(open), _) => {
            of_rows(open(text, options.hints())?, Some(format), packing)
        }
        (Open::AtOffsets(_), _) => unreachable!("a text is never of a format that is read at offsets"),
    };
    Ok((Facts { likely_options, has_entities, ..facts }, opened))
}

/// How to read `text` if its lines are rows, as is likely, though it was taken for a list of URLs without being asked to.
fn likely_options(text: &Text<'_>, format: Format, options: &FormatOptions) -> Option<Message> {
    let is_fallback = options.format.is_none() && format == Format::FALLBACK;
    let sample = || Sample::of(text.head()).with_escape(options.escape);
    is_fallback.then(|| sample().likely_options(text.about().packing())).flatten()
}

/// The format of `file` if the format is read at offsets: the one in `options`, or the one that the first bytes show.
fn offset_format(
    name: &Path,
    file: &dyn ReadAt,
    options: &FormatOptions,
) -> Result<Option<(Format, &'static OpenAtOffsets)>> {
    if let Some(said) = options.format
        && let Open::AtOffsets(open) = &said.spec().open
    {
        return Ok(Some((said, open)));
    }
    let mut magic = [0; MAGIC_BYTES_MAX];
    let magic_bytes =
        file.read_at(&mut magic, 0).map_err(|error| Error::io(name, "could not be read", error))?;
    let found = recognise::by_magic(&magic[..magic_bytes]);
    found.map(|(format, _)| check_is_said(name, format, options)).transpose()?;
    Ok(found)
}

/// Refuses a file whose first bytes show another format than the one in `options`.
fn check_is_said(name: &Path, format: Format, options: &FormatOptions) -> Result<()> {
    match options.format {
        Some(said) if said != format => {
            let title = format.spec().title;
            Err(Error::data(message!(name, ": is {title}, and ", Setting::Format, " says {said}")))
        }
        _ => Ok(()),
    }
}

/// Refuses a pipe or packed text of a format that is read at offsets.
fn check_can_be_streamed(text: &Text<'_>, options: &FormatOptions) -> Result<()> {
    let said = options.format.and_then(|said| match &said.spec().open {
        Open::AtOffsets(open) => Some((said, open)),
        Open::Lines(_) | Open::Text(_) => None,
    });
    match recognise::by_magic(text.head()).or(said) {
        None => Ok(()),
        Some((format, OpenAtOffsets { why_no_stream, .. })) => {
            let title = format.spec().title;
            Err(text.about().wrong(format!(
                "{title} can be read from a plain file only, because {why_no_stream}; save it and give the file"
            )))
        }
    }
}

/// Refuses a format without columns if a column is to have the sections. An empty text has no format that could be wrong.
fn check_has_columns(text: &Text<'_>, format: Format, options: &FormatOptions) -> Result<()> {
    let Spec { title, has_columns, .. } = format.spec();
    match options.columns.section() {
        Some(column) if !has_columns && !text.head().is_empty() => {
            let column = Setting::SectionColumn.with(column);
            Err(text.about().wrong(message!(
                "is {title}, which has no columns; ",
                column,
                " needs CSV, TSV, JSON lines, Parquet or a list with attributes; convert it to one of them, or let rules or the \
                 path decide the section"
            )))
        }
        _ => Ok(()),
    }
}

fn facts(format: Option<Format>, packing: Packing) -> Facts {
    let dropped_elements = NameCounts::default();
    Facts {
        format,
        packing,
        columns: None,
        likely_options: None,
        has_entities: false,
        has_escaped_quotes: false,
        dropped_elements,
    }
}

fn of_rows(mut reader: RowReader<'_>, format: Option<Format>, packing: Packing) -> (Facts, Opened<'_>) {
    let columns = reader.columns.take();
    (Facts { columns, ..facts(format, packing) }, Opened::Rows(reader))
}

/// Whether the file `name`, whose bytes are in `stream`, is a sitemap index, which lists inputs and is not an input itself.
///
/// # Errors
/// Same as [`open`]; also [`ErrorKind::Data`](crate::ErrorKind::Data) for an index with a packing or charset that the protocol does
/// not have.
pub fn is_index(name: &Path, stream: Box<dyn Read + Send>, options: &FormatOptions) -> Result<bool> {
    if !matches!(options.format, None | Some(Format::Sitemap)) {
        return Ok(false);
    }
    let mut text = Text::open(name, stream)?;
    let charset = charset::declared(text.head());
    if charset.is_some() {
        text.transcode(None)?;
    }
    let is_index = sitemap::is_index(text.head());
    if let Some(charset) = charset.filter(|_| is_index) {
        let charset = charset.name();
        let words = format!("is a sitemap index in {charset}; an index file must be in UTF-8, so convert it");
        return Err(text.about().wrong(words));
    }
    let packing = text.about().packing();
    if is_index && !matches!(packing, Packing::None | Packing::Gzip) {
        let words =
            format!("is a sitemap index in {packing}; an index file must be plain or gzipped, so unpack it");
        return Err(text.about().wrong(words));
    }
    Ok(is_index)
}

/// Reads all rows of the input `name` into `sink` on one thread, also those of plain lines.
///
/// # Errors
/// Same as [`open`] and [`Unit::read`].
#[cfg(any(test, feature = "internals"))]
pub fn read<'n>(
    name: &'n Path,
    raw: RawInput<'n>,
    options: &'n FormatOptions,
    sink: &mut dyn Sink,
) -> Result<FormatFound> {
    let (Facts { format, packing, .. }, opened) = open(name, raw, options)?;
    let format = format.expect("an input of bytes has a format");
    let of_lines = |text| match &format.spec().open {
        Open::Lines(open) | Open::Text(open) => open(text, options.hints()),
        Open::AtOffsets(_) => unreachable!("a text is never of a format that is read at offsets"),
    };
    let reader = match opened {
        Opened::Plain(file) => of_lines(Text::open(name, Box::new(file))?)?,
        Opened::Lines(PlainLines(text)) => of_lines(text)?,
        Opened::Rows(reader) => reader,
    };
    let mut rows = 0;
    for unit in reader.units {
        rows += unit?.read(sink)?.rows;
    }
    Ok(FormatFound { format, packing, rows })
}

/// The result of [`read`].
#[cfg(any(test, feature = "internals"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatFound {
    /// Its format.
    pub format: Format,
    /// How it is packed.
    pub packing: Packing,
    /// Its records and bad rows.
    pub rows: u64,
}
