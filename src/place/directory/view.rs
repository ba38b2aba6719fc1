//! A view of an output directory: reads, changes nothing and takes no lock.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hash::file_hash;
use super::layout::{Layout, Record};
use crate::error::{Error, Result};
use crate::place::fs::{Disk, FileSystem, Meta, exists, foreign};

/// An output directory, to be read. Clones are cheap.
#[derive(Debug, Clone)]
pub struct View {
    fs: Arc<dyn FileSystem>,
    layout: Layout,
}

impl View {
    /// The directory `out` of this machine.
    pub fn on_disk(out: &Path) -> Self {
        Self::of(Arc::new(Disk), out)
    }

    /// The directory `out` of any file system.
    pub fn of(fs: Arc<dyn FileSystem>, out: &Path) -> Self {
        Self { fs, layout: Layout::of(out) }
    }

    /// The file system that it lies in.
    pub(super) fn fs(&self) -> &dyn FileSystem {
        &*self.fs
    }

    /// Where its files lie.
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A directory below it, in the same file system.
    pub fn below(&self, name: &str) -> Self {
        Self::of(self.fs.clone(), &self.layout.file(name))
    }

    /// Its path.
    pub fn directory(&self) -> &Path {
        self.layout.out()
    }

    /// The path of a published file, for messages.
    pub fn path(&self, file: &str) -> PathBuf {
        self.layout.file(file)
    }

    /// The path of a manifest, for messages.
    pub fn record_path(&self, record: &Record) -> PathBuf {
        self.layout.record(record)
    }

    /// Whether it has a directory with the state of a set.
    pub fn has_state(&self) -> bool {
        exists(self.fs(), self.layout.state())
    }

    /// Whether it has this manifest.
    pub fn has_record(&self, record: &Record) -> bool {
        exists(self.fs(), &self.layout.record(record))
    }

    /// The bytes of a manifest; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_record(&self, record: &Record) -> Result<Option<Vec<u8>>> {
        let path = self.layout.record(record);
        match self.fs.read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&path, "could not be read", error)),
        }
    }

    /// The manifests of earlier sets, and whatever else lies beside them.
    ///
    /// # Errors
    /// If their directory cannot be read.
    pub fn kept(&self) -> Result<Vec<Record>> {
        let sets = self.layout.sets();
        let names = self.fs.list(&sets).map_err(|error| Error::io(&sets, "could not be read", error))?;
        Ok(names.into_iter().map(Record::Kept).collect())
    }

    /// The names of runs that have staging: those at work and those that died. Empty if we may not look.
    pub fn runs(&self) -> Vec<OsString> {
        self.fs.list(&self.layout.nursery()).unwrap_or_default()
    }

    /// All names in the directory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn list(&self) -> Result<Vec<OsString>> {
        let out = self.layout.out();
        self.fs.list(out).map_err(|error| Error::io(out, "could not be read", error))
    }

    /// Looks at what has the name of a published file.
    ///
    /// # Errors
    /// As the file system says, also if there is nothing.
    pub fn look(&self, file: &str) -> io::Result<Meta> {
        self.fs.look(&self.layout.file(file))
    }

    /// Whether `file` is an ordinary file.
    pub fn is_file(&self, file: &str) -> bool {
        self.look(file).is_ok_and(|meta| meta.is_file())
    }

    /// The bytes of a published file.
    ///
    /// # Errors
    /// If it cannot be read, or is not there.
    pub fn read(&self, file: &str) -> Result<Vec<u8>> {
        let path = self.layout.file(file);
        self.fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))
    }

    /// The bytes of a published file; none if nothing has its name.
    ///
    /// # Errors
    /// If it cannot be read, or something that is no ordinary file has its name.
    pub fn occupant(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let path = self.layout.file(file);
        match self.fs.look(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&path, "could not be looked at", error)),
            Ok(meta) if !meta.is_file() => Err(foreign(&path)),
            Ok(_) => self.read(file).map(Some),
        }
    }

    /// Whether `file` is an ordinary file whose bytes have this [hash](file_hash).
    pub fn has_content(&self, file: &str, hash: &str) -> bool {
        self.is_file(file) && self.read(file).is_ok_and(|bytes| file_hash(&bytes) == hash)
    }
}
