//! A request to stop, raised from outside and checked between pieces of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// A stop request that a signal handler raises and the run checks. Zero until it is raised, then the number of the signal.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Asks the run to stop because of `signal`.
    pub fn raise(&self, signal: i32) {
        self.0.store(signal.unsigned_abs() as usize, Ordering::Relaxed);
    }

    /// The signal number, for a signal handler to store into.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Returns whether the request was raised.
    pub fn is_raised(&self) -> bool {
        self.check().is_err()
    }

    /// Fails if the request was raised.
    ///
    /// # Errors
    /// [`ErrorKind::Signal`] with the number of the signal.
    pub fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => {
                let number = i32::try_from(signal).unwrap_or(i32::MAX);
                Err(Error::new(ErrorKind::Signal(number), "interrupted; nothing was published"))
            }
        }
    }
}
