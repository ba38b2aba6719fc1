//! Worst-case URLs compared with shop URLs: `cargo bench --bench adversarial`.
//!
//! Measures the wall time of both passes per byte of input, on one thread at several levels. The inputs take turns in
//! each round, so that load on the machine slows all of them. The ratio is the median over the rounds.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

mod corpus;
mod rounds;

use corpus::{Corpus, Recipe, SplitMix64};
use rounds::median;
use sitemill::limits::URL_BYTES_MAX;
use sitemill::options::Level;
use sitemill::{Job, Silent, Stop};

/// The size of each input: more than two sitemaps.
const INPUT_BYTES: usize = 16 << 20;
const ROUNDS: usize = 5;
const LEVELS: [u8; 4] = [1, 2, 5, 9];
const BASE_URL: &str = "https://www.example.com/";
/// Enough shop lines for any input.
const SHOP_LINES: u64 = INPUT_BYTES as u64 / 32;
/// Characters that also end words, to give a compressor that looks at word ends as many candidates as possible.
const CHARACTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789-_=;/";
/// The highest allowed cost, relative to shop URLs.
const RATIO_MAX: f64 = 3.0;

/// A list of distinct URLs.
struct Input {
    name: &'static str,
    path: PathBuf,
    bytes: usize,
    urls: u64,
}

fn main() {
    // Cargo adds --bench, the test script --test. With --test, one small round checks the assertions.
    let is_test = std::env::args().any(|word| word == "--test");
    let (rounds, bytes) = if is_test { (1, INPUT_BYTES / 64) } else { (ROUNDS, INPUT_BYTES) };
    let directory = std::env::temp_dir().join(format!("sitemill-adversarial-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("the temporary directory takes directories");
    let inputs = inputs(&directory, bytes);
    println!("{:>5} {:<34} {:>8} {:>9} {:>7}", "level", "URLs", "ns/byte", "bytes/URL", "ratio");
    let worst = LEVELS.iter().map(|&level| compare(&directory, &inputs, level, rounds)).fold(0.0, f64::max);
    println!("worst: {worst:.2} times the time per byte of shop URLs; the limit is {RATIO_MAX}");
    fs::remove_dir_all(&directory).expect("it is ours");
}

/// Writes the inputs to `directory`. The first one is the norm.
fn inputs(directory: &Path, bytes: usize) -> Vec<Input> {
    let shop = Corpus::new(&Recipe { lines: SHOP_LINES, ..Recipe::default() }).expect("the recipe is sound");
    let (mut shop, mut random) = (shop.lines(), SplitMix64::new(1));
    let character = |random: &mut SplitMix64| CHARACTERS[random.below(CHARACTERS.len() as u64) as usize];
    let prefix: Vec<u8> = (0..200).map(|_| character(&mut random)).collect();
    let mut number = 0;
    let mut input = |name, write_next: &mut dyn FnMut(&mut Vec<u8>, u64)| {
        let (path, mut text, mut urls) = (directory.join(format!("{number}.txt")), Vec::new(), 0);
        while text.len() < bytes {
            write_next(&mut text, urls);
            urls += 1;
        }
        fs::write(&path, &text).expect("the temporary directory takes files");
        number += 1;
        Input { name, path, bytes: text.len(), urls }
    };
    // URLs differ only at their ends, where comparisons find the difference last.
    let end = |text: &mut Vec<u8>, number: u64| text.extend(format!("{number:08}\n").bytes());
    let begin = |text: &mut Vec<u8>| text.extend(BASE_URL.bytes());
    vec![
        input("of a shop", &mut |text, _| {
            shop.write_next(text).expect("there are more than enough");
        }),
        input("with equal prefixes", &mut |text, number| {
            begin(text);
            text.extend(&prefix);
            end(text, number);
        }),
        input("of 2,047 random characters", &mut |text, number| {
            begin(text);
            text.extend((0..URL_BYTES_MAX - BASE_URL.len() - 8).map(|_| character(&mut random)));
            end(text, number);
        }),
        input("of one character, 1 to 1,900 times", &mut |text, number| {
            begin(text);
            text.resize(text.len() + 1 + (number * 7 % 1900) as usize, b'a');
            end(text, number);
        }),
        input("of random bytes, percent-encoded", &mut |text, number| {
            begin(text);
            let mut random = SplitMix64::new(number);
            text.extend((0..60).flat_map(|_| format!("%{:02X}", random.below(256)).into_bytes()));
            end(text, number);
        }),
    ]
}

/// Prints the cost of each input at `level`. Returns the worst ratio to the norm.
fn compare(directory: &Path, inputs: &[Input], level: u8, rounds: usize) -> f64 {
    let mut rows = vec![(Vec::new(), 0); inputs.len()];
    for _ in 0..rounds {
        for (input, (times, gzip_bytes)) in inputs.iter().zip(&mut rows) {
            let (ns, bytes) = build(directory, input, level);
            times.push(ns / input.bytes as f64);
            *gzip_bytes = bytes;
        }
    }
    let norm = rows[0].0.clone();
    let mut worst = 0.0_f64;
    for (input, (times, gzip_bytes)) in inputs.iter().zip(&rows) {
        let ratio = median(times.iter().zip(&norm).map(|(ns, norm)| ns / norm).collect());
        worst = worst.max(ratio);
        let (name, ns, bytes) = (input.name, median(times.clone()), *gzip_bytes as f64 / input.urls as f64);
        println!("{level:>5} {name:<34} {ns:>8.2} {bytes:>9.1} {ratio:>7.2}");
    }
    worst
}

/// The nanoseconds of both passes and the bytes of the sitemaps.
fn build(directory: &Path, input: &Input, level: u8) -> (f64, u64) {
    let base = BASE_URL.parse().expect("it is a URL");
    let mut job = Job::new(vec![input.path.clone()], base, directory.join("out"));
    job.resources.threads = NonZero::<usize>::MIN;
    job.rules.level = Level::new(level).expect("it is 0 to 9");
    let report = sitemill::build(&job, &Silent, &Stop::default()).expect("the job is sound").report;
    assert!(report.published);
    assert_eq!((report.lines, report.listed), (input.urls, input.urls), "URLs {}", input.name);
    fs::remove_dir_all(&job.publication.out).expect("it is ours");
    ((report.seconds.survey + report.seconds.produce) * 1e9, report.gzip_bytes)
}
