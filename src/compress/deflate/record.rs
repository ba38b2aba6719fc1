//! Records in the window: the one that is being compressed, and similar earlier ones.

use super::sizes::TAIL_BYTES;
use super::window::Window;

/// The bytes in which a seam may lie.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The first byte that is not encoded yet.
    pub floor: usize,
    /// The start of the record.
    pub from: usize,
    /// The end of the record.
    pub to: usize,
    /// The first byte of the document that is still in the window.
    pub start: usize,
}

/// An earlier record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// The length of the prefix that it shares with the new record.
    pub shared: usize,
    /// The distance back to it.
    pub distance: usize,
}

/// The last `bytes` of the URL before a record, at most eight. They distinguish tails, such as `.html` from `.jpeg` or a query.
#[inline(always)]
pub fn kind_before(window: &Window, from: usize, bytes: usize) -> u64 {
    window.word(from - TAIL_BYTES - 8).checked_shr(u64::BITS - 8 * bytes as u32).unwrap_or(0)
}
