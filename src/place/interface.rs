//! The two interfaces of every kind of place: [`View`] reads it, [`Place`] changes it.
//!
//! A place is where one set is published. Several sets with different names may share a directory; each is a place of its own.
//!
//! A place keeps published files, manifests (["records"](Record)) and staged files, which are written but not visible yet.
//! Publishing decides what belongs to a set and what is replaced. A place makes files durable and switches from one set to
//! another so that a crash never leaves half of a set. Nothing here needs renames, links, locks or directories: a new kind of
//! place implements both traits in a module next to `directory`, and is chosen in `open`.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::foreign::foreign;
use super::record::{Record, Stored, Version};
use super::set_name::SetName;
use super::switch::{Removal, Removed, Switch, SwitchState};
use super::unsynced::Unsynced;
use crate::common::digest::hex_digest;
use crate::error::{ErrorKind, Result};

/// Why a copy of a file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupReason {
    /// It could not be used.
    Damaged,
    /// It was replaced, and sitemill did not write it.
    TakenOver,
}

/// The files of the live set and of the sets that are kept. They stay when dead runs are removed, even if those have them in
/// their staging.
#[derive(Debug)]
pub struct Published<'a> {
    /// Names of files.
    pub files: HashSet<&'a str>,
    /// Whether a name is one that sitemaps get.
    pub is_sitemap: fn(&str) -> bool,
}

/// The result of looking up a name in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Whether it is an ordinary file.
    pub is_file: bool,
    /// Its bytes.
    pub bytes: u64,
}

/// Space that is free in a place, where it is limited and known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that may still be written.
    pub bytes: Option<u64>,
    /// Files that may still be created.
    pub files: Option<u64>,
}

/// A name in the list of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: OsString,
    /// Whether it names a regular file, and not a directory or a link.
    pub is_file: bool,
    /// Whether it names a directory, and not a link to one.
    pub is_directory: bool,
}

/// A place that is only read. Nothing is changed and no lock is taken.
pub trait View: fmt::Debug + Send + Sync {
    /// The path of the place.
    fn root(&self) -> &Path;

    /// The path of a file, for messages.
    fn path(&self, file: &OsStr) -> PathBuf;

    /// The path of a manifest, for messages.
    fn record_path(&self, record: &Record) -> PathBuf;

    /// Whether the place exists.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn exists(&self) -> Result<bool>;

    /// Another handle to the same place.
    fn share(&self) -> Arc<dyn View>;

    /// The place `name` below this one, where a site may be published. Its set has the name of this one.
    fn below(&self, name: &OsStr) -> Arc<dyn View>;

    /// The name of the set, where a place has several; `None` for the set without a name.
    fn name(&self) -> Option<&SetName>;

    /// Another set in the same place.
    fn named(&self, name: Option<&SetName>) -> Arc<dyn View>;

    /// The names of all named sets that runs have left state of, sorted.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn names(&self) -> Result<Vec<SetName>>;

    /// Whether a run for the set has left state here, such as manifests or a lock.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn has_state(&self) -> Result<bool>;

    /// Looks up a manifest without reading it; `None` if it does not exist.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn look_up_record(&self, record: &Record) -> Result<Option<Found>>;

    /// Reads a manifest; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_record(&self, record: &Record) -> Result<Option<Stored>>;

    /// Lists the manifests of earlier sets, and all other files that are kept with them.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn kept(&self) -> Result<Vec<Record>>;

    /// The names of runs that have staging, active and dead ones. Empty if we are not permitted to list them.
    fn runs(&self) -> Vec<OsString>;

    /// Whether the run with this name is active, as far as this machine can tell.
    fn is_active(&self, run: &str) -> bool;

    /// Lists the place: published files, and everything else in it. The names in the places below it are not listed.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if it cannot be listed.
    fn list(&self) -> Result<Vec<Listed>>;

    /// Looks up a file without reading it; `None` if nothing has its name. Links are not followed.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn look_up(&self, file: &OsStr) -> Result<Option<Found>>;

    /// Opens a file for reading. Links are followed.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if it is missing, unreadable or no regular file.
    fn open(&self, file: &OsStr) -> Result<Box<dyn Read + Send>>;

