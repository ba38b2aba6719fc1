//! Standard input and output: whether they are there, and how they are written to.
//!
//! A shell closes standard output with `>&-`. Before `main` runs, the standard library opens `/dev/null` in the place of every
//! standard stream that is closed, and from then on what is written there vanishes without an error. Afterwards nobody can tell:
//! `/dev/null` open for reading and writing is also what Python and Node give a child whose output is not wanted. So this is
//! looked at earlier, by a function that the loader calls before `main`.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sitemill::{Error, ErrorKind, Result};

static IS_STDIN_CLOSED: AtomicBool = AtomicBool::new(false);
static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds pointers to functions that the loader calls once, on the only thread, before `main`; some loaders
// pass arguments, which a C function may leave unread. If a system ignores the section, both streams are taken as open.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Runs before the standard library is set up, and so calls nothing of it but atomics.
extern "C" fn look() {
    // SAFETY: fcntl with F_GETFD takes any number and only looks; it fails for one that is no open file.
    let is_closed = |fd| unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1;
    IS_STDIN_CLOSED.store(is_closed(libc::STDIN_FILENO), Ordering::Relaxed);
    IS_STDOUT_CLOSED.store(is_closed(libc::STDOUT_FILENO), Ordering::Relaxed);
}

/// The named inputs; standard input if none is named and it is no terminal.
///
/// # Errors
/// If no input is named at a terminal, or if standard input is to be read and is closed.
pub fn inputs_or_stdin(inputs: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let is_stdin = |input: &PathBuf| input == Path::new("-");
    match inputs.is_empty() {
        false if inputs.iter().any(is_stdin) => check_stdin().map(|()| inputs),
        false => Ok(inputs),
        true if io::stdin().is_terminal() => {
            Err(Error::usage("no input; name a file with one URL a line, or pipe one in"))
        }
        true => check_stdin().map(|()| vec!["-".into()]),
    }
}

/// Refuses to read from a standard input that is closed: it would look like an empty one.
fn check_stdin() -> Result<()> {
    match IS_STDIN_CLOSED.load(Ordering::Relaxed) {
        true => Err(Error::new(ErrorKind::Input, "standard input: is closed; name a file, or pipe one in")),
        false => Ok(()),
    }
}

/// Standard output as a file, without the buffer that the library puts before it.
///
/// # Errors
/// If it is closed.
pub fn stdout() -> io::Result<File> {
    match IS_STDOUT_CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::from_raw_os_error(libc::EBADF)),
        false => io::stdout().as_fd().try_clone_to_owned().map(File::from),
    }
}

/// Creates the file `path`. Standard output, `-` among its names, and standard error are written to as they are: opened by a
/// path, a file behind them would be cut to nothing.
///
/// # Errors
/// If it cannot be created, or is closed.
pub fn create(path: &Path) -> Result<File> {
    let is = |name: &str| path == Path::new(name);
    if is("-") || is("/dev/stdout") {
        return Stdout::new().map(|stdout| stdout.0);
    }
    let file = match is("/dev/stderr") {
        true => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        false => File::create(path),
    };
    file.map_err(|error| Error::output(path, error))
}

/// Standard output for what comes in large pieces.
pub struct Stdout(File);

impl Stdout {
    /// # Errors
    /// [`ErrorKind::Io`] if it is closed.
    pub fn new() -> Result<Self> {
        stdout().map(Self).map_err(|error| Error::io(Path::new("standard output"), "is closed", error))
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
