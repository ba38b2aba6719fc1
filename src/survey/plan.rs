//! The plan: what the survey hands to the second pass.

use std::ops::Range;

use super::positions::Entries;
use crate::clean::Rejected;
use crate::clean::scope::Origins;
use crate::error::{Result, reserve};
use crate::intake::input::{Extent, Input};
use crate::intake::known_urls::KnownUrls;
use crate::intake::lines;
use crate::intake::spool_format;
use crate::intake::spool_format::{Block, Row};
use crate::sitemap::divide::Part;
use crate::sitemap::divide::stable::Least;
use crate::sitemap::tags::{DroppedTags, TagCounts};
use crate::survey::dedup::Survivors;

/// Which rows are listed, and in which sitemap.
#[derive(Debug)]
pub struct Plan {
    /// In input order.
    pub chunks: Vec<Chunk>,
    /// In the order in which they are listed.
    pub sitemaps: Vec<Part<Place>>,
    /// All rows, accounted for.
    pub tally: Tally,
    /// The origins of URLs that are out of scope.
    pub out_of_scope: Origins,
}

/// Where an entry stands: in which chunk, and which of its entries it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the chunk.
    pub chunk: usize,
    /// Counts the chunk's rows that the judge accepts, from 0.
    pub ordinal: usize,
}

/// A stretch of whole rows of one input, and what became of them.
#[derive(Debug)]
pub struct Chunk {
    /// Index of the input.
    pub input: usize,
    /// Where the rows are.
    pub rows: RowsAt,
    /// Which of its entries are listed.
    pub survivors: Survivors,
    /// Which of its entries has the least mark, if somebody has looked; it may be one that is not listed.
    pub least: Option<Least>,
    /// Whether every line of it is a canonical URL as it stands, so that the second pass can do without a judge.
    pub is_clean: bool,
    /// Lines before it in its input; rows know theirs.
    pub lines_before: u64,
    /// What became of its rows.
    pub tally: Tally,
}

/// Where the rows of a chunk are in their input.
#[derive(Debug)]
pub enum RowsAt {
    /// Whole lines of text.
    Lines(Range<usize>),
    /// Rows in scratch.
    Rows(Block),
    /// Entries in the inputs behind this one.
    Positions {
        /// Where their positions are.
        range: Range<usize>,
        /// Where entries are, in which of those inputs, as far as no chunk before it said so.
        parts: Vec<(usize, Range<usize>)>,
    },
}

/// Rows by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All rows.
    pub lines: u64,
    /// Nothing but spaces and tabs.
    pub blank: u64,
    /// In a sitemap.
    pub listed: u64,
    /// Their URL is listed from another row.
    pub duplicates: u64,
    /// Refused.
    pub rejected: Rejected,
    /// Tags that could not be written, of rows that were not refused.
    pub dropped: DroppedTags,
    /// Tags in the entries of rows that were not refused, counted on the XML that they have become.
    pub rendered: TagCounts,
    /// Tags of rows that were refused.
    pub refused_tags: TagCounts,
    /// Rows that were not refused and whose URL has bytes that are not UTF-8.
    pub non_utf8: u64,
}

/// The stretches of all `inputs`, each with the index of its input, in order.
///
/// # Errors
/// If there is no memory for them.
pub fn extents(inputs: &[Input]) -> Result<Vec<(usize, Extent)>> {
    let mut all = Vec::new();
    reserve(&mut all, inputs.iter().map(|input| input.extents().count()).sum())?;
    for (at, input) in inputs.iter().enumerate() {
        all.extend(input.extents().map(|extent| (at, extent)));
    }
    Ok(all)
}

impl Plan {
    /// Tells the disk what of `inputs` the `sitemap`th sitemap lists.
    pub fn will_need(&self, sitemap: usize, inputs: &[Input]) {
        let first = self.sitemaps[sitemap].first.chunk;
        let end = self.sitemaps.get(sitemap + 1).map_or(self.chunks.len(), |next| next.first.chunk);
        self.chunks[first..end].iter().for_each(|chunk| chunk.will_need(inputs));
    }
}

