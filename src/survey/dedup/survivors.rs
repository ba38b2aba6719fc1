//! The URLs of a chunk that deduplication keeps.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, reserve};

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
    pub fn strike(&self, ordinal: u16) {
        let ordinal = usize::from(ordinal);
        self.0[ordinal / 64].fetch_and(!(1 << (ordinal % 64)), Ordering::Relaxed);
    }

    /// Returns whether a URL is kept.
    #[inline]
    pub fn contains(&self, ordinal: usize) -> bool {
        self.0[ordinal / 64].load(Ordering::Relaxed) >> (ordinal % 64) & 1 == 1
    }

    /// The ordinals of the URLs that are kept, in order. Quicker than asking for each URL: whether one is a duplicate is unpredictable.
    #[inline]
    pub fn ordinals(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(nth, word)| {
            let mut rest = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(64 * nth + bit)
            })
        })
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
            for struck in (0..urls as u16).step_by(7) {
                survivors.strike(struck);
                survivors.strike(struck);
            }
            assert_eq!(survivors.count() as usize, urls - urls.div_ceil(7));
            assert!((0..urls).all(|ordinal| survivors.contains(ordinal) == (ordinal % 7 != 0)));
            assert!(survivors.ordinals().eq((0..urls).filter(|ordinal| ordinal % 7 != 0)));
        }
    }
}
