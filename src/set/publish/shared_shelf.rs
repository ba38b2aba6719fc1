//! The shelf of a worker: its sitemaps go to the staging of a run that another process owns.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::occupant::{Occupant, occupant_of};
use super::stage::{CompressedSitemap, Stage, Staged};
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::{SetName, SharedStaging, Unsynced, staging_of_run};
use crate::set::manifest::Sitemap;
use crate::set::name::Stem;

/// The staging of a run that another process owns, and the sitemaps that are published in its place.
///
/// Workers do not know of each other, and a task may run twice, at the same time or one attempt after the other. A sitemap
/// that an earlier attempt has staged is used as it is.
#[derive(Debug)]
pub struct SharedShelf {
    staging: Box<dyn SharedStaging>,
    stem: Stem,
    unchanged: Unchanged,
    /// The names that this worker has given to new sitemaps, which may not exist before they are synced.
    given: Mutex<HashSet<String>>,
}

impl SharedShelf {
    /// The shelf of a worker of `run`, which publishes the set `name` in the place at `out`. The `sitemaps` are published there,
    /// sealed with `secret`.
    ///
    /// # Errors
    /// If `out` is the URL of a store that cannot be reached.
    pub fn new(
        out: &Path,
        name: Option<&SetName>,
        run: &str,
        secret: &Secret,
        sitemaps: impl IntoIterator<Item = Sitemap>,
    ) -> Result<Self> {
        let staging = staging_of_run(out, name, run)?;
        let unchanged = Unchanged::of(staging.view(), secret, sitemaps);
        Ok(Self { staging, stem: Stem::of_set(name), unchanged, given: Mutex::default() })
    }
}

impl Stage for SharedShelf {
    fn stem_of_set(&self) -> &Stem {
        &self.stem
    }

    fn unchanged(&self) -> &Unchanged {
        &self.unchanged
    }

    fn staged(&self, file: &str, digits: &str, compressed: &CompressedSitemap) -> Result<Staged> {
        if !self.given.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_owned()) {
            return Ok(Staged::Other);
        }
        let there = self.staging.staged(file)?;
        Ok(match occupant_of(there, digits, self.unchanged.secret(), compressed.xml, &compressed.gzip) {
            Occupant::Same { gzip } => Staged::Same { gzip },
            Occupant::Other => Staged::Other,
            // A file that a power loss left incomplete is replaced.
            Occupant::None | Occupant::Damaged => Staged::Free,
        })
    }

    fn stage(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced> {
        self.staging.stage(file, gzip)
    }

    fn stage_mended(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced> {
        self.staging.stage_mended(file, gzip)
    }
}
