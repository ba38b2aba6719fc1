//! Runs a command on a thread of its own. Meanwhile the calling thread lets other Python threads run, looks for signals and tells
//! progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use pyo3::prelude::*;
use sitemill::{Error, ErrorKind, Phase, Progress, Result, Stop};

/// How often signals are looked for and progress is told.
const PERIOD: Duration = Duration::from_millis(100);

const SIGINT: i32 = 2;

/// Runs `work`. `tell` is a callable that is told progress: the name of the phase, the units done and the total, 0 if unknown.
///
/// # Errors
/// What a Python signal handler raises (`KeyboardInterrupt` for Ctrl-C), or what `tell` raises. `work` is stopped first.
pub fn run<T: Send>(
    py: Python<'_>,
    tell: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Progress, &Stop) -> Result<T> + Send,
) -> PyResult<Result<T>> {
    let (stop, counted) = (Stop::default(), Counted::default());
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (at_end, ended) = bounded::<()>(0);
            let worker = scope.spawn(|| {
                let _at_end = at_end;
                caught(|| work(&counted, &stop))
            });
            let mut raised = None;
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised =
                        Python::attach(|py| py.check_signals().and_then(|()| counted.tell(py, tell))).err();
                    raised.iter().for_each(|_| stop.raise(SIGINT));
                }
            }
            (worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), raised)
        })
    });
    match raised {
        Some(raised) => Err(raised),
        None => Python::attach(|py| counted.tell(py, tell)).map(|()| result),
    }
}

/// Turns a panic into an error.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let words = "this is a bug in sitemill; please report it with the lines on standard error";
        Err(Error::new(ErrorKind::Internal, words))
    })
}

/// The progress of the current phase.
#[derive(Default)]
struct Counted {
    phase: Mutex<Option<(Phase, u64)>>,
    done: AtomicU64,
}

impl Counted {
    fn tell(&self, py: Python<'_>, tell: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(tell) = tell else { return Ok(()) };
        let phase = *self.phase.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match phase {
            Some((phase, total)) => {
                tell.call1(py, (name(phase), self.done.load(Ordering::Relaxed), total)).map(drop)
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

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Spool => "read",
        Phase::Survey => "survey",
        Phase::Sort => "sort",
        Phase::Produce => "produce",
        _ => "urls",
    }
}
