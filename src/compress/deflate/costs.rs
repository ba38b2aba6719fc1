//! The costs of literals and matches in bits, estimated from how often their symbols have occurred.

use super::symbols::{
    CODED_LENGTHS, DISTANCE_EXTRA_BITS, DISTANCES, LENGTHS, LITLENS, MATCH_MAX, MATCH_MIN, coded_distance,
};
use super::tokens::{Frequencies, LENGTH_HEADS, Tokens};
use crate::common::array;

/// The unit of all costs: a sixteenth of a bit.
const UNITS_PER_BIT: u32 = 16;
/// The cost of a literal before any has occurred.
const FIRST_LITERAL_COST: u32 = 6 * UNITS_PER_BIT;
/// The cost of a byte that no seam covers, and of a record, before any has occurred.
const FIRST_BYTE_COST: u32 = 3 * UNITS_PER_BIT;
const FIRST_RECORD_COST: i64 = 128 * UNITS_PER_BIT as i64;
/// The cost of a length or a distance before any has occurred, without extra bits.
const FIRST_MATCH_BITS: u32 = 5;

/// More than any sequence of literals and matches costs. The sum of several is still a number.
pub const TOO_MUCH: u32 = 1 << 28;
/// Number of lengths whose costs are compared at a time.
pub const GROUP: usize = 16;

/// Tokens of the first block after which costs are estimated for the first time. Then it is done again whenever the block has
/// twice as many.
const FIRST_TOKENS: usize = 256;
/// Tokens of later blocks after which costs are estimated for the first time. These blocks begin with the costs of the block
/// before.
const LATER_TOKENS: usize = 4 * 1024;

/// Costs that follow the text: estimated again and again from the tokens of the block.
#[derive(Debug)]
pub struct Estimate {
    costs: Costs,
    /// Number of tokens at which they are estimated again.
    next_at: usize,
}

impl Default for Estimate {
    fn default() -> Self {
        Self { costs: Costs::default(), next_at: FIRST_TOKENS }
    }
}

impl Estimate {
    /// Estimates the costs after `tokens`, if these are enough.
    pub fn learn(&mut self, tokens: &Tokens) {
        let count = tokens.as_slice().len();
        if count >= self.next_at {
            self.costs = Costs::of(&tokens.frequencies());
            self.next_at = 2 * count;
        } else if 4 * count < self.next_at && self.next_at > LATER_TOKENS {
            // Another block has begun.
            self.next_at = LATER_TOKENS;
        }
    }

    /// The latest estimate.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }
}

/// The cost of each literal, length and distance.
#[derive(Debug)]
pub struct Costs {
    literals: [u32; LENGTH_HEADS],
    /// The mean of the literals that have occurred.
    literal: u32,
    /// After [`TOO_MUCH`] for each of [`GROUP`] shorter ones.
    lengths: [u32; GROUP + LENGTHS],
    distances: [u32; DISTANCES],
}

impl Default for Costs {
    /// Before anything has occurred.
    fn default() -> Self {
        let bits = |bits: u32| UNITS_PER_BIT * bits;
        Self::new(
            &[FIRST_LITERAL_COST; LENGTH_HEADS],
            FIRST_LITERAL_COST,
            &[bits(FIRST_MATCH_BITS); LITLENS],
            &[bits(FIRST_MATCH_BITS); DISTANCES],
        )
    }
}

impl Costs {
    /// From the costs of literals and their mean, of length symbols and of distance symbols without extra bits.
    fn new(
        literals: &[u32; LENGTH_HEADS],
        literal: u32,
        symbols: &[u32; LITLENS],
        distances: &[u32; DISTANCES],
    ) -> Self {
        let with_extra = |cost: u32, extra_bits: u8| cost + UNITS_PER_BIT * u32::from(extra_bits);
        Self {
            literals: *literals,
            literal,
            lengths: array::from_fn(|at| match at.checked_sub(GROUP) {
                Some(at) => {
                    let coded = CODED_LENGTHS[at];
                    with_extra(symbols[usize::from(coded.symbol)], coded.extra_bits)
                }
                None => TOO_MUCH,
            }),
            distances: array::from_fn(|at| with_extra(distances[at], DISTANCE_EXTRA_BITS[at])),
        }
    }

