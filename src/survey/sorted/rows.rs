//! Rows of a range: accepted entries with their places in the input, without the prefix that all URLs of the range share.
//!
//! ```text
//! block = rows
//! row   = place - place of the row before in the block · tail
//! ```
//!
//! Rows that another process has accepted have no place, and are tails alone.

use super::store::{EntryStore, StoredAt};
use crate::common::fallible::{reserve, reserve_more};
use crate::common::{field, prefetch};
use crate::error::Result;
use crate::intake::input::Input;
use crate::sitemap::entry::Entry;
use crate::survey::tail::Tail;

/// How far ahead of a row bytes are prefetched, and how many: most rows have fewer.
const AHEAD_BYTES: usize = 1024;
const USUAL_BYTES: usize = 64;

/// A stored block of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeBlock {
    /// Its position.
    pub at: StoredAt,
    /// The number of its rows.
    pub rows: usize,
    /// Whether its rows have a place.
    pub has_places: bool,
}

/// Collects the rows of a range, and stores them block by block.
pub struct RangeWriter {
    /// The length of the prefix that is left out.
    known: usize,
    bytes: Vec<u8>,
    rows: usize,
    /// The place of the last row of the block.
    last: u64,
    blocks: Vec<RangeBlock>,
    /// The sum of the hashes of its rows.
    seal: u128,
}

/// The rows of a range.
#[derive(Debug, Default)]
pub struct RangeRows {
    /// The blocks, in any order.
    pub blocks: Vec<RangeBlock>,
    /// The sum of the hashes of the rows, modulo 2^128, if they are sealed.
    pub seal: u128,
}

impl RangeRows {
    /// Adds a block of `rows` rows that another process has accepted.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn push(&mut self, at: StoredAt, rows: usize) -> Result<()> {
        reserve_more(&mut self.blocks, 1)?;
        self.blocks.push(RangeBlock { at, rows, has_places: false });
        Ok(())
    }

    /// Adds other rows of the range.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn add(&mut self, other: Self) -> Result<()> {
        reserve_more(&mut self.blocks, other.blocks.len())?;
        self.blocks.extend(other.blocks);
        self.seal = self.seal.wrapping_add(other.seal);
        Ok(())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.blocks.iter().map(|block| block.rows).sum()
    }
}

impl RangeWriter {
    /// A writer with a buffer of `room_bytes` bytes. All URLs begin with the same `known` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the buffer cannot be allocated.
    pub fn new(known: usize, room_bytes: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        reserve(&mut bytes, room_bytes)?;
        Ok(Self { known, bytes, rows: 0, last: 0, blocks: Vec::new(), seal: 0 })
    }

    /// Adds the entry of the row at `place`, whose hash is `seal`. Returns the bytes of the block so far.
    #[inline]
    pub fn push(&mut self, place: u64, entry: &Entry<'_>, seal: u128) -> usize {
        self.seal = self.seal.wrapping_add(seal);
        // Rows of a thread come in the order of their places.
        field::push_number(place - self.last, &mut self.bytes);
        self.last = place;
        self.rows += 1;
        Tail::push(entry, self.known, &mut self.bytes);
        prefetch::fetch_room(&mut self.bytes, USUAL_BYTES);
        self.bytes.len()
    }

    /// Prefetches where the next row will be written.
    #[inline]
    pub fn fetch(&mut self) {
        let room = self.bytes.spare_capacity_mut();
        [0, USUAL_BYTES].iter().filter_map(|&at| room.get(at)).for_each(prefetch::fetch);
    }

    /// Ends the block, if it has rows.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub fn end_block(&mut self, store: &mut EntryStore<'_>) -> Result<()> {
        if !self.bytes.is_empty() {
            reserve_more(&mut self.blocks, 1)?;
            let at = store.append(&self.bytes)?;
            self.blocks.push(RangeBlock { at, rows: std::mem::take(&mut self.rows), has_places: true });
            self.bytes.clear();
            self.last = 0;
        }
        Ok(())
    }

    /// The rows of the range.
    pub fn into_rows(self) -> RangeRows {
        RangeRows { blocks: self.blocks, seal: self.seal }
    }
}

/// Reads the rows of a block.
pub struct RangeReader<'b> {
    rest: &'b [u8],
    has_places: bool,
    place: u64,
    /// The end of the block in its file.
    end: usize,
}

impl<'b> RangeReader<'b> {
    /// Reads the rows of `block` in `files`.
    pub fn new(block: &RangeBlock, files: &'b [Input]) -> Self {
        let StoredAt { file, ref range } = block.at;
        let rest = &files[file].bytes()[range.clone()];
        Self { rest, has_places: block.has_places, place: 0, end: range.end }
    }

    /// Reads the next row: its place in the input, or 0, the offset of its tail in the file, and its tail.
    #[inline]
    pub fn next(&mut self) -> Option<(u64, usize, Tail<'b>)> {
        if self.rest.is_empty() {
            return None;
        }
        if self.has_places {
            self.place += field::number(&mut self.rest);
        }
        let at = self.end - self.rest.len();
        prefetch::fetch_ahead(self.rest, AHEAD_BYTES, USUAL_BYTES);
        Some((self.place, at, Tail::take(&mut self.rest)))
    }
}
