//! A set that reuses sitemaps of the live one equals the set that is built when nothing is live.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::{Directory, distinct, for_each_listed, job, rows, with_run};
use crate::common::random::Random;
use crate::common::secret::Secret;
use crate::error::Result;
use crate::job::{Job, OnDuplicate, Order};
use crate::options::Divide;
use crate::set::content::{ContentHash, Seal, Seals};
use crate::set::manifest::{SealedRows, Sitemap};
use crate::set::name::{SitemapId, Stem};
use crate::set::shelf::{Shelf, Shelved};
use crate::sitemap::divide::borders::{BorderHash, count_per};
use crate::survey::context::Context;
use crate::survey::layout::{EntryAt, Layout, Sealed};
use crate::survey::tally::Tally;
use crate::survey::{Live, Sealing, Surveyed, survey_with};

type Rows = Vec<(String, String)>;

/// The entries of a sitemap.
type Entries = Vec<(String, String)>;

/// A set, as far as it matters here.
struct Set {
    /// The number, the bytes and the entries of each sitemap.
    sitemaps: Vec<(u32, u64, Entries)>,
    tally: Tally,
    rows: Option<SealedRows>,
    /// How many sitemaps are reused.
    kept: usize,
}

impl Set {
    fn records(&self) -> Vec<Sitemap> {
        self.sitemaps.iter().map(record).collect()
    }
}

/// The record of a sitemap, which is sealed with its entries.
fn record((number, bytes, entries): &(u32, u64, Entries)) -> Sitemap {
    let seal = Seal(xxh3_128(format!("{entries:?}").as_bytes()));
    Sitemap {
        file: format!("sitemap-{number:05}-{:08x}.xml.gz", seal.0 as u32),
        content: String::new(),
        urls: entries.len() as u32,
        xml_bytes: *bytes,
        gzip_bytes: 1,
        lastmod: String::new(),
        seals: Some(Seals { xml: seal, gzip: seal }),
    }
}

/// Has the files of the live set, but for those that are damaged.
#[derive(Debug)]
struct Files {
    secret: Secret,
    whole: HashMap<(u32, Seal), Sitemap>,
}

impl Shelf for Files {
    fn stem(&self) -> &Stem {
        unreachable!("the survey names no file")
    }

    fn secret(&self) -> &Secret {
        &self.secret
    }

    fn has_size(&self, _: SitemapId<'_>, _: u32, _: u64) -> bool {
        unreachable!("the survey renders nothing")
    }

    fn known(&self, _: SitemapId<'_>, _: Seal) -> Result<Option<Sitemap>> {
        unreachable!("the survey reuses only files that are whole")
    }

    fn find(&self, id: SitemapId<'_>, xml: Seal) -> Option<Sitemap> {
        self.whole.get(&(id.number, xml)).cloned()
    }

    fn put(&self, _: SitemapId<'_>, _: ContentHash, _: Seal, _: Vec<u8>) -> Result<Shelved> {
        unreachable!("the survey writes nothing")
    }
}

/// Surveys sets, one after another.
struct Surveys {
    job: Job,
    hold: usize,
    border_count: fn(u64) -> usize,
    directory: Directory,
    secret: Secret,
}

impl Surveys {
    fn new(job: Job, hold: usize, border_count: fn(u64) -> usize) -> Self {
        let directory = Directory::new(&format!("again-{:?}", std::thread::current().id()));
        Self { job, hold, border_count, directory, secret: Secret::draw().unwrap() }
    }

