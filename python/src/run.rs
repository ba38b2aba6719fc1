//! Runs a command on a separate thread. Meanwhile the calling thread lets other Python threads run, passes on rows of iterators,
//! checks for signals and reports progress.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use sitemill::cli::embed::caught;
use sitemill::{ErrorKind, Phase, Progress, Result, Stop};

use crate::ahead::POLL_INTERVAL;
use crate::ending::{self, Active};
use crate::errors::{self, SIGINT};
use crate::rows::Feed;

/// Runs `work`. `feed` passes it rows of an iterator. `callback` is a callable that receives progress: the name of the phase, the
/// units done and the total, 0 if unknown.
///
/// # Errors
/// Any exception that a Python signal handler (`KeyboardInterrupt` for Ctrl-C), the iterator or `callback` raises; `Interrupted`
/// when the interpreter ends. `work` is stopped first. Otherwise the error of `work`.
pub fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    feed: Option<Feed>,
    stop: &Stop,
    work: impl FnOnce(&dyn Progress, &Stop) -> Result<T> + Send,
) -> PyResult<T> {
    publish(py, callback, feed, stop, |_| false, work).map(|(result, _)| result)
}

/// Runs `work`, which may make a set live: `is_live` tells whether it has. In that case, an exception does not replace the result
/// of `work`, but is returned with it.
///
/// # Errors
/// As for [`run`].
pub fn publish<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    feed: Option<Feed>,
    stop: &Stop,
    is_live: impl FnOnce(&T) -> bool,
    work: impl FnOnce(&dyn Progress, &Stop) -> Result<T> + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let _active = Active::new();
    let counted = Counted::default();
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (at_end, ended) = bounded::<()>(0);
            let worker = scope.spawn(|| {
                let _at_end = at_end;
                caught(|| work(&counted, stop))
            });
            let waited = Python::attach(|py| wait(py, feed, stop, &ended, |py| counted.report(py, callback)));
            (worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), waited)
        })
    });
    let raised = raised.or_else(|| result.as_ref().ok().and_then(|_| counted.report(py, callback).err()));
    match raised {
        Some(raised) if !result.as_ref().is_ok_and(is_live) => Err(raised),
        raised => Ok((result.map_err(|error| errors::exception(py, &error))?, raised)),
    }
}

/// Waits until the other side of `ended` is dropped. Meanwhile, passes on the rows of `feed`, checks for signals, and calls
/// `each` every [`POLL_INTERVAL`]. If one of these raises an exception, raises `stop` because of it and returns it.
fn wait(
    py: Python<'_>,
    mut feed: Option<Feed>,
    stop: &Stop,
    ended: &Receiver<()>,
    each: impl Fn(Python<'_>) -> PyResult<()>,
) -> Option<PyErr> {
    let mut checked = Instant::now();
    loop {
        match &mut feed {
            Some(rows) => match rows.step(py) {
                Ok(true) => {}
                Ok(false) => feed = None,
                Err(refusal) => {
                    end(py, stop, &refusal, ErrorKind::Data, &refusal.value(py).to_string());
                    return Some(refusal);
                }
            },
            None if py.detach(|| ended.recv_timeout(POLL_INTERVAL)) != Err(RecvTimeoutError::Timeout) => {
                return None;
            }
            None => {}
        }
        if feed.is_none() || checked.elapsed() >= POLL_INTERVAL {
            checked = Instant::now();
            if let Err(raised) = py.check_signals().and_then(|()| ending::check(py)) {
                // Which signal it was is unknown.
                let words = format!("interrupted: a signal handler raised {raised}");
                end(py, stop, &raised, ErrorKind::Signal(SIGINT), &words);
                return Some(raised);
            }
            if let Err(raised) = each(py) {
                end(py, stop, &raised, ErrorKind::Io, &format!("a callback raised {raised}"));
                return Some(raised);
            }
        }
    }
}

/// Stops the run because of the exception `raised`. One that is to end the program is an interruption, and any other is a failure
/// of this `kind`: its `message` is in the files for reports.
fn end(py: Python<'_>, stop: &Stop, raised: &PyErr, kind: ErrorKind, message: &str) {
    match raised.is_instance_of::<PyException>(py) && !ending::is_ending() {
        true => stop.fail(kind, message),
        false => stop.raise(SIGINT),
    }
}

/// The progress of the current phase.
#[derive(Default)]
struct Counted {
    phase: Mutex<Option<(Phase, u64)>>,
    done: AtomicU64,
}

impl Counted {
    fn report(&self, py: Python<'_>, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(callback) = callback else { return Ok(()) };
        let phase = *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match phase {
            Some((phase, total)) => {
                callback.call1(py, (phase.as_str(), self.done.load(Ordering::Relaxed), total)).map(drop)
            }
            None => Ok(()),
        }
    }
}

impl Progress for Counted {
    fn begin(&self, phase: Phase, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((phase, total));
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn end(&self) {}
}
