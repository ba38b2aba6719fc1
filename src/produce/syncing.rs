//! Syncing: written files are brought to disk while others are still being made.

use std::fs;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;

use crossbeam_channel::bounded;
use rustix::process::{Resource, getrlimit};

use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result};
use crate::set::publish::Unsynced;

/// Threads that wait for the disk, and do nothing else. For a file alone it writes its journal once; for files that several
/// wait for, once for all of them.
const THREADS: usize = 8;

/// Written files that may wait, at most; each of them is an open one.
const FILES_MAX: usize = 128;

/// Open files that are left to others: the one that is written, those that are read, and directories that are synced.
const FILES_OF_OTHERS: usize = 24;

/// How many written files may wait, besides those that threads are busy with.
fn files_max() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let open = fs::read_dir("/proc/self/fd").map_or(FILES_OF_OTHERS, Iterator::count);
    let left = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(open);
    left.saturating_sub(THREADS + FILES_OF_OTHERS).clamp(1, FILES_MAX)
}

/// Calls `make` with what takes in files as they are written; when it returns `Ok`, all of them are on disk.
///
/// # Errors
/// That of a file which cannot be brought there, or else that of `make`; if `stop` is raised. `make` is told as soon as a file
/// has failed. Files that wait at that time are not brought there any more: nobody is going to publish them.
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
            // Only heard if no file's own error is, which is the better one.
            if taken { Ok(()) } else { Err(Error::new(ErrorKind::Io, "the disk takes no more")) }
        });
        has_failed.fetch_or(made.is_err(), Ordering::Relaxed);
        drop(unsynced);
        let joined =
            waiting.into_iter().map(|waiting| waiting.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // All are waited for, whatever the first of them says.
        joined.collect::<Vec<_>>().into_iter().collect::<Result<()>>().and(made)
    })
}
