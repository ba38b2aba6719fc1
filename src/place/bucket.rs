//! A place at a prefix of a bucket in an object store.
//!
//! Object stores have no renames, links or locks, but uploads are atomic and can be conditional. That is enough:
//!
//! | step | in a directory | in a bucket |
//! |---|---|---|
//! | one run at a time | a kernel lock | a claim in the [journal], renewed by heartbeats |
//! | a new sitemap | staged, then linked | uploaded under its final name, which contains a content hash, unless it exists |
//! | the commit | the manifest is renamed to the journal | a conditional PUT of the journal |
//! | index files, then robots lines | renamed | uploaded, each only if it has not changed since it was read |
//! | the live manifest | renamed from the journal | uploaded, only if the previous manifest is still there |
//! | after a crash | the next run completes or cleans up | the next run completes or cleans up |
//!
//! A run that is alive but presumed dead, because its heartbeats did not arrive, can no longer commit: its precondition fails. It
//! then removes nothing, because the run that took over may use the same sitemaps.

mod area;
mod claim;
mod headers;
mod journal;
mod ledger;
mod objects;
mod shared;
mod staging;
mod state_object;
mod switch;
#[cfg(test)]
mod tests;
mod unconditional;
mod uploads;
mod view;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;

pub use shared::BucketStaging;
pub use view::BucketView;

use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result};
use crate::place::foreign::{changed, changed_before_commit};
use crate::place::fs::{Disk, make_private};
use crate::place::interface::{BackupReason, FreeSpace, Place, Published, View};
use crate::place::record::{Record, Version};
use crate::place::run::new_run;
use crate::place::set_name::SetName;
use crate::place::set_paths::PROBE;
use crate::place::switch::{Removal, Removed, Switch, SwitchState};
use crate::place::unsynced::Unsynced;
use crate::store::{Condition, Location, store_settings};
use claim::{Claim, Claimant, Heart, check_journal, check_sites};
use journal::State;
use staging::Staging;
use switch::Steps;
use uploads::Uploads;

/// An object that is uploaded to read the store's clock.
const CLOCK: &str = "clock";

/// A set in a bucket that only this run may change, with the run's staging.
#[derive(Debug)]
pub struct BucketPlace {
    view: BucketView,
    run: String,
    claim: Claim,
    /// A local directory for scratch files, created on first use.
    scratch: OnceLock<PathBuf>,
    uploads: Uploads,
    /// The sitemaps that this run has uploaded.
    staged: Arc<Mutex<BTreeSet<String>>>,
    switch_state: SwitchState,
    steps: Steps,
    /// Whether other processes upload sitemaps for this run.
    has_workers: OnceLock<()>,
    /// Whether the listing was refreshed after workers uploaded files.
    is_listed_again: OnceLock<()>,
    /// Why leftovers of dead runs were not removed.
    left_over: Mutex<Option<Error>>,
}

impl BucketPlace {
    /// Claims the set `name`, or the unnamed set, at `location`. Requests are abandoned a few seconds after `stop` is raised.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds the place, or holds the parent for all sites;
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if the bucket does not exist or the store ignores conditional requests.
    pub fn open(location: Location, name: Option<&SetName>, stop: &Stop) -> Result<Self> {
        let (view, run) = (BucketView::of(location, name)?.for_run(stop), new_run());
        // Checked before the claim, which would disturb the run for all sites.
        if let Some(of_sites) = view.journal_of_sites() {
            check_sites(&of_sites, &Staging { view: &view, run: &run }.object(CLOCK))?;
        }
        Self::claimed(view, run, false)
    }

    /// The view of the same set for a dry run.
    ///
    /// # Errors
    /// If a run could not claim the set: the bucket does not exist, or the journal is damaged.
    pub fn preview(location: Location, name: Option<&SetName>, stop: &Stop) -> Result<BucketView> {
        let view = BucketView::of(location, name)?.for_run(stop);
        check_journal(&view.journal())?;
        Ok(view)
    }

    /// Claims the parent of all sites.
    ///
    /// # Errors
    /// As [`BucketPlace::open`].
    pub fn open_for_sites(location: Location, name: Option<&SetName>, stop: &Stop) -> Result<Self> {
        Self::claimed(BucketView::of(location, name)?.for_run(stop), new_run(), true)
    }

    fn claimed(view: BucketView, run: String, for_sites: bool) -> Result<Self> {
        let claimant = Claimant { run: run.clone(), for_sites, heart: None };
        let place = Self::with_claim(view, run, &claimant)?;
        if !store_settings().allow_unsafe_store {
            place.check_conditions()?;
        }
        Ok(place)
    }

    /// Checks that the store of the state and, if that is another bucket, the store of the files enforce the conditions of uploads:
    /// the claim depends on the first, and what a run that was presumed dead can overwrite depends on the second.
    fn check_conditions(&self) -> Result<()> {
        let unsafe_store = |path| Err(unconditional::unsafe_store(path, "ignores the conditions of uploads"));
        if !self.claim.has_conditions()? {
            return unsafe_store(self.view.paths().out());
        }
        match self.view.probe_of_files() {
            Some(probe) if !unconditional::has_conditions(&probe)? => unsafe_store(self.view.root()),
            _ => Ok(()),
        }
    }

