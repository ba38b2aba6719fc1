//! The quick way to a record that begins like another: the latest one with the same directories.

use super::places::{Places, distance, hash};
use super::seams::{Found, HEAD_BYTES, Room, TAIL_BYTES, kind_before};
use super::window::{common_prefix, word};

/// Rows of 8 K prefixes: some 400 records are in reach, each of them with a few.
const HASH_BITS: u32 = 13;

/// The latest records with prefixes that end in `/`.
#[derive(Debug)]
pub struct Prefixes {
    /// The last record with a prefix.
    latest: Places<u16, HASH_BITS>,
    /// The same among records behind one tail, which saves a match for `.html` and the like.
    behind_tail: Places<u16, HASH_BITS>,
    records: u32,
    scan_interval: u32,
}

impl Prefixes {
    /// All prefixes of every `scan_interval`th record are remembered. Of the others it is those that the record before
    /// does not share: that one would be found.
    pub fn new(scan_interval: u32) -> Self {
        let (latest, behind_tail) = Default::default();
        Self { latest, behind_tail, records: 0, scan_interval }
    }

    /// The record with the deepest prefix of this one, and that behind the same tail; `last` if nothing is deeper.
    #[inline(always)]
    pub fn next(&mut self, data: &[u8], room: Room, reach: usize, last: Found) -> [Found; 2] {
        let Room { from, to, .. } = room;
        self.records = self.records.wrapping_add(1);
        let known = if self.records.is_multiple_of(self.scan_interval) { 0 } else { last.shared };
        let mut distances = [last.distance; 2];
        if last.distance > 0 {
            self.scan(data, from + known.max(HEAD_BYTES), room, reach, &mut distances);
        }
        distances.map(|distance| match distance == last.distance {
            true => last,
            false => Found { shared: common_prefix(data, from - distance, from, to - from), distance },
        })
    }

    /// Sets `distances` to those of the deepest prefix and of the deepest one behind the same tail.
    #[inline(always)]
    fn scan(
        &mut self,
        data: &[u8],
        scan_from: usize,
        Room { from, to, .. }: Room,
        reach: usize,
        distances: &mut [usize; 2],
    ) {
        let scan_to = to.saturating_sub(TAIL_BYTES);
        let tail = kind_before(data, from);
        let mut at = scan_from;
        while at < scan_to {
            let mut slashes = slashes(word(data, at));
            while slashes != 0 {
                let slash = at + slashes.trailing_zeros() as usize / 8;
                slashes &= slashes - 1;
                if slash >= scan_to {
                    break;
                }
                // The last bytes of a prefix and its length tell it from others, nearly always.
                let last = word(data, slash - 7);
                let key = last ^ mix((slash - from) as u64);
                let keys = [(&mut self.latest, key), (&mut self.behind_tail, mix(key) ^ tail)];
                for ((places, key), best) in keys.into_iter().zip(&mut *distances) {
                    let row = places.row(hash(key));
                    let place = std::mem::replace(row, from as u16);
                    let distance = distance(from, place);
                    let is_found =
                        (distance.wrapping_sub(1) < reach) & (word(data, slash - 7 - distance) == last);
                    *best = if is_found { distance } else { *best };
                }
            }
            at += 8;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.latest.clear();
        self.behind_tail.clear();
        self.records = 0;
    }
}

fn mix(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The highest bit of every byte that is a `/`.
#[inline(always)]
fn slashes(word: u64) -> u64 {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let zeros = word ^ u64::from_ne_bytes([b'/'; 8]);
    !(((zeros & LOW_BITS) + LOW_BITS) | zeros | LOW_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_are_found_in_every_byte_and_nothing_else_is() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut bytes = *b"/a/b.-0/";
                bytes[at] = byte;
                let want: u64 = (0..8).filter(|&at| bytes[at] == b'/').map(|at| 0x80 << (8 * at)).sum();
                assert_eq!(slashes(u64::from_le_bytes(bytes)), want);
            }
        }
    }
}
