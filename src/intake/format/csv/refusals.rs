//! Refusals of tables whose header or first row does not fit the options.

use super::table::TableRow;
use crate::error::{Error, Message, Result, Setting, message};
use crate::intake::format::charset;
use crate::intake::format::columns::{Columns, RowPart};
use crate::intake::format::delimiter::Delimiter;
use crate::intake::format::dialect::Dialect;
use crate::intake::format::sample::{Sample, begins_as_url, is_address};
use crate::intake::format::spec::Hints;
use crate::intake::format::unpack::About;

/// The error for a table without a header that names the column of the URL, for the reason `missing`.
pub fn no_header(about: &About<'_>, hints: Hints<'_>, missing: Message) -> Error {
    let columns = hints.columns;
    if let Some(label) = charset::unmarked_utf_16(about.head()) {
        return about.wrong(message!("is in UTF-16; use ", Setting::InputEncoding.with(label)));
    }
    if let Some(way_out) = Sample::header_below(about.head(), columns, about.packing()) {
        return about.wrong(way_out);
    }
    let sample = Sample::of(about.head()).with_escape(hints.escape);
    if let Some(options) = sample.options_of_header(columns) {
        return about.wrong(message!(
            "row 1: the column names are separated by a character that is not detected; use ",
            options
        ));
    }
    let is_url = is_address(sample.first_line());
    match sample.options(false, about.packing()).filter(|_| *columns == Columns::default()) {
        Some(options) => {
            about.wrong(message!("row 1: no header that names the column of the URL; use ", options))
        }
        None if is_url => {
            let text = Setting::Format.with("text");
            about.wrong(message!("row 1: ", missing, "; if every line is a URL, use ", text))
        }
        None => about.wrong(message!("row 1: ", missing)),
    }
}

/// Refuses the header `row` of one name with rows of several values: whole rows would be read as URLs. If the values after the
/// first one may be parts of URLs, only the user can tell; all of the first rows would be bad.
pub fn check_one_column(about: &About<'_>, dialect: Dialect, row: &TableRow<'_>) -> Result<()> {
    let delimiter = dialect.by;
    let sample = Sample::of(about.head()).with_escape(dialect.escape);
    if let Some(options) = sample.options(true, about.packing()) {
        return Err(about.wrong(message!(
            "row 1: the header has one name, but the rows have several values; use ",
            options
        )));
    }
    let below = sample.rows_below(row.text(), delimiter);
    let is_divided = |values: &Vec<Vec<u8>>| values.len() > 1 && begins_as_url(&values[0]);
    // No URL has a tab, and quotes would be around the whole of it.
    let is_clear = delimiter == Delimiter::TAB || sample.lines().any(|line| line.starts_with(b"\""));
    if is_clear || below.is_empty() || !below.iter().all(is_divided) {
        return Ok(());
    }
    let (by, first, tab) =
        (delimiter.word(), Setting::Columns.with("url=1"), Setting::Delimiter.with(Delimiter::TAB.word()));
    Err(about.wrong(message!(
        "row 1: names one column, and '{by}' in the rows below may separate values or be part of the URLs; use ",
        first,
        " if it separates values, or ",
        tab,
        " if it is part of the URLs"
    )))
}

/// The error for rows of this number of `fields` if `part` is at a later position.
pub fn too_narrow(about: &About<'_>, fields: usize, position: usize, part: RowPart) -> Error {
    let setting = if part == RowPart::Section { Setting::SectionColumn } else { Setting::Columns };
    about.wrong(message!(
        "row 1: ",
        setting,
        " names value {position}, and the row has {fields}; correct ",
        setting,
        " or ",
        Setting::Delimiter
    ))
}
