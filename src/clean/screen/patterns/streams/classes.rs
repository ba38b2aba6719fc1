//! Classes of bytes as streams: where in a text the bytes of each class are.

use regex_syntax::hir::ClassBytes;

use super::super::literals::URL_BYTES;
use super::super::vectors::{self, NIBBLES};
use super::bits::{Bits, Stream, WORDS_MAX};

/// Most classes.
pub const CLASSES_MAX: usize = 24;

/// The streams of all classes in a text, each in as many words as it needs.
pub type Found = [[u64; WORDS_MAX]; CLASSES_MAX];

/// Bytes that a word has a bit for.
const BLOCK: usize = u64::BITS as usize;

/// A class of ASCII characters: for each low half of a byte, a bit for each high half.
type Table = [u8; NIBBLES];

/// A class of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Nothing but this byte.
    Byte(u8),
    /// The bytes in a table.
    Table(Table),
    /// All bytes of URLs that are not in the class with this index.
    Not(usize),
}

/// A few classes.
#[derive(Debug, Clone)]
pub struct Classes {
    all: Vec<Class>,
    /// The classes of the line ends LF and CR, if texts have several lines.
    line_ends: Option<[usize; 2]>,
    /// Whether the processor has vectors of 64 bytes.
    are_vectors_long: bool,
}

impl Classes {
    /// No classes yet. `None` if the processor lacks the instructions to find them quickly.
    pub fn new() -> Option<Self> {
        let are_vectors_long = vectors::are_long_available();
        vectors::are_available().then_some(Self { all: Vec::new(), line_ends: None, are_vectors_long })
    }

    /// Whether the processor has vectors of 64 bytes, which are used then.
    pub fn are_vectors_long(&self) -> bool {
        self.are_vectors_long
    }

    /// The same classes, found with vectors of 32 bytes.
    #[cfg(test)]
    pub fn with_short_vectors(self) -> Self {
        Self { are_vectors_long: false, ..self }
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The indices of the classes of the line ends LF and CR. From now on, texts may have several lines.
    pub fn of_line_ends(&mut self) -> Option<[usize; 2]> {
        self.line_ends = Some([self.push(Class::Byte(b'\n'))?, self.push(Class::Byte(b'\r'))?]);
        self.line_ends
    }

    /// The index of a class. `None` if there are too many.
    pub fn of(&mut self, class: &ClassBytes) -> Option<usize> {
        self.add(class.iter().flat_map(|range| range.start()..=range.end()))
    }

    /// The same for these bytes. What no URL has is left out, so that no pattern matches the end of a line.
    pub fn add(&mut self, bytes: impl Iterator<Item = u8>) -> Option<usize> {
        let bytes: Vec<_> = bytes.filter(|byte| URL_BYTES.contains(byte)).collect();
        let others: Vec<_> = URL_BYTES.filter(|byte| !bytes.contains(byte)).collect();
        match (&bytes[..], &others[..]) {
            (&[byte], _) => self.push(Class::Byte(byte)),
            (_, &[other]) => {
                let other = self.push(Class::Byte(other))?;
                self.push(Class::Not(other))
            }
            _ => {
                let mut table = Table::default();
                bytes.iter().for_each(|byte| table[usize::from(byte % 16)] |= 1 << (byte / 16));
                self.push(Class::Table(table))
            }
        }
    }

    fn push(&mut self, class: Class) -> Option<usize> {
        let known = self.all.iter().position(|known| *known == class);
        let at = known.unwrap_or(self.all.len());
        if at == CLASSES_MAX {
            return None;
        }
        if known.is_none() {
            self.all.push(class);
        }
        Some(at)
    }

    /// The classes that have to be found for those in `wanted`, a bit for each.
    pub fn needed(&self, wanted: u32) -> u32 {
        let wanted = wanted & ((1 << self.all.len()) - 1);
        let line_ends = self.line_ends.iter().flatten().fold(0, |all, at| all | 1 << at);
        ones(wanted).fold(wanted | line_ends, |all, at| match self.all[at] {
            Class::Not(other) => all | 1 << other,
            Class::Byte(_) | Class::Table(_) => all,
        })
    }

    /// Puts the streams of the classes in `text` into `found`, of those whose bits in `needed` are set. The text has fewer bytes than
    /// this number of words has bits; other words are left as they are. A byte that no URL has may be in any class.
    #[inline]
    pub fn find<const WORDS: usize>(&self, needed: u32, text: &[u8], found: &mut Found) {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code)]
        // SAFETY: the processor has these instructions, see `new`.
        unsafe {
            match self.are_vectors_long {
                true => avx512::find::<WORDS>(self, needed, text, found),
                false => avx2::find::<WORDS>(self, needed, text, found),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            find_anywhere::<WORDS>(&self.all, needed, text, found);
            self.find_complements::<WORDS>(needed, text.len(), found);
        }
    }

