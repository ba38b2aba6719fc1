//! The sets in a place, or in the places of several sites below it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::foreign::may_have_sitemaps;
use super::listing::has_own_index;
use super::{Set, stem};
use crate::commands::check::manifests::Manifests;
use crate::error::{Error, ErrorKind, Result};
use crate::place::{self, Listed, Record, SetName, View};
use crate::set::name::{Stem, is_index_file, robots_file, set_of_robots_file};

impl Set {
    /// Returns the sets in `parent`, sorted by name, or, if it is the parent of several sites, the sets of all sites, sorted by
    /// directory and name. A place without manifests or robots lines counts as one set. With a `name`, only the sets of that name.
    ///
    /// # Errors
    /// If it cannot be read, or contains no set of that name; also if it is the parent of several sites, and
    /// it is unknown whether a directory in it is one.
    pub fn places(parent: &dyn View, name: Option<&SetName>) -> Result<Vec<Arc<dyn View>>> {
        let listed = parent.list()?;
        let own = Self::published(parent, &listed, name)?;
        if !own.is_empty() {
            return Ok(own);
        }
        let (mut sites, mut hidden) = (Vec::new(), None);
        for site in place::distinct_places_below(parent)? {
            // A directory that cannot be listed may have a set all the same, whose files have known names.
            let (listed, unlisted) = match site.list() {
                Ok(listed) => (listed, None),
                Err(error) => (Vec::new(), Some(error)),
            };
            let published = published_sets(&*site, &listed, name)?;
            if published.is_empty() && place::may_be_site(&*site) {
                hidden = hidden.or(unlisted.filter(Error::is_denied));
            }
            sites.push((site, listed, published));
        }
        let mut sets = Vec::new();
        // Without any set, index files in directories below are most likely those of this place, or of a backup.
        let has_published = sites.iter().any(|(_, _, published)| !published.is_empty());
        if let Some(error) = hidden
            && (has_published || !may_have_sitemaps(parent)?)
        {
            // Otherwise, the sets of a site would be missing without a word.
            return Err(error);
        }
        if has_published {
            let of_sites =
                sites.into_iter().map(|(site, listed, sets)| with_lost(&*site, &listed, sets, name));
            sets.extend(of_sites.flatten());
        }
        sets.sort_by(|one, other| (one.root(), one.name()).cmp(&(other.root(), other.name())));
        match name {
            Some(name) if sets.is_empty() => {
                let set = parent.named(Some(name));
                // Perhaps only its files were copied.
                Self::of_place(Arc::clone(&set), None, 1)?;
                sets.push(set);
            }
            // There may be other sitemaps next to the sites.
            None if sets.is_empty() || may_have_sitemaps(parent)? => sets.insert(0, parent.share()),
            _ => {}
        }
        Ok(sets)
    }

    /// Returns the sets in the place of `view`, which has the files `listed`, the one without a name first; none unless `build` has
    /// published one there. With a `name`, only the set of that name.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn published(
        view: &dyn View,
        listed: &[Listed],
        name: Option<&SetName>,
    ) -> Result<Vec<Arc<dyn View>>> {
        let sets = published_sets(view, listed, name)?;
        Ok(if sets.is_empty() { sets } else { with_lost(view, listed, sets, name) })
    }

    /// Returns the other sets in the place of `view`, with the index files that their robots lines name.
    pub(super) fn others(view: &dyn View) -> Result<Vec<Self>> {
        let mut others = Vec::new();
        for other in published_sets(view, &view.list()?, None)? {
            if other.name() != view.name() {
                let mut set = Self::empty(&other, None, Manifests::read(&*other), 0);
                set.take_robots(&other)?;
                others.push(set);
            }
        }
        Ok(others)
    }
}

/// Returns the sets that `build` has published in a place with these files, the one without a name first. With a `name`, only that
/// set.
fn published_sets(view: &dyn View, listed: &[Listed], name: Option<&SetName>) -> Result<Vec<Arc<dyn View>>> {
    let mut names: BTreeSet<Option<SetName>> = [name.cloned()].into();
    if name.is_none() {
        let files = listed.iter().filter(|listed| listed.is_file);
        names.extend(files.filter_map(|file| set_of_robots_file(file.name.to_str()?)));
        names.extend(match view.names() {
            // Without permission to read manifests, only the files are checked.
            Err(error) if error.kind() == ErrorKind::Permission => Vec::new(),
            names => names?.into_iter().map(Some).collect(),
        });
    }
    let sets = names.iter().map(|name| view.named(name.as_ref()));
    Ok(sets.filter(|set| is_published(&**set)).collect())
}

/// Returns whether `build` has published the set: there is a manifest or, if only the files were copied, a file of robots lines.
fn is_published(view: &dyn View) -> bool {
    let manifest = view.look_up_record(&Record::Live);
    manifest.is_ok_and(|found| found.is_some_and(|found| found.is_file))
        || view.is_file(robots_file(view.name()).as_ref())
}

/// Returns the published `sets` of a place, and the one without a name if it has lost its manifest and its robots lines: then there
/// are index files, among those `listed`, that belong to none of the others by their names. One that another program wrote is no
/// sign of a set.
fn with_lost(
    view: &dyn View,
    listed: &[Listed],
    mut sets: Vec<Arc<dyn View>>,
    name: Option<&SetName>,
) -> Vec<Arc<dyn View>> {
    let is_known = name.is_some() || sets.iter().any(|set| set.name().is_none());
    let stems: Vec<Stem> = sets.iter().map(|set| Stem::of_set(set.name())).collect();
    let is_of_others = |of_file: &Stem| stems.iter().any(|stem| stem == of_file || stem.begins(of_file));
    let is_lost = |file: &&Listed| {
        let is_index = !file.is_directory && file.name.to_str().is_some_and(is_index_file);
        is_index && stem(&file.name).is_some_and(|stem| !is_of_others(&stem))
    };
    let lost: Vec<&Listed> = listed.iter().filter(is_lost).collect();
    if !is_known && has_own_index(view, &lost) {
        sets.insert(0, view.named(None));
    }
    sets
}
