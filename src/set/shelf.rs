//! The shelf: where producers put sitemaps before the decision whether they are published.
//!
//! A producer needs no lock and knows no other files. A sitemap on the shelf is either complete under a new name or missing, so
//! several producers can share one shelf. A sitemap that no index file lists is harmless.

use std::fmt;

use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::Unsynced;
use crate::set::content::{ContentHash, Seal};
use crate::set::manifest::Sitemap;
use crate::set::name::{SitemapId, Stem};

/// Stores new sitemaps, and finds published ones that can be reused.
pub trait Shelf: fmt::Debug + Sync {
    /// The prefix of the names of the set's files.
    fn stem(&self) -> &Stem;

    /// The secret that XML is sealed with.
    fn secret(&self) -> &Secret;

    /// Whether there is a sitemap of this section, number and size. If not, [`find`](Shelf::find) would find nothing, so that the
    /// XML need not be rendered to look for it.
    fn has_size(&self, id: SitemapId<'_>, urls: u32, xml_bytes: u64) -> bool;

    /// Finds the sitemap `id` whose XML has the seal `xml` among those that are live or kept. Its file may be damaged or missing.
    ///
    /// # Errors
    /// If something other than a regular file has its name, or that cannot be determined: [`put`](Shelf::put) could not write the
    /// file again.
    fn known(&self, id: SitemapId<'_>, xml: Seal) -> Result<Option<Sitemap>>;

    /// Finds the sitemap `id` whose XML has the seal `xml`, if it is live or kept and its file is whole. Reads all of the
    /// file.
    fn find(&self, id: SitemapId<'_>, xml: Seal) -> Option<Sitemap>;

    /// Stores the sitemap `id`, whose XML has the hash `content` and the seal `xml` and is compressed to `gzip`. The shelf
    /// chooses the name from the section, the number and the hash, because another content may have the first choice. An intact
    /// file is never changed. If it contains the same XML, it is used instead of the new one.
    ///
    /// # Errors
    /// If it cannot be written, or if something other than a regular file has its name.
    fn put(&self, id: SitemapId<'_>, content: ContentHash, xml: Seal, gzip: Vec<u8>) -> Result<Shelved>;
}

/// A sitemap on the shelf.
#[derive(Debug)]
pub struct Shelved {
    /// File name under which it will be published.
    pub file: String,
    /// Bytes of the file.
    pub gzip_bytes: u64,
    /// Seal of the file.
    pub gzip_seal: Seal,
    /// The file, if it is new. It must be synced before the sitemap is published.
    pub unsynced: Option<Unsynced>,
}
