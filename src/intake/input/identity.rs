//! The identity of a file, which shows whether it has changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Enough of a file's metadata to notice writes: unlike the modification time, the change time cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// The size of the file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The identity of the file with this metadata.
    pub fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether both identify the same file.
    pub fn is_of_file_of(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether both identify the same file, and only its change time differs. A new owner, mode or link changes that alone.
    pub fn differs_in_change_time_alone(&self, was: &Self) -> bool {
        self != was && Self { changed: was.changed, ..*self } == *was
    }

    /// Whether both identify the same file, which was longer at the time of `was`.
    pub fn is_shorter_than(&self, was: &Self) -> bool {
        self.is_of_file_of(was) && self.bytes < was.bytes
    }
}
