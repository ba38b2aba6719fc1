//! Signals ask the run to stop; it ends at its next look, cleans up behind itself, and says so with its exit code.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGABRT, SIGBUS, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use sitemill::{Error, ErrorKind, Result, Stop};

/// Lets an abort end with the exit code for memory. What grows with the input is asked for politely and refused in words; but
/// where the standard library asks for a few bytes more and there are none, it says so and aborts, and to a scheduler that
/// looks like a bug.
pub fn aborts_are_lack_of_memory() -> Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(SIGABRT, ErrorKind::Memory.exit_code().into(), always)
        .map(drop)
        .map_err(unhandled(SIGABRT))
}

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
