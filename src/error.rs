//! What can go wrong in a run, in words for the person who must act, and the exit code that tells a program.

mod missing;
mod shown;

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io};

pub(crate) use missing::is_url;
pub(crate) use shown::Shown;

/// `Result` with sitemill's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run ended without success. The numbers are the exit codes of the command line, after `sysexits.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// A failed run: its kind, a sentence that names the file and the way out, and the cause beneath it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// An error with no cause beneath it.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The options contradict each other or the protocol.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The data cannot be published.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// `path` is no input that can be read. A URL or a pattern that matches nothing is told as such.
    pub fn input(path: &Path, source: io::Error) -> Self {
        if let Some(why) = missing::explain(path, &source) {
            return Self::new(ErrorKind::Input, format!("{}: {why}", Shown(path)));
        }
        Self::from_io(ErrorKind::Input, format!("{}: cannot be read", Shown(path)), source)
    }

    /// `path` cannot be created or written to.
    pub fn output(path: &Path, source: io::Error) -> Self {
        Self::from_io(ErrorKind::Output, format!("{}: cannot be created", Shown(path)), source)
    }

    /// Something failed on the way: `doing` says what, as in "could not be written".
    pub fn io(path: &Path, doing: &str, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            _ => ErrorKind::Io,
        };
        Self::from_io(kind, format!("{}: {doing}", Shown(path)), source)
    }

    /// `bytes` more, of what grows with the input, cannot be had.
    pub(crate) fn no_memory(bytes: usize) -> Self {
        let way_out = "let less be held with --memory SIZE, or use fewer --threads";
        Self::new(ErrorKind::Memory, format!("no memory for {bytes} bytes more; {way_out}"))
    }

    fn from_io(kind: ErrorKind, message: String, source: io::Error) -> Self {
        Self { kind, message, source: Some(source) }
    }

    /// The same, with what it means said before it.
    pub(crate) fn within(self, context: &str) -> Self {
        Self { message: format!("{context}: {}", self.message), ..self }
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|cause| cause as _)
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

/// The same of `items` that may fail.
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
