//! Plan: the borders of the regions that the reduce tasks work on.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::order::{Provenance, read_json, to_json};
use super::pack::Packed;
use crate::error::{Error, ErrorKind, Result};
use crate::sitemap::divide::borders::{Smallest, count, region_of};
use crate::survey::splitters::Splitters;

/// The answer of a driver to the results of all [`pack`](super::pack) tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// The plan for the next steps.
    Ready(RoutingPlan),
    /// The tasks reported too few border candidates, which is very unlikely. Run all of them again with this number of
    /// `candidates`, then plan again.
    MoreCandidates(usize),
}

/// The regions of a run. Pass it to every task of the steps that follow.
///
/// A region is an interval of URLs in byte order, of about a million rows. A set of fewer than two million accepted rows is one
/// region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutingPlan {
    pub(super) provenance: Provenance,
    /// Accepted rows of all partitions.
    pub(super) accepted: u64,
    /// The first URL of every region but the first, in byte order.
    borders: Vec<String>,
    /// All borders, and others if tasks have reported enough candidates, in byte order. Blocks have the rows between two of them,
    /// which are similar, and a region can sort these rows by themselves.
    cuts: Vec<String>,
}

/// Maximum number of cuts, unless there are more borders: a task that sends rows fills as many blocks at once. The borders are
/// the URLs with the smallest hashes, and those with the next smallest ones are a fair sample.
const CUTS_MAX: usize = 512;

/// Accepted rows for each cut: as many as are sorted fast.
const ROWS_PER_CUT: u64 = 16 * 1024;

impl RoutingPlan {
    /// Plans the regions of all rows in `packed`.
    pub(super) fn of(provenance: &Provenance, packed: &[Packed]) -> Result<Planned> {
        packed.iter().try_for_each(|packed| packed.provenance.check("a result of pack", provenance))?;
        let accepted = packed.iter().map(Packed::accepted).sum();
        let wanted = count(accepted);
        let cuts_max =
            usize::try_from(accepted / ROWS_PER_CUT).unwrap_or(usize::MAX).min(CUTS_MAX).max(wanted);
        let mut all = Smallest::new(cuts_max);
        packed.iter().try_for_each(|packed| all.merge(packed.candidates.clone()))?;
        let Some(borders) = all.clone().into_borders(wanted) else {
            return Ok(Planned::MoreCandidates(wanted));
        };
        let cuts = all.into_known(cuts_max);
        Ok(Planned::Ready(Self { provenance: provenance.clone(), accepted, borders, cuts }))
    }

    /// Returns the number of regions. They are numbered from 0. Every region has rows, except that region 0 may be empty.
    pub fn regions(&self) -> u32 {
        u32::try_from(self.borders.len() + 1).expect("there are fewer borders than URLs in millions")
    }

    /// Accepted rows of all partitions.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Returns the plan as JSON, to be passed to other processes.
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// Reads the JSON that [`RoutingPlan::to_json`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if it is damaged, or written by another version of sitemill.
    pub fn from_json(json: &str) -> Result<Self> {
        read_json(json, "the plan")
    }

    /// Returns a number for the results of this plan, which differs from plan to plan.
    pub(super) fn stamp(&self) -> u64 {
        xxh3_64(format!("{self:?}").as_bytes())
    }

    /// Finds the region of a URL.
    pub(super) fn splitters(&self) -> Splitters {
        Splitters::of_sorted(bytes_of(&self.borders))
    }

    /// Finds the range of a URL: a region, or a part of one whose URLs are similar.
    pub(super) fn ranges(&self) -> Splitters {
        Splitters::of_sorted(bytes_of(&self.cuts))
    }

    /// Returns the region of each of the ranges, in order.
    pub(super) fn regions_of_ranges(&self) -> Vec<u32> {
        let of_cuts = self.cuts.iter().map(|cut| number(region_of(cut.as_bytes(), &self.borders)));
        std::iter::once(0).chain(of_cuts).collect()
    }

    /// Returns whether `url` belongs to `region`.
    pub(super) fn is_in(&self, region: u32, url: &str) -> bool {
        region_of(url.as_bytes(), &self.borders) == region as usize
    }

    /// Checks that `region` is one of the plan.
    pub(super) fn check(&self, region: u32) -> Result<()> {
        match region < self.regions() {
            true => Ok(()),
            false => Err(Error::data(format!(
                "region {region}: the plan has {}; route the blocks again by this plan",
                self.regions()
            ))),
        }
    }
}

fn bytes_of(urls: &[String]) -> Vec<Vec<u8>> {
    urls.iter().map(|url| url.clone().into_bytes()).collect()
}

/// The number of a region.
pub(super) fn number(region: usize) -> u32 {
    u32::try_from(region).expect("a plan counts regions with 32 bits")
}

/// Returns a number for the blocks of `region` in the plan with the stamp `plan_stamp`.
pub(super) fn stamp_of(plan_stamp: u64, region: u32) -> u64 {
    xxh3_64_with_seed(&region.to_le_bytes(), plan_stamp)
}

/// Creates the error for a broken invariant of this module.
pub(super) fn internal(words: String) -> Error {
    Error::new(ErrorKind::Internal, words)
}
