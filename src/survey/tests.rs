//! The survey lists the same entries with any amount of memory.

mod regions;
mod reuse;
mod sections;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use crate::common::progress::Silent;
use crate::common::stop::Stop;
use crate::intake::input::Input;
use crate::intake::scratch::ScratchSpace;
use crate::intake::spool_format::{Content, RowBuffer};
use crate::job::{Job, OnDuplicate, Order};
use crate::sitemap::entry::Entry;
use crate::survey::context::Context;
use crate::survey::entries::try_for_each_listed;
use crate::survey::judge::{Judge, Rules};
use crate::survey::layout::{Layout, ListedChunk};
use crate::survey::memory::Memory;
use crate::survey::{Surveyed, survey};

/// A directory for scratch files, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sitemill-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn memory(&self, hold: usize) -> Memory {
        Memory { budget: 0, hold, scratch: ScratchSpace::of(&self.0) }
    }

    fn file(&self, bytes: &[u8]) -> File {
        let path = self.0.join("file");
        // An input that was mapped before keeps its own file.
        let _ = std::fs::remove_file(&path);
        File::create(&path).unwrap().write_all(bytes).unwrap();
        File::open(&path).unwrap()
    }

    /// Rows of a URL and a `lastmod` each, as they are spooled.
    fn input(&self, rows: &[(String, String)]) -> Input {
        self.input_with_sections(rows, |_| String::new())
    }

    /// The survey of the rows, with the section of each row by the number of its line.
    fn input_with_sections(&self, rows: &[(String, String)], section: impl Fn(u64) -> String) -> Input {
        use crate::intake::spool_format::InputRow;
        use crate::sitemap::tags::RawTags;

        let (mut buffer, mut bytes, mut blocks) = (RowBuffer::default(), Vec::new(), Vec::new());
        for (line, (url, lastmod)) in (1..).zip(rows) {
            let section = section(line);
            let (lastmod, section) = (lastmod.as_bytes(), section.as_bytes());
            let tags = RawTags { lastmod, section, ..RawTags::default() };
            buffer.push(&InputRow { line, offset: 10 * line, content: Content::Url(url.as_bytes(), tags) });
            if buffer.is_full(10_000) || line as usize == rows.len() {
                let at = bytes.len();
                bytes.extend_from_slice(buffer.bytes());
                blocks.push(buffer.end_block(at));
            }
        }
        Input::lines(&self.0, &self.file(&bytes), None).unwrap().with_blocks(blocks)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Rows with many equal URLs, some of them refused, and one that occurs again and again.
fn rows() -> Vec<(String, String)> {
    let url = |n: u64| match n % 11 {
        0 => "https://h.example/hot".into(),
        1 => "no url".into(),
        _ => format!("https://h.example/{}/{}", n * n % 97, n * 7_919 % 20_011),
    };
    let lastmod = |n: u64| match n % 3 {
        0 => String::new(),
        // Two ways to write a day; the longer one is last in byte order.
        _ => format!("20{:02}-05-{:02}{}", n * n % 30, n % 28 + 1, ["", "T00:00:00Z"][n as usize / 7 % 2]),
    };
    (0..40_000).map(|n| (url(n), lastmod(n))).collect()
}

/// `count` different URLs, each in a row.
fn distinct(count: usize) -> Vec<(String, String)> {
    (0..count)
        .map(|n| (format!("https://h.example/{:07}.html", n * 7_919 % 10_000_019), String::new()))
        .collect()
}

fn job(on_duplicate: OnDuplicate, threads: usize) -> Job {
    let base = "https://h.example/".parse().unwrap();
    let threads = threads.try_into().unwrap();
    let mut job = Job::new(Vec::new(), base, PathBuf::new());
    (job.rules.on_duplicate, job.rules.urls_per_sitemap, job.resources.threads) =
        (on_duplicate, 700, threads);
    job
}

fn with_run<T>(job: &Job, act: impl FnOnce(Context<'_>) -> T) -> T {
    act(Context { job, rules: &Rules::of(job), progress: &Silent, stop: &Stop::default() })
}

/// Calls `act` with each listed entry of `layout`, and the index of its chunk.
fn for_each_listed(run: Context<'_>, layout: &Layout, mut act: impl FnMut(usize, Entry<'_>)) {
    let mut judge = Judge::new(run.rules);
    for (at, listed) in layout.chunks.iter().enumerate() {
        let each = |_, entry: Entry<'_>| {
            act(at, entry);
            Ok::<_, Infallible>(())
        };
        try_for_each_listed(listed, &layout.inputs, &mut judge, 0, each).unwrap();
    }
}

