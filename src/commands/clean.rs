//! `clean`: canonical URLs in input order, without dedup or scope.

use std::io::{self, Read, Seek};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::sources::{self, Sources};
use super::target::Target;
use crate::clean::screen::{CountedRules, LineCleaner, RuleCounts, Screen, Screened, UrlRules};
use crate::clean::{Reason, Rejected, UrlEncoding, has_foreign_bytes};
use crate::commands::build::report::WordCounts;
use crate::common::ordered::ordered;
use crate::common::pipe::FirstFailure;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::error::{Error, Message, Result, Setting};
use crate::intake::blocks::{Blocks, TextBlock};
use crate::intake::format::{FormatOptions, Opened, RawInput, Record, RowReader, Sink, Unit};
use crate::intake::input::UnreadInput;
use crate::intake::remote;
use crate::intake::report::{InputReport, Skipped};
use crate::intake::source::Source;
use crate::intake::{format, lines, reject_row};
use crate::job::{InputOptions, check_given, check_threads, threads_default};
use crate::survey::memory::with_page_memory;

/// The result of [`clean()`]: counts of the lines of the input by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CleanReport {
    /// Number of all lines: `blank + accepted + rejected + excluded`.
    pub lines: u64,
    /// Lines that contain only spaces and tabs.
    pub blank: u64,
    /// URLs that were written.
    pub accepted: u64,
    /// Rejected lines by reason.
    pub rejected: Rejected,
    /// Lines that a rule of the job leaves out, by the first such rule: `exclude=` and a pattern, `not-included`, or `disallow=`
    /// and a pattern of the robots.txt. Rules that excluded nothing have a count of zero.
    pub excluded: WordCounts,
    /// Accepted lines by the first pattern that includes their URL, if the job has such patterns.
    pub included: WordCounts,
    /// Accepted lines by the rule that has rewritten their URL, if the job has such rules.
    pub rewritten: WordCounts,
    /// Accepted lines with bytes that are not UTF-8. These bytes were percent-encoded unchanged.
    pub non_utf8_lines: u64,
    /// A hint about accepted lines that were probably misread, such as a host without a scheme that became a path, or rows that
    /// became URLs.
    #[serde(skip)]
    pub hint: Option<Message>,
    /// Files and directories below input directories that were not read. They are no counts, so they are not serialised.
    #[serde(skip)]
    pub skipped: Vec<Skipped>,
}

/// Which URLs to clean. [`CleanJob::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CleanJob {
    /// The files to read.
    pub input: InputOptions,
    /// Charset in which non-ASCII characters of path and query are percent-encoded; UTF-8 by default.
    pub url_encoding: UrlEncoding,
    /// How lines become URLs, and which URLs are left out.
    pub urls: UrlRules,
    /// Number of worker threads, at most [`THREADS_MAX`](crate::options::THREADS_MAX).
    pub threads: NonZero<usize>,
}

impl CleanJob {
    /// Creates a job that reads the files `inputs` with a thread per core.
    pub fn new(inputs: Vec<PathBuf>) -> Self {
        let url_encoding = UrlEncoding::default();
        let urls = UrlRules::default();
        Self { input: InputOptions::new(inputs), url_encoding, urls, threads: threads_default() }
    }
}

/// Writes the canonical form of every URL in the files of `job` to `urls`, one per line and in input order, and rejected and
/// excluded lines to `rejects`, tab-separated: input, line, byte offset, reason, text. Duplicates are kept, and URLs of any site
/// are accepted. A pipe is processed as it is read, with only a few blocks in memory. `progress` counts lines.
///
/// # Errors
/// If an input cannot be read, a target cannot be written to, or `stop` is raised. Rejected lines are not errors.
pub fn clean<'t>(
    job: &CleanJob,
    progress: &'t dyn Progress,
    stop: &'t Stop,
    urls: Target<'t>,
    rejects: Option<Target<'t>>,
) -> Result<CleanReport> {
    let sources = job.input.paths.iter().cloned().map(Source::from).collect();
    clean_from(job, sources, progress, stop, urls, rejects)
}

