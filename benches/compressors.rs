//! Both gzip engines at every level, on some kinds of URLs, shuffled and sorted: `cargo bench --bench compressors`.
//!
//! Options after `--`:
//! - `FILE...`: compares them on these files, with one URL per line, instead;
//! - `--tags`: compares them on URLs with tags, such as dates, alternates and images, instead;
//! - `--held-out`: draws the URLs of each kind with other seeds, words and layouts than those for tuning;
//! - `--kind=NAME`: only the kinds whose names contain NAME;
//! - `--urls=N`, `--rounds=N`: URLs of each kind, and rounds of measurement;
//! - `--test`: one round on a few URLs, which checks that everything that is written reads back.
//!
//! Measures the CPU time of one thread; figures are medians. Engines take turns at each level, so that brief load on the
//! machine slows both. Then, for every level of the library, prints sitemill's fastest level with no larger output, and the
//! median ratio of their times. The last lines say which targets are missed.

use std::io::Read;

mod corpus;
mod options;
mod rounds;

use corpus::{KINDS, TAGGED};
use options::Options;
use rounds::median;
use sitemill::internals::gzip::Compressor;
use sitemill::internals::xml::Frame;
use sitemill::options::{Engine, Level};

const URLS: usize = 100_000;
const URLS_PER_SITEMAP: usize = 50_000;
const ROUNDS: usize = 5;
const PIECE_BYTES: usize = 128 * 1024;

/// How many times as fast as a level of the library one of sitemill's with no larger output should be.
const SPEED_MIN: f64 = 1.3;
/// The same for shop URLs and paths.
const USUAL_SPEED_MIN: f64 = 1.5;
const USUAL_KINDS: [&str; 2] = ["shop URLs", "file paths"];
/// How much more than the level below a level may write.
const GROWTH_MAX: f64 = 0.001;

fn main() {
    let options = Options::read(URLS, ROUNDS);
    let mut misses = Vec::new();
    let (with_tags, files): (Vec<_>, Vec<_>) = options.others.iter().partition(|word| *word == "--tags");
    for file in &files {
        assert!(!file.starts_with("--"), "{file}: unknown option");
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let urls: Vec<_> = text.lines().filter(|line| !line.is_empty()).map(without_tags).collect();
        compare(file, SPEED_MIN, &urls, options.rounds, &mut misses);
    }
    let is_wanted = |name: &str, has_tags: bool| {
        files.is_empty() && has_tags != with_tags.is_empty() && name.contains(&options.kind)
    };
    let plain = KINDS.iter().filter(|kind| is_wanted(kind.name, false)).map(|kind| {
        let urls = kind.urls(options.urls, options.draw);
        (kind.name, urls.into_iter().map(without_tags).collect::<Vec<_>>())
    });
    let tagged = TAGGED.iter().filter(|kind| is_wanted(kind.name, true));
    let tagged = tagged.map(|kind| (kind.name, kind.urls(options.urls, options.draw)));
    for (name, mut urls) in plain.chain(tagged) {
        let speed_min = if USUAL_KINDS.contains(&name) { USUAL_SPEED_MIN } else { SPEED_MIN };
        compare(&format!("{name}, shuffled"), speed_min, &urls, options.rounds, &mut misses);
        urls.sort();
        compare(&format!("{name}, sorted"), speed_min, &urls, options.rounds, &mut misses);
    }
    println!("\n{} targets missed", misses.len());
    misses.iter().for_each(|miss| println!("{miss}"));
}

/// A URL and its tags, as they are in a sitemap.
type Tagged = (String, String);

fn without_tags(url: impl Into<String>) -> Tagged {
    (url.into(), String::new())
}

/// The sitemaps of `urls`.
fn documents(urls: &[Tagged]) -> Vec<Vec<u8>> {
    let frame = Frame::sitemap(sitemill::limits::Protocol::default());
    let document = |urls: &[Tagged]| {
        let mut xml = Vec::new();
        frame.open(&mut xml);
        let entry = |(url, tags): &Tagged| format!("<url><loc>{url}</loc>{tags}</url>\n");
        urls.iter().for_each(|url| xml.extend(entry(url).bytes()));
        frame.close(&mut xml);
        xml
    };
    urls.chunks(URLS_PER_SITEMAP).map(document).collect()
}

/// What a level of an engine took and wrote.
struct Row {
    engine: Engine,
    level: u8,
    /// Nanoseconds of each round.
    times: Vec<f64>,
    bytes: usize,
}

