//! Files that are written and still have to reach the disk.

use std::fmt;

use crate::error::Result;

/// A file that is written and perhaps not on disk yet. Waiting for the disk takes time but no processor, so the caller
/// decides when to wait, and on which thread. Nothing may be published before that.
#[must_use]
pub struct Unsynced(Box<dyn FnOnce() -> Result<()> + Send>);

impl Unsynced {
    /// A file that is durable once `wait` has succeeded.
    pub(super) fn new(wait: impl FnOnce() -> Result<()> + Send + 'static) -> Self {
        Self(Box::new(wait))
    }

    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// If it cannot be synced, or is incomplete. Do not try again: the operating system forgets a failed write, and a second
    /// attempt would succeed without the bytes.
    pub fn sync(self) -> Result<()> {
        (self.0)()
    }
}

impl fmt::Debug for Unsynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsynced").finish_non_exhaustive()
    }
}
