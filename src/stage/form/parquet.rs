//! Parquet: only the columns that are needed are read, a batch of rows at a time.
//!
//! Columns of time become W3C Datetime: instants in UTC with `Z`, local times without a zone. INT96, the time stamp of
//! old Spark and Hive, is taken as UTC, as Spark writes it. Columns inside of lists are not looked at.

mod column;

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columns::{Columns, PLAIN_PARTS};
use super::row::{Record, Rows};
use crate::error::{Error, Result, Shown};
use column::{Column, Kind};

/// Rows that are decoded together: a batch of four columns stays in the second-level cache.
const BATCH_ROWS: usize = 4096;

/// Reads every row as a record.
pub fn read(name: &Path, file: File, columns: &Columns, rows: &mut Rows<'_>) -> Result<()> {
    let broken = |error| broken(name, error);
    let wrong = |message: String| Error::data(format!("{}: {message}", Shown(name)));
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let plain: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
    let places = columns.places(&plain).map_err(wrong)?;
    let mut kinds = [None; PLAIN_PARTS.len()];
    for (part, place) in places.into_iter().enumerate() {
        if let Some(at) = place {
            kinds[part] = Some((at, Kind::of(PLAIN_PARTS[part], &schema.column(at)).map_err(wrong)?));
        }
    }
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(broken)?;
        let mut parts = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let column = kind
                .map(|(at, kind)| Ok(Column::new(group.get_column_reader(at)?, kind, &schema.column(at))));
            parts.push(column.transpose().map_err(broken)?);
        }
        let mut left = usize::try_from(group.metadata().num_rows())
            .map_err(|_| wrong("broken Parquet (a row group has fewer than no rows)".into()))?;
        while left > 0 {
            let batch_rows = left.min(BATCH_ROWS);
            for column in parts.iter_mut().flatten() {
                column.read(batch_rows).map_err(broken)?;
            }
            for at in 0..batch_rows {
                let offset = rows.count();
                let [url, lastmod, changefreq, priority] =
                    [0, 1, 2, 3].map(|part| parts[part].as_ref().map_or(&b""[..], |column| column.value(at)));
                let line = offset + 1;
                rows.record(&Record {
                    line,
                    offset,
                    url,
                    lastmod,
                    changefreq,
                    priority,
                    ..Record::default()
                })?;
            }
            left -= batch_rows;
        }
    }
    Ok(())
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
