//! The first pass of a run with ten patterns, or the rules of a large robots.txt, and without any: `cargo bench --bench filters`.
//!
//! Options after `--`:
//! - `--held-out`: draws the URLs with other seeds, words and layouts;
//! - `--kind=NAME`: only the kinds of URLs whose names contain NAME;
//! - `--patterns=NAME`: only the lists of patterns or rules whose names contain NAME;
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

use regex::bytes::RegexSetBuilder;
use sitemill::internals::{Context, Input, Memory, Rules, Surveyed};
use sitemill::options::Robots;
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

/// The number of rules of a robots.txt.
const ROBOTS_RULES: usize = 2_000;

/// What excludes URLs, with its name.
struct Filters {
    name: &'static str,
    /// Regular expressions that match the same URLs.
    patterns: Vec<String>,
    /// The robots.txt, if it is one.
    robots: Option<String>,
}

impl Filters {
    fn patterns(name: &'static str, patterns: &[&str]) -> Self {
        Self { name, patterns: patterns.iter().map(|&pattern| pattern.into()).collect(), robots: None }
    }

    /// A robots.txt whose rules have stars.
    fn stars() -> Self {
        let (mut patterns, mut robots) = (Vec::new(), "User-agent: *\n".to_owned());
        for number in 0..ROBOTS_RULES {
            let (rule, pattern) = match number % 3 {
                0 => (format!("/*/private-{number}/"), format!("/.*/private-{number}/")),
                1 => (format!("/*?sort={number}"), format!(r"/.*\?sort={number}")),
                _ => (format!("/a/*/b{number}$"), format!("/a/.*/b{number}$")),
            };
            patterns.push(format!("^https?://[^/]+{pattern}"));
            robots += &format!("Disallow: {rule}\n");
        }
        Self { name: "2,000 rules with stars", patterns, robots: Some(robots) }
    }

    /// Adds them to the rules of a job.
    fn add_to(&self, job: &mut Job) {
        let rules = &mut job.rules.urls;
        match &self.robots {
            Some(robots) => rules.robots = Some(Robots::parse(robots.as_bytes(), None)),
            None => {
                let patterns = self.patterns.iter().map(|pattern| pattern.parse().expect("it is sound"));
                rules.exclude = patterns.collect();
            }
        }
    }
}

/// All lists.
fn lists() -> Vec<Filters> {
    let lists = LISTS.iter().map(|(name, patterns)| Filters::patterns(name, patterns));
    let with_quick =
        WITH_QUICK.iter().map(|&(name, pattern)| Filters::patterns(name, &[&[pattern][..], &QUICK].concat()));
    lists.chain(with_quick).chain([Filters::stars()]).collect()
}

fn main() {
    let options = Options::read(URLS, ROUNDS);
    let mut wanted = "";
    for word in &options.others {
        wanted = word.strip_prefix("--patterns=").unwrap_or_else(|| panic!("{word}: unknown option"));
    }
    let lists: Vec<_> = lists().into_iter().filter(|list| list.name.contains(wanted)).collect();
    let mut misses = 0;
    for kind in KINDS.iter().filter(|kind| kind.name.contains(&options.kind)) {
        let urls: Vec<_> = kind.urls(options.urls, options.draw);
        let site = Site::new(&urls);
        println!("\n{}: {} URLs", kind.name, urls.len());
        let (plain, ratios) = site.measure(&lists, options.rounds);
        println!("{:>22} {plain:>7.1} ns/URL", "no patterns");
        for (Filters { name, .. }, (excluded, ratio)) in lists.iter().zip(ratios) {
            let share = 100.0 * excluded as f64 / urls.len() as f64;
            println!("{name:>22} {ratio:>7.2} times; {share:.1} % excluded");
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
    fn measure(&self, lists: &[Filters], rounds: usize) -> (f64, Vec<(u64, f64)>) {
        let plain = self.job(None);
        let jobs: Vec<_> = lists.iter().map(|list| (self.job(Some(list)), self.excluded(list))).collect();
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

    /// A job with these filters.
    fn job(&self, filters: Option<&Filters>) -> Job {
        let url = &self.urls[0];
        let origin = url.match_indices('/').nth(2).map_or(url.len(), |(slash, _)| slash + 1);
        let base = url[..origin].parse().expect("it is a URL");
        let mut job = Job::new(vec![self.input()], base, self.directory.join("out"));
        if let Some(filters) = filters {
            filters.add_to(&mut job);
        }
        job.resources.threads = NonZero::<usize>::MIN;
        job
    }

    /// The number of URLs that `filters` exclude, by the crate `regex`.
    fn excluded(&self, filters: &Filters) -> u64 {
        let patterns = RegexSetBuilder::new(&filters.patterns).unicode(false).size_limit(256 << 20).build();
        let patterns = patterns.expect("the patterns are sound");
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