/// Measures and prints all levels, and adds the targets that are missed to `misses`.
fn compare(name: &str, speed_min: f64, urls: &[Tagged], rounds: usize, misses: &mut Vec<String>) {
    let rows = measure(&documents(urls), rounds);
    println!(
        "\n{name}: {} URLs\n{:>8} {:>5} {:>8} {:>9}",
        urls.len(),
        "engine",
        "level",
        "ns/URL",
        "bytes/URL"
    );
    for Row { engine, level, times, bytes } in &rows {
        let per_url = |count: f64| count / urls.len() as f64;
        let (ns, bytes) = (per_url(median(times.clone())), per_url(*bytes as f64));
        println!("{:>8} {level:>5} {ns:>8.1} {bytes:>9.2}", engine.to_string());
    }
    let of = |wanted| rows.iter().filter(move |row| row.engine == wanted);
    for theirs in of(Engine::Flate2) {
        // The ratio within each round.
        let speed = |ours: &Row| median(theirs.times.iter().zip(&ours.times).map(|(a, b)| a / b).collect());
        let as_small = of(Engine::Records).filter(|ours| ours.bytes <= theirs.bytes);
        let best = as_small.map(|ours| (ours.level, speed(ours))).max_by(|a, b| a.1.total_cmp(&b.1));
        let verdict = match best {
            Some((ours, speed)) => format!("level {ours} is as small, and {speed:.2} times as fast"),
            None => "no level is as small".to_owned(),
        };
        println!("flate2 {}: {verdict}", theirs.level);
        if best.is_none_or(|(_, speed)| speed < speed_min) {
            misses.push(format!("{name}: flate2 {}: {verdict}", theirs.level));
        }
    }
    let ours: Vec<_> = of(Engine::Records).collect();
    for pair in ours.windows(2) {
        let growth = pair[1].bytes as f64 / pair[0].bytes as f64 - 1.0;
        if growth > GROWTH_MAX {
            misses.push(format!(
                "{name}: level {} writes {:.2} % more than level {}",
                pair[1].level,
                100.0 * growth,
                pair[0].level
            ));
        }
    }
}

/// Compresses the documents with both engines at levels 1 to 9, each `rounds` times.
fn measure(documents: &[Vec<u8>], rounds: usize) -> Vec<Row> {
    let levels = Engine::ALL.iter().flat_map(|&(_, engine)| (1..=9).map(move |level| (engine, level)));
    let mut rows: Vec<_> =
        levels.map(|(engine, level)| Row { engine, level, times: Vec::new(), bytes: 0 }).collect();
    // One compressor for all documents, as in a run.
    let level_of = |level| Level::new(level).expect("it is 1 to 9");
    let mut compressors: Vec<_> =
        rows.iter().map(|row| Compressor::new(row.engine, level_of(row.level))).collect();
    // The fast levels come last, so that none of them follows a slow one that has filled the cache.
    let mut turns: Vec<_> = (0..rows.len()).collect();
    turns.sort_by_key(|&at| std::cmp::Reverse(rows[at].level));
    for round in 0..rounds {
        for &at in &turns {
            let before = processor_ns();
            let members: Vec<_> = documents.iter().map(|xml| compress(&mut compressors[at], xml)).collect();
            rows[at].times.push((processor_ns() - before) as f64);
            rows[at].bytes = members.iter().map(Vec::len).sum();
            if round == 0 {
                members.iter().zip(documents).for_each(|(member, xml)| check(member, xml));
            }
        }
    }
    rows
}

fn compress(compressor: &mut Compressor, xml: &[u8]) -> Vec<u8> {
    compressor.reserve(0).expect("there is memory");
    xml.chunks(PIECE_BYTES).for_each(|piece| compressor.push(piece));
    compressor.finish()
}

/// Checks that `member` decodes to `xml`.
fn check(member: &[u8], xml: &[u8]) {
    let mut decoded = Vec::new();
    flate2::read::GzDecoder::new(member).read_to_end(&mut decoded).expect("it is a gzip member");
    assert!(decoded == xml);
}

/// The CPU time of this thread, as counted by Linux.
fn processor_ns() -> u64 {
    // Yielding to the scheduler updates it; otherwise it is updated every few milliseconds.
    std::thread::yield_now();
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts it");
    counted.split(' ').next().and_then(|ns| ns.parse().ok()).expect("the first number is nanoseconds")
}