impl Tally {
    /// Both together.
    pub fn add(self, other: Self) -> Self {
        Self {
            lines: self.lines + other.lines,
            blank: self.blank + other.blank,
            listed: self.listed + other.listed,
            duplicates: self.duplicates + other.duplicates,
            rejected: self.rejected + other.rejected,
            dropped: self.dropped + other.dropped,
            rendered: self.rendered + other.rendered,
            refused_tags: self.refused_tags + other.refused_tags,
            non_utf8: self.non_utf8 + other.non_utf8,
        }
    }

    /// Every row is blank, listed, a duplicate or refused.
    pub fn is_balanced(&self) -> bool {
        self.lines == self.blank + self.listed + self.duplicates + self.rejected.total()
    }
}

impl Chunk {
    /// The rows of `extent`, which is a stretch of the bytes of `input`; nothing is known of them yet.
    pub fn of(input: usize, bytes: &[u8], extent: Extent) -> Self {
        let rows = match extent {
            Extent::Lines(nominal) => RowsAt::Lines(lines::own(bytes, nominal)),
            Extent::Rows(block) => RowsAt::Rows(block),
        };
        let (survivors, tally) = (Survivors::default(), Tally::default());
        Self { input, rows, survivors, least: None, is_clean: false, lines_before: 0, tally }
    }

    /// `entries` entries of the first input that are all listed.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn whole(rows: RowsAt, entries: u32) -> Result<Self> {
        let survivors = Survivors::all(entries as usize)?;
        let tally = Tally { lines: entries.into(), listed: entries.into(), ..Tally::default() };
        Ok(Self { input: 0, rows, survivors, least: None, is_clean: false, lines_before: 0, tally })
    }

    fn will_need(&self, inputs: &[Input]) {
        match &self.rows {
            RowsAt::Lines(range) | RowsAt::Rows(Block { range, .. }) => inputs[self.input].will_need(range),
            RowsAt::Positions { parts, .. } => {
                parts.iter().for_each(|(input, range)| inputs[self.input + 1 + input].will_need(range));
            }
        }
    }

    /// Calls `act` with each of its rows, lines not numbered, of the `inputs` that were surveyed. For loops in which a call
    /// through a pointer for every row would be seen.
    ///
    /// # Errors
    /// The first of `act`.
    #[inline]
    pub fn try_for_each_row<'i>(
        &self,
        inputs: &'i [Input],
        mut act: impl FnMut(Row<'i>) -> Result<()>,
    ) -> Result<()> {
        let bytes = inputs[self.input].bytes();
        match &self.rows {
            RowsAt::Lines(range) => lines::lines(&bytes[range.clone()], range.start as u64)
                .try_for_each(|line| act(Row::of_line(0, line))),
            RowsAt::Rows(block) => spool_format::rows(bytes, block).try_for_each(act),
            RowsAt::Positions { range, .. } => self.entries(range, inputs).try_for_each(act),
        }
    }

    /// The URLs of its lines, of the `inputs` that were surveyed, if each of them is a canonical URL as it stands: the
    /// ordinal of an entry is that of its line, and no judge is needed.
    pub fn known_urls<'i>(&self, inputs: &'i [Input]) -> Option<KnownUrls<'i>> {
        match &self.rows {
            RowsAt::Lines(range) if self.is_clean => {
                Some(KnownUrls::of(&inputs[self.input].bytes()[range.clone()], range.start as u64))
            }
            _ => None,
        }
    }

    /// Its rows, with their lines, of the `inputs` that were surveyed.
    pub fn rows<'i>(&self, inputs: &'i [Input]) -> Box<dyn Iterator<Item = Row<'i>> + 'i> {
        let bytes = inputs[self.input].bytes();
        match &self.rows {
            RowsAt::Lines(range) => {
                let lines = lines::lines(&bytes[range.clone()], range.start as u64);
                Box::new(
                    (self.lines_before + 1..).zip(lines).map(|(number, line)| Row::of_line(number, line)),
                )
            }
            RowsAt::Rows(block) => Box::new(spool_format::rows(bytes, block)),
            RowsAt::Positions { range, .. } => Box::new(self.entries(range, inputs)),
        }
    }

    /// The entries whose positions are in `range` of its input.
    pub fn entries<'i>(&self, range: &Range<usize>, inputs: &'i [Input]) -> Entries<'i> {
        let bytes = inputs[self.input].bytes();
        Entries::new(&bytes[range.clone()], &inputs[self.input + 1..])
    }
}
