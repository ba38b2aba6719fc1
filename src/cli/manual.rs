//! `sitemill completions` and `sitemill man`, generated from the definitions of the help.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use sitemill::{Error, Result};

use super::args::Args;
use super::streams::Stdout;

/// Writes completions for `shell`.
pub fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "sitemill", &mut script);
    print(&script)
}

/// Writes the manual page of a command, or of sitemill itself.
pub fn page(command: Option<&str>) -> Result<()> {
    let mut all = Args::command();
    // This copies the options of all commands to each of them.
    all.build();
    let about = match command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(known) => known.clone(),
            None => return Err(Error::usage(format!("no command {name:?}; sitemill --help lists them"))),
        },
    };
    let mut page = Vec::new();
    Man::new(about).render(&mut page).expect("memory takes bytes");
    print(&page)
}

fn print(text: &[u8]) -> Result<()> {
    match Stdout::new()?.write_all(text) {
        // A reader may stop early.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io(Path::new("standard output"), "could not be written", error))
        }
        _ => Ok(()),
    }
}
