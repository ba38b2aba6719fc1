//! A workspace: an output directory that this run alone may change, and what is known of the sets in it.

use std::path::Path;
use std::sync::Arc;

use super::consent::{Consent, OnDamage};
use super::live::{Live, live, published};
use super::retention::{self, Keep};
use super::salvage::Salvage;
use super::shelf::PlaceShelf;
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::error::Result;
use crate::place::switch::{Removed, Standing};
use crate::place::{self, FreeSpace, Place, Version, View};
use crate::set::manifest::Manifest;

/// An output directory that this run alone may change, and the run's place in it for files that nobody sees yet.
#[derive(Debug)]
pub struct Workspace {
    pub(super) place: Box<dyn Place>,
    pub(super) live: Option<Manifest>,
    /// The version of the live manifest that the next set succeeds.
    pub(super) expected: Option<Version>,
    /// What else is known, if manifests need not be trusted.
    pub(super) salvage: Option<Salvage>,
    /// What seals are made with.
    pub(super) secret: Secret,
    /// What it may replace; none if nobody was asked.
    pub(super) consent: Option<Consent>,
}

impl Workspace {
    /// Makes the directory if need be, takes its lock and clears what earlier runs left behind.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it cannot be made or written to, [`ErrorKind::Busy`] if another run holds it, or one for all
    /// sites that it is one of; [`ErrorKind::Data`] if its manifest is damaged and may not be set aside.
    pub fn open(out: &Path, on_damage: OnDamage) -> Result<Self> {
        Self::open_place(place::open(out)?, on_damage)
    }

    /// Opens the parent of the directories of all sites, which no other run may change meanwhile.
    ///
    /// # Errors
    /// As [`Workspace::open`], and [`ErrorKind::Busy`] if a run for one of the sites is at work.
    pub fn open_for_sites(out: &Path, on_damage: OnDamage) -> Result<Self> {
        Self::open_place(place::open_for_sites(out)?, on_damage)
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

    /// Opens any place.
    pub(super) fn open_place(place: Box<dyn Place>, on_damage: OnDamage) -> Result<Self> {
        let (Live { set: live, version: expected }, salvage) = match on_damage {
            OnDamage::Refuse => (live(&*place)?, None),
            OnDamage::SetAside => {
                let (live, salvage) = Salvage::of(&*place)?;
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
        Ok(Self { place, live, expected, salvage, secret, consent: None })
    }

    /// The directory that is published.
    pub fn directory(&self) -> &Path {
        self.place.view().root()
    }

    /// The place, for reading.
    pub fn view(&self) -> Arc<dyn View> {
        self.place.view().share()
    }

    /// The set that is live.
    pub fn live(&self) -> Option<&Manifest> {
        self.live.as_ref()
    }

    /// The space that is free in the place.
    pub fn free_space(&self) -> FreeSpace {
        self.place.free_space()
    }

    /// A directory for scratch files; gone with the run.
    pub fn scratch(&self) -> &Path {
        self.place.scratch()
    }

    /// The shelf that the sitemaps of the next set are put on. It knows those of the live set and of the sets that are kept.
    pub fn shelf(&self) -> PlaceShelf<'_> {
        PlaceShelf::new(&*self.place, Unchanged::read(self.place.view(), self.live.as_ref(), &self.secret))
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
        retention::expire(&*self.place, set, keep)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.place.leave(&|| published(self.live.as_ref()));
    }
}
