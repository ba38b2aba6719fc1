//! Files of others' making, or for others to read, that change at once: the new one is written beside and renamed.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The name of the new file until it is whole: hidden, and with another ending, so that nobody takes it for the file.
pub(crate) fn beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}{}", prefix(path), std::process::id()))
}

fn prefix(path: &Path) -> String {
    format!(".{}.sitemill-", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Where `path` lies.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates the new file for `path`, and clears away those that dead runs have left.
pub(crate) fn create(path: &Path) -> Result<File> {
    let prefix = prefix(path);
    for entry in fs::read_dir(parent(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        let is_alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
        if process.is_some_and(|process| process == std::process::id() || !is_alive(process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let beside = beside(path);
    File::create_new(&beside).map_err(|error| Error::output(&beside, error))
}

/// Looks whether a new file can be made for `path`.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if not.
pub(crate) fn check(path: &Path) -> Result<()> {
    create(path)?;
    let beside = beside(path);
    fs::remove_file(&beside).map_err(|error| Error::io(&beside, "could not be removed", error))
}

/// Gives the new file the name of the old one; both the name and the bytes are on disk then.
pub(crate) fn put(path: &Path) -> Result<()> {
    fs::rename(beside(path), path)
        .map_err(|error| Error::io(path, "could not be renamed into place", error))?;
    File::open(parent(path))
        .and_then(|directory| directory.sync_all())
        .map_err(|error| Error::io(path, "could not be synced", error))
}

/// Writes a new file with `bytes` in the place of the one at `path`.
///
/// # Errors
/// If it cannot be written; the old one stays.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    let beside = beside(path);
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.map_err(|error| Error::io(&beside, "could not be written", error));
    let replaced = written.and_then(|()| put(path));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    replaced
}
