//! The places below a parent that have the sets of sites, as runs for several sites publish them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::clean::scope::BaseUrl;
use crate::error::{Result, is_url};
use crate::place::{self, Record, View};
use crate::set::manifest::Manifest;
use crate::set::site_directory::{looks_like_site_directory, site_directory};

/// A place directly below that of `view` in which the set of a site is live. Places that cannot be read are not from the same
/// user.
pub fn site_below(view: &dyn View) -> Option<Arc<dyn View>> {
    // The switch to a first set may not be complete.
    let is_live =
        |set: &Arc<dyn View>| [Record::Journal, Record::Live].iter().any(|record| is_of_site(&**set, record));
    let has_live =
        |place: &Arc<dyn View>| place::sets_in(&**place, None).is_ok_and(|sets| sets.iter().any(is_live));
    places_of_sites(view).ok()?.find(has_live)
}

/// The places directly below that of `view` in which a switch of the set of a site has begun and is not complete. The set has the
/// name of the set of `view`.
///
/// # Errors
/// If the places cannot be listed.
pub fn switching_sites(view: &dyn View) -> Result<impl Iterator<Item = Arc<dyn View>>> {
    Ok(places_of_sites(view)?.filter(|site| is_of_site(&**site, &Record::Journal)))
}

/// The sets that are live directly below the place of `view`, as far as they can be read.
pub fn live_sites(view: &dyn View) -> impl Iterator<Item = Manifest> {
    let places = places_of_sites(view).into_iter().flatten();
    places.filter_map(|site| Manifest::read_usable(&*site, &Record::Live).ok().flatten())
}

/// The base URLs of the sites whose sets are live directly below the place of `view`, as far as they can be read. The places named
/// `except` are left out, and so are sets that list nothing.
pub fn other_sites(view: &dyn View, except: &HashSet<&str>) -> Vec<String> {
    let places = places_of_sites(view).into_iter().flatten();
    let others = places.filter(|site| !except.contains(name_of_place(&**site)));
    let live = others.filter_map(|site| set_of_site(&*site, &Record::Live));
    let mut urls: Vec<String> = live.filter(|set| !set.indexes.is_empty()).map(|set| set.base_url).collect();
    urls.sort_unstable();
    urls
}

/// The places directly below that of `view` that have the name of a site, or its set, and in which a run has died before its
/// switch. Those in a bucket are left out, because it takes requests to find them.
///
/// # Errors
/// If the places cannot be listed.
pub fn abandoned_sites(view: &dyn View) -> Result<Vec<Arc<dyn View>>> {
    if is_url(view.root()) {
        return Ok(Vec::new());
    }
    let has_no_journal =
        |site: &dyn View| site.look_up_record(&Record::Journal).is_ok_and(|found| found.is_none());
    // A host without a dot, such as `localhost`, has a name like any directory.
    let is_site =
        |site: &dyn View| looks_like_site_directory(name_of_place(site)) || is_of_site(site, &Record::Live);
    let is_abandoned =
        |site: &Arc<dyn View>| !site.runs().is_empty() && has_no_journal(&**site) && is_site(&**site);
    Ok(place::places_below(view)?.filter(is_abandoned).collect())
}

/// The places directly below that of `view`; in a bucket, those whose names may be those of sites, because it takes requests to
/// look into a place.
fn places_of_sites(view: &dyn View) -> Result<impl Iterator<Item = Arc<dyn View>>> {
    let is_bucket = is_url(view.root());
    Ok(place::places_below(view)?
        .filter(move |place| !is_bucket || looks_like_site_directory(name_of_place(&**place))))
}

/// Whether `record` is a manifest of the set of a site, and in the place of that site.
fn is_of_site(set: &dyn View, record: &Record) -> bool {
    set_of_site(set, record).is_some()
}

/// The manifest `record`, if it can be read, is that of the set of a site, and is in the place of that site.
fn set_of_site(set: &dyn View, record: &Record) -> Option<Manifest> {
    let is_here = |manifest: &Manifest| {
        let base_url = manifest.base_url.parse::<BaseUrl>();
        base_url.is_ok_and(|base_url| site_directory(&base_url) == name_of_place(set))
    };
    Manifest::read_usable(set, record).ok().flatten().filter(is_here)
}

/// The name of the place of `view` in its parent; empty if it is not UTF-8.
pub fn name_of_place(view: &dyn View) -> &str {
    view.root().file_name().and_then(|name| name.to_str()).unwrap_or_default()
}
