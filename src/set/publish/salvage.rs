//! The way out of damaged manifests: what can be read is believed, what cannot is set aside, and what is left is told by the
//! index files, because a crawler takes these for the set, too.
//!
//! Nothing is changed before the new set is made and all guards have let it pass, but that a switch is finished whose journal
//! is whole. Then a stand-in, which claims no more than what is known, takes the place of the live manifest at once; from
//! there on the set is published like any other, and a crash leaves no more than after any other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::name::{ROBOTS_FILE, is_index_file, is_sitemap_file};
use super::occupant::is_there;
use super::retention::{kept_files, kept_path};
use super::{SetInfo, Workspace, journal_path, manifest_path, switch, write};
use crate::error::{Error, ErrorKind, Result};
use crate::place::fs::{FileSystem, exists, make_private, remove, rename, sync_directory};
use crate::set::manifest::{Earlier, Manifest, Superseded};

/// The directory of the copies of what cannot be used.
pub const DAMAGED: &str = "damaged";

/// The name of the stand-in, on its way.
const STAND_IN_FILE: &str = "stand-in.json";

/// What is known of a directory besides its live manifest, which may be none.
#[derive(Debug)]
pub struct Salvage {
    /// What cannot be used.
    damaged: Vec<PathBuf>,
    /// Earlier sets that can be read.
    kept: Vec<Manifest>,
    /// The live set is not known for certain.
    is_in_doubt: bool,
    /// It is not known at all.
    is_live_lost: bool,
}

impl Salvage {
    /// Reads the manifests of a directory: that of the live set, if it can be used, and the others.
    ///
    /// # Errors
    /// If something cannot be read at all, or a switch cannot be finished.
    pub fn of(fs: &dyn FileSystem, out: &Path, state: &Path) -> Result<(Option<Manifest>, Self)> {
        let mut damaged = Vec::new();
        let mut usable = |path: PathBuf| match Manifest::read(fs, &path) {
            Err(error) if error.kind() == ErrorKind::Data => {
                damaged.push(path);
                Ok(None)
            }
            read => read,
        };
        let live = usable(manifest_path(state))?;
        let next = usable(journal_path(state))?;
        let kept = kept_files(fs, state)?.into_iter().filter_map(|path| usable(path).transpose());
        let kept: Vec<_> = kept.collect::<Result<_>>()?;
        let live = match next {
            Some(next) => {
                // It takes the place of the manifest.
                if let Some(path) = damaged.iter().find(|path| **path == manifest_path(state)) {
                    set_aside(fs, state, DAMAGED, path)?;
                }
                let replaced = match live {
                    Some(live) => live,
                    None => Manifest { indexes: IndexFiles::in_directory(fs, out)?.names, ..next.clone() },
                };
                switch(fs, out, state, Some(&replaced), &next)?;
                damaged.retain(|path| *path != manifest_path(state));
                Some(next)
            }
            None => live,
        };
        let is_live_lost = live.is_none();
        let is_in_doubt = !damaged.is_empty() || is_live_lost;
        Ok((live, Self { damaged, kept, is_in_doubt, is_live_lost }))
    }

    /// Whether files that no manifest names may be live.
    pub fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Whether nobody knows the live set.
    pub fn is_live_lost(&self) -> bool {
        self.is_live_lost
    }

    /// The earlier sets for a live one that does not know them, the last one first. Since when they are earlier ones, and
    /// which of them were taken back, only the lost manifest has known; so they stay their full time from `now`. Those whose
    /// files are not all there were let go, or cannot come back.
    fn earlier(&self, fs: &dyn FileSystem, out: &Path, now: &str) -> Vec<Earlier> {
        let is_whole = |set: &&Manifest| set.sitemaps.iter().all(|sitemap| is_there(fs, out, sitemap));
        let sets = self.kept.iter().filter(|set| !set.is_stand_in).filter(is_whole);
        let earlier = |set: &Manifest| Earlier {
            run: set.run.clone(),
            number: set.number,
            since: now.into(),
            withdrawn: false,
        };
        let mut earlier: Vec<_> = sets.map(earlier).collect();
        earlier.sort_by_key(|set| std::cmp::Reverse(set.number));
        earlier
    }
}

