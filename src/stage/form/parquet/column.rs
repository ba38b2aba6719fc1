//! A column of Parquet, its values as text.

use std::io::Write;

use jiff::Timestamp;
use jiff::tz::Offset;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use crate::stage::form::columns::Part;
use crate::stage::tags::civil_text;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// Counts since 1970, so many a second.
    Time {
        per_second: i64,
        is_utc: bool,
    },
    /// Days since 1970.
    Date,
    /// Days and nanoseconds, in a type of its own.
    Int96,
    Whole,
    Float,
    /// Whole numbers with so many digits behind the point.
    Decimal {
        digits: usize,
    },
}

const MILLIS: i64 = 1_000;
const MICROS: i64 = 1_000_000;
const NANOS: i64 = 1_000_000_000;

impl Kind {
    /// The kind of `column`, if the values of `part` can be that.
    ///
    /// # Errors
    /// If not: which column it is, what it holds and what was expected.
    pub fn of(part: Part, column: &ColumnDescriptor) -> std::result::Result<Self, String> {
        let expected = match part {
            Part::Lastmod => "text, a date, a time stamp or a number",
            Part::Priority => "text or a number",
            _ => "text",
        };
        match (part, Self::of_any(column)) {
            (_, Some(Self::Text)) => Ok(Self::Text),
            (Part::Lastmod, Some(kind)) => Ok(kind),
            (Part::Priority, Some(kind @ (Self::Whole | Self::Float | Self::Decimal { .. }))) => Ok(kind),
            _ => {
                let name = crate::text::shown(column.path().string().as_bytes());
                let holds = match column.logical_type_ref() {
                    Some(logical) => format!("{logical:?}"),
                    None => column.physical_type().to_string(),
                };
                Err(format!("column {name} holds {holds}; expected {expected}; name another with --columns"))
            }
        }
    }

    fn of_any(column: &ColumnDescriptor) -> Option<Self> {
        if column.max_rep_level() > 0 {
            return None;
        }
        let in_utc = |per_second| Self::Time { per_second, is_utc: true };
        let decimal = || Self::Decimal { digits: usize::try_from(column.type_scale()).unwrap_or_default() };
        // The older way of saying what a number means, from before there were logical types.
        let converted = column.converted_type();
        let kind = match (column.physical_type(), column.logical_type_ref()) {
            (Type::BYTE_ARRAY, None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
                match converted {
                    ConvertedType::DECIMAL | ConvertedType::BSON => return None,
                    _ => Self::Text,
                }
            }
            (Type::INT96, _) => Self::Int96,
            (Type::INT64, Some(LogicalType::Timestamp(time))) => {
                let per_second = match time.unit {
                    TimeUnit::MILLIS => MILLIS,
                    TimeUnit::MICROS => MICROS,
                    TimeUnit::NANOS => NANOS,
                };
                Self::Time { per_second, is_utc: time.is_adjusted_to_u_t_c }
            }
            (Type::INT64, None) if converted == ConvertedType::TIMESTAMP_MILLIS => in_utc(MILLIS),
            (Type::INT64, None) if converted == ConvertedType::TIMESTAMP_MICROS => in_utc(MICROS),
            (Type::INT32, Some(LogicalType::Date)) => Self::Date,
            (Type::INT32, None) if converted == ConvertedType::DATE => Self::Date,
            (Type::INT32 | Type::INT64, Some(LogicalType::Decimal(_))) => decimal(),
            (Type::INT32 | Type::INT64, None) if converted == ConvertedType::DECIMAL => decimal(),
            (Type::INT32 | Type::INT64, None | Some(LogicalType::Integer(_))) => Self::Whole,
            (Type::FLOAT | Type::DOUBLE, _) => Self::Float,
            _ => return None,
        };
        Some(kind)
    }
}

/// A column of a row group, and its values in the batch at hand.
pub struct Column {
    reader: ColumnReader,
    kind: Kind,
    /// The definition level of a value that is there.
    present: i16,
    levels: Vec<i16>,
    /// Values that are text need no copy.
    texts: Vec<ByteArray>,
    /// The text of all others, one behind the other, and where each ends.
    written: Vec<u8>,
    ends: Vec<usize>,
    /// For each row of the batch the value that it has.
    places: Vec<Option<u32>>,
}

impl Column {
    pub fn new(reader: ColumnReader, kind: Kind, descriptor: &ColumnDescriptor) -> Self {
        Self {
            reader,
            kind,
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
        let (levels, out, ends, kind) = (&mut self.levels, &mut self.written, &mut self.ends, self.kind);
        match &mut self.reader {
            ColumnReader::ByteArrayColumnReader(reader) => fill(reader, rows, levels, &mut self.texts)?,
            ColumnReader::Int32ColumnReader(reader) => {
                each(reader, rows, levels, |value| write_number(value.into(), kind, out, ends))?;
            }
            ColumnReader::Int64ColumnReader(reader) => {
                each(reader, rows, levels, |value| write_number(value, kind, out, ends))?;
            }
            ColumnReader::Int96ColumnReader(reader) => each(reader, rows, levels, |value| {
                write_time(value.to_seconds(), true, out);
                ends.push(out.len());
            })?,
            // The shortest text that means the same number, and never an exponent.
            ColumnReader::FloatColumnReader(reader) => {
                each(reader, rows, levels, |value| write_text(format_args!("{value}"), out, ends))?;
            }
            ColumnReader::DoubleColumnReader(reader) => {
                each(reader, rows, levels, |value| write_text(format_args!("{value}"), out, ends))?;
            }
            _ => {
                return Err(ParquetError::General("a column is not of the type that its schema says".into()));
            }
        }
        self.place(rows)
    }

    /// Finds out which rows have a value.
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
            Some(place) if self.kind == Kind::Text => self.texts[place].as_bytes(),
            Some(place) => {
                let start = if place == 0 { 0 } else { self.ends[place - 1] };
                &self.written[start..self.ends[place]]
            }
        }
    }
}

/// Reads `rows` rows, over as many pages as they lie on.
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

fn write_number(value: i64, kind: Kind, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
    const DAY_SECONDS: i64 = 86_400;
    match kind {
        Kind::Time { per_second, is_utc } => write_time(value.div_euclid(per_second), is_utc, out),
        Kind::Date => match Timestamp::from_second(value.saturating_mul(DAY_SECONDS)) {
            Ok(time) => push(out, format_args!("{}", Offset::UTC.to_datetime(time).date())),
            Err(_) => push(out, format_args!("day {value}")),
        },
        Kind::Decimal { digits } => {
            let text = format!("{:0width$}", value.unsigned_abs(), width = digits + 1);
            let (whole, fraction) = text.split_at(text.len() - digits);
            let (sign, point) = (if value < 0 { "-" } else { "" }, if digits > 0 { "." } else { "" });
            push(out, format_args!("{sign}{whole}{point}{fraction}"));
        }
        _ => push(out, format_args!("{value}")),
    }
    ends.push(out.len());
}

/// An instant as W3C Datetime, with `Z` only if it is one; beyond the calendar a text that is none, to be refused.
fn write_time(seconds: i64, is_utc: bool, out: &mut Vec<u8>) {
    match Timestamp::from_second(seconds).map(|time| Offset::UTC.to_datetime(time)) {
        Ok(local) if local.year() >= 0 => {
            out.extend(civil_text(local));
            out.extend(is_utc.then_some(b'Z'));
        }
        _ => push(out, format_args!("second {seconds}")),
    }
}

fn write_text(text: std::fmt::Arguments<'_>, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
    push(out, text);
    ends.push(out.len());
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a Vec takes all that is written to it");
}
