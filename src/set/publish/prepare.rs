//! Preparing a set: its manifest and its index files, as the successor of the live set.

use std::collections::{HashMap, HashSet};
use std::iter;

use super::index::{index_files, index_files_of_live};
use super::info::SetInfo;
use super::live::is_unchanged;
use super::neighbours;
use super::resume::removals;
use super::retention::Keep;
use super::switch::{FilesOfLive, Prepared};
use super::workspace::Workspace;
use crate::common::digest::hex_digest;
use crate::error::{Error, Result};
use crate::limits::Protocol;
use crate::place::switch::Switch;
use crate::set::manifest::{Manifest, Sitemap, SupersededIndex};
use crate::set::name::EMPTY_SET_LINE;

impl Workspace {
    /// Makes everything durable that turns `sitemaps` into a set, which [`make_live`](super::make_live) then switches to.
    /// `keep` determines how long earlier sets stay available for rollback.
    ///
    /// # Errors
    /// If that fails, or if something that is not a regular file has the name of an index file;
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if another set in the directory has files with the same names, or another base
    /// URL.
    pub fn prepare(mut self, sitemaps: Vec<Sitemap>, info: &SetInfo<'_>, keep: Keep) -> Result<Prepared> {
        let base_url = info.base_url.to_string();
        self.stand_in(info)?;
        let mut set =
            Manifest::new(self.place.run(), info.protocol, info.index_limits, &base_url, info.time, sitemaps);
        let mut kept = Vec::new();
        if let Some(live) = &self.live {
            kept = self.kept(live);
            set = set.succeeding(live, &kept);
        }
        set.secret = self.secret.to_hex();
        set.scope = info.scope.as_str().into();
        set.also.clone_from(&info.also);
        set.sections.clone_from(&info.sections);
        set.counts.clone_from(&info.counts);
        set.rows.clone_from(&info.rows);
        // Files that were removed need not be remembered. One that cannot be looked up may still exist.
        set.superseded.retain(|old| self.place.view().has(old.file.as_ref()).unwrap_or(true));
        let indexes = self.name_indexes(&mut set, info.protocol)?;
        let repeated = repeated(&set, self.live.as_ref(), &kept);
        keep.forget(&mut set.earlier, &|earlier| repeated.contains(&*earlier.run), info.time);
        drop(kept);
        self.prepare_set(set, indexes, info.explain)
    }

    /// The index files of `set`, which gets their names.
    pub(super) fn name_indexes(
        &self,
        set: &mut Manifest,
        protocol: Protocol,
    ) -> Result<Vec<(String, Vec<u8>)>> {
        let indexes = index_files(set, &self.stem, protocol)?;
        set.indexes = indexes.iter().map(|(file, _)| file.clone()).collect();
        Ok(indexes)
    }

    /// Makes `set` and its `indexes` durable. Its sitemaps are staged or published already. If a file cannot be written, `explain`
    /// completes the error.
    pub(super) fn prepare_set(
        mut self,
        mut set: Manifest,
        indexes: Vec<(String, Vec<u8>)>,
        explain: &dyn Fn(Error) -> Error,
    ) -> Result<Prepared> {
        neighbours::check_stems(&*self.place, self.live.as_ref(), &set)?;
        self.make_way(set.indexes.iter().map(String::as_str).chain([&*self.robots_file]))?;
        let there = self.index_digests()?;
        set.superseded_indexes = self.superseded_indexes(&set, &there);
        let robots = robots_lines(set.indexes.iter(), &set.base_url);
        let live = self.live.as_ref();
        let files = self.files_of_live(&set, &indexes, &there)?;
        let switch = Switch {
            indexes,
            robots: (self.robots_file.clone(), robots),
            manifest: set.to_json(),
            expected: self.expected.clone(),
            replaced: live.map(|live| (live.run.clone(), live.alone().to_json())),
            sitemaps: set.sitemaps.iter().map(|sitemap| sitemap.file.clone()).collect(),
            removals: removals(live, &set),
        };
        // Before the files that fill the disk are removed.
        self.place.prepare(switch).map_err(explain)?;
        // A run for another set may have prepared it at the same time. The later of both sees the other.
        neighbours::check_stems(&*self.place, self.live.as_ref(), &set)?;
        self.check_neighbours(&set.base_url)?;
        Ok(Prepared::new(self, set, files))
    }

