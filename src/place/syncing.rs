//! Syncing: flushes written files to disk while others are still being made.

use std::fs;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;

use crossbeam_channel::bounded;
use rustix::process::{Resource, getrlimit};

use super::unsynced::Unsynced;
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result};

/// Threads that only wait for the disk. A file system commits its journal once for all files that are synced at the same
/// time, so several threads are faster than one.
const THREADS: usize = 8;

/// Maximum number of written files that wait. Each of them is open.
const FILES_MAX: usize = 128;

/// Open files that other parts of the run need: the file being written, inputs, and directories being synced.
const FILES_RESERVED: usize = 24;

/// Returns how many written files may wait, in addition to those being synced.
fn files_max() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let open = fs::read_dir("/proc/self/fd").map_or(FILES_RESERVED, Iterator::count);
    let left = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(open);
    left.saturating_sub(THREADS + FILES_RESERVED).clamp(1, FILES_MAX)
}

/// Calls `make` with a function that accepts written files. If the result is `Ok`, all of them are on disk.
///
/// # Errors
/// The error of a file that cannot be synced, otherwise the error of `make`; if `stop` is raised. `make` learns of a failed
/// file with the next file it passes. Files that wait at that time are not synced, because they will not be published.
pub fn syncing(stop: &Stop, make: impl FnOnce(&dyn Fn(Unsynced) -> Result<()>) -> Result<()>) -> Result<()> {
    let has_failed = &AtomicBool::new(false);
    let (unsynced, to_sync) = bounded::<Unsynced>(files_max());
    scope(|scope| {
        let sync_all = move || {
            let mut wanted = to_sync.into_iter().take_while(|_| !has_failed.load(Ordering::Relaxed));
            let synced = wanted.try_for_each(|file| stop.check().and_then(|()| file.sync()));
            has_failed.fetch_or(synced.is_err(), Ordering::Relaxed);
            synced
        };
        let waiting: Vec<_> = (0..THREADS).map(|_| scope.spawn(sync_all.clone())).collect();
        drop(sync_all);
        let made = make(&|file| {
            let taken = !has_failed.load(Ordering::Relaxed) && unsynced.send(file).is_ok();
            // Only reported if there is not an error of a file, which is more specific.
            if taken { Ok(()) } else { Err(Error::new(ErrorKind::Io, "an earlier fsync failed")) }
        });
        has_failed.fetch_or(made.is_err(), Ordering::Relaxed);
        drop(unsynced);
        let joined =
            waiting.into_iter().map(|waiting| waiting.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // Waits for all threads, even if the first one fails.
        joined.collect::<Vec<_>>().into_iter().collect::<Result<()>>().and(made)
    })
}
