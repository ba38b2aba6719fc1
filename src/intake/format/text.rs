//! Text: one URL per line.

use super::reader::{RowReader, units_of_lines};
use super::row::{CountingSink, Record};
use super::spec::{Head, Hints, Open, Spec};
use super::unpack::Text;
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::blocks::TextBlock;
use crate::intake::lines::{Line, lines};
use crate::limits::LINE_BYTES_MAX;

pub const TEXT: Spec = Spec {
    name: "text",
    title: "text",
    extensions: &[],
    head: Head::Other,
    delimiter: |_| false,
    has_columns: false,
    column_word: "column",
    open: Open::Lines(open),
};

fn open<'n>(text: Text<'n>, _: Hints<'n>) -> Result<RowReader<'n>> {
    Ok(RowReader { units: units_of_lines(text, LINE_BYTES_MAX, read), columns: None })
}

/// Reads a record from every line. A line that is too long is cut to a length that is still too long for a URL.
fn read(block: &TextBlock, rows: &mut CountingSink<'_>) -> Result<()> {
    each_line(block, |number, line| match rows.is_malformed(line.raw) {
        true => rows.bad(number, line.offset, Reason::BadEncoding, line.raw),
        false => {
            rows.record(&Record { line: number, offset: line.offset, url: line.raw, ..Record::default() })
        }
    })
}

/// Calls `line` with the number from 1 and the text of every line of `block`.
pub fn each_line(block: &TextBlock, mut line: impl FnMut(u64, Line<'_>) -> Result<()>) -> Result<()> {
    let mut numbers = block.lines_before + 1..;
    lines(&block.bytes, block.offset).zip(&mut numbers).try_for_each(|(each, number)| line(number, each))
}
