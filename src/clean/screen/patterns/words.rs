//! Words that may be anywhere in a URL, looked for in 32 or 64 places at a time.
//!
//! For each word, the search looks for the few consecutive bytes that are probably rarest, and compares the whole word only where
//! they occur. The method is that of Teddy, in the crate `aho-corasick`, which looks for the first bytes of each word. Nearly every
//! URL of a shop has the first bytes of `/private/`, but not the `riva`.

mod rare;

use std::ops::BitOr;

use super::vectors::{self, BLOCK, NIBBLES};
use rare::{BUCKETS, Texts, packs};

/// Most bytes that are looked for of each word.
const RARE_MAX: usize = 4;

/// Fewest bytes of a word.
pub const RARE_MIN: usize = 3;

/// Most words. With more of them in each bucket, too many places would look like one of them.
const WORDS_MAX: usize = 4 * BUCKETS;

/// A bit for each pattern.
pub type Bits = u64;

/// The patterns that words in a text point to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matching {
    /// The patterns that may match.
    pub may: Bits,
    /// The patterns that do match. All of them are also in `may`.
    pub does: Bits,
}

impl BitOr for Matching {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self { may: self.may | other.may, does: self.does | other.does }
    }
}

/// A word, and what it tells of patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word, in lower case if its letters stand for both cases.
    pub bytes: Vec<u8>,
    /// The patterns if a URL has it.
    pub any_case: Matching,
    /// The patterns that match if a URL has it in the case that it has here.
    pub same_case: Bits,
}

/// The buckets of the words that may have a byte at some place: those that have its low half there, and those that have its high
/// half.
#[derive(Debug, Clone, Copy, Default)]
struct Buckets {
    low: [u8; NIBBLES],
    high: [u8; NIBBLES],
}

/// Finds out which of a few words are in a text.
#[derive(Debug, Clone)]
pub struct Words {
    /// For each of the rare bytes of words.
    buckets: [Buckets; RARE_MAX],
    /// How many of their bytes are looked for.
    rare: usize,
    words: Vec<Placed>,
    /// Whether letters stand for both cases.
    is_folded: bool,
    /// Whether the processor has vectors of 64 bytes.
    are_vectors_long: bool,
}

#[derive(Debug, Clone)]
struct Placed {
    word: Word,
    /// The index in the word at which its rare bytes begin.
    rare_at: usize,
    /// The bit of its bucket.
    bucket: u8,
}

impl Words {
    /// A search for `words` in texts like `sample`, or in any if that is empty. `None` if there are too many, one is shorter than
    /// three bytes, or the processor lacks the instructions.
    pub fn of(words: &[Word], is_folded: bool, sample: &[u8]) -> Option<Self> {
        let rare = words.iter().map(|word| word.bytes.len()).min()?.min(RARE_MAX);
        if words.len() > WORDS_MAX || rare < RARE_MIN || !vectors::are_available() {
            return None;
        }
        let sample = if is_folded { &sample.to_ascii_lowercase() } else { sample };
        let texts = Texts::like(sample);
        let place =
            |word: &Word| Placed { word: word.clone(), rare_at: texts.rarest(&word.bytes, rare), bucket: 0 };
        let mut words: Vec<_> = words.iter().map(place).collect();
        let mut buckets = [Buckets::default(); RARE_MAX];
        let looked_for: Vec<_> =
            words.iter().map(|placed| &placed.word.bytes[placed.rare_at..placed.rare_at + rare]).collect();
        for (bucket, pack) in packs(&looked_for, is_folded, &texts).into_iter().enumerate() {
            pack.words.iter().for_each(|&at| words[at].bucket = 1 << bucket);
            for (buckets, halves) in buckets.iter_mut().zip(&pack.halves) {
                for half in 0..NIBBLES {
                    buckets.low[half] |= u8::from(halves.low(half)) << bucket;
                    buckets.high[half] |= u8::from(halves.high(half)) << bucket;
                }
            }
        }
        let are_vectors_long = vectors::are_long_available();
        Some(Self { buckets, rare, words, is_folded, are_vectors_long })
    }

