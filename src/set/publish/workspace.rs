//! A workspace: a place that only this run may change, with the manifests of the sets in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::completed::{Completed, CompletedSwitch};
use super::consent::{Consent, OnDamage};
use super::live::{ReadLive, kept, published, resume_and_read};
use super::retention::{self, Keep};
use super::salvage::Salvage;
use super::shelf::PlaceShelf;
use super::sites_below::{abandoned_sites, live_sites, name_of_place, switching_sites};
use super::unchanged::Unchanged;
use crate::common::secret::Secret;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::place::switch::{Removed, SwitchState};
use crate::place::{self, FreeSpace, PROBE, Place, SetName, Version, View};
use crate::set::manifest::{Manifest, Sitemap};
use crate::set::name::{Stem, robots_file};

/// A place that only this run may change, with the run's staging and the manifests of the sets there.
#[derive(Debug)]
pub struct Workspace {
    pub(super) place: Box<dyn Place>,
    /// The prefix of the names of its sitemaps and index files.
    pub(super) stem: Stem,
    /// The name of the file with its lines for robots.txt.
    pub(super) robots_file: String,
    pub(super) live: Option<Manifest>,
    /// The version of the live manifest that the next set succeeds.
    pub(super) expected: Option<Version>,
    /// Whether this run has completed the switch to the live set, which a dead run had begun.
    pub(super) has_resumed_switch: bool,
    /// The names of the sites below this place for which it has done so, with their sets.
    completed_sites: BTreeMap<String, CompletedSwitch>,
    /// The other manifests, if damaged ones are ignored.
    pub(super) salvage: Option<Salvage>,
    /// The key of seals.
    pub(super) secret: Secret,
    /// The consent of the run; `None` before [`Workspace::admit`].
    pub(super) consent: Option<Consent>,
    /// Whether [`Workspace::end`] was called.
    has_ended: bool,
}

/// The sitemaps that the next set may reuse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reusable {
    /// Their number.
    pub files: u64,
    /// Bytes of their files.
    pub bytes: u64,
}

impl Workspace {
    /// Opens the place at `out` for the set `name`, or for the set without a name: creates it if it does not exist, takes its lock,
    /// and removes the files of dead runs. Requests to a store are given up a few seconds after `stop` is raised.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it cannot be created, [`ErrorKind::Permission`] if this user may not write to it,
    /// [`ErrorKind::Busy`] if another run holds its lock or the lock of all sites, [`ErrorKind::Data`] if its manifest is damaged
    /// and `on_damage` does not permit ignoring it.
    pub fn open(out: &Path, name: Option<&SetName>, on_damage: OnDamage, stop: &Stop) -> Result<Self> {
        Self::open_place(place::open(out, name, stop)?, on_damage)
    }

    /// Opens the parent of the places of all sites. No other run may change any of them then. Completes the switches of all sites
    /// that dead runs have committed, and removes the files of dead runs, because the next run may never open such a site.
    ///
    /// # Errors
    /// Same as [`Workspace::open`]; also [`ErrorKind::Busy`] if a run for one of the sites is active.
    pub fn open_for_sites(
        out: &Path,
        name: Option<&SetName>,
        on_damage: OnDamage,
        stop: &Stop,
    ) -> Result<Self> {
        let mut parent = Self::open_place(place::open_for_sites(out, name, stop)?, on_damage)?;
        match parent.complete_sites(on_damage, stop) {
            Ok(()) => Ok(parent),
            Err(error) => Err(parent.completed().explain(error)),
        }
    }

    /// Completes the switches of all sites below this place, and removes the files of dead runs there.
    fn complete_sites(&mut self, on_damage: OnDamage, stop: &Stop) -> Result<()> {
        for site in switching_sites(self.place.view())? {
            stop.check()?;
            let name = name_of_place(&*site);
            let Completed(switches) = self.open_site(name, on_damage)?.completed();
            self.completed_sites.extend(switches.into_iter().map(|switch| (name.to_owned(), switch)));
        }
        for site in abandoned_sites(self.place.view())? {
            stop.check()?;
            // Opening it removes the files of dead runs. Nothing depends on that, so the next run tries again.
            let _ = self.open_site(name_of_place(&*site), OnDamage::Refuse);
        }
        Ok(())
    }

