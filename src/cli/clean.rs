//! `sitemill clean`: the filter between pipes and files.

use std::error::Error as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sitemill::{Error, FilterJob, Result, Target};

use super::args::CleanArgs;
use super::summary::grouped;

/// Filters and sums up. A reader that has seen enough is no failure.
pub fn run(args: Box<CleanArgs>) -> Result<()> {
    let job = FilterJob {
        form: args.form.options(),
        require_success: args.form.require_success_marker,
        url_encoding: args.form.url_encoding,
        inputs: super::inputs_or_stdin(args.input)?,
        threads: args.threads.unwrap_or_else(sitemill::threads_default).get(),
    };
    let mut rejects = match &args.rejects {
        Some(path) => Some((path, File::create(path).map_err(|error| Error::output(path, error))?)),
        None => None,
    };
    let urls = Target { name: Path::new("standard output"), to: &mut Stdout::new()? };
    let rejects = rejects.as_mut().map(|(path, file)| Target { name: path, to: file });
    let report = match sitemill::filter(&job, urls, rejects) {
        Err(error) if is_broken_pipe(&error) => return Ok(()),
        report => report?,
    };
    if !args.quiet {
        let rejected: Vec<_> = report
            .rejected
            .iter()
            .map(|(reason, count)| format!("{} {}", grouped(count), reason.as_str()))
            .collect();
        let why = if rejected.is_empty() { String::new() } else { format!(" ({})", rejected.join(", ")) };
        let _ = writeln!(
            io::stderr(),
            "sitemill: {} lines: {} URLs, {} blank, {} rejected{why}",
            grouped(report.lines),
            grouped(report.accepted),
            grouped(report.blank),
            grouped(report.rejected.total()),
        );
    }
    Ok(())
}

/// Standard output without the buffer that the library puts before it: what is written here comes in large pieces.
struct Stdout(File);

impl Stdout {
    fn new() -> Result<Self> {
        use std::os::fd::AsFd;
        let handle = io::stdout().as_fd().try_clone_to_owned();
        let handle = handle.map_err(|error| Error::io(Path::new("standard output"), "is closed", error))?;
        Ok(Self(handle.into()))
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
