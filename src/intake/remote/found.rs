//! What a URL was found to refer to.

use std::path::PathBuf;
use std::sync::Arc;

use crate::intake::format::PartFiles;
use crate::intake::read_at::RemoteFile;

/// Files on another machine, with their names.
pub type RemoteFiles = Vec<(PathBuf, Arc<dyn RemoteFile>)>;

/// What a URL refers to.
#[derive(Debug)]
#[cfg_attr(not(feature = "cloud"), allow(dead_code, reason = "only object stores have remote files"))]
pub enum Remote {
    /// Single files.
    Files(RemoteFiles),
    /// A location with files below it, which is read like a directory: its part files, and all of them.
    Directory(PartFiles, RemoteFiles),
}
