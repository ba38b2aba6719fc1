//! Compares stable division with a reference implementation that looks at every entry.

use std::collections::HashSet;
use std::ops::Range;

use super::*;
use crate::clean::{Cleaned, Cleaner};
use crate::limits::Protocol;
use crate::sitemap::tag_names::TagName;
use crate::sitemap::xml::Namespaces;

const FRAME: Frame = Frame::sitemap(Protocol::V0_9);
const IMAGE: Namespaces = Namespaces::of(TagName::Images);

/// Entries of many sizes, some with a namespace. There are few distinct marks, so many entries have equal ones.
fn weighed(at: u32, marks: u32) -> Weighed<u32> {
    let uses = if at.is_multiple_of(1_000) { IMAGE } else { Namespaces::NONE };
    let hash = xxh3_64_with_seed(&at.to_ne_bytes(), 0) as u32;
    Weighed {
        at,
        size: EntrySize::of_entry(60 + u64::from(at % 90), uses),
        mark: Mark { tail: hash % marks % 7, whole: hash % marks },
    }
}

/// Divides entries in chunks of up to `most` entries.
fn divide_chunks(limits: Limits, entries: &[Weighed<u32>], most: usize) -> Vec<PlannedSitemap<u32>> {
    divide_regions(limits, &[entries], most)
}

/// Divides entries in chunks of up to `most` entries. Every region but the first begins with a border.
fn divide_regions(limits: Limits, regions: &[&[Weighed<u32>]], most: usize) -> Vec<PlannedSitemap<u32>> {
    let mut owns = Vec::new();
    for (nth, &region) in regions.iter().enumerate() {
        let mut rest = region;
        while !rest.is_empty() {
            let (own, after) = rest.split_at((rest.len() * 7 % most + 1).min(rest.len()));
            owns.push((own, nth > 0 && rest.len() == region.len()));
            rest = after;
        }
    }
    let chunks: Vec<_> = owns.iter().map(|&(own, is_border)| chunk(own, is_border)).collect();
    super::divide(limits, &FRAME, &chunks, |at| Ok(owns[at].0.to_vec())).unwrap()
}

fn chunk(own: &[Weighed<u32>], is_border: bool) -> Span<u32> {
    Span::Chunk(ChunkSummary {
        entries: own.len() as u32,
        size: own.iter().map(|entry| entry.size).sum(),
        smallest_mark: own.iter().map(|entry| entry.mark).min().unwrap(),
        is_border,
    })
}

fn divide(limits: Limits, entries: impl IntoIterator<Item = u32>) -> Vec<PlannedSitemap<u32>> {
    let entries: Vec<_> = entries.into_iter().map(|at| weighed(at, u32::MAX)).collect();
    divide_chunks(limits, &entries, 40)
}

#[test]
fn chunks_of_any_length_give_what_single_entries_do() {
    let frame = FRAME.bytes() + IMAGE.bytes();
    for (entries_max, bytes_max) in [
        (1, u64::MAX / 100),
        (3, u64::MAX / 100),
        (100, u64::MAX / 100),
        (100, frame + 7_000),
        (100, frame + 149),
        (50_000, frame + 40_000),
        (50_000, 1 << 30),
    ] {
        let limits = Limits { entries_max, bytes_max };
        for marks in [1, 5, 300, u32::MAX] {
            for count in [0, 1, 2, 99, 6_000] {
                let entries: Vec<_> = (0..count).map(|at| weighed(at, marks)).collect();
                let mut plain = Plain::new(limits);
                entries.iter().for_each(|&entry| plain.push(entry));
                for most in [1, 7, 60, 300, 10_000] {
                    let sitemaps = divide_chunks(limits, &entries, most);
                    assert_eq!(sitemaps, plain.sitemaps, "{limits:?}, {count} entries in chunks of {most}");
                }
            }
        }
    }
}

