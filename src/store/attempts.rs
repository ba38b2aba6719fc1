//! Attempts: retries of requests after transient failures.

use std::future::Future;
use std::time::{Duration, Instant};

use super::failure::Failure;

/// Maximum number of attempts, including the first.
pub const ATTEMPTS_MAX: u32 = 6;
/// The pause before the second attempt. It doubles with each further attempt.
pub const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// No retries start after this time, because the client library may have retried the request, too.
pub const RETRY_TIME_MAX: Duration = Duration::from_secs(10);

/// Retries `request` with back-off while it fails for a reason that may be transient and for which the client library does not
/// retry it: that does not retry reads that break off during the response, or conditional PUTs that get no response.
///
/// # Errors
/// The error of the last attempt.
pub async fn repeated<T, F>(mut request: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
    for _ in 1..ATTEMPTS_MAX {
        let told = request().await;
        let may_be_repeated = told.as_ref().is_err_and(Failure::may_be_repeated);
        if !may_be_repeated || begun.elapsed() > RETRY_TIME_MAX {
            return told;
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    request().await
}
