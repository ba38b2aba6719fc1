//! Which kind of place a path means. Another kind of place is added here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory::{DirectoryPlace, DirectoryStaging, DirectoryView};
use super::file::PlaceFile;
use super::fs::{Disk, make_path};
use super::interface::{Place, View};
use super::preview::Preview;
use super::set_name::SetName;
use super::set_paths::{is_state_of_set, set_of};
use super::shared_staging::SharedStaging;
use crate::common::output::STREAM;
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, Setting, is_in_store, is_url, is_url_with_one_slash, message};
use crate::store::{self, Location, Scheme, store_settings};

#[cfg(feature = "cloud")]
use super::bucket::{BucketPlace, BucketStaging, BucketView};
#[cfg(feature = "cloud")]
use crate::store::{Failure, connect};

pub use super::set_paths::{PROBE, STATE};

/// Opens the set without a name in the place at `path` for reading. Its view leads to the other sets there.
///
/// # Errors
/// If `path` is a URL of a store that cannot be reached.
pub fn view(path: &Path) -> Result<Arc<dyn View>> {
    view_of_set(path, None)
}

/// Opens the set `name` in the place at `path` for reading, or the set without a name.
///
/// # Errors
/// Same as [`view`].
pub fn view_of_set(path: &Path, name: Option<&SetName>) -> Result<Arc<dyn View>> {
    match in_store(path, ErrorKind::Input)? {
        None => Ok(Arc::new(DirectoryView::of(Arc::new(Disk), path, name))),
        #[cfg(feature = "cloud")]
        Some(location) => Ok(Arc::new(BucketView::of(location, name)?)),
        #[cfg(not(feature = "cloud"))]
        Some(never) => match never {},
    }
}

/// Checks that sets can be published at `path`, as far as it tells without asking a store.
///
/// # Errors
/// [`ErrorKind::Usage`] if it is a URL that nothing can be published to, or looks like something other than a directory, which
/// would otherwise be created under that name: a URL with a slash missing, standard output, or a home directory that no shell
/// has expanded.
pub fn check(path: &Path) -> Result<()> {
    in_store(path, ErrorKind::Usage)?;
    if is_url_with_one_slash(path) {
        let words = "looks like a URL with a slash missing; give s3://bucket/prefix for a bucket, a plain path for a directory, or ./";
        return Err(Error::usage(message!(path, ": {words}", path, " for a directory of this name")));
    }
    let why = if path == Path::new(STREAM) && !path.is_dir() {
        "a set cannot be written to standard output; give a directory; one with this name is ./-"
    } else if path.starts_with("~") && !Path::new("~").is_dir() {
        "the shell has not expanded ~; give the whole path; a relative path of this form begins with ./"
    } else {
        return Ok(());
    };
    Err(Error::usage(message!(path, ": {why}")))
}

/// Whether the state of a set at `path` cannot be located: `path` is in a store, and the `state` setting belongs to another set.
/// Only robots lines then show that a set is there.
pub fn has_unknown_state(path: &Path) -> bool {
    store_settings().state.is_some() && is_url(path)
}

/// Checks that the `paths` of one command lead to no more than one set in a store if the settings say where its state is. Any other
/// set would be read with the wrong state.
///
/// # Errors
/// [`ErrorKind::Usage`], naming two of the sets.
pub fn check_state(paths: &[impl AsRef<Path>]) -> Result<()> {
    if store_settings().state.is_none() {
        return Ok(());
    }
    let in_stores = paths.iter().map(AsRef::as_ref).filter(|path| is_in_store(path) && !is_in_state(path));
    let mut sets = in_stores.map(likely_set);
    let first = sets.next();
    match sets.find(|set| Some(*set) != first).zip(first) {
        None => Ok(()),
        Some((other, first)) => Err(Error::usage(message!(
            Setting::State,
            " is that of one set, and ",
            first,
            " and ",
            other,
            " are different ones; leave it out, or give only one of them"
        ))),
    }
}

/// Whether `path` leads into the state of a set, by its names alone.
pub fn is_in_state(path: &Path) -> bool {
    path.iter().any(|part| part == STATE)
}

/// The place of the set that `url` is, or is a file of. Only names tell which it is; those of sites end like `.com`.
fn likely_set(url: &Path) -> &Path {
    let is_file =
        url.extension().is_some_and(|end| ["xml", "gz", "txt"].iter().any(|of_file| end == *of_file));
    url.parent().filter(|_| is_file).unwrap_or(url)
}

