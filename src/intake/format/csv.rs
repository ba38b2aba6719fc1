//! CSV and TSV: values between delimiters, after RFC 4180. A header names them, or `--columns` gives their positions.

mod cut;
mod delimiter;
mod sample;
mod table;

use super::columns::{Columns, PLAIN_PARTS};
use super::facts::ColumnsFound;
use super::lists::Lists;
use super::row::{Record, Rows};
use super::unpack::{About, Text};
use super::{FormOptions, Format};
use crate::clean::Reason;
use crate::error::{Error, Result};
use crate::intake::lines::Block;
use crate::limits::LINE_BYTES_MAX;
pub use cut::Cuts;
pub use delimiter::Delimiter;
use sample::is_address;
pub use sample::{Ambiguous, Sample};
use table::{Row, Table};

/// Bytes of a value that are kept: one more than a line may have, so that one that is too long is still seen to be.
const VALUE_BYTES_KEPT: usize = LINE_BYTES_MAX + 1;

/// What the header or the first row says.
pub struct Header {
    delimiter: u8,
    fields: usize,
    /// Which field each of [`PLAIN_PARTS`] is.
    places: [Option<usize>; PLAIN_PARTS.len()],
    /// The names of used and unused columns.
    pub columns: ColumnsFound,
}

/// Reads the header, or the first row if there is none. What comes out cuts the text into blocks of whole rows, each for
/// [`read`]; `None` if there is nothing in the text.
///
/// # Errors
/// If the text cannot be read, if no column may be the URL's, or if the delimiter cannot be told.
pub fn open<'n>(text: Text<'n>, format: Format, options: &FormOptions) -> Result<Option<(Header, Cuts<'n>)>> {
    let delimiter = delimiter(text.about(), format, options)?.as_byte();
    let mut cuts = Cuts::new(text, delimiter);
    // A block may hold nothing but empty lines.
    while let Some(first) = cuts.next().transpose()? {
        let mut table = Table::new(&first, delimiter);
        let Some(row) = table.next_row() else { continue };
        let fields = row.fields();
        if let Some(places) = options.columns.positions() {
            if let Some(last) = places.into_iter().flatten().max().filter(|&last| last >= fields) {
                return Err(too_narrow(cuts.about(), fields, last + 1));
            }
            let numbers: Vec<String> = (1..=fields).map(|number| number.to_string()).collect();
            let numbers: Vec<&[u8]> = numbers.iter().map(String::as_bytes).collect();
            let columns = ColumnsFound::of(&options.columns, &numbers, places);
            let header = Header { delimiter, fields, places, columns };
            return Ok(Some((header, cuts.again(first))));
        }
        let names: Vec<&[u8]> = (0..fields).map(|at| row.field(at)).collect();
        // Names that were given are in the header or nowhere.
        if options.columns == Columns::default() && names.iter().any(|name| is_address(name)) {
            let wrong = "a value is a URL, so this is no header; say --columns url=1 if there is none, --columns \
                         url=NAME if this is one";
            return Err(no_header(cuts.about(), &options.columns, wrong));
        }
        let places = options.columns.places(&names);
        let places = places.map_err(|missing| no_header(cuts.about(), &options.columns, &missing))?;
        if fields == 1 && options.delimiter.is_none() {
            check_one_column(cuts.about())?;
        }
        let columns = ColumnsFound::of(&options.columns, &names, places);
        let header = Header { delimiter, fields, places, columns };
        let rest = table.rest();
        return Ok(Some((header, cuts.again(rest))));
    }
    Ok(None)
}

/// The delimiter that was said, or that the first lines show.
fn delimiter(about: &About<'_>, format: Format, options: &FormOptions) -> Result<Delimiter> {
    if let Some(said) = options.delimiter {
        return Ok(said);
    }
    if format == Format::Tsv {
        return Ok(Delimiter::TAB);
    }
    let sample = Sample::of(about.head());
    let found = match options.columns.positions() {
        Some(places) => {
            sample.of_rows(places[0].unwrap_or_default(), None).map_err(|Ambiguous(one, other)| {
                about
                    .wrong(format!("values may be separated by {one} or {other}; say which with --delimiter"))
            })?
        }
        None => sample.of_header(&options.columns, None),
    };
    Ok(found.unwrap_or_else(|| sample.widest_delimiter()))
}

fn no_header(about: &About<'_>, columns: &Columns, missing: &str) -> Error {
    let sample = Sample::of(about.head());
    let is_url = is_address(sample.first_line());
    match sample.options(false).filter(|_| *columns == Columns::default()) {
        Some(options) => {
            about.wrong(format!("row 1: no header that names the column of the URL; say {options}"))
        }
        None if is_url => {
            about.wrong(format!("row 1: {missing}, or that every line is a URL with --format text"))
        }
        None => about.wrong(format!("row 1: {missing}")),
    }
}

/// A header of one name and rows of more values would make URLs of whole rows.
fn check_one_column(about: &About<'_>) -> Result<()> {
    match Sample::of(about.head()).options(true) {
        Some(options) => {
            Err(about.wrong(format!("row 1: names one column, and the rows have more; say {options}")))
        }
        None => Ok(()),
    }
}

fn too_narrow(about: &About<'_>, fields: usize, position: usize) -> Error {
    about.wrong(format!(
        "row 1: --columns names value {position}, and the row has {fields}; correct --columns or --delimiter"
    ))
}

/// Reads the rows of `block`. Lines with nothing in them are no rows. A row with more or fewer fields than the first one is
/// bad alone.
pub fn read(block: &Block, header: &Header, rows: &mut Rows<'_>) -> Result<()> {
    let mut table = Table::new(block, header.delimiter);
    while let Some(row) = table.next_row() {
        let (line, offset) = (row.line, row.offset);
        if row.fields() != header.fields {
            rows.bad(line, offset, Reason::BadRow, row.text())?;
            continue;
        }
        let values = header.places.map(|place| place.map_or(&b""[..], |at| row.field(at)));
        let [url, lastmod, changefreq, priority, alternates, images] = values;
        let [url, lastmod, changefreq, priority] =
            [url, lastmod, changefreq, priority].map(|value| cut(value, VALUE_BYTES_KEPT));
        let record = Record { line, offset, url, lastmod, changefreq, priority, ..Record::default() };
        if values.into_iter().any(|value| rows.is_malformed(value)) {
            rows.bad(line, offset, Reason::BadEncoding, row.text())?;
        } else if url.trim_ascii().is_empty() {
            without_url(&row, rows)?;
        } else if alternates.is_empty() && images.is_empty() {
            rows.record(&record)?;
        } else {
            let mut lists = Lists::default();
            lists.add_links_of_cell(alternates);
            lists.add_images_of_cell(images);
            rows.record(&Record { alternates: &lists.alternates(), images: &lists.images(), ..record })?;
        }
    }
    Ok(())
}

/// A row that gives no URL is blank if all of its fields are.
#[cold]
fn without_url(row: &Row<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let (line, offset) = (row.line, row.offset);
    match (0..row.fields()).all(|at| row.field(at).trim_ascii().is_empty()) {
        true => rows.record(&Record { line, offset, ..Record::default() }),
        false => rows.bad(line, offset, Reason::NoUrl, row.text()),
    }
}

fn cut(text: &[u8], bytes_max: usize) -> &[u8] {
    &text[..text.len().min(bytes_max)]
}

#[cfg(test)]
mod tests;
