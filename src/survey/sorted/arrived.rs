//! Arrived: rows that other processes have accepted. They come in blocks, and go to the ranges of their URLs.
//!
//! This takes the place of [distributing](super::distributor) rows that are read here. If all rows of a block are of one range, it
//! is stored as it is.

use std::ops::Range;

use super::plan::BLOCK_BYTES;
use super::range::SORTED_ROW_BYTES;
use super::rows::{RangeReader, RangeRows};
use super::store::RowStore;
use crate::common::fallible::list;
use crate::error::Result;
use crate::intake::input::Input;
use crate::sitemap::entry::Entry;
use crate::survey::memory::Memory;
use crate::survey::splitters::Splitters;
use crate::survey::tail::Tail;

/// The share of the memory for rows that came without others of their range, and fewest bytes of them that are stored together.
const TAILS_SHARE: usize = 16;
const TAILS_BYTES_MIN: usize = 1024;

/// Rows of a range that is sorted fast: they and what sorts them fit in the second-level cache.
const RANGE_ROWS: usize = 16 * 1024;

/// A range with this many rows is split. To sort fewer of them at once takes less time than to split them.
const SPLIT_ROWS: usize = 4 * RANGE_ROWS;

/// URLs from which a range is chosen.
const SAMPLED_PER_RANGE: usize = 32;

/// Rows that arrive, in memory as long as there is room, then in scratch.
#[derive(Debug)]
pub struct Arriving {
    ranges: Ranges,
    store: RowStore,
}

impl Arriving {
    /// No rows yet. They will be distributed among the ranges of `splitters`, within the limit of `memory`.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for the ranges.
    pub fn new(splitters: Splitters, memory: &Memory) -> Result<Self> {
        Ok(Self { ranges: Ranges::new(splitters, memory)?, store: RowStore::new(memory, 0) })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If scratch space is needed and runs out.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.ranges.push(entry, &mut self.store)
    }

    /// The range that all URLs from `first` to `last` are in, if its rows are kept without the `known` bytes that these URLs begin
    /// with.
    pub fn range_of(&self, first: &[u8], last: &[u8], known: usize) -> Option<usize> {
        let splitters = &self.ranges.splitters;
        let range = splitters.range_of(first);
        let is_same = range == splitters.range_of(last) && known == self.ranges.arrivals[range].known;
        is_same.then_some(range)
    }

    /// Adds `rows` rows, whose [tails](Tail) are `tails`, to a range that [`Arriving::range_of`] has returned.
    ///
    /// # Errors
    /// As [`Arriving::push`].
    pub fn push_tails(&mut self, range: usize, tails: &[u8], rows: usize) -> Result<()> {
        self.ranges.arrivals[range].stored.push(self.store.append(tails)?, rows)
    }

    /// All rows, once no more will come.
    ///
    /// # Errors
    /// As [`Arriving::push`], or if scratch cannot be mapped for reading.
    pub fn finish(self) -> Result<Arrived> {
        let Self { ranges, mut store } = self;
        let (splitters, ranges) = ranges.finish(&mut store)?;
        let is_held = store.is_held();
        let (files, memory) = store.into_files()?;
        Ok(Arrived { splitters, ranges, files, is_held, memory })
    }
}

/// Ranges that rows are distributed among, one by one.
#[derive(Debug)]
struct Ranges {
    splitters: Splitters,
    arrivals: Vec<Arrivals>,
    /// Bytes of tails that are stored together.
    block_bytes: usize,
}

/// The rows of a range that have arrived.
#[derive(Debug, Default)]
struct Arrivals {
    /// The number of bytes that all URLs of the range begin with.
    known: usize,
    stored: RangeRows,
    /// The tails of rows that came without others of the range, and their number. They are not stored yet.
    tails: Vec<u8>,
    rows: usize,
}

impl Ranges {
    fn new(splitters: Splitters, memory: &Memory) -> Result<Self> {
        let known = (0..splitters.ranges()).map(|range| splitters.prefix(range).len());
        let arrivals = list(known.map(|known| Arrivals { known, ..Arrivals::default() }))?;
        let block_bytes = (memory.hold / TAILS_SHARE / arrivals.len()).clamp(TAILS_BYTES_MIN, BLOCK_BYTES);
        Ok(Self { splitters, arrivals, block_bytes })
    }

