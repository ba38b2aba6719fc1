//! Finds the earlier record that shares the longest prefix with another, in a tree of all records in reach.

use super::record::{Found, Room, Tail};
use super::sizes::HEAD_BYTES;
use super::window::Window;

/// Maximum number of records in the tree, a power of two. If more are in reach, the oldest are dropped.
const RECORDS: usize = 2048;
/// Maximum number of records that one walk visits: twice the usual depth for the few hundred in reach.
const STEPS_MAX: usize = 24;

/// A binary tree of records in the order of their bytes, the newest at its root and every child older than its parent.
/// A walk down from the root passes the nearest records in both directions, and so the one that shares the longest prefix.
/// The walk also splits the tree into the smaller and the greater records, and the new record becomes the root of both.
#[derive(Debug)]
pub struct Tree {
    records: Box<[Record; RECORDS]>,
    /// For each record, the numbers of its smaller and its greater child. A record that was dropped means that there is none.
    children: Box<[u32; 2 * RECORDS]>,
    /// Number of the next record, modulo 2^32. It begins at [`RECORDS`], so that record 0 counts as dropped.
    number: u32,
    /// The start of the last record in the document, modulo 2^32, and its bytes.
    position: u32,
    bytes: usize,
    /// The length of the common prefix of all records in the tree.
    common: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Record {
    position: u32,
    /// Identifies the tail before each record, nearly always.
    tail: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            records: Box::new([Record::default(); RECORDS]),
            children: Box::new([0; 2 * RECORDS]),
            number: RECORDS as u32,
            position: 0,
            bytes: 0,
            common: 0,
        }
    }
}

fn slot(number: u32) -> usize {
    number as usize % RECORDS
}

impl Tree {
    /// Makes the record the root. Returns the record on the walk that shares the longest prefix, and the one that does so after
    /// the same tail.
    #[inline(always)]
    pub fn next(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> [Found; 2] {
        let record_bytes = room.to - room.from;
        self.number = self.number.wrapping_add(1);
        self.position = self.position.wrapping_add(std::mem::replace(&mut self.bytes, record_bytes) as u32);
        let record =
            Record { position: self.position, tail: (Tail::before(window, room.from).key >> 32) as u32 };
        self.records[slot(self.number)] = record;
        if last.shared < HEAD_BYTES {
            // It shares nothing with the others, so it begins a new tree.
            self.common = record_bytes;
            let link = 2 * slot(self.number);
            self.end([link, link + 1]);
            return [last; 2];
        }
        self.common = self.common.min(last.shared);
        self.walk(window, room, reach, last)
    }

    #[inline(always)]
    fn walk(
        &mut self,
        window: &Window,
        Room { from, to, .. }: Room,
        reach: usize,
        last: Found,
    ) -> [Found; 2] {
        let record = self.records[slot(self.number)];
        let (mut best, mut best_after_tail) = (last, Found { shared: 0, ..last });
        // The links that the next smaller and the next greater record go to, and the prefixes that the last ones share with
        // this record.
        let mut links = [2 * slot(self.number), 2 * slot(self.number) + 1];
        let mut shared = [self.common; 2];
        let (mut next, mut found) = (self.number.wrapping_sub(1), last);
        for _ in 0..STEPS_MAX {
            if found.shared > best.shared {
                best = found;
            }
            if self.records[slot(next)].tail == record.tail && found.shared > best_after_tail.shared {
                best_after_tail = found;
            }
            let children = 2 * slot(next);
            if found.shared == to - from {
                // The new record replaces an equal one.
                links.into_iter().zip([children, children + 1]).for_each(|(link, child)| {
                    self.children[link] = self.children[child];
                });
                return [best, best_after_tail];
            }
            let is_greater =
                window.byte(from - found.distance + found.shared) > window.byte(from + found.shared);
            let side = usize::from(is_greater);
            self.children[links[side]] = next;
            shared[side] = found.shared;
            links[side] = children + (1 - side);
            next = self.children[links[side]];
            let distance = record.position.wrapping_sub(self.records[slot(next)].position) as usize;
            if self.number.wrapping_sub(next) >= RECORDS as u32 || distance > reach {
                break;
            }
            // All records between two records share at least their common prefix.
            let known = shared[0].min(shared[1]);
            let more = window.common_prefix(from + known - distance, from + known, to - from - known);
            found = Found { shared: known + more, distance };
        }
        self.end(links);
        [best, best_after_tail]
    }

    /// Ends the tree at these links: they get no children.
    fn end(&mut self, links: [usize; 2]) {
        links.into_iter().for_each(|link| self.children[link] = self.number.wrapping_sub(RECORDS as u32));
    }

    /// Clears the tree.
    pub fn clear(&mut self) {
        self.children.fill(0);
        (self.number, self.position, self.bytes, self.common) = (RECORDS as u32, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::deflate::symbols::DISTANCE_MAX;

    #[test]
    fn the_walk_finds_the_record_with_the_longest_common_prefix() {
        // The records differ in few bytes, so that many share long prefixes, and some are equal.
        let mut window = Window::default();
        let start = window.end();
        let mut records = Vec::new();
        for n in 0..5_000u32 {
            let path =
                (0..10).map(|at| if (n.wrapping_mul(0x9e37_79b9) >> (3 * at)) % 5 > 2 { 'a' } else { 'b' });
            let from = window.end();
            window.push(format!("<url><loc>https://{}\n", path.collect::<String>()).as_bytes());
            records.push((from, window.end()));
        }
        let mut tree = Tree::default();
        let mut last = Found::default();
        for (nth, &(from, to)) in records.iter().enumerate() {
            let (reach, room) = (DISTANCE_MAX.min(from - start), Room { floor: from, from, to, start });
            let shared = |&(there, _): &(usize, usize)| window.common_prefix(there, from, to - from);
            if nth > 0 {
                let distance = from - records[nth - 1].0;
                last = Found { shared: shared(&records[nth - 1]), distance };
            }
            let [best, _] = tree.next(&window, room, reach, last);
            let in_reach = records[..nth].iter().rev().take_while(|record| from - record.0 <= reach);
            let most = in_reach.take(RECORDS - 1).map(shared).max().unwrap_or(0);
            assert_eq!(best.shared, most, "record {nth}");
        }
    }
}
