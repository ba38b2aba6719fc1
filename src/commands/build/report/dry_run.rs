//! The result of a dry run.

use serde::{Deserialize, Serialize};

use super::details::Changes;
use super::index_changes::IndexChanges;
use crate::set::manifest::Manifest;

/// The changes that the run would have made. For several sites, the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DryRun {
    /// Sitemaps that the live set does not list with the same content.
    pub new_sitemaps: u64,
    /// Sitemaps that the live set lists with the same content.
    pub kept_sitemaps: u64,
    /// Sitemaps that only the live set lists. Their files would stay for the retention time.
    pub removed_sitemaps: u64,
    /// Index files that the live set does not have.
    pub new_indexes: u64,
    /// Index files that would be replaced by others, or written again because they are lost or something else has changed them.
    pub replaced_indexes: u64,
    /// Index files that would stay as they are.
    #[serde(default)]
    pub kept_indexes: u64,
    /// Index files that only the live set has. They would stay for the retention time, unless the set is empty.
    pub removed_indexes: u64,
    /// Estimated bytes of the files of new sitemaps. Eight sitemaps are compressed, and the rest is taken to compress as well as
    /// these.
    pub estimated_new_bytes: u64,
    /// Estimated bytes of the files of all sitemaps.
    pub estimated_bytes: u64,
}

impl DryRun {
    /// Returns the changes if `set` replaces `live`. `indexes` has those of its index files.
    pub(in crate::commands) fn of(set: &Manifest, live: Option<&Manifest>, indexes: &IndexChanges) -> Self {
        let mut changes = Changes::default();
        changes.add(set, live);
        Self {
            new_sitemaps: changes.new_sitemaps,
            kept_sitemaps: changes.kept_sitemaps,
            removed_sitemaps: changes.removed_sitemaps,
            new_indexes: indexes.new,
            replaced_indexes: indexes.replaced,
            kept_indexes: indexes.kept,
            removed_indexes: indexes.removed,
            estimated_new_bytes: changes.new_bytes,
            estimated_bytes: changes.new_bytes + changes.kept_bytes,
        }
    }

    /// Adds the changes of another site.
    pub(in crate::commands) fn add(&mut self, site: &Self) {
        self.new_sitemaps += site.new_sitemaps;
        self.kept_sitemaps += site.kept_sitemaps;
        self.removed_sitemaps += site.removed_sitemaps;
        self.new_indexes += site.new_indexes;
        self.replaced_indexes += site.replaced_indexes;
        self.kept_indexes += site.kept_indexes;
        self.removed_indexes += site.removed_indexes;
        self.estimated_new_bytes += site.estimated_new_bytes;
        self.estimated_bytes += site.estimated_bytes;
    }
}