    /// Returns the patterns that the words in `text` point to.
    #[inline]
    pub fn in_text(&self, text: &[u8]) -> Matching {
        let mut all = Matching::default();
        self.find(text, |_, found| all = all | found);
        all
    }

    /// Calls `act` with what the words in `text` tell, and with where their rare bytes are, in ascending order.
    #[inline]
    pub fn find(&self, text: &[u8], act: impl FnMut(usize, Matching)) {
        match self.rare {
            RARE_MIN => self.with_rare::<RARE_MIN, { BLOCK + RARE_MIN - 1 }>(text, act),
            _ => self.with_rare::<RARE_MAX, { BLOCK + RARE_MAX - 1 }>(text, act),
        }
    }

    #[inline]
    fn with_rare<const RARE: usize, const LEAST: usize>(
        &self,
        text: &[u8],
        mut act: impl FnMut(usize, Matching),
    ) {
        let buckets = self.buckets.first_chunk::<RARE>().expect("there are as many");
        let mut from = 0;
        while let Some((at, places)) = next_places::<RARE, LEAST>(buckets, text, from, self.are_vectors_long)
        {
            self.around(text, at, &places, &mut act);
            from = at + BLOCK;
        }
    }

    /// Calls `act` for the words that are around the places whose buckets are known, the first of which is at `at` in `text`.
    #[cold]
    fn around(&self, text: &[u8], at: usize, places: &[u8; BLOCK], act: &mut impl FnMut(usize, Matching)) {
        let (eights, _) = places.as_chunks::<8>();
        for (at, buckets) in (at..).step_by(8).zip(eights) {
            let mut left = u64::from_le_bytes(*buckets);
            while left != 0 {
                let first = left.trailing_zeros() as usize / 8;
                self.around_place(text, at + first, buckets[first], act);
                left &= !(0xFF << (8 * first));
            }
        }
    }

    fn around_place(&self, text: &[u8], at: usize, buckets: u8, act: &mut impl FnMut(usize, Matching)) {
        for Placed { word, rare_at, bucket } in &self.words {
            let start = at.checked_sub(*rare_at).filter(|_| bucket & buckets != 0);
            let place = start.and_then(|start| text.get(start..start + word.bytes.len()));
            let Some(place) = place else { continue };
            let is_same = *place == *word.bytes;
            if is_same || self.is_folded && place.eq_ignore_ascii_case(&word.bytes) {
                let does = word.any_case.does | if is_same { word.same_case } else { 0 };
                act(at, Matching { does, ..word.any_case });
            }
        }
    }
}

/// The next places in `text`, from `from` on, one of which has buckets whose words may be there: where the first of them is, and
/// the buckets of all.
#[inline]
fn next_places<const RARE: usize, const LEAST: usize>(
    buckets: &[Buckets; RARE],
    text: &[u8],
    from: usize,
    are_vectors_long: bool,
) -> Option<(usize, [u8; BLOCK])> {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code)]
    // SAFETY: the processor has these instructions, see `Words::of`.
    return unsafe {
        let from = if are_vectors_long { avx512::skip_places(buckets, text, from) } else { from };
        avx2::next_places::<RARE, LEAST>(buckets, text, from)
    };
    #[cfg(not(target_arch = "x86_64"))]
    {
        debug_assert!(!are_vectors_long);
        next_by::<RARE, LEAST>(text, from, |bytes| places(buckets, bytes))
    }
}

