//! Borders of sorted sets that are divided stably, with 100 rows per border instead of a million.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::{Directory, distinct, for_each_listed, job, rows, with_run};
use crate::intake::input::Input;
use crate::intake::spool_format::Content;
use crate::job::{Job, OnDuplicate, Order};
use crate::options::Divide;
use crate::sitemap::divide::PlannedSitemap;
use crate::sitemap::divide::borders::{BorderHash, count_per, region_of};
use crate::survey::chunk::{Chunk, extents};
use crate::survey::context::Context;
use crate::survey::judge::{Judge, Judged};
use crate::survey::layout::{EntryAt, Layout};
use crate::survey::memory::Memory;
use crate::survey::splitters::Splitters;
use crate::survey::tail::Tail;
use crate::survey::tally::Tally;
use crate::survey::{Arriving, Surveyed, survey, survey_region, survey_with};

type Rows = Vec<(String, String)>;

/// A sitemap: its number, its bytes, and its URLs.
type Sitemap = (u32, u64, Vec<String>);

fn hundred_per_border(accepted_rows: u64) -> usize {
    count_per(100, accepted_rows)
}

fn stable_job(threads: usize) -> Job {
    let mut job = job(OnDuplicate::Newest, threads);
    (job.rules.order, job.rules.divide, job.rules.urls_per_sitemap) = (Order::Sorted, Divide::Stable, 20);
    job
}

/// The sitemaps of `rows` with 100 rows per border.
fn sitemaps_with(job: &Job, rows: &[(String, String)], hold: usize) -> Vec<Sitemap> {
    surveyed(job, rows, hold, hundred_per_border)
}

fn sitemaps(rows: &[(String, String)]) -> Vec<Sitemap> {
    sitemaps_with(&stable_job(2), rows, 1 << 20)
}

fn surveyed(
    job: &Job,
    rows: &[(String, String)],
    hold: usize,
    border_count: fn(u64) -> usize,
) -> Vec<Sitemap> {
    let directory = Directory::new(&format!("regions-{:?}", std::thread::current().id()));
    let inputs = Arc::from([directory.input(rows)]);
    with_run(job, |run| {
        let memory = directory.memory(hold);
        let Surveyed { layout, .. } = survey_with(run, &inputs, &memory, border_count, None).unwrap();
        sitemaps_of(run, &layout)
    })
}

fn sitemaps_of(run: Context<'_>, layout: &Layout) -> Vec<Sitemap> {
    let mut starts = vec![0; layout.chunks.len()];
    let mut urls = Vec::new();
    for_each_listed(run, layout, |chunk, entry| {
        urls.push(String::from_utf8(entry.url.as_bytes().into()).unwrap());
        starts[chunk..].fill(urls.len());
    });
    starts.insert(0, 0);
    let mut next = 0;
    let sitemap = |planned: &PlannedSitemap<EntryAt>| {
        let from = next;
        next += planned.entries as usize;
        let EntryAt { chunk, ordinal } = planned.first;
        assert_eq!(starts[chunk] + ordinal, from, "sitemaps follow each other");
        (planned.number, planned.bytes, urls[from..next].to_vec())
    };
    layout.sitemaps.iter().map(sitemap).collect()
}

/// The accepted rows: all URLs of [`rows`] are canonical.
fn accepted(rows: &[(String, String)]) -> impl Iterator<Item = &String> {
    rows.iter().map(|(url, _)| url).filter(|url| url.starts_with("https"))
}

/// The plain way: all URLs sorted by their hashes.
fn borders(rows: &[(String, String)]) -> Vec<String> {
    let count = hundred_per_border(accepted(rows).count() as u64);
    let ranked: BTreeSet<_> = accepted(rows).map(|url| (BorderHash::of(url.as_bytes()), url)).collect();
    let first: BTreeSet<_> = ranked.into_iter().take(count).map(|(_, url)| url.clone()).collect();
    first.into_iter().collect()
}

