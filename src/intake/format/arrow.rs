//! Arrow: record batches of data frames, databases and query engines, read without a copy of their values.
//!
//! A batch may have any number of rows. It is split into units of [`UNIT_ROWS`] rows, which all threads read. A unit is a view of
//! the batch, not a copy. Columns have the same names and types as in Parquet. Lists of structs contain the values of extensions.

mod column;
mod encoded;
mod kind;
mod nested;
mod texts;
mod typed;
mod urls;

use std::io;
use std::path::Path;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::columns::{Columns, EachPart, RowPart};
use super::found::ColumnsFound;
use super::reader::{OnBytes, RowReader, small_units, small_units_of_urls};
use super::row::{CountingSink, Record};
use crate::common::array;
use crate::error::{Error, Message, Result, message};
use crate::sitemap::extensions::{ExtrasBuffer, RawExtras};
use column::Column;
use kind::Kind;
use urls::Urls;

/// Rows per unit. With typical URLs, a unit is about as large as a block of text.
const UNIT_ROWS: usize = 4096;

/// Record batches with a schema.
pub struct ArrowRows<'a> {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a>,
}

impl<'a> ArrowRows<'a> {
    /// Creates an input with the rows of all batches of `reader`.
    pub fn new(reader: impl RecordBatchReader + Send + 'a) -> Self {
        Self { schema: reader.schema(), batches: Box::new(reader) }
    }

    /// Reads the batches as the input `name`, with the column names in `columns`. `watch` is called with the bytes of each unit
    /// and returns false to stop reading.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if a column is missing or its type cannot hold a URL.
    pub fn open<'n>(
        self,
        name: &'n Path,
        columns: &Columns,
        mut watch: Box<OnBytes<'a>>,
    ) -> Result<RowReader<'n>>
    where
        'a: 'n,
    {
        let map = ColumnMap::of(&self.schema, columns)
            .map_err(|message| Error::data(message!(name, ": ", message)))?;
        let found = map.found.clone();
        let failed = move |rows: u64, cause: io::Error| {
            Error::io(name, format!("the rows after row {rows} could not be read"), cause)
        };
        let mut rows_before = 0;
        let mut batches = self.batches;
        let mut current: Option<(RecordBatch, usize)> = None;
        let used = map.used();
        let units = std::iter::from_fn(move || {
            loop {
                if let Some((batch, at)) = current.take_if(|(batch, at)| *at < batch.num_rows()) {
                    let rows = UNIT_ROWS.min(batch.num_rows() - at);
                    let unit = Unit { rows_before, batch: batch.slice(at, rows) };
                    if !watch(unit.bytes(&used)) {
                        return Some(Err(failed(rows_before, io::Error::other("cancelled"))));
                    }
                    rows_before += rows as u64;
                    current = Some((batch, at + rows));
                    return Some(Ok(unit));
                }
                match batches.next()? {
                    Ok(batch) => current = Some((batch, 0)),
                    Err(cause) => return Some(Err(failed(rows_before, io::Error::other(cause)))),
                }
            }
        });
        let (only_urls, has_other_columns) = (map.only_urls(), map.has_other_columns);
        let read = move |unit: &Unit, rows: &mut CountingSink<'_>| map.read(unit, rows);
        let units = match only_urls {
            None => small_units(units, read),
            Some(at) => small_units_of_urls(units, read, move |unit| {
                let columns = unit.batch.num_columns();
                let others: Vec<usize> = (0..columns).filter(|&other| other != at).collect();
                Urls::of(unit.batch.column(at), has_other_columns, unit.bytes(&others) as usize)
            }),
        };
        Ok(RowReader { units, columns: Some(found) })
    }
}

/// Consecutive rows of a batch, and the number of rows before them.
struct Unit {
    rows_before: u64,
    batch: RecordBatch,
}

impl Unit {
    /// Bytes of the values in the columns `used`.
    fn bytes(&self, used: &[usize]) -> u64 {
        let of_column = |&at: &usize| self.batch.column(at).to_data().get_slice_memory_size().unwrap_or(0);
        used.iter().map(of_column).sum::<usize>() as u64
    }
}

/// Which column holds each part of a row, and how it is read.
struct ColumnMap {
    kinds: EachPart<Option<(usize, Kind)>>,
    found: ColumnsFound,
    /// Whether there are columns that are not read.
    has_other_columns: bool,
}

impl ColumnMap {
    fn of(schema: &SchemaRef, columns: &Columns) -> Result<Self, Message> {
        let names: Vec<&[u8]> = schema.fields().iter().map(|field| field.name().as_bytes()).collect();
        let places = columns.places(&names).map_err(|missing| {
            match names.iter().find(|name| columns.is_below(name, missing.part)) {
                None => missing.message("column"),
                Some(name) => {
                    let name = crate::escape::shown(name);
                    message!("names with dots do not lead into {name}; make its field a column of its own")
                }
            }
        })?;
        let mut kinds: EachPart<Option<(usize, Kind)>> = Default::default();
        for (part, place) in RowPart::ALL.into_iter().zip(places) {
            let Some(at) = place else { continue };
            let kind = Kind::of(part, schema.field(at));
            kinds[part.number()] = match part.extension() {
                // A column `images` may contain the number of images, which is not a reason to reject the rows.
                Some(_) if !columns.is_said(part) => {
                    kind.ok().filter(Kind::holds_extension).map(|kind| (at, kind))
                }
                _ => Some((at, kind?)),
            };
        }
        let used = kinds.each_ref().map(|kind| kind.as_ref().map(|(at, _)| *at));
        columns.check_unique(&names, &used)?;
        let has_other_columns = used.iter().flatten().count() < names.len();
        Ok(Self { found: ColumnsFound::of(columns, &names, used), kinds, has_other_columns })
    }

    /// The index of the URL column, if it is the only column read and its values are text.
    fn only_urls(&self) -> Option<usize> {
        let mut used = self.kinds.iter().flatten();
        match (used.next(), used.next()) {
            (Some(&(at, Kind::Text)), None) => Some(at),
            _ => None,
        }
    }

    /// The indexes of the columns that are read.
    fn used(&self) -> Vec<usize> {
        self.kinds.iter().flatten().map(|(at, _)| *at).collect()
    }

    fn read(&self, unit: &Unit, rows: &mut CountingSink<'_>) -> Result<()> {
        let mut columns: Vec<(usize, Column, Vec<u8>)> = self
            .kinds
            .iter()
            .enumerate()
            .filter_map(|(part, kind)| kind.as_ref().map(|kind| (part, kind)))
            .map(|(part, (at, kind))| (part, Column::new(*kind, unit.batch.column(*at)), Vec::new()))
            .collect();
        // Most frames have none, and looking for them would take as long as judging a URL.
        let has_cells = columns.iter().any(|(part, ..)| *part >= RowPart::PLAIN);
        let mut extras = ExtrasBuffer::default();
        for at in 0..unit.batch.num_rows() {
            let mut values = [&b""[..]; RowPart::ALL.len()];
            for (part, column, text) in &mut columns {
                values[*part] = column.value(at, text);
            }
            let (offset, plain) = (unit.rows_before + at as u64, array::from_fn(|part| values[part]));
            let extras = match has_cells {
                true => rows.read_cells(values[RowPart::PLAIN..].iter().copied(), &mut extras),
                false => RawExtras::default(),
            };
            let record = Record::of_parts(offset + 1, offset, plain, extras);
            rows.record_of(&record, self.has_other_columns)?;
        }
        Ok(())
    }
}
