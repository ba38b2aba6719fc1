//! The `sitemill` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    sitemill::cli::main(std::env::args_os())
}
