//! Draft: the new version of a local file, which has a temporary name next to the old version until it is complete.
//!
//! A run holds a lock on its drafts, so a draft that can be locked is that of a dead run. Process IDs would not tell: in a
//! container, every run may have the same one. Names are random and never used again, so a run that removes what a dead one left
//! cannot remove the draft of a third run.

use std::io;
use std::path::{Path, PathBuf};

use super::fs::{FileSystem, Kind, Meta, NewFile, exists, parent, random, remove, rename};
use crate::error::{Error, Result, message};

/// A draft. It is removed on drop, unless it has been renamed.
#[derive(Debug)]
pub struct Draft<'a> {
    fs: &'a dyn FileSystem,
    file: Box<dyn NewFile>,
    path: PathBuf,
    /// Whether it still has its temporary name.
    is_temporary: bool,
}

impl<'a> Draft<'a> {
    /// Creates an empty draft of the file `path`, and removes the drafts of that file that dead runs have left.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if no file can be created there.
    pub fn create(fs: &'a dyn FileSystem, path: &Path) -> Result<Self> {
        remove_leftovers(fs, path);
        loop {
            let temporary = path.with_file_name(format!("{}{:016x}", prefix(path), random(path)?));
            let file = fs.create(&temporary).map_err(|error| uncreated(fs, path, error))?;
            let draft = Self { fs, file, path: temporary, is_temporary: true };
            // In a file system without locks, no run takes it for a leftover.
            let is_own = draft.file.try_to_lock().unwrap_or(true) && exists(fs, &draft.path)?;
            // Otherwise, another run has taken it for a leftover before it was locked.
            if is_own {
                return Ok(draft);
            }
        }
    }

    /// Its temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it the mode and, if permitted, the owner of the file `old`. False if its group cannot be kept and matters.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn take_after(&self, old: &Meta) -> io::Result<bool> {
        self.file.take_after(old)
    }

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write(bytes)
    }

    /// Waits until its bytes are durable.
    ///
    /// # Errors
    /// If they cannot be synced.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync().map(drop)
    }

    /// Gives it the name `path`, in place of the file that has it.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn rename(&mut self, path: &Path) -> Result<()> {
        rename(self.fs, &self.path, path)?;
        self.is_temporary = false;
        Ok(())
    }

    /// Removes its temporary name.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn discard(mut self) -> Result<()> {
        self.is_temporary = false;
        remove(self.fs, &self.path).map(drop)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = self.fs.remove(&self.path);
        }
    }
}

/// The `error` of creating a draft of the file `path`, which may exist.
fn uncreated(fs: &dyn FileSystem, path: &Path, error: io::Error) -> Error {
    let words = "cannot be replaced, because no file can be created in its directory";
    match exists(fs, path) {
        Ok(true) => Error::uncreated(message!(path, ": {words}"), error),
        _ => Error::output(path, error),
    }
}

/// The beginning of the names of all drafts of the file `path`. They are hidden and have another extension, so that no program
/// takes one for the file itself.
fn prefix(path: &Path) -> String {
    format!(".{}.sitemill-", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes the drafts of the file `path` that no run holds. What cannot be removed is in nobody's way.
fn remove_leftovers(fs: &dyn FileSystem, path: &Path) {
    let prefix = prefix(path);
    let is_number = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_draft = |name: &str| name.strip_prefix(&prefix).is_some_and(is_number);
    for (name, kind) in fs.list(parent(path)).unwrap_or_default() {
        if kind == Kind::File && name.to_str().is_some_and(is_draft) {
            let left = path.with_file_name(name);
            // The lock is held until the file is removed, so that a run which has just created it notices.
            if let Ok(Some(_lock)) = fs.lock_shared(&left, None) {
                let _ = fs.remove(&left);
            }
        }
    }
}
