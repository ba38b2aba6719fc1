//! Sizes of many entries in any order, four bytes each.

use std::ops::Range;

use crate::common::fallible::{reserve, reserve_more};
use crate::error::Result;
use crate::sitemap::divide::EntrySize;
use crate::sitemap::xml::Namespaces;

/// The size of each of a number of entries.
#[derive(Debug)]
pub struct EntrySizes {
    /// `bytes << 8 | namespaces`, or [`LARGE`].
    packed: Vec<u32>,
    /// Entries of [`BYTES_MAX`] bytes or more, which hardly any site has.
    large: Vec<(u32, EntrySize)>,
}

const BYTES_MAX: u64 = u32::MAX as u64 >> u8::BITS;

/// Marks an entry that is among the large ones.
const LARGE: u32 = u32::MAX;

impl EntrySizes {
    /// Space for the sizes of `entries` entries.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn of(entries: usize) -> Result<Self> {
        let mut packed = Vec::new();
        reserve(&mut packed, entries)?;
        packed.resize(entries, 0);
        Ok(Self { packed, large: Vec::new() })
    }

    /// Sets the size of the entry `at`.
    ///
    /// # Errors
    /// If there is no memory for a large entry.
    #[inline]
    pub fn set(&mut self, at: u32, size: EntrySize) -> Result<()> {
        self.packed[at as usize] = match size.bytes < BYTES_MAX {
            true => (size.bytes as u32) << u8::BITS | u32::from(size.uses.bits()),
            false => {
                reserve_more(&mut self.large, 1)?;
                self.large.push((at, size));
                LARGE
            }
        };
        Ok(())
    }

    /// The size of the entry `at`.
    #[inline]
    pub fn get(&self, at: u32) -> EntrySize {
        match self.packed[at as usize] {
            LARGE => self.large(at),
            packed => EntrySize::of_entry((packed >> u8::BITS).into(), Namespaces::from_bits(packed as u8)),
        }
    }

    #[cold]
    fn large(&self, at: u32) -> EntrySize {
        let mut large = self.large.iter();
        large.find(|(entry, _)| *entry == at).expect("set() has put it there").1
    }

    /// The size of all entries in `range`.
    pub fn sum(&self, range: Range<u32>) -> EntrySize {
        range.map(|at| self.get(at)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_were_set_however_large() {
        let size = |n: u32| {
            let bytes = [0, 100, 1_000, BYTES_MAX - 1, BYTES_MAX, 50 << 20][n as usize % 6];
            EntrySize::of_entry(bytes, Namespaces::from_bits((n % 16) as u8))
        };
        let mut sizes = EntrySizes::of(100).unwrap();
        (0..100).rev().for_each(|at| sizes.set(at, size(at)).unwrap());
        assert!((0..100).all(|at| sizes.get(at) == size(at)));
        assert_eq!(sizes.sum(3..90), (3..90).map(size).sum());
    }
}
