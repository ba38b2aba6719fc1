//! FIFOs and other pipes as inputs, and the wait for the other side of a pipe.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::common::stop::Stop;
use crate::common::thread_pool::no_threads;
use crate::error::Result;

/// The interval between checks for a raised `stop` or a failed input while the other side of a pipe is silent.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A FIFO that is opened without waiting for a writer, which may never come. Reads wait for a writer instead.
#[derive(Debug)]
pub struct Fifo(File);

impl Fifo {
    /// Opens the FIFO `name` for reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(name: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(name, flags, Mode::empty())?.into()))
    }
}

impl Read for Fifo {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            // Without this wait, a FIFO that has no writer yet would appear to have ended.
            while !wait(&self.0, PollFlags::IN, None)? {}
            match self.0.read(to) {
                // Another reader took the bytes first.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Bytes per read from a pipe: more than the 64 KiB that Linux buffers in one.
const READ_BYTES: usize = 128 << 10;

/// The first input that failed, as seen by one of the inputs. After a failure, pipes are no longer read, because they might be
/// silent forever.
#[derive(Debug, Clone)]
pub struct FirstFailure {
    first: Arc<AtomicUsize>,
    own: usize,
}

impl Default for FirstFailure {
    fn default() -> Self {
        Self { first: Arc::new(AtomicUsize::new(Self::NONE)), own: Self::NONE }
    }
}

impl FirstFailure {
    const NONE: usize = usize::MAX;

    /// The view of the input with this number.
    pub fn of(&self, number: usize) -> Self {
        Self { first: Arc::clone(&self.first), own: number }
    }

    /// Records that this input has failed.
    pub fn set(&self) {
        let _ = self.first.compare_exchange(Self::NONE, self.own, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns whether any input has failed.
    pub fn is_any(&self) -> bool {
        self.first.load(Ordering::Relaxed) != Self::NONE
    }

    /// Returns whether another input was the first to fail.
    pub fn is_another(&self) -> bool {
        self.is_any() && self.first.load(Ordering::Relaxed) != self.own
    }
}

/// A pipe that is read by a separate thread. A read that waits for a silent writer cannot be cancelled, and a raised `stop` or a
/// failed input must not wait for it.
pub struct PipeReader {
    incoming: Receiver<io::Result<Vec<u8>>>,
    buffer: Vec<u8>,
    at: usize,
    stop: Stop,
    failed: FirstFailure,
    /// The number of bytes received from the pipe so far.
    bytes: Arc<AtomicU64>,
}

impl PipeReader {
    /// Starts to read `pipe`. `bytes` counts what was received.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the thread cannot be started.
    pub fn new(
        mut pipe: Box<dyn Read + Send>,
        stop: &Stop,
        failed: &FirstFailure,
        bytes: &Arc<AtomicU64>,
    ) -> Result<Self> {
        let (sender, incoming) = bounded(4);
        let reading = move || {
            loop {
                let mut buffer = vec![0; READ_BYTES];
                let read = match pipe.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(1..));
                let buffer = read.map(|bytes| {
                    buffer.truncate(bytes);
                    buffer
                });
                if sender.send(buffer).is_err() || ended {
                    return;
                }
            }
        };
        thread::Builder::new().spawn(reading).map_err(|error| no_threads(&error))?;
        let (stop, failed, bytes) = (stop.clone(), failed.clone(), Arc::clone(bytes));
        Ok(Self { incoming, buffer: Vec::new(), at: 0, stop, failed, bytes })
    }
}

impl Read for PipeReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.buffer.len() {
            if self.stop.is_raised() || self.failed.is_any() {
                return Err(io::Error::other("the run was stopped, or another input has failed"));
            }
            match self.incoming.recv_timeout(POLL_INTERVAL) {
                Ok(buffer) => (self.buffer, self.at) = (buffer?, 0),
                // The thread has ended and sent everything.
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => continue,
            }
            if self.buffer.is_empty() {
                return Ok(0);
            }
            self.bytes.fetch_add(self.buffer.len() as u64, Ordering::Relaxed);
        }
        let bytes = to.len().min(self.buffer.len() - self.at);
        to[..bytes].copy_from_slice(&self.buffer[self.at..][..bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

/// Waits until `file` is ready for `flags` or a signal arrives, but no longer than `timeout`, if there is one. Returns whether the
/// file is ready.
///
/// # Errors
/// If the system cannot poll it.
pub fn wait(file: &File, flags: PollFlags, timeout: Option<Duration>) -> io::Result<bool> {
    let timeout = timeout.map(|timeout| Timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    match poll(&mut [PollFd::new(file, flags)], timeout.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        // Possibly interrupted by the signal that raises `stop`.
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
