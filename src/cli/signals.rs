//! Signals ask the run to stop; it ends at its next look, cleans up behind itself, and says so with its exit code.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use sitemill::{Error, ErrorKind, Result, Stop};

/// A `Stop` that is raised by SIGINT, SIGTERM and SIGHUP.
pub fn raised_by_signals() -> Result<Stop> {
    let stop = Stop::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_usize(signal, stop.flag(), signal.unsigned_abs() as usize).map_err(
            |error| Error::new(ErrorKind::Internal, format!("signal {signal} cannot be handled: {error}")),
        )?;
    }
    Ok(stop)
}
