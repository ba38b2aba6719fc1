//! Sitemaps from elsewhere whose files are gone.

use std::path::PathBuf;

use super::target::decoded_path;
use crate::place::View;
use crate::set::manifest::Manifest;

/// The sitemaps of `set` that sitemill did not write and whose files are gone: their URLs, and their paths in the place of `view`.
/// Those that were given as URLs, which need not be files, have no time.
pub(crate) fn gone_external<'s>(view: &dyn View, set: &'s Manifest) -> Vec<(&'s str, PathBuf)> {
    let files = set.also.iter().filter(|also| also.lastmod.is_some()).map(|also| &*also.loc);
    let paths =
        files.filter_map(|loc| Some((loc, decoded_path(loc.strip_prefix(&*set.base_url)?.as_bytes()))));
    paths.filter(|(_, path)| matches!(view.look_up(path.as_os_str()), Ok(None))).collect()
}
