//! A column of lists, structs or maps, written as JSON: the form of extension values in every other kind of table.

use std::sync::Arc;

use parquet::basic::LogicalType;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{ReaderIter, RowIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};

use super::pages::{Pages, Room};
use super::shared::Shared;
use crate::intake::format::typed_text::{ColumnType, push, push_json_string, push_number, push_time};

/// Rows that are decoded together. Each may have a thousand values.
const BATCH_ROWS: usize = 64;

/// A nested column of a row group, with its values in the current batch.
pub struct Nested {
    rows: ReaderIter,
    /// Whether all its times are instants. Otherwise none is given a zone.
    is_utc: bool,
    /// The JSON of each row of the batch, and the end of each.
    written: Vec<u8>,
    ends: Vec<usize>,
}

impl Nested {
    /// The column `root` of a row group. Its pages are within the limit of `room`.
    pub fn new(file: &Shared, group: &RowGroupMetaData, root: &TypePtr, room: &Arc<Room>) -> Result<Self> {
        let schema = Type::group_type_builder("schema").with_fields(vec![Arc::clone(root)]).build()?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        let is_local = |column: &ColumnDescPtr| matches!(column.logical_type_ref(), Some(LogicalType::Timestamp(time)) if !time.is_adjusted_to_u_t_c);
        let is_utc = !schema.columns().iter().any(is_local);
        let group = NestedGroup {
            file: Shared { file: Arc::clone(&file.file), bytes: file.bytes },
            group,
            room: Arc::clone(room),
        };
        let rows = TreeBuilder::new().with_batch_size(BATCH_ROWS).as_iter(schema, &group)?;
        Ok(Self { rows, is_utc, written: Vec::new(), ends: Vec::new() })
    }

    /// Reads the next `rows` rows.
    pub fn read(&mut self, rows: usize) -> Result<()> {
        self.written.clear();
        self.ends.clear();
        for _ in 0..rows {
            let row = self.rows.next().transpose()?;
            let row = row
                .ok_or_else(|| ParquetError::General("a column has fewer rows than its row group".into()))?;
            let value = row.get_column_iter().next().map(|(_, value)| value);
            if let Some(value) = value.filter(|value| !matches!(value, Field::Null)) {
                push_json(value, self.is_utc, &mut self.written);
            }
            self.ends.push(self.written.len());
        }
        Ok(())
    }

    /// The JSON of the row `at` of the batch; empty for null.
    pub fn value(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.written[start..self.ends[at]]
    }
}

/// Writes a value as JSON. A field of a struct that is null is left out.
fn push_json(value: &Field, is_utc: bool, out: &mut Vec<u8>) {
    match value {
        Field::Null => out.extend(b"null"),
        Field::Group(row) => push_struct(row, is_utc, out),
        Field::ListInternal(list) => {
            out.push(b'[');
            for (number, element) in list.elements().iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                push_json(element, is_utc, out);
            }
            out.push(b']');
        }
        Field::MapInternal(map) => {
            let entries = map.entries().iter().map(|(key, value)| {
                let mut name = Vec::new();
                push_plain(key, is_utc, &mut name);
                (name, value)
            });
            push_members(entries, is_utc, out);
        }
        plain => {
            let mut text = Vec::new();
            push_plain(plain, is_utc, &mut text);
            push_json_string(&text, out);
        }
    }
}

fn push_struct(row: &Row, is_utc: bool, out: &mut Vec<u8>) {
    push_members(row.get_column_iter().map(|(name, value)| (name.as_bytes().to_vec(), value)), is_utc, out);
}

/// Writes an object of members. Those that are null are left out.
fn push_members<'m>(members: impl Iterator<Item = (Vec<u8>, &'m Field)>, is_utc: bool, out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, (name, value)) in members.filter(|(_, value)| !matches!(value, Field::Null)).enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_json_string(&name, out);
        out.push(b':');
        push_json(value, is_utc, out);
    }
    out.push(b'}');
}

/// Writes a value that is neither a list nor a struct as if it came from a separate column.
fn push_plain(value: &Field, is_utc: bool, out: &mut Vec<u8>) {
    match value {
        Field::Str(text) => out.extend(text.as_bytes()),
        Field::Bytes(bytes) => out.extend(bytes.data()),
        Field::Date(days) => push_number((*days).into(), ColumnType::Date, out),
        Field::TimestampMillis(millis) => push_time(millis.div_euclid(1_000), is_utc, out),
        Field::TimestampMicros(micros) => push_time(micros.div_euclid(1_000_000), is_utc, out),
        // The shortest text for this number, without an exponent.
        Field::Float(number) => push(out, format_args!("{number}")),
        Field::Double(number) => push(out, format_args!("{number}")),
        other => push(out, format_args!("{other}")),
    }
}

/// A row group. Only the columns below one root are read.
struct NestedGroup<'g> {
    file: Shared,
    group: &'g RowGroupMetaData,
    room: Arc<Room>,
}

impl RowGroupReader for NestedGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.group
    }

    fn num_columns(&self) -> usize {
        self.group.num_columns()
    }

    fn get_column_page_reader(&self, at: usize) -> Result<Box<dyn PageReader>> {
        let rows = usize::try_from(self.group.num_rows())
            .map_err(|_| ParquetError::General("a row group has fewer than no rows".into()))?;
        Ok(Box::new(Pages::new(&self.file, self.group.column(at), rows, Arc::clone(&self.room))?))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, _: Option<Type>) -> Result<RowIter<'_>> {
        Err(ParquetError::General("rows are read by column".into()))
    }
}
