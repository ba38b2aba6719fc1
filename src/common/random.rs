//! Pseudo-random numbers for test cases.

use std::ops::Range;

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough for tests.
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed. The sequence is equal on every machine.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        from[self.below(from.len())]
    }

    /// Joins a number of `parts` in this range.
    pub fn joined(&mut self, parts: &[&str], counts: Range<usize>) -> String {
        let count = counts.start + self.below(counts.len());
        (0..count).map(|_| parts[self.below(parts.len())]).collect()
    }

    pub fn pick_mut<'a, T>(&mut self, from: &'a mut [T]) -> &'a mut T {
        let at = self.below(from.len());
        &mut from[at]
    }
}
