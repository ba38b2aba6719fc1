//! A result file: one that a command writes from beginning to end.

use std::io::{self, Write};
use std::path::Path;

use super::replacement::Replacement;
use crate::error::Result;

/// A file that is replaced once it is complete, or an output `W` that is written as the bytes come.
#[derive(Debug)]
pub enum ResultFile<W> {
    /// A regular file.
    Replaced(Replacement),
    /// A standard stream, a FIFO, a device, or a file in a directory where nothing can be created.
    InPlace(W),
}

impl<W> ResultFile<W> {
    /// Begins to replace the file `path`. If only writing in place is possible, calls `open`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if the file may not be written or cannot be created, or as `open`.
    pub fn create(path: &Path, open: impl FnOnce() -> Result<W>) -> Result<Self> {
        match Replacement::begin(path)? {
            Some(replacement) => Ok(Self::Replaced(replacement)),
            None => open().map(Self::InPlace),
        }
    }

    /// The outcome if it is dropped before it is complete, in words.
    pub fn if_dropped(&self) -> &'static str {
        match self {
            Self::Replaced(new) if new.has_old() => "was not written and is still the old file",
            Self::Replaced(_) => "was not written",
            Self::InPlace(_) => "is incomplete",
        }
    }

    /// Puts the file, which is complete, in the place of the old one. If it is dropped instead, the old one stays.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Replaced(replacement) => replacement.finish(),
            Self::InPlace(_) => Ok(()),
        }
    }
}

impl<W: Write> Write for ResultFile<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Replaced(replacement) => replacement.write(bytes),
            Self::InPlace(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Replaced(replacement) => replacement.flush(),
            Self::InPlace(output) => output.flush(),
        }
    }
}
