//! Files beside the set that a run tells something. One may be a pipe, and then the run waits for its reader, but for no
//! longer than until it is told to stop.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::common::stop::Stop;
use crate::error::{Error, Result};

/// Standard input or standard output, where a path is expected.
pub const STREAM: &str = "-";

/// Standard error may be named several times even if it leads to a file: it is not opened anew, so nothing is overwritten.
pub const STDERR: &str = "/dev/stderr";

/// How long it may take until a reader who has come is seen.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long a raised `stop` may go unseen while the reader is silent.
const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A pipe that has room takes so many bytes at once: pipe(7), `PIPE_BUF`.
const PIPE_BYTES: usize = 4096;

/// A new file, or whatever has its name.
#[derive(Debug)]
pub struct Outlet {
    file: File,
    /// Whether the file was open before, as standard output is: nothing about it may be changed for the others who hold it.
    is_shared: bool,
    stop: Stop,
}

impl Outlet {
    /// Creates it, or waits for the reader of a FIFO; `-` is standard output.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created, or if `stop` is raised.
    pub fn create(path: &Path, stop: &Stop) -> Result<Self> {
        if let Some(stream) = open_already(path) {
            let file = stream.map_err(|error| Error::output(path, error))?;
            return Ok(Self { file: file.into(), is_shared: true, stop: stop.clone() });
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(true).custom_flags(libc::O_NONBLOCK);
        loop {
            match options.open(path) {
                Ok(file) => return Ok(Self { file, is_shared: false, stop: stop.clone() }),
                // Nobody reads it yet.
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) && is_fifo(path) => {
                    stop.check()?;
                    thread::sleep(PATIENCE);
                }
                Err(error) => return Err(Error::output(path, error)),
            }
        }
    }
}

/// Standard output or standard error, if `path` means one of them. Opened by a path, a file behind it would be cut to nothing
/// and written from its start.
fn open_already(path: &Path) -> Option<io::Result<OwnedFd>> {
    match path {
        _ if path == Path::new(STREAM) || path == Path::new("/dev/stdout") => {
            Some(io::stdout().as_fd().try_clone_to_owned())
        }
        _ if path == Path::new(STDERR) => Some(io::stderr().as_fd().try_clone_to_owned()),
        _ => None,
    }
}

fn is_fifo(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

impl Write for Outlet {
    /// As of a file; any error if `stop` is raised while the reader takes nothing.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_shared {
            return Patient::new(&self.file, &self.stop).write(bytes);
        }
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
            if self.stop.is_raised() {
                return Err(io::Error::other("called off"));
            }
            await_room(&self.file)?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file that is open already, perhaps a pipe that nobody reads.
#[derive(Debug)]
pub struct Patient<'s> {
    file: &'s File,
    stop: &'s Stop,
}

impl<'s> Patient<'s> {
    /// One that gives `file` up when `stop` is raised.
    pub fn new(file: &'s File, stop: &'s Stop) -> Self {
        Self { file, stop }
    }
}

impl Write for Patient<'_> {
    /// As to the file, in pieces that a pipe with room takes; any error if `stop` is raised while the reader takes nothing.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while !await_room(self.file)? {
            if self.stop.is_raised() {
                return Err(io::Error::other("nobody reads it, and a signal came"));
            }
        }
        self.file.write(&bytes[..bytes.len().min(PIPE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Waits until `file` has room, or for some time; whether it has.
fn await_room(file: &File) -> io::Result<bool> {
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], Some(&SILENCE)) {
        Ok(ready) => Ok(ready > 0),
        // Perhaps by the signal that raises `stop`.
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
