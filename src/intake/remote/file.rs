//! A remote file whose parts can be requested.

use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use super::version::RemoteVersion;
use super::windows::{WINDOW_BYTES, Window, Windows};
use crate::intake::read_at::{Pread, ReadAt, ReadControl, RemoteFile};
use crate::store::Parts;

/// One version of a remote file. Requests fail if the file was replaced.
#[derive(Debug, Clone)]
pub struct PartsFile {
    version: Arc<RemoteVersion>,
    /// The first window, if it was prefetched.
    first: Arc<Mutex<Option<Window>>>,
}

impl PartsFile {
    /// A file of `bytes` bytes with these `parts`. `name` is for messages.
    pub fn new(name: PathBuf, parts: Arc<dyn Parts>, bytes: u64) -> Self {
        Self { version: Arc::new(RemoteVersion::new(name, parts, bytes)), first: Arc::default() }
    }
}

impl ReadAt for PartsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.version.bytes())
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        self.version.read_at(out, at)
    }

    fn section(self: Arc<Self>, range: Range<u64>) -> Arc<dyn ReadAt> {
        let first = match range.start {
            0 => self.first.lock().unwrap_or_else(PoisonError::into_inner).take(),
            _ => None,
        };
        Arc::new(Windows::new(Arc::clone(&self.version), range, first))
    }
}

impl RemoteFile for PartsFile {
    fn stream(self: Arc<Self>) -> Box<dyn Read + Send> {
        let (bytes, control) = (self.version.bytes(), self.version.control().clone());
        Box::new(Counted { stream: Pread::new(self.section(0..bytes), 0), control })
    }

    fn start(&self) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() && self.version.bytes() > 0 {
            *first = Window::ahead(&self.version, 0..self.version.bytes().min(WINDOW_BYTES));
        }
    }

    fn watched(self: Arc<Self>, control: ReadControl) -> Arc<dyn RemoteFile> {
        Arc::new(Self { version: Arc::new(self.version.watched(control)), ..Self::clone(&self) })
    }
}

/// A stream that counts its bytes.
struct Counted {
    stream: Pread,
    control: ReadControl,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.stream.read(out)?;
        self.control.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
