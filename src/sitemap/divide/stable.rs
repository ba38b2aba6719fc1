//! Stable boundaries: the URLs decide where a file begins, so that inserted or removed URLs change only the files around them.
//!
//! A file may end anywhere between [`FULL_PERCENT_MIN`] per cent of a limit and the limit. Of the entries in this range, the one
//! with the smallest [`Mark`] begins the next file. Two divisions with different starting points soon choose the same entry, and
//! are identical from there on. All entries in the range are equally likely to be chosen, so files are 70 % full on average.
//!
//! Entries come in chunks, each with its total size and its smallest mark. For most chunks that is enough: entries are read
//! only from chunks in which a file begins, becomes full enough to end, or exceeds a limit.
//!
//! Large sets also have [borders](super::borders). A file never crosses a border, so the entries between two borders are divided
//! as if they were a separate set. A border is the first entry of its chunk.

#[cfg(test)]
mod tests;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{EntrySize, Limits, PlannedSitemap};
use crate::clean::CleanUrl;
use crate::common::fallible::reserve_more;
use crate::error::{Error, Result};
use crate::limits::NEWS_PER_SITEMAP_MAX;
use crate::sitemap::xml::Frame;

/// Minimum size of every file but the last of a region, in per cent of either limit. With a lower minimum, divisions converge
/// sooner but files are less full: if 1 % of 200 full files change, 1.6 % of the files differ with 40, and 1.9 % with 50.
pub const FULL_PERCENT_MIN: u64 = 40;

/// Must never change: another seed would change every file of every set.
const SEED: u64 = 0x7369_7465_6d69_6c6c;
/// Arbitrary numbers without a pattern. They must never change either.
const TAIL_FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

/// Numbers have at most five digits, like those of a set that counts its files.
const NUMBER_MAX: u32 = 99_999;

/// Decides whether a file begins with a URL: a quick hash of its last sixteen bytes, then a hash of all bytes, which is
/// compared only if the first is equal. Neither is secret: an attacker who prepares URLs can place boundaries, but only
/// within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    tail: u32,
    whole: u32,
}

impl Mark {
    /// The mark of `url`.
    #[inline]
    pub fn of(url: CleanUrl<'_>) -> Self {
        let whole = (xxh3_64_with_seed(url.as_bytes(), SEED) >> u32::BITS) as u32;
        Self { tail: Self::tail_of(url), whole }
    }

    #[inline]
    fn tail_of(url: CleanUrl<'_>) -> u32 {
        let Some(&last) = url.as_bytes().last_chunk() else { return 0 };
        let last = u128::from_le_bytes(last);
        // Mixed twice: numbers in URLs are mostly consecutive, and a single product would map them to evenly spaced values.
        let mix = |one: u64, other: u64| {
            let product = u128::from(one) * u128::from(other);
            product as u64 ^ (product >> u64::BITS) as u64
        };
        let mixed = mix(last as u64 ^ TAIL_FACTORS[0], (last >> u64::BITS) as u64 ^ TAIL_FACTORS[1]);
        (mix(mixed, TAIL_FACTORS[0]) >> u32::BITS) as u32
    }

    /// The number of a file that begins with the URL, wherever in the set the file is. Two files may share a number.
    pub fn number(self) -> u32 {
        1 + self.whole % NUMBER_MAX
    }
}

/// The smallest mark of some entries, and the first entry that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallestMark {
    /// The smallest mark.
    pub mark: Mark,
    /// The index of the first entry with that mark.
    pub nth: usize,
}

impl SmallestMark {
    /// The smaller of `smallest` and the mark of `url`, which belongs to the `nth` entry and comes later.
    #[inline]
    pub fn or(smallest: Option<Self>, nth: usize, url: CleanUrl<'_>) -> Self {
        match smallest {
            // Almost all entries take this branch.
            Some(smallest) if smallest.mark.tail < Mark::tail_of(url) => smallest,
            smallest => {
                let mark = Mark::of(url);
                smallest.filter(|smallest| smallest.mark <= mark).unwrap_or(Self { mark, nth })
            }
        }
    }
}

/// An entry with its size and its mark.
#[derive(Debug, Clone, Copy)]
pub struct Weighed<P> {
    /// Its position.
    pub at: P,
    /// The space that it takes.
    pub size: EntrySize,
    /// The mark of its URL.
    pub mark: Mark,
}

/// A summary of the entries of a chunk. The entries themselves are needed only if a file may begin or end among them.
#[derive(Debug, Clone, Copy)]
pub struct ChunkSummary {
    /// The number of entries, at least one.
    pub entries: u32,
    /// The space that they take.
    pub size: EntrySize,
    /// The smallest of their marks.
    pub smallest_mark: Mark,
    /// Whether its first entry is a border, which always begins a file.
    pub is_border: bool,
}

