//! Check: validates published files with its own XML reader, URL grammar and rules, which share no code with the writer.
//!
//! ```text
//!  set ──▶ files ──content──▶ bytes ──reader──▶ entries ──judge──▶ findings, keys ──▶ duplicates across files
//!   └─ robots lines, index files: which files belong together, and which are missing
//! ```
//!
//! No file is judged by code that cleans, escapes or writes, so a bug there cannot hide (`tests/suite/layers/judges.rs`). Check
//! does share the code that finds files (places, names, manifests), and the survey's search for equal keys. Files may be hostile:
//! each is read up to the byte limit of the protocol, nothing in it is expanded, and names in it lead only to files of the same
//! directory or below. Memory is 16 bytes per URL of the set.

mod base;
mod checked;
mod content;
mod document;
mod doubts;
mod entities;
mod entry;
mod extensions;
mod finding;
mod follow;
mod gone;
mod judge;
mod loc;
mod manifests;
mod members;
mod name;
mod namespaces;
mod normal;
mod reader;
mod rules;
mod set;
mod sitemaps;
mod tag;
mod target;
mod told;
mod unlisted;
mod values;

use std::collections::{BTreeMap, HashSet};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::common::ordered::ordered;
use crate::common::progress::{Phase, Progress};
use crate::common::secret::Secret;
use crate::common::stop::Stop;
use crate::error::{Error, Result, Setting, message};
use crate::job::{check_given, check_threads, threads_default};
use crate::place::{self, PlaceOrFile, SetName};

use document::{Document, Rules, Scratch};
use follow::{Known, ToRead, Unread};
use sitemaps::Sitemaps;
pub use told::FINDINGS_PER_FILE_MAX;
use told::Told;

pub(crate) use checked::Checked;
pub(crate) use content::Content;
pub(crate) use extensions::{EXTENSIONS, text};
pub(crate) use finding::Findings;
pub(crate) use gone::gone_external;
pub(crate) use members::{ExternalMember, Members, Referent, Referents, members};
pub(crate) use reader::{DocumentFormat, FileKind, Reader};
pub(crate) use set::{Set, settled};
pub(crate) use tag::Tag;
pub(crate) use target::decoded_path;

pub(crate) use entry::{Entry, VALUE_BYTES_MAX};
pub use finding::Finding;
pub use rules::{Counts, Rule};

/// Which published files to check. [`CheckJob::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CheckJob {
    /// Published directories, parents of the directories of several sites, and single sitemaps or index files. Each set and each
    /// file is checked once, however often it is given.
    pub paths: Vec<PathBuf>,
    /// Check only the set of this name in each directory. If not set, all sets.
    pub name: Option<SetName>,
    /// URL of the directory that the files are published in. If not set, it is taken from `robots-sitemaps.txt` of a directory;
    /// without that, and for a single file, the scope is not checked. For a set in another
    /// [`UrlEncoding`](crate::options::UrlEncoding) than UTF-8, percent-encode it as in the published files.
    pub base_url: Option<BaseUrl>,
    /// Which URLs may be listed. If not set, it is taken from the manifest of a directory; without a manifest, it is
    /// [`ScopeRule::Directory`], the rule of the protocol. While a switch is not complete, it is the wider rule of the two sets. If
    /// the manifest may not be read, URLs are not checked against a scope.
    pub scope: Option<ScopeRule>,
    /// Number of worker threads, at most [`THREADS_MAX`](crate::options::THREADS_MAX).
    pub threads: NonZero<usize>,
    /// Maximum number of findings that are reported; at most 10,000 per file. All are counted.
    pub findings_max: u64,
}

impl CheckJob {
    /// Creates a job with the defaults: all cores, the first thousand findings.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            name: None,
            base_url: None,
            scope: None,
            threads: threads_default(),
            findings_max: 1000,
        }
    }
}

/// The result of [`check()`](crate::check()). It serialises to a JSON object.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// Number of files that were read.
    pub files: u64,
    /// Number of sitemaps among the files.
    pub sitemaps: u64,
    /// Number of index files among the files.
    pub indexes: u64,
    /// Number of entries in the sitemaps.
    pub urls: u64,
    /// Number of sitemaps that an index file lists elsewhere on the site, not as files of its directory or below. They are not
    /// read.
    pub not_followed: u64,
    /// Number of sitemaps that the sets list but sitemill did not write. They are not read.
    pub also: u64,
    /// Number of sets whose URLs are not checked against a scope, because their manifest may not be read and the job has no scope.
    pub unknown_scopes: u64,
    /// Number of sets whose URLs are not checked against a scope, because the URL of their directory is unknown.
    pub unknown_bases: u64,
    /// Number of XML files and feeds that are not read: in directories of other programs, those that are most likely no sitemaps;
    /// next to the copy of a set without its manifest, all that it does not list.
    pub other_files: u64,
    /// Number of findings, whether reported or not.
    pub findings: u64,
    /// Number of findings by the word of their rule; only rules that were violated.
    pub rules: BTreeMap<&'static str, u64>,
    /// Elapsed time in seconds.
    pub seconds: f64,
}

