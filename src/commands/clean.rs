//! The filter behind `sitemill clean`: canonical URLs in input order, with no dedup and no scope.

use std::io::{self, Read, Seek, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use super::sources::{self, Sources};
use crate::clean::{Cleaned, Cleaner, Reason, Rejected, UrlEncoding, has_foreign_bytes};
use crate::common::ordered::ordered;
use crate::error::{Error, Result};
use crate::intake::format;
use crate::intake::format::{FormOptions, Opened, Record, RowReader, Sink, Unit};
use crate::intake::lines;
use crate::intake::lines::{Block, Blocks};
use crate::intake::reject_row;
use crate::intake::report::Skipped;
use crate::job::{check_threads, threads_default};
use crate::survey::memory::with_page_memory;

/// What a filter run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterReport {
    /// All lines: `blank + accepted + rejected`.
    pub lines: u64,
    /// Nothing but spaces and tabs.
    pub blank: u64,
    /// URLs that came out.
    pub accepted: u64,
    /// Refused lines.
    pub rejected: Rejected,
    /// Lines of these URLs with bytes that are not UTF-8, which were percent-encoded as they are.
    pub non_utf8_lines: u64,
    /// Files and directories below input directories that were not read.
    pub skipped: Vec<Skipped>,
}

/// Where something is written to, and what that is called in messages.
pub struct Target<'a> {
    /// Its name.
    pub name: &'a Path,
    /// Itself.
    pub to: &'a mut dyn Write,
}

impl Target<'_> {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(|error| Error::io(self.name, "could not be written", error))
    }
}

/// What a filter reads, and how.
#[derive(Debug, Clone)]
pub struct FilterJob {
    /// Files to read, in this order; `-` is standard input. A directory stands for the part files in it, or for the set that
    /// is published there.
    pub inputs: Vec<PathBuf>,
    /// What is known of their form; what is not said is recognised.
    pub form: FormOptions,
    /// Refuse a directory of part files without a `_SUCCESS` in it.
    pub require_success: bool,
    /// The charset that servers expect in URLs; UTF-8 if none is said.
    pub url_encoding: UrlEncoding,
    /// Threads that work at the same time, at most [`THREADS_MAX`](crate::THREADS_MAX).
    pub threads: NonZero<usize>,
}

impl Default for FilterJob {
    /// A job with the defaults of the command line, all cores among them; of no input as yet.
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            form: FormOptions::default(),
            require_success: false,
            url_encoding: UrlEncoding::default(),
            threads: threads_default(),
        }
    }
}

/// Cleans every URL of `job` into `urls`, one canonical URL a line and in input order; refused lines go to `rejects`. A
/// pipe is filtered as it comes, with no more than a few blocks in memory.
///
/// # Errors
/// If an input cannot be read or a target cannot be written to.
pub fn filter<'t>(job: &FilterJob, urls: Target<'t>, rejects: Option<Target<'t>>) -> Result<FilterReport> {
    check_threads(job.threads)?;
    let Sources { open: sources, skipped } =
        sources::open_all(&job.inputs, job.require_success, &job.form, None)?;
    let mut paths = job.paths();
    sources.iter().for_each(|source| paths.read("input", source.name()));
    for (what, target) in [("output", Some(&urls)), ("--rejects", rejects.as_ref())] {
        // The name of what is no file is only for messages.
        target.iter().filter(|target| target.name.exists()).for_each(|target| paths.write(what, target.name));
    }
    paths.check()?;
    let report = FilterReport { skipped, ..FilterReport::default() };
    // Row groups of Parquet are read one after the other.
    let form = with_page_memory(&job.form, None, 1);
    let mut targets = Targets { urls, rejects, report };
    if let Some(rejects) = &mut targets.rejects {
        rejects.write(reject_row::HEADER.as_bytes())?;
    }
    for source in sources {
        let name = source.name().to_owned();
        let unreadable = |error| Error::io(&name, "could not be read", error);
        match format::open(&name, source.into_feed()?.0, &form)?.1 {
            Opened::Plain(mut file) => {
                // Looking at its first bytes has moved it on.
                file.rewind().map_err(unreadable)?;
                targets.filter_lines(job, &name, Box::new(file), unreadable)?;
            }
            Opened::Lines(lines) => {
                let (stream, failed) = lines.into_parts();
                targets.filter_lines(job, &name, stream, failed)?;
            }
            Opened::Rows(reader) => targets.filter_rows(job, &name, reader)?,
        }
    }
    Ok(targets.report)
}

/// Bytes of URLs that are written together when rows come one by one.
const PIECE_BYTES: usize = 1 << 20;

struct Targets<'t> {
    urls: Target<'t>,
    rejects: Option<Target<'t>>,
    report: FilterReport,
}

