//! Index files that no readable manifest may name: what is known about a set without its manifest.

use std::collections::{BTreeSet, HashSet};

use super::neighbours::{Neighbours, named_in_lines};
use crate::error::Result;
use crate::place::View;
use crate::set::name::{is_index_file, is_sitemap_file};

/// Index files that sitemill wrote, and the sitemaps that they list.
#[derive(Default)]
pub(super) struct FoundIndexes {
    pub names: Vec<String>,
    pub listed: BTreeSet<String>,
}

impl FoundIndexes {
    /// Reads all files whose name sitemill gives to index files of the set and that list a sitemap with a name of sitemill, or that
    /// the lines for robots.txt name, because they may list only sitemaps from elsewhere. Those of other sets in the directory are
    /// left out.
    ///
    /// # Errors
    /// If the place cannot be listed or a file cannot be read.
    pub fn read(view: &dyn View) -> Result<Self> {
        let mut found = Self::default();
        // A dry run may come before the first run.
        if !view.exists()? {
            return Ok(found);
        }
        let (neighbours, named) = (Neighbours::of(view)?, named_in_lines(view)?);
        for entry in view.list()?.into_iter().filter(|entry| entry.is_file) {
            let is_own = |name: &&str| is_index_file(name) && neighbours.may_be_own(name);
            let Some(name) = entry.name.to_str().filter(is_own) else { continue };
            let xml = view.read(name.as_ref())?;
            let listed = listed(&xml);
            if listed.is_empty() && !named.contains(name) {
                continue;
            }
            found.names.push(name.into());
            let own = listed.into_iter().filter(|file| neighbours.may_be_own(file));
            found.listed.extend(own.map(str::to_owned));
        }
        Ok(found)
    }
}

/// The first existing sitemap that is not `known` and that an index file lists which the lines for robots.txt name. The name of
/// that index file comes first.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn first_unknown(view: &dyn View, known: &HashSet<&str>) -> Result<Option<(String, String)>> {
    for index in named_in_lines(view)?.into_iter().filter(|file| is_index_file(file)) {
        let xml = view.read_regular(index.as_ref())?.unwrap_or_default();
        for file in listed(&xml).into_iter().filter(|file| !known.contains(file)) {
            if view.has(file.as_ref())? {
                let file = file.to_owned();
                return Ok(Some((index, file)));
            }
        }
    }
    Ok(None)
}

/// The names of the sitemaps in an index file, without those that sitemill does not give; none if the file is damaged.
fn listed(xml: &[u8]) -> Vec<&str> {
    let locs = str::from_utf8(xml).unwrap_or_default().split("<loc>").skip(1);
    let files = locs.map(|text| text.split_once("</loc>")?.0.rsplit('/').next());
    let files: Vec<_> = files.collect::<Option<_>>().unwrap_or_default();
    files.into_iter().filter(|file| is_sitemap_file(file)).collect()
}
