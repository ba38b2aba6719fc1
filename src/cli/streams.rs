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

use sitemill::{Error, ErrorKind, Result, Target};

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
    match inputs.is_empty() {
        false if inputs.iter().any(is_stdin) => check_stdin().map(|()| inputs),
        false => Ok(inputs),
        true if io::stdin().is_terminal() => {
            Err(Error::usage("no input; name a file with one URL per line, or pipe one in"))
        }
        true => check_stdin().map(|()| vec!["-".into()]),
    }
}

/// Refuses to read from a closed standard input, which would look empty.
fn check_stdin() -> Result<()> {
    match IS_STDIN_CLOSED.load(Ordering::Relaxed) {
        true => Err(Error::new(ErrorKind::Input, "standard input: is closed; name a file, or pipe one in")),
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

/// Whether `path` is standard output, or in the directory of devices, which has the streams that are open already: `/dev/stdout`,
/// and `/dev/fd/63`, which a shell passes for `>(…)`.
pub fn is_stream(path: &Path) -> bool {
    let is_device = |parent: &Path| ["/dev", "/dev/fd"].map(Path::new).contains(&parent);
    path == Path::new("-") || path.parent().is_some_and(is_device)
}

/// The name of the output `path` in messages.
pub fn output_name(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new(STDOUT) } else { path }
}

/// Creates the file `path`. `-` and `/dev/stdout` are standard output. Standard output and standard error are duplicated and not
/// opened by path, because that would truncate a file that they are redirected to.
///
/// # Errors
/// If the file cannot be created, or the stream is closed.
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

/// The name of standard output in messages.
pub const STDOUT: &str = "standard output";

/// The error of a failed write to standard output.
pub fn stdout_unwritten(error: io::Error) -> Error {
    Error::io(Path::new(STDOUT), "could not be written", error)
}

/// Standard output for writes in large pieces.
pub struct Stdout(File);

impl Stdout {
    /// Duplicates standard output.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it is closed.
    pub fn new() -> Result<Self> {
        stdout().map(Self).map_err(|error| Error::io(Path::new(STDOUT), "is closed", error))
    }

    /// Standard output as the target of a command.
    pub fn target(&mut self) -> Target<'_> {
        Target { name: Path::new(STDOUT), to: self }
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
