//! Stages new sitemaps under free names, and finds those that are published already: what the shelf of a run and that of a worker
//! share.

use std::fmt;

use super::occupant::{Occupant, occupant};
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::Unsynced;
use crate::set::content::{ContentHash, Seal, seal};
use crate::set::manifest::Sitemap;
use crate::set::name::{SitemapId, Stem, hash_candidates};
use crate::set::shelf::{Shelf, Shelved};

/// A compressed sitemap: its hash, the seal of its XML, and its compressed bytes.
pub(super) struct CompressedSitemap {
    pub content: ContentHash,
    pub xml: Seal,
    pub gzip: Vec<u8>,
}

/// The file that the staging of a run holds under a name.
pub(super) enum Staged {
    /// Nothing that is needed.
    Free,
    /// The sitemap itself.
    Same {
        /// The bytes of the file.
        gzip: Vec<u8>,
    },
    /// Another sitemap.
    Other,
}

/// The staging of a run. Every one is a [`Shelf`].
pub(super) trait Stage: fmt::Debug + Sync {
    /// The prefix of the names of the set's files.
    fn stem_of_set(&self) -> &Stem;

    /// The sitemaps that are published already.
    fn unchanged(&self) -> &Unchanged;

    /// The file that is staged as `file`, whose name is made with `digits` for the sitemap `compressed`.
    fn staged(&self, file: &str, digits: &str, compressed: &CompressedSitemap) -> Result<Staged>;

    /// Stages a new sitemap.
    fn stage(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced>;

    /// Stages the replacement of a damaged sitemap.
    fn stage_mended(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced>;
}

impl<S: Stage> Shelf for S {
    fn stem(&self) -> &Stem {
        self.stem_of_set()
    }

    fn secret(&self) -> &Secret {
        self.unchanged().secret()
    }

    fn has_size(&self, id: SitemapId<'_>, urls: u32, xml_bytes: u64) -> bool {
        self.unchanged().has_size(&self.stem().of_section(id.section), id.number, urls, xml_bytes)
    }

    fn known(&self, id: SitemapId<'_>, xml: Seal) -> Result<Option<Sitemap>> {
        Ok(self.unchanged().known(&self.stem().of_section(id.section), id.number, xml)?.cloned())
    }

    fn find(&self, id: SitemapId<'_>, xml: Seal) -> Option<Sitemap> {
        self.unchanged().find(&self.stem().of_section(id.section), id.number, xml).cloned()
    }

    fn put(&self, id: SitemapId<'_>, content: ContentHash, xml: Seal, gzip: Vec<u8>) -> Result<Shelved> {
        put(self, id, CompressedSitemap { content, xml, gzip })
    }
}

/// Puts the sitemap `id` into `stage` under a free name, unless it is published or staged already.
fn put(stage: &dyn Stage, id: SitemapId<'_>, compressed: CompressedSitemap) -> Result<Shelved> {
    let CompressedSitemap { content, xml, .. } = compressed;
    let (published, secret) = (stage.unchanged().view(), stage.unchanged().secret());
    let (stem, number) = (stage.stem_of_set().of_section(id.section), id.number);
    for digits in hash_candidates(content, xml) {
        let file = stem.sitemap_file(number, &digits);
        let (there, is_damaged) = match occupant(published, &file, &digits, secret, xml, &compressed.gzip)? {
            Occupant::Same { gzip: there } => (Some(there), false),
            Occupant::Other => continue,
            Occupant::None => match stage.staged(&file, &digits, &compressed)? {
                Staged::Free => (None, false),
                Staged::Same { gzip: there } => (Some(there), false),
                Staged::Other => continue,
            },
            Occupant::Damaged => (None, true),
        };
        let gzip = there.as_ref().unwrap_or(&compressed.gzip);
        let (gzip_bytes, gzip_seal) = (gzip.len() as u64, seal(secret, gzip));
        let unsynced = match there {
            Some(_) => None,
            None if is_damaged => Some(stage.stage_mended(&file, compressed.gzip)?),
            None => Some(stage.stage(&file, compressed.gzip)?),
        };
        return Ok(Shelved { file, gzip_bytes, gzip_seal, unsynced });
    }
    Err(Error::new(
        ErrorKind::Internal,
        message!(published.root(), ": every name for sitemap {number} of {stem} is taken by other content"),
    ))
}
