//! The longest streams in vectors of 32 bytes. They do the same as [`Bits`](super::bits::Bits).

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi64_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_blend_epi32,
    _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64, _mm256_extract_epi64, _mm256_movemask_pd,
    _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_sll_epi64, _mm256_srl_epi64, _mm256_sub_epi64, _mm256_testz_si256, _mm256_xor_si256,
};
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::bits::{BITS, Bits, Stream, WORDS_MAX};
use crate::common::array;

/// Words of a vector.
const LANES: usize = 4;

/// A stream of eight words. There is none unless the processor has AVX2, see
/// [`Finder::is_available`](super::finder::Finder::is_available).
#[derive(Clone, Copy)]
pub struct Wide([__m256i; 2]);

/// Calls a function that requires AVX2.
macro_rules! avx2 {
    ($call:expr) => {{
        #[expect(unsafe_code)]
        // SAFETY: there is a stream, or one is made because the processor has AVX2.
        unsafe {
            $call
        }
    }};
}

impl Wide {
    /// A stream of these words.
    #[inline(always)]
    pub fn of(words: &[u64; WORDS_MAX]) -> Self {
        let vectors = words.as_chunks::<LANES>().0;
        Self(array::from_fn(|at| {
            let [a, b, c, d] = array::map(vectors[at], u64::cast_signed);
            avx2!(_mm256_set_epi64x(d, c, b, a))
        }))
    }

    #[inline(always)]
    fn with(self, other: Self, each: impl Fn(__m256i, __m256i) -> __m256i) -> Self {
        Self(array::from_fn(|at| each(self.0[at], other.0[at])))
    }
}

/// The number of bits by which vectors are shifted.
#[inline(always)]
fn bits(by: usize) -> __m128i {
    avx2!(_mm_cvtsi64_si128(by as i64))
}

impl Wide {
    /// Its words.
    #[inline(always)]
    fn words(self) -> [u64; WORDS_MAX] {
        let words = array::map(self.0, |vector| {
            let words = avx2!([
                _mm256_extract_epi64::<0>(vector),
                _mm256_extract_epi64::<1>(vector),
                _mm256_extract_epi64::<2>(vector),
                _mm256_extract_epi64::<3>(vector),
            ]);
            array::map(words, i64::cast_unsigned)
        });
        array::from_fn(|at| words[at / LANES][at % LANES])
    }
}

impl Stream for Wide {
    #[inline(always)]
    fn of_longer(words: &[u64; WORDS_MAX]) -> Self {
        Self::of(words)
    }

    #[inline(always)]
    fn put(self, to: &mut [Bits<WORDS_MAX>]) {
        to[0] = Bits(self.words());
    }

    #[inline(always)]
    fn is_any(self) -> bool {
        let [low, high] = self.0;
        avx2!({
            let any = _mm256_or_si256(low, high);
            _mm256_testz_si256(any, any) == 0
        })
    }

    #[inline(always)]
    fn up(self, by: usize) -> Self {
        if by >= BITS {
            return Self::of(&Bits(self.words()).up(by).0);
        }
        let [low, high] = self.0;
        avx2!({
            // Each word next to the one below it.
            let [below_low, below_high] =
                array::map([low, high], |vector| _mm256_permute4x64_epi64::<0b10_01_00_11>(vector));
            let below = [
                _mm256_blend_epi32::<0b11>(below_low, _mm256_setzero_si256()),
                _mm256_blend_epi32::<0b11>(below_high, below_low),
            ];
            let (here, carried) = (bits(by), bits(BITS - by));
            Self(array::from_fn(|at| {
                _mm256_or_si256(_mm256_sll_epi64(self.0[at], here), _mm256_srl_epi64(below[at], carried))
            }))
        })
    }

    #[inline(always)]
    fn down(self, by: usize) -> Self {
        if by >= BITS {
            return Self::of(&Bits(self.words()).down(by).0);
        }
        let [low, high] = self.0;
        avx2!({
            // Each word next to the one above it.
            let [above_low, above_high] =
                array::map([low, high], |vector| _mm256_permute4x64_epi64::<0b00_11_10_01>(vector));
            let above = [
                _mm256_blend_epi32::<0b1100_0000>(above_low, above_high),
                _mm256_blend_epi32::<0b1100_0000>(above_high, _mm256_setzero_si256()),
            ];
            let (here, carried) = (bits(by), bits(BITS - by));
            Self(array::from_fn(|at| {
                _mm256_or_si256(_mm256_srl_epi64(self.0[at], here), _mm256_sll_epi64(above[at], carried))
            }))
        })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        avx2!({
            let sums: [_; 2] = array::from_fn(|at| _mm256_add_epi64(self.0[at], other.0[at]));
            // A bit for each word: whether its sum carries, and whether it would with one more.
            let (mut carry, mut pass) = (0, 0);
            let sign = _mm256_set1_epi64x(i64::MIN);
            for (at, &sum) in sums.iter().enumerate() {
                let less =
                    _mm256_cmpgt_epi64(_mm256_xor_si256(self.0[at], sign), _mm256_xor_si256(sum, sign));
                let full = _mm256_cmpeq_epi64(sum, _mm256_set1_epi64x(-1));
                carry |= _mm256_movemask_pd(_mm256_castsi256_pd(less)) << (at * LANES);
                pass |= _mm256_movemask_pd(_mm256_castsi256_pd(full)) << (at * LANES);
            }
            // Among these bits, carries run through those that pass them on, as they do among the bits of a number.
            let one_more = ((carry << 1) + pass) ^ pass;
            let lanes = _mm256_set_epi64x(8, 4, 2, 1);
            Self(array::from_fn(|at| {
                let own = _mm256_set1_epi64x(i64::from(one_more >> (at * LANES)));
                let is_one = _mm256_cmpeq_epi64(_mm256_and_si256(own, lanes), lanes);
                _mm256_sub_epi64(sums[at], is_one)
            }))
        })
    }
}

impl BitAnd for Wide {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.with(other, |one, other| avx2!(_mm256_and_si256(one, other)))
    }
}

impl BitOr for Wide {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.with(other, |one, other| avx2!(_mm256_or_si256(one, other)))
    }
}

impl BitXor for Wide {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.with(other, |one, other| avx2!(_mm256_xor_si256(one, other)))
    }
}

impl Not for Wide {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self ^ Self(array::from_fn(|_| avx2!(_mm256_set1_epi64x(-1))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bits::tests::check_calculations;
    use super::*;
    use crate::clean::screen::patterns::vectors;

    #[test]
    fn vectors_of_32_bytes_calculate_as_words_do() {
        if vectors::tests::are_available() {
            check_calculations::<Wide, 1>();
        }
    }
}
