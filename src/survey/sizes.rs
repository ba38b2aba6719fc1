//! Sizes of the entries of a chunk in order, stored in one byte for most entries.

use crate::common::fallible::copy;
use crate::error::Result;
use crate::sitemap::divide::EntrySize;
use crate::sitemap::xml::{self, Namespaces};

/// The size of each entry of a chunk, by its ordinal.
#[derive(Debug, Default)]
pub struct Sizes {
    /// Bytes beyond [`xml::ENTRY_BYTES_MIN`], as far as one byte can hold them.
    small: Vec<u8>,
    /// Larger entries, and entries that use a namespace: ordinal, further bytes and namespaces, [`BEYOND_BYTES`] each.
    beyond: Vec<u8>,
}

const BEYOND_BYTES: usize = size_of::<u16>() + size_of::<u32>() + 1;

/// Sizes that borrow their bytes.
#[derive(Clone, Copy)]
pub struct View<'a> {
    small: &'a [u8],
    beyond: &'a [u8],
}

impl Sizes {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.small.clear();
        self.beyond.clear();
    }

    /// Adds the next entry.
    #[inline]
    pub fn push(&mut self, EntrySize { bytes, uses, .. }: EntrySize) {
        let more = bytes as usize - xml::ENTRY_BYTES_MIN;
        let small = u8::try_from(more).unwrap_or(u8::MAX);
        let beyond = more - usize::from(small);
        if beyond > 0 || uses != Namespaces::NONE {
            let ordinal = u16::try_from(self.small.len()).expect("a chunk's URLs have such ordinals");
            self.beyond.extend(ordinal.to_le_bytes());
            self.beyond.extend((beyond as u32).to_le_bytes());
            self.beyond.push(uses.bits());
        }
        self.small.push(small);
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.small.len()
    }

    /// The number of bytes that [`Sizes::write`] appends.
    pub fn bytes(&self) -> usize {
        self.small.len() + self.beyond.len()
    }

    /// Appends the sizes in the form that [`Sizes::read`] reads.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.small);
        out.extend_from_slice(&self.beyond);
    }

    /// Reads the sizes of `entries` entries.
    pub fn read(bytes: &[u8], entries: usize) -> View<'_> {
        let (small, beyond) = bytes.split_at(entries);
        View { small, beyond }
    }

    /// A copy without spare capacity.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn to_fit(&self) -> Result<Self> {
        Ok(Self { small: copy(&self.small)?, beyond: copy(&self.beyond)? })
    }

    /// Borrows the sizes.
    pub fn view(&self) -> View<'_> {
        View { small: &self.small, beyond: &self.beyond }
    }
}

impl<'a> View<'a> {
    /// The size of each entry, in order.
    pub fn iter(self) -> impl Iterator<Item = EntrySize> + 'a {
        let mut cursor = self.cursor();
        (0..self.small.len()).map(move |ordinal| cursor.size(ordinal))
    }

    /// Finds the sizes of entries in order, not necessarily of all.
    pub fn cursor(self) -> Cursor<'a> {
        Cursor { small: self.small, beyond: self.beyond.as_chunks().0 }
    }
}

/// Finds sizes by ordinals that rise.
#[derive(Debug)]
pub struct Cursor<'a> {
    small: &'a [u8],
    /// The part of `Sizes::beyond` that belongs to entries not yet passed.
    beyond: &'a [[u8; BEYOND_BYTES]],
}

impl Cursor<'_> {
    /// The size of the entry `ordinal`, which comes after those before.
    #[inline]
    pub fn size(&mut self, ordinal: usize) -> EntrySize {
        let bytes = xml::ENTRY_BYTES_MIN as u64 + u64::from(self.small[ordinal]);
        if self.beyond.is_empty() { EntrySize::plain(bytes) } else { self.and_beyond(ordinal, bytes) }
    }

    fn and_beyond(&mut self, ordinal: usize, bytes: u64) -> EntrySize {
        while let [[low, high, a, b, c, d, uses], rest @ ..] = self.beyond {
            let of = usize::from(u16::from_le_bytes([*low, *high]));
            if of > ordinal {
                break;
            }
            self.beyond = rest;
            if of == ordinal {
                let more = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
                return EntrySize::of_entry(bytes + more, Namespaces::from_bits(*uses));
            }
        }
        EntrySize::plain(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_back_from_memory_and_from_scratch() {
        let entry = |n: usize| {
            let bytes = xml::ENTRY_BYTES_MIN + [0, 1, 254, 255, 256, 70_000][n % 6];
            EntrySize::of_entry(bytes as u64, Namespaces::from_bits((n % 16) as u8))
        };
        for count in [0, 1, 2, 5_000] {
            let mut sizes = Sizes::default();
            (0..count).map(entry).for_each(|size| sizes.push(size));
            let want = || (0..count).map(entry);
            assert!(sizes.to_fit().unwrap().view().iter().eq(want()));
            let mut written = Vec::new();
            sizes.write(&mut written);
            assert_eq!(written.len(), sizes.bytes());
            let view = Sizes::read(&written, sizes.entries());
            assert!(view.iter().eq(want()));
            let mut cursor = view.cursor();
            (0..count).step_by(3).for_each(|nth| assert_eq!(cursor.size(nth), entry(nth)));
        }
    }
}
