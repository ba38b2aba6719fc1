//! Runs that were stopped before they published anything.

use crate::error::{Error, ErrorKind};

/// Adds to the error of [`Stop::check`](crate::Stop::check) that nothing was published. The error of a store that has not answered
/// is left alone: it names a path, and the set may be live.
pub fn unpublished(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Signal(_) if error.path().is_none() => error.and("nothing was published"),
        _ => error,
    }
}
