//! What publishing asks of a place, whatever kind of place it is.
//!
//! A place keeps published files, manifests ("records") and files that are staged: written, and not visible yet. Policy decides
//! what belongs to a set and what is replaced; a place brings files to disk and makes a switch that a crash does not tear.
//! Another kind of place implements both traits in a module beside `directory`.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::foreign::foreign;
use super::hash::file_hash;
use super::record::{Record, Stored, Version};
use super::switch::{Removal, Removed, Standing, Switch};
use super::unsynced::Unsynced;
use crate::error::Result;

/// Why a copy of a file is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// It could not be used.
    Damaged,
    /// It was replaced, and sitemill did not write it.
    TakenOver,
}

/// Published files that dead runs did not put into place, whatever their staging says.
#[derive(Debug)]
pub struct Published<'a> {
    /// Their names.
    pub files: HashSet<&'a str>,
    /// Whether a name is one that sitemaps get.
    pub is_sitemap: fn(&str) -> bool,
}

/// What has the name of a file.
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
    /// Whether it is that of a regular file. Directories and links are none.
    pub is_file: bool,
}

/// A place that is only read. Nothing is changed and no lock is taken.
pub trait View: fmt::Debug + Send + Sync {
    /// The path of the place.
    fn root(&self) -> &Path;

    /// The path of a file, for messages.
    fn path(&self, file: &OsStr) -> PathBuf;

    /// The path of a manifest, for messages.
    fn record_path(&self, record: &Record) -> PathBuf;

    /// Another handle to the same place.
    fn share(&self) -> Arc<dyn View>;

    /// The place `name` below this one, where a site may be published.
    fn below(&self, name: &OsStr) -> Arc<dyn View>;

    /// Whether a run has left state here, such as manifests or a lock.
    fn has_state(&self) -> bool;

    /// Looks up a manifest without reading it; none if it does not exist.
    ///
    /// # Errors
    /// If that cannot be determined.
    fn look_up_record(&self, record: &Record) -> Result<Option<Found>>;

    /// Reads a manifest; none if it does not exist.
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

    /// Lists the place: published files, and everything else in it. The names in the places below it are not listed.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if it cannot be listed.
    fn list(&self) -> Result<Vec<Listed>>;

    /// Looks up a file without reading it; none if nothing has its name. Links are not followed.
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

    /// Whether `record` exists.
    fn has_record(&self, record: &Record) -> bool {
        self.look_up_record(record).is_ok_and(|found| found.is_some())
    }

    /// Whether anything has the name `file`.
    fn has(&self, file: &OsStr) -> bool {
        self.look_up(file).is_ok_and(|found| found.is_some())
    }

    /// Whether `file` is a regular file.
    fn is_file(&self, file: &OsStr) -> bool {
        self.look_up(file).is_ok_and(|found| found.is_some_and(|found| found.is_file))
    }

    /// Whether `file` is a regular file whose bytes have this [hash](file_hash).
    fn has_content(&self, file: &OsStr, hash: &str) -> bool {
        self.is_file(file) && self.read(file).is_ok_and(|bytes| file_hash(&bytes) == hash)
    }

    /// Reads all of a published file; none if nothing has its name.
    ///
    /// # Errors
    /// If it cannot be read, or something that is no regular file has its name.
    fn occupant(&self, file: &OsStr) -> Result<Option<Vec<u8>>> {
        match self.look_up(file)? {
            None => Ok(None),
            Some(found) if !found.is_file => Err(foreign(&self.path(file))),
            Some(_) => self.read(file).map(Some),
        }
    }
}

/// A place that one run alone may change, with the run's staging.
///
/// The place, or the parent of all sites that it is one of, is held as long as this lives. No other run that is alive has
/// staging there, so all other staging is that of dead runs and may be [removed](Place::remove_dead_runs). The steps of a
/// switch, in this order: [`prepare`](Place::prepare), [`show`](Place::show), [`finish`](Place::finish); until the last of
/// them, [`take_back`](Place::take_back). They are apart because runs for several sites switch all of them or none.
pub trait Place: fmt::Debug + Send + Sync {
    /// Opens the directory `name` of a site below this one, which is open for all sites.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be made or written to or a link has the name,
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds it.
    fn open_site(&self, name: &str) -> Result<Box<dyn Place>>;

