//! The quick way to a record that begins like another: the latest one with the same directories.

use super::places::{Places, distance, hash};
use super::seams::{Found, HEAD_BYTES, Room, TAIL_BYTES, kind_before};
use super::window::{Window, word};

/// Rows of 8 K prefixes: some 400 records are in reach, each of them with a few.
const ROWS: usize = 1 << 13;

/// So many bytes less of a prefix are as good if the tail before them is the same.
const TAIL_WORTH: usize = 3;
/// The latest records with prefixes that end in `/`.
#[derive(Debug)]
pub struct Prefixes {
    /// The last record with a prefix.
    latest: Places<u16, ROWS>,
    /// The same among records behind one tail, which saves a match for `.html` and the like.
    behind_tail: Places<u16, ROWS>,
    records: u32,
    scan_interval: u32,
    kind_bytes: usize,
}

impl Prefixes {
    /// All prefixes of every `scan_interval`th record are remembered. Of the others it is those that the record before
    /// does not share: that one would be found. Tails are told apart by `kind_bytes`, see [`kind_before`].
    pub fn new(scan_interval: u32, kind_bytes: usize) -> Self {
        let (latest, behind_tail) = Default::default();
        Self { latest, behind_tail, records: 0, scan_interval, kind_bytes }
    }

    /// The record with the deepest prefix of this one, or one with nearly that behind the same tail; `last` if no prefix
    /// is deeper.
    #[inline(always)]
    pub fn next(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> Found {
        let [latest, behind_tail] = self.scan(window, room, reach, last);
        let chosen = if behind_tail.shared + TAIL_WORTH >= latest.shared { behind_tail } else { latest };
        let found = measure(window, room, last, chosen);
        // Less, if only the last bytes of a prefix were the same.
        if found.shared + TAIL_WORTH < last.shared { last } else { found }
    }

    /// Both of them.
    #[inline(always)]
    pub fn next_two(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> [Found; 2] {
        self.scan(window, room, reach, last).map(|found| measure(window, room, last, found))
    }

    /// The record with the deepest prefix and the one behind the same tail, or `last`. It is only that prefix that they
    /// are known to share, and only nearly always. Remembers the record.
    #[inline(always)]
    fn scan(
        &mut self,
        window: &Window,
        Room { from, to, .. }: Room,
        reach: usize,
        last: Found,
    ) -> [Found; 2] {
        self.records = self.records.wrapping_add(1);
        let known = if self.records.is_multiple_of(self.scan_interval) { 0 } else { last.shared };
        if last.distance == 0 {
            return [last; 2];
        }
        let tail = kind_before(window, from, self.kind_bytes);
        let is_behind_tail = kind_before(window, from - last.distance, self.kind_bytes) == tail;
        let mut latest = last;
        let mut behind_tail = Found { shared: if is_behind_tail { last.shared } else { 0 }, ..last };
        let scan_to = to.saturating_sub(TAIL_BYTES);
        let mut at = from + known.max(HEAD_BYTES);
        while at < scan_to {
            let mut slashes = slashes(window.bytes(at)) & !(u64::MAX << (scan_to - at).min(63));
            while slashes != 0 {
                let slash = at + slashes.trailing_zeros() as usize;
                slashes &= slashes - 1;
                let shared = slash + 1 - from;
                // The last bytes of a prefix and its length tell it from others, nearly always.
                let end = window.word(slash - 7);
                let key = hash(end ^ hash(shared as u64));
                let look = |places: &mut Places<u16, ROWS>, key: u64, best: &mut Found| {
                    let place = std::mem::replace(places.row(key), from as u16);
                    let distance = distance(from, place);
                    let is_found = (distance.wrapping_sub(1) < reach)
                        & (window.word(slash - 7 - distance) == end)
                        & (shared > best.shared);
                    *best = if is_found { Found { shared, distance } } else { *best };
                };
                look(&mut self.latest, key, &mut latest);
                look(&mut self.behind_tail, key ^ hash(tail), &mut behind_tail);
            }
            at += SCANNED;
        }
        [latest, behind_tail]
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.latest.clear();
        self.behind_tail.clear();
        self.records = 0;
    }
}

/// With all that is shared, which is known of `last`.
#[inline(always)]
fn measure(
    window: &Window,
    Room { from, to, .. }: Room,
    last: Found,
    Found { distance, .. }: Found,
) -> Found {
    if distance == last.distance {
        return last;
    }
    Found { shared: window.common_prefix(from - distance, from, to - from), distance }
}

/// Bytes that are scanned at once.
const SCANNED: usize = 32;

/// One bit for every byte that is a `/`, the first one lowest.
#[inline(always)]
fn slashes(bytes: &[u8; SCANNED]) -> u64 {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let mut slashes = 0;
    for nth in 0..SCANNED / 8 {
        let zeros = word(bytes, 8 * nth) ^ u64::from_ne_bytes([b'/'; 8]);
        let is_zero = !(((zeros & LOW_BITS) + LOW_BITS) | zeros | LOW_BITS);
        // The highest bits of all bytes, moved together.
        slashes |= (is_zero.wrapping_mul(0x0002_0408_1020_4081) >> 56) << (8 * nth);
    }
    slashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_found_in_every_byte_and_nothing_else_is() {
        for byte in 0..=u8::MAX {
            for at in 0..SCANNED {
                let mut bytes = *b"/a/b.-0//././//-/..a////////...0";
                bytes[at] = byte;
                let want: u64 = (0..SCANNED).filter(|&at| bytes[at] == b'/').map(|at| 1 << at).sum();
                assert_eq!(slashes(&bytes), want);
            }
        }
    }
}
