//! Files that are written, and have to be brought to disk.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result, Shown};
use crate::place::fs::NewFile;

/// A file that is written, and perhaps not on disk yet. Waiting for the disk takes time and no processor, so the caller
/// decides when to wait and on which thread. Nothing may be published before that.
#[must_use]
#[derive(Debug)]
pub struct Unsynced {
    file: Box<dyn NewFile>,
    path: PathBuf,
    bytes: u64,
}

impl Unsynced {
    /// The new `file` at `path`, which `bytes` were written to.
    pub(super) fn new(file: Box<dyn NewFile>, path: &Path, bytes: u64) -> Self {
        Self { file, path: path.into(), bytes }
    }

    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// If it cannot be brought there, or is not there as a whole. Do not try again: the operating system forgets a write
    /// that failed, and a second try would succeed without the bytes.
    pub fn sync(self) -> Result<()> {
        let on_disk =
            self.file.sync().map_err(|error| Error::io(&self.path, "could not be synced", error))?;
        if on_disk == self.bytes {
            return Ok(());
        }
        let (path, bytes) = (Shown(&self.path), self.bytes);
        Err(Error::new(ErrorKind::Io, format!("{path}: {bytes} bytes were written and {on_disk} are there")))
    }
}
