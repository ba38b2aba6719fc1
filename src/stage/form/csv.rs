//! CSV and TSV: values between delimiters, after RFC 4180, with a header that names them.

mod cut;
mod table;

use super::columns::{Columns, PLAIN_PARTS};
use super::facts::ColumnsFound;
use super::row::{Record, Rows};
use super::unpack::Text;
use crate::error::Result;
use crate::limits::LINE_BYTES_MAX;
use crate::stage::clean::Reason;
use crate::stage::lines::Block;
pub use cut::Cuts;
use table::Table;

/// Bytes of a value that are kept: one more than a line may have, so that one that is too long is still seen to be.
const VALUE_BYTES_KEPT: usize = LINE_BYTES_MAX + 1;

/// What the header says.
pub struct Header {
    delimiter: u8,
    fields: usize,
    /// Which field each of [`PLAIN_PARTS`] is.
    places: [Option<usize>; PLAIN_PARTS.len()],
    /// The names of used and unused columns.
    pub columns: ColumnsFound,
}

/// Reads the header. What comes out cuts the rest into blocks of whole rows, each for [`read`]; without a header there is
/// nothing in the text.
///
/// # Errors
/// If the text cannot be read, or if there is no column that may be the URL's.
pub fn open<'n>(text: Text<'n>, delimiter: u8, columns: &Columns) -> Result<Option<(Header, Cuts<'n>)>> {
    let mut cuts = Cuts::new(text, delimiter);
    // A block may hold nothing but empty lines.
    while let Some(first) = cuts.next().transpose()? {
        let mut table = Table::new(&first, delimiter);
        let Some(row) = table.next_row() else { continue };
        let names: Vec<&[u8]> = (0..row.fields()).map(|at| row.field(at)).collect();
        let places = columns.places(&names).map_err(|missing| {
            cuts.about().wrong(format!("row 1: {missing}, or that every line is a URL with --format text"))
        })?;
        let columns = ColumnsFound::of(&names, places);
        let header = Header { delimiter, fields: names.len(), places, columns };
        let rest = table.rest();
        return Ok(Some((header, cuts.again(rest))));
    }
    Ok(None)
}

/// Reads the rows of `block`. Lines with nothing in them are no rows. A row with more or fewer fields than the header is bad
/// alone.
pub fn read(block: &Block, header: &Header, rows: &mut Rows<'_>) -> Result<()> {
    let mut table = Table::new(block, header.delimiter);
    while let Some(row) = table.next_row() {
        let (line, offset) = (row.line, row.offset);
        if row.fields() != header.fields {
            rows.bad(line, offset, Reason::BadRow, row.text())?;
            continue;
        }
        let values = header.places.map(|place| place.map_or(&b""[..], |at| row.field(at)));
        let [url, lastmod, changefreq, priority] = values.map(|value| cut(value, VALUE_BYTES_KEPT));
        if [url, lastmod, changefreq, priority].into_iter().any(|value| rows.is_malformed(value)) {
            rows.bad(line, offset, Reason::BadEncoding, row.text())?;
        } else {
            rows.record(&Record { line, offset, url, lastmod, changefreq, priority, ..Record::default() })?;
        }
    }
    Ok(())
}

fn cut(text: &[u8], bytes_max: usize) -> &[u8] {
    &text[..text.len().min(bytes_max)]
}

#[cfg(test)]
mod tests;