    /// The costs in text like that with these frequencies.
    fn of(frequencies: &Frequencies) -> Self {
        let symbols = estimate(&frequencies.litlens);
        let literals: [u32; LENGTH_HEADS] = array::from_fn(|at| symbols[at]);
        let occurred = || frequencies.litlens.iter().zip(&literals);
        let count: u32 = occurred().map(|(&count, _)| count).sum();
        let sum: u64 = occurred().map(|(&count, &cost)| u64::from(count) * u64::from(cost)).sum();
        let literal = if count > 0 { (sum / u64::from(count)) as u32 } else { FIRST_LITERAL_COST };
        Self::new(&literals, literal, &symbols, &estimate(&frequencies.distances))
    }

    /// The cost of a literal.
    #[inline(always)]
    pub fn literal(&self, byte: u8) -> u32 {
        self.literals[usize::from(byte)]
    }

    /// The usual cost of so many literals.
    #[inline(always)]
    pub fn literals(&self, bytes: usize) -> u32 {
        self.literal * bytes as u32
    }

    /// The usual cost of the literals that a match replaces, and the cost of the match.
    #[inline(always)]
    pub fn compare(&self, length: usize, distance: usize) -> (u32, u32) {
        (self.literals(length), self.a_match(length, distance))
    }

    /// The cost of the length of a match. One that takes several tokens costs as much as the longest.
    #[inline(always)]
    pub fn length(&self, length: usize) -> u32 {
        self.lengths[GROUP + length.min(MATCH_MAX) - MATCH_MIN]
    }

    /// The costs of so many lengths, of which `length`, at least [`MATCH_MIN`], is the last.
    #[inline(always)]
    pub fn lengths_to(&self, length: usize) -> &[u32; GROUP] {
        self.lengths[length.min(MATCH_MAX) + 1 - MATCH_MIN..]
            .first_chunk()
            .expect("so many precede each length")
    }

    /// Sets the costs of matches that end at the same byte: the last has `length`, and each one before it has one more. Adds
    /// `more` to each.
    pub fn fill_ending_alike(&self, costs: &mut [u32], length: usize, more: u32) {
        let long = costs.len().saturating_sub((MATCH_MAX + 1).saturating_sub(length));
        let (long, others) = costs.split_at_mut(long);
        let of_lengths = &self.lengths[GROUP + length.min(MATCH_MAX) - MATCH_MIN..];
        others.iter_mut().rev().zip(of_lengths).for_each(|(cost, of_length)| *cost = of_length + more);
        long.fill(self.length(MATCH_MAX) + more);
    }

    /// The cost of a match.
    #[inline(always)]
    pub fn a_match(&self, length: usize, distance: usize) -> u32 {
        self.length(length) + self.distance(distance)
    }

    /// The cost of the last `bytes` of a seam at this distance, if something else covers the others: as a match, or left to the
    /// next stretch.
    #[inline(always)]
    pub fn rest(&self, bytes: usize, distance: usize) -> u32 {
        let alone = bytes as u32 * FIRST_LITERAL_COST;
        if bytes < MATCH_MIN { alone } else { alone.min(self.a_match(bytes, distance)) }
    }

    /// The cost of the distance of a match.
    #[inline(always)]
    pub fn distance(&self, distance: usize) -> u32 {
        self.distances[coded_distance(distance as u32 - 1).0 as usize]
    }
}

/// The value of a seam.
#[derive(Debug)]
pub struct Worth {
    /// The usual cost of a byte that no seam covers.
    byte: u32,
    /// The cost of each distance symbol with its extra bits.
    distances: [u32; DISTANCES],
    /// The usual cost of a record.
    pub record: i64,
}

impl Default for Worth {
    /// Before anything has occurred.
    fn default() -> Self {
        let distances =
            DISTANCE_EXTRA_BITS.map(|extra| UNITS_PER_BIT * (FIRST_MATCH_BITS + u32::from(extra)));
        Self { byte: FIRST_BYTE_COST, distances, record: FIRST_RECORD_COST }
    }
}

