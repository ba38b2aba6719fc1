//! Records of the window: the one that is compressed, and earlier ones that are like it.

use super::sizes::TAIL_BYTES;
use super::window::Window;

/// The bytes in which a seam may lie.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The first one that is not said yet.
    pub floor: usize,
    /// Where the record begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// The first byte of the document, or of what is left of it.
    pub start: usize,
}

/// An earlier record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// How many of its first bytes are those of the new one.
    pub shared: usize,
    /// How far back it is.
    pub distance: usize,
}

/// The last `bytes` of the URL before a record, at most eight. They tell tails apart: `.html` from `.jpeg` or a query.
#[inline(always)]
pub fn kind_before(window: &Window, from: usize, bytes: usize) -> u64 {
    window.word(from - TAIL_BYTES - 8).checked_shr(u64::BITS - 8 * bytes as u32).unwrap_or(0)
}
