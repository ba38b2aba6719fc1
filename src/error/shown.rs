//! Paths in messages.

use std::fmt;
use std::path::Path;

use crate::escape::shown;

/// A path in a message. Its bytes are escaped, so that a file name cannot send control codes to a terminal.
pub(crate) struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.0.as_os_str().as_encoded_bytes()))
    }
}
