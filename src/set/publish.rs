//! Publish: a new set takes the place of the live one, and no reader ever sees a torn one.
//!
//! Nothing that a reader can see is ever written to. Sitemaps have names that carry their content, so new ones lie beside
//! the old ones; index files are written elsewhere and renamed into place when every file they list is there and on disk.
//! `tests` breaks it off behind every change of the file system, with and without a loss of power.
//!
//! | step | action | a crash here leaves |
//! |---|---|---|
//! | [`Workspace::open`] | lock; finish a switch that was begun; remove staging of dead runs | the old set |
//! | [`Workspace::stage`], [`Unsynced::sync`] | each sitemap into staging, synced | the old set |
//! | [`Workspace::prepare`] | index files, robots lines and manifest into staging, synced | the old set |
//! | | link new sitemaps into the output directory, sync it | the old set, and files nobody lists |
//! | [`make_live`] | rename the manifest to `manifest.next.json`: the decision, and the journal | the new set, once the next run is through `open` |
//! | | the switch: rename index files into place, then the robots lines, sync them | the same |
//! | | rename the manifest | the same |
//! | [`Workspace::expire`] | remove index files and sitemaps of sets that are neither live nor kept | the new set |
//!
//! What fails, and does not crash, before the robots lines are in place is taken back, and the old set stays; behind that the
//! new one is live, and the next run does what failed.

mod back;
mod foreign;
mod index;
pub mod known;
mod lock;
mod occupant;
mod place;
pub mod retention;
mod salvage;
pub mod status;
mod switch;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use super::manifest::name;
use super::manifest::{Manifest, Role, Seal, Sitemap};
use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::common::secret::Secret;
use crate::error::{Error, ErrorKind, Result, Shown};
use crate::limits::Protocol;
use crate::place::fs::{Disk, FileSystem, Locked, NewFile, exists, make_one, make_path, make_private};
use crate::sitemap::divide::Limits;
pub use foreign::Consent;
pub use index::index_bytes_min;
use known::Known;
use name::{ContentHash, sitemap_file, words};
use occupant::{Occupant, occupant};
use place::{MENDED, remove_dead_runs, remove_placed};
use retention::{Expired, Keep};
use salvage::Salvage;
pub use switch::{Prepared, make_live};
use switch::{Standing, switch};

/// An output directory that this run alone may change, and the run's place in it for files that nobody sees yet.
#[derive(Debug)]
pub struct Workspace {
    fs: Arc<dyn FileSystem>,
    out: PathBuf,
    state: PathBuf,
    run: String,
    staging: PathBuf,
    live: Option<Manifest>,
    /// What else is known, if manifests need not be trusted.
    salvage: Option<Salvage>,
    /// What seals are made with.
    secret: Secret,
    /// What it may replace; none if nobody was asked.
    consent: Option<Consent>,
    /// How far the set of this run has come.
    standing: Standing,
    locks: Vec<Locked>,
}

/// What to do about a manifest, a journal or an earlier set that is damaged, was edited or is of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDamage {
    /// Nothing is done before somebody has looked at it.
    Refuse,
    /// A new set is made without it, of nothing but its input; a copy stays in `.sitemill/damaged`.
    SetAside,
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

/// A file that is written, and perhaps not on disk yet. To wait for the disk takes time and no processor, so it is left to
/// the caller when and on which thread; nothing may be published before it is done.
#[must_use]
#[derive(Debug)]
pub struct Unsynced {
    file: Box<dyn NewFile>,
    path: PathBuf,
    bytes: u64,
}

impl Unsynced {
    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// If it cannot be brought there, or is not there as a whole. Not to be tried again: what the disk refused once is
    /// forgotten by the operating system, and a second try would succeed for nothing.
    pub fn sync(self) -> Result<()> {
        let on_disk =
            self.file.sync().map_err(|error| Error::io(&self.path, "could not be synced", error))?;
        if on_disk == self.bytes {
            return Ok(());
        }
        let (path, bytes) = (Shown(&self.path), self.bytes);
        Err(Error::new(ErrorKind::Io, format!("{path}: {bytes} bytes were written and {on_disk} are there")))
    }
}

