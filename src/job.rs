//! The job: everything a run needs to know.

pub(crate) mod fingerprint;
mod guard;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::clean::UrlEncoding;
use crate::clean::scope::{Base, BaseUrl, ScopeRule};
use crate::compress::gzip::{Engine, Level};
use crate::error::{Error, Result, Shown, is_url};
use crate::intake::format::FormOptions;
use crate::limits::{BYTES_PER_SITEMAP_DEFAULT, Protocol, SITEMAPS_PER_INDEX_DEFAULT, URLS_PER_SITEMAP_MAX};
use crate::set::publish::retention::Keep;
use crate::set::publish::{Consent, OnDamage};
use crate::set::{publish, robots};
use crate::sitemap::divide::{Divide, Limits};
use crate::sitemap::tags::TagRules;

pub use guard::{ExpectLines, MaxDroppedTags, MaxRejects, MaxShrink};

/// What to build, from what, and where to. [`Job::new`] has every default of the command line.
#[derive(Debug, Clone)]
pub struct Job {
    /// Files to read, in this order; `-` is standard input. A directory stands for the part files in it, or for the set that
    /// is published there. [`build_from`](crate::build_from) reads rows from code instead.
    pub inputs: Vec<PathBuf>,
    /// What is known of their form; what is not said is recognised.
    pub form: FormOptions,
    /// Refuse a directory of part files without a `_SUCCESS` in it.
    pub require_success: bool,
    /// The directory that the files will be published in, as a URL; or such a directory for each origin.
    pub base_url: Base,
    /// The same directory, as a path; with a base for each origin, the parent of theirs.
    pub out: PathBuf,
    /// Which version of the protocol to speak.
    pub protocol: Protocol,
    /// URLs in one sitemap, at most 50,000.
    pub urls_per_sitemap: u32,
    /// Bytes of one sitemap or index file before compression, at most what the protocol allows.
    pub bytes_per_sitemap: u64,
    /// Sitemaps in one index file, at most what the protocol allows.
    pub sitemaps_per_index: u32,
    /// Which URLs may be listed.
    pub scope: ScopeRule,
    /// The charset that servers expect in URLs.
    pub url_encoding: UrlEncoding,
    /// How tags are understood, and what stands in for those that are not given.
    pub tags: TagRules,
    /// Which of several rows with the same URL is listed.
    pub on_duplicate: OnDuplicate,
    /// In which order URLs are listed.
    pub order: Order,
    /// Where sitemaps begin and end.
    pub divide: Divide,
    /// Most bytes of memory to hold, mapped files aside; the share of what there is that [`memory_default`](crate::memory_default) says if none
    /// are given. What does not fit goes to scratch files.
    pub memory: Option<u64>,
    /// Where scratch files are made; in the output directory if nothing is said.
    pub scratch: Option<PathBuf>,
    /// Effort of the compressor.
    pub level: Level,
    /// Who compresses.
    pub gzip_engine: Engine,
    /// Threads that work at the same time, at most [`THREADS_MAX`].
    pub threads: NonZero<usize>,
    /// Where to write every refused line.
    pub rejects: Option<PathBuf>,
    /// How many refused lines are too many.
    pub max_rejects: Option<MaxRejects>,
    /// How many dropped tags are too many.
    pub max_dropped_tags: Option<MaxDroppedTags>,
    /// How much smaller than the live set is too small.
    pub max_shrink: MaxShrink,
    /// Publish an empty set if there is not one valid URL, however large the live one is.
    pub allow_empty: bool,
    /// How many lines the inputs have if they are whole.
    pub expect_lines: Option<ExpectLines>,
    /// A robots.txt to name the index files in, between lines of ours.
    pub robots: Option<PathBuf>,
    /// Let `robots` have another name than crawlers ask for.
    pub robots_any_name: bool,
    /// Where to write how the set differs from the one that was live.
    pub diff: Option<PathBuf>,
    /// How long earlier sets stay.
    pub keep: Keep,
    /// Publish although a manifest is damaged: it is set aside, and everything is compressed anew.
    pub ignore_manifest: bool,
    /// Replace index files and robots lines that sitemill did not write; a copy of each is kept in `.sitemill/taken-over`.
    pub take_over: bool,
    /// Publish although the live set has another base URL or protocol.
    pub replace_set: bool,
    /// The time of publication, for the `lastmod` of index entries.
    pub time: SystemTime,
}

