//! Recovery from damaged manifests. Readable manifests are used, and damaged ones are backed up. Files that no readable
//! manifest names are found through the index files, because crawlers find them that way, too.
//!
//! A switch whose journal is intact is completed first. Nothing else changes until the new set is ready and all guards have
//! passed. Then a stand-in atomically replaces the live manifest. It contains only what is known for certain. From there on,
//! the set is published like any other, with the same guarantees after a crash.

use std::cmp::Reverse;

use super::found_indexes::FoundIndexes;
use super::live::ReadLive;
use super::occupant::is_there;
use super::resume::resume;
use crate::error::{ErrorKind, Result};
use crate::place::{Place, Record, View};
use crate::set::manifest::{Earlier, Manifest};

/// The other manifests of a place whose live manifest may be damaged or missing.
#[derive(Debug)]
pub struct Salvage {
    /// Manifests that cannot be used.
    damaged: Vec<Record>,
    /// Earlier sets that can be read.
    kept: Vec<Manifest>,
    /// The live manifest is damaged or missing, and no journal replaced it.
    is_live_lost: bool,
    /// There is no set, as in the parent of all sites: neither manifests nor index files show one.
    is_without_set: bool,
}

impl Salvage {
    /// Reads the manifests of a place: that of the live set, if it can be used, and the others. Completes a switch that a
    /// dead run committed.
    ///
    /// # Errors
    /// If a file cannot be read, or a switch cannot be completed.
    pub fn of(place: &dyn Place) -> Result<(ReadLive, Self)> {
        let view = place.view();
        let mut damaged = Vec::new();
        let mut usable = |record: Record| match Manifest::read_stored(view, &record) {
            Err(error) if error.kind() == ErrorKind::Data => {
                damaged.push(record);
                Ok(None)
            }
            read => read,
        };
        // First, because the journal becomes the live manifest.
        let next = usable(Record::Journal)?;
        let live = ReadLive::of(usable(Record::Live)?);
        let kept = view.kept()?.into_iter().filter_map(|record| usable(record).transpose());
        let kept: Vec<_> = kept.map(|read| Ok(read?.0)).collect::<Result<_>>()?;
        let live = match next {
            Some((next, version)) => {
                // The journal is going to replace the damaged manifest.
                if damaged.contains(&Record::Live) {
                    place.back_up_record(&Record::Live)?;
                }
                let replaced = match live.set {
                    Some(live) => live,
                    None => Manifest { indexes: FoundIndexes::read(view)?.names, ..next.clone() },
                };
                resume(place, Some(&replaced), &next)?;
                damaged.retain(|record| *record != Record::Live);
                ReadLive { set: Some(next), version: Some(version), has_resumed_switch: true }
            }
            None => live,
        };
        let is_live_lost = live.set.is_none();
        let has_no_indexes = || FoundIndexes::read(view).is_ok_and(|found| found.names.is_empty());
        let is_without_set = is_live_lost && damaged.is_empty() && kept.is_empty() && has_no_indexes();
        Ok((live, Self { damaged, kept, is_live_lost, is_without_set }))
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
        !self.damaged.is_empty() || self.is_live_lost && !self.is_without_set
    }

    /// Whether the live set is unknown.
    pub fn is_live_lost(&self) -> bool {
        self.is_live_lost
    }

    /// Earlier sets for a stand-in, the last one first. Only the lost manifest recorded when they were replaced, so their
    /// retention time begins at `now`. Sets with missing files are left out, because they have expired or cannot be restored.
    /// A set that was restored has several manifests; the last one counts.
    ///
    /// # Errors
    /// If a sitemap cannot be looked up.
    pub(super) fn earlier(&self, view: &dyn View, now: &str) -> Result<Vec<Earlier>> {
        let mut sets = Vec::new();
        'sets: for set in self.kept.iter().filter(|set| !set.is_stand_in) {
            for sitemap in &set.sitemaps {
                if !is_there(view, sitemap)? {
                    continue 'sets;
                }
            }
            sets.push(set);
        }
        sets.sort_by_key(|set| Reverse((set.number, &set.published)));
        sets.dedup_by_key(|set| set.number);
        let earlier = |set: &Manifest| Earlier {
            run: set.run.clone(),
            number: set.number,
            since: now.into(),
            withdrawn: self.kept.iter().any(|kept| kept.took_back(set.number)),
        };
        Ok(sets.into_iter().map(earlier).collect())
    }
}
