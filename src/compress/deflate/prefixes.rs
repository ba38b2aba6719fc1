//! Finds an earlier record with the same prefix in a hash table: the latest record with the same directories. This is faster
//! than the tree of records, and the prefixes that it finds are shorter.

use super::positions::{PositionTable, distance, hash};
use super::record::{Found, Room, Tail};
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
    /// The latest record with each prefix after each tail, and after each long tail whatever its prefix is. A common tail, such as
    /// `.html`, saves a match.
    after_tail: PositionTable<u16, BUCKETS>,
    /// The tail before the record of the last call. Usually, that is the last record; otherwise, one search may be saved in vain.
    tail: Tail,
    /// Number of records so far, modulo 2^32.
    records: u32,
    /// See [`Prefixes::new`].
    scan_interval: u32,
    /// See [`Prefixes::new`].
    is_by_tail: bool,
}

impl Prefixes {
    /// Empty tables. Every `scan_interval`th record inserts all of its prefixes. The others insert only prefixes that they
    /// do not share with the record before, because that record is found anyway. `scan_interval` is a power of two. Unless
    /// `is_by_tail`, the tails before records are ignored.
    pub fn new(scan_interval: u32, is_by_tail: bool) -> Self {
        let (latest, after_tail, tail) = Default::default();
        Self { latest, after_tail, tail, records: 0, scan_interval, is_by_tail }
    }

