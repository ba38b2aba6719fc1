//! Then: runs the user's command once all sets are live and no lock is held.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::outcome::Outcome;
use super::report::{Report, ThenReport};
use crate::common::stop::Stop;
use crate::common::unlinked::unlinked_file;
use crate::error::{Error, ErrorKind, Result, Setting, message};
use crate::job::{CommandLine, Job};
use crate::place::STATE;

/// Interval at which a running command is polled. Commands take longer than this.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a command may take to end by itself after a signal, before the signal is passed on. A Ctrl-C at a terminal reaches
/// the command directly.
const GRACE: Duration = Duration::from_millis(200);

/// Whether [`run_then`] runs a command: `job` has one, and the sets of `outcome` are live.
pub fn runs_then(job: &Job, outcome: &Outcome) -> bool {
    job.publication.then.is_some() && outcome.report.published
}

/// Runs the command of `job` if its sets are live, and adds its exit code to the report. Its failure is a warning.
pub fn run_then(job: &Job, outcome: &mut Outcome, stop: &Stop) {
    let Some(command) = job.publication.then.as_ref().filter(|_| runs_then(job, outcome)) else { return };
    let ended = start(job, command, &outcome.report).and_then(|child| wait(child, stop));
    let (exit_code, failure) = match ended {
        Ok(status) => {
            let code = exit_code(status);
            let why = message!(Setting::Then, ": the command ended with exit code {code}");
            (Some(code), (code != 0).then(|| Error::new(ErrorKind::Io, why)))
        }
        Err(error) => (None, Some(error.within(message!(Setting::Then, ": the command could not be run")))),
    };
    outcome.report.then = Some(ThenReport { command: command.words().to_vec(), exit_code });
    if let Some(failure) = failure {
        outcome.warnings.push(failure);
        outcome.report_warnings();
    }
}

/// Starts the command with the report as its standard input. It writes to standard error, because standard output may be for
/// the report.
fn start(job: &Job, command: &CommandLine, report: &Report) -> Result<Child> {
    let program = Path::new(command.program());
    let failed = |error| Error::io(program, "could not be started", error);
    let stdin = file_of(report.to_json().as_bytes(), job)?;
    let mut child = Command::new(program);
    child.args(command.arguments()).stdin(stdin).stdout(io::stderr());
    // A build that the command runs must not run the command again. The variables of the run tell it not to take the command from a
    // file.
    child.env_remove("SITEMILL_THEN");
    // This run may itself be part of the command of another one. Not every run sets these variables.
    child.env_remove("SITEMILL_RUN_NAME").env_remove("SITEMILL_RUN_DIFF").envs(variables(job, report));
    child.spawn().map_err(failed)
}

/// A file with these bytes that has no name. Unlike a pipe, it needs no writer while the command runs.
fn file_of(bytes: &[u8], job: &Job) -> Result<File> {
    let state = job.publication.out.join(STATE);
    let directory = match &job.resources.scratch {
        Some(scratch) => scratch.clone(),
        None if state.is_dir() => state,
        // A set in a bucket has no directory.
        None => std::env::temp_dir(),
    };
    let written = unlinked_file(&directory).and_then(|mut file| {
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(file)
    });
    written.map_err(|error| {
        Error::io(&directory, "the report for its standard input could not be written", error)
    })
}

/// The variables that tell the command about the run. They are not named like options, because a `sitemill` that the command runs
/// would read those.
fn variables(job: &Job, report: &Report) -> Vec<(&'static str, std::ffi::OsString)> {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    let changes = report.details.as_ref().and_then(|details| details.changes).unwrap_or_default();
    let sitemaps = changes.new_sitemaps + changes.removed_sitemaps;
    let changed = sitemaps + changes.changed_indexes + changes.restored_files;
    let number = |number: u64| number.to_string().into();
    let mut variables = vec![
        ("SITEMILL_RUN_OUT", absolute(&job.publication.out)),
        ("SITEMILL_RUN_BASE_URL", report.base_url.clone().into()),
        ("SITEMILL_RUN_LISTED", number(report.listed)),
        ("SITEMILL_RUN_SITEMAPS", number(report.sitemaps)),
        ("SITEMILL_RUN_INDEXES", number(report.indexes)),
        ("SITEMILL_RUN_CHANGED", number(changed)),
    ];
    let name = job.publication.name.as_ref();
    variables.extend(name.map(|name| ("SITEMILL_RUN_NAME", name.as_str().into())));
    // A diff that failed has left an older one. Standard output is not a file that the command could read.
    let is_file = |path: &&PathBuf| report.diff.is_some() && *path != Path::new("-");
    let diff = job.publication.diff.iter().filter(is_file);
    variables.extend(diff.map(|path| ("SITEMILL_RUN_DIFF", absolute(path))));
    variables
}

/// Waits until the command ends. If `stop` is raised, the command gets the same signal, or SIGTERM in place of an unknown one.
fn wait(mut child: Child, stop: &Stop) -> Result<ExitStatus> {
    let failed = |error| Error::new(ErrorKind::Io, format!("waiting for it failed: {error}"));
    loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => return Ok(status),
            None => sleep(POLL_INTERVAL),
        }
        if let Some(number) = stop.signal() {
            sleep(GRACE);
            // The process has not been waited for yet, so no other process can have its ID.
            if child.try_wait().map_err(failed)?.is_none() {
                let signal = Signal::from_named_raw(number).unwrap_or(Signal::TERM);
                let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let _ = pid.map(|pid| kill_process(pid, signal));
            }
            return child.wait().map_err(failed);
        }
    }
}

/// The exit code, or 128 and the signal that ended the command, as in a shell.
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_stop_ends_the_command_whatever_its_number() {
        // SIGUSR1 stands for the known signals. A shell starts its background jobs with SIGINT ignored, and `nohup` with SIGHUP.
        for (number, exit) in [(10, 138), (15, 143), (0, 143), (100, 143), (i32::MAX, 143)] {
            let stop = Stop::default();
            stop.raise(number);
            let child = Command::new("sleep").arg("60").spawn().unwrap();
            assert_eq!(exit_code(wait(child, &stop).unwrap()), exit, "{number}");
        }
    }
}
