//! Areas: parts of buckets, one with the published files and one with the state.

use std::path::Path;

use crate::error::Result;
use crate::store::{Bucket, Location, connect};

/// The objects below a prefix.
#[derive(Debug, Clone)]
pub struct Area {
    /// The bucket.
    pub bucket: Bucket,
    /// The prefix in it.
    pub location: Location,
}

impl Area {
    /// The objects below `location`.
    ///
    /// # Errors
    /// If there are no credentials, or the settings of the process are invalid.
    pub fn at(location: Location) -> Result<Self> {
        Ok(Self { bucket: connect(&location)?, location })
    }

    /// The objects below `name`, which is below this prefix.
    pub fn below(&self, name: &str) -> Self {
        let location = &self.location;
        let key = if location.key.is_empty() { name.to_owned() } else { format!("{}/{name}", location.key) };
        Self { bucket: self.bucket.clone(), location: Location { key, ..location.clone() } }
    }

    /// The key of the object at `path`, which is the URL of an object of the bucket.
    pub fn key(&self, path: &Path) -> String {
        let path = path.to_string_lossy();
        path.strip_prefix(&*self.location.root).unwrap_or(&path).trim_start_matches('/').into()
    }
}
