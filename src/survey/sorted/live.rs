//! The live set, as far as a sorted survey can reuse it.

use std::ops::Range;

use super::rows::RangeRows;
use crate::common::fallible::list;
use crate::error::Result;
use crate::set::content::Seal;
use crate::set::manifest::{Manifest, SealedRange, SealedRows, Sitemap};
use crate::set::shelf::Shelf;
use crate::survey::splitters::{RANGES_MAX, Splitters};

/// How the rows of a set are sealed, and what is live.
#[derive(Clone, Copy)]
pub struct Sealing<'l> {
    /// The shelf of the new set. Its secret seals the rows, and it finds the sitemaps of the live set.
    pub shelf: &'l dyn Shelf,
    /// The live set, if the new one may reuse its sitemaps.
    pub live: Option<Live<'l>>,
}

/// A live set whose rows were sealed. Its *parts* are its sitemaps: a part has the URLs from the first one of its sitemap up to
/// the first one of the next, and the first part also has all URLs before.
#[derive(Clone, Copy)]
pub struct Live<'l> {
    /// Its sitemaps, at least one, all of them sealed.
    pub sitemaps: &'l [Sitemap],
    /// Its rows. The first URLs of its sitemaps and of its ranges are in order.
    pub rows: &'l SealedRows,
}

/// The ranges of the live set are not reused if the plan has this many times more, or this many times fewer.
const GROWTH_MAX: f64 = 1.25;
const SHRINKING_MAX: f64 = 1.5;

/// Nor if one of them has more than this many times its share of a sample, plus this many URLs.
const SKEW_MAX: usize = 4;
const SKEW_SLACK: usize = 32;

impl<'l> Live<'l> {
    /// The live `set`, if `rules` apply to the new set as well, and if its record of rows matches its sitemaps.
    pub fn of(set: &'l Manifest, rules: &str) -> Option<Self> {
        let rows = set.rows.as_ref().filter(|rows| rows.rules == rules)?;
        let froms = rows.ranges.iter().map(|range| &range.from);
        let is_sound = rows.first_urls.len() == set.sitemaps.len()
            && !set.sitemaps.is_empty()
            && set.sitemaps.iter().all(|sitemap| sitemap.seals.is_some())
            && rows.first_urls.is_sorted_by(|one, next| one < next)
            && froms.clone().next().is_some_and(String::is_empty)
            && froms.is_sorted_by(|one, next| one < next);
        is_sound.then_some(Self { sitemaps: &set.sitemaps, rows })
    }

    /// Accepted rows.
    pub fn accepted(&self) -> u64 {
        self.rows.ranges.iter().map(|range| range.rows).sum()
    }

    /// The splitters of its ranges, unless a `sample` of the new rows shows that others would be better. `ranges` of them are
    /// planned.
    pub fn splitters(&self, sample: &[Vec<u8>], ranges: usize) -> Option<Splitters> {
        let own = self.rows.ranges.len();
        if own > RANGES_MAX
            || ranges as f64 > GROWTH_MAX * own as f64
            || own as f64 > SHRINKING_MAX * ranges as f64
        {
            return None;
        }
        let urls = self.rows.ranges[1..].iter().map(|range| range.from.clone().into_bytes());
        let splitters = Splitters::of_sorted(urls.collect());
        let mut counts = vec![0; own];
        sample.iter().for_each(|url| counts[splitters.range_of(url)] += 1);
        let most = SKEW_MAX * (sample.len() / own) + SKEW_SLACK;
        counts.iter().all(|&count| count <= most).then_some(splitters)
    }

    /// The parts that have URLs of the range with the index `range`.
    pub fn parts_of(&self, range: usize) -> Range<usize> {
        let SealedRows { ranges, first_urls, .. } = self.rows;
        let begun = first_urls.partition_point(|first| *first <= ranges[range].from);
        let next = ranges.get(range + 1);
        let end =
            next.map_or(first_urls.len(), |next| first_urls.partition_point(|first| *first < next.from));
        begun.saturating_sub(1)..end.max(1)
    }

    /// The part that `url` belongs to.
    pub fn part_of(&self, url: &str) -> usize {
        self.rows.first_urls.partition_point(|first| first.as_str() <= url).saturating_sub(1)
    }

    /// Whether the rows `now` in the range with the index `range` are those that it had.
    pub fn has_range(&self, range: usize, now: &RangeRows) -> bool {
        let then = &self.rows.ranges[range];
        then.seal == Some(Seal(now.seal)) && then.rows == now.rows() as u64
    }
}

/// The record of `ranges`, which begin where `splitters` say. The order of the rows decides what is listed of those in `by_order`.
///
/// # Errors
/// If there is no memory for it.
pub fn record(splitters: &Splitters, ranges: &[RangeRows], by_order: &[usize]) -> Result<Vec<SealedRange>> {
    list(ranges.iter().enumerate().map(|(number, range)| SealedRange {
        from: String::from_utf8(splitters.first(number).to_vec()).expect("a clean URL is ASCII"),
        rows: range.rows() as u64,
        seal: (!by_order.contains(&number)).then_some(Seal(range.seal)),
    }))
}
