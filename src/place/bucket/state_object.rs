//! Objects of the state.

use std::path::PathBuf;

use crate::store::Bucket;

/// An object in the state.
#[derive(Debug, Clone)]
pub struct StateObject {
    /// The bucket.
    pub bucket: Bucket,
    /// The key in the bucket.
    pub key: String,
    /// The URL, for messages.
    pub path: PathBuf,
}
