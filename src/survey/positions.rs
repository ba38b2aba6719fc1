//! Positions: list scratch entries in a different order from the one in which they were written.
//!
//! A position takes eight bytes. Writing the entry again would take its full length.

use crate::common::prefetch;
use crate::intake::input::Input;
use crate::intake::spool_format::entry_at;
use crate::sitemap::entry::Entry;

/// The position of an entry: the index of a scratch file, and a byte offset in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position(u64);

/// Bits of an offset: enough for any file that can be mapped.
const AT_BITS: u32 = 48;

impl Position {
    /// Bytes of an encoded position.
    pub const BYTES: usize = size_of::<u64>();

    /// The position at byte offset `at` of the file with the index `file`.
    pub fn new(file: usize, at: usize) -> Self {
        Self((file as u64) << AT_BITS | at as u64)
    }

    /// Encodes the position.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0.to_ne_bytes()
    }

    /// Decodes a position.
    pub fn of_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(u64::from_ne_bytes(bytes))
    }

    fn file(self) -> usize {
        (self.0 >> AT_BITS) as usize
    }

    fn at(self) -> usize {
        (self.0 & ((1 << AT_BITS) - 1)) as usize
    }

    /// Prefetches two cache lines, which hold most URLs.
    #[inline]
    fn fetch(self, files: &[Input]) {
        let bytes = &files[self.file()].bytes()[self.at()..];
        [0, prefetch::LINE_BYTES].into_iter().filter_map(|at| bytes.get(at)).for_each(prefetch::fetch);
    }

    /// The entry at this position.
    #[inline]
    pub fn entry(self, files: &[Input]) -> Entry<'_> {
        entry_at(files[self.file()].bytes(), self.at())
    }
}

/// Iterates over the entries at positions.
#[derive(Debug)]
pub struct Entries<'a> {
    positions: &'a [[u8; Position::BYTES]],
    files: &'a [Input],
    next: usize,
}

impl<'a> Entries<'a> {
    /// Reads the entries of `files` at the encoded `positions`.
    pub fn new(positions: &'a [u8], files: &'a [Input]) -> Self {
        let (positions, rest) = positions.as_chunks();
        debug_assert!(rest.is_empty());
        let entries = Self { positions, files, next: 0 };
        (0..prefetch::AHEAD).for_each(|nth| entries.fetch(nth));
        entries
    }

    fn fetch(&self, nth: usize) {
        self.nth_position(nth).into_iter().for_each(|position| position.fetch(self.files));
    }

    fn nth_position(&self, nth: usize) -> Option<Position> {
        self.positions.get(nth).copied().map(Position::of_bytes)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Entry<'a>> {
        let position = self.nth_position(self.next)?;
        self.fetch(self.next + prefetch::AHEAD);
        self.next += 1;
        Some(position.entry(self.files))
    }
}
