//! Backups: copies of files that are replaced although sitemill did not write them or could not use them.

use std::path::Path;

use super::staging::write;
use crate::common::digest::hex_digest;
use crate::error::{Error, Result};
use crate::place::fs::{FileSystem, exists, make_private, remove, rename, sync_directory};
use crate::place::interface::BackupReason;
use crate::place::set_paths::SetPaths;

/// Copies the file at `path` into the state of the set. The file itself stays until something replaces it.
pub fn back_up(fs: &dyn FileSystem, paths: &SetPaths, reason: BackupReason, path: &Path) -> Result<()> {
    let directory = paths.backups(reason);
    make_private(fs, &directory)?;
    let bytes = fs.read(path).map_err(|error| Error::io(path, "could not be read", error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The name contains the hash, so a second attempt makes no second copy.
    let aside = directory.join(format!("{}-{name}", hex_digest(&bytes)));
    if exists(fs, &aside)? {
        return Ok(());
    }
    let part = directory.join("part");
    remove(fs, &part)?;
    write(fs, &part, &bytes)?.sync()?;
    rename(fs, &part, &aside)?;
    sync_directory(fs, &directory)
}
