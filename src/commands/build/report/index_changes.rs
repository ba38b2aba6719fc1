//! How the index files of a set differ from those of the live one.

use crate::set::manifest::Manifest;

/// Numbers of index files.
pub struct IndexChanges {
    /// Those that the live set does not have.
    pub new: u64,
    /// Those that the live set has with other bytes, and those that are lost or that something else has changed.
    pub replaced: u64,
    /// Those that stay as they are.
    pub kept: u64,
    /// Those that only the live set has.
    pub removed: u64,
}

impl IndexChanges {
    /// The changes if `set` replaces `live`, which has `kept` of the same index files.
    pub fn of(set: &Manifest, live: Option<&Manifest>, kept: u64) -> Self {
        let old = live.map_or(&[][..], |live| &live.indexes);
        let same_name = set.indexes.iter().filter(|file| old.contains(file)).count() as u64;
        Self {
            new: set.indexes.len() as u64 - same_name,
            replaced: same_name - kept,
            kept,
            removed: old.len() as u64 - same_name,
        }
    }

    /// Those that are not the same as before, or no longer there.
    pub fn changed(&self) -> u64 {
        self.new + self.replaced + self.removed
    }
}
