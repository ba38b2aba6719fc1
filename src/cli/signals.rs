//! Signals ask the run to stop; it ends at its next look, cleans up behind itself, and says so with its exit code.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, thread};

use rustix::fs::{OFlags, fcntl_setfl};
use signal_hook::consts::{SIGABRT, SIGBUS, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::low_level;
use sitemill::{Error, ErrorKind, Result, Stop};

use super::log;

/// Lets an abort say the way out, which for some commands is `--memory`, and end with the exit code for memory. What grows with the input is asked for politely and
/// refused in words; but where the standard library asks for a few bytes more and there are none, it says how many and aborts,
/// and to a scheduler that looks like a bug.
///
/// A thread that waits for it from the start says so. Meanwhile the one that aborts must not come back from its handler, or
/// the abort would go on: it writes to a pipe that is full.
pub fn aborts_are_lack_of_memory(has_memory: bool) -> Result<()> {
    let unhandled = unhandled(SIGABRT);
    let (mut aborted, aborts) = io::pipe().map_err(&unhandled)?;
    let (unread, mut full) = io::pipe().map_err(&unhandled)?;
    let mut last_words = log::LastWords::prepare(has_memory).map_err(&unhandled)?;
    let waiting = move || {
        // If nobody could read it any more, a write would fail and not wait.
        let _unread = unread;
        if aborted.read_exact(&mut [0]).is_ok() {
            last_words.say();
            low_level::exit(ErrorKind::Memory.exit_code().into());
        }
    };
    let thread = thread::Builder::new().name("abort".into()).stack_size(STACK_BYTES).spawn(waiting);
    thread.map_err(|error| Error::new(ErrorKind::Memory, format!("no threads to be had: {error}")))?;
    // What is registered first is done first.
    low_level::pipe::register(SIGABRT, aborts).map_err(&unhandled)?;
    let writes = full.try_clone().map_err(&unhandled)?;
    low_level::pipe::register(SIGABRT, writes).map_err(&unhandled)?;
    // It does not wait yet: that is how signal-hook takes it.
    while full.write(&[0; PIPE_BUFFER_BYTES]).is_ok() {}
    fcntl_setfl(&full, OFlags::empty()).map_err(|error| unhandled(error.into()))
}

/// Of the thread that waits for an abort.
const STACK_BYTES: usize = 64 * 1024;

/// Linux keeps what is in a pipe in pages: pipe(7).
const PIPE_BUFFER_BYTES: usize = 4096;

/// Lets a write beyond the limit of file sizes fail like one to a full disk, and lost pages of an input be an error.
pub fn faults_are_errors() -> Result<()> {
    let seen = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, seen).map_err(unhandled(SIGXFSZ))?;
    sitemill::survive_lost_pages().map_err(unhandled(SIGBUS))
}

/// A `Stop` that is raised by SIGINT, SIGTERM and SIGHUP. One that the process was started to ignore is ignored: SIGHUP under
/// `nohup`, SIGINT in a background job of a script.
pub fn raised_by_signals() -> Result<Stop> {
    let stop = Stop::default();
    let ignored = ignored(&fs::read_to_string("/proc/self/status").unwrap_or_default());
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & 1 << (signal - 1) == 0) {
        signal_hook::flag::register_usize(signal, stop.flag(), signal.unsigned_abs() as usize)
            .map_err(unhandled(signal))?;
    }
    Ok(stop)
}

/// The signals that a process ignores, signal N as bit N - 1, by its `status`: proc_pid_status(5), `SigIgn`. From the kernel's
/// own words, because `sigaction`, the way to ask elsewhere, can be called by unsafe code only, and signal-hook replaces what
/// was set without showing it. None where there is no `/proc`.
fn ignored(status: &str) -> u64 {
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

fn unhandled(signal: i32) -> impl Fn(std::io::Error) -> Error {
    move |error| Error::new(ErrorKind::Internal, format!("signal {signal} cannot be handled: {error}"))
}
