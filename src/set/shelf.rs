//! The shelf: where producers put sitemaps, before anybody decides whether they are published.
//!
//! A producer needs no lock and knows no other file. What it puts there exists under a new name or not at all, so several
//! producers may use one shelf, and a sitemap that nobody lists harms nobody.

use std::fmt;

use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::Unsynced;
use crate::set::content::{ContentHash, Seal};
use crate::set::manifest::Sitemap;

/// Takes new sitemaps, and finds those that need not be made again.
pub trait Shelf: fmt::Debug + Sync {
    /// The secret that XML is sealed with.
    fn secret(&self) -> &Secret;

    /// Whether there is a sitemap of this number and size. If not, [`find`](Shelf::find) would find nothing, so that the XML
    /// need not be rendered to look for it.
    fn has_size(&self, number: u32, urls: u32, xml_bytes: u64) -> bool;

    /// Finds sitemap `number` whose XML has the seal `xml`, if it is live or kept and its file is whole. Reads all of the
    /// file.
    fn find(&self, number: u32, xml: Seal) -> Option<Sitemap>;

    /// Puts sitemap `number` there, whose XML has the hash `content` and the seal `xml` and is compressed to `gzip`. The shelf
    /// chooses the name, by number and content, because another content may have taken a name. A whole file is never
    /// changed; if it holds the same XML, it stands for the new one.
    ///
    /// # Errors
    /// If it cannot be written, or if something that is no file has its name.
    fn put(&self, number: u32, content: ContentHash, xml: Seal, gzip: &[u8]) -> Result<Shelved>;
}

/// A sitemap on the shelf.
#[derive(Debug)]
pub struct Shelved {
    /// The name that it is going to be published under.
    pub file: String,
    /// Bytes of the file.
    pub gzip_bytes: u64,
    /// Seal of the file.
    pub gzip_seal: Seal,
    /// The file, if it is new. It must be synced before the sitemap is published.
    pub unsynced: Option<Unsynced>,
}
