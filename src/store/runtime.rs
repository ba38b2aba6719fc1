//! The threads that run requests, and a way to wait for a request from any other thread.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Threads of the runtime: one can encrypt while the other waits for the store. Requests do not block threads.
const THREADS: usize = 2;

/// The runtime, and the process that started it.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// The runtime of this process. Python programs fork, and threads do not survive a fork, so a child process starts its own runtime.
fn runtime() -> &'static Runtime {
    let process = std::process::id();
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, runtime)) = *runtime
        && owner == process
    {
        return runtime;
    }
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).thread_name("sitemill-store").enable_all();
    // The parent's runtime is leaked, because dropping it would wait for its threads.
    let started: &Runtime = Box::leak(Box::new(builder.build().expect("two threads can be started")));
    *runtime = Some((process, started));
    started
}

/// The interval between checks whether a request was cancelled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A request in flight.
#[must_use]
#[derive(Debug)]
pub struct Task<T>(mpsc::Receiver<T>);

impl<T> Task<T> {
    /// Waits for its result.
    pub fn wait(self) -> T {
        self.0.recv().expect("a request answers or panics")
    }

    /// Waits for its result; `None` if `is_cancelled` becomes true first.
    pub fn wait_unless(self, is_cancelled: &dyn Fn() -> bool) -> Option<T> {
        loop {
            match self.0.recv_timeout(POLL_INTERVAL) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Timeout) if is_cancelled() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("a request answers or panics"),
            }
        }
    }
}

/// Starts `work` in the background.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Task<T> {
    let (done, result) = mpsc::sync_channel(1);
    runtime().spawn(async move {
        let _ = done.send(work.await);
    });
    Task(result)
}

/// Runs `work` and waits for it. Unlike the runtime's own `block_on`, this may be called from a thread of another runtime.
pub fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    spawn(work).wait()
}
