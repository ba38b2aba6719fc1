//! What can go wrong in a run, in words for the person who must act, and the exit code that tells a program.

pub(crate) mod message;
mod missing;
mod setting;
mod shown;

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io};

pub(crate) use message::message;
pub use message::{Message, Piece};
pub(crate) use missing::is_url;
pub use setting::Setting;
pub(crate) use shown::Shown;

/// `Result` with sitemill's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run ended without success. The numbers are the exit codes of the command line, after `sysexits.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// 2: the options contradict each other or the protocol.
    Usage,
    /// 65: the data: nothing valid, too many rejects, changed while it was read.
    Data,
    /// 66: an input is missing or cannot be read.
    Input,
    /// 70: a promise of sitemill does not hold: a bug.
    Internal,
    /// 71: memory that grows with the input could not be had.
    Memory,
    /// 73: the output cannot be created.
    Output,
    /// 74: reading or writing failed on the way.
    Io,
    /// 75: another run holds the output directory; the only kind that a retry cures.
    Busy,
    /// 77: the operating system forbids it.
    Permission,
    /// 128 + signal: stopped from outside.
    Signal(i32),
}

impl ErrorKind {
    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Data => 65,
            Self::Input => 66,
            Self::Internal => 70,
            Self::Memory => 71,
            Self::Output => 73,
            Self::Io => 74,
            Self::Busy => 75,
            Self::Permission => 77,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

/// A failed run: its kind, a message that names the file and the way out, and the cause beneath it.
#[derive(Debug)]
pub struct Error(Box<Inside>);

/// In a box, so that a `Result` is as small as what it holds when nothing is wrong.
#[derive(Debug)]
struct Inside {
    kind: ErrorKind,
    message: Message,
    source: Option<io::Error>,
}

const _: () = assert!(size_of::<Result<()>>() == size_of::<usize>());

impl Error {
    /// An error with no cause beneath it.
    pub fn new(kind: ErrorKind, message: impl Into<Message>) -> Self {
        Self(Box::new(Inside { kind, message: message.into(), source: None }))
    }

    /// The options contradict each other or the protocol.
    pub fn usage(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The data cannot be published.
    pub fn data(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// `path` is no input that can be read. A URL or a pattern that matches nothing is told as such.
    pub fn input(path: &Path, source: io::Error) -> Self {
        if let Some(why) = missing::explain(path, &source) {
            return Self::new(ErrorKind::Input, message!(path, ": {why}"));
        }
        Self::from_io(ErrorKind::Input, message!(path, ": cannot be read"), source)
    }

    /// `path` cannot be created or written to.
    pub fn output(path: &Path, source: io::Error) -> Self {
        Self::from_io(ErrorKind::Output, message!(path, ": cannot be created"), source)
    }

    /// Something failed on the way: `doing` says what, as in "could not be written".
    pub fn io(path: &Path, doing: impl Into<Message>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            _ => ErrorKind::Io,
        };
        Self::from_io(kind, message!(path, ": ", doing.into()), source)
    }

    /// `bytes` more, of what grows with the input, cannot be had.
    pub(crate) fn no_memory(bytes: usize) -> Self {
        let message = message!(
            "no memory for {bytes} bytes more; lower ",
            Setting::Memory,
            ", or use fewer ",
            Setting::Threads
        );
        Self::new(ErrorKind::Memory, message)
    }

    fn from_io(kind: ErrorKind, message: Message, source: io::Error) -> Self {
        Self(Box::new(Inside { kind, message, source: Some(source) }))
    }

    /// Adds `context` before the message.
    pub(crate) fn within(mut self, context: impl Into<Message>) -> Self {
        self.0.message = message!(context.into(), ": ", &self.0.message);
        self
    }

    /// Adds `way_out` after the message.
    pub(crate) fn and(mut self, way_out: impl Into<Message>) -> Self {
        self.0.message = message!(&self.0.message, "; ", way_out.into());
        self
    }

    /// The kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, for those who name settings in other words than `Display` does.
    pub fn message(&self) -> &Message {
        &self.0.message
    }

    /// The file or directory that the error is about: the first that its message names.
    pub fn path(&self) -> Option<&Path> {
        self.0.message.path()
    }

    /// The settings that the message points at: those that are wrong, and those that help.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.0.message.settings()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.message.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|cause| cause as _)
    }
}

/// Makes room for `more` items of a list that grows bit by bit, and for as many again.
///
/// # Errors
/// As [`reserve`].
pub(crate) fn reserve_more<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    match items.capacity() - items.len() < more {
        true => reserve(items, more.max(items.len())),
        false => Ok(()),
    }
}

/// Makes room for `more` items that grow with the input.
///
/// # Errors
/// [`ErrorKind::Memory`], with the number of bytes and the way out.
pub(crate) fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    items.try_reserve_exact(more).map_err(|_| Error::no_memory(more.saturating_mul(size_of::<T>())))
}

/// `items` as a list, with room for as many as they can be.
///
/// # Errors
/// As [`reserve`].
pub(crate) fn list<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    try_list(items.map(Ok))
}

/// Collects `items` that may fail into a list, with room for as many as they can be.
///
/// # Errors
/// The first of them, or as [`reserve`].
pub(crate) fn try_list<T>(items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (least, most) = items.size_hint();
    let mut list = Vec::new();
    reserve(&mut list, most.unwrap_or(least))?;
    for item in items {
        reserve_more(&mut list, 1)?;
        list.push(item?);
    }
    Ok(list)
}

/// A copy of `items`.
///
/// # Errors
/// As [`reserve`].
pub(crate) fn copy<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    reserve(&mut copy, items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}
