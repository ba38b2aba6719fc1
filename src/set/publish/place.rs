//! Places: sitemaps get theirs beside the published ones, and those of runs that did not come to an end lose them.
//!
//! A sitemap is linked into place, so that staging knows it until the run is over. Where links are not to be had it is renamed,
//! and before that a list of what is going to be renamed is on disk in staging. A sitemap from that list is removed if it
//! has the content that was staged: what somebody else has put there is none of ours.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::Workspace;
use super::name::{ROBOTS_FILE, is_sitemap_file};
use crate::error::{Error, Result};
use crate::place::fs::{
    FileSystem, exists, is_same_file, parent, remove, remove_all, rename, sync_directory,
};
use crate::set::manifest::{Manifest, Sitemap};

/// Behind the name of a staged sitemap that replaces a damaged one.
pub const MENDED: &str = ".mended";

/// The list of what is renamed into place: in each line a name, a space, and the hash of the file.
const RENAMED_FILE: &str = "renamed";

impl Workspace {
    /// Gives each of `sitemaps` that is staged its place beside the published ones. Nothing is overwritten but what is damaged.
    pub(super) fn place(&self, sitemaps: &[Sitemap]) -> Result<()> {
        for (at, sitemap) in sitemaps.iter().enumerate() {
            if !self.link(&sitemap.file)? {
                return self.rename_all(&sitemaps[at..]);
            }
        }
        Ok(())
    }

    /// Links a sitemap into place; false if there are no links.
    pub(super) fn link(&self, file: &str) -> Result<bool> {
        let fs = &*self.fs;
        let (from, to) = (self.staging.join(file), self.out.join(file));
        if self.mend(file)? || !exists(fs, &from) {
            return Ok(true); // or published already
        }
        match fs.link(&from, &to) {
            // Some file systems have no links. Nobody else creates such names while the lock is held.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !exists(fs, &to) => Ok(false),
            other => {
                let linked = other.map(|()| true);
                linked.map_err(|error| Error::io(&to, "could not be linked into place", error))
            }
        }
    }

    /// Renames sitemaps into place.
    fn rename_all(&self, sitemaps: &[Sitemap]) -> Result<()> {
        let fs = &*self.fs;
        let staged = |file: &str| exists(fs, &self.staging.join(file));
        let files: Vec<&str> =
            sitemaps.iter().map(|sitemap| &*sitemap.file).filter(|file| staged(file)).collect();
        let mut list = String::new();
        for file in &files {
            let path = self.staging.join(file);
            let bytes = fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))?;
            list += &format!("{file} {:032x}\n", xxh3_128(&bytes));
        }
        self.write(RENAMED_FILE, list.as_bytes())?.sync()?;
        sync_directory(fs, &self.staging)?;
        for file in files {
            let to = self.out.join(file);
            if exists(fs, &to) {
                let there = io::ErrorKind::AlreadyExists.into();
                return Err(Error::io(&to, "could not be renamed into place", there));
            }
            rename(fs, &self.staging.join(file), &to)?;
        }
        sitemaps.iter().try_for_each(|sitemap| self.mend(&sitemap.file).map(drop))
    }

    /// Puts what the name promises in the place of what rotted under it; false if it did not.
    fn mend(&self, file: &str) -> Result<bool> {
        let mended = self.staging.join(format!("{file}{MENDED}"));
        let is_damaged = exists(&*self.fs, &mended);
        if is_damaged {
            rename(&*self.fs, &mended, &self.out.join(file))?;
        }
        Ok(is_damaged)
    }
}

/// Removes what runs but `own` have left behind that did not come to an end.
pub fn remove_dead_runs(
    fs: &dyn FileSystem,
    out: &Path,
    nursery: &Path,
    live: Option<&Manifest>,
    own: Option<&str>,
) -> Result<()> {
    let names = fs.list(nursery).map_err(|error| Error::io(nursery, "could not be read", error))?;
    let is_dead = |name: &OsString| own.is_none_or(|own| name != own);
    let dead: Vec<_> = names.into_iter().filter(is_dead).map(|name| nursery.join(name)).collect();
    if !dead.is_empty() {
        // A journal that was withdrawn or has become the manifest must not come back without its staging.
        sync_directory(fs, parent(nursery))?;
    }
    dead.iter().try_for_each(|staging| remove_placed(fs, out, staging, live))?;
    dead.iter().try_for_each(|staging| remove_all(fs, staging))
}

/// Removes sitemaps that a run has put into place and that never became part of a set: those that are one and the same file
/// as in its `staging`, or were renamed, and are neither live nor of an earlier set. (A live index file is there too if a run
/// has died while it took its switch back.)
pub fn remove_placed(fs: &dyn FileSystem, out: &Path, staging: &Path, live: Option<&Manifest>) -> Result<()> {
    let sitemaps = live.into_iter().flat_map(|live| live.sitemaps.iter().map(|sitemap| &sitemap.file));
    let superseded = live.into_iter().flat_map(|live| live.superseded.iter().map(|old| &old.file));
    let indexes = live.into_iter().flat_map(|live| &live.indexes);
    let known = sitemaps.chain(superseded).chain(indexes).map(String::as_str).chain([ROBOTS_FILE]);
    let known: HashSet<&str> = known.collect();
    let staged = match fs.list(staging) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        staged => staged.map_err(|error| Error::io(staging, "could not be read", error))?,
    };
    let is_listed = staged.iter().any(|name| name == RENAMED_FILE);
    let mut is_removed = false;
    for name in staged {
        let is_known = name.to_str().is_none_or(|name| known.contains(name));
        let path = out.join(&name);
        if !is_known && is_same_file(fs, &staging.join(name), &path) {
            is_removed |= remove(fs, &path)?;
        }
    }
    let list = staging.join(RENAMED_FILE);
    let renamed = match is_listed {
        true => fs.read(&list).map_err(|error| Error::io(&list, "could not be read", error))?,
        false => Vec::new(),
    };
    // A line that was cut is none: nothing was renamed before all of the list was on disk.
    let lines = str::from_utf8(&renamed).unwrap_or_default().lines();
    for (file, hash) in lines.filter_map(|line| line.split_once(' ')) {
        if !known.contains(file) && is_sitemap_file(file) && !exists(fs, &staging.join(file)) {
            let path = out.join(file);
            let is_ours = fs.look(&path).is_ok_and(|meta| meta.is_file())
                && fs.read(&path).is_ok_and(|bytes| format!("{:032x}", xxh3_128(&bytes)) == hash);
            is_removed |= is_ours && remove(fs, &path)?;
        }
    }
    // Staging, which alone knows of them, must not be gone before them.
    if is_removed { sync_directory(fs, out) } else { Ok(()) }
}