    /// Reads all of a published file.
    ///
    /// # Errors
    /// If it is missing or cannot be read.
    fn read(&self, file: &OsStr) -> Result<Vec<u8>>;

    /// A text that tells the published file `file` from another one that has replaced it, even one with the same content; `None`
    /// if nothing has its name or that is unknown.
    fn identity(&self, file: &OsStr) -> Option<String>;

    // Every kind of place implements the functions above, and `is_as_published` if it can. The rest are derived from these.

    /// Whether the published file `file`, of `bytes` bytes, still has the content that it was published with, as far as the place
    /// knows without reading it; `None` if it does not know.
    fn is_as_published(&self, _file: &OsStr, _bytes: u64) -> Option<bool> {
        None
    }

    /// Whether `record` certainly exists.
    fn has_record(&self, record: &Record) -> bool {
        self.look_up_record(record).is_ok_and(|found| found.is_some())
    }

    /// Whether anything has the name `file`.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn has(&self, file: &OsStr) -> Result<bool> {
        Ok(self.look_up(file)?.is_some())
    }

    /// Whether `file` is certainly a regular file.
    fn is_file(&self, file: &OsStr) -> bool {
        self.look_up(file).is_ok_and(|found| found.is_some_and(|found| found.is_file))
    }

    /// Reads all of a published file; `None` if no regular file has its name.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_regular(&self, file: &OsStr) -> Result<Option<Vec<u8>>> {
        let is_file = || Ok(self.look_up(file)?.is_some_and(|found| found.is_file));
        if !is_file()? {
            return Ok(None);
        }
        match self.read(file) {
            // A dry run takes no lock, so another run may have removed it meanwhile.
            Err(_) if !is_file()? => Ok(None),
            read => read.map(Some),
        }
    }

    /// Whether `file` is a regular file whose bytes have this [hash](hex_digest). One that we may not read is not ours.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn has_content(&self, file: &OsStr, hash: &str) -> Result<bool> {
        match self.read_regular(file) {
            Err(error) if error.kind() == ErrorKind::Permission => Ok(false),
            read => Ok(read?.is_some_and(|bytes| hex_digest(&bytes) == hash)),
        }
    }

    /// Whether the file that now has this name is still the one to remove. A file with other bytes stays.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn still_matches(&self, removal: &Removal) -> Result<bool> {
        match &removal.content {
            None => Ok(true),
            Some(content) => self.has_content(removal.file.as_ref(), content),
        }
    }

    /// Looks up a regular file without reading it; `None` if nothing has its name.
    ///
    /// # Errors
    /// If that cannot be determined, or something that is not a regular file has its name.
    fn look_up_or_refuse(&self, file: &OsStr) -> Result<Option<Found>> {
        match self.look_up(file)? {
            Some(found) if !found.is_file => Err(foreign(&self.path(file))),
            found => Ok(found),
        }
    }

    /// Reads all of a published file; `None` if nothing has its name.
    ///
    /// # Errors
    /// If it cannot be read, or something that is not a regular file has its name.
    fn read_or_refuse(&self, file: &OsStr) -> Result<Option<Vec<u8>>> {
        self.look_up_or_refuse(file)?.map(|_| self.read(file)).transpose()
    }
}

/// A place that only this run may change, with the run's staging.
///
/// The place, or the parent of all sites that it belongs to, is locked as long as this lives. No other active run has staging
/// there, so all other staging is that of dead runs and may be [removed](Place::remove_dead_runs).
///
/// The steps of a switch are [`prepare`](Place::prepare), [`commit`](Place::commit) and [`clean_up`](Place::clean_up), in this
/// order. Before `clean_up`, the switch can be [rolled back](Place::roll_back). They are separate because a run for several
/// sites switches all of them or none.
pub trait Place: fmt::Debug + Send + Sync {
    /// Opens the place of the site `name` below this one, which is open for all sites.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created or written to, or a link has the name;
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds it.
    fn open_site(&self, name: &str) -> Result<Box<dyn Place>>;

    /// Releases the lock of a site. The lock of its parent is held, and a run may have thousands of sites.
    fn release_lock(&mut self);

    /// Creates the staging of this run.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created.
    fn create_staging(&self) -> Result<()>;

