//! The greedy parser: uses the first match that it finds.

use super::parser::Parser;
use super::positions::{PositionTable, bucket, distance, hash};
use super::sizes::PLACE_PERIOD;
use super::symbols::DISTANCE_MAX;
use super::tokens::Tokens;
use super::window::{Window, word};

/// Number of positions that are looked up at a time before any is encoded, one per bit of a word.
const STRETCH: usize = u64::BITS as usize;
/// Bytes that looking up a stretch reads: those it is compared with, its own, and a few after it.
const NEAR: usize = PLACE_PERIOD + STRETCH + 16;

/// Looks up `KEY_BYTES` bytes at every `EVERY`th position in a hash table of `BUCKETS` buckets, and inserts all positions.
/// Sequences of fewer than `SHORTEST` bytes are encoded as literals without a search.
#[derive(Debug)]
pub struct Greedy<const KEY_BYTES: u32, const BUCKETS: usize, const EVERY: usize, const SHORTEST: usize> {
    positions: PositionTable<u16, BUCKETS>,
    /// For each position of a stretch that was looked up, the distance to the candidate.
    distances: [u16; STRETCH],
}

impl<const KEY_BYTES: u32, const BUCKETS: usize, const EVERY: usize, const SHORTEST: usize> Default
    for Greedy<KEY_BYTES, BUCKETS, EVERY, SHORTEST>
{
    fn default() -> Self {
        Self { positions: PositionTable::default(), distances: [0; STRETCH] }
    }
}

/// Looks up every `EVERY`th of `count` positions and inserts all of them. The first position is `begin` in the document and
/// [`PLACE_PERIOD`] in `near`. Returns a bit for each position, the first one highest, which is set where a match begins, and
/// sets `distances`.
///
/// Lookups are independent of each other and without branches, so the processor executes several at once. Therefore even
/// positions that a match will cover are looked up. This is a separate function because it needs all registers.
#[inline(never)]
fn look_up<const KEY_BYTES: u32, const BUCKETS: usize, const EVERY: usize>(
    buckets: &mut [u16; BUCKETS],
    distances: &mut [u16; STRETCH],
    near: &[u8; NEAR],
    begin: usize,
    count: usize,
) -> u64 {
    // A key is the low bytes of a word. This shift removes the others.
    let other_bits = u64::BITS - 8 * KEY_BYTES;
    let mut matches = 0;
    for (nth, found) in distances[..count.div_ceil(EVERY)].iter_mut().enumerate() {
        let nth = EVERY * nth;
        let at = PLACE_PERIOD + nth;
        let here = word(near, at);
        let bucket = self::bucket(buckets, hash(here << other_bits));
        let distance = distance(begin + nth, *bucket);
        *bucket = (begin + nth) as u16;
        *found = distance as u16;
        let differ = (word(near, at - distance) ^ here) << other_bits;
        let too_far = distance.wrapping_sub(1) as u64 & DISTANCE_MAX as u64;
        matches = matches << EVERY | u64::from(differ | too_far == 0);
        for passed in 1..EVERY {
            let here = word(near, at + passed);
            *self::bucket(buckets, hash(here << other_bits)) = (begin + nth + passed) as u16;
        }
    }
    matches << (STRETCH - 1 - (count - 1) / EVERY * EVERY)
}

impl<const KEY_BYTES: u32, const BUCKETS: usize, const EVERY: usize, const SHORTEST: usize> Parser
    for Greedy<KEY_BYTES, BUCKETS, EVERY, SHORTEST>
{
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        if to - from < SHORTEST {
            return tokens.push_literals(window, from, to);
        }
        let (mut begin, mut said) = (from, from);
        while begin + (KEY_BYTES as usize) <= to {
            let count = STRETCH.min(to + 1 - KEY_BYTES as usize - begin);
            let near = window.bytes(begin - PLACE_PERIOD);
            let mut matches = look_up::<KEY_BYTES, BUCKETS, EVERY>(
                self.positions.buckets(),
                &mut self.distances,
                near,
                begin,
                count,
            );
            while matches != 0 {
                let nth = matches.leading_zeros() as usize;
                let (at, distance) = (begin + nth, usize::from(self.distances[nth / EVERY]));
                if distance > reach {
                    matches &= !(1 << (u64::BITS - 1) >> nth);
                    continue;
                }
                let length = window.common_prefix(at - distance, at, to - at);
                // The match may begin at a position that was not looked up.
                let before = if EVERY > 1 { at - said } else { 0 };
                let before = window.common_last(at - distance, at, before.min(EVERY - 1));
                tokens.push_literals(window, said, at - before);
                tokens.push_match(before + length, distance);
                said = at + length;
                matches &= u64::MAX.checked_shr((said - begin) as u32).unwrap_or(0);
            }
            begin = said.max(begin + count);
        }
        tokens.push_literals(window, said, to);
    }

    fn clear(&mut self) {
        self.positions.clear();
    }
}