    fn with_claim(view: BucketView, run: String, claimant: &Claimant) -> Result<Self> {
        let probe = Staging { view: &view, run: &run }.object(CLOCK);
        let claim = Claim::take(view.journal(), claimant, &probe)?;
        Ok(Self {
            view: view.claimed(claim.journal()),
            run,
            claim,
            scratch: OnceLock::new(),
            uploads: Uploads::default(),
            staged: Arc::default(),
            switch_state: SwitchState::Uncommitted,
            steps: Steps::default(),
            has_workers: OnceLock::new(),
            is_listed_again: OnceLock::new(),
            left_over: Mutex::default(),
        })
    }

    fn staging(&self) -> Staging<'_> {
        Staging { view: &self.view, run: &self.run }
    }

    /// Starts to upload a sitemap.
    fn put(&self, file: &str, bytes: Vec<u8>, condition: Condition) -> Unsynced {
        let (file, size) = (file.to_owned(), bytes.len() as u64);
        let put = objects::sitemap(&self.view, &self.run, &file, bytes, condition);
        let task = self.uploads.start(self.view.bucket().clone(), put);
        let (view, staged) = (self.view.clone(), Arc::clone(&self.staged));
        staged.lock().unwrap_or_else(PoisonError::into_inner).insert(file.clone());
        Unsynced::new(move || match task.wait() {
            Ok(meta) => {
                view.note_put(&file, size, meta);
                Ok(())
            }
            Err(failure) => {
                if !failure.is_in_doubt() {
                    staged.lock().unwrap_or_else(PoisonError::into_inner).remove(&file);
                }
                Err(objects::no_sitemap(&view.path(file.as_ref()), failure))
            }
        })
    }

    /// Removes the sitemaps that were uploaded for this run, which publishes none.
    fn remove_sitemaps(&self, published: &Published<'_>) -> Result<()> {
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let left: Vec<String> =
            staged.iter().filter(|file| !published.files.contains(&***file)).cloned().collect();
        self.claim.check()?;
        objects::remove(&self.view, &left)?;
        if self.has_workers.get().is_some() {
            self.view.forget();
            staging::remove_of_runs(&self.view, &[self.run.as_str()], published)?;
        }
        Ok(())
    }

    /// Records for the next run which published sitemaps are known to be whole, and their ETags.
    fn write_ledger(&self) -> Result<()> {
        let before = self.view.ledger().unwrap_or_default();
        let new = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let (is_new, is_in_set) =
            (|file: &str| new.contains(file), |file: &str| self.steps.sitemaps.contains(file));
        let ledger = before.renewed(&self.view.all_published()?, is_new, is_in_set);
        self.view.ledger_object().put(ledger.to_json(), Condition::None)
    }
}

impl Place for BucketPlace {
    fn open_site(&self, name: &str) -> Result<Box<dyn Place>> {
        let run = new_run();
        let heart = Heart { journal: self.view.journal(), run: self.run.clone() };
        let claimant = Claimant { run: run.clone(), for_sites: false, heart: Some(heart) };
        Ok(Box::new(Self::with_claim(self.view.site(name), run, &claimant)?))
    }

    /// Does nothing: the claims of sites have no heartbeats of their own.
    fn release_lock(&mut self) {}

    fn create_staging(&self) -> Result<()> {
        self.staging().create()
    }

    fn run(&self) -> &str {
        &self.run
    }

    fn view(&self) -> &dyn View {
        &self.view
    }

    fn free_space(&self) -> FreeSpace {
        FreeSpace::default()
    }

    fn scratch(&self) -> &Path {
        self.scratch.get_or_init(|| {
            let directory = std::env::temp_dir().join(format!("sitemill-{}", self.run));
            // If it cannot be created, the first write there reports the error.
            let _ = make_private(&Disk, &directory);
            directory
        })
    }

    fn switch_state(&self) -> SwitchState {
        self.switch_state
    }

    fn is_staged(&self, file: &str) -> Result<bool> {
        Ok(self.staged.lock().unwrap_or_else(PoisonError::into_inner).contains(file))
    }

    fn stage(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        if file == PROBE {
            // From now on, other processes may upload sitemaps for this run.
            self.has_workers.get_or_init(|| ());
            staging::mark_workers(&self.view, &self.run)?;
            self.staging().put(file, &bytes)?;
            return Ok(Unsynced::new(|| Ok(())));
        }
        Ok(self.put(file, bytes, Condition::Absent))
    }

    fn staged_bytes(&self, file: &str) -> Result<Option<u64>> {
        if self.view.published(file)?.is_none() {
            // Workers have uploaded files since.
            self.is_listed_again.get_or_init(|| self.view.forget());
        }
        Ok(self.view.published(file)?.map(|object| object.bytes))
    }