/// Cleans the URLs of `sources` instead of the files that [`InputOptions::paths`] names. A source can be an iterator: rows are
/// cleaned in batches of bounded size, and recorded like rows of a file, with the name of the source and the number of the row.
///
/// ```
/// use std::path::Path;
/// use sitemill::{CleanJob, Silent, Source, Stop, Target, clean_from};
///
/// let mut urls = Vec::new();
/// let target = Target { name: Path::new("memory"), to: &mut urls };
/// let rows = Source::rows("pages", ["HTTP://WWW.example.com/a/../b", "no url"]);
/// let report = clean_from(&CleanJob::new(Vec::new()), vec![rows], &Silent, &Stop::default(), target, None)?;
/// assert_eq!(urls, b"http://www.example.com/b\n");
/// assert_eq!((report.accepted, report.rejected.total()), (1, 1));
/// # Ok::<(), sitemill::Error>(())
/// ```
///
/// # Errors
/// Same as [`clean()`]; also [`ErrorKind::Io`](crate::ErrorKind::Io) if the iterator of a source fails.
pub fn clean_from<'t>(
    job: &CleanJob,
    sources: Vec<Source<'_>>,
    progress: &'t dyn Progress,
    stop: &'t Stop,
    urls: Target<'t>,
    rejects: Option<Target<'t>>,
) -> Result<CleanReport> {
    check_threads(job.threads)?;
    check_given(&sources)?;
    job.input.check()?;
    let screen = Screen::of(&job.urls, job.url_encoding)?;
    let mut job = job.clone();
    job.input.paths = sources.iter().filter_map(Source::path).map(Path::to_owned).collect();
    let job = &job;
    let options = &job.input.format;
    let Sources { open: sources, skipped, .. } =
        sources::open_all(sources, job.input.require_success_marker, options, None)?;
    let mut paths = job.paths();
    sources.iter().filter_map(UnreadInput::path).for_each(|path| paths.read("input", path));
    for (what, target) in
        [("output".into(), Some(&urls)), (Message::from(Setting::Rejects), rejects.as_ref())]
    {
        // A target that is not a file has a name for messages only.
        target
            .iter()
            .filter(|target| target.name.exists())
            .for_each(|target| paths.write(what.clone(), target.name));
    }
    paths.check()?;
    let report = CleanReport { skipped, ..CleanReport::default() };
    // Row groups of Parquet are read sequentially.
    let options = with_page_memory(options, None, 1);
    let rules = RuleCounts::default();
    let run = Screening { job, screen: screen.as_ref() };
    let mut targets = Targets { urls, rejects, report, rules, progress, stop };
    if let Some(rejects) = &mut targets.rejects {
        rejects.write(reject_row::HEADER.as_bytes())?;
    }
    let _phase = progress.phase(Phase::Urls, 0);
    for source in remote::in_turn(sources) {
        // A read that was interrupted reports the stop.
        targets.clean_source(run, source, &options).or_else(|error| stop.check().and(Err(error)))?;
    }
    let CountedRules { rewritten, included, excluded } = job.urls.counted(&targets.rules);
    let hint = job.urls.hint(&targets.rules).or(targets.report.hint.take());
    Ok(CleanReport { rewritten, included, excluded, hint, ..targets.report })
}

/// Bytes of URLs per write when rows are processed one by one.
const PIECE_BYTES: usize = 1 << 20;

/// A job with its compiled rules for URLs.
#[derive(Clone, Copy)]
struct Screening<'j> {
    job: &'j CleanJob,
    screen: Option<&'j Screen>,
}

struct Targets<'t> {
    urls: Target<'t>,
    rejects: Option<Target<'t>>,
    report: CleanReport,
    rules: RuleCounts,
    progress: &'t dyn Progress,
    stop: &'t Stop,
}

impl Targets<'_> {
    /// Cleans all lines or rows of `source`.
    fn clean_source(
        &mut self,
        run: Screening<'_>,
        source: UnreadInput<'_>,
        options: &FormatOptions,
    ) -> Result<()> {
        let name = source.name().to_owned();
        let unreadable = |error| Error::io(&name, "could not be read", error);
        let raw = match source.into_raw()?.0 {
            // Other inputs are read on this thread.
            raw @ RawInput::Remote(_) => raw.watched(self.stop, &FirstFailure::default(), &Arc::default())?,
            raw => raw,
        };
        let (facts, opened) = format::open(&name, raw, options)?;
        let of_urls = || InputReport::of_facts(&name, &facts).hints_of_urls().next();
        self.report.hint = self.report.hint.take().or_else(of_urls);
        match opened {
            Opened::Plain(mut file) => {
                // Detecting the format has read its first bytes.
                file.rewind().map_err(unreadable)?;
                self.clean_lines(run, &name, Box::new(file), unreadable)
            }
            Opened::Lines(lines) => {
                let (stream, failed) = lines.into_parts();
                self.clean_lines(run, &name, stream, failed)
            }
            Opened::Rows(reader) => self.clean_rows(run, &name, reader),
        }
    }

    /// Cleans plain lines, block by block on all threads.
    fn clean_lines(
        &mut self,
        run: Screening<'_>,
        name: &Path,
        stream: Box<dyn Read + Send>,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<()> {
        let work =
            |worker: &mut Worker<'_>, block: io::Result<TextBlock>| block.map(|block| worker.clean(&block));
        ordered(run.job.threads.get(), Blocks::new(stream), self.worker(run, name), work, |cleaned| {
            self.write(&cleaned.map_err(&failed)??)
        })
    }

    /// Cleans rows, unit by unit on all threads if units are small, else row by row.
    fn clean_rows(&mut self, run: Screening<'_>, name: &Path, reader: RowReader<'_>) -> Result<()> {
        let mut units = reader.units.peekable();
        let worker = self.worker(run, name);
        if units.peek().is_some_and(|unit| unit.as_ref().is_ok_and(Unit::is_small)) {
            let work = |worker: &mut Worker<'_>, unit: Result<Unit<'_>>| {
                unit?.read(worker)?;
                Ok(worker.take())
            };
            return ordered(run.job.threads.get(), units, worker, work, |cleaned| self.write(&cleaned?));
        }
        let mut worker = InPieces { worker: worker(), targets: self };
        for unit in units {
            unit?.read(&mut worker)?;
        }
        let last = worker.worker.take();
        self.write(&last)
    }

    fn worker<'f>(
        &self,
        Screening { job, screen }: Screening<'f>,
        name: &'f Path,
    ) -> impl Fn() -> Worker<'f> + Sync + use<'f> {
        let (keeps_rejects, stop) = (self.rejects.is_some(), self.stop.clone());
        move || {
            let cleaner = LineCleaner::new(job.url_encoding, screen);
            Worker { name, cleaner, stop: stop.clone(), keeps_rejects, cleaned: Output::default() }
        }
    }

    fn write(&mut self, cleaned: &Output) -> Result<()> {
        self.stop.check()?;
        self.progress.advance(cleaned.report.lines);
        self.urls.write(&cleaned.urls)?;
        if let Some(rejects) = &mut self.rejects {
            rejects.write(&cleaned.rejects)?;
        }
        self.report.add(&cleaned.report);
        self.rules.merge(&cleaned.rules);
        Ok(())
    }
}

