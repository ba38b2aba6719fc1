//! A result file of a build: the reject file, or the diff.

use std::io::{self, Write};
use std::path::Path;

use crate::common::fifo::Outlet;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::place::Replacement;

/// A file that is replaced once it is complete, or an output that is written as the bytes come.
#[derive(Debug)]
pub enum ResultFile {
    /// A regular file.
    Replaced(Replacement),
    /// A standard stream, a FIFO or a device.
    InPlace(Outlet),
}

impl ResultFile {
    /// Creates the file, or opens the FIFO and waits for its reader. `-` is standard output.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created, or if `stop` is raised.
    pub fn create(path: &Path, stop: &Stop) -> Result<Self> {
        match Replacement::begin(path)? {
            Some(replacement) => Ok(Self::Replaced(replacement)),
            None => Outlet::create(path, stop).map(Self::InPlace),
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

impl Write for ResultFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Replaced(replacement) => replacement.write(bytes),
            Self::InPlace(outlet) => outlet.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Replaced(replacement) => replacement.flush(),
            Self::InPlace(outlet) => outlet.flush(),
        }
    }
}
