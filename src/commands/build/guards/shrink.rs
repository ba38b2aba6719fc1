//! Shrinking: refuses sets that would lose too many of their URLs, as a whole or in a section.

use std::collections::HashMap;

use crate::clean::scope::BaseUrl;
use crate::commands::build::site::{Planned, Site};
use crate::error::{Error, Result, Setting, message};
use crate::escape::shown;
use crate::job::{Job, MaxShrink};
use crate::set::manifest::{Manifest, SetSection};
use crate::set::name::Stem;
use crate::sitemap::sections::REST;
use crate::survey::layout::Layout;
use crate::survey::sections::{LeftOut, rest_of};
use crate::words::{grouped, plural};

/// A set or section, and how many URLs it would have after and has before the run.
struct Change {
    /// Its base URL, and the name of the section.
    what: String,
    listed: u64,
    live: u64,
}

/// Checks how much smaller the sets of `sites` and their sections are than the live ones.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the limit that lets all of them pass.
pub fn check(job: &Job, sites: &[Planned], left_out: &LeftOut) -> Result<()> {
    let changes = sites.iter().flat_map(|(site, layout)| {
        let set = of_set(&site.base_url, site.place.live(), layout.tally.listed);
        set.into_iter().chain(of_sections(job, site, layout, left_out))
    });
    refuse_shrunk(job, changes)
}

/// Checks how much smaller a set without sections is that has `listed` URLs and would replace `live`.
///
/// # Errors
/// Same as [`check`].
pub fn check_set(job: &Job, base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Result<()> {
    refuse_shrunk(job, of_set(base_url, live, listed).into_iter())
}

/// Names the one that shrank most, because the limit that it needs lets the others pass too.
fn refuse_shrunk(job: &Job, changes: impl Iterator<Item = Change>) -> Result<()> {
    let max = job.guards.max_shrink;
    let shrunk: Vec<_> = changes.filter(|change| max.is_exceeded(change.live, change.listed)).collect();
    let others = match shrunk.len().saturating_sub(1) as u64 {
        0 => String::new(),
        others => {
            let others = plural(others, "other set or section", "other sets or sections");
            format!("; {others} would also shrink too much")
        }
    };
    let needed = |change: &Change| MaxShrink::needed(change.live, change.listed);
    let more_shrunk = |one, other| if needed(&other) > needed(&one) { other } else { one };
    let Some(most) = shrunk.into_iter().reduce(more_shrunk) else { return Ok(()) };
    let needed = needed(&most);
    let Change { what, listed, live } = most;
    let (urls, live) = (plural(listed, "URL", "URLs"), grouped(live));
    Err(Error::data(message!(
        "{what}: {urls} would replace {live}, but ",
        Setting::MaxShrink,
        " is {max}{others}; nothing was published; if this is intended, run again with ",
        Setting::MaxShrink.with(needed)
    )))
}

/// The set of `base_url`, unless it is empty: one that gets this far was explicitly permitted.
fn of_set(base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Option<Change> {
    let live = live.map_or(0, Manifest::urls);
    (listed > 0).then(|| Change { what: base_url.to_string(), listed, live })
}

/// The sections of the live set of `site` that `layout` would replace. None if the job wants no sections.
fn of_sections(job: &Job, site: &Site, layout: &Layout, left_out: &LeftOut) -> Vec<Change> {
    let (Some(by), Some(live)) = (&job.rules.sections, site.place.live()) else { return Vec::new() };
    let now: HashMap<&str, u64> =
        layout.sections.iter().map(|section| (&*section.name, section.listed)).collect();
    let (live, rest) = (urls_by_section(live, site.place.stem()), rest_of(Some(by)));
    // The rules may have given the rest another name since. In manifests of early releases it is known by its usual one, which no
    // section with rules can have.
    let is_rest = |section: &SetSection| section.is_rest || section.name == rest || section.name == REST;
    // URLs of sections that are new may have been in the rest.
    let is_new = |name: &str| live.iter().all(|(known, _)| known.name != name);
    let from_rest: u64 = now.iter().filter(|(name, _)| is_new(name)).map(|(_, listed)| listed).sum();
    let change = |&(section, live): &(&SetSection, u64)| {
        let name = &*section.name;
        let listed = match now.get(name) {
            None if job.guards.allow_empty || is_rest(section) => return None,
            // Its URLs may be in the rest now. The number is that of all sites.
            None => left_out.urls_of(name)?.min(now.get(rest).copied().unwrap_or(0)),
            Some(listed) if is_rest(section) => listed + from_rest,
            Some(&listed) => listed,
        };
        let what = format!("{}: section {}", site.base_url, shown(name.as_bytes()));
        Some(Change { what, listed, live })
    };
    live.iter().filter_map(change).collect()
}

/// The sections of the set `live`, whose files have names that begin with `stem`, and the number of URLs in each.
fn urls_by_section<'m>(live: &'m Manifest, stem: &Stem) -> Vec<(&'m SetSection, u64)> {
    let sitemaps = live.sitemaps_by_stem();
    let urls = |section: &'m SetSection| {
        let own = sitemaps.get(&stem.with(&section.word)).into_iter().flatten();
        (section, own.map(|sitemap| u64::from(sitemap.urls)).sum())
    };
    live.sections.iter().map(urls).collect()
}
