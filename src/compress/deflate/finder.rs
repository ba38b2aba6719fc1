//! Finds matches for one position: short ones in the latest positions that begin alike, long ones in chains.
//!
//! A short match must be near, or its distance takes as many bits as its bytes. A long match may be anywhere. So the latest few
//! positions are enough for the first four bytes, while positions with the same first eight bytes are linked to each other, and
//! are followed as deep as the effort allows. Where each letter takes six bytes or nine, nearly all positions have the same
//! first eight bytes as many others. There, the latest position with the same first sixteen bytes finds what a short walk misses.

use super::parser::Stretch;
use super::positions::{Bucket, PositionTable, distance, hash};
use super::sizes::{PLACE_PERIOD, REMEMBERED};
use super::symbols::DISTANCE_MAX;
use super::window::{Window, word};

/// Length of the shortest match that is found. Shorter ones rarely take fewer bits than their bytes.
pub const SHORT_BYTES: usize = 4;
/// Number of positions for short matches that are compared at a time.
const GROUP: usize = 4;
/// Length from which matches are found in chains: one word.
const LONG_BYTES: usize = 8;
/// Length from which the latest match is found without following its chain: two words.
const LONGER_BYTES: usize = 2 * LONG_BYTES;
/// Numbers of buckets.
const SHORT_BUCKETS: usize = 1 << 14;
const LONG_BUCKETS: usize = 1 << 15;
const LONGER_BUCKETS: usize = 1 << 14;

/// A match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Bytes that it covers.
    pub length: usize,
    /// The distance back to them.
    pub distance: usize,
}

/// How far chains are followed.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// Positions that are compared.
    pub steps: usize,
    /// Length of a match that ends the search.
    pub enough: usize,
}

/// Earlier positions, by their first four, eight and sixteen bytes. A bucket `B` has the positions for short matches.
#[derive(Debug)]
pub struct Finder<B: Bucket, const IS_DEEP: bool> {
    short: PositionTable<B, SHORT_BUCKETS>,
    /// The latest position of each long key.
    long: PositionTable<u16, LONG_BUCKETS>,
    /// The latest position of each longer key.
    longer: PositionTable<u16, LONGER_BUCKETS>,
    /// For each position in reach, the one before it with the same long key.
    links: Box<[u16; DISTANCE_MAX]>,
}

impl<B: Bucket, const IS_DEEP: bool> Default for Finder<B, IS_DEEP> {
    fn default() -> Self {
        let links = vec![0; DISTANCE_MAX].into_boxed_slice();
        Self {
            short: PositionTable::default(),
            long: PositionTable::default(),
            longer: PositionTable::default(),
            links: links.try_into().expect("one is as long as the other"),
        }
    }
}

impl<B: Bucket, const IS_DEEP: bool> Finder<B, IS_DEEP> {
    /// Inserts the positions from `from` to `to`, none of which was inserted before.
    pub fn insert(&mut self, window: &Window, from: usize, to: usize) {
        for at in from..to {
            self.insert_one(at, window.bytes(at));
        }
    }

    /// Inserts the last positions of a seam that ends at `to`, from `from` on.
    pub fn remember(&mut self, window: &Window, from: usize, to: usize) {
        self.insert(window, from.max(to.saturating_sub(REMEMBERED)), to);
    }

    /// Inserts a position with these first bytes. Returns the earlier positions with the same short key, and the latest ones
    /// with the same long and longer key.
    #[inline(always)]
    fn insert_one(&mut self, at: usize, bytes: &[u8; LONGER_BYTES]) -> (B, u16, u16) {
        let (here, next) = (word(bytes, 0), word(bytes, LONG_BYTES));
        let bucket = self.short.bucket(hash(here << (u64::BITS - 8 * SHORT_BYTES as u32)));
        let short = std::mem::replace(bucket, bucket.with(at as u16));
        let long = std::mem::replace(self.long.bucket(hash(here)), at as u16);
        if IS_DEEP {
            self.links[at % DISTANCE_MAX] = long;
        }
        let longer = std::mem::replace(self.longer.bucket(hash(hash(here) ^ next)), at as u16);
        (short, long, longer)
    }

