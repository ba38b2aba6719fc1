//! A range of URLs: sorts its entries and keeps one for each URL.

use std::cmp::Ordering;

use super::cuts::Cuts;
use super::duplicates::{DuplicateFilter, FilterSink, Placed};
use super::listed::{BlockFormat, ListedWriter, SortedRange};
use super::regions::BorderSearch;
use super::rows::{RangeBlock, RangeReader};
use super::store::{EntryStore, Storage};
use crate::common::external_sort::{Codec, SortedRuns};
use crate::common::fallible::reserve;
use crate::common::prefetch;
use crate::error::Result;
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::sitemap::divide::EntrySize;
use crate::survey::context::Context;
use crate::survey::memory::Memory;
use crate::survey::position::Position;
use crate::survey::sort::{Sorted, Sorter};

/// The part of a range's memory that the buffers of a merge take.
const MERGE_SHARE: usize = 8;

/// Bytes of memory for each row that is sorted.
pub const SORTED_ROW_BYTES: usize = size_of::<Placed<'_>>() + Sorter::URL_BYTES + size_of::<EntrySize>();

/// An entry that compares by its URL alone.
#[derive(Default, Clone, Copy)]
struct ByUrl<'a>(Placed<'a>);

impl PartialEq for ByUrl<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.url == other.0.url
    }
}

impl Eq for ByUrl<'_> {}

impl PartialOrd for ByUrl<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByUrl<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.url.cmp(other.0.url)
    }
}

/// The entries of runs: where each one is, and where it was in the input. Its URL is read from `files`.
#[derive(Clone)]
struct PlacedCodec<'r> {
    files: &'r [Input],
}

impl<'r> Codec for PlacedCodec<'r> {
    type View<'b> = ByUrl<'r>;
    type Owned = ByUrl<'r>;

    fn encode(&self, ByUrl(placed): ByUrl<'r>, bytes: &mut Vec<u8>) {
        bytes.extend(placed.position.to_bytes());
        bytes.extend(placed.place.to_ne_bytes());
    }

    fn decode(&self, bytes: &[u8]) -> Option<(ByUrl<'r>, usize)> {
        let (&position, rest) = bytes.split_first_chunk()?;
        let (&place, rest) = rest.split_first_chunk()?;
        let (position, place) = (Position::of_bytes(position), u64::from_ne_bytes(place));
        let placed = Placed { url: position.tail(self.files).url, position, place };
        Some((ByUrl(placed), bytes.len() - rest.len()))
    }

    fn store(&self, record: ByUrl<'r>, owned: &mut ByUrl<'r>) {
        *owned = record;
    }
}

/// Sorts range after range.
pub struct RangeSorter<'r> {
    run: Context<'r>,
    /// The files of the ranges.
    files: &'r [Input],
    format: BlockFormat,
    /// The destination of sorted entries.
    to: EntryStore<'r>,
    memory: &'r Memory,
    /// Finds the borders among the listed URLs.
    search: &'r BorderSearch,
    /// Maximum number of rows that are sorted at once.
    rows_max: usize,
    /// The entries that are being sorted, and the sorter of their URLs. Both are reused for the next range.
    entries: Vec<Placed<'r>>,
    sorter: Sorter,
}

impl<'r> RangeSorter<'r> {
    pub fn new(
        run: Context<'r>,
        files: &'r [Input],
        format: BlockFormat,
        to: &'r Storage<'r>,
        memory: &'r Memory,
        search: &'r BorderSearch,
        rows_max: usize,
    ) -> Self {
        let (to, entries, sorter) = (to.store(), Vec::new(), Sorter::default());
        Self { run, files, format, to, memory, search, rows_max, entries, sorter }
    }