/// The location in a store that `path` means, if it is not a local path.
///
/// # Errors
/// [`ErrorKind::Usage`] if there can be no set at the URL, and [`ErrorKind::Input`] as `kind` if it was to be read.
#[cfg(feature = "cloud")]
fn in_store(path: &Path, kind: ErrorKind) -> Result<Option<Location>> {
    match Location::parse(path)? {
        Some(location) if location.scheme == Scheme::Http => Err(store::no_set_on_web_server(path, kind)),
        location => Ok(location),
    }
}

/// `None`: this build knows only local paths.
///
/// # Errors
/// [`ErrorKind::Usage`] if there can be no set at the URL, and of this `kind` if it is that of a store.
#[cfg(not(feature = "cloud"))]
fn in_store(path: &Path, kind: ErrorKind) -> Result<Option<std::convert::Infallible>> {
    match Location::parse(path)? {
        None => Ok(None),
        Some(location) if location.scheme == Scheme::Http => Err(store::no_set_on_web_server(path, kind)),
        Some(_) => Err(store::not_built_in(path, kind)),
    }
}

/// The file at `path`, as one of the place that it is in.
///
/// # Errors
/// Same as [`view`].
pub fn file(path: &Path) -> Result<PlaceFile> {
    Ok(match (path.parent(), path.file_name()) {
        // A path with a trailing slash has a name, too, but cannot be a file.
        (Some(parent), Some(name))
            if path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) =>
        {
            PlaceFile::new(view(parent)?, name)
        }
        _ => PlaceFile::new(view(Path::new(""))?, path),
    })
}

/// The target of a path that a user gave for reading.
#[derive(Debug)]
pub enum PlaceOrFile {
    /// A place with a set in it, or the parent of the places of several sites.
    Place(Arc<dyn View>),
    /// A single file. It need not exist.
    File(PlaceFile),
}

/// Determines whether `path` is a place or a file. A link to a local file means its target.
///
/// # Errors
/// Same as [`view`]; also [`ErrorKind::Input`] if nothing is there in a store.
pub fn resolve(path: &Path) -> Result<PlaceOrFile> {
    #[cfg(feature = "cloud")]
    if let Some(location) = in_store(path, ErrorKind::Input)? {
        let bucket = connect(&location)?;
        let failed = |failure: Failure| failure.into_error(path, "could not be accessed");
        // A prefix with objects below it is a place, even if an object has its name.
        if location.key.is_empty() || !bucket.list_level(&location.key).map_err(failed)?.is_empty() {
            return Ok(PlaceOrFile::Place(view(path)?));
        }
        if location.is_prefix || bucket.head(&location.key).map_err(failed)?.is_none() {
            let words = "there is no such object, and none below it";
            return Err(Error::new(ErrorKind::Input, message!(path, ": {words}")));
        }
        return Ok(PlaceOrFile::File(file(path)?));
    }
    // Refuses the whole URL, not only the place that its file would be in.
    #[cfg(not(feature = "cloud"))]
    in_store(path, ErrorKind::Input)?;
    if path.is_dir() {
        return Ok(PlaceOrFile::Place(view(path)?));
    }
    // The sitemaps of an index file are in the directory of the file, not in that of a link to it.
    let target = path.is_symlink().then(|| path.canonicalize().ok()).flatten();
    let target = target.filter(|target| target.is_file());
    Ok(PlaceOrFile::File(file(target.as_deref().unwrap_or(path))?))
}

/// The place of the set that the manifest file at `path` describes. If the settings say that its state is elsewhere, the set is the
/// one that `other`, a path of the same command, leads to.
///
/// # Errors
/// Same as [`view`]; also [`ErrorKind::Usage`] if `other` leads to no set.
pub fn of_manifest(path: &Path, other: &Path) -> Result<Arc<dyn View>> {
    let real = real_path_in_state(path);
    let (directory, name) = set_of(real.as_deref().unwrap_or(path));
    if !is_at_state(directory)? {
        return view_of_set(directory, name.as_ref());
    }
    if !is_url(other) || is_in_state(other) {
        return Err(Error::usage(message!(
            path,
            ": is in ",
            Setting::State,
            ", which does not say where the set is published; as the other side, give the location of the set, not ",
            other
        )));
    }
    view_of_set(likely_set(other), name.as_ref())
}

/// The real path of the local manifest at `path` if it is in the state of a set, and only its real path says so: `path` may be a
/// link, or relative to a directory in the state.
fn real_path_in_state(path: &Path) -> Option<PathBuf> {
    let is_known = is_url(path) || is_in_state(path);
    if is_known { None } else { path.canonicalize().ok().filter(|real| is_in_state(real)) }
}

