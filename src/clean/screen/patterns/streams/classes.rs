//! Classes of bytes as streams: where in a URL the bytes of each class are.

use regex_syntax::hir::ClassBytes;

use super::super::vectors::{self, NIBBLES};
use super::bits::WORDS_MAX;

/// Most classes.
pub const CLASSES_MAX: usize = 24;

/// The streams of all classes in a URL, each in as many words as it needs.
pub type Found = [[u64; WORDS_MAX]; CLASSES_MAX];

/// A class of ASCII characters: for each low half of a byte, a bit for each high half.
type Class = [u8; NIBBLES];

/// A few classes.
#[derive(Debug, Clone)]
pub struct Classes(Vec<Class>);

impl Classes {
    /// No classes yet. `None` if the processor lacks the instructions to find them quickly.
    pub fn new() -> Option<Self> {
        vectors::are_available().then(|| Self(Vec::new()))
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The index of a class of one byte.
    pub fn of_byte(&mut self, byte: u8) -> Option<usize> {
        self.add(std::iter::once(byte))
    }

    /// The index of a class. `None` if there are too many.
    pub fn of(&mut self, class: &ClassBytes) -> Option<usize> {
        self.add(class.iter().flat_map(|range| range.start()..=range.end()))
    }

    /// The same for the bytes of a class.
    pub fn add(&mut self, bytes: impl Iterator<Item = u8>) -> Option<usize> {
        let mut class = Class::default();
        // URLs are ASCII.
        for byte in bytes.filter(u8::is_ascii) {
            class[usize::from(byte % 16)] |= 1 << (byte / 16);
        }
        let known = self.0.iter().position(|known| *known == class);
        let at = known.unwrap_or(self.0.len());
        if at == CLASSES_MAX {
            return None;
        }
        if known.is_none() {
            self.0.push(class);
        }
        Some(at)
    }

    /// Puts the streams of the classes in `url` into `found`, of those whose bits in `needed` are set. The URL has fewer bytes than
    /// this number of words has bits; other words are left as they are.
    #[inline]
    pub fn find<const WORDS: usize>(&self, needed: u32, url: &[u8], found: &mut Found) {
        let needed = needed & ((1 << self.0.len()) - 1);
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code)]
        // SAFETY: the processor has AVX2, see `new`.
        unsafe {
            avx2::find::<WORDS>(&self.0, needed, url, found);
        }
        #[cfg(not(target_arch = "x86_64"))]
        find_anywhere::<WORDS>(&self.0, needed, url, found);
    }
}

/// The indices of the bits that are set.
#[inline(always)]
fn ones(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (at < u32::BITS).then_some(at as usize)
    })
}

/// Does the same as [`Classes::find`] without vector instructions.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn find_anywhere<const WORDS: usize>(classes: &[Class], needed: u32, url: &[u8], found: &mut Found) {
    for at in ones(needed) {
        let is_in = |byte: u8| byte.is_ascii() && classes[at][usize::from(byte % 16)] >> (byte / 16) & 1 == 1;
        let mut words = url.chunks(u64::BITS as usize);
        for word in &mut found[at][..WORDS] {
            let bytes = words.next().unwrap_or_default();
            *word = bytes.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(is_in(byte)));
        }
    }
}

/// Looks up 32 bytes with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_shuffle_epi8,
    };

    use crate::clean::screen::patterns::streams::classes::{Class, Found, ones};
    use crate::clean::screen::patterns::vectors::{BLOCK, halves, twice, vector};

    /// The bit of each high half of a byte. Bytes that are not ASCII are in no class.
    const BIT: Class = [1, 2, 4, 8, 16, 32, 64, 128, 255, 255, 255, 255, 255, 255, 255, 255];

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn find<const WORDS: usize>(classes: &[Class], needed: u32, url: &[u8], found: &mut Found) {
        for at in ones(needed) {
            found[at][..WORDS].fill(0);
        }
        let (blocks, rest) = url.as_chunks::<BLOCK>();
        for (block, bytes) in blocks.iter().enumerate() {
            let (bytes, bits) = with_bits(bytes);
            for at in ones(needed) {
                let bits = u64::from(are_in(twice(&classes[at]), bytes, bits));
                found[at][block / 2] |= bits << (block % 2 * BLOCK);
            }
        }
        if rest.is_empty() {
            return;
        }
        // The last block overlaps the one before it. Its first bytes are shifted out.
        let (last, known) = match url.last_chunk::<BLOCK>() {
            Some(last) => (*last, BLOCK - rest.len()),
            None => {
                let mut last = [u8::MAX; BLOCK];
                last[..rest.len()].copy_from_slice(rest);
                (last, 0)
            }
        };
        let (bytes, bits) = with_bits(&last);
        for at in ones(needed) {
            let bits = u64::from(are_in(twice(&classes[at]), bytes, bits)) >> known;
            found[at][blocks.len() / 2] |= bits << (blocks.len() % 2 * BLOCK);
        }
    }

    /// Which of `bytes` are in the class of `table`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn are_in(table: __m256i, bytes: __m256i, bits: __m256i) -> u32 {
        let rows = _mm256_shuffle_epi8(table, bytes);
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(rows, bits), bits)) as u32
    }

    /// Bytes, and the bit of the high half of each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn with_bits(bytes: &[u8; BLOCK]) -> (__m256i, __m256i) {
        let (low, high) = halves(vector(bytes));
        (low, _mm256_shuffle_epi8(twice(&BIT), high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;

    #[test]
    fn every_byte_of_a_class_is_found_with_and_without_vectors() {
        let mut random = Random::new(9);
        let Some(mut classes) = Classes::new() else { return };
        let sets: Vec<Vec<u8>> =
            (0..CLASSES_MAX).map(|n| (0..128).filter(|_| random.below(n + 2) == 0).collect()).collect();
        for (at, set) in sets.iter().enumerate() {
            assert_eq!(classes.add(set.iter().copied()), Some(at));
        }
        assert_eq!(classes.add(sets[3].iter().copied()), Some(3));
        assert_eq!(classes.of_byte(1), None);
        for length in 0..256 {
            let url: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            let needed = random.next() as u32 & ((1 << CLASSES_MAX) - 1);
            let [mut quick, mut plain] = [Found::default(), Found::default()];
            classes.find::<4>(needed, &url, &mut quick);
            find_anywhere::<4>(&classes.0, needed, &url, &mut plain);
            assert_eq!(quick, plain);
            for (at, words) in quick.iter().enumerate() {
                let is_found = |place: usize| words[place / 64] >> (place % 64) & 1 == 1;
                for place in 0..256 {
                    let is_in = url.get(place).is_some_and(|byte| sets[at].contains(byte));
                    let want = is_in && needed >> at & 1 == 1;
                    assert_eq!(is_found(place), want, "byte {place} of {length}");
                }
            }
        }
    }
}
