//! The end of the interpreter. A thread that is in Python code then, or that returns to it through the extension module, aborts the
//! process. So such threads are told to end, and the interpreter waits for them first.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sitemill::{Error, ErrorKind};

use crate::errors::{self, SIGINT};

/// How long the interpreter waits. Ctrl-C ends the wait.
const EXIT_WAIT_MAX: Duration = Duration::from_secs(10);

/// The number of threads that are waited for, with the process in the upper half: after a fork, the child has none of them.
static ACTIVE: AtomicU64 = AtomicU64::new(0);

/// The thread that ends the interpreter. It may start runs until the end, as functions that run at exit do.
static ENDED_BY: OnceLock<ThreadId> = OnceLock::new();

/// The interpreter waits until it is dropped.
pub struct Active {
    process: u64,
}

impl Active {
    /// Counts a thread before it enters Python code, or leaves it to return later.
    pub fn new() -> Self {
        let process = u64::from(process::id());
        let counted = |active| Some(if active >> 32 == process { active + 1 } else { process << 32 | 1 });
        let _ = ACTIVE.fetch_update(SeqCst, SeqCst, counted);
        Self { process }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let process = self.process;
        let _ = ACTIVE.fetch_update(SeqCst, SeqCst, |active| (active >> 32 == process).then(|| active - 1));
    }
}

fn has_active() -> bool {
    let active = ACTIVE.load(SeqCst);
    active >> 32 == u64::from(process::id()) && active & u64::from(u32::MAX) > 0
}

/// Whether this thread must not enter Python code any more.
pub fn is_ending() -> bool {
    ENDED_BY.get().is_some_and(|thread| *thread != thread::current().id())
}

/// Checks that this thread may stay in Python code.
///
/// # Errors
/// `Interrupted` if the interpreter ends.
pub fn check(py: Python<'_>) -> PyResult<()> {
    match is_ending() {
        true => Err(errors::exception(py, &Error::new(ErrorKind::Signal(SIGINT), "the interpreter ends"))),
        false => Ok(()),
    }
}

/// Tells active threads to end, and waits for them. A thread that takes longer is abandoned; the process usually ends before it
/// runs again.
#[pyfunction]
pub fn wait_for_threads(py: Python<'_>) -> PyResult<()> {
    let _ = ENDED_BY.set(thread::current().id());
    let begun = Instant::now();
    while has_active() && begun.elapsed() < EXIT_WAIT_MAX {
        py.detach(|| thread::sleep(Duration::from_millis(10)));
        py.check_signals()?;
    }
    Ok(())
}