    fn stage_mended(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        Ok(self.put(file, bytes, Condition::None))
    }

    fn back_up(&self, file: &str, reason: BackupReason) -> Result<()> {
        let bytes = self.view.read(file.as_ref())?;
        staging::back_up(&self.view, &self.view.paths().backups(reason), file, bytes)
    }

    fn back_up_record(&self, record: &Record) -> Result<()> {
        let Some(stored) = self.view.read_record(record)? else { return Ok(()) };
        let path = self.view.record_path(record);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        staging::back_up(&self.view, &self.view.paths().backups(BackupReason::Damaged), &name, stored.bytes)
    }

    fn replace_live(&self, manifest: &[u8]) -> Result<Version> {
        self.claim.check()?;
        let live = self.view.live_manifest();
        let condition = Condition::still(live.read()?.as_ref().map(|(_, object)| object));
        live.put(Bytes::copy_from_slice(manifest), condition)?;
        Ok(Version::of(manifest))
    }

    fn prepare(&mut self, switch: Switch) -> Result<()> {
        self.steps = switch::prepare(&self.view, &self.staging(), switch)?;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        switch::check_expected(&self.view, self.steps.expected.as_ref(), changed_before_commit)?;
        self.switch_state = SwitchState::InDoubt;
        if let Err(unchanged) = self.claim.try_change(State::Decided, &self.run) {
            // A run that has lost its claim, or whose change the store has denied, has not committed.
            if !unchanged.is_in_doubt {
                self.switch_state = SwitchState::Uncommitted;
            }
            return Err(unchanged.error);
        }
        switch::make_visible(&self.view, &self.steps)
    }

    fn roll_back(&mut self) -> Result<()> {
        if self.switch_state == SwitchState::Uncommitted {
            return Ok(());
        }
        self.claim.check()?;
        switch::put_back(&self.view, &self.steps)?;
        self.claim.change(State::Claimed, &self.run)?;
        self.switch_state = SwitchState::Uncommitted;
        Ok(())
    }

    fn clean_up(&mut self) -> Result<()> {
        self.claim.check()?;
        let condition = switch::check_expected(&self.view, self.steps.expected.as_ref(), changed)?;
        switch::clean_up(&self.view, &self.steps.removals, self.steps.manifest.clone(), condition)?;
        self.claim.change(State::Claimed, &self.run)?;
        self.switch_state = SwitchState::Committed;
        self.write_ledger()
    }

    fn resume(&self, run: &str, files: &[String], removals: &[Removal]) -> Result<()> {
        let manifest = switch::complete(&self.view, &Staging { view: &self.view, run }, files)?;
        let live = self.view.live_manifest().read()?;
        if live.as_ref().is_none_or(|(bytes, _)| *bytes != manifest) {
            let condition = Condition::still(live.as_ref().map(|(_, object)| object));
            switch::clean_up(&self.view, removals, manifest, condition)?;
        }
        self.claim.change(State::Claimed, &self.run)
    }

    fn remove(&self, removals: &[Removal]) -> Result<Removed> {
        let mut removed = Removed::default();
        let mut files = Vec::new();
        for removal in removals {
            let Some(found) = self.view.look_up(removal.file.as_ref())? else { continue };
            if self.view.still_matches(removal)? {
                files.push(removal.file.clone());
                removed.files += 1;
                removed.bytes += found.bytes;
            }
        }
        if !files.is_empty() {
            self.claim.check()?;
            objects::remove(&self.view, &files)?;
        }
        Ok(removed)
    }

    fn remove_record(&self, record: &Record) -> Result<()> {
        self.view.object(&self.view.paths().record(record)).remove()
    }

    fn remove_dead_runs(&self, published: &Published<'_>) -> Result<()> {
        self.claim.check()?;
        match staging::remove_dead_runs(&self.view, &self.run, published) {
            // No crawler sees leftovers, so the set can be published all the same. The end of the run reports them.
            Err(error) if error.kind() == ErrorKind::Permission => {
                *self.left_over.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Ok(())
            }
            removed => removed,
        }
    }

    fn close<'a>(&self, published: &dyn Fn() -> Published<'a>) -> Result<()> {
        if let Some(directory) = self.scratch.get() {
            let _ = std::fs::remove_dir_all(directory);
        }
        // Uploads that finish later would never be removed.
        self.uploads.drain();
        // A run that has taken over may use the same sitemaps.
        if self.claim.is_lost() {
            return Ok(());
        }
        match self.switch_state {
            SwitchState::Uncommitted => self.remove_sitemaps(&published())?,
            SwitchState::InDoubt | SwitchState::RolledBack => return Ok(()),
            SwitchState::Committed => {}
        }
        self.staging().remove()?;
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    #[cfg(test)]
    fn make_sitemaps_visible(&self, _: &[&str]) -> Result<()> {
        Ok(())
    }
}
