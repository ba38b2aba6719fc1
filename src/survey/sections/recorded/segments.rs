//! Numbers of the first segments of paths. All threads agree on them.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::common::frequent;
use crate::common::quick_numbers::QuickNumbers;
use crate::sitemap::sections::by_path::PathSegments;
use crate::survey::sections::picks::{self, RowAt};

/// Most segments that are told apart. Up to this number, the counts of segments are exact.
const SEGMENTS_MAX: usize = frequent::HELD_MAX;

/// Most bytes of all segments. Each thread has two copies of them.
const SEGMENT_BYTES_MAX: usize = 4 << 20;

/// Stands for a number that has yet to be found.
pub const LATER: u16 = u16::MAX;

const _: () = assert!(SEGMENTS_MAX <= LATER as usize);

/// The segments that all threads have found so far.
#[derive(Default)]
pub struct Segments {
    known: RwLock<KnownSegments>,
}

#[derive(Default)]
struct KnownSegments {
    numbers: HashMap<Vec<u8>, u16>,
    names: Vec<Vec<u8>>,
    /// Bytes of all names.
    bytes: usize,
}

impl Segments {
    /// All segments by their numbers.
    pub fn into_names(self) -> Vec<Vec<u8>> {
        self.known.into_inner().unwrap_or_else(PoisonError::into_inner).names
    }

    /// The number of `segment`. `None` if there are too many.
    fn number(&self, segment: &[u8]) -> Option<u16> {
        if let Some(&number) = self.known.read().unwrap_or_else(PoisonError::into_inner).numbers.get(segment)
        {
            return Some(number);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = known.numbers.get(segment) {
            return Some(number);
        }
        let number = known.names.len();
        (number < SEGMENTS_MAX && known.bytes + segment.len() <= SEGMENT_BYTES_MAX).then(|| {
            known.bytes += segment.len();
            known.names.push(segment.to_vec());
            known.numbers.insert(segment.to_vec(), number as u16);
            number as u16
        })
    }
}

/// Finds the numbers of segments, for one thread.
pub struct SegmentNumbers<'r> {
    paths: PathSegments,
    all: &'r Segments,
    known: QuickNumbers,
    /// Short segments, each in the slot of its hash, unless a later one has taken it.
    short: Box<[Short; 1 << SLOT_BITS]>,
}

/// A short segment, padded with zeros, and its number.
#[derive(Clone, Copy)]
struct Short {
    padded: u128,
    number: u16,
}

/// As a power of two, the number of slots for short segments.
const SLOT_BITS: u32 = 11;

impl Short {
    /// No segment is its own padding.
    const NONE: Self = Self { padded: u128::MAX, number: 0 };

    /// The slot of a segment. Segments that outsiders choose may share one; then [`QuickNumbers`] decides, which is slower.
    #[inline]
    fn slot(padded: u128) -> usize {
        let word = (padded as u64) ^ ((padded >> u64::BITS) as u64).rotate_left(29);
        (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOT_BITS)) as usize
    }
}

impl<'r> SegmentNumbers<'r> {
    /// Numbers of the segments that `paths` finds, which other threads also add to `all`.
    pub fn new(paths: PathSegments, all: &'r Segments) -> Self {
        let short = Box::new([Short::NONE; 1 << SLOT_BITS]);
        Self { paths, all, known: QuickNumbers::default(), short }
    }

    /// The number of the segment of `url`. `None` if there are too many segments.
    #[inline]
    pub fn of_url(&mut self, url: &[u8]) -> Option<u16> {
        let segment = self.paths.of(url);
        self.known.get(segment).or_else(|| self.add(segment))
    }

    /// Replaces each number that is [`LATER`] by that of the URL at its place in `text`. Returns whether all have one; otherwise
    /// there are too many segments. This takes a third of the time of calling [`SegmentNumbers::of_url`] whenever a row is judged:
    /// in a short loop, the processor works on several URLs at once.
    #[must_use]
    pub fn put_later(&mut self, text: &[u8], places: &[RowAt], numbers: &mut [u16]) -> bool {
        let (mut are_known, mut done) = (true, 0);
        loop {
            done += self.put_known(text, &places[done..], &mut numbers[done..]);
            let Some(&place) = places.get(done) else { return are_known };
            let rest = &text[place.start()..];
            match self.of_line(picks::line(rest, place), self.paths.padded(rest)) {
                Some(known) => numbers[done] = known,
                None => are_known = false,
            }
            done += 1;
        }
    }

