//! The window: the last bytes of the document, compared a word at a time.

use super::sizes::{KEPT_BYTES, PLACE_PERIOD, PUSH_BYTES_MAX, TAIL_BYTES, WINDOW_BYTES};
use crate::common::simd;

/// Maximum bytes that are read beyond the last position that is parsed.
pub const SLACK_BYTES: usize = 32;

/// Capacity of the window: a power of two, so that access to a byte needs a mask and no bounds check.
const ROOM: usize = 1024 * 1024;
/// Maximum bytes that [`Window::bytes`] returns.
const BYTES_MAX: usize = 2 * PLACE_PERIOD;
const _: () = assert!(ROOM.is_power_of_two() && ROOM >= WINDOW_BYTES + PUSH_BYTES_MAX + SLACK_BYTES);

/// The last bytes that were pushed. The first [`PLACE_PERIOD`] bytes are never part of a document, so that subtracting any
/// distance from a position stays within the window.
#[derive(Debug)]
pub struct Window {
    bytes: Box<[u8; ROOM + BYTES_MAX]>,
    /// Position after the last byte.
    end: usize,
}

impl Default for Window {
    fn default() -> Self {
        let bytes = vec![0; ROOM + BYTES_MAX].into_boxed_slice();
        Self { bytes: bytes.try_into().expect("one is as long as the other"), end: PLACE_PERIOD }
    }
}

impl Window {
    /// Position after the last byte.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Appends at most [`PUSH_BYTES_MAX`].
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Moves forward if it is full, and returns by how many bytes. Keeps the bytes from `encoded_to` on, and [`KEPT_BYTES`] before
    /// them.
    pub fn make_room(&mut self, encoded_to: usize) -> usize {
        if self.end < WINDOW_BYTES {
            return 0;
        }
        // Moved by whole periods, so that stored positions stay valid.
        let gone = (encoded_to - KEPT_BYTES) / PLACE_PERIOD * PLACE_PERIOD;
        self.bytes.copy_within(gone..self.end, 0);
        self.end -= gone;
        gone
    }

    /// Empties the window.
    pub fn clear(&mut self) {
        // The bytes before the document may be compared, and may be those of this member: the next must not depend on them.
        self.bytes[..PLACE_PERIOD].fill(0);
        self.end = PLACE_PERIOD;
    }

    /// The bytes between two positions.
    pub fn range(&self, from: usize, to: usize) -> &[u8] {
        &self.bytes[from..to]
    }

    /// The byte at a position.
    #[inline(always)]
    pub fn byte(&self, at: usize) -> u8 {
        self.bytes[at % ROOM]
    }

    /// The bytes from a position on.
    #[inline(always)]
    pub fn bytes<const N: usize>(&self, at: usize) -> &[u8; N] {
        const { assert!(N <= BYTES_MAX) };
        self.bytes[at % ROOM..].first_chunk().expect("BYTES_MAX bytes follow the room")
    }

    /// Eight bytes from `at` on, the first one lowest.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(*self.bytes(at))
    }

    /// A bit for each of the next [`simd::BITS`] bytes from `at` that equals `wanted` and is before `to`. The lowest bit is the
    /// first byte.
    #[inline(always)]
    pub fn find(&self, wanted: u8, at: usize, to: usize) -> u64 {
        let beyond = u64::MAX.checked_shl((to - at) as u32).unwrap_or(0);
        simd::find(self.bytes(at), wanted) & !beyond
    }

    /// The length of the common prefix of the bytes from `later` and from `earlier`, at most `max`.
    #[inline(always)]
    pub fn common_prefix(&self, earlier: usize, later: usize, max: usize) -> usize {
        let differ = |at: usize| self.word(earlier + at) ^ self.word(later + at);
        // Most are shorter than sixteen bytes, and a branch on the half that they end in would be unpredictable.
        let (first, second) = (differ(0), differ(8));
        let in_second = 8 + second.trailing_zeros() as usize / 8;
        let mut length = if first != 0 { first.trailing_zeros() as usize / 8 } else { in_second };
        if length == 16 {
            while length < max {
                let differ = differ(length);
                if differ != 0 {
                    length += differ.trailing_zeros() as usize / 8;
                    break;
                }
                length += 8;
            }
        }
        length.min(max)
    }

    /// The length of the common prefix of the bytes from `later` and from `earlier`, at most `max`. Faster than
    /// [`common_prefix`](Self::common_prefix) if the prefix is long.
    #[inline(always)]
    pub fn long_common_prefix(&self, earlier: usize, later: usize, max: usize) -> usize {
        const STEP: usize = 32;
        let mut length = 0;
        while length < max && self.bytes::<STEP>(earlier + length) == self.bytes(later + length) {
            length += STEP;
        }
        if length >= max {
            return max;
        }
        length + self.common_prefix(earlier + length, later + length, max - length)
    }

    /// The length of the common suffix of the eight bytes before `later` and before `earlier`, at most `max`.
    #[inline(always)]
    pub fn common_last(&self, earlier: usize, later: usize, max: usize) -> usize {
        let differ = self.word(earlier - 8) ^ self.word(later - 8);
        max.min(differ.leading_zeros() as usize / 8)
    }

    /// The length of the common suffix of the bytes before `later` and before `earlier`, at most `max`. Eight more bytes
    /// must be readable.
    #[inline(always)]
    pub fn common_suffix(&self, earlier: usize, later: usize, max: usize) -> usize {
        let differ = |back: usize| self.word(earlier - back) ^ self.word(later - back);
        // Nearly always, the suffix is a tail and fewer than eight bytes of a URL.
        let in_url = differ(TAIL_BYTES + 8);
        if differ(8) | differ(TAIL_BYTES) == 0 && in_url != 0 {
            return max.min(TAIL_BYTES + in_url.leading_zeros() as usize / 8);
        }
        let mut length = 0;
        while length < max {
            let differ = differ(length + 8);
            if differ != 0 {
                return max.min(length + differ.leading_zeros() as usize / 8);
            }
            length += 8;
        }
        max
    }
}

/// Eight bytes of `bytes` from `at` on, the first one lowest. `at` is at most `N - 8`.
#[inline(always)]
pub fn word<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("callers leave eight bytes after `at`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_agree_with_bytes_wherever_the_difference_is() {
        for same in 0..40 {
            for max in 0..40 {
                let mut window = Window::default();
                window.push(&[b'a'; 128]);
                window.bytes[PLACE_PERIOD + 64 + same] = b'b';
                assert_eq!(window.common_prefix(PLACE_PERIOD, PLACE_PERIOD + 64, max), same.min(max));
                let mut window = Window::default();
                window.push(&[b'a'; 128]);
                window.bytes[PLACE_PERIOD + 127 - same] = b'b';
                assert_eq!(window.common_suffix(PLACE_PERIOD + 64, PLACE_PERIOD + 128, max), same.min(max));
            }
        }
    }
}
