//! Failures: panics become errors, and errors become lines on standard error.

use std::error::Error as _;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sitemill::{Error, ErrorKind, Message, Piece, Result, Setting};

use super::{flags, log};

/// Runs `work` and turns a panic in it into an error: lack of threads or random bytes, or else a bug.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // The standard library panics if the system refuses a thread. That is not a bug.
        if panic.downcast_ref::<String>().is_some_and(|words| words.contains("failed to spawn thread")) {
            let words: Message = [
                Piece::Text("cannot start more threads; use fewer ".into()),
                Piece::Setting(Setting::Threads, None),
                Piece::Text(", or raise the limits on processes and memory".into()),
            ]
            .into_iter()
            .collect();
            return Err(Error::new(ErrorKind::Memory, words));
        }
        // It also panics if the system refuses random bytes.
        if panic.downcast_ref::<&str>().is_some_and(|words| words.contains("failed to generate random data"))
        {
            return Err(Error::new(ErrorKind::Io, "the system provides no random bytes"));
        }
        Err(Error::new(
            ErrorKind::Internal,
            "this is a bug in sitemill; please report it with the lines on standard error",
        ))
    })
}

/// Prints an error and its cause in one line.
pub fn print_error(error: &Error) {
    let cause = error.source().map(ToString::to_string);
    let exit_code = error.kind().exit_code();
    match error.kind() {
        ErrorKind::Signal(_) => log::interrupted(&with_cause(error), exit_code),
        _ => log::error(&with_cause(error), exit_code, cause.as_deref()),
    }
}

/// Prints an error that occurred after the new set went live. The run itself succeeded.
pub fn print_warning(error: &Error) {
    log::warning(&format!("{}; the new set is live", with_cause(error)));
}

/// The message of an error, followed by its cause.
pub fn with_cause(error: &Error) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    flags::error_text(error) + &cause
}

/// Whether the reader of a pipe has closed it.
pub fn is_broken_pipe(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
