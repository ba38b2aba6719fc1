//! Where a hash was seen last: the latest few places, packed in one number.

/// The latest places with one hash, the latest one lowest. Looking up and inserting are one load and one store.
///
/// A place is its low sixteen bits. One that is long gone looks like a near one then, which does no harm: whatever it
/// points to is compared before it is used.
pub trait Row: Copy + Default + Send + std::fmt::Debug {
    /// How many there are.
    const PLACES: usize;

    /// With `place` before the others; the oldest goes.
    fn with(self, place: u16) -> Self;

    /// The `nth` latest.
    fn get(self, nth: usize) -> u16;
}

macro_rules! row {
    ($number:ty) => {
        impl Row for $number {
            const PLACES: usize = size_of::<Self>() / size_of::<u16>();

            #[inline(always)]
            fn with(self, place: u16) -> Self {
                // A shift by all sixteen bits of a u16 is none; taken as eight and eight it is.
                (self << 8) << 8 | Self::from(place)
            }

            #[inline(always)]
            fn get(self, nth: usize) -> u16 {
                (self >> (16 * nth)) as u16
            }
        }
    };
}
row!(u16);
row!(u32);
row!(u64);
row!(u128);

/// The rows of all hashes of `BITS` bits.
#[derive(Debug)]
pub struct Places<R, const BITS: u32>(Box<[R]>);

impl<R: Row, const BITS: u32> Default for Places<R, BITS> {
    fn default() -> Self {
        Self(vec![R::default(); 1 << BITS].into())
    }
}

impl<R: Row, const BITS: u32> Places<R, BITS> {
    /// The row of a hash, whose highest bits count.
    #[inline(always)]
    pub fn row(&mut self, hash: u32) -> &mut R {
        &mut self.0[(hash >> (u32::BITS - BITS)) as usize]
    }

    /// Forgets everything, so that the next member does not depend on this one.
    pub fn clear(&mut self) {
        self.0.fill(R::default());
    }
}

/// How far back of `at` a place is, from 0 to 65,535: whether a match can reach it is another question.
#[inline(always)]
pub fn distance(at: usize, place: u16) -> usize {
    (at as u16).wrapping_sub(place).into()
}

/// Scatters `key` over the highest bits (Knuth 1973, 6.4: multiplication by the golden ratio).
#[inline(always)]
pub fn hash(key: u64) -> u32 {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_the_latest_places_latest_first() {
        fn check<R: Row>() {
            let row = (1..=100).fold(R::default(), |row, place| row.with(place));
            let got: Vec<u16> = (0..R::PLACES).map(|nth| row.get(nth)).collect();
            let want: Vec<u16> = (0..R::PLACES).map(|nth| 100 - nth as u16).collect();
            assert_eq!(got, want);
        }
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<u128>();
    }
}
