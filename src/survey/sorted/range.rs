//! A range of URLs: its entries sorted, one of each URL kept.

use std::cmp::Ordering;
use std::ops::Range;

use crate::common::merge::Merge;
use crate::common::prefetch;
use crate::error::{Result, list, reserve_more};
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::intake::spool_format::{Block, Content, rows};
use crate::job::OnDuplicate;
use crate::sitemap::divide::Room;
use crate::sitemap::divide::stable::Least;
use crate::survey::context::Context;
use crate::survey::positions::Position;
use crate::survey::sort::Sorter;
use crate::survey::stable;

/// Most entries of a block of sorted ones.
const BLOCK_ENTRIES: usize = 4096;

/// A block of entries of a range, and which of the scratch files it is in.
pub type PartBlock = (usize, Block);

/// An entry: where it is, and where it stood in the input, a number that grows.
#[derive(Debug, Clone, Copy, Default)]
struct Placed<'a> {
    url: &'a [u8],
    position: Position,
    place: u64,
}

impl<'a> Placed<'a> {
    fn to_bytes(self) -> [[u8; Position::BYTES]; 2] {
        [self.position.to_bytes(), self.place.to_ne_bytes()]
    }

    fn of_bytes([position, place]: [[u8; Position::BYTES]; 2], files: &'a [Input]) -> Self {
        let position = Position::of_bytes(position);
        Self { url: position.entry(files).url.as_bytes(), position, place: u64::from_ne_bytes(place) }
    }

    /// Asks for its bytes.
    fn fetch(&self) {
        prefetch::fetch_all(self.url);
    }

    /// Those in `run`, as they were written, of `files`.
    fn all_of(run: &'a [u8], files: &'a [Input]) -> impl Iterator<Item = Self> + 'a {
        run.as_chunks().0.as_chunks().0.iter().map(|&placed| Self::of_bytes(placed, files))
    }
}

/// An entry that compares by its URL alone.
#[derive(Default)]
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

/// A block of sorted entries that are all listed.
pub struct SortedBlock {
    /// Where their positions are.
    pub positions: Range<usize>,
    /// What each entry takes.
    pub rooms: Vec<Room>,
    /// Which of them has the least mark, if they are divided by it.
    pub least: Option<Least>,
    /// Entries that another one of its URLs was listed instead of.
    struck: u64,
}

impl SortedBlock {
    /// All entries that went into it.
    pub fn rows(&self) -> u64 {
        self.rooms.len() as u64 + self.struck
    }
}

/// Sorts range after range.
pub struct RangeSorter<'r> {
    run: Context<'r>,
    /// The scratch files that ranges are in.
    parts: &'r [Input],
    /// The one for the positions of sorted entries.
    to: &'r Scratch,
    /// Bytes of rows that are sorted in memory.
    bytes_max: usize,
    /// The entries at hand, and what sorts them.
    entries: Vec<Placed<'r>>,
    sorter: Sorter,
}

impl<'r> RangeSorter<'r> {
    pub fn new(run: Context<'r>, parts: &'r [Input], to: &'r Scratch, bytes_max: usize) -> Self {
        Self { run, parts, to, bytes_max, entries: Vec::new(), sorter: Sorter::default() }
    }

    /// Sorts the range in `blocks`, which are in any order. All its URLs begin with the same `shared` bytes, as far as is known.
    pub fn sort(&mut self, blocks: Vec<PartBlock>, shared: usize) -> Result<Vec<SortedBlock>> {
        let bytes: usize = blocks.iter().map(|(_, block)| block.range.len()).sum();
        let mut listed = self.writer(self.to, Written::Listed);
        if bytes <= self.bytes_max {
            return self.sort_in_memory(&blocks, shared, listed);
        }
        // Runs are in a file of their own, which is gone with them.
        let file = Scratch::new(self.to.space())?;
        let mut runs = Vec::new();
        let mut rest = &blocks[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let fit = rest.iter().take_while(|(_, block)| {
                bytes += block.range.len();
                bytes <= self.bytes_max
            });
            let (run, behind) = rest.split_at(fit.count().max(1));
            self.run.stop.check()?;
            let sorted = self.sort_in_memory(run, shared, self.writer(&file, Written::Run))?;
            listed.struck += sorted.iter().map(|block| block.struck).sum::<u64>();
            reserve_more(&mut runs, 1)?;
            runs.push(list(sorted.into_iter().map(|sorted| sorted.positions))?);
            rest = behind;
        }
        let input = file.map()?;
        let entries = |block| Placed::all_of(&input.bytes()[block], self.parts);
        let runs = runs.into_iter().map(|blocks| blocks.into_iter().flat_map(entries).map(ByUrl));
        let Ok(mut merge) = Merge::new(runs);
        let (mut last, mut next) = (Last::default(), ByUrl::default());
        while let Ok(true) = merge.read(&mut next) {
            listed.push(&mut last, next.0)?;
        }
        listed.finish(last)
    }

