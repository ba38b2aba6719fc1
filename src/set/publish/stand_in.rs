//! The stand-in: a manifest that replaces an unusable live manifest and contains only what is known for certain.

use std::collections::BTreeSet;

use super::found_indexes::FoundIndexes;
use super::info::SetInfo;
use super::workspace::Workspace;
use crate::error::Result;
use crate::place::{BackupReason, Record};
use crate::set::manifest::{Manifest, Superseded};

impl Workspace {
    /// Backs up the manifests that cannot be used, and writes a stand-in for the live one. With it, index files that the new
    /// set does not replace, and the sitemaps that they list, are kept for the usual time.
    pub(super) fn stand_in(&mut self, info: &SetInfo<'_>) -> Result<()> {
        let Some(salvage) = &self.salvage else { return Ok(()) };
        let view = self.place.view();
        let mut there = FoundIndexes::read(view)?;
        if salvage.is_live_lost() {
            // They look like files of sitemill, which does not prove that they are.
            let is_file = view.look_up(self.robots_file.as_ref())?.is_some_and(|found| found.is_file);
            let robots = is_file.then_some(&*self.robots_file);
            let mut files = there.names.iter().map(String::as_str).chain(robots);
            files.try_for_each(|file| self.place.back_up(file, BackupReason::Damaged))?;
        }
        let old = self.live.iter().flat_map(|live| &live.superseded_indexes);
        let old: BTreeSet<&String> = old.map(|old| &old.file).collect();
        there.names.retain(|name| !old.contains(name));
        let mut set = match self.live.clone() {
            Some(live) => live,
            None if there.names.is_empty() && salvage.kept().is_empty() && salvage.damaged().is_empty() => {
                return Ok(());
            }
            None => {
                let highest = salvage.kept().iter().map(|set| set.number).max().unwrap_or(0);
                let (run, number) = (format!("{}-lost", self.place.run()), highest.saturating_add(1));
                let earlier = salvage.earlier(view, info.time)?;
                Manifest { number, earlier, ..stand_in(&run, info) }
            }
        };
        set.earlier.retain(|kept| !salvage.damaged().contains(&Record::kept(&kept.run)));
        set.indexes =
            there.names.into_iter().chain(set.indexes).collect::<BTreeSet<_>>().into_iter().collect();
        let kept = salvage.kept().iter().flat_map(|set| &set.sitemaps).map(|sitemap| sitemap.file.clone());
        let mut old: BTreeSet<String> = there.listed.into_iter().chain(kept).collect();
        set.sitemaps.iter().for_each(|sitemap| _ = old.remove(&sitemap.file));
        set.superseded.iter().for_each(|known| _ = old.remove(&known.file));
        set.superseded.extend(old.into_iter().map(|file| Superseded { file, since: info.time.into() }));

        salvage.damaged().iter().try_for_each(|record| self.place.back_up_record(record))?;
        self.expected = Some(self.place.replace_live(&set.to_json())?);
        self.live = Some(set);
        Ok(())
    }
}

/// The stand-in for a set about which nothing is known.
fn stand_in(run: &str, info: &SetInfo<'_>) -> Manifest {
    let base_url = info.base_url.to_string();
    let set = Manifest::new(run, info.protocol, info.index_limits, &base_url, info.time, Vec::new());
    Manifest { is_stand_in: true, ..set }
}
