//! Positions of the rows of ranges in their files.

use crate::intake::input::Input;
use crate::survey::tail::Tail;

/// The position of a tail: the index of its file, its offset in it, and whether it is plain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position(u64);

/// Bits of an offset: enough for any file that can be mapped.
const AT_BITS: u32 = 47;

/// The flag of a plain tail.
const IS_PLAIN: u64 = 1 << AT_BITS;

/// The lowest bit of the index of a file.
const FILE_BIT: u32 = AT_BITS + 1;

impl Position {
    /// Bytes of an encoded position.
    pub const BYTES: usize = size_of::<Self>();

    /// The position of `tail` at byte offset `at` of the file with the index `file`.
    #[inline]
    pub fn new(file: usize, at: usize, tail: &Tail<'_>) -> Self {
        let is_plain = if tail.is_plain() { IS_PLAIN } else { 0 };
        Self((file as u64) << FILE_BIT | is_plain | at as u64)
    }

    /// Encodes the position.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        self.0.to_ne_bytes()
    }

    /// Decodes a position.
    pub fn of_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(u64::from_ne_bytes(bytes))
    }

    /// Whether the tail is [plain](Tail::is_plain).
    #[inline]
    pub fn is_plain(self) -> bool {
        self.0 & IS_PLAIN != 0
    }

    /// The index of the file.
    #[inline]
    pub fn file(self) -> usize {
        (self.0 >> FILE_BIT) as usize
    }

    /// The offset in the file.
    #[inline]
    pub fn at(self) -> usize {
        (self.0 & (IS_PLAIN - 1)) as usize
    }

    /// The tail at this position of `files`.
    #[inline]
    pub fn tail(self, files: &[Input]) -> Tail<'_> {
        Tail::read(&files[self.file()].bytes()[self.at()..])
    }
}
