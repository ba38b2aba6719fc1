//! The table: rows and fields of a block of whole rows.

use csv_core::ReadRecordResult;

use crate::intake::blocks::Block;
use crate::limits::LINE_BYTES_MAX;

/// Rows of a block, one after the other.
///
/// Most rows have no quote in them, and their fields are what lies between the delimiters, to be found 32 bytes at a time and
/// used where they lie. All others go through csv-core, which is the judge of what quotes mean.
pub struct Table<'b> {
    block: &'b Block,
    /// What comes next, and its line.
    at: usize,
    line: u64,
    delimiter: u8,
    core: csv_core::Reader,
    /// The fields of the row at hand without their quotes, if it has any.
    unquoted: Vec<u8>,
    /// Where each field ends; where the next one begins in a row without quotes is a byte further.
    ends: Vec<usize>,
}

/// A row.
pub struct Row<'t> {
    /// Its line, from 1.
    pub line: u64,
    /// Its offset in the text.
    pub offset: u64,
    raw: &'t [u8],
    /// What the fields lie in.
    fields: &'t [u8],
    ends: &'t [usize],
    /// Bytes between two fields.
    gap: usize,
}

impl<'b> Table<'b> {
    pub fn new(block: &'b Block, delimiter: u8) -> Self {
        let mut core = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        // At its own start it would take a byte order mark away, and this is not the start of the text.
        core.read_record(b"\n", &mut [0], &mut [0]);
        Self {
            block,
            at: 0,
            line: block.lines_before + 1,
            delimiter,
            core,
            unquoted: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The next row that is not empty.
    pub fn next_row(&mut self) -> Option<Row<'_>> {
        let bytes = &self.block.bytes[..];
        while let Some(byte @ (b'\n' | b'\r')) = bytes.get(self.at) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        let (line, start) = (self.line, self.at);
        let rest = &bytes[start..];
        if rest.is_empty() {
            return None;
        }
        self.ends.clear();
        let end = memchr::memchr3(b'"', b'\n', b'\r', rest).expect("a block ends with the end of a row");
        let (raw, gap) = if rest[end] == b'"' {
            (&rest[..self.unquote(rest)], 0)
        } else {
            self.ends.extend(memchr::memchr_iter(self.delimiter, &rest[..end]));
            self.ends.push(end);
            (&rest[..end], 1)
        };
        self.at += raw.len();
        let fields = if gap == 1 { raw } else { &self.unquoted };
        let offset = self.block.offset + start as u64;
        Some(Row { line, offset, raw, fields, ends: &self.ends, gap })
    }

    /// Parses the row that `rest` begins with; its bytes, with those of its end.
    fn unquote(&mut self, rest: &[u8]) -> usize {
        // No field becomes longer than it is written. One byte more, because the core ends nothing in a full buffer.
        self.unquoted.resize(self.unquoted.len().max(rest.len() + 1), 0);
        self.ends.resize(self.ends.capacity().max(8), 0);
        let (mut read, mut written, mut fields) = (0, 0, 0);
        loop {
            let (result, in_bytes, out_bytes, ends) =
                self.core.read_record(&rest[read..], &mut self.unquoted[written..], &mut self.ends[fields..]);
            (read, written, fields) = (read + in_bytes, written + out_bytes, fields + ends);
            match result {
                ReadRecordResult::Record => break,
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::InputEmpty | ReadRecordResult::OutputFull | ReadRecordResult::End => {
                    unreachable!("a block has whole rows, and there is room for them: {result:?}")
                }
            }
        }
        self.ends.truncate(fields);
        self.line += memchr::memchr_iter(b'\n', &rest[..read]).count() as u64;
        read
    }

    /// The block behind the row at hand.
    pub fn rest(&self) -> Block {
        Block {
            offset: self.block.offset + self.at as u64,
            lines_before: self.line - 1,
            bytes: self.block.bytes[self.at..].to_vec(),
        }
    }
}

impl<'t> Row<'t> {
    /// How many fields it has.
    pub fn fields(&self) -> usize {
        self.ends.len()
    }

    /// The field `at`, without quotes.
    pub fn field(&self, at: usize) -> &'t [u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] + self.gap };
        &self.fields[start..self.ends[at]]
    }

    /// As it stands in the text, or its beginning.
    pub fn text(&self) -> &'t [u8] {
        self.raw[..self.raw.len().min(LINE_BYTES_MAX)].trim_ascii_end()
    }
}
