//! Finds classes: where in a text the bytes of each are, as streams.

use super::bits::{Bits, Stream};
use super::classes::{Class, Classes, Found};
use crate::clean::screen::patterns::vectors;
use crate::common::array;

#[cfg(target_arch = "x86_64")]
mod groups;
#[cfg(target_arch = "x86_64")]
use groups::Group;

/// Finds some of the classes that patterns have.
#[derive(Debug, Clone)]
pub struct Finder {
    /// Bytes and tables, with their indices, also those whose complements are sought.
    plain: Vec<(usize, Class)>,
    /// The indices of complements, and of what they are the complements of.
    complements: Vec<[usize; 2]>,
    line_ends: Option<[usize; 2]>,
    /// The classes in groups, if the processor has vectors of 64 bytes. The other fields are not used then.
    #[cfg(target_arch = "x86_64")]
    groups: Option<Vec<Group>>,
}

impl Finder {
    /// Whether the processor has the instructions to find classes quickly.
    pub fn is_available() -> bool {
        vectors::are_available()
    }

    /// Finds those of `classes` whose bits are set in `wanted`, and line ends.
    ///
    /// # Panics
    /// If the instructions are not available.
    pub fn of(classes: &Classes, wanted: u32) -> Self {
        assert!(Self::is_available(), "the processor lacks the instructions");
        let line_ends = classes.line_ends();
        let is_wanted = |at: &usize| wanted >> at & 1 == 1 || line_ends.iter().flatten().any(|end| end == at);
        let all: Vec<usize> = (0..classes.len()).filter(is_wanted).collect();
        let (mut plain, mut complements) = (Vec::new(), Vec::new());
        for &at in &all {
            match classes.get(at) {
                Class::Byte(_) | Class::Table(_) => plain.push(at),
                Class::Not(other) => {
                    plain.push(other);
                    complements.push([at, other]);
                }
            }
        }
        plain.sort_unstable();
        plain.dedup();
        #[cfg(target_arch = "x86_64")]
        let groups = vectors::are_long_available()
            .then(|| all.chunks(groups::CLASSES).map(|own| Group::of(classes, own)).collect());
        Self {
            plain: plain.into_iter().map(|at| (at, classes.get(at))).collect(),
            complements,
            line_ends,
            #[cfg(target_arch = "x86_64")]
            groups,
        }
    }

    /// Whether vectors of 64 bytes are used, because the processor has them.
    #[cfg(target_arch = "x86_64")]
    pub fn are_vectors_long(&self) -> bool {
        self.groups.is_some()
    }

    /// This finder without vectors of 64 bytes.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub fn with_short_vectors(self) -> Self {
        Self { groups: None, ..self }
    }

    /// Puts the streams of the classes in `text` into `found`. The text has fewer bytes than this number of words has bits. Streams
    /// of other classes stay as they are, and words beyond `WORDS` are unspecified. A byte that no URL has may be in any class.
    #[inline]
    pub fn find<const WORDS: usize>(&self, text: &[u8], found: &mut Found) {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code)]
        // SAFETY: the processor has these instructions, see `of`.
        unsafe {
            match &self.groups {
                Some(groups) => groups.iter().for_each(|group| group.find(text, found)),
                None => {
                    avx2::find::<WORDS>(&self.plain, text, found);
                    self.find_complements::<WORDS>(text.len(), found);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            find_anywhere::<WORDS>(&self.plain, text, found);
            self.find_complements::<WORDS>(text.len(), found);
        }
    }

    /// Puts the streams of the complements into `found`, which has those of the other classes. The text has this many bytes.
    #[inline(always)]
    fn find_complements<const WORDS: usize>(&self, bytes: usize, found: &mut Found) {
        if self.complements.is_empty() {
            return;
        }
        let mut in_urls = bytes.checked_sub(1).map_or(Bits::NONE, Bits::<WORDS>::up_to);
        for at in self.line_ends.into_iter().flatten() {
            in_urls = in_urls & !Bits::of_longer(&found[at]);
        }
        for &[at, other] in &self.complements {
            let others = Bits::of_longer(&found[other]);
            array::write(&mut found[at], (in_urls & !others).0);
        }
    }
}

/// Finds classes without vector instructions.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn find_anywhere<const WORDS: usize>(plain: &[(usize, Class)], text: &[u8], found: &mut Found) {
    for (at, class) in plain {
        let mut blocks = text.chunks(super::bits::BITS);
        for word in &mut found[*at][..WORDS] {
            let bytes = blocks.next().unwrap_or_default();
            *word = bytes.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(class.has(byte)));
        }
    }
}

/// Looks up 32 bytes with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8,
        _mm256_shuffle_epi8,
    };

    use crate::clean::screen::patterns::streams::bits::BITS;
    use crate::clean::screen::patterns::streams::classes::{Class, Found, Table};
    use crate::clean::screen::patterns::vectors::{self, halves, twice, vector};

    /// The bit of each high half of a byte. Bytes that are not ASCII are in no class.
    const BIT: Table = [1, 2, 4, 8, 16, 32, 64, 128, 255, 255, 255, 255, 255, 255, 255, 255];

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn find<const WORDS: usize>(plain: &[(usize, Class)], text: &[u8], found: &mut Found) {
        let (blocks, rest) = text.as_chunks();
        // The last block overlaps the one before it. Its first bytes are shifted out.
        let (last, known) = match text.last_chunk() {
            Some(last) => (*last, BITS - rest.len()),
            None => {
                let mut last = [u8::MAX; BITS];
                last[..rest.len()].copy_from_slice(rest);
                (last, 0)
            }
        };
        let last = (!rest.is_empty()).then_some((&last, known));
        let bit = twice(&BIT);
        for (at, class) in plain {
            let words = &mut found[*at][..WORDS];
            match class {
                Class::Byte(byte) => {
                    let byte = _mm256_set1_epi8(*byte as i8);
                    put(words, blocks, last, |bytes| are_equal(byte, bytes));
                }
                Class::Table(table) => {
                    let table = twice(table);
                    put(words, blocks, last, |bytes| are_in(table, bit, bytes));
                }
                Class::Not(_) => (),
            }
        }
    }

    /// Puts the bits of all blocks into `words`. Of the last one, so many bits are known already.
    #[inline(always)]
    fn put(
        words: &mut [u64],
        blocks: &[[u8; BITS]],
        last: Option<(&[u8; BITS], usize)>,
        bits: impl Fn(&[u8; vectors::BLOCK]) -> u32,
    ) {
        let bits = |block: &[u8; BITS]| {
            let [low, high] = block.as_chunks().0 else { unreachable!("a block is two vectors") };
            u64::from(bits(low)) | u64::from(bits(high)) << vectors::BLOCK
        };
        let (full, rest) = words.split_at_mut(blocks.len());
        full.iter_mut().zip(blocks).for_each(|(word, block)| *word = bits(block));
        rest.fill(0);
        if let Some((block, known)) = last {
            rest[0] = bits(block) >> known;
        }
    }

    /// Which of `bytes` are the byte that is in all places of `byte`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn are_equal(byte: __m256i, bytes: &[u8; vectors::BLOCK]) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(vector(bytes), byte)) as u32
    }

    /// Which of `bytes` are in the class of `table`. `bit` has the bit of each high half.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn are_in(table: __m256i, bit: __m256i, bytes: &[u8; vectors::BLOCK]) -> u32 {
        let (low, high) = halves(vector(bytes));
        let bits = _mm256_shuffle_epi8(bit, high);
        let rows = _mm256_shuffle_epi8(table, low);
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(rows, bits), bits)) as u32
    }
}

#[cfg(test)]
mod tests;
