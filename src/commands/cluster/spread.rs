//! Spread: fills a block for each range of URLs.

use super::block::{Encoder, Filling};
use crate::common::fallible::list;
use crate::error::Result;
use crate::sitemap::entry::Entry;
use crate::survey::splitters::Splitters;

/// Distributes entries among ranges of URLs, each with a block that is being filled.
#[derive(Debug)]
pub(super) struct Spread {
    splitters: Splitters,
    /// For each range, its current block, and the stamp of its blocks.
    ranges: Vec<(Filling, u64)>,
    /// Target size of a block in bytes of its rows.
    block_bytes: usize,
    /// Bytes that all buffers hold, and their maximum.
    held: usize,
    held_max: usize,
    encoder: Encoder,
}

impl Spread {
    /// Creates one that holds about `held_max` bytes. Beyond that, all blocks are emitted before they are full. `stamp` returns
    /// the stamp of the blocks of a range.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for the ranges.
    pub fn new(
        splitters: Splitters,
        stamp: impl Fn(usize) -> u64,
        block_bytes: usize,
        held_max: usize,
    ) -> Result<Self> {
        let filling = |range| (Filling::new(splitters.prefix(range)), stamp(range));
        let ranges = list((0..splitters.ranges()).map(filling))?;
        Ok(Self { splitters, ranges, block_bytes, held: 0, held_max, encoder: Encoder::new()? })
    }

    /// The range of `url`.
    pub fn range_of(&self, url: &[u8]) -> usize {
        self.splitters.range_of(url)
    }

    /// Adds an entry, whose hash is `hash`. Calls `emit` with each block that is full, and its range.
    ///
    /// # Errors
    /// The first error of `emit`, or if there is no memory for a block.
    pub fn push(
        &mut self,
        entry: &Entry<'_>,
        hash: u64,
        emit: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let range = self.splitters.range_of(entry.url.as_bytes());
        let (filling, stamp) = &mut self.ranges[range];
        let before = filling.held_bytes();
        filling.push(entry, hash);
        self.held += filling.held_bytes() - before;
        if filling.is_full(self.block_bytes) {
            end(range, filling, *stamp, &mut self.encoder, emit)?;
        }
        if self.held > self.held_max {
            self.emit_all(emit)?;
        }
        Ok(())
    }

    /// Calls `emit` with the remaining blocks, and frees their memory.
    ///
    /// # Errors
    /// As [`Spread::push`].
    pub fn emit_all(&mut self, emit: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>) -> Result<()> {
        for (range, (filling, stamp)) in self.ranges.iter_mut().enumerate() {
            end(range, filling, *stamp, &mut self.encoder, emit)?;
            filling.let_go();
        }
        self.held = 0;
        Ok(())
    }
}

fn end(
    range: usize,
    filling: &mut Filling,
    stamp: u64,
    encoder: &mut Encoder,
    emit: &mut dyn FnMut(usize, Vec<u8>) -> Result<()>,
) -> Result<()> {
    filling.end(stamp, encoder)?.map_or(Ok(()), |block| emit(range, block))
}
