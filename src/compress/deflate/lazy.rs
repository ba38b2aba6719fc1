//! The lazy parser: before it takes a match, it checks whether a better one begins one byte later.

use super::costs::Estimate;
use super::finder::Match;
use super::parser::Parser;
use super::payoff::{NEXT_TO_NOTHING, Payoff};
use super::positions::{Bucket, PositionTable, distance, hash};
use super::sizes::{PLACE_PERIOD, REMEMBERED};
use super::tokens::Tokens;
use super::window::{Window, word};

/// Bytes of a key. A distant match of three or four bytes costs as much as its literals, and hides longer ones.
const KEY_BYTES: usize = 5;
/// The latest positions with the same key.
type Places = u64;
/// Number of buckets of positions.
const BUCKETS: usize = 16 * 1024;
/// Length of a match that is taken without a look at the next byte.
const CONTENT: usize = 8;
/// The approximate cost of a literal in bits, which a byte in a match saves.
const LITERAL_BITS: i32 = 6;
/// A match that begins one byte later must save more bits than this, because the literal before it costs a token.
const DELAY_BITS: i32 = 2;

/// Chooses among the latest positions. Takes a match of at least [`CONTENT`] bytes, or one that none a byte later improves on.
#[derive(Debug, Default)]
pub struct Lazy {
    positions: PositionTable<Places, BUCKETS>,
    estimate: Estimate,
    payoff: Payoff<NEXT_TO_NOTHING>,
}

/// Whether `found` is a match. It is shorter if there is none.
#[inline(always)]
fn is_one(found: Match) -> bool {
    found.length >= KEY_BYTES
}

/// Bits that `one` saves compared with `other`.
#[inline(always)]
fn gain_over(one: Match, other: Match) -> i32 {
    let farther = one.distance.ilog2() as i32 - other.distance.ilog2() as i32;
    LITERAL_BITS * (one.length as i32 - other.length as i32) - farther
}

impl Lazy {
    /// The earlier positions of the bytes at `at`. Inserts `at`.
    #[inline(always)]
    fn look(&mut self, at: usize, here: u64) -> Places {
        let bucket = self.positions.bucket(hash(here << (u64::BITS - 8 * KEY_BYTES as u32)));
        std::mem::replace(bucket, bucket.with(at as u16))
    }

    /// The longest match at `at`, and of equally long ones the nearest.
    #[inline(always)]
    fn find(&mut self, window: &Window, at: usize, to: usize, reach: usize) -> Match {
        // The array covers the reach of all positions, so that access needs no bounds check.
        let back: &[u8; PLACE_PERIOD + 8] = window.bytes(at - PLACE_PERIOD);
        let here = word(back, PLACE_PERIOD);
        let places = self.look(at, here);
        // Compares the first eight bytes of every candidate without a branch: most matches are shorter, and their lengths are
        // unpredictable.
        let mut best = 0u64;
        for nth in 0..Places::POSITIONS {
            let distance = distance(at, places.get(nth));
            let same = (word(back, PLACE_PERIOD - distance) ^ here).trailing_zeros() / 8;
            let same = if distance.wrapping_sub(1) < reach { same } else { 0 };
            best = best.max(u64::from(same) << u16::BITS | u64::from(!(distance as u16)));
        }
        let mut found = Match { length: (best >> u16::BITS) as usize, distance: usize::from(!(best as u16)) };
        if found.length == 8 {
            found.length = window.common_prefix(at - found.distance, at, to - at);
            for nth in 1..Places::POSITIONS {
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

impl Parser for Lazy {
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        self.estimate.learn(tokens);
        if !self.payoff.begin() {
            return tokens.push_literals(window, from, to);
        }
        let (mut at, mut encoded_to, mut saved) = (from, from, 0);
        while at + KEY_BYTES <= to {
            let mut found = self.find(window, at, to, reach);
            let mut seen = at + 1;
            if !is_one(found) {
                at += 1;
                continue;
            }
            while found.length < CONTENT && at + 1 + KEY_BYTES <= to {
                let other = self.find(window, at + 1, to, reach);
                seen = at + 2;
                if !is_one(other) || gain_over(other, found) <= DELAY_BITS {
                    break;
                }
                at += 1;
                found = other;
            }
            let (literals, cost) = self.estimate.costs().compare(found.length, found.distance);
            if literals <= cost {
                at = seen;
                continue;
            }
            saved += literals - cost;
            tokens.push_literals(window, encoded_to, at);
            tokens.push_match(found.length, found.distance);
            at += found.length;
            encoded_to = at;
            for inside in seen..at {
                self.look(inside, window.word(inside));
            }
        }
        tokens.push_literals(window, encoded_to, to);
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
