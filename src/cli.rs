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
mod origins;
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

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::{self, ExitCode};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sitemill::options::Base;
use sitemill::{Error, Result, escape};

use args::{Args, Command, ProgressWhen};
use early::Early;
use failure::print_error;
use origins::Origins;

/// Runs the program with the command line `typed`, whose first word is the name of the program. Returns its exit code; help,
/// version and usage errors end the process.
pub fn main(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(exit_code(typed))
}

/// Runs the program like [`main`], for a caller that ends the process itself.
pub fn exit_code(typed: impl IntoIterator<Item = OsString>) -> u8 {
    let (args, origins) = parse(typed.into_iter().collect());
    match run(args) {
        Ok(()) => 0,
        Err(error) => {
            print_error(&error);
            origins.tell(&error);
            error.kind().exit_code()
        }
    }
}

/// Parses the command line, the environment and the file of `--config`. Help, version and usage errors end the process.
fn parse(typed: Vec<OsString>) -> (Args, Origins) {
    let command = settings::with_environment(Args::command(), &typed);
    let file = settings::options_file(&typed);
    let early = Early::new(&command, &typed, &file);
    log::set_format(early.log_format());
    settings::warn_of_misspelt_variables(&command);
    let refuse = |error| -> ! {
        print_error(&error);
        end(&early, error)
    };
    let with_file = settings::with_file(&command, typed.clone(), file);
    let (words, file) = with_file.unwrap_or_else(|error| refuse(error));
    let variables = settings::variables_set(&command);
    let path = file.as_ref().map(|file| file.path.clone());
    let origins = Origins::new(&command, &typed, file);
    let parsed = command.try_get_matches_from(words).and_then(|matches| Args::from_arg_matches(&matches));
    match parsed {
        Ok(mut args) => {
            log::set_format(args.log);
            check_effects(&args.command, &origins).unwrap_or_else(|error| refuse(error));
            drop_overridden(&mut args.command, &origins);
            (args, origins)
        }
        Err(help) if !help.use_stderr() => help.exit(),
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => refuse(not_utf8(&typed, &variables)),
        Err(mut error) => {
            remove_misleading_tips(&mut error);
            explain(&error, &typed, variables, path.as_deref());
            end(&early, Error::usage(log::in_a_line(&error)))
        }
    }
}

/// Prints a usage error, and where the wrong option may be: in `typed`, in one of the `variables` that are set, or in the `file`.
fn explain(error: &clap::Error, typed: &[OsString], mut variables: Vec<String>, file: Option<&OsStr>) {
    log::usage_error(error);
    if error.kind() == ErrorKind::InvalidValue && typed.iter().any(|word| word.is_empty()) {
        log::info("an argument is empty; check the variables in the command");
    }
    variables.retain(|variable| match error.kind() {
        ErrorKind::ArgumentConflict => true,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => error
            .get(ContextKind::InvalidArg)
            .and_then(|arg| settings::variable_of(&arg.to_string()))
            .is_some_and(|wrong| wrong == *variable),
        _ => false,
    });
    origins::tell_variables(&variables);
    if let Some(file) = file {
        log::info(&format!("options were also read from {}", escape::shown(file.as_encoded_bytes())));
    }
}

/// The error for text that is not UTF-8. clap does not tell which one it is, so this names all that may be wrong: words of the
/// command line, and `variables`.
fn not_utf8(typed: &[OsString], variables: &[String]) -> Error {
    let words = typed.iter().filter(|word| word.to_str().is_none());
    let words = words.map(|word| escape::shown(word.as_encoded_bytes()));
    let is_wrong = |variable: &&String| env::var_os(variable).is_some_and(|value| value.to_str().is_none());
    let wrong: Vec<String> = words.chain(variables.iter().filter(is_wrong).cloned()).collect();
    Error::usage(format!("{}: is not valid UTF-8; only paths may contain other bytes", wrong.join(", ")))
}

/// Checks that the options on the command line can have an effect. Others may be meant for other runs.
fn check_effects(command: &Command, origins: &Origins) -> Result<()> {
    match command {
        Command::Build(args)
            if args.progress == ProgressWhen::Always
                && origins.is_typed("progress")
                && origins.is_typed("quiet") =>
        {
            Err(Error::usage(
                "--quiet shows no progress, so --progress always has no effect; leave one of them out",
            ))
        }
        _ => stores::check(command, |option| origins.is_typed(option)),
    }
}

/// Drops options that others override, or that have no effect without others, where that depends on a value: clap knows only
/// conflicts and needs of whole options.
fn drop_overridden(command: &mut Command, origins: &Origins) {
    let Command::Build(args) = command else { return };
    if args.progress == ProgressWhen::Always && origins.overrides("progress", "quiet") {
        args.quiet = false;
    }
    match args.base_url {
        Base::EachOrigin(_) => {
            args.robots.take_if(|_| origins.overrides("base-url", "robots"));
            args.guards.allow_empty &= !origins.overrides("base-url", "allow-empty");
        }
        _ => args.guards.allow_missing_sites &= origins.is_typed("allow-missing-sites"),
    }
}

/// Removes tips for an unknown option that mislead: to pass it as an input, as it is rather an option of a different command, and
/// options that can hardly be meant.
fn remove_misleading_tips(error: &mut clap::Error) {
    let unknown = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let may_be_meant = |option: &str| settings::may_mean(unknown.trim_start_matches('-'), option);
    let suggested = error.get(ContextKind::SuggestedArg).map(ToString::to_string);
    if suggested.is_some_and(|option| !may_be_meant(option.trim_start_matches('-'))) {
        error.remove(ContextKind::SuggestedArg);
        // It shows that option, too.
        error.remove(ContextKind::Usage);
    }
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        // The tip for an option of a command: `'build --scope' exists`.
        let option = |tip: &str| Some(tip.rsplit_once("--")?.1.split('\'').next()?.to_owned());
        tips.retain(|tip| {
            let tip = tip.to_string();
            !tip.contains("as a value") && option(&tip).is_none_or(|option| may_be_meant(&option))
        });
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
    if !args.command.handles_signals() {
        signals::end_even_process_1()?;
    }
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
