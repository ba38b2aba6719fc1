//! Failures: panics become errors, and errors become lines on standard error.

use std::any::Any;
use std::error::Error as _;
use std::io;
use std::panic::{self, AssertUnwindSafe, catch_unwind};

use sitemill::{Error, ErrorKind, Message, Piece, Result, Setting};

use super::{flags, log};

/// Prints panics, except those by which the standard library tells that the system refuses something: [`caught`] turns these into
/// errors. Their backtrace would need memory, which is often what is refused, and without it the library waits for ever.
pub fn print_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| match refused(panic.payload()) {
        Some(_) => (),
        None => before(panic),
    }));
}

/// A request that the system refuses.
enum Refused {
    Thread,
    RandomBytes,
}

/// The request that the system has refused, if the standard library has panicked for that reason.
fn refused(panic: &dyn Any) -> Option<Refused> {
    let words =
        panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied())?;
    // A thread that has begun may still lack the stack for its signals.
    let of_threads = ["failed to spawn thread", "failed to allocate an alternative stack"];
    match words {
        _ if of_threads.iter().any(|of_thread| words.contains(of_thread)) => Some(Refused::Thread),
        _ if words.contains("failed to generate random data") => Some(Refused::RandomBytes),
        _ => None,
    }
}

/// Runs `work` and turns a panic in it into an error: lack of threads or random bytes, or else a bug.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        Err(match refused(&*panic) {
            Some(Refused::Thread) => {
                let words: Message = [
                    Piece::Text("cannot start more threads; use fewer ".into()),
                    Piece::Setting(Setting::Threads, None),
                    Piece::Text(", or raise the limits on processes and memory".into()),
                ]
                .into_iter()
                .collect();
                Error::new(ErrorKind::Memory, words)
            }
            Some(Refused::RandomBytes) => Error::new(ErrorKind::Io, "the system provides no random bytes"),
            None => Error::new(
                ErrorKind::Internal,
                "this is a bug in sitemill; please report it with the lines on standard error",
            ),
        })
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

/// Prints an error of a dry run, which has published nothing.
pub fn print_dry_warning(error: &Error) {
    log::warning(&with_cause(error));
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
