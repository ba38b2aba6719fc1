//! Attempts: requests that are made again after a failure which may pass.

use std::future::Future;
use std::time::{Duration, Instant};

use super::failure::{Failure, FailureKind};

/// How often a request is made at most.
pub const ATTEMPTS: u32 = 6;
/// The pause before the second attempt. Each pause is twice the one before.
pub const PAUSE: Duration = Duration::from_millis(200);

/// After this time, a request is not made again: the library has repeated it as well.
const TIME: Duration = Duration::from_secs(10);

/// Makes a `request` until it does not fail for a reason that may pass, or has failed too often. The library repeats fewer requests: no
/// read whose answer breaks off, and no conditional put that nobody answers.
///
/// # Errors
/// That of the last attempt.
pub async fn repeated<T, F>(mut request: impl FnMut() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let (begun, mut pause) = (Instant::now(), PAUSE);
    for _ in 1..ATTEMPTS {
        let told = request().await;
        let has_failed = matches!(&told, Err(failure) if failure.kind == FailureKind::Other);
        if !has_failed || begun.elapsed() > TIME {
            return told;
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    request().await
}