/// As [`next_places`], with a function that returns the buckets of 32 places.
#[inline(always)]
fn next_by<const RARE: usize, const LEAST: usize>(
    text: &[u8],
    mut from: usize,
    places: impl Fn(&[u8; LEAST]) -> Option<[u8; BLOCK]>,
) -> Option<(usize, [u8; BLOCK])> {
    while let Some(bytes) = text.get(from..).and_then(<[u8]>::first_chunk) {
        if let Some(places) = places(bytes) {
            return Some((from, places));
        }
        from += BLOCK;
    }
    if from + RARE > text.len() {
        return None;
    }
    let Some(last) = text.last_chunk() else {
        let mut padded = [0; LEAST];
        padded[..text.len()].copy_from_slice(text);
        return places(&padded).map(|places| (0, places));
    };
    // The last places overlap those before them.
    let at = text.len() - LEAST;
    let mut places = places(last)?;
    places[..from - at].fill(0);
    Some((at, places))
}

/// The buckets of each of the first 32 places whose words may be there, if there are any.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn places<const RARE: usize, const LEAST: usize>(
    buckets: &[Buckets; RARE],
    bytes: &[u8; LEAST],
) -> Option<[u8; BLOCK]> {
    let places = std::array::from_fn(|at| {
        let of = |(buckets, byte): (&Buckets, &u8)| {
            buckets.low[usize::from(byte % 16)] & buckets.high[usize::from(byte / 16)]
        };
        buckets.iter().zip(&bytes[at..]).map(of).fold(u8::MAX, |all, of| all & of)
    });
    (places != [0; BLOCK]).then_some(places)
}

