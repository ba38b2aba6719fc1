//! The table: a stream cut into rows and fields, in memory that no field can exceed.

use std::io::Read;

use csv_core::ReadFieldResult;

use crate::error::{Error, Result};
use crate::limits::LINE_BYTES_MAX;
use crate::stage::form::ROW_BYTES_MAX;
use crate::stage::form::unpack::Text;

const PIECE_BYTES: usize = 256 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Where fields go that nobody asked for.
const SINK_BYTES: usize = 4096;

/// Rows and fields of a stream.
pub struct Table<'n> {
    text: Text<'n>,
    stream: Box<dyn Read + Send>,
    core: csv_core::Reader,
    piece: Box<[u8]>,
    /// What of `piece` is not yet parsed.
    at: usize,
    end: usize,
    /// The offset of `piece` in the text.
    piece_offset: u64,
    /// The row at hand: its line, its offset, and where it begins in `piece`, or goes on if it began before.
    line: u64,
    offset: u64,
    row_at: usize,
    /// The beginning of the row that is no longer in `piece`.
    row_before: Vec<u8>,
    unwanted: Box<[u8]>,
}

/// The end of a field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Bytes that were kept of it.
    pub bytes_kept: usize,
    /// Whether its row ends here.
    pub is_last: bool,
}

impl<'n> Table<'n> {
    pub fn new(text: Text<'n>, delimiter: u8) -> Self {
        let (stream, text) = text.split();
        Self {
            text,
            stream,
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            piece: vec![0; PIECE_BYTES].into(),
            at: 0,
            end: 0,
            piece_offset: 0,
            line: 0,
            offset: 0,
            row_at: 0,
            row_before: Vec::new(),
            unwanted: vec![0; SINK_BYTES].into(),
        }
    }

    /// The line and the offset at which the row at hand begins.
    pub fn row(&self) -> (u64, u64) {
        (self.line, self.offset)
    }

    /// The row at hand as it stands in the text, or its beginning.
    pub fn row_text(&self) -> Vec<u8> {
        let mut text = self.row_before.clone();
        append_some(&mut text, &self.piece[self.row_at..self.at]);
        text.truncate(text.trim_ascii_end().len());
        text
    }

    /// Goes to the next row, past empty lines; false at the end.
    pub fn start_row(&mut self) -> Result<bool> {
        self.row_before.clear();
        self.row_at = self.end;
        if self.piece_offset == 0 && self.end == 0 && !self.refill_past_mark()? {
            return Ok(false);
        }
        loop {
            while let Some(byte @ (b'\n' | b'\r')) = self.piece[..self.end].get(self.at) {
                self.core.set_line(self.core.line() + u64::from(*byte == b'\n'));
                self.at += 1;
            }
            if self.at < self.end {
                break;
            }
            if !self.refill()? {
                return Ok(false);
            }
        }
        self.row_at = self.at;
        self.line = self.core.line();
        self.offset = self.piece_offset + self.at as u64;
        Ok(true)
    }

    /// Reads the next field of the row; as much of it as there is room for is kept in `kept`.
    pub fn field(&mut self, kept: &mut [u8]) -> Result<Field> {
        let mut bytes_kept = 0;
        loop {
            // To the core, no bytes would mean the end.
            if self.at == self.end {
                if !self.refill()? {
                    return self.last_field(bytes_kept);
                }
                if self.piece_offset - self.offset > ROW_BYTES_MAX {
                    return Err(self.open_quote(format!("has more than {ROW_BYTES_MAX} bytes")));
                }
            }
            let has_room = bytes_kept < kept.len();
            let out = if has_room { &mut kept[bytes_kept..] } else { &mut self.unwanted[..] };
            let (result, read, written) = self.core.read_field(&self.piece[self.at..self.end], out);
            self.at += read;
            bytes_kept += if has_room { written } else { 0 };
            match result {
                ReadFieldResult::Field { record_end: is_last } => return Ok(Field { bytes_kept, is_last }),
                ReadFieldResult::OutputFull | ReadFieldResult::InputEmpty => {}
                ReadFieldResult::End => unreachable!("the core is never told of the end"),
            }
        }
    }

    /// The end of the text is the end of its last line, unless a quote is open there.
    fn last_field(&mut self, bytes_kept: usize) -> Result<Field> {
        match self.core.read_field(b"\n", &mut self.unwanted) {
            (ReadFieldResult::Field { .. }, ..) => Ok(Field { bytes_kept, is_last: true }),
            _ => Err(self.open_quote("goes on to the end of the file".into())),
        }
    }

    /// Reads on, and keeps what the row at hand needs of the old piece; false at the end.
    fn refill(&mut self) -> Result<bool> {
        let row = self.row_at.min(self.end)..self.end;
        append_some(&mut self.row_before, &self.piece[row]);
        self.piece_offset += self.end as u64;
        (self.at, self.end, self.row_at) = (0, 0, 0);
        while self.end == 0 {
            match self.stream.read(&mut self.piece) {
                Ok(0) => return Ok(false),
                Ok(bytes) => self.end = bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.text.failed(error)),
            }
        }
        Ok(true)
    }

    /// The first piece, without the byte order mark, which is no part of the first name.
    fn refill_past_mark(&mut self) -> Result<bool> {
        let is_any = self.refill()?;
        if self.piece[..self.end].starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
        Ok(is_any)
    }

    fn open_quote(&self, what: String) -> Error {
        let line = self.line;
        self.wrong(format!("line {line}: the row {what}: most likely a quote that is never closed"))
    }

    /// The table is not what it should be.
    pub fn wrong(&self, message: String) -> Error {
        self.text.wrong(message)
    }
}

/// Appends as much as a bad row is shown with.
fn append_some(text: &mut Vec<u8>, more: &[u8]) {
    text.extend_from_slice(&more[..more.len().min(LINE_BYTES_MAX.saturating_sub(text.len()))]);
}
