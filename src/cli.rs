//! The command line: parses options into a job, runs it with progress, and reports the outcome.

mod args;
mod below;
mod build;
mod check;
mod clean;
mod clock;
mod diff;
mod early;
mod elsewhere;
pub mod embed;
mod failure;
mod flags;
mod inputs;
mod log;
mod manual;
mod options_file;
mod progress;
mod report;
mod sets;
mod settings;
mod shell;
mod signals;
mod stores;
mod streams;
mod summary;
mod table;
mod terminal;
mod typed;
mod urls;

use std::ffi::OsString;
use std::process::{self, ExitCode};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sitemill::{Error, Result, escape};

use args::{Args, Command, ProgressWhen};
use early::Early;
use failure::print_error;

/// Runs the program with the command line `typed`, whose first word is the name of the program. Returns its exit code; help,
/// version and usage errors end the process.
pub fn main(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(exit_code(typed))
}

/// Runs the program like [`main`], for a caller that ends the process itself.
pub fn exit_code(typed: impl IntoIterator<Item = OsString>) -> u8 {
    match run(parse(typed.into_iter().collect())) {
        Ok(()) => 0,
        Err(error) => {
            print_error(&error);
            error.kind().exit_code()
        }
    }
}

/// Parses the command line, the environment and the file of `--config`. Help, version and usage errors end the process.
fn parse(typed: Vec<OsString>) -> Args {
    let command = settings::with_environment(Args::command(), &typed);
    let file = settings::options_file(&typed);
    let early = Early::new(&command, &typed, &file);
    log::set_format(early.log_format());
    settings::warn_of_misspelt_variables(&command);
    let (words, file) = settings::with_file(&command, typed.clone(), file).unwrap_or_else(|error| {
        print_error(&error);
        end(&early, error)
    });
    let variables = settings::variables_set(&command);
    let options = typed::typed_options(&command, &typed);
    let parsed = command.try_get_matches_from(words).and_then(|matches| Args::from_arg_matches(&matches));
    match parsed {
        Ok(args) => {
            log::set_format(args.log);
            check_effects(&args.command, &options).unwrap_or_else(|error| {
                print_error(&error);
                end(&early, error)
            });
            args
        }
        Err(help) if !help.use_stderr() => help.exit(),
        Err(mut error) => {
            remove_tip_of_input(&mut error);
            log::usage_error(&error);
            if error.kind() == ErrorKind::InvalidValue && typed.iter().any(|word| word.is_empty()) {
                log::info("an argument is empty; check the variables in the command");
            }
            let may_be_wrong = |variable: &&String| match error.kind() {
                ErrorKind::ArgumentConflict => true,
                ErrorKind::InvalidValue | ErrorKind::ValueValidation => error
                    .get(ContextKind::InvalidArg)
                    .and_then(|arg| settings::variable_of(&arg.to_string()))
                    .is_some_and(|wrong| wrong == **variable),
                _ => false,
            };
            let variables: Vec<_> = variables.iter().filter(may_be_wrong).map(String::as_str).collect();
            if !variables.is_empty() {
                log::info(&format!("options were also read from the environment: {}", variables.join(", ")));
            }
            if let Some(file) = file {
                log::info(&format!("options were also read from {}", escape::shown(file.as_encoded_bytes())));
            }
            end(&early, Error::usage(log::in_a_line(&error)))
        }
    }
}

/// Checks that the `options` on the command line can have an effect. Others may be meant for other runs.
fn check_effects(command: &Command, options: &[String]) -> Result<()> {
    let is_typed = |option: &str| options.iter().any(|typed| typed == option);
    match command {
        Command::Build(args)
            if args.progress == ProgressWhen::Always && is_typed("progress") && is_typed("quiet") =>
        {
            Err(Error::usage(
                "--quiet shows no progress, so --progress always has no effect; leave one of them out",
            ))
        }
        _ => stores::check(command, is_typed),
    }
}

/// Removes the tip to pass an unknown option as an input: it is rather an option of a different command.
fn remove_tip_of_input(error: &mut clap::Error) {
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
}

/// Ends the process because its options are wrong, after the message. A build also writes the report and metrics that it can,
/// for programs that read them.
fn end(early: &Early<'_>, error: Error) -> ! {
    let exit_code = error.kind().exit_code();
    if early.is_build {
        build::refuse(early, error);
    }
    process::exit(exit_code.into())
}

/// Runs a command. A panic is a bug; it becomes an error with its own exit code.
fn run(args: Args) -> Result<()> {
    failure::print_panics();
    signals::faults_are_errors()?;
    raise_file_limit();
    if let Some(has_memory) = args.command.memory() {
        signals::aborts_are_lack_of_memory(has_memory)?;
    }
    sitemill::set_store_settings(args.command.store());
    let config = args.config.as_deref();
    failure::caught(|| match args.command {
        Command::Build(args) => build::run(args, config),
        Command::Check(args) => check::run(args),
        Command::Urls(args) => urls::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Status(args) => sets::status(&args),
        Command::Rollback(args) => sets::rollback(&args),
        Command::Report(args) => report::run(args),
        Command::Clean(args) => clean::run(args, config),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    })
}

/// Raises the limit on open files as far as the system allows, up to [`FILES_MAX`]. The usual soft limit of 1,024 exists for
/// programs that call `select`. If raising it fails, the run works with the old limit.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(FILES_MAX).min(FILES_MAX);
    if limit.current.is_some_and(|now| now < most) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit });
    }
}

/// More open files than any run needs.
const FILES_MAX: u64 = 1 << 16;
