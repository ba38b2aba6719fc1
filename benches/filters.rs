//! The first pass of a run with ten patterns and without any: `cargo bench --bench filters`.
//!
//! Options after `--`:
//! - `--held-out`: draws the URLs with other seeds, words and layouts;
//! - `--kind=NAME`: only the kinds of URLs whose names contain NAME;
//! - `--patterns=NAME`: only the lists of patterns whose names contain NAME;
//! - `--urls=N`, `--rounds=N`: URLs of each kind, and rounds of measurement;
//! - `--test`: one round on a few URLs, for the assertions.
//!
//! Runs take turns on one thread. Before any of them is measured, the number of excluded URLs must be that of the crate `regex`,
//! which looks at one URL after the other. The figures are medians of wall time.

use std::fs::{self, File};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use regex::bytes::{RegexSet, RegexSetBuilder};
use sitemill::internals::{Context, Input, Memory, Rules, Surveyed};
use sitemill::{Job, Silent, Stop};

mod corpus;
mod options;
mod rounds;

use corpus::KINDS;
use options::Options;
use rounds::median;

const URLS: usize = 1_000_000;
const ROUNDS: usize = 7;

/// How many times as long as without patterns the first pass may take.
const RATIO_MAX: f64 = 1.5;

/// Nine patterns that need no search through all of a URL, to which a list adds another one.
const QUICK: [&str; 9] = [
    "/private/",
    "/cart/",
    "/checkout",
    r"\?sort=",
    "utm_source=",
    r"\.pdf$",
    "(?i)/print/",
    "/page/[0-9]+$",
    "/wp-admin/",
];

/// Ten patterns of each sort.
const LISTS: [(&str, [&str; 10]); 4] = [
    (
        "words",
        [
            "/private/",
            "/cart/",
            "/checkout",
            "/login",
            r"\?sort=",
            "[?&]session(id)?=",
            "/tag/.*/feed",
            "(?i)/print/",
            "utm_source=",
            "/wp-admin/",
        ],
    ),
    (
        "starts and ends",
        [
            "^https://www.example.com/admin/",
            "^https://www.example.com/internal/",
            r"^https://[a-z]+\.example\.com/search",
            r"\.pdf$",
            r"\.(jpe?g|png|gif)$",
            r"\.docx?$",
            "/amp/?$",
            r"^https?://[^/]+/api/",
            "/rss$",
            "/feed$",
        ],
    ),
    (
        "words and numbers",
        [
            "/private/",
            "/cart/",
            r"\?sort=",
            "utm_source=",
            r"\.pdf$",
            "^https://www.example.com/admin/",
            "(?i)/print/",
            "[?&]session(id)?=",
            "[0-9]{8}",
            "/page/[0-9]+$",
        ],
    ),
    (
        "classes",
        [
            "[0-9]{9}",
            "[A-Z]{6}",
            "^https://[a-z]+.example.com/[a-z]{2}/[0-9]",
            "/[0-9]{4}/[0-9]{2}/$",
            "/private/",
            "/cart/",
            r"\?sort=",
            "utm_source=",
            r"\.pdf$",
            "[?&]session(id)?=",
        ],
    ),
];

/// Single patterns, each with [`QUICK`].
const WITH_QUICK: [(&str, &str); 2] =
    [("a long segment", "[^/]{40,}"), ("many segments", "^https?://[^/]+(/[^/]+){8,}")];

/// All lists with their names.
fn lists() -> Vec<(&'static str, Vec<&'static str>)> {
    let lists = LISTS.iter().map(|(name, patterns)| (*name, patterns.to_vec()));
    let with_quick = WITH_QUICK.iter().map(|&(name, pattern)| (name, [&[pattern][..], &QUICK].concat()));
    lists.chain(with_quick).collect()
}

