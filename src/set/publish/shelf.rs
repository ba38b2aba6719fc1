//! The shelf of a place: sitemaps are written to the staging of a run, unless they are published already.

use super::stage::{CompressedSitemap, Stage, Staged};
use super::unchanged::Unchanged;
use crate::error::Result;
use crate::place::{Place, Unsynced};
use crate::set::name::Stem;

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

impl Stage for PlaceShelf<'_> {
    fn stem_of_set(&self) -> &Stem {
        &self.stem
    }

    fn unchanged(&self) -> &Unchanged {
        &self.unchanged
    }

    fn staged(&self, file: &str, _: &str, _: &CompressedSitemap) -> Result<Staged> {
        // Under --divide stable, two sitemaps of a set may have the same number, and rarely the same eight digits.
        Ok(if self.place.is_staged(file)? { Staged::Other } else { Staged::Free })
    }

    fn stage(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced> {
        self.place.stage(file, gzip)
    }

    fn stage_mended(&self, file: &str, gzip: Vec<u8>) -> Result<Unsynced> {
        self.place.stage_mended(file, gzip)
    }
}