    fn sort_in_memory(
        &mut self,
        blocks: &[PartBlock],
        shared: usize,
        mut to: Writer<'_>,
    ) -> Result<Vec<SortedBlock>> {
        let Self { parts, entries, sorter, .. } = self;
        entries.clear();
        sorter.restart(shared);
        for &(file, ref block) in blocks {
            let mut rows = rows(parts[file].bytes(), block);
            while let Some((at, row)) = rows.next_at() {
                let Content::Entry(entry) = row.content else { unreachable!("ranges hold entries only") };
                let url = entry.url.as_bytes();
                sorter.push(url)?;
                reserve_more(entries, 1)?;
                entries.push(Placed { url, position: Position::new(file, at), place: row.line });
            }
        }
        let mut last = Last::default();
        let order = sorter.order(|at| entries[at as usize].url);
        let mut ahead = order.clone().skip(prefetch::AHEAD);
        for at in order {
            ahead.next().into_iter().for_each(|at| entries[at as usize].fetch());
            to.push(&mut last, entries[at as usize])?;
        }
        to.finish(last)
    }

    fn writer<'w>(&self, to: &'w Scratch, written: Written) -> Writer<'w>
    where
        'r: 'w,
    {
        Writer {
            on_duplicate: self.run.job.rules.on_duplicate,
            // Of what is merged yet, a block has no meaning.
            seeks_least: matches!(written, Written::Listed) && stable::is_asked(&self.run.job.rules),
            parts: self.parts,
            to,
            written,
            bytes: Vec::new(),
            rooms: Vec::new(),
            least: None,
            blocks: Vec::new(),
            struck: 0,
        }
    }
}

/// What is written of entries.
#[derive(Clone, Copy)]
enum Written {
    /// Positions: they are listed.
    Listed,
    /// What a merge must know.
    Run,
}

/// Takes entries in the order of their URLs, equal ones in any, and writes the one of each URL that stays.
struct Writer<'r> {
    on_duplicate: OnDuplicate,
    /// Whether marks decide where sitemaps begin.
    seeks_least: bool,
    parts: &'r [Input],
    to: &'r Scratch,
    written: Written,
    bytes: Vec<u8>,
    rooms: Vec<Room>,
    least: Option<Least>,
    blocks: Vec<SortedBlock>,
    struck: u64,
}

/// The one of the URL at hand that stays, as far as is known.
#[derive(Default)]
struct Last<'a>(Option<Placed<'a>>);

impl Writer<'_> {
    fn push<'a>(&mut self, last: &mut Last<'a>, placed: Placed<'a>) -> Result<()> {
        match &mut last.0 {
            Some(there) if there.url == placed.url => {
                self.struck += 1;
                if self.is_preferred(&placed, there) {
                    *there = placed;
                }
                Ok(())
            }
            last => last.replace(placed).map_or(Ok(()), |done| self.write(done)),
        }
    }

    /// Whether `one` stays instead of `other`, whose URL it shares.
    fn is_preferred(&self, one: &Placed<'_>, other: &Placed<'_>) -> bool {
        match self.on_duplicate {
            OnDuplicate::First => one.place < other.place,
            OnDuplicate::Newest => {
                // Nothing is older than any time. Of equally new ones the bytes decide, and not the place: whoever shuffles
                // the input gets the same set.
                let rank = |placed: &Placed<'_>| {
                    let entry = placed.position.entry(self.parts);
                    (entry.instant, entry.tags, entry.extras.xml)
                };
                rank(one) > rank(other)
            }
        }
    }

    fn write(&mut self, placed: Placed<'_>) -> Result<()> {
        match self.written {
            Written::Listed => self.bytes.extend(placed.position.to_bytes()),
            Written::Run => self.bytes.extend(placed.to_bytes().as_flattened()),
        }
        let entry = placed.position.entry(self.parts);
        if self.seeks_least {
            self.least = Some(Least::or(self.least, self.rooms.len(), entry.url));
        }
        reserve_more(&mut self.rooms, 1)?;
        self.rooms.push(entry.room());
        if self.rooms.len() == BLOCK_ENTRIES { self.end_block() } else { Ok(()) }
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

    fn finish(mut self, last: Last<'_>) -> Result<Vec<SortedBlock>> {
        if let Some(last) = last.0 {
            self.write(last)?;
        }
        if !self.rooms.is_empty() {
            self.end_block()?;
        }
        Ok(self.blocks)
    }
}
