//! Commands for programs that embed the command line, such as the Python package: options are words, as in a shell, and only
//! warnings are printed. Options are read neither from configuration files nor from the environment. Settings of object stores
//! apply to the whole process, starting with the call that makes them.

use std::ffi::OsString;

use clap::Parser;
use sitemill::{CleanReport, Error, Job, Outcome, Progress, Result, Source, Stop, Target};

use super::args::{Args, Command};
use super::{build, clean, log};

/// Runs `build` with the options `words` and writes the reports that they name. `sources`, if there are any, replace the input
/// files.
///
/// # Errors
/// Same as [`build_from`](sitemill::build_from()); [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the words cannot be
/// parsed.
pub fn build(
    words: Vec<OsString>,
    sources: Option<Vec<Source<'_>>>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    match parse("build", words)?.command {
        Command::Build(args) => build::built(&args, None, sources, progress, stop),
        _ => unreachable!("the first word is build"),
    }
}

/// Returns the job that the options `words` of `build` describe, without inputs.
///
/// # Errors
/// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the words cannot be parsed or contradict each other.
pub fn build_job(words: Vec<OsString>) -> Result<Job> {
    match parse("build", words)?.command {
        Command::Build(args) => build::job(&args).and_then(|job| job.check().map(|()| job)),
        _ => unreachable!("the first word is build"),
    }
}

/// Runs `clean` with the options `words` and writes URLs to `to`, and rejected rows to the file that the words name. `sources`,
/// if there are any, replace the input files.
///
/// # Errors
/// Same as [`clean_from`](sitemill::clean_from()); [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the words cannot be
/// parsed.
pub fn clean(
    words: Vec<OsString>,
    sources: Option<Vec<Source<'_>>>,
    stop: &Stop,
    to: Target<'_>,
) -> Result<CleanReport> {
    match parse("clean", words)?.command {
        Command::Clean(args) => clean::cleaned(&args, sources, stop, to),
        _ => unreachable!("the first word is clean"),
    }
}

fn parse(command: &str, words: Vec<OsString>) -> Result<Args> {
    let start = ["sitemill", command].map(OsString::from);
    let args = Args::try_parse_from(start.into_iter().chain(words));
    let args = args.map_err(|error| Error::usage(log::in_a_line(&error)))?;
    sitemill::set_store_settings(args.command.store());
    Ok(args)
}
