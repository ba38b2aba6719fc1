//! Files of others' making, or for others to read, that change at once: the new one is written beside and renamed.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::place::fs::{FileSystem, NewFile, parent, remove, rename, sync_directory};

/// The name of the new file until it is whole: hidden, and with another ending, so that nobody takes it for the file.
pub(crate) fn beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}{}", prefix(path), std::process::id()))
}

fn prefix(path: &Path) -> String {
    format!(".{}.sitemill-", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Creates the new file for `path`, and clears away those that dead runs have left.
pub(crate) fn create(fs: &dyn FileSystem, path: &Path) -> Result<Box<dyn NewFile>> {
    let prefix = prefix(path);
    for name in fs.list(parent(path)).unwrap_or_default() {
        let process = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        let is_alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(|process| process == std::process::id() || !is_alive(process)) {
            let _ = fs.remove(&path.with_file_name(name));
        }
    }
    let beside = beside(path);
    fs.create(&beside).map_err(|error| Error::output(path, error))
}

/// Looks whether a new file can be made for `path`.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if not.
pub(crate) fn check(fs: &dyn FileSystem, path: &Path) -> Result<()> {
    create(fs, path)?;
    remove(fs, &beside(path)).map(drop)
}

/// Gives the new file the name of the old one; both the name and the bytes are on disk then.
pub(crate) fn put(fs: &dyn FileSystem, path: &Path) -> Result<()> {
    rename(fs, &beside(path), path)?;
    sync_directory(fs, parent(path))
}

/// Writes a new file with `bytes` in the place of the one at `path`.
///
/// # Errors
/// If it cannot be written; the old one stays.
pub(crate) fn replace(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(fs, path)?;
    let beside = beside(path);
    let written = file.write(bytes).and_then(|()| file.sync());
    let written = written.map_err(|error| Error::io(path, "could not be written", error));
    let replaced = written.and_then(|_| put(fs, path));
    if replaced.is_err() {
        let _ = fs.remove(&beside);
    }
    replaced
}