/// What a set says about itself besides its sitemaps.
#[derive(Debug)]
pub struct SetInfo<'a> {
    /// Where it is published.
    pub base_url: &'a BaseUrl,
    /// Which protocol it speaks.
    pub protocol: Protocol,
    /// What no index file may pass.
    pub index_limits: Limits,
    /// Which URLs it may list.
    pub scope: ScopeRule,
    /// Now, as W3C Datetime.
    pub time: &'a str,
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

    /// The same in any file system.
    fn open_in(fs: Arc<dyn FileSystem>, out: &Path, on_damage: OnDamage) -> Result<Self> {
        let locks = take_locks(&*fs, out)?;
        Self::open_locked(fs, out, on_damage, locks)
    }

    /// Opens the parent of the directories of all sites, which no other run may change meanwhile.
    ///
    /// # Errors
    /// As [`Workspace::open`], and [`ErrorKind::Busy`] if a run for one of the sites is at work.
    pub fn open_for_sites(out: &Path, on_damage: OnDamage) -> Result<Self> {
        let mut locks = take_locks(&Disk, out)?;
        locks.push(lock::take_sites(&Disk, &state(out))?);
        Self::open_locked(Arc::new(Disk), out, on_damage, locks)
    }

    /// Opens the directory `name` of a site below this one, which is [open for sites](Workspace::open_for_sites). The lock of
    /// the site is taken, and let go again: a run may have thousands of sites.
    ///
    /// # Errors
    /// As [`Workspace::open`], and [`ErrorKind::Output`] if a link has the name.
    pub fn open_site(&self, name: &str, on_damage: OnDamage) -> Result<Self> {
        let out = self.out.join(name);
        make_one(&*self.fs, &out, 0o777)?;
        let own = take_lock(&*self.fs, &out)?;
        let mut site = Self::open_locked(self.fs.clone(), &out, on_damage, vec![own])?;
        site.locks.clear();
        Ok(site)
    }

    fn open_locked(
        fs: Arc<dyn FileSystem>,
        out: &Path,
        on_damage: OnDamage,
        locks: Vec<Locked>,
    ) -> Result<Self> {
        let disk = &*fs;
        let state = state(out);
        let nursery = state.join("staging");
        let (live, salvage) = match on_damage {
            OnDamage::Refuse => (whole(disk, out, &state)?, None),
            OnDamage::SetAside => {
                let (live, salvage) = Salvage::of(disk, out, &state)?;
                (live, Some(salvage))
            }
        };
        // What a dead run has linked into place may be live, if nobody knows what is.
        if !salvage.as_ref().is_some_and(Salvage::is_in_doubt) {
            remove_dead_runs(disk, out, &nursery, live.as_ref(), None)?;
        }

        let run = format!("{}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        let staging = nursery.join(&run);
        make_private(disk, &staging)?;
        // Under a new secret nothing is known: all of it is made anew.
        let sealed = live.as_ref().filter(|_| on_damage == OnDamage::Refuse);
        let handed_on = sealed.and_then(|live| Secret::from_hex(&live.secret));
        let secret = handed_on.map_or_else(Secret::draw, Ok)?;
        let out = out.into();
        let (consent, standing) = (None, Standing::Staged);
        Ok(Self { fs, out, state, run, staging, live, salvage, secret, consent, standing, locks })
    }

    /// The directory that is published.
    pub fn directory(&self) -> &Path {
        &self.out
    }

    /// The set that is live.
    pub fn live(&self) -> Option<&Manifest> {
        self.live.as_ref()
    }

    /// A directory for scratch files; gone with the run.
    pub fn scratch(&self) -> &Path {
        &self.staging
    }

    /// What lies there of the set that is live and those that are kept.
    pub fn known(&self) -> Known {
        Known::read(&self.fs, &self.out, &self.state, self.live.as_ref(), &self.secret)
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
                let (gzip_bytes, gzip_seal) = (gzip.len() as u64, known::seal(&self.secret, gzip));
                Ok(Staged { file: file.clone(), gzip_bytes, gzip_seal, unsynced })
            };
            return match occupant(&*self.fs, &self.out.join(&file), &word, &self.secret, xml, gzip)? {
                Occupant::Same { gzip: there } => staged(&there, None),
                Occupant::Other => continue,
                // Numbers that URLs decide may meet within a set, and then eight digits may as well.
                Occupant::None if exists(&*self.fs, &self.staging.join(&file)) => continue,
                Occupant::None => staged(gzip, Some(self.write(&file, gzip)?)),
                Occupant::Damaged => staged(gzip, Some(self.write(&format!("{file}{MENDED}"), gzip)?)),
            };
        }
        Err(Error::new(
            ErrorKind::Internal,
            format!("sitemap {number}: every name is taken by another content"),
        ))
    }

    /// Brings everything to disk that makes `sitemaps` a set, for [`make_live`]. Of the sets before it those that `keep` lets
    /// stay can be made live again.
    ///
    /// # Errors
    /// If that cannot be done, or something that is no file is in the place of an index file.
    pub fn prepare(mut self, sitemaps: Vec<Sitemap>, info: &SetInfo<'_>, keep: Keep) -> Result<Prepared> {
        let base_url = info.base_url.to_string();
        self.stand_in(info)?;
        let set = Manifest::new(&self.run, info.protocol, info.index_limits, &base_url, info.time, sitemaps);
        let mut set = match &self.live {
            Some(live) => set.succeeding(live),
            None => set,
        };
        set.secret = self.secret.to_hex();
        set.scope = info.scope.as_str().into();
        // What was removed since then is not remembered for ever.
        set.superseded.retain(|old| exists(&*self.fs, &self.out.join(&old.file)));
        keep.forget(&mut set.earlier, info.time);
        self.prepare_set(set, info.protocol)
    }

    /// Removes what the sets before `set`, which is live, have left behind, as soon as `keep` lets it go. Nothing before the
    /// next run if the switch could not be cleared up: an index file of the old set may still be there.
    ///
    /// # Errors
    /// If something cannot be read or removed. The set is live all the same, and the next run tries again.
    pub fn expire(&self, set: &Manifest, keep: Keep) -> Result<Expired> {
        if self.standing != Standing::Live {
            return Ok(Expired::default());
        }
        if self.salvage.as_ref().is_some_and(Salvage::is_in_doubt) {
            let nursery = self.state.join("staging");
            remove_dead_runs(&*self.fs, &self.out, &nursery, Some(set), Some(&self.run))?;
        }
        retention::expire(&*self.fs, &self.out, &self.state, set, keep)
    }

    /// Writes a new file in staging.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<Unsynced> {
        write(&*self.fs, &self.staging.join(name), bytes)
    }
}