    /// Opens the place at `out`, or the parent of the places of all sites, for a dry run: it need not exist, no lock is taken, and
    /// nothing is changed. The sites below it are opened in the same way.
    ///
    /// # Errors
    /// Same as [`Workspace::open`], except that a lock is not an error.
    pub fn preview(out: &Path, name: Option<&SetName>, on_damage: OnDamage, stop: &Stop) -> Result<Self> {
        Self::open_place(place::preview(out, name, stop)?, on_damage)
    }

    /// Opens the site `name` below this place, which is [open for sites](Workspace::open_for_sites). The lock of the site is
    /// taken and released again, because a run may have thousands of sites.
    ///
    /// # Errors
    /// Same as [`Workspace::open`]; also [`ErrorKind::Output`] if a link has the name.
    pub fn open_site(&self, name: &str, on_damage: OnDamage) -> Result<Self> {
        let mut site = Self::open_place(self.place.open_site(name)?, on_damage)?;
        site.has_resumed_switch |= self.completed_sites.contains_key(name);
        site.place.release_lock();
        Ok(site)
    }

    /// Opens any place.
    pub(super) fn open_place(place: Box<dyn Place>, on_damage: OnDamage) -> Result<Self> {
        let (ReadLive { set: live, version: expected, has_resumed_switch }, salvage) = match on_damage {
            OnDamage::Refuse => (resume_and_read(&*place)?, None),
            OnDamage::SetAside => {
                let (live, salvage) = Salvage::of(&*place)?;
                (live, Some(salvage))
            }
        };
        let robots_file = robots_file(place.view().name());
        // If the live set is unknown, sitemaps that a dead run made visible may belong to it.
        if !salvage.as_ref().is_some_and(Salvage::is_in_doubt) {
            place.remove_dead_runs(&published(live.as_ref(), &robots_file))?;
        }
        place.create_staging()?;
        // A new secret matches no seal, so all sitemaps are compressed again.
        let sealed = live.as_ref().filter(|_| on_damage == OnDamage::Refuse);
        let inherited = sealed.and_then(|live| Secret::from_hex(&live.secret));
        let secret = inherited.map_or_else(Secret::draw, Ok)?;
        let stem = Stem::of_set(place.view().name());
        Ok(Self {
            place,
            stem,
            robots_file,
            live,
            expected,
            has_resumed_switch,
            completed_sites: BTreeMap::new(),
            salvage,
            secret,
            consent: None,
            has_ended: false,
        })
    }

    /// The path of the place.
    pub fn directory(&self) -> &Path {
        self.place.view().root()
    }

    /// The name of the set; `None` for the set without a name.
    pub fn name(&self) -> Option<&SetName> {
        self.place.view().name()
    }

    /// The place, for reading.
    pub fn view(&self) -> Arc<dyn View> {
        self.place.view().share()
    }

    /// The prefix of the names of the set's files.
    pub fn stem(&self) -> &Stem {
        &self.stem
    }

    /// The name of the file with its lines for robots.txt.
    pub fn robots_file(&self) -> &str {
        &self.robots_file
    }

    /// The live set.
    pub fn live(&self) -> Option<&Manifest> {
        self.live.as_ref()
    }

    /// The switches that opening this place has completed, here and in the sites below it.
    pub fn completed(&self) -> Completed {
        let own = self.live.iter().filter(|_| self.has_resumed_switch);
        let own = own.map(|set| CompletedSwitch { number: set.number, base_url: set.base_url.clone() });
        Completed(own.chain(self.completed_sites.values().cloned()).collect())
    }

    /// The free space of the place.
    pub fn free_space(&self) -> FreeSpace {
        self.place.free_space()
    }

