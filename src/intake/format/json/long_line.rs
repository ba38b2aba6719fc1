//! A first line that is longer than the head: whether all of it is one array or several objects shows only once it is read.

use std::path::Path;

use super::head::{HeadLine, after_object, check_line};
use crate::error::{Error, Message, Result, message};
use crate::intake::blocks::TextBlock;
use crate::intake::format::columns::Columns;
use crate::intake::format::row::ROW_BYTES_MAX;
use crate::intake::lines::lines;
use crate::limits::LINE_BYTES_MAX;

/// The blocks of a text. Refuses one whose first line has several objects, or a comma after one, if not even the first object ends
/// in the head. Refuses one with a single line, too, if this line is wrong in any other way. A line after it may be right.
pub struct LongLine<'n, B> {
    name: &'n Path,
    columns: &'n Columns,
    blocks: B,
    /// What is wrong with the only line so far.
    wrong: Option<Message>,
}

impl<'n, B> LongLine<'n, B> {
    pub fn new(name: &'n Path, columns: &'n Columns, blocks: B) -> Self {
        Self { name, columns, blocks, wrong: None }
    }

    fn check_first(&mut self, block: &TextBlock) -> Result<()> {
        let mut lines = lines(&block.bytes, block.offset).map(|line| line.raw);
        let is_long = |line: &&[u8]| line.len() > LINE_BYTES_MAX && !line.trim_ascii().is_empty();
        let Some(line) = lines.next().filter(is_long) else { return Ok(()) };
        if let Some(what) = after_object(line, self.columns) {
            return Err(self.error(what));
        }
        // A longer line is cut.
        if line.len() as u64 <= ROW_BYTES_MAX
            && lines.all(|line| line.trim_ascii().is_empty())
            && let HeadLine::Wrong(what) = check_line(line, self.columns)
        {
            self.wrong = Some(what);
        }
        Ok(())
    }

    fn error(&self, what: Message) -> Error {
        Error::data(message!(self.name, ": line 1: ", what))
    }
}

impl<B: Iterator<Item = Result<TextBlock>>> Iterator for LongLine<'_, B> {
    type Item = Result<TextBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(next) = self.blocks.next() else {
            return self.wrong.take().map(|what| Err(self.error(what)));
        };
        let checked = next.and_then(|block| {
            if block.lines_before == 0 {
                self.check_first(&block)?;
            } else if self.wrong.is_some() && !block.bytes.trim_ascii().is_empty() {
                self.wrong = None;
            }
            Ok(block)
        });
        Some(checked)
    }
}
