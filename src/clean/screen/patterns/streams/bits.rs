//! Streams of bits: numbers of one word or more. The first position is the lowest bit.

use std::hint;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::common::array;

/// Words of the longest stream.
pub const WORDS_MAX: usize = 8;

/// Bits of a word.
pub const BITS: usize = u64::BITS as usize;

/// Bits of the longest stream.
pub const BITS_MAX: usize = WORDS_MAX * BITS;

/// Operations on streams. By default, a stream is that of one text.
pub trait Stream:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// The first words of a stream of these.
    fn of_longer(words: &[u64; WORDS_MAX]) -> Self;

    /// One bit in each text, at these positions.
    #[inline(always)]
    fn at(positions: &[usize]) -> Self {
        Self::of_longer(&Bits::one(positions[0]).0)
    }

    /// The first words of the streams that `words` returns for the index of each text.
    #[inline(always)]
    fn of_texts<'w>(words: impl Fn(usize) -> &'w [u64; WORDS_MAX]) -> Self {
        Self::of_longer(words(0))
    }

    /// Writes the words of each text to its place in `to`.
    fn put(self, to: &mut [Bits<WORDS_MAX>]);

    /// Whether there is a bit.
    fn is_any(self) -> bool;

    /// All bits `by` positions later. Those beyond the last word are lost.
    fn up(self, by: usize) -> Self;

    /// All bits `by` positions earlier. Those before the first one are lost.
    fn down(self, by: usize) -> Self;

    /// The sum as of numbers. The last carry is lost.
    fn plus(self, other: Self) -> Self;
}

/// A bit for each position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits<const WORDS: usize>(pub [u64; WORDS]);

impl<const WORDS: usize> Bits<WORDS> {
    /// No bits.
    pub const NONE: Self = Self([0; WORDS]);

    /// A single bit. No bits if `at` is beyond the last word.
    #[inline(always)]
    pub fn one(at: usize) -> Self {
        Self(array::from_fn(|word| u64::from(at / BITS == word) << (at % BITS)))
    }

    /// All bits from the first one to that at `last`.
    #[inline(always)]
    pub fn up_to(last: usize) -> Self {
        Self(array::from_fn(|word| match last.checked_sub(word * BITS) {
            None => 0,
            Some(above @ 0..BITS) => u64::MAX >> (BITS - 1 - above),
            Some(_) => u64::MAX,
        }))
    }

