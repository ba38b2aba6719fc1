//! Divides entries into files in order. Each file is as full as both limits allow, or boundaries are stable: they stay in place
//! when other entries are added or removed.

pub mod borders;
pub mod stable;

use std::ops::Add;

use super::tag_names::TagName;
use super::xml::{Frame, Namespaces};
use crate::common::fallible::reserve_more;
use crate::error::Result;
use crate::limits::NEWS_PER_SITEMAP_MAX;

/// The namespace of news articles. An entry has at most one article.
const NEWS: Namespaces = Namespaces::of(TagName::News);

/// The rule that decides where a sitemap ends and the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Divide {
    /// A sitemap ends when it is full.
    #[default]
    Fill,
    /// The URLs themselves decide where a sitemap ends, so a slightly changed set shares most of its sitemaps with the previous
    /// set.
    Stable,
}

impl std::str::FromStr for Divide {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "fill" => Ok(Self::Fill),
            "stable" => Ok(Self::Stable),
            _ => Err("expected fill or stable".into()),
        }
    }
}

/// The limits of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of entries of a file.
    pub entries_max: u32,
    /// Maximum bytes of a file before compression, including its frame.
    pub bytes_max: u64,
}

impl Limits {
    /// Maximum bytes of one entry, which must fit into a file by itself.
    pub fn entry_bytes_max(&self, frame: &Frame) -> u64 {
        self.bytes_max.saturating_sub(frame.bytes())
    }
}

/// The space that entries take in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntrySize {
    /// Bytes of their XML.
    pub bytes: u64,
    /// Namespaces that the file must declare.
    pub uses: Namespaces,
    /// The number of entries with a news article.
    pub news: u32,
}

impl EntrySize {
    /// The space of entries that use only the namespace of the protocol.
    pub const fn plain(bytes: u64) -> Self {
        Self { bytes, uses: Namespaces::NONE, news: 0 }
    }

    /// The space of one entry.
    pub const fn of_entry(bytes: u64, uses: Namespaces) -> Self {
        Self { bytes, uses, news: uses.contains_any(NEWS) as u32 }
    }
}

impl Add for EntrySize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            uses: self.uses.union(other.uses),
            news: self.news + other.news,
        }
    }
}

impl std::iter::Sum for EntrySize {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), Self::add)
    }
}

/// One file of the plan: where its entries begin and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedSitemap<P> {
    /// The number in its name: its place among the files, from 1, or a number derived from its first URL.
    pub number: u32,
    /// The place of its first entry.
    pub first: P,
    /// The number of entries, at least one.
    pub entries: u32,
    /// Bytes before compression, including the frame.
    pub bytes: u64,
    /// Namespaces that its frame declares.
    pub uses: Namespaces,
    /// The number of entries with a news article.
    pub news: u32,
}

impl<P: Copy> PlannedSitemap<P> {
    /// An empty file, whose first entry will be the one at `first`.
    fn empty(number: u32, first: P, frame_bytes: u64) -> Self {
        Self { number, first, entries: 0, bytes: frame_bytes, uses: Namespaces::NONE, news: 0 }
    }

    /// Adds entries to the file.
    fn with(self, entries: u32, size: EntrySize) -> Self {
        let uses = self.uses.union(size.uses);
        let bytes = self.bytes + size.bytes + uses.bytes() - self.uses.bytes();
        Self { entries: self.entries + entries, bytes, uses, news: self.news + size.news, ..self }
    }

    /// This file, with its first entry at another place.
    pub fn map_first<Q>(self, place: impl FnOnce(P) -> Q) -> PlannedSitemap<Q> {
        let Self { number, first, entries, bytes, uses, news } = self;
        PlannedSitemap { number, first: place(first), entries, bytes, uses, news }
    }

    fn fits(&self, limits: Limits) -> bool {
        self.entries <= limits.entries_max
            && self.bytes <= limits.bytes_max
            && self.news <= NEWS_PER_SITEMAP_MAX
    }
}

/// The number of the file after this many, if files are numbered in order.
pub fn number_of_next(files: usize) -> u32 {
    u32::try_from(files + 1).expect("fewer files than URLs of 32 bits")
}

/// Fills files one after another.
#[derive(Debug)]
pub struct Divider<P> {
    limits: Limits,
    frame_bytes: u64,
    sitemaps: Vec<PlannedSitemap<P>>,
    /// Whether the last file takes no more entries, even if it has room.
    is_closed: bool,
}

