//! The filter behind `sitemill clean`: canonical URLs in input order, with no dedup and no scope.

use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::ordered::ordered;
use crate::error::{Error, Result};
use crate::stage::clean::{Cleaned, Cleaner, Reason, Rejected, UrlEncoding};
use crate::stage::form::{self, FormOptions, Opened, Record, Sink};
use crate::stage::input::Source;
use crate::stage::lines::{self, Block, Blocks};
use crate::stage::rejects;

/// What a filter run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterReport {
    /// All lines: `blank + accepted + rejected`.
    pub lines: u64,
    /// Nothing but spaces and tabs.
    pub blank: u64,
    /// URLs that came out.
    pub accepted: u64,
    /// Refused lines.
    pub rejected: Rejected,
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
#[derive(Debug, Clone, Default)]
pub struct FilterJob {
    /// Files to read, in this order; `-` is standard input. A directory stands for the part files in it.
    pub inputs: Vec<PathBuf>,
    /// What is known of their form; what is not said is recognised.
    pub form: FormOptions,
    /// Refuse a directory of part files without a `_SUCCESS` in it.
    pub require_success: bool,
    /// The charset that servers expect in URLs; UTF-8 if none is said.
    pub url_encoding: UrlEncoding,
    /// Threads that work at the same time.
    pub threads: usize,
}

/// Cleans every URL of `job` into `urls`, one canonical URL a line and in input order; refused lines go to `rejects`. A
/// pipe is filtered as it comes, with no more than a few blocks in memory.
///
/// # Errors
/// If an input cannot be read or a target cannot be written to.
pub fn filter<'t>(job: &FilterJob, urls: Target<'t>, rejects: Option<Target<'t>>) -> Result<FilterReport> {
    let sources = Source::open_all(&job.inputs, job.require_success)?;
    let mut targets = Targets { urls, rejects, report: FilterReport::default() };
    if let Some(rejects) = &mut targets.rejects {
        rejects.write(rejects::HEADER.as_bytes())?;
    }
    for source in sources {
        let name = source.name().to_owned();
        let unreadable = |error| Error::io(&name, "could not be read", error);
        match form::open(&name, source.into_feed().0, &job.form)? {
            Opened::Plain(mut file) => {
                // Looking at its first bytes has moved it on.
                file.rewind().map_err(unreadable)?;
                targets.filter_lines(job, &name, Box::new(file), unreadable)?;
            }
            Opened::Lines(lines) => {
                let (stream, failed) = lines.into_parts();
                targets.filter_lines(job, &name, stream, failed)?;
            }
            Opened::Rows(reader) => {
                let cleaner = Cleaner::new(job.url_encoding);
                reader.read(&job.form, &mut RowFilter { name: &name, cleaner, targets: &mut targets })?;
            }
        }
    }
    Ok(targets.report)
}

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
        let mut lines_before = 0;
        let work = |cleaner: &mut Cleaner, block: io::Result<Block>| Ok(filter_block(cleaner, block?));
        let cleaner = || Cleaner::new(job.url_encoding);
        ordered(job.threads, Blocks::new(stream), cleaner, work, |filtered| {
            let filtered = filtered.map_err(&failed)?;
            self.urls.write(&filtered.urls)?;
            if let Some(rejects) = &mut self.rejects {
                rejects.write(&filtered.reject_rows(name, lines_before))?;
            }
            lines_before += filtered.lines;
            self.report.add(&filtered);
            Ok(())
        })
    }
}

/// Filters rows one by one, as they are read.
struct RowFilter<'f, 't> {
    name: &'f Path,
    cleaner: Cleaner,
    targets: &'f mut Targets<'t>,
}

impl Sink for RowFilter<'_, '_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        match self.cleaner.clean(record.url) {
            Cleaned::Url(url) => {
                self.targets.report.lines += 1;
                self.targets.report.accepted += 1;
                self.targets.urls.write(url.as_bytes())?;
                self.targets.urls.write(b"\n")
            }
            Cleaned::Blank => {
                self.targets.report.lines += 1;
                self.targets.report.blank += 1;
                Ok(())
            }
            Cleaned::Rejected(reason) => self.bad_row(record.line, record.offset, reason, record.url),
        }
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.targets.report.lines += 1;
        self.targets.report.rejected[reason] += 1;
        let Some(rejects) = &mut self.targets.rejects else { return Ok(()) };
        let mut row = Vec::new();
        rejects::push_row(self.name, line, offset, reason.as_str(), text, &mut row);
        rejects.write(&row)
    }
}

/// A block and what was made of it.
struct Filtered {
    block: Block,
    urls: Vec<u8>,
    lines: u64,
    blank: u64,
    accepted: u64,
    /// Which lines of the block were refused, counted from 0.
    rejects: Vec<(u64, Reason)>,
}

fn filter_block(cleaner: &mut Cleaner, block: Block) -> Filtered {
    let mut urls = Vec::with_capacity(block.bytes.len() + block.bytes.len() / 8);
    let (mut lines, mut blank, mut accepted) = (0, 0, 0);
    let mut rejects = Vec::new();
    for line in lines::lines(&block.bytes, block.offset) {
        match cleaner.clean(line.raw) {
            Cleaned::Url(url) => {
                urls.extend_from_slice(url.as_bytes());
                urls.push(b'\n');
                accepted += 1;
            }
            Cleaned::Rejected(reason) => rejects.push((lines, reason)),
            Cleaned::Blank => blank += 1,
        }
        lines += 1;
    }
    Filtered { block, urls, lines, blank, accepted, rejects }
}

impl Filtered {
    fn reject_rows(&self, name: &Path, lines_before: u64) -> Vec<u8> {
        let mut rows = Vec::new();
        let mut rejects = self.rejects.iter().peekable();
        for (at, line) in (0..).zip(lines::lines(&self.block.bytes, self.block.offset)) {
            match rejects.peek() {
                Some(&&(rejected, reason)) if rejected == at => {
                    let number = lines_before + at + 1;
                    rejects::push_row(name, number, line.offset, reason.as_str(), line.raw, &mut rows);
                    rejects.next();
                }
                Some(_) => {}
                None => break,
            }
        }
        rows
    }
}

impl FilterReport {
    fn add(&mut self, filtered: &Filtered) {
        self.lines += filtered.lines;
        self.blank += filtered.blank;
        self.accepted += filtered.accepted;
        filtered.rejects.iter().for_each(|&(_, reason)| self.rejected[reason] += 1);
    }
}
