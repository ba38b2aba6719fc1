//! The greedy parser: uses the first match that it finds.

use super::parser::Parser;
use super::payoff::Payoff;
use super::positions::{PositionTable, bucket, distance, hash};
use super::sizes::PLACE_PERIOD;
use super::symbols::DISTANCE_MAX;
use super::tokens::Tokens;
use super::window::{Window, word};

/// Number of positions that are looked up at a time before any is encoded, one per bit of a word.
const STRETCH: usize = u64::BITS as usize;
/// Bytes that looking up a stretch reads: those it is compared with, its own, and a few after it.
const NEAR: usize = PLACE_PERIOD + STRETCH + 16;

/// The approximate cost of a literal in bits, and of a match besides the bits that tell how far away it is.
const LITERAL_BITS: u32 = 6;
const MATCH_BITS: u32 = 12;

/// Looks up `KEY_BYTES` bytes at every `EVERY`th position in a hash table of `BUCKETS` buckets, and inserts all positions.
/// Sequences of fewer than `SHORTEST` bytes are encoded as literals without a search, and so are all sequences while the search
/// saves less than one in `FRACTION` bits.
#[derive(Debug)]
pub struct Greedy<
    const KEY_BYTES: u32,
    const BUCKETS: usize,
    const EVERY: usize,
    const SHORTEST: usize,
    const FRACTION: u64,
> {
    positions: PositionTable<u16, BUCKETS>,
    /// For each position of a stretch that was looked up, the distance to the candidate.
    distances: [u16; STRETCH],
    payoff: Payoff<FRACTION>,
}

impl<
    const KEY_BYTES: u32,
    const BUCKETS: usize,
    const EVERY: usize,
    const SHORTEST: usize,
    const FRACTION: u64,
> Default for Greedy<KEY_BYTES, BUCKETS, EVERY, SHORTEST, FRACTION>
{
    fn default() -> Self {
        Self { positions: PositionTable::default(), distances: [0; STRETCH], payoff: Payoff::default() }
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

impl<
    const KEY_BYTES: u32,
    const BUCKETS: usize,
    const EVERY: usize,
    const SHORTEST: usize,
    const FRACTION: u64,
> Parser for Greedy<KEY_BYTES, BUCKETS, EVERY, SHORTEST, FRACTION>
{
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        if to - from < SHORTEST {
            return tokens.push_literals(window, from, to);
        }
        if !self.payoff.begin() {
            return tokens.push_literals(window, from, to);
        }
        let (mut begin, mut encoded_to, mut saved) = (from, from, 0);
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
                let before = if EVERY > 1 { at - encoded_to } else { 0 };
                let before = window.common_last(at - distance, at, before.min(EVERY - 1));
                tokens.push_literals(window, encoded_to, at - before);
                tokens.push_match(before + length, distance);
                saved +=
                    (LITERAL_BITS * (before + length) as u32).saturating_sub(MATCH_BITS + distance.ilog2());
                encoded_to = at + length;
                matches &= u64::MAX.checked_shr((encoded_to - begin) as u32).unwrap_or(0);
            }
            begin = encoded_to.max(begin + count);
        }
        tokens.push_literals(window, encoded_to, to);
        self.payoff.count(LITERAL_BITS * (to - from) as u32, saved);
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.payoff = Payoff::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::LENGTH_HEADS;
    use super::*;
    use crate::common::random::Random;

    /// The matches in the last of many parts of 32 random letters, if the first `repeated` letters of each are those of the first.
    fn matches_in_last_part<const FRACTION: u64>(repeated: usize) -> usize {
        let (mut random, mut tokens) = (Random::new(4), Tokens::default());
        let mut letters =
            |count: usize| (0..count).map(|_| b'a' + (random.next() % 26) as u8).collect::<Vec<_>>();
        let mut greedy = Greedy::<8, 8192, 4, 24, FRACTION>::default();
        let mut window = Window::default();
        let start = window.end();
        let first = letters(32);
        for _ in 0..400 {
            window.push(&[&first[..repeated], &letters(32 - repeated)].concat());
            let from = window.end() - 32;
            tokens.clear();
            greedy.parse(&window, from, from + 32, DISTANCE_MAX.min(from - start), &mut tokens);
        }
        tokens.as_slice().iter().filter(|token| token.head() >= LENGTH_HEADS).count()
    }

    #[test]
    fn the_search_goes_on_if_it_saves_the_fraction_that_is_asked_for() {
        // Twelve of 32 bytes are a match, which costs as much as three or four.
        assert_eq!(matches_in_last_part::<8>(12), 1);
        assert_eq!(matches_in_last_part::<3>(12), 0);
        assert_eq!(matches_in_last_part::<3>(24), 1);
        assert_eq!(matches_in_last_part::<128>(0), 0);
    }
}
