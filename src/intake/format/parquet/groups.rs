//! Row groups of a Parquet file. Only needed columns are read, a batch of rows at a time.
//!
//! Columns of time become W3C Datetime: instants in UTC with `Z`, local times without a zone. INT96, the time stamp of
//! old Spark and Hive, is read as UTC, as Spark writes it. Lists, structs and maps are read only as values of tags.
//!
//! A damaged file must not end the run or fill its memory: panics of the crate become errors (`contained`), and the headers of
//! pages are checked (`pages`).

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition};
use parquet::column::reader::get_column_reader;
use parquet::errors::{self, ParquetError};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::schema::types::{SchemaDescriptor, TypePtr};

use super::column::Column;
use super::column_type::is_null;
use super::nested::Nested;
use super::pages::{Pages, Room, Unreadable};
use super::shared::{BATCH_ROWS, Shared, rows_of};
use crate::common::array;
use crate::common::contain;
use crate::error::{Error, Message, Result, Setting, message};
use crate::intake::format::columns::{Columns, EachPart, RowPart};
use crate::intake::format::found::ColumnsFound;
use crate::intake::format::row::{CountingSink, Record};
use crate::intake::format::spec::Hints;
use crate::intake::format::typed_text::ColumnType;
use crate::intake::read_at::ReadAt;
use crate::sitemap::extensions::{ExtrasBuffer, RawExtras};

/// Default memory limit for pages.
const PAGE_MEMORY_DEFAULT: u64 = 1 << 30;

/// A file whose row groups can be read by any number of threads.
pub struct Groups<'n> {
    name: &'n Path,
    file: Shared,
    index: ParquetMetaData,
    /// Memory limit for pages while a group is read.
    page_bytes_max: u64,
    /// Column and type of each part of a row.
    types: EachPart<Option<(usize, ColumnType)>>,
    /// Parts of a row in lists, structs or maps: the number of the part, and the column of the schema's root.
    nested: Vec<(usize, TypePtr)>,
    columns: ColumnsFound,
    /// Whether there are columns that are not read.
    has_other_columns: bool,
}

/// A row group, and the rows before it.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    number: usize,
    rows_before: u64,
}

impl<'n> Groups<'n> {
    /// Reads the index at the end of `file`.
    pub fn open(name: &'n Path, file: Arc<dyn ReadAt>, hints: Hints<'_>) -> Result<Self> {
        let wrong = |message: Message| Error::data(message!(name, ": ", message));
        let bytes = file.len().map_err(|error| Error::io(name, "could not be read", error))?;
        let file = Shared { file, bytes };
        let index = contained(|| ParquetMetaDataReader::new().parse_and_finish(&file));
        let index = index.map_err(|error| match magic(&file).as_ref() {
            Some(b"PARE") => wrong("is encrypted Parquet; save it without encryption".into()),
            None | Some(b"PAR1") => broken(name, error),
            // Without the option, only the magic number leads here.
            Some(_) => {
                let way_out = "correct it, or leave it out";
                wrong(message!("is not Parquet, though ", Setting::Format, " says so; {way_out}"))
            }
        })?;
        let schema = index.file_metadata().schema_descr();
        let found = found_columns(schema, hints.columns);
        let plain: Vec<&[u8]> = found.iter().map(|(name, _)| name.as_bytes()).collect();
        let places = hints.columns.places(&plain).map_err(|missing| {
            let list =
                url_in_list(schema, hints.columns).or_else(|| in_struct(schema, hints.columns, missing.part));
            wrong(list.unwrap_or_else(|| missing.message("column")))
        })?;
        let mut types: EachPart<Option<(usize, ColumnType)>> = Default::default();
        let mut nested = Vec::new();
        for (part, place) in RowPart::ALL.into_iter().zip(places) {
            let Some((_, found)) = place.map(|place| &found[place]) else { continue };
            let at = match found {
                FoundColumn::Leaf(at) => *at,
                FoundColumn::Nested(root, leaves) => {
                    let checked = leaves.clone().try_for_each(|at| check_codecs(&index, at));
                    checked.map_err(|why| wrong(why.into()))?;
                    nested.push((part.number(), Arc::clone(root)));
                    continue;
                }
            };
            let column_type = ColumnType::of(part, &schema.column(at));
            types[part.number()] = match part.extension() {
                // A column `images` may hold their number, which is not a reason to refuse the file.
                Some(_) if !hints.columns.is_said(part) => column_type
                    .ok()
                    .filter(|&of_column| of_column == ColumnType::Text || is_null(&schema.column(at)))
                    .map(|column_type| (at, column_type)),
                _ => Some((at, column_type.map_err(wrong)?)),
            };
            check_codecs(&index, at).map_err(|why| wrong(why.into()))?;
        }
        let is_read = |part: usize| types[part].is_some() || nested.iter().any(|(of, _)| *of == part);
        let mut used = places;
        used.iter_mut().enumerate().filter(|(part, _)| !is_read(*part)).for_each(|(_, place)| *place = None);
        hints.columns.check_unique(&plain, &used).map_err(wrong)?;
        let has_other_columns = used.iter().flatten().count() < found.len();
        let columns = ColumnsFound::of(hints.columns, &plain, used);
        let page_bytes_max = hints.page_memory.unwrap_or(PAGE_MEMORY_DEFAULT);
        Ok(Self { name, file, index, page_bytes_max, types, nested, columns, has_other_columns })
    }

