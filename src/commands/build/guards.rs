//! Guards: refuse data that is very likely not meant to be published.

mod hint;
mod shape;
mod tags;

pub use hint::hint;
pub use tags::hints as tag_hints;

use std::collections::HashMap;

use crate::clean::scope::BaseUrl;
use crate::commands::build::site::{Planned, Site};
use crate::commands::report::Report;
use crate::error::{Error, Message, Result, Setting, message};
use crate::escape::{grouped, plural, shown};
use crate::job::{Job, MaxShrink, SectionsBy};
use crate::set::manifest::{Manifest, SetSection};
use crate::set::name::Stem;
use crate::sitemap::sections::REST;
use crate::survey::sections::{LeftOut, rest_of};

/// Checks the counts of the survey, before anything is rendered. `live` is the set that would be replaced.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the option that lets them pass.
pub fn check(job: &Job, report: &Report, live: Option<&Manifest>) -> Result<()> {
    let (lines, listed, rejected) = (report.lines, report.listed, report.rejected_total());
    if let Some(expected) = job.guards.expect_lines.filter(|expected| !expected.is_met(lines)) {
        let (way_out, lines) = (Setting::ExpectLines.with(lines), plural(lines, "line", "lines"));
        return Err(Error::data(message!(
            "the inputs have {lines}, but ",
            Setting::ExpectLines,
            " is {expected}; nothing was published; if that is meant, run again with ",
            way_out
        )));
    }
    if listed == 0 && !job.guards.allow_empty {
        return Err(Error::data(nothing_listed(job, report)));
    }
    if let Some(max) = job.guards.max_rejects.filter(|max| max.is_exceeded(rejected, lines)) {
        let way_out = Setting::MaxRejects.with(max.needed(rejected, lines));
        let (rejected, lines) = (grouped(rejected), plural(lines, "line was", "lines were"));
        return Err(Error::data(message!(
            "{rejected} of {lines} rejected, but ",
            Setting::MaxRejects,
            " is {max}; nothing was published; if that is meant, run again with ",
            way_out
        )));
    }
    tags::check(&job.guards, report)?;
    // With several origins, the sites are not known yet.
    job.rules.only_site().map_or(Ok(()), |url| check_shrink(job, url, live, listed))
}

/// Says why there is nothing to publish. Proposes an empty set only if the input contains no URL at all.
fn nothing_listed(job: &Job, report: &Report) -> Message {
    if let Some(hint) = &report.hint {
        // A filter may be meant to leave out everything.
        let is_filtered = report.excluded_total() == report.lines - report.blank;
        return match job.rules.only_site().filter(|_| is_filtered) {
            Some(_) => {
                message!(
                    "nothing was published: ",
                    hint,
                    "; ",
                    Setting::AllowEmpty,
                    " publishes an empty set"
                )
            }
            None => message!("nothing was published: ", hint),
        };
    }
    let found = match report.lines {
        0 => "the inputs are empty".to_owned(),
        lines => format!("the inputs have only blank lines ({})", grouped(lines)),
    };
    // With a set per origin, no set could be the empty one.
    match job.rules.only_site() {
        None => message!("nothing was published: {found}"),
        Some(_) => {
            message!("nothing was published: {found}; ", Setting::AllowEmpty, " publishes an empty set")
        }
    }
}

/// Checks the batches of every site before any of them goes live. A site that the input does not mention keeps its set.
///
/// # Errors
/// Same as [`check`].
pub fn check_sites(job: &Job, sites: &[Site]) -> Result<()> {
    sites.iter().try_for_each(|site| check_shrink(job, &site.base_url, site.place.live(), site.listed()))
}