    /// The set of `rows`, after `live`, whose sitemaps with the indexes in `damaged` are damaged.
    fn survey(&self, rows: &[(String, String)], live: Option<&Set>, damaged: &[usize]) -> Set {
        let records = live.map(Set::records).unwrap_or_default();
        let whole = records.iter().enumerate().filter(|(at, _)| !damaged.contains(at)).map(|(at, record)| {
            let number = live.unwrap().sitemaps[at].0;
            ((number, record.seals.unwrap().xml), record.clone())
        });
        let files = Files { secret: self.secret.clone(), whole: whole.collect() };
        let inputs = Arc::from([self.directory.input(rows)]);
        let live = live.and_then(|live| Some((live, Live { sitemaps: &records, rows: live.rows.as_ref()? })));
        with_run(&self.job, |run| {
            let memory = self.directory.memory(self.hold);
            let sealing = Sealing { shelf: &files, live: live.map(|(_, live)| live) };
            let Surveyed { account, layout } =
                survey_with(run, &inputs, &memory, self.border_count, Some(sealing)).unwrap();
            let urls = entries(run, &layout);
            let mut old = HashMap::new();
            if let Some((live, _)) = live {
                old.extend(records.iter().map(|record| record.file.clone()).zip(&live.sitemaps));
            }
            let sitemap = |at: usize| match layout.kept(at) {
                Some(kept) => {
                    let (number, bytes, entries) = old[&kept.sitemap.file];
                    assert_eq!(kept.first_url, entries[0].0);
                    (*number, *bytes, entries.clone())
                }
                None => {
                    let planned = &layout.sitemaps[at];
                    let EntryAt { chunk, ordinal } = planned.first;
                    let own = urls.iter().skip_while(|(at, _)| *at < chunk).skip(ordinal);
                    let own = own.take(planned.entries as usize).map(|(_, entry)| entry.clone());
                    (planned.number, planned.bytes, own.collect())
                }
            };
            let sitemaps: Vec<_> = (0..layout.sitemaps.len()).map(sitemap).collect();
            for (planned, (number, bytes, entries)) in layout.sitemaps.iter().zip(&sitemaps) {
                let planned = (planned.number, planned.bytes, planned.entries as usize);
                assert_eq!(planned, (*number, *bytes, entries.len()));
            }
            let first_urls = sitemaps.iter().map(|(.., entries)| entries[0].0.clone()).collect();
            let Layout { sealed, kept, .. } = layout;
            let rows = sealed.map(|Sealed { ranges, candidates }| SealedRows {
                rules: String::new(),
                ranges,
                candidates,
                first_urls,
            });
            let kept = kept.iter().flatten().count();
            Set { sitemaps, tally: account.tally, rows, kept }
        })
    }

    /// Surveys `rows` after `live`, checks that the set is that of `rows` alone, and returns it.
    fn check(&self, rows: &[(String, String)], live: &Set, damaged: &[usize], what: &str) -> Set {
        let (again, alone) = (self.survey(rows, Some(live), damaged), self.survey(rows, None, &[]));
        assert_eq!(alone.kept, 0);
        assert_eq!(again.tally, alone.tally, "{what}");
        assert_eq!(again.sitemaps.len(), alone.sitemaps.len(), "{what}");
        for (nth, (again, alone)) in again.sitemaps.iter().zip(&alone.sitemaps).enumerate() {
            assert!(again == alone, "{what}: sitemap {nth} differs: {again:?}\n{alone:?}");
        }
        again
    }
}

/// The entries of all chunks, each with the index of its chunk.
fn entries(run: Context<'_>, layout: &Layout) -> Vec<(usize, (String, String))> {
    let mut all = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
    for_each_listed(run, layout, |chunk, entry| {
        all.push((chunk, (text(entry.url.as_bytes()), text(entry.tags))));
    });
    all
}

/// Changes `rows` in one of many ways, and says how.
fn change(rows: &mut Rows, numbers: &mut Random) -> String {
    let mut sorted: Vec<String> = rows.iter().map(|(url, _)| url.clone()).collect();
    sorted.sort_unstable();
    let place = sorted[numbers.below(sorted.len())].clone();
    let some = [1, 3, 40, 300][numbers.below(4)];
    let near: HashSet<&String> = sorted.iter().filter(|url| **url >= place).take(some).collect();
    let own = numbers.below(1_000_000);
    let new = |n: usize| (format!("{place}-{own}-{n:03}"), String::new());
    let by_hash = |url: &&String| BorderHash::of(url.as_bytes());
    let kind = numbers.below(13);
    match kind {
        0 => {}
        1 => rows.extend((0..some).map(new)),
        2 => rows.retain(|(url, _)| !near.contains(url)),
        // As many as before.
        3 => {
            for (nth, row) in rows.iter_mut().filter(|(url, _)| near.contains(url)).enumerate() {
                *row = new(nth);
            }
        }
        4 => {
            let dated = rows.iter_mut().filter(|(url, _)| near.contains(url));
            dated.for_each(|(_, lastmod)| *lastmod = format!("2026-11-{:02}", own % 28 + 1));
        }
        5 => rows.extend((0..some).map(|n| (format!("https://h.example/!{own}-{n}"), String::new()))),
        6 => rows.extend((0..some).map(|n| (format!("https://h.example/~{own}-{n}"), String::new()))),
        7 => rows.reverse(),
        8 => {
            let twice: Vec<_> = rows.iter().filter(|(url, _)| near.contains(url)).cloned().collect();
            rows.extend(twice);
        }
        9 => {
            let others = rows.iter().filter(|(url, _)| near.contains(url));
            let others: Vec<_> = others.map(|(url, _)| (url.clone(), "2020-02-02".into())).collect();
            rows.splice(0..0, others);
        }
        // A border disappears, and another one appears, perhaps in place of a third one.
        10 => {
            let border = sorted.iter().min_by_key(by_hash).unwrap();
            rows.retain(|(url, _)| url != border);
        }
        11 => {
            let candidates: Vec<String> = (0..2_000).map(new).map(|(url, _)| url).collect();
            rows.push((candidates.iter().min_by_key(by_hash).unwrap().clone(), String::new()));
        }
        _ => {
            for _ in 0..5 {
                rows.remove(numbers.below(rows.len()));
            }
        }
    }
    format!("change {kind} of {} rows at {place}", near.len())
}

