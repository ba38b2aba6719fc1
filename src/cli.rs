//! The command line: typed words become a checked job, a run is shown, and its end is told.

mod args;
mod build;
mod clean;
mod progress;
mod signals;
mod summary;

use std::error::Error as _;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use clap::Parser;
use sitemill::{Error, ErrorKind, Result};

pub use args::Args;
use args::Command;

/// The typed words; help, version and usage errors end the process here.
pub fn parse() -> Args {
    Args::parse()
}

/// Runs a command. A panic is a bug of ours and becomes an error like any other, so that the exit code says so.
pub fn run(args: Args) -> Result<()> {
    let command = AssertUnwindSafe(|| match args.command {
        Command::Build(args) => build::run(args),
        Command::Clean(args) => clean::run(args),
    });
    catch_unwind(command).unwrap_or_else(|_| {
        Err(Error::new(
            ErrorKind::Internal,
            "this is a bug in sitemill, and nothing was published; please report it with the lines above",
        ))
    })
}

/// One line for a person, the cause behind it.
pub fn print_error(error: &Error) {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    // If standard error is gone, the exit code still speaks.
    let _ = writeln!(std::io::stderr(), "sitemill: {error}{cause}");
}

/// The inputs, or standard input if none is named and somebody is writing to it.
fn inputs_or_stdin(inputs: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    match inputs.is_empty() {
        false => Ok(inputs),
        true if std::io::stdin().is_terminal() => {
            Err(Error::usage("no input; name a file with one URL a line, or pipe one in"))
        }
        true => Ok(vec!["-".into()]),
    }
}
