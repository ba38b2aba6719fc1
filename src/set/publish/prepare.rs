//! Preparing a set: its manifest and its index files, as the successor of the live set.

use super::index::index_files;
use super::info::SetInfo;
use super::live::is_unchanged;
use super::neighbours;
use super::resume::removals;
use super::retention::Keep;
use super::switch::Prepared;
use super::workspace::Workspace;
use crate::common::digest::hex_digest;
use crate::error::Result;
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
        let set =
            Manifest::new(self.place.run(), info.protocol, info.index_limits, &base_url, info.time, sitemaps);
        let mut set = match &self.live {
            Some(live) => set.succeeding(live, &self.kept(live)),
            None => set,
        };
        set.secret = self.secret.to_hex();
        set.scope = info.scope.as_str().into();
        set.also.clone_from(&info.also);
        set.sections.clone_from(&info.sections);
        set.counts.clone_from(&info.counts);
        set.rows.clone_from(&info.rows);
        // Files that were removed need not be remembered.
        set.superseded.retain(|old| self.place.view().has(old.file.as_ref()));
        keep.forget(&mut set.earlier, info.time);
        self.prepare_set(set, info.protocol)
    }

    /// Makes `set` durable. Its sitemaps are staged or published already.
    pub(super) fn prepare_set(mut self, mut set: Manifest, protocol: Protocol) -> Result<Prepared> {
        let indexes = index_files(&set, &self.stem, protocol)?;
        set.indexes = indexes.iter().map(|(file, _)| file.clone()).collect();
        neighbours::check_stems(&*self.place, self.live.as_ref(), &set)?;
        self.make_way(set.indexes.iter().map(String::as_str).chain([&*self.robots_file]))?;
        set.superseded_indexes = self.superseded_indexes(&set)?;
        let mut robots: String =
            set.indexes.iter().map(|file| format!("Sitemap: {}{file}\n", set.base_url)).collect();
        if set.indexes.is_empty() {
            robots.push_str(EMPTY_SET_LINE);
        }
        let live = self.live.as_ref();
        self.place.prepare(Switch {
            indexes,
            robots: (self.robots_file.clone(), robots.into_bytes()),
            manifest: set.to_json(),
            expected: self.expected.clone(),
            replaced: live.map(|live| (live.run.clone(), live.alone().to_json())),
            sitemaps: set.sitemaps.iter().map(|sitemap| sitemap.file.clone()).collect(),
            removals: removals(live, &set),
        })?;
        // A run for another set may have prepared it at the same time. The later of both sees the other.
        neighbours::check_stems(&*self.place, self.live.as_ref(), &set)?;
        self.check_neighbours(&set.base_url)?;
        Ok(Prepared::new(self, set))
    }

    /// The existing index files that `set` does not replace. They stay as long as the sitemaps that they list, for crawlers
    /// with old robots lines. An empty set keeps none.
    fn superseded_indexes(&self, set: &Manifest) -> Result<Vec<SupersededIndex>> {
        let Some(live) = self.live.as_ref().filter(|_| !set.indexes.is_empty()) else {
            return Ok(Vec::new());
        };
        let known = live.superseded_indexes.iter().filter(|old| is_unchanged(&*self.place, old));
        let mut all: Vec<_> = known.cloned().collect();
        for file in &live.indexes {
            if let Some(bytes) = self.index_file(file)? {
                let (run, since) = (live.run.clone(), set.published.clone());
                all.push(SupersededIndex { file: file.clone(), run, since, content: hex_digest(&bytes) });
            }
        }
        all.retain(|old| !set.indexes.contains(&old.file));
        Ok(all)
    }

    /// The bytes of the index file named `file`; `None` if no regular file has its name.
    fn index_file(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let view = self.place.view();
        if !view.is_file(file.as_ref()) {
            return Ok(None);
        }
        match view.read(file.as_ref()) {
            // A dry run takes no lock, so another run may have removed it meanwhile.
            Err(_) if !view.is_file(file.as_ref()) => Ok(None),
            read => read.map(Some),
        }
    }
}
