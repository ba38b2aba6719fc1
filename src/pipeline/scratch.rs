//! Scratch files: what both passes read and nobody else sees.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::error::{Error, Result};

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
        let file = nameless(directory)?;
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

/// A new file that nobody else can open, and that is gone with its last handle.
pub fn nameless(directory: &Path) -> Result<File> {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("scratch-{}-{made}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path);
    let file = file.map_err(|error| Error::output(&path, error))?;
    fs::remove_file(&path).map_err(|error| Error::io(&path, "could not be removed", error))?;
    Ok(file)
}