    /// The record with the deepest prefix of this one, or one with nearly that prefix after the same tail. Returns `last` if no
    /// prefix is deeper. If `last` shares most of the record, only a record after the same long tail is looked up, and nothing if
    /// `last` is one.
    #[inline(always)]
    pub fn next(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> Found {
        let from = room.from;
        let tail = if self.is_by_tail { Tail::before(window, from) } else { Tail::default() };
        let is_last_after_tail = std::mem::replace(&mut self.tail, tail) == tail;
        let place_after_tail =
            tail.is_long.then(|| std::mem::replace(self.after_tail.bucket(tail.key), from as u16));
        // A better record is unlikely. Among sorted records, this saves most of the searches.
        let is_most_shared = 2 * last.shared > room.to - from;
        if is_most_shared && is_last_after_tail {
            return last;
        }
        let chosen = match place_after_tail {
            Some(place) if is_most_shared => {
                let distance = distance(from, place);
                // Another tail may have the same bucket.
                let is_found =
                    distance.wrapping_sub(1) < reach && Tail::before(window, from - distance) == tail;
                if is_found { distance } else { last.distance }
            }
            _ => {
                let after_tail = Found { shared: if is_last_after_tail { last.shared } else { 0 }, ..last };
                let [latest, after_tail] = self.scan(window, room, reach, tail, [last, after_tail]);
                if after_tail.shared + TAIL_WORTH >= latest.shared {
                    after_tail.distance
                } else {
                    latest.distance
                }
            }
        };
        let found = measure(window, room, last, chosen);
        // It may share less, if it is after the same tail or only the last bytes of its prefix are equal.
        if found.shared + TAIL_WORTH < last.shared { last } else { found }
    }

    /// Inserts the record, and returns the record with the deepest prefix and the one after the same tail, or those that are
    /// known. Only the last bytes of the prefix are compared, so in rare cases they do not share it. A record after the same tail
    /// is looked up only for the deepest prefix that is found.
    #[inline(always)]
    fn scan(
        &mut self,
        window: &Window,
        Room { from, to, .. }: Room,
        reach: usize,
        tail: Tail,
        [last, after_tail]: [Found; 2],
    ) -> [Found; 2] {
        let known = self.known(last);
        if last.distance == 0 {
            return [last; 2];
        }
        let mut latest = last;
        // The position of a record with the deepest prefix after the same tail. It is checked once, after the loop.
        let mut place_after_tail = 0;
        let scan_to = end_of_url(window, from, to);
        let mut at = from + known.max(HEAD_BYTES);
        while at < scan_to {
            let mut slashes = window.find(b'/', at, scan_to);
            while slashes != 0 {
                let slash = at + slashes.trailing_zeros() as usize;
                slashes &= slashes - 1;
                let shared = slash + 1 - from;
                // The last bytes of a prefix and its length nearly always identify it. Eight would not: before a short name
                // such as `/item/`, they are the last digits of a number.
                let [before, end] = [window.word(slash - 15), window.word(slash - 7)];
                let key = hash(end ^ hash(before ^ hash(shared as u64)));
                let place = std::mem::replace(self.latest.bucket(key), from as u16);
                let place_of_tail = match self.is_by_tail {
                    true => std::mem::replace(self.after_tail.bucket(key ^ tail.key), from as u16),
                    false => 0,
                };
                let distance = distance(from, place);
                let is_found = (distance.wrapping_sub(1) < reach)
                    & (window.word(slash - 7 - distance) == end)
                    & (window.word(slash - 15 - distance) == before)
                    & (shared > latest.shared);
                latest = if is_found { Found { shared, distance } } else { latest };
                place_after_tail = if is_found { place_of_tail } else { place_after_tail };
            }
            at += simd::BITS;
        }
        if !self.is_by_tail {
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

    /// Clears the tables.
    pub fn clear(&mut self) {
        self.latest.clear();
        self.after_tail.clear();
        (self.tail, self.records) = (Tail::default(), 0);
    }
}

/// The end of the URL in a record. The slashes of tags after it are not those of directories.
#[inline(always)]
fn end_of_url(window: &Window, from: usize, to: usize) -> usize {
    let end = to.saturating_sub(TAIL_BYTES);
    if window.word(end) == u64::from_le_bytes(*b"</loc></") {
        return end;
    }
    let mut at = from + HEAD_BYTES;
    while at < end {
        let found = window.find(b'<', at, end);
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += simd::BITS;
    }
    end
}

/// The record at `distance`, with all bytes that it shares with this one. For `last`, they are known already.
#[inline(always)]
fn measure(window: &Window, Room { from, to, .. }: Room, last: Found, distance: usize) -> Found {
    if distance == last.distance {
        return last;
    }
    Found { shared: window.long_common_prefix(from - distance, from, to - from), distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The earlier URL that is found for the last of `urls`.
    #[track_caller]
    fn found<'u>(urls: &[&'u str]) -> &'u str {
        let (mut window, mut prefixes) = (Window::default(), Prefixes::new(128, true));
        let start = window.end();
        let (mut starts, mut found) = (Vec::new(), Found::default());
        for url in urls {
            let from = window.end();
            window.push(format!("<url><loc>https://h.example/{url}</loc></url>\n").as_bytes());
            let (room, reach) = (Room { floor: from, from, to: window.end(), start }, from - start);
            let last = starts.last().map_or(Found::default(), |&last| Found {
                shared: window.common_prefix(last, from, room.to - from),
                distance: from - last,
            });
            found = prefixes.next(&window, room, reach, last);
            starts.push(from);
        }
        let place = starts.last().expect("there are URLs") - found.distance;
        urls[starts.iter().position(|&start| start == place).expect("a record begins there")]
    }

    #[test]
    fn the_record_with_the_same_directories_is_found_whatever_numbers_are_in_others() {
        // The first record is at position 0, which empty buckets have, too.
        let urls = [
            "about",
            "de/list/10077/item/1",
            "fr/list/20077/item/2",
            "nl/list/30033/item/3",
            "de/list/40077/item/4",
        ];
        assert_eq!(found(&urls), urls[1]);
    }

    #[test]
    fn slashes_in_tags_are_not_those_of_directories() {
        let mut window = Window::default();
        let images = "<image:image><image:loc>https://i.example/7.jpg</image:loc></image:image>".repeat(3);
        for tags in ["", "<lastmod>2026-11-30</lastmod><priority>0.5</priority>", &images] {
            for url in ["<url><loc>https://h.example/", "<url><loc>https://h.example/a/b/17.html"] {
                let from = window.end();
                window.push(format!("{url}</loc>{tags}</url>\n").as_bytes());
                assert_eq!(end_of_url(&window, from, window.end()), from + url.len(), "{url}{tags}");
            }
        }
        // A piece of a line that is longer than a record.
        let from = window.end();
        window.push(&[b'a'; 100]);
        assert_eq!(end_of_url(&window, from, window.end()), window.end() - TAIL_BYTES);
    }

    #[test]
    fn among_sorted_records_one_after_the_same_query_is_found() {
        let urls = [
            "de/list/11111/item/1234?sort=price",
            "de/list/11112/item/5678?sort=rating",
            "de/list/11113/item/9012?sort=price",
            "de/list/11114/item/3456?sort=rating",
            "de/list/11115/item/7890?sort=price",
        ];
        // The record after the query that the last but one has, too.
        assert_eq!(found(&urls), urls[2]);
        assert_eq!(found(&urls[..2]), urls[0], "there is no other record");
    }
}
