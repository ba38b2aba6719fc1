//! Objects of the state, and its location.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Setting, message};
use crate::store::{Bucket, Location, Scheme};

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

/// The location `path`, which the settings name for the state of a set.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it is not in a store.
pub fn state_at(path: &Path) -> Result<Location> {
    let location = Location::parse(path)?.filter(|location| location.scheme != Scheme::Http);
    let words = "is not a location in a store; use s3://bucket/prefix, or omit it";
    location.ok_or_else(|| Error::usage(message!(Setting::State, " ", path, ": {words}")))
}