/// Whether `directory` is the location that the settings name for the state of a set.
fn is_at_state(directory: &Path) -> Result<bool> {
    let Some(state) = store_settings().state else { return Ok(false) };
    let locations = (Location::parse(directory)?, Location::parse(&state)?);
    Ok(matches!(locations, (Some(directory), Some(state)) if directory.below(&state) == Some("")))
}

/// Creates the place at `path` if it does not exist.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created.
pub fn create(path: &Path) -> Result<()> {
    // A prefix of a bucket needs no creating.
    if in_store(path, ErrorKind::Usage)?.is_some() { Ok(()) } else { make_path(&Disk, path) }
}

/// The path at which other machines reach the place at `path`, which exists.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it is a directory that cannot be looked up.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    match in_store(path, ErrorKind::Usage)? {
        None => path.canonicalize().map_err(|error| Error::output(path, error)),
        Some(_) => Ok(path.into()),
    }
}

/// Whether the directory `path` belongs to the place that it is in: the state of a set, and not only its name.
pub fn is_state(path: &Path) -> bool {
    path.ends_with(STATE) && is_state_of_set(path)
}

/// Whether the directory `path` has the state of a set in it.
pub fn holds_set(path: &Path) -> bool {
    is_state_of_set(&path.join(STATE))
}

/// Opens the place at `path` for a run that changes the set `name` there, or the set without a name. Creates the place if it does
/// not exist. Requests to a store that does not answer are given up a few seconds after `stop` is raised.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created,
/// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if this user may not write to it,
/// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds it, or holds all sites that it is one of.
#[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "only requests to stores are given up"))]
pub fn open(path: &Path, name: Option<&SetName>, stop: &Stop) -> Result<Box<dyn Place>> {
    match in_store(path, ErrorKind::Usage)? {
        None => Ok(Box::new(DirectoryPlace::open(Arc::new(Disk), path, name)?)),
        #[cfg(feature = "cloud")]
        Some(location) => Ok(Box::new(BucketPlace::open(location, name, stop)?)),
        #[cfg(not(feature = "cloud"))]
        Some(never) => match never {},
    }
}

/// Opens the parent of the places of several sites for a run that may change the sets of this name in all of them.
///
/// # Errors
/// Same as [`open`]; also [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a run for one of the sites is active.
#[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "only requests to stores are given up"))]
pub fn open_for_sites(path: &Path, name: Option<&SetName>, stop: &Stop) -> Result<Box<dyn Place>> {
    match in_store(path, ErrorKind::Usage)? {
        None => Ok(Box::new(DirectoryPlace::open_for_sites(Arc::new(Disk), path, name)?)),
        #[cfg(feature = "cloud")]
        Some(location) => Ok(Box::new(BucketPlace::open_for_sites(location, name, stop)?)),
        #[cfg(not(feature = "cloud"))]
        Some(never) => match never {},
    }
}

/// The place at `path` for a dry run, which changes nothing and takes no lock. It need not exist.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if something that is not a directory has the path.
#[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "only requests to stores are given up"))]
pub fn preview(path: &Path, name: Option<&SetName>, stop: &Stop) -> Result<Box<dyn Place>> {
    let (view, is_local): (Arc<dyn View>, bool) = match in_store(path, ErrorKind::Usage)? {
        None => (view_of_set(path, name)?, true),
        #[cfg(feature = "cloud")]
        Some(location) => (Arc::new(BucketPlace::preview(location, name, stop)?), false),
        #[cfg(not(feature = "cloud"))]
        Some(never) => match never {},
    };
    Ok(Box::new(Preview::of(view, is_local)?))
}

/// The staging of `run` for the set `name` in the place at `path`, which belongs to a process that may be on another machine.
/// Nothing is opened or created, so that nothing is left if the run has ended.
///
/// # Errors
/// Same as [`view`].
pub fn staging_of_run(path: &Path, name: Option<&SetName>, run: &str) -> Result<Box<dyn SharedStaging>> {
    match in_store(path, ErrorKind::Usage)? {
        None => Ok(Box::new(DirectoryStaging::of(path, name, run))),
        #[cfg(feature = "cloud")]
        Some(location) => Ok(Box::new(BucketStaging::of(location, name, run)?)),
        #[cfg(not(feature = "cloud"))]
        Some(never) => match never {},
    }
}