    /// The lowest bit.
    pub fn first(self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * BITS + self.0[word].trailing_zeros() as usize)
    }

    /// Calls `act` with each bit, the lowest first.
    pub fn for_each(self, mut act: impl FnMut(usize)) {
        for (word, mut bits) in self.0.into_iter().enumerate() {
            while bits != 0 {
                act(word * BITS + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }

    /// The highest bit.
    #[inline]
    pub fn last(self) -> Option<usize> {
        // Nobody can predict which word it is in.
        let last = self.0.iter().enumerate().fold(usize::MAX, |last, (at, &word)| {
            let own = (at * BITS + BITS - 1).wrapping_sub(word.leading_zeros() as usize);
            hint::select_unpredictable(word != 0, own, last)
        });
        (last < usize::MAX).then_some(last)
    }

    /// The number of bits.
    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

impl<const WORDS: usize> Stream for Bits<WORDS> {
    #[inline(always)]
    fn of_longer(words: &[u64; WORDS_MAX]) -> Self {
        Self(array::from_fn(|word| words[word]))
    }

    #[inline(always)]
    fn put(self, to: &mut [Bits<WORDS_MAX>]) {
        to[0] = Bits(array::from_fn(|word| self.0.get(word).copied().unwrap_or(0)));
    }

    #[inline(always)]
    fn is_any(self) -> bool {
        // Compared as a whole, long ones would be compared by a function of the standard library.
        self.0.iter().fold(0, |all, &word| all | word) != 0
    }

    #[inline(always)]
    fn up(self, by: usize) -> Self {
        let (words, bits) = (by / BITS, by % BITS);
        if words == 0 {
            // The usual case without looking for the right word.
            let below = |at: usize| if at > 0 { self.0[at - 1] >> 1 >> (BITS - 1 - bits) } else { 0 };
            return Self(array::from_fn(|at| self.0[at] << bits | below(at)));
        }
        Self(array::from_fn(|at| {
            let low = at.checked_sub(words + 1).map_or(0, |below| self.0[below] >> 1 >> (BITS - 1 - bits));
            at.checked_sub(words).map_or(0, |here| self.0[here] << bits) | low
        }))
    }

    #[inline(always)]
    fn down(self, by: usize) -> Self {
        let (words, bits) = (by / BITS, by % BITS);
        if words == 0 {
            // The usual case without looking for the right word.
            let above = |at: usize| if at + 1 < WORDS { self.0[at + 1] << 1 << (BITS - 1 - bits) } else { 0 };
            return Self(array::from_fn(|at| self.0[at] >> bits | above(at)));
        }
        Self(array::from_fn(|at| {
            let high = self.0.get(at + words + 1).map_or(0, |above| above << 1 << (BITS - 1 - bits));
            self.0.get(at + words).map_or(0, |here| here >> bits) | high
        }))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let mut carry = false;
        Self(array::from_fn(|word| {
            let (sum, one) = self.0[word].overflowing_add(other.0[word]);
            let (sum, two) = sum.overflowing_add(carry.into());
            carry = one | two;
            sum
        }))
    }
}

impl<const WORDS: usize> Default for Bits<WORDS> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<const WORDS: usize> BitAnd for Bits<WORDS> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

impl<const WORDS: usize> BitOr for Bits<WORDS> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl<const WORDS: usize> BitXor for Bits<WORDS> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(array::from_fn(|word| self.0[word] ^ other.0[word]))
    }
}

impl<const WORDS: usize> Not for Bits<WORDS> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(array::map(self.0, |word| !word))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::common::random::Random;

    /// Checks that the longest streams, of so many texts, calculate as those that are nothing but words.
    pub fn check_calculations<S: Stream, const TEXTS: usize>() {
        let words = words::<S, TEXTS>;
        let mut random = Random::new(41);
        for round in 0..3_000 {
            let mut bits = || -> Bits<WORDS_MAX> {
                // Long carries are as likely as short ones.
                Bits(array::from_fn(|_| match random.below(3) {
                    0 => u64::MAX,
                    1 => random.next(),
                    _ => random.next() & random.next() & random.next(),
                }))
            };
            let (one, other) = (bits(), bits());
            let [own, own_other] = [one, other].map(|Bits(words)| S::of_longer(&words));
            let by = round % (BITS * WORDS_MAX);
            assert_eq!(words(own.up(by)), one.up(by).0, "{by}");
            assert_eq!(words(own.down(by)), one.down(by).0, "{by}");
            assert_eq!(words(own.plus(own_other)), one.plus(other).0);
            assert_eq!(words(own & own_other), (one & other).0);
            assert_eq!(words(own | own_other), (one | other).0);
            assert_eq!(words(own ^ own_other), (one ^ other).0);
            assert_eq!(words(!own), (!one).0);
            assert!(own.is_any() && !S::of_longer(&[0; WORDS_MAX]).is_any());
        }
    }

    /// The words of a stream, which are the same in all of its texts.
    fn words<S: Stream, const TEXTS: usize>(stream: S) -> [u64; WORDS_MAX] {
        let mut texts = [Bits::NONE; TEXTS];
        stream.put(&mut texts);
        assert_eq!(texts, [texts[0]; TEXTS]);
        texts[0].0
    }

    #[test]
    fn two_words_calculate_as_a_number_of_128_bits() {
        let mut random = Random::new(5);
        let number = |Bits([low, high]): Bits<2>| u128::from(high) << BITS | u128::from(low);
        for round in 0..2_000 {
            let mut bits = || {
                let thin = if round % 2 == 0 { u64::MAX } else { random.next() };
                Bits([random.next() & thin, random.next() | thin])
            };
            let (one, other) = (bits(), bits());
            let by = round % 128;
            assert_eq!(number(one.up(by)), number(one) << by);
            assert_eq!(number(one.down(by)), number(one) >> by);
            assert_eq!(number(one.plus(other)), number(one).wrapping_add(number(other)));
            assert_eq!(number(one & other), number(one) & number(other));
            assert_eq!(number(one | other), number(one) | number(other));
            assert_eq!(number(one ^ other), number(one) ^ number(other));
            assert_eq!(number(!one), !number(one));
            assert_eq!(number(Bits::one(by)), 1 << by);
            assert_eq!(number(Bits::up_to(by)), u128::MAX >> (127 - by));
        }
        assert_eq!([Bits([6, 1]), Bits([0, 8]), Bits::NONE].map(Bits::first), [Some(1), Some(67), None]);
        let mut all = Vec::new();
        Bits([6, 1 << 63]).for_each(|bit| all.push(bit));
        assert_eq!(all, [1, 2, 127]);
        assert!(Bits([0, 1]).is_any() && !Bits([0, 0]).is_any());
    }
}
