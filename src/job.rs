//! The job: all settings of a build.

mod also;
pub(crate) mod fingerprint;
mod guards;
mod input;
mod publication;
mod resources;
mod rules;
pub(crate) mod sections;
mod then;

use std::path::PathBuf;

use crate::clean::scope::Base;
use crate::error::{Error, Result, Setting, message};

pub(crate) use input::check_given;
pub(crate) use resources::{check_scratch, check_threads};

pub use also::Also;
pub use guards::{ExpectLines, Guards, MaxDroppedTags, MaxRejects, MaxShrink};
pub use input::InputOptions;
pub use publication::Publication;
pub(crate) use resources::{BASE_BYTES, HOLD_BYTES_MIN, THREAD_BYTES, memory_min};
pub use resources::{Resources, THREADS_MAX, memory_default, threads_default, threads_within};
pub use rules::{OnDuplicate, Order, SetRules};
pub use sections::SectionsBy;
pub use then::CommandLine;

/// The settings of a build: its inputs, the rules for the set, and where to publish it. [`Job::new`] sets every other field to its
/// command-line default.
///
/// ```
/// use sitemill::Job;
///
/// let mut job = Job::new(vec!["urls.txt".into()], "https://www.example.com/".parse()?, "out".into());
/// job.rules.order = "sorted".parse()?;
/// job.guards.max_rejects = Some("1%".parse()?);
/// job.resources.memory = Some(4 << 30);
/// job.check()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Job {
    /// The files to read.
    pub input: InputOptions,
    /// Which URLs are listed, and how files are written.
    pub rules: SetRules,
    /// Threads, memory and scratch directory.
    pub resources: Resources,
    /// Conditions under which a set is not published.
    pub guards: Guards,
    /// The directory to publish to, and the files that may be replaced.
    pub publication: Publication,
}

impl Job {
    /// Creates a job that reads `inputs` and publishes to the directory `out`, whose URL is `base_url`. The defaults are protocol
    /// 0.9, limits that every search engine accepts, a thread per core, and the present time.
    pub fn new(inputs: Vec<PathBuf>, base_url: Base, out: PathBuf) -> Self {
        Self {
            input: InputOptions::new(inputs),
            rules: SetRules::new(base_url),
            resources: Resources::default(),
            guards: Guards::default(),
            publication: Publication::new(out),
        }
    }

