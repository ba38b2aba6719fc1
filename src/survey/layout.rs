//! The layout: which entries are listed, and in which sitemap. The first pass computes it for the second.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use super::chunk::{Chunk, RowsAt};
use super::sections::recorded::Recorded;
use super::tally::Tally;
use crate::common::fallible::reserve_more;
use crate::error::Result;
use crate::intake::input::Input;
use crate::set::manifest::{SealedRange, Sitemap};
use crate::set::name::SitemapId;
use crate::sitemap::divide::PlannedSitemap;
use crate::sitemap::divide::borders::Smallest;
use crate::sitemap::divide::stable::SmallestMark;
use crate::survey::dedup::Survivors;

/// Which entries are listed, and in which sitemap. The second pass needs nothing else, in either order of URLs.
#[derive(Debug)]
pub struct Layout {
    /// The sources of the entries: the inputs of the job, or scratch files.
    pub inputs: Arc<[Input]>,
    /// The entries, in the order in which they are listed.
    pub chunks: Vec<ListedChunk>,
    /// The sitemaps, in the order in which they are listed.
    pub sitemaps: Vec<PlannedSitemap<EntryAt>>,
    /// The rows that the layout accounts for.
    pub tally: Tally,
    /// Its sections, in the order in which they are listed. Empty if the set has no sections.
    pub sections: Vec<SectionLayout>,
    /// The positions of the rows of its entries, if it will be split by them. It then has no sitemaps yet.
    pub recorded: Option<Recorded>,
    /// For each of `sitemaps`, the live sitemap that is reused for it, which has none of `chunks`. Empty if none is reused.
    pub kept: Vec<Option<Kept>>,
    /// The rows, if they were sealed.
    pub sealed: Option<Sealed>,
}

/// Data about the rows that the next run needs to sort only those that have changed.
#[derive(Debug)]
pub struct Sealed {
    /// The ranges in which they were sorted.
    pub ranges: Vec<SealedRange>,
    /// The URLs from which the borders were chosen, if there are any.
    pub candidates: Option<Smallest>,
}

/// A section of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionLayout {
    /// Its name, in printable characters.
    pub name: String,
    /// Its name as used in file names.
    pub word: String,
    /// Its listed URLs.
    pub listed: u64,
    /// The indexes of its sitemaps, whose numbers begin at 1 in each section.
    pub sitemaps: Range<usize>,
}

/// The position of an entry: its chunk, and its index in the chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryAt {
    /// Index of the chunk.
    pub chunk: usize,
    /// Index among the rows of the chunk that the judge accepts, from 0.
    pub ordinal: usize,
}

/// The source of a sitemap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitemapSource {
    /// It begins with this entry.
    Entry(EntryAt),
    /// It is the sitemap of the live set with this index.
    Live(usize),
}

impl SitemapSource {
    /// The first entry.
    ///
    /// # Panics
    /// If the sitemap is of the live set.
    pub fn entry(self) -> EntryAt {
        match self {
            Self::Entry(at) => at,
            Self::Live(_) => unreachable!("nothing is taken over from a live set"),
        }
    }
}

/// A sitemap of the live set that the new set reuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its first URL, canonical and not escaped.
    pub first_url: String,
    /// The file, which is intact.
    pub sitemap: Sitemap,
}

/// A chunk, and which of its entries are listed.
#[derive(Debug)]
pub struct ListedChunk {
    /// The rows.
    pub chunk: Chunk,
    /// Which of the entries are listed.
    pub survivors: Survivors,
    /// The number of listed entries.
    pub listed: u32,
    /// The entry with the smallest mark, if the survey computed it. It may be an entry that is not listed.
    pub smallest_mark: Option<SmallestMark>,
    /// Whether every line is already a canonical URL, so that the second pass needs no judge.
    pub is_clean: bool,
}

