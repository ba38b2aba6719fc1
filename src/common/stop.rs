//! A request to stop, raised from outside and checked between pieces of work.

use std::sync::Arc;
#[cfg(feature = "cloud")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(feature = "cloud")]
use std::time::Instant;

use rustix::process::Signal;

use crate::error::{Error, ErrorKind, Result};

/// A stop request that a signal handler raises and the run checks. All clones are the same request.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Zero until it is raised, then the number of the signal.
    signal: Arc<AtomicUsize>,
    /// A signal handler cannot tell the time, so it is the time when somebody asked first.
    #[cfg(feature = "cloud")]
    noticed: Arc<OnceLock<Instant>>,
}

impl Stop {
    /// Asks the run to stop because of `signal`. A caller without a signal passes 0, which counts as SIGTERM.
    pub fn raise(&self, signal: i32) {
        let signal = if signal == 0 { Signal::TERM.as_raw() } else { signal };
        self.signal.store(signal.unsigned_abs() as usize, Ordering::Relaxed);
    }

    /// The signal number, for a signal handler to store into.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }

    /// Returns whether the request was raised.
    pub fn is_raised(&self) -> bool {
        self.check().is_err()
    }

    /// When the request was first noticed by this function; `None` before it is raised. It is the same for all clones.
    #[cfg(feature = "cloud")]
    pub(crate) fn noticed(&self) -> Option<Instant> {
        self.is_raised().then(|| *self.noticed.get_or_init(Instant::now))
    }

    /// Fails if the request was raised.
    ///
    /// # Errors
    /// [`ErrorKind::Signal`] with the number of the signal.
    pub fn check(&self) -> Result<()> {
        match self.signal.load(Ordering::Relaxed) {
            0 => Ok(()),
            signal => {
                let number = i32::try_from(signal).unwrap_or(i32::MAX);
                Err(Error::new(ErrorKind::Signal(number), "interrupted"))
            }
        }
    }
}

/// Adds to the error of [`Stop::check`] that nothing was published. The error of a store that has not answered is left alone: it
/// names a path, and the set may be live.
pub fn unpublished(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Signal(_) if error.path().is_none() => error.and("nothing was published"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "cloud")]
    #[test]
    fn all_clones_notice_a_request_at_the_same_time() {
        let stop = Stop::default();
        let clone = stop.clone();
        assert_eq!(clone.noticed(), None);
        stop.raise(2);
        let noticed = stop.noticed();
        assert!(noticed.is_some() && clone.noticed() == noticed);
    }

    #[test]
    fn any_number_stops_the_run_and_gives_an_exit_code() {
        for (number, signal, exit_code) in
            [(2, 2, 130), (0, 15, 143), (100, 100, 228), (i32::MAX, i32::MAX, 255), (i32::MIN, i32::MAX, 255)]
        {
            let stop = Stop::default();
            assert!(!stop.is_raised());
            stop.raise(number);
            let kind = stop.check().unwrap_err().kind();
            assert_eq!((kind, kind.exit_code()), (ErrorKind::Signal(signal), exit_code));
        }
    }
}
