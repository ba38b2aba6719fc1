//! Finds an earlier record that begins like another by its prefixes: the latest record with the same directories. Fast.

use super::positions::{PositionTable, distance, hash};
use super::record::{Found, Room, kind_before};
use super::sizes::{HEAD_BYTES, TAIL_BYTES};
use super::window::Window;
use crate::common::simd;

/// Buckets for 8 K prefixes: about 400 records are in reach, each with a few prefixes.
const BUCKETS: usize = 1 << 13;

/// A common tail before the record makes up for a prefix that is this many bytes shorter.
const TAIL_WORTH: usize = 3;

/// The latest records with prefixes that end in `/`.
#[derive(Debug)]
pub struct Prefixes {
    /// The latest record with each prefix.
    latest: PositionTable<u16, BUCKETS>,
    /// The latest record with each prefix after each tail. A common tail, such as `.html`, saves a match.
    behind_tail: PositionTable<u16, BUCKETS>,
    records: u32,
    scan_interval: u32,
    kind_bytes: usize,
}

impl Prefixes {
    /// All prefixes of every `scan_interval`th record are remembered, a power of two. Of the others it is those that the
    /// record before does not share: that one would be found. Tails are told apart by `kind_bytes`, see [`kind_before`]:
    /// if that is 0, tails are not looked up.
    pub fn new(scan_interval: u32, kind_bytes: usize) -> Self {
        let (latest, behind_tail) = Default::default();
        Self { latest, behind_tail, records: 0, scan_interval, kind_bytes }
    }

    /// The record with the deepest prefix of this one, or one with nearly that prefix after the same tail. Returns `last` if no
    /// prefix is deeper. If `last` shares most of the record and the tail, nothing is looked up or inserted.
    #[inline(always)]
    pub fn next(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> Found {
        // There is hardly a better record: among sorted records, this saves most of the searches.
        let is_most_shared = 2 * last.shared > room.to - room.from;
        if is_most_shared && self.is_behind_same_tail(window, room.from, last) {
            return last;
        }
        let [latest, behind_tail] = self.scan::<false>(window, room, reach, last);
        let chosen = if behind_tail.shared + TAIL_WORTH >= latest.shared { behind_tail } else { latest };
        let found = measure(window, room, last, chosen);
        // Less, if only the last bytes of a prefix were the same.
        if found.shared + TAIL_WORTH < last.shared { last } else { found }
    }

    /// Both of them.
    #[inline(always)]
    pub fn next_two(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> [Found; 2] {
        self.scan::<true>(window, room, reach, last).map(|found| measure(window, room, last, found))
    }

    /// The record with the deepest prefix and the one behind the same tail, or `last`. It is only that prefix that they
    /// are known to share, and only nearly always. Remembers the record. Who is patient asks
    /// for the tail at every prefix, others at the deepest that is found.
    #[inline(always)]
    fn scan<const IS_PATIENT: bool>(
        &mut self,
        window: &Window,
        Room { from, to, .. }: Room,
        reach: usize,
        last: Found,
    ) -> [Found; 2] {
        let known = self.known(last);
        if last.distance == 0 {
            return [last; 2];
        }
        let is_tail_wanted = self.kind_bytes > 0;
        let tail = hash(kind_before(window, from, self.kind_bytes));
        let mut latest = last;
        // Where one with the same prefix lies behind the same tail, if there is one: that is asked once, of the deepest.
        let mut place_behind_tail = 0;
        let is_last_behind_tail = self.is_behind_same_tail(window, from, last);
        let mut behind_tail = Found { shared: if is_last_behind_tail { last.shared } else { 0 }, ..last };
        let scan_to = to.saturating_sub(TAIL_BYTES);
        let mut at = from + known.max(HEAD_BYTES);
        while at < scan_to {
            let mut slashes = window.find(b'/', at, scan_to);
            while slashes != 0 {
                let slash = at + slashes.trailing_zeros() as usize;
                slashes &= slashes - 1;
                let shared = slash + 1 - from;
                // The last bytes of a prefix and its length nearly always identify it.
                let end = window.word(slash - 7);
                let key = hash(end ^ hash(shared as u64));
                let place = std::mem::replace(self.latest.bucket(key), from as u16);
                let place_of_tail = match is_tail_wanted {
                    true => std::mem::replace(self.behind_tail.bucket(key ^ tail), from as u16),
                    false => 0,
                };
                let distance = distance(from, place);
                let is_found = (distance.wrapping_sub(1) < reach)
                    & (window.word(slash - 7 - distance) == end)
                    & (shared > latest.shared);
                latest = if is_found { Found { shared, distance } } else { latest };
                place_behind_tail = if is_found { place_of_tail } else { place_behind_tail };
                if IS_PATIENT {
                    let distance = self::distance(from, place_of_tail);
                    let is_found = (distance.wrapping_sub(1) < reach)
                        & (window.word(slash - 7 - distance) == end)
                        & (shared > behind_tail.shared);
                    behind_tail = if is_found { Found { shared, distance } } else { behind_tail };
                }
            }
            at += simd::BITS;
        }
        if IS_PATIENT || !is_tail_wanted {
            return [latest, if IS_PATIENT { behind_tail } else { latest }];
        }
        let distance = distance(from, place_behind_tail);
        let end = from + latest.shared;
        let is_found = (latest.distance != last.distance)
            & (distance.wrapping_sub(1) < reach)
            & (window.word(end - 8 - distance) == window.word(end - 8));
        [latest, if is_found { Found { distance, ..latest } } else { behind_tail }]
    }

    /// Counts a record. The bytes of it that are not scanned: those shared with `last`; none in every `scan_interval`-th record.
    #[inline(always)]
    fn known(&mut self, last: Found) -> usize {
        self.records = self.records.wrapping_add(1);
        if self.records & (self.scan_interval - 1) == 0 { 0 } else { last.shared }
    }

    #[inline(always)]
    fn is_behind_same_tail(&self, window: &Window, from: usize, found: Found) -> bool {
        let kind = |from| kind_before(window, from, self.kind_bytes);
        kind(from) == kind(from - found.distance)
    }

    /// Clears the tables.
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
    Found { shared: window.long_common_prefix(from - distance, from, to - from), distance }
}
