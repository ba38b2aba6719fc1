//! Uploads of sitemaps in the background, limited in number and bytes.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::store::{Bucket, Failure, Meta, Put, Task, spawn};

/// Maximum number of concurrent uploads. More would not use the connection any better.
const UPLOADS_MAX: usize = 16;

/// Maximum bytes of all uploads in flight. A single upload may be larger.
const BYTES_MAX: usize = 48 << 20;

/// Limits the concurrent uploads of a run.
#[derive(Debug, Default)]
pub struct Uploads(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    in_flight: Mutex<InFlight>,
    landed: Condvar,
}

/// The uploads that have started and not ended.
#[derive(Debug, Default)]
struct InFlight {
    uploads: usize,
    bytes: usize,
}

/// An upload that counts as in flight until this is dropped, however it ends.
struct Upload {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Uploads {
    /// Waits until all uploads have ended.
    pub fn drain(&self) {
        drop(self.0.landed.wait_while(self.0.lock(), |in_flight| in_flight.uploads > 0));
    }

    /// Starts an upload. Waits for others first if too many are in flight.
    pub fn start(&self, bucket: Bucket, put: Put) -> Task<Result<Meta, Failure>> {
        let upload = self.count(put.bytes.len());
        spawn(async move {
            let landed = bucket.put_async(put).await;
            drop(upload);
            landed
        })
    }

    /// Counts an upload of `bytes` bytes, as soon as there is room for it.
    fn count(&self, bytes: usize) -> Upload {
        let is_full = |in_flight: &mut InFlight| {
            in_flight.uploads >= UPLOADS_MAX || (in_flight.uploads > 0 && in_flight.bytes + bytes > BYTES_MAX)
        };
        let waited = self.0.landed.wait_while(self.0.lock(), is_full);
        let mut in_flight = waited.unwrap_or_else(PoisonError::into_inner);
        in_flight.uploads += 1;
        in_flight.bytes += bytes;
        Upload { shared: Arc::clone(&self.0), bytes }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut in_flight = self.shared.lock();
        in_flight.uploads -= 1;
        in_flight.bytes -= self.bytes;
        drop(in_flight);
        self.shared.landed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_that_panics_is_not_awaited_at_the_end() {
        let uploads = Uploads::default();
        let upload = uploads.count(1);
        let _ = std::thread::spawn(move || {
            let _upload = upload;
            panic!("a failed upload")
        })
        .join();
        uploads.drain();
    }
}