/// A file of an earlier division whose entries are all present again, with no others between them.
#[derive(Debug, Clone, Copy)]
pub struct Whole<P> {
    /// The file.
    pub sitemap: PlannedSitemap<P>,
    /// Its entries have at least this many bytes.
    pub bytes_min: u64,
    /// Whether its first entry is a border.
    pub is_border: bool,
    /// Whether its first entry was a border in the earlier division.
    pub was_border: bool,
    /// Whether it is followed by what followed it in the earlier division: the next file, or nothing.
    pub is_followed_alike: bool,
    /// The number of spans after this one that are its chunks; 0 if its entries cannot be read.
    pub chunks: usize,
}

/// Consecutive entries.
#[derive(Debug, Clone, Copy)]
pub enum Span<P> {
    /// Adjacent entries.
    Chunk(ChunkSummary),
    /// The entries of a file of an earlier division. If this division may have the same file, they need not be read.
    Whole(Whole<P>),
}

impl<P> Span<P> {
    fn is_border(&self) -> bool {
        match self {
            Self::Chunk(chunk) => chunk.is_border,
            Self::Whole(whole) => whole.is_border,
        }
    }
}

/// Why entries were not divided.
#[derive(Debug)]
pub enum Halt {
    /// They could not be read, or there is no memory.
    Failed(Error),
    /// The entries of this span are needed, which cannot be read: a file of an earlier division.
    Needs(usize),
}

impl Halt {
    /// The error.
    ///
    /// # Panics
    /// If there was none, and the entries of a span are needed.
    pub fn into_error(self) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Needs(_) => unreachable!("all entries can be read"),
        }
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Divides the entries of `spans` into files with this `frame` and these `limits`. `read` returns the entries of one chunk, by
/// its index among the spans.
///
/// # Errors
/// The first error of `read`; [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for another file;
/// [`Halt::Needs`] if a file of an earlier division may not be one of this division.
pub fn divide<P: Copy>(
    limits: Limits,
    frame: &Frame,
    spans: &[Span<P>],
    read: impl FnMut(usize) -> Result<Vec<Weighed<P>>>,
) -> Result<Vec<PlannedSitemap<P>>, Halt> {
    let mut walk = Walk { limits, frame_bytes: frame.bytes(), spans, read, open: None };
    let mut sitemaps = Vec::new();
    let mut from = Cursor::at(0);
    while from.span < spans.len() {
        let (sitemap, next) = match &spans[from.span] {
            Span::Whole(whole) if walk.ends_alike(from.span) => {
                (whole.sitemap, Cursor::at(from.span + 1 + whole.chunks))
            }
            Span::Whole(whole) if whole.chunks > 0 => walk.file(Cursor::at(from.span + 1))?,
            Span::Whole(_) => return Err(Halt::Needs(from.span)),
            Span::Chunk(_) => walk.file(from)?,
        };
        reserve_more(&mut sitemaps, 1)?;
        sitemaps.push(sitemap);
        from = next.before_whole(spans);
    }
    Ok(sitemaps)
}

/// Walks through the chunks and ends one file after another.
struct Walk<'s, P, R> {
    limits: Limits,
    frame_bytes: u64,
    spans: &'s [Span<P>],
    read: R,
    /// The chunk that was read last, and its entries.
    open: Option<(usize, Vec<Weighed<P>>)>,
}

/// The position of an entry: the index of its span, and its index in this span.
#[derive(Clone, Copy)]
struct Cursor {
    span: usize,
    nth: usize,
}

impl Cursor {
    /// The first entry of a span.
    fn at(span: usize) -> Self {
        Self { span, nth: 0 }
    }

    /// This entry. If a file of an earlier division begins with it, its position is that file and not the file's first chunk.
    fn before_whole<P>(self, spans: &[Span<P>]) -> Self {
        let before = self.span.checked_sub(1).filter(|_| self.nth == 0);
        let is_whole = |&at: &usize| matches!(&spans[at], Span::Whole(whole) if whole.chunks > 0);
        before.filter(is_whole).map_or(self, Self::at)
    }
}

/// A file, and where the next one begins.
type FileEnd<P> = (PlannedSitemap<P>, Cursor);

/// A chunk that contains candidates for the first entry of the next file.
struct Cut<P> {
    from: Cursor,
    /// The current file with all entries before these.
    before: PlannedSitemap<P>,
    /// A lower bound of their marks.
    smallest: Mark,
    /// The file that ends here, once the chunk has been read. The bound is then exact.
    ended: Option<FileEnd<P>>,
}

