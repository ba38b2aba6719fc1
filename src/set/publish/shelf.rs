//! The shelf of a place: sitemaps are written to the staging of a run, unless they are published already.

use super::occupant::{Occupant, occupant};
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::{Place, Unsynced, View};
use crate::set::content::{ContentHash, Seal, seal};
use crate::set::manifest::Sitemap;
use crate::set::name::{SitemapId, Stem, words};
use crate::set::shelf::{Shelf, Shelved};

/// The staging of a run in a place, and the sitemaps that are published there.
#[derive(Debug)]
pub struct PlaceShelf<'a> {
    place: &'a dyn Place,
    stem: Stem,
    unchanged: Unchanged,
}

impl<'a> PlaceShelf<'a> {
    /// The shelf for sitemaps whose names begin with `stem`.
    pub(super) fn new(place: &'a dyn Place, stem: Stem, unchanged: Unchanged) -> Self {
        Self { place, stem, unchanged }
    }
}

impl Shelf for PlaceShelf<'_> {
    fn stem(&self) -> &Stem {
        &self.stem
    }

    fn secret(&self) -> &Secret {
        self.unchanged.secret()
    }

    fn has_size(&self, id: SitemapId<'_>, urls: u32, xml_bytes: u64) -> bool {
        self.unchanged.has_size(&self.stem.of_section(id.section), id.number, urls, xml_bytes)
    }

    fn known(&self, id: SitemapId<'_>, xml: Seal) -> Result<Option<Sitemap>> {
        Ok(self.unchanged.known(&self.stem.of_section(id.section), id.number, xml)?.cloned())
    }

    fn find(&self, id: SitemapId<'_>, xml: Seal) -> Option<Sitemap> {
        self.unchanged.find(&self.stem.of_section(id.section), id.number, xml).cloned()
    }

    fn put(&self, id: SitemapId<'_>, content: ContentHash, xml: Seal, gzip: Vec<u8>) -> Result<Shelved> {
        put(self, self.place.view(), self.secret(), id, CompressedSitemap { content, xml, gzip })
    }
}

impl Stage for PlaceShelf<'_> {
    fn staged(&self, file: &str, _: &str, _: &CompressedSitemap) -> Result<Staged> {
        // Under --divide stable, two sitemaps of a set may have the same number, and rarely the same eight digits.
        Ok(if self.place.is_staged(file) { Staged::Other } else { Staged::Free })
    }

    fn stage(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced> {
        self.place.stage(file, gzip)
    }

    fn stage_mended(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced> {
        self.place.stage_mended(file, gzip)
    }
}

/// A compressed sitemap: its hash, the seal of its XML, and its compressed bytes.
pub(super) struct CompressedSitemap {
    pub content: ContentHash,
    pub xml: Seal,
    pub gzip: Vec<u8>,
}

/// What the staging of a run holds under a name.
pub(super) enum Staged {
    /// Nothing that is needed.
    Free,
    /// The same sitemap.
    Same {
        /// The bytes of the file.
        gzip: Vec<u8>,
    },
    /// Another sitemap.
    Other,
}

/// The staging of a run.
pub(super) trait Stage: Shelf {
    /// What is staged as `file`, whose name is made with `word` for the sitemap `compressed`.
    fn staged(&self, file: &str, word: &str, compressed: &CompressedSitemap) -> Result<Staged>;

    /// Stages a new sitemap.
    fn stage(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced>;

    /// Stages the replacement of a damaged sitemap.
    fn stage_mended(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced>;
}

/// Puts the sitemap `id` into `stage` under a free name, unless it is published or staged already.
pub(super) fn put(
    stage: &dyn Stage,
    published: &dyn View,
    secret: &Secret,
    id: SitemapId<'_>,
    compressed: CompressedSitemap,
) -> Result<Shelved> {
    let CompressedSitemap { content, xml, .. } = compressed;
    let (stem, number) = (stage.stem().of_section(id.section), id.number);
    for word in words(content, xml) {
        let file = stem.sitemap_file(number, &word);
        let (there, is_damaged) = match occupant(published, &file, &word, secret, xml, &compressed.gzip)? {
            Occupant::Same { gzip: there } => (Some(there), false),
            Occupant::Other => continue,
            Occupant::None => match stage.staged(&file, &word, &compressed)? {
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
