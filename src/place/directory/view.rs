//! A view of an output directory: reads, changes nothing and takes no lock.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fs::{Disk, FileSystem, exists};
use super::layout::Layout;
use crate::error::{Error, Result};
use crate::place::interface::{Found, Record, View};

/// An output directory, to be read. Clones are cheap.
#[derive(Debug, Clone)]
pub struct DirectoryView {
    fs: Arc<dyn FileSystem>,
    layout: Layout,
}

impl DirectoryView {
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
}

impl View for DirectoryView {
    fn directory(&self) -> &Path {
        self.layout.out()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.layout.file(file)
    }

    fn record_path(&self, record: &Record) -> PathBuf {
        self.layout.record(record)
    }

    fn has_record(&self, record: &Record) -> bool {
        exists(self.fs(), &self.layout.record(record))
    }

    fn read_record(&self, record: &Record) -> Result<Option<Vec<u8>>> {
        let path = self.layout.record(record);
        match self.fs.read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&path, "could not be read", error)),
        }
    }

    fn has_state(&self) -> bool {
        exists(self.fs(), self.layout.state())
    }

    fn kept(&self) -> Result<Vec<Record>> {
        let sets = self.layout.sets();
        let names = self.fs.list(&sets).map_err(|error| Error::io(&sets, "could not be read", error))?;
        Ok(names.into_iter().map(Record::Kept).collect())
    }

    fn runs(&self) -> Vec<OsString> {
        self.fs.list(&self.layout.nursery()).unwrap_or_default()
    }

    fn list(&self) -> Result<Vec<OsString>> {
        let out = self.layout.out();
        self.fs.list(out).map_err(|error| Error::io(out, "could not be read", error))
    }

    fn look(&self, file: &str) -> Result<Option<Found>> {
        let path = self.layout.file(file);
        match self.fs.look(&path) {
            Ok(meta) => Ok(Some(Found { is_file: meta.is_file(), bytes: meta.bytes })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(&path, "could not be looked at", error)),
        }
    }

    fn read(&self, file: &str) -> Result<Vec<u8>> {
        let path = self.layout.file(file);
        self.fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))
    }
}