impl<P: Copy, R: FnMut(usize) -> Result<Vec<Weighed<P>>>> Walk<'_, P, R> {
    /// Whether the file that begins with the span `at` ends where it did in the earlier division. Its end depends only on the
    /// entries from its beginning to the first one that exceeds a limit or is a border.
    fn ends_alike(&self, at: usize) -> bool {
        let (mut entries, mut bytes) = (0, 0);
        let mut next = at;
        while let Some(span) = self.spans.get(next) {
            let Span::Whole(whole) = span else { return false };
            if whole.is_border != whole.was_border {
                return false;
            }
            if next > at && whole.is_border {
                return true;
            }
            entries += u64::from(whole.sitemap.entries);
            bytes += whole.bytes_min;
            if entries > u64::from(self.limits.entries_max) || bytes > self.limits.bytes_max {
                return true;
            }
            if !whole.is_followed_alike {
                return false;
            }
            next += 1 + whole.chunks;
        }
        true
    }

    /// Returns the file that begins at `from`, and where the next file begins.
    fn file(&mut self, from: Cursor) -> Result<FileEnd<P>, Halt> {
        let (limits, spans) = (self.limits, self.spans);
        let first = self.entries(from.span)?[from.nth];
        let mut sitemap = PlannedSitemap::empty(first.mark.number(), first.at, self.frame_bytes);
        let mut cuts = Vec::new();
        for (at, span) in spans.iter().enumerate().skip(from.span) {
            if span.is_border() && at > from.span {
                return Ok((sitemap, Cursor::at(at)));
            }
            let chunk = match span {
                Span::Chunk(chunk) => chunk,
                Span::Whole(whole) if whole.chunks > 0 => continue,
                Span::Whole(_) => return Err(Halt::Needs(at)),
            };
            let nth = if at == from.span { from.nth } else { 0 };
            let (from, before) = (Cursor { span: at, nth }, sitemap);
            let rest = match nth {
                0 => chunk.size,
                _ => self.entries(at)?[nth..].iter().map(|entry| entry.size).sum(),
            };
            sitemap = before.with(chunk.entries - nth as u32, rest);
            // A single entry always fits into a file.
            let fits = sitemap.fits(limits) || sitemap.entries == 1;
            if !fits || sitemap.may_end(limits) {
                cuts.push(Cut { from, before, smallest: chunk.smallest_mark, ended: None });
            }
            if !fits {
                return Ok(self.cut(cuts)?);
            }
        }
        Ok((sitemap, Cursor::at(spans.len())))
    }

    /// Returns the file that ends at the best of `cuts`, and where the next file begins.
    fn cut(&mut self, mut cuts: Vec<Cut<P>>) -> Result<FileEnd<P>> {
        loop {
            // Of several equal marks, the first one wins.
            let best = cuts.iter_mut().enumerate().min_by_key(|(_, cut)| cut.smallest);
            let (at, cut) = best.expect("the last of them holds the entry that has no room");
            match cut.ended {
                Some(ended) => return Ok(ended),
                None => match self.look_into(cut)? {
                    Some((smallest, ended)) => (cut.smallest, cut.ended) = (smallest, Some(ended)),
                    None => drop(cuts.remove(at)),
                },
            }
        }
    }

    /// The smallest mark of the candidates in `cut`, and the file that would end there. `None` if there is no candidate.
    fn look_into(&mut self, cut: &Cut<P>) -> Result<Option<(Mark, FileEnd<P>)>> {
        let (limits, mut sitemap, mut from) = (self.limits, cut.before, cut.from);
        let mut smallest: Option<(Mark, FileEnd<P>)> = None;
        for entry in &self.entries(from.span)?[from.nth..] {
            let with = sitemap.with(1, entry.size);
            let is_too_much = sitemap.entries > 0 && !with.fits(limits);
            if (is_too_much || sitemap.may_end(limits))
                && smallest.is_none_or(|(smallest, _)| entry.mark < smallest)
            {
                smallest = Some((entry.mark, (sitemap, from)));
            }
            if is_too_much {
                break;
            }
            sitemap = with;
            from.nth += 1;
        }
        Ok(smallest)
    }

    fn entries(&mut self, chunk: usize) -> Result<&[Weighed<P>]> {
        if self.open.as_ref().is_none_or(|&(open, _)| open != chunk) {
            self.open = None;
            self.open = Some((chunk, (self.read)(chunk)?));
        }
        Ok(self.open.as_ref().map_or(&[], |(_, entries)| entries))
    }
}

impl<P: Copy> PlannedSitemap<P> {
    /// Whether the file is full enough to end before the next entry.
    fn may_end(&self, limits: Limits) -> bool {
        self.entries > 0
            && (100 * u64::from(self.entries) >= FULL_PERCENT_MIN * u64::from(limits.entries_max)
                || 100 * self.bytes >= FULL_PERCENT_MIN * limits.bytes_max
                || 100 * u64::from(self.news) >= FULL_PERCENT_MIN * u64::from(NEWS_PER_SITEMAP_MAX))
    }
}
