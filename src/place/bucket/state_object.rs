//! Objects of the state, and its location.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::error::{Error, Result, Setting, message};
use crate::place::foreign::changed;
use crate::store::{Bucket, Condition, FailureKind, Location, Object, Put, Scheme};

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

impl StateObject {
    /// Reads it; `None` if it does not exist.
    pub fn read(&self) -> Result<Option<(Bytes, Object)>> {
        let read = self.bucket.read(&self.key);
        read.map_err(|failure| failure.into_error(&self.path, "could not be read"))
    }

    /// Looks it up without reading it; `None` if it does not exist.
    pub fn look_up(&self) -> Result<Option<Object>> {
        let found = self.bucket.head(&self.key);
        found.map_err(|failure| failure.into_error(&self.path, "could not be accessed"))
    }

    /// Uploads it.
    pub fn put(&self, bytes: impl Into<Bytes>, condition: Condition) -> Result<()> {
        match self.bucket.put(Put::new(&*self.key, bytes, condition)) {
            Ok(_) => Ok(()),
            Err(failure) if failure.kind == FailureKind::Condition => Err(changed(&self.path)),
            Err(failure) => Err(failure.into_error(&self.path, "could not be written")),
        }
    }

    /// Removes it. If it does not exist, it counts as removed.
    pub fn remove(&self) -> Result<()> {
        let removed = self.bucket.remove(std::slice::from_ref(&self.key));
        removed.map_err(|failure| failure.into_error(&self.path, "could not be removed"))
    }
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
