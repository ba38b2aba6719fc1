//! Finds matches for one position: short ones in the latest positions that begin alike, long ones in chains.
//!
//! A short match must be near, or its distance takes as many bits as its bytes. A long match may be anywhere. So the latest few
//! positions are enough for the first four bytes, while positions with the same first eight bytes are linked to each other, and
//! are followed as deep as the effort allows.

use super::parser::Part;
use super::positions::{Bucket, PositionTable, distance, hash};
use super::symbols::DISTANCE_MAX;
use super::window::{Window, word};

/// Length of the shortest match that is found. Shorter ones rarely take fewer bits than their bytes.
pub const SHORT_BYTES: usize = 4;
/// Number of positions for short matches that are compared at a time.
const GROUP: usize = 4;
/// Length from which matches are found in chains: one word.
const LONG_BYTES: usize = 8;
/// Numbers of buckets.
const SHORT_BUCKETS: usize = 1 << 14;
const LONG_BUCKETS: usize = 1 << 15;
/// Maximum distance back that can be read, because positions have sixteen bits.
const BACK: usize = 1 << u16::BITS;

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

/// Earlier positions, by their first four and by their first eight bytes. A bucket `B` has the positions for short matches.
#[derive(Debug)]
pub struct Finder<B: Bucket> {
    short: PositionTable<B, SHORT_BUCKETS>,
    /// The latest position of each long key.
    long: PositionTable<u16, LONG_BUCKETS>,
    /// For each position in reach, the one before it with the same long key.
    links: Box<[u16; DISTANCE_MAX]>,
}

impl<B: Bucket> Default for Finder<B> {
    fn default() -> Self {
        let links = vec![0; DISTANCE_MAX].into_boxed_slice();
        Self {
            short: PositionTable::default(),
            long: PositionTable::default(),
            links: links.try_into().expect("one is as long as the other"),
        }
    }
}

impl<B: Bucket> Finder<B> {
    /// Inserts a position with these first bytes. Returns the earlier positions with the same short key, and the latest one with
    /// the same long key.
    #[inline(always)]
    pub fn insert(&mut self, at: usize, here: u64) -> (B, u16) {
        let bucket = self.short.bucket(hash(here << (u64::BITS - 8 * SHORT_BYTES as u32)));
        let short = std::mem::replace(bucket, bucket.with(at as u16));
        let long = std::mem::replace(self.long.bucket(hash(here)), at as u16);
        self.links[at % DISTANCE_MAX] = long;
        (short, long)
    }

    /// Inserts `at`, and passes its matches to `take`, shorter ones first. They may cover the seam.
    #[inline(always)]
    pub fn find(
        &mut self,
        window: &Window,
        at: usize,
        &Part { end, reach, .. }: &Part,
        depth: Depth,
        mut take: impl FnMut(Match),
    ) {
        // The array covers the reach of all positions, so that access needs no bounds check.
        let back: &[u8; BACK + 8] = window.bytes(at - BACK);
        let here = word(back, BACK);
        let (short, mut place) = self.insert(at, here);
        let length_max = end - at;
        // Nearer positions come first. A longer match farther away may save less, so `take` chooses from each group.
        let mut taken = SHORT_BYTES - 1;
        for group in 0..B::POSITIONS.div_ceil(GROUP) {
            // Compared without a branch, because their lengths are unpredictable. Of equal lengths, the nearest counts.
            let mut longest = 0u64;
            for nth in GROUP * group..B::POSITIONS.min(GROUP * (group + 1)) {
                let distance = distance(at, short.get(nth));
                let same = (word(back, BACK - distance) ^ here).trailing_zeros() / 8;
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
        let mut best = LONG_BYTES - 1;
        let mut nearer = 0;
        for _ in 0..depth.steps {
            let distance = distance(at, place);
            // Positions that are out of reach may have been overwritten by nearer ones.
            if distance <= nearer || distance > reach || length_max <= best {
                break;
            }
            // Only a position with the same bytes up to one after the best match can be better.
            let probe = at + best + 1 - LONG_BYTES;
            if window.word(probe - distance) == window.word(probe) {
                let length = window.common_prefix(at - distance, at, length_max);
                if length > best {
                    take(Match { length, distance });
                    best = length;
                    if length >= depth.enough {
                        break;
                    }
                }
            }
            nearer = distance;
            place = self.links[usize::from(place) % DISTANCE_MAX];
        }
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;

    #[test]
    fn a_deep_search_finds_the_longest_match_in_reach() {
        // Few different letters, so that there are many matches, some of them long.
        let mut random = Random::new(1);
        let mut window = Window::default();
        let start = window.end();
        let text: Vec<u8> = (0..6_000).map(|_| b"aaab"[random.next() as usize % 4]).collect();
        window.push(&text);
        let mut finder = Finder::<u16>::default();
        let depth = Depth { steps: usize::MAX, enough: usize::MAX };
        for at in start..window.end() - 64 {
            let (end, reach) = (at + 40, at - start);
            let part = Part { from: at, to: at, end, distance: 0, reach };
            let mut longest = 0;
            finder.find(&window, at, &part, depth, |Match { length, distance }| {
                assert!(length > longest && distance <= reach);
                assert_eq!(
                    window.range(at, at + length),
                    window.range(at - distance, at - distance + length)
                );
                longest = length;
            });
            let lengths = (start..at).map(|there| window.common_prefix(there, at, end - at));
            let want = lengths.max().unwrap_or(0);
            assert!(longest == want || want < LONG_BYTES, "position {at}: {longest}, not {want}");
        }
    }
}
