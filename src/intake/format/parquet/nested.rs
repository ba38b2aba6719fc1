//! A column of lists, structs or maps, written as JSON: the form of extension values in every other kind of table.

use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::Field;
use parquet::record::reader::{ReaderIter, RowIter, TreeBuilder};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};

use super::column::push_bytes;
use super::pages::{Pages, Room};
use super::shared::{Shared, rows_of};
use crate::intake::format::typed_text::{
    ColumnType, MILLIS, push, push_float, push_half, push_json_name, push_json_string, push_number, push_time,
};

/// Rows that are decoded together. Each may have a thousand values.
const BATCH_ROWS: usize = 64;

/// A nested column of a row group, with its values in the current batch.
pub struct Nested {
    rows: ReaderIter,
    types: Types,
    /// The JSON of each row of the batch, and the end of each.
    written: Vec<u8>,
    ends: Vec<usize>,
}

impl Nested {
    /// The column `root` of a row group. Its pages are within the limit of `room`.
    pub fn new(file: &Shared, group: &RowGroupMetaData, root: &TypePtr, room: &Arc<Room>) -> Result<Self> {
        let schema = Type::group_type_builder("schema").with_fields(vec![Arc::clone(root)]).build()?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        let types = Types::of(root, &mut schema.columns().iter());
        let group = NestedGroup {
            file: Shared { file: Arc::clone(&file.file), bytes: file.bytes },
            group,
            room: Arc::clone(room),
        };
        let rows = TreeBuilder::new().with_batch_size(BATCH_ROWS).as_iter(schema, &group)?;
        Ok(Self { rows, types, written: Vec::new(), ends: Vec::new() })
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
                push_json(value, &self.types, &mut self.written);
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

/// The types of the values in a nested column. A node of the schema with only one child is the same as this child. So nodes
/// correspond to values in every form of lists that the format knows.
enum Types {
    One(ColumnType),
    Each(Vec<Types>),
}

impl Types {
    /// The types below `node`, the first of whose `leaves` is the next one.
    fn of(node: &Type, leaves: &mut std::slice::Iter<'_, ColumnDescPtr>) -> Self {
        if node.is_primitive() {
            return Self::One(leaves.next().map_or(ColumnType::Other, |leaf| ColumnType::of_any(leaf)));
        }
        match node.get_fields() {
            [child] => Self::of(child, leaves),
            children => Self::Each(children.iter().map(|child| Self::of(child, leaves)).collect()),
        }
    }

    /// The types below the child `number` of a node.
    fn child(&self, number: usize) -> &Self {
        match self {
            Self::Each(children) => &children[number],
            Self::One(_) => self,
        }
    }

    /// The type of a value that has no others in it.
    fn one(&self) -> ColumnType {
        match self {
            Self::One(column_type) => *column_type,
            Self::Each(_) => ColumnType::Other,
        }
    }
}

/// Writes a value as JSON. A field of a struct that is null is left out.
fn push_json(value: &Field, types: &Types, out: &mut Vec<u8>) {
    match value {
        Field::Null => out.extend(b"null"),
        Field::Group(row) => {
            let is_only = row.len() == 1;
            let members = row.get_column_iter().enumerate().map(|(number, (name, value))| {
                let types = if is_only { types } else { types.child(number) };
                (name.as_bytes().to_vec(), value, types)
            });
            push_members(members, out);
        }
        Field::ListInternal(list) => {
            out.push(b'[');
            for (number, element) in list.elements().iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                push_json(element, types, out);
            }
            out.push(b']');
        }
        Field::MapInternal(map) => {
            let entries = map.entries().iter().map(|(key, value)| {
                let mut name = Vec::new();
                push_plain(key, types.child(0).one(), &mut name);
                (name, value, types.child(1))
            });
            push_members(entries, out);
        }
        plain => {
            let mut text = Vec::new();
            push_plain(plain, types.one(), &mut text);
            push_json_string(&text, out);
        }
    }
}

/// Writes an object of members. Those that are null are left out.
fn push_members<'m>(members: impl Iterator<Item = (Vec<u8>, &'m Field, &'m Types)>, out: &mut Vec<u8>) {
    out.push(b'{');
    let given = members.filter(|(_, value, _)| !matches!(value, Field::Null));
    for (number, (name, value, types)) in given.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_json_name(&name, out);
        out.push(b':');
        push_json(value, types, out);
    }
    out.push(b'}');
}

/// Writes a value that is neither a list nor a struct as if it came from a separate column.
fn push_plain(value: &Field, column_type: ColumnType, out: &mut Vec<u8>) {
    match value {
        Field::Str(text) => out.extend(text.as_bytes()),
        Field::Bytes(bytes) => out.extend(bytes.data()),
        Field::Date(days) => push_number((*days).into(), ColumnType::Date, out),
        // Nanoseconds of a type of their own, which are read as milliseconds.
        Field::TimestampMillis(millis) if column_type == ColumnType::Int96 => {
            push_time(millis.div_euclid(MILLIS), true, out);
        }
        // A time in nanoseconds is read as a number.
        Field::TimestampMillis(number) | Field::TimestampMicros(number) | Field::Long(number) => {
            push_number(*number, column_type, out);
        }
        Field::Decimal(decimal) => push_bytes(decimal.data(), column_type, out),
        Field::Float16(number) => push_half(number.to_bits(), out),
        Field::Float(number) => push_float(*number, out),
        Field::Double(number) => push_float(*number, out),
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
        let rows = rows_of(self.group)?;
        Ok(Box::new(Pages::new(&self.file, self.group.column(at), rows, Arc::clone(&self.room))?))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, _: Option<Type>) -> Result<RowIter<'_>> {
        Err(ParquetError::General("rows are read by column".into()))
    }
}
