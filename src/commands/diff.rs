//! Diff: what one set lists and another does not, and whose `lastmod` is another.
//!
//! Sitemaps that have the same content in the manifests of both sets are not read. The URLs of the others are sorted, on
//! disk if memory is short, and both sides are read side by side, in the order of their bytes.

mod side;
mod sort;

use std::num::NonZero;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::commands::target::Target;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::error::{Error, Result, Setting, message};
use crate::job::{check_threads, threads_default};

pub(crate) use side::Side;
use sort::{RowCodec, Sorted, Sorter, UrlRow};

/// Memory for sorting, unless told otherwise.
pub const DIFF_MEMORY_DEFAULT: u64 = 256 << 20;

/// Least memory for sorting: two buffers of a few thousand URLs, and what the merge reads ahead.
pub const DIFF_MEMORY_MIN: u64 = 1 << 20;

/// What to compare. [`DiffJob::new`] has every default of the command line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DiffJob {
    /// A published directory, the parent of those of several sites, an index file, a sitemap, or the manifest of a set that is
    /// kept.
    pub old: PathBuf,
    /// The same for the other side.
    pub new: PathBuf,
    /// What a line holds.
    pub form: DiffForm,
    /// How much room there is, and where there is more.
    pub room: DiffRoom,
}

/// How much room a diff may take.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DiffRoom {
    /// Bytes of memory for the URLs that are sorted. A few sitemaps a thread, which are being read, come on top.
    pub memory: u64,
    /// A directory for what memory does not hold: as many bytes as the URLs and `lastmod`s of both sides.
    pub scratch: PathBuf,
    /// Threads that work at the same time, at most [`THREADS_MAX`](crate::options::THREADS_MAX).
    pub threads: NonZero<usize>,
}

/// What a line holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffForm {
    /// `+ URL`, `- URL`, or `~ URL`, the last with both `lastmod`s.
    #[default]
    Text,
    /// `added`, `removed` or `changed`, the URL, its old and its new `lastmod`, with tabs between. No header.
    Tsv,
    /// An object with `change`, `loc`, and `old_lastmod` and `new_lastmod` if there are any.
    Json,
}

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DiffReport {
    /// URLs of the new set alone.
    pub added: u64,
    /// URLs of the old set alone.
    pub removed: u64,
    /// URLs of both with different `lastmod`s, as text.
    pub changed: u64,
    /// URLs of both with the same `lastmod`, or with none.
    pub unchanged: u64,
    /// Sitemaps that were read: the others are the same in both.
    pub sitemaps_read: u64,
}

impl DiffReport {
    pub(crate) fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.removed += other.removed;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
        self.sitemaps_read += other.sitemaps_read;
    }
}

impl DiffJob {
    /// A job with the defaults: text, 256 MiB, the system's directory for temporary files, all cores.
    pub fn new(old: PathBuf, new: PathBuf) -> Self {
        let (memory, scratch) = (DIFF_MEMORY_DEFAULT, std::env::temp_dir());
        let room = DiffRoom { memory, scratch, threads: threads_default() };
        Self { old, new, form: DiffForm::default(), room }
    }
}

/// Compares the sets of `job` and writes what differs to `to`, in the order of the URLs' bytes. Two parents of the directories
/// of several sites are compared site by site, in the order of their names; a site that one of them lacks is added or removed
/// as a whole. `progress` counts the URLs that are read; sitemaps that both sides have are not read.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if a file is damaged; else if something cannot be read or written, or `stop`
/// is raised.
pub fn diff(job: &DiffJob, progress: &dyn Progress, stop: &Stop, to: Target<'_>) -> Result<DiffReport> {
    let mut report = DiffReport::default();
    progress.begin(Phase::Read, 0);
    for (old, new) in side::pairs(&job.old, &job.new)? {
        let to = Target { name: to.name, to: &mut *to.to };
        report.add(&compare(old, new, job.form, &job.room, progress, stop, to)?);
    }
    progress.end();
    Ok(report)
}

