//! Commands for programs that embed the command line, such as the Python package: options are arguments, as in a shell, and only
//! warnings are printed. Options are read neither from configuration files nor from the environment. Settings of object stores
//! apply to the whole process, and stay until the next call with a store. A call is refused while another one needs other settings.

use std::ffi::OsString;

use clap::Parser;
use sitemill::options::Columns;
use sitemill::{AppliedSettings, CleanReport, Error, Job, Outcome, Progress, Result, Source, Stop, Target};

pub use super::args::Size;
use super::args::{Args, BuildArgs, CleanArgs, Command, FormatArgs};
use super::build::{self, Reports};
pub use super::failure::caught;
use super::{clean, flags, inputs, log, stores};

/// The replacement for the input files of a command.
pub struct Rows<'a> {
    /// The rows.
    pub source: Source<'a>,
    /// The names of their columns: unlike those in an argument, they may be numbers and have commas.
    pub columns: Columns,
}

impl<'a> Rows<'a> {
    /// Sets the columns in the options of the command, and returns the sources.
    fn sources(this: Option<Self>, options: &mut FormatArgs) -> Option<Vec<Source<'a>>> {
        this.map(|Self { source, columns }| {
            options.columns = Some(columns);
            vec![source]
        })
    }
}

/// Runs `build` with the options `arguments` and writes the reports that they name. `rows`, if there are any, replace the input
/// files.
///
/// # Errors
/// Same as [`build_from`](sitemill::build_from()); [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the arguments cannot be
/// parsed.
pub fn build(
    arguments: Vec<OsString>,
    rows: Option<Rows<'_>>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let (mut args, _applied) = build_args(arguments, true)?;
    let sources = Rows::sources(rows, &mut args.format);
    build::built(&args, None, sources, progress, stop)
}

/// Returns the job that the options `arguments` of `build` describe, without inputs. Tasks on a cluster rely on its store settings,
/// which stay in force, but do not keep other calls from changing them. `publishes` says whether the caller uploads files.
///
/// # Errors
/// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the arguments cannot be parsed or contradict each other; if a running call
/// needs other store settings.
pub fn build_job(arguments: Vec<OsString>, publishes: bool) -> Result<Job> {
    let (args, _applied) = build_args(arguments, publishes)?;
    build::checked_job(&args, &Stop::default())
}

/// A build whose steps another program runs, such as one on a cluster.
pub struct BuildInSteps {
    args: Box<BuildArgs>,
    job: Option<Job>,
    reports: Reports,
    _applied: AppliedSettings,
}

impl BuildInSteps {
    /// Begins the build that the options `arguments` of `build` describe: checks the paths of its reports and opens them.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the arguments cannot be parsed; if a report cannot be created.
    pub fn begin(arguments: Vec<OsString>) -> Result<Self> {
        let (args, applied) = build_args(arguments, true)?;
        let (reports, ready) = Reports::begin(&args, Vec::new(), None);
        let this = Self { args, job: None, reports, _applied: applied };
        match ready {
            Ok(()) => Ok(this),
            Err(error) => Err(this.fail(error)),
        }
    }

    /// Returns its job, without inputs. Warns about its robots.txt, as [`build`] does.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if its options contradict each other; if a file of rules cannot be read.
    pub fn job(&mut self) -> Result<Job> {
        let job = build::checked_job(&self.args, &Stop::default())?;
        inputs::warn_of_robots(&job.rules.urls);
        self.job = Some(job.clone());
        Ok(job)
    }

    /// Runs the command of its job if the sets of its outcome are live, writes the reports of its outcome, or of its failure, and
    /// returns that.
    ///
    /// # Errors
    /// That of `built`. If a report cannot be written, that is a warning.
    pub fn end(mut self, built: Result<Outcome>, stop: &Stop) -> Result<Outcome> {
        let built = built.and_then(|outcome| {
            caught(|| {
                Ok(match &self.job {
                    Some(job) => self.reports.run_then(job, outcome, stop),
                    None => flags::in_outcome(outcome),
                })
            })
        });
        self.reports.write(&built, None, stop);
        built
    }

    /// Writes the reports of a failure before its outcome is known, and returns its error.
    pub fn fail(self, error: Error) -> Error {
        self.end(Err(error), &Stop::default()).expect_err("it has failed")
    }
}

/// Returns the report of `outcome` as `build --json` prints it.
pub fn report_json(outcome: &Outcome) -> String {
    build::json_of(outcome).to_string()
}

/// A `clean` that has not run yet.
pub struct Clean(Box<CleanArgs>);

impl Clean {
    /// Parses the options `arguments` of `clean`. Drop the second result when the command has run, or when what it writes is no
    /// longer needed.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](sitemill::ErrorKind::Usage) if the arguments cannot be parsed; if a running call needs other store
    /// settings.
    pub fn begin(arguments: Vec<OsString>) -> Result<(Self, AppliedSettings)> {
        let (command, applied) = parse("clean", arguments, false)?;
        match command {
            Command::Clean(args) => Ok((Self(args), applied)),
            _ => unreachable!("the first argument is clean"),
        }
    }

    /// Writes URLs to `to`, and rejected rows to the file that the arguments name. `rows`, if there are any, replace the input
    /// files.
    ///
    /// # Errors
    /// Same as [`clean_from`](sitemill::clean_from()).
    pub fn run(mut self, rows: Option<Rows<'_>>, stop: &Stop, to: Target<'_>) -> Result<CleanReport> {
        let sources = Rows::sources(rows, &mut self.0.format);
        clean::cleaned(&self.0, sources, stop, to)
    }
}

/// Parses the `arguments` of `build`. Until the second result is dropped, no other call can disturb its store settings.
fn build_args(arguments: Vec<OsString>, publishes: bool) -> Result<(Box<BuildArgs>, AppliedSettings)> {
    let (command, applied) = parse("build", arguments, publishes)?;
    match command {
        Command::Build(args) => Ok((args, applied)),
        _ => unreachable!("the first argument is build"),
    }
}

fn parse(command: &str, arguments: Vec<OsString>, publishes: bool) -> Result<(Command, AppliedSettings)> {
    let start = ["sitemill", command].map(OsString::from);
    let args = Args::try_parse_from(start.into_iter().chain(arguments));
    let args = args.map_err(|error| Error::usage(log::in_a_line(&error)))?;
    let applied = stores::apply(&args.command, publishes)?;
    Ok((args.command, applied))
}

#[cfg(test)]
mod tests {
    use sitemill::{ErrorKind, Setting};

    use super::*;

    #[test]
    fn settings_for_sets_in_stores_are_refused_for_a_directory() {
        let arguments = ["--base-url=https://h.example/", "--out=html", "--state=s3://private/shop"];
        let error = build_job(arguments.map(OsString::from).into(), true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.settings().eq([Setting::State]), "{error}");
    }
}
