//! Sorted runs: records in a scratch file, written one run after the other and read side by side.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::merge::{Merge, SortedRun};
use crate::common::unlinked::unlinked_file;

/// Bytes of runs per write.
const WRITE_BYTES: usize = 1 << 18;

/// Minimum and maximum bytes per read of a run during a merge. The buffers exceed the memory of the merge if it is too small for
/// the minimum size of every run: 8192 runs need 32 MiB.
const READ_BYTES_MIN: usize = 4 * 1024;
const READ_BYTES_MAX: usize = 1 << 20;

/// Encodes the records of a sort as bytes and decodes them.
pub trait Codec: Clone + Sync {
    /// A record that borrows encoded bytes. Its order is that of the sort.
    type View<'b>: Ord;
    /// An owned record, which a merge keeps while the buffer of its run is refilled. Compares like the view.
    type Owned: Ord + Default;

    /// Appends `record` to `bytes`.
    fn encode(&self, record: Self::View<'_>, bytes: &mut Vec<u8>);

    /// Decodes the record at the start of `bytes` and returns it with its length, or `None` if more bytes are needed.
    fn decode<'b>(&self, bytes: &'b [u8]) -> Option<(Self::View<'b>, usize)>;

    /// Copies `record` to `owned`, and may reuse its memory.
    fn store(&self, record: Self::View<'_>, owned: &mut Self::Owned);
}

/// A scratch file for runs.
pub trait RunFile: Sized {
    /// The directory in which a file is created.
    type Space;
    /// The error of a failed operation.
    type Error;

    /// A new file in `space`.
    ///
    /// # Errors
    /// If it cannot be created.
    fn create(space: &Self::Space) -> Result<Self, Self::Error>;

    /// Appends `bytes`.
    ///
    /// # Errors
    /// If they cannot be written.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Fills `bytes` with the bytes of the file at `offset`.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), Self::Error>;
}

/// A file without a name in a directory.
impl RunFile for File {
    type Space = PathBuf;
    type Error = io::Error;

    fn create(directory: &PathBuf) -> io::Result<Self> {
        unlinked_file(directory)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }
}

/// Sorted runs of records in one scratch file.
pub struct SortedRuns<C, F> {
    codec: C,
    file: F,
    /// Encoded records that are not written yet.
    pending: Vec<u8>,
    /// Bytes of all records, including `pending`.
    bytes: u64,
    runs: Vec<Range<u64>>,
}

impl<C: Codec, F: RunFile> SortedRuns<C, F> {
    /// Creates an empty list of runs in the empty `file`.
    pub fn new(codec: C, file: F) -> Self {
        Self { codec, file, pending: Vec::new(), bytes: 0, runs: Vec::new() }
    }

    /// Appends `record` to the run that is being written. The caller keeps the records of a run in order.
    ///
    /// # Errors
    /// If the file cannot be written to.
    pub fn push(&mut self, record: C::View<'_>) -> Result<(), F::Error> {
        let before = self.pending.len();
        self.codec.encode(record, &mut self.pending);
        self.pushed(self.pending.len() - before)
    }

    /// Appends an encoded record.
    pub(super) fn push_encoded(&mut self, record: &[u8]) -> Result<(), F::Error> {
        self.pending.extend_from_slice(record);
        self.pushed(record.len())
    }

    fn pushed(&mut self, bytes: usize) -> Result<(), F::Error> {
        self.bytes += bytes as u64;
        if self.pending.len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), F::Error> {
        self.file.append(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Ends a run; the next record begins another one.
    pub fn end_run(&mut self) {
        self.runs.push(self.runs.last().map_or(0, |run| run.end)..self.bytes);
    }

    /// The number of runs that have ended.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// Merges the runs, with buffers of `memory` bytes in all. Equal records come in the order of their runs.
    ///
    /// # Errors
    /// If the file cannot be written to or read.
    pub fn merge(mut self, memory: usize) -> Result<Merge<RunReader<C, F>>, F::Error> {
        self.flush()?;
        let Self { codec, file, runs, .. } = self;
        let read_bytes = (memory / runs.len().max(1)).clamp(READ_BYTES_MIN, READ_BYTES_MAX);
        let file = Arc::new(file);
        Merge::new(runs.into_iter().map(|left| {
            let (codec, file) = (codec.clone(), Arc::clone(&file));
            RunReader { codec, file, left, buffer: Vec::new(), at: 0, read_bytes }
        }))
    }
}

/// A run that is read from its file.
pub struct RunReader<C, F> {
    codec: C,
    file: Arc<F>,
    /// The range of the file that has not been read yet.
    left: Range<u64>,
    buffer: Vec<u8>,
    /// The index in the buffer at which the next record starts.
    at: usize,
    read_bytes: usize,
}

impl<C: Codec, F: RunFile> SortedRun for RunReader<C, F> {
    type Item = C::Owned;
    type Error = F::Error;

    fn read(&mut self, item: &mut C::Owned) -> Result<bool, F::Error> {
        loop {
            if let Some((record, bytes)) = self.codec.decode(&self.buffer[self.at..]) {
                self.codec.store(record, item);
                self.at += bytes;
                return Ok(true);
            }
            if self.left.is_empty() {
                assert_eq!(self.at, self.buffer.len(), "a run ends at the end of a record");
                return Ok(false);
            }
            self.fill()?;
        }
    }
}

impl<C, F: RunFile> RunReader<C, F> {
    /// Reads more of the file: at least as many bytes as the buffer still has, so a record of any length fits eventually.
    fn fill(&mut self) -> Result<(), F::Error> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let have = self.buffer.len();
        let left = usize::try_from(self.left.end - self.left.start).unwrap_or(usize::MAX);
        let more = left.min(self.read_bytes.max(have));
        self.buffer.resize(have + more, 0);
        self.file.read_at(&mut self.buffer[have..], self.left.start)?;
        self.left.start += more as u64;
        Ok(())
    }
}
