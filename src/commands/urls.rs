//! Urls: extracts the URLs from published files, with the reader of [`check`](crate::commands::check()).
//!
//! Index files are followed to files in their own directory and below. Values are not validated, but the run fails at a file that
//! cannot be read completely, at an ambiguous URL or tag, at an element that is most likely meant as an entry, or at a URL that
//! would break its line of output.

mod lines;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::commands::check::{
    Checked, Content, Entry, FileKind, Findings, Reader, Referent, Referents, Rule, Set, Tag, VALUE_BYTES_MAX,
};
use crate::commands::target::Target;
use crate::common::ordered::ordered;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, message};
use crate::escape::shown;
use crate::job::{check_given, check_threads, threads_default};
use crate::place::{self, PlaceFile, PlaceOrFile, SetName};
use crate::words::grouped;
pub use lines::UrlsFormat;
use lines::{LineFormat, push, tsv_header};

/// Which published files to extract URLs from. [`UrlsJob::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UrlsJob {
    /// Sitemaps, index files and published directories, in this order. Each file is read once, however often it is named.
    pub paths: Vec<PathBuf>,
    /// Read only the set of this name in each directory. If not set, all sets.
    pub name: Option<SetName>,
    /// Output format.
    pub format: UrlsFormat,
    /// Number of worker threads, at most [`THREADS_MAX`](crate::options::THREADS_MAX).
    pub threads: NonZero<usize>,
}

/// The result of [`urls()`](crate::urls()).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UrlsReport {
    /// Number of sitemaps that were read.
    pub sitemaps: u64,
    /// Number of URLs that were written.
    pub urls: u64,
    /// Number of entries without a URL, such as a `<url>` with an empty `<loc>`. They are left out.
    pub without_url: u64,
    /// Number of sitemaps that sitemill did not write, and that the sets only list. Their URLs are left out.
    pub also: u64,
    /// Number of XML files and feeds that are not read: in directories of other programs, those that are most likely no sitemaps;
    /// next to the copy of a set without its manifest, all that it does not list.
    pub other_files: u64,
}

impl UrlsJob {
    /// Creates a job with the defaults: one URL per line, a thread per core.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, name: None, format: UrlsFormat::default(), threads: threads_default() }
    }
}

/// Writes the URLs of `job.paths` to `to`, in the order in which they are published. `progress` counts URLs.
///
/// # Errors
/// [`ErrorKind::Data`] at the first file that is damaged or missing, after writing the URLs before the damage;
/// [`ErrorKind::Busy`] if a switch to another set is not complete, or a set is replaced before its index files are read, or later
/// and a sitemap of it is gone; otherwise if a file cannot be read, `to` cannot be written, or `stop` is raised; if the paths are
/// of several sets in stores, and [`StoreSettings::state`](crate::StoreSettings::state) is set.
pub fn urls(job: &UrlsJob, progress: &dyn Progress, stop: &Stop, mut to: Target<'_>) -> Result<UrlsReport> {
    check_threads(job.threads)?;
    check_given(&job.paths)?;
    place::check_state(&job.paths)?;
    place::check_name(job.name.as_ref(), &job.paths)?;
    let (format, reading) = (LineFormat::Of(job.format), Reading { threads: job.threads, progress, stop });
    if job.format == UrlsFormat::Tsv {
        to.write(tsv_header().as_bytes())?;
    }
    let _phase = progress.phase(Phase::Urls, 0);
    let (mut starts, mut sets) = (Vec::new(), Vec::new());
    for path in &job.paths {
        match place::resolve(path)? {
            // The sets of several sites below it, or its own.
            PlaceOrFile::Place(parent) => {
                for view in Set::places(&*parent, job.name.as_ref())? {
                    let set = Set::to_read(&view)?;
                    starts.extend(starts_of(&set, format, reading)?);
                    sets.push(set);
                }
            }
            PlaceOrFile::File(file) => starts.push(Start::from(file)),
        }
    }
    let others: Vec<PlaceFile> = sets.iter().flat_map(|set| &set.others).cloned().collect();
    let report = list_all(starts, &others, format, reading, to).or_else(|error| match error.kind() {
        // The sitemaps of a set that was replaced may be removed.
        ErrorKind::Data | ErrorKind::Input => sets.iter().try_for_each(Set::check_current).and(Err(error)),
        _ => Err(error),
    })?;
    sets.iter().filter(|set| !set.has_only_live_indexes()).try_for_each(Set::check_current)?;
    Ok(report)
}

/// How files are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub threads: NonZero<usize>,
    /// Counts URLs.
    pub progress: &'a dyn Progress,
    pub stop: &'a Stop,
}

