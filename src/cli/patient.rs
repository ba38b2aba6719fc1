//! Files that wait for their readers, but for no longer than until the run is told to stop.

use std::fs::File;
use std::io::{self, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use sitemill::Stop;

/// How long a raised `stop` may go unseen while the reader takes nothing.
const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A pipe that can be written to takes so many bytes at once: pipe(7), `PIPE_BUF`.
const PIPE_BYTES: usize = 4096;

/// A file, perhaps a pipe that nobody reads.
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
    /// As to a file; any error if `stop` is raised while the reader takes nothing.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match poll(&mut [PollFd::new(self.file, PollFlags::OUT)], Some(&SILENCE)) {
                // Perhaps by the signal that raises it.
                Ok(0) | Err(Errno::INTR) if self.stop.is_raised() => {
                    return Err(io::Error::other("nobody reads it, and a signal came"));
                }
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.file.write(&bytes[..bytes.len().min(PIPE_BYTES)]),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
