//! Signals: after a request to stop, the run ends at its next check, cleans up, and returns a specific exit code.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, process, thread};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use rustix::fs::{OFlags, fcntl_setfl};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGXFSZ};
use signal_hook::low_level;
use sitemill::{Error, ErrorKind, Result, Stop};

use super::log;

/// Turns an abort into an error message and the exit code for lack of memory. Memory that grows with the input is allocated
/// fallibly. But if a small allocation of the standard library fails, it aborts, which looks like a bug to a scheduler.
/// `has_memory` says whether the command has an option `--memory`, which the message then names.
///
/// A thread that waits from the start writes the message. Meanwhile the aborting thread must not return from its handler, or
/// the abort would continue. So the handler writes to a full pipe, which blocks.
pub fn aborts_are_lack_of_memory(has_memory: bool) -> Result<()> {
    let unhandled = unhandled(SIGABRT);
    let (mut aborted, aborts) = io::pipe().map_err(&unhandled)?;
    let (unread, mut full) = io::pipe().map_err(&unhandled)?;
    let mut last_words = log::LastWords::prepare(has_memory).map_err(&unhandled)?;
    let waiting = move || {
        // Without a reader, the write to the full pipe would fail instead of blocking.
        let _unread = unread;
        if aborted.read_exact(&mut [0]).is_ok() {
            last_words.say();
            low_level::exit(ErrorKind::Memory.exit_code().into());
        }
    };
    let start = || thread::Builder::new().name("abort".into()).stack_size(STACK_BYTES).spawn(waiting);
    // The thread must not receive a signal that the main thread holds back.
    holding_back(start)?
        .map_err(|error| Error::new(ErrorKind::Memory, format!("cannot start threads: {error}")))?;
    // Handlers run in the order of their registration.
    low_level::pipe::register(SIGABRT, aborts).map_err(&unhandled)?;
    let writes = full.try_clone().map_err(&unhandled)?;
    low_level::pipe::register(SIGABRT, writes).map_err(&unhandled)?;
    // signal-hook has made the pipe non-blocking, so this loop ends once it is full.
    while full.write(&[0; PIPE_BUFFER_BYTES]).is_ok() {}
    fcntl_setfl(&full, OFlags::empty()).map_err(|error| unhandled(error.into()))
}

/// Stack of the thread that waits for an abort.
const STACK_BYTES: usize = 64 * 1024;

/// Linux buffers pipes in pages: pipe(7).
const PIPE_BUFFER_BYTES: usize = 4096;

/// Makes a write beyond the file size limit fail like one to a full disk, and lost pages of a mapped input an error.
pub fn faults_are_errors() -> Result<()> {
    let seen = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, seen).map_err(unhandled(SIGXFSZ))?;
    sitemill::process::handle_sigbus().map_err(unhandled(SIGBUS))
}

/// A `Stop` that SIGINT, SIGTERM and SIGHUP raise. It also ends the wait for the reader of messages.
pub fn raised_by_signals() -> Result<Stop> {
    let stop = Stop::default();
    log::wait_until(&stop);
    // Otherwise a signal that arrives between the installation of its handler and the registration of the flag would be lost.
    holding_back(|| {
        for signal in heeded() {
            signal_hook::flag::register_usize(signal, stop.flag(), signal.unsigned_abs() as usize)
                .map_err(unhandled(signal))?;
        }
        Ok(stop)
    })?
}

/// Lets SIGINT, SIGTERM and SIGHUP end the process at once even if it is process 1, as in a container without an init: the kernel
/// does not send that one a signal for which it has no handler.
pub fn end_even_process_1() -> Result<()> {
    if process::id() != 1 {
        return Ok(());
    }
    for signal in heeded() {
        let ends = Arc::new(AtomicBool::new(true));
        let exit_code = ErrorKind::Signal(signal).exit_code();
        signal_hook::flag::register_conditional_shutdown(signal, exit_code.into(), ends)
            .map_err(unhandled(signal))?;
    }
    Ok(())
}

/// The signals that ask to stop. One that is ignored when the process starts stays ignored: SIGHUP under `nohup`, SIGINT in a
/// background job of a script.
fn heeded() -> impl Iterator<Item = i32> {
    let ignored = ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default());
    REQUESTS.map(|signal| signal as i32).into_iter().filter(move |signal| ignored & 1 << (signal - 1) == 0)
}

/// The signals that ask to stop.
const REQUESTS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// Does `work` while this thread holds back requests to stop, which arrive at the end. A thread that `work` starts never receives
/// one.
fn holding_back<T>(work: impl FnOnce() -> T) -> Result<T> {
    let unchanged =
        |error: Errno| Error::new(ErrorKind::Internal, format!("cannot hold back signals: {error}"));
    let before = SigSet::from_iter(REQUESTS).thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(unchanged)?;
    let done = work();
    before.thread_set_mask().map_err(unchanged)?;
    Ok(done)
}

/// The ignored signals in `status`, signal N as bit N - 1: `SigIgn` of proc_pid_status(5). It is read from `/proc` because
/// `sigaction` needs unsafe code, and signal-hook does not return the previous handler. Without `/proc`, none.
fn ignored(status: &str) -> u64 {
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

fn unhandled(signal: i32) -> impl Fn(io::Error) -> Error {
    move |error| {
        // A handler needs pipes, and the process may have no more files open.
        let kind = match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => ErrorKind::Io,
            _ => ErrorKind::Internal,
        };
        Error::new(kind, format!("cannot handle signal {signal}: {error}"))
    }
}
