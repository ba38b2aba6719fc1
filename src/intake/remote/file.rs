//! A file on another machine of which parts can be requested.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::windows::{WINDOW_BYTES, Window, Windows};
use crate::intake::input::has_changed;
use crate::intake::read_at::{Pread, ReadAt, RemoteFile, Watch};
use crate::store::{Failure, FailureKind, Parts, Task};

/// Bytes at the end that are fetched together: the index of most Parquet files.
const TAIL_BYTES: u64 = 256 << 10;

/// A file in one version. Every request fails if it was replaced.
#[derive(Debug, Clone)]
pub struct PartsFile {
    name: PathBuf,
    parts: Arc<dyn Parts>,
    bytes: u64,
    /// The last bytes, once some of them were read.
    tail: Arc<Mutex<Option<Bytes>>>,
    /// The first window, if it was requested before anybody reads.
    first: Arc<Mutex<Option<Window>>>,
    watch: Watch,
}

impl PartsFile {
    /// The file of `bytes` bytes with these `parts`. `name` is for messages.
    pub fn new(name: PathBuf, parts: Arc<dyn Parts>, bytes: u64) -> Self {
        let (tail, first) = (Arc::default(), Arc::default());
        Self { name, parts, bytes, tail, first, watch: Watch::default() }
    }

    /// The number of its bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Requests the bytes in `range`.
    pub fn request(&self, range: Range<u64>) -> Task<Result<Bytes, Failure>> {
        self.parts.request(range)
    }

    /// Waits for the answer to the request for `bytes` bytes.
    pub fn answer(&self, request: Task<Result<Bytes, Failure>>, bytes: u64) -> io::Result<Bytes> {
        let answer = request.wait_unless(&*self.watch.is_called_off).ok_or_else(called_off)?;
        let answer = answer.map_err(|failure| failed(&self.name, failure))?;
        match answer.len() as u64 == bytes {
            true => Ok(answer),
            false => Err(has_changed(&self.name).into()),
        }
    }

    /// The bytes in `range`, if they were read with others.
    pub fn at_hand(&self, range: &Range<u64>) -> Option<Bytes> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = tail.as_ref()?;
        let from = range.start.checked_sub(self.bytes - tail.len() as u64)?;
        Some(tail.slice(from as usize..(from + range.end - range.start) as usize))
    }

    fn tail(&self, from: u64) -> io::Result<Bytes> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = &*tail {
            return Ok(tail.clone());
        }
        let bytes = self.answer(self.request(from..self.bytes), self.bytes - from)?;
        Ok(tail.insert(bytes).clone())
    }
}

impl ReadAt for PartsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        let end = self.bytes.min(at.saturating_add(out.len() as u64));
        if at >= end {
            return Ok(0);
        }
        let tail_at = self.bytes.saturating_sub(TAIL_BYTES);
        let bytes = match at >= tail_at {
            true => self.tail(tail_at)?.slice((at - tail_at) as usize..(end - tail_at) as usize),
            false => self.answer(self.request(at..end), end - at)?,
        };
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn section(self: Arc<Self>, range: Range<u64>) -> Arc<dyn ReadAt> {
        let first = match range.start {
            0 => self.first.lock().unwrap_or_else(PoisonError::into_inner).take(),
            _ => None,
        };
        Arc::new(Windows::new(self, range, first))
    }
}

impl RemoteFile for PartsFile {
    fn stream(self: Arc<Self>) -> Box<dyn Read + Send> {
        let (bytes, watch) = (self.bytes, self.watch.clone());
        Box::new(Counted { stream: Pread::new(self.section(0..bytes), 0), watch })
    }

    fn start(&self) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() && self.bytes > 0 {
            *first = Window::ahead(self, 0..self.bytes.min(WINDOW_BYTES));
        }
    }

    fn watched(self: Arc<Self>, watch: Watch) -> Arc<dyn RemoteFile> {
        Arc::new(Self { watch, ..Self::clone(&self) })
    }
}

/// Counts the bytes of a stream.
struct Counted {
    stream: Pread,
    watch: Watch,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.stream.read(out)?;
        self.watch.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// The error for a read that has become pointless.
pub fn called_off() -> io::Error {
    io::Error::other("called off")
}

/// The error for a file whose bytes could not be read although it was found before.
pub fn failed(name: &Path, failure: Failure) -> io::Error {
    match failure.kind {
        FailureKind::Condition | FailureKind::Missing => has_changed(name).into(),
        _ => failure.into_error(name, "could not be read").into(),
    }
}