#[test]
fn each_region_alone_is_divided_as_in_the_whole_set() {
    for rows in [&rows()[..6_000], &rows()[20_000..21_000], &distinct(3_000)] {
        let borders = borders(rows);
        assert!(borders.len() >= 8);
        let mut regions = vec![Vec::new(); borders.len() + 1];
        for row in rows.iter().filter(|(url, _)| url.starts_with("https")) {
            regions[region_of(row.0.as_bytes(), &borders)].push(row.clone());
        }
        let alone: Vec<Sitemap> = regions
            .iter()
            .flat_map(|region| {
                let directory = Directory::new(&format!("alone-{:?}", std::thread::current().id()));
                let inputs = Arc::from([directory.input(region)]);
                with_run(&stable_job(1), |run| {
                    let memory = directory.memory(1 << 20);
                    let alone = survey_with(run, &inputs, &memory, |_| 0, None).unwrap();
                    sitemaps_of(run, &alone.layout)
                })
            })
            .collect();
        for (hold, threads) in [(usize::MAX, 3), (1 << 20, 2), (1 << 18, 1), (1 << 10, 1)] {
            let whole = sitemaps_with(&stable_job(threads), rows, hold);
            assert!(whole == alone, "{hold} bytes, {threads} threads");
        }
        let firsts: HashSet<_> = alone.iter().map(|(.., urls)| &urls[0]).collect();
        assert!(borders.iter().all(|border| firsts.contains(border)));
        let without = surveyed(&stable_job(2), rows, 1 << 20, |_| 0);
        assert!(without != alone, "borders make a difference");
    }
}

/// The sitemaps of `input` if another process has judged its rows. They arrive in `ranges` ranges, every other one in a block.
fn sitemaps_of_arrived(run: Context<'_>, input: Input, ranges: usize, memory: &Memory) -> Vec<Sitemap> {
    let inputs = [input];
    let (mut judge, mut tally) = (Judge::new(run.rules), Tally::default());
    let rows = |act: &mut dyn FnMut(Content<'_>)| {
        for (at, extent) in extents(&inputs).unwrap() {
            Chunk::of(at, inputs[at].bytes(), extent).rows(&inputs, 0).for_each(|row| act(row.content));
        }
    };
    let mut sample = Vec::new();
    rows(&mut |row| {
        if let Judged::Entry(entry) = judge.judge(row, &mut |_| {}) {
            sample.push(entry.url.as_bytes().to_vec());
        }
    });
    let splitters = || Splitters::of_sample(sample.clone(), ranges);
    let mut arriving = Arriving::new(splitters(), memory).unwrap();
    let ranges = splitters();
    let mut blocks = vec![(Vec::new(), 0); ranges.ranges()];
    rows(&mut |row| {
        let is_single = tally.lines % 2 == 0;
        judge.tally(row, &mut tally, |entry| {
            let url = entry.url.as_bytes();
            let range = ranges.range_of(url);
            let known = ranges.prefix(range).len();
            assert_eq!(arriving.range_of(url, url, known), Some(range));
            assert_eq!(arriving.range_of(url, url, known + 1), None);
            if is_single {
                arriving.push(&entry).unwrap();
            } else {
                let (tails, rows) = &mut blocks[range];
                Tail::push(&entry, known, tails);
                *rows += 1;
            }
        });
    });
    for (range, (tails, rows)) in blocks.iter().enumerate().filter(|(_, (_, rows))| *rows > 0) {
        arriving.push_tails(range, tails, *rows).unwrap();
    }
    let rows = arriving.finish().unwrap().take_region(0..blocks.len()).unwrap();
    assert_eq!(rows.rows(), tally.entries());
    let most = rows.ranges.iter().map(|range| range.rows()).max().unwrap();
    assert!(most < 1 << 16, "a range of {most} rows");
    sitemaps_of(run, &survey_region(run, rows, tally).unwrap())
}

#[test]
fn rows_that_other_processes_have_judged_are_divided_as_those_that_are_read() {
    let directory = Directory::new("arrived");
    for (rows, ranges) in [(&rows()[..], 1), (&rows(), 9), (&distinct(150_000), 1), (&distinct(100), 500)] {
        let want = surveyed(&stable_job(1), rows, usize::MAX, |_| 0);
        for (hold, threads) in [(1 << 30, 1), (1 << 30, 3), (1 << 16, 1)] {
            let got = with_run(&stable_job(threads), |run| {
                sitemaps_of_arrived(run, directory.input(rows), ranges, &directory.memory(hold))
            });
            assert!(got == want, "{} rows, {ranges} ranges, {hold} bytes", rows.len());
        }
    }
}

