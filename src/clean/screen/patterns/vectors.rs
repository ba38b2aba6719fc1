//! Vectors of 32 bytes for processors with AVX2, and of 64 bytes for those with AVX-512, which can look up all of them with one
//! instruction. Compilers do not generate it from a loop. Without it, the same is done byte by byte.

/// Bytes of a vector.
pub const BLOCK: usize = 32;

/// Bytes of a vector of AVX-512.
#[cfg(target_arch = "x86_64")]
pub const LONG_BLOCK: usize = 64;

/// Values of half a byte, and bytes of the table in which a shuffle looks up.
pub const NIBBLES: usize = 16;

/// Whether the processor has AVX2, and the instructions for bits BMI1 and BMI2, which came with it.
pub fn are_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether the processor has vectors of 64 bytes, too: AVX-512, with the instructions that compare bytes (BW), look up bytes in
/// large tables (VBMI), shift bits from one word to another (VBMI2), and multiply matrices of bits (GFNI).
pub fn are_long_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return are_available()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("gfni");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
pub use avx2::{bytes_of, halves, twice, vector};
#[cfg(target_arch = "x86_64")]
pub use avx512::{four_times, long_halves, long_vector};

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_extract_epi64, _mm256_set_epi64x, _mm256_set1_epi8,
        _mm256_srli_epi16,
    };

    use super::{BLOCK, NIBBLES};
    use crate::common::array;

    /// A vector of these bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn vector(bytes: &[u8; BLOCK]) -> __m256i {
        let [a, b, c, d] = *bytes.as_chunks().0 else { unreachable!("a vector is four words") };
        let [a, b, c, d] = array::map([a, b, c, d], i64::from_le_bytes);
        _mm256_set_epi64x(d, c, b, a)
    }

    /// A table for the shuffle, which looks up each half of a vector in the same half of the table.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn twice(table: &[u8; NIBBLES]) -> __m256i {
        let [low, high] = *table.as_chunks().0 else { unreachable!("a table is two words") };
        let [low, high] = array::map([low, high], i64::from_le_bytes);
        _mm256_set_epi64x(high, low, high, low)
    }

    /// The low and the high half of each byte. A low half that is looked up gives 0 for a byte that is not ASCII.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn halves(bytes: __m256i) -> (__m256i, __m256i) {
        // The shuffle ignores bits 4 to 6.
        (bytes, _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15)))
    }

    /// The bytes of a vector.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn bytes_of(vector: __m256i) -> [u8; BLOCK] {
        let words = [
            _mm256_extract_epi64::<0>(vector),
            _mm256_extract_epi64::<1>(vector),
            _mm256_extract_epi64::<2>(vector),
            _mm256_extract_epi64::<3>(vector),
        ];
        let mut bytes = [0; BLOCK];
        bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
        bytes
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm_set_epi64x, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_maskz_loadu_epi8,
        _mm512_set1_epi8, _mm512_srli_epi16,
    };

    use super::{LONG_BLOCK, NIBBLES};

    /// A vector of these bytes, at most 64, and of bytes of 0 after them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn long_vector(bytes: &[u8]) -> __m512i {
        let others = LONG_BLOCK - bytes.len();
        let own = u64::MAX.checked_shr(others as u32).unwrap_or(0);
        #[expect(unsafe_code)]
        // SAFETY: nothing is read but the bytes whose bits are set, and there are as many.
        unsafe {
            _mm512_maskz_loadu_epi8(own, bytes.as_ptr().cast())
        }
    }

    /// A table for the shuffle, which looks up each quarter of a vector in the same quarter of the table.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn four_times(table: &[u8; NIBBLES]) -> __m512i {
        let [low, high] = *table.as_chunks().0 else { unreachable!("a table is two words") };
        _mm512_broadcast_i32x4(_mm_set_epi64x(i64::from_le_bytes(high), i64::from_le_bytes(low)))
    }

    /// The low and the high half of each byte, as [`halves`](super::halves) returns them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn long_halves(bytes: __m512i) -> (__m512i, __m512i) {
        (bytes, _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15)))
    }
}

#[cfg(test)]
pub mod tests {
    use std::io::{Write, stderr};

    /// Whether a test can use vectors. If not, it says that it is skipped.
    pub fn are_available() -> bool {
        has("AVX2", super::are_available())
    }

    /// Whether a test can use vectors of 64 bytes. If not, it says that it is skipped.
    pub fn are_long_available() -> bool {
        has("AVX-512", super::are_long_available())
    }

    fn has(instructions: &str, is_available: bool) -> bool {
        if !is_available {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            // Written directly, because the harness hides the output of passing tests.
            let _ = writeln!(stderr(), "\nSKIPPED: {name}: the processor has no {instructions}");
        }
        is_available
    }
}