#[test]
fn the_listed_urls_do_not_depend_on_the_memory() {
    let directory = Directory::new("memory");
    let inputs = Arc::from([directory.input(&rows())]);
    for on_duplicate in [OnDuplicate::First, OnDuplicate::Newest] {
        let plan = |hold| {
            with_run(&job(on_duplicate, 3), |run| {
                let Surveyed { account, layout } = survey(run, &inputs, &directory.memory(hold)).unwrap();
                let listed = |chunk: &ListedChunk| {
                    (0..chunk.survivors.bits()).filter(|&at| chunk.survivors.contains(at)).collect::<Vec<_>>()
                };
                (layout.chunks.iter().map(listed).collect::<Vec<_>>(), layout.sitemaps, account.tally)
            })
        };
        let want = plan(usize::MAX);
        assert!(want.2.listed > 1000 && want.2.duplicates > 3_000);
        for hold in [0, 1 << 16, 1 << 19] {
            assert!(plan(hold) == want, "{on_duplicate:?}, {hold} bytes");
        }
    }
}

#[test]
fn sorted_entries_are_those_of_a_plain_map_whatever_the_memory_and_the_order() {
    let directory = Directory::new("sorted");
    let mut rows = rows();
    for on_duplicate in [OnDuplicate::First, OnDuplicate::Newest] {
        // The plain way. A date that is not there is older than any.
        let mut plain: BTreeMap<&str, &str> = BTreeMap::new();
        for (url, lastmod) in rows.iter().filter(|(url, _)| url.starts_with("https")) {
            let there = plain.entry(url).or_insert(lastmod);
            if on_duplicate == OnDuplicate::Newest && lastmod.as_str() > *there {
                *there = lastmod;
            }
        }
        let tags = |lastmod: &str| match lastmod {
            "" => String::new(),
            _ => format!("<lastmod>{lastmod}</lastmod>"),
        };
        let want: Vec<(String, String)> =
            plain.into_iter().map(|(url, lastmod)| (url.into(), tags(lastmod))).collect();
        let inputs = Arc::from([directory.input(&rows)]);
        // A few ranges of entries in memory; the others have entries in scratch: one in runs that are merged; a few that are sorted
        // at once; as many as there is room for, each in runs.
        for (hold, threads, are_several) in [
            (usize::MAX, 3, true),
            (1 << 10, 1, false),
            (1 << 17, 4, false),
            (1 << 22, 3, true),
            (1 << 21, 1, true),
            (1 << 18, 2, true),
        ] {
            let mut job = job(on_duplicate, threads);
            job.rules.order = Order::Sorted;
            with_run(&job, |run| {
                let Surveyed { account, layout } = survey(run, &inputs, &directory.memory(hold)).unwrap();
                let mut got = Vec::new();
                for_each_listed(run, &layout, |_, entry| {
                    let text = |bytes: &[u8]| String::from_utf8(bytes.into()).unwrap();
                    got.push((text(entry.url.as_bytes()), text(entry.tags)));
                });
                assert!(got == want, "{on_duplicate:?}, {hold} bytes, {threads} threads");
                // Only the last block of a range is not full.
                let blocks = layout.chunks.iter().map(|chunk| chunk.listed);
                let full = blocks.clone().max();
                let not_full = blocks.filter(|&listed| Some(listed) < full).count();
                assert_eq!(not_full > 1, are_several, "{hold} bytes, {threads} threads");
                assert!(account.tally.is_balanced());
                assert_eq!(
                    (account.tally.lines, account.tally.listed),
                    (rows.len() as u64, want.len() as u64)
                );
                assert!(layout.sitemaps.iter().all(|part| part.entries <= 700));
            });
        }
        rows.reverse();
    }
}

#[test]
fn the_tallies_of_two_halves_add_up_to_that_of_the_whole() {
    let directory = Directory::new("halves");
    let with_site = |site: &str| -> Vec<(String, String)> {
        let rows = rows().into_iter();
        rows.map(|(url, lastmod)| (url.replace("example/", &format!("example/{site}/")), lastmod)).collect()
    };
    // Every duplicate is in the half of the URL that it repeats.
    let halves = [with_site("a"), with_site("b")];
    let whole = halves.concat();
    for order in [Order::Input, Order::Sorted] {
        let mut job = job(OnDuplicate::First, 2);
        job.rules.order = order;
        let tally = |rows: &[(String, String)]| {
            let inputs = Arc::from([directory.input(rows)]);
            with_run(&job, |run| survey(run, &inputs, &directory.memory(1 << 20)).unwrap().account.tally)
        };
        let sum = tally(&halves[0]) + tally(&halves[1]);
        assert!(sum.duplicates > 0 && sum.rejected.total() > 0 && sum.rendered.total() > 0);
        assert_eq!(sum, tally(&whole), "{order:?}");
    }
}
