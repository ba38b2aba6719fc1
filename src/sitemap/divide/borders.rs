//! Borders: URLs that always begin a sitemap, so that the regions between them can be divided independently of each other, by
//! one machine or by many.
//!
//! They apply to stable division of one site in sorted order, and the set alone determines them:
//!
//! - *n* is the number of accepted rows: all rows that are neither blank nor rejected, including duplicates.
//! - [`count`] computes the number of borders, *K*: 0 if *n* is less than 2,000,000, otherwise the largest power of two up to
//!   *n* / 1,000,000. It changes only when *n* doubles, so growth moves few borders.
//! - The borders are the *K* distinct URLs with the smallest [`BorderHash`]. URLs with equal hashes are ranked by their bytes.
//! - Region 0 consists of the URLs before the first border in byte order. Every border begins the next region ([`region_of`]).
//!
//! Each region is divided as if it were a separate set. The last sitemap of a region ends at the border and may be small. An
//! attacker who prepares URLs can choose the borders, but not their number, and so cannot force many small sitemaps. That would
//! be possible if every URL with a hash below a threshold were a border.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::clean::CleanUrl;
use crate::common::fallible::{copy, reserve_more};
use crate::error::Result;

/// Accepted rows per border, up to a factor of two: about 30 full sitemaps.
const ROWS_PER_BORDER: u64 = 1_000_000;

#[cfg(test)]
thread_local! {
    /// Accepted rows per border in builds started by this thread. Tests lower it, because their builds have fewer rows than
    /// real sets.
    pub static ROWS_PER_BORDER_HERE: std::cell::Cell<u64> = const { std::cell::Cell::new(ROWS_PER_BORDER) };
}

/// Must never change: another seed would change sitemaps of every large set. It differs from the seed of
/// [`Mark`](super::stable::Mark), because sitemap numbers are derived from marks: with the same seed, all borders would have
/// small numbers.
const SEED: u64 = 0x626f_7264_6572_7321;

/// The number of borders of a set with `accepted_rows` rows that are neither blank nor rejected.
pub fn count(accepted_rows: u64) -> usize {
    #[cfg(not(test))]
    let rows_per_border = ROWS_PER_BORDER;
    #[cfg(test)]
    let rows_per_border = ROWS_PER_BORDER_HERE.get();
    count_per(rows_per_border, accepted_rows)
}

/// Like [`count`], with a given number of rows per border. Tests use small ones.
pub(crate) fn count_per(rows_per_border: u64, accepted_rows: u64) -> usize {
    match accepted_rows / rows_per_border {
        0 | 1 => 0,
        most => 1 << most.ilog2(),
    }
}

/// The region of `url`, counted from 0: the number of borders that are not after `url` in byte order. `borders` are sorted.
pub fn region_of(url: &[u8], borders: &[impl AsRef<[u8]>]) -> usize {
    borders.partition_point(|border| border.as_ref() <= url)
}

/// The hash that selects borders. It covers the whole URL, because a third of a site's URLs may share their last sixteen bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BorderHash(u64);

impl BorderHash {
    /// The hash of `url`.
    #[inline]
    pub fn of(url: &[u8]) -> Self {
        Self(xxh3_64_with_seed(url, SEED))
    }

    /// The hash as a number.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// A URL that may be a border.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    hash: BorderHash,
    url: String,
}

/// The number of spare candidates for a set with `borders` borders. If a border disappears, the next one is then known without
/// reading the rest of the set again. There are enough of them for many successive changes.
pub fn spares(borders: usize) -> usize {
    borders + 16
}

/// Minimum number of unsorted candidates that are buffered before the next sort, so that sorts are rare.
const SLACK: usize = 64;

/// Collects the distinct URLs with the smallest hashes from any number of URLs, in bounded memory.
///
/// A list that had to drop a URL is *truncated*. It contains every URL up to its last one in the order of hashes, and none after
/// that. This is also true of merged lists, so a truncated list is never mistaken for a complete one.
///
/// Serialised, it consists of its URLs in the order of their hashes, its maximum, and whether it is truncated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Listing", into = "Listing")]
pub struct Smallest {
    /// Maximum number of URLs to keep, at least one.
    most: usize,
    /// The first `settled` are sorted and distinct. The others were added later.
    candidates: Vec<Candidate>,
    settled: usize,
    is_truncated: bool,
    /// URLs with larger hashes are dropped. It is the largest possible hash unless the list is truncated.
    bound: BorderHash,
}

impl Smallest {
    /// An empty list that keeps at most `most` URLs, at least one.
    pub fn new(most: usize) -> Self {
        let bound = BorderHash(u64::MAX);
        Self { most: most.max(1), candidates: Vec::new(), settled: 0, is_truncated: false, bound }
    }

    /// The largest hash of a URL that can still enter the list. URLs with larger hashes can be skipped.
    pub fn bound(&self) -> BorderHash {
        self.bound
    }