    /// Sorts the range in `blocks`, which come in any order. All its URLs begin with `prefix`, which its rows leave out. Entries
    /// are listed as `cuts` say.
    ///
    /// # Errors
    /// If scratch space is needed and runs out, or the run is stopped.
    pub fn sort(&mut self, blocks: &[RangeBlock], prefix: &[u8], cuts: Cuts<'_>) -> Result<SortedRange> {
        let Self {
            run,
            files,
            format,
            ref mut to,
            memory,
            search,
            rows_max,
            ref mut entries,
            ref mut sorter,
        } = *self;
        let mut in_memory = InMemorySort { run, files, entries, sorter };
        let mut listed = ListedWriter::new(run, files, format, to, search, prefix, cuts);
        let rows = blocks.iter().map(|block| block.rows).sum::<usize>();
        if rows <= rows_max {
            in_memory.sort(blocks, &mut listed)?;
            return listed.finish(rows as u64);
        }
        // Runs have a file of their own, which is freed with them.
        let runs = SortedRuns::new(PlacedCodec { files }, Scratch::new(&memory.scratch)?);
        let mut spilled = Spilled { runs, is_by_order: false };
        let mut rest = blocks;
        while !rest.is_empty() {
            let mut of_run = 0;
            let fit = rest.iter().take_while(|block| {
                of_run += block.rows;
                of_run <= rows_max
            });
            let (of_run, after) = rest.split_at(fit.count().max(1));
            run.stop.check()?;
            in_memory.sort(of_run, &mut spilled)?;
            spilled.runs.end_run();
            rest = after;
        }
        // The buffers of the merge take the place of the entries.
        *in_memory.entries = Vec::new();
        listed.is_by_order = spilled.is_by_order;
        let mut merge = spilled.runs.merge(rows_max * SORTED_ROW_BYTES / MERGE_SHARE)?;
        let mut survivors = DuplicateFilter::new(run.job.rules.on_duplicate, files, &mut listed);
        let mut next = ByUrl::default();
        while merge.read(&mut next)? {
            let is_duplicate = survivors.is_duplicate(&next.0);
            survivors.push(next.0, is_duplicate)?;
        }
        survivors.finish()?;
        listed.finish(rows as u64)
    }
}

/// Sorts entries in memory.
struct InMemorySort<'s, 'r> {
    run: Context<'r>,
    files: &'r [Input],
    entries: &'s mut Vec<Placed<'r>>,
    sorter: &'s mut Sorter,
}

impl<'r> InMemorySort<'_, 'r> {
    /// Sorts the entries in `blocks` and writes the one of each URL that is kept to `to`.
    fn sort(&mut self, blocks: &[RangeBlock], to: &mut impl FilterSink<'r>) -> Result<()> {
        let Self { run, files, entries, sorter } = self;
        let rows = blocks.iter().map(|block| block.rows).sum();
        entries.clear();
        reserve(entries, rows)?;
        sorter.restart(rows)?;
        for block in blocks {
            let mut rows = RangeReader::new(block, files);
            while let Some((place, at, tail)) = rows.next() {
                sorter.push(tail.url);
                let position = Position::new(block.at.file, at, &tail);
                entries.push(Placed { url: tail.url, position, place });
            }
        }
        let mut survivors = DuplicateFilter::new(run.job.rules.on_duplicate, files, to);
        let order = sorter.order(|at| entries[at as usize].url);
        let mut ahead = order.clone().skip(prefetch::AHEAD);
        for Sorted { at, is_duplicate } in order {
            ahead.next().into_iter().for_each(|ahead| survivors.fetch(&entries[ahead.at as usize]));
            survivors.push(entries[at as usize], is_duplicate)?;
        }
        survivors.finish()
    }
}

/// The runs of a range that is too large for memory.
struct Spilled<'r> {
    runs: SortedRuns<PlacedCodec<'r>, Scratch>,
    is_by_order: bool,
}

impl<'r> FilterSink<'r> for Spilled<'r> {
    fn reads(&self, _placed: &Placed<'_>) -> bool {
        false
    }

    fn write(&mut self, placed: Placed<'r>) -> Result<()> {
        self.runs.push(ByUrl(placed))
    }

    fn note_dropped(&mut self, is_by_order: bool) {
        self.is_by_order |= is_by_order;
    }
}
