//! Guards: refuse data that is very likely not meant to be published.

mod hint;
mod shape;
mod tags;

pub use hint::hint;
pub use tags::hints as tag_hints;

use crate::clean::scope::BaseUrl;
use crate::commands::build::site::Site;
use crate::commands::report::Report;
use crate::error::{Error, Result};
use crate::escape::grouped;
use crate::job::{Job, MaxShrink};
use crate::set::manifest::Manifest;

/// Checks the counts of the survey, before anything is rendered. `live` is the set that would be replaced.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the option that lets them pass.
pub fn check(job: &Job, report: &Report, live: Option<&Manifest>) -> Result<()> {
    let (lines, listed, rejected) = (report.lines, report.listed, report.rejected_total());
    if let Some(expected) = job.guards.expect_lines.filter(|expected| !expected.is_met(lines)) {
        return Err(Error::data(format!(
            "the inputs have {lines} lines, and --expect-lines is {expected}; nothing was published; if that is \
             meant, run again with --expect-lines {lines}"
        )));
    }
    if listed == 0 && !job.guards.allow_empty {
        return Err(Error::data(nothing_listed(job, report)));
    }
    if let Some(max) = job.guards.max_rejects.filter(|max| max.is_passed(rejected, lines)) {
        let needed = max.needed(rejected, lines);
        return Err(Error::data(format!(
            "{rejected} of {lines} lines were rejected, and --max-rejects is {max}; nothing was published; if that \
             is meant, run again with --max-rejects {needed}"
        )));
    }
    tags::check(&job.guards, report)?;
    // With several origins, the sites are not known yet.
    job.rules.only_site().map_or(Ok(()), |url| check_shrink(job, url, live, listed))
}

/// Says why there is nothing to publish. Proposes an empty set only if the input contains no URL at all.
fn nothing_listed(job: &Job, report: &Report) -> String {
    if let Some(hint) = &report.hint {
        return format!("nothing was published: {hint}");
    }
    let found = match report.lines {
        0 => "the inputs are empty".to_owned(),
        lines => format!("the inputs hold nothing but blank lines ({})", grouped(lines)),
    };
    // With a set per origin, no set could be the empty one.
    let way_out = if job.rules.only_site().is_some() { "; --allow-empty publishes an empty set" } else { "" };
    format!("nothing was published: {found}{way_out}")
}

/// Checks the batches of every site before any of them goes live. A site that the input does not mention keeps its set.
///
/// # Errors
/// As [`check`].
pub fn check_sites(job: &Job, sites: &[Site]) -> Result<()> {
    sites.iter().try_for_each(|site| check_shrink(job, &site.base_url, site.place.live(), site.listed()))
}

/// Checks how much smaller the new set is. An empty set has been permitted explicitly by now.
fn check_shrink(job: &Job, base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Result<()> {
    let live = live.map_or(0, Manifest::urls);
    if listed == 0 || !job.guards.max_shrink.is_passed(live, listed) {
        return Ok(());
    }
    let (max, needed) = (job.guards.max_shrink, MaxShrink::needed(live, listed));
    Err(Error::data(format!(
        "{base_url}: {listed} URLs would take the place of {live}, and --max-shrink is {max}; nothing was \
         published; if the set is meant to shrink, run again with --max-shrink {needed}"
    )))
}