/// Checks `job.paths` and passes the first `job.findings_max` findings to `tell`, file by file. `progress` counts URLs.
///
/// # Errors
/// If a path cannot be read, `tell` fails, or `stop` is raised; if the paths are of several sets in stores, and
/// [`StoreSettings::state`](crate::StoreSettings::state), which is that of one set, is set. Findings are not errors of this call.
pub fn check(
    job: &CheckJob,
    progress: &dyn Progress,
    stop: &Stop,
    tell: &mut dyn FnMut(&Finding) -> Result<()>,
) -> Result<CheckReport> {
    check_threads(job.threads)?;
    check_given(&job.paths)?;
    place::check_state(&job.paths)?;
    place::check_name(job.name.as_ref(), &job.paths)?;
    let started = Instant::now();
    let mut run = Run {
        job,
        progress,
        stop,
        secret: Secret::draw()?,
        kept_max: job.findings_max.min(FINDINGS_PER_FILE_MAX) as usize,
        told: Told::new(tell, job.findings_max),
        checked: Checked::default(),
        not_followed: Vec::new(),
        also: Vec::new(),
        others: Vec::new(),
        report: CheckReport::default(),
    };
    let phase = progress.phase(Phase::Urls, 0);
    run.check_paths()?;
    drop(phase);
    Ok(run.into_report(started))
}

struct Run<'a> {
    job: &'a CheckJob,
    progress: &'a dyn Progress,
    stop: &'a Stop,
    secret: Secret,
    kept_max: usize,
    told: Told<'a>,
    checked: Checked,
    /// Sitemaps elsewhere on the site, and those from elsewhere that the sets list, by their real paths, if these are known.
    not_followed: Vec<Option<PathBuf>>,
    also: Vec<Option<PathBuf>>,
    /// Files next to the sitemaps of other programs that are no sitemaps.
    others: Vec<Option<PathBuf>>,
    report: CheckReport,
}