    /// Adds `url` if its hash is small enough. It may be added several times.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for it.
    #[inline]
    pub fn push(&mut self, url: CleanUrl<'_>) -> Result<()> {
        self.push_hashed(BorderHash::of(url.as_bytes()), url.as_bytes())
    }

    /// As [`Smallest::push`], with the `hash` of `url`.
    ///
    /// # Errors
    /// As [`Smallest::push`].
    #[inline]
    pub fn push_hashed(&mut self, hash: BorderHash, url: &[u8]) -> Result<()> {
        // Almost all URLs take this branch.
        if hash > self.bound { Ok(()) } else { self.insert(hash, url) }
    }

    #[cold]
    fn insert(&mut self, hash: BorderHash, url: &[u8]) -> Result<()> {
        let last = self.candidates[..self.settled].last();
        if self.is_truncated && last.is_some_and(|last| (last.hash, last.url.as_bytes()) < (hash, url)) {
            return Ok(());
        }
        reserve_more(&mut self.candidates, 1)?;
        let url = String::from_utf8(copy(url)?).expect("a clean URL is ASCII");
        self.candidates.push(Candidate { hash, url });
        if self.candidates.len() >= self.most.saturating_add(self.most.max(SLACK)) {
            self.settle();
        }
        Ok(())
    }

    /// Sorts the candidates and keeps only those with the smallest hashes.
    fn settle(&mut self) {
        self.candidates.sort_unstable();
        self.candidates.dedup();
        self.is_truncated |= self.candidates.len() > self.most;
        self.candidates.truncate(self.most);
        self.settled = self.candidates.len();
        if let Some(last) = self.candidates.last().filter(|_| self.is_truncated) {
            self.bound = last.hash;
        }
    }

    /// Adds the URLs of `other`, as if all URLs had been added to one list. If either list is truncated, the result may contain
    /// fewer URLs than its maximum.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for them.
    pub fn merge(&mut self, mut other: Self) -> Result<()> {
        self.settle();
        other.settle();
        // After the last URL of a truncated list, URLs may be missing.
        let known = |list: &Self, than: &Self| match list.candidates.last() {
            Some(last) if list.is_truncated => than.candidates.partition_point(|candidate| candidate <= last),
            None if list.is_truncated => 0,
            _ => than.candidates.len(),
        };
        let (own_known, other_known) = (known(&other, self), known(self, &other));
        self.candidates.truncate(own_known);
        other.candidates.truncate(other_known);
        self.is_truncated |= other.is_truncated;
        reserve_more(&mut self.candidates, other.candidates.len())?;
        self.candidates.append(&mut other.candidates);
        self.settle();
        Ok(())
    }

    /// Keeps only the URLs for which `is_there` is true, as if no others had been added. If the list is truncated, it ends with
    /// its last URL that is there.
    pub fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.settle();
        self.candidates.retain(|candidate| is_there(&candidate.url));
        self.settled = self.candidates.len();
        if let Some(last) = self.candidates.last().filter(|_| self.is_truncated) {
            self.bound = last.hash;
        }
    }

    /// The `most` URLs with the smallest hashes, or as many as are known, in byte order.
    pub fn into_known(mut self, most: usize) -> Vec<String> {
        self.settle();
        self.candidates.truncate(most);
        let mut urls: Vec<String> = self.candidates.into_iter().map(|candidate| candidate.url).collect();
        urls.sort_unstable();
        urls
    }

    /// The `count` URLs with the smallest hashes, or all if there are fewer, in byte order. `None` if the list is truncated and
    /// contains fewer: it needs a larger maximum.
    pub fn into_borders(mut self, count: usize) -> Option<Vec<String>> {
        self.settle();
        let is_short = self.is_truncated && self.candidates.len() < count;
        (!is_short).then(|| self.into_known(count))
    }
}

/// The serialised form of [`Smallest`], without hashes: deserialising computes them again.
#[derive(Serialize, Deserialize)]
struct Listing {
    most: usize,
    is_truncated: bool,
    urls: Vec<String>,
}

impl From<Smallest> for Listing {
    fn from(mut list: Smallest) -> Self {
        list.settle();
        let urls = list.candidates.into_iter().map(|candidate| candidate.url).collect();
        Self { most: list.most, is_truncated: list.is_truncated, urls }
    }
}

impl TryFrom<Listing> for Smallest {
    type Error = &'static str;

    fn try_from(Listing { most, is_truncated, urls }: Listing) -> Result<Self, Self::Error> {
        if is_truncated && urls.is_empty() {
            return Err("a truncated list of borders holds at least one URL");
        }
        let candidate = |url: String| Candidate { hash: BorderHash::of(url.as_bytes()), url };
        let candidates = urls.into_iter().map(candidate).collect();
        let mut list = Self { is_truncated, candidates, ..Self::new(most) };
        list.settle();
        Ok(list)
    }
}
