//! What publishing asks of the file system, in its own words.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result, Shown};

/// Makes a directory that only its owner may look into, or takes the one that is there. A link in its place would
/// lead writes elsewhere.
pub fn make_private(path: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => Ok(()),
            _ => Err(foreign(path)),
        },
        other => other.map_err(|error| Error::output(path, error)),
    }
}

/// Something is in the way.
pub fn foreign(path: &Path) -> Error {
    Error::new(
        ErrorKind::Output,
        format!("{}: is in the way and not from sitemill; move it and run again", Shown(path)),
    )
}

/// Removes everything in `directory`.
pub fn remove_contents(directory: &Path) -> Result<()> {
    let remove = || {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    };
    remove().map_err(|error| Error::io(directory, "could not be cleared", error))
}

/// Removes a file, if it is there and is one: false if there is nothing.
pub fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(path, "could not be removed", error)),
    }
}

/// Gives `from` the name `to`; what had it before is gone.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io(to, "could not be renamed into place", error))
}

/// Waits until the names in a directory are on disk.
pub fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| Error::io(path, "could not be synced", error))
}

/// Whether both are names of one and the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    identity(one).is_some_and(|id| identity(other) == Some(id))
}