/// Checks how much smaller the new sections are, before anything is rendered, and that none is empty. Only sets with sections are
/// checked.
///
/// # Errors
/// Same as [`check`].
pub fn check_sections(job: &Job, sites: &[Planned], left_out: &LeftOut) -> Result<()> {
    let Some(by) = &job.rules.sections else { return Ok(()) };
    for (site, layout) in sites {
        let now = layout.sections.iter().map(|section| (&*section.name, section.listed));
        let now: HashMap<&str, u64> = now.collect();
        let listed = |name: &str| now.get(name).copied().unwrap_or(0);
        check_live_sections(job, site, &now, left_out)?;
        let named = if let SectionsBy::Rules(rules) = by { Some(rules) } else { None };
        let empty = named.into_iter().flat_map(|rules| rules.names()).find(|name| listed(name) == 0);
        if let Some(name) = empty.filter(|_| job.rules.only_site().is_some() && !job.guards.allow_empty) {
            let name = shown(name.as_bytes());
            return Err(Error::data(message!(
                "section {name} has no URLs; nothing was published; ",
                Setting::AllowEmpty,
                " publishes the set without it"
            )));
        }
    }
    Ok(())
}

/// Returns a hint if no row names a section in the column of sections, whose name may be mistyped: not all formats have a list of
/// their columns.
pub fn section_hint(job: &Job, sites: &[Planned]) -> Option<Message> {
    let Some(SectionsBy::Column { column, .. }) = &job.rules.sections else { return None };
    let mut sections = sites.iter().flat_map(|(_, layout)| &layout.sections).peekable();
    sections.peek()?;
    sections.all(|section| section.name == REST).then(|| {
        let column = Setting::SectionColumn.with(column);
        message!("all URLs are in the section {REST}: no row names another one in ", column)
    })
}

/// Checks the sections of the live set of `site` against those that would replace them, whose numbers of URLs are in `now`.
fn check_live_sections(job: &Job, site: &Site, now: &HashMap<&str, u64>, left_out: &LeftOut) -> Result<()> {
    let Some(live) = site.place.live() else { return Ok(()) };
    let (live, rest) = (urls_by_section(live, site.place.stem()), rest_of(job.rules.sections.as_ref()));
    // The rules may have given the rest another name since. In manifests of early releases it is known by its usual one, which no
    // section with rules can have.
    let is_rest = |section: &SetSection| section.is_rest || section.name == rest || section.name == REST;
    // URLs of sections that are new may have been in the rest.
    let is_new = |name: &str| live.iter().all(|(known, _)| known.name != name);
    let from_rest: u64 = now.iter().filter(|(name, _)| is_new(name)).map(|(_, listed)| listed).sum();
    for (section, live) in &live {
        let name = &*section.name;
        let listed = match now.get(name) {
            None if job.guards.allow_empty || is_rest(section) => continue,
            // Its URLs may be in the rest now. The number is that of all sites.
            None => match left_out.urls_of(name) {
                Some(urls) => urls.min(now.get(rest).copied().unwrap_or(0)),
                None => continue,
            },
            Some(listed) if is_rest(section) => listed + from_rest,
            Some(&listed) => listed,
        };
        if job.guards.max_shrink.is_exceeded(*live, listed) {
            let (max, needed) = (job.guards.max_shrink, MaxShrink::needed(*live, listed));
            let (base_url, name) = (&site.base_url, shown(name.as_bytes()));
            let (urls, live) = (plural(listed, "URL", "URLs"), grouped(*live));
            return Err(Error::data(message!(
                "{base_url}: section {name}: {urls} would replace {live}, but ",
                Setting::MaxShrink,
                " is {max}; nothing was published; if the section is meant to shrink, run again with ",
                Setting::MaxShrink.with(needed)
            )));
        }
    }
    Ok(())
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

/// Checks how much smaller the new set is. An empty set that gets this far was explicitly permitted.
fn check_shrink(job: &Job, base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Result<()> {
    let live = live.map_or(0, Manifest::urls);
    if listed == 0 || !job.guards.max_shrink.is_exceeded(live, listed) {
        return Ok(());
    }
    let (max, needed) = (job.guards.max_shrink, MaxShrink::needed(live, listed));
    let (urls, live) = (plural(listed, "URL", "URLs"), grouped(live));
    Err(Error::data(message!(
        "{base_url}: {urls} would replace {live}, but ",
        Setting::MaxShrink,
        " is {max}; nothing was published; if the set is meant to shrink, run again with ",
        Setting::MaxShrink.with(needed)
    )))
}
