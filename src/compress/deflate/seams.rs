//! Seams: a seam is the match across the end of one record and the start of the next. It covers the tags between their URLs,
//! the host, and the part of the path that an earlier record shares.

use super::costs::Worth;
use super::either::Either;
use super::prefixes::Prefixes;
use super::record::{Found, Room};
use super::symbols::DISTANCE_MAX;
use super::tokens::Frequencies;
use super::window::Window;

/// Minimum length of a seam. Shorter ones are left to the parser.
const SEAM_BYTES_MIN: usize = 8;

/// A match across the beginning of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seam {
    /// Bytes that it covers before the record.
    pub before: usize,
    /// Bytes of the record that it covers.
    pub after: usize,
    /// How many of these bytes the previous record begins with, too. Not counted with [`Method::Prefixes`] alone, whose parsers
    /// need no such number.
    pub shared: usize,
    /// The distance of the match.
    pub distance: usize,
}

/// How earlier records with the same beginning are found.
#[derive(Debug)]
pub enum Method {
    /// By the directories of their URLs.
    Prefixes(Prefixes),
    /// By these or in a tree.
    Either(Box<Either>),
}

/// Finds earlier records with the same beginning.
#[derive(Debug)]
pub struct Seams {
    method: Method,
    /// Bytes of the record before this one; 0 if there was none.
    previous: usize,
    worth: Worth,
    /// The number of seams in the block, of bytes that they cover, and of bytes of its records.
    count: u32,
    bytes: u32,
    record_bytes: u32,
}

impl Seams {
    /// Uses the given method.
    pub fn new(method: Method) -> Self {
        Self { method, previous: 0, worth: Worth::default(), count: 0, bytes: 0, record_bytes: 0 }
    }

    /// Inserts the record, and returns the best seam that is found at its start.
    #[inline(always)]
    pub fn next(&mut self, window: &Window, room: Room) -> Option<Seam> {
        let Room { from, to, start, .. } = room;
        let reach = DISTANCE_MAX.min(from - start);
        let distance = std::mem::replace(&mut self.previous, to - from);
        let last = match distance > 0 && distance <= reach {
            true => Found { shared: window.long_common_prefix(from - distance, from, to - from), distance },
            false => Found::default(),
        };
        let best = match &mut self.method {
            Method::Prefixes(prefixes) => {
                let found = prefixes.next(window, room, reach, last);
                match found.distance {
                    0 => Seam::default(),
                    _ => seam(window, room, found),
                }
            }
            Method::Either(_) => self.best(window, room, reach, last),
        };
        (best.before + best.after >= SEAM_BYTES_MIN).then_some(best)
    }

    /// The best seam of several records. A function of its own, so that it takes no registers from the quick method.
    #[inline(never)]
    fn best(&mut self, window: &Window, room: Room, reach: usize, last: Found) -> Seam {
        let (mut best, mut best_gain) = (Seam::default(), 0);
        let worth = &self.worth;
        if let Method::Either(either) = &mut self.method {
            either.next(window, room, reach, last, worth.record, |found| {
                if found.distance == 0 {
                    return 0;
                }
                let seam = seam(window, room, found);
                let gain = worth.gain(seam.before + seam.after, seam.distance);
                if gain > best_gain {
                    (best, best_gain) = (seam, gain);
                }
                gain
            });
        }
        best.shared = last.shared.min(best.after);
        self.count += 1;
        self.record_bytes += (room.to - room.from) as u32;
        self.bytes += (best.before + best.after) as u32;
        best
    }

    /// Learns from a block what a seam is worth.
    pub fn learn(&mut self, frequencies: &Frequencies) {
        if self.count > 0 {
            self.worth = Worth::of(frequencies, self.record_bytes, self.count, self.bytes);
        }
        (self.count, self.bytes, self.record_bytes) = (0, 0, 0);
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        (self.previous, self.count, self.bytes, self.record_bytes) = (0, 0, 0, 0);
        self.worth = Worth::default();
        match &mut self.method {
            Method::Prefixes(prefixes) => prefixes.clear(),
            Method::Either(either) => either.clear(),
        }
    }
}

/// The seam with an earlier record.
#[inline(always)]
fn seam(window: &Window, Room { floor, from, start, .. }: Room, Found { shared, distance }: Found) -> Seam {
    let before_max = (from - floor).min(from - distance - start);
    let before = window.common_suffix(from - distance, from, before_max);
    Seam { before, after: shared, shared: 0, distance }
}