    /// Does so up to the first URL whose segment is not in its slot. Returns the number of URLs before that.
    #[inline(never)]
    fn put_known(&self, text: &[u8], places: &[RowAt], numbers: &mut [u16]) -> usize {
        for (at, (number, &place)) in numbers.iter_mut().zip(places).enumerate() {
            if *number != LATER {
                continue;
            }
            match self.paths.padded(&text[place.start()..]) {
                Some(padded) if self.short[Short::slot(padded)].padded == padded => {
                    *number = self.short[Short::slot(padded)].number;
                }
                _ => return at,
            }
        }
        places.len()
    }

    /// The number of the segment of `url`, which from now on is in its slot, if it can be `padded`.
    #[inline(never)]
    fn of_line(&mut self, url: &[u8], padded: Option<u128>) -> Option<u16> {
        let number = self.of_url(url)?;
        if let Some(padded) = padded {
            self.short[Short::slot(padded)] = Short { padded, number };
        }
        Some(number)
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, segment: &[u8]) -> Option<u16> {
        let number = self.all.number(segment)?;
        self.known.insert(segment, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::scope::ScopeRule;
    use crate::common::random::Random;
    use crate::intake::lines;

    #[test]
    fn a_url_in_a_text_has_the_number_of_its_segment() {
        let paths = PathSegments::new(&"https://h.example/".parse().unwrap(), ScopeRule::Host);
        let mut random = Random::new(1);
        let mut text = String::new();
        for _ in 0..6_000 {
            // More segments than slots, long ones among them, and some in other places.
            let segment = format!("{}", random.below(5_000)).repeat(1 + random.below(9));
            let origin = ["https://h.example", "https://h.example", "https://other.example"][random.below(3)];
            let after = ["", "/", "/a/b", "?q=/", "/rest"][random.below(5)];
            text += &format!("{origin}/{segment}{after}{}", ["\n", "\r\n"][random.below(2)]);
        }
        text += "https://h.example/rest\nhttps://h.example/\nhttps://h.example/?x/y\nhttps://h.example/last";
        let lines: Vec<_> = lines::lines(text.as_bytes(), 0).collect();
        let places: Vec<_> =
            lines.iter().map(|it| RowAt::new(it.offset as usize, it.raw.len(), false).unwrap()).collect();
        let all = Segments::default();
        let mut found = SegmentNumbers::new(paths.clone(), &all);
        let mut numbers = vec![LATER; lines.len()];
        numbers[5] = 1234;
        assert!(found.put_later(text.as_bytes(), &places, &mut numbers));
        assert_eq!(numbers[5], 1234);
        // Another thread, which looks at one URL after the other, agrees.
        let mut one_by_one = SegmentNumbers::new(paths.clone(), &all);
        let names = all.known.read().unwrap().names.clone();
        for (at, line) in lines.iter().enumerate().filter(|&(at, _)| at != 5) {
            assert_eq!(one_by_one.of_url(line.raw), Some(numbers[at]));
            assert_eq!(names[usize::from(numbers[at])], paths.of(line.raw));
        }
    }

    #[test]
    fn too_many_segments_are_told() {
        let paths = PathSegments::new(&"https://h.example/".parse().unwrap(), ScopeRule::Host);
        let all = Segments::default();
        let mut found = SegmentNumbers::new(paths, &all);
        for n in 0..SEGMENTS_MAX {
            assert_eq!(found.of_url(format!("https://h.example/{n}").as_bytes()), Some(n as u16));
        }
        let text = b"https://h.example/7/page-of-many\nhttps://h.example/one-more\n";
        let places = [(0, 32), (33, 26)].map(|(start, length)| RowAt::new(start, length, false).unwrap());
        assert!(found.put_later(text, &places[..1], &mut [LATER]));
        let mut numbers = [LATER; 2];
        assert!(!found.put_later(text, &places, &mut numbers));
        assert_eq!(numbers[0], 7);
        assert_eq!(found.of_url(b"https://h.example/one-more"), None);
    }
}
