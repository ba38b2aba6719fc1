//! Reuses the sitemaps of the live set that the new set also has. Only the ranges of the others are sorted.
//!
//! A part is *unchanged* if all ranges that have URLs of it still have the same rows. Then it lists the same entries, and if
//! these end up in one sitemap again, it is the same sitemap. An unchanged part is *reused* if this is certain without reading its
//! entries, which depends on its neighbours. The other parts are sorted and divided around it. If the division needs entries of a
//! reused part, that part is sorted as well, and the division starts again.

mod borders;
mod filling;

use super::cuts::{Cut, Cuts};
use super::live::Live;
use super::regions::{BorderSearch, Regions};
use super::sorting::{Collector, Sorting};
use crate::clean::CleanUrl;
use crate::common::fallible::list;
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::error::{Error, Result};
use crate::set::name::SitemapId;
use crate::set::shelf::Shelf;
use crate::sitemap::divide::borders::Smallest;
use crate::sitemap::divide::stable::{Halt, Mark, Whole};
use crate::sitemap::divide::{Limits, PlannedSitemap, number_of_next};
use crate::sitemap::xml::{Frame, Namespaces};
use crate::survey::layout::{EntryAt, Kept, ListedChunk, SitemapSource};
use crate::survey::stable::{self, Unchanged};
use borders::Borders;
use filling::Filling;

/// The listed entries, divided.
pub struct Divided {
    /// The entries that were sorted.
    pub chunks: Vec<ListedChunk>,
    pub sitemaps: Vec<PlannedSitemap<EntryAt>>,
    /// The live sitemap that is reused for each of `sitemaps`. Empty if none is reused.
    pub kept: Vec<Option<Kept>>,
    /// All listed entries.
    pub listed: u64,
    /// The ranges whose listed entries depend on the order of the rows.
    pub by_order: Vec<usize>,
    /// The URLs from which the borders were chosen, if there are any.
    pub candidates: Option<Smallest>,
}

/// At least this part of the rows must not need sorting; otherwise everything is sorted at once.
const SPARED_PART_MIN: f64 = 0.25;

/// Number of unchanged parts before and after a changed one that are sorted right away if the division is stable, because it
/// looks that far.
const BEFORE: usize = 2;
const AFTER: usize = 3;

/// Number of parts that are sorted together if the entries of one are needed. It doubles each time.
const MORE: usize = 4;

/// Sorts what has changed since the live set, and divides it. `None` if it is better to sort everything. `border_count` gives the
/// number of borders for a number of accepted rows, if the URLs decide where sitemaps begin.
///
/// # Errors
/// If scratch space runs out, or the run is stopped.
pub fn reuse(
    sorting: &mut Sorting<'_>,
    live: Live<'_>,
    shelf: &dyn Shelf,
    border_count: Option<fn(u64) -> usize>,
) -> Result<Option<Divided>> {
    let accepted = sorting.ranges.iter().map(|range| range.rows() as u64).sum();
    let Some(borders) = Borders::of(live, accepted, border_count) else { return Ok(None) };
    let frame = Frame::sitemap(sorting.run.job.rules.protocol).with(Namespaces::from_bits(u8::MAX));
    let mut reuse = Reuse {
        live,
        borders,
        is_stable: border_count.is_some(),
        frame_bytes_most: frame.bytes(),
        kept: Vec::new(),
        reused: vec![true; live.sitemaps.len()],
    };
    for (range, rows) in sorting.ranges.iter().enumerate() {
        if !live.has_range(range, rows) {
            reuse.reused[live.parts_of(range)].fill(false);
        }
    }
    if reuse.needed(sorting).is_none() {
        return Ok(None);
    }
    reuse.find(sorting, shelf)?;
    let mut more = MORE;
    loop {
        reuse.sort_neighbours(sorting.run.job.rules.sitemap_limits());
        let Some(needed) = reuse.needed(sorting) else { return Ok(None) };
        match reuse.divide(sorting, &needed) {
            Ok(divided) => return Ok(divided),
            Err(Halt::Failed(error)) => return Err(error),
            Err(Halt::Needs(part)) => reuse.give_up(part, &mut more),
        }
    }
}

