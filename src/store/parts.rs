//! Parts of remote files, requested without waiting for the response.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::bucket::Bucket;
use super::failure::Failure;
use super::object::Object;
use super::runtime::{Task, spawn};

/// One version of a remote file whose parts can be requested.
pub trait Parts: fmt::Debug + Send + Sync {
    /// Requests the bytes in `range`, which lies within the file. The request fails with
    /// [`FailureKind::Condition`](super::FailureKind::Condition) if the file was replaced since it was found, and with
    /// [`FailureKind::Missing`](super::FailureKind::Missing) if it was removed.
    fn request(&self, range: Range<u64>) -> Task<Result<Bytes, Failure>>;
}

/// The parts of an object in a bucket.
#[derive(Debug, Clone)]
pub struct ObjectParts {
    bucket: Bucket,
    key: String,
    object: Object,
    /// The ETag from the first part that was read, for objects from a listing without ETags.
    tag: Arc<OnceLock<String>>,
}

impl ObjectParts {
    /// The parts of `object`, found as `key` in `bucket`.
    pub fn new(bucket: Bucket, key: String, object: Object) -> Self {
        Self { bucket, key, object, tag: Arc::default() }
    }
}

impl Parts for ObjectParts {
    fn request(&self, range: Range<u64>) -> Task<Result<Bytes, Failure>> {
        let Self { bucket, key, mut object, tag } = self.clone();
        spawn(async move {
            object.tag = object.tag.or_else(|| tag.get().cloned());
            let (bytes, now) = bucket.read_range(&key, range, &object).await?;
            let first = now.map(|now| tag.get_or_init(|| now.clone()) == &now);
            match first {
                // Two parts were requested before the ETag was known, and the object was replaced between them.
                Some(false) => Err(Failure::replaced()),
                _ => Ok(bytes),
            }
        })
    }
}
