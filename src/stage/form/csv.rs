//! CSV and TSV: values between delimiters, after RFC 4180, with a header that names them.
//!
//! Field by field, so that a column nobody asked for costs no memory, however much text it holds.

mod table;

use super::columns::{Columns, PLAIN_PARTS};
use super::row::{Record, Rows};
use super::unpack::Text;
use crate::error::Result;
use crate::limits::LINE_BYTES_MAX;
use crate::stage::clean::Reason;
use table::{Field, Table};

/// Bytes of a field that are kept: one more than a line may have, so that one that is too long is still seen to be.
const FIELD_BYTES_KEPT: usize = LINE_BYTES_MAX + 1;

/// Reads the rows behind the header. Lines with nothing in them are no rows. A row with more or fewer fields than the
/// header is bad alone.
pub fn read(text: Text<'_>, delimiter: u8, columns: &Columns, rows: &mut Rows<'_>) -> Result<()> {
    let mut table = Table::new(text, delimiter);
    let Some(header) = header(&mut table)? else { return Ok(()) };
    let names: Vec<&[u8]> = header.iter().map(Vec::as_slice).collect();
    let places = columns.places(&names).map_err(|missing| {
        let way = "or that every line is a URL with --format text";
        table.wrong(format!("row 1: {missing}, {way}"))
    })?;
    // Which of the kept values each field is, if any.
    let mut kept: Vec<Option<usize>> = vec![None; names.len()];
    for (part, place) in places.into_iter().enumerate() {
        place.into_iter().for_each(|at| kept[at] = Some(part));
    }
    let mut values = PLAIN_PARTS.map(|_| vec![0; FIELD_BYTES_KEPT].into_boxed_slice());
    while table.start_row()? {
        let mut value_bytes = PLAIN_PARTS.map(|_| 0);
        let mut fields = 0;
        loop {
            let part = kept.get(fields).copied().flatten();
            let field: Field = table.field(part.map_or(&mut [], |part| &mut values[part]))?;
            if let Some(part) = part {
                value_bytes[part] = field.bytes_kept;
            }
            fields += 1;
            if field.is_last {
                break;
            }
        }
        let [url, lastmod, changefreq, priority] =
            [0, 1, 2, 3].map(|part| &values[part][..value_bytes[part]]);
        let (line, offset) = table.row();
        if fields != names.len() {
            rows.bad(line, offset, Reason::BadRow, &table.row_text())?;
        } else if [url, lastmod, changefreq, priority].into_iter().any(|value| rows.is_malformed(value)) {
            rows.bad(line, offset, Reason::BadEncoding, &table.row_text())?;
        } else {
            rows.record(&Record { line, offset, url, lastmod, changefreq, priority, ..Record::default() })?;
        }
    }
    Ok(())
}

/// The names in the first row; `None` for a file with nothing in it.
fn header(table: &mut Table<'_>) -> Result<Option<Vec<Vec<u8>>>> {
    if !table.start_row()? {
        return Ok(None);
    }
    let mut names = Vec::new();
    let mut name = vec![0; FIELD_BYTES_KEPT];
    loop {
        let field = table.field(&mut name)?;
        names.push(name[..field.bytes_kept].to_vec());
        if field.is_last {
            return Ok(Some(names));
        }
    }
}