impl Run<'_> {
    fn check_paths(&mut self) -> Result<()> {
        let base = self.job.base_url.as_ref().map(BaseUrl::as_str);
        let (mut places, mut files) = (Vec::new(), Vec::new());
        for path in &self.job.paths {
            match place::resolve(path)? {
                PlaceOrFile::Place(view) => places.push(view),
                PlaceOrFile::File(file) => files.push(file),
            }
        }
        for parent in places {
            let sets = Set::places(&*parent, self.job.name.as_ref())?;
            if let (Some(base), true) = (base, sets.iter().any(|set| set.root() != parent.root())) {
                return Err(Error::usage(message!(
                    Setting::BaseUrl.with(base),
                    ": ",
                    parent.root(),
                    " contains the sets of several sites, and each names its own base URL"
                )));
            }
            for set in sets {
                // A set may be named twice, or by itself and by the parent of all sites.
                if self.checked.add_set(&*set) {
                    self.check_set(Set::to_check(&set, base, self.kept_max)?)?;
                }
            }
        }
        // Each set is checked by itself; files that were named individually form one site.
        files.retain(|file| self.checked.add_file(file));
        match files.is_empty() {
            true => Ok(()),
            false => self.check_set(Set::of_files(files, base, self.kept_max)),
        }
    }

    fn into_report(self, started: Instant) -> CheckReport {
        let Self { told, checked, not_followed, also, others, mut report, .. } = self;
        report.not_followed = checked.count_others(&not_followed);
        report.also = checked.count_others(&also);
        report.other_files = checked.count_others(&others);
        report.findings = told.counts.total();
        report.rules = told.counts.by_word();
        report.seconds = (started.elapsed().as_secs_f64() * 1e3).round() / 1e3;
        report
    }

    fn check_set(&mut self, mut set: Set) -> Result<()> {
        self.told.add(&set.findings)?;
        self.told.add(&set.check_robots_txt(&mut self.checked, self.kept_max))?;
        for other in &set.others {
            self.others.push(Some(self.checked.path_beside(other, other.name().as_ref())));
        }
        let scope = self.scope(&set);
        let urls_before = self.report.urls;
        let urls_below = match (&set.base, scope) {
            (None, _) | (_, ScopeRule::Any) => None,
            (Some(base), ScopeRule::Directory) => Some(base.as_str()),
            (Some(base), ScopeRule::Host) => Some(normal::origin(base)),
        };
        let secret = self.secret.clone();
        let rules = Rules {
            urls_below,
            is_by_directory: set.base.is_some() && scope == ScopeRule::Directory,
            sitemaps_below: set.base.as_deref(),
            kept_max: self.kept_max,
            secret: &secret,
        };

        let mut known = Known::of(&set);
        let files = known.begin(&set);
        let mut members = Vec::new();
        self.check_files(files, false, &rules, |run, mut document| {
            follow::check_protocol(&set, &mut document);
            follow::check_robots(&set, &mut document);
            known.check_form(&mut document);
            let followed = known.follow(&set, &mut document);
            let mut path = |Unread { below }| Some(run.checked.path_beside(&document.file, &below?));
            run.not_followed.extend(followed.elsewhere.into_iter().map(&mut path));
            run.also.extend(followed.external.into_iter().map(path));
            members.extend(followed.members);
            run.add_document(document, &mut known.sitemaps)
        })?;
        // The sitemaps of an index file that was given by itself may be those of a set.
        members.retain(|ToRead { file, .. }| !self.checked.has_file(file));
        self.check_files(members, true, &rules, |run, mut document| {
            known.check_form(&mut document);
            run.add_document(document, &mut known.sitemaps)
        })?;
        let is_unchecked = set.base.is_none() && scope != ScopeRule::Any && self.report.urls > urls_before;
        self.report.unknown_bases += u64::from(is_unchecked);
        self.check_manifest(&set, &known, &rules)?;
        // Reported after everything else. Without permission to read manifests, only the files are checked.
        set.manifests.check_intact(set.view.as_deref())?;
        self.check_duplicates(&set, known.sitemaps)
    }

    /// Which URLs `set` may list, if the URL of its directory is known.
    fn scope(&mut self, set: &Set) -> ScopeRule {
        self.job.scope.or_else(|| set.scope()).unwrap_or_else(|| {
            self.report.unknown_scopes += 1;
            ScopeRule::Any
        })
    }

    /// Checks `files` in parallel and passes the results to `each` in order.
    fn check_files(
        &mut self,
        files: Vec<ToRead>,
        are_members: bool,
        rules: &Rules<'_>,
        mut each: impl FnMut(&mut Self, Document) -> Result<()>,
    ) -> Result<()> {
        let work = |scratch: &mut Scratch, ToRead { file, directory }| {
            document::check(file, are_members, &rules.for_directory(directory.as_deref()), scratch)
        };
        ordered(self.job.threads.get(), files.into_iter(), Scratch::default, work, |document| {
            self.stop.check()?;
            each(self, document?)
        })
    }

    /// Adds the findings and counts of `document` to the report, and its URLs to `sitemaps`.
    fn add_document(&mut self, document: Document, sitemaps: &mut Sitemaps) -> Result<()> {
        self.told.add(&document.findings)?;
        self.checked.add_file(&document.file);
        self.report.files += 1;
        match document.kind {
            Some(FileKind::Index) => self.report.indexes += 1,
            Some(FileKind::Sitemap) => {
                self.report.sitemaps += 1;
                self.report.urls += document.entries;
                self.progress.advance(document.entries);
                sitemaps.push(document.file, document.keys);
            }
            None => {}
        }
        Ok(())
    }

    /// Reports URLs that are listed more than once in `sitemaps`, which are those of `set`.
    fn check_duplicates(&mut self, set: &Set, mut sitemaps: Sitemaps) -> Result<()> {
        let path = |file: &str| set.view.as_ref().map(|view| view.path(file.as_ref()));
        let replaced: HashSet<_> = set.manifests.replaced().filter_map(path).collect();
        sitemaps.retain(|file| !replaced.contains(file.path()));
        let duplicates = sitemaps.duplicates(self.job.threads.get(), self.kept_max, self.stop)?;
        // Reported file by file, in reading order.
        for of_file in duplicates.first.chunk_by(|a, b| a.0 == b.0) {
            let mut findings = Findings::new(sitemaps.shown(of_file[0].0), self.kept_max);
            for &place in of_file {
                findings
                    .push(Some(u64::from(place.1) + 1), Rule::Duplicate, || sitemaps.listed_before(place));
            }
            self.told.add(&findings)?;
        }
        self.told.counts[Rule::Duplicate] += duplicates.beyond;
        Ok(())
    }
}
