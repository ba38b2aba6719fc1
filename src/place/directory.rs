//! A place that is a directory of a local file system.
//!
//! A file that crawlers can see is never written to. New sitemaps are added next to the old ones. Index files are written to
//! staging and renamed into place once every file that they list is durable. A journal makes the renames repeatable. The
//! tests of [`publish`](crate::set::publish) interrupt publishing after every change of the file system, with and without
//! power loss.

mod backup;
mod links;
mod lock;
mod shared;
mod staging;
mod switch;
mod view;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use shared::DirectoryStaging;
pub use view::DirectoryView;

use crate::error::{Error, Result};
use crate::place::fs::{
    FileSystem, Locked, Meta, look_up, make_one, make_private, remove, remove_all, rename, sync_directory,
};
use crate::place::interface::{BackupReason, FreeSpace, Place, Published, View};
use crate::place::record::{Record, Version};
use crate::place::run::new_run;
use crate::place::set_name::SetName;
use crate::place::set_paths::{STAND_IN, mended};
use crate::place::switch::{Removal, Removed, Switch, SwitchState};
use crate::place::unsynced::Unsynced;
use staging::{Staging, remove_dead_runs, remove_placed};
use switch::Steps;

/// A set in an output directory that only this run may change, and the run's staging for it.
///
/// The lock of the set, or of its parent for all sites, is held as long as this lives. So all other staging directories
/// were left by dead runs.
#[derive(Debug)]
pub struct DirectoryPlace {
    view: DirectoryView,
    run: String,
    staging: PathBuf,
    /// How far the switch of this run has come.
    switch_state: SwitchState,
    steps: Steps,
    locks: Vec<Locked>,
    /// Why something that a dead run left was not removed.
    left_over: Mutex<Option<Error>>,
}

impl DirectoryPlace {
    /// Takes the lock of the set `name` in the directory, or of the set without a name. Creates the directory if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created,
    /// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if this user may not write to it,
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds it, or holds all sites that it is one of.
    pub fn open(fs: Arc<dyn FileSystem>, out: &Path, name: Option<&SetName>) -> Result<Self> {
        let place = Self::open_parent(fs, out, name)?;
        lock::check_writable(place.view.fs(), place.view.paths())?;
        Ok(place)
    }

    /// As [`DirectoryPlace::open`], but the directory need not be writable: it may only be the parent of those of sites.
    fn open_parent(fs: Arc<dyn FileSystem>, out: &Path, name: Option<&SetName>) -> Result<Self> {
        let view = DirectoryView::of(fs, out, name);
        let run = new_run();
        let locks = lock::take_all(view.fs(), view.paths(), &run)?;
        Ok(Self::locked(view, run, locks))
    }

    /// Takes the lock of the parent of the directories of all sites. No other run may change any of them then.
    ///
    /// # Errors
    /// Same as [`DirectoryPlace::open`]; also [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a run for one of the sites is
    /// active.
    pub fn open_for_sites(fs: Arc<dyn FileSystem>, out: &Path, name: Option<&SetName>) -> Result<Self> {
        let mut parent = Self::open_parent(fs, out, name)?;
        parent.locks.push(lock::take_sites(parent.view.fs(), parent.view.paths(), &parent.run)?);
        Ok(parent)
    }

    fn locked(view: DirectoryView, run: String, locks: Vec<Locked>) -> Self {
        let staging = view.paths().staging(&run);
        let (switch_state, steps, left_over) = (SwitchState::Uncommitted, Steps::default(), Mutex::default());
        Self { view, run, staging, switch_state, steps, locks, left_over }
    }

    fn staging(&self) -> Staging<'_> {
        let (fs, paths) = (self.view.fs(), self.view.paths());
        Staging { fs, paths, directory: &self.staging }
    }

    fn remove_one(&self, removal: &Removal) -> Result<Removed> {
        let file = removal.file.as_ref();
        let found = self.view.look_up(file)?.filter(|found| found.is_file);
        let Some(found) = found else { return Ok(Removed::default()) };
        if !self.view.still_matches(removal)? {
            return Ok(Removed::default());
        }
        let files = u64::from(remove(self.view.fs(), &self.view.path(file))?);
        Ok(Removed { files, bytes: found.bytes })
    }
}

impl Place for DirectoryPlace {
    fn open_site(&self, name: &str) -> Result<Box<dyn Place>> {
        let view = self.view.site(name);
        make_one(view.fs(), view.root(), 0o777)?;
        let run = new_run();
        let own = lock::take_own(view.fs(), view.paths(), &run)?;
        lock::check_writable(view.fs(), view.paths())?;
        Ok(Box::new(Self::locked(view, run, vec![own])))
    }

    fn release_lock(&mut self) {
        self.locks.clear();
    }

    fn create_staging(&self) -> Result<()> {
        make_private(self.view.fs(), &self.staging)
    }

