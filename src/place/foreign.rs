//! Errors for files that another program wrote or changed.

use std::path::Path;

use crate::error::{Error, ErrorKind, Message, message};
use crate::words::and_more;

/// The error for a file at `path` that is in the way.
pub fn foreign(path: &Path) -> Error {
    in_the_way(path, 0, " and run again".into())
}

/// The error for something at `path` that is not a directory. It may be a link that `leads_nowhere`.
pub fn no_directory(path: &Path, leads_nowhere: bool) -> Error {
    let what = match leads_nowhere {
        true => "is a link to a directory that does not exist; create the directory, or remove the link",
        false => "is not a directory",
    };
    Error::new(ErrorKind::Output, message!(path, ": {what}"))
}

/// The error of a run that has not committed, for a live manifest at `path` that is not the one that it succeeds.
pub fn changed_before_commit(path: &Path) -> Error {
    before_commit(path, "changed")
}

/// The error of a run that has not committed, for a sitemap at `path` that it counts on and that is gone.
pub fn removed_before_commit(path: &Path) -> Error {
    before_commit(path, "removed")
}

fn before_commit(path: &Path, what: &str) -> Error {
    Error::new(
        ErrorKind::Busy,
        message!(path, ": was {what} during this run, so nothing was published; run again"),
    )
}

/// The error for an object that has changed since it was read.
#[cfg(feature = "cloud")]
pub fn changed(path: &Path) -> Error {
    let words = "was changed by another run or program in the meantime; run again";
    Error::new(ErrorKind::Busy, message!(path, ": {words}"))
}

/// The error for a file at `path` and `others` more that are in the way. `then` completes the advice to move it.
pub fn in_the_way(path: &Path, others: usize, then: Message) -> Error {
    let why = match others {
        0 => "is in the way and was not created by sitemill; move it",
        _ => "are in the way and were not created by sitemill; move them",
    };
    let others = and_more(others);
    let words = message!(path, "{others}: {why}", then);
    Error::new(ErrorKind::Output, words)
}
