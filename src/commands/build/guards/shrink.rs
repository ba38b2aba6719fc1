//! Shrinking: refuses sets that would lose too many of their URLs, as a whole or in a section.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::clean::scope::BaseUrl;
use crate::commands::build::site::{Planned, Site};
use crate::error::{Error, Message, Result, Setting, message};
use crate::escape::shown;
use crate::job::{Job, MaxShrink};
use crate::set::manifest::{Manifest, SetSection};
use crate::set::name::Stem;
use crate::sitemap::sections::REST;
use crate::survey::layout::Layout;
use crate::survey::sections::{LeftOut, rest_of};
use crate::words::{grouped, plural};

/// Sections may lose any part of their URLs if together they lose at most one in this many URLs of the set, or a single one: the
/// first path segment of a page at the top of a site is a section of its own.
const NEGLIGIBLE_ONE_IN: u64 = 100;

/// Most URLs that sections may lose in this way.
const NEGLIGIBLE_URLS_MAX: u64 = 100;

/// Most sets and sections that a refusal names.
const NAMED_MAX: usize = 3;

/// A set or section, and how many URLs it would have after and has before the run.
struct Change {
    /// Its base URL, and the name of the section.
    what: String,
    listed: u64,
    live: u64,
    /// Whether it is a section that would disappear, which an empty one may do if that is permitted.
    is_gone: bool,
}

impl Change {
    fn lost(&self) -> u64 {
        self.live.saturating_sub(self.listed)
    }

    fn needed(&self) -> MaxShrink {
        MaxShrink::needed(self.live, self.listed)
    }
}

/// Checks how much smaller the sets of `sites` and their sections are than the live ones. `why` says what may be wrong with all
/// sections, if that is known.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the option that lets all of them pass.
pub fn check(job: &Job, sites: &[Planned], left_out: &LeftOut, why: Option<Message>) -> Result<()> {
    let changes = sites.iter().flat_map(|(site, layout)| {
        let set = of_set(&site.base_url, site.place.live(), layout.tally.listed);
        set.into_iter().chain(shrunk_sections(job, site, layout, left_out))
    });
    refuse_shrunk(job, changes, why)
}

/// Checks how much smaller a set without sections is that has `listed` URLs and would replace `live`.
///
/// # Errors
/// Same as [`check`].
pub fn check_set(job: &Job, base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Result<()> {
    refuse_shrunk(job, of_set(base_url, live, listed).into_iter(), None)
}

/// Names the one that shrank most first, because the limit that it needs lets the others pass too.
fn refuse_shrunk(job: &Job, changes: impl Iterator<Item = Change>, why: Option<Message>) -> Result<()> {
    let max = job.guards.max_shrink;
    let mut shrunk: Vec<_> = changes.filter(|change| max.is_exceeded(change.live, change.listed)).collect();
    // Of those that lost the same percentage, the one that lost most URLs matters most.
    let smaller = |one: &Change, other: &Change| {
        let by_percentage = other.needed().partial_cmp(&one.needed()).unwrap_or(Ordering::Equal);
        by_percentage.then(other.lost().cmp(&one.lost()))
    };
    shrunk.sort_by(smaller);
    let Some((most, others)) = shrunk.split_first() else { return Ok(()) };
    let Change { what, listed, live, .. } = most;
    let (urls, live) = (plural(*listed, "URL", "URLs"), grouped(*live));
    let others = also_shrunk(others);
    let way_out = match shrunk.iter().all(|change| change.is_gone) && job.rules.only_site().is_some() {
        // It leaves the guards of the set and its other sections on.
        true => message!(Setting::AllowEmpty),
        false => message!(Setting::MaxShrink.with(most.needed())),
    };
    let why = why.map_or_else(Message::default, |why| message!("; ", why));
    Err(Error::data(message!(
        "{what}: {urls} would replace {live}, but ",
        Setting::MaxShrink,
        " is {max}{others}; nothing was published",
        why,
        "; if this is intended, run again with ",
        way_out
    )))
}

/// The words for the `others` that shrank too much, in the order in which they are named.
fn also_shrunk(others: &[Change]) -> String {
    let count = match others.len() as u64 {
        0 => return String::new(),
        count => plural(count, "other set or section", "other sets or sections"),
    };
    let named = &others[..others.len().min(NAMED_MAX - 1)];
    let name = |change: &Change| {
        format!("{} (from {} to {})", change.what, grouped(change.live), grouped(change.listed))
    };
    let names = named.iter().map(name).collect::<Vec<_>>().join(", ");
    let such_as = if named.len() < others.len() { ", such as" } else { ":" };
    format!("; {count} would also shrink too much{such_as} {names}")
}

/// The set of `base_url`, unless it is empty: one that gets this far was explicitly permitted.
fn of_set(base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Option<Change> {
    let live = live.map_or(0, Manifest::urls);
    (listed > 0).then(|| Change { what: base_url.to_string(), listed, live, is_gone: false })
}

/// The sections of the live set of `site` that `layout` would shrink too much. None if what they lose is negligible: the guard of
/// the whole set covers it.
fn shrunk_sections(job: &Job, site: &Site, layout: &Layout, left_out: &LeftOut) -> Vec<Change> {
    let (max, mut shrunk) = (job.guards.max_shrink, of_sections(job, site, layout, left_out));
    shrunk.retain(|change| max.is_exceeded(change.live, change.listed));
    let lost: u64 = shrunk.iter().map(Change::lost).sum();
    let live = site.place.live().map_or(0, Manifest::urls);
    let is_negligible = lost <= (live / NEGLIGIBLE_ONE_IN).clamp(1, NEGLIGIBLE_URLS_MAX);
    // A set that lost nothing else would have to pass, too.
    match is_negligible && !max.is_exceeded(live, live.saturating_sub(lost)) {
        true => Vec::new(),
        false => shrunk,
    }
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
        let is_gone = listed == 0 && !now.contains_key(name);
        Some(Change { what, listed, live, is_gone })
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
