//! Cuts: divides a stream of CSV into blocks of whole rows, so that threads can parse them in parallel.
//!
//! The end of a row depends on every quote before it, so one thread finds it and does nothing else.

use std::io::Read;

use crate::error::{Error, Message, Result, Setting, message};
use crate::intake::blocks::TextBlock;
use crate::intake::format::dialect::{Dialect, QuoteEscape};
use crate::intake::format::row::ROW_BYTES_MAX;
use crate::intake::format::row_ends::{State, scan};
use crate::intake::format::unpack::{About, Text};
use crate::intake::lines::{BYTE_ORDER_MARK, CHUNK_BYTES};
use crate::words::grouped;

/// Why a row does not end.
const OPEN_QUOTE: &str = ": most likely a quote that is never closed";

/// What is wrong with rows that have a backslash before a quote, and the way out.
pub fn escaped_quotes() -> Message {
    let escape = Setting::Escape.with(QuoteEscape::BACKSLASH.word());
    message!(
        "quotes are escaped with a backslash (\\\"), but CSV doubles them (\"\"); read them with ",
        escape
    )
}

/// Whether `text` has a quote after a backslash, as CSV of Spark and MySQL has.
pub fn has_escaped_quote(text: &[u8]) -> bool {
    memchr::memmem::find(text, br#"\""#).is_some()
}

/// Blocks of whole rows, in order.
pub struct Cuts<'n> {
    about: About<'n>,
    stream: Box<dyn Read + Send>,
    dialect: Dialect,
    state: State,
    /// The bytes after the last end of a row, with their offset and the number of lines before them.
    rest: TextBlock,
    /// A block to be returned again.
    again: Option<TextBlock>,
    buffer: Box<[u8]>,
    has_ended: bool,
}

impl<'n> Cuts<'n> {
    pub fn new(text: Text<'n>, dialect: Dialect) -> Self {
        let (stream, about) = text.split();
        Self {
            about,
            stream,
            dialect,
            state: State::Start,
            rest: TextBlock { offset: 0, lines_before: 0, bytes: Vec::new() },
            again: None,
            buffer: vec![0; CHUNK_BYTES].into(),
            has_ended: false,
        }
    }

    /// The text that is cut.
    pub fn about(&self) -> &About<'n> {
        &self.about
    }

    /// These cuts, with `block` as the first block.
    pub fn again(self, block: TextBlock) -> Self {
        Self { again: Some(block), ..self }
    }

    fn next_block(&mut self) -> Result<Option<TextBlock>> {
        loop {
            let bytes = match self.stream.read(&mut self.buffer) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.about.failed(error)),
            };
            if bytes == 0 {
                self.has_ended = true;
                return self.last_block();
            }
            let mut buffer = &self.buffer[..bytes];
            let is_first = self.rest.offset == 0 && self.rest.bytes.is_empty();
            if is_first && let Some(after) = buffer.strip_prefix(BYTE_ORDER_MARK) {
                // A byte order mark is not part of the first name.
                (buffer, self.rest.offset) = (after, BYTE_ORDER_MARK.len() as u64);
            }
            let row_end = scan(buffer, self.dialect, &mut self.state);
            self.rest.bytes.extend_from_slice(&buffer[..row_end.unwrap_or(buffer.len())]);
            let Some(row_end) = row_end else {
                match self.rest.bytes.len() as u64 > ROW_BYTES_MAX {
                    true => return Err(self.endless_row()),
                    false => continue,
                }
            };
            let next = TextBlock {
                offset: self.rest.offset + self.rest.bytes.len() as u64,
                lines_before: self.rest.lines_before
                    + memchr::memchr_iter(b'\n', &self.rest.bytes).count() as u64,
                bytes: buffer[row_end..].to_vec(),
            };
            return Ok(Some(std::mem::replace(&mut self.rest, next)));
        }
    }

    /// The rows up to the end of the text, which ends the last row. An error if a quote is still open.
    fn last_block(&mut self) -> Result<Option<TextBlock>> {
        if self.state.is_quoted() {
            return Err(self.wrong_row(message!("goes on to the end of the file", self.open_quote())));
        }
        let empty = TextBlock { offset: 0, lines_before: 0, bytes: Vec::new() };
        let mut last = std::mem::replace(&mut self.rest, empty);
        if last.bytes.is_empty() {
            return Ok(None);
        }
        last.bytes.push(b'\n');
        Ok(Some(last))
    }

    fn endless_row(&self) -> Error {
        let why = match self.state.is_quoted() {
            true => self.open_quote(),
            false => "; shorten its values".into(),
        };
        let bytes_max = grouped(ROW_BYTES_MAX);
        self.wrong_row(message!("has more than {bytes_max} bytes", why))
    }

    /// Why a quote is open.
    fn open_quote(&self) -> Message {
        match self.dialect.escape.is_none() && has_escaped_quote(&self.rest.bytes) {
            true => message!(": most likely, ", escaped_quotes()),
            false => OPEN_QUOTE.into(),
        }
    }

    fn wrong_row(&self, what: Message) -> Error {
        let empty = self.rest.bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
        let line = self.rest.lines_before + 1 + empty.filter(|&&byte| byte == b'\n').count() as u64;
        self.about.wrong(message!("line {line}: the row ", what))
    }
}

impl Iterator for Cuts<'_> {
    type Item = Result<TextBlock>;

    fn next(&mut self) -> Option<Result<TextBlock>> {
        if let Some(block) = self.again.take() {
            return Some(Ok(block));
        }
        if self.has_ended {
            return None;
        }
        let next = self.next_block();
        self.has_ended |= next.is_err();
        next.transpose()
    }
}