impl Drop for Workspace {
    /// Leaves nothing behind but what the next run needs; what cannot be removed now is removed by the next run.
    fn drop(&mut self) {
        let fs = &*self.fs;
        let is_done_with = match self.standing {
            // Staging knows what was put into place.
            Standing::Staged => remove_placed(fs, &self.out, &self.staging, self.live.as_ref()).is_ok(),
            Standing::Begun | Standing::Withdrawn => false,
            Standing::Live => true,
        };
        if is_done_with {
            let _ = fs.remove_tree(&self.staging);
        }
    }
}

/// Writes a new file.
fn write(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<Unsynced> {
    let written = fs.create(path).and_then(|mut file| file.write(bytes).map(|()| file));
    let file = written.map_err(|error| Error::io(path, "could not be written", error))?;
    Ok(Unsynced { file, path: path.into(), bytes: bytes.len() as u64 })
}

const MANIFEST_FILE: &str = "manifest.json";
/// The manifest of the set that is replaced, on its way to those of earlier sets.
const REPLACED_FILE: &str = "replaced.json";

/// Where the state of the set in `out` lies.
fn state(out: &Path) -> PathBuf {
    out.join(".sitemill")
}

/// Makes `out` and its state, and takes its lock, and that of its parent if `out` may be one of several sites.
fn take_locks(fs: &dyn FileSystem, out: &Path) -> Result<Vec<Locked>> {
    make_path(fs, out)?;
    let of_parent = lock::share_parent(fs, out)?;
    let own = take_lock(fs, out)?;
    let of_parent = match of_parent {
        None => lock::share_parent(fs, out)?,
        shared => shared,
    };
    Ok(of_parent.into_iter().chain([own]).collect())
}

/// Makes the state of `out` and takes its lock.
fn take_lock(fs: &dyn FileSystem, out: &Path) -> Result<Locked> {
    let state = state(out);
    for directory in [&state, &state.join("staging"), &retention::sets(&state)] {
        make_private(fs, directory)?;
    }
    lock::take(fs, &state.join("lock"))
}

fn manifest_path(state: &Path) -> PathBuf {
    state.join(MANIFEST_FILE)
}

fn journal_path(state: &Path) -> PathBuf {
    state.join("manifest.next.json")
}

/// The live set, by a manifest that can be trusted, and once a switch that was begun is finished.
fn whole(fs: &dyn FileSystem, out: &Path, state: &Path) -> Result<Option<Manifest>> {
    let path = manifest_path(state);
    let live = Manifest::read_as(Role::Live, fs, &path)?;
    let Some(next) = Manifest::read_as(Role::Journal, fs, &journal_path(state))? else {
        // Sets are kept only when another one takes their place.
        return match live {
            None if !retention::kept_files(fs, state)?.is_empty() => Err(Error::data(format!(
                "{}: is missing, and earlier sets are there; put it back, or build --ignore-manifest publishes in full",
                Shown(&path)
            ))),
            live => Ok(live),
        };
    };
    switch(fs, out, state, live.as_ref(), &next)?;
    Ok(Some(next))
}