fn main() {
    let options = Options::read(URLS, ROUNDS);
    let mut wanted = "";
    for word in &options.others {
        wanted = word.strip_prefix("--patterns=").unwrap_or_else(|| panic!("{word}: unknown option"));
    }
    let lists: Vec<_> = lists().into_iter().filter(|(name, _)| name.contains(wanted)).collect();
    let mut misses = 0;
    for kind in KINDS.iter().filter(|kind| kind.name.contains(&options.kind)) {
        let urls: Vec<_> = kind.urls(options.urls, options.draw);
        let site = Site::new(&urls);
        println!("\n{}: {} URLs", kind.name, urls.len());
        let (plain, ratios) = site.measure(lists.iter().map(|(_, list)| &list[..]), options.rounds);
        println!("{:>20} {plain:>7.1} ns/URL", "no patterns");
        for ((name, _), (excluded, ratio)) in lists.iter().zip(ratios) {
            let share = 100.0 * excluded as f64 / urls.len() as f64;
            println!("{name:>20} {ratio:>7.2} times; {share:.1} % excluded");
            misses += usize::from(ratio > RATIO_MAX);
        }
    }
    println!("\n{misses} ratios above {RATIO_MAX}");
}

/// The URLs of a site, and its input.
struct Site<'u> {
    urls: &'u [String],
    directory: PathBuf,
}

impl<'u> Site<'u> {
    fn new(urls: &'u [String]) -> Self {
        let directory = std::env::temp_dir().join(format!("sitemill-filters-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("the temporary directory takes directories");
        let site = Self { urls, directory };
        fs::write(site.input(), urls.join("\n")).expect("the temporary directory takes files");
        site
    }

    fn input(&self) -> PathBuf {
        self.directory.join("urls.txt")
    }

    /// The median nanoseconds for a URL without patterns; for each list, the number of excluded URLs and the median ratio.
    fn measure<'p>(
        &self,
        lists: impl Iterator<Item = &'p [&'p str]>,
        rounds: usize,
    ) -> (f64, Vec<(u64, f64)>) {
        let plain = self.job(&[]);
        let jobs: Vec<_> = lists.map(|list| (self.job(list), self.excluded(list))).collect();
        // The first round warms up.
        let mut times = Vec::new();
        let mut ratios = vec![Vec::new(); jobs.len()];
        for round in 0..=rounds {
            let base = self.survey(&plain, 0);
            for ((job, excluded), ratios) in jobs.iter().zip(&mut ratios) {
                let time = self.survey(job, *excluded);
                if round > 0 {
                    ratios.push(time / base);
                }
            }
            if round > 0 {
                times.push(base);
            }
        }
        let excluded = jobs.iter().map(|&(_, excluded)| excluded);
        (median(times), excluded.zip(ratios.into_iter().map(median)).collect())
    }

    /// A job that excludes URLs that match `patterns`.
    fn job(&self, patterns: &[&str]) -> Job {
        let url = &self.urls[0];
        let origin = url.match_indices('/').nth(2).map_or(url.len(), |(slash, _)| slash + 1);
        let base = url[..origin].parse().expect("it is a URL");
        let mut job = Job::new(vec![self.input()], base, self.directory.join("out"));
        job.rules.urls.exclude =
            patterns.iter().map(|pattern| pattern.parse().expect("it is sound")).collect();
        job.resources.threads = NonZero::<usize>::MIN;
        job
    }

    /// The number of URLs that match one of `patterns`, by the crate `regex`.
    fn excluded(&self, patterns: &[&str]) -> u64 {
        let patterns: RegexSet =
            RegexSetBuilder::new(patterns).unicode(false).build().expect("the patterns are sound");
        self.urls.iter().filter(|url| patterns.is_match(url.as_bytes())).count() as u64
    }

    /// Nanoseconds for a URL.
    fn survey(&self, job: &Job, excluded: u64) -> f64 {
        let input = self.input();
        let memory =
            Memory::of(&job.resources, &self.directory).expect("half of the machine's memory is enough");
        let file = File::open(&input).expect("it was written");
        let inputs = Arc::from([Input::lines(&input, &file, None).expect("it can be mapped")]);
        let rules = Rules::of(job);
        let stop = Stop::default();
        let run = Context { job, rules: &rules, progress: &Silent, stop: &stop };
        let start = Instant::now();
        let Surveyed { account, .. } =
            sitemill::internals::survey(run, &inputs, &memory).expect("the job is sound");
        let time = start.elapsed();
        let listed = self.urls.len() as u64 - excluded;
        assert_eq!(account.tally.listed, listed, "URLs that no pattern matches");
        time.as_nanos() as f64 / self.urls.len() as f64
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
