//! The settings of publication: the directory, other files to write, and files that may be replaced.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::common::time::w3c_datetime;
use crate::error::Result;
use crate::job::also::Also;
use crate::job::then::CommandLine;
use crate::place::{self, SetName};
use crate::set::publish::retention::Keep;
use crate::set::publish::{Consent, OnDamage};
use crate::set::robots;

/// The directory that a build publishes to, the other files that it writes, and those that it may replace. [`Publication::new`]
/// sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Publication {
    /// Directory whose URL is the base URL, or a location in a store (`s3://bucket/prefix`, with the feature `cloud`). With a base
    /// for each origin, the parent of the directories of all sites. A directory is created if it does not exist. Only
    /// [`take_over`](Publication::take_over) and [`robots`](Publication::robots) change files that sitemill did not write.
    pub out: PathBuf,
    /// The name of the set, which is part of its file names. Sets with different names, and one without a name, can share
    /// [`out`](Publication::out).
    pub name: Option<SetName>,
    /// File for rejected and excluded lines and dropped tags, tab-separated: input, line, byte offset, reason, text.
    pub rejects: Option<PathBuf>,
    /// A robots.txt that lists the index files between two marker lines. Other lines are left unchanged.
    pub robots: Option<PathBuf>,
    /// Accept a `robots` file whose name is `robots.txt` in another letter case, which crawlers do not request.
    pub robots_any_name: bool,
    /// File for the differences from the set that was live, tab-separated: added, removed or changed; URL; old lastmod; new
    /// lastmod.
    pub diff: Option<PathBuf>,
    /// How long earlier sets are kept.
    pub keep: Keep,
    /// Publish even if a manifest is damaged. A copy of it goes to `.sitemill/damaged`, and no sitemap is reused.
    pub ignore_manifest: bool,
    /// Replace index files and a `robots-sitemaps.txt` that sitemill did not write. A copy of each goes to
    /// `.sitemill/taken-over`.
    pub take_over: bool,
    /// Publish even if the live set has another base URL or protocol.
    pub replace_set: bool,
    /// Publish nothing: find out what the run would publish and which guards would refuse it. Besides
    /// [`rejects`](Publication::rejects), no file is written; `robots` and `diff` are left alone. No lock is taken.
    pub dry_run: bool,
    /// Sitemaps that sitemill does not write, but that the index files list after its own.
    pub also: Vec<Also>,
    /// A command to run once the set is live and no lock is held. Its standard input is the report as JSON, and it writes to
    /// standard error. If it fails, the build only warns. The report that it reads includes [`details`](Publication::details).
    pub then: Option<CommandLine>,
    /// Fill in [`Report::details`](crate::Report::details).
    pub details: bool,
    /// Count URLs by first path segment for the details, which takes time for every URL. The manifest of the set
    /// records the counts for the next report.
    pub count_segments: bool,
    /// Time of publication, if it is not the time at which the build begins: the `lastmod` of new sitemaps in index files. Its year
    /// must be 1 to 9999.
    pub time: Option<SystemTime>,
}

impl Publication {
    /// Creates a publication in `out` that replaces only earlier sets of the same base URL and protocol.
    pub fn new(out: PathBuf) -> Self {
        Self {
            out,
            name: None,
            rejects: None,
            robots: None,
            robots_any_name: false,
            diff: None,
            keep: Keep::default(),
            ignore_manifest: false,
            take_over: false,
            replace_set: false,
            dry_run: false,
            also: Vec::new(),
            then: None,
            details: false,
            count_segments: false,
            time: None,
        }
    }

    /// Checks that sets can be published to `out` (a location in a store needs the feature `cloud`), that crawlers will find the
    /// `robots` file, that the command to run exists, that the URLs of `also` are canonical, and that `lastmod` can be the time of
    /// publication.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option.
    pub fn check(&self) -> Result<()> {
        place::check(&self.out)?;
        self.w3c_time()?;
        if let Some(then) = &self.then {
            then.check()?;
        }
        self.also.iter().try_for_each(Also::check)?;
        match self.robots.as_ref().filter(|_| !self.robots_any_name) {
            Some(path) => robots::check_name(path),
            None => Ok(()),
        }
    }

    /// Sets the time of publication to the present, unless the caller has set it: the build begins.
    pub(crate) fn begin(&mut self) {
        self.time.get_or_insert_with(SystemTime::now);
    }

    /// Returns the time of publication as W3C Datetime. It is the same at each call only after [`Publication::begin`].
    pub(crate) fn w3c_time(&self) -> Result<String> {
        w3c_datetime(self.time.unwrap_or_else(SystemTime::now))
    }

    /// Returns whether the report has details: also for the command that runs after publishing, which reads them.
    pub(crate) fn needs_details(&self) -> bool {
        self.details || self.then.is_some()
    }

    /// Returns what to do about a damaged manifest.
    pub(crate) fn on_damage(&self) -> OnDamage {
        if self.ignore_manifest { OnDamage::SetAside } else { OnDamage::Refuse }
    }

    /// Returns what may be replaced.
    pub(crate) fn consent(&self) -> Consent {
        Consent { take_over: self.take_over, replace_set: self.replace_set }
    }
}