/// Looks up 32 bytes with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{_mm256_and_si256, _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_testz_si256};

    use crate::clean::screen::patterns::vectors::{BLOCK, bytes_of, halves, twice, vector};
    use crate::clean::screen::patterns::words::{Buckets, next_by};

    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn next_places<const RARE: usize, const LEAST: usize>(
        buckets: &[Buckets; RARE],
        text: &[u8],
        from: usize,
    ) -> Option<(usize, [u8; BLOCK])> {
        next_by::<RARE, LEAST>(text, from, |bytes| places(buckets, bytes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn places<const RARE: usize, const LEAST: usize>(
        buckets: &[Buckets; RARE],
        bytes: &[u8; LEAST],
    ) -> Option<[u8; BLOCK]> {
        let mut places = _mm256_set1_epi8(-1);
        for (at, Buckets { low, high }) in buckets.iter().enumerate() {
            let bytes = bytes[at..].first_chunk().expect("there are as many for each");
            let (of_low, of_high) = halves(vector(bytes));
            let of_low = _mm256_shuffle_epi8(twice(low), of_low);
            places = _mm256_and_si256(places, of_low);
            places = _mm256_and_si256(places, _mm256_shuffle_epi8(twice(high), of_high));
        }
        (_mm256_testz_si256(places, places) == 0).then(|| bytes_of(places))
    }
}

/// Looks up 64 bytes with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{_mm512_and_si512, _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_test_epi8_mask};

    use crate::clean::screen::patterns::vectors::{LONG_BLOCK, four_times, long_halves, long_vector};
    use crate::clean::screen::patterns::words::Buckets;

    /// The first place from `from` on, in steps of 64, that begins 64 places one of which has buckets; or one after which there are
    /// fewer.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn skip_places<const RARE: usize>(buckets: &[Buckets; RARE], text: &[u8], mut from: usize) -> usize {
        while let Some(bytes) = text.get(from..from + LONG_BLOCK + RARE - 1) {
            let mut places = _mm512_set1_epi8(-1);
            for (at, Buckets { low, high }) in buckets.iter().enumerate() {
                let (of_low, of_high) = long_halves(long_vector(&bytes[at..at + LONG_BLOCK]));
                places = _mm512_and_si512(places, _mm512_shuffle_epi8(four_times(low), of_low));
                places = _mm512_and_si512(places, _mm512_shuffle_epi8(four_times(high), of_high));
            }
            if _mm512_test_epi8_mask(places, places) != 0 {
                break;
            }
            from += LONG_BLOCK;
        }
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;

    #[test]
    fn a_word_is_found_wherever_it_is() {
        if !vectors::tests::are_available() {
            return;
        }
        let mut random = Random::new(31);
        let mut found = 0;
        for round in 0..3_000 {
            let letters = [&b"ab/"[..], b"abcdefgh/-AB", b"aA~%?="][round % 3];
            let (is_folded, shortest) = (round % 2 == 0, 3 + round % 5 / 2);
            let words: Vec<Word> = (0..1 + random.below(WORDS_MAX))
                .map(|at| {
                    let length = shortest + random.below(6);
                    let bytes: Vec<u8> = (0..length).map(|_| letters[random.below(letters.len())]).collect();
                    Word {
                        bytes: if is_folded { bytes.to_ascii_lowercase() } else { bytes },
                        any_case: Matching { may: 1 << at, does: if at % 3 == 0 { 1 << at } else { 0 } },
                        same_case: if at % 3 == 1 { 1 << at } else { 0 },
                    }
                })
                .collect();
            let sample = if round % 4 < 2 { &b""[..] } else { b"bab/xyz-AB/aa-b" };
            let search = Words::of(&words, is_folded, sample);
            let search = search.expect("no word is short, and they are few");
            for _ in 0..10 {
                let length = random.below(120);
                let mut text: Vec<u8> = (0..length).map(|_| b"ab/xyz-AB"[random.below(9)]).collect();
                if length >= 8 && random.below(2) == 0 {
                    let word = &words[random.below(words.len())].bytes;
                    let at = [0, length - word.len().min(length), random.below(length)][random.below(3)];
                    let end = (at + word.len()).min(length);
                    text[at..end].copy_from_slice(&word[..end - at]);
                }
                let lower = if is_folded { text.to_ascii_lowercase() } else { text.clone() };
                let mut want = Matching::default();
                for Word { bytes, any_case, same_case } in &words {
                    let is_in = |text: &[u8]| text.windows(bytes.len()).any(|found| found == bytes);
                    want = want | if is_in(&lower) { *any_case } else { Matching::default() };
                    want.does |= if is_in(&text) { *same_case } else { 0 };
                }
                assert_eq!(search.in_text(&text), want, "{words:?} in {:?}", text.escape_ascii());
                let mut places = Vec::new();
                search.find(&text, |at, _| places.push(at));
                let times =
                    |word: &Word| lower.windows(word.bytes.len()).filter(|at| **at == word.bytes).count();
                assert!(places.is_sorted() && places.len() == words.iter().map(times).sum::<usize>());
                found += usize::from(want.may != 0);
            }
        }
        assert!((5_000..25_000).contains(&found), "{found}");
    }

    #[test]
    fn the_places_are_the_same_without_vectors() {
        if !vectors::tests::are_available() {
            return;
        }
        let are_long_available = vectors::tests::are_long_available();
        let words = ["abca", "bcab", "xyz=", "/a/b", "cabb", "zzz1", "-1-2", "q?aa", "%20C"];
        let word = |word: &&str| Word {
            bytes: word.to_ascii_lowercase().into_bytes(),
            any_case: Matching::default(),
            same_case: 0,
        };
        let words: Vec<_> = words.iter().map(word).collect();
        let search = Words::of(&words, true, &[]).unwrap();
        let mut random = Random::new(37);
        for _ in 0..20_000 {
            let length = RARE_MAX + random.below(6 * BLOCK);
            let bytes: Vec<u8> = (0..length).map(|_| b"abcxyz=/-1q?%20AC"[random.below(17)]).collect();
            let plain = next_by::<RARE_MAX, { BLOCK + RARE_MAX - 1 }>(&bytes, 0, |bytes| {
                places(&search.buckets, bytes)
            });
            for are_long in [false, are_long_available] {
                let quick =
                    next_places::<RARE_MAX, { BLOCK + RARE_MAX - 1 }>(&search.buckets, &bytes, 0, are_long);
                assert_eq!(quick, plain);
            }
        }
    }
}
