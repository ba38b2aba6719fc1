//! Stable boundaries: the URLs themselves decide where a file begins, so that what is inserted or removed disturbs the files
//! around it and no others.
//!
//! A file may end anywhere between [`FULL_LEAST`] of a limit and the limit. Of the entries there, the next file begins with
//! the one whose [`Mark`] is the least: two divisions that come from different sides soon meet the same one, and are the same
//! from there on. As any of them is equally likely to be it, files are filled to the middle between the two, 70 %.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Limits, Part};
use crate::stage::clean::CleanUrl;
use crate::stage::xml::{Frame, Namespaces};

/// In per cent of either limit: less of a file is not cut off, but at the end. Less than this would meet sooner and fill less:
/// with 40, a stretch of a hundredth of 200 full files disturbs 1.6 % of them, with 50, 1.9 %.
pub const FULL_LEAST: u64 = 40;

/// Fixed for ever: with another one, every file of every set would be another.
const SEED: u64 = 0x7369_7465_6d69_6c6c;

/// Numbers have five digits, like the first ones that are counted.
const NUMBER_MAX: u32 = 99_999;

/// What decides whether a file begins with a URL. Anybody may know it: whoever prepares URLs can place boundaries, but
/// between the limits only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u32);

impl Mark {
    /// That of `url`.
    pub fn of(url: CleanUrl<'_>) -> Self {
        Self((xxh3_64_with_seed(url.as_bytes(), SEED) >> u32::BITS) as u32)
    }

    /// The number of a file that begins with its URL: the same wherever in the set the file stands. Two files may share
    /// it.
    fn number(self) -> u32 {
        1 + self.0 % NUMBER_MAX
    }
}

/// Takes entries in their order and ends files where marks say.
#[derive(Debug)]
pub struct StableDivider<P> {
    limits: Limits,
    frame_bytes: u64,
    parts: Vec<Part<P>>,
    /// Those of the last file: some may yet go to the next.
    last: Vec<Weighed<P>>,
}

/// An entry, and what counts of it.
#[derive(Debug, Clone, Copy)]
pub struct Weighed<P> {
    /// Where it stands.
    pub at: P,
    /// Bytes of its XML.
    pub bytes: u64,
    /// Namespaces that its file must declare.
    pub uses: Namespaces,
    /// That of its URL.
    pub mark: Mark,
}

impl<P: Copy> StableDivider<P> {
    /// Files within `limits`, each in `frame`.
    pub fn new(limits: Limits, frame: &Frame) -> Self {
        Self { limits, frame_bytes: frame.bytes(), parts: Vec::new(), last: Vec::new() }
    }

    /// Takes in the next entry.
    pub fn push(&mut self, entry: Weighed<P>) {
        while let Some(part) = self.parts.last_mut() {
            let with = part.with(&entry);
            if with.entries <= self.limits.entries_max && with.bytes <= self.limits.bytes_max {
                *part = with;
                return self.last.push(entry);
            }
            let cut = self.cut(entry.mark);
            if cut == self.last.len() {
                break;
            }
            // The entries behind the cut move to a file of their own; it may be too full for this one again.
            let (ended, moved) = self.last.split_at(cut);
            *self.parts.last_mut().expect("it is the one that is full") = self.file(ended);
            self.parts.push(self.file(moved));
            self.last.drain(..cut);
        }
        self.last.clear();
        self.last.push(entry);
        self.parts.push(self.file(&self.last));
    }

    /// How many entries of the last file stay in it, if that which has `next` does not fit.
    fn cut(&self, next: Mark) -> usize {
        let is_full = |part: &Part<P>| {
            100 * u64::from(part.entries) >= FULL_LEAST * u64::from(self.limits.entries_max)
                || 100 * part.bytes >= FULL_LEAST * self.limits.bytes_max
        };
        let mut part = self.file(&self.last[..1]);
        let mut cut = (next, self.last.len());
        for (at, entry) in self.last.iter().enumerate().skip(1) {
            if is_full(&part) {
                // Of equal marks the first.
                cut = cut.min((entry.mark, at));
            }
            part = part.with(entry);
        }
        cut.1
    }

    /// The file of `entries`, at least one.
    fn file(&self, entries: &[Weighed<P>]) -> Part<P> {
        let first = entries[0];
        let (number, uses) = (first.mark.number(), Namespaces::NONE);
        let empty = Part { number, first: first.at, entries: 0, bytes: self.frame_bytes, uses };
        entries.iter().fold(empty, |part, entry| part.with(entry))
    }

