//! Scratch files: what both passes read and nobody else sees.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::stage::input::Input;

/// A file that threads append to, in any order. Nobody else can open it, and it is gone with its last handle.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    directory: PathBuf,
    end: AtomicU64,
}

impl Scratch {
    /// A new one in `directory`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be made.
    pub fn new(directory: &Path) -> Result<Self> {
        let file = nameless(directory).map_err(|error| Error::output(directory, error))?;
        Ok(Self { file, directory: directory.into(), end: AtomicU64::new(0) })
    }

    /// Appends `bytes`; where they begin.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), most likely because the disk is full.
    pub fn append(&self, bytes: &[u8]) -> Result<usize> {
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let written = self.file.write_all_at(bytes, at);
        written.map_err(|error| Error::io(&self.directory, "has no room for scratch files", error))?;
        Ok(usize::try_from(at).expect("the file can be mapped"))
    }

    /// All of it, when all is written.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub fn map(&self) -> Result<Input> {
        Input::rows(&self.directory, &self.file, None, Vec::new())
    }

    /// The file, to be mapped when all is written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Bytes that were appended.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }
}

/// A new file that nobody else can open, and that is gone with its last handle. Nobody can know its name beforehand: the
/// directory may be one that others write to.
///
/// # Errors
/// If it cannot be made, or there is no randomness to be had.
pub(crate) fn nameless(directory: &Path) -> io::Result<File> {
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    let path = directory.join(format!(".sitemill-scratch-{random:016x}"));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
