//! The sets in a place, and the places below it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::interface::View;
use super::set_name::SetName;
use crate::error::{Error, Result, Setting, is_url, message};

/// The directory at the root of an ext4 file system in which `fsck` puts what it recovers. Only root may read it.
pub const LOST_AND_FOUND: &str = "lost+found";

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

/// Checks that the `name` of a set has an effect: that not all `paths` are single files.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it has none.
pub fn check_name(name: Option<&SetName>, paths: &[impl AsRef<Path>]) -> Result<()> {
    let is_file = |path: &&Path| !is_url(path) && path.is_file();
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    match (name, &paths[..]) {
        (Some(name), [first, ..]) if paths.iter().all(is_file) => Err(Error::usage(message!(
            Setting::Name.with(name),
            " chooses a set of a directory, and ",
            *first,
            " is a file; leave the name out, or give the directory"
        ))),
        _ => Ok(()),
    }
}

/// Whether runs have left the state of any set in the place of `view`.
///
/// # Errors
/// If that cannot be determined.
pub fn has_sets(view: &dyn View) -> Result<bool> {
    for set in sets_in(view, None)? {
        if set.has_state()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a site may be in the place of `view`, by its name: hidden directories and [`LOST_AND_FOUND`] are no sites.
pub fn may_be_site(view: &dyn View) -> bool {
    let name = view.root().file_name().unwrap_or_default();
    !name.as_encoded_bytes().starts_with(b".") && name != LOST_AND_FOUND
}

/// The places directly below that of `parent`, under all of their names: links may lead to the same one.
///
/// # Errors
/// If they cannot be listed.
pub fn places_below(parent: &dyn View) -> Result<impl Iterator<Item = Arc<dyn View>>> {
    let listed = parent.list()?.into_iter().filter(|listed| !listed.is_file);
    Ok(listed.map(|listed| parent.below(&listed.name)))
}

/// The places directly below that of `parent`, each once, however many links lead to it.
///
/// # Errors
/// If they cannot be listed.
pub fn distinct_places_below(parent: &dyn View) -> Result<impl Iterator<Item = Arc<dyn View>>> {
    let listed = parent.list()?.into_iter().filter(|listed| !listed.is_file);
    let (directories, mut links): (Vec<_>, Vec<_>) = listed.partition(|listed| listed.is_directory);
    let root = parent.root().canonicalize().unwrap_or_else(|_| parent.root().to_owned());
    let mut seen: HashSet<PathBuf> = directories.iter().map(|directory| root.join(&directory.name)).collect();
    links.sort_by(|one, other| one.name.cmp(&other.name));
    links.retain(|link| parent.path(&link.name).canonicalize().map_or(true, |place| seen.insert(place)));
    Ok(directories.into_iter().chain(links).map(|listed| parent.below(&listed.name)))
}