/// Compares two sides, as [`diff`] does.
pub(crate) fn compare(
    mut old: Side,
    mut new: Side,
    form: DiffForm,
    room: &DiffRoom,
    progress: &dyn Progress,
    stop: &Stop,
    to: Target<'_>,
) -> Result<DiffReport> {
    check_threads(room.threads)?;
    if room.memory < DIFF_MEMORY_MIN {
        let given = Setting::Memory.with(room.memory);
        return Err(Error::usage(message!(given, ": a diff needs at least {DIFF_MEMORY_MIN}")));
    }
    let mut report = DiffReport { unchanged: side::drop_same(&mut old, &mut new), ..DiffReport::default() };
    let sorted = |side: Side| {
        let mut sorter = Sorter::new(RowCodec, room.memory / 2, room.scratch.clone());
        let sitemaps = side.read(room.threads, progress, stop, &mut sorter)?;
        Ok((Sorted::of(sorter).map_err(|error| failed(room, error))?, sitemaps))
    };
    let ((old, old_read), (new, new_read)) = (sorted(old)?, sorted(new)?);
    report.sitemaps_read = old_read + new_read;
    merge(old, new, ChangeWriter { form, pending: Vec::new() }, room, stop, to, &mut report)?;
    Ok(report)
}

/// Reads both sides in order, writes what differs and counts it in `report`.
fn merge(
    mut old: Sorted,
    mut new: Sorted,
    mut lines: ChangeWriter,
    room: &DiffRoom,
    stop: &Stop,
    mut to: Target<'_>,
    report: &mut DiffReport,
) -> Result<()> {
    let next = |rows: &mut Sorted, row: &mut UrlRow| rows.next(row).map_err(|error| failed(room, error));
    let (mut was, mut is) = (UrlRow::default(), UrlRow::default());
    let (mut more_was, mut more_is) = (next(&mut old, &mut was)?, next(&mut new, &mut is)?);
    while more_was || more_is {
        stop.check()?;
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

fn failed(room: &DiffRoom, error: std::io::Error) -> Error {
    Error::io(&room.scratch, "scratch files could not be used", error)
}

/// Bytes of lines that are written at a time.
const LINES_BYTES: usize = 256 * 1024;

#[derive(Clone, Copy)]
enum Change {
    Added,
    Removed,
    Changed,
}

/// Rendered lines on their way out.
struct ChangeWriter {
    form: DiffForm,
    pending: Vec<u8>,
}

impl ChangeWriter {
    /// A line about the URL of `row`, with the `lastmod`s of the others.
    fn push(&mut self, change: Change, row: &UrlRow, was: &UrlRow, is: &UrlRow) {
        let (sign, word) = match change {
            Change::Added => ("+", "added"),
            Change::Removed => ("-", "removed"),
            Change::Changed => ("~", "changed"),
        };
        let (loc, was, is) = (row.loc(), was.lastmod(), is.lastmod());
        match (self.form, change) {
            (DiffForm::Text, Change::Changed) => {
                let or_none = |lastmod| if lastmod == b"" { &b"none"[..] } else { lastmod };
                self.parts(&[sign.as_bytes(), b" ", loc, b"  ", or_none(was), b" -> ", or_none(is)]);
            }
            (DiffForm::Text, _) => self.parts(&[sign.as_bytes(), b" ", loc]),
            (DiffForm::Tsv, _) => self.parts(&[word.as_bytes(), b"\t", loc, b"\t", was, b"\t", is]),
            (DiffForm::Json, _) => {
                let string = |bytes| String::from_utf8_lossy(bytes).into_owned();
                let mut object = json!({ "change": word, "loc": string(loc) });
                for (key, lastmod) in [("old_lastmod", was), ("new_lastmod", is)] {
                    if lastmod != b"" {
                        object[key] = string(lastmod).into();
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
