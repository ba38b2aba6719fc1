//! The URLs of a chunk that deduplication keeps.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::fallible::reserve;
use crate::error::Result;

/// Which URLs of a chunk are listed: one bit each, by ordinal. Threads remove duplicates of several partitions at the same
/// time, so the words are atomic. Their order does not matter.
#[derive(Debug, Default)]
pub struct Survivors(Box<[AtomicU64]>);

impl Survivors {
    /// Keeps all of `urls` URLs.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no room for them.
    pub fn all(urls: usize) -> Result<Self> {
        let word = |n: usize| AtomicU64::new(u64::MAX >> (64 - (urls - 64 * n).min(64)));
        let mut words = Vec::new();
        reserve(&mut words, urls.div_ceil(64))?;
        words.extend((0..urls.div_ceil(64)).map(word));
        Ok(Self(words.into()))
    }

    /// Removes a URL.
    pub fn remove(&self, ordinal: u16) {
        let ordinal = usize::from(ordinal);
        self.0[ordinal / 64].fetch_and(!(1 << (ordinal % 64)), Ordering::Relaxed);
    }

    /// Returns whether a URL is kept.
    #[inline]
    pub fn contains(&self, ordinal: usize) -> bool {
        self.0[ordinal / 64].load(Ordering::Relaxed) >> (ordinal % 64) & 1 == 1
    }

    /// Calls `act` with the ordinals of the URLs that are kept, in order. Quicker than asking for each URL, because whether one is
    /// a duplicate is unpredictable, and than an iterator, which would ask for the next word after each.
    ///
    /// # Errors
    /// The first of `act`.
    #[inline]
    pub fn try_for_each<E>(&self, mut act: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        for (nth, word) in self.0.iter().enumerate() {
            let mut rest = word.load(Ordering::Relaxed);
            while rest != 0 {
                act(64 * nth + rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
            }
        }
        Ok(())
    }

    /// As [`Survivors::try_for_each`], with an `act` that cannot fail.
    #[inline]
    pub fn for_each(&self, mut act: impl FnMut(usize)) {
        let Ok(()) = self.try_for_each(|ordinal| {
            act(ordinal);
            Ok::<_, Infallible>(())
        });
    }

    /// The number of bits: that of the URLs, rounded up to whole words.
    #[cfg(test)]
    pub(crate) fn bits(&self) -> usize {
        64 * self.0.len()
    }

    /// Counts the URLs that are kept.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_survives_until_it_is_removed() {
        for urls in [0, 1, 63, 64, 65, 1000] {
            let survivors = Survivors::all(urls).unwrap();
            assert_eq!(survivors.count() as usize, urls);
            for removed in (0..urls as u16).step_by(7) {
                survivors.remove(removed);
                survivors.remove(removed);
            }
            assert_eq!(survivors.count() as usize, urls - urls.div_ceil(7));
            assert!((0..urls).all(|ordinal| survivors.contains(ordinal) == (ordinal % 7 != 0)));
            let mut ordinals = Vec::new();
            survivors.for_each(|ordinal| ordinals.push(ordinal));
            assert!(ordinals.into_iter().eq((0..urls).filter(|ordinal| ordinal % 7 != 0)));
        }
    }
}
