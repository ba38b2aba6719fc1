//! The longest streams in one vector of 64 bytes. They do the same as [`Bits`](super::bits::Bits), in half as many instructions as
//! [`Wide`](super::wide::Wide) or fewer.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask,
    _mm512_cmplt_epu64_mask, _mm512_mask_sub_epi64, _mm512_maskz_set1_epi64, _mm512_or_si512,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shldv_epi64, _mm512_shrdv_epi64, _mm512_test_epi64_mask,
    _mm512_xor_si512,
};
use std::mem;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::bits::{BITS, Bits, Stream, WORDS_MAX};

/// A stream of eight words. There is none unless the processor has AVX-512, see
/// [`vectors::are_long_available`](crate::clean::screen::patterns::vectors::are_long_available).
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Wider(__m512i);

/// Calls a function that requires AVX-512.
macro_rules! avx512 {
    ($call:expr) => {{
        #[expect(unsafe_code)]
        // SAFETY: there is a stream, or one is made because the processor has AVX-512.
        unsafe {
            $call
        }
    }};
}

/// All bits of all words.
#[inline(always)]
fn ones() -> __m512i {
    avx512!(_mm512_set1_epi64(-1))
}

impl From<__m512i> for Wider {
    fn from(vector: __m512i) -> Self {
        Self(vector)
    }
}

impl Wider {
    /// Its words.
    #[inline(always)]
    pub fn words(self) -> [u64; WORDS_MAX] {
        #[expect(unsafe_code)]
        // SAFETY: words have as many bytes, and they can be any.
        unsafe {
            mem::transmute(self)
        }
    }
}

impl Stream for Wider {
    #[inline(always)]
    fn of_longer(words: &[u64; WORDS_MAX]) -> Self {
        #[expect(unsafe_code)]
        // SAFETY: a vector has as many bytes, and they can be any. Put together from words, it would not be loaded as a whole.
        unsafe {
            mem::transmute(*words)
        }
    }

    #[inline(always)]
    fn at(positions: &[usize]) -> Self {
        let (word, bit) = (positions[0] / BITS, positions[0] % BITS);
        Self(avx512!(_mm512_maskz_set1_epi64(1 << word, 1 << bit)))
    }

    #[inline(always)]
    fn put(self, to: &mut [Bits<WORDS_MAX>]) {
        to[0] = Bits(self.words());
    }

    #[inline(always)]
    fn is_any(self) -> bool {
        avx512!(_mm512_test_epi64_mask(self.0, self.0)) != 0
    }

    #[inline(always)]
    fn up(self, by: usize) -> Self {
        if by >= BITS {
            return Self::of_longer(&Bits(self.words()).up(by).0);
        }
        Self(avx512!({
            // Each word next to the one below it.
            let below = _mm512_alignr_epi64::<7>(self.0, _mm512_setzero_si512());
            _mm512_shldv_epi64(self.0, below, _mm512_set1_epi64(by as i64))
        }))
    }

    #[inline(always)]
    fn down(self, by: usize) -> Self {
        if by >= BITS {
            return Self::of_longer(&Bits(self.words()).down(by).0);
        }
        Self(avx512!({
            // Each word next to the one above it.
            let above = _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), self.0);
            _mm512_shrdv_epi64(self.0, above, _mm512_set1_epi64(by as i64))
        }))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(avx512!({
            let sums = _mm512_add_epi64(self.0, other.0);
            // A bit for each word: whether its sum carries, and whether it would with one more.
            let carry = u32::from(_mm512_cmplt_epu64_mask(sums, self.0));
            let pass = u32::from(_mm512_cmpeq_epi64_mask(sums, ones()));
            // Among these bits, carries run through those that pass them on, as they do among the bits of a number.
            let one_more = ((carry << 1) + pass) ^ pass;
            _mm512_mask_sub_epi64(sums, one_more as u8, sums, ones())
        }))
    }
}

impl BitAnd for Wider {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(avx512!(_mm512_and_si512(self.0, other.0)))
    }
}

impl BitOr for Wider {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(avx512!(_mm512_or_si512(self.0, other.0)))
    }
}

impl BitXor for Wider {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(avx512!(_mm512_xor_si512(self.0, other.0)))
    }
}

impl Not for Wider {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        self ^ Self(ones())
    }
}

#[cfg(test)]
mod tests {
    use super::super::bits::tests::check_calculations;
    use super::*;
    use crate::clean::screen::patterns::vectors;

    #[test]
    fn vectors_of_64_bytes_calculate_as_words_do() {
        if vectors::tests::are_long_available() {
            check_calculations::<Wider, 1>();
        }
    }
}
