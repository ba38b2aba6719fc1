//! Which kind of place a path means. Another kind of place is added here.

use std::path::Path;
use std::sync::Arc;

use super::directory::fs::{Disk, make_path};
use super::directory::layout::{is_state_of_set, set_of};
use super::directory::{DirectoryPlace, DirectoryStaging, DirectoryView};
use super::file::PlaceFile;
use super::interface::{Place, SharedStaging, View};
use super::preview::Preview;
use super::set_name::SetName;
use crate::error::Result;

/// The name of the staged file by which a worker sees that it shares a place.
pub use super::directory::layout::PROBE;
/// The name below a directory under which it keeps the state of its set. No other file may have it.
pub use super::directory::layout::STATE;

/// Opens the set without a name in the place at `path` for reading. Its view leads to the other sets there.
pub fn view(path: &Path) -> Arc<dyn View> {
    view_of_set(path, None)
}

/// Opens the set `name` in the place at `path` for reading, or the set without a name.
pub fn view_of_set(path: &Path, name: Option<&SetName>) -> Arc<dyn View> {
    Arc::new(DirectoryView::of(Arc::new(Disk), path, name))
}

/// The sets in the directory of `view`: all of them, the one without a name first, or only the set `name`. They need not exist.
///
/// # Errors
/// If they cannot be listed.
pub fn sets_in(view: &dyn View, name: Option<&SetName>) -> Result<Vec<Arc<dyn View>>> {
    let names = match name {
        Some(name) => vec![Some(name.clone())],
        None => [None].into_iter().chain(view.names()?.into_iter().map(Some)).collect(),
    };
    Ok(names.iter().map(|name| view.named(name.as_ref())).collect())
}

/// The file at `path`, as one of the place that it is in.
pub fn file(path: &Path) -> PlaceFile {
    match (path.parent(), path.file_name()) {
        // A path with a trailing slash has a name, too, but cannot be a file.
        (Some(parent), Some(name))
            if path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) =>
        {
            PlaceFile::new(view(parent), name)
        }
        _ => PlaceFile::new(view(Path::new("")), path),
    }
}

/// What a path that a user gave for reading refers to.
#[derive(Debug)]
pub enum Named {
    /// A place with a set in it, or the parent of the places of several sites.
    Place(Arc<dyn View>),
    /// A single file. It need not exist.
    File(PlaceFile),
}

/// Determines whether `path` is a place or a file.
pub fn named(path: &Path) -> Named {
    if path.is_dir() { Named::Place(view(path)) } else { Named::File(file(path)) }
}

/// The place of the set that the manifest file at `path` describes.
pub fn of_manifest(path: &Path) -> Arc<dyn View> {
    let (directory, name) = set_of(path);
    view_of_set(directory, name.as_ref())
}

/// Creates the place at `path` if it does not exist.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created.
pub fn create(path: &Path) -> Result<()> {
    make_path(&Disk, path)
}

/// Whether the directory `path` belongs to the place that it lies in: the state of a set, and not only its name.
pub fn is_state(path: &Path) -> bool {
    path.ends_with(STATE) && is_state_of_set(path)
}

/// Whether the directory `path` has the state of a set in it.
pub fn holds_set(path: &Path) -> bool {
    is_state_of_set(&path.join(STATE))
}

/// Opens the place at `path` for a run that changes the set `name` there, or the set without a name. Creates the place if it does
/// not exist.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created or written to,
/// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds it, or holds all sites that it is one of.
pub fn open(path: &Path, name: Option<&SetName>) -> Result<Box<dyn Place>> {
    Ok(Box::new(DirectoryPlace::open(Arc::new(Disk), path, name)?))
}

/// Opens the parent of the places of several sites for a run that may change the sets of this name in all of them.
///
/// # Errors
/// As [`open`]; also [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a run for one of the sites is active.
pub fn open_for_sites(path: &Path, name: Option<&SetName>) -> Result<Box<dyn Place>> {
    Ok(Box::new(DirectoryPlace::open_for_sites(Arc::new(Disk), path, name)?))
}

/// The place at `path` for a dry run, which changes nothing and takes no lock. It need not exist.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if something that is no directory has the path.
pub fn preview(path: &Path, name: Option<&SetName>) -> Result<Box<dyn Place>> {
    Ok(Box::new(Preview::of(view_of_set(path, name))?))
}

/// The staging of `run` for the set `name` in the place at `path`, which belongs to a process that may be on another machine. Nothing is opened or
/// created, so that nothing is left if the run has ended.
pub fn staging_of_run(path: &Path, name: Option<&SetName>, run: &str) -> Box<dyn SharedStaging> {
    Box::new(DirectoryStaging::of(path, name, run))
}