/// Which of several rows with the same URL is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDuplicate {
    /// The first.
    #[default]
    First,
    /// The one with the newest `lastmod`. Of equal ones, and if none has any, the first; in sorted order the one whose tags
    /// are the last in byte order, wherever it stands.
    Newest,
}

impl std::str::FromStr for OnDuplicate {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "first" => Ok(Self::First),
            "newest" => Ok(Self::Newest),
            _ => Err("the row that stays is first or newest".into()),
        }
    }
}

/// In which order URLs are listed. To a crawler, order means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// That of the input.
    #[default]
    Input,
    /// Byte order of canonical URLs: smaller files, and the same ones whatever the order of the input, unless rows of one URL
    /// have different tags and [`OnDuplicate::First`] chooses among them.
    Sorted,
}

impl std::str::FromStr for Order {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "input" => Ok(Self::Input),
            "sorted" => Ok(Self::Sorted),
            _ => Err("the order is input or sorted".into()),
        }
    }
}

impl Job {
    /// A job with the defaults: protocol 0.9, limits that every engine accepts, all cores, the present time.
    pub fn new(inputs: Vec<PathBuf>, base_url: Base, out: PathBuf) -> Self {
        Self {
            inputs,
            form: FormOptions::default(),
            require_success: false,
            base_url,
            out,
            protocol: Protocol::default(),
            urls_per_sitemap: URLS_PER_SITEMAP_MAX,
            bytes_per_sitemap: BYTES_PER_SITEMAP_DEFAULT,
            sitemaps_per_index: SITEMAPS_PER_INDEX_DEFAULT,
            scope: ScopeRule::default(),
            url_encoding: UrlEncoding::default(),
            tags: TagRules::default(),
            on_duplicate: OnDuplicate::default(),
            order: Order::default(),
            divide: Divide::default(),
            memory: None,
            scratch: None,
            level: Level::default(),
            gzip_engine: Engine::default(),
            threads: threads_default(),
            rejects: None,
            max_rejects: None,
            max_dropped_tags: None,
            max_shrink: MaxShrink::default(),
            allow_empty: false,
            expect_lines: None,
            robots: None,
            robots_any_name: false,
            diff: None,
            keep: Keep::default(),
            ignore_manifest: false,
            take_over: false,
            replace_set: false,
            time: SystemTime::now(),
        }
    }

    /// What is to be done about a damaged manifest.
    pub(crate) fn on_damage(&self) -> OnDamage {
        if self.ignore_manifest { OnDamage::SetAside } else { OnDamage::Refuse }
    }

    /// The directory of the files, unless there is one for each origin.
    pub(crate) fn only_site(&self) -> Option<&BaseUrl> {
        match &self.base_url {
            Base::Directory(url) => Some(url),
            Base::EachOrigin(_) => None,
        }
    }

    /// What may be replaced.
    pub(crate) fn consent(&self) -> Consent {
        Consent { take_over: self.take_over, replace_set: self.replace_set }
    }

