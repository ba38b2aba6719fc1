//! A Parquet file that several threads read at offsets.

use std::io::BufReader;
use std::num::TryFromIntError;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::intake::read_at::{Pread, ReadAt};

/// Rows that are decoded together: a batch of four columns fits in the second-level cache.
pub const BATCH_ROWS: usize = 4096;

/// A file that any number of threads can read.
pub struct Shared {
    pub file: Arc<dyn ReadAt>,
    pub bytes: u64,
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
        bytes_at(&*self.file, self.bytes, start, length)
    }
}

/// The number of rows of `group`.
pub fn rows_of(group: &RowGroupMetaData) -> parquet::errors::Result<usize> {
    let none = |_: TryFromIntError| ParquetError::General("a row group has a negative number of rows".into());
    usize::try_from(group.num_rows()).map_err(none)
}

/// The bytes from `start`. The file may have fewer, because a damaged index may contain any number.
pub fn bytes_at(
    file: &dyn ReadAt,
    file_bytes: u64,
    start: u64,
    length: usize,
) -> parquet::errors::Result<Bytes> {
    if start.checked_add(length as u64).is_none_or(|end| end > file_bytes) {
        return Err(ParquetError::EOF("a column extends beyond the end of the file".into()));
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes.into())
}