/// The sitemaps that are reused from the live set.
struct Reuse<'l> {
    live: Live<'l>,
    borders: Borders,
    is_stable: bool,
    /// Bytes of a frame with all namespaces: which of them a sitemap declares is not known.
    frame_bytes_most: u64,
    /// The sitemap of each part that is unchanged.
    kept: Vec<Option<Kept>>,
    /// Whether each part is reused, so that its entries are not sorted.
    reused: Vec<bool>,
}

impl Reuse<'_> {
    /// Looks for the files of all reused parts. A part whose file is not intact counts as changed.
    fn find(&mut self, sorting: &Sorting<'_>, shelf: &dyn Shelf) -> Result<()> {
        let find = |part: usize| {
            let (first_url, sitemap) = (&self.live.rows.first_urls[part], &self.live.sitemaps[part]);
            let id = SitemapId { section: None, number: self.number(part) };
            let found = shelf.find(id, sitemap.seals?.xml).filter(|found| found.file == sitemap.file)?;
            Some(Kept { first_url: first_url.clone(), sitemap: found })
        };
        let work = |_: &mut (), part: usize| if self.reused[part] { find(part) } else { None };
        let mut kept = Vec::new();
        let threads = sorting.run.job.resources.threads.get();
        ordered(
            threads,
            0..self.reused.len(),
            || (),
            work,
            |found| {
                sorting.run.stop.check()?;
                kept.push(found);
                Ok::<_, Error>(())
            },
        )?;
        self.reused = list(kept.iter().map(Option::is_some))?;
        self.kept = kept;
        Ok(())
    }

    /// The number in the name of the sitemap of `part`.
    fn number(&self, part: usize) -> u32 {
        match self.is_stable {
            true => Mark::of(CleanUrl::known(self.live.rows.first_urls[part].as_bytes(), true)).number(),
            false => number_of_next(part),
        }
    }

    /// Sorts the unchanged parts around changed ones that the division reads.
    fn sort_neighbours(&mut self, limits: Limits) {
        let is_changed = |part: usize| self.kept.get(part).is_some_and(Option::is_none);
        let is_full = |part: usize| self.live.sitemaps[part].urls == limits.entries_max;
        let is_near = |part: usize| match self.is_stable {
            true => (part.saturating_sub(AFTER)..=part + BEFORE).any(is_changed),
            // If bytes end a sitemap, its size and the next entry decide where it ends.
            false => {
                let before = part.checked_sub(1).filter(|&before| is_changed(before));
                before.is_some_and(|before| !is_full(before)) || is_changed(part + 1) && !is_full(part)
            }
        };
        let reused = (0..self.kept.len()).map(|part| self.reused[part] && !is_near(part));
        self.reused = reused.collect();
    }

    /// Sorts `part`, whose entries are needed, and others after it that will probably be.
    fn give_up(&mut self, part: usize, more: &mut usize) {
        let after = match self.is_stable {
            true => &mut self.reused[part..],
            // All later sitemaps begin elsewhere, or have other numbers.
            false => return self.reused[part..].fill(false),
        };
        let some = (*more).min(after.len());
        after[..some].fill(false);
        *more *= 2;
    }

    /// The ranges that must be sorted, unless they are almost all.
    fn needed(&self, sorting: &Sorting<'_>) -> Option<Vec<usize>> {
        let is_needed = |&range: &usize| !self.live.parts_of(range).all(|part| self.reused[part]);
        let needed: Vec<_> = (0..sorting.ranges.len()).filter(is_needed).collect();
        let rows = |range: &usize| sorting.ranges[*range].rows();
        let all: usize = sorting.ranges.iter().map(|range| range.rows()).sum();
        let sorted: usize = needed.iter().map(rows).sum();
        (sorted as f64 <= (1.0 - SPARED_PART_MIN) * all as f64).then_some(needed)
    }

    /// Sorts the `needed` ranges, and divides all entries. `None` if the borders are not certain.
    fn divide(&mut self, sorting: &mut Sorting<'_>, needed: &[usize]) -> Result<Option<Divided>, Halt> {
        let search = BorderSearch::new(self.borders.count());
        let Sorted { collector, listed, by_order } = self.sort(sorting, needed, &search)?;
        let reused = self.reused.iter().zip(self.live.sitemaps).filter(|(is_reused, _)| **is_reused);
        let reused: u64 = reused.map(|(_, sitemap)| u64::from(sitemap.urls)).sum();
        let sorted: u64 = listed.iter().sum();
        let candidates = self.borders.candidates(search, |url| self.reused[self.live.part_of(url)])?;
        let (chunks, sitemaps) = match self.is_stable {
            false => (collector.chunks, collector.divider.finish()),
            true => {
                let Some(borders) = self.borders.among(&candidates) else { return Ok(None) };
                self.begin_at(&borders)?;
                let in_chunks: Vec<_> =
                    borders.iter().filter(|url| !self.begins_reused_part(url)).cloned().collect();
                let (chunks, sizes) = (collector.chunks, collector.sizes);
                let regions = Regions::of(chunks, sizes, &in_chunks, sorting.chunk_files())?;
                let sitemaps = self.divide_stable(sorting, &regions, &listed, &borders)?;
                (regions.chunks, sitemaps)
            }
        };
        let (sitemaps, kept) = self.placed(sitemaps, chunks.len());
        Ok(Some(Divided { chunks, sitemaps, kept, listed: sorted + reused, by_order, candidates }))
    }

    /// Makes sure that every border begins a part. A part with a border inside is changed: its sitemap ends earlier.
    fn begin_at(&mut self, borders: &[String]) -> Result<(), Halt> {
        let parts = borders.iter().map(|url| (self.live.part_of(url), url));
        let is_cut = |&(part, url): &(usize, &String)| {
            self.kept[part].is_some() && self.live.rows.first_urls[part] != *url
        };
        let cut = list(parts.filter(is_cut).map(|(part, _)| part))?;
        cut.iter().for_each(|&part| self.kept[part] = None);
        cut.first().map_or(Ok(()), |&part| Err(Halt::Needs(part)))
    }

    /// Sorts the `needed` ranges.
    fn sort(
        &self,
        sorting: &mut Sorting<'_>,
        needed: &[usize],
        search: &BorderSearch,
    ) -> Result<Sorted, Halt> {
        let run = sorting.run;
        let rows = needed.iter().map(|&range| sorting.ranges[range].rows() as u64).sum();
        let phase = run.progress.phase(Phase::Sort, rows);
        let (collector, listed, by_order) = (sorting.collector(), vec![0; self.reused.len()], Vec::new());
        let mut to = Sorted { collector, listed, by_order };
        let unchanged = self.kept.iter().enumerate();
        let unchanged = list(unchanged.map(|(part, kept)| kept.as_ref().map(|_| self.planned(part))))?;
        let mut filling = (!self.is_stable).then(|| Filling::new(unchanged, &self.reused));
        let storage = sorting.storage();
        let cuts = |range| self.cuts(range, sorting);
        let sorted = sorting.sort(needed, cuts, search, &storage, |range, sorted| {
            to.by_order.extend(sorted.is_by_order.then_some(range));
            for block in sorted.blocks {
                if let Some(filling) = &mut filling {
                    filling.pass(block.part, &mut to.collector.divider)?;
                }
                to.listed[block.part] += block.sizes.len() as u64;
                to.collector.push(block)?;
            }
            Ok(())
        });
        drop(phase);
        sorted?;
        if let Some(filling) = &mut filling {
            filling.pass(self.reused.len(), &mut to.collector.divider)?;
        }
        sorting.set_sorted(storage.into_files()?)?;
        Ok(to)
    }

    /// Divides the entries of `regions` and of the reused parts by their marks. Each part has as many entries in `regions` as
    /// `listed` says.
    fn divide_stable(
        &self,
        sorting: &Sorting<'_>,
        regions: &Regions,
        listed: &[u64],
        borders: &[String],
    ) -> Result<Vec<PlannedSitemap<SitemapSource>>, Halt> {
        let Regions { chunks, sizes, borders: begun } = regions;
        let unchanged = self.unchanged(chunks, listed, borders);
        let files = sorting.chunk_files();
        let divided = stable::divide_around(sorting.run, chunks, sizes, files, begun, &unchanged);
        divided.map_err(|halt| match halt {
            Halt::Needs(nth) => match unchanged[nth].whole.sitemap.first {
                SitemapSource::Live(part) => Halt::Needs(part),
                SitemapSource::Entry(_) => unreachable!("unchanged sitemaps are of the live set"),
            },
            failed => failed,
        })
    }

    /// Whether a reused part begins with `url`.
    fn begins_reused_part(&self, url: &str) -> bool {
        let part = self.live.rows.first_urls.binary_search_by(|first| first.as_str().cmp(url));
        part.is_ok_and(|part| self.reused[part])
    }

    /// The places in a range at which parts begin.
    fn cuts<'c>(&'c self, range: usize, sorting: &Sorting<'_>) -> Cuts<'c> {
        let (parts, known) = (self.live.parts_of(range), sorting.prefixes[range].len());
        let cut = |part: usize| Cut {
            from: &self.live.rows.first_urls[part].as_bytes()[known..],
            part,
            is_reused: self.reused[part],
        };
        Cuts::new(parts.start, self.reused[parts.start], (parts.start + 1..parts.end).map(cut).collect())
    }

    /// The unchanged parts among `chunks`, in which each part has as many entries as `listed` says.
    fn unchanged(&self, chunks: &[ListedChunk], listed: &[u64], borders: &[String]) -> Vec<Unchanged> {
        let mut unchanged = Vec::new();
        let mut at = 0;
        for (part, kept) in self.kept.iter().enumerate() {
            let (before, mut left) = (at, listed[part]);
            while left > 0 {
                left -= u64::from(chunks[at].listed);
                at += 1;
            }
            if let Some(kept) = kept {
                let is_border = borders.binary_search(&kept.first_url).is_ok();
                unchanged.push(Unchanged { before, whole: self.whole(part, kept, is_border, at - before) });
            }
        }
        unchanged
    }

    fn whole(&self, part: usize, kept: &Kept, is_border: bool, chunks: usize) -> Whole<SitemapSource> {
        let sitemap = self.planned(part);
        Whole {
            sitemap,
            bytes_min: sitemap.bytes.saturating_sub(self.frame_bytes_most),
            is_border,
            was_border: self.borders.has(&kept.first_url),
            is_followed_alike: self.kept.get(part + 1).is_none_or(Option::is_some),
            chunks,
        }
    }

    /// The sitemap of an unchanged part. It is not rendered, so the namespaces that it declares are not needed. Sets with news have
    /// no record of rows.
    fn planned(&self, part: usize) -> PlannedSitemap<SitemapSource> {
        let sitemap = &self.live.sitemaps[part];
        PlannedSitemap {
            number: self.number(part),
            first: SitemapSource::Live(part),
            entries: sitemap.urls,
            bytes: sitemap.xml_bytes,
            uses: Namespaces::NONE,
            news: 0,
        }
    }

    /// Gives every sitemap a place among the `chunks` chunks, and lists the live ones.
    fn placed(
        &self,
        sitemaps: Vec<PlannedSitemap<SitemapSource>>,
        chunks: usize,
    ) -> (Vec<PlannedSitemap<EntryAt>>, Vec<Option<Kept>>) {
        let mut next = EntryAt { chunk: chunks, ordinal: 0 };
        let mut placed: Vec<_> = sitemaps
            .into_iter()
            .rev()
            .map(|sitemap| match sitemap.first {
                SitemapSource::Entry(at) => {
                    next = EntryAt { ordinal: 0, ..at };
                    (sitemap.map_first(|_| at), None)
                }
                // It has no chunks that are read. The next sitemap begins with a chunk of its own.
                SitemapSource::Live(part) => (sitemap.map_first(|_| next), self.kept[part].clone()),
            })
            .collect();
        placed.reverse();
        placed.into_iter().unzip()
    }
}

/// The ranges that were sorted.
struct Sorted {
    collector: Collector,
    /// The listed entries of each part.
    listed: Vec<u64>,
    /// The ranges whose listed entries depend on the order of the rows.
    by_order: Vec<usize>,
}
