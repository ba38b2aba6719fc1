//! Every stage alone on one thread: `cargo bench --bench stages`. Each loop asserts its result.

use std::sync::LazyLock;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

mod corpus;

use corpus::{Corpus, Recipe};
use sitemill::internals::{Cleaned, Cleaner, lines};

fn main() {
    divan::main();
}

/// URLs in every corpus: about one sitemap.
const URLS: usize = 50_000;

static PLAIN: LazyLock<Vec<u8>> = LazyLock::new(|| text(Recipe { lines: URLS as u64, ..Recipe::default() }));
static IRIS: LazyLock<Vec<u8>> =
    LazyLock::new(|| text(Recipe { lines: URLS as u64, non_ascii: 1.0, ..Recipe::default() }));
/// Canonical URLs, one per line.
static CLEAN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut clean = Vec::new();
    let mut cleaner = Cleaner::default();
    for line in lines::lines(&PLAIN, 0) {
        let Cleaned::Url(url) = cleaner.clean(line.raw) else { panic!("the corpus holds URLs only") };
        clean.extend_from_slice(url.as_bytes());
        clean.push(b'\n');
    }
    clean
});

fn text(recipe: Recipe) -> Vec<u8> {
    Corpus::new(&recipe).expect("the recipe is sound").text()
}

/// Calls `each` with every URL of `text`.
fn for_each_url(text: &[u8], mut each: impl FnMut(sitemill::internals::CleanUrl<'_>)) {
    let mut cleaner = Cleaner::default();
    for line in lines::lines(text, 0) {
        let Cleaned::Url(url) = cleaner.clean(line.raw) else { panic!("the corpus holds URLs only") };
        each(url);
    }
}

#[divan::bench]
fn split_into_lines(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(URLS)).bench_local(|| {
        let found = lines::lines(black_box(&PLAIN), 0).filter(|line| !line.raw.is_empty()).count();
        assert_eq!(found, URLS);
    });
}

mod clean {
    use super::*;

    fn bench(bencher: Bencher<'_, '_>, text: &[u8]) {
        bencher.counter(ItemsCount::new(URLS)).bench_local(|| {
            let mut urls = 0;
            for_each_url(black_box(text), |url| urls += usize::from(!url.as_bytes().is_empty()));
            assert_eq!(urls, URLS);
        });
    }

    #[divan::bench]
    fn plain(bencher: Bencher<'_, '_>) {
        bench(bencher, &PLAIN);
    }

    #[divan::bench]
    fn iris(bencher: Bencher<'_, '_>) {
        bench(bencher, &IRIS);
    }

    /// Every line has an upper-case scheme, and hosts alternate, so every line needs the full parser.
    #[divan::bench]
    fn by_the_parser(bencher: Bencher<'_, '_>) {
        let mut text = Vec::new();
        for (n, line) in lines::lines(&PLAIN, 0).enumerate() {
            text.extend_from_slice(if n % 2 == 0 { b"HTTPS://a.example/" } else { b"HTTPS://b.example/" });
            text.extend_from_slice(&line.raw[b"https://www.example.com/".len()..]);
            text.push(b'\n');
        }
        bench(bencher, &text);
    }
}

mod dedup {
    use super::*;
    use sitemill::internals::Secret;
    use sitemill::internals::dedup::{ChunkKeys, PARTITIONS, Round, Table, expected, find_duplicates};

    fn keys() -> Vec<u128> {
        let secret = Secret::draw().expect("the system has randomness");
        let mut keys = Vec::with_capacity(URLS);
        for_each_url(&CLEAN, |url| keys.push(secret.key(url.as_bytes())));
        keys
    }

    #[divan::bench]
    fn key(bencher: Bencher<'_, '_>) {
        let secret = Secret::draw().expect("the system has randomness");
        bencher.counter(ItemsCount::new(URLS)).bench_local(|| {
            let lines = lines::lines(black_box(&CLEAN), 0);
            let keys = lines.filter(|line| secret.key(line.raw) != 0).count();
            assert_eq!(keys, URLS);
        });
    }