impl<P: Copy> Divider<P> {
    /// Creates a divider for files with this `frame` and these `limits`.
    pub fn new(limits: Limits, frame: &Frame) -> Self {
        Self { limits, frame_bytes: frame.bytes(), sitemaps: Vec::new(), is_closed: false }
    }

    /// Adds adjacent entries to the current file if all of them fit, and returns whether they do. The result is the same as
    /// when adding them one by one.
    pub fn push_run(&mut self, entries: u32, size: EntrySize) -> bool {
        let Some(sitemap) = self.sitemaps.last_mut() else { return entries == 0 };
        let with = sitemap.with(entries, size);
        let fits = with.fits(self.limits) && !self.is_closed;
        if fits {
            *sitemap = with;
        }
        fits || entries == 0
    }

    /// Adds the entry at `at` to the current file, or to a new file if it does not fit.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for another file.
    pub fn push(&mut self, at: P, size: EntrySize) -> Result<()> {
        if !self.push_run(1, size) {
            let number = number_of_next(self.sitemaps.len());
            reserve_more(&mut self.sitemaps, 1)?;
            self.sitemaps.push(PlannedSitemap::empty(number, at, self.frame_bytes).with(1, size));
            self.is_closed = false;
        }
        Ok(())
    }

    /// The number of the next file, if the next entry begins one, whatever its size.
    pub fn next_number(&self) -> Option<u32> {
        let last = self.sitemaps.last();
        let is_full = last.is_none_or(|last| self.is_closed || self.is_full(last));
        is_full.then(|| number_of_next(self.sitemaps.len()))
    }

    /// Whether `sitemap` has as many entries as a file may have.
    pub fn is_full(&self, sitemap: &PlannedSitemap<P>) -> bool {
        sitemap.entries == self.limits.entries_max
    }

    /// Lets the last file take no more entries if it has the number of `sitemap`, and as many entries.
    pub fn close(&mut self, sitemap: &PlannedSitemap<P>) {
        let last = self.sitemaps.last();
        let is_same =
            |last: &PlannedSitemap<P>| (last.number, last.entries) == (sitemap.number, sitemap.entries);
        self.is_closed |= last.is_some_and(is_same);
    }

    /// Adds a whole file, which takes no more entries.
    ///
    /// # Errors
    /// Same as [`Divider::push`].
    pub fn push_whole(&mut self, sitemap: PlannedSitemap<P>) -> Result<()> {
        reserve_more(&mut self.sitemaps, 1)?;
        self.sitemaps.push(sitemap);
        self.is_closed = true;
        Ok(())
    }

    /// Adds `count` adjacent entries that take `size` in total: all at once if they fit, otherwise one by one.
    ///
    /// # Errors
    /// Same as [`Divider::push`].
    pub fn push_together(
        &mut self,
        count: u32,
        size: EntrySize,
        mut entries: impl Iterator<Item = (P, EntrySize)>,
    ) -> Result<()> {
        match self.push_run(count, size) {
            true => Ok(()),
            false => entries.try_for_each(|(at, size)| self.push(at, size)),
        }
    }