/// A file to start from.
struct Start {
    file: PlaceFile,
    /// The files that it lists, if it has been read.
    listed: Option<Result<Listed>>,
}

impl Start {
    /// A copy of a file to start from, which is not read.
    fn copy(file: PlaceFile) -> Self {
        Self { file, listed: Some(Ok(Listed::default())) }
    }
}

impl From<PlaceFile> for Start {
    fn from(file: PlaceFile) -> Self {
        Self { file, listed: None }
    }
}

/// Returns the files of `set` to start from. Index files that `build` wrote are read now: the content behind the name of a sitemap
/// never changes, so what they list stays that of one set, even if another one is published before all of it is read.
fn starts_of(set: &Set, format: LineFormat, reading: Reading<'_>) -> Result<Vec<Start>> {
    let files = set.files_to_read()?.iter().cloned();
    if !set.has_only_live_indexes() {
        return Ok(set.copies().cloned().map(Start::copy).chain(files.map(Start::from)).collect());
    }
    let mut starts = Vec::with_capacity(files.len());
    let work = |entry: &mut Entry, file| Start { listed: Some(list(&file, format, entry)), file };
    ordered(reading.threads.get(), files, Entry::default, work, |start| {
        starts.push(start);
        reading.stop.check()
    })?;
    set.check_current()?;
    Ok(starts)
}

/// Writes the URLs of `files` to `to`, each followed by a tab and its `lastmod`, in the order in which they are published. `copies`
/// are copies of them, which are not read, and neither are `others`, unless an index file lists them.
///
/// # Errors
/// Same as [`urls`].
pub(crate) fn lastmods(
    files: Vec<PlaceFile>,
    copies: Vec<PlaceFile>,
    others: &[PlaceFile],
    reading: Reading<'_>,
    to: Target<'_>,
) -> Result<UrlsReport> {
    let starts = copies.into_iter().map(Start::copy).chain(files.into_iter().map(Start::from));
    list_all(starts.collect(), others, LineFormat::Lastmods, reading, to)
}

/// Writes the URLs of the files to start from and of those that they list, each once, and counts those of the `others` that were
/// not read.
fn list_all(
    mut starts: Vec<Start>,
    others: &[PlaceFile],
    format: LineFormat,
    Reading { threads, progress, stop }: Reading<'_>,
    mut to: Target<'_>,
) -> Result<UrlsReport> {
    let (mut report, mut seen) = (UrlsReport::default(), Checked::default());
    // Of a set that sitemill did not write, the files to start from are all files, including those that index files list.
    starts.retain(|start| seen.add_file(&start.file));
    let work =
        |entry: &mut Entry, Start { file, listed }| listed.unwrap_or_else(|| list(&file, format, entry));
    ordered(threads.get(), starts.into_iter(), Entry::default, work, |listed| {
        stop.check()?;
        let listed = listed?;
        progress.advance(listed.urls);
        let mut members = listed.write(&mut report, &mut to)?;
        members.retain(|member| member.as_ref().map_or(true, |file| seen.add_file(file)));
        let work = |entry: &mut Entry, member: Result<PlaceFile>| list_member(member?, format, entry);
        ordered(threads.get(), members.into_iter(), Entry::default, work, |listed| {
            stop.check()?;
            let listed = listed?;
            progress.advance(listed.urls);
            listed.write(&mut report, &mut to).map(drop)
        })
    })?;
    // Some may have been named by themselves, or by an index file.
    report.other_files = others.iter().filter(|other| seen.add_file(other)).count() as u64;
    Ok(report)
}

/// The output for one file.
#[derive(Default)]
struct Listed {
    kind: Option<FileKind>,
    lines: Vec<u8>,
    urls: u64,
    /// For a sitemap: the number of entries without a URL.
    without_url: u64,
    /// For an index file: the files it lists.
    members: Vec<Result<PlaceFile>>,
    /// For an index file: the number of sitemaps from elsewhere that it lists.
    external: u64,
    damage: Option<Error>,
}

impl Listed {
    /// Writes the lines, then returns the files to be read next, or the error if the file is damaged.
    fn write(self, report: &mut UrlsReport, to: &mut Target<'_>) -> Result<Vec<Result<PlaceFile>>> {
        to.write(&self.lines)?;
        report.urls += self.urls;
        report.without_url += self.without_url;
        report.also += self.external;
        report.sitemaps += u64::from(self.kind == Some(FileKind::Sitemap));
        self.damage.map_or(Ok(self.members), Err)
    }
}

