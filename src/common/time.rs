//! The time of a run, as W3C Datetime.

use std::time::SystemTime;

use jiff::Timestamp;

use crate::error::{Error, Result};

/// The beginning of the year 1: XML Schema has no year 0, and writes earlier years with a sign.
const FIRST: Timestamp = Timestamp::constant(-62_135_596_800, 0);

/// Formats the time of a run in UTC, in whole seconds.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it is not in the years 1 to 9999.
pub(crate) fn w3c_datetime(time: SystemTime) -> Result<String> {
    match Timestamp::try_from(time) {
        Ok(time) if time >= FIRST => Ok(format!("{time:.0}")),
        _ => Err(Error::usage("the time of publication must be in the years 1 to 9999")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_has_a_year_of_four_digits_that_is_not_0() {
        let first = Duration::from_secs(62_135_596_800);
        for (time, text) in [
            (SystemTime::UNIX_EPOCH - first, "0001-01-01T00:00:00Z"),
            (SystemTime::UNIX_EPOCH, "1970-01-01T00:00:00Z"),
            (SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_207_200), "9999-12-30T22:00:00Z"),
        ] {
            assert_eq!(w3c_datetime(time).unwrap(), text);
        }
        for wrong in [
            SystemTime::UNIX_EPOCH - first - Duration::from_secs(1),
            SystemTime::UNIX_EPOCH - Duration::from_secs(63_000_000_000),
            SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800),
        ] {
            assert_eq!(w3c_datetime(wrong).unwrap_err().kind(), crate::ErrorKind::Usage, "{wrong:?}");
        }
    }
}
