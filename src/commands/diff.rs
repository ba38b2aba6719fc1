//! Diff: finds URLs that were added or removed, or whose `lastmod` changed, from one set to another.
//!
//! Sitemaps with the same content in both manifests are not read. The URLs of the others are sorted in byte order, on disk if
//! they do not fit in memory, and the two sorted sequences are merged.

mod side;
mod sort;

use std::num::NonZero;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::commands::target::Target;
use crate::commands::urls::Reading;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::common::thread_pool::thread_pool;
use crate::error::{Error, Result, Setting, message};
use crate::escape::unescape;
use crate::job::{check_scratch, check_threads, threads_default};
use crate::place::{self, SetName};

pub(crate) use side::Side;
use sort::{RowCodec, Sorted, Sorter, UrlRow};

/// Default memory for sorting.
pub const DIFF_MEMORY_DEFAULT: u64 = 256 << 20;

/// Minimum memory for sorting: two buffers of a few thousand URLs, and the read-ahead of the merge.
pub const DIFF_MEMORY_MIN: u64 = 1 << 20;

/// Which two sets to compare. [`DiffJob::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DiffJob {
    /// The old set: a published directory, the parent of the directories of several sites, an index file, a sitemap, or the
    /// manifest of a kept set.
    pub old: PathBuf,
    /// The new set, in any of the forms of the old one.
    pub new: PathBuf,
    /// Compare only the sets of this name in directories. If not set, all sets, each compared with the set of the same name; a
    /// single set is compared with all sets of the other side, or of the same site there.
    pub name: Option<SetName>,
    /// Output format.
    pub format: DiffFormat,
    /// Memory, scratch directory and threads.
    pub resources: DiffResources,
}

/// The machine resources that a diff may use. They do not change the output.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DiffResources {
    /// Bytes of memory for sorting URLs. In addition, each thread holds a few sitemaps that it reads.
    pub memory: u64,
    /// Directory for data that do not fit in memory, at most the URLs and `lastmod`s of both sets; the system's temporary directory
    /// if not set.
    pub scratch: Option<PathBuf>,
    /// Number of worker threads, at most [`THREADS_MAX`](crate::options::THREADS_MAX).
    pub threads: NonZero<usize>,
}

/// Output format of [`diff()`](crate::diff()).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffFormat {
    /// One line per URL: `+ URL` for added, `- URL` for removed, `~ URL` and both `lastmod`s for changed.
    #[default]
    Text,
    /// Tab-separated rows without a header: `added`, `removed` or `changed`, the URL, its old and its new `lastmod`.
    Tsv,
    /// One JSON object per line, with `change`, `loc`, and `old_lastmod` and `new_lastmod` if present.
    Json,
}

/// The result of [`diff()`](crate::diff()).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DiffReport {
    /// URLs in the new set only.
    pub added: u64,
    /// URLs in the old set only.
    pub removed: u64,
    /// URLs in both sets whose `lastmod`s differ as text.
    pub changed: u64,
    /// URLs in both sets with the same `lastmod`, or with none.
    pub unchanged: u64,
    /// Sitemaps that were read. Files that both sets share are skipped.
    pub sitemaps_read: u64,
    /// Entries without a URL in these sitemaps, such as a `<url>` with an empty `<loc>`. They are left out.
    #[serde(default)]
    pub without_url: u64,
    /// XML files and feeds that are not read: in directories of other programs, those that are most likely no sitemaps; next to
    /// the copy of a set without its manifest, all that it does not list.
    #[serde(default)]
    pub other_files: u64,
}

impl DiffResources {
    fn scratch(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(std::env::temp_dir)
    }
}

impl DiffReport {
    pub(crate) fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.removed += other.removed;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
        self.sitemaps_read += other.sitemaps_read;
        self.without_url += other.without_url;
        self.other_files += other.other_files;
    }
}

impl DiffJob {
    /// Creates a job with the defaults: text, 256 MiB of memory, the system's temporary directory, a thread per core.
    pub fn new(old: PathBuf, new: PathBuf) -> Self {
        let resources =
            DiffResources { memory: DIFF_MEMORY_DEFAULT, scratch: None, threads: threads_default() };
        Self { old, new, name: None, format: DiffFormat::default(), resources }
    }
}

/// Compares the sets of `job` and writes what differs to `to`, in byte order of the URLs. Two parents of several sites, or
/// directories with several sets, are compared set by set, in the order of the names of directories and sets; a set that exists on
/// one side only is added or removed as a whole. Sitemaps next to the sites count as a set of their own. A site with a single set
/// on one side is compared as a whole. `progress` counts the URLs that are read; sitemaps that both sides have are not read.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if a file is damaged; otherwise if a file cannot be read, `to` or scratch cannot
/// be written, a scratch directory that is set does not exist, or `stop` is raised; if both are sets in stores, and
/// [`StoreSettings::state`](crate::StoreSettings::state) is set.
pub fn diff(job: &DiffJob, progress: &dyn Progress, stop: &Stop, to: Target<'_>) -> Result<DiffReport> {
    place::check_state(&[&job.old, &job.new])?;
    place::check_name(job.name.as_ref(), &[&job.old, &job.new])?;
    check_scratch(job.resources.scratch.as_deref())?;
    let comparison = Comparison { format: job.format, resources: &job.resources, progress, stop };
    let mut report = DiffReport::default();
    let _phase = progress.phase(Phase::Urls, 0);
    for (old, new) in side::pairs(&job.old, &job.new, job.name.as_ref())? {
        let to = Target { name: to.name, to: &mut *to.to };
        report.add(&comparison.compare(old, new, to)?);
    }
    Ok(report)
}

