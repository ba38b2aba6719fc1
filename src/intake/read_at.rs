//! Bytes that are read at offsets, by any number of threads: those of a local file, or of an object in a store.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Bytes that are read at offsets. Reading moves no position, so threads may share them.
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "only Parquet is read at offsets"))]
pub trait ReadAt: fmt::Debug + Send + Sync {
    /// The number of bytes.
    ///
    /// # Errors
    /// If it cannot be determined.
    fn len(&self) -> io::Result<u64>;

    /// Reads bytes from the offset `at` into `out`. Returns their number. Only 0 means the end of the file; a short read does
    /// not.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize>;

    /// The bytes for a reader that will read `range` from its start to its end, so that they can be prefetched.
    fn section(self: Arc<Self>, range: Range<u64>) -> Arc<dyn ReadAt>;

    /// Fills `out` with the bytes from the offset `at`.
    ///
    /// # Errors
    /// If they cannot be read; [`io::ErrorKind::UnexpectedEof`] if there are fewer.
    fn read_exact_at(&self, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
        while !out.is_empty() {
            match self.read_at(out, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => (out, at) = (&mut out[bytes..], at + bytes as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        FileExt::read_at(self, out, at)
    }

    // The system reads ahead.
    fn section(self: Arc<Self>, _: Range<u64>) -> Arc<dyn ReadAt> {
        self
    }
}

/// A file on another machine. Like a local file, and unlike a pipe, it can be read at offsets; it is never mapped.
pub trait RemoteFile: ReadAt {
    /// Starts to read it from its start to its end. Nothing is fetched before the first read.
    fn stream(self: Arc<Self>) -> Box<dyn Read + Send>;

    /// Requests the first bytes, which a stream or a section from the start will find.
    fn start(&self);

    /// The file, with reads that heed `control`.
    fn watched(self: Arc<Self>, control: ReadControl) -> Arc<dyn RemoteFile>;
}

/// State shared by a run and the reads of a remote file.
#[derive(Clone)]
#[cfg_attr(not(feature = "cloud"), allow(dead_code, reason = "only object stores have remote files"))]
pub struct ReadControl {
    /// Whether reading has become pointless, because the run was stopped or has failed. Reads that wait for the other machine then
    /// fail.
    pub is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Counts the bytes of streams.
    pub bytes: Arc<AtomicU64>,
}

impl Default for ReadControl {
    fn default() -> Self {
        Self { is_cancelled: Arc::new(|| false), bytes: Arc::default() }
    }
}

impl fmt::Debug for ReadControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadControl").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Reads from an offset on.
pub struct Pread {
    file: Arc<dyn ReadAt>,
    at: u64,
}

impl Pread {
    /// Reads `file` from `at` to its end.
    pub fn new(file: Arc<dyn ReadAt>, at: u64) -> Self {
        Self { file, at }
    }
}

impl Read for Pread {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_at(out, self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}
