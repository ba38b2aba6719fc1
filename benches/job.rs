//! The whole job, and everything in it but gzip, on one thread: `cargo bench --bench job`.

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use xxhash_rust::xxh3::Xxh3;

mod corpus;

use corpus::{Corpus, Recipe};
use sitemill::internals::Secret;
use sitemill::internals::dedup::{ChunkKeys, PARTITIONS, Share, Survivors, Table, find_duplicates};
use sitemill::internals::divide::{Divider, Room};
use sitemill::internals::entry::Entry;
use sitemill::internals::known_urls::KnownUrls;
use sitemill::internals::lines;
use sitemill::internals::scope::Scope;
use sitemill::internals::tags::RawTags;
use sitemill::internals::xml::{self, Frame};
use sitemill::internals::{CleanUrl, Cleaned, Cleaner};
use sitemill::limits::Protocol;
use sitemill::{Base, Job, Level, Silent, Stop};

fn main() {
    divan::main();
}

const LINES: u64 = 1_000_000;

fn corpus() -> Corpus {
    Corpus::new(&Recipe { lines: LINES, duplicates: 0.1, ..Recipe::default() }).expect("the recipe is sound")
}

/// Both passes as the pipeline runs them: each line cleaned, held against scope and limits and keyed, chunk by chunk; then
/// sitemap by sitemap rendered, hashed for its name and for its seal, and thrown away where it would be compressed.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn everything_but_gzip(bencher: Bencher<'_, '_>) {
    let corpus = corpus();
    let (text, distinct) = (corpus.text(), corpus.counts().distinct);
    let job = Job::new(Vec::new(), base(), PathBuf::new());
    let (frame, limits) = (Frame::sitemap(Protocol::V0_9), job.sitemap_limits());
    let entry_bytes_max = limits.entry_bytes_max(&frame);
    let scope = Scope::new(job.scope, &job.base_url);
    let secret = Secret::draw().expect("the system has randomness");
    bencher.counter(ItemsCount::new(LINES)).bench_local(|| {
        let text = black_box(&text);
        let (scope, entry_bytes_max) = black_box((&scope, entry_bytes_max));
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
                assert!(scope.admits(url), "the corpus lies below its base");
                let tags = job.tags.check(black_box(RawTags::default()), &mut |_| {});
                assert_eq!(tags, None);
                let entry = Entry::of(url);
                let room = entry.room();
                assert!(xml::ENTRY_BYTES_MAX as u64 <= entry_bytes_max || room.bytes <= entry_bytes_max);
                keys.push(secret.key(url.as_bytes()));
                sizes.push(room.bytes as u16);
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
        let mut divider = Divider::new(limits, &frame);
        for (at, (_, survivors, sizes)) in chunks.iter().enumerate() {
            for (ordinal, &bytes) in sizes.iter().enumerate() {
                if survivors.contains(ordinal) {
                    divider.push((at, ordinal), Room::plain(bytes.into())).expect("there is memory");
                }
            }
        }
        let parts = divider.finish();

        let (mut sink, mut rendered) = (Sink::new(&secret), 0);
        for part in &parts {
            frame.open(&mut sink.xml);
            let (first_chunk, mut skip) = part.first;
            let mut entries = 0;
            for (own, survivors, _) in &chunks[first_chunk..] {
                let urls = KnownUrls::of(&text[own.clone()], own.start as u64).enumerate().skip(skip);
                let listed = urls.filter(|&(ordinal, _)| survivors.contains(ordinal));
                let wanted = (part.entries - entries) as usize;
                entries += listed.take(wanted).map(|(_, url)| sink.push(url)).count() as u32;
                if entries == part.entries {
                    break;
                }
                skip = 0;
            }
            frame.close(&mut sink.xml);
            assert_eq!((entries, sink.end()), (part.entries, part.bytes));
            rendered += u64::from(entries);
        }
        assert_eq!(rendered, distinct);
    });
}

/// Where the pipeline compresses, without that.
struct Sink {
    xml: Vec<u8>,
    hasher: Box<Xxh3>,
    sealer: Box<Xxh3>,
    bytes: u64,
}

impl Sink {
    /// Bytes of a piece, as the pipeline has it.
    const PIECE_BYTES: usize = 128 * 1024;

    fn new(secret: &Secret) -> Self {
        let xml = Vec::with_capacity(2 * Self::PIECE_BYTES);
        Self { xml, hasher: Box::default(), sealer: Box::new(secret.hasher()), bytes: 0 }
    }

    #[inline]
    fn push(&mut self, url: CleanUrl<'_>) {
        Entry::of(url).push(&mut self.xml);
        if self.xml.len() >= Self::PIECE_BYTES {
            self.end_piece();
        }
    }

    fn end_piece(&mut self) {
        self.sealer.update(black_box(&self.xml));
        self.hasher.update(&self.xml);
        self.bytes += self.xml.len() as u64;
        self.xml.clear();
    }

    /// Ends a sitemap: the bytes of its XML.
    fn end(&mut self) -> u64 {
        self.end_piece();
        black_box((self.sealer.digest128(), self.hasher.digest128()));
        self.sealer.reset();
        self.hasher.reset();
        std::mem::take(&mut self.bytes)
    }
}

/// At the least, the default, and the level that others compress with.
#[divan::bench(args = [1, 2, 6], sample_count = 5, sample_size = 1)]
fn build(bencher: Bencher<'_, '_>, level: u8) {
    let corpus = corpus();
    let directory = Scratch::new(&format!("sitemill-bench-{level}-{}", std::process::id()));
    let input = directory.0.join("urls.txt");
    fs::write(&input, corpus.text()).expect("the temporary directory takes files");
    let mut job = Job::new(vec![input], base(), directory.0.join("out"));
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

/// Where the URLs of the corpus are published.
fn base() -> Base {
    "https://www.example.com/".parse().expect("it is a URL")
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
