//! Pseudorandom numbers that depend only on their position, the same on every machine.

/// The splitmix64 generator (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
pub struct SplitMix64(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// Starts the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`, which must not be 0; its bias of `bound` / 2^64 does not matter here.
    pub fn below(&mut self, bound: u64) -> u64 {
        scale(self.next(), bound)
    }
}

/// Number `at` of the sequence with the seed `key`, computed directly.
pub fn splitmix_at(key: u64, at: u64) -> u64 {
    mix(key.wrapping_add(at.wrapping_mul(GOLDEN)))
}

fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn scale(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

/// A permutation of 0 .. `len`, computed number by number.
///
/// Multiplying by an odd number, adding, and XORing the upper half of the bits into the lower are reversible on numbers of
/// a fixed width. A result beyond `len` is permuted again until it is in range (cycle walking).
pub struct Permutation {
    len: u64,
    mask: u64,
    fold: u32,
    key: u64,
}

impl Permutation {
    /// The permutation of 0 .. `len` for `key`.
    pub fn new(len: u64, key: u64) -> Self {
        let bits = (u64::BITS - len.saturating_sub(1).leading_zeros()).max(2);
        Permutation { len, mask: (1 << bits) - 1, fold: bits / 2, key }
    }

    /// The image of `number`.
    pub fn apply(&self, number: u64) -> u64 {
        debug_assert!(number < self.len);
        let mut x = number;
        loop {
            x = x.wrapping_add(self.key).wrapping_mul(0xbf58_476d_1ce4_e5b9) & self.mask;
            x ^= x >> self.fold;
            x = x.wrapping_mul(0x94d0_49bb_1331_11eb) & self.mask;
            x ^= x >> self.fold;
            x = x.wrapping_mul(GOLDEN) & self.mask;
            x ^= x >> self.fold;
            if x < self.len {
                return x;
            }
        }
    }
}

/// The number of values of 16 bits.
pub const ZIPF_SLOTS: usize = 1 << 16;

/// 65,536 slots distributed by Zipf's law: 16 random bits pick rank r about 1 / (r + 1) times as often as rank 0.
pub fn zipf(ranks: usize) -> Box<[u16; ZIPF_SLOTS]> {
    let weight = |rank: usize| (1u64 << 32) / (rank as u64 + 1);
    let sum: u64 = (0..ranks).map(weight).sum();
    let mut slots = Box::new([0; ZIPF_SLOTS]);
    let (mut begin, mut weights) = (0, 0);
    for rank in 0..ranks {
        weights += weight(rank);
        let end = (weights * ZIPF_SLOTS as u64 / sum) as usize;
        slots[begin..end].fill(rank as u16);
        begin = end;
    }
    slots
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_permutation_meets_every_number_once() {
        for len in (1..=300).chain([4095, 4096, 4097]) {
            let permutation = Permutation::new(len, 7);
            let met: HashSet<_> = (0..len).map(|number| permutation.apply(number)).collect();
            assert_eq!(met.len() as u64, len);
            assert!(met.iter().all(|&number| number < len));
        }
    }
}
