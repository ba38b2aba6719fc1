//! The files that a URL refers to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::intake::format::PartFiles;
use crate::intake::read_at::RemoteFile;

/// A remote file, with its name.
pub type NamedFile = (PathBuf, Arc<dyn RemoteFile>);

/// The target of a URL.
#[derive(Debug)]
#[cfg_attr(not(feature = "cloud"), allow(dead_code, reason = "only object stores have remote files"))]
pub enum Remote {
    /// A file.
    File(NamedFile),
    /// A location with files below it, read like a directory.
    Directory(RemoteDirectory),
}

/// A location with files below it.
#[derive(Debug)]
#[cfg_attr(not(feature = "cloud"), allow(dead_code, reason = "only object stores have remote files"))]
pub struct RemoteDirectory {
    /// The location.
    pub path: PathBuf,
    /// The part files.
    pub parts: PartFiles,
    /// All files.
    pub files: Vec<NamedFile>,
}
