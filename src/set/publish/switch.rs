//! The switch: sets that are prepared take the place of the live ones, all of them or none.
//!
//! Until the last robots lines are in their place and on disk everything can be taken back, as what an index file or the
//! robots lines replace has a second name in staging. On the way back, new files get their names in staging again before
//! old ones get their places: as long as there is a journal the next run can go by it, wherever this one dies.

use std::io;
use std::path::{Path, PathBuf};

use super::foreign::{hash, is_unchanged};
use super::index::index_files;
use super::name::{EMPTY_SET_LINE, ROBOTS_FILE, index_file};
use super::{MANIFEST_FILE, REPLACED_FILE, Workspace, journal_path, manifest_path, retention, write};
use crate::error::{Error, Result, Shown};
use crate::limits::Protocol;
use crate::place::fs::{FileSystem, exists, foreign, remove, rename, sync_directory};
use crate::set::manifest::{Manifest, SupersededIndex};

/// How far the set of a run has come, and so what goes with the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The next run knows nothing of it: all of it goes.
    Staged,
    /// There may be a journal: all of it stays for the next run.
    Begun,
    /// The journal is withdrawn, but a loss of power may bring it back: the next run removes what is left.
    Withdrawn,
    /// It is live, and its journal has become the manifest: staging goes.
    Live,
}

/// A set that is on disk with all that it takes to become live, and that no crawler can see yet.
#[must_use]
#[derive(Debug)]
pub struct Prepared {
    workspace: Workspace,
    set: Manifest,
    /// Those of its index files and robots lines that take the place of another file.
    replacing: Vec<String>,
}

/// Makes each of `sites` live: all of them, or none if one cannot be. What fails when crawlers see all of them is no error
/// any more but a warning, and left to the next run.
///
/// # Errors
/// If a switch fails. Crawlers see the old sets; but those that cannot be taken back either, as the message says, stay
/// [begun](Prepared::is_begun).
pub fn make_live(sites: &mut [Prepared]) -> Result<Vec<Error>> {
    for at in 0..sites.len() {
        if let Err(why) = sites[at].show() {
            return Err(take_back_all(&mut sites[..=at], why));
        }
    }
    Ok(sites.iter_mut().filter_map(|site| site.finish().err()).collect())
}

/// The last one first. Returns `why`, and what is to be said beside it.
fn take_back_all(sites: &mut [Prepared], why: Error) -> Error {
    let mut stuck = Vec::new();
    for site in sites.iter_mut().rev() {
        if let Err(error) = site.take_back() {
            stuck.push((site.workspace.directory(), error));
        }
    }
    let Some(((directory, error), others)) = stuck.split_first() else { return why };
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    why.within(&format!(
        "{}{more}: the switch to the new set has begun and cannot be taken back ({error}); the next run finishes it",
        Shown(directory)
    ))
}

impl Prepared {
    /// Where it is published.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The set.
    pub fn set(&self) -> &Manifest {
        &self.set
    }

    /// Whether the next run makes it live, or makes an end of the switch: some crawlers may see it already.
    pub fn is_begun(&self) -> bool {
        self.workspace.standing == Standing::Begun
    }

    /// Decides for the set and lets crawlers see it.
    fn show(&mut self) -> Result<()> {
        // A rename that fails may have been done.
        self.workspace.standing = Standing::Begun;
        let Workspace { fs, out, state, staging, .. } = &self.workspace;
        rename(&**fs, &staging.join(MANIFEST_FILE), &journal_path(state))?;
        show(&**fs, out, state, &self.set)
    }

    /// Lets crawlers see what they saw before, and withdraws the decision.
    fn take_back(&mut self) -> Result<()> {
        let Workspace { fs, out, state, staging, .. } = &self.workspace;
        let fs = &**fs;
        let shown: Vec<&str> = files(&self.set).filter(|file| !exists(fs, &staging.join(file))).collect();
        if !shown.is_empty() {
            for file in &shown {
                name_again(fs, &out.join(file), &staging.join(file))?;
            }
            sync_directory(fs, staging)?;
            let (old, new): (Vec<&str>, Vec<&str>) =
                shown.iter().partition(|&&file| self.replacing.iter().any(|replaced| replaced == file));
            for file in old {
                rename(fs, &replaced(staging, file), &out.join(file))?;
            }
            sync_directory(fs, out)?;
            // The robots lines, if they are new, before the files that they name.
            for file in new.iter().rev() {
                remove(fs, &out.join(file))?;
                sync_directory(fs, out)?;
            }
        }
        let journal = journal_path(state);
        // It need not have come to that.
        if !fs.look(&journal).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            remove(fs, &journal)?;
        }
        let is_on_disk = sync_directory(fs, state).is_ok();
        self.workspace.standing = if is_on_disk { Standing::Staged } else { Standing::Withdrawn };
        Ok(())
    }

    /// Clears up behind the switch.
    fn finish(&mut self) -> Result<()> {
        let Workspace { fs, out, state, live, .. } = &self.workspace;
        finish(&**fs, out, state, live.as_ref(), &self.set)
            .map_err(|error| error.within("the next run clears up behind the switch"))?;
        self.workspace.standing = Standing::Live;
        Ok(())
    }
}

