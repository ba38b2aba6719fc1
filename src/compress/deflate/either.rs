//! Finds earlier records by their directories or in a tree, whichever pays off: the tree finds longer prefixes, but takes several
//! times as long. At the start of each period, both are tried on the same records.

use super::prefixes::Prefixes;
use super::record::{Found, Room};
use super::tree::Tree;
use super::window::Window;

/// Number of records in a period. At its beginning, both methods are tried.
const PERIOD: u32 = 2048;
/// Number of records that both methods search for. The first half fills them.
const TRIED: u32 = 256;

/// Both methods.
#[derive(Debug)]
pub struct Either {
    prefixes: Prefixes,
    tree: Tree,
    /// The tree is used if it saves more than one in this many bits.
    fraction: i64,
    /// Number of records in the period so far.
    record: u32,
    is_tree_used: bool,
    is_tree_empty: bool,
    /// How much the tree saved on the records that were tried.
    saved: i64,
}

impl Either {
    /// Uses the tree if it saves more than one in `fraction` bits.
    pub fn new(prefixes: Prefixes, fraction: i64) -> Self {
        Self {
            prefixes,
            tree: Tree::default(),
            fraction,
            record: 0,
            is_tree_used: false,
            is_tree_empty: true,
            saved: 0,
        }
    }

    /// Inserts the record, and passes earlier ones to `consider`, which returns the gain of each. `record_cost` is the usual cost
    /// of a record in the same unit.
    #[inline(always)]
    pub fn next(
        &mut self,
        window: &Window,
        room: Room,
        reach: usize,
        last: Found,
        record_cost: i64,
        mut consider: impl FnMut(Found) -> i64,
    ) {
        let of_last = consider(last);
        let is_tried = self.record < TRIED;
        let mut of_prefixes = of_last;
        if is_tried || !self.is_tree_used {
            of_prefixes = of_last.max(consider(self.prefixes.next(window, room, reach, last)));
        }
        if is_tried || self.is_tree_used {
            // An empty tree has no previous record.
            let last = if self.is_tree_empty { Found::default() } else { last };
            self.is_tree_empty = false;
            let [best, after_tail] = self.tree.next(window, room, reach, last);
            let of_tree = of_last.max(consider(best)).max(consider(after_tail));
            if (TRIED / 2..TRIED).contains(&self.record) {
                self.saved += of_tree - of_prefixes;
            }
        }
        self.record += 1;
        if self.record == TRIED {
            self.is_tree_used = self.saved * self.fraction > record_cost * i64::from(TRIED / 2);
        } else if self.record == PERIOD {
            if !self.is_tree_used {
                // Its records are out of reach.
                self.tree.clear();
                self.is_tree_empty = true;
            }
            (self.record, self.saved) = (0, 0);
        }
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.prefixes.clear();
        self.tree.clear();
        (self.record, self.is_tree_used, self.is_tree_empty, self.saved) = (0, false, true, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;
    use crate::compress::deflate::symbols::DISTANCE_MAX;

    /// Whether the tree is used for records with these ends.
    fn is_tree_used(ends: impl Fn(&mut Random) -> String) -> bool {
        let (mut random, mut window) = (Random::new(1), Window::default());
        let mut either = Either::new(Prefixes::new(128, true), 12);
        let (mut last_from, start) = (window.end(), window.end());
        for _ in 0..TRIED {
            let from = window.end();
            window.push(
                format!("<url><loc>https://h.example/a/{}</loc></url>\n", ends(&mut random)).as_bytes(),
            );
            let to = window.end();
            let shared = if from > start { window.common_prefix(last_from, from, to - from) } else { 0 };
            let last =
                if from > start { Found { shared, distance: from - last_from } } else { Found::default() };
            let (room, reach) = (Room { floor: from, from, to, start }, DISTANCE_MAX.min(from - start));
            either.next(&window, room, reach, last, 128, |found| 4 * found.shared as i64);
            last_from = from;
        }
        either.is_tree_used
    }

    #[test]
    fn the_tree_is_used_where_records_share_more_than_directories() {
        assert!(is_tree_used(|random| format!("item-number-{}", random.next() % 1_000)));
        assert!(!is_tree_used(|_| "the-same".to_owned()));
    }
}