    /// Returns the files in order.
    pub fn finish(self) -> Vec<PlannedSitemap<P>> {
        self.sitemaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Protocol;
    use crate::sitemap::tag_names::TagName;

    const FRAME: Frame = Frame::sitemap(Protocol::V0_9);
    const NONE: Namespaces = Namespaces::NONE;

    /// Entries per file.
    fn divide(entries_max: u32, bytes_max: u64, entries: &[u64]) -> Vec<u32> {
        let mut divider = Divider::new(Limits { entries_max, bytes_max }, &FRAME);
        entries
            .iter()
            .enumerate()
            .for_each(|(at, &bytes)| divider.push(at, EntrySize::plain(bytes)).unwrap());
        let sitemaps = divider.finish();
        let mut at = 0;
        for sitemap in &sitemaps {
            let own = &entries[at..at + sitemap.entries as usize];
            assert_eq!(sitemap.first, at);
            assert_eq!(sitemap.bytes, FRAME.bytes() + own.iter().sum::<u64>());
            assert!(sitemap.entries <= entries_max && sitemap.bytes <= bytes_max);
            at += own.len();
        }
        assert_eq!(at, entries.len());
        sitemaps.iter().map(|sitemap| sitemap.entries).collect()
    }

    #[test]
    fn a_file_ends_where_either_limit_is_reached_and_not_before() {
        assert!(divide(3, u64::MAX, &[]).is_empty());
        for (urls, want) in [(1, &[1][..]), (3, &[3]), (4, &[3, 1]), (6, &[3, 3]), (7, &[3, 3, 1])] {
            assert_eq!(divide(3, u64::MAX, &vec![50; urls]), want);
        }
        let frame = FRAME.bytes();
        assert_eq!(divide(9, frame + 100, &[50, 50, 50]), [2, 1], "exactly full");
        assert_eq!(divide(9, frame + 99, &[50, 50, 50]), [1, 1, 1], "a byte too small");
        assert_eq!(divide(3, frame + 100, &[100, 1, 1, 1, 1, 100, 1]), [1, 3, 1, 1, 1], "long, then short");
    }

    #[test]
    fn a_run_is_taken_whole_or_not_at_all() {
        let mut divider = Divider::new(Limits { entries_max: 5, bytes_max: FRAME.bytes() + 100 }, &FRAME);
        assert!(divider.push_run(0, EntrySize::plain(0)), "nothing always fits");
        assert!(!divider.push_run(1, EntrySize::plain(10)), "there is no file yet");
        divider.push(0, EntrySize::plain(10)).unwrap();
        assert!(!divider.push_run(5, EntrySize::plain(50)), "six entries");
        assert!(!divider.push_run(2, EntrySize::plain(91)), "a byte too many");
        assert!(divider.push_run(4, EntrySize::plain(90)));
        assert_eq!(
            divider.finish(),
            [PlannedSitemap {
                number: 1,
                first: 0,
                entries: 5,
                bytes: FRAME.bytes() + 100,
                uses: NONE,
                news: 0
            }]
        );
    }

    #[test]
    fn a_namespace_counts_once_in_each_file_that_uses_it() {
        let (xhtml, image) = (Namespaces::of(TagName::Alternates), Namespaces::of(TagName::Images));
        let full = FRAME.bytes() + 100 + xhtml.bytes();
        let mut divider = Divider::new(Limits { entries_max: 9, bytes_max: full }, &FRAME);
        for (at, uses) in [(0, NONE), (1, xhtml), (2, xhtml), (3, image), (4, NONE)] {
            divider.push(at, EntrySize::of_entry(33, uses)).unwrap();
        }
        let sitemaps: Vec<_> = divider
            .finish()
            .into_iter()
            .map(|sitemap| (sitemap.first, sitemap.uses, sitemap.bytes))
            .collect();
        assert_eq!(
            sitemaps,
            [(0, xhtml, full - 1), (3, image, FRAME.bytes() + 66 + image.bytes())],
            "three fit with the declaration, to the byte but one"
        );
    }
    #[test]
    fn a_file_has_at_most_a_thousand_news_articles_and_any_number_of_other_entries_up_to_its_limit() {
        let entry = |is_news: bool| EntrySize::of_entry(50, if is_news { NEWS } else { NONE });
        let divide = |every: usize, entries: usize| {
            let limits = Limits { entries_max: 5_000, bytes_max: 10_000_000 };
            let (mut one, mut together) = (Divider::new(limits, &FRAME), Divider::new(limits, &FRAME));
            let size = |at: usize| entry(at.is_multiple_of(every));
            (0..entries).for_each(|at| one.push(at, size(at)).unwrap());
            for first in (0..entries).step_by(300) {
                let all = first..entries.min(first + 300);
                let sum = all.clone().map(size).sum();
                together.push_together(all.len() as u32, sum, all.map(|at| (at, size(at)))).unwrap();
            }
            let sitemaps = one.finish();
            assert_eq!(sitemaps, together.finish());
            sitemaps.iter().map(|sitemap| (sitemap.entries, sitemap.news)).collect::<Vec<_>>()
        };
        assert_eq!(divide(1, 1_000), [(1_000, 1_000)]);
        assert_eq!(divide(1, 2_001), [(1_000, 1_000), (1_000, 1_000), (1, 1)]);
        assert_eq!(divide(2, 4_002), [(2_000, 1_000), (2_000, 1_000), (2, 1)]);
        assert_eq!(divide(10, 10_000), [(5_000, 500), (5_000, 500)]);
    }
}
