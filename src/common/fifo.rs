//! FIFOs and other pipes. A run waits for the other side of a pipe only until it is told to stop. All such waits are here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
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
use crate::error::{Error, Result};

/// Standard input or standard output, where a path is expected.
pub const STREAM: &str = "-";

/// The name of standard output in messages.
pub const STDOUT_NAME: &str = "standard output";

/// The name of the output `path` in messages: `-` is standard output.
pub fn output_name(path: &Path) -> &Path {
    if path == Path::new(STREAM) { Path::new(STDOUT_NAME) } else { path }
}

/// Returns whether the output `path` is standard output: `-`, or a path that leads to its descriptor.
pub fn is_stdout(path: &Path) -> bool {
    is_any(path, &[STREAM, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
}

/// Returns whether `path` is standard error. Several outputs may use it, even if it is a file: it is not reopened, so nothing is
/// overwritten.
pub fn is_stderr(path: &Path) -> bool {
    is_any(path, &["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"])
}

/// Returns whether `path` is written in place: `-`, a device in `/dev`, or a file that is open already, such as `/dev/fd/63`, which
/// a shell passes for `>(…)`.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new(STREAM) || path.parent() == Some(Path::new("/dev")) || is_descriptor(path)
}

/// Returns whether `path` names a descriptor of a process: a file in `/dev/fd`, or in an `fd` directory below `/proc`.
fn is_descriptor(path: &Path) -> bool {
    path.parent() == Some(Path::new("/dev/fd"))
        || path.starts_with("/proc") && path.parent().is_some_and(|directory| directory.ends_with("fd"))
}

fn is_any(path: &Path, paths: &[&str]) -> bool {
    paths.iter().any(|other| path == Path::new(other))
}

/// Opens the output `path`, which may exist. Standard output and standard error are duplicated. Nothing that is open already is
/// truncated.
///
/// # Errors
/// If it cannot be created.
pub fn create_output(path: &Path) -> io::Result<File> {
    match standard_stream(path) {
        Some(stream) => stream.map(File::from),
        None => creating(path).open(path),
    }
}

/// How the output `path` is opened. Truncating a file that a shell has opened with `>>` would destroy what it has.
fn creating(path: &Path) -> OpenOptions {
    let mut options = File::options();
    match is_descriptor(path) {
        true => options.append(true),
        false => options.write(true).create(true).truncate(true),
    };
    options
}

/// The interval between checks whether a reader has opened the FIFO.
const READER_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The interval between checks for a raised `stop` or a failed input while the other side of a pipe is silent.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Bytes that a writable pipe accepts in one write: pipe(7), `PIPE_BUF`.
const PIPE_BYTES: usize = 4096;

/// An output: a file, a FIFO, or a standard stream.
#[derive(Debug)]
pub struct Outlet {
    file: File,
    /// Whether the file was open before, as standard output is. Other processes may share it, so its flags must not change.
    is_shared: bool,
    stop: Stop,
}

impl Outlet {
    /// Creates the file, or opens the FIFO and waits for its reader. `-` is standard output.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created, or if `stop` is raised.
    pub fn create(path: &Path, stop: &Stop) -> Result<Self> {
        if let Some(stream) = standard_stream(path) {
            let file = stream.map_err(|error| Error::output(path, error))?;
            return Ok(Self { file: file.into(), is_shared: true, stop: stop.clone() });
        }
        let mut options = creating(path);
        options.custom_flags(libc::O_NONBLOCK);
        loop {
            match options.open(path) {
                Ok(file) => return Ok(Self { file, is_shared: false, stop: stop.clone() }),
                // The FIFO has no reader yet.
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) && is_fifo(path) => {
                    stop.check()?;
                    thread::sleep(READER_POLL_INTERVAL);
                }
                Err(error) => return Err(Error::output(path, error)),
            }
        }
    }
}

/// Standard output or standard error, if `path` means one of them. Only a duplicate shares their position in a file.
fn standard_stream(path: &Path) -> Option<io::Result<OwnedFd>> {
    if is_stdout(path) {
        return Some(io::stdout().as_fd().try_clone_to_owned());
    }
    is_stderr(path).then(|| io::stderr().as_fd().try_clone_to_owned())
}

fn is_fifo(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

impl Write for Outlet {
    /// Writes as to a file. Fails if `stop` is raised while the reader is not reading.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_shared {
            return StoppableWriter::new(&self.file, &self.stop).write(bytes);
        }
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
            if self.stop.is_raised() {
                return Err(stopped());
            }
            wait(&self.file, PollFlags::OUT, Some(POLL_INTERVAL))?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A writer to an open file that can be stopped while it waits for the reader of a pipe.
#[derive(Debug)]
pub struct StoppableWriter<'s> {
    file: &'s File,
    stop: &'s Stop,
}

impl<'s> StoppableWriter<'s> {
    /// Writes to `file` until `stop` is raised.
    pub fn new(file: &'s File, stop: &'s Stop) -> Self {
        Self { file, stop }
    }
}

impl Write for StoppableWriter<'_> {
    /// Writes in pieces that a writable pipe accepts at once. Fails if `stop` is raised while the reader is not reading.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while !wait(self.file, PollFlags::OUT, Some(POLL_INTERVAL))? {
            if self.stop.is_raised() {
                return Err(stopped());
            }
        }
        self.file.write(&bytes[..bytes.len().min(PIPE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn stopped() -> io::Error {
    io::Error::other("nobody reads it, and the run was stopped")
}

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
pub struct Failed {
    first: Arc<AtomicUsize>,
    own: usize,
}

impl Default for Failed {
    fn default() -> Self {
        Self { first: Arc::new(AtomicUsize::new(Self::NONE)), own: Self::NONE }
    }
}

impl Failed {
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
    failed: Failed,
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
        failed: &Failed,
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

/// Waits until `file` is ready for `flags`, but no longer than `timeout`. Returns whether it is ready.
fn wait(file: &File, flags: PollFlags, timeout: Option<Duration>) -> io::Result<bool> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_devices_and_open_files_are_written_in_place() {
        for (path, are) in [
            ("-", true),
            ("/dev/null", true),
            ("/dev/stdout", true),
            ("/dev/fd/63", true),
            ("/proc/self/fd/1", true),
            ("/proc/self/task/7/fd/1", true),
            ("/proc/self/cwd/rejects.tsv", false),
            ("/dev/shm/rejects.tsv", false),
            ("dev/null", false),
            ("rejects.tsv", false),
        ] {
            assert_eq!(is_stream(Path::new(path)), are, "{path}");
        }
    }
}
