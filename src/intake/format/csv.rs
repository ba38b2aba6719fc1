//! CSV and TSV: values between delimiters, as in RFC 4180. A header names the columns, or [`Columns`] gives their positions.

mod cut;
mod refusals;
mod table;
#[cfg(test)]
mod tests;

use super::columns::{Columns, EachPart, Missing, RowPart};
use super::delimiter::Delimiter;
use super::dialect::Dialect;
use super::found::ColumnsFound;
use super::reader::{RowReader, units_of_blocks};
use super::row::{CountingSink, Record};
use super::sample::{
    Ambiguous, Sample, begins_as_url, is_address, is_comment, separator, unquoted, without_quotes,
};
use super::spec::{Head, Hints, Open, Spec};
use super::unpack::{About, Text};
use crate::clean::Reason;
use crate::common::array;
use crate::error::{Result, Setting, message};
use crate::intake::blocks::TextBlock;
use crate::intake::lines::BYTE_ORDER_MARK;
use crate::sitemap::extensions::{ExtrasBuffer, RawExtras};
pub use cut::escaped_quotes;
use cut::{Cuts, has_escaped_quote};
use refusals::{check_one_column, no_header, too_narrow};
use table::{Table, TableRow};

pub const CSV: Spec = Spec {
    name: "csv",
    title: "CSV",
    extensions: &["csv"],
    head: Head::Lines(|sample, hints| {
        delimiter_of_table(sample, hints).is_some_and(|by| by != Delimiter::TAB)
    }),
    delimiter: |_| true,
    has_columns: true,
    column_word: "column",
    open: Open::Text(|text, hints| open(text, hints.delimiter, hints)),
};

pub const TSV: Spec = Spec {
    name: "tsv",
    title: "TSV",
    extensions: &["tsv"],
    head: Head::Lines(|sample, hints| delimiter_of_table(sample, hints) == Some(Delimiter::TAB)),
    delimiter: |said| said == Delimiter::TAB,
    has_columns: true,
    column_word: "column",
    open: Open::Text(|text, hints| open(text, hints.delimiter.or(Some(Delimiter::TAB)), hints)),
};

/// The layout of the rows, from the header or the first row.
struct Header {
    dialect: Dialect,
    /// The names in it, and that of the column of the URL; empty if there is no header.
    names: Vec<Vec<u8>>,
    url: Vec<u8>,
    fields: usize,
    /// The parts of a row that have a field, by their numbers, and these fields. Most tables have a few of all parts.
    used: Vec<(usize, usize)>,
    /// Whether a field holds values of an extension.
    has_cells: bool,
    /// The names of used and unused columns.
    columns: ColumnsFound,
}

impl Header {
    /// The layout of rows with this number of `fields`, and the place of each part of a row, if it has one.
    fn new(dialect: Dialect, fields: usize, places: EachPart<Option<usize>>, columns: ColumnsFound) -> Self {
        let used = places.into_iter().enumerate().filter_map(|(part, place)| Some((part, place?)));
        let has_cells = places[RowPart::PLAIN..].iter().any(Option::is_some);
        let (names, url) = (Vec::new(), Vec::new());
        Self { dialect, names, url, fields, used: used.collect(), has_cells, columns }
    }

    /// This layout after the header `row`, whose field `url` is the name of the column of the URL.
    fn below(self, row: &TableRow<'_>, url: usize) -> Self {
        let names: Vec<Vec<u8>> = names(row).iter().map(|name| bare(name).into()).collect();
        let url = names.get(url).cloned().unwrap_or_default();
        Self { names, url, ..self }
    }

    /// Whether `row`, whose URL is `url`, repeats the header, because files with headers were joined.
    fn is_repeated(&self, row: &TableRow<'_>, url: &[u8]) -> bool {
        // Nearly every other row has another URL.
        bare(url) == self.url && self.names.iter().enumerate().all(|(at, name)| bare(row.field(at)) == name)
    }
}

