//! The grace period: how long requests continue after their run was asked to stop.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::failure::{Failure, FailureKind};
use crate::common::stop::Stop;

/// The time that a store has to answer all requests after the run was asked to stop: enough to clean up, unless the store hangs.
const GRACE: Duration = Duration::from_secs(5);

/// The interval between checks whether the run was asked to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long the requests of a run continue. Without a run, they continue until they are answered.
#[derive(Debug, Clone, Default)]
pub struct GracePeriod(Option<Stop>);

impl GracePeriod {
    /// The grace period of a run: a few seconds from the time that `stop` is raised.
    pub fn with(stop: &Stop) -> Self {
        Self(Some(stop.clone()))
    }

    /// Checks that the run was not asked to stop.
    ///
    /// # Errors
    /// If it was asked to stop.
    pub fn check(&self) -> crate::error::Result<()> {
        self.0.as_ref().map_or(Ok(()), Stop::check)
    }

    /// Waits for `request`, but abandons it a few seconds after the run was asked to stop.
    ///
    /// # Errors
    /// The failure of the request, or [`FailureKind::Stopped`]. In the latter case, the store may still carry out the request.
    pub async fn wait<T>(&self, request: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let Some(stop) = &self.0 else { return request.await };
        match select(pin!(request), pin!(is_over(stop))).await {
            Either::Left((told, _)) => told,
            Either::Right((signal, _)) => {
                let words = "the store has not answered since the run was asked to stop";
                Err(Failure { kind: FailureKind::Stopped(signal), ..Failure::other(words) })
            }
        }
    }
}

/// Returns the signal once the grace period is over.
async fn is_over(stop: &Stop) -> i32 {
    loop {
        if let Some(signal) = stop.signal()
            && stop.noticed().is_some_and(|noticed| noticed.elapsed() >= GRACE)
        {
            return signal;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::runtime::wait;

    #[test]
    fn a_request_without_an_answer_ends_with_the_run_and_an_answer_counts_until_then() {
        let stop = Stop::default();
        stop.raise(15);
        let grace_period = GracePeriod::with(&stop);
        let told = wait({
            let grace_period = grace_period.clone();
            async move { grace_period.wait(async { Ok(1) }).await }
        });
        assert_eq!(told.unwrap(), 1);
        let told =
            wait(async move { grace_period.wait(std::future::pending::<Result<(), Failure>>()).await });
        assert_eq!(told.unwrap_err().kind, FailureKind::Stopped(15));
    }
}
