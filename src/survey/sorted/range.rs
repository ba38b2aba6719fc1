//! A range of URLs: its entries sorted, one of each URL kept.

use std::cmp::Ordering;

use super::position::Position;
use super::regions::{BorderSearch, Candidates};
use super::rows::{RangeBlock, RangeReader};
use super::store::{EntryStore, Storage, StoredAt};
use crate::common::external_sort::{Codec, Runs};
use crate::common::prefetch;
use crate::error::{Result, reserve, reserve_more};
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::job::OnDuplicate;
use crate::sitemap::divide::Room;
use crate::sitemap::divide::stable::Least;
use crate::survey::context::Context;
use crate::survey::front_coded::FrontCoder;
use crate::survey::memory::Memory;
use crate::survey::sort::Sorter;
use crate::survey::stable;

/// Maximum number of entries of a sorted block.
const BLOCK_ENTRIES: usize = 4096;

/// The part of a range's memory that the buffers of a merge take.
const MERGE_SHARE: usize = 8;

/// An entry of a range: the end of its URL, the position of its tail, and its place in the input, a number that grows.
#[derive(Debug, Clone, Copy, Default)]
struct Placed<'a> {
    url: &'a [u8],
    position: Position,
    place: u64,
}

impl Placed<'_> {
    /// Prefetches its URL.
    fn fetch(&self) {
        prefetch::fetch_all(self.url);
    }
}

/// Bytes of memory for each row that is sorted.
pub const SORTED_ROW_BYTES: usize = size_of::<Placed<'_>>() + Sorter::URL_BYTES + size_of::<Room>();

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

/// The entries of runs: where each one is and where it stood in the input. Its URL is read from `files`.
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

/// A block of sorted entries that are all listed.
pub struct SortedBlock {
    /// Where the entries are.
    pub at: StoredAt,
    /// The room of each entry.
    pub rooms: Vec<Room>,
    /// The entry with the least mark, if sitemaps are divided by marks.
    pub least: Option<Least>,
    /// Entries that were dropped because another entry of their URL is listed.
    struck: u64,
}

impl SortedBlock {
    /// All entries that were sorted for it, including dropped ones.
    pub fn rows(&self) -> u64 {
        self.rooms.len() as u64 + self.struck
    }
}

/// Sorts range after range.
pub struct RangeSorter<'r> {
    run: Context<'r>,
    /// The files of the ranges.
    files: &'r [Input],
    /// Where sorted entries go.
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
        to: &'r Storage<'r>,
        memory: &'r Memory,
        search: &'r BorderSearch,
        rows_max: usize,
    ) -> Self {
        let (to, entries, sorter) = (to.store(), Vec::new(), Sorter::default());
        Self { run, files, to, memory, search, rows_max, entries, sorter }
    }

    /// Sorts the range in `blocks`, which come in any order. All its URLs begin with `prefix`, which its rows leave out.
    pub fn sort(&mut self, blocks: &[RangeBlock], prefix: &[u8]) -> Result<Vec<SortedBlock>> {
        let Self { run, files, ref mut to, memory, search, rows_max, ref mut entries, ref mut sorter } =
            *self;
        let mut batch = Batch { run, files, entries, sorter };
        let mut listed = Listed::new(run, files, to, search, prefix);
        if blocks.iter().map(|block| block.rows).sum::<usize>() <= rows_max {
            batch.sort(blocks, &mut listed)?;
            return listed.finish();
        }
        // Runs have a file of their own, which is freed with them.
        let runs = Runs::new(PlacedCodec { files }, Scratch::new(&memory.scratch)?);
        let mut spilled = Spilled { runs, struck: 0 };
        let mut rest = blocks;
        while !rest.is_empty() {
            let mut rows = 0;
            let fit = rest.iter().take_while(|block| {
                rows += block.rows;
                rows <= rows_max
            });
            let (of_run, after) = rest.split_at(fit.count().max(1));
            run.stop.check()?;
            batch.sort(of_run, &mut spilled)?;
            spilled.runs.end_run();
            rest = after;
        }
        // The buffers of the merge take the place of the entries.
        *batch.entries = Vec::new();
        listed.struck = spilled.struck;
        let mut merge = spilled.runs.merge(rows_max * SORTED_ROW_BYTES / MERGE_SHARE)?;
        let mut survivors = Survivors::new(run.job.rules.on_duplicate, files, &mut listed);
        let mut next = ByUrl::default();
        while merge.read(&mut next)? {
            survivors.push(next.0)?;
        }
        survivors.finish()?;
        listed.finish()
    }
}

/// Sorts entries in memory.
struct Batch<'s, 'r> {
    run: Context<'r>,
    files: &'r [Input],
    entries: &'s mut Vec<Placed<'r>>,
    sorter: &'s mut Sorter,
}

impl<'r> Batch<'_, 'r> {
    /// Sorts the entries in `blocks` and writes the one of each URL that is kept to `to`.
    fn sort(&mut self, blocks: &[RangeBlock], to: &mut impl Write<'r>) -> Result<()> {
        let Self { run, files, entries, sorter } = self;
        let rows = blocks.iter().map(|block| block.rows).sum();
        entries.clear();
        reserve(entries, rows)?;
        sorter.restart(rows)?;
        for block in blocks {
            let mut rows = RangeReader::new(block, files);
            while let Some((place, at, tail)) = rows.next() {
                sorter.push(tail.url);
                entries.push(Placed { url: tail.url, position: Position::new(block.at.file, at), place });
            }
        }
        let mut survivors = Survivors::new(run.job.rules.on_duplicate, files, to);
        let order = sorter.order(|at| entries[at as usize].url);
        let mut ahead = order.clone().skip(prefetch::AHEAD);
        for at in order {
            ahead.next().into_iter().for_each(|at| entries[at as usize].fetch());
            survivors.push(entries[at as usize])?;
        }
        survivors.finish()
    }
}

