//! Unlinked files: scratch files that no path leads to.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Creates a file that no other process can open, and that disappears with its last handle. Its temporary name is unpredictable,
/// because other users may be able to write to the directory.
///
/// # Errors
/// If it cannot be created, or the system has no randomness.
pub fn unlinked_file(directory: &Path) -> io::Result<File> {
    let random = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
    let path = directory.join(format!(".sitemill-scratch-{random:016x}"));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