impl Workspace {
    /// Sets aside what cannot be used, and writes what is known instead: index files that the new set does not replace, and the
    /// sitemaps that they list, stay their time then.
    pub(super) fn stand_in(&mut self, info: &SetInfo<'_>) -> Result<()> {
        let Some(salvage) = &self.salvage else { return Ok(()) };
        let fs = &*self.fs;
        let mut there = IndexFiles::in_directory(fs, &self.out)?;
        if salvage.is_live_lost {
            // They look like ours, which proves nothing.
            let robots = fs.look(&self.out.join(ROBOTS_FILE)).is_ok_and(|meta| meta.is_file());
            let files = there.names.iter().map(String::as_str).chain(robots.then_some(ROBOTS_FILE));
            files
                .map(|file| self.out.join(file))
                .try_for_each(|path| set_aside(fs, &self.state, DAMAGED, &path))?;
        }
        let old = self.live.iter().flat_map(|live| &live.superseded_indexes);
        let old: BTreeSet<&String> = old.map(|old| &old.file).collect();
        there.names.retain(|name| !old.contains(name));
        let mut set = match self.live.clone() {
            Some(live) => live,
            None if there.names.is_empty() && salvage.kept.is_empty() && salvage.damaged.is_empty() => {
                return Ok(());
            }
            None => {
                let highest = salvage.kept.iter().map(|set| set.number).max().unwrap_or(0);
                let (run, number) = (format!("{}-lost", self.run), highest.saturating_add(1));
                let earlier = salvage.earlier(fs, &self.out, info.time);
                Manifest { number, earlier, ..stand_in(&run, info) }
            }
        };
        set.earlier.retain(|kept| !salvage.damaged.contains(&kept_path(&self.state, &kept.run)));
        set.indexes =
            there.names.into_iter().chain(set.indexes).collect::<BTreeSet<_>>().into_iter().collect();
        let kept = salvage.kept.iter().flat_map(|set| &set.sitemaps).map(|sitemap| sitemap.file.clone());
        let mut old: BTreeSet<String> = there.listed.into_iter().chain(kept).collect();
        set.sitemaps.iter().for_each(|sitemap| _ = old.remove(&sitemap.file));
        set.superseded.iter().for_each(|known| _ = old.remove(&known.file));
        set.superseded.extend(old.into_iter().map(|file| Superseded { file, since: info.time.into() }));

        salvage.damaged.iter().try_for_each(|path| set_aside(fs, &self.state, DAMAGED, path))?;
        self.write(STAND_IN_FILE, &set.to_json())?.sync()?;
        sync_directory(fs, &self.staging)?;
        rename(fs, &self.staging.join(STAND_IN_FILE), &manifest_path(&self.state))?;
        sync_directory(fs, &self.state)?;
        self.live = Some(set);
        Ok(())
    }
}

/// What stands for a set that nobody knows.
fn stand_in(run: &str, info: &SetInfo<'_>) -> Manifest {
    let base_url = info.base_url.to_string();
    let set = Manifest::new(run, info.protocol, info.index_limits, &base_url, info.time, Vec::new());
    Manifest { is_stand_in: true, ..set }
}

/// Index files of ours, and the sitemaps that they list.
#[derive(Default)]
struct IndexFiles {
    names: Vec<String>,
    listed: BTreeSet<String>,
}

impl IndexFiles {
    /// Those in `out` whose name is one that sitemill gives, and that list nothing but sitemaps with such names: others are
    /// not ours.
    fn in_directory(fs: &dyn FileSystem, out: &Path) -> Result<Self> {
        let mut found = Self::default();
        for name in fs.list(out).map_err(|error| Error::io(out, "could not be read", error))? {
            let Some(name) = name.to_str().filter(|name| is_index_file(name)) else { continue };
            let path = out.join(name);
            if !fs.look(&path).is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let xml = fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))?;
            if let Some(listed) = listed(&xml) {
                found.names.push(name.into());
                found.listed.extend(listed.into_iter().map(str::to_owned));
            }
        }
        Ok(found)
    }
}

/// The names of the sitemaps in an index file; none if one of them is no name of ours.
fn listed(xml: &[u8]) -> Option<Vec<&str>> {
    let locs = str::from_utf8(xml).ok()?.split("<loc>").skip(1);
    let files = locs
        .map(|behind| behind.split_once("</loc>")?.0.rsplit('/').next().filter(|file| is_sitemap_file(file)));
    files.collect::<Option<Vec<_>>>().filter(|files| !files.is_empty())
}

/// Copies the file at `path` to the directory `copies` of `state`, where nobody takes it for what it was. Its own place is taken
/// by what replaces it.
pub fn set_aside(fs: &dyn FileSystem, state: &Path, copies: &str, path: &Path) -> Result<()> {
    let directory = state.join(copies);
    make_private(fs, &directory)?;
    let bytes = fs.read(path).map_err(|error| Error::io(path, "could not be read", error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Tried twice, it is still the same copy.
    let aside = directory.join(format!("{:032x}-{name}", xxh3_128(&bytes)));
    if exists(fs, &aside) {
        return Ok(());
    }
    let part = directory.join("part");
    remove(fs, &part)?;
    write(fs, &part, &bytes)?.sync()?;
    rename(fs, &part, &aside)?;
    sync_directory(fs, &directory)
}
