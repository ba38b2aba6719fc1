//! `sitemill report`, and the targets that pages are written to.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use sitemill::process::{Paths, StoppableWriter, is_stream, output_name};
use sitemill::{Error, Page, PageJob, Result, Stop};

use super::args::{ProgressWhen, ReportArgs};
use super::failure::is_broken_pipe;
use super::{flags, progress, signals, streams};

/// The destination of a page.
pub enum PageTo {
    /// A file, which is replaced at once.
    File(PathBuf),
    /// Standard output, or another stream that is open already.
    Stream(PathBuf, File),
}

impl PageTo {
    /// Checks that a page can be written to `path`, to fail before any work.
    ///
    /// # Errors
    /// If it cannot be created, or is closed.
    pub fn prepare(path: PathBuf) -> Result<Self> {
        match is_stream(&path) {
            true => streams::create(&path).map(|file| Self::Stream(path, file)),
            false => Page::check(&path).map(|()| Self::File(path)),
        }
    }

    /// Writes `page`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, page: &Page, stop: &Stop) -> Result<()> {
        match self {
            Self::File(path) => page.write(path),
            Self::Stream(path, file) => StoppableWriter::new(file, stop)
                .write_all(page.as_str().as_bytes())
                .map_err(|error| Error::io(output_name(path), "the page could not be written", error)),
        }
    }
}

/// Makes the page of a report or of a published set. A reader may stop early.
pub fn run(args: ReportArgs) -> Result<()> {
    let stop = signals::raised_by_signals()?;
    let mut job = PageJob::new(args.path);
    job.threads = args.threads.or(job.threads);
    job.name = args.name;
    job.setting_names = flags::name;
    let mut paths: Paths = job.paths();
    paths.write("--output", &args.output);
    paths.check()?;
    let to = PageTo::prepare(args.output)?;
    let when = if args.quiet { ProgressWhen::Never } else { ProgressWhen::Auto };
    let page = sitemill::report_page(&job, &*progress::shown(when), &stop)?;
    match to.write(&page, &stop) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        written => written,
    }
}
