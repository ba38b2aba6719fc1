//! Sitemaps from elsewhere: published sets list them, but sitemill does not write them.

use std::path::{Path, PathBuf};

use super::resolved::{File, Identity, ResolvedPath};
use crate::commands::check::decoded_path;
use crate::place;
use crate::set::manifest::Manifest;
use crate::set::publish::newest;

/// Returns the directory of a published set that lists the file `place`, which `path` leads to, besides its own sitemaps.
pub(super) fn listing(path: &Path, place: &ResolvedPath) -> Option<PathBuf> {
    let identity = place.file?.identity;
    // The sitemap itself may be a link to a file elsewhere.
    let given = path.parent().and_then(|parent| parent.join(".").canonicalize().ok());
    let above = place.directory.ancestors().chain(given.iter().flat_map(|given| given.ancestors()));
    let mut sets = above.filter(|above| place::holds_set(above));
    sets.find(|above| lists(above, identity)).map(Path::to_owned)
}

/// Returns whether a set in `directory` lists the file besides its own. A damaged manifest lists none: commands that depend on it
/// say that it is damaged.
fn lists(directory: &Path, file: Identity) -> bool {
    let is_file = |set: &Manifest| {
        let below = set.also.iter().filter_map(|also| also.loc.strip_prefix(&*set.base_url));
        let mut paths = below.map(|below| directory.join(decoded_path(below.as_bytes())));
        paths.any(|path| File::at(&path).is_some_and(|listed| listed.identity == file))
    };
    let sets = place::view(directory).and_then(|view| place::sets_in(&*view, None)).unwrap_or_default();
    sets.iter().filter_map(|set| newest(&**set).ok().flatten()).any(|set| is_file(&set))
}