impl Worth {
    /// From a block of `bytes` with `seams`, which cover `seam_bytes`.
    pub fn of(frequencies: &Frequencies, bytes: u32, seams: u32, seam_bytes: u32) -> Self {
        let (litlens, distances) = (estimate(&frequencies.litlens), estimate(&frequencies.distances));
        let total = |frequencies: &[u32], costs: &[u32]| -> u64 {
            frequencies.iter().zip(costs).map(|(&count, &cost)| u64::from(count) * u64::from(cost)).sum()
        };
        let literals = total(&frequencies.litlens[..LENGTH_HEADS], &litlens);
        let matches = total(&frequencies.litlens[LENGTH_HEADS..], &litlens[LENGTH_HEADS..])
            + total(&frequencies.distances, &distances)
            + u64::from(UNITS_PER_BIT) * (frequencies.length_extra_bits + frequencies.distance_extra_bits);
        let count = u64::from(frequencies.distances.iter().sum::<u32>()).max(1);
        let others = literals + matches * count.saturating_sub(seams.into()) / count;
        let byte = others / u64::from(bytes.saturating_sub(seam_bytes).max(1));
        Self {
            byte: (byte as u32).clamp(1, FIRST_LITERAL_COST),
            distances: std::array::from_fn(|at| {
                distances[at] + UNITS_PER_BIT * u32::from(DISTANCE_EXTRA_BITS[at])
            }),
            record: ((literals + matches) / u64::from(seams.max(1))) as i64,
        }
    }

    /// The saving by a seam.
    #[inline(always)]
    pub fn gain(&self, bytes: usize, distance: usize) -> i64 {
        let symbol = coded_distance(distance as u32 - 1).0 as usize;
        i64::from(self.byte) * bytes as i64 - i64::from(self.distances[symbol])
    }
}

/// The cost of each symbol: the logarithm of its share. A symbol that has not occurred counts as half an occurrence.
fn estimate<const N: usize>(frequencies: &[u32; N]) -> [u32; N] {
    let total = frequencies.iter().sum::<u32>() + 1;
    array::map(*frequencies, |frequency| {
        logarithm(2 * total).saturating_sub(logarithm((2 * frequency).max(1))).max(UNITS_PER_BIT)
    })
}

/// The binary logarithm of `number`, at most 2^31, in units, rounded down. Without floating point, so that it is the same on
/// all machines.
fn logarithm(number: u32) -> u32 {
    let whole = number.ilog2();
    // A number from 1 to 2 with 31 bits after the point. If its square is at least 2, the next bit of the logarithm is set.
    let mut rest = u64::from(number) << (31 - whole);
    let mut fraction = 0;
    for _ in 0..UNITS_PER_BIT.ilog2() {
        rest = (rest * rest) >> 31;
        let bit = rest >> 32;
        rest >>= bit;
        fraction = fraction << 1 | bit as u32;
    }
    whole * UNITS_PER_BIT + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_floating_point_rounded_down() {
        for number in (1..5_000).chain([1 << 20, (1 << 31) - 1, 1 << 31]) {
            let want = f64::from(number).log2() * f64::from(UNITS_PER_BIT);
            let got = f64::from(logarithm(number));
            assert!(got <= want && want < got + 1.001, "{number}: {got}, not {want}");
        }
    }

    #[test]
    fn costs_of_many_lengths_are_those_of_each() {
        let costs = Costs::default();
        for length in MATCH_MIN..=MATCH_MAX {
            let of_lengths = costs.lengths_to(length);
            for (shorter, &cost) in of_lengths.iter().rev().enumerate() {
                let is_match = length >= MATCH_MIN + shorter;
                assert_eq!(cost, if is_match { costs.length(length - shorter) } else { TOO_MUCH });
            }
        }
        for length in [MATCH_MIN, 20, MATCH_MAX - 1, MATCH_MAX, 1_000] {
            for count in [0, 1, 40, 600] {
                let mut filled = vec![0; count];
                costs.fill_ending_alike(&mut filled, length, 7);
                let want = (0..count).rev().map(|longer| costs.length(length + longer) + 7);
                assert_eq!(filled, want.collect::<Vec<_>>(), "{count} from {length}");
            }
        }
    }

    #[test]
    fn frequent_symbols_cost_less() {
        let (litlens, distances) = ([0; LITLENS], [0; DISTANCES]);
        let mut frequencies =
            Frequencies { litlens, distances, length_extra_bits: 0, distance_extra_bits: 0 };
        frequencies.litlens[usize::from(b'a')] = 300;
        frequencies.litlens[usize::from(b'b')] = 100;
        let costs = Costs::of(&frequencies);
        let [a, b, c] = [b'a', b'b', b'c'].map(|byte| costs.literal(byte));
        assert!(a < b && b < c && c < 15 * UNITS_PER_BIT, "{a}, {b}, {c}");
    }
}
