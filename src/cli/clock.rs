//! The time of a run.

use std::env;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use sitemill::{Error, Result};

/// Returns the time of a run if `SOURCE_DATE_EPOCH` sets it, in seconds since 1970. Otherwise, it is the present time.
pub fn time() -> Result<Option<SystemTime>> {
    let Some(word) = env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let seconds = word.to_str().and_then(|word| word.parse().ok()).map(Duration::from_secs);
    let time = seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds));
    let has_year = |time: &SystemTime| Timestamp::try_from(*time).is_ok();
    let words = || {
        // All time zones are in the year 9999 then.
        let max = Timestamp::MAX.as_second();
        format!("SOURCE_DATE_EPOCH is not a number of seconds since 1970, at most {max}; unset or correct it")
    };
    time.filter(has_year).map(Some).ok_or_else(|| Error::usage(words()))
}
