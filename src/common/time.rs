//! The time of a run, as W3C Datetime.

use std::time::SystemTime;

use jiff::Timestamp;

use crate::error::{Error, Result};

/// Formats the time of a run in UTC, in whole seconds.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it is thousands of years in the future.
pub(crate) fn w3c_datetime(time: SystemTime) -> Result<String> {
    match Timestamp::try_from(time) {
        Ok(time) => Ok(format!("{time:.0}")),
        Err(error) => Err(Error::usage(format!("the time of publication is out of range: {error}"))),
    }
}