/// `name` as it is in the header of every file: without blanks around it, and without the byte order mark of a joined file, after
/// which csv-core keeps quotes.
fn bare(name: &[u8]) -> &[u8] {
    let Some(name) = name.strip_prefix(BYTE_ORDER_MARK) else { return unquoted(name).trim_ascii() };
    without_quotes(name).unwrap_or(name).trim_ascii()
}

/// The delimiter, if the first lines or the options show that the text is a table.
fn delimiter_of_table(sample: &Sample<'_>, hints: Hints<'_>) -> Option<Delimiter> {
    let said = hints.delimiter;
    let Some(places) = hints.columns.positions() else {
        let by_header = sample.of_header(hints.columns, said);
        return by_header.or_else(|| said.filter(|&said| sample.is_parted(said)));
    };
    // A plain list may be read together with tables. Its only column is the first.
    let needs_table = places.into_iter().flatten().any(|place| place > 0);
    match sample.of_rows(places[0].unwrap_or_default(), said) {
        Ok(found) => found.or(needs_table.then_some(said.unwrap_or(Delimiter::COMMA))),
        Err(Ambiguous(one, _)) => Some(one),
    }
}

/// Reads the header, or the first row if there is none.
///
/// # Errors
/// If the text cannot be read, if no column holds the URL, or if the delimiter is unclear.
fn open<'n>(text: Text<'n>, delimiter: Option<Delimiter>, hints: Hints<'n>) -> Result<RowReader<'n>> {
    let is_transcoded = text.about().is_transcoded();
    let Some((header, cuts)) = header(text, delimiter, hints)? else {
        return Ok(RowReader { units: Box::new(std::iter::empty()), columns: None });
    };
    let columns = Some(header.columns.clone());
    let units = units_of_blocks(is_transcoded, cuts, move |block, rows| read(block, &header, rows));
    Ok(RowReader { units, columns })
}

/// The header and the rows after it, cut into blocks of whole rows; `None` if the text is empty. A line that names the delimiter,
/// and comments, may precede the header.
fn header<'n>(
    text: Text<'n>,
    delimiter: Option<Delimiter>,
    hints: Hints<'_>,
) -> Result<Option<(Header, Cuts<'n>)>> {
    let delimiter = delimiter.map_or_else(|| detected(text.about(), hints), Ok)?;
    let dialect = Dialect { by: delimiter, escape: hints.escape };
    // Only an explicit delimiter is checked with the options.
    if let Some(escape) = hints.escape.filter(|escape| escape.as_byte() == delimiter.as_byte()) {
        let escape = Setting::Escape.with(escape.word());
        let wrong = message!(escape, " is also the delimiter; set another one with ", Setting::Delimiter);
        return Err(text.about().wrong(wrong));
    }
    let mut cuts = Cuts::new(text, dialect);
    // A block may have only empty lines and comments.
    while let Some(first) = cuts.next().transpose()? {
        let (mut table, mut rest) = (Table::new(&first, dialect), None);
        while let Some(row) = table.next_row() {
            if is_preamble(cuts.about(), dialect, &row, hints.columns) {
                rest = Some(table.rest());
                continue;
            }
            if let Some(places) = hints.columns.positions() {
                let header = by_positions(cuts.about(), dialect, &row, hints.columns, places)?;
                return Ok(Some((header, cuts.again(rest.unwrap_or(first)))));
            }
            let header = by_names(cuts.about(), dialect, &row, hints)?;
            let after = table.rest();
            return Ok(Some((header, cuts.again(after))));
        }
    }
    Ok(None)
}

/// Whether `row` is not the header yet: it names the delimiter, or is blank or a comment without the names of columns. Without
/// names, a blank row is counted like any other, and a comment with a URL in its place is a row like those below.
fn is_preamble(about: &About<'_>, dialect: Dialect, row: &TableRow<'_>, columns: &Columns) -> bool {
    let text = row.text();
    if separator(text).is_some() {
        return true;
    }
    let Some(places) = columns.positions() else {
        return is_blank(row) || is_comment(text) && columns.places(&names(row)).is_err();
    };
    let url = places[RowPart::Url.number()].unwrap_or_default();
    // There may be many comments, and few have a URL there.
    let is_as_wide_as_rows = || {
        let sample = Sample::of(about.head()).with_escape(dialect.escape);
        let rows = sample.rows_below(b"", dialect.by);
        rows.first().is_none_or(|values| values.len() == row.fields())
    };
    is_comment(text) && !(has_url(row, url) && is_as_wide_as_rows())
}