fn sorted_job(divide: Divide, on_duplicate: OnDuplicate, threads: usize, urls: u32) -> Job {
    let mut job = job(on_duplicate, threads);
    (job.rules.order, job.rules.divide, job.rules.urls_per_sitemap) = (Order::Sorted, divide, urls);
    job
}

/// One border for each 400 rows, up to a factor of two.
fn borders(accepted_rows: u64) -> usize {
    count_per(400, accepted_rows)
}

#[test]
fn if_a_border_goes_the_next_url_by_hash_takes_its_place_and_the_rest_of_the_set_is_reused() {
    let surveys = Surveys::new(sorted_job(Divide::Stable, OnDuplicate::First, 1, 50), 600_000, borders);
    let mut rows = distinct(60_000);
    let mut live = surveys.survey(&rows, None, &[]);
    for round in 0..5 {
        let by_hash = |(url, _): &&(String, String)| BorderHash::of(url.as_bytes());
        let border = rows.iter().min_by_key(by_hash).unwrap().0.clone();
        rows.retain(|(url, _)| *url != border);
        live = surveys.check(&rows, &live, &[], &format!("round {round}: {border}"));
        let sitemaps = live.sitemaps.len();
        assert!(
            live.kept > sitemaps / 2,
            "round {round}: {} of {sitemaps} sitemaps were taken over",
            live.kept
        );
    }
}

#[test]
fn sets_that_change_again_and_again_are_what_they_would_be_alone() {
    let mut kept = HashMap::new();
    for (nth, divide) in [Divide::Fill, Divide::Stable, Divide::Stable].into_iter().enumerate() {
        for (hold, threads, urls) in [(300_000, 1, 20), (1 << 20, 2, 7), (600_000, 3, 100)] {
            for (on_duplicate, of) in
                [(OnDuplicate::First, &rows()[..9_000]), (OnDuplicate::Newest, &distinct(9_000))]
            {
                let mut job = sorted_job(divide, on_duplicate, threads, urls);
                if threads == 3 {
                    // Bytes end sitemaps.
                    job.rules.bytes_per_sitemap = 4_000;
                }
                let border_count: fn(u64) -> usize = if nth == 2 { borders } else { |_| 0 };
                let surveys = Surveys::new(job, hold, border_count);
                let mut rows = of.to_vec();
                let mut numbers = Random::new(nth as u64 + hold as u64);
                let mut live = surveys.survey(&rows, None, &[]);
                for round in 0..16 {
                    let what = change(&mut rows, &mut numbers);
                    let damaged = [numbers.below(live.sitemaps.len())];
                    let damaged = if round % 4 == 3 { &damaged[..] } else { &[] };
                    let what = format!("{divide:?}, {hold} bytes, round {round}, {damaged:?}: {what}");
                    live = surveys.check(&rows, &live, damaged, &what);
                    *kept.entry((nth, threads)).or_insert(0) += usize::from(live.kept > 0);
                }
            }
        }
    }
    assert!(kept.values().all(|&rounds| rounds >= 6), "{kept:?} rounds took over sitemaps");
}
