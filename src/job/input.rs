//! The input files of a job.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::intake::format::FormatOptions;

/// Refuses a job without inputs: a list that was made from a pattern is empty if no file matches, and that is not the same as
/// empty files.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if `inputs` is empty.
pub(crate) fn check_given<T>(inputs: &[T]) -> Result<()> {
    match inputs.is_empty() {
        true => Err(Error::usage("no inputs are given; give at least one")),
        false => Ok(()),
    }
}

/// Which files a job reads, and how. [`InputOptions::new`] sets every other field to its command-line default.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct InputOptions {
    /// Files to read, in this order; `-` is standard input. A directory means the part files in it, or the URLs of the set
    /// that is published there. [`build_from`](crate::build_from) reads other sources
    /// instead.
    pub paths: Vec<PathBuf>,
    /// The format, columns and charset of the files. Every field that is not set is detected.
    pub format: FormatOptions,
    /// Refuse part files without a `_SUCCESS` file, which Spark and Hadoop write when a job has finished. It is in the input
    /// directory, in the directory of the files, or, for a partition such as `day=2024-05-01`, above it.
    pub require_success_marker: bool,
}

impl InputOptions {
    /// Creates options that read `paths` and detect their format.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, ..Self::default() }
    }

    /// Checks that the format options do not contradict each other.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option.
    pub fn check(&self) -> Result<()> {
        self.format.check()
    }
}