    /// Chunks of a tenth each, every one twice, so that half of the URLs are duplicates.
    #[divan::bench]
    fn part_and_find_duplicates(bencher: Bencher<'_, '_>) {
        let keys = keys();
        bencher.counter(ItemsCount::new(2 * URLS)).bench_local(|| {
            let once = black_box(&keys)
                .chunks(URLS / 10)
                .map(|keys| ChunkKeys::part(keys, &[]).expect("there is memory"));
            let chunks: Vec<ChunkKeys> = once.clone().chain(once).collect();
            let (mut table, mut duplicates) = (Table::default(), 0);
            for partition in 0..PARTITIONS {
                let chunks = chunks.iter().enumerate().map(|(chunk, keys)| keys.partition(chunk, partition));
                let round = Round::all(partition, expected(2 * URLS));
                find_duplicates(chunks, round, &mut table, |_, _| duplicates += 1).expect("there is memory");
            }
            assert_eq!(duplicates, URLS);
        });
    }
}

#[divan::bench]
fn divide(bencher: Bencher<'_, '_>) {
    use sitemill::internals::divide::{Divider, EntrySize, Limits};
    use sitemill::internals::xml::Frame;
    use sitemill::limits::Protocol;

    let limits = Limits { entries_max: 1_000, bytes_max: 80_000 };
    bencher.counter(ItemsCount::new(URLS)).bench_local(|| {
        let mut divider = Divider::new(limits, &Frame::sitemap(Protocol::V0_9));
        (0..URLS).for_each(|at| divider.push(at, black_box(EntrySize::plain(95))).expect("there is memory"));
        let entries: u32 = divider.finish().iter().map(|part| part.entries).sum();
        assert_eq!(entries as usize, URLS);
    });
}

mod xml {
    use super::*;
    use sitemill::internals::xml::{push_url, url_bytes};

    #[divan::bench]
    fn clean_and_escape(bencher: Bencher<'_, '_>) {
        let (mut xml, mut planned) = (Vec::new(), 0);
        for_each_url(&CLEAN, |url| planned += url_bytes(url));
        bencher.counter(ItemsCount::new(URLS)).bench_local(|| {
            xml.clear();
            for_each_url(black_box(&CLEAN), |url| push_url(url, &mut xml));
            assert_eq!(xml.len(), planned);
        });
    }
}

mod gzip {
    use super::*;
    use std::io::Read;

    use sitemill::internals::gzip::Compressor;
    use sitemill::internals::xml::push_url;
    use sitemill::options::{Engine, Level};

    const LEVELS: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

    fn bench(bencher: Bencher<'_, '_>, engine: Engine, level: u8) {
        let mut xml = Vec::new();
        for_each_url(&CLEAN, |url| push_url(url, &mut xml));
        let level = Level::new(level).expect("it is 0 to 9");
        let mut compressor = Compressor::new(engine, level);
        let mut compress = || {
            compressor.reserve(0).expect("there is memory");
            xml.chunks(128 * 1024).for_each(|piece| compressor.push(piece));
            compressor.finish()
        };
        let (gzip, mut decoded) = (compress(), Vec::new());
        ::flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut decoded).expect("it is a gzip member");
        assert_eq!(decoded, xml);
        bencher.counter(ItemsCount::new(URLS)).bench_local(|| {
            assert_eq!(compress().len(), gzip.len());
        });
    }

    #[divan::bench(args = LEVELS, sample_count = 10)]
    fn records(bencher: Bencher<'_, '_>, level: u8) {
        bench(bencher, Engine::Records, level);
    }

    #[divan::bench(args = LEVELS, sample_count = 10)]
    fn flate2(bencher: Bencher<'_, '_>, level: u8) {
        bench(bencher, Engine::Flate2, level);
    }
}
