//! Where a hash was seen last: the latest few positions, packed in one number.

/// The latest positions with one hash, the latest one lowest. Looking up and inserting are one load and one store.
///
/// A position is its low sixteen bits. One that is long gone looks like a near one then, which does no harm: whatever it
/// points to is compared before it is used.
pub trait Bucket: Copy + Default + Send + std::fmt::Debug {
    /// How many there are.
    const POSITIONS: usize;

    /// With `position` before the others; the oldest goes.
    fn with(self, position: u16) -> Self;

    /// The `nth` latest.
    fn get(self, nth: usize) -> u16;
}

macro_rules! bucket {
    ($number:ty) => {
        impl Bucket for $number {
            const POSITIONS: usize = size_of::<Self>() / size_of::<u16>();

            #[inline(always)]
            fn with(self, position: u16) -> Self {
                // A shift by all sixteen bits of a u16 is none; taken as eight and eight it is.
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

/// The buckets of all hashes, a power of two.
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

    /// All of them, for a loop that should not ask every time where they are.
    #[inline(always)]
    pub fn buckets(&mut self) -> &mut [B; BUCKETS] {
        &mut self.0
    }

    /// Forgets everything, so that the next member does not depend on this one.
    pub fn clear(&mut self) {
        self.0.fill(B::default());
    }
}

/// The bucket of a hash, whose highest bits count.
#[inline(always)]
pub fn bucket<B, const BUCKETS: usize>(buckets: &mut [B; BUCKETS], hash: u64) -> &mut B {
    const { assert!(BUCKETS.is_power_of_two() && BUCKETS > 1) };
    &mut buckets[(hash >> (u64::BITS - BUCKETS.ilog2())) as usize]
}

/// How far back of `at` a position is, from 0 to 65,535: whether a match can reach it is another question.
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
