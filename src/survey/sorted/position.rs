//! Positions of the rows of ranges.

use crate::intake::input::Input;
use crate::survey::tail::Tail;

/// The position of a tail: the index of its file, and its offset in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position(u64);

/// Bits of an offset: enough for any file that can be mapped.
const AT_BITS: u32 = 48;

impl Position {
    /// The position at byte offset `at` of the file with the index `file`.
    pub fn new(file: usize, at: usize) -> Self {
        Self((file as u64) << AT_BITS | at as u64)
    }

    /// Encodes the position.
    pub fn to_bytes(self) -> [u8; size_of::<Self>()] {
        self.0.to_ne_bytes()
    }

    /// Decodes a position.
    pub fn of_bytes(bytes: [u8; size_of::<Self>()]) -> Self {
        Self(u64::from_ne_bytes(bytes))
    }

    /// The tail at this position of `files`.
    #[inline]
    pub fn tail(self, files: &[Input]) -> Tail<'_> {
        let (file, at) = (self.0 >> AT_BITS, self.0 & ((1 << AT_BITS) - 1));
        Tail::read(&files[file as usize].bytes()[at as usize..])
    }
}
