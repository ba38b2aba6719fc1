//! The command line: typed words become a checked job, a run is shown, and its end is told.

mod args;
mod build;
mod check;
mod clean;
mod diff;
mod failure;
mod flags;
mod inputs;
mod log;
mod manual;
mod numbers;
mod progress;
mod sets;
mod settings;
mod signals;
mod streams;
mod summary;
mod urls;

use std::process;

use clap::{CommandFactory, FromArgMatches};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sitemill::{Error, Result, escape};

pub use args::Args;
use args::Command;
pub use failure::print_error;

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

/// Runs a command. A panic is a bug; it becomes an error with its own exit code.
pub fn run(args: Args) -> Result<()> {
    signals::faults_are_errors()?;
    raise_file_limit();
    if let Some(has_memory) = args.command.memory() {
        signals::aborts_are_lack_of_memory(has_memory)?;
    }
    let config = args.config.as_deref();
    failure::caught(|| match args.command {
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