/// Whether the field `at` of `row` begins as a URL.
fn has_url(row: &TableRow<'_>, at: usize) -> bool {
    row.fields() > at && begins_as_url(unquoted(row.field(at)))
}

fn names<'t>(row: &TableRow<'t>) -> Vec<&'t [u8]> {
    (0..row.fields()).map(|at| unquoted(row.field(at))).collect()
}

/// The layout of rows whose parts have `places`, and of which `row` is the first, unless it is a header.
fn by_positions(
    about: &About<'_>,
    dialect: Dialect,
    row: &TableRow<'_>,
    columns: &Columns,
    places: EachPart<Option<usize>>,
) -> Result<Header> {
    let url = places[RowPart::Url.number()].unwrap_or_default();
    let below = fields_below(about, dialect, row, url);
    let fields = below.unwrap_or(row.fields());
    let parts = RowPart::ALL.into_iter().zip(places).filter_map(|(part, place)| Some((place?, part)));
    if let Some((last, part)) = parts.max_by_key(|&(place, _)| place).filter(|&(last, _)| last >= fields) {
        return Err(too_narrow(about, fields, last + 1, part));
    }
    let numbers: Vec<String> = (1..=fields).map(|number| number.to_string()).collect();
    let numbers: Vec<&[u8]> = numbers.iter().map(String::as_bytes).collect();
    let layout = Header::new(dialect, fields, places, ColumnsFound::of(columns, &numbers, places));
    Ok(if below.is_some() { layout.below(row, url) } else { layout })
}

/// The number of values in the rows below `row`, if `row` is a header: it has no URL in the field `url`, as all of the first rows
/// below it do. As a relative URL, the name of the column would be listed. Rows of other widths do not count if there are some as
/// wide as the header.
fn fields_below(about: &About<'_>, dialect: Dialect, row: &TableRow<'_>, url: usize) -> Option<usize> {
    if has_url(row, url) {
        return None;
    }
    let own = if row.fields() > url { unquoted(row.field(url)) } else { b"" };
    let sample = Sample::of(about.head()).with_escape(dialect.escape);
    let mut below = sample.rows_below(row.text(), dialect.by);
    if below.iter().any(|values| values.len() == row.fields()) {
        below.retain(|values| values.len() == row.fields());
    }
    let has_url = |values: &Vec<Vec<u8>>| values.get(url).is_some_and(|value| begins_as_url(value));
    // Files with headers may have been joined.
    let is_repeated = |values: &Vec<Vec<u8>>| values.get(url).is_some_and(|value| bare(value) == bare(own));
    let are_rows = below.iter().all(|values| has_url(values) || is_repeated(values));
    below.first().filter(|first| are_rows && has_url(first)).map(Vec::len)
}

/// The layout of the rows after the header `row`.
fn by_names(about: &About<'_>, dialect: Dialect, row: &TableRow<'_>, hints: Hints<'_>) -> Result<Header> {
    let (columns, names) = (hints.columns, names(row));
    // Names from the user can only be in a header.
    if *columns == Columns::default() && names.iter().any(|name| is_address(name)) {
        let wrong = message!(
            "has a URL, so it does not look like a header; if there is no header, use ",
            Setting::Columns.with("url=1"),
            "; if this is the header, ",
            Setting::Columns.with("url=NAME")
        );
        return Err(no_header(about, hints, wrong));
    }
    let missing = |missing: Missing| no_header(about, hints, missing.message("column"));
    let places = columns.places(&names).map_err(missing)?;
    if names.len() == 1 && hints.delimiter.is_none() {
        check_one_column(about, dialect, row)?;
    }
    columns.check_unique(&names, &places).map_err(|twice| about.wrong(message!("row 1: ", twice)))?;
    let found = ColumnsFound::of(columns, &names, places);
    let layout = Header::new(dialect, names.len(), places, found);
    Ok(layout.below(row, places[RowPart::Url.number()].unwrap_or_default()))
}