impl Layout {
    /// The layout of a set without sections that reuses nothing.
    pub fn new(
        inputs: Arc<[Input]>,
        chunks: Vec<ListedChunk>,
        sitemaps: Vec<PlannedSitemap<EntryAt>>,
        tally: Tally,
    ) -> Self {
        let (sections, recorded, kept, sealed) = (Vec::new(), None, Vec::new(), None);
        Self { inputs, chunks, sitemaps, tally, sections, recorded, kept, sealed }
    }

    /// The live sitemap that is reused for the sitemap with the index `sitemap`.
    pub fn kept(&self, sitemap: usize) -> Option<&Kept> {
        self.kept.get(sitemap)?.as_ref()
    }

    /// Joins the layouts of sections, each with the name and the word of its section. Their entries are in the same inputs.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn of_sections(parts: Vec<(String, String, Self)>) -> Result<Self> {
        let mut parts_left = parts.into_iter();
        let Some((name, word, first)) = parts_left.next() else {
            return Ok(Self::new(Arc::from([]), Vec::new(), Vec::new(), Tally::default()));
        };
        let section = |name, word, part: &Self, sitemaps| SectionLayout {
            name,
            word,
            listed: part.tally.listed,
            sitemaps,
        };
        let mut joined = first;
        joined.sections = vec![section(name, word, &joined, 0..joined.sitemaps.len())];
        for (name, word, part) in parts_left {
            let (chunks_before, before) = (joined.chunks.len(), joined.sitemaps.len());
            joined.sections.push(section(name, word, &part, before..before + part.sitemaps.len()));
            reserve_more(&mut joined.chunks, part.chunks.len())?;
            reserve_more(&mut joined.sitemaps, part.sitemaps.len())?;
            joined.chunks.extend(part.chunks);
            joined.sitemaps.extend(part.sitemaps.into_iter().map(|mut sitemap| {
                sitemap.first.chunk += chunks_before;
                sitemap
            }));
            joined.tally = joined.tally + part.tally;
        }
        Ok(joined)
    }

    /// The section and the number of the sitemap with the index `sitemap`.
    pub fn sitemap_id(&self, sitemap: usize) -> SitemapId<'_> {
        let at = self.sections.partition_point(|section| section.sitemaps.end <= sitemap);
        let section = self.sections.get(at).map(|section| &*section.word);
        SitemapId { section, number: self.sitemaps[sitemap].number }
    }

    /// The number of entries in all sitemaps.
    pub fn planned(&self) -> u64 {
        self.sitemaps.iter().map(|sitemap| u64::from(sitemap.entries)).sum()
    }

    /// The indexes of all sitemaps in the order in which their rows are read fastest, from the end of the input to its start.
    /// Sitemaps of different sections whose rows are on the same pages come one after another.
    pub fn reading_order(&self) -> Vec<usize> {
        let start = |&at: &usize| {
            let chunk = self.chunks.get(self.sitemaps[at].first.chunk);
            Reverse(chunk.and_then(|listed| listed.chunk.picked_from()))
        };
        let mut order: Vec<_> = (0..self.sitemaps.len()).rev().collect();
        order.sort_by_key(start);
        order
    }

    /// Prefetches the input bytes of the sitemap with the index `sitemap`.
    pub fn prefetch(&self, sitemap: usize) {
        let first = self.sitemaps[sitemap].first.chunk;
        let end = self.sitemaps.get(sitemap + 1).map_or(self.chunks.len(), |next| next.first.chunk);
        self.chunks[first..end].iter().for_each(|listed| listed.chunk.prefetch(&self.inputs));
    }
}

impl ListedChunk {
    /// Creates a chunk of the input with the index `input` with `entries` entries, all of them listed.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn whole(input: usize, rows: RowsAt, entries: u32) -> Result<Self> {
        let (chunk, survivors) = (Chunk { input, rows }, Survivors::all(entries as usize)?);
        Ok(Self { chunk, survivors, listed: entries, smallest_mark: None, is_clean: false })
    }
}