#[test]
fn regions_are_divided_as_if_each_were_a_set_of_its_own() {
    for (entries_max, bytes_max) in [(1, 1 << 30), (3, 1 << 30), (100, 1 << 30), (1_000, 7_000)] {
        let limits = Limits { entries_max, bytes_max };
        for marks in [1, 300, u32::MAX] {
            let entries: Vec<_> = (0..3_000).map(|at| weighed(at, marks)).collect();
            for cuts in [&[0, 1, 2, 50, 1_000, 1_050, 2_999][..], &[40, 41, 139, 140], &[1_500]] {
                let ends = cuts.iter().copied().chain([entries.len()]);
                let starts = [0].into_iter().chain(cuts.iter().copied());
                let regions: Vec<_> = starts.zip(ends).map(|(start, end)| &entries[start..end]).collect();
                let mut alone = Vec::new();
                for region in &regions {
                    let mut plain = Plain::new(limits);
                    region.iter().for_each(|&entry| plain.push(entry));
                    alone.extend(plain.sitemaps);
                }
                for most in [1, 7, 300, 10_000] {
                    let sitemaps = divide_regions(limits, &regions, most);
                    assert_eq!(sitemaps, alone, "{limits:?}, {cuts:?} in chunks of {most}");
                }
            }
        }
    }
}

/// A file of an earlier division, its entries now, and whether they are unchanged.
type EarlierFile = (PlannedSitemap<u32>, Vec<Weighed<u32>>, bool);

/// Divides the entries of `files` again. Unchanged ones can be read only if they are in `read`.
fn divide_again(
    limits: Limits,
    files: &[EarlierFile],
    read: &HashSet<usize>,
) -> Result<Vec<PlannedSitemap<u32>>, Halt> {
    let (mut spans, mut entries, mut indexes) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, (sitemap, own, is_unchanged)) in files.iter().enumerate() {
        let is_read = !is_unchanged || read.contains(&nth);
        let chunks: Vec<_> = if is_read { own.chunks(17).collect() } else { Vec::new() };
        if *is_unchanged {
            spans.push(Span::Whole(Whole {
                sitemap: *sitemap,
                bytes_min: sitemap.bytes - FRAME.bytes() - IMAGE.bytes(),
                is_border: false,
                was_border: false,
                is_followed_alike: files.get(nth + 1).is_none_or(|(.., is_unchanged)| *is_unchanged),
                chunks: chunks.len(),
            }));
            entries.push(Vec::new());
            indexes.push(nth);
        }
        for own in chunks {
            spans.push(chunk(own, false));
            entries.push(own.to_vec());
            indexes.push(nth);
        }
    }
    super::divide(limits, &FRAME, &spans, |at| Ok(entries[at].clone())).map_err(|halt| match halt {
        Halt::Needs(span) => Halt::Needs(indexes[span]),
        failed => failed,
    })
}

#[test]
fn a_file_of_an_earlier_division_is_used_again_only_where_this_one_has_it_too() {
    let (mut used, mut asked) = (0, 0);
    for (entries_max, bytes_max) in [(50, 1 << 30), (1_000, 7_000), (3, 1 << 30)] {
        let limits = Limits { entries_max, bytes_max };
        for seed in 0..200 {
            let number = |n: u32| xxh3_64_with_seed(&n.to_ne_bytes(), seed) as u32;
            let entries: Vec<_> = (0..1_500).map(|at| weighed(at * 10 + 1, u32::MAX)).collect();
            let mut rest = &entries[..];
            let mut files: Vec<_> = divide_chunks(limits, &entries, 40)
                .into_iter()
                .map(|sitemap| {
                    let (own, after) = rest.split_at(sitemap.entries as usize);
                    rest = after;
                    (sitemap, own.to_vec(), true)
                })
                .collect();
            for n in 0..1 + number(0) % 3 {
                let nth = number(n + 1) as usize % files.len();
                let (_, own, is_unchanged) = &mut files[nth];
                *is_unchanged = false;
                match number(n + 10) % 4 {
                    0 => own.clear(),
                    1 => drop(own.pop()),
                    2 => own.insert(0, weighed(own.first().map_or(5, |first| first.at) - 1, u32::MAX)),
                    _ => {}
                }
            }
            let mut plain = Plain::new(limits);
            files.iter().flat_map(|(_, own, _)| own).for_each(|&entry| plain.push(entry));
            let mut read = HashSet::new();
            let sitemaps = loop {
                match divide_again(limits, &files, &read) {
                    Ok(sitemaps) => break sitemaps,
                    Err(Halt::Needs(nth)) => assert!(read.insert(nth), "it is asked for once"),
                    Err(Halt::Failed(error)) => panic!("{error}"),
                }
            };
            assert_eq!(sitemaps, plain.sitemaps, "{limits:?}, seed {seed}");
            used += files.len() - read.len();
            asked += read.len();
        }
    }
    assert!(asked > 1_000 && used > 4 * asked, "{used} used, {asked} asked for");
}

