//! Seams: a seam is the match across the end of one record and the start of the next. It covers the tags between their URLs,
//! the host, and the part of the path that an earlier record shares.

use super::prefixes::Prefixes;
use super::record::{Found, Room};
use super::symbols::DISTANCE_MAX;
use super::tree::Tree;
use super::window::Window;

/// Minimum length of a seam. Shorter ones are left to the parser.
const SEAM_BYTES_MIN: usize = 8;

/// A match across the beginning of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seam {
    /// Bytes that it covers before the record.
    pub before: usize,
    /// Bytes of the record that it covers.
    pub after: usize,
    /// The distance of the match.
    pub distance: usize,
}

/// Finds earlier records with the same beginning, by prefixes, by a tree, or by both.
#[derive(Debug)]
pub struct Seams {
    prefixes: Option<Prefixes>,
    tree: Option<Tree>,
    /// Bytes of the record before this one; 0 if there was none.
    previous: usize,
}

impl Seams {
    /// Uses the given methods; see [`Prefixes`] and [`Tree`].
    pub fn new(prefixes: Option<Prefixes>, tree: Option<Tree>) -> Self {
        Self { prefixes, tree, previous: 0 }
    }

    /// Inserts the record, and returns the longest seam that is found at its start.
    pub fn next(&mut self, window: &Window, room: Room) -> Option<Seam> {
        let Room { floor, from, to, start } = room;
        let reach = DISTANCE_MAX.min(from - start);
        let distance = std::mem::replace(&mut self.previous, to - from);
        let last = match distance > 0 && distance <= reach {
            true => Found { shared: window.long_common_prefix(from - distance, from, to - from), distance },
            false => Found::default(),
        };
        let mut best = Seam { before: 0, after: 0, distance: 0 };
        let mut consider = |found: Found| {
            if found.distance != best.distance {
                let before_max = (from - floor).min(from - found.distance - start);
                let before = window.common_suffix(from - found.distance, from, before_max);
                if before + found.shared > best.before + best.after {
                    best = Seam { before, after: found.shared, distance: found.distance };
                }
            }
        };
        match (&mut self.prefixes, &mut self.tree) {
            (Some(prefixes), None) => consider(prefixes.next(window, room, reach, last)),
            (prefixes, tree) => {
                let two = prefixes.as_mut().map(|prefixes| prefixes.next_two(window, room, reach, last));
                two.into_iter().flatten().for_each(&mut consider);
                let two = tree.as_mut().map(|tree| tree.next(window, room, reach, last));
                two.into_iter().flatten().for_each(&mut consider);
            }
        }
        (best.before + best.after >= SEAM_BYTES_MIN).then_some(best)
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.previous = 0;
        if let Some(prefixes) = &mut self.prefixes {
            prefixes.clear();
        }
        if let Some(tree) = &mut self.tree {
            tree.clear();
        }
    }
}
