//! Finds eight classes at a time, with AVX-512: one instruction looks up which of them each of 64 bytes is in.

use std::arch::x86_64::{
    __m512i, _mm512_gf2p8affine_epi64_epi8, _mm512_maskz_permutex2var_epi8, _mm512_movepi8_mask,
    _mm512_permutex2var_epi8, _mm512_permutex2var_epi64, _mm512_set1_epi64, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_shuffle_epi8,
};

use crate::clean::screen::patterns::streams::bits::{BITS, WORDS_MAX};
use crate::clean::screen::patterns::streams::classes::{Classes, Found};
use crate::clean::screen::patterns::streams::wider::Wider;
use crate::clean::screen::patterns::vectors::{LONG_BLOCK, four_times, long_vector};
use crate::common::array;

/// Classes of a group: a bit of a byte for each.
pub const CLASSES: usize = u8::BITS as usize;

/// Eight classes or fewer.
#[derive(Debug, Clone)]
pub struct Group {
    /// For each ASCII character, a bit for each class that it is in.
    table: [[u8; LONG_BLOCK]; 2],
    /// The indices of the classes.
    indices: Vec<usize>,
}

/// The bytes of each word in reverse order, in two words.
const REVERSED: [u8; 16] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8];

/// The identity matrix: every byte of a word has one bit, the first byte the lowest.
const DIAGONAL: u64 = 0x8040_2010_0804_0201;

/// Indices that take bytes from two blocks alternately: all first bytes of their words, then all second ones, and so on. The first
/// vector is for the first four bytes of each word. Indices from 64 on are for the second block.
const GATHERED: [[u8; LONG_BLOCK]; 2] = {
    let mut all = [[0; LONG_BLOCK]; 2];
    let mut at = 0;
    while at < 2 * LONG_BLOCK {
        let (half, word, byte) = (at / LONG_BLOCK, at % LONG_BLOCK / 8, at % 8);
        let (block, of_word) = (word % 2, half * 4 + word / 2);
        all[half][at % LONG_BLOCK] = (block * LONG_BLOCK + byte * 8 + of_word) as u8;
        at += 1;
    }
    all
};

impl Group {
    /// The group of those of `classes` that have these indices, at most eight.
    pub fn of(classes: &Classes, indices: &[usize]) -> Self {
        let mut table = [[0; LONG_BLOCK]; 2];
        for (bit, &class) in indices.iter().enumerate() {
            for byte in (0..128).filter(|&byte| classes.contains(class, byte)) {
                table[usize::from(byte) / LONG_BLOCK][usize::from(byte) % LONG_BLOCK] |= 1 << bit;
            }
        }
        Self { table, indices: indices.to_vec() }
    }

    /// Puts the streams of the classes in `text`, which has fewer bytes than a stream has bits, into `found`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
    pub fn find(&self, text: &[u8], found: &mut Found) {
        let [low, high] = [long_vector(&self.table[0]), long_vector(&self.table[1])];
        let reversed = four_times(&REVERSED);
        let diagonal = _mm512_set1_epi64(DIAGONAL as i64);
        let mut blocks = [_mm512_setzero_si512(); WORDS_MAX];
        for (block, text) in blocks.iter_mut().zip(text.chunks(BITS)) {
            let bytes = long_vector(text);
            // The lookup takes no notice of the highest bit.
            let is_ascii = !_mm512_movepi8_mask(bytes);
            // For each byte, a bit for each class.
            let classes = _mm512_maskz_permutex2var_epi8(is_ascii, low, bytes, high);
            // Each word is a matrix of 8 x 8 bits. Multiplied by the identity, it is transposed: a byte for each class. The
            // instruction takes the last byte for the first row.
            *block = _mm512_gf2p8affine_epi64_epi8::<0>(diagonal, _mm512_shuffle_epi8(classes, reversed));
        }
        // Three rounds bring the bytes of each class together.
        let gathered = [long_vector(&GATHERED[0]), long_vector(&GATHERED[1])];
        let halves =
            [_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15)];
        blocks = interleaved(blocks, |one, other, half| _mm512_permutex2var_epi8(one, gathered[half], other));
        for _ in 0..2 {
            blocks =
                interleaved(blocks, |one, other, half| _mm512_permutex2var_epi64(one, halves[half], other));
        }
        for (&at, block) in self.indices.iter().zip(blocks) {
            found[at] = Wider::from(block).words();
        }
    }
}

/// Interleaves the first half of the blocks with the second one. Each pair of blocks gives two; the last argument of `merge` is 0
/// for the first of them and 1 for the other.
#[inline(always)]
fn interleaved(
    blocks: [__m512i; WORDS_MAX],
    merge: impl Fn(__m512i, __m512i, usize) -> __m512i,
) -> [__m512i; WORDS_MAX] {
    array::from_fn(|at| merge(blocks[at / 2], blocks[at / 2 + WORDS_MAX / 2], at % 2))
}
