//! `check` and `urls` on one and two threads: `cargo bench --bench check`. Both assert their counts.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, io};

use divan::Bencher;
use divan::counter::ItemsCount;

mod corpus;

use corpus::{Corpus, Recipe};
use sitemill::options::Level;
use sitemill::{CheckJob, Job, Silent, Stop, Target, UrlsJob};

fn main() {
    divan::main();
    // A static is never dropped.
    let _ = fs::remove_dir_all(&SET.directory);
}

const LINES: u64 = 1_000_000;

/// A published set of a million lines, some of them IRIs: 18 full sitemaps and a part of one.
struct Published {
    directory: PathBuf,
    urls: u64,
}

static SET: LazyLock<Published> = LazyLock::new(|| {
    let recipe = Recipe { lines: LINES, duplicates: 0.05, non_ascii: 0.05, ..Recipe::default() };
    let corpus = Corpus::new(&recipe).expect("the recipe is sound");
    let directory = std::env::temp_dir().join(format!("sitemill-bench-check-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("the temporary directory takes files");
    let input = directory.join("urls.txt");
    fs::write(&input, corpus.text()).expect("the temporary directory takes files");
    let base = "https://www.example.com/".parse().expect("it is a URL");
    let mut job = Job::new(vec![input], base, directory.join("out"));
    job.rules.level = Level::new(6).expect("it is 0 to 9");
    let outcome = sitemill::build(&job, &Silent, &Stop::default()).expect("the job is sound");
    assert!(outcome.refused.is_none());
    Published { directory, urls: corpus.counts().distinct }
});

fn threads(count: usize) -> NonZero<usize> {
    NonZero::new(count).expect("one at least")
}

#[divan::bench(args = [1, 2], sample_count = 5, sample_size = 1)]
fn check(bencher: Bencher<'_, '_>, count: usize) {
    let mut job = CheckJob::new(vec![SET.directory.join("out")]);
    job.threads = threads(count);
    bencher.counter(ItemsCount::new(SET.urls)).bench_local(|| {
        let mut tell = |finding: &sitemill::check::Finding| panic!("{finding}");
        let report =
            sitemill::check(&job, &Silent, &Stop::default(), &mut tell).expect("the set can be read");
        assert_eq!((report.urls, report.findings), (SET.urls, 0));
    });
}

#[divan::bench(args = [1, 2], sample_count = 5, sample_size = 1)]
fn urls(bencher: Bencher<'_, '_>, count: usize) {
    let mut job = UrlsJob::new(vec![SET.directory.join("out")]);
    job.threads = threads(count);
    bencher.counter(ItemsCount::new(SET.urls)).bench_local(|| {
        let to = Target { name: Path::new("nowhere"), to: &mut io::sink() };
        let report = sitemill::urls(&job, &Silent, &Stop::default(), to).expect("the set can be read");
        assert_eq!(report.urls, SET.urls);
    });
}
