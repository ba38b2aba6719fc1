//! Parquet: only the columns that are needed are read, a batch of rows at a time.
//!
//! Columns of time become W3C Datetime: instants in UTC with `Z`, local times without a zone. INT96, the time stamp of
//! old Spark and Hive, is taken as UTC, as Spark writes it. Columns inside of lists are not looked at.

mod column;

use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};

use super::columns::{Columns, PLAIN_PARTS, Part};
use super::facts::ColumnsFound;
use super::lists::Lists;
use super::pread::Pread;
use super::row::{Record, Rows};
use crate::error::{Error, Result, Shown};
use column::{Column, Kind};

/// Rows that are decoded together: a batch of four columns stays in the second-level cache.
const BATCH_ROWS: usize = 4096;

/// A file whose row groups can be read by any number of threads.
pub struct Groups<'n> {
    name: &'n Path,
    reader: SerializedFileReader<Shared>,
    /// Column and kind of each of [`PLAIN_PARTS`].
    kinds: [Option<(usize, Kind)>; PLAIN_PARTS.len()],
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
    pub fn open(name: &'n Path, file: File, columns: &Columns) -> Result<Self> {
        let wrong = |message: String| Error::data(format!("{}: {message}", Shown(name)));
        let bytes = file.metadata().map_err(|error| Error::io(name, "could not be read", error))?.len();
        let file = Shared { file: Arc::new(file), bytes };
        let reader = SerializedFileReader::new(file).map_err(|error| broken(name, error))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let plain: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
        let places = columns.places(&plain).map_err(wrong)?;
        let mut kinds = [None; PLAIN_PARTS.len()];
        for (part, place) in places.into_iter().enumerate() {
            let Some(at) = place else { continue };
            let kind = Kind::of(PLAIN_PARTS[part], &schema.column(at));
            match PLAIN_PARTS[part] {
                // A count of images is no image, and no reason to read nothing at all.
                Part::Alternates | Part::Images if !columns.is_said(PLAIN_PARTS[part]) => {
                    kinds[part] = kind.ok().map(|kind| (at, kind));
                }
                _ => kinds[part] = Some((at, kind.map_err(wrong)?)),
            }
        }
        let used = kinds.map(|kind| kind.map(|(at, _)| at));
        let has_other_columns = used.iter().flatten().count() < names.len();
        let columns = ColumnsFound::of(columns, &plain, used);
        Ok(Self { name, reader, kinds, columns, has_other_columns })
    }

    /// The names of used and unused columns.
    pub fn columns(&self) -> &ColumnsFound {
        &self.columns
    }

    /// All of them, in order.
    pub fn all(&self) -> Vec<Group> {
        let mut rows_before = 0;
        let groups = self.reader.metadata().row_groups().iter().enumerate();
        let group = |(number, group): (usize, &RowGroupMetaData)| {
            let this = Group { number, rows_before };
            rows_before += u64::try_from(group.num_rows()).unwrap_or_default();
            this
        };
        groups.map(group).collect()
    }

    /// Reads every row of `group` as a record.
    pub fn read(&self, group: Group, rows: &mut Rows<'_>) -> Result<()> {
        let broken = |error| broken(self.name, error);
        let mut row = group.rows_before;
        let group = self.reader.get_row_group(group.number).map_err(broken)?;
        let schema = self.reader.metadata().file_metadata().schema_descr_ptr();
        let mut parts = Vec::with_capacity(self.kinds.len());
        for kind in self.kinds {
            let column = kind
                .map(|(at, kind)| Ok(Column::new(group.get_column_reader(at)?, kind, &schema.column(at))));
            parts.push(column.transpose().map_err(broken)?);
        }
        let mut left = usize::try_from(group.metadata().num_rows())
            .map_err(|_| broken(ParquetError::General("a row group has fewer than no rows".into())))?;
        while left > 0 {
            let batch_rows = left.min(BATCH_ROWS);
            for column in parts.iter_mut().flatten() {
                column.read(batch_rows).map_err(broken)?;
            }
            for at in 0..batch_rows {
                let [url, lastmod, changefreq, priority, alternates, images] = [0, 1, 2, 3, 4, 5]
                    .map(|part| parts[part].as_ref().map_or(&b""[..], |column| column.value(at)));
                let (line, offset) = (row + 1, row);
                let mut lists = Lists::default();
                lists.add_links_of_cell(alternates);
                lists.add_images_of_cell(images);
                let record = Record {
                    line,
                    offset,
                    url,
                    lastmod,
                    changefreq,
                    priority,
                    alternates: &lists.alternates(),
                    images: &lists.images(),
                };
                // What is in columns that are not read, nobody knows: such a row may be anything but blank.
                match url.trim_ascii().is_empty() && self.has_other_columns {
                    true => rows.without_url(&record)?,
                    false => rows.record(&record)?,
                }
                row += 1;
            }
            left -= batch_rows;
        }
        Ok(())
    }
}

/// A file that any number of threads read.
struct Shared {
    file: Arc<File>,
    bytes: u64,
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Shared {
    type T = BufReader<Pread>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(Pread::new(Arc::clone(&self.file), start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        // What the index says may be anything.
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF("a column goes on behind the end of the file".into()));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

fn broken(name: &Path, error: ParquetError) -> Error {
    let error = match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(cause) if cause.raw_os_error().is_some() => {
                return Error::io(name, "could not be read", *cause);
            }
            Ok(cause) => cause.to_string(),
            Err(cause) => cause.to_string(),
        },
        error => error.to_string(),
    };
    let error = crate::text::shown(error.as_bytes());
    Error::data(format!("{}: broken Parquet ({error}); make or fetch the file again", Shown(name)))
}

#[cfg(test)]
mod tests;
