//! One version of a remote file: requests for its bytes, and the responses.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::error::{Error, message};
use crate::intake::input::has_changed;
use crate::intake::read_at::ReadControl;
use crate::store::{Failure, FailureKind, Parts, Task};

/// Number of bytes at the end that are fetched together: enough for the index of most Parquet files.
const TAIL_BYTES: u64 = 256 << 10;

/// One version of a remote file. Requests fail if the file was replaced.
#[derive(Debug, Clone)]
pub struct RemoteVersion {
    name: PathBuf,
    parts: Arc<dyn Parts>,
    bytes: u64,
    /// The last bytes, once one of them has been read.
    tail: Arc<Mutex<Option<Bytes>>>,
    control: ReadControl,
}

impl RemoteVersion {
    /// A file of `bytes` bytes with these `parts`. `name` is for messages.
    pub fn new(name: PathBuf, parts: Arc<dyn Parts>, bytes: u64) -> Self {
        Self { name, parts, bytes, tail: Arc::default(), control: ReadControl::default() }
    }

    /// The size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Requests the bytes in `range`.
    pub fn request(&self, range: Range<u64>) -> Task<Result<Bytes, Failure>> {
        self.parts.request(range)
    }

    /// Waits for the response to a request for `bytes` bytes.
    pub fn answer(&self, request: Task<Result<Bytes, Failure>>, bytes: u64) -> io::Result<Bytes> {
        let answer = request.wait_unless(&*self.control.is_cancelled).ok_or_else(cancelled)?;
        let answer = answer.map_err(|failure| failed(&self.name, failure))?;
        match answer.len() as u64 == bytes {
            true => Ok(answer),
            false => Err(has_changed(&self.name).into()),
        }
    }

    /// The bytes in `range`, if they have already been fetched with the tail.
    pub fn at_hand(&self, range: &Range<u64>) -> Option<Bytes> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = tail.as_ref()?;
        let from = range.start.checked_sub(self.bytes - tail.len() as u64)?;
        Some(tail.slice(from as usize..(from + range.end - range.start) as usize))
    }

    /// The file, with requests that heed `control`.
    pub fn watched(&self, control: ReadControl) -> Self {
        Self { control, ..self.clone() }
    }

    /// The byte count and the cancellation flag of its reads.
    pub fn control(&self) -> &ReadControl {
        &self.control
    }

    fn tail(&self, from: u64) -> io::Result<Bytes> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tail) = &*tail {
            return Ok(tail.clone());
        }
        let bytes = self.answer(self.request(from..self.bytes), self.bytes - from)?;
        Ok(tail.insert(bytes).clone())
    }

    /// Reads bytes at `at` into `out`. Returns how many; 0 at the end of the file.
    pub fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
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
}

/// The error for a cancelled read.
pub fn cancelled() -> io::Error {
    io::Error::other("cancelled")
}

/// The error for a file that was found but could not be read.
pub fn failed(name: &Path, failure: Failure) -> io::Error {
    match failure.kind {
        FailureKind::Condition => has_changed(name).into(),
        FailureKind::Missing => {
            Error::data(message!(name, ": was removed while it was being read; run again")).into()
        }
        _ => failure.into_error(name, "could not be read").into(),
    }
}
