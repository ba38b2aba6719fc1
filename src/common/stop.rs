//! A request to stop, raised from outside and checked between pieces of work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
#[cfg(feature = "cloud")]
use std::time::Instant;

use rustix::process::Signal;

use crate::error::{Error, ErrorKind, Message, Result};

/// The number of rows that are read without a look at the request: with thousands of patterns, a row may take milliseconds.
const ROWS_UNCHECKED: u64 = 256;

/// A stop request that a signal handler raises and the run checks. All clones are the same request.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Zero until it is raised, then the number of the signal.
    signal: Arc<AtomicUsize>,
    /// The failure because of which it is raised, if it is not a signal.
    failure: Arc<OnceLock<(ErrorKind, Message)>>,
    /// When a clone first noticed the request. The signal handler only stores the number of the signal.
    #[cfg(feature = "cloud")]
    noticed: Arc<OnceLock<Instant>>,
}

impl Stop {
    /// Asks the run to stop because of `signal`. A caller without a signal passes 0, which counts as SIGTERM.
    pub fn raise(&self, signal: i32) {
        let signal = if signal == 0 { Signal::TERM.as_raw() } else { signal };
        self.signal.store(signal.unsigned_abs() as usize, Ordering::Release);
    }

    /// Asks the run to stop because of a failure of its caller, such as one in a callback. It ends with an error of this kind and
    /// message.
    pub fn fail(&self, kind: ErrorKind, message: impl Into<Message>) {
        let _ = self.failure.set((kind, message.into()));
        self.raise(0);
    }

    /// Returns the cell that a signal handler stores the signal number into.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }

    /// Returns whether the request was raised.
    pub fn is_raised(&self) -> bool {
        self.signal().is_some()
    }

    /// The number of the signal, once the request was raised; that of SIGTERM after a failure.
    pub(crate) fn signal(&self) -> Option<i32> {
        // Whoever sees the request also sees why it was raised.
        let signal = self.signal.load(Ordering::Acquire);
        (signal > 0).then(|| i32::try_from(signal).unwrap_or(i32::MAX))
    }

    /// When the request was first noticed by this function; `None` before it is raised. It is the same for all clones.
    #[cfg(feature = "cloud")]
    pub(crate) fn noticed(&self) -> Option<Instant> {
        self.is_raised().then(|| *self.noticed.get_or_init(Instant::now))
    }

    /// As [`Stop::check`], but looks only once in a few hundred rows, of which `rows` were read. Cheap enough for each row.
    ///
    /// # Errors
    /// Same as [`Stop::check`].
    #[inline]
    pub(crate) fn check_at(&self, rows: u64) -> Result<()> {
        if rows.is_multiple_of(ROWS_UNCHECKED) { self.check() } else { Ok(()) }
    }

    /// Fails if the request was raised.
    ///
    /// # Errors
    /// [`ErrorKind::Signal`] with the number of the signal, or the failure of the caller.
    pub fn check(&self) -> Result<()> {
        let Some(number) = self.signal() else { return Ok(()) };
        Err(match self.failure.get() {
            Some((kind, message)) => Error::new(*kind, message.clone()),
            None => Error::new(ErrorKind::Signal(number), "interrupted"),
        })
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

    #[test]
    fn a_failure_of_the_caller_stops_the_run_with_its_own_kind_and_message() {
        let stop = Stop::default();
        stop.clone().fail(ErrorKind::Io, "the callback failed");
        let error = stop.check().unwrap_err();
        assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Io, "the callback failed"));
        assert_eq!(stop.signal(), Some(Signal::TERM.as_raw()), "a command that runs gets this signal");
    }
}
