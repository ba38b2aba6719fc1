//! Regions: the reduce step, which makes the sitemaps of whole regions.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::block::{Decoder, Sealed};
use super::order::{Provenance, WorkOrder, check_job, read_json, to_json};
use super::plan::{self, RoutingPlan, internal};
use crate::common::progress::{Phase, Silent};
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::input::{Lost, cut_short};
use crate::job::{Job, memory_min};
use crate::produce::batch::Batch;
use crate::produce::produce;
use crate::sitemap::tags::TagCounts;
use crate::survey::context::Context;
use crate::survey::judge::Rules;
use crate::survey::memory::Memory;
use crate::survey::tally::Tally;
use crate::survey::{Arriving, survey_region};

/// The sitemaps of one region. The engine collects one of each region and gives them to the driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionBatch {
    pub(super) provenance: Provenance,
    /// The stamp of the plan.
    pub(super) plan: u64,
    pub(super) region: u32,
    /// Number of rows received.
    pub(super) rows: u64,
    /// The sum of their hashes.
    pub(super) sum: u64,
    pub(super) batch: Batch,
}

impl RegionBatch {
    /// Returns the number of the region.
    pub fn region(&self) -> u32 {
        self.region
    }

    /// Returns the number of accepted rows of the region, including duplicates.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of URLs in the sitemaps of the region.
    pub fn urls(&self) -> u64 {
        self.batch.urls()
    }

    /// Writes the result as JSON, to be passed to other processes.
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// Reads the JSON that [`RegionBatch::to_json`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if it is damaged, or written by another version of sitemill.
    pub fn from_json(json: &str) -> Result<Self> {
        read_json(json, "the batch of a region")
    }
}

/// Collects the blocks of some regions and makes the sitemaps of these regions: one reduce task. All blocks of a region must go
/// to the same task, in any order; a task may have any number of regions.
///
/// Rows are kept in memory, or in a scratch file if there are more, and those of one region at a time are sorted. All of that is
/// within the memory of the [job](crate::options::Resources::memory). Sitemaps are written to the output directory, where they are
/// invisible until the driver publishes them. A task can fail at any point, be repeated, or run twice at the same time.
#[derive(Debug)]
pub struct Regions {
    job: Job,
    work_order: WorkOrder,
    plan: RoutingPlan,
    /// The stamp of the plan.
    stamp: u64,
    decoder: Decoder,
    arriving: Arriving,
    regions: BTreeMap<u32, Region>,
}

/// The rows of a region that have arrived.
#[derive(Debug, Default)]
struct Region {
    rows: u64,
    /// The sum of the hashes of the rows.
    sum: u64,
    /// The tags of the rows.
    tags: TagCounts,
}

impl Regions {
    /// Checks the options of a task without creating one. Returns its [memory](crate::options::Resources::memory), if there is a
    /// limit, and how much it needs at least: a driver can compare them before a task fails.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a cluster cannot build the set that `job` describes.
    pub fn check(job: &Job) -> Result<(Option<u64>, u64)> {
        check_job(job)?;
        Ok((job.resources.memory, memory_min(job.resources.threads.get() as u64)))
    }

    /// Creates a task without blocks. Scratch files go to the directory `scratch` unless
    /// [`Resources::scratch`](crate::options::Resources::scratch) is set. It should be a local disk of the worker.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if `job` has other rules than the job of the driver;
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if the output directory is not shared with the driver or its run has ended,
    /// or if the scratch file cannot be created; [`ErrorKind::Usage`](crate::ErrorKind::Usage) if there is too little memory.
    pub fn new(job: &Job, work_order: &WorkOrder, plan: &RoutingPlan, scratch: &Path) -> Result<Self> {
        work_order.check(job)?;
        plan.provenance.check("the plan", &work_order.provenance)?;
        work_order.check_reachable()?;
        let arriving = Arriving::new(plan.ranges(), &Memory::of(&job.resources, scratch)?)?;
        let (job, work_order, plan, stamp) = (job.clone(), work_order.clone(), plan.clone(), plan.stamp());
        Ok(Self {
            job,
            work_order,
            plan,
            stamp,
            decoder: Decoder::new()?,
            arriving,
            regions: BTreeMap::new(),
        })
    }

    /// Adds a block of `region` that a [`Router`](super::Router) made.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if the block is damaged or belongs to another plan;
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if scratch cannot be written, most likely because the disk is full.
    pub fn push(&mut self, region: u32, block: &[u8]) -> Result<()> {
        self.plan.check(region)?;
        let block = Sealed::of(block, plan::stamp_of(self.stamp, region))?;
        let entries = block.open(&mut self.decoder)?;
        let region = self.regions.entry(region).or_default();
        match self.arriving.range_of(block.first, block.last, entries.prefix.len()) {
            Some(range) => {
                entries.count_tags(&mut region.tags)?;
                self.arriving.push_tails(range, entries.tails, entries.rows as usize)?;
            }
            None => entries.try_for_each(|entry| {
                entry.count_tags(&mut region.tags);
                self.arriving.push(&entry)
            })?,
        }
        region.rows += u64::from(entries.rows);
        region.sum = region.sum.wrapping_add(entries.sum);
        Ok(())
    }

    /// Makes the sitemaps of all regions that have blocks. Everything is on disk when it returns.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if the run of the driver has ended; if a sitemap or scratch cannot be
    /// written, memory runs out, or `stop` is raised. The engine may run the task again.
    pub fn finish(self, stop: &Stop) -> Result<Vec<RegionBatch>> {
        let lost = Lost::none_yet();
        let Self { job, mut work_order, plan, stamp, arriving, regions, .. } = self;
        let shelf = work_order.take_shelf()?;
        let mut arrived = arriving.finish()?;
        let run = Context { job: &job, rules: &Rules::of(&job), progress: &Silent, stop };
        let segments = work_order.segment_rule(&job)?;
        let of_ranges = plan.regions_of_ranges();
        let mut batches = Vec::new();
        for (region, Region { rows, sum, tags }) in regions {
            stop.check()?;
            let begin = |region| of_ranges.partition_point(|&of_range| of_range < region);
            let tally = Tally { lines: rows, rendered: tags, ..Tally::default() };
            let in_ranges = arrived.take_region(begin(region)..begin(region + 1))?;
            // All rows that are not listed will count as duplicates.
            if in_ranges.rows() != rows {
                let found = in_ranges.rows();
                return Err(internal(format!("region {region} has {found} rows, but {rows} arrived")));
            }
            let layout = survey_region(run, in_ranges, tally)?;
            let _phase = run.progress.phase(Phase::Produce, layout.tally.listed);
            let batch = produce(run, &layout, &shelf, &work_order.time, segments.as_ref())?;
            if lost.is_some() {
                return Err(cut_short(arrived.memory.scratch.directory()));
            }
            let provenance = work_order.provenance.clone();
            batches.push(RegionBatch { provenance, plan: stamp, region, rows, sum, batch });
        }
        Ok(batches)
    }
}