/// Reads a file that an index file lists.
fn list_member(file: PlaceFile, format: LineFormat, entry: &mut Entry) -> Result<Listed> {
    let path = file.path();
    let mut listed = list(&file, format, entry)?;
    if listed.kind == Some(FileKind::Index) && listed.damage.is_none() {
        let words = "is an index file that another index file lists; give this one instead of the other";
        listed.damage = Some(Error::data(message!(path, ": {words}")));
    }
    Ok(listed)
}

fn list(file: &PlaceFile, format: LineFormat, entry: &mut Entry) -> Result<Listed> {
    let path = file.path();
    let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), 1);
    let mut reader = Reader::lenient(Content::open(file)?, &mut findings);
    let mut listed = Listed::default();
    let mut referents = Referents::of(file);
    while reader.next(entry).map_err(|error| Error::io(path, "could not be read", error))? {
        let number = entry.number();
        let Findings { damage, unclear, .. } = reader.findings();
        if let Some(damage) = damage.as_ref().or(unclear.as_ref()) {
            listed.damage = Some(damage.error(path));
            break;
        }
        if let Some(words) = unlistable(entry, reader.own().0, format) {
            listed.damage = Some(Error::data(message!(path, ": entry {number}: {words}")));
            break;
        }
        match (reader.own().0, entry.loc()) {
            (FileKind::Sitemap, None | Some(b"")) => listed.without_url += 1,
            (FileKind::Sitemap, Some(loc)) => {
                push(entry, loc, format, &mut listed.lines);
                listed.urls += 1;
            }
            // It is a loss, which ends the listing of an index file.
            (FileKind::Index, None) => {}
            (FileKind::Index, Some(loc)) => match referents.next(number, loc) {
                Ok(Referent::External(_)) => listed.external += 1,
                Ok(Referent::File(file)) => listed.members.push(Ok(file)),
                Err(error) => listed.members.push(Err(error)),
            },
        }
    }
    listed.kind = reader.head().map(|(kind, _)| kind);
    listed.damage = listed.damage.or(damage(listed.kind, findings, path));
    Ok(listed)
}

/// Returns why `entry`, in a file of this `kind`, cannot be listed in this `format`, unless it can be or has no URL.
fn unlistable(entry: &Entry, kind: FileKind, format: LineFormat) -> Option<String> {
    if !entry.has_whole_tags() {
        let clean = if kind == FileKind::Sitemap { "; clean lists its valid URLs" } else { "" };
        return Some(format!("a value of more than {} bytes{clean}", grouped(VALUE_BYTES_MAX as u64)));
    }
    let loc = entry.loc().filter(|loc| !loc.is_empty())?;
    if loc.iter().any(u8::is_ascii_control) {
        return Some("a URL with a control character".into());
    }
    let has_tags = matches!(format, LineFormat::Of(UrlsFormat::Tsv | UrlsFormat::Json));
    let doubt = match (kind, format) {
        (FileKind::Index, _) | (_, LineFormat::Of(UrlsFormat::Lines)) => None,
        (_, LineFormat::Lastmods) => entry.doubts().of_tag(Tag::Lastmod),
        (_, LineFormat::Of(UrlsFormat::Tsv | UrlsFormat::Json)) => entry.doubts().first(),
    };
    if let Some(doubt) = doubt {
        let otherwise = if has_tags { format!(", or {URLS_ALONE}") } else { String::new() };
        return Some(format!("{doubt} for {}; correct the sitemap{otherwise}", shown(loc)));
    }
    (has_tags && !entry.is_whole()).then(|| {
        format!("has more links, images or videos, or longer texts, than can be listed; {URLS_ALONE}")
    })
}

/// The way out if tags cannot be listed. Python always lists them.
const URLS_ALONE: &str = "list its URLs without tags, as the command sitemill urls does by default";

/// The error for a file of this `kind` that is damaged, or that is no sitemap or index file.
fn damage(kind: Option<FileKind>, mut findings: Findings, path: &Path) -> Option<Error> {
    let mut finding = match kind {
        Some(FileKind::Sitemap) => findings.damage.or(findings.unclear),
        // A sitemap that is not read may have any number of URLs.
        Some(FileKind::Index) => findings.damage.or(findings.loss),
        // The first finding says that the document is neither a sitemap nor an index file.
        None => findings.damage.or(findings.kept.pop()),
    }?;
    if (kind, finding.rule) == (Some(FileKind::Sitemap), Rule::TooLarge) {
        finding.words.push_str("; build and clean read sitemaps of any size");
    }
    Some(match (kind, finding.rule) {
        (None, Rule::WellFormed) => {
            let words = finding.words;
            Error::data(message!(path, ": is neither a sitemap nor an index file ({words})"))
        }
        _ => finding.error(path),
    })
}
