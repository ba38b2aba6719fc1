//! A view of an output directory: reads, changes nothing and takes no lock.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lock;
use crate::error::{Error, Result};
use crate::place::foreign::foreign;
use crate::place::fs::{FileSystem, Kind, OWN_STATE, look_up};
use crate::place::interface::{Found, Listed, View};
use crate::place::record::{Record, Stored, Version};
use crate::place::set_name::SetName;
use crate::place::set_paths::SetPaths;

/// An output directory for reading. Clones are cheap.
#[derive(Debug, Clone)]
pub struct DirectoryView {
    fs: Arc<dyn FileSystem>,
    paths: SetPaths,
}

impl DirectoryView {
    /// The set `name` in the directory `out` of any file system, or the set without a name.
    pub fn of(fs: Arc<dyn FileSystem>, out: &Path, name: Option<&SetName>) -> Self {
        Self { fs, paths: SetPaths::of(out, name) }
    }

    /// Its file system.
    pub(super) fn fs(&self) -> &dyn FileSystem {
        &*self.fs
    }

    /// Its paths.
    pub(super) fn paths(&self) -> &SetPaths {
        &self.paths
    }

    /// The directory of a site below it, in the same file system, with the set of the same name.
    pub fn site(&self, site: impl AsRef<OsStr>) -> Self {
        Self::of(self.fs.clone(), &self.paths.file(site), self.paths.name())
    }

    fn found(&self, path: &Path) -> Result<Option<Found>> {
        let meta = look_up(self.fs(), path)?;
        Ok(meta.map(|meta| Found { is_file: meta.is_file(), bytes: meta.bytes }))
    }
}

/// The error for state at `path` that cannot be read. It is private to the user who runs the builds.
fn unreadable(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::IsADirectory => foreign(path),
        io::ErrorKind::PermissionDenied => Error::io(path, format!("could not be read; {OWN_STATE}"), error),
        _ => Error::io(path, "could not be read", error),
    }
}

impl View for DirectoryView {
    fn root(&self) -> &Path {
        self.paths.out()
    }

    fn path(&self, file: &OsStr) -> PathBuf {
        self.paths.file(file)
    }

    fn record_path(&self, record: &Record) -> PathBuf {
        self.paths.record(record)
    }

    fn exists(&self) -> Result<bool> {
        // A link to a directory is one.
        Ok(self.found(&self.paths.out().join("."))?.is_some())
    }

    fn share(&self) -> Arc<dyn View> {
        Arc::new(self.clone())
    }

    fn below(&self, name: &OsStr) -> Arc<dyn View> {
        Arc::new(self.site(name))
    }

    fn name(&self) -> Option<&SetName> {
        self.paths.name()
    }

    fn named(&self, name: Option<&SetName>) -> Arc<dyn View> {
        Arc::new(Self::of(self.fs.clone(), self.paths.out(), name))
    }

    fn names(&self) -> Result<Vec<SetName>> {
        let directory = self.paths.names();
        let listed = match self.fs.list(&directory) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            listed => listed.map_err(|error| unreadable(&directory, error))?,
        };
        let directories = listed.into_iter().filter(|(_, kind)| *kind == Kind::Directory);
        let mut names: Vec<SetName> =
            directories.filter_map(|(name, _)| name.to_str()?.parse().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn has_state(&self) -> Result<bool> {
        let records = [Record::Live, Record::Journal].map(|record| self.paths.record(&record));
        // The state of another user cannot be looked into, and is none of ours.
        Ok(records.iter().chain([&self.paths.lock()]).any(|path| self.fs.look(path).is_ok()))
    }

    fn look_up_record(&self, record: &Record) -> Result<Option<Found>> {
        self.found(&self.paths.record(record))
    }

    fn read_record(&self, record: &Record) -> Result<Option<Stored>> {
        let path = self.paths.record(record);
        match self.fs.read(&path) {
            Ok(bytes) => Ok(Some(Stored { version: Version::of(&bytes), bytes })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&path, error)),
        }
    }

    fn kept(&self) -> Result<Vec<Record>> {
        let sets = self.paths.sets();
        let names = match self.fs.list(&sets) {
            // Before the first run.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(|error| unreadable(&sets, error))?,
        };
        Ok(names.into_iter().map(|(name, _)| Record::Kept(name)).collect())
    }

    fn runs(&self) -> Vec<OsString> {
        let names = self.fs.list(&self.paths.all_staging()).unwrap_or_default();
        names.into_iter().map(|(name, _)| name).collect()
    }

    fn is_active(&self, run: &str) -> bool {
        // Runs on other machines and in other containers look dead from here.
        lock::is_held(self.fs(), &self.paths, run)
    }

    fn list(&self) -> Result<Vec<Listed>> {
        let out = self.paths.out();
        let names = self.fs.list(out).map_err(|error| Error::input(out, error))?;
        let listed = |(name, kind)| Listed {
            name,
            is_file: kind == Kind::File,
            is_directory: kind == Kind::Directory,
        };
        Ok(names.into_iter().map(listed).collect())
    }

    fn look_up(&self, file: &OsStr) -> Result<Option<Found>> {
        self.found(&self.paths.file(file))
    }

    fn identity(&self, file: &OsStr) -> Option<String> {
        let meta = self.fs.look(&self.paths.file(file)).ok()?;
        Some(format!("{:?} {:?} {}", meta.identity, meta.modified, meta.bytes))
    }

    fn open(&self, file: &OsStr) -> Result<Box<dyn Read + Send>> {
        let path = self.paths.file(file);
        self.fs.open(&path).map_err(|error| Error::input(&path, error))
    }

    fn read(&self, file: &OsStr) -> Result<Vec<u8>> {
        let path = self.paths.file(file);
        self.fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))
    }
}
