//! A target: where a command writes its result.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// A writer, and its name for error messages.
pub struct Target<'a> {
    /// The name, such as a path or `standard output`.
    pub name: &'a Path,
    /// The writer.
    pub to: &'a mut dyn Write,
}

impl Target<'_> {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(|error| Error::io(self.name, "could not be written", error))
    }
}
