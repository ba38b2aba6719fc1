//! Standard input and output: whether they are open, and how results are written to them.
//!
//! A shell closes standard output with `>&-`. Before `main` runs, the standard library replaces every closed standard stream with
//! `/dev/null`, and writes to it succeed. By then the two cases look alike, because Python and Node also pass `/dev/null` to a
//! child whose output is unwanted. So a function that the loader calls before `main` looks at the streams.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sitemill::process::{STDOUT_NAME, create_output, is_stdout};
use sitemill::{Error, ErrorKind, Result, Target};

use super::settings;

static IS_STDIN_CLOSED: AtomicBool = AtomicBool::new(false);
static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds pointers to functions that the loader calls once, on the only thread, before `main`; some loaders
// pass arguments, which a C function may ignore. If a system ignores the section, both streams are assumed to be open.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Runs before the standard library is initialised, so it uses only atomics from it.
extern "C" fn look() {
    // SAFETY: fcntl with F_GETFD accepts any number and changes nothing; it fails if the number is not an open file.
    let is_closed = |fd| unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1;
    IS_STDIN_CLOSED.store(is_closed(libc::STDIN_FILENO), Ordering::Relaxed);
    IS_STDOUT_CLOSED.store(is_closed(libc::STDOUT_FILENO), Ordering::Relaxed);
}

/// The named inputs. Without any, standard input, unless it is a terminal.
///
/// # Errors
/// If no input is named at a terminal, or if standard input is to be read and is closed.
pub fn inputs_or_stdin(inputs: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let is_stdin = |input: &PathBuf| input == Path::new("-");
    if inputs.is_empty() {
        settings::warn_of_input_variables();
    }
    match inputs.is_empty() {
        false if inputs.iter().any(is_stdin) => check_stdin().map(|()| inputs),
        false => Ok(inputs),
        true if io::stdin().is_terminal() => {
            Err(Error::usage("no input; give a file with one URL per line, or pipe one in"))
        }
        true => check_stdin().map(|()| vec!["-".into()]),
    }
}

/// Refuses to read from a closed standard input, which would look empty.
fn check_stdin() -> Result<()> {
    match IS_STDIN_CLOSED.load(Ordering::Relaxed) {
        true => Err(Error::new(ErrorKind::Input, "standard input: is closed; give a file, or pipe one in")),
        false => Ok(()),
    }
}

/// Standard output as an unbuffered file.
///
/// # Errors
/// If it is closed.
pub fn stdout() -> io::Result<File> {
    match IS_STDOUT_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::from_raw_os_error(libc::EBADF)),
        false => io::stdout().as_fd().try_clone_to_owned().map(File::from),
    }
}

/// Creates the file `path`, or opens the stream that it names.
///
/// # Errors
/// If the file cannot be created, or the stream is closed.
pub fn create(path: &Path) -> Result<File> {
    match is_stdout(path) {
        true => Stdout::new().map(|stdout| stdout.0),
        false => create_output(path).map_err(|error| Error::output(path, error)),
    }
}

/// The error of a failed write to standard output.
pub fn stdout_unwritten(error: io::Error) -> Error {
    Error::io(Path::new(STDOUT_NAME), "could not be written", error)
}

/// Standard output for writes in large pieces.
pub struct Stdout(File);

impl Stdout {
    /// Duplicates standard output.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it is closed.
    pub fn new() -> Result<Self> {
        stdout().map(Self).map_err(|error| Error::io(Path::new(STDOUT_NAME), "is closed", error))
    }

    /// Standard output as the target of a command.
    pub fn target(&mut self) -> Target<'_> {
        Target { name: Path::new(STDOUT_NAME), to: self }
    }

    /// Writes all of `text`. A reader may stop early.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print(&mut self, text: &[u8]) -> Result<()> {
        match self.write_all(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(stdout_unwritten),
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
