//! The shelf of a place: sitemaps are written to the staging of a run, unless they are published already.

use super::occupant::{Occupant, occupant};
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::Place;
use crate::set::content::{ContentHash, Seal, seal};
use crate::set::manifest::Sitemap;
use crate::set::name::{sitemap_file, words};
use crate::set::shelf::{Shelf, Shelved};

/// The staging of a run in a place, and the sitemaps that are published there.
#[derive(Debug)]
pub struct PlaceShelf<'a> {
    place: &'a dyn Place,
    unchanged: Unchanged<'a>,
}

impl<'a> PlaceShelf<'a> {
    pub(super) fn new(place: &'a dyn Place, unchanged: Unchanged<'a>) -> Self {
        Self { place, unchanged }
    }
}

impl Shelf for PlaceShelf<'_> {
    fn secret(&self) -> &Secret {
        self.unchanged.secret()
    }

    fn has_size(&self, number: u32, urls: u32, xml_bytes: u64) -> bool {
        self.unchanged.has_size(number, urls, xml_bytes)
    }

    fn find(&self, number: u32, xml: Seal) -> Option<Sitemap> {
        self.unchanged.find(number, xml).cloned()
    }

    fn put(&self, number: u32, content: ContentHash, xml: Seal, gzip: &[u8]) -> Result<Shelved> {
        for word in words(content, xml) {
            let file = sitemap_file(number, &word);
            let staged = |gzip: &[u8], unsynced| {
                let (gzip_bytes, gzip_seal) = (gzip.len() as u64, seal(self.unchanged.secret(), gzip));
                Ok(Shelved { file: file.clone(), gzip_bytes, gzip_seal, unsynced })
            };
            return match occupant(self.place.view(), &file, &word, self.unchanged.secret(), xml, gzip)? {
                Occupant::Same { gzip: there } => staged(&there, None),
                Occupant::Other => continue,
                // Under --divide stable, two sitemaps of a set may have the same number, and rarely the same eight digits.
                Occupant::None if self.place.is_staged(&file) => continue,
                Occupant::None => staged(gzip, Some(self.place.stage(&file, gzip)?)),
                Occupant::Damaged => staged(gzip, Some(self.place.stage_mended(&file, gzip)?)),
            };
        }
        Err(Error::new(
            ErrorKind::Internal,
            message!(
                self.place.view().root(),
                ": every name for sitemap {number} is taken by another content"
            ),
        ))
    }
}
