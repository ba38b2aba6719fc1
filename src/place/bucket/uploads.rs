//! Uploads of sitemaps in the background, limited in number and bytes.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

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
    on_their_way: Mutex<(usize, usize)>,
    landed: Condvar,
}

impl Uploads {
    /// Waits until all uploads have ended.
    pub fn drain(&self) {
        let lock = self.0.on_their_way.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.landed.wait_while(lock, |&mut (count, _)| count > 0));
    }

    /// Starts an upload. Waits for others first if too many are in flight.
    pub fn start(&self, bucket: Bucket, put: Put) -> Task<Result<Meta, Failure>> {
        let bytes = put.bytes.len();
        let lock = self.0.on_their_way.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |&mut (count, total): &mut (usize, usize)| {
            count >= UPLOADS_MAX || (count > 0 && total + bytes > BYTES_MAX)
        };
        let lock = self.0.landed.wait_while(lock, is_full);
        let mut lock = lock.unwrap_or_else(PoisonError::into_inner);
        lock.0 += 1;
        lock.1 += bytes;
        drop(lock);
        let shared = Arc::clone(&self.0);
        spawn(async move {
            let landed = bucket.put_async(put).await;
            let mut lock = shared.on_their_way.lock().unwrap_or_else(PoisonError::into_inner);
            lock.0 -= 1;
            lock.1 -= bytes;
            drop(lock);
            shared.landed.notify_all();
            landed
        })
    }
}
