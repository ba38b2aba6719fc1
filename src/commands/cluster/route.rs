//! Route: sends every entry to its region.

use super::block::{self, Decoder, Encoder, Filling};
use super::plan::{self, RoutingPlan};
use crate::error::{Result, list};
use crate::survey::splitters::Splitters;

/// Target size of a block of one region in bytes of its rows. With many regions, blocks are smaller.
const BLOCK_BYTES: usize = 256 * 1024;

/// Distributes entries by region, in the second map step. It takes the blocks of [`pack`](super::pack) and makes a block for
/// each region that has entries. The engine shuffles these by their region, as bytes, to [`Regions`](super::Regions).
#[derive(Debug)]
pub struct Router {
    splitters: Splitters,
    /// The stamp of the blocks that it takes.
    stamp: u64,
    /// For each region, its current block, and the stamp of its blocks.
    regions: Vec<(Filling, u64)>,
    /// Bytes that all buffers hold, and their maximum.
    held: usize,
    held_max: usize,
    decoder: Decoder,
    encoder: Encoder,
}

impl Router {
    /// Creates a router that holds about `memory` bytes. Beyond that, all blocks are emitted before they are full. Half a
    /// megabyte per region avoids that.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for the regions.
    pub fn new(plan: &RoutingPlan, memory: usize) -> Result<Self> {
        let plan_stamp = plan.stamp();
        let region = |region| (Filling::default(), plan::stamp_of(plan_stamp, region));
        let (regions, stamp) = (list((0..plan.regions()).map(region))?, plan.origin.stamp());
        let (decoder, encoder) = (Decoder::new()?, Encoder::new()?);
        Ok(Self { splitters: plan.splitters(), stamp, regions, held: 0, held_max: memory, decoder, encoder })
    }

    /// Distributes the entries of `block`. Calls `emit` with every block that is full, and its region.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if the block is damaged or belongs to another run; otherwise the first error
    /// of `emit`.
    pub fn push(&mut self, block: &[u8], emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        let mut rows = 0;
        let entries = block::entries(block, self.stamp, &mut self.decoder)?;
        entries.try_for_each(|entry| {
            let region = self.splitters.range_of(entry.url.as_bytes());
            let (filling, stamp) = &mut self.regions[region];
            let before = filling.held_bytes();
            filling.push(entry);
            rows += 1;
            self.held += filling.held_bytes() - before;
            if filling.is_full(BLOCK_BYTES) {
                emit_one(region, filling, *stamp, &mut self.encoder, emit)?;
            }
            if self.held > self.held_max { self.emit_all(emit) } else { Ok(()) }
        })?;
        block::check_rows(rows, entries.rows)
    }

    /// Calls `emit` with the remaining blocks. The router is then empty and can be used again.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn finish(&mut self, emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        self.emit_all(emit)
    }

    fn emit_all(&mut self, emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        for (region, (filling, stamp)) in self.regions.iter_mut().enumerate() {
            emit_one(region, filling, *stamp, &mut self.encoder, emit)?;
            filling.let_go();
        }
        self.held = 0;
        Ok(())
    }
}

fn emit_one(
    region: usize,
    filling: &mut Filling,
    stamp: u64,
    encoder: &mut Encoder,
    emit: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>,
) -> Result<()> {
    let region = u32::try_from(region).expect("a plan counts regions with 32 bits");
    filling.end(stamp, encoder)?.map_or(Ok(()), |block| emit(region, block))
}
