//! Files that sitemill did not write and that are in its way.

use std::path::Path;

use crate::error::{Error, ErrorKind, Message, message};

/// The error for a file at `path` that is in the way.
pub fn foreign(path: &Path) -> Error {
    in_the_way(path, 0, " and run again".into())
}

/// The error for a file at `path` and `others` more that are in the way. `then` completes the advice to move it.
pub fn in_the_way(path: &Path, others: usize, then: Message) -> Error {
    let others = if others == 0 { String::new() } else { format!(" (and {others} more)") };
    let words = message!(path, "{others}: is in the way and was not created by sitemill; move it", then);
    Error::new(ErrorKind::Output, words)
}
