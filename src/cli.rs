//! The command line: typed words become a checked job, a run is shown, and its end is told.

mod args;
mod build;
mod check;
mod clean;
mod diff;
mod inputs;
mod log;
mod manual;
mod progress;
mod sets;
mod settings;
mod signals;
mod streams;
mod summary;
mod urls;

use std::error::Error as _;
use std::io::{self, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use clap::{CommandFactory, FromArgMatches};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sitemill::{Error, ErrorKind, Result, escape};

pub use args::Args;
use args::Command;
use streams::{Stdout, stdout};

/// The words that were typed, that stand in the environment, and that a file holds; help, version and usage errors end the
/// process here.
pub fn parse() -> Args {
    let typed: Vec<_> = std::env::args_os().collect();
    let command = settings::with_environment(Args::command());
    let early = settings::Early::new(&command, &typed);
    log::set_form(early.log_form());
    let (words, file) = settings::with_file(&command, typed.clone()).unwrap_or_else(|error| {
        print_error(&error);
        end(&early, error)
    });
    let parsed = command.try_get_matches_from(words).and_then(|matches| Args::from_arg_matches(&matches));
    match parsed {
        Ok(args) => {
            log::set_form(args.log);
            args
        }
        Err(help) if !help.use_stderr() => help.exit(),
        Err(error) => {
            log::usage_error(&error);
            if let Some(file) = file {
                log::info(&format!(
                    "options were read from {} as well",
                    escape::shown(file.as_encoded_bytes())
                ));
            }
            end(&early, Error::usage(log::in_a_line(&error)))
        }
    }
}

/// Ends the process because its options are wrong, which was said; programs that wait for the end of a build read it where
/// they were told to.
fn end(early: &settings::Early<'_>, error: Error) -> ! {
    let exit_code = error.kind().exit_code();
    if early.is_build {
        build::refuse(early, error);
    }
    process::exit(exit_code.into())
}

/// Runs a command. A panic is a bug of ours and becomes an error like any other, so that the exit code says so.
pub fn run(args: Args) -> Result<()> {
    signals::faults_are_errors()?;
    raise_file_limit();
    if let Some(has_memory) = args.command.memory() {
        signals::aborts_are_lack_of_memory(has_memory)?;
    }
    let config = args.config.as_deref();
    caught(|| match args.command {
        Command::Build(args) => build::run(args, config),
        Command::Check(args) => check::run(args),
        Command::Urls(args) => urls::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Status(args) => sets::status(&args),
        Command::Rollback(args) => sets::rollback(&args),
        Command::Clean(args) => clean::run(args, config),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    })
}

/// Lets the process open as many files as the system lets it, up to a number that no run needs more than: the limit that it is
/// started with is often a thousand, and meant for programs of another time. If that is refused, fewer have to do.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(FILES_MAX).min(FILES_MAX);
    if limit.current.is_some_and(|now| now < most) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit });
    }
}

/// Open files, at most.
const FILES_MAX: u64 = 1 << 16;

/// Runs `work`; a panic in it is an error.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // A panic that is no bug: the standard library's, for a thread that the system refuses.
        if panic.downcast_ref::<String>().is_some_and(|words| words.contains("failed to spawn thread")) {
            let words = "the system allows no more threads or memory; use fewer --threads";
            return Err(Error::new(ErrorKind::Memory, words));
        }
        // Another one: for the system's randomness, where it is refused.
        if panic.downcast_ref::<&str>().is_some_and(|words| words.contains("failed to generate random data"))
        {
            return Err(Error::new(ErrorKind::Io, "the system gives no random bytes"));
        }
        Err(Error::new(
            ErrorKind::Internal,
            "this is a bug in sitemill; please report it with the lines above",
        ))
    })
}

/// One line for a person, the cause behind it.
pub fn print_error(error: &Error) {
    let cause = error.source().map(ToString::to_string);
    log::error(&with_cause(error), error.kind().exit_code(), cause.as_deref());
}

/// The same for what failed when the set was live already: the run did not.
fn print_warning(error: &Error) {
    log::warning(&format!("{}; the new set is live all the same", with_cause(error)));
}

fn with_cause(error: &Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

/// The inputs, or standard input if none is named and somebody is writing to it.
fn inputs_or_stdin(inputs: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let is_stdin = |input: &PathBuf| input == Path::new("-");
    match inputs.is_empty() {
        false if inputs.iter().any(is_stdin) => streams::check_stdin().map(|()| inputs),
        false => Ok(inputs),
        true if std::io::stdin().is_terminal() => {
            Err(Error::usage("no input; name a file with one URL a line, or pipe one in"))
        }
        true => streams::check_stdin().map(|()| vec!["-".into()]),
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Now, or what `SOURCE_DATE_EPOCH` says: seconds since 1970, as reproducible builds set it.
fn time() -> Result<SystemTime> {
    let Some(word) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(SystemTime::now()) };
    let seconds = word.to_str().and_then(|word| word.parse().ok()).map(Duration::from_secs);
    seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds)).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "SOURCE_DATE_EPOCH is not a number of seconds; unset it or set it right")
    })
}
