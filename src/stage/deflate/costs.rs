//! What literals and matches cost, before the code that will say them is known.

use super::block::Lengths;
use super::symbols::{CODED_LENGTHS, DISTANCE_EXTRA_BITS, DISTANCES, LENGTHS, MATCH_MIN, distance_symbol};

/// Bits of every literal, length and distance.
#[derive(Debug)]
pub struct Costs {
    literals: [u8; 256],
    lengths: [u8; LENGTHS],
    distances: [u8; DISTANCES],
}

/// A guess for the first block: URLs have few letters, sitemaps few lengths and distances.
impl Default for Costs {
    fn default() -> Self {
        let is_common =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-/.".contains(&byte);
        Self {
            literals: std::array::from_fn(|byte| if is_common(byte as u8) { 5 } else { 8 }),
            lengths: CODED_LENGTHS.map(|coded| 5 + coded.extra_bits),
            distances: DISTANCE_EXTRA_BITS.map(|extra_bits| 5 + extra_bits),
        }
    }
}

/// What symbols cost that the last block did without.
const LITERAL_NEW: u8 = 12;
const LENGTH_NEW: u8 = 11;
const DISTANCE_NEW: u8 = 10;

impl Costs {
    /// Expects the code of the next block to be like this one.
    pub fn learn(&mut self, code: &Lengths) {
        let or_new = |bits: u8, new: u8| if bits == 0 { new } else { bits };
        self.literals = std::array::from_fn(|byte| or_new(code.litlens[byte], LITERAL_NEW));
        self.lengths = CODED_LENGTHS
            .map(|coded| or_new(code.litlens[usize::from(coded.symbol)], LENGTH_NEW) + coded.extra_bits);
        self.distances = std::array::from_fn(|symbol| {
            or_new(code.distances[symbol], DISTANCE_NEW) + DISTANCE_EXTRA_BITS[symbol]
        });
    }

    /// Of one byte.
    #[inline(always)]
    pub fn literal(&self, byte: u8) -> u64 {
        self.literals[usize::from(byte)].into()
    }

    /// Of every length from `least` to `most`.
    #[inline(always)]
    pub fn lengths(&self, least: usize, most: usize) -> &[u8] {
        &self.lengths[least - MATCH_MIN..=most - MATCH_MIN]
    }

    /// Of a distance.
    #[inline(always)]
    pub fn distance(&self, distance: usize) -> u64 {
        self.distances[distance_symbol(distance as u32 - 1) as usize].into()
    }
}
