//! The staging of a run as its workers see it.

use std::fmt;

use super::interface::View;
use super::unsynced::Unsynced;
use crate::error::Result;

/// The staging of a run that another process owns. Any number of processes may add files to it at the same time. A file is
/// whole or does not exist, and what was added does not go live unless the owner of the run lists it.
pub trait SharedStaging: fmt::Debug + Send + Sync {
    /// The place, for reading.
    fn view(&self) -> &dyn View;

    /// Reads a staged file; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read, or something that is not a regular file has its name.
    fn staged(&self, file: &str) -> Result<Option<Vec<u8>>>;

    /// Stages a file. It gets its name when it is synced, and then takes the place of a file of that name.
    ///
    /// # Errors
    /// If it cannot be written; [`ErrorKind::Output`](crate::ErrorKind::Output) if the run has ended.
    fn stage(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced>;

    /// Stages the replacement of the damaged sitemap `file`, as [`stage`](SharedStaging::stage) does.
    ///
    /// # Errors
    /// Same as [`stage`](SharedStaging::stage).
    fn stage_mended(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced>;
}
