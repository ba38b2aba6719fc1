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

/// The rows of all hashes, a power of two.
#[derive(Debug)]
pub struct Places<R, const ROWS: usize>(Box<[R; ROWS]>);

impl<R: Row, const ROWS: usize> Default for Places<R, ROWS> {
    fn default() -> Self {
        let rows = vec![R::default(); ROWS].into_boxed_slice();
        Self(rows.try_into().expect("one is as long as the other"))
    }
}

impl<R: Row, const ROWS: usize> Places<R, ROWS> {
    /// The row of a hash.
    #[inline(always)]
    pub fn row(&mut self, hash: u64) -> &mut R {
        row(&mut self.0, hash)
    }

    /// All of them, for a loop that should not ask every time where they are.
    #[inline(always)]
    pub fn rows(&mut self) -> &mut [R; ROWS] {
        &mut self.0
    }

    /// Forgets everything, so that the next member does not depend on this one.
    pub fn clear(&mut self) {
        self.0.fill(R::default());
    }
}

/// The row of a hash, whose highest bits count.
#[inline(always)]
pub fn row<R, const ROWS: usize>(rows: &mut [R; ROWS], hash: u64) -> &mut R {
    const { assert!(ROWS.is_power_of_two() && ROWS > 1) };
    &mut rows[(hash >> (u64::BITS - ROWS.ilog2())) as usize]
}

/// How far back of `at` a place is, from 0 to 65,535: whether a match can reach it is another question.
#[inline(always)]
pub fn distance(at: usize, place: u16) -> usize {
    (at as u16).wrapping_sub(place).into()
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
