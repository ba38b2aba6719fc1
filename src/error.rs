//! Errors of a run: messages for the person who must act, and exit codes for programs.

pub(crate) mod message;
mod missing;
mod setting;
mod shown;

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io};

use crate::words::grouped;

pub(crate) use message::message;
pub use message::{Message, Piece};
pub(crate) use missing::{URL_OF_FILE, is_in_store, is_on_web_server, is_url, is_url_with_one_slash};
pub use setting::Setting;
pub(crate) use shown::Shown;
#[cfg(feature = "cloud")]
pub(crate) use shown::{SCHEMES_OF_CONTAINERS, without_secrets};

/// `Result` with sitemill's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run failed. The numbers are the exit codes of the command line, after `sysexits.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// 2: the options contradict each other or the protocol.
    Usage,
    /// 65: bad data: nothing valid, too many rejects, or an input that changed while it was read.
    Data,
    /// 66: an input is missing or cannot be read.
    Input,
    /// 70: an internal invariant is violated: a bug in sitemill.
    Internal,
    /// 71: there is not enough memory for data that grows with the input.
    Memory,
    /// 73: the output cannot be created.
    Output,
    /// 74: reading or writing failed during the run.
    Io,
    /// 75: another run has locked the output directory. This is the only kind of error that a retry can fix.
    Busy,
    /// 77: the operating system or a store denied access.
    Permission,
    /// 128 + signal number: stopped by a signal.
    Signal(i32),
}

impl ErrorKind {
    /// Returns the exit code of the process.
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
            Self::Signal(number) => u8::try_from(number.saturating_add(128)).unwrap_or(u8::MAX),
        }
    }
}

/// The error of a failed run: its kind, a message that names the file and a remedy, and the underlying cause.
#[derive(Debug)]
pub struct Error(Box<Inside>);

/// Boxed, so that a `Result` is no larger than its success value.
#[derive(Debug)]
struct Inside {
    kind: ErrorKind,
    message: Message,
    source: Option<io::Error>,
    /// What this build does not do with the URL that it is about.
    unsupported: Option<UrlUse>,
}

/// A use of a URL that not every build supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlUse {
    /// Reading an input, which another program can copy, or pipe in.
    Input,
    /// Publishing a set, whose files another program can copy there.
    Output,
}

const _: () = assert!(size_of::<Result<()>>() == size_of::<usize>());

impl Error {
    /// Creates an error without an underlying cause.
    pub fn new(kind: ErrorKind, message: impl Into<Message>) -> Self {
        Self(Box::new(Inside { kind, message: message.into(), source: None, unsupported: None }))
    }

    /// Creates an error of the kind [`ErrorKind::Usage`]: the options contradict each other or the protocol.
    pub fn usage(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Creates an error of the kind [`ErrorKind::Data`]: the data cannot be published.
    pub fn data(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// Creates an error of the kind [`ErrorKind::Input`]: the input `path` cannot be read. The message explains paths that are
    /// URLs, or patterns without a match.
    pub fn input(path: &Path, source: io::Error) -> Self {
        if let Some(why) = missing::explain(path, &source) {
            return Self::new(ErrorKind::Input, message!(path, ": {why}"));
        }
        Self::from_io(ErrorKind::Input, message!(path, ": cannot be read"), source)
    }

    /// Creates an error of the kind [`ErrorKind::Output`]: `path` cannot be created. The message explains URLs, and paths in
    /// directories that do not exist.
    pub fn output(path: &Path, source: io::Error) -> Self {
        if let Some(why) = missing::explain_output(path, &source) {
            return Self::new(ErrorKind::Output, message!(path, ": {why}"));
        }
        Self::uncreated(message!(path, ": cannot be created"), source)
    }

    /// Creates an error of the kind [`ErrorKind::Output`], whose `message` says what cannot be created.
    pub(crate) fn uncreated(message: Message, source: io::Error) -> Self {
        Self::from_io(ErrorKind::Output, message, source)
    }

    /// Creates an error of the kind [`ErrorKind::Permission`] or [`ErrorKind::Io`], depending on `source`: reading or writing
    /// `path` failed. `doing` describes the failure, such as "could not be written".
    pub fn io(path: &Path, doing: impl Into<Message>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            _ => ErrorKind::Io,
        };
        Self::from_io(kind, message!(path, ": ", doing.into()), source)
    }

    /// Code of the caller failed with `cause`. `doing` describes the failure, such as "row 5 could not be read". An [`Error`] stays
    /// the cause, unlike in [`Error::io`], because its kind is not about this run.
    pub(crate) fn of_caller(name: &Path, doing: &str, cause: Box<dyn StdError + Send + Sync>) -> Self {
        let source = Some(io::Error::other(cause));
        let mut error = Self::new(ErrorKind::Io, message!(name, ": {doing}"));
        error.0.source = source;
        error
    }

    /// There is no memory for `bytes` more bytes of data that grows with the input.
    pub(crate) fn no_memory(bytes: usize) -> Self {
        let bytes = grouped(bytes as u64);
        let message = message!(
            "no memory for {bytes} more bytes; lower ",
            Setting::Memory,
            ", or use fewer ",
            Setting::Threads
        );
        Self::new(ErrorKind::Memory, message)
    }

    fn from_io(kind: ErrorKind, message: Message, source: io::Error) -> Self {
        // An error that wraps one of ours already has a complete message.
        source.downcast().unwrap_or_else(|source| {
            let mut error = Self::new(kind, message);
            error.0.source = Some(source);
            error
        })
    }

    /// Whether `error` wraps an [`Error`] that passes through code that knows only I/O errors.
    pub(crate) fn is_carried_by(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|cause| cause.is::<Self>())
    }

    /// Adds `context` before the message.
    pub(crate) fn within(mut self, context: impl Into<Message>) -> Self {
        self.0.message = message!(context.into(), ": ", &self.0.message);
        self
    }

    /// Marks the error as one about a `url_use` that this build does not support.
    pub(crate) fn of_unsupported(mut self, url_use: UrlUse) -> Self {
        self.0.unsupported = Some(url_use);
        self
    }

    /// Appends the remedy `way_out` to the message.
    pub(crate) fn and(mut self, way_out: impl Into<Message>) -> Self {
        self.0.message = message!(&self.0.message, "; ", way_out.into());
        self
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether this user lacks a permission, also to read what was given as an input.
    pub(crate) fn is_denied(&self) -> bool {
        let is_denied = |source: &io::Error| source.kind() == io::ErrorKind::PermissionDenied;
        self.kind() == ErrorKind::Permission || self.0.source.as_ref().is_some_and(is_denied)
    }

    /// Returns the message, for front ends that write settings differently than `Display`.
    pub fn message(&self) -> &Message {
        &self.0.message
    }

    /// Returns the file or directory that the error is about: the first path in the message. A URL has no user name, password,
    /// fragment or query, which may be secrets.
    pub fn path(&self) -> Option<&Path> {
        self.0.message.path()
    }

    /// Returns what this build does not do with the URL that the error is about, if another program can do that.
    pub fn unsupported(&self) -> Option<UrlUse> {
        self.0.unsupported
    }

    /// Returns the settings that the message refers to, both wrong ones and ones that would help.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.0.message.settings()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.message.fmt(f)
    }
}

/// Lets readers of remote files return an [`Error`] where readers of local files return an I/O error.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|cause| cause as _)
    }
}
