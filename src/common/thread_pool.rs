//! Threads for work in any order. The system may refuse some.

use std::panic::resume_unwind;
use std::{fmt, io, thread};

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result};

/// A pool of `threads` threads with this `name` and their numbers. It starts none once `stop` is raised.
///
/// # Errors
/// [`ErrorKind::Memory`] if the system refuses a thread; that of [`Stop::check`] if `stop` is raised.
pub fn thread_pool(threads: usize, name: &str, stop: &Stop) -> Result<ThreadPool> {
    let start = |thread: ThreadBuilder| {
        stop.check().map_err(io::Error::other)?;
        thread::Builder::new().name(format!("{name}-{}", thread.index())).spawn(|| thread.run()).map(drop)
    };
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).spawn_handler(start).build();
    pool.map_err(|error| stop.check().err().unwrap_or_else(|| no_threads(&error)))
}

/// Does `work` in `pool`. A panic of `work` continues in the caller.
///
/// A thread of another pool would take further tasks of its own pool while it waits in [`ThreadPool::install`]. If these are whole
/// commands of the caller, they would nest on its stack, all of them open at once. A thread without a pool waits in its place.
///
/// # Errors
/// [`ErrorKind::Memory`] if the system refuses that thread.
pub fn in_pool<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> Result<T> {
    let is_of_another_pool = rayon::current_thread_index().is_some() && pool.current_thread_index().is_none();
    if !is_of_another_pool {
        return Ok(pool.install(work));
    }
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || pool.install(work));
        let waiting = waiting.map_err(|error| no_threads(&error))?;
        Ok(waiting.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Does `work` on `threads` threads, or on as many as the system grants. Starts none once `stop` is raised. A panic of `work`
/// continues in the caller.
///
/// # Errors
/// [`ErrorKind::Memory`] if the system grants none; that of [`Stop::check`] if `stop` is raised before the first one is started.
pub fn on_threads<T: Send>(threads: usize, stop: &Stop, work: impl Fn() -> T + Sync) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let start = |_| {
            stop.check()?;
            thread::Builder::new().spawn_scoped(scope, &work).map_err(|error| no_threads(&error))
        };
        let mut started = (0..threads.max(1)).map(start);
        let first = started.next().expect("there is at least one")?;
        let workers: Vec<_> = [first].into_iter().chain(started.map_while(Result::ok)).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        Ok(joined.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect())
    })
}

/// The error of a run that cannot start threads because of `why`.
pub fn no_threads(why: &dyn fmt::Display) -> Error {
    Error::new(ErrorKind::Memory, format!("cannot start threads: {why}"))
}
