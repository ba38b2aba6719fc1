//! Finds an earlier record with the same prefix in a hash table: the latest record with the same directories. This is faster
//! than the tree of records, and the prefixes that it finds are shorter.

use super::positions::{PositionTable, distance, hash};
use super::record::{Found, Room, kind_before};
use super::sizes::{HEAD_BYTES, TAIL_BYTES};
use super::window::Window;
use crate::common::simd;

/// Number of buckets. About 400 records are in reach, each with a few prefixes.
const BUCKETS: usize = 1 << 13;

/// A common tail before the record makes up for a prefix that is this many bytes shorter.
const TAIL_WORTH: usize = 3;

/// The latest record for each prefix that ends in `/`.
#[derive(Debug)]
pub struct Prefixes {
    /// The latest record with each prefix.
    latest: PositionTable<u16, BUCKETS>,
    /// The latest record with each prefix after each tail. A common tail, such as `.html`, saves a match.
    after_tail: PositionTable<u16, BUCKETS>,
    /// Number of records so far, modulo 2^32.
    records: u32,
    /// See [`Prefixes::new`].
    scan_interval: u32,
    /// See [`Prefixes::new`].
    kind_bytes: usize,
}

impl Prefixes {
    /// Empty tables. Every `scan_interval`th record inserts all of its prefixes. The others insert only prefixes that they
    /// do not share with the record before, because that record is found anyway. `scan_interval` is a power of two. Tails
    /// are distinguished by their last `kind_bytes`, see [`kind_before`]; if it is 0, tails are ignored.
    pub fn new(scan_interval: u32, kind_bytes: usize) -> Self {
        let (latest, after_tail) = Default::default();
        Self { latest, after_tail, records: 0, scan_interval, kind_bytes }
    }

    /// The record with the deepest prefix of this one, or one with nearly that prefix after the same tail. Returns `last` if no
    /// prefix is deeper. If `last` shares most of the record and the tail, nothing is looked up or inserted.
    #[inline(always)]
    pub fn next(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> Found {
        // A better record is unlikely. Among sorted records, this saves most of the searches.
        let is_most_shared = 2 * last.shared > room.to - room.from;
        if is_most_shared && self.is_after_same_tail(window, room.from, last) {
            return last;
        }
        let [latest, after_tail] = self.scan(window, room, reach, last);
        let chosen = if after_tail.shared + TAIL_WORTH >= latest.shared { after_tail } else { latest };
        let found = measure(window, room, last, chosen);
        // It shares less if only the last bytes of its prefix were equal.
        if found.shared + TAIL_WORTH < last.shared { last } else { found }
    }

    /// Inserts the record, and returns the record with the deepest prefix and the one after the same tail, or `last`. Only a
    /// hash of the prefix is compared, so in rare cases they do not share it. A record after the same tail is looked up only
    /// for the deepest prefix that is found.
    #[inline(always)]
    fn scan(
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
        // The position of a record with the deepest prefix after the same tail. It is checked once, after the loop.
        let mut place_after_tail = 0;
        let is_last_after_tail = self.is_after_same_tail(window, from, last);
        let after_tail = Found { shared: if is_last_after_tail { last.shared } else { 0 }, ..last };
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
                    true => std::mem::replace(self.after_tail.bucket(key ^ tail), from as u16),
                    false => 0,
                };
                let distance = distance(from, place);
                let is_found = (distance.wrapping_sub(1) < reach)
                    & (window.word(slash - 7 - distance) == end)
                    & (shared > latest.shared);
                latest = if is_found { Found { shared, distance } } else { latest };
                place_after_tail = if is_found { place_of_tail } else { place_after_tail };
            }
            at += simd::BITS;
        }
        if !is_tail_wanted {
            return [latest; 2];
        }
        let distance = distance(from, place_after_tail);
        let end = from + latest.shared;
        let is_found = (latest.distance != last.distance)
            & (distance.wrapping_sub(1) < reach)
            & (window.word(end - 8 - distance) == window.word(end - 8));
        [latest, if is_found { Found { distance, ..latest } } else { after_tail }]
    }

    /// Counts a record. Returns the number of its first bytes that need not be scanned: those shared with `last`, or none in
    /// every `scan_interval`th record.
    #[inline(always)]
    fn known(&mut self, last: Found) -> usize {
        self.records = self.records.wrapping_add(1);
        if self.records & (self.scan_interval - 1) == 0 { 0 } else { last.shared }
    }

    #[inline(always)]
    fn is_after_same_tail(&self, window: &Window, from: usize, found: Found) -> bool {
        let kind = |from| kind_before(window, from, self.kind_bytes);
        kind(from) == kind(from - found.distance)
    }

    /// Clears the tables.
    pub fn clear(&mut self) {
        self.latest.clear();
        self.after_tail.clear();
        self.records = 0;
    }
}

/// Extends `found` to all bytes that it shares with the record. For `last`, they are known already.
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
