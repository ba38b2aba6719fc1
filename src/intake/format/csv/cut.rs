//! Cuts: divides a stream of CSV into blocks of whole rows, so that threads can parse them in parallel.
//!
//! The end of a row depends on every quote before it, so one thread finds it and does nothing else. As in csv-core, a quote opens
//! a quoted value only at the first byte of the value.

use std::io::Read;

use crate::error::{Error, Result};
use crate::intake::blocks::TextBlock;
use crate::intake::format::row::ROW_BYTES_MAX;
use crate::intake::format::unpack::{About, Text};
use crate::intake::lines::{BYTE_ORDER_MARK, CHUNK_BYTES};
use crate::words::grouped;

/// Why a row does not end.
const OPEN_QUOTE: &str = ": most likely a quote that is never closed";

/// What is wrong with rows that have a backslash before a quote, and the way out.
pub const ESCAPED_QUOTES: &str = "quotes are escaped with a backslash (\\\"), but CSV doubles them (\"\"); in Spark, write \
                                  with .option(\"escape\", \"\\\"\")";

/// Whether `text` has a quote after a backslash, as CSV of Spark and MySQL has.
pub fn has_escaped_quote(text: &[u8]) -> bool {
    memchr::memmem::find(text, br#"\""#).is_some()
}

/// Blocks of whole rows, in order.
pub struct Cuts<'n> {
    about: About<'n>,
    stream: Box<dyn Read + Send>,
    delimiter: u8,
    state: State,
    /// The bytes after the last end of a row, with their offset and the number of lines before them.
    rest: TextBlock,
    /// A block to be returned again.
    again: Option<TextBlock>,
    buffer: Box<[u8]>,
    has_ended: bool,
}

/// The position of the current byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// First byte of a value.
    Start,
    /// In a value without quotes, or after the closing quote.
    Plain,
    /// In a value in quotes.
    Quoted,
    /// After a quote within quotes, which is the first of two or the closing quote.
    Closing,
}

impl<'n> Cuts<'n> {
    pub fn new(text: Text<'n>, delimiter: u8) -> Self {
        let (stream, about) = text.split();
        Self {
            about,
            stream,
            delimiter,
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
            let row_end = scan(buffer, self.delimiter, &mut self.state);
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
        if self.state == State::Quoted {
            return Err(self.wrong_row(&format!("goes on to the end of the file{}", self.open_quote())));
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
        let why = match self.state {
            State::Quoted => self.open_quote(),
            State::Start | State::Plain | State::Closing => "; shorten its values".into(),
        };
        self.wrong_row(&format!("has more than {} bytes{why}", grouped(ROW_BYTES_MAX)))
    }

    /// Why a quote is open.
    fn open_quote(&self) -> String {
        match has_escaped_quote(&self.rest.bytes) {
            true => format!(": most likely, {ESCAPED_QUOTES}"),
            false => OPEN_QUOTE.into(),
        }
    }

    fn wrong_row(&self, what: &str) -> Error {
        let empty = self.rest.bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
        let line = self.rest.lines_before + 1 + empty.filter(|&&byte| byte == b'\n').count() as u64;
        self.about.wrong(format!("line {line}: the row {what}"))
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

/// Whether a value in `row` has a line end in its quotes, and something other than a delimiter follows the closing quote, which
/// RFC 4180 does not allow. Most likely, a quote in the value was not doubled, and the value goes on to a quote of a later row.
pub fn has_torn_value(row: &[u8], delimiter: u8) -> bool {
    let (mut state, mut has_line_end) = (State::Start, false);
    for &byte in row {
        state = match state {
            State::Start if byte == b'"' => {
                has_line_end = false;
                State::Quoted
            }
            State::Quoted if byte == b'"' => State::Closing,
            State::Quoted => {
                has_line_end |= is_row_end(byte);
                State::Quoted
            }
            State::Closing if byte == b'"' => State::Quoted,
            State::Start | State::Plain | State::Closing if byte == delimiter => State::Start,
            State::Closing if has_line_end => return true,
            State::Start | State::Plain | State::Closing => State::Plain,
        };
    }
    false
}

fn is_row_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Scans `buffer`. Returns the end of the last row that ends in it.
fn scan(buffer: &[u8], delimiter: u8, state: &mut State) -> Option<usize> {
    if matches!(state, State::Start | State::Plain) && memchr::memchr(b'"', buffer).is_none() {
        if let Some(&last) = buffer.last() {
            *state = if last == delimiter || is_row_end(last) { State::Start } else { State::Plain };
        }
        return memchr::memrchr2(b'\n', b'\r', buffer).map(|at| at + 1);
    }
    let mut row_end = None;
    let mut at = 0;
    while at < buffer.len() {
        *state = match *state {
            State::Start if buffer[at] == b'"' => {
                at += 1;
                State::Quoted
            }
            State::Start => State::Plain,
            State::Plain => match memchr::memchr3(delimiter, b'\n', b'\r', &buffer[at..]) {
                Some(bytes) => {
                    at += bytes + 1;
                    row_end = if buffer[at - 1] == delimiter { row_end } else { Some(at) };
                    State::Start
                }
                None => return row_end,
            },
            State::Quoted => match memchr::memchr(b'"', &buffer[at..]) {
                Some(bytes) => {
                    at += bytes + 1;
                    State::Closing
                }
                None => return row_end,
            },
            State::Closing if buffer[at] == b'"' => {
                at += 1;
                State::Quoted
            }
            State::Closing => State::Plain,
        };
    }
    row_end
}
