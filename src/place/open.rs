//! Which kind of place a path means. Another kind of place is added here.

use std::path::Path;
use std::sync::Arc;

use super::directory::fs::Disk;
use super::directory::{DirectoryPlace, DirectoryView};
use super::interface::{Place, View};
use crate::error::Result;

/// Opens the place at `path` for reading.
pub fn view(path: &Path) -> Arc<dyn View> {
    Arc::new(DirectoryView::of(Arc::new(Disk), path))
}

/// Opens the place at `path` for a run that changes it. Creates it if it does not exist.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created or written to,
/// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds it, or holds all sites that it is one of.
pub fn open(path: &Path) -> Result<Box<dyn Place>> {
    Ok(Box::new(DirectoryPlace::open(Arc::new(Disk), path)?))
}

/// Opens the parent of the places of several sites for a run that may change all of them.
///
/// # Errors
/// As [`open`]; also [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a run for one of the sites is active.
pub fn open_for_sites(path: &Path) -> Result<Box<dyn Place>> {
    Ok(Box::new(DirectoryPlace::open_for_sites(Arc::new(Disk), path)?))
}