    /// Holds the job against the protocol.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option and the limit.
    pub fn check(&self) -> Result<()> {
        self.form.check()?;
        if is_url(&self.out) && !self.out.exists() {
            return Err(Error::usage(format!(
                "--out {}: is a URL, and sitemill publishes to a directory; publish to one, and copy it there",
                Shown(&self.out)
            )));
        }
        let protocol = self.protocol;
        let within = |option: &str, given: u64, min: u64, max: u64| {
            if (min..=max).contains(&given) {
                return Ok(());
            }
            Err(Error::usage(format!("{option} {given}: protocol {protocol} allows {min} to {max}")))
        };
        within("--urls-per-sitemap", self.urls_per_sitemap.into(), 1, URLS_PER_SITEMAP_MAX.into())?;
        within(
            "--sitemaps-per-index",
            self.sitemaps_per_index.into(),
            1,
            protocol.sitemaps_per_index_max().into(),
        )?;
        within("--bytes-per-sitemap", self.bytes_per_sitemap, 1, protocol.bytes_per_sitemap_max())?;
        check_threads(self.threads)?;
        if let Some(path) = self.robots.as_ref().filter(|_| !self.robots_any_name) {
            robots::check_name(path)?;
        }
        let least = match &self.base_url {
            Base::Directory(url) => publish::index_bytes_min(protocol, url),
            Base::EachOrigin(_) if self.allow_empty => {
                return Err(Error::usage("--allow-empty: with {origin}/ nothing says which site is empty"));
            }
            Base::EachOrigin(_) if self.robots.is_some() => {
                return Err(Error::usage("--robots: with {origin}/ each site has a robots.txt of its own"));
            }
            // Origins for which there is no room are refused line by line.
            Base::EachOrigin(path) => {
                let shortest = path.on("http://a.b/").or_else(|_| path.on("http://abc/"));
                publish::index_bytes_min(protocol, &shortest.map_err(Error::usage)?)
            }
        };
        if self.bytes_per_sitemap < least {
            return Err(Error::usage(format!(
                "--bytes-per-sitemap {}: an index file that lists one sitemap takes {least} already",
                self.bytes_per_sitemap
            )));
        }
        Ok(())
    }

    /// What no sitemap may pass.
    pub fn sitemap_limits(&self) -> Limits {
        Limits { entries_max: self.urls_per_sitemap, bytes_max: self.bytes_per_sitemap }
    }

    /// What no index file may pass.
    pub fn index_limits(&self) -> Limits {
        Limits { entries_max: self.sitemaps_per_index, bytes_max: self.bytes_per_sitemap }
    }
}

/// Most threads of a run: many times what any machine makes use of, and few enough to be started and ended at once.
pub const THREADS_MAX: usize = 1024;

/// Refuses more threads than [`THREADS_MAX`].
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the limit.
pub(crate) fn check_threads(threads: NonZero<usize>) -> Result<()> {
    match threads.get() {
        ..=THREADS_MAX => Ok(()),
        more => Err(Error::usage(format!(
            "--threads {more}: more than {THREADS_MAX} threads are of no use; leave it out for one per core"
        ))),
    }
}

/// As many as the machine, or the container's share of it, runs at once.
pub fn threads_default() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(change: impl FnOnce(&mut Job)) -> Result<()> {
        let mut job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "out".into());
        change(&mut job);
        job.check()
    }

    #[test]
    fn what_contradicts_the_protocol_is_a_usage_error_that_names_the_limit() {
        assert!(job(|_| {}).is_ok());
        assert!(job(|job| job.bytes_per_sitemap = 52_428_800).is_ok());
        assert!(job(|job| job.sitemaps_per_index = 50_000).is_ok());
        let refused = |change: fn(&mut Job), limit: &str| {
            let error = job(change).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(limit), "{error}");
        };
        refused(|job| job.out = "s3://bucket/prefix".into(), "is a URL");
        refused(|job| job.urls_per_sitemap = 50_001, "50000");
        refused(|job| job.urls_per_sitemap = 0, "1 to");
        refused(|job| job.bytes_per_sitemap = 52_428_801, "52428800");
        refused(|job| job.threads = NonZero::new(1025).unwrap(), "1024");
        refused(|job| job.bytes_per_sitemap = 100, "--bytes-per-sitemap 100");
        refused(|job| job.sitemaps_per_index = 50_001, "50000");
        refused(|job| (job.protocol, job.sitemaps_per_index) = (Protocol::V0_84, 1_001), "1000");
        refused(|job| (job.protocol, job.bytes_per_sitemap) = (Protocol::V0_84, 10_485_761), "10485760");
    }
}