#[test]
fn files_of_news_have_400_to_1_000_articles() {
    let news = Namespaces::of(TagName::News);
    let limits = Limits { entries_max: 50_000, bytes_max: 10_485_760 };
    for every in [1, 3] {
        let entry = |at: u32| {
            let uses = if at.is_multiple_of(every) { news } else { Namespaces::NONE };
            Weighed { size: EntrySize::of_entry(80, uses), ..weighed(at, u32::MAX) }
        };
        let entries: Vec<_> = (0..20_000).map(entry).collect();
        let mut plain = Plain::new(limits);
        entries.iter().for_each(|&entry| plain.push(entry));
        let sitemaps = divide_chunks(limits, &entries, 1_300);
        assert_eq!(sitemaps, plain.sitemaps);
        assert_eq!(divide_chunks(limits, &entries, 1), plain.sitemaps);
        assert_eq!(sitemaps.iter().map(|sitemap| sitemap.entries).sum::<u32>(), 20_000);
        let articles: Vec<u32> = sitemaps.iter().map(|sitemap| sitemap.news).collect();
        assert_eq!(articles.iter().sum::<u32>(), 20_000_u32.div_ceil(every));
        let (last, others) = articles.split_last().unwrap();
        assert!(*last <= 1_000 && others.iter().all(|news| (400..=1_000).contains(news)), "{articles:?}");
    }
}

#[test]
fn every_entry_is_in_one_file_and_no_file_exceeds_a_limit() {
    let frame = FRAME.bytes() + IMAGE.bytes();
    for (entries_max, bytes_max) in [
        (1, u64::MAX / 100),
        (2, u64::MAX / 100),
        (7, frame + 500),
        (500, 1 << 20),
        (1_000, frame + 40_000),
        (50_000, frame + 149),
    ] {
        let sitemaps = divide(Limits { entries_max, bytes_max }, 0..20_000);
        let mut at = 0;
        for (nth, sitemap) in sitemaps.iter().enumerate() {
            let own = at..at + sitemap.entries;
            let bytes: u64 = own.clone().map(|at| 60 + u64::from(at % 90)).sum();
            let images = own.clone().any(|at| at.is_multiple_of(1_000));
            let uses = if images { IMAGE } else { Namespaces::NONE };
            assert_eq!((sitemap.first, sitemap.uses), (at, uses));
            assert_eq!(sitemap.bytes, FRAME.bytes() + uses.bytes() + bytes);
            assert!(sitemap.entries <= entries_max && sitemap.bytes <= bytes_max);
            let full = (100 * sitemap.entries / entries_max).max((100 * sitemap.bytes / bytes_max) as u32);
            assert!(
                u64::from(full) >= FULL_PERCENT_MIN || nth + 1 == sitemaps.len(),
                "{full} % of {sitemap:?}"
            );
            at = own.end;
        }
        assert_eq!(at, 20_000);
    }
}

