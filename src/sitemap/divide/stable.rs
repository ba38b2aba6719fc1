//! Stable boundaries: the URLs themselves decide where a file begins, so that what is inserted or removed disturbs the files
//! around it and no others.
//!
//! A file may end anywhere between [`FULL_LEAST`] of a limit and the limit. Of the entries there, the next file begins with
//! the one whose [`Mark`] is the least: two divisions that come from different sides soon meet the same one, and are the same
//! from there on. As any of them is equally likely to be it, files are filled to the middle between the two, 70 %.
//!
//! Entries come in stretches, of which the sum and the least mark are known. That is all that must be known of most: only
//! those in which a file begins, becomes full enough to end or passes a limit are looked into.

#[cfg(test)]
mod tests;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Limits, Part, Room};
use crate::clean::CleanUrl;
use crate::error::{Result, reserve_more};
use crate::sitemap::xml::Frame;

/// In per cent of either limit: less of a file is not cut off, but at the end. Less than this would meet sooner and fill less:
/// with 40, a stretch of a hundredth of 200 full files disturbs 1.6 % of them, with 50, 1.9 %.
pub const FULL_LEAST: u64 = 40;

/// Fixed for ever: with another one, every file of every set would be another.
const SEED: u64 = 0x7369_7465_6d69_6c6c;
/// Any numbers without a pattern, and as fixed.
const TAIL_FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

/// Numbers have five digits, like the first ones that are counted.
const NUMBER_MAX: u32 = 99_999;

/// What decides whether a file begins with a URL: a quick hash of its last sixteen bytes, then one of all bytes, which is
/// looked at only where the first is equal. Anybody may know both: whoever prepares URLs can place boundaries, but between the limits
/// only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    tail: u32,
    whole: u32,
}

impl Mark {
    /// That of `url`.
    #[inline]
    pub fn of(url: CleanUrl<'_>) -> Self {
        let whole = (xxh3_64_with_seed(url.as_bytes(), SEED) >> u32::BITS) as u32;
        Self { tail: Self::tail_of(url), whole }
    }

    #[inline]
    fn tail_of(url: CleanUrl<'_>) -> u32 {
        let Some(&last) = url.as_bytes().last_chunk() else { return 0 };
        let last = u128::from_le_bytes(last);
        // Twice, as numbers in URLs mostly count, and what one product makes of that comes at regular distances.
        let mix = |one: u64, other: u64| {
            let product = u128::from(one) * u128::from(other);
            product as u64 ^ (product >> u64::BITS) as u64
        };
        let mixed = mix(last as u64 ^ TAIL_FACTORS[0], (last >> u64::BITS) as u64 ^ TAIL_FACTORS[1]);
        (mix(mixed, TAIL_FACTORS[0]) >> u32::BITS) as u32
    }

    /// The number of a file that begins with its URL: the same wherever in the set the file stands. Two files may share
    /// it.
    fn number(self) -> u32 {
        1 + self.whole % NUMBER_MAX
    }
}

/// The least mark of entries, and which of them is the first that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Least {
    /// That mark.
    pub mark: Mark,
    /// Counts the entries from 0.
    pub nth: usize,
}

impl Least {
    /// Of `least` and the `nth` entry, which comes later and has `url`.
    #[inline]
    pub fn or(least: Option<Self>, nth: usize, url: CleanUrl<'_>) -> Self {
        match least {
            // So it is for almost all.
            Some(least) if least.mark.tail < Mark::tail_of(url) => least,
            least => {
                let mark = Mark::of(url);
                least.filter(|least| least.mark <= mark).unwrap_or(Self { mark, nth })
            }
        }
    }
}

/// An entry, and what counts of it.
#[derive(Debug, Clone, Copy)]
pub struct Weighed<P> {
    /// Its place.
    pub at: P,
    /// What it takes.
    pub room: Room,
    /// That of its URL.
    pub mark: Mark,
}

/// Entries that stand together, and what counts of them.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// How many there are, at least one.
    pub entries: u32,
    /// What they take.
    pub room: Room,
    /// The least of their marks.
    pub least: Mark,
}

/// Divides the entries of `stretches` into files within `limits`, each in `frame`. `read` gives those of one stretch, by its
/// index.
///
/// # Errors
/// The first of `read`, or [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no room for one file more.
pub fn divide<P: Copy>(
    limits: Limits,
    frame: &Frame,
    stretches: &[Stretch],
    read: impl FnMut(usize) -> Result<Vec<Weighed<P>>>,
) -> Result<Vec<Part<P>>> {
    let mut walk = Walk { limits, frame_bytes: frame.bytes(), stretches, read, open: None };
    let mut parts = Vec::new();
    let mut from = Place { stretch: 0, nth: 0 };
    while from.stretch < stretches.len() {
        let (part, next) = walk.file(from)?;
        reserve_more(&mut parts, 1)?;
        parts.push(part);
        from = next;
    }
    Ok(parts)
}

