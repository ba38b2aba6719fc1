//! A whole build, and its first pass, on one thread: `cargo bench --bench job`.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

mod corpus;

use corpus::{Corpus, Recipe};
use sitemill::internals::{Context, Input, Memory, Rules, Surveyed};
use sitemill::options::{Base, Level, Order};
use sitemill::{Job, Silent, Stop};

fn main() {
    divan::main();
}

const LINES: u64 = 1_000_000;

fn corpus() -> Corpus {
    Corpus::new(&Recipe { lines: LINES, duplicates: 0.1, ..Recipe::default() }).expect("the recipe is sound")
}

/// The first pass alone: cleans every line, finds duplicates, and divides the URLs into sitemaps.
#[divan::bench(args = [Order::Input, Order::Sorted], sample_count = 10, sample_size = 1)]
fn survey(bencher: Bencher<'_, '_>, order: Order) {
    let corpus = corpus();
    let directory = Scratch::new(&format!("sitemill-bench-{order:?}-{}", std::process::id()));
    let input = directory.0.join("urls.txt");
    fs::write(&input, corpus.text()).expect("the temporary directory takes files");
    let mut job = Job::new(vec![input.clone()], base(), directory.0.join("out"));
    (job.rules.order, job.resources.threads) = (order, NonZero::<usize>::MIN);
    let memory = Memory::of(&job.resources, &directory.0).expect("half of the machine's memory is enough");
    let file = File::open(&input).expect("it was written");
    let inputs = Arc::from([Input::lines(&input, &file, None).expect("it can be mapped")]);
    let run = Context { job: &job, rules: &Rules::of(&job), progress: &Silent, stop: &Stop::default() };
    bencher.counter(ItemsCount::new(LINES)).bench_local(|| {
        let surveyed = sitemill::internals::survey(run, black_box(&inputs), &memory);
        let Surveyed { account, layout } = surveyed.expect("the job is sound");
        assert_eq!(account.tally.listed, corpus.counts().distinct);
        layout
    });
}

/// Without compression, at the lowest level, at the default, and at the usual level of other tools.
#[divan::bench(args = [0, 1, 2, 6], sample_count = 5, sample_size = 1)]
fn build(bencher: Bencher<'_, '_>, level: u8) {
    let corpus = corpus();
    let directory = Scratch::new(&format!("sitemill-bench-{level}-{}", std::process::id()));
    let input = directory.0.join("urls.txt");
    fs::write(&input, corpus.text()).expect("the temporary directory takes files");
    let mut job = Job::new(vec![input], base(), directory.0.join("out"));
    job.resources.threads = NonZero::<usize>::MIN;
    job.rules.level = Level::new(level).expect("it is 0 to 9");
    bencher
        .counter(ItemsCount::new(LINES))
        .with_inputs(|| fs::remove_dir_all(&job.publication.out).ok())
        .bench_local_values(|_| {
            let outcome = sitemill::build(&job, &Silent, &Stop::default()).expect("the job is sound");
            assert!(outcome.refused.is_none());
            assert_eq!(outcome.report.listed, corpus.counts().distinct);
            assert_eq!(outcome.report.duplicates, corpus.counts().duplicates);
        });
}

/// The base URL of the corpus.
fn base() -> Base {
    "https://www.example.com/".parse().expect("it is a URL")
}

/// A directory that is removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("the temporary directory takes directories");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