/// The delimiter that the first lines show.
fn detected(about: &About<'_>, hints: Hints<'_>) -> Result<Delimiter> {
    let sample = Sample::of(about.head()).with_escape(hints.escape);
    let found = match hints.columns.positions() {
        Some(places) => {
            sample.of_rows(places[0].unwrap_or_default(), None).map_err(|Ambiguous(one, other)| {
                about.wrong(message!(
                    "values may be separated by {one} or {other}; set it with ",
                    Setting::Delimiter
                ))
            })?
        }
        None => {
            let by_header = sample.of_header(hints.columns, None);
            by_header.or_else(|| sample.has_one_column().then_some(Delimiter::NONE))
        }
    };
    Ok(found.unwrap_or_else(|| sample.widest_delimiter()))
}

/// Reads the rows of `block`. Empty lines are not rows. A row is bad if it is torn, or if it is not blank and has more or fewer
/// fields than the first one.
fn read(block: &TextBlock, header: &Header, rows: &mut CountingSink<'_>) -> Result<()> {
    let mut table = Table::new(block, header.dialect);
    let mut extras = ExtrasBuffer::default();
    while let Some(row) = table.next_row() {
        let (line, offset) = (row.line, row.offset);
        if row.fields() != header.fields || row.is_torn {
            match !row.is_torn && is_blank(&row) {
                true => rows.record(&Record { line, offset, ..Record::default() })?,
                false => {
                    let has_escape = header.dialect.escape.is_some();
                    rows.facts().has_escaped_quotes |= !has_escape && has_escaped_quote(row.text());
                    rows.bad(line, offset, Reason::BadRow, row.text())?;
                }
            }
            continue;
        }
        let mut values = [&b""[..]; RowPart::ALL.len()];
        let mut is_malformed = false;
        for &(part, at) in &header.used {
            values[part] = if part < RowPart::PLAIN { unquoted(row.field(at)) } else { row.field(at) };
            is_malformed |= rows.is_malformed(values[part]);
        }
        let (plain, cells) = (array::from_fn(|part| values[part]), &values[RowPart::PLAIN..]);
        let record = Record::of_parts(line, offset, plain, RawExtras::default());
        let url = record.url;
        if is_malformed {
            rows.bad(line, offset, Reason::BadEncoding, row.text())?;
        } else if url.trim_ascii().is_empty() {
            without_url(&row, url, header, rows)?;
        } else if header.is_repeated(&row, url) {
            rows.bad(line, offset, Reason::BadRow, row.text())?;
        } else if !header.has_cells || cells.iter().all(|cell| cell.is_empty()) {
            rows.record(&record)?;
        } else {
            let extras = rows.read_cells(cells.iter().copied(), &mut extras);
            rows.record(&Record { extras, ..record })?;
        }
    }
    Ok(())
}

/// Takes a row whose URL is nothing but white space. If another field has a value, the row has no URL, unless it is a header whose
/// column of the URL has no name. Otherwise, it is judged by this white space, as in other formats.
#[cold]
fn without_url(row: &TableRow<'_>, url: &[u8], header: &Header, rows: &mut CountingSink<'_>) -> Result<()> {
    let (line, offset) = (row.line, row.offset);
    match is_blank(row) {
        false if !header.names.is_empty() && header.is_repeated(row, url) => {
            rows.bad(line, offset, Reason::BadRow, row.text())
        }
        true => rows.record(&Record { line, offset, url, ..Record::default() }),
        false => rows.bad(line, offset, Reason::NoUrl, row.text()),
    }
}

fn is_blank(row: &TableRow<'_>) -> bool {
    (0..row.fields()).all(|at| row.field(at).trim_ascii().is_empty())
}
