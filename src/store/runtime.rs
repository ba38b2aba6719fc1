//! The threads that requests run on, and the way to wait for a request from any other thread.

use std::future::Future;
use std::sync::{LazyLock, mpsc};

use tokio::runtime::{Builder, Runtime};

/// Threads of the runtime: one can encrypt while the other waits for the store. Requests do not hold threads.
const THREADS: usize = 2;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).thread_name("sitemill-store").enable_all();
    builder.build().expect("two threads can be started")
});

/// A request on its way.
#[must_use]
#[derive(Debug)]
pub struct Task<T>(mpsc::Receiver<T>);

impl<T> Task<T> {
    /// Waits for its result.
    pub fn wait(self) -> T {
        self.0.recv().expect("a request answers or panics")
    }
}

/// Starts `work` in the background.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Task<T> {
    let (done, result) = mpsc::sync_channel(1);
    RUNTIME.spawn(async move {
        let _ = done.send(work.await);
    });
    Task(result)
}

/// Waits for `work`. Unlike the runtime's own way, this may be called from a thread of another runtime.
pub fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    spawn(work).wait()
}
