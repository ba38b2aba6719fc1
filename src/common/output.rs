//! Outputs: files, FIFOs and standard streams, by their path. A write to a pipe waits for its reader only until the run is told
//! to stop.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;

use crate::common::pipe::{POLL_INTERVAL, wait};
use crate::common::stop::Stop;
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

/// Bytes that a writable pipe accepts in one write: pipe(7). 4096 on Linux, but only 512 on some other systems.
const PIPE_BYTES: usize = libc::PIPE_BUF;

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
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created; that of [`Stop::check`] if `stop` is raised while a
    /// FIFO has no reader.
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