    /// Inserts `at`, and passes its matches to `take`, shorter ones first. They may cover the seam.
    #[inline(always)]
    pub fn find(
        &mut self,
        window: &Window,
        at: usize,
        &Stretch { end, reach, .. }: &Stretch,
        depth: Depth,
        mut take: impl FnMut(Match),
    ) {
        // The array covers the reach of all positions, so that access needs no bounds check.
        let back: &[u8; PLACE_PERIOD + LONGER_BYTES] = window.bytes(at - PLACE_PERIOD);
        let here = word(back, PLACE_PERIOD);
        let (short, mut place, longer) = self.insert_one(at, window.bytes(at));
        let length_max = end - at;
        // Nearer positions come first. A longer match farther away may save less, so `take` chooses from each group.
        let mut taken = SHORT_BYTES - 1;
        for group in 0..B::POSITIONS.div_ceil(GROUP) {
            // Compared without a branch, because their lengths are unpredictable. Of equal lengths, the nearest counts.
            let mut longest = 0u64;
            for nth in GROUP * group..B::POSITIONS.min(GROUP * (group + 1)) {
                let distance = distance(at, short.get(nth));
                let same = (word(back, PLACE_PERIOD - distance) ^ here).trailing_zeros() / 8;
                let same = if distance.wrapping_sub(1) < reach { same } else { 0 };
                longest = longest.max(u64::from(same) << u16::BITS | u64::from(!(distance as u16)));
            }
            let length = ((longest >> u16::BITS) as usize).min(length_max);
            if length > taken && length < LONG_BYTES {
                take(Match { length, distance: usize::from(!(longest as u16)) });
            }
            taken = taken.max(length);
        }
        // All longer ones are in the chain.
        let (mut best, mut nearer) = (LONG_BYTES - 1, 0);
        for _ in 0..depth.steps {
            let distance = distance(at, place);
            // Positions that are out of reach may have been overwritten by nearer ones.
            if distance <= nearer || distance > reach || length_max <= best {
                break;
            }
            if let Some(length) = longer_than(window, best, at, distance, length_max) {
                take(Match { length, distance });
                best = length;
                if length >= depth.enough {
                    break;
                }
            }
            if !IS_DEEP {
                break;
            }
            nearer = distance;
            place = self.links[usize::from(place) % DISTANCE_MAX];
        }
        // Where no match is long, none is longer.
        let distance = distance(at, longer);
        if (LONG_BYTES..length_max).contains(&best)
            && distance.wrapping_sub(1) < reach
            && let Some(length) = longer_than(window, best, at, distance, length_max)
        {
            take(Match { length, distance });
        }
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
        self.longer.clear();
    }
}

/// The length of the match at this distance, if it is longer than `best`, which is at least seven and less than `length_max`.
#[inline(always)]
fn longer_than(window: &Window, best: usize, at: usize, distance: usize, length_max: usize) -> Option<usize> {
    // Only a position with the same bytes up to one after the best match can be better.
    let probe = at + best + 1 - LONG_BYTES;
    let is_probed = window.word(probe - distance) == window.word(probe);
    let length = || window.common_prefix(at - distance, at, length_max);
    is_probed.then(length).filter(|&length| length > best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;

    /// Checks every match in text with many, some of them long. Returns for each position the longest one that was found and
    /// the longest one that there is.
    fn check<const IS_DEEP: bool>(depth: Depth) -> Vec<(usize, usize)> {
        let mut random = Random::new(1);
        let mut window = Window::default();
        let start = window.end();
        let text: Vec<u8> = (0..6_000).map(|_| b"aaab"[random.next() as usize % 4]).collect();
        window.push(&text);
        let mut finder = Finder::<u16, IS_DEEP>::default();
        let search = |at| {
            let (end, reach) = (at + 40, at - start);
            let stretch = Stretch { end, ..Stretch::without_seam(at, at, reach) };
            let mut longest = 0;
            finder.find(&window, at, &stretch, depth, |Match { length, distance }| {
                assert!(length > longest && distance <= reach);
                assert_eq!(
                    window.range(at, at + length),
                    window.range(at - distance, at - distance + length)
                );
                longest = length;
            });
            let lengths = (start..at).map(|there| window.common_prefix(there, at, end - at));
            (longest, lengths.max().unwrap_or(0))
        };
        (start..window.end() - 64).map(search).collect()
    }

    #[test]
    fn a_deep_search_finds_the_longest_match_in_reach() {
        let found = check::<true>(Depth { steps: usize::MAX, enough: usize::MAX });
        assert!(found.into_iter().all(|(longest, most)| longest == most || most < LONG_BYTES));
    }

    #[test]
    fn a_quick_search_finds_most_long_matches() {
        let found = check::<false>(Depth { steps: 1, enough: usize::MAX });
        let is_long = |&&(_, most): &&(usize, usize)| most >= LONGER_BYTES;
        let is_found = |&&(longest, _): &&(usize, usize)| longest >= LONGER_BYTES;
        let long = found.iter().filter(is_long).count();
        assert!(long > 1_000 && found.iter().filter(is_found).count() > long / 10 * 9);
    }
}