    /// The files.
    pub fn finish(self) -> Vec<Part<P>> {
        self.parts
    }
}

impl<P: Copy> Part<P> {
    /// The same with another entry.
    fn with(self, entry: &Weighed<P>) -> Self {
        let uses = self.uses.and(entry.uses);
        let bytes = self.bytes + entry.bytes + uses.bytes() - self.uses.bytes();
        Self { entries: self.entries + 1, bytes, uses, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ops::Range;

    use super::*;
    use crate::limits::Protocol;

    const FRAME: Frame = Frame::sitemap(Protocol::V0_9);

    fn divide(limits: Limits, entries: impl IntoIterator<Item = u32>) -> Vec<Part<u32>> {
        let mut divider = StableDivider::new(limits, &FRAME);
        for at in entries {
            let uses = if at.is_multiple_of(1_000) { Namespaces::IMAGE } else { Namespaces::NONE };
            let hash = xxh3_64_with_seed(&at.to_ne_bytes(), 0) as u32;
            divider.push(Weighed { at, bytes: 60 + u64::from(at % 90), uses, mark: Mark(hash) });
        }
        divider.finish()
    }

    #[test]
    fn every_entry_is_in_one_file_and_no_file_passes_a_limit() {
        let frame = FRAME.bytes() + Namespaces::IMAGE.bytes();
        for (entries_max, bytes_max) in [
            (1, u64::MAX / 100),
            (2, u64::MAX / 100),
            (7, frame + 500),
            (500, 1 << 20),
            (1_000, frame + 40_000),
            (50_000, frame + 149),
        ] {
            let parts = divide(Limits { entries_max, bytes_max }, 0..20_000);
            let mut at = 0;
            for (nth, part) in parts.iter().enumerate() {
                let own = at..at + part.entries;
                let bytes: u64 = own.clone().map(|at| 60 + u64::from(at % 90)).sum();
                let images = own.clone().any(|at| at.is_multiple_of(1_000));
                let uses = if images { Namespaces::IMAGE } else { Namespaces::NONE };
                assert_eq!((part.first, part.uses), (at, uses));
                assert_eq!(part.bytes, FRAME.bytes() + uses.bytes() + bytes);
                assert!(part.entries <= entries_max && part.bytes <= bytes_max);
                let full = (100 * part.entries / entries_max).max((100 * part.bytes / bytes_max) as u32);
                assert!(u64::from(full) >= FULL_LEAST || nth + 1 == parts.len(), "{full} % of {part:?}");
                at = own.end;
            }
            assert_eq!(at, 20_000);
        }
    }

    #[test]
    fn files_are_seven_tenths_full() {
        let parts = divide(Limits { entries_max: 100, bytes_max: 1 << 20 }, 0..100_000);
        assert!((1_380..1_480).contains(&parts.len()), "{} files", parts.len());
    }

    #[test]
    fn what_is_removed_or_inserted_disturbs_its_neighbourhood_alone() {
        let limits = Limits { entries_max: 100, bytes_max: 1 << 20 };
        let files = |gap: Range<u32>| -> HashSet<(u32, u32, u32)> {
            let parts = divide(limits, (0..20_000).filter(|at| !gap.contains(at)));
            let ends = parts.iter().skip(1).map(|part| part.first).chain([20_000]);
            let file = |(part, end): (&Part<u32>, u32)| (part.first, end, part.number);
            let cut = |&(first, end, _): &(u32, u32, u32)| end <= gap.start || gap.end <= first;
            parts.iter().zip(ends).map(file).filter(cut).collect()
        };
        let whole = files(20_000..20_000);
        for at in (0..19_000).step_by(977) {
            for gap in [at..at, at..at + 1, at..at + 250] {
                let others = files(gap.clone());
                let disturbed = others.difference(&whole).count() + whole.difference(&others).count();
                assert!(disturbed <= 24, "{gap:?} disturbs {disturbed} of {}", whole.len());
                let far = |&&(first, ..): &&(u32, u32, u32)| first >= gap.end + 1_500;
                assert_eq!(others.difference(&whole).filter(far).count(), 0, "{gap:?} is felt far away");
            }
        }
    }
}