    /// These groups without the columns that the user has not named. Their rows have other values if `has_others` says so.
    pub fn with_named_columns(mut self, columns: &Columns, has_others: bool) -> Self {
        for part in RowPart::ALL.into_iter().filter(|part| !columns.is_said(*part)) {
            self.types[part.number()] = None;
            self.nested.retain(|(of, _)| *of != part.number());
        }
        self.has_other_columns = has_others;
        self
    }

    /// The names of used and unused columns.
    pub fn columns(&self) -> &ColumnsFound {
        &self.columns
    }

    /// All of them, in order.
    pub fn all(&self) -> Vec<Group> {
        let mut rows_before = 0;
        let groups = self.index.row_groups().iter().enumerate();
        let group = |(number, group): (usize, &RowGroupMetaData)| {
            let this = Group { number, rows_before };
            rows_before += u64::try_from(group.num_rows()).unwrap_or_default();
            this
        };
        groups.map(group).collect()
    }

    /// The groups with these numbers.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if there is none with one of them, because the file is not the one that was
    /// looked at before.
    pub fn some(&self, numbers: &[usize]) -> Result<Vec<Group>> {
        let all = self.all();
        let group = |&number: &usize| {
            all.get(number).copied().ok_or_else(|| {
                Error::data(message!(
                    self.name,
                    ": has no row group {number}; it was replaced while it was read"
                ))
            })
        };
        numbers.iter().map(group).collect()
    }

    /// Their bytes in the file.
    pub fn bytes(&self, groups: &[Group]) -> u64 {
        let bytes = |group: &Group| self.index.row_group(group.number).compressed_size();
        groups.iter().map(|group| u64::try_from(bytes(group)).unwrap_or_default()).sum()
    }

    /// Reads every row of `group` as a record.
    pub fn read(&self, group: Group, rows: &mut CountingSink<'_>) -> Result<()> {
        let broken = |error| broken(self.name, error);
        let mut row = group.rows_before;
        let mut extras = ExtrasBuffer::default();
        let (mut parts, mut nested) = contained(|| self.columns_of(group.number)).map_err(broken)?;
        // Most files have none, and looking for them would take as long as judging a URL.
        let has_cells = !nested.is_empty() || parts[RowPart::PLAIN..].iter().any(Option::is_some);
        let mut left = rows_of(self.index.row_group(group.number)).map_err(broken)?;
        while left > 0 {
            let batch_rows = left.min(BATCH_ROWS);
            contained(|| parts.iter_mut().flatten().try_for_each(|column| column.read(batch_rows)))
                .map_err(broken)?;
            contained(|| nested.iter_mut().try_for_each(|(_, column)| column.read(batch_rows)))
                .map_err(broken)?;
            for at in 0..batch_rows {
                let value = |part: usize| match &parts[part] {
                    Some(column) => column.value(at),
                    None => {
                        let column = nested.iter().find(|(of, _)| *of == part);
                        column.map_or(&b""[..], |(_, column)| column.value(at))
                    }
                };
                let extras = match has_cells {
                    true => rows.read_cells((RowPart::PLAIN..RowPart::ALL.len()).map(value), &mut extras),
                    false => RawExtras::default(),
                };
                let plain = array::from_fn(value);
                let record = Record::of_parts(row + 1, row, plain, extras);
                rows.record_of(&record, self.has_other_columns)?;
                row += 1;
            }
            left -= batch_rows;
        }
        Ok(())
    }
}

impl Groups<'_> {
    /// The columns of the row group `number`, ready to be read.
    fn columns_of(
        &self,
        number: usize,
    ) -> parquet::errors::Result<(EachPart<Option<Column>>, NestedColumns)> {
        let group = self.index.row_group(number);
        let rows = rows_of(group)?;
        let room = Room::new(self.page_bytes_max);
        let column = |(at, column_type): (usize, ColumnType)| -> parquet::errors::Result<Column> {
            let pages = Pages::new(&self.file, group.column(at), rows, Arc::clone(&room))?;
            let descriptor = self.index.file_metadata().schema_descr().column(at);
            Ok(Column::new(
                get_column_reader(Arc::clone(&descriptor), Box::new(pages)),
                column_type,
                &descriptor,
            ))
        };
        let mut columns: EachPart<Option<Column>> = Default::default();
        for (to, column_type) in columns.iter_mut().zip(self.types) {
            *to = column_type.map(column).transpose()?;
        }
        let nested =
            self.nested.iter().map(|(part, root)| Ok((*part, Nested::new(&self.file, group, root, &room)?)));
        Ok((columns, nested.collect::<parquet::errors::Result<_>>()?))
    }
}

