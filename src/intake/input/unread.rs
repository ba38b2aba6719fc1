//! Inputs that were found: checks what a name refers to, and opens it to be read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use super::changed::has_changed;
use super::identity::Identity;
use crate::common::pipe::Fifo;
use crate::error::{Error, Result};
use crate::intake::format::{RawInput, SourceRows};
use crate::intake::read_at::{Pread, RemoteFile};

/// An input that was found but not read yet. A file is open only while it is examined or read, because there may be more files
/// than a process may open.
pub struct UnreadInput<'a> {
    name: PathBuf,
    stream: Stream<'a>,
}

enum Stream<'a> {
    File(Identity),
    Remote(Arc<dyn RemoteFile>),
    Pipe(Pipe),
    Rows(SourceRows<'a>),
}

#[derive(Debug)]
enum Pipe {
    Stdin,
    File(File),
    Fifo(Fifo),
}

impl<'a> UnreadInput<'a> {
    /// Rows from code.
    pub fn rows(name: PathBuf, rows: SourceRows<'a>) -> Self {
        Self { name, stream: Stream::Rows(rows) }
    }

    /// A file on another machine.
    #[cfg_attr(not(feature = "cloud"), allow(dead_code, reason = "only object stores have remote files"))]
    pub fn remote(name: PathBuf, file: Arc<dyn RemoteFile>) -> Self {
        Self { name, stream: Stream::Remote(file) }
    }

    /// Checks that `name` can be read, and opens it if it is a pipe. `-` is standard input.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is missing, unreadable, a directory or a device.
    pub fn open(name: &Path) -> Result<Self> {
        if name == Path::new("-") {
            return Ok(Self { name: name.into(), stream: Stream::Pipe(Pipe::Stdin) });
        }
        let unreadable = |error| Error::input(name, error);
        // Checked before opening: opening a tape drive may wind it.
        let meta = fs::metadata(name).map_err(unreadable)?;
        let kind = meta.file_type();
        if kind.is_dir() {
            return Err(unreadable(io::Error::other("is a directory")));
        }
        if kind.is_block_device() || (kind.is_char_device() && !is_usable_device(meta.rdev())) {
            return Err(unreadable(io::Error::other("is a device")));
        }
        if kind.is_fifo() {
            let fifo = Fifo::open(name).map_err(unreadable)?;
            return Ok(Self { name: name.into(), stream: Stream::Pipe(Pipe::Fifo(fifo)) });
        }
        let file = File::open(name).map_err(unreadable)?;
        let meta = file.metadata().map_err(unreadable)?;
        let stream = match meta.is_file() {
            true => Stream::File(Identity::of(&meta)),
            false => Stream::Pipe(Pipe::File(file)),
        };
        Ok(Self { name: name.into(), stream })
    }

    /// The name as the user gave it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Its path. Rows from code have none.
    pub fn path(&self) -> Option<&Path> {
        (!matches!(self.stream, Stream::Rows(_))).then_some(&*self.name)
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        matches!(self.stream, Stream::File(_))
    }

    /// Whether it is a file on another machine.
    pub fn is_remote(&self) -> bool {
        matches!(self.stream, Stream::Remote(_))
    }

    /// Whether it is a file of 0 bytes.
    pub fn is_empty(&self) -> bool {
        match &self.stream {
            Stream::File(identity) => identity.bytes() == 0,
            Stream::Remote(file) => file.len().is_ok_and(|bytes| bytes == 0),
            Stream::Pipe(_) | Stream::Rows(_) => false,
        }
    }

    /// Requests the first bytes of a file on another machine, which will be read soon.
    pub fn start(&self) {
        if let Stream::Remote(file) = &self.stream {
            file.start();
        }
    }

    /// Opens a file to look at its first bytes; it can still be read from its start afterwards. `None` for pipes and rows from
    /// code.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it can no longer be opened, [`ErrorKind::Data`] if its name now refers to another file.
    pub fn peek(&self) -> Result<Option<Box<dyn Read + Send>>> {
        Ok(match &self.stream {
            Stream::File(identity) => Some(Box::new(Pread::new(Arc::new(self.reopened(identity)?), 0))),
            Stream::Remote(file) => Some(Arc::clone(file).stream()),
            Stream::Pipe(_) | Stream::Rows(_) => None,
        })
    }

    fn reopened(&self, was: &Identity) -> Result<File> {
        let unreadable = |error| Error::input(&self.name, error);
        // A FIFO may have replaced the file, and opening it must not block.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file =
            rustix::fs::open(&self.name, flags, Mode::empty()).map_err(|error| unreadable(error.into()))?;
        let file = File::from(file);
        let now = Identity::of(&file.metadata().map_err(unreadable)?);
        match now.is_of_file_of(was) {
            true => Ok(file),
            false => Err(has_changed(&self.name)),
        }
    }

    /// Returns a reader of its bytes and, for a file, its identity when it was found.
    ///
    /// # Errors
    /// Same as [`UnreadInput::peek`].
    pub fn into_raw(self) -> Result<(RawInput<'a>, Option<Identity>)> {
        match self.stream {
            Stream::File(identity) => Ok((RawInput::File(self.reopened(&identity)?), Some(identity))),
            Stream::Remote(file) => Ok((RawInput::Remote(file), None)),
            Stream::Pipe(pipe) => Ok((RawInput::Stream(pipe.into_reader()), None)),
            Stream::Rows(rows) => Ok((RawInput::Rows(rows), None)),
        }
    }
}

impl Pipe {
    fn into_reader(self) -> Box<dyn Read + Send> {
        match self {
            Self::Stdin => Box::new(io::stdin()),
            Self::File(file) => Box::new(file),
            Self::Fifo(fifo) => Box::new(fifo),
        }
    }
}

/// Whether the character device with this number is `/dev/null`, the terminal, or a standard stream.
fn is_usable_device(number: u64) -> bool {
    ["/dev/null", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"].iter().any(|usable| {
        fs::metadata(usable).is_ok_and(|meta| meta.file_type().is_char_device() && meta.rdev() == number)
    })
}
