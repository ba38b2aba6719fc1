//! Files that sitemill did not write and that are in its way.

use std::path::Path;

use crate::error::{Error, ErrorKind, message};

/// The error for a file at `path` that is in the way.
pub fn foreign(path: &Path) -> Error {
    Error::new(
        ErrorKind::Output,
        message!(path, ": is in the way and was not created by sitemill; move it and run again"),
    )
}