    /// Puts the streams of the classes that are complements into `found`, which has those of the others. The text has this many bytes.
    #[inline(always)]
    fn find_complements<const WORDS: usize>(&self, needed: u32, bytes: usize, found: &mut Found) {
        let mut in_urls = bytes.checked_sub(1).map_or(Bits::NONE, Bits::<WORDS>::up_to);
        for at in self.line_ends.into_iter().flatten() {
            in_urls = in_urls & !Bits::of_longer(&found[at]);
        }
        for at in ones(needed) {
            if let Class::Not(other) = self.all[at] {
                let others = Bits::of_longer(&found[other]);
                found[at][..WORDS].copy_from_slice(&(in_urls & !others).0);
            }
        }
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

/// Finds classes without vector instructions, all but the complements of others.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn find_anywhere<const WORDS: usize>(classes: &[Class], needed: u32, text: &[u8], found: &mut Found) {
    for at in ones(needed) {
        let is_in = |byte: u8| match &classes[at] {
            Class::Byte(own) => byte == *own,
            Class::Table(table) => byte.is_ascii() && table[usize::from(byte % 16)] >> (byte / 16) & 1 == 1,
            Class::Not(_) => false,
        };
        let mut blocks = text.chunks(BLOCK);
        for word in &mut found[at][..WORDS] {
            let bytes = blocks.next().unwrap_or_default();
            *word = bytes.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(is_in(byte)));
        }
    }
}

/// The bit of each high half of a byte. Bytes that are not ASCII are in no class.
#[cfg(target_arch = "x86_64")]
const BIT: Table = [1, 2, 4, 8, 16, 32, 64, 128, 255, 255, 255, 255, 255, 255, 255, 255];