    /// Checks the options against the protocol and against each other. [`build`](crate::build()) calls this first.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option and the limit.
    pub fn check(&self) -> Result<()> {
        self.input.check()?;
        self.publication.check()?;
        self.resources.check()?;
        if matches!(self.rules.base_url, Base::EachOrigin(_)) {
            if self.guards.allow_empty {
                let why = "cannot be used with {origin}/, because the input does not show which site has become empty";
                return Err(Error::usage(message!(
                    Setting::AllowEmpty,
                    ": {why}; to publish without a section that has lost all its URLs, use ",
                    Setting::MaxShrink.with("100%")
                )));
            }
            if self.publication.robots.is_some() {
                let why = "with {origin}/, each site has its own robots.txt; copy the lines from each robots-sitemaps.txt instead";
                return Err(Error::usage(message!(Setting::Robots, ": {why}")));
            }
        } else if self.guards.allow_missing_sites {
            let why = "can only be used with {origin}/; this set has one site";
            return Err(Error::usage(message!(Setting::AllowMissingSites, ": {why}")));
        }
        if let Some(sections) = &self.rules.sections {
            sections.add_column(&mut self.input.format.clone())?;
        }
        self.rules.check()?;
        self.rules.check_room(self.publication.name.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::limits::Protocol;

    fn job(change: impl FnOnce(&mut Job)) -> Result<()> {
        let mut job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "out".into());
        change(&mut job);
        job.check()
    }

    #[test]
    fn a_job_that_contradicts_the_protocol_is_a_usage_error_that_names_the_limit() {
        assert!(job(|_| {}).is_ok());
        assert!(job(|job| job.rules.bytes_per_sitemap = 52_428_800).is_ok());
        assert!(job(|job| job.rules.sitemaps_per_index = 50_000).is_ok());
        let refused = |change: fn(&mut Job), limit: &str| {
            let error = job(change).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(limit), "{error}");
        };
        match cfg!(feature = "cloud") {
            true => assert!(job(|job| job.publication.out = "s3://bucket/prefix".into()).is_ok()),
            false => refused(|job| job.publication.out = "s3://bucket/prefix".into(), "is a URL"),
        }
        refused(
            |job| job.rules.sections = Some(SectionsBy::Column { column: " ".into(), sections_max: 9 }),
            "`section_column`: it is empty; give a column",
        );
        refused(|job| job.publication.out = "file:///a".into(), "file:///a: is a URL; give the path alone");
        refused(|job| job.publication.out = "dbfs:/mnt/a".into(), "looks like a URL with a slash missing");
        for local in ["./dbfs:/mnt/a", "c:/a", "a:b/c", "dir/file:/a", "/file:/a"] {
            assert!(job(|job| job.publication.out = local.into()).is_ok(), "{local}");
        }
        refused(|job| job.publication.robots = Some("ROBOTS.TXT".into()), "`robots` ROBOTS.TXT: ");
        refused(|job| job.rules.urls_per_sitemap = 50_001, "50,000");
        refused(|job| job.rules.urls_per_sitemap = 0, "1 to");
        refused(|job| job.rules.bytes_per_sitemap = 52_428_801, "52,428,800");
        refused(|job| job.resources.threads = NonZero::new(1025).unwrap(), "1,024");
        refused(|job| job.rules.bytes_per_sitemap = 100, "`bytes_per_sitemap: 100`");
        let bytes = (100..).find(|&bytes| job(|job| job.rules.bytes_per_sitemap = bytes).is_ok()).unwrap();
        let named = |bytes| {
            job(|job| (job.rules.bytes_per_sitemap, job.publication.name) = (bytes, "blog".parse().ok()))
        };
        assert!(named(bytes + 4).is_err() && named(bytes + 5).is_ok());
        refused(|job| job.rules.sitemaps_per_index = 50_001, "50,000");
        // The longest file names are 34 bytes, and more with the names of the set and of a section.
        let longest = |base: &str, name: &str, has_sections: bool| {
            let is_ok = |length: &usize| {
                let base_url = format!("{base}{}/", "a".repeat(length - base.len() - 1)).parse();
                base_url.is_ok_and(|base_url| {
                    job(|job| {
                        (job.rules.base_url, job.publication.name) = (base_url, name.parse().ok());
                        job.rules.sections = has_sections.then_some(SectionsBy::Path { sections_max: 9 });
                    })
                    .is_ok()
                })
            };
            (1_600..2_047).rev().find(is_ok).unwrap()
        };
        let name = "n".repeat(40);
        for (name, has_sections, most) in [
            ("", false, 1_983),
            ("blog", false, 1_983),
            (&name, false, 1_972),
            ("", true, 1_972),
            (&name, true, 1_931),
        ] {
            assert_eq!(longest("https://h.example/", name, has_sections), most, "{name} {has_sections}");
        }
        // An origin has at most 269 bytes with the slash after it.
        assert_eq!(longest("{origin}/", &name, true), 1_931 - 269 + "{origin}/".len());
        refused(|job| (job.rules.protocol, job.rules.sitemaps_per_index) = (Protocol::V0_84, 1_001), "1,000");
        refused(
            |job| (job.rules.protocol, job.rules.bytes_per_sitemap) = (Protocol::V0_84, 10_485_761),
            "10,485,760",
        );
    }

    #[test]
    fn a_value_that_no_text_gives_is_a_usage_error() {
        let now = SystemTime::now();
        let later = |seconds| job(|job| job.publication.time = Some(now + Duration::from_secs(seconds)));
        let earlier = |seconds| job(|job| job.publication.time = Some(now - Duration::from_secs(seconds)));
        assert!(later(1 << 37).is_ok() && earlier(1 << 35).is_ok());
        let also = |url: &str| job(|job| job.publication.also = vec![Also::Url(url.into())]);
        assert!(also("https://h.example/a.xml").is_ok());
        for (checked, words) in [
            (
                job(|job| job.guards.allow_missing_sites = true),
                "`allow_missing_sites`: can only be used with {origin}/",
            ),
            (later(1 << 38), "time of publication"),
            (earlier(1 << 36), "time of publication"),
            (also("https://h.example/ü"), "is not canonical"),
        ] {
            let error = checked.unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn a_set_for_each_origin_can_be_neither_empty_nor_named_in_one_robots_txt() {
        let each_origin = |change: fn(&mut Job)| {
            job(|job| {
                job.rules.base_url = "{origin}/".parse().unwrap();
                change(job);
            })
        };
        assert!(each_origin(|_| {}).is_ok());
        for (change, option) in [
            ((|job| job.guards.allow_empty = true) as fn(&mut Job), "`allow_empty`"),
            (|job| job.publication.robots = Some("robots.txt".into()), "`robots`"),
            (|job| job.rules.bytes_per_sitemap = 100, "`bytes_per_sitemap: 100`"),
        ] {
            let error = each_origin(change).unwrap_err();
            assert!(error.to_string().starts_with(option), "{error}");
        }
    }
}
