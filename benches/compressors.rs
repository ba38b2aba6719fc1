//! Both gzip engines at every level: `cargo bench --bench compressors [-- FILE]...`, each file with one URL a line.
//!
//! Without a file, uses shop URLs, shuffled and sorted. Measures the CPU time of one thread; figures are medians. Engines
//! take turns at each level, so that brief load on the machine slows both. Then, for every level of the library, prints
//! sitemill's fastest level with no larger output, and the median ratio of their times.

use std::io::Read;

mod corpus;
mod rounds;

use corpus::{Corpus, Order, Recipe};
use rounds::median;
use sitemill::internals::gzip::Compressor;
use sitemill::internals::xml::Frame;
use sitemill::options::{Engine, Level};

/// URLs in a corpus: four sitemaps.
const URLS: u64 = 200_000;
/// The number of URLs from which the shuffled ones are drawn.
const URLS_DRAWN_FROM: u64 = 5_000_000;
const URLS_PER_SITEMAP: usize = 50_000;
const ROUNDS: usize = 7;
const PIECE_BYTES: usize = 128 * 1024;

fn main() {
    // Cargo adds --bench, the test script --test. With --test, one round checks the assertions.
    let (options, files): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with('-'));
    let is_test = options.iter().any(|word| word == "--test");
    let (rounds, urls) = if is_test { (1, URLS / 20) } else { (ROUNDS, URLS) };
    for file in &files {
        let urls = std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        compare(file, &documents(&urls), rounds);
    }
    if files.is_empty() {
        let shop = |lines, order| {
            let corpus =
                Corpus::new(&Recipe { lines, order, ..Recipe::default() }).expect("the recipe is sound");
            let (mut lines, mut text) = (corpus.lines(), Vec::new());
            for _ in 0..urls {
                lines.write_next(&mut text).expect("the recipe has as many");
            }
            documents(&text)
        };
        compare("shop URLs, shuffled", &shop(URLS_DRAWN_FROM, Order::Shuffled), rounds);
        compare("shop URLs, sorted", &shop(urls, Order::Sorted), rounds);
    }
}

/// The sitemaps of `urls`, and the number of URLs in them.
fn documents(urls: &[u8]) -> (Vec<Vec<u8>>, usize) {
    let lines: Vec<&[u8]> = urls.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let frame = Frame::sitemap(sitemill::limits::Protocol::default());
    let document = |lines: &[&[u8]]| {
        let mut xml = Vec::new();
        frame.open(&mut xml);
        lines.iter().for_each(|line| xml.extend([b"<url><loc>", *line, b"</loc></url>\n"].concat()));
        frame.close(&mut xml);
        xml
    };
    (lines.chunks(URLS_PER_SITEMAP).map(document).collect(), lines.len())
}

fn compare(name: &str, (documents, urls): &(Vec<Vec<u8>>, usize), rounds: usize) {
    // The fast ones come last, so that none of them follows a slow one that has filled the cache.
    let engines: Vec<(Engine, u8)> =
        (1..=9).rev().flat_map(|level| Engine::ALL.map(|(_, engine)| (engine, level))).collect();
    // One compressor for all documents, as in a run.
    let level_of = |level| Level::new(level).expect("it is 1 to 9");
    let mut compressors: Vec<_> =
        engines.iter().map(|&(engine, level)| Compressor::new(engine, level_of(level))).collect();
    // The nanoseconds of each round, and the bytes.
    let mut rows = vec![(Vec::new(), 0); engines.len()];
    for round in 0..rounds {
        for (compressor, (times, bytes)) in compressors.iter_mut().zip(&mut rows) {
            let before = processor_ns();
            let members: Vec<_> = documents.iter().map(|xml| compress(compressor, xml)).collect();
            times.push((processor_ns() - before) as f64);
            *bytes = members.iter().map(Vec::len).sum();
            for (member, xml) in members.iter().zip(documents).filter(|_| round == 0) {
                let mut decoded = Vec::new();
                flate2::read::GzDecoder::new(&member[..])
                    .read_to_end(&mut decoded)
                    .expect("it is a gzip member");
                assert!(decoded == *xml);
            }
        }
    }
    println!("{name}: {urls} URLs\n{:>8} {:>5} {:>8} {:>9}", "engine", "level", "ns/URL", "bytes/URL");
    let of = |wanted| {
        let rows = engines.iter().zip(&rows).rev().filter(move |((engine, _), _)| *engine == wanted);
        rows.map(|(&(_, level), (times, bytes))| (level, times, *bytes))
    };
    for (_, engine) in Engine::ALL {
        for (level, times, bytes) in of(engine) {
            let per_url = |count: f64| count / *urls as f64;
            let (ns, bytes) = (per_url(median(times.clone())), per_url(bytes as f64));
            println!("{:>8} {level:>5} {ns:>8.1} {bytes:>9.2}", engine.to_string());
        }
    }
    for (level, times, bytes) in of(Engine::Flate2) {
        // The ratio within each round.
        let speed =
            |ours: &[f64]| median(times.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect());
        let ours = of(Engine::Records).filter(|ours| ours.2 <= bytes);
        match ours.map(|(ours, times, _)| (ours, speed(times))).max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((ours, speed)) => {
                println!("flate2 {level}: level {ours} is as small, and {speed:.2} times as fast");
            }
            None => println!("flate2 {level}: no level is as small"),
        }
    }
}

fn compress(compressor: &mut Compressor, xml: &[u8]) -> Vec<u8> {
    xml.chunks(PIECE_BYTES).for_each(|piece| compressor.push(piece));
    compressor.finish()
}

/// The CPU time of this thread, as counted by Linux.
fn processor_ns() -> u64 {
    // Yielding to the scheduler updates it; otherwise it is updated every few milliseconds.
    std::thread::yield_now();
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    counted.split(' ').next().and_then(|ns| ns.parse().ok()).expect("the first number is nanoseconds")
}