#[test]
fn files_are_seven_tenths_full() {
    let limits = Limits { entries_max: 100, bytes_max: 1 << 20 };
    let sitemaps = divide(limits, 0..100_000);
    assert!((1_380..1_480).contains(&sitemaps.len()), "{} files", sitemaps.len());

    // Numbered URLs: numbers with few or many digits between a common start and end.
    for (before, after) in
        [("item-", ""), ("", "/index.html"), ("a/long/path/of-words-", ".html"), ("?", "&x=1")]
    {
        let mark = |at: u32| {
            let url = format!("https://h.example/{before}{at}{after}");
            let mut cleaner = Cleaner::default();
            let Cleaned::Url(url) = cleaner.clean(url.as_bytes()) else { panic!("it is one") };
            Mark::of(url)
        };
        let entries: Vec<_> = (0..100_000).map(|at| Weighed { mark: mark(at), ..weighed(at, 1) }).collect();
        let sitemaps = divide_chunks(limits, &entries, 3_000);
        assert!((1_380..1_480).contains(&sitemaps.len()), "{} files of …{before}…{after}", sitemaps.len());
    }
}

#[test]
fn an_insertion_or_removal_changes_only_the_files_near_it() {
    let limits = Limits { entries_max: 100, bytes_max: 1 << 20 };
    let files = |gap: Range<u32>| -> HashSet<(u32, u32, u32)> {
        let sitemaps = divide(limits, (0..20_000).filter(|at| !gap.contains(at)));
        let ends = sitemaps.iter().skip(1).map(|sitemap| sitemap.first).chain([20_000]);
        let file = |(sitemap, end): (&PlannedSitemap<u32>, u32)| (sitemap.first, end, sitemap.number);
        let cut = |&(first, end, _): &(u32, u32, u32)| end <= gap.start || gap.end <= first;
        sitemaps.iter().zip(ends).map(file).filter(cut).collect()
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

/// The reference implementation: adds entries one by one, and searches for the smallest mark when a file is too full.
struct Plain {
    limits: Limits,
    sitemaps: Vec<PlannedSitemap<u32>>,
    /// The entries of the last file. Some may still move to the next file.
    last: Vec<Weighed<u32>>,
}

impl Plain {
    fn new(limits: Limits) -> Self {
        Self { limits, sitemaps: Vec::new(), last: Vec::new() }
    }

    fn push(&mut self, entry: Weighed<u32>) {
        while let Some(sitemap) = self.sitemaps.last_mut() {
            let with = sitemap.with(1, entry.size);
            let fits = with.entries <= self.limits.entries_max
                && with.bytes <= self.limits.bytes_max
                && with.news <= NEWS_PER_SITEMAP_MAX;
            if fits {
                *sitemap = with;
                return self.last.push(entry);
            }
            let cut = self.cut(entry.mark);
            if cut == self.last.len() {
                break;
            }
            // The entries after the cut move to a new file, which may again be too full for `entry`.
            let (ended, moved) = self.last.split_at(cut);
            *self.sitemaps.last_mut().unwrap() = file(ended);
            self.sitemaps.push(file(moved));
            self.last.drain(..cut);
        }
        self.last = vec![entry];
        self.sitemaps.push(file(&self.last));
    }

    /// How many entries of the last file stay in it, if the entry with the mark `next` does not fit.
    fn cut(&self, next: Mark) -> usize {
        let is_full = |sitemap: PlannedSitemap<u32>| {
            100 * u64::from(sitemap.entries) >= FULL_PERCENT_MIN * u64::from(self.limits.entries_max)
                || 100 * sitemap.bytes >= FULL_PERCENT_MIN * self.limits.bytes_max
                || 100 * u64::from(sitemap.news) >= FULL_PERCENT_MIN * u64::from(NEWS_PER_SITEMAP_MAX)
        };
        let mut cut = (next, self.last.len());
        let mut sitemap = file(&self.last[..1]);
        for (at, entry) in self.last.iter().enumerate().skip(1) {
            if is_full(sitemap) {
                cut = cut.min((entry.mark, at));
            }
            sitemap = sitemap.with(1, entry.size);
        }
        cut.1
    }
}

/// The file with these `entries`, at least one.
fn file(entries: &[Weighed<u32>]) -> PlannedSitemap<u32> {
    let (number, uses) = (entries[0].mark.number(), Namespaces::NONE);
    let empty =
        PlannedSitemap { number, first: entries[0].at, entries: 0, bytes: FRAME.bytes(), uses, news: 0 };
    entries.iter().fold(empty, |sitemap, entry| sitemap.with(1, entry.size))
}
