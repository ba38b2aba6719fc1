//! A range of URLs: its entries sorted, one of each URL kept.

use super::merge::Merge;
use crate::error::{Result, reserve_more};
use crate::job::OnDuplicate;
use crate::pipeline::Run;
use crate::pipeline::scratch::Scratch;
use crate::stage::entry::Entry;
use crate::stage::lines::CHUNK_BYTES;
use crate::stage::rows::{Block, Content, Row, RowBuffer, rows};
use crate::stage::sort;
use crate::stage::xml::Namespaces;

/// An entry, and where it stood in the input: a number that grows.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    pub entry: Entry<'a>,
    pub place: u64,
}

impl<'a> Placed<'a> {
    pub fn of(row: Row<'a>) -> Self {
        let Content::Entry(entry) = row.content else { unreachable!("ranges hold entries only") };
        Self { entry, place: row.line }
    }

    pub fn url(&self) -> &'a [u8] {
        self.entry.url.as_bytes()
    }
}

/// A block of sorted entries that are all listed.
pub struct SortedBlock {
    /// Where it is.
    pub block: Block,
    /// Bytes and namespaces of each entry.
    pub sizes: Vec<(u32, Namespaces)>,
    /// Entries that another one of its URLs was listed instead of.
    struck: u64,
}

impl SortedBlock {
    /// All entries that went into it.
    pub fn rows(&self) -> u64 {
        self.sizes.len() as u64 + self.struck
    }
}

/// Sorts range after range.
pub struct RangeSorter<'r> {
    run: Run<'r>,
    /// The scratch file that ranges are in.
    parted: &'r [u8],
    /// The one for sorted blocks.
    to: &'r Scratch,
    /// Bytes of rows that are sorted in memory.
    bytes_max: usize,
}

impl<'r> RangeSorter<'r> {
    pub fn new(run: Run<'r>, parted: &'r [u8], to: &'r Scratch, bytes_max: usize) -> Self {
        Self { run, parted, to, bytes_max }
    }

    /// Sorts the range in `blocks`, which are in any order.
    pub fn sort(&mut self, blocks: Vec<Block>) -> Result<Vec<SortedBlock>> {
        let bytes: usize = blocks.iter().map(|block| block.range.len()).sum();
        let mut listed = Writer::new(self.run.job.on_duplicate, self.to);
        if bytes <= self.bytes_max {
            return self.sort_in_memory(&blocks, listed);
        }
        // Runs are in a file of their own, which is gone with them.
        let file = Scratch::new(self.to.directory())?;
        let mut runs = Vec::new();
        let mut rest = &blocks[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let fit = rest.iter().take_while(|block| {
                bytes += block.range.len();
                bytes <= self.bytes_max
            });
            let (run, behind) = rest.split_at(fit.count().max(1));
            self.run.stop.check()?;
            let sorted = self.sort_in_memory(run, Writer::new(self.run.job.on_duplicate, &file))?;
            listed.struck += sorted.iter().map(|block| block.struck).sum::<u64>();
            runs.push(sorted.into_iter().map(|sorted| sorted.block).collect());
            rest = behind;
        }
        let input = file.map()?;
        let mut last = Last::default();
        for placed in Merge::new(input.bytes(), runs) {
            listed.push(&mut last, placed)?;
        }
        listed.finish(last)
    }

    fn sort_in_memory(&self, blocks: &[Block], mut to: Writer<'_>) -> Result<Vec<SortedBlock>> {
        let mut entries: Vec<Placed<'_>> = Vec::new();
        for row in blocks.iter().flat_map(|block| rows(self.parted, block)) {
            reserve_more(&mut entries, 1)?;
            entries.push(Placed::of(row));
        }
        let count = u32::try_from(entries.len()).expect("a range has fewer entries than 32 bits count");
        let mut last = Last::default();
        for at in sort::order(count, |at| entries[at as usize].url())? {
            to.push(&mut last, entries[at as usize])?;
        }
        to.finish(last)
    }
}

/// Takes entries in the order of their URLs, equal ones in any, and writes the one of each URL that stays.
struct Writer<'r> {
    on_duplicate: OnDuplicate,
    to: &'r Scratch,
    rows: RowBuffer,
    sizes: Vec<(u32, Namespaces)>,
    blocks: Vec<SortedBlock>,
    struck: u64,
}

/// The one of the URL at hand that stays, as far as is known.
#[derive(Default)]
struct Last<'a>(Option<Placed<'a>>);

impl<'r> Writer<'r> {
    fn new(on_duplicate: OnDuplicate, to: &'r Scratch) -> Self {
        let rows = RowBuffer::default();
        Self { on_duplicate, to, rows, sizes: Vec::new(), blocks: Vec::new(), struck: 0 }
    }

    fn push<'a>(&mut self, last: &mut Last<'a>, placed: Placed<'a>) -> Result<()> {
        match &mut last.0 {
            Some(there) if there.url() == placed.url() => {
                self.struck += 1;
                if self.is_preferred(&placed, there) {
                    *there = placed;
                }
                Ok(())
            }
            last => last.replace(placed).map_or(Ok(()), |done| self.write(&done)),
        }
    }

    /// Whether `one` stays instead of `other`, whose URL it shares.
    fn is_preferred(&self, one: &Placed<'_>, other: &Placed<'_>) -> bool {
        // Nothing is older than any time.
        let newer = match self.on_duplicate {
            OnDuplicate::First => std::cmp::Ordering::Equal,
            OnDuplicate::Newest => one.entry.instant.cmp(&other.entry.instant),
        };
        newer.then(other.place.cmp(&one.place)).is_gt()
    }

    fn write(&mut self, placed: &Placed<'_>) -> Result<()> {
        let entry = placed.entry;
        self.rows.push(&Row { line: placed.place, offset: 0, content: Content::Entry(entry) });
        self.sizes.push((entry.bytes() as u32, entry.extras.uses));
        if self.rows.is_full(CHUNK_BYTES) { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        let block = self.rows.end_block(self.to.append(self.rows.bytes())?);
        let (sizes, struck) = (std::mem::take(&mut self.sizes), std::mem::take(&mut self.struck));
        self.blocks.push(SortedBlock { block, sizes, struck });
        Ok(())
    }

    fn finish(mut self, last: Last<'_>) -> Result<Vec<SortedBlock>> {
        if let Some(last) = last.0 {
            self.write(&last)?;
        }
        if !self.sizes.is_empty() {
            self.end_block()?;
        }
        Ok(self.blocks)
    }
}