/// Looks up 32 bytes with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set1_epi8,
        _mm256_shuffle_epi8,
    };

    use crate::clean::screen::patterns::streams::classes::{BIT, BLOCK, Class, Classes, Found, ones};
    use crate::clean::screen::patterns::vectors::{self, halves, twice, vector};

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn find<const WORDS: usize>(classes: &Classes, needed: u32, text: &[u8], found: &mut Found) {
        let (blocks, rest) = text.as_chunks();
        // The last block overlaps the one before it. Its first bytes are shifted out.
        let (last, known) = match text.last_chunk() {
            Some(last) => (*last, BLOCK - rest.len()),
            None => {
                let mut last = [u8::MAX; BLOCK];
                last[..rest.len()].copy_from_slice(rest);
                (last, 0)
            }
        };
        let last = (!rest.is_empty()).then_some((&last, known));
        let bit = twice(&BIT);
        for at in ones(needed) {
            let words = &mut found[at][..WORDS];
            match &classes.all[at] {
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
        classes.find_complements::<WORDS>(needed, text.len(), found);
    }

    /// Puts the bits of all blocks into `words`. Of the last one, so many bits are known already.
    #[inline(always)]
    fn put(
        words: &mut [u64],
        blocks: &[[u8; BLOCK]],
        last: Option<(&[u8; BLOCK], usize)>,
        bits: impl Fn(&[u8; vectors::BLOCK]) -> u32,
    ) {
        let bits = |block: &[u8; BLOCK]| {
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

/// Looks up 64 bytes with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        _mm512_cmpeq_epi8_mask, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_shuffle_epi8,
        _mm512_test_epi8_mask,
    };

    use crate::clean::screen::patterns::streams::classes::{BIT, BLOCK, Class, Classes, Found, ones};
    use crate::clean::screen::patterns::vectors::{four_times, long_halves, long_vector};

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
    pub fn find<const WORDS: usize>(classes: &Classes, needed: u32, text: &[u8], found: &mut Found) {
        let bit = four_times(&BIT);
        let mut blocks = [_mm512_setzero_si512(); WORDS];
        // The bit of the high half of each byte.
        let mut bits = blocks;
        for (at, block) in text.chunks(BLOCK).take(WORDS).enumerate() {
            // The bytes of 0 after a short block are in no class.
            let (low, high) = long_halves(long_vector(block));
            (blocks[at], bits[at]) = (low, _mm512_shuffle_epi8(bit, high));
        }
        for at in ones(needed) {
            let words = &mut found[at][..WORDS];
            match &classes.all[at] {
                Class::Byte(byte) => {
                    let byte = _mm512_set1_epi8(*byte as i8);
                    for (word, &block) in words.iter_mut().zip(&blocks) {
                        *word = _mm512_cmpeq_epi8_mask(block, byte);
                    }
                }
                Class::Table(table) => {
                    let table = four_times(table);
                    for ((word, &block), &bits) in words.iter_mut().zip(&blocks).zip(&bits) {
                        // It finds 0 for a byte that is not ASCII.
                        *word = _mm512_test_epi8_mask(_mm512_shuffle_epi8(table, block), bits);
                    }
                }
                Class::Not(_) => (),
            }
        }
        classes.find_complements::<WORDS>(needed, text.len(), found);
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
        let line_ends = classes.of_line_ends().unwrap();
        let mut sets = vec![vec![b'\n'], vec![b'\r'], vec![b'/']];
        sets.extend((0..CLASSES_MAX - 4).map(|n| -> Vec<u8> {
            (0..128).filter(|byte| URL_BYTES.contains(byte) && random.below(n + 2) == 0).collect()
        }));
        sets.push(URL_BYTES.filter(|&byte| byte != b'/').collect());
        for (at, set) in sets.iter().enumerate().skip(line_ends.len()) {
            assert_eq!(classes.add(set.iter().copied()), Some(at));
        }
        assert_eq!(classes.add(sets[5].iter().copied()), Some(5));
        assert_eq!(classes.add([b'!'].into_iter()), None);
        for length in 0..256 {
            let byte = |random: &mut Random| match random.below(20) {
                0 => b'\n',
                1 => b'\r',
                2 => b'/',
                _ => b'!' + random.below(94) as u8,
            };
            let text: Vec<u8> = (0..length).map(|_| byte(&mut random)).collect();
            let wanted = random.next() as u32 & ((1 << CLASSES_MAX) - 1);
            let needed = classes.needed(wanted);
            let [mut quick, mut short, mut plain] = [(); 3].map(|()| Found::default());
            classes.find::<4>(needed, &text, &mut quick);
            classes.clone().with_short_vectors().find::<4>(needed, &text, &mut short);
            assert!(quick == short);
            find_anywhere::<4>(&classes.all, needed, &text, &mut plain);
            for (at, words) in quick.iter().enumerate() {
                let is_found = |place: usize| words[place / 64] >> (place % 64) & 1 == 1;
                for place in 0..256 {
                    let is_in = text.get(place).is_some_and(|byte| sets[at].contains(byte));
                    assert_eq!(is_found(place), is_in && needed >> at & 1 == 1, "byte {place} of {length}");
                }
                assert!(*words == plain[at] || matches!(classes.all[at], Class::Not(_)));
            }
            assert_eq!(wanted & needed, wanted);
        }
    }
}
