//! A column of Parquet, with its values as text.

use std::fmt::Display;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use crate::intake::format::typed_text::{
    ColumnType, push, push_decimal, push_float, push_half, push_number, push_time,
};

/// Maximum number of bytes shown of a value that is not text.
const SHOWN_BYTES_MAX: usize = 16;

/// A column of a row group, with its values in the current batch.
pub struct Column {
    reader: ColumnReader,
    column_type: ColumnType,
    /// The definition level of a value that is not null.
    present: i16,
    levels: Vec<i16>,
    /// Values that are text. They are not copied.
    texts: Vec<ByteArray>,
    /// The texts of all other values in a row, and the end of each.
    written: Vec<u8>,
    ends: Vec<usize>,
    /// The value of each row of the batch.
    places: Vec<Option<u32>>,
}

impl Column {
    pub fn new(reader: ColumnReader, column_type: ColumnType, descriptor: &ColumnDescriptor) -> Self {
        Self {
            reader,
            column_type,
            present: descriptor.max_def_level(),
            levels: Vec::new(),
            texts: Vec::new(),
            written: Vec::new(),
            ends: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Reads the next `rows` rows.
    pub fn read(&mut self, rows: usize) -> Result<()> {
        self.levels.clear();
        self.texts.clear();
        self.written.clear();
        self.ends.clear();
        let (levels, out, ends, column_type) =
            (&mut self.levels, &mut self.written, &mut self.ends, self.column_type);
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) if column_type == ColumnType::Text => {
                fill(reader, rows, levels, &mut self.texts)?;
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                each(reader, rows, levels, |value| write_bytes(value.data(), column_type, out, ends))?;
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) if column_type == ColumnType::Text => {
                each(reader, rows, levels, |value| self.texts.push(value.into()))?;
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                each(reader, rows, levels, |value| write_bytes(value.data(), column_type, out, ends))?;
            }
            ColumnReader::BoolColumnReader(reader) => {
                each(reader, rows, levels, |value| write_text(format_args!("{value}"), out, ends))?;
            }
            ColumnReader::Int32ColumnReader(reader) => {
                each(reader, rows, levels, |value| match column_type {
                    ColumnType::Unsigned => write_text(format_args!("{}", value.cast_unsigned()), out, ends),
                    _ => write_number(value.into(), column_type, out, ends),
                })?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                each(reader, rows, levels, |value| write_number(value, column_type, out, ends))?;
            }
            ColumnReader::Int96ColumnReader(reader) => each(reader, rows, levels, |value| {
                push_time(value.to_seconds(), true, out);
                ends.push(out.len());
            })?,
            ColumnReader::FloatColumnReader(reader) => {
                each(reader, rows, levels, |value| write_float(value, out, ends))?;
            }
            ColumnReader::DoubleColumnReader(reader) => {
                each(reader, rows, levels, |value| write_float(value, out, ends))?;
            }
        }
        self.place(rows)
    }

    /// Determines which rows have a value.
    fn place(&mut self, rows: usize) -> Result<()> {
        let values = self.texts.len() + self.ends.len();
        self.places.clear();
        if self.present == 0 {
            self.places.extend((0..rows as u32).map(Some));
        } else {
            let mut next = 0..;
            let present = self.present;
            self.places
                .extend(self.levels.iter().map(|&level| if level == present { next.next() } else { None }));
        }
        match self.places.iter().flatten().count() == values && self.places.len() == rows {
            true => Ok(()),
            false => {
                Err(ParquetError::General("a column has fewer values than its row group has rows".into()))
            }
        }
    }

    /// The value of the row `at` of the batch; empty for null.
    pub fn value(&self, at: usize) -> &[u8] {
        match self.places[at].map(|place| place as usize) {
            None => &[],
            Some(place) if self.column_type == ColumnType::Text => self.texts[place].as_bytes(),
            Some(place) => {
                let start = if place == 0 { 0 } else { self.ends[place - 1] };
                &self.written[start..self.ends[place]]
            }
        }
    }
}

/// Reads `rows` rows, from one or more pages.
fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<()> {
    let mut rows_read = 0;
    while rows_read < rows {
        match reader.read_records(rows - rows_read, Some(levels), None, values)? {
            (0, ..) => break,
            (records, ..) => rows_read += records,
        }
    }
    Ok(())
}

fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    write: impl FnMut(T::T),
) -> Result<()> {
    let mut values = Vec::with_capacity(rows);
    fill(reader, rows, levels, &mut values)?;
    values.into_iter().for_each(write);
    Ok(())
}

fn write_number(value: i64, column_type: ColumnType, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
    push_number(value, column_type, out);
    ends.push(out.len());
}

fn write_float(value: impl Into<f64> + Display + Copy, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
    push_float(value, out);
    ends.push(out.len());
}

fn write_bytes(value: &[u8], column_type: ColumnType, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
    push_bytes(value, column_type, out);
    ends.push(out.len());
}

/// Writes the bytes of a value that is not text.
pub fn push_bytes(value: &[u8], column_type: ColumnType, out: &mut Vec<u8>) {
    match (column_type, whole(value), value) {
        (ColumnType::Decimal { digits }, Some(number), _) => push_decimal(number, digits, out),
        (ColumnType::Float16, _, &[low, high]) => push_half(u16::from_le_bytes([low, high]), out),
        _ => {
            push(out, format_args!("0x"));
            value.iter().take(SHOWN_BYTES_MAX).for_each(|byte| push(out, format_args!("{byte:02x}")));
        }
    }
}

/// The number in `bytes`, in two's complement with the highest byte first; `None` if it needs more than 16 bytes.
fn whole(bytes: &[u8]) -> Option<i128> {
    let first = bytes.first().map_or(0, |byte| byte.cast_signed());
    // Bytes that only repeat the sign.
    let mut bytes = bytes;
    while let [carry, next, ..] = *bytes
        && carry.cast_signed() == first >> 7
        && (next.cast_signed() < 0) == (first < 0)
    {
        bytes = &bytes[1..];
    }
    let sign = if first < 0 { -1 } else { 0 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte)))
}

fn write_text(text: std::fmt::Arguments<'_>, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
    push(out, text);
    ends.push(out.len());
}