impl Targets<'_> {
    /// Filters plain lines, block by block on all threads.
    fn filter_lines(
        &mut self,
        job: &FilterJob,
        name: &Path,
        stream: Box<dyn Read + Send>,
        failed: impl Fn(io::Error) -> Error,
    ) -> Result<()> {
        let work =
            |worker: &mut Worker<'_>, block: io::Result<Block>| block.map(|block| worker.filter(&block));
        ordered(job.threads.get(), Blocks::new(stream), self.worker(job, name), work, |filtered| {
            self.write(&filtered.map_err(&failed)?)
        })
    }

    /// Filters rows, unit by unit on all threads if units are small, else row by row.
    fn filter_rows(&mut self, job: &FilterJob, name: &Path, reader: RowReader<'_>) -> Result<()> {
        let RowReader { parser, units, .. } = reader;
        let mut units = units.peekable();
        let worker = self.worker(job, name);
        if units.peek().is_some_and(|unit| unit.as_ref().is_ok_and(Unit::is_small)) {
            let work = |worker: &mut Worker<'_>, unit: Result<Unit<'_>>| {
                parser.read(unit?, worker)?;
                Ok(worker.take())
            };
            return ordered(job.threads.get(), units, worker, work, |filtered| self.write(&filtered?));
        }
        let mut worker = InPieces { worker: worker(), targets: self };
        for unit in units {
            parser.read(unit?, &mut worker)?;
        }
        let last = worker.worker.take();
        self.write(&last)
    }

    fn worker<'f>(&self, job: &FilterJob, name: &'f Path) -> impl Fn() -> Worker<'f> + Sync + use<'f> {
        let (url_encoding, keeps_rejects) = (job.url_encoding, self.rejects.is_some());
        move || {
            let cleaner = Cleaner::new(url_encoding);
            Worker { name, cleaner, keeps_rejects, filtered: Filtered::default() }
        }
    }

    fn write(&mut self, filtered: &Filtered) -> Result<()> {
        self.urls.write(&filtered.urls)?;
        if let Some(rejects) = &mut self.rejects {
            rejects.write(&filtered.rejects)?;
        }
        self.report.add(&filtered.report);
        Ok(())
    }
}

/// What became of some rows.
#[derive(Default)]
struct Filtered {
    urls: Vec<u8>,
    rejects: Vec<u8>,
    report: FilterReport,
}

/// Cleans row after row.
struct Worker<'f> {
    name: &'f Path,
    cleaner: Cleaner,
    keeps_rejects: bool,
    filtered: Filtered,
}

impl Worker<'_> {
    fn filter(&mut self, block: &Block) -> Filtered {
        self.filtered.urls.reserve(block.bytes.len() + block.bytes.len() / 8);
        for (number, line) in (block.lines_before + 1..).zip(lines::lines(&block.bytes, block.offset)) {
            self.push(number, line.offset, line.raw);
        }
        self.take()
    }

    #[inline]
    fn push(&mut self, line: u64, offset: u64, raw: &[u8]) {
        let Filtered { urls, report, .. } = &mut self.filtered;
        report.lines += 1;
        match self.cleaner.clean(raw) {
            Cleaned::Url(url) => {
                report.non_utf8_lines += u64::from(!url.is(raw) && has_foreign_bytes(raw));
                urls.extend_from_slice(url.as_bytes());
                urls.push(b'\n');
                report.accepted += 1;
            }
            Cleaned::Blank => report.blank += 1,
            Cleaned::Rejected(reason) => self.reject(line, offset, reason, raw),
        }
    }

    fn reject(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) {
        self.filtered.report.rejected[reason] += 1;
        if self.keeps_rejects {
            reject_row::push_row(self.name, line, offset, reason.as_str(), text, &mut self.filtered.rejects);
        }
    }

    fn take(&mut self) -> Filtered {
        std::mem::take(&mut self.filtered)
    }
}

impl Sink for Worker<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.push(record.line, record.offset, record.url);
        Ok(())
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.filtered.report.lines += 1;
        self.reject(line, offset, reason, text);
        Ok(())
    }
}

/// Writes what a worker has filtered before it becomes too much.
struct InPieces<'f, 't, 'u> {
    worker: Worker<'f>,
    targets: &'t mut Targets<'u>,
}

impl InPieces<'_, '_, '_> {
    fn end_row(&mut self) -> Result<()> {
        match self.worker.filtered.urls.len() + self.worker.filtered.rejects.len() < PIECE_BYTES {
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

impl FilterReport {
    fn add(&mut self, more: &Self) {
        self.lines += more.lines;
        self.blank += more.blank;
        self.accepted += more.accepted;
        self.rejected = self.rejected + more.rejected;
        self.non_utf8_lines += more.non_utf8_lines;
    }
}
