//! The whole job, and everything in it but gzip, on one thread: `cargo bench --bench job`.

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

mod corpus;

use corpus::{Corpus, Recipe};
use sitemill::limits::Protocol;
use sitemill::stage::clean::{Cleaned, Cleaner, KnownUrls};
use sitemill::stage::dedup::{ChunkKeys, PARTITIONS, Secret, Share, Survivors, Table, find_duplicates};
use sitemill::stage::divide::{Divider, Limits, Room};
use sitemill::stage::lines;
use sitemill::stage::xml::{self, Frame};
use sitemill::{Base, Job, Level, Silent, Stop};

fn main() {
    divan::main();
}

const LINES: u64 = 1_000_000;

fn corpus() -> Corpus {
    Corpus::new(&Recipe { lines: LINES, duplicates: 0.1, ..Recipe::default() }).expect("the recipe is sound")
}

/// Both passes as the pipeline runs them, chunk by chunk, with the XML thrown away where it would be compressed.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn everything_but_gzip(bencher: Bencher<'_, '_>) {
    let corpus = corpus();
    let (text, distinct) = (corpus.text(), corpus.counts().distinct);
    let frame = Frame::sitemap(Protocol::V0_9);
    let secret = Secret::draw().expect("the system has randomness");
    bencher.counter(ItemsCount::new(LINES)).bench_local(|| {
        let text = black_box(&text);
        let (mut cleaner, mut chunks, mut parted) = (Cleaner::default(), Vec::new(), Vec::new());
        let (mut keys, mut sizes) = (Vec::new(), Vec::new());
        for nominal in lines::chunks(text.len()) {
            let own = lines::own(text, nominal);
            keys.clear();
            sizes.clear();
            for line in lines::lines(&text[own.clone()], own.start as u64) {
                let Cleaned::Url(url) = cleaner.clean(line.raw) else { panic!("the corpus holds URLs only") };
                // So that the second pass need not clean them again.
                assert_eq!(url.as_bytes().as_ptr(), line.raw.as_ptr(), "the corpus is clean as it stands");
                keys.push(secret.key(url));
                sizes.push(xml::url_bytes(url) as u16);
            }
            chunks.push((own, Survivors::all(keys.len()).expect("there is memory"), sizes.clone()));
            parted.push(ChunkKeys::part(&keys, &[]).expect("there is memory"));
        }
        let mut table = Table::default();
        for partition in 0..PARTITIONS {
            let runs = parted.iter().enumerate().map(|(chunk, keys)| keys.run(chunk, partition));
            let strike = |chunk: usize, ordinal| chunks[chunk].1.strike(ordinal);
            find_duplicates(runs, Share::all(partition), &mut table, strike).expect("there is memory");
        }
        let mut divider = Divider::new(Limits { entries_max: 50_000, bytes_max: 10_485_760 }, &frame);
        for (_, survivors, sizes) in &chunks {
            for (ordinal, &bytes) in sizes.iter().enumerate() {
                if survivors.contains(ordinal) {
                    divider.push((), Room::plain(bytes.into()));
                }
            }
        }
        let parts = divider.finish();
        let planned: u64 = parts.iter().map(|part| part.bytes - frame.bytes()).sum();

        let (mut listed, mut written, mut piece) = (0, 0, Vec::new());
        for (own, survivors, _) in &chunks {
            for (ordinal, url) in KnownUrls::of(&text[own.clone()], own.start as u64).enumerate() {
                if survivors.contains(ordinal) {
                    xml::push_url(url, &mut piece);
                    listed += 1;
                }
                if piece.len() >= 128 * 1024 {
                    written += black_box(&piece).len() as u64;
                    piece.clear();
                }
            }
        }
        assert_eq!((listed, written + piece.len() as u64), (distinct, planned));
    });
}

#[divan::bench(args = [1, 6], sample_count = 5, sample_size = 1)]
fn build(bencher: Bencher<'_, '_>, level: u8) {
    let corpus = corpus();
    let directory = Scratch::new(&format!("sitemill-bench-{level}-{}", std::process::id()));
    let input = directory.0.join("urls.txt");
    fs::write(&input, corpus.text()).expect("the temporary directory takes files");
    let base: Base = "https://www.example.com/".parse().expect("it is a URL");
    let mut job = Job::new(vec![input], base, directory.0.join("out"));
    job.threads = NonZero::<usize>::MIN;
    job.level = Level::new(level).expect("it is 0 to 9");
    bencher
        .counter(ItemsCount::new(LINES))
        .with_inputs(|| fs::remove_dir_all(&job.out).ok())
        .bench_local_values(|_| {
            let outcome = sitemill::build(&job, &Silent, &Stop::default()).expect("the job is sound");
            assert!(outcome.refused.is_none());
            assert_eq!(outcome.report.listed, corpus.counts().distinct);
            assert_eq!(outcome.report.duplicates, corpus.counts().duplicates);
        });
}

/// A directory that is gone with its last use.
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
