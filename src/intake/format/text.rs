//! Text: one URL a line.

use super::reader::{RowReader, units_of_lines};
use super::row::{Record, Rows};
use super::spec::{Head, Hints, Open, Spec};
use super::unpack::Text;
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::blocks::Block;
use crate::intake::lines::{Line, lines};
use crate::limits::LINE_BYTES_MAX;

pub const TEXT: Spec = Spec {
    name: "text",
    extensions: &[],
    head: Head::Other,
    delimiter: |_| false,
    column_word: "column",
    open: Open::Lines(open),
};

fn open<'n>(text: Text<'n>, _: Hints<'n>) -> Result<RowReader<'n>> {
    Ok(RowReader { units: units_of_lines(text, LINE_BYTES_MAX, read), columns: None })
}

/// Every line is a record; one that is too long is cut, and still too long to be a URL.
fn read(block: &Block, rows: &mut Rows<'_>) -> Result<()> {
    each_line(block, |number, line| match rows.is_malformed(line.raw) {
        true => rows.bad(number, line.offset, Reason::BadEncoding, line.raw),
        false => {
            rows.record(&Record { line: number, offset: line.offset, url: line.raw, ..Record::default() })
        }
    })
}

/// Gives `line` every line of `block` with its number from 1.
pub fn each_line(block: &Block, mut line: impl FnMut(u64, Line<'_>) -> Result<()>) -> Result<()> {
    let mut numbers = block.lines_before + 1..;
    lines(&block.bytes, block.offset).zip(&mut numbers).try_for_each(|(each, number)| line(number, each))
}
