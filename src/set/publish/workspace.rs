//! A workspace: an output directory that this run alone may change, and what is known of the sets in it.

use std::path::Path;
use std::sync::Arc;

use super::consent::{Consent, OnDamage};
use super::live::{live, published};
use super::occupant::{Occupant, occupant};
use super::retention::{self, Keep};
use super::salvage::Salvage;
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::error::{Error, ErrorKind, Result};
use crate::place::directory::{Directory, Unsynced};
use crate::place::fs::{Disk, FileSystem};
use crate::place::switch::{Removed, Standing};
use crate::set::content::{ContentHash, Seal, seal};
use crate::set::manifest::Manifest;
use crate::set::name::{sitemap_file, words};

/// An output directory that this run alone may change, and the run's place in it for files that nobody sees yet.
#[derive(Debug)]
pub struct Workspace {
    pub(super) place: Directory,
    pub(super) live: Option<Manifest>,
    /// What else is known, if manifests need not be trusted.
    pub(super) salvage: Option<Salvage>,
    /// What seals are made with.
    pub(super) secret: Secret,
    /// What it may replace; none if nobody was asked.
    pub(super) consent: Option<Consent>,
}

/// A sitemap that lies in staging or is published already.
#[derive(Debug)]
pub struct Staged {
    /// What it will be called.
    pub file: String,
    /// Bytes of the file.
    pub gzip_bytes: u64,
    /// Seal of the file.
    pub gzip_seal: Seal,
    /// The file, if it is new.
    pub unsynced: Option<Unsynced>,
}

impl Workspace {
    /// Makes the directory if need be, takes its lock and clears what earlier runs left behind.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it cannot be made or written to, [`ErrorKind::Busy`] if another run holds it, or one for all
    /// sites that it is one of; [`ErrorKind::Data`] if its manifest is damaged and may not be set aside.
    pub fn open(out: &Path, on_damage: OnDamage) -> Result<Self> {
        Self::open_in(Arc::new(Disk), out, on_damage)
    }

    /// Opens a directory of any file system.
    pub(super) fn open_in(fs: Arc<dyn FileSystem>, out: &Path, on_damage: OnDamage) -> Result<Self> {
        Self::open_place(Directory::open(fs, out)?, on_damage)
    }

    /// Opens the parent of the directories of all sites, which no other run may change meanwhile.
    ///
    /// # Errors
    /// As [`Workspace::open`], and [`ErrorKind::Busy`] if a run for one of the sites is at work.
    pub fn open_for_sites(out: &Path, on_damage: OnDamage) -> Result<Self> {
        Self::open_place(Directory::open_for_sites(out)?, on_damage)
    }

    /// Opens the directory `name` of a site below this one, which is [open for sites](Workspace::open_for_sites). The lock of
    /// the site is taken, and let go again: a run may have thousands of sites.
    ///
    /// # Errors
    /// As [`Workspace::open`], and [`ErrorKind::Output`] if a link has the name.
    pub fn open_site(&self, name: &str, on_damage: OnDamage) -> Result<Self> {
        let mut site = Self::open_place(self.place.open_site(name)?, on_damage)?;
        site.place.release();
        Ok(site)
    }

    fn open_place(place: Directory, on_damage: OnDamage) -> Result<Self> {
        let (live, salvage) = match on_damage {
            OnDamage::Refuse => (live(&place)?, None),
            OnDamage::SetAside => {
                let (live, salvage) = Salvage::of(&place)?;
                (live, Some(salvage))
            }
        };
        // Sitemaps that a dead run has linked into place may be live, if nobody knows what is.
        if !salvage.as_ref().is_some_and(Salvage::is_in_doubt) {
            place.remove_dead_runs(&published(live.as_ref()))?;
        }
        place.begin()?;
        // Under a new secret nothing is known: all of it is made anew.
        let sealed = live.as_ref().filter(|_| on_damage == OnDamage::Refuse);
        let handed_on = sealed.and_then(|live| Secret::from_hex(&live.secret));
        let secret = handed_on.map_or_else(Secret::draw, Ok)?;
        Ok(Self { place, live, salvage, secret, consent: None })
    }

    /// The directory that is published.
    pub fn directory(&self) -> &Path {
        self.place.view().directory()
    }

    /// The set that is live.
    pub fn live(&self) -> Option<&Manifest> {
        self.live.as_ref()
    }

    /// A directory for scratch files; gone with the run.
    pub fn scratch(&self) -> &Path {
        self.place.scratch()
    }

    /// The sitemaps of the live set and of those that are kept, to find out what has not changed.
    pub fn unchanged(&self) -> Unchanged {
        Unchanged::read(self.place.view(), self.live.as_ref(), &self.secret)
    }

    /// Writes sitemap `number`, whose XML has the hash `content` and the seal `xml`, to where nobody looks yet. One that is
    /// published already stays as it is.
    ///
    /// # Errors
    /// If it cannot be written, or if something that is no file has its name.
    pub fn stage(&self, number: u32, content: ContentHash, xml: Seal, gzip: &[u8]) -> Result<Staged> {
        for word in words(content, xml) {
            let file = sitemap_file(number, &word);
            let staged = |gzip: &[u8], unsynced| {
                let (gzip_bytes, gzip_seal) = (gzip.len() as u64, seal(&self.secret, gzip));
                Ok(Staged { file: file.clone(), gzip_bytes, gzip_seal, unsynced })
            };
            return match occupant(self.place.view(), &file, &word, &self.secret, xml, gzip)? {
                Occupant::Same { gzip: there } => staged(&there, None),
                Occupant::Other => continue,
                // Numbers that URLs decide may meet within a set, and then eight digits may as well.
                Occupant::None if self.place.is_staged(&file) => continue,
                Occupant::None => staged(gzip, Some(self.place.stage(&file, gzip)?)),
                Occupant::Damaged => staged(gzip, Some(self.place.stage_mended(&file, gzip)?)),
            };
        }
        Err(Error::new(
            ErrorKind::Internal,
            format!("sitemap {number}: every name is taken by another content"),
        ))
    }

    /// Removes what the sets before `set`, which is live, have left behind, as soon as `keep` lets it go; returns the
    /// sitemaps that were removed. If the switch could not be cleared up, nothing is removed before the next run: an index
    /// file of the old set may still be there.
    ///
    /// # Errors
    /// If something cannot be read or removed. The set is live all the same, and the next run tries again.
    pub fn expire(&self, set: &Manifest, keep: Keep) -> Result<Removed> {
        if self.place.standing() != Standing::Live {
            return Ok(Removed::default());
        }
        if self.salvage.as_ref().is_some_and(Salvage::is_in_doubt) {
            self.place.remove_dead_runs(&published(Some(set)))?;
        }
        retention::expire(&self.place, set, keep)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.place.leave(|| published(self.live.as_ref()));
    }
}
