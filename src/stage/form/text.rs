//! Text: one URL a line.

use super::row::{Record, Rows};
use super::unpack::Text;
use crate::error::Result;
use crate::stage::clean::Reason;
use crate::stage::lines::{Blocks, Line, lines};

/// Every line is a record; one that is too long is cut, and still too long to be a URL.
pub fn read(text: Text<'_>, rows: &mut Rows<'_>) -> Result<()> {
    each_line(text, |number, line| match rows.is_malformed(line.raw) {
        true => rows.bad(number, line.offset, Reason::BadEncoding, line.raw),
        false => {
            rows.record(&Record { line: number, offset: line.offset, url: line.raw, ..Record::default() })
        }
    })
}

/// Gives `line` every line with its number from 1, in bounded memory.
pub fn each_line(text: Text<'_>, mut line: impl FnMut(u64, Line<'_>) -> Result<()>) -> Result<()> {
    let (stream, text) = text.split();
    let mut number = 0;
    for block in Blocks::new(stream) {
        let block = block.map_err(|error| text.failed(error))?;
        for each in lines(&block.bytes, block.offset) {
            number += 1;
            line(number, each)?;
        }
    }
    Ok(())
}
