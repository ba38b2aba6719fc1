//! Streams of two texts, processed together. Each step of a text depends on the one before it, so the processor would wait for
//! results; it takes the steps of the other text in the meantime.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::bits::{Bits, Stream, WORDS_MAX};

/// The streams of two texts.
#[derive(Clone, Copy)]
pub struct Both<S>(S, S);

impl<S: Stream> Stream for Both<S> {
    #[inline(always)]
    fn of_longer(words: &[u64; WORDS_MAX]) -> Self {
        Self(S::of_longer(words), S::of_longer(words))
    }

    #[inline(always)]
    fn at(positions: &[usize]) -> Self {
        let (one, other) = positions.split_at(1);
        Self(S::at(one), S::at(other))
    }

    #[inline(always)]
    fn of_texts<'w>(words: impl Fn(usize) -> &'w [u64; WORDS_MAX]) -> Self {
        Self(S::of_longer(words(0)), S::of_longer(words(1)))
    }

    #[inline(always)]
    fn put(self, to: &mut [Bits<WORDS_MAX>]) {
        let (one, other) = to.split_at_mut(1);
        self.0.put(one);
        self.1.put(other);
    }

    #[inline(always)]
    fn is_any(self) -> bool {
        (self.0 | self.1).is_any()
    }

    #[inline(always)]
    fn up(self, by: usize) -> Self {
        Self(self.0.up(by), self.1.up(by))
    }

    #[inline(always)]
    fn down(self, by: usize) -> Self {
        Self(self.0.down(by), self.1.down(by))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0), self.1.plus(other.1))
    }
}

impl<S: Stream> BitAnd for Both<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0, self.1 & other.1)
    }
}

impl<S: Stream> BitOr for Both<S> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0, self.1 | other.1)
    }
}

impl<S: Stream> BitXor for Both<S> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0, self.1 ^ other.1)
    }
}

impl<S: Stream> Not for Both<S> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0, !self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bits::BITS_MAX;
    use super::super::bits::tests::check_calculations;
    use super::*;

    #[test]
    fn two_streams_calculate_as_one_does() {
        check_calculations::<Both<Bits<WORDS_MAX>>, 2>();
    }

    #[test]
    fn nothing_goes_from_one_text_to_the_other() {
        type Two = Both<Bits<WORDS_MAX>>;
        let put = |both: Two| {
            let mut texts = [Bits::NONE; 2];
            both.put(&mut texts);
            texts
        };
        let edges = Two::at(&[BITS_MAX - 1, 0]);
        assert_eq!(put(edges), [Bits::one(BITS_MAX - 1), Bits::one(0)]);
        assert_eq!(put(edges.up(1)), [Bits::NONE, Bits::one(1)]);
        assert_eq!(put(edges.down(1)), [Bits::one(BITS_MAX - 2), Bits::NONE]);
        assert_eq!(put(edges.plus(edges)), [Bits::NONE, Bits::one(1)]);
        let texts = [Bits::NONE, Bits::up_to(2)];
        let both = Two::of_texts(|text| &texts[text].0);
        assert_eq!(put(both), texts);
        assert!(both.is_any() && !(both & edges.down(1)).is_any());
    }
}