/// How sides are compared.
pub(crate) struct Comparison<'a> {
    pub format: DiffFormat,
    pub resources: &'a DiffResources,
    pub progress: &'a dyn Progress,
    pub stop: &'a Stop,
}

impl Comparison<'_> {
    /// Compares sides, as [`diff`] does.
    pub fn compare(&self, mut old: Side, mut new: Side, to: Target<'_>) -> Result<DiffReport> {
        let resources = self.resources;
        check_threads(resources.threads)?;
        if resources.memory < DIFF_MEMORY_MIN {
            let given = Setting::Memory.with(resources.memory);
            let least = DIFF_MEMORY_MIN >> 20;
            return Err(Error::usage(message!(given, ": a diff needs at least {least} MiB")));
        }
        let mut report =
            DiffReport { unchanged: side::drop_same(&mut old, &mut new), ..DiffReport::default() };
        if old.is_empty() && new.is_empty() {
            return Ok(report);
        }
        // Most pairs of sites differ in few sitemaps, and a thread for each is enough to sort them.
        let threads = match (old.sitemaps(), new.sitemaps()) {
            (Some(old), Some(new)) => resources.threads.get().min(old.max(new)),
            _ => resources.threads.get(),
        };
        let pool = thread_pool(threads, "diff", self.stop)?;
        let reading = Reading { threads: resources.threads, progress: self.progress, stop: self.stop };
        let sorted = |side: Side| {
            let mut sorter = Sorter::new(RowCodec, &pool, resources.memory / 2, resources.scratch());
            let read = side.read(reading, &mut sorter)?;
            Ok((Sorted::of(sorter).map_err(|error| self.failed(error))?, read))
        };
        let ((old, old_read), (new, new_read)) = (sorted(old)?, sorted(new)?);
        report.sitemaps_read = old_read.sitemaps + new_read.sitemaps;
        report.without_url = old_read.without_url + new_read.without_url;
        report.other_files = old_read.other_files + new_read.other_files;
        self.merge(old, new, to, &mut report)?;
        Ok(report)
    }

    /// Merges both sides, writes the differences and counts them in `report`.
    fn merge(
        &self,
        mut old: Sorted,
        mut new: Sorted,
        mut to: Target<'_>,
        report: &mut DiffReport,
    ) -> Result<()> {
        let mut lines = ChangeWriter { format: self.format, pending: Vec::new() };
        let next = |rows: &mut Sorted, row: &mut UrlRow| rows.next(row).map_err(|error| self.failed(error));
        let (mut was, mut is) = (UrlRow::default(), UrlRow::default());
        let (mut more_was, mut more_is) = (next(&mut old, &mut was)?, next(&mut new, &mut is)?);
        while more_was || more_is {
            self.stop.check()?;
            let order = match (more_was, more_is) {
                (true, false) => std::cmp::Ordering::Less,
                (false, _) => std::cmp::Ordering::Greater,
                _ => was.loc().cmp(is.loc()),
            };
            match order {
                std::cmp::Ordering::Less => {
                    report.removed += 1;
                    lines.push(Change::Removed, &was, &was, &UrlRow::default());
                }
                std::cmp::Ordering::Greater => {
                    report.added += 1;
                    lines.push(Change::Added, &is, &UrlRow::default(), &is);
                }
                std::cmp::Ordering::Equal if was.lastmod() == is.lastmod() => report.unchanged += 1,
                std::cmp::Ordering::Equal => {
                    report.changed += 1;
                    lines.push(Change::Changed, &is, &was, &is);
                }
            }
            if order.is_le() {
                more_was = next(&mut old, &mut was)?;
            }
            if order.is_ge() {
                more_is = next(&mut new, &mut is)?;
            }
            if lines.pending.len() >= LINES_BYTES {
                to.write(&lines.pending)?;
                lines.pending.clear();
            }
        }
        to.write(&lines.pending)
    }

    fn failed(&self, error: std::io::Error) -> Error {
        Error::io(&self.resources.scratch(), "scratch files could not be used", error)
    }
}

/// Bytes of lines per write.
const LINES_BYTES: usize = 256 * 1024;

#[derive(Clone, Copy)]
enum Change {
    Added,
    Removed,
    Changed,
}

/// Rendered lines that are not written yet.
struct ChangeWriter {
    format: DiffFormat,
    pending: Vec<u8>,
}

impl ChangeWriter {
    /// Adds a line about the URL of `row`, with the `lastmod`s of `was` and `is`.
    fn push(&mut self, change: Change, row: &UrlRow, was: &UrlRow, is: &UrlRow) {
        let (sign, word) = match change {
            Change::Added => ("+", "added"),
            Change::Removed => ("-", "removed"),
            Change::Changed => ("~", "changed"),
        };
        let (loc, was, is) = (row.loc(), was.lastmod(), is.lastmod());
        match (self.format, change) {
            (DiffFormat::Text, Change::Changed) => {
                let or_none = |lastmod| if lastmod == b"" { &b"none"[..] } else { lastmod };
                self.parts(&[sign.as_bytes(), b" ", loc, b"  ", or_none(was), b" -> ", or_none(is)]);
            }
            (DiffFormat::Text, _) => self.parts(&[sign.as_bytes(), b" ", loc]),
            (DiffFormat::Tsv, _) => self.parts(&[word.as_bytes(), b"\t", loc, b"\t", was, b"\t", is]),
            (DiffFormat::Json, _) => {
                let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let mut object = json!({ "change": word, "loc": string(loc) });
                for (key, lastmod) in [("old_lastmod", was), ("new_lastmod", is)] {
                    if lastmod != b"" {
                        object[key] = string(&unescape(lastmod)).into();
                    }
                }
                self.parts(&[object.to_string().as_bytes()]);
            }
        }
    }

    fn parts(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.pending.extend_from_slice(part));
        self.pending.push(b'\n');
    }
}
