//! Parse, run, print, exit code: nothing else.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = cli::parse();
    match cli::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            cli::print_error(&error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}
