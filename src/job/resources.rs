//! The threads, memory and scratch directory of a build.

use std::num::NonZero;
use std::path::PathBuf;

use crate::error::{Error, Result, Setting, message};

/// The machine resources that a build may use. They do not change the output.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resources {
    /// Maximum bytes of memory, not counting mapped input files; [`memory_default`](crate::options::memory_default) if not set.
    /// Data that does not fit goes to scratch files.
    pub memory: Option<u64>,
    /// Directory for scratch files; the output directory if not set.
    pub scratch: Option<PathBuf>,
    /// Number of worker threads, at most [`THREADS_MAX`].
    pub threads: NonZero<usize>,
}

impl Default for Resources {
    /// The default amount of memory, scratch files in the output directory, [`threads_default`] threads.
    fn default() -> Self {
        Self { memory: None, scratch: None, threads: threads_default() }
    }
}

impl Resources {
    /// Checks the number of threads. The amount of memory is checked when the build begins.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the limit.
    pub fn check(&self) -> Result<()> {
        check_threads(self.threads)
    }
}

/// Maximum number of threads of a run: more than a run can use, and few enough to start and stop quickly.
pub const THREADS_MAX: usize = 1024;

/// Refuses more threads than [`THREADS_MAX`].
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the limit.
pub(crate) fn check_threads(threads: NonZero<usize>) -> Result<()> {
    match threads.get() {
        ..=THREADS_MAX => Ok(()),
        more => Err(Error::usage(message!(
            Setting::Threads.with(more),
            ": at most {THREADS_MAX} threads are useful; leave it out for one per core"
        ))),
    }
}

/// The number of threads that the machine, or the CPU share of the container, can run at the same time, but at most
/// [`THREADS_MAX`].
pub fn threads_default() -> NonZero<usize> {
    const MOST: NonZero<usize> = NonZero::new(THREADS_MAX).unwrap();
    std::thread::available_parallelism().map_or(NonZero::<usize>::MIN, |threads| threads.min(MOST))
}
