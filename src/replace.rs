//! Files of others' making, or for others to read, that change at once: the new one is written beside and renamed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The name of the new file until it is whole: hidden, and with another ending, so that nobody takes it for the file.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.sitemill-{}", std::process::id()))
}

/// Creates the new file. One that a dead process of the same number has left is in the way.
pub(crate) fn create(beside: &Path) -> Result<File> {
    let _ = fs::remove_file(beside);
    File::create_new(beside).map_err(|error| Error::output(beside, error))
}

/// Looks whether a new file can be made for `path`.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if not.
pub(crate) fn check(path: &Path) -> Result<()> {
    let beside = beside(path);
    create(&beside)?;
    fs::remove_file(&beside).map_err(|error| Error::io(&beside, "could not be removed", error))
}

/// Gives the new file the name of the old one; both the name and the bytes are on disk then.
pub(crate) fn put(beside: &Path, path: &Path) -> Result<()> {
    fs::rename(beside, path).map_err(|error| Error::io(path, "could not be renamed into place", error))?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))
        .and_then(|directory| directory.sync_all())
        .map_err(|error| Error::io(path, "could not be synced", error))
}

/// Writes a new file with `bytes` in the place of the one at `path`.
///
/// # Errors
/// If it cannot be written; the old one stays.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = beside(path);
    let mut file = create(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.map_err(|error| Error::io(&beside, "could not be written", error));
    let replaced = written.and_then(|()| put(&beside, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    replaced
}
