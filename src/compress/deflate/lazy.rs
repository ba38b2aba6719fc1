//! The lazy parser: before it takes a match, it checks whether a better one begins a byte or two later.

use super::costs::Estimate;
use super::parser::Parser;
use super::payoff::{NEXT_TO_NOTHING, Payoff};
use super::positions::{Bucket, PositionTable, distance, hash};
use super::tokens::Tokens;
use super::window::{Window, word};

/// Bytes of a key. A distant match of three or four bytes costs as much as its literals, and hides longer ones.
const KEY_BYTES: usize = 5;
/// Number of positions at the end of a seam that are inserted. The bytes before them begin every record, or were inserted for
/// another record with the same directories.
const REMEMBERED: usize = 24;
/// Maximum distance, because positions have sixteen bits.
const BACK: usize = 1 << u16::BITS;
/// The approximate cost of a literal in bits, which a byte in a match saves.
const LITERAL_BITS: i32 = 6;
/// A match that begins 0, 1 or 2 bytes later must save more bits than this, because the literals before it cost a token.
const DELAY_BITS: [i32; 3] = [0, 2, 7];

/// Chooses among the latest positions in a bucket `B`, of which there are `BUCKETS`. Takes a match of at least `CONTENT` bytes,
/// or one that no match up to `AHEAD` bytes later improves on.
#[derive(Debug, Default)]
pub struct Lazy<B: Bucket, const BUCKETS: usize, const CONTENT: usize, const AHEAD: usize> {
    positions: PositionTable<B, BUCKETS>,
    estimate: Estimate,
    payoff: Payoff<NEXT_TO_NOTHING>,
}

/// A match. The length is less than [`KEY_BYTES`] if there is none.
#[derive(Debug, Clone, Copy)]
struct Match {
    length: usize,
    distance: usize,
}

impl Match {
    fn is_one(self) -> bool {
        self.length >= KEY_BYTES
    }

    /// Bits that it saves compared with `other`.
    fn gain_over(self, other: Self) -> i32 {
        let farther = self.distance.ilog2() as i32 - other.distance.ilog2() as i32;
        LITERAL_BITS * (self.length as i32 - other.length as i32) - farther
    }
}

impl<B: Bucket, const BUCKETS: usize, const CONTENT: usize, const AHEAD: usize>
    Lazy<B, BUCKETS, CONTENT, AHEAD>
{
    /// The earlier positions of the bytes at `at`. Inserts `at`.
    #[inline(always)]
    fn look(&mut self, at: usize, here: u64) -> B {
        let bucket = self.positions.bucket(hash(here << (u64::BITS - 8 * KEY_BYTES as u32)));
        std::mem::replace(bucket, bucket.with(at as u16))
    }

    /// The longest match at `at`, and of equally long ones the nearest.
    #[inline(always)]
    fn find(&mut self, window: &Window, at: usize, to: usize, reach: usize) -> Match {
        // The array covers the reach of all positions, so that access needs no bounds check.
        let back: &[u8; BACK + 8] = window.bytes(at - BACK);
        let here = word(back, BACK);
        let places = self.look(at, here);
        // Compares the first eight bytes of every candidate without a branch: most matches are shorter, and their lengths are
        // unpredictable.
        let mut best = 0u64;
        for nth in 0..B::POSITIONS {
            let distance = distance(at, places.get(nth));
            let same = (word(back, BACK - distance) ^ here).trailing_zeros() / 8;
            let same = if distance.wrapping_sub(1) < reach { same } else { 0 };
            best = best.max(u64::from(same) << u16::BITS | u64::from(!(distance as u16)));
        }
        let mut found = Match { length: (best >> u16::BITS) as usize, distance: usize::from(!(best as u16)) };
        if found.length == 8 {
            found.length = window.common_prefix(at - found.distance, at, to - at);
            for nth in 1..B::POSITIONS {
                let distance = distance(at, places.get(nth));
                if distance.wrapping_sub(1) < reach && distance != found.distance {
                    let length = window.common_prefix(at - distance, at, to - at);
                    found = if length > found.length { Match { length, distance } } else { found };
                }
            }
        }
        Match { length: found.length.min(to - at), ..found }
    }
}

impl<B: Bucket, const BUCKETS: usize, const CONTENT: usize, const AHEAD: usize> Parser
    for Lazy<B, BUCKETS, CONTENT, AHEAD>
{
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        self.estimate.learn(tokens);
        if !self.payoff.begin() {
            return tokens.push_literals(window, from, to);
        }
        let (mut at, mut said, mut saved) = (from, from, 0);
        while at + KEY_BYTES <= to {
            let mut found = self.find(window, at, to, reach);
            let mut seen = at + 1;
            if !found.is_one() {
                at += 1;
                continue;
            }
            let mut later = 1;
            while later <= AHEAD && found.length < CONTENT && at + later + KEY_BYTES <= to {
                let other = self.find(window, at + later, to, reach);
                seen = at + later + 1;
                if other.is_one() && other.gain_over(found) > DELAY_BITS[later] {
                    at += later;
                    found = other;
                    later = 0;
                }
                later += 1;
            }
            let (literals, cost) = self.estimate.costs().compare(found.length, found.distance);
            if literals <= cost {
                at = seen;
                continue;
            }
            saved += literals - cost;
            tokens.push_literals(window, said, at);
            tokens.push_match(found.length, found.distance);
            at += found.length;
            said = at;
            for inside in seen..at {
                self.look(inside, window.word(inside));
            }
        }
        tokens.push_literals(window, said, to);
        self.payoff.count(self.estimate.costs().literals(to - from), saved);
    }

    fn pass(&mut self, window: &Window, from: usize, to: usize) {
        for at in from.max(to.saturating_sub(REMEMBERED))..to {
            self.look(at, window.word(at));
        }
    }

    fn clear(&mut self) {
        self.positions.clear();
        (self.estimate, self.payoff) = Default::default();
    }
}
