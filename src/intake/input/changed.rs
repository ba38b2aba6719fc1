//! Errors about inputs that change while they are read.

use std::path::Path;

use crate::error::{Error, ErrorKind, message};

/// The error for a file that was replaced or changed.
pub fn has_changed(name: &Path) -> Error {
    Error::data(message!(name, ": changed while it was being read; run again on a copy"))
}

/// The error for a file that has the same size and the same time, but was changed in some way since.
pub fn was_touched(name: &Path) -> Error {
    let words = "its owner, mode or links (or its content, and its time was set back)";
    Error::data(message!(name, ": {words} changed while it was being read; run again on a copy"))
}

/// The error for a file that was truncated, or whose disk failed: the bytes read from lost pages are not data.
pub fn cut_short(name: &Path) -> Error {
    let words = ": changed while it was being read, or its disk failed; run again on a copy";
    Error::new(ErrorKind::Io, message!(name, "{words}"))
}