    fn run(&self) -> &str {
        &self.run
    }

    fn view(&self) -> &dyn View {
        &self.view
    }

    fn free_space(&self) -> FreeSpace {
        self.view.fs().free_space(self.view.root())
    }

    fn scratch(&self) -> &Path {
        &self.staging
    }

    fn switch_state(&self) -> SwitchState {
        self.switch_state
    }

    fn is_staged(&self, file: &str) -> Result<bool> {
        Ok(self.staging().has(file)? || self.staging().has(&mended(file))?)
    }

    fn stage(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        self.staging().write(file, &bytes)
    }

    fn staged_bytes(&self, file: &str) -> Result<Option<u64>> {
        let look = |name: &str| look_up(self.view.fs(), &self.staging().path(name));
        let staged = match look(file)? {
            None => look(&mended(file))?,
            staged => staged,
        };
        Ok(staged.filter(Meta::is_file).map(|meta| meta.bytes))
    }

    fn stage_mended(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        self.staging().write(&mended(file), &bytes)
    }

    fn back_up(&self, file: &str, reason: BackupReason) -> Result<()> {
        backup::back_up(self.view.fs(), self.view.paths(), reason, &self.view.path(file.as_ref()))
    }

    fn back_up_record(&self, record: &Record) -> Result<()> {
        let (fs, paths) = (self.view.fs(), self.view.paths());
        backup::back_up(fs, paths, BackupReason::Damaged, &paths.record(record))
    }

    fn replace_live(&self, manifest: &[u8]) -> Result<Version> {
        let (staging, paths) = (self.staging(), self.view.paths());
        staging.write(STAND_IN, manifest)?.sync()?;
        staging.sync()?;
        rename(staging.fs, &staging.path(STAND_IN), &paths.record(&Record::Live))?;
        sync_directory(staging.fs, paths.state())?;
        Ok(Version::of(manifest))
    }

    fn prepare(&mut self, switch: Switch) -> Result<()> {
        self.steps = switch::prepare(&self.staging(), switch)?;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        switch::check_expected(&self.view, self.steps.expected.as_ref())?;
        // A rename that reports an error may have happened.
        self.switch_state = SwitchState::InDoubt;
        switch::decide(&self.staging())?;
        switch::make_visible(&self.staging(), &self.steps.files)
    }

    fn roll_back(&mut self) -> Result<()> {
        self.switch_state = switch::roll_back(&self.staging(), &self.steps)?;
        Ok(())
    }

    fn clean_up(&mut self) -> Result<()> {
        switch::clean_up(&self.view, &self.steps.removals)?;
        self.switch_state = SwitchState::Committed;
        Ok(())
    }

    fn resume(&self, run: &str, files: &[String], removals: &[Removal]) -> Result<()> {
        let (fs, paths) = (self.view.fs(), self.view.paths());
        // An earlier version may have begun the switch, or the mark was lost with the power.
        switch::mark(fs, paths)?;
        switch::make_visible(&Staging { fs, paths, directory: &paths.staging(run) }, files)?;
        switch::clean_up(&self.view, removals)
    }

    fn remove(&self, removals: &[Removal]) -> Result<Removed> {
        let (mut removed, mut failure) = (Removed::default(), None);
        for removal in removals {
            match self.remove_one(removal) {
                Ok(one) => {
                    removed.files += one.files;
                    removed.bytes += one.bytes;
                }
                // One file that can never be removed must not keep the others.
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if removed.files > 0 {
            sync_directory(self.view.fs(), self.view.root())?;
        }
        failure.map_or(Ok(removed), Err)
    }

    fn remove_record(&self, record: &Record) -> Result<()> {
        remove(self.view.fs(), &self.view.record_path(record)).map(drop)
    }

    fn remove_dead_runs(&self, published: &Published<'_>) -> Result<()> {
        // If there was a journal, it has become the live manifest.
        switch::unmark(self.view.fs(), self.view.paths());
        let removed = remove_dead_runs(&self.view, &self.run, published);
        // No crawler sees leftovers, so the set can be published all the same. The end of the run reports them.
        *self.left_over.lock().unwrap_or_else(PoisonError::into_inner) = removed.err();
        Ok(())
    }

    fn close<'a>(&self, published: &dyn Fn() -> Published<'a>) -> Result<()> {
        match self.switch_state {
            // Only staging knows which sitemaps this run made visible.
            SwitchState::Uncommitted => remove_placed(&self.view, &self.staging(), &published())?,
            SwitchState::InDoubt | SwitchState::RolledBack => return Ok(()),
            SwitchState::Committed => {}
        }
        remove_all(self.view.fs(), &self.staging)?;
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    #[cfg(test)]
    fn make_sitemaps_visible(&self, sitemaps: &[&str]) -> Result<()> {
        links::place(&self.staging(), sitemaps)
    }
}