/// The outcome of some rows.
#[derive(Default)]
struct Output {
    urls: Vec<u8>,
    rejects: Vec<u8>,
    report: CleanReport,
    rules: RuleCounts,
}

/// Cleans row after row.
struct Worker<'f> {
    name: &'f Path,
    cleaner: LineCleaner<'f>,
    stop: Stop,
    keeps_rejects: bool,
    cleaned: Output,
}

impl Worker<'_> {
    fn clean(&mut self, block: &TextBlock) -> Result<Output> {
        self.cleaned.urls.reserve(block.bytes.len() + block.bytes.len() / 8);
        for (number, line) in (block.lines_before + 1..).zip(lines::lines(&block.bytes, block.offset)) {
            self.stop.check_at(number)?;
            self.clean_line(number, line.offset, line.raw);
        }
        Ok(self.take())
    }

    #[inline]
    fn clean_line(&mut self, line: u64, offset: u64, raw: &[u8]) {
        let Output { urls, report, .. } = &mut self.cleaned;
        report.lines += 1;
        match self.cleaner.clean(raw) {
            Screened::Url(url) => {
                report.non_utf8_lines += u64::from(!url.is(raw) && has_foreign_bytes(raw));
                urls.extend_from_slice(url.as_bytes());
                urls.push(b'\n');
                report.accepted += 1;
                self.cleaner.count_accepted();
            }
            Screened::Blank => report.blank += 1,
            Screened::Rejected(reason) => self.reject(line, offset, reason, raw),
            Screened::Excluded(rule) => {
                self.cleaner.count_excluded(rule);
                let name = self.cleaner.rule_name(rule);
                self.push_reject(line, offset, name, raw);
            }
        }
    }

    fn reject(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) {
        self.cleaned.report.rejected[reason] += 1;
        self.push_reject(line, offset, reason.as_str(), text);
    }

    fn push_reject(&mut self, line: u64, offset: u64, reason: &str, text: &[u8]) {
        if self.keeps_rejects {
            reject_row::push_row(self.name, line, offset, reason, text, &mut self.cleaned.rejects);
        }
    }

    fn take(&mut self) -> Output {
        let rules = self.cleaner.take_counts();
        Output { rules, ..std::mem::take(&mut self.cleaned) }
    }
}

impl Sink for Worker<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.clean_line(record.line, record.offset, record.url);
        Ok(())
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.cleaned.report.lines += 1;
        self.reject(line, offset, reason, text);
        Ok(())
    }
}

/// Writes the output of a worker before its buffer grows too large.
struct InPieces<'f, 't, 'u> {
    worker: Worker<'f>,
    targets: &'t mut Targets<'u>,
}

impl InPieces<'_, '_, '_> {
    fn end_row(&mut self) -> Result<()> {
        match self.worker.cleaned.urls.len() + self.worker.cleaned.rejects.len() < PIECE_BYTES {
            true => Ok(()),
            false => self.targets.write(&self.worker.take()),
        }
    }
}

impl Sink for InPieces<'_, '_, '_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.worker.record(record)?;
        self.end_row()
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.worker.bad_row(line, offset, reason, text)?;
        self.end_row()
    }
}

impl CleanReport {
    /// Returns the number of all lines that rules leave out.
    pub fn excluded_total(&self) -> u64 {
        self.excluded.values().sum()
    }

    fn add(&mut self, more: &Self) {
        self.lines += more.lines;
        self.blank += more.blank;
        self.accepted += more.accepted;
        self.rejected = self.rejected + more.rejected;
        self.non_utf8_lines += more.non_utf8_lines;
    }
}