#[test]
fn growth_changes_few_sitemaps_until_rows_double() {
    let before = distinct(7_000);
    let changed = |border_count: fn(u64) -> usize, place: usize| {
        let mut after = before.clone();
        after.extend((0..70).map(|n| (format!("https://h.example/{place:06}-{n:02}.html"), String::new())));
        let old: HashSet<_> = surveyed(&stable_job(2), &before, 1 << 20, border_count).into_iter().collect();
        let new = surveyed(&stable_job(2), &after, 1 << 20, border_count);
        (new.iter().filter(|&sitemap| !old.contains(sitemap)).count(), new.len(), after)
    };
    for place in [0, 123_456, 500_000, 999_999] {
        let (with, all, after) = changed(hundred_per_border, place);
        let (without, ..) = changed(|_| 0, place);
        let (old, new): (BTreeSet<_>, BTreeSet<_>) =
            (borders(&before).into_iter().collect(), borders(&after).into_iter().collect());
        let moved = new.difference(&old).count();
        assert!(moved <= 3, "{moved} of {} borders moved", new.len());
        assert!(with <= without + 4 * moved + 2, "{with} of {all} changed, without borders {without}");
    }
    assert_eq!(borders(&before).len(), 64);
    assert_eq!(borders(&distinct(12_799)).len(), 64);
    assert_eq!(borders(&distinct(12_800)).len(), 128);
}

#[test]
fn duplicates_count_as_rows_and_change_no_border() {
    let blank_and_bad: Rows = (0..200).map(|n| (["", "no url"][n % 2].to_owned(), String::new())).collect();
    let urls = distinct(150);
    let none = surveyed(&stable_job(2), &urls, 1 << 20, |_| 0);
    assert_eq!(sitemaps(&urls), none, "too few rows for a border");
    assert_eq!(
        sitemaps(&[&urls[..], &blank_and_bad].concat()),
        none,
        "rows that are not accepted do not count"
    );

    let twice = [&urls[..], &urls[..50]].concat();
    let firsts: Vec<String> = sitemaps(&twice).into_iter().map(|(.., urls)| urls[0].clone()).collect();
    assert_eq!(borders(&twice).len(), 2);
    assert!(borders(&twice).iter().all(|border| firsts.contains(border)));
    assert_eq!(sitemaps(&[&urls[..], &urls, &urls[..99]].concat()), sitemaps(&twice));
    // More borders than URLs.
    let one = vec![urls[0].clone(); 900];
    assert_eq!(sitemaps(&one).len(), 1);
}

#[test]
fn prepared_urls_cannot_force_more_small_sitemaps_than_there_are_borders() {
    let mut candidates: Vec<String> = (0..20_000).map(|n| format!("https://h.example/evil/{n}")).collect();
    candidates.sort_by_key(|url| BorderHash::of(url.as_bytes()));
    let evil = candidates.into_iter().take(1_000).map(|url| (url, String::new()));
    let rows: Rows = distinct(1_000).into_iter().chain(evil).collect();
    let borders = borders(&rows);
    assert_eq!(borders.len(), 16);
    assert!(borders.iter().filter(|border| border.contains("/evil/")).count() >= 12);
    let small = sitemaps(&rows).iter().filter(|(.., urls)| urls.len() < 8).count();
    assert!((1..=17).contains(&small), "{small} sitemaps are less than 40 % full");
}

#[test]
fn two_million_rows_have_two_borders_and_one_row_less_has_none() {
    let urls: Vec<String> = distinct(1_000).into_iter().map(|(url, _)| url).collect();
    let text = (urls.join("\n") + "\n").repeat(2_000);
    let mut ranked = urls.clone();
    ranked.sort_by_key(|url| BorderHash::of(url.as_bytes()));
    for (text, has_borders) in [(&text[..], true), (&text[urls[0].len() + 1..], false)] {
        let directory = Directory::new("two-million");
        let inputs = Arc::from([Input::lines(&directory.0, &directory.file(text.as_bytes()), None).unwrap()]);
        let sitemaps = with_run(&stable_job(2), |run| {
            sitemaps_of(run, &survey(run, &inputs, &directory.memory(1 << 26)).unwrap().layout)
        });
        let firsts: HashSet<_> = sitemaps.iter().map(|(.., urls)| &urls[0]).collect();
        let are_firsts = ranked[..2].iter().all(|url| firsts.contains(url));
        assert_eq!(are_firsts, has_borders);
    }
}
