//! The way out of damaged manifests: what can be read is believed, what cannot is set aside, and what is left is told by the
//! index files, because a crawler takes these for the set, too.
//!
//! Nothing is changed before the new set is made and all guards have let it pass, but that a switch is finished whose journal
//! is whole. Then a stand-in, which claims no more than what is known, takes the place of the live manifest at once; from
//! there on the set is published like any other, and a crash leaves no more than after any other.

use std::collections::BTreeSet;

use super::live::Live;
use super::occupant::is_there;
use super::resume::resume;
use crate::error::{ErrorKind, Result};
use crate::place::{Place, Record, View};
use crate::set::manifest::{Earlier, Manifest};
use crate::set::name::{is_index_file, is_sitemap_file};

/// What is known of a directory besides its live manifest, which may be none.
#[derive(Debug)]
pub struct Salvage {
    /// What cannot be used.
    damaged: Vec<Record>,
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
    pub fn of(place: &dyn Place) -> Result<(Live, Self)> {
        let view = place.view();
        let mut damaged = Vec::new();
        let mut usable = |record: Record| match Manifest::read_stored(view, &record) {
            Err(error) if error.kind() == ErrorKind::Data => {
                damaged.push(record);
                Ok(None)
            }
            read => read,
        };
        let live = Live::of(usable(Record::Live)?);
        let next = usable(Record::Journal)?;
        let kept = view.kept()?.into_iter().filter_map(|record| usable(record).transpose());
        let kept: Vec<_> = kept.map(|read| Ok(read?.0)).collect::<Result<_>>()?;
        let live = match next {
            Some((next, _)) => {
                // It takes the place of the manifest.
                if damaged.contains(&Record::Live) {
                    place.back_up_record(&Record::Live)?;
                }
                let replaced = match live.set {
                    Some(live) => live,
                    None => Manifest { indexes: IndexFiles::read(view)?.names, ..next.clone() },
                };
                let version = resume(place, Some(&replaced), &next)?;
                damaged.retain(|record| *record != Record::Live);
                Live { set: Some(next), version: Some(version) }
            }
            None => live,
        };
        let is_live_lost = live.set.is_none();
        let is_in_doubt = !damaged.is_empty() || is_live_lost;
        Ok((live, Self { damaged, kept, is_in_doubt, is_live_lost }))
    }

    /// The manifests that cannot be used.
    pub(super) fn damaged(&self) -> &[Record] {
        &self.damaged
    }

    /// Earlier sets that can be read.
    pub(super) fn kept(&self) -> &[Manifest] {
        &self.kept
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
    /// files are not all there were let go, or cannot be restored.
    pub(super) fn earlier(&self, view: &dyn View, now: &str) -> Vec<Earlier> {
        let is_whole = |set: &&Manifest| set.sitemaps.iter().all(|sitemap| is_there(view, sitemap));
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

/// Index files that sitemill wrote, and the sitemaps that they list.
#[derive(Default)]
pub(super) struct IndexFiles {
    pub names: Vec<String>,
    pub listed: BTreeSet<String>,
}

impl IndexFiles {
    /// Those whose name is one that sitemill gives, and that list nothing but sitemaps with such names. Others are not from
    /// sitemill.
    pub fn read(view: &dyn View) -> Result<Self> {
        let mut found = Self::default();
        for entry in view.list()?.into_iter().filter(|entry| entry.is_file) {
            let Some(name) = entry.name.to_str().filter(|name| is_index_file(name)) else { continue };
            let xml = view.read(name.as_ref())?;
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
