//! Text: one URL a line.

use super::row::{Record, Rows};
use crate::clean::Reason;
use crate::error::Result;
use crate::intake::lines::{Block, Line, lines};

/// Every line is a record; one that is too long is cut, and still too long to be a URL.
pub fn read(block: &Block, rows: &mut Rows<'_>) -> Result<()> {
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
