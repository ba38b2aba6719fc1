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

/// How earlier records with the same beginning are found.
#[derive(Debug)]
pub enum Method {
    /// By the directories of their URLs.
    Prefixes(Prefixes),
    /// In a tree of all records in reach.
    Tree(Tree),
}

/// Finds earlier records with the same beginning.
#[derive(Debug)]
pub struct Seams {
    method: Method,
    /// Bytes of the record before this one; 0 if there was none.
    previous: usize,
}

impl Seams {
    /// Uses the given method.
    pub fn new(method: Method) -> Self {
        Self { method, previous: 0 }
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
        match &mut self.method {
            Method::Prefixes(prefixes) => consider(prefixes.next(window, room, reach, last)),
            Method::Tree(tree) => tree.next(window, room, reach, last).into_iter().for_each(consider),
        }
        (best.before + best.after >= SEAM_BYTES_MIN).then_some(best)
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.previous = 0;
        match &mut self.method {
            Method::Prefixes(prefixes) => prefixes.clear(),
            Method::Tree(tree) => tree.clear(),
        }
    }
}