impl Workspace {
    /// Brings `set`, whose sitemaps are staged, to disk.
    pub(super) fn prepare_set(self, mut set: Manifest, protocol: Protocol) -> Result<Prepared> {
        let indexes = index_files(&set, protocol)?;
        set.indexes = (1..).zip(&indexes).map(|(number, _)| index_file(number)).collect();
        self.make_way(files(&set))?;
        for (file, index) in set.indexes.iter().zip(&indexes) {
            self.write(file, index)?.sync()?;
        }
        set.superseded_indexes = self.superseded_indexes(&set)?;
        let mut robots: String =
            set.indexes.iter().map(|file| format!("Sitemap: {}{file}\n", set.base_url)).collect();
        if set.indexes.is_empty() {
            robots.push_str(EMPTY_SET_LINE);
        }
        self.write(ROBOTS_FILE, robots.as_bytes())?.sync()?;
        self.write(MANIFEST_FILE, &set.to_json())?.sync()?;
        let fs = &*self.fs;
        let mut replacing = Vec::new();
        for file in files(&set) {
            if name_again(fs, &self.out.join(file), &replaced(&self.staging, file))? {
                replacing.push(file.to_owned());
            }
        }
        sync_directory(fs, &self.staging)?;
        if let Some(live) = &self.live {
            self.write(REPLACED_FILE, &live.alone().to_json())?.sync()?;
            rename(fs, &self.staging.join(REPLACED_FILE), &retention::kept_path(&self.state, &live.run))?;
            sync_directory(fs, &retention::sets(&self.state))?;
        }

        self.place(&set.sitemaps)?;
        sync_directory(fs, &self.out)?;
        Ok(Prepared { workspace: self, set, replacing })
    }

    /// The index files that lie there and have no successor in `set`. They stay as long as the sitemaps that they list, for
    /// crawlers with old robots lines; but an empty set is to have none.
    fn superseded_indexes(&self, set: &Manifest) -> Result<Vec<SupersededIndex>> {
        let Some(live) = self.live.as_ref().filter(|_| !set.indexes.is_empty()) else {
            return Ok(Vec::new());
        };
        let fs = &*self.fs;
        let known = live.superseded_indexes.iter().filter(|old| is_unchanged(fs, &self.out, old));
        let mut all: Vec<_> = known.cloned().collect();
        for file in &live.indexes {
            let path = self.out.join(file);
            if fs.look(&path).is_ok_and(|meta| meta.is_file()) {
                let bytes = fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))?;
                let (run, since) = (live.run.clone(), set.published.clone());
                all.push(SupersededIndex { file: file.clone(), run, since, content: hash(&bytes) });
            }
        }
        all.retain(|old| !set.indexes.contains(&old.file));
        Ok(all)
    }
}

/// What the switch renames, in this order: the robots lines behind the files that they name.
fn files(set: &Manifest) -> impl Iterator<Item = &str> {
    set.indexes.iter().map(String::as_str).chain([ROBOTS_FILE])
}

/// What lay in the directory as `file` before the switch.
fn replaced(staging: &Path, file: &str) -> PathBuf {
    staging.join(format!("{file}.replaced"))
}

/// Gives the file at `path` a second name: false if there is none. Where links are not to be had it is copied.
fn name_again(fs: &dyn FileSystem, path: &Path, second: &Path) -> Result<bool> {
    if fs.link(path, second).is_ok() {
        return Ok(true);
    }
    match fs.look(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        // Whatever it is, it would not be what it was when it comes back.
        Ok(meta) if !meta.is_file() => Err(foreign(path)),
        _ => {
            let bytes = fs.read(path).map_err(|error| Error::io(path, "could not be read", error))?;
            // The next run may go by the name, so what has it must be whole.
            let mut part = second.as_os_str().to_owned();
            part.push(".part");
            write(fs, part.as_ref(), &bytes)?.sync()?;
            rename(fs, part.as_ref(), second).map(|()| true)
        }
    }
}

/// Goes on with the switch to `next` that a run has begun and not finished. Can be broken off anywhere and done again.
pub fn switch(
    fs: &dyn FileSystem,
    out: &Path,
    state: &Path,
    live: Option<&Manifest>,
    next: &Manifest,
) -> Result<()> {
    show(fs, out, state, next)?;
    finish(fs, out, state, live, next)
}

/// Puts the index files and robots lines of `next`, whose journal is written, in their place.
fn show(fs: &dyn FileSystem, out: &Path, state: &Path, next: &Manifest) -> Result<()> {
    // Whoever has written the journal may have died before it was on disk.
    sync_directory(fs, state)?;
    let staging = state.join("staging").join(&next.run);
    let put = |file: &str| match rename(fs, &staging.join(file), &out.join(file)) {
        // Renamed before the break.
        Err(_) if !exists(fs, &staging.join(file)) && exists(fs, &out.join(file)) => Ok(()),
        other => other,
    };
    next.indexes.iter().try_for_each(|file| put(file))?;
    sync_directory(fs, out)?;
    // Behind the files that it names, and before those that it no longer names are gone.
    put(ROBOTS_FILE)?;
    sync_directory(fs, out)
}

/// Removes the index files that lie there and that `next`, which crawlers see, neither has nor keeps, and ends the journal.
fn finish(
    fs: &dyn FileSystem,
    out: &Path,
    state: &Path,
    live: Option<&Manifest>,
    next: &Manifest,
) -> Result<()> {
    let old = live.iter().flat_map(|live| &live.superseded_indexes).filter(|old| is_unchanged(fs, out, old));
    let old: Vec<&String> = old.map(|old| &old.file).collect();
    let stays = |file: &String| {
        next.indexes.contains(file) || next.superseded_indexes.iter().any(|old| old.file == *file)
    };
    for stale in live.iter().flat_map(|live| &live.indexes).chain(old).filter(|file| !stays(file)) {
        remove(fs, &out.join(stale))?;
    }
    sync_directory(fs, out)?;
    rename(fs, &journal_path(state), &manifest_path(state))?;
    sync_directory(fs, state)
}