    /// The name of this run.
    fn run(&self) -> &str;

    /// The place, for reading.
    fn view(&self) -> &dyn View;

    /// The free space. A run that needs more is refused before it begins its work.
    fn free_space(&self) -> FreeSpace;

    /// A directory for scratch files of this run.
    fn scratch(&self) -> &Path;

    /// How far the switch of this run has come.
    fn switch_state(&self) -> SwitchState;

    /// Whether this run has staged `file`, or its replacement if it is damaged.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn is_staged(&self, file: &str) -> Result<bool>;

    /// Stages a new sitemap.
    ///
    /// # Errors
    /// If it cannot be written.
    fn stage(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced>;

    /// Bytes of the staged sitemap `file`, or of the staged replacement of a damaged one; `None` if neither exists.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn staged_bytes(&self, file: &str) -> Result<Option<u64>>;

    /// Stages the replacement of the damaged sitemap `file`.
    ///
    /// # Errors
    /// If it cannot be written.
    fn stage_mended(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced>;

    /// Copies a published file that is going to be replaced, and keeps the copy.
    ///
    /// # Errors
    /// If it cannot be copied.
    fn back_up(&self, file: &str, reason: BackupReason) -> Result<()>;

    /// Copies a damaged manifest that is going to be replaced, and keeps the copy.
    ///
    /// # Errors
    /// If it cannot be copied.
    fn back_up_record(&self, record: &Record) -> Result<()>;

    /// Replaces the manifest of the live set, without a switch. Returns the version of the new one.
    ///
    /// # Errors
    /// If it cannot be written; the old one stays.
    fn replace_live(&self, manifest: &[u8]) -> Result<Version>;

    /// Makes everything durable that `switch` needs. Crawlers see nothing of it yet.
    ///
    /// # Errors
    /// If that fails, or if something that is not a regular file has the name of an index file.
    fn prepare(&mut self, switch: Switch) -> Result<()>;

    /// Commits the prepared switch: records the decision, then makes the set visible to crawlers.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy), before anything is done, if the live set is not the one that the switch
    /// [expects](Switch::expected). After any other error the switch may have happened, and can be
    /// [rolled back](Place::roll_back).
    fn commit(&mut self) -> Result<()>;

    /// Makes the previous set visible again, and withdraws the decision.
    ///
    /// # Errors
    /// If that fails; then the next run completes the switch.
    fn roll_back(&mut self) -> Result<()>;

    /// Removes what the committed switch has replaced, and ends it.
    ///
    /// # Errors
    /// If that fails; the set is live, and the next run cleans up.
    fn clean_up(&mut self) -> Result<()>;

    /// Completes the switch that the dead run `run` committed: makes `files` visible, the robots lines last, and does the
    /// removals. Its journal becomes the live manifest. It can be interrupted anywhere and repeated.
    ///
    /// # Errors
    /// If that fails.
    fn resume(&self, run: &str, files: &[String], removals: &[Removal]) -> Result<()>;

    /// Removes published files durably. Names that do not belong to regular files are skipped.
    ///
    /// # Errors
    /// If a file cannot be looked up or removed. Those before it are gone and, in a directory, those after it.
    fn remove(&self, removals: &[Removal]) -> Result<Removed>;

    /// Removes a manifest.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove_record(&self, record: &Record) -> Result<()>;

    /// Removes what dead runs have left: their staging, and sitemaps that they made visible but never published.
    ///
    /// # Errors
    /// If something cannot be read or removed; the next run tries again. As nothing depends on the removal, a directory reports
    /// that in [`close`](Place::close) instead, and an object store does so if it lacks a permission.
    fn remove_dead_runs(&self, published: &Published<'_>) -> Result<()>;

    /// Ends the run. Only what the next run needs stays.
    ///
    /// # Errors
    /// If something cannot be removed; the next run tries again.
    fn close<'a>(&self, published: &dyn Fn() -> Published<'a>) -> Result<()>;

    /// Makes staged sitemaps visible, without a switch that lists them.
    #[cfg(test)]
    fn make_sitemaps_visible(&self, sitemaps: &[&str]) -> Result<()>;
}
