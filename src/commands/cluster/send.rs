//! Send: reads the row groups of a partition a second time, once their regions are known, and sends each row to its region.

use super::block::hash_of;
use super::order::WorkOrder;
use super::pack::{BLOCK_BYTES, row_of};
use super::plan::{RoutingPlan, stamp_of};
use super::reading::{RowGroups, read_row_groups};
use super::spread::Spread;
use crate::clean::Reason;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::format::{Record, Sink};
use crate::job::Job;
use crate::sitemap::entry::Entry;
use crate::survey::judge::{Judge, Rules};
use crate::survey::tally::Tally;

/// Reads all rows of `partition`, which [`count_row_groups`](super::count_row_groups) has counted, and calls `emit` with blocks of
/// those that are accepted, each with its region. The engine shuffles these by their region, as bytes, to
/// [`Regions`](super::Regions). About `memory` bytes are held. Beyond that, all blocks are emitted before they are full. A
/// quarter of a megabyte per region, and at least 64 MB, avoids that.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if `job` has other rules than the job of the driver, or if a file has no such row
/// group; if a file cannot be read, `emit` fails, or `stop` is raised. The engine may run the task again and must then drop all
/// blocks of the first attempt.
pub fn send_row_groups(
    job: &Job,
    work_order: &WorkOrder,
    plan: &RoutingPlan,
    partition: &[RowGroups],
    memory: usize,
    emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>,
    stop: &Stop,
) -> Result<()> {
    work_order.check(job)?;
    plan.provenance.check("the plan", &work_order.provenance)?;
    let rules = Rules::of(job);
    let (regions, plan_stamp) = (plan.regions_of_ranges(), plan.stamp());
    let stamp = |range: usize| stamp_of(plan_stamp, regions[range]);
    let spread = Spread::new(plan.ranges(), stamp, BLOCK_BYTES, memory)?;
    let mut emit = |range: usize, block| emit(regions[range], block);
    let mut sender = Sender { judge: Judge::new(&rules), tally: Tally::default(), spread, emit: &mut emit };
    for groups in partition {
        read_row_groups(job, groups, stop, &mut sender)?;
    }
    sender.spread.emit_all(sender.emit)
}

/// Judges rows, and sends those that are accepted.
struct Sender<'r, 'e> {
    judge: Judge<'r>,
    /// The rows were counted before. The driver compares those that arrive with that count.
    tally: Tally,
    /// The blocks of all ranges.
    spread: Spread,
    emit: &'e mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
}

impl Sink for Sender<'_, '_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let Self { judge, tally, spread, emit } = self;
        let send = |entry: Entry<'_>| spread.push(&entry, hash_of(&entry), emit);
        let sent = judge.tally(row_of(record).content, tally, send);
        sent.unwrap_or(Ok(()))
    }

    fn bad_row(&mut self, _line: u64, _offset: u64, _reason: Reason, _text: &[u8]) -> Result<()> {
        Ok(())
    }
}
