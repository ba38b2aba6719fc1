//! Lost pages: if a mapped file is truncated or its disk fails, the next read of a lost page raises SIGBUS.
//!
//! The handler maps zeros in place of the lost pages and records that it did. The reader then finishes with a meaningless
//! result, which the run discards with an error. No crate does this for maps created by other crates. Calling the previous
//! handler first would not work either: the handler of the standard library, which detects stack overflows, restores the
//! default action on any other address.

#![allow(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use libc::{c_int, c_void, siginfo_t};

/// Installs a SIGBUS handler for the whole process. Without it, a process dies with SIGBUS if an input file is truncated or its
/// disk fails during a build; with it, the build returns an error, and so does every other build that runs in the process at that
/// time, because the loss is recorded for all of them. Signals for addresses outside of mapped inputs go to the previous handler.
/// Call it once in `main`, because the library never does. Further calls do nothing.
///
/// # Errors
/// If the system cannot install the handler.
pub fn handle_sigbus() -> io::Result<()> {
    static IS_INSTALLED: Mutex<bool> = Mutex::new(false);
    once(&IS_INSTALLED, install)
}

/// Does `work` unless `is_done` is set. If `work` fails, the next call tries again.
fn once(is_done: &Mutex<bool>, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut is_done = is_done.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_done {
        work()?;
        *is_done = true;
    }
    Ok(())
}

/// Watches a range of mapped memory for lost pages. Must be dropped before the memory is unmapped.
#[derive(Debug)]
pub struct WatchedPages {
    name: PathBuf,
    watched: &'static WatchedRange,
}

impl WatchedPages {
    /// Watches `mapped`, the bytes of the file `name`.
    pub fn over(name: &Path, mapped: &[u8]) -> Self {
        let watched = RANGES.lock().unwrap_or_else(PoisonError::into_inner).take();
        let range = mapped.as_ptr_range();
        watched.has_lost.store(false, Ordering::Relaxed);
        watched.start.store(range.start.addr(), Ordering::Release);
        watched.end.store(range.end.addr(), Ordering::Release);
        Self { name: name.into(), watched }
    }
}

impl Drop for WatchedPages {
    fn drop(&mut self) {
        self.watched.end.store(0, Ordering::Release);
        if self.watched.has_lost.load(Ordering::Relaxed) {
            *LAST_NAME.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::mem::take(&mut self.name));
        }
        RANGES.lock().unwrap_or_else(PoisonError::into_inner).unused.push(self.watched);
    }
}

/// Tells whether pages were lost since it was created. It covers all runs of this process, so no run mistakes zeros for input.
#[derive(Debug)]
pub struct Lost(usize);

impl Lost {
    /// Starts to watch for lost pages from now on.
    pub fn none_yet() -> Self {
        Self(FAULTS.load(Ordering::Relaxed))
    }

    /// Whether any pages were lost.
    pub fn is_some(&self) -> bool {
        FAULTS.load(Ordering::Relaxed) != self.0
    }

    /// The name of the last file that lost pages, once it is no longer mapped.
    pub fn name() -> Option<PathBuf> {
        LAST_NAME.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Number of faults that the handler has resolved.
static FAULTS: AtomicUsize = AtomicUsize::new(0);

static LAST_NAME: Mutex<Option<PathBuf>> = Mutex::new(None);

/// An entry of the list of watched ranges. The list only grows, because the handler may walk it at any time. Unused entries are
/// reused.
#[derive(Debug)]
struct WatchedRange {
    /// Addresses; the end is 0 while nothing is watched.
    start: AtomicUsize,
    end: AtomicUsize,
    has_lost: AtomicBool,
    next: OnceLock<Box<WatchedRange>>,
}

/// The start of the list, which watches nothing.
static FIRST: WatchedRange = WatchedRange::new();

/// The source of entries of the list. The handler does not use it, because it must not wait for a lock.
struct WatchedRanges {
    unused: Vec<&'static WatchedRange>,
    last: &'static WatchedRange,
}

static RANGES: Mutex<WatchedRanges> = Mutex::new(WatchedRanges { unused: Vec::new(), last: &FIRST });

impl WatchedRanges {
    /// An entry that is not in use. Does not search the list: a run may map tens of thousands of files.
    fn take(&mut self) -> &'static WatchedRange {
        self.unused.pop().unwrap_or_else(|| {
            self.last = self.last.next.get_or_init(Box::default);
            self.last
        })
    }
}

impl WatchedRange {
    const fn new() -> Self {
        Self {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            has_lost: AtomicBool::new(false),
            next: OnceLock::new(),
        }
    }

    /// The end of the range, if `at` is in it.
    fn end_if_around(&self, at: usize) -> Option<usize> {
        let end = self.end.load(Ordering::Acquire);
        let start = self.start.load(Ordering::Acquire);
        // The end is set to 0 before a new start is written, so an end that is not 0 belongs to this start.
        let is_same = self.end.load(Ordering::Acquire) == end;
        (is_same && (start..end).contains(&at)).then_some(end)
    }
}

impl Default for WatchedRange {
    fn default() -> Self {
        Self::new()
    }
}

/// The previous handler, and the size of a page.
static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

fn install() -> io::Result<()> {
    // SAFETY: sysconf only returns a number; sigaction is given a zeroed structure to fill, which is a valid one.
    let (page_bytes, before) = unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        (libc::sysconf(libc::_SC_PAGESIZE), before)
    };
    let page_bytes = usize::try_from(page_bytes).map_err(|_| io::Error::last_os_error())?;
    BEFORE.get_or_init(|| (before, page_bytes));
    // SAFETY: the handler has the signature that SA_SIGINFO requires, and does only what a signal handler may: it accesses
    // atomics, calls mmap, and calls the previous handler. It runs on the thread's alternate stack, as that one did.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        match libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

extern "C" fn on_sigbus(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some((before, page_bytes)) = BEFORE.get() else { return };
    // SAFETY: with SA_SIGINFO the kernel passes a valid structure. For a fault, whose code is positive, it has the address.
    let (code, at) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code > 0 && fill(at, *page_bytes) {
        return;
    }
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: both may be called in a handler. The signal is blocked until the handler returns, then ends the process.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the system had registered it as a handler with these three arguments.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the system had registered it as a handler with one argument.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// Maps zeros from the page of `at` to the end of its range. Returns false if it is in no range.
fn fill(at: usize, page_bytes: usize) -> bool {
    let mut next = Some(&FIRST);
    while let Some(watched) = next {
        if let Some(end) = watched.end_if_around(at) {
            // Recorded before any zero can be read.
            watched.has_lost.store(true, Ordering::Relaxed);
            FAULTS.fetch_add(1, Ordering::Relaxed);
            let start = at & !(page_bytes - 1);
            let (protection, flags) = (libc::PROT_READ, libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON);
            // SAFETY: the pages belong to a map that `WatchedPages` cover. The map exists as long as the thread that has just read
            // from it borrows it, and nothing else has its addresses. Zeros are valid bytes. The new pages are unmapped
            // together with the map.
            let zeros = unsafe { libc::mmap(start as *mut c_void, end - start, protection, flags, -1, 0) };
            return zeros != libc::MAP_FAILED;
        }
        next = watched.next.get().map(|next| &**next);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_request_is_repeated_and_a_granted_one_is_not() {
        let is_done = Mutex::new(false);
        let refused = || Err(io::ErrorKind::PermissionDenied.into());
        for _ in 0..2 {
            assert!(once(&is_done, refused).is_err(), "it is not there");
        }
        once(&is_done, || Ok(())).unwrap();
        once(&is_done, refused).expect("it is there and not asked for again");
    }
}