    /// Adds a row to its range, without the prefix of the range.
    fn push(&mut self, entry: &Entry<'_>, store: &mut RowStore) -> Result<()> {
        let range = &mut self.arrivals[self.splitters.range_of(entry.url.as_bytes())];
        Tail::push(entry, range.known, &mut range.tails);
        range.rows += 1;
        if range.tails.len() < self.block_bytes { Ok(()) } else { range.store_tails(store) }
    }

    fn finish(mut self, store: &mut RowStore) -> Result<(Splitters, Vec<RangeRows>)> {
        self.arrivals.iter_mut().try_for_each(|range| range.store_tails(store))?;
        Ok((self.splitters, list(self.arrivals.into_iter().map(|range| range.stored))?))
    }
}

impl Arrivals {
    fn store_tails(&mut self, store: &mut RowStore) -> Result<()> {
        if !self.tails.is_empty() {
            self.stored.push(store.append(&self.tails)?, std::mem::take(&mut self.rows))?;
            self.tails.clear();
        }
        Ok(())
    }
}

/// All rows that have arrived.
#[derive(Debug)]
pub struct Arrived {
    splitters: Splitters,
    ranges: Vec<RangeRows>,
    files: Vec<Input>,
    /// Whether all rows are in memory.
    is_held: bool,
    /// The limit for what else is held while they are.
    pub memory: Memory,
}

/// The rows of a region, in ranges that are sorted one by one.
#[derive(Debug)]
pub struct RegionRows {
    /// The rows of each range.
    pub ranges: Vec<RangeRows>,
    /// The common prefix of the URLs of each range.
    pub prefixes: Vec<Vec<u8>>,
    /// The files of the rows.
    pub files: Vec<Input>,
    /// Whether all rows are in memory.
    pub is_held: bool,
    /// The limit for what else is held while they are.
    pub memory: Memory,
}

impl Arrived {
    /// Takes the rows of a region, which are in the ranges with these `numbers`. Ranges with many rows are split.
    ///
    /// # Errors
    /// If scratch space is needed and runs out.
    pub fn take_region(&mut self, numbers: Range<usize>) -> Result<RegionRows> {
        let mut store = RowStore::new(&self.memory, self.files.len());
        let (mut ranges, mut prefixes) = (Vec::new(), Vec::new());
        for number in numbers {
            let (range, prefix) = (std::mem::take(&mut self.ranges[number]), self.splitters.prefix(number));
            if range.rows() < SPLIT_ROWS {
                ranges.push(range);
                prefixes.push(prefix.to_vec());
            } else {
                let (splitters, parts) = split(&range, &self.files, &mut store)?;
                prefixes.extend((0..parts.len()).map(|part| [prefix, splitters.prefix(part)].concat()));
                ranges.extend(parts);
            }
        }
        let is_held = self.is_held && store.is_held();
        let (of_parts, memory) = store.into_files()?;
        let files = list(self.files.iter().map(|file| file.part(Vec::new())).chain(of_parts))?;
        Ok(RegionRows { ranges, prefixes, files, is_held, memory })
    }
}

/// Distributes the rows of a range, which are in `files`, among smaller ranges, and stores them in `store`. The splitters are those
/// of URLs without the prefix of the range.
fn split(range: &RangeRows, files: &[Input], store: &mut RowStore) -> Result<(Splitters, Vec<RangeRows>)> {
    let wanted = range.rows() / RANGE_ROWS;
    let sampled = (wanted * SAMPLED_PER_RANGE).div_ceil(range.blocks.len());
    let mut sample = Vec::new();
    for block in &range.blocks {
        let mut rows = RangeReader::new(block, files);
        let rows = std::iter::from_fn(|| rows.next()).take(sampled);
        rows.for_each(|(_, _, tail)| sample.push(tail.url.to_vec()));
    }
    let mut parts = Ranges::new(Splitters::of_sample(sample, wanted), &store.memory)?;
    for block in &range.blocks {
        let mut rows = RangeReader::new(block, files);
        while let Some((_, _, tail)) = rows.next() {
            parts.push(&tail.entry(tail.url), store)?;
        }
    }
    parts.finish(store)
}

impl RegionRows {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.ranges.iter().map(|range| range.rows() as u64).sum()
    }

    /// How many rows each of `threads` threads may sort at once, and bytes of memory that sorted blocks may take.
    pub fn room(&self, threads: usize) -> (usize, usize) {
        let most = self.ranges.iter().map(RangeRows::rows).max().unwrap_or_default();
        let sorted_rows = most.min(self.memory.hold / 2 / threads / SORTED_ROW_BYTES);
        (sorted_rows, self.memory.hold - threads * sorted_rows * SORTED_ROW_BYTES)
    }
}
