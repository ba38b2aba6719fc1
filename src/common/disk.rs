//! Free space of a file system, where it is limited and known.

use std::path::Path;

/// Bytes that this process may still write to the file system of `path`.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// Files that may still be created in the file system of `path`, if their number is limited.
pub fn free_files(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    (disk.f_files > 0).then_some(disk.f_favail)
}
