//! Route: sends every entry to its region.

use super::block::{self, Decoder, Sealed};
use super::plan::{self, RoutingPlan, number};
use super::spread::Spread;
use crate::error::Result;

/// Target size of a block of one region in bytes of its rows. With many regions, blocks are smaller.
const BLOCK_BYTES: usize = 256 * 1024;

/// Distributes entries by region, in the second map step. It takes the blocks of [`pack`](super::pack). A block whose entries are
/// all in one region is passed on as it is; others are opened, and each of their regions gets a block. The engine shuffles these
/// by their region, as bytes, to [`Regions`](super::Regions).
#[derive(Debug)]
pub struct Router {
    /// The stamp of the blocks that it takes.
    stamp: u64,
    plan_stamp: u64,
    regions: Spread,
    decoder: Decoder,
}

impl Router {
    /// Creates a router that holds about `memory` bytes. Beyond that, all blocks are emitted before they are full. Half a
    /// megabyte per region avoids that.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for the regions.
    pub fn new(plan: &RoutingPlan, memory: usize) -> Result<Self> {
        let (stamp, plan_stamp) = (plan.provenance.stamp(), plan.stamp());
        let stamp_of = |region| plan::stamp_of(plan_stamp, number(region));
        let regions = Spread::new(plan.splitters(), stamp_of, BLOCK_BYTES, memory)?;
        Ok(Self { stamp, plan_stamp, regions, decoder: Decoder::new()? })
    }

    /// Distributes the entries of `block`. Calls `emit` with every block that is complete, and its region.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if the block is damaged or belongs to another run; otherwise the first error
    /// of `emit`.
    pub fn push(&mut self, block: &[u8], emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        let block = Sealed::of(block, self.stamp)?;
        let region = self.regions.range_of(block.first);
        if region == self.regions.range_of(block.last) {
            let region = number(region);
            return emit(region, block.with_stamp(plan::stamp_of(self.plan_stamp, region))?);
        }
        let entries = block.open(&mut self.decoder)?;
        let mut emit = |region, block| emit(number(region), block);
        entries.try_for_each(|entry| self.regions.push(&entry, block::hash_of(&entry), &mut emit))
    }

    /// Calls `emit` with the remaining blocks. The router is then empty and can be used again.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn finish(&mut self, emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        self.regions.emit_all(&mut |region, block| emit(number(region), block))
    }
}
