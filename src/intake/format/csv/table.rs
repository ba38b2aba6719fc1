//! Tables: the rows and fields of a block of whole rows.

use csv_core::ReadRecordResult;

use crate::intake::blocks::TextBlock;
use crate::intake::format::dialect::Dialect;
use crate::intake::format::row_ends::has_torn_value;
use crate::limits::LINE_BYTES_MAX;

/// How databases write a missing value (`COPY` of PostgreSQL, `OUTFILE` of MySQL, Hive). No URL, tag or name is like this.
const NULL: &[u8] = br"\N";

/// Reads the rows of a block.
///
/// Most rows have no quotes. Their fields are the bytes between the delimiters, which are found 32 bytes at a time, and are not
/// copied. csv-core reads all other rows and decides what quotes mean.
pub struct Table<'b> {
    block: &'b TextBlock,
    /// The start of the next row, and its line.
    at: usize,
    line: u64,
    dialect: Dialect,
    /// Built for the first row with quotes: its tables take as long as hundreds of rows.
    core: Option<csv_core::Reader>,
    /// The fields of the current row without their quotes, if it has quotes.
    unquoted: Vec<u8>,
    /// The end of each field. In a row without quotes the next field begins one byte further.
    ends: Vec<usize>,
    /// Whether the last row with quotes is torn.
    is_torn: bool,
}

/// A row of a table.
pub struct TableRow<'t> {
    /// Its line, from 1.
    pub line: u64,
    /// Its offset in the text.
    pub offset: u64,
    /// Whether it has most likely swallowed other rows: see [`has_torn_value`].
    pub is_torn: bool,
    raw: &'t [u8],
    /// The bytes of the fields.
    fields: &'t [u8],
    ends: &'t [usize],
    /// Bytes between two fields.
    gap: usize,
}

impl<'b> Table<'b> {
    pub fn new(block: &'b TextBlock, dialect: Dialect) -> Self {
        let line = block.lines_before + 1;
        let (unquoted, ends) = (Vec::new(), Vec::new());
        Self { block, at: 0, line, dialect, core: None, unquoted, ends, is_torn: false }
    }

    /// The next row that is not empty.
    pub fn next_row(&mut self) -> Option<TableRow<'_>> {
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
            self.ends.extend(memchr::memchr_iter(self.dialect.delimiter(), &rest[..end]));
            self.ends.push(end);
            (&rest[..end], 1)
        };
        self.at += raw.len();
        let fields = if gap == 1 { raw } else { &self.unquoted };
        let offset = self.block.offset + start as u64;
        let is_torn = gap == 0 && self.is_torn;
        Some(TableRow { line, offset, is_torn, raw, fields, ends: &self.ends, gap })
    }

    /// Parses the row at the start of `rest`. Returns its length with the line end.
    fn unquote(&mut self, rest: &[u8]) -> usize {
        // Fields do not grow. One byte more is needed, because csv-core does not end a field in a full buffer.
        self.unquoted.resize(self.unquoted.len().max(rest.len() + 1), 0);
        self.ends.resize(self.ends.capacity().max(8), 0);
        let core = self.core.get_or_insert_with(|| core(self.dialect));
        let (mut read, mut written, mut fields) = (0, 0, 0);
        loop {
            let (result, in_bytes, out_bytes, ends) =
                core.read_record(&rest[read..], &mut self.unquoted[written..], &mut self.ends[fields..]);
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
        let (row, end) = rest[..read].split_at(read - 1);
        self.is_torn = memchr::memchr2(b'\n', b'\r', row).is_some() && has_torn_value(row, self.dialect);
        self.line += memchr::memchr_iter(b'\n', row).count() as u64 + u64::from(end == b"\n");
        read
    }

    /// The block after the current row.
    pub fn rest(&self) -> TextBlock {
        TextBlock {
            offset: self.block.offset + self.at as u64,
            lines_before: self.line - 1,
            bytes: self.block.bytes[self.at..].to_vec(),
        }
    }
}

/// A reader of rows anywhere in the text.
fn core(dialect: Dialect) -> csv_core::Reader {
    let mut core = dialect.reader();
    // csv-core skips a byte order mark at its start, but this is not the start of the text.
    core.read_record(b"\n", &mut [0], &mut [0]);
    core
}

impl<'t> TableRow<'t> {
    /// The number of its fields.
    pub fn fields(&self) -> usize {
        self.ends.len()
    }

    /// The field `at`, without quotes; empty if it is [`NULL`].
    #[inline]
    pub fn field(&self, at: usize) -> &'t [u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] + self.gap };
        let field = &self.fields[start..self.ends[at]];
        if field == NULL { b"" } else { field }
    }

    /// Its text in the input, cut to the length of a line.
    pub fn text(&self) -> &'t [u8] {
        self.raw[..self.raw.len().min(LINE_BYTES_MAX)].trim_ascii_end()
    }
}