    /// Compares the index files of the live set with those that exist, of which `there` has the digests, and with `indexes`, those
    /// of `set`. Backs up those that something else has changed.
    fn files_of_live(
        &self,
        set: &Manifest,
        indexes: &[(String, Vec<u8>)],
        there: &HashMap<String, String>,
    ) -> Result<FilesOfLive> {
        let known = match &self.live {
            Some(live) => index_files_of_live(live, &self.stem)?,
            None => Vec::new(),
        };
        let is_whole = |(file, bytes): &&(String, Vec<u8>)| {
            there.get(file).is_some_and(|digest| *digest == hex_digest(bytes))
        };
        let whole: HashSet<&str> = known.iter().filter(is_whole).map(|(file, _)| &**file).collect();
        let is_edited = |file: &str| there.contains_key(file) && !whole.contains(file);
        let edited = self.back_up_edited(&known, &is_edited)?;
        let of_live: HashMap<_, _> = known.iter().map(|(file, bytes)| (file, bytes)).collect();
        let same = indexes.iter().filter(|(file, bytes)| of_live.get(file) == Some(&bytes));
        let same: Vec<&str> = same.map(|(file, _)| &**file).collect();
        let kept = same.iter().filter(|file| whole.contains(*file)).count();
        let (restored, kept) = match self.has_resumed_switch {
            true => (same.len(), same.len()),
            false => (same.len() - kept, kept),
        };
        Ok(FilesOfLive {
            restored: self.restored_sitemaps(set)? + restored as u64,
            same_indexes: same.len() as u64,
            kept_indexes: kept as u64,
            edited,
        })
    }

    /// The number of sitemaps that the live set has with the same content as `set`, and that are written again because they were
    /// lost or damaged.
    fn restored_sitemaps(&self, set: &Manifest) -> Result<u64> {
        let Some(live) = &self.live else { return Ok(0) };
        let known: HashSet<_> = live.sitemaps.iter().map(|old| (&old.file, &old.content)).collect();
        let same = set.sitemaps.iter().filter(|new| known.contains(&(&new.file, &new.content)));
        same.map(|new| self.place.is_staged(&new.file))
            .try_fold(0, |sum, is_staged| Ok(sum + u64::from(is_staged?)))
    }

    /// The existing index files that `set` does not replace, of which `there` has the digests. They stay as long as the sitemaps
    /// that they list, for crawlers with old robots lines. A set without sitemaps of its own keeps none.
    fn superseded_indexes(&self, set: &Manifest, there: &HashMap<String, String>) -> Vec<SupersededIndex> {
        let Some(live) = self.live.as_ref().filter(|_| !set.sitemaps.is_empty()) else { return Vec::new() };
        // One that cannot be read may be unchanged.
        let is_known = |old: &&SupersededIndex| is_unchanged(&*self.place, old).unwrap_or(true);
        let known = live.superseded_indexes.iter().filter(is_known).cloned();
        let known = known.map(|old| SupersededIndex { since: set.time_before(live, &old.since), ..old });
        let of_live = live.indexes.iter().filter_map(|file| {
            let (run, since) = (live.run.clone(), set.published.clone());
            Some(SupersededIndex { file: file.clone(), run, since, content: there.get(file)?.clone() })
        });
        let all = known.chain(of_live);
        all.filter(|old| !set.indexes.contains(&old.file)).collect()
    }

    /// The digests of the live set's index files, as far as they exist.
    fn index_digests(&self) -> Result<HashMap<String, String>> {
        let mut digests = HashMap::new();
        for file in self.live.iter().flat_map(|live| &live.indexes) {
            if let Some(bytes) = self.place.view().read_regular(file.as_ref())? {
                digests.insert(file.clone(), hex_digest(&bytes));
            }
        }
        Ok(digests)
    }
}

/// The runs of the earlier sets whose files are those of the set that replaced them. `set` replaces `live`, which keeps the sets
/// `kept`, the last one first.
fn repeated(set: &Manifest, live: Option<&Manifest>, kept: &[Manifest]) -> HashSet<String> {
    let earlier = || live.into_iter().chain(kept);
    let pairs = iter::once(set).chain(earlier()).zip(earlier());
    pairs
        .filter(|(later, earlier)| later.has_same_files(earlier))
        .map(|(_, earlier)| earlier.run.clone())
        .collect()
}

/// The lines for robots.txt that list the files `indexes` below `base_url`.
pub(super) fn robots_lines<'f>(indexes: impl Iterator<Item = &'f String>, base_url: &str) -> Vec<u8> {
    let lines: String = indexes.map(|file| format!("Sitemap: {base_url}{file}\n")).collect();
    if lines.is_empty() { EMPTY_SET_LINE.into() } else { lines.into() }
}
