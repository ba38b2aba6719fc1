//! Records: the manifests that a place keeps, and what identifies their content.

use std::ffi::OsString;

use crate::common::digest::hex_digest;

/// A manifest that a place keeps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Record {
    /// The manifest of the live set.
    Live,
    /// The manifest of the next set, as the journal of a switch.
    Journal,
    /// The manifest of an earlier set, by its file name.
    Kept(OsString),
    /// The manifest of a set that a run has prepared and not committed yet, by the name of the run.
    Staged(OsString),
}

impl Record {
    /// The manifest of the earlier set that `run` published.
    pub fn kept(run: &str) -> Self {
        Self::Kept(format!("{run}.json").into())
    }
}

/// Identifies one content of a manifest, as the entity tag of an object does. Every change of the content changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// The version of a manifest that is known by its `bytes` alone.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex_digest(bytes))
    }
}

/// A manifest as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their version.
    pub version: Version,
}