/// A walk through stretches, file after file.
struct Walk<'s, P, R> {
    limits: Limits,
    frame_bytes: u64,
    stretches: &'s [Stretch],
    read: R,
    /// The stretch that was looked into last, and its entries.
    open: Option<(usize, Vec<Weighed<P>>)>,
}

/// An entry: in which stretch, and which of its entries it is.
#[derive(Clone, Copy)]
struct Place {
    stretch: usize,
    nth: usize,
}

/// A file, and where the next one begins.
type Ended<P> = (Part<P>, Place);

/// Entries of a stretch that the next file may begin with.
struct Cut<P> {
    from: Place,
    /// What the file at hand has before them.
    before: Part<P>,
    /// None of them has a lesser mark.
    least: Mark,
    /// What comes of it, if it was looked for: then one has that mark.
    ended: Option<Ended<P>>,
}

impl<P: Copy, R: FnMut(usize) -> Result<Vec<Weighed<P>>>> Walk<'_, P, R> {
    /// The file that begins at `from`, and where the next one does.
    fn file(&mut self, from: Place) -> Result<Ended<P>> {
        let (limits, stretches) = (self.limits, self.stretches);
        let first = self.entries(from.stretch)?[from.nth];
        let mut part = Part::empty(first.mark.number(), first.at, self.frame_bytes);
        let mut cuts = Vec::new();
        for (stretch, whole) in stretches.iter().enumerate().skip(from.stretch) {
            let nth = if stretch == from.stretch { from.nth } else { 0 };
            let (from, before) = (Place { stretch, nth }, part);
            let rest = match nth {
                0 => whole.room,
                _ => self.entries(stretch)?[nth..].iter().map(|entry| entry.room).sum(),
            };
            part = before.with(whole.entries - nth as u32, rest);
            // One entry has room in a file of its own.
            let fits = part.fits(limits) || part.entries == 1;
            if !fits || part.may_end(limits) {
                cuts.push(Cut { from, before, least: whole.least, ended: None });
            }
            if !fits {
                return self.cut(cuts);
            }
        }
        Ok((part, Place { stretch: stretches.len(), nth: 0 }))
    }

    /// The file that ends at the best of `cuts`, and where that is.
    fn cut(&mut self, mut cuts: Vec<Cut<P>>) -> Result<Ended<P>> {
        loop {
            // Of equal marks the first.
            let best = cuts.iter_mut().enumerate().min_by_key(|(_, cut)| cut.least);
            let (at, cut) = best.expect("the last of them holds the entry that has no room");
            match cut.ended {
                Some(ended) => return Ok(ended),
                None => match self.look_into(cut)? {
                    Some((least, ended)) => (cut.least, cut.ended) = (least, Some(ended)),
                    None => drop(cuts.remove(at)),
                },
            }
        }
    }

    /// The least mark of the entries of `cut`, and what it comes to. `None` if there is none that the file may end before.
    fn look_into(&mut self, cut: &Cut<P>) -> Result<Option<(Mark, Ended<P>)>> {
        let (limits, mut part, mut from) = (self.limits, cut.before, cut.from);
        let mut least: Option<(Mark, Ended<P>)> = None;
        for entry in &self.entries(from.stretch)?[from.nth..] {
            let with = part.with(1, entry.room);
            let is_too_much = part.entries > 0 && !with.fits(limits);
            if (is_too_much || part.may_end(limits)) && least.is_none_or(|(least, _)| entry.mark < least) {
                least = Some((entry.mark, (part, from)));
            }
            if is_too_much {
                break;
            }
            part = with;
            from.nth += 1;
        }
        Ok(least)
    }

    fn entries(&mut self, stretch: usize) -> Result<&[Weighed<P>]> {
        if self.open.as_ref().is_none_or(|&(open, _)| open != stretch) {
            self.open = None;
            self.open = Some((stretch, (self.read)(stretch)?));
        }
        Ok(self.open.as_ref().map_or(&[], |(_, entries)| entries))
    }
}

impl<P: Copy> Part<P> {
    /// Whether it is full enough to end before the next entry.
    fn may_end(&self, limits: Limits) -> bool {
        self.entries > 0
            && (100 * u64::from(self.entries) >= FULL_LEAST * u64::from(limits.entries_max)
                || 100 * self.bytes >= FULL_LEAST * limits.bytes_max)
    }
}
