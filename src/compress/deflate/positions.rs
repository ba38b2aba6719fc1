//! A hash table of positions: the latest few positions of each hash, packed in one number.

/// The latest positions of one hash, the latest in the lowest bits. Lookup and insertion take one load and one store.
///
/// Only the low sixteen bits of a position are stored. An old position may look like a near one, which is harmless: the bytes
/// at a position are always compared before it is used.
pub trait Bucket: Copy + Default + Send + std::fmt::Debug {
    /// Positions per bucket.
    const POSITIONS: usize;

    /// Inserts `position` and drops the oldest.
    fn with(self, position: u16) -> Self;

    /// The `nth` latest position, from 0.
    fn get(self, nth: usize) -> u16;
}

macro_rules! bucket {
    ($number:ty) => {
        impl Bucket for $number {
            const POSITIONS: usize = size_of::<Self>() / size_of::<u16>();

            #[inline(always)]
            fn with(self, position: u16) -> Self {
                // A shift of a u16 by sixteen bits would overflow; two shifts by eight do not.
                (self << 8) << 8 | Self::from(position)
            }

            #[inline(always)]
            fn get(self, nth: usize) -> u16 {
                (self >> (16 * nth)) as u16
            }
        }
    };
}
bucket!(u16);
bucket!(u32);
bucket!(u64);
bucket!(u128);

/// The buckets of all hashes. Their number is a power of two.
#[derive(Debug)]
pub struct PositionTable<B, const BUCKETS: usize>(Box<[B; BUCKETS]>);

impl<B: Bucket, const BUCKETS: usize> Default for PositionTable<B, BUCKETS> {
    fn default() -> Self {
        let buckets = vec![B::default(); BUCKETS].into_boxed_slice();
        Self(buckets.try_into().expect("one is as long as the other"))
    }
}

impl<B: Bucket, const BUCKETS: usize> PositionTable<B, BUCKETS> {
    /// The bucket of a hash.
    #[inline(always)]
    pub fn bucket(&mut self, hash: u64) -> &mut B {
        bucket(&mut self.0, hash)
    }

    /// All buckets, for loops that should load their address only once.
    #[inline(always)]
    pub fn buckets(&mut self) -> &mut [B; BUCKETS] {
        &mut self.0
    }

    /// Clears the table, so that the next member does not depend on this one.
    pub fn clear(&mut self) {
        self.0.fill(B::default());
    }
}

/// The bucket of a hash, by its highest bits.
#[inline(always)]
pub fn bucket<B, const BUCKETS: usize>(buckets: &mut [B; BUCKETS], hash: u64) -> &mut B {
    const { assert!(BUCKETS.is_power_of_two() && BUCKETS > 1) };
    &mut buckets[(hash >> (u64::BITS - BUCKETS.ilog2())) as usize]
}

/// The distance from `at` back to `position`, from 0 to 65,535. It may exceed the reach of a match.
#[inline(always)]
pub fn distance(at: usize, position: u16) -> usize {
    (at as u16).wrapping_sub(position).into()
}

/// Scatters `key` over the highest bits (Knuth 1973, 6.4: multiplication by the golden ratio).
#[inline(always)]
pub fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_the_latest_positions_latest_first() {
        fn check<B: Bucket>() {
            let bucket = (1..=100).fold(B::default(), |bucket, position| bucket.with(position));
            let got: Vec<u16> = (0..B::POSITIONS).map(|nth| bucket.get(nth)).collect();
            let want: Vec<u16> = (0..B::POSITIONS).map(|nth| 100 - nth as u16).collect();
            assert_eq!(got, want);
        }
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<u128>();
    }
}