/// Columns that are lists, structs or maps, each with the number of its part of a row.
type NestedColumns = Vec<(usize, Nested)>;

/// A column that may hold a part of a row.
enum FoundColumn {
    /// A column of values, by its index.
    Leaf(usize),
    /// A list, struct or map, and the columns of its values.
    Nested(TypePtr, Range<usize>),
}

/// The names of all columns. A list, struct or map is one column if it is named like a tag. If it cannot hold the tag, its values
/// are dropped row by row.
fn found_columns(schema: &SchemaDescriptor, columns: &Columns) -> Vec<(String, FoundColumn)> {
    let mut found = Vec::new();
    let mut next = 0;
    for root in schema.root_schema().get_fields() {
        let first = next;
        while next < schema.num_columns() && schema.get_column_root_ptr(next).name() == root.name() {
            next += 1;
        }
        let part = columns.part_of(root.name().as_bytes()).map(|(part, _)| part);
        let is_list = root.is_primitive() && root.get_basic_info().repetition() == Repetition::REPEATED;
        match (is_list || !root.is_primitive()) && matches!(part, Some(RowPart::Tag(_))) {
            true => found.push((root.name().to_owned(), FoundColumn::Nested(Arc::clone(root), first..next))),
            false => found
                .extend((first..next).map(|at| (schema.column(at).path().string(), FoundColumn::Leaf(at)))),
        }
    }
    found
}

/// The error for a list that has the name of the URL, if no other column has it.
fn url_in_list(schema: &SchemaDescriptor, columns: &Columns) -> Option<Message> {
    let is_url = |name: &str| matches!(columns.part_of(name.as_bytes()), Some((RowPart::Url, _)));
    let leaves =
        || (0..schema.num_columns()).map(|at| (schema.column(at), schema.get_column_root(at).name()));
    if leaves().any(|(column, _)| is_url(&column.path().string())) {
        return None;
    }
    let (_, name) = leaves().find(|(column, root)| column.max_rep_level() > 0 && is_url(root))?;
    let name = crate::escape::shown(name.as_bytes());
    Some(message!(
        "column {name} holds a list; expected text; choose another with ",
        Setting::Columns.with("url=NAME")
    ))
}

/// The error for a list or struct within a struct that the user has named for `part`, whose values may be lists and structs.
fn in_struct(schema: &SchemaDescriptor, columns: &Columns, part: RowPart) -> Option<Message> {
    let is_named = |name: &String| columns.part_of(name.as_bytes()).is_some_and(|(of, _)| of == part);
    part.extension().filter(|_| columns.is_said(part))?;
    let mut leaves = (0..schema.num_columns()).map(|at| schema.column(at));
    let name = leaves.find_map(|leaf| {
        let parts = leaf.path().parts();
        (2..parts.len()).map(|depth| parts[..depth].join(".")).find(is_named)
    })?;
    let name = crate::escape::shown(name.as_bytes());
    Some(message!(
        "column {name} is a list or struct in another one, and only those that are columns themselves are read; export it as a \
         column of its own"
    ))
}

/// The magic number at the start of `file`; `None` if it could not be read.
fn magic(file: &Shared) -> Option<[u8; 4]> {
    let mut magic = [0; 4];
    file.file.read_at(&mut magic, 0).is_ok().then_some(magic)
}

/// Checks that the column `at` is compressed with a codec that is built in. Brotli is left out because few writers use it
/// and its decoder is one more large dependency; LZO has no decoder in the `parquet` crate.
fn check_codecs(index: &ParquetMetaData, at: usize) -> std::result::Result<(), String> {
    for group in index.row_groups() {
        let codec = match group.columns().get(at).map(|column| column.compression()) {
            Some(Compression::BROTLI(_)) => "Brotli",
            Some(Compression::LZO) => "LZO",
            _ => continue,
        };
        return Err(format!(
            "is compressed with {codec}, which is not supported; write it again with ZSTD, SNAPPY, GZIP or LZ4_RAW"
        ));
    }
    Ok(())
}

/// Calls `read`, which may panic on damaged data. After an error, values that it has changed must not be used.
fn contained<T>(read: impl FnOnce() -> errors::Result<T>) -> errors::Result<T> {
    let stopped = |words| Err(ParquetError::General(format!("the reader stopped: {words}")));
    contain::contained(read).unwrap_or_else(stopped)
}

fn broken(name: &Path, error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(cause) if cause.raw_os_error().is_some() || Error::is_carried_by(&cause) => {
                return Error::io(name, "could not be read", *cause);
            }
            Ok(cause) => cause.to_string(),
            Err(cause) => match cause.downcast_ref::<Unreadable>() {
                Some(unreadable) => return Error::data(message!(name, ": ", unreadable.message())),
                None => cause.to_string(),
            },
        },
        error => error.to_string(),
    };
    let error = crate::escape::shown(error.as_bytes());
    Error::data(message!(name, ": broken Parquet ({error}); recreate the file, or fetch it again"))
}
