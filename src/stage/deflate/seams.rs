//! Where one record ends and the next begins: the one match that covers the tags between them, the host, and as much of
//! the path as an earlier record shares.

use super::places::{Places, distance, hash};
use super::symbols::DISTANCE_MAX;
use super::window::{common_prefix, common_suffix, word};

/// Every record begins with so much; only deeper prefixes tell one from another.
const HEAD_BYTES: usize = b"<url><loc>https://".len();
/// Every record ends with so much.
const TAIL_BYTES: usize = b"</loc></url>\n".len();
/// Bytes before the tail that tell tails apart: `.html` from `.jpeg` or a query.
const KIND_BYTES: usize = 5;
/// A shorter seam is left to the parser.
const SEAM_BYTES_MIN: usize = 8;
/// Rows of 8 K prefixes: some 400 records are in reach, each of them with a few.
const HASH_BITS: u32 = 13;

/// A match across the beginning of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seam {
    /// How many bytes before the record it begins.
    pub before: usize,
    /// How many bytes of the record it covers.
    pub behind: usize,
    /// How far back it begins.
    pub distance: usize,
}

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

/// Remembers the beginnings of records.
#[derive(Debug)]
pub struct Seams {
    /// The last record with a prefix that ends in `/`.
    prefixes: Places<u16, HASH_BITS>,
    /// The same among records behind one tail, which saves a match for `.html` and the like.
    tails: Places<u16, HASH_BITS>,
    /// Bytes of the record before this one; 0 if there was none.
    previous: usize,
    records: u32,
    scan_interval: u32,
}

impl Seams {
    /// All prefixes of every `scan_interval`th record are remembered. Of the others it is those that the record before
    /// does not share: that one would be found.
    pub fn new(scan_interval: u32) -> Self {
        let (prefixes, tails) = Default::default();
        Self { prefixes, tails, previous: 0, records: 0, scan_interval }
    }

    /// The seam before the record, and remembers the record.
    pub fn next(&mut self, data: &[u8], room: Room) -> Option<Seam> {
        let Room { floor, from, to, start } = room;
        let reach = DISTANCE_MAX.min(from - start);
        let seam = |distance: usize, behind: usize| {
            let before_max = (from - floor).min(from - distance - start);
            let before = common_suffix(data, from - distance, from, before_max);
            Seam { before, behind, distance }
        };
        let previous = std::mem::replace(&mut self.previous, to - from);
        if previous == 0 || previous > reach {
            return None;
        }
        let shared = common_prefix(data, from - previous, from, to - from);
        self.records = self.records.wrapping_add(1);
        let known = if self.records.is_multiple_of(self.scan_interval) { 0 } else { shared };
        let mut distances = [previous; 2];
        self.scan(data, from + known.max(HEAD_BYTES), room, reach, &mut distances);
        let [mut best, other] = distances.map(|distance| match distance == previous {
            true => seam(distance, shared),
            false => seam(distance, common_prefix(data, from - distance, from, to - from)),
        });
        if other.before + other.behind > best.before + best.behind {
            best = other;
        }
        (best.before + best.behind >= SEAM_BYTES_MIN).then_some(best)
    }

    /// Sets `distances` to those of the deepest prefix and of the deepest one behind the same tail.
    fn scan(
        &mut self,
        data: &[u8],
        scan_from: usize,
        Room { from, to, .. }: Room,
        reach: usize,
        distances: &mut [usize; 2],
    ) {
        let scan_to = to.saturating_sub(TAIL_BYTES);
        let tail = word(data, from - TAIL_BYTES - KIND_BYTES) << (u64::BITS - 8 * KIND_BYTES as u32);
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
                let keys = [(&mut self.prefixes, key), (&mut self.tails, mix(key) ^ tail)];
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
        self.prefixes.clear();
        self.tails.clear();
        (self.previous, self.records) = (0, 0);
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
