//! The clock of a store. Only its answers tell it, and it may differ from the clock of this machine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

/// The clock of a store. Clones tell the same time.
#[derive(Debug, Clone, Default)]
pub struct StoreClock(Arc<Mutex<i64>>);

impl StoreClock {
    /// Sets the clock to `date`, the header of a response that has just arrived. Any other text changes nothing.
    pub fn set(&self, date: &str) {
        if let Ok(now) = DateTimeParser::new().parse_timestamp(date) {
            *self.ahead() = nanoseconds(now) - nanoseconds(Timestamp::now());
        }
    }

    /// The time in nanoseconds since 1970, to about a second. Before the first response, the time of this machine.
    pub fn now(&self) -> i64 {
        nanoseconds(Timestamp::now()).saturating_add(*self.ahead())
    }

    /// By how many nanoseconds it is ahead of the clock of this machine.
    fn ahead(&self) -> MutexGuard<'_, i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nanoseconds since 1970, until the year 2262.
fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_store_goes_on_from_the_date_of_its_last_response() {
        let clock = StoreClock::default();
        let second = 1_000_000_000;
        assert!((clock.now() - nanoseconds(Timestamp::now())).abs() < 60 * second, "no response yet");
        for (date, seconds) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Fri, 31 Dec 2100 00:00:00 GMT", 4_133_894_400),
            ("soon", 4_133_894_400),
        ] {
            clock.clone().set(date);
            assert!((clock.now() - seconds * second).abs() < 60 * second, "{date}");
        }
    }
}
