//! The listed entries of a range, in blocks.

use super::cuts::Cuts;
use super::duplicates::{FilterSink, Placed};
use super::regions::{BorderSearch, Candidates};
use super::store::{EntryStore, StoredAt};
use crate::common::fallible::reserve_more;
use crate::error::Result;
use crate::intake::input::Input;
use crate::sitemap::divide::EntrySize;
use crate::sitemap::divide::stable::SmallestMark;
use crate::survey::context::Context;
use crate::survey::front_coded::FrontCoder;
use crate::survey::in_place::PositionWriter;

/// Maximum number of entries of a sorted block.
const BLOCK_ENTRIES: usize = 4096;

/// The contents of sorted blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockFormat {
    /// The entries, front-coded.
    FrontCoded,
    /// The positions of the entries.
    InPlace,
}

impl BlockFormat {
    /// The format for entries that are all in memory (`are_held`), or not.
    pub fn of(run: Context<'_>, are_held: bool) -> Self {
        // A split copies the entries, and front-coded ones leave more memory for the copy.
        if are_held && !run.job.rules.is_split() { Self::InPlace } else { Self::FrontCoded }
    }
}

/// A block of sorted entries that are all listed.
pub struct SortedBlock {
    /// The place of the entries.
    pub at: StoredAt,
    /// The size of each entry.
    pub sizes: Vec<EntrySize>,
    /// The entry with the smallest mark, if sitemaps are divided by marks.
    pub smallest_mark: Option<SmallestMark>,
    /// The part that has its URLs, if there are cuts.
    pub part: usize,
}

/// A range of sorted entries.
pub struct SortedRange {
    /// The blocks of the listed entries, in order.
    pub blocks: Vec<SortedBlock>,
    /// All rows, including those that are not listed.
    pub rows: u64,
    /// Whether another order of the rows might list other entries.
    pub is_by_order: bool,
}

/// Writes blocks of one of the formats.
enum Writer {
    FrontCoded(FrontCoder),
    InPlace(PositionWriter),
}

/// Writes listed entries, block by block.
pub struct ListedWriter<'w, 'r, 'c> {
    files: &'r [Input],
    to: &'w mut EntryStore<'r>,
    /// The length of the prefix of all URLs.
    known: usize,
    writer: Writer,
    sizes: Vec<EntrySize>,
    /// Whether marks decide where sitemaps begin.
    seeks_smallest_mark: bool,
    smallest_mark: Option<SmallestMark>,
    /// Receives every URL, if the set has borders.
    candidates: Option<Candidates<'r>>,
    blocks: Vec<SortedBlock>,
    /// Whether the order of the rows decided which entry of a URL was dropped.
    pub is_by_order: bool,
    cuts: Cuts<'c>,
}

impl<'w, 'r, 'c> ListedWriter<'w, 'r, 'c> {
    /// Writes the entries of `files` whose URLs begin with `prefix` to blocks of `format`, as `cuts` say.
    pub fn new(
        run: Context<'_>,
        files: &'r [Input],
        format: BlockFormat,
        to: &'w mut EntryStore<'r>,
        search: &'r BorderSearch,
        prefix: &[u8],
        cuts: Cuts<'c>,
    ) -> Self {
        let writer = match format {
            BlockFormat::FrontCoded => Writer::FrontCoded(FrontCoder::new(prefix)),
            BlockFormat::InPlace => Writer::InPlace(PositionWriter::new(prefix)),
        };
        Self {
            files,
            to,
            known: prefix.len(),
            writer,
            sizes: Vec::new(),
            seeks_smallest_mark: run.job.rules.divides_whole_set_stably(),
            smallest_mark: None,
            candidates: search.candidates(),
            blocks: Vec::new(),
            is_by_order: false,
            cuts,
        }
    }

    fn end_block(&mut self) -> Result<()> {
        let at = match &mut self.writer {
            Writer::FrontCoded(coder) => {
                let at = self.to.append(coder.bytes())?;
                coder.begin_block();
                at
            }
            Writer::InPlace(positions) => {
                let at = self.to.append(positions.bytes())?;
                positions.begin_block();
                at
            }
        };
        reserve_more(&mut self.blocks, 1)?;
        let (sizes, smallest_mark, part) =
            (std::mem::take(&mut self.sizes), self.smallest_mark.take(), self.cuts.part());
        self.blocks.push(SortedBlock { at, sizes, smallest_mark, part });
        Ok(())
    }

    /// The range, which has `rows` rows.
    ///
    /// # Errors
    /// If the last block cannot be stored.
    pub fn finish(mut self, rows: u64) -> Result<SortedRange> {
        if !self.sizes.is_empty() {
            self.end_block()?;
        }
        Ok(SortedRange { blocks: self.blocks, rows, is_by_order: self.is_by_order })
    }
}

impl<'r> FilterSink<'r> for ListedWriter<'_, 'r, '_> {
    fn reads(&self, placed: &Placed<'_>) -> bool {
        self.seeks_smallest_mark
            || !placed.position.is_plain()
            || matches!(self.writer, Writer::FrontCoded(_))
    }

    fn write(&mut self, placed: Placed<'r>) -> Result<()> {
        if self.cuts.is_before(placed.url) {
            if !self.sizes.is_empty() {
                self.end_block()?;
            }
            self.cuts.pass(placed.url);
        }
        if self.cuts.is_reused() {
            return Ok(());
        }
        let (url, size) = match &mut self.writer {
            Writer::FrontCoded(coder) => {
                let entry = coder.push(self.known, placed.position.tail(self.files));
                (self.seeks_smallest_mark.then_some(entry.url), entry.size())
            }
            Writer::InPlace(positions) => {
                let size = positions.push(placed.position, placed.url, self.files);
                (self.seeks_smallest_mark.then(|| positions.url(placed.url)), size)
            }
        };
        if let Some(url) = url {
            self.smallest_mark = Some(SmallestMark::or(self.smallest_mark, self.sizes.len(), url));
            // Borders are sought only if sitemaps are divided by marks.
            if let Some(candidates) = &mut self.candidates {
                candidates.push(url)?;
            }
        }
        reserve_more(&mut self.sizes, 1)?;
        self.sizes.push(size);
        if self.sizes.len() == BLOCK_ENTRIES { self.end_block() } else { Ok(()) }
    }

    fn note_dropped(&mut self, is_by_order: bool) {
        self.is_by_order |= is_by_order;
    }
}