    /// The sitemaps that are live or kept here and, for a run for all sites, those that are live in the sites below. Those that
    /// cannot be read are left out.
    pub fn reusable(&self, is_for_sites: bool) -> Reusable {
        let sites = is_for_sites.then(|| live_sites(self.place.view())).into_iter().flatten();
        let of_sites = sites.flat_map(|set| set.sitemaps);
        let sitemaps = self.unchanged().into_sitemaps().chain(of_sites);
        sitemaps.fold(Reusable::default(), |Reusable { files, bytes }, sitemap| Reusable {
            files: files + 1,
            bytes: bytes + sitemap.gzip_bytes,
        })
    }

    /// The kept sets before `set`, as far as their manifests can be read.
    pub fn kept(&self, set: &Manifest) -> Vec<Manifest> {
        kept(self.place.view(), set)
    }

    /// A directory for scratch files, which is removed at the end of the run.
    pub fn scratch(&self) -> &Path {
        self.place.scratch()
    }

    /// The shelf for the sitemaps of the next set. It knows the sitemaps of the live set and of the sets that are kept.
    pub fn shelf(&self) -> PlaceShelf<'_> {
        PlaceShelf::new(&*self.place, self.stem.clone(), self.unchanged())
    }

    fn unchanged(&self) -> Unchanged {
        Unchanged::read(self.place.view(), self.live.as_ref(), &self.secret)
    }

    /// The sitemaps of the live set and of the sets that are kept, as far as they were sealed with the secret.
    pub fn sealed_sitemaps(&self) -> Vec<Sitemap> {
        let mut sitemaps: Vec<_> = self.unchanged().into_sitemaps().collect();
        sitemaps.sort_unstable_by(|one, other| one.file.cmp(&other.file));
        sitemaps
    }

    /// The name of this run.
    pub fn run(&self) -> &str {
        self.place.run()
    }

    /// The key of seals.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Stages `bytes` that show workers that they share the place.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn probe(&self, bytes: &[u8]) -> Result<()> {
        self.place.stage(PROBE, bytes.to_vec())?.sync()
    }

    /// Bytes of a sitemap that is staged; `None` if there is no such sitemap.
    ///
    /// # Errors
    /// If that cannot be determined.
    pub fn staged_bytes(&self, file: &str) -> Result<Option<u64>> {
        self.place.staged_bytes(file)
    }

    /// Removes files of earlier sets that are older than `keep` says, and returns the removed sitemaps. `set` is the live set.
    /// If the clean-up after the switch failed, nothing is removed before the next run, because an index file of the old set
    /// may still exist.
    ///
    /// # Errors
    /// If something cannot be read or removed. The set stays live, and the next run tries again.
    pub fn expire(&self, set: &Manifest, keep: Keep) -> Result<Removed> {
        if self.place.switch_state() != SwitchState::Committed {
            return Ok(Removed::default());
        }
        if self.salvage.as_ref().is_some_and(Salvage::is_in_doubt) {
            self.place.remove_dead_runs(&published(Some(set), &self.robots_file))?;
        }
        retention::expire(&*self.place, set, keep)
    }

    /// The URLs of the index files that the set before the live one had or kept, and that exist no longer. Caches may still have
    /// them.
    pub fn gone_index_urls(&self, live: &Manifest) -> Vec<String> {
        let Some(before) = &self.live else { return Vec::new() };
        let files = before.indexes.iter().chain(before.superseded_indexes.iter().map(|old| &old.file));
        let is_missing = |file: &str| matches!(self.place.view().has(file.as_ref()), Ok(false));
        let is_gone = |file: &&String| !live.indexes.contains(file) && is_missing(file);
        files.filter(is_gone).map(|file| format!("{}{file}", before.base_url)).collect()
    }

    /// Ends the run and removes its staging, as dropping it does.
    ///
    /// # Errors
    /// If something cannot be removed; the next run tries again.
    pub fn end(mut self) -> Result<()> {
        self.has_ended = true;
        self.close()
    }

    fn close(&self) -> Result<()> {
        self.place.close(&|| published(self.live.as_ref(), &self.robots_file))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if !self.has_ended {
            // A run that does not end in this way has failed, and the reason for that is the error to report.
            let _ = self.close();
        }
    }
}