    /// Lets go of the lock of a site: the lock of its parent is held, and a run may have thousands of sites.
    fn release(&mut self);

    /// Makes room for the files that this run stages.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be made.
    fn begin(&self) -> Result<()>;

    /// The name of this run.
    fn run(&self) -> &str;

    /// The place, to be read.
    fn view(&self) -> &dyn View;

    /// The space that is free here. A run that needs more is refused before its work.
    fn free_space(&self) -> FreeSpace;

    /// A directory for scratch files of this run.
    fn scratch(&self) -> &Path;

    /// How far the set of this run has come.
    fn standing(&self) -> Standing;

    /// Whether this run has staged `file`.
    fn is_staged(&self, file: &str) -> bool;

    /// Stages a new sitemap.
    ///
    /// # Errors
    /// If it cannot be written.
    fn stage(&self, file: &str, bytes: &[u8]) -> Result<Unsynced>;

    /// Stages what replaces the damaged sitemap `file`.
    ///
    /// # Errors
    /// If it cannot be written.
    fn stage_mended(&self, file: &str, bytes: &[u8]) -> Result<Unsynced>;

    /// Keeps a copy of a published file, which is going to be replaced.
    ///
    /// # Errors
    /// If it cannot be copied.
    fn set_aside(&self, file: &str, copies: Copies) -> Result<()>;

    /// Keeps a copy of a damaged manifest, which is going to be replaced.
    ///
    /// # Errors
    /// If it cannot be copied.
    fn set_record_aside(&self, record: &Record) -> Result<()>;

    /// Replaces the manifest of the live set, without a switch. Returns the version of the new one.
    ///
    /// # Errors
    /// If it cannot be written; the old one stays then.
    fn replace_live(&self, manifest: &[u8]) -> Result<Version>;

    /// Brings everything to disk that `switch` takes. Crawlers see nothing of it yet.
    ///
    /// # Errors
    /// If that cannot be done, or something that is no file is in the place of an index file.
    fn prepare(&mut self, switch: Switch) -> Result<()>;

    /// Decides for the prepared set and lets crawlers see it.
    ///
    /// # Errors
    /// If that fails. It may have been done all the same, and can be [taken back](Place::take_back).
    fn show(&mut self) -> Result<()>;

    /// Lets crawlers see the set that was live before, and withdraws the decision.
    ///
    /// # Errors
    /// If that fails; the next run finishes the switch then.
    fn take_back(&mut self) -> Result<()>;

    /// Clears up after the switch.
    ///
    /// # Errors
    /// If that fails; the set is live, and the next run clears up.
    fn finish(&mut self) -> Result<()>;

    /// Finishes the switch that `run` began: puts `files` in their place, the robots lines last, and does the removals. Can be
    /// broken off anywhere and done again.
    ///
    /// # Errors
    /// If that fails.
    fn resume(&self, run: &str, files: &[String], removals: &[Removal]) -> Result<Version>;

    /// Removes published files, as far as they are ordinary files, and brings that to disk.
    ///
    /// # Errors
    /// If one cannot be removed; those before it are gone.
    fn remove(&self, removals: &[Removal]) -> Result<Removed>;

    /// Removes a manifest.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove_record(&self, record: &Record) -> Result<()>;

    /// Removes what dead runs have left: their staging, and sitemaps that they put into place and never published.
    ///
    /// # Errors
    /// If something cannot be read or removed; the next run tries again.
    fn remove_dead_runs(&self, published: &Published<'_>) -> Result<()>;

    /// Ends the run. Leaves nothing behind but what the next run needs, which removes what cannot be removed now.
    fn leave<'a>(&self, published: &dyn Fn() -> Published<'a>);

    /// Gives staged sitemaps their places, without a switch that lists them.
    #[cfg(test)]
    fn give_places(&self, sitemaps: &[&str]) -> Result<()>;
}
