//! A range of URLs: its entries sorted, one of each URL kept.

use std::cmp::Ordering;
use std::ops::Range;

use super::regions::{BorderSearch, Candidates};
use crate::common::external_sort::{Codec, Runs};
use crate::common::prefetch;
use crate::error::{Result, reserve_more};
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::intake::spool_format::{Block, rows};
use crate::job::OnDuplicate;
use crate::sitemap::divide::Room;
use crate::sitemap::divide::stable::Least;
use crate::survey::context::Context;
use crate::survey::positions::Position;
use crate::survey::sort::Sorter;
use crate::survey::stable;

/// Maximum number of entries of a sorted block.
const BLOCK_ENTRIES: usize = 4096;

/// The part of a range's memory that the buffers of a merge take.
const MERGE_SHARE: usize = 8;

/// A block of entries of a range, after the index of its scratch file.
pub type RangeBlock = (usize, Block);

/// An entry: its position in scratch, and its place in the input, a number that grows.
#[derive(Debug, Clone, Copy, Default)]
struct Placed<'a> {
    url: &'a [u8],
    position: Position,
    place: u64,
    room: Room,
}

impl Placed<'_> {
    /// Prefetches its URL.
    fn fetch(&self) {
        prefetch::fetch_all(self.url);
    }
}

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
        let entry = position.entry(self.files);
        let placed = Placed { url: entry.url.as_bytes(), position, place, room: entry.room() };
        Some((ByUrl(placed), bytes.len() - rest.len()))
    }

    fn store(&self, record: ByUrl<'r>, owned: &mut ByUrl<'r>) {
        *owned = record;
    }
}

/// A block of sorted entries that are all listed.
pub struct SortedBlock {
    /// Where the positions of the entries are.
    pub positions: Range<usize>,
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
    /// The scratch files of the ranges.
    files: &'r [Input],
    /// The scratch file for positions of sorted entries.
    to: &'r Scratch,
    /// Finds the borders among the listed URLs.
    search: &'r BorderSearch,
    /// Bytes of rows that are sorted in memory.
    bytes_max: usize,
    /// The entries that are being sorted, and the sorter of their URLs. Both are reused for the next range.
    entries: Vec<Placed<'r>>,
    sorter: Sorter,
}

impl<'r> RangeSorter<'r> {
    pub fn new(
        run: Context<'r>,
        files: &'r [Input],
        to: &'r Scratch,
        search: &'r BorderSearch,
        bytes_max: usize,
    ) -> Self {
        Self { run, files, to, search, bytes_max, entries: Vec::new(), sorter: Sorter::default() }
    }

    /// Sorts the range in `blocks`, which come in any order. All its URLs share a prefix of at least `shared` bytes.
    pub fn sort(&mut self, blocks: Vec<RangeBlock>, shared: usize) -> Result<Vec<SortedBlock>> {
        let bytes: usize = blocks.iter().map(|(_, block)| block.range.len()).sum();
        let mut listed = Listed::new(self);
        if bytes <= self.bytes_max {
            self.sort_in_memory(&blocks, shared, &mut listed)?;
            return listed.finish();
        }
        // Runs have a file of their own, which is freed with them.
        let runs = Runs::new(PlacedCodec { files: self.files }, Scratch::new(self.to.space())?);
        let mut spilled = Spilled { runs, struck: 0 };
        let mut rest = &blocks[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let fit = rest.iter().take_while(|(_, block)| {
                bytes += block.range.len();
                bytes <= self.bytes_max
            });
            let (run, after) = rest.split_at(fit.count().max(1));
            self.run.stop.check()?;
            self.sort_in_memory(run, shared, &mut spilled)?;
            spilled.runs.end_run();
            rest = after;
        }
        // The buffers of the merge take the place of the entries.
        self.entries = Vec::new();
        listed.struck = spilled.struck;
        let mut merge = spilled.runs.merge(self.bytes_max / MERGE_SHARE)?;
        let mut survivors = Survivors::new(self.run.job.rules.on_duplicate, self.files, &mut listed);
        let mut next = ByUrl::default();
        while merge.read(&mut next)? {
            survivors.push(next.0)?;
        }
        survivors.finish()?;
        listed.finish()
    }

    /// Sorts the entries in `blocks` and writes the one of each URL that is kept to `to`.
    fn sort_in_memory(
        &mut self,
        blocks: &[RangeBlock],
        shared: usize,
        to: &mut impl Write<'r>,
    ) -> Result<()> {
        let Self { run, files, entries, sorter, .. } = self;
        entries.clear();
        sorter.restart(shared);
        for &(file, ref block) in blocks {
            let mut rows = rows(files[file].bytes(), block);
            while let Some((place, at, entry)) = rows.next_entry() {
                let url = entry.url.as_bytes();
                sorter.push(url)?;
                reserve_more(entries, 1)?;
                let (position, room) = (Position::new(file, at), entry.room());
                entries.push(Placed { url, position, place, room });
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
                    let entry = placed.position.entry(self.files);
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

/// Writes the positions of listed entries, block by block.
struct Listed<'r> {
    files: &'r [Input],
    to: &'r Scratch,
    /// Whether marks decide where sitemaps begin.
    seeks_least: bool,
    bytes: Vec<u8>,
    rooms: Vec<Room>,
    least: Option<Least>,
    /// Receives every URL, if the set has borders.
    candidates: Option<Candidates<'r>>,
    blocks: Vec<SortedBlock>,
    struck: u64,
}

impl<'r> Listed<'r> {
    fn new(sorter: &RangeSorter<'r>) -> Self {
        let &RangeSorter { run, files, to, search, .. } = sorter;
        let (bytes, rooms, blocks) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            files,
            to,
            seeks_least: stable::is_asked(&run.job.rules),
            bytes,
            rooms,
            least: None,
            candidates: search.candidates(),
            blocks,
            struck: 0,
        }
    }

    fn end_block(&mut self) -> Result<()> {
        let at = self.to.append(&self.bytes)?;
        let positions = at..at + self.bytes.len();
        self.bytes.clear();
        let (rooms, struck) = (std::mem::take(&mut self.rooms), std::mem::take(&mut self.struck));
        reserve_more(&mut self.blocks, 1)?;
        self.blocks.push(SortedBlock { positions, rooms, least: self.least.take(), struck });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<SortedBlock>> {
        if !self.rooms.is_empty() {
            self.end_block()?;
        }
        Ok(self.blocks)
    }
}

impl<'r> Write<'r> for Listed<'r> {
    fn write(&mut self, placed: Placed<'r>) -> Result<()> {
        self.bytes.extend(placed.position.to_bytes());
        if self.seeks_least {
            let url = placed.position.entry(self.files).url;
            self.least = Some(Least::or(self.least, self.rooms.len(), url));
            // Borders are sought only if sitemaps are divided by marks.
            if let Some(candidates) = &mut self.candidates {
                candidates.push(url)?;
            }
        }
        reserve_more(&mut self.rooms, 1)?;
        self.rooms.push(placed.room);
        if self.rooms.len() == BLOCK_ENTRIES { self.end_block() } else { Ok(()) }
    }

    fn strike(&mut self) {
        self.struck += 1;
    }
}