/// Receives entries in the order of their URLs, and writes the one of each URL that is kept.
struct Survivors<'w, 'r, W> {
    on_duplicate: OnDuplicate,
    files: &'r [Input],
    /// The best entry of the current URL so far.
    last: Option<Placed<'r>>,
    to: &'w mut W,
}

/// Receives the entries that are kept, one for each URL.
trait Write<'r> {
    fn write(&mut self, placed: Placed<'r>) -> Result<()>;

    /// Counts an entry that is dropped.
    fn strike(&mut self);
}

impl<'w, 'r, W: Write<'r>> Survivors<'w, 'r, W> {
    fn new(on_duplicate: OnDuplicate, files: &'r [Input], to: &'w mut W) -> Self {
        Self { on_duplicate, files, last: None, to }
    }

    fn push(&mut self, placed: Placed<'r>) -> Result<()> {
        match self.last {
            Some(last) if last.url == placed.url => {
                self.to.strike();
                if self.is_preferred(&placed, &last) {
                    self.last = Some(placed);
                }
                Ok(())
            }
            _ => self.last.replace(placed).map_or(Ok(()), |done| self.to.write(done)),
        }
    }

    /// Returns whether `one` is kept instead of `other`, which has the same URL.
    fn is_preferred(&self, one: &Placed<'_>, other: &Placed<'_>) -> bool {
        match self.on_duplicate {
            OnDuplicate::First => one.place < other.place,
            OnDuplicate::Newest => {
                // No time is older than any time. Equally new entries are ranked by their bytes and not by their place, so that
                // shuffled input gives the same set.
                let rank = |placed: &Placed<'_>| {
                    let tail = placed.position.tail(self.files);
                    let entry = tail.entry(tail.url);
                    (entry.instant, entry.tags, entry.extras.xml)
                };
                rank(one) > rank(other)
            }
        }
    }

    fn finish(self) -> Result<()> {
        self.last.map_or(Ok(()), |last| self.to.write(last))
    }
}

/// The runs of a range that is too large for memory.
struct Spilled<'r> {
    runs: Runs<PlacedCodec<'r>, Scratch>,
    struck: u64,
}

impl<'r> Write<'r> for Spilled<'r> {
    fn write(&mut self, placed: Placed<'r>) -> Result<()> {
        self.runs.push(ByUrl(placed))
    }

    fn strike(&mut self) {
        self.struck += 1;
    }
}

/// Writes listed entries, block by block.
struct Listed<'w, 'r> {
    files: &'r [Input],
    to: &'w mut EntryStore<'r>,
    /// The length of the prefix of all URLs.
    known: usize,
    coder: FrontCoder,
    rooms: Vec<Room>,
    /// Whether marks decide where sitemaps begin.
    seeks_least: bool,
    least: Option<Least>,
    /// Receives every URL, if the set has borders.
    candidates: Option<Candidates<'r>>,
    blocks: Vec<SortedBlock>,
    struck: u64,
}

impl<'w, 'r> Listed<'w, 'r> {
    fn new(
        run: Context<'_>,
        files: &'r [Input],
        to: &'w mut EntryStore<'r>,
        search: &'r BorderSearch,
        prefix: &[u8],
    ) -> Self {
        Self {
            files,
            to,
            known: prefix.len(),
            coder: FrontCoder::new(prefix),
            rooms: Vec::new(),
            seeks_least: stable::is_asked(&run.job.rules),
            least: None,
            candidates: search.candidates(),
            blocks: Vec::new(),
            struck: 0,
        }
    }

    fn end_block(&mut self) -> Result<()> {
        let at = self.to.append(self.coder.bytes())?;
        self.coder.begin_block();
        let (rooms, struck) = (std::mem::take(&mut self.rooms), std::mem::take(&mut self.struck));
        reserve_more(&mut self.blocks, 1)?;
        self.blocks.push(SortedBlock { at, rooms, least: self.least.take(), struck });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<SortedBlock>> {
        if !self.rooms.is_empty() {
            self.end_block()?;
        }
        Ok(self.blocks)
    }
}

impl<'r> Write<'r> for Listed<'_, 'r> {
    fn write(&mut self, placed: Placed<'r>) -> Result<()> {
        let entry = self.coder.push(self.known, placed.position.tail(self.files));
        if self.seeks_least {
            self.least = Some(Least::or(self.least, self.rooms.len(), entry.url));
            // Borders are sought only if sitemaps are divided by marks.
            if let Some(candidates) = &mut self.candidates {
                candidates.push(entry.url)?;
            }
        }
        reserve_more(&mut self.rooms, 1)?;
        self.rooms.push(entry.room());
        if self.rooms.len() == BLOCK_ENTRIES { self.end_block() } else { Ok(()) }
    }

    fn strike(&mut self) {
        self.struck += 1;
    }
}
